//! Materials of a scene: pixels come in as an array, and go out as arrays and one JSON text.

use crate::array::{held, shape, to_python};
use crate::calls::json;
use crate::run::{Run, run};
use crate::settings::parsed;
use hottopixx::control::Stop;
use hottopixx::matrix::{Dense, Matrix};
use hottopixx::unmix::{Outlier, Unmix, UnmixSeconds, Unmixed};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use serde::Serialize;

/// As [`Unmix`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct UnmixSettings {
    shape: Option<(usize, usize)>,
    abundances: String,
    outliers: String,
    negative: String,
    threads: usize,
}

impl UnmixSettings {
    /// The library's settings.
    fn unmix(self, rank: usize) -> PyResult<Unmix> {
        let unmix = Unmix::new(rank)
            .abundances(parsed(&self.abundances)?)
            .outliers(parsed(&self.outliers)?)
            .negative(parsed(&self.negative)?)
            .threads(self.threads);
        Ok(match self.shape {
            Some((height, width)) => unmix.shape(height, width),
            None => unmix,
        })
    }
}

/// What is said of one material beside its spectra.
#[derive(Serialize)]
struct SaidMaterial<'a> {
    pixel: usize,
    members: &'a [usize],
    share: f64,
    brightness: f64,
    error: f64,
}

/// What is said beside the arrays.
#[derive(Serialize)]
struct Said<'a> {
    materials: Vec<SaidMaterial<'a>>,
    mean_error: f64,
    outliers: &'a [Outlier],
    dark: &'a [usize],
    signal_to_noise: f64,
    clipped: usize,
    unfitted: usize,
    notes: &'a [String],
    stop: Stop,
    seconds: UnmixSeconds,
}

fn said(scene: &Unmixed) -> PyResult<String> {
    let materials = scene.materials.iter().map(|material| SaidMaterial {
        pixel: material.pixel,
        members: &material.members,
        share: material.share,
        brightness: material.brightness,
        error: material.error,
    });
    json(&Said {
        materials: materials.collect(),
        mean_error: scene.mean_error,
        outliers: &scene.outliers,
        dark: &scene.dark,
        signal_to_noise: scene.signal_to_noise,
        clipped: scene.clipped,
        unfitted: scene.unfitted,
        notes: &scene.notes,
        stop: scene.stop,
        seconds: scene.seconds,
    })
}

/// A report in JSON; smoothed spectra, spectra of the pure pixels (materials x bands), abundances (pixels x
/// materials); errors by pixel, noise by band.
type Scene = (String, [Py<PyAny>; 3], [Py<PyArray1<f64>>; 2]);

#[pyfunction]
pub fn unmix(
    py: Python<'_>,
    pixels: &Bound<'_, PyArray2<f64>>,
    rank: usize,
    settings: UnmixSettings,
    how: Run,
) -> PyResult<Scene> {
    let (rows, cols) = shape(pixels);
    let (values, unmix) = (held(pixels)?, settings.unmix(rank)?);
    let scene = run(py, &how, move |control| {
        let pixels = Dense::from_buffer(rows, cols, values)?;
        unmix.control(control.clone()).run(&pixels)
    })?;
    let report = said(&scene)?;
    let spectra = to_python(py, Matrix::Dense(scene.spectra()))?;
    let pure = to_python(py, Matrix::Dense(scene.pixel_spectra()))?;
    let abundances = to_python(py, Matrix::Dense(scene.abundances))?;
    let errors = PyArray1::from_vec(py, scene.errors).unbind();
    let noise = PyArray1::from_vec(py, scene.noise).unbind();
    Ok((report, [spectra, pure, abundances], [errors, noise]))
}
