//! `hottopixx sample`: data to try things with.

use crate::args::{SampleArgs, SampleName};
use crate::commands::demo::{self, CountedWord};
use crate::failure::{Failure, print};
use hottopixx_io::write;
use hottopixx_study::scenes::ExampleScene;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the files, and says what to do with them.
pub fn run(args: &SampleArgs) -> Result<(), Failure> {
    fs::create_dir_all(&args.out)
        .map_err(|error| Failure::Wrong(format!("{}: {error}", args.out.display())))?;
    let next = match args.name {
        SampleName::News => {
            let path = inside(&args.out, "news.csv");
            let table = news(&demo::stories()?);
            free(&path, |old| old == table.as_bytes())?;
            write::bytes(&path, &table)?;
            let name = path.display();
            format!(
                "{name}: 395 news stories, their words in order of frequency.\n\
                 Try: hottopixx topics {name} --title story --rank 10 --out answer"
            )
        }
        SampleName::Scene => {
            let path = inside(&args.out, "scene.npy");
            let scene = ExampleScene::new();
            let (height, width) = scene.shape;
            let shape = [height, width, scene.pixels.cols()];
            free(&path, |old| is_array_of(old, &shape))?;
            write::npy_shaped(&path, &scene.pixels, &shape)?;
            format!(
                "{}: {height} x {width} pixels, {} bands, {} materials.\n\
                 Try: hottopixx unmix {} --rank {} --out answer",
                path.display(),
                shape[2],
                scene.spectra.len(),
                path.display(),
                scene.spectra.len()
            )
        }
    };
    if args.quiet { Ok(()) } else { print(&format!("{next}\n")) }
}

/// A table with the stories' words, as often as they occur: all words of a story, those that occur most first, then
/// those that occur again, and so on. What order they had is not known.
fn news(stories: &[Vec<CountedWord>]) -> String {
    let mut table = String::from("story,text\n");
    for (number, words) in stories.iter().enumerate() {
        let most = words.iter().map(|word| word.1).max().unwrap_or(0);
        let mut text: Vec<&str> = Vec::new();
        for round in 0..most {
            text.extend(words.iter().filter(|word| word.1 > round).map(|word| word.0.as_str()));
        }
        let _ = writeln!(table, "story {},\"{}\"", number + 1, text.join(" "));
    }
    table
}

/// A file of the folder, called by its name alone where the folder is the one we are in.
fn inside(folder: &Path, name: &str) -> PathBuf {
    if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) }
}

/// Refuses to replace a file that holds something else.
fn free(path: &Path, is_ours: impl Fn(&[u8]) -> bool) -> Result<(), Failure> {
    match fs::read(path) {
        Ok(old) if !is_ours(&old) => Err(taken(path)),
        Err(_) if path.exists() => Err(taken(path)),
        _ => Ok(()),
    }
}

fn taken(path: &Path) -> Failure {
    Failure::Wrong(format!(
        "{} exists and holds something else: choose another folder with --out, or move the file away",
        path.display()
    ))
}

/// Whether bytes are a numpy array of 64-bit floats of this shape, by its header.
fn is_array_of(bytes: &[u8], shape: &[usize]) -> bool {
    let header = String::from_utf8_lossy(&bytes[..bytes.len().min(128)]).into_owned();
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    header.contains("<f8") && header.contains(&format!("({})", sizes.join(", ")))
}
