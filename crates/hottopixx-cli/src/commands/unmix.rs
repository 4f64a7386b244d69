//! `hottopixx unmix`: pixels in, materials out.

use crate::args;
use crate::failure::{Failure, print};
use crate::job::Session;
use crate::output;
use hottopixx::control::Stop;
use hottopixx::matrix::Dense;
use hottopixx::unmix::{Unmix, Unmixed};
use hottopixx_io::machine::peak_memory;
use hottopixx_io::write::FileSet;
use hottopixx_io::{CubeOptions, LoadedCube, Source, load_cube};
use hottopixx_report::unmix::{self as report, UnmixRun, UnmixSummary};
use hottopixx_report::unmix_page;
use std::path::Path;
use std::time::Instant;

/// Reads, unmixes, reports.
pub fn run(args: &args::UnmixArgs, started: Instant) -> Result<(), Failure> {
    let session = Session::start(&args.run, args.print.quiet, started)?;
    let source = Source::path(&args.path);
    let options = CubeOptions {
        shape: args.shape,
        transpose: args.transpose,
        key: args.key.clone(),
        format: args.format,
        max_bytes: args.memory,
    };
    let cube = load_cube(&source, &options)?;
    let wavelengths = wavelengths(args, cube.pixels.cols())?;
    let reads = [Some(args.path.as_path()), args.wavelengths.as_deref()];
    output::prepare(args.out.as_deref(), &reads, &output::unmix_files())?;
    let load = session.elapsed();

    session.interrupt.computing();
    let control = session.interrupt.control(args.run.max_seconds, session.observer())?;
    let settings = Unmix::new(args.rank)
        .abundances(args.abundances)
        .outliers(args.outliers)
        .negative(args.negative)
        .threads(session.threads)
        .control(control);
    let settings = match cube.shape {
        Some((height, width)) => settings.shape(height, width),
        None => settings,
    };
    let scene = settings.run(&cube.pixels).map_err(|error| wrong(&source, cube.shape, &error))?;
    session.finish();

    let run = UnmixRun {
        input: source.name(),
        abundances: args.abundances,
        load,
        total: session.elapsed(),
        peak_memory_bytes: peak_memory(),
        threads: session.threads,
    };
    let summary = UnmixSummary::new(&scene, run);
    let printed =
        print(&if args.print.json { output::json(&summary) } else { report::text(&summary) });
    if let Some(folder) = &args.out {
        let written = files(folder, &cube, &scene, &summary, wavelengths.as_deref())?;
        output::tell_written(folder, &written, args.print.json)?;
    }
    printed?;
    match summary.stop {
        Stop::Interrupted => {
            Err(Failure::Interrupted("interrupted: this was the best answer so far".to_owned()))
        }
        _ => Ok(()),
    }
}

/// The library's sentence; where it speaks of a setting, with the words of the command line.
fn wrong(source: &Source, shape: Option<(usize, usize)>, error: &hottopixx::Error) -> Failure {
    match *error {
        hottopixx::Error::NegativePixels { count, values, pixel, band, value } => {
            Failure::Wrong(format!(
                "{}: {count} of {values} values are below zero, the first {value} (pixel {pixel}, band {band}): give \
                 --negative clip to count them as zero, or mend the calibration",
                source.name()
            ))
        }
        hottopixx::Error::NotFinite { row, col, value } => Failure::Wrong(format!(
            "{}: {value} in {}, band {col}: set bands or pixels without values to zero, or leave them out",
            source.name(),
            match shape {
                Some((_, width)) => format!("pixel ({}, {})", row / width, row % width),
                None => format!("pixel {row}"),
            }
        )),
        _ => Failure::from_library(&source.name(), error),
    }
}

/// One wavelength per band.
fn wavelengths(args: &args::UnmixArgs, bands: usize) -> Result<Option<Vec<f64>>, Failure> {
    let Some(path) = &args.wavelengths else { return Ok(None) };
    let found = hottopixx_io::read_numbers(path, args.memory)?;
    if found.len() != bands {
        return Err(Failure::Wrong(format!(
            "{}: {} wavelengths, but the scene has {bands} bands: give one per line, or --transpose \
             where bands come first",
            path.display(),
            found.len()
        )));
    }
    Ok(Some(found))
}

/// The files of `--out`, all of them or none. Gives their names.
fn files(
    folder: &Path,
    cube: &LoadedCube,
    scene: &Unmixed,
    summary: &UnmixSummary,
    wavelengths: Option<&[f64]>,
) -> Result<Vec<String>, Failure> {
    let ours = output::unmix_files();
    let mut set = FileSet::new(folder, &ours);
    set.bytes("materials.csv", report::materials_csv(summary))?;
    let (pixels, rank) = (scene.errors.len(), scene.rank());
    let errors = Dense::new(pixels, 1, scene.errors.clone()).map_err(Failure::of_setting)?;
    let maps: [(&str, &Dense, Vec<usize>); 2] = match scene.shape {
        Some((height, width)) => [
            ("abundances.npy", &scene.abundances, vec![height, width, rank]),
            ("errors.npy", &errors, vec![height, width]),
        ],
        None => [
            ("abundances.npy", &scene.abundances, vec![pixels, rank]),
            ("errors.npy", &errors, vec![pixels]),
        ],
    };
    for (name, values, shape) in maps {
        set.npy_shaped(name, values, &shape)?;
    }
    for (name, spectra) in
        [("spectra.npy", scene.spectra()), ("pixel_spectra.npy", scene.pixel_spectra())]
    {
        set.npy_shaped(name, &spectra, &[spectra.rows(), spectra.cols()])?;
    }
    let page = unmix_page::page(&cube.pixels, scene, summary, wavelengths, &output::command_line());
    set.bytes("report.html", page)?;
    output::commit(folder, set, output::SUMMARY, summary, &ours)
}
