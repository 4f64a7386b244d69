//! What the fuzz targets share: the exercises, and an allocator that ends a run which takes too much.

pub mod exercise;

/// Called once before the first run: parallel loops stay on the thread that fuzzes. Handing a matrix of some
/// entries to another thread and waiting for it would take longer than everything else.
pub fn prepare() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("the first pool");
}

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that one run may hold at a time. Loaders are given 4 MiB.
const CAP: usize = 256 << 20;

/// Counts what is held; more than the cap ends the program, which the fuzzer takes for a crash.
struct Capped;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Capped {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size() > CAP {
            std::process::abort();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Capped = Capped;
