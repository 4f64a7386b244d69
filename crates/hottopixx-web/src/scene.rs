//! Materials of a scene.

use crate::{Job, MEMORY};
use hottopixx::unmix::{Abundances, Unmix};
use hottopixx_io::{CubeOptions, LoadedCube, load_cube};
use hottopixx_report::unmix::{UnmixRun, UnmixSummary};
use hottopixx_report::unmix_page;

fn cube(job: &Job<'_>) -> Result<LoadedCube, String> {
    let options = CubeOptions { max_bytes: Some(MEMORY / 2), ..CubeOptions::default() };
    load_cube(&job.source, &options).map_err(|error| error.to_string())
}

/// Whether an array has three dimensions.
pub fn is_cube(job: &Job<'_>) -> bool {
    cube(job).is_ok_and(|cube| cube.shape.is_some())
}

/// The page of materials.
pub fn page(job: &Job<'_>) -> Result<String, String> {
    let cube = cube(job)?;
    let load = job.elapsed();
    let settings = Unmix::new(job.wish.rank).threads(1).control(job.control());
    let settings = match cube.shape {
        Some((height, width)) => settings.shape(height, width),
        None => settings,
    };
    let scene = settings.run(&cube.pixels).map_err(|error| job.wrong(&error))?;
    let run = UnmixRun {
        input: job.name.to_owned(),
        abundances: Abundances::default(),
        load,
        total: job.elapsed(),
        peak_memory_bytes: None,
        threads: 1,
    };
    let summary = UnmixSummary::new(&scene, run);
    Ok(unmix_page::page(&cube.pixels, &scene, &summary, None, &job.command("unmix", "")))
}
