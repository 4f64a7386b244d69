//! Files that are mapped, kept as `.hpx` or built on disk: the same matrices by other ways.

use crate::common::*;
use hottopixx::matrix::Matrix;
use hottopixx_io::{Cache, CacheUse, Format, LoadOptions, Loaded, Source, load, peek, write};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Less than any matrix of these tests takes; enough for a few names.
const NOTHING: Option<u64> = Some(400);

fn load_with(path: &Path, options: &LoadOptions) -> Result<Loaded, String> {
    load(&Source::path(path), options).map_err(|e| e.to_string())
}

/// Whether this machine maps files at all.
fn maps() -> bool {
    cfg!(all(target_pointer_width = "64", target_endian = "little", any(unix, windows)))
}

/// 60 x 40 with about 700 entries, some of them at the same place.
fn entries() -> Vec<(usize, usize, f64)> {
    (0..1000).map(|k| (k * k % 60, k * 7 % 40, (k % 9) as f64 + 0.5)).collect()
}

fn market(kind: &str, entries: &[(usize, usize, f64)]) -> String {
    let size = if kind == "symmetric" { "60 60" } else { "60 40" };
    let mut text =
        format!("%%MatrixMarket matrix coordinate real {kind}\n%\n{size} {}\n", entries.len());
    for (i, j, v) in entries {
        text += &format!("{} {} {v}\n", i + 1, j + 1);
    }
    text
}

fn bag() -> String {
    let mut text = "40\n60\n1000\n".to_owned();
    for (i, j, v) in entries() {
        text += &format!("{} {} {v}\n", j + 1, i + 1);
    }
    text
}

#[test]
fn mapped_files_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let wide = dense(&[&[1.5; 100], &[2.0; 100]]);
    let thin = sparse(60, 40, &entries());
    let numbers: Vec<f64> = (0..200).map(f64::from).collect();
    let by_columns = padded_npy(true, "(100, 2)", &f8(&numbers));
    let turned = dense(&[&numbers[..100], &numbers[100..]]);
    for (name, bytes, transpose, want) in [
        ("wide.hpx", hpx(&wide, None, None), false, wide.clone()),
        ("thin.hpx", hpx(&thin, None, None), false, thin),
        (
            "wide.npy",
            padded_npy(false, "(2, 100)", &f8(&[&[1.5; 100][..], &[2.0; 100]].concat())),
            false,
            wide,
        ),
        ("columns.npy", by_columns, true, turned),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let options = LoadOptions { transpose, max_bytes: NOTHING, ..Default::default() };
        let header = peek(&Source::path(&path), &options).unwrap();
        assert_eq!(header.mapped, maps(), "{name}");
        assert!(header.bytes > 400);
        if maps() {
            assert_eq!(load_with(&path, &options).unwrap().matrix, want, "{name}");
        }
        // Turned, it has to be copied, and that counts.
        let options = LoadOptions { transpose: !transpose, ..options };
        assert!(!peek(&Source::path(&path), &options).unwrap().mapped);
        let message = load_with(&path, &options).unwrap_err();
        assert!(message.contains("bytes of memory but 400 are allowed"), "{message}");
        let options = LoadOptions { max_bytes: None, ..options };
        assert_eq!(load_with(&path, &options).unwrap().matrix, want.transpose(), "{name}");
    }
}

/// A `.npy` file whose numbers begin at a multiple of 64 bytes, as numpy writes it.
fn padded_npy(fortran: bool, shape: &str, body: &[u8]) -> Vec<u8> {
    let bare = npy("'<f8'", fortran, shape, &[]).len();
    npy("'<f8'", fortran, &format!("{shape}{}", " ".repeat((64 - bare % 64) % 64)), body)
}

#[test]
fn numbers_at_odd_places_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let body = f8(&[1.0, 2.0, 3.0, 4.0]);
    for blanks in 0..9 {
        let shape = format!("(2, 2){}", " ".repeat(blanks));
        fs::write(&path, npy("'<f8'", false, &shape, &body)).unwrap();
        let loaded = load_with(&path, &LoadOptions::default()).unwrap();
        assert_eq!(loaded.matrix, dense(&[&[1.0, 2.0], &[3.0, 4.0]]));
    }
    fs::write(&path, padded_npy(false, "(2, 2)", &body[..31])).unwrap();
    let message = load_with(&path, &LoadOptions::default()).unwrap_err();
    assert!(message.contains("truncated, 3 values found of 4"), "{message}");
    fs::write(&path, padded_npy(false, "(2, 2)", &f8(&[1.0, 2.0, 3.0, -4.0]))).unwrap();
    let message = load_with(&path, &LoadOptions::default()).unwrap_err();
    assert!(message.contains("row 1, column 1 of the file"), "{message}");
}

