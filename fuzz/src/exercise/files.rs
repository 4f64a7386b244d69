//! What reads files: loaders that map them, headers, surveys, lists, and answers that were saved.

use super::{MEMORY, divided, extension, file, one_line, sound};
use hottopixx_io::{
    Error, Format, LoadOptions, SavedArrays, Source, load, load_signed, peek, read, read_names,
    read_numbers, survey,
};

/// The first byte names a format, the rest is the file.
pub fn files(bytes: &[u8]) {
    let Some((format, transpose, bytes)) = divided(bytes) else { return };
    loader(format, transpose, bytes);
}

/// One loader: a file, which may be mapped, says the same as a stream; the header says what is loaded.
pub(super) fn loader(format: Format, transpose: bool, bytes: &[u8]) {
    let path = file(extension(format), bytes);
    let source = Source::path(&path);
    let options = LoadOptions {
        format: Some(format),
        transpose,
        max_bytes: Some(MEMORY),
        ..LoadOptions::default()
    };
    let streamed = read(bytes, "bytes", &options);
    let stored = load(&source, &options);
    match (&streamed, &stored) {
        (Ok(one), Ok(other)) => {
            sound(one);
            assert!(one.matrix == other.matrix && one.row_names == other.row_names);
        }
        (Err(one), Err(other)) => {
            one_line(one);
            one_line(other);
        }
        // A mapped file takes no memory, and an empty stream is not told from one that is none.
        (Err(error), Ok(other)) => {
            sound(other);
            assert!(matches!(error, Error::TooLarge { .. }), "{error}");
        }
        (Ok(_), Err(error)) => panic!("a stream is read and its file is not: {error}"),
    }
    if let (Some(header), Ok(loaded)) = (peek(&source, &options), &stored) {
        let sizes = (loaded.matrix.rows() as u64, loaded.matrix.cols() as u64);
        assert_eq!((header.rows, header.cols), sizes);
    }
    survey(&source, &options, MEMORY).err().iter().for_each(one_line);
    load_signed(&source, &options).err().iter().for_each(one_line);
    if format == Format::SvmLight {
        read_names(&path, Some(MEMORY)).err().iter().for_each(one_line);
        read_numbers(&path, Some(MEMORY)).err().iter().for_each(one_line);
    }
}

/// An answer that the Python package saved, which `apply` reads.
pub fn saved(bytes: &[u8]) {
    let path = file("npz", bytes);
    match SavedArrays::open(&path, Some(MEMORY)) {
        Ok(None) => {}
        Ok(Some(arrays)) => {
            for name in ["W", "F"] {
                let _ = arrays.matrix(name);
            }
        }
        Err(error) => one_line(&error),
    }
}
