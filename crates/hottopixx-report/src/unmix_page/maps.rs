//! The scene itself, shares of materials and errors as pictures.

use super::Shown;
use super::image::{Grid, ramp};
use crate::page::escape;
use std::fmt::Write as _;

/// Wavelengths, in nanometres, that look like red, green and blue.
const COLOURS: [f64; 3] = [650.0, 550.0, 470.0];
/// The part of values that is left out at both ends when brightness is stretched.
const CUT: f64 = 0.02;

fn grid(shown: &Shown<'_>) -> Option<Grid> {
    shown.scene.shape.map(|(height, width)| Grid::new(height, width))
}

/// A picture in a drawing, with what is drawn over it.
fn drawing(out: &mut String, grid: Grid, label: &str, picture: &str, over: &str) {
    let Grid { height, width, .. } = grid;
    let _ = writeln!(
        out,
        "<svg class=\"scene\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\
         <image width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" href=\"{picture}\"/>{over}</svg>",
        escape(label)
    );
}

/// The scene in three of its bands, with pure pixels and outliers.
pub(super) fn overview(out: &mut String, shown: &Shown<'_>) {
    out.push_str("<h2 id=\"scene\">Where the pure pixels are</h2>\n");
    let Some(grid) = grid(shown) else {
        out.push_str(
            "<p class=\"note\">Height and width of the scene are not known, so there are no maps: give \
             --shape HxW.</p>\n",
        );
        return;
    };
    let bands = three_bands(shown);
    let limits =
        bands.map(|band| limits((0..shown.pixels.rows()).map(|i| shown.pixels.row(i)[band])));
    let picture = grid.picture(|i| {
        std::array::from_fn(|c| {
            let (low, high) = limits[c];
            let value = (shown.pixels.row(i)[bands[c]] - low) / (high - low).max(f64::MIN_POSITIVE);
            (255.0 * value.clamp(0.0, 1.0).sqrt()) as u8
        })
    });
    let size = grid.height.max(grid.width) as f64 / 100.0;
    let mut over = String::new();
    for outlier in &shown.summary.outliers {
        if let (Some(row), Some(column)) = (outlier.place.row, outlier.place.column) {
            let (x, y, arm) = (column as f64 + 0.5, row as f64 + 0.5, 1.2 * size);
            let _ = write!(
                over,
                "<path class=\"outlier\" stroke-width=\"{:.2}\" d=\"M{} {}L{} {}M{} {}L{} {}\"><title>outlier {}</title></path>",
                0.5 * size,
                x - arm,
                y - arm,
                x + arm,
                y + arm,
                x - arm,
                y + arm,
                x + arm,
                y - arm,
                outlier.place.label()
            );
        }
    }
    for (k, material) in shown.summary.materials.iter().enumerate() {
        if let (Some(row), Some(column)) = (material.place.row, material.place.column) {
            let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
            let radius = 2.6 * size;
            // Numbers stay inside the picture.
            let side = if x + 8.0 * size > grid.width as f64 { -1.0 } else { 1.0 };
            let anchor = if side < 0.0 { "end" } else { "start" };
            let _ = write!(
                over,
                "<circle class=\"pure\" cx=\"{x}\" cy=\"{y}\" r=\"{radius:.2}\" stroke-width=\"{:.2}\"><title>material \
                 {} at {}</title></circle><text class=\"pure\" x=\"{:.2}\" y=\"{:.2}\" font-size=\"{:.2}\" \
                 stroke-width=\"{:.2}\" text-anchor=\"{anchor}\">{}</text>",
                0.6 * size,
                k + 1,
                material.place.label(),
                x + side * 1.4 * radius,
                (y + 0.6 * radius).max(4.5 * size),
                5.0 * size,
                0.9 * size,
                k + 1
            );
        }
    }
    out.push_str("<figure class=\"overview\">\n");
    drawing(out, grid, "the scene with its pure pixels", &picture, &over);
    let said: Vec<String> = bands.iter().map(|&band| band_name(shown, band)).collect();
    let crosses = if shown.summary.outliers.is_empty() { "" } else { " Crosses are outliers." };
    let _ = writeln!(
        out,
        "<figcaption>Red, green and blue are {}. Rings are the pure pixels of the materials.{crosses}</figcaption>\n</figure>",
        escape(&said.join(", "))
    );
}

/// What a band is called.
fn band_name(shown: &Shown<'_>, band: usize) -> String {
    match shown.wavelengths {
        Some(wavelengths) => format!("band {band} ({})", crate::page::short(wavelengths[band])),
        None => format!("band {band}"),
    }
}

/// Bands to be seen as red, green and blue: by wavelength where that is known (in nanometres or micrometres), else
/// spread over all.
fn three_bands(shown: &Shown<'_>) -> [usize; 3] {
    let bands = shown.pixels.cols();
    let spread = [3, 2, 1].map(|k| (bands.saturating_sub(1)) * k / 4);
    let Some(wavelengths) = shown.wavelengths else { return spread };
    let largest = wavelengths.iter().copied().fold(0.0, f64::max);
    let unit = if largest < 100.0 { 1e-3 } else { 1.0 };
    let nearest = |wanted: f64| {
        let far = |b: &usize| (wavelengths[*b] - wanted * unit).abs();
        (0..bands).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0)
    };
    let found = COLOURS.map(nearest);
    if found[0] == found[1] || found[1] == found[2] { spread } else { found }
}

/// All values but a few at both ends lie between these.
fn limits(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |part: f64| values[((values.len() - 1) as f64 * part) as usize];
    (at(CUT), at(1.0 - CUT))
}

/// The share of one material in every pixel.
pub(super) fn share(out: &mut String, shown: &Shown<'_>, k: usize) {
    let Some(grid) = grid(shown) else { return };
    let picture = grid.picture(|i| {
        let row = shown.scene.abundances.row(i);
        ramp(row[k] / row.iter().sum::<f64>().max(f64::MIN_POSITIVE))
    });
    drawing(out, grid, &format!("share of material {} in every pixel", k + 1), &picture, "");
}

/// The error of every pixel.
pub(super) fn errors(out: &mut String, shown: &Shown<'_>) {
    let Some(grid) = grid(shown) else { return };
    let errors = &shown.scene.errors;
    let (_, high) = limits(errors.iter().copied());
    let largest = errors.iter().copied().fold(0.0, f64::max);
    let picture = grid.picture(|i| ramp(errors[i] / high.max(f64::MIN_POSITIVE)));
    out.push_str(
        "<h2 id=\"errors\">What the materials do not explain</h2>\n<figure class=\"overview\">\n",
    );
    drawing(out, grid, "error of every pixel", &picture, "");
    let _ = writeln!(
        out,
        "<figcaption>The l1 error of every pixel divided by its sum, from 0 (dark) to {high:.4} and above (bright); the \
         largest is {largest:.4}. A bright field that has a shape is a material of its own: try a larger \
         rank.</figcaption>\n</figure>"
    );
}
