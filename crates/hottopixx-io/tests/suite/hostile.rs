//! What an attack has found, as small as it can be, and the corpus of the fuzz targets.

use crate::common::*;
use crate::counting::peak_of;
use crate::exercise;
use hottopixx::matrix::Shape;
use hottopixx::methods::{Localised, Localiser, Question};
use hottopixx::{Factor, Method};
use hottopixx_io::{
    Cache, CacheUse, CubeOptions, DocumentColumns, DocumentFormat, Format, LoadOptions, Source,
    Take, load, peek, read, read_cube, read_documents_from, read_names, read_numbers, write,
};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Every seed and every crash that was ever found.
#[test]
fn the_corpus_is_replayed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut count = 0;
    for target in exercise::TARGETS {
        let files = fs::read_dir(corpus.join(target)).unwrap_or_else(|e| panic!("{target}: {e}"));
        for file in files {
            let path = file.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let run = || exercise::run(target, &bytes);
            let done = std::panic::catch_unwind(run);
            assert!(done.is_ok(), "{} fails", path.display());
            count += 1;
        }
    }
    assert!(count >= exercise::TARGETS.len(), "{count}");
}

/// Some bytes that claim more than there is in the world are planned for in less than a mebibyte.
#[test]
fn planning_is_arithmetic() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let array = "%%MatrixMarket matrix array real general\n2 100000000000000\n1\n";
    fs::write(at("a.mtx"), array).unwrap();
    let entries = "%%MatrixMarket matrix coordinate real general\n4294967295 4294967295 1\n1 1 1\n";
    fs::write(at("b.mtx"), entries).unwrap();
    let wide = npy("'<f8'", false, "(2, 10000000000)", &[0; 64]);
    fs::write(at("c.npy"), wide).unwrap();
    fs::write(at("d.npy"), npy("'<f8'", true, "(4000000000, 4000000000)", &[0; 8])).unwrap();
    fs::write(at("docword.e.txt"), "4294967295\n4294967295\n9223372036854775807\n1 1 1\n").unwrap();
    for name in ["a.mtx", "b.mtx", "c.npy", "d.npy", "docword.e.txt"] {
        for transpose in [false, true] {
            let options = LoadOptions { transpose, ..LoadOptions::default() };
            let plan = || {
                let header = peek(&Source::path(at(name)), &options).expect(name);
                let [rows, cols] = [header.rows, header.cols].map(|size| size as usize);
                let entries = header.nonzeros.unwrap_or(u64::MAX) as usize;
                exercise::plan(Shape { rows, cols, entries, dense: header.dense })
            };
            let (needed, taken) = peak_of(plan);
            assert!(needed > 1 << 34, "{name}: {needed}");
            // A line is read in blocks of a quarter of a mebibyte.
            assert!(taken < 1 << 20, "{name}: planning took {taken} bytes");
        }
    }
}

/// Writes a number into a file while a method looks at it.
#[derive(Debug)]
struct Meddler {
    path: PathBuf,
    at: u64,
    value: f64,
}

impl Localiser for Meddler {
    fn name(&self) -> &'static str {
        "meddler"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, hottopixx::Error> {
        let mut file = File::options().write(true).open(&self.path).unwrap();
        file.seek(SeekFrom::Start(self.at)).unwrap();
        file.write_all(&self.value.to_le_bytes()).unwrap();
        Ok(Localised::rows("meddler", (0..question.rank).collect()))
    }
}

