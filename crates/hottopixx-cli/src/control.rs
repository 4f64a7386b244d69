//! Stopping: Ctrl-C and the time limit.

use crate::failure::{Failure, say};
use crate::values;
use hottopixx::control::{Control, Observer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Raised by the first Ctrl-C while an answer is being computed; the second ends the program, and
/// so does the first while there is nothing to keep.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    stop: Arc<AtomicBool>,
    computing: Arc<AtomicBool>,
}

impl Interrupt {
    /// Takes over Ctrl-C and the signals that ask a process to end.
    pub fn install() -> Self {
        let interrupt = Interrupt::default();
        let Interrupt { stop, computing } = interrupt.clone();
        let installed = ctrlc::set_handler(move || {
            if !computing.load(Ordering::SeqCst) || stop.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            say("interrupted: finishing with the best answer so far; once more to stop at once");
        });
        if let Err(error) = installed {
            say(&format!("Ctrl-C will end the program without an answer ({error})"));
        }
        interrupt
    }

    /// From here on the first Ctrl-C asks for the best answer so far.
    pub fn computing(&self) {
        self.computing.store(true, Ordering::SeqCst);
    }

    /// Whether Ctrl-C was pressed.
    pub fn raised(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Deadline from now, stop flag and observer of one computation.
    pub fn control(
        &self,
        seconds: Option<f64>,
        observer: Option<Arc<dyn Observer>>,
    ) -> Result<Control, Failure> {
        let limit = seconds.map(values::duration).transpose().map_err(Failure::Wrong)?.flatten();
        let mut control = Control::default().with_stop_flag(self.stop.clone());
        if let Some(deadline) = limit.and_then(|limit| Instant::now().checked_add(limit)) {
            control = control.with_deadline(deadline);
        }
        if let Some(observer) = observer {
            control = control.with_observer(observer);
        }
        Ok(control)
    }
}
