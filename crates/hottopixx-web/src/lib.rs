//! The report of a file, made where the file is: in a reader's browser.
//!
//! [`report`] takes the bytes of a file and gives the page that `--out` of the command line writes. It is the whole
//! of the crate on any system; in WebAssembly, `page` lets a script of a page call it. There is one thread
//! (rayon does with the one that asks), no file, no signal and no clock but the page's.

#![deny(unsafe_code)]

mod documents;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod page;
mod scene;
mod table;

use hottopixx::Control;
use hottopixx::clock::Instant;
use hottopixx_io::{DocumentColumns, DocumentFormat, Format, Source, has_text};
use std::path::Path;
use std::time::Duration;

/// Bytes that a run may take: a browser gives a page four gigabytes of addresses, and not all of it.
const MEMORY: u64 = 2 << 30;

/// What to make of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What its name and its first lines say: topics of text, materials of a scene, rows of a table.
    Any,
    /// Topics of documents.
    Topics,
    /// The rows of a matrix that explain the others.
    Rows,
    /// The columns of a matrix that explain the others.
    Columns,
    /// The materials of a scene.
    Scene,
}

impl Kind {
    /// All, in the order in which the page numbers them.
    pub const ALL: [Kind; 5] = [Kind::Any, Kind::Topics, Kind::Rows, Kind::Columns, Kind::Scene];
}

/// What a reader asks for.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What to make of the file.
    pub kind: Kind,
    /// Topics, rows, columns or materials.
    pub rank: usize,
    /// The best answer after this many seconds, if it is not there before; 0 for no limit.
    pub max_seconds: f64,
    /// Who is told of progress.
    pub control: Control,
}

/// A file and when it came.
struct Job<'a> {
    source: Source,
    name: &'a str,
    begun: Instant,
    wish: &'a Wish,
}

impl Job<'_> {
    /// Seconds since the file came.
    fn elapsed(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// The control of the computation: the limit counts from here.
    fn control(&self) -> Control {
        match Duration::try_from_secs_f64(self.wish.max_seconds) {
            Ok(limit) if !limit.is_zero() => {
                self.wish.control.clone().with_deadline(Instant::now() + limit)
            }
            _ => self.wish.control.clone(),
        }
    }

    /// A sentence of the library, about this file.
    fn wrong(&self, error: &hottopixx::Error) -> String {
        format!("{}: {error}", self.name)
    }

    /// Refuses what would take more than a page gets.
    fn affordable(&self, bytes: u64) -> Result<(), String> {
        if bytes <= MEMORY {
            return Ok(());
        }
        Err(format!(
            "{}: this would take {:.1} GiB, and a page gets {} GiB: use the program, which takes what the machine has",
            self.name,
            bytes as f64 / f64::from(1 << 30),
            MEMORY >> 30
        ))
    }

    /// The command that does the same, with more figures and files.
    fn command(&self, verb: &str, flags: &str) -> String {
        let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        let name = match self.name.chars().all(plain) && !self.name.starts_with('-') {
            true => self.name.to_owned(),
            false => format!("'{}'", self.name.replace('\'', "'\\''")),
        };
        format!("hottopixx {verb} {name} --rank {}{flags} --out answer", self.wish.rank)
    }
}

/// The page of a file: one HTML file that asks nobody for anything.
///
/// # Errors
/// One sentence that names the file, the place in it and the remedy.
pub fn report(name: &str, bytes: Vec<u8>, wish: &Wish) -> Result<String, String> {
    let job = Job { source: Source::memory(name, bytes), name, begun: Instant::now(), wish };
    match wish.kind {
        Kind::Any => match kind(&job)? {
            Kind::Topics => documents::page(&job),
            Kind::Scene => scene::page(&job),
            _ => table::page(&job, false),
        },
        Kind::Topics => documents::page(&job),
        Kind::Rows => table::page(&job, false),
        Kind::Columns => table::page(&job, true),
        Kind::Scene => scene::page(&job),
    }
}

/// What the name and the first lines of a file say.
fn kind(job: &Job<'_>) -> Result<Kind, String> {
    let path = Path::new(job.name);
    let known = |format| has_text(&job.source, format, &DocumentColumns::default());
    match DocumentFormat::from_path(path) {
        Some(format) => match known(format).map_err(|error| error.to_string())? {
            true => Ok(Kind::Topics),
            false => Ok(Kind::Rows),
        },
        None if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("mat")) => {
            Ok(Kind::Scene)
        }
        None if Format::from_path(path) == Some(Format::Npy) && scene::is_cube(job) => {
            Ok(Kind::Scene)
        }
        None => Ok(Kind::Rows),
    }
}

#[cfg(test)]
mod tests;
