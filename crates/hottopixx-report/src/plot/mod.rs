//! Line charts as SVG.
//!
//! Our own, small, for three reasons: the same drawing must stand alone as a file and follow the
//! light or dark setting of a page, curves of up to ten methods must be distinguished without
//! colour (dashes and markers differ as well), and the legend must never cover a curve.

mod axis;
mod look;

pub use axis::{Axis, Scale};
pub use look::{LOOKS, Marker};

use crate::page::escape;
use std::fmt::Write as _;

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Its points, x increasing; those that are not finite are gaps.
    pub points: Vec<(f64, f64)>,
    /// Which of the [`LOOKS`] it has, so that the same thing looks the same in all charts.
    pub look: usize,
    /// Whether y stays as it is until the next point.
    pub steps: bool,
}

impl Series {
    /// A curve of straight lines.
    pub fn new(label: &str, look: usize, points: Vec<(f64, f64)>) -> Self {
        Series { label: label.to_owned(), points, look, steps: false }
    }

    /// The same as a staircase.
    pub fn steps(mut self) -> Self {
        self.steps = true;
        self
    }
}

/// Several curves over the same axes, and horizontal lines to compare them with.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, in the order of the legend; later ones lie above.
    pub series: Vec<Series>,
    /// Horizontal lines with their names.
    pub levels: Vec<(String, f64)>,
}

/// Where a drawing is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartTarget {
    /// By itself: on white.
    File,
    /// In a page, whose colours it takes.
    Page,
}

const WIDTH: f64 = 680.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 66.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 50.0;
/// Markers of a curve with many points.
const MARKS: usize = 9;

impl Chart {
    /// The numbers behind it: one line for each point of each curve.
    pub fn csv(&self) -> String {
        let mut out = String::from("series,x,y\n");
        for series in &self.series {
            let name = series.label.replace('"', "\"\"");
            for (x, y) in series.points.iter().filter(|p| p.1.is_finite()) {
                let _ = writeln!(out, "\"{name}\",{x},{y}");
            }
        }
        for (name, value) in &self.levels {
            let _ = writeln!(out, "\"{}\",,{value}", name.replace('"', "\"\""));
        }
        out
    }

    /// The drawing.
    pub fn svg(&self, place: ChartTarget) -> String {
        let longest = self.series.iter().map(|s| s.label.chars().count());
        let longest = longest.chain(self.levels.iter().map(|l| l.0.chars().count())).max();
        let legend = 50.0 + 7.0 * longest.unwrap_or(0) as f64;
        let frame =
            Frame { chart: self, width: WIDTH - LEFT - legend, height: HEIGHT - TOP - BOTTOM };
        let mut out = String::new();
        let (ink, soft, line) = match place {
            ChartTarget::File => ("#1d2125", "#5b6570", "#d9dee3"),
            ChartTarget::Page => ("var(--ink)", "var(--soft)", "var(--line)"),
        };
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             role=\"img\" aria-label=\"{}\" class=\"chart\" \
             style=\"--chart-ink:{ink};font:12px system-ui,sans-serif\">",
            escape(&self.title)
        );
        if place == ChartTarget::File {
            out.push_str("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
        }
        let _ = writeln!(
            out,
            "<text x=\"{LEFT}\" y=\"20\" fill=\"{ink}\" font-weight=\"600\" font-size=\"14\">{}</text>",
            escape(&self.title)
        );
        frame.axes(&mut out, soft, line);
        for (name, value) in &self.levels {
            let y = frame.y(*value);
            let right = LEFT + frame.width;
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {y:.1}H{right:.1}\" stroke=\"{ink}\" stroke-width=\"1.2\" \
                 stroke-dasharray=\"1 4\" stroke-linecap=\"round\" fill=\"none\"><title>{}</title></path>",
                escape(name)
            );
        }
        for series in &self.series {
            frame.curve(&mut out, series);
        }
        frame.legend(&mut out, ink);
        out.push_str("</svg>\n");
        out
    }
}

/// The chart and the size of the rectangle that curves are drawn in.
struct Frame<'a> {
    chart: &'a Chart,
    width: f64,
    height: f64,
}