#[test]
fn numbers_that_change_during_a_run_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [1.0, 0.0, 0.0, 2.0, 3.0, 1.0];
    for (file, value) in [("x.npy", f64::NAN), ("x.npy", 7.0), ("x.hpx", f64::INFINITY)] {
        let path = folder.path().join(file);
        let matrix = dense(&[&rows[..2], &rows[2..4], &rows[4..]]);
        match (&matrix, file) {
            (hottopixx::Matrix::Dense(m), "x.npy") => write::npy(&path, m).unwrap(),
            _ => write::hpx(&path, &matrix, None, None).unwrap(),
        }
        let loaded = load(&Source::path(&path), &LoadOptions::default()).unwrap().matrix;
        if !loaded.is_foreign() {
            return; // not mapped on this machine
        }
        // The last number, behind a header of 128 or 256 bytes.
        let at = if file == "x.npy" { 128 } else { 256 } + 8 * 5;
        let meddler = Meddler { path: path.clone(), at, value };
        let error = Factor::new(2).localiser(meddler).run(&loaded).unwrap_err();
        assert_eq!(error, hottopixx::Error::Changed { row: 2 }, "{file} {value}");
    }
}

/// The same length, the same time, another row in the middle of a file of which only parts were looked at.
#[test]
fn a_cache_of_other_bytes_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let text = |digit: char| {
        let rows = (0..40_000).map(|k| if (900..1000).contains(&k) { digit } else { '1' });
        rows.map(|digit| format!("{digit},2,3,4,5\n")).collect::<String>()
    };
    let cache = Cache::Folder(folder.path().join("kept"));
    let options = LoadOptions { cache, ..LoadOptions::default() };
    let read = || load(&Source::path(&path), &options).unwrap();
    fs::write(&path, text('1')).unwrap();
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    assert!(matches!(read().cache, CacheUse::Written(_)));
    let first = read();
    assert!(matches!(first.cache, CacheUse::Read(_)));
    let mut file = File::options().write(true).open(&path).unwrap();
    file.write_all(text('9').as_bytes()).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
    let second = read();
    assert!(matches!(second.cache, CacheUse::Written(_)), "{:?}", second.cache);
    assert_eq!(second.matrix.row(950).sum(), 23.0);
    // A copy elsewhere in time, but of the same bytes, may use it.
    fs::write(&path, text('9')).unwrap();
    assert!(matches!(read().cache, CacheUse::Read(_)));
}

/// A reader that gives few bytes at a time and fails at some point, if at all.
struct Shaky<'a> {
    bytes: &'a [u8],
    most: usize,
    reads: Option<usize>,
}

impl Read for Shaky<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if let Some(reads) = &mut self.reads {
            *reads = reads.checked_sub(1).ok_or_else(|| std::io::Error::from_raw_os_error(5))?;
        }
        let most = self.most.min(buffer.len());
        self.bytes.read(&mut buffer[..most])
    }
}

/// Whichever read fails, it is told; however few bytes come at a time, the matrix is the same.
#[test]
fn reads_that_fail_or_fall_short() {
    for (format, bytes) in good_files() {
        let options = LoadOptions { format: Some(format), ..LoadOptions::default() };
        let whole = parse(&bytes, format).unwrap();
        for most in [1, 3, 7] {
            let short = Shaky { bytes: &bytes, most, reads: None };
            assert_eq!(read(short, "file", &options).unwrap().matrix, whole.matrix, "{format}");
        }
        let reads = bytes.len().div_ceil(7);
        for fails in 0..reads {
            let shaky = Shaky { bytes: &bytes, most: 7, reads: Some(fails) };
            let error = read(shaky, "file", &options).unwrap_err().to_string();
            assert!(error.contains("reading failed"), "{format} {fails}: {error}");
        }
    }
}

