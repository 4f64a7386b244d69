//! Files as memory: the only `unsafe` of this crate.
//!
//! A mapped file is read by the operating system page by page when its numbers are looked at, and
//! its pages can be given back at any time: a matrix in it may be larger than the memory. That
//! needs numbers stored as this machine has them, 64 bits and little endian; other machines read
//! files instead ([`NATIVE`]).
#![allow(unsafe_code)]

use bytemuck::AnyBitPattern;
use hottopixx::matrix::Buffer;
use memmap2::Mmap;
use std::fs::File;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// Whether numbers of a file can be used where they are.
pub(crate) const NATIVE: bool =
    cfg!(all(target_pointer_width = "64", target_endian = "little", any(unix, windows)));

/// A file in memory, read-only.
pub(crate) struct Map {
    bytes: Mmap,
}

impl Map {
    /// The whole of a file; `None` where it has to be read instead: on other machines, for a file
    /// of no bytes, and where the operating system does not map it.
    pub fn new(file: &File) -> Option<Arc<Map>> {
        if !NATIVE {
            return None;
        }
        // SAFETY: the map is read-only and its length is that of the file now, so that every slice
        // of it is inside the file. What remains is other programs: one that truncates the file
        // while it is mapped makes reading behind the new end fail with SIGBUS, which ends this
        // program (see `explain_lost_files`); one that writes into it changes numbers. Every bit pattern is a number of the
        // types read here, and what is looked up by such a number is looked up with a check. Our
        // own writers never do either: they write a new file and rename it.
        let bytes = unsafe { Mmap::map(file) }.ok()?;
        (!bytes.is_empty()).then(|| Arc::new(Map { bytes }))
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// `count` numbers from byte `begin` on, not copied; `None` when they are not all inside the
    /// file or do not begin at a multiple of their size.
    pub fn numbers<T>(self: &Arc<Self>, begin: u64, count: u64) -> Option<Buffer<T>>
    where
        T: AnyBitPattern + Send + Sync,
    {
        let begin = usize::try_from(begin).ok()?;
        let length = usize::try_from(count).ok()?.checked_mul(size_of::<T>())?;
        let span = begin..begin.checked_add(length)?;
        bytemuck::try_cast_slice::<u8, T>(self.bytes.get(span.clone())?).ok()?;
        Some(Buffer::foreign(Arc::new(Part { map: self.clone(), span, numbers: PhantomData })))
    }
}

/// From now on, a mapped file that becomes shorter while it is read, or whose disk fails, ends the program
/// with a sentence and exit code 1 instead of a bare signal. For programs: a library should leave signals
/// alone.
pub fn explain_lost_files() {
    #[cfg(unix)]
    {
        extern "C" fn explain(
            signal: libc::c_int,
            info: *mut libc::siginfo_t,
            _: *mut libc::c_void,
        ) {
            const SENTENCE: &[u8] =
                b"hottopixx: a file could not be read to its end: it became shorter \
                meanwhile, or its disk failed: run again when it is whole\n";
            // SAFETY: only calls that are allowed in a handler are made, and `info` is what the system
            // passes to one that is installed with SA_SIGINFO.
            unsafe {
                if (*info).si_code == libc::BUS_ADRERR {
                    libc::write(2, SENTENCE.as_ptr().cast(), SENTENCE.len());
                    libc::_exit(1);
                }
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
        // SAFETY: the structure is one of plain numbers, and the handler has the signature that
        // SA_SIGINFO asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = explain as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
        }
    }
}

/// Numbers in a map, which they keep alive.
struct Part<T> {
    map: Arc<Map>,
    span: Range<usize>,
    numbers: PhantomData<T>,
}

impl<T: AnyBitPattern> AsRef<[T]> for Part<T> {
    fn as_ref(&self) -> &[T] {
        // Checked when it was made; the map stays where it is.
        bytemuck::cast_slice(&self.map.bytes[self.span.clone()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn numbers_are_those_of_the_file() {
        let bytes: Vec<u8> = [1.5f64, 2.5, 3.5].iter().flat_map(|v| v.to_le_bytes()).collect();
        let map = Map::new(&file(&bytes));
        assert_eq!(map.is_some(), NATIVE);
        let Some(map) = map else { return };
        let numbers = map.numbers::<f64>(8, 2).unwrap();
        assert!(numbers.is_foreign());
        let (place, bytes) = (numbers.as_ptr() as usize, map.bytes().as_ptr() as usize);
        assert_eq!(place, bytes + 8);
        drop(map);
        assert_eq!(&numbers[..], [2.5, 3.5]);
    }

    #[test]
    fn misaligned_and_outside_is_none() {
        let Some(map) = Map::new(&file(&[0; 64])) else { return };
        for begin in 1..8 {
            assert!(map.numbers::<f64>(begin, 1).is_none(), "{begin}");
            assert_eq!(map.numbers::<u32>(begin, 1).is_some(), begin == 4);
        }
        assert!(map.numbers::<f64>(0, 8).is_some() && map.numbers::<f64>(64, 0).is_some());
        for (begin, count) in [(0, 9), (8, 8), (72, 0), (u64::MAX, 1), (8, u64::MAX), (0, 1 << 61)]
        {
            assert!(map.numbers::<f64>(begin, count).is_none(), "{begin} {count}");
        }
    }

    #[test]
    fn a_file_of_no_bytes_is_not_mapped() {
        assert!(Map::new(&file(&[])).is_none());
    }
}
