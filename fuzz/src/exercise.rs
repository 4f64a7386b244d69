//! Bytes in, no panic, no memory out of proportion, no lie out: what fuzzing calls, and what the ordinary
//! tests replay on the corpus. Each function takes whatever bytes it is given and judges what comes of
//! them by `assert!`.

use hottopixx::certify::{Certificate, ChoiceCertificate, ChoiceCut, verify, verify_choice};
use hottopixx::checkpoint::Keeper as _;
use hottopixx::control::Control;
use hottopixx::matrix::{Dense, Matrix, Shape, Sparse};
use hottopixx::normalise::UnitRows;
use hottopixx::{Comparison, Factor, Goal, Method, Objective, Work};
use hottopixx_io::{
    Checkpoint, DocumentColumns, DocumentFormat, Error, Format, LoadOptions, Loaded, Source, load,
    load_signed, peek, read, read_documents, read_names, read_numbers, survey,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What a loader may take.
const MEMORY: u64 = 1 << 22;

/// What may be exercised, by the names of the folders of the corpus.
pub const TARGETS: [&str; 12] = [
    "npy",
    "npz",
    "mtx",
    "csv",
    "tsv",
    "svmlight",
    "bow",
    "hpx",
    "documents",
    "checkpoint",
    "certificate",
    "commands",
];

/// Exercises the target of this name.
pub fn run(target: &str, bytes: &[u8]) {
    match target {
        "documents" => documents(bytes),
        "checkpoint" => checkpoint(bytes),
        "certificate" => certificate(bytes),
        "commands" => commands(bytes),
        format => loader(format.parse().expect("a format"), bytes),
    }
}

/// A file with these bytes, where files cost least, and one for each thread.
fn file(extension: &str, bytes: &[u8]) -> PathBuf {
    let shared = Path::new("/dev/shm");
    let folder = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "");
    let path = folder.join(format!("hottopixx-fuzz-{}-{thread}.{extension}", std::process::id()));
    std::fs::write(&path, bytes).expect("a file in a temporary folder");
    path
}

fn name_of(format: Format) -> String {
    match format {
        Format::BagOfWords => "docword.txt".to_owned(),
        other => other.name().to_owned(),
    }
}

fn one_line(error: &Error) {
    let sentence = error.to_string();
    assert!(!sentence.contains(['\n', '\r', '\u{1b}']) && sentence.len() < 900, "{sentence:?}");
}

/// What is accepted can be relied on.
fn sound(loaded: &Loaded) {
    let matrix = &loaded.matrix;
    assert!(matrix.check_nonnegative().is_ok());
    for (names, count) in [(&loaded.row_names, matrix.rows()), (&loaded.col_names, matrix.cols())] {
        assert!(names.as_ref().is_none_or(|names| names.len() == count));
    }
}

/// One loader: from a stream, from a file (which may be mapped), the header alone, and the survey.
pub fn loader(format: Format, bytes: &[u8]) {
    let path = file(&name_of(format), bytes);
    let source = Source::path(&path);
    for transpose in [false, true] {
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
        if let Err(error) = survey(&source, &options, MEMORY) {
            one_line(&error);
        }
        let _ = load_signed(&source, &options);
    }
}

/// Documents in all formats of one file, and lists of names and of numbers.
pub fn documents(bytes: &[u8]) {
    let path = file("txt", bytes);
    let source = Source::path(&path);
    let columns = DocumentColumns { max_bytes: Some(MEMORY), ..DocumentColumns::default() };
    use DocumentFormat as F;
    for format in [F::Lines, F::Csv, F::Tsv, F::JsonLines] {
        let mut count = 0;
        let names = read_documents(&source, format, &columns, &mut |block| {
            count += block.len();
            Ok(())
        });
        match names {
            Ok(names) => assert_eq!(names.titles.len(), count),
            Err(error) => one_line(&error),
        }
    }
    read_names(&path).err().iter().for_each(one_line);
    read_numbers(&path).err().iter().for_each(one_line);
}

fn small(dense: bool) -> Matrix {
    let rows = [[4.0, 0.0, 1.0], [0.0, 3.0, 0.0], [2.0, 2.0, 1.0], [1.0, 5.0, 2.0]];
    if dense {
        return Dense::from_rows(&rows).expect("rows of one length").into();
    }
    let entries = rows.iter().enumerate().flat_map(|(i, row)| {
        row.iter().enumerate().filter(|e| *e.1 > 0.0).map(move |(k, v)| (i, k, *v))
    });
    Sparse::from_triplets(4, 3, &entries.collect::<Vec<_>>()).expect("places in range").into()
}

/// The bytes as the file of a checkpoint, and as the state inside a sound one, from which runs go on.
pub fn checkpoint(bytes: &[u8]) {
    let path = file("checkpoint", bytes);
    if let Err(error) = Checkpoint::new(&path, 7, Duration::ZERO).take_up() {
        one_line(&error);
    }
    for dense in [true, false] {
        let matrix = small(dense);
        let factor = Factor::new(2).method(Method::Hottopixx).epochs(2).threads(1);
        let fingerprint = factor.fingerprint(&matrix);
        Checkpoint::new(&path, fingerprint, Duration::MAX).save(&|out| out.write_all(bytes));
        let mut file = Checkpoint::new(&path, fingerprint, Duration::MAX);
        assert!(file.take_up().expect("a sound file"));
        if let Ok(answer) = factor.keeper(Arc::new(file)).run(&matrix) {
            assert!(answer.errors.mean_l1.is_finite() && answer.hott.len() == 2);
        }
    }
}

