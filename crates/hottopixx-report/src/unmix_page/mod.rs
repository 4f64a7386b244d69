//! `report.html` of `unmix`: a scene as one page. A single file that asks the network for nothing, follows the reader's
//! light or dark setting and prints well: the scene with its pure pixels and outliers, a map and the spectrum of
//! every material, all spectra in one chart, the map of errors. Maps are PNG pictures inside drawings; there is
//! no script.

mod image;
mod maps;
mod spectra;

use crate::page::{escape, facts, how_made, shell, stopped_early};
use crate::text::{count, percent, size};
use crate::unmix::{UnmixSummary, UnmixTimes};
use hottopixx::Dense;
use hottopixx::unmix::Unmixed;
use std::fmt::Write as _;

const STYLE: &str = include_str!("unmix.css");

/// What is shown.
pub(crate) struct Shown<'a> {
    pub pixels: &'a Dense,
    pub scene: &'a Unmixed,
    pub summary: &'a UnmixSummary,
    /// One per band, where they are known.
    pub wavelengths: Option<&'a [f64]>,
}

/// The page of a scene (pixels x bands) and what was found in it; `wavelengths` has one number per band, and
/// `command` is the command line that made it.
pub fn page(
    pixels: &Dense,
    scene: &Unmixed,
    summary: &UnmixSummary,
    wavelengths: Option<&[f64]>,
    command: &str,
) -> String {
    let shown = Shown { pixels, scene, summary, wavelengths };
    let title = format!("{} of {}", count(summary.rank, "material"), summary.input);
    let mut body = format!("<h1>{}</h1>\n", escape(&title));
    lead(&mut body, summary);
    maps::overview(&mut body, &shown);
    spectra::all(&mut body, &shown);
    cards(&mut body, &shown);
    maps::errors(&mut body, &shown);
    aside(&mut body, summary);
    how(&mut body, summary, command);
    shell(&title, &body, STYLE, "")
}

fn lead(out: &mut String, s: &UnmixSummary) {
    let _ = writeln!(
        out,
        "<p class=\"lead\">{}. {} explain a pixel up to a mean error of {:.4} (l1, of 1).</p>",
        escape(&s.size()),
        count(s.rank, "material"),
        s.mean_error
    );
    stopped_early(out, s.stop);
    for note in &s.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
    }
}

/// Map, spectrum and figures of each material.
fn cards(out: &mut String, shown: &Shown<'_>) {
    out.push_str("<h2 id=\"materials\">Materials</h2>\n");
    if shown.scene.shape.is_some() {
        out.push_str(
            "<p>A map shows the share of a material in every pixel, from dark (none) to bright (nothing else). The \
             thick line is the smoothed spectrum, the thin one its pure pixel as it was measured.</p>\n",
        );
    }
    out.push_str("<div class=\"topics\">\n");
    for (k, material) in shown.summary.materials.iter().enumerate() {
        let _ = writeln!(
            out,
            "<section id=\"material{0}\">\n<h3><span>{0}</span> {1} % of the scene</h3>",
            k + 1,
            percent(material.share)
        );
        maps::share(out, shown, k);
        spectra::small(out, shown, k);
        facts(
            out,
            &[
                ("pure pixel", material.place.label()),
                ("averaged over", count(material.group.len(), "pixel")),
                ("brightness", crate::page::short(material.brightness)),
                ("error", format!("{:.4}", material.error)),
            ],
        );
        out.push_str("</section>\n");
    }
    out.push_str("</div>\n");
}

/// Pixels that name no material.
fn aside(out: &mut String, s: &UnmixSummary) {
    if s.outliers.is_empty() && s.dark.is_empty() {
        return;
    }
    out.push_str("<h2 id=\"aside\">Set aside</h2>\n");
    if !s.outliers.is_empty() {
        let mut table = crate::table::Table::of_numbers(&["outlier", "error", "why"]);
        for outlier in s.outliers.iter().take(MOST_LISTED) {
            let why = match outlier.why {
                hottopixx::unmix::WhyOutlier::Alone => "explains no other pixel",
                hottopixx::unmix::WhyOutlier::Unexplained => "no mixture comes near it",
            };
            let error = format!("{:.4}", outlier.error);
            table.row([outlier.place.label(), error, why.to_owned()]);
        }
        let _ = writeln!(
            out,
            "<table class=\"plain narrow\">\n<caption>{}, those that stick out most first{}</caption>\n{}</table>",
            count(s.outliers.len(), "outlier"),
            if s.outliers.len() > MOST_LISTED {
                format!("; {MOST_LISTED} are listed")
            } else {
                String::new()
            },
            table.html()
        );
    }
    if !s.dark.is_empty() {
        let _ = writeln!(
            out,
            "<p>{} so dark that noise hides what they are made of: they name no material, and their shares say \
             little.</p>",
            match s.dark.len() {
                1 => "1 pixel is".to_owned(),
                n => format!("{} are", count(n, "pixel")),
            }
        );
    }
}

/// Outliers that are listed at most.
const MOST_LISTED: usize = 30;

fn how(out: &mut String, s: &UnmixSummary, command: &str) {
    how_made(out, command);
    let UnmixTimes { load, steps, total } = &s.seconds;
    let time = format!(
        "{total:.2} s on {}: load {load:.2}, clean {:.2}, choose {:.2}, fit {:.2}",
        count(s.threads, "thread"),
        steps.clean,
        steps.choose,
        steps.fit
    );
    let entries = [
        ("abundances", s.abundances.name().to_owned()),
        ("signal to noise", format!("{:.1} dB", s.signal_to_noise)),
        ("time", time),
        ("peak memory", s.peak_memory_bytes.map_or_else(|| "unknown".to_owned(), size)),
        ("version", format!("hottopixx {}", s.version)),
    ];
    facts(out, &entries);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::tests::{check_elements, check_self_contained};
    use crate::unmix::tests::{scene, summary};

    #[test]
    fn is_self_contained_and_escaped() {
        let (pixels, found) = scene();
        let mut said = summary(&found);
        said.input = "<b>field</b>.npy".into();
        let wavelengths: Vec<f64> = (0..10).map(|b| 400.0 + 50.0 * b as f64).collect();
        let page = page(&pixels, &found, &said, Some(&wavelengths), "hottopixx unmix <x>");
        assert!(page.contains("&lt;b&gt;field") && !page.contains("<b>field"));
        check_elements(&page);
        check_self_contained(&page);
        // The scene, two maps, the errors; two small spectra and the chart of all.
        assert_eq!(page.matches("data:image/png;base64,").count(), 4);
        assert_eq!(page.matches("<svg").count(), 7);
        assert!(page.contains("wavelength") && page.contains("(6, 8)"));
    }

    #[test]
    fn without_a_shape_there_are_no_maps() {
        let (pixels, mut found) = scene();
        found.shape = None;
        let page = page(&pixels, &found, &summary(&found), None, "x");
        assert!(!page.contains("data:image/png") && page.contains("--shape"));
        check_elements(&page);
    }
}
