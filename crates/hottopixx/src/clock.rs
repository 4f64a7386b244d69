//! The clock behind deadlines and seconds.
//!
//! It is the standard library's, except in WebAssembly without a system, where that one does not exist: there the
//! program around the library has to bring one (`bring`). Without it time stands still: nothing fails, limits
//! of time never end a run, and every step takes no time.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use brought::{Instant, bring};

#[cfg(any(test, all(target_family = "wasm", target_os = "unknown")))]
mod brought {
    use std::ops::Add;
    use std::sync::OnceLock;
    use std::time::Duration;

    static CLOCK: OnceLock<fn() -> Duration> = OnceLock::new();

    /// Takes a clock: a function that gives the time since some moment, the same in every call. The first
    /// that is brought is kept; says whether this one was.
    pub fn bring(clock: fn() -> Duration) -> bool {
        CLOCK.set(clock).is_ok()
    }

    /// A moment, as [`std::time::Instant`] elsewhere.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Instant(Duration);

    impl Instant {
        /// This moment.
        pub fn now() -> Self {
            Instant(CLOCK.get().map_or(Duration::ZERO, |clock| clock()))
        }

        /// The time since.
        pub fn elapsed(&self) -> Duration {
            Instant::now().saturating_duration_since(*self)
        }

        /// The time from `earlier` to here, zero if that is later.
        pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Instant;

        fn add(self, more: Duration) -> Instant {
            Instant(self.0.saturating_add(more))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::brought::{Instant, bring};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    #[test]
    fn time_stands_still_until_a_clock_is_brought() {
        static NOW: AtomicU64 = AtomicU64::new(7);
        let begun = Instant::now();
        assert_eq!((begun, begun.elapsed()), (Instant::now(), Duration::ZERO));
        let clock = || Duration::from_secs(NOW.load(Ordering::Relaxed));
        assert!(bring(clock) && !bring(clock));
        let begun = Instant::now();
        NOW.store(9, Ordering::Relaxed);
        assert_eq!(begun.elapsed(), Duration::from_secs(2));
        assert_eq!(begun.saturating_duration_since(Instant::now()), Duration::ZERO);
        assert!(begun + Duration::from_secs(1) < Instant::now());
        assert!(begun + Duration::MAX > Instant::now());
    }
}