/// All kinds of numbers that numpy has, in both orders: read, or refused in a sentence that names them.
#[test]
fn every_dtype_is_read_or_refused_by_name() {
    let sizes = [1usize, 2, 4, 8, 16];
    for kind in ["b", "i", "u", "f", "c", "S", "U", "M", "m", "O", "V", "?", "e", "g"] {
        for (order, size) in ["<", ">", "|", "=", ""].iter().flat_map(|o| sizes.map(|s| (o, s))) {
            for fortran in [false, true] {
                let descr = format!("'{order}{kind}{size}'");
                let bytes = npy(&descr, fortran, "(2, 3)", &vec![0; 6 * size]);
                match parse(&bytes, Format::Npy) {
                    Ok(loaded) => assert_eq!((loaded.matrix.rows(), loaded.matrix.cols()), (2, 3)),
                    Err(error) => {
                        let sentence = error.to_string();
                        let named = [descr.trim_matches('\''), "complex", "numeric dtype"];
                        assert!(named.iter().any(|name| sentence.contains(name)), "{sentence}");
                    }
                }
            }
        }
    }
    for shape in ["()", "(6,)", "(1, 2, 3)", "(0, 3)", "(3, 0)", "(-1, 3)", "(2, 3, )", "(2,, 3)"] {
        let bytes = npy("'<f8'", false, shape, &f8(&[1.0; 6]));
        let read = parse(&bytes, Format::Npy);
        assert_eq!(read.is_ok(), shape == "(2, 3, )", "{shape}: {read:?}");
    }
}

/// Methods are listed once; whoever adds one is planned for.
#[test]
fn all_methods_are_planned_for() {
    let shape = Shape { rows: 2000, cols: 20_000, entries: 40_000_000, dense: true };
    for method in Method::ALL {
        let factor = Factor::new(10).method(method).tau(0.1).epsilon(0.1).alpha(0.5).only_used();
        let footprint = factor.footprint(shape);
        assert!(footprint.localise > 0 && footprint.clean > 0, "{}", method.name());
    }
}

/// Texts of one letter take sixty times their letters: lists of them are held to the memory all the same.
#[test]
fn short_texts_take_more_than_their_letters() {
    const LINES: usize = 2000;
    let too_large = |error: hottopixx_io::Error| {
        assert!(matches!(error, hottopixx_io::Error::TooLarge { .. }), "{error}");
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.txt");
    fs::write(&path, "y\n".repeat(LINES)).unwrap();
    let limit = |each: usize| Some((LINES * each) as u64);
    too_large(read_names(&path, limit(50)).unwrap_err());
    assert_eq!(read_names(&path, limit(60)).unwrap().len(), LINES);
    fs::write(&path, "1\n".repeat(LINES)).unwrap();
    too_large(read_numbers(&path, limit(7)).unwrap_err());
    assert_eq!(read_numbers(&path, limit(8)).unwrap().len(), LINES);
    let table = |max_bytes| {
        let options =
            LoadOptions { format: Some(Format::Csv), max_bytes, ..LoadOptions::default() };
        read("y,1,2\n".repeat(LINES).as_bytes(), "table", &options)
    };
    too_large(table(limit(60)).unwrap_err());
    assert_eq!(table(limit(80)).unwrap().matrix.rows(), LINES);
    let documents = |max_bytes| {
        let columns = DocumentColumns { max_bytes, ..DocumentColumns::default() };
        let text = "y\n".repeat(LINES);
        let take: Take<'_> = &mut |_| Ok(());
        read_documents_from(text.as_bytes(), "text", DocumentFormat::Lines, &columns, take)
    };
    too_large(documents(limit(100)).unwrap_err());
    assert_eq!(documents(limit(120)).unwrap().titles.len(), LINES);
}

/// No numbers, but more rows than can be walked over in a lifetime.
#[test]
fn empty_arrays_of_many_rows_take_no_time() {
    let many = npy("'<f8'", false, "(0, 4611686018427387904, 4)", &[]);
    for transpose in [false, true] {
        let options = CubeOptions { transpose, ..CubeOptions::default() };
        let error = read_cube(&many[..], "scene", &options).unwrap_err().to_string();
        assert!(error.contains("is empty"), "{error}");
    }
    // The same in an answer that Python saved: fuzz/corpus/saved.
}

/// What is no text is told by its beginning, whatever the memory and the length of its only line.
#[test]
fn zeros_without_end_are_no_table() {
    let options = LoadOptions { format: Some(Format::Csv), ..LoadOptions::default() };
    let error = read(std::io::repeat(0), "zeros", &options).unwrap_err().to_string();
    assert!(error.contains("or not text"), "{error}");
}