#[test]
fn hpx_keeps_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("named.hpx");
    fs::write(&path, named_hpx()).unwrap();
    let loaded = load_with(&path, &LoadOptions::default()).unwrap();
    assert_eq!(loaded.row_names.as_deref().unwrap(), ["Öl", ""]);
    assert_eq!(loaded.col_names.as_deref().unwrap(), ["a", "b,c", "\n"]);
    let options = LoadOptions { transpose: true, ..Default::default() };
    let turned = load_with(&path, &options).unwrap();
    assert_eq!((turned.row_names, turned.col_names), (loaded.col_names, loaded.row_names));
    let one = ["one".to_owned()];
    assert!(write::hpx(&path, &loaded.matrix, Some(&one), None).is_err());
}

#[test]
fn damaged_hpx_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.hpx");
    let good = named_hpx();
    let changed = |at: usize, word: u64| {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        forge(&mut bytes);
        bytes
    };
    // Starts are at 256, columns at 320, values at 384.
    for (bytes, want) in [
        (good[..good.len() - 1].to_vec(), ["bytes where", "truncated"]),
        ([&good[..], b"x"].concat(), ["bytes where", "more bytes"]),
        (good[..100].to_vec(), ["not a .hpx file"; 2]),
        (changed(8, 7), ["version 7 of the .hpx format is unknown"; 2]),
        (changed(16, 5), ["header of the .hpx file is damaged"; 2]),
        (changed(264, 9), ["where each row begins"; 2]),
        (changed(264, u64::MAX), ["where each row begins"; 2]),
        (changed(324, 3 << 32), ["column 3 of row 1 does not exist"; 2]),
        (changed(324, 0), ["columns of row 1 do not increase"; 2]),
        (changed(384, f64::NAN.to_bits()), ["row 0, column 1 of the file"; 2]),
        (changed(392, (-1f64).to_bits()), ["-1 is negative"; 2]),
        (changed(448, 99), ["the names are damaged"; 2]),
    ] {
        fs::write(&path, &bytes).unwrap();
        let mapped = load_with(&path, &LoadOptions::default()).unwrap_err();
        let read = parse(&bytes, Format::Hpx).unwrap_err().to_string();
        assert!(mapped.contains(want[0]), "{mapped} is not {}", want[0]);
        assert!(read.contains(want[1]), "{read} is not {}", want[1]);
        assert!(!mapped.contains('\n') && mapped.contains("x.hpx"), "{mapped}");
    }
}

/// A folder with a file in it, and a folder for its cache.
struct CacheFolder {
    folder: tempfile::TempDir,
    options: LoadOptions,
}

impl CacheFolder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::Folder(folder.path().join("deep/cache"));
        CacheFolder { folder, options: LoadOptions { cache, ..Default::default() } }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The file that was written.
    fn written(&self, path: &Path) -> (Loaded, PathBuf) {
        let loaded = load_with(path, &self.options).unwrap();
        match loaded.cache.clone() {
            CacheUse::Written(cache) => (loaded, cache),
            other => panic!("{}: {other:?}", path.display()),
        }
    }

    /// What is read back from that file.
    fn read(&self, path: &Path) -> (Loaded, PathBuf) {
        let loaded = load_with(path, &self.options).unwrap();
        match loaded.cache.clone() {
            CacheUse::Read(cache) => (loaded, cache),
            other => panic!("{}: {other:?}", path.display()),
        }
    }
}

fn without_cache(loaded: Loaded) -> Loaded {
    Loaded { cache: CacheUse::Unused, ..loaded }
}

#[test]
fn text_of_every_format_is_kept_and_comes_back() {
    let mut place = CacheFolder::new();
    for (k, (format, bytes)) in good_files().into_iter().enumerate() {
        let gz = if bytes.starts_with(b"\x1f\x8b") { ".gz" } else { "" };
        let name = match format {
            Format::BagOfWords => format!("docword.{k}.txt"),
            other => format!("{k}.{other}"),
        };
        let path = place.write(&(name + gz), &bytes);
        for transpose in [false, true] {
            place.options.transpose = transpose;
            if !format.is_text() {
                let loaded = load_with(&path, &place.options).unwrap();
                assert_eq!(loaded.cache, CacheUse::Unused);
                continue;
            }
            let (first, cache) = place.written(&path);
            let (again, same) = place.read(&path);
            assert_eq!(same, cache);
            assert_eq!(without_cache(again), without_cache(first));
            assert_eq!(load_with(&cache, &LoadOptions::default()).unwrap().format, Format::Hpx);
        }
    }
}