impl Frame<'_> {
    fn x(&self, value: f64) -> f64 {
        LEFT + self.width * self.chart.x.place(value)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + self.height * (1.0 - self.chart.y.place(value))
    }

    fn axes(&self, out: &mut String, soft: &str, line: &str) {
        let (right, bottom) = (LEFT + self.width, TOP + self.height);
        for (tick, name) in self.chart.x.tick_labels() {
            let x = self.x(tick);
            let _ = writeln!(
                out,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"{line}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{soft}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                escape(&name)
            );
        }
        for (tick, name) in self.chart.y.tick_labels() {
            let y = self.y(tick);
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {y:.1}H{right:.1}\" stroke=\"{line}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{soft}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                escape(&name)
            );
        }
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {TOP}V{bottom}H{right:.1}\" stroke=\"{soft}\" fill=\"none\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{soft}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(14 {:.1}) rotate(-90)\" fill=\"{soft}\" \
             text-anchor=\"middle\">{}</text>",
            LEFT + self.width / 2.0,
            HEIGHT - 12.0,
            escape(&self.chart.x.label),
            TOP + self.height / 2.0,
            escape(&self.chart.y.label)
        );
    }

    fn curve(&self, out: &mut String, series: &Series) {
        let (colour, dash, marker) = LOOKS[series.look % LOOKS.len()];
        let mut path = String::new();
        let mut previous: Option<f64> = None;
        let mut shown = Vec::new();
        for &(x, y) in &series.points {
            if !(x.is_finite() && y.is_finite()) {
                previous = None;
                continue;
            }
            let (x, y) = (self.x(x), self.y(y));
            match previous {
                None => drop(write!(path, "M{x:.1} {y:.1}")),
                Some(_) if series.steps => drop(write!(path, "H{x:.1}V{y:.1}")),
                Some(_) => drop(write!(path, "L{x:.1} {y:.1}")),
            }
            previous = Some(y);
            shown.push((x, y));
        }
        let _ = writeln!(
            out,
            "<g stroke=\"{colour}\" fill=\"none\"><title>{}</title>\
             <path d=\"{path}\" stroke-width=\"1.8\" stroke-dasharray=\"{dash}\" \
             stroke-linejoin=\"round\"/>",
            escape(&series.label)
        );
        for (x, y) in marked(&shown, series.look, series.steps) {
            out.push_str(&mark(marker, x, y, colour));
        }
        out.push_str("</g>\n");
    }

    fn legend(&self, out: &mut String, ink: &str) {
        let left = LEFT + self.width + 14.0;
        let text = |out: &mut String, y: f64, name: &str| {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{ink}\">{}</text>",
                left + 32.0,
                y + 4.0,
                escape(name)
            );
        };
        let mut y = TOP + 8.0;
        for series in &self.chart.series {
            let (colour, dash, marker) = LOOKS[series.look % LOOKS.len()];
            let _ = write!(
                out,
                "<g stroke=\"{colour}\" fill=\"none\"><path d=\"M{left:.1} {y:.1}h26\" \
                 stroke-width=\"1.8\" stroke-dasharray=\"{dash}\"/>{}</g>",
                mark(marker, left + 13.0, y, colour)
            );
            text(out, y, &series.label);
            y += 19.0;
        }
        for (name, _) in &self.chart.levels {
            let _ = write!(
                out,
                "<path d=\"M{left:.1} {y:.1}h26\" stroke=\"{ink}\" stroke-width=\"1.2\" \
                 stroke-dasharray=\"1 4\" stroke-linecap=\"round\"/>"
            );
            text(out, y, name);
            y += 19.0;
        }
    }
}

fn mark(marker: Marker, x: f64, y: f64, colour: &str) -> String {
    let (path, filled) = marker.path(x, y);
    let fill = if filled { colour } else { "none" };
    format!("<path d=\"{path}\" stroke-width=\"1.4\" fill=\"{fill}\"/>")
}

/// The points that carry a marker: all of few, some of many, where each look has its own offset so
/// that markers of curves that coincide do not. They lie on the curve, between its points too.
fn marked(points: &[(f64, f64)], look: usize, steps: bool) -> Vec<(f64, f64)> {
    if points.len() <= 2 * MARKS {
        return points.to_vec();
    }
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let offset = (look % LOOKS.len()) as f64 / LOOKS.len() as f64;
    let at = |k: usize| first + (last - first) * (k as f64 + offset) / MARKS as f64;
    let point = |x: f64| {
        let after = points.partition_point(|p| p.0 <= x);
        let left = points.get(after.checked_sub(1)?)?;
        match points.get(after) {
            Some(right) if !steps => {
                Some((x, left.1 + (right.1 - left.1) * (x - left.0) / (right.0 - left.0)))
            }
            _ => Some((x, left.1)),
        }
    };
    (0..MARKS).filter_map(|k| point(at(k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        Chart {
            title: "errors <b>".into(),
            x: Axis::log("eta", 0.25, 100.0),
            y: Axis::linear("error", 0.0, 1.0),
            series: vec![
                Series::new("SPA & co", 7, vec![(0.25, 0.1), (f64::NAN, 0.0), (4.0, 2.0)]),
                Series::new("many", 0, (1..100).map(|k| (f64::from(k), 0.5)).collect()).steps(),
            ],
            levels: vec![("all".into(), 0.3)],
        }
    }

    #[test]
    fn drawings_are_well_formed_and_escaped() {
        for place in [ChartTarget::File, ChartTarget::Page] {
            let svg = chart().svg(place);
            assert!(svg.contains("SPA &amp; co") && svg.contains("errors &lt;b&gt;"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            for element in ["svg", "g", "text", "title"] {
                let opened = svg.matches(&format!("<{element}>")).count()
                    + svg.matches(&format!("<{element} ")).count();
                assert_eq!(opened, svg.matches(&format!("</{element}>")).count(), "{element}");
            }
            assert_eq!(svg.contains("fill=\"#ffffff\""), place == ChartTarget::File);
        }
    }

    #[test]
    fn numbers_go_to_csv() {
        let csv = chart().csv();
        assert!(csv.contains("\"SPA & co\",0.25,0.1\n") && csv.ends_with("\"all\",,0.3\n"));
    }

    #[test]
    fn coinciding_curves_are_marked_in_different_places() {
        let points: Vec<(f64, f64)> = (0..200).map(|k| (f64::from(k), 1.0)).collect();
        assert_ne!(marked(&points, 0, true)[0], marked(&points, 1, true)[0]);
        assert_eq!(marked(&points, 3, false).len(), MARKS);
    }

    #[test]
    fn markers_lie_on_the_curve() {
        let points: Vec<(f64, f64)> = (0..25).map(|k| (f64::from(k), 2.0 * f64::from(k))).collect();
        let on = |steps, height: fn(f64) -> f64| {
            marked(&points, 3, steps).iter().all(|(x, y)| (y - height(*x)).abs() < 1e-9)
        };
        assert!(on(false, |x| 2.0 * x) && on(true, |x| 2.0 * x.floor()));
    }
}
