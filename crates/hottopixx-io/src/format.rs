//! The formats, their names and how one is recognised: by extension, else by the first bytes.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A file format of matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// numpy's `.npy`: one dense array.
    Npy,
    /// numpy's `.npz`: a dense array of an archive, or a scipy sparse matrix.
    Npz,
    /// Matrix Market, array or coordinate.
    MatrixMarket,
    /// A table with commas.
    Csv,
    /// A table with tabs.
    Tsv,
    /// SVMlight / LIBSVM: one sample per line.
    SvmLight,
    /// UCI bag of words, `docword.NAME.txt`.
    BagOfWords,
    /// Our own `.hpx`: dense or sparse, with names, mapped instead of read.
    Hpx,
}

/// What can be read, for messages.
pub(crate) const KNOWN: &str = "use .npy, .npz, .mtx, .csv, .tsv, .svm, .libsvm, .svmlight or \
    docword.NAME.txt (all but .npz also with .gz) or .hpx, or name the format with --format";

impl Format {
    /// Every format.
    pub const ALL: [Format; 8] = [
        Format::Npy,
        Format::Npz,
        Format::MatrixMarket,
        Format::Csv,
        Format::Tsv,
        Format::SvmLight,
        Format::BagOfWords,
        Format::Hpx,
    ];

    /// The name that [`FromStr`] accepts.
    pub fn name(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::MatrixMarket => "mtx",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::SvmLight => "svmlight",
            Format::BagOfWords => "bow",
            Format::Hpx => "hpx",
        }
    }

    /// The format that the name of a file promises, with or without `.gz`, in any case.
    ///
    /// ```
    /// use hottopixx_io::Format;
    /// assert_eq!(Format::from_path("a/docword.nips.txt.gz".as_ref()), Some(Format::BagOfWords));
    /// assert_eq!(Format::from_path("X.MTX".as_ref()), Some(Format::MatrixMarket));
    /// assert_eq!(Format::from_path("notes.txt".as_ref()), None);
    /// ```
    pub fn from_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let (_, extension) = name.rsplit_once('.')?;
        match extension {
            "npy" => Some(Format::Npy),
            "npz" => Some(Format::Npz),
            "mtx" => Some(Format::MatrixMarket),
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "svm" | "libsvm" | "svmlight" => Some(Format::SvmLight),
            "hpx" => Some(Format::Hpx),
            "txt" if name.starts_with("docword.") => Some(Format::BagOfWords),
            _ => None,
        }
    }

    /// Whether it is text, which takes long to read and is therefore worth a cache.
    pub fn is_text(self) -> bool {
        !matches!(self, Format::Npy | Format::Npz | Format::Hpx)
    }

    /// Whether it is a table, which [`crate::TableOptions`] are about.
    pub fn is_table(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv)
    }

    /// The format that the first bytes prove, for the four that can be told.
    pub fn from_bytes(head: &[u8]) -> Option<Format> {
        if head.starts_with(crate::npy::MAGIC) {
            Some(Format::Npy)
        } else if head.starts_with(crate::npz::MAGIC) {
            Some(Format::Npz)
        } else if head.starts_with(crate::hpx::MAGIC) {
            Some(Format::Hpx)
        } else {
            let banner = head.get(..crate::mtx::MAGIC.len())?;
            banner.eq_ignore_ascii_case(crate::mtx::MAGIC).then_some(Format::MatrixMarket)
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that is not the name of a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not a format: choose one of npy, npz, mtx, csv, tsv, svmlight, bow, hpx", crate::error::quote(.0.as_bytes()))]
pub struct UnknownFormatName(pub String);

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Format::ALL
            .into_iter()
            .find(|f| f.name() == text)
            .ok_or_else(|| UnknownFormatName(text.to_owned()))
    }
}
