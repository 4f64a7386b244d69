//! A hint to the memory, for lists that are visited out of order.

#![allow(unsafe_code)]

/// Asks for the part of `slice` around `index` to be brought nearer; does nothing where there is no
/// such entry or no such instruction. Never changes a result.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86_64, and the instruction neither reads nor faults as far as the
        // program can tell, whatever the address; this one is that of an entry.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
