//! Parsers, on bytes in memory.

use super::{one_line, sound};
use hottopixx_io::{
    CubeOptions, DocumentColumns, DocumentFormat, Format, LoadOptions, read, read_cube,
    read_documents_from,
};

/// What a parser may take: so little that what a header claims takes no time either.
const MEMORY: u64 = 1 << 18;

/// One loader. What it accepts it must accept the other way round as well, as the transpose.
pub fn parser(format: Format, bytes: &[u8]) {
    let options = |transpose| LoadOptions {
        format: Some(format),
        transpose,
        max_bytes: Some(MEMORY),
        ..LoadOptions::default()
    };
    let loaded = match read(bytes, "bytes", &options(false)) {
        Ok(loaded) => loaded,
        Err(error) => return one_line(&error),
    };
    sound(&loaded);
    match read(bytes, "bytes", &options(true)) {
        Ok(turned) => {
            sound(&turned);
            assert!(turned.matrix == loaded.matrix.transpose());
            assert!(turned.row_names == loaded.col_names && turned.col_names == loaded.row_names);
        }
        // Two copies may be more than the memory allows.
        Err(error) => assert!(matches!(error, hottopixx_io::Error::TooLarge { .. }), "{error}"),
    }
}

/// Scenes: MATLAB's files, and arrays of three dimensions.
pub fn mat(bytes: &[u8]) {
    for transpose in [false, true] {
        let options = CubeOptions { transpose, max_bytes: Some(MEMORY), ..CubeOptions::default() };
        match read_cube(bytes, "bytes", &options) {
            Ok(cube) => {
                let pixels = cube.pixels.rows();
                assert!(cube.shape.is_none_or(|(height, width)| height * width == pixels));
            }
            Err(error) => one_line(&error),
        }
    }
}

/// Documents in all formats of one file.
pub fn documents(bytes: &[u8]) {
    let columns = DocumentColumns { max_bytes: Some(MEMORY), ..DocumentColumns::default() };
    use DocumentFormat as F;
    for format in [F::Lines, F::Csv, F::Tsv, F::JsonLines] {
        let mut count = 0;
        let names = read_documents_from(bytes, "bytes", format, &columns, &mut |block| {
            count += block.len();
            Ok(())
        });
        match names {
            Ok(names) => assert_eq!(names.titles.len(), count),
            Err(error) => one_line(&error),
        }
    }
}
