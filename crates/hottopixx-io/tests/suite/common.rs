//! Files as numpy and scipy write them, built from bytes.

use hottopixx::matrix::{Dense, Matrix, Sparse};
use hottopixx_io::{Error, Format, LoadOptions, Loaded, read};
use std::io::{Cursor, Write};
use std::sync::OnceLock;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Memory allowed in tests: small, so that a size believed too early shows.
pub const MEMORY: u64 = 1 << 22;

pub fn parse(bytes: &[u8], format: Format) -> Result<Loaded, Error> {
    parse_with(bytes, &LoadOptions { format: Some(format), ..Default::default() })
}

pub fn parse_with(bytes: &[u8], options: &LoadOptions) -> Result<Loaded, Error> {
    read(bytes, "file", &LoadOptions { max_bytes: Some(MEMORY), ..options.clone() })
}

pub fn dense(rows: &[&[f64]]) -> Matrix {
    Dense::from_rows(rows).unwrap().into()
}

pub fn sparse(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> Matrix {
    Sparse::from_triplets(rows, cols, triplets).unwrap().into()
}

/// A `.npy` file of version 1 with any header and body.
pub fn npy(descr: &str, fortran: bool, shape: &str, body: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.as_bytes());
    out.extend(body);
    out
}

pub fn f8(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn i4(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn i8(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// An array of one dimension.
pub fn vector(descr: &str, body: &[u8], size: usize) -> Vec<u8> {
    npy(&format!("'{descr}'"), false, &format!("({},)", body.len() / size), body)
}

pub fn npz(members: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (key, bytes) in members {
        zip.start_file(format!("{key}.npy"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The members of a scipy matrix; `parts` are those that differ by format.
pub fn scipy(
    format: &str,
    shape: [i64; 2],
    data: &[f64],
    parts: &[(&'static str, Vec<u8>)],
) -> Vec<(&'static str, Vec<u8>)> {
    let mut members = vec![
        ("format", npy("'|S3'", false, "()", format.as_bytes())),
        ("shape", vector("<i8", &i8(&shape), 8)),
        ("data", vector("<f8", &f8(data), 8)),
    ];
    members.extend(parts.iter().cloned());
    members
}

/// [[0, 5, 0], [7, 0, 1]] as CSR.
pub fn csr() -> Vec<(&'static str, Vec<u8>)> {
    let parts = [
        ("indices", vector("<i4", &i4(&[1, 2, 0]), 4)),
        ("indptr", vector("<i4", &i4(&[0, 1, 3]), 4)),
    ];
    scipy("csr", [2, 3], &[5.0, 1.0, 7.0], &parts)
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// One good file of each format, dense and sparse.
pub fn good_files() -> Vec<(Format, Vec<u8>)> {
    let plain = npy("'<f8'", false, "(2, 3)", &f8(&[0.0, 5.0, 0.0, 7.0, 0.0, 1.0]));
    let text = |format, text: &str| (format, text.as_bytes().to_vec());
    vec![
        (Format::Npy, plain.clone()),
        (Format::Npy, gzip(&plain)),
        (Format::Npy, npy("'>i2'", true, "(2, 2)", &[0, 1, 0, 2, 0, 3, 0, 4])),
        (Format::Npz, npz(&[("X", plain.clone())], CompressionMethod::Stored)),
        (Format::Npz, npz(&csr(), CompressionMethod::Stored)),
        (Format::Npz, npz(&csr(), CompressionMethod::Deflated)),
        text(
            Format::MatrixMarket,
            "%%MatrixMarket matrix coordinate real general\n%c\n2 3 3\n1 2 5\n2 1 7.0\n2 3 1e0\n",
        ),
        text(
            Format::MatrixMarket,
            "%%MatrixMarket matrix array real general\n2 3\n0\n7\n5\n0\n0\n1\n",
        ),
        text(Format::Csv, "word,\"a,b\",c\noil,0,5.25\nbank,7,1e-3\n"),
        text(Format::Tsv, "0\t5\t0\n7\t0\t1\n"),
        text(Format::SvmLight, "1 qid:3 2:5 # first\n-1 1:7 3:1\n"),
        text(Format::BagOfWords, "3\n2\n3\n1 2 7\n2 1 5\n3 2 1\n"),
        (Format::Hpx, plain_hpx()),
        (Format::Hpx, named_hpx()),
        (Format::Hpx, gzip(&named_hpx())),
    ]
}

/// A `.hpx` file.
pub fn hpx(matrix: &Matrix, rows: Option<&[&str]>, cols: Option<&[&str]>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.hpx");
    let owned = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let (rows, cols) = (rows.map(owned), cols.map(owned));
    hottopixx_io::write::hpx(&path, matrix, rows.as_deref(), cols.as_deref()).unwrap();
    std::fs::read(&path).unwrap()
}

/// A sparse one with names of both kinds.
pub fn named_hpx() -> Vec<u8> {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let matrix = || sparse(2, 3, &[(0, 1, 5.0), (1, 0, 7.0), (1, 2, 1.0)]);
    let make = || hpx(&matrix(), Some(&["Öl", ""]), Some(&["a", "b,c", "\n"]));
    BYTES.get_or_init(make).clone()
}

/// A dense one.
pub fn plain_hpx() -> Vec<u8> {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let matrix = || dense(&[&[0.0, 5.0, 0.0], &[7.0, 0.0, 1.0]]);
    BYTES.get_or_init(|| hpx(&matrix(), None, None)).clone()
}

/// Makes the checksum of a `.hpx` header right again, as somebody with intent would.
pub fn forge(bytes: &mut [u8]) {
    if let Some((head, sum)) = bytes.get_mut(..256).map(|header| header.split_at_mut(248)) {
        let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        sum.copy_from_slice(&head.iter().fold(0xcbf2_9ce4_8422_2325, step).to_le_bytes());
    }
}