/// Numbers out of bytes, as many as are wanted: zeros behind the last.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// Simple numbers mostly, any bits sometimes.
    fn real(&mut self) -> f64 {
        match self.byte() {
            255 => f64::from_bits(u64::from_le_bytes(std::array::from_fn(|_| self.byte()))),
            byte => f64::from(byte as i8) / 64.0,
        }
    }

    fn reals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.real()).collect()
    }
}

/// Certificates of any content for a small X: refused or true, never a panic.
pub fn certificate(bytes: &[u8]) {
    let mut numbers = Numbers(bytes);
    let x = UnitRows::new(&small(numbers.byte() < 128)).expect("a matrix without faults");
    let (f, n) = (x.features(), x.examples());
    let goal = match numbers.byte() % 3 {
        0 => Goal::Minimax,
        1 => Goal::Total,
        _ => Goal::Cost { tau: numbers.real() },
    };
    let size = if numbers.byte() == 0 { f + 1 } else { f };
    let localising: Vec<(usize, usize, f64)> = (0..size)
        .flat_map(|i| (0..size).map(move |j| (i, j)))
        .map(|(i, j)| (i, j, numbers.real()))
        .collect();
    let count = usize::from(numbers.byte()) % 6;
    let certificate = Certificate {
        goal,
        rank: Some(usize::from(numbers.byte()) % 6).filter(|rank| *rank < 5),
        cost: numbers.reals(size),
        allowed: (0..size).map(|_| numbers.byte() < 200).collect(),
        diagonal: numbers.reals(size),
        localising: Sparse::from_triplets(size, size, &localising).expect("places in range"),
        dual: (0..count).map(|_| (usize::from(numbers.byte() % 5), numbers.reals(n))).collect(),
        claims: None,
    };
    if let Ok(found) = verify(&x, &certificate, &Control::default()) {
        assert!(found.objective.is_finite() && found.lower_bound.is_finite());
    }
    let choice = ChoiceCertificate {
        rank: usize::from(numbers.byte()) % 6,
        allowed: certificate.allowed,
        threshold: numbers.real(),
        cuts: (0..count)
            .map(|_| ChoiceCut {
                row: usize::from(numbers.byte() % 6),
                y: numbers.reals(n),
                multiplier: numbers.real(),
            })
            .collect(),
    };
    if verify_choice(&x, &choice, &Control::default()).is_ok() {
        // All rows, if all may be hott, explain all rows: no threshold is below an error of zero.
        let all = choice.rank >= f && choice.allowed.iter().all(|allowed| *allowed);
        assert!(!all || choice.threshold <= 0.0, "{choice:?}");
    }
}

/// The first byte names a format, the rest is the file: what every command does with it, from the header to
/// the answer. Planning is held to a mebibyte by whoever counts allocations.
pub fn commands(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let format = Format::ALL[usize::from(*first) % Format::ALL.len()];
    let path = file(&name_of(format), bytes);
    let source = Source::path(&path);
    let options =
        LoadOptions { format: Some(format), max_bytes: Some(MEMORY), ..LoadOptions::default() };
    let header = peek(&source, &options);
    let shape = header.as_ref().map(|header| Shape {
        rows: usize::try_from(header.rows).unwrap_or(usize::MAX),
        cols: usize::try_from(header.cols).unwrap_or(usize::MAX),
        entries: usize::try_from(header.bytes / 8).unwrap_or(usize::MAX),
        dense: header.dense,
    });
    if shape.is_some_and(|shape| plan(shape) > 16 * MEMORY) {
        return; // refused, as every command does
    }
    let Ok(loaded) = load(&source, &options) else { return };
    let shape = Shape::from(&loaded.matrix);
    if plan(shape) > 16 * MEMORY || shape.entries > 400 || shape.rows > 40 {
        return;
    }
    work(&loaded.matrix);
}

/// What any command would take at most.
pub fn plan(shape: Shape) -> u64 {
    let works = [Work::Run, Work::Evaluate, Work::Certify, Work::Rank, Work::Compare];
    let each = |work: Work| {
        Method::ALL.into_iter().map(move |method| {
            Factor::new(2).method(method).threads(2).footprint_of(work, shape).data()
        })
    };
    works.into_iter().flat_map(each).max().unwrap_or(0)
}

/// Every kind of work on a small matrix: what comes of it is finite, and F W is what the errors say.
fn work(matrix: &Matrix) {
    let rank = 2.min(matrix.rows());
    let deadline = std::time::Instant::now() + Duration::from_millis(300);
    let control = || Control::default().with_deadline(deadline);
    let factor = |method| Factor::new(rank).method(method).threads(1).control(control());
    for method in [Method::Spa, Method::Hottopixx] {
        if let Ok(answer) = factor(method).run(matrix) {
            assert!(answer.errors.mean_l1.is_finite() && answer.errors.inf1 >= 0.0);
            let finite = |m: &Matrix| (0..m.rows()).all(|i| m.row(i).sum().is_finite());
            assert!(finite(&answer.w) || !finite(matrix));
            assert!(
                (0..answer.f.rows()).all(|i| answer.f.row(i).nonzeros().all(|e| e.1.is_finite()))
            );
        }
    }
    let _ = factor(Method::Auto).evaluate(matrix, &[0]);
    let _ = factor(Method::Minimax).certify(matrix, None);
    let _ = factor(Method::Auto).rank_needed(matrix, 0.25);
    let _ = Comparison::run(matrix, Objective::Mean, factor);
}
