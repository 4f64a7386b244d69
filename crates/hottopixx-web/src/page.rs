//! What a script of a page calls: numbers in and out, and bytes in the memory that both see.
//!
//! The script asks for room ([`input`]), writes the name of the file and its bytes there, calls [`run`], and
//! reads the answer at [`output`]. It gives three functions: the clock, progress, and what to say when the
//! program fails by a fault of its own.

// The names below must be those that the script calls; nothing here takes a pointer.
#![allow(unsafe_code)]

use crate::{Kind, Wish, report};
use hottopixx::control::{Control, Observer, Progress};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Milliseconds since some moment.
    safe fn now() -> f64;
    /// Takes a line of UTF-8: what is under way.
    safe fn progress(text: *const u8, length: usize);
    /// Takes a line of UTF-8: what went wrong, just before the program ends.
    safe fn failed(text: *const u8, length: usize);
}

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Passes progress on to the page.
struct Told;

impl Observer for Told {
    fn progress(&self, seen: &Progress<'_>) {
        let mut line = format!("{}: {}", seen.stage.name(), seen.task);
        if let Some(total) = seen.total.filter(|total| *total > 0) {
            line += &format!(", {} of {total}", seen.done);
        }
        progress(line.as_ptr(), line.len());
    }
}

/// Room for this many bytes, and where it is.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|bytes| {
        bytes.clear();
        bytes.resize(length, 0);
        bytes.as_mut_ptr()
    })
}

/// Makes the report of the file whose name, of this many bytes, and contents are the input. 0 if it is there, 1 if
/// the output is a sentence that says why not.
#[unsafe(no_mangle)]
pub extern "C" fn run(name_length: usize, kind: usize, rank: usize, max_seconds: f64) -> u32 {
    std::panic::set_hook(Box::new(|fault| {
        let line = fault.to_string();
        failed(line.as_ptr(), line.len());
    }));
    hottopixx::clock::bring(|| {
        Duration::try_from_secs_f64(now() / 1000.0).unwrap_or(Duration::ZERO)
    });
    let mut bytes = INPUT.with_borrow_mut(std::mem::take);
    let contents = bytes.split_off(name_length.min(bytes.len()));
    let name = String::from_utf8_lossy(&bytes).into_owned();
    let control = Control::default().with_observer(Arc::new(Told));
    let kind = Kind::ALL.get(kind).copied().unwrap_or(Kind::Any);
    let (text, status) = match report(&name, contents, &Wish { kind, rank, max_seconds, control }) {
        Ok(page) => (page, 0),
        Err(sentence) => (sentence, 1),
    };
    OUTPUT.set(text.into_bytes());
    status
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|bytes| bytes.as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    OUTPUT.with_borrow(Vec::len)
}
