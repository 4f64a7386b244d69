//! Spectra over wavelengths.

use super::Shown;
use crate::page::short;
use crate::plot::{Axis, Chart, ChartTarget, LOOKS, Series};
use std::fmt::Write as _;

/// Size of a small drawing.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 124.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 18.0;

/// Where bands lie on the axis.
fn places(shown: &Shown<'_>) -> Vec<f64> {
    match shown.wavelengths {
        Some(wavelengths) => wavelengths.to_vec(),
        None => (0..shown.pixels.cols()).map(|b| b as f64).collect(),
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low < high { (low, high) } else { (low - 0.5, low + 0.5) }
}

/// All smoothed spectra in one chart, each divided by its mean so that shapes compare.
pub(super) fn all(out: &mut String, shown: &Shown<'_>) {
    let places = places(shown);
    let (left, right) = range(places.iter().copied());
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let series: Vec<Series> = shown
        .scene
        .materials
        .iter()
        .enumerate()
        .map(|(k, material)| {
            let mean = material.brightness.max(f64::MIN_POSITIVE);
            let points = order.iter().map(|&b| (places[b], material.spectrum[b] / mean));
            Series::new(&(k + 1).to_string(), k, points.collect())
        })
        .collect();
    let (_, top) = range(series.iter().flat_map(|s| s.points.iter().map(|p| p.1)));
    let chart = Chart {
        title: "Spectra of the materials".into(),
        x: Axis::linear(
            if shown.wavelengths.is_some() { "wavelength" } else { "band" },
            left,
            right,
        ),
        y: Axis::linear("value / mean", 0.0, top),
        series,
        levels: Vec::new(),
    };
    let _ = writeln!(
        out,
        "<h2 id=\"spectra\">Spectra</h2>\n<figure>\n{}<figcaption>Smoothed spectra, each divided by its mean over \
         bands.</figcaption>\n</figure>",
        chart.svg(ChartTarget::Page)
    );
}

/// The spectrum of one material in its own units, with its pure pixel.
pub(super) fn small(out: &mut String, shown: &Shown<'_>, k: usize) {
    let material = &shown.scene.materials[k];
    let places = places(shown);
    let (left, right) = range(places.iter().copied());
    let both = material.spectrum.iter().chain(&material.pixel_spectrum).copied();
    let top = range(both.chain([0.0])).1;
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let path = |values: &[f64]| {
        let mut path = String::new();
        for (at, &b) in order.iter().enumerate() {
            let x = WIDTH * (places[b] - left) / (right - left);
            let y = TOP + (HEIGHT - BOTTOM - TOP) * (1.0 - values[b] / top);
            let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
        }
        path
    };
    let end_name = |place: f64| match shown.wavelengths {
        Some(_) => short(place),
        None => format!("band {place}"),
    };
    let colour = LOOKS[k % LOOKS.len()].0;
    let _ = writeln!(
        out,
        "<svg class=\"small-spectrum\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"spectrum of material {}\" \
         style=\"--chart-ink:var(--ink)\"><path class=\"base\" d=\"M0 {base:.1}H{WIDTH}\"/>\
         <path class=\"thin\" d=\"{}\"/><path class=\"thick\" stroke=\"{colour}\" d=\"{}\"/>\
         <text x=\"0\" y=\"{end:.1}\">{}</text><text x=\"{WIDTH}\" y=\"{end:.1}\" text-anchor=\"end\">{}</text>\
         <text x=\"0\" y=\"11\">{}</text></svg>",
        HEIGHT + 4.0,
        k + 1,
        path(&material.pixel_spectrum),
        path(&material.spectrum),
        end_name(left),
        end_name(right),
        short(top),
        base = HEIGHT - BOTTOM,
        end = HEIGHT,
    );
}