#[test]
fn a_change_of_the_source_or_of_the_options_is_noticed() {
    let mut place = CacheFolder::new();
    let path = place.write("x.csv", "1,2\n3,4\n");
    let (_, cache) = place.written(&path);
    let old = fs::metadata(&path).unwrap().modified().unwrap();
    // Same length, same time: the bytes tell.
    place.write("x.csv", "1,2\n3,5\n");
    File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    assert_eq!(place.written(&path).0.matrix, dense(&[&[1.0, 2.0], &[3.0, 5.0]]));
    // Same bytes, another time: the same matrix.
    place.read(&path);
    let later = SystemTime::now() + Duration::from_secs(5);
    File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    assert_eq!(place.read(&path).1, cache);
    // Another format, and turned.
    place.options.format = Some(Format::Tsv);
    assert_ne!(place.written(&path).1, cache);
    place.options.format = None;
    place.options.transpose = true;
    assert_ne!(place.written(&path).1, cache);
    // A file of the same name elsewhere.
    fs::create_dir(place.folder.path().join("other")).unwrap();
    let other = place.write("other/x.csv", "7\n");
    assert_eq!(place.written(&other).0.matrix, dense(&[&[7.0]]));
    assert_eq!(place.read(&path).0.matrix.rows(), 2);
}

#[test]
fn a_damaged_cache_is_written_again() {
    let place = CacheFolder::new();
    let path = place.write("x.svm", "1 1:2 3:4\n-1 2:1\n");
    let (first, cache) = place.written(&path);
    assert_eq!(first.labels, Some(vec![1.0, -1.0]));
    let good = fs::read(&cache).unwrap();
    for k in (0..good.len()).step_by(3) {
        let mut bad = good.clone();
        bad[k] ^= 0xff;
        fs::write(&cache, &bad).unwrap();
        let loaded = load_with(&path, &place.options).unwrap();
        // Damage in a number may leave a number; in anything else it is noticed.
        if k < 256 {
            assert!(matches!(loaded.cache, CacheUse::Written(_)), "byte {k}");
        }
        if matches!(loaded.cache, CacheUse::Written(_)) {
            assert_eq!(loaded.matrix, first.matrix);
        }
        fs::write(&cache, &good[..k]).unwrap();
        assert!(matches!(load_with(&path, &place.options).unwrap().cache, CacheUse::Written(_)));
    }
    assert_eq!(without_cache(place.read(&path).0), without_cache(first));
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    let mut place = CacheFolder::new();
    let path = place.write("x.csv", "1,2\n");
    place.options.cache = Cache::Folder(path.clone());
    let loaded = load_with(&path, &place.options).unwrap();
    let note = loaded.cache.note().unwrap();
    assert!(note.contains("could not be written") && !note.contains('\n'), "{note}");
}

#[test]
fn small_files_are_not_kept_beside() {
    let mut place = CacheFolder::new();
    place.options.cache = Cache::Beside;
    let path = place.write("x.csv", "1,2\n");
    assert_eq!(load_with(&path, &place.options).unwrap().cache, CacheUse::Unused);
    assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 1);
}

#[test]
fn what_does_not_fit_is_built_on_disk() {
    if !maps() {
        return;
    }
    let square: Vec<_> = entries().into_iter().filter(|e| e.0 < 60 && e.1 < 60).collect();
    let general = market("general", &entries());
    let all = [
        ("x.mtx", general.clone().into_bytes()),
        ("x.mtx.gz", gzip(general.as_bytes())),
        ("s.mtx", market("symmetric", &square).into_bytes()),
        ("docword.x.txt", bag().into_bytes()),
    ];
    for (name, bytes) in all {
        for transpose in [false, true] {
            let mut place = CacheFolder::new();
            place.options.transpose = transpose;
            place.options.cache = Cache::Beside;
            let path = place.write(name, &bytes);
            let plain = LoadOptions { transpose, ..Default::default() };
            let want = load_with(&path, &plain).unwrap();
            // In the least memory that is enough, in a few bands, and in one.
            for memory in [6000, 8000, 20_000] {
                place.options.max_bytes = Some(memory);
                let plain = LoadOptions { max_bytes: Some(memory), ..plain.clone() };
                let message = load_with(&path, &plain).unwrap_err();
                assert!(message.contains("nonzeros needs"), "{message}");
                let (built, cache) = place.written(&path);
                assert_eq!(without_cache(built), want, "{name} in {memory}");
                let hidden = if transpose { ".transposed.hpx" } else { ".hpx" };
                assert!(cache.ends_with(format!(".{name}{hidden}")), "{}", cache.display());
                assert_eq!(without_cache(place.read(&path).0), want);
                assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 2);
                fs::remove_file(cache).unwrap();
            }
            place.options.max_bytes = Some(1000);
            let message = load_with(&path, &place.options).unwrap_err();
            assert!(message.contains("bytes of memory but 1000 are allowed"), "{message}");
        }
    }
}

