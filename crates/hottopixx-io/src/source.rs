//! Where bytes come from: a file, standard input or memory, compressed or not.

use crate::error::{Corrupt, Error, Fault};
use crate::format::KNOWN;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file, standard input, or bytes in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    File(PathBuf),
    Stdin,
    Memory { name: PathBuf, bytes: Arc<[u8]> },
}

impl Source {
    /// The file at `path`; `-` is standard input (`./-` is a file of that name).
    pub fn path(path: impl Into<PathBuf>) -> Source {
        let path = path.into();
        Source { kind: if path.as_os_str() == "-" { Kind::Stdin } else { Kind::File(path) } }
    }

    /// Bytes that are here already, as a browser has them, under the name of a file: its ending tells the
    /// format. Nothing is looked for on a disk.
    pub fn memory(name: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) -> Source {
        Source { kind: Kind::Memory { name: name.into(), bytes: bytes.into() } }
    }

    /// Standard input.
    pub fn stdin() -> Source {
        Source { kind: Kind::Stdin }
    }

    /// The path of a file.
    pub fn as_path(&self) -> Option<&Path> {
        match &self.kind {
            Kind::File(path) => Some(path),
            Kind::Stdin | Kind::Memory { .. } => None,
        }
    }

    /// What its name tells the format by, if it has a name.
    pub(crate) fn named(&self) -> Option<&Path> {
        match &self.kind {
            Kind::File(name) | Kind::Memory { name, .. } => Some(name),
            Kind::Stdin => None,
        }
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        self.named().map_or_else(|| "standard input".to_owned(), display_name)
    }
}

/// A path for messages: on one line whatever it holds.
pub(crate) fn display_name(path: &Path) -> String {
    let mut out = String::new();
    for c in path.to_string_lossy().chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// A stream whose first bytes have been looked at.
pub(crate) struct Stream<'a> {
    /// The first bytes after decompression, at most [`HEAD`] of them.
    pub head: Vec<u8>,
    pub body: Body<'a>,
    /// Bytes of head and body, where that is known.
    pub length: Option<u64>,
}

/// What is left behind the head.
pub(crate) enum Body<'a> {
    /// A plain file that stands behind the head and can be rewound.
    File(File),
    /// Anything else.
    Other(Box<dyn Read + 'a>),
}

/// Enough to tell every format that can be told.
const HEAD: u64 = 16;

impl<'a> Stream<'a> {
    /// Opens a source, decompressing it when its bytes say so.
    pub fn open(source: &Source) -> Result<Stream<'a>, Error> {
        let name = source.name();
        let path = match &source.kind {
            Kind::File(path) => path,
            Kind::Stdin => {
                return Stream::new(Body::Other(Box::new(io::stdin())), None)
                    .map_err(|f| f.in_file(&name));
            }
            Kind::Memory { bytes, .. } if bytes.is_empty() => {
                return Err(Error::Empty { file: name });
            }
            Kind::Memory { bytes, .. } => {
                let length = Some(bytes.len() as u64);
                let body = Body::Other(Box::new(Cursor::new(Arc::clone(bytes))));
                return Stream::new(body, length).map_err(|f| f.in_file(&name));
            }
        };
        let fail = |reason: String, remedy: &str| Error::Open {
            file: name.clone(),
            reason,
            remedy: remedy.to_owned(),
        };
        let file = File::open(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => fail("it does not exist".into(), "check the path"),
            io::ErrorKind::PermissionDenied => {
                fail("reading it is not permitted".into(), "change its permissions")
            }
            _ => fail(e.to_string(), "check the path"),
        })?;
        let metadata =
            file.metadata().map_err(|source| Error::Read { file: name.clone(), source })?;
        if metadata.is_dir() {
            return Err(fail("it is a folder".into(), &format!("give a file; {KNOWN}")));
        }
        let (body, length) = if metadata.is_file() {
            (Body::File(file), Some(metadata.len()))
        } else {
            (Body::Other(Box::new(file)), None)
        };
        let stream = Stream::new(body, length).map_err(|f| f.in_file(&name))?;
        if stream.length == Some(0) {
            return Err(Error::Empty { file: name });
        }
        let named_gz = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
        if named_gz && stream.length.is_some() {
            let what = "the name ends in .gz but the file is not compressed";
            return Err(Fault::file(what, "rename it or compress it with gzip").in_file(&name));
        }
        Ok(stream)
    }

    /// Looks at the first bytes of a body.
    pub fn new(mut body: Body<'a>, length: Option<u64>) -> Result<Stream<'a>, Fault> {
        let mut head = Vec::new();
        match &mut body {
            Body::File(file) => file.take(HEAD).read_to_end(&mut head)?,
            Body::Other(other) => other.take(HEAD).read_to_end(&mut head)?,
        };
        let length = if head.is_empty() { Some(0) } else { length };
        let stream = Stream { head, body, length };
        if !stream.head.starts_with(b"\x1f\x8b") {
            return Ok(stream);
        }
        let inner = Gunzip(MultiGzDecoder::new(io::BufReader::new(stream.into_reader())));
        let mut inner: Box<dyn Read + 'a> = Box::new(inner);
        let mut head = Vec::new();
        (&mut inner).take(HEAD).read_to_end(&mut head)?;
        if head.is_empty() {
            return Err(Fault::file("the compressed file is empty", "check what wrote it"));
        }
        Ok(Stream { head, body: Body::Other(inner), length: None })
    }

    /// All bytes from the first.
    pub fn into_reader(self) -> Box<dyn Read + 'a> {
        let head = Cursor::new(self.head);
        match self.body {
            Body::File(file) => Box::new(head.chain(file)),
            Body::Other(other) => Box::new(head.chain(other)),
        }
    }
}

/// A gzip decoder whose complaints are told apart from a disk that fails.
struct Gunzip<R>(R);

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(e.kind(), Corrupt("the gzip data is truncated"))
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::Other => {
                io::Error::new(e.kind(), Corrupt("the gzip data is corrupt"))
            }
            _ => e,
        })
    }
}