#[test]
fn faults_of_the_text_are_found_while_building_on_disk() {
    let mut place = CacheFolder::new();
    place.options.max_bytes = Some(8000);
    let good = market("general", &entries());
    for (text, want) in [
        (good.replacen("\n1 1 0.5\n", "\n1 1 -0.5\n", 1), "line 4: -0.5 is negative"),
        (format!("{good}1 1 1\n"), "line 1004: there are more than the 1000 entries of line 3"),
        (good.replace("60 40 1000", "60 40 1001"), "truncated, 1000 entries found of 1001"),
    ] {
        let path = place.write("x.mtx", &text);
        let message = load_with(&path, &place.options).unwrap_err();
        assert!(message.contains("x.mtx") && message.contains(want), "{message}");
    }
    let path = place.write("x.mtx", &good);
    place.options.cache = Cache::Folder(path.clone());
    let message = load_with(&path, &place.options).unwrap_err();
    assert!(message.contains("could not be written") && message.contains("--cache"), "{message}");
}

#[test]
fn peek_tells_sizes_without_reading() {
    let folder = tempfile::tempdir().unwrap();
    let csr = npz(&csr(), zip::CompressionMethod::Deflated);
    for (name, bytes, want) in [
        ("a.npy", npy("'<f4'", false, "(3, 5)", b""), Some((3, 5, None))),
        ("b.npz", csr, Some((2, 3, Some(3)))),
        (
            "c.npz",
            npz(&[("X", npy("'<f8'", true, "(7, 2)", b""))], zip::CompressionMethod::Stored),
            Some((7, 2, None)),
        ),
        (
            "d.mtx",
            market("general", &[]).replace(" 0\n", " 99\n").into_bytes(),
            Some((60, 40, Some(99))),
        ),
        (
            "e.mtx.gz",
            gzip(market("symmetric", &[]).replace(" 0\n", " 9\n").as_bytes()),
            Some((60, 60, Some(18))),
        ),
        (
            "f.mtx",
            b"%%MatrixMarket matrix array real general\n%\n4 6\n".to_vec(),
            Some((4, 6, None)),
        ),
        ("docword.g.txt", b"100\n30\n1234\n".to_vec(), Some((30, 100, Some(1234)))),
        ("h.hpx", named_hpx(), Some((2, 3, Some(3)))),
        ("i.csv", b"1,2\n".to_vec(), None),
        ("j.svm", b"1 1:1\n".to_vec(), None),
        ("k.npy", b"\x93NUMPY\x01".to_vec(), None),
        ("l.unknown", b"?".to_vec(), None),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        for transpose in [false, true] {
            let options = LoadOptions { transpose, ..Default::default() };
            let found = peek(&Source::path(&path), &options);
            let want = want.map(|(r, c, n)| if transpose { (c, r, n) } else { (r, c, n) });
            assert_eq!(found.as_ref().map(|h| (h.rows, h.cols, h.nonzeros)), want, "{name}");
            if let Some(header) = found {
                assert_eq!(header.dense, header.nonzeros.is_none());
                let bytes = match header.nonzeros {
                    Some(count) => 12 * count + 8 * header.rows,
                    None => 8 * header.rows * header.cols,
                };
                assert_eq!(header.bytes, bytes, "{name}");
            }
        }
    }
    assert_eq!(peek(&Source::stdin(), &LoadOptions::default()), None);
    assert_eq!(peek(&Source::path(folder.path()), &LoadOptions::default()), None);
}

#[test]
fn large_archives_are_not_compressed_and_come_back() {
    // Nine million entries are above the size from which members are only stored.
    let folder = tempfile::tempdir().unwrap();
    let (rows, cols) = (3000, 3000);
    let starts = (0..=rows).map(|i| i * cols).collect();
    let columns = (0..rows).flat_map(|_| 0..cols as u32).collect();
    let matrix =
        hottopixx::matrix::Sparse::new(rows, cols, starts, columns, vec![1.0; rows * cols]);
    let matrix = Matrix::from(matrix.unwrap());
    let path = write::matrix(folder.path(), "x", &matrix).unwrap();
    assert!(fs::metadata(&path).unwrap().len() > 8 * 9_000_000);
    assert_eq!(load_with(&path, &LoadOptions::default()).unwrap().matrix, matrix);
}
