//! Line charts as SVG.
//!
//! Our own, small, for three reasons: the same drawing must stand alone as a file and follow the
//! light or dark setting of a page, curves of up to ten methods must be told apart without colour
//! (dashes and markers differ as well), and the legend must never cover a curve.

use crate::page::escape;
use std::fmt::Write as _;

/// How values lie on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithms; values must be positive.
    Log,
}

/// One axis: what it shows, in which unit, from where to where.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name and unit.
    pub label: String,
    /// How values lie on it.
    pub scale: Scale,
    /// The least value shown.
    pub low: f64,
    /// The largest value shown.
    pub high: f64,
    /// Where ticks are, when the usual places do not fit.
    pub ticks: Option<Vec<f64>>,
}

impl Axis {
    /// An even axis.
    pub fn linear(label: &str, low: f64, high: f64) -> Self {
        Axis { label: label.to_owned(), scale: Scale::Linear, low, high, ticks: None }
    }

    /// A logarithmic axis.
    pub fn log(label: &str, low: f64, high: f64) -> Self {
        Axis { scale: Scale::Log, ..Axis::linear(label, low, high) }
    }

    /// The same with ticks at these places.
    pub fn ticks_at(mut self, ticks: &[f64]) -> Self {
        self.ticks = Some(ticks.to_vec());
        self
    }

    /// Where a value lies, from 0 (low) to 1 (high); values outside lie at the ends.
    fn place(&self, value: f64) -> f64 {
        let f = |v: f64| match self.scale {
            Scale::Linear => v,
            Scale::Log => v.max(f64::MIN_POSITIVE).ln(),
        };
        let (low, high) = (f(self.low), f(self.high));
        if high > low { ((f(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }

    fn tick_values(&self) -> Vec<f64> {
        let inside =
            |v: &f64| *v >= self.low - 1e-9 * self.span() && *v <= self.high * (1.0 + 1e-9);
        if let Some(ticks) = &self.ticks {
            return ticks.iter().copied().filter(inside).collect();
        }
        match self.scale {
            Scale::Linear => {
                let step = nice(self.span() / 5.0);
                let first = (self.low / step).ceil() as i64;
                (first..).map(|k| k as f64 * step).take_while(inside).collect()
            }
            Scale::Log => {
                let decades = (self.high / self.low).log10();
                let parts: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let stride = (decades / 7.0).ceil().max(1.0) as usize;
                let (first, last) =
                    (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
                (first..=last)
                    .step_by(stride)
                    .flat_map(|e| parts.iter().map(move |p| p * 10f64.powi(e)))
                    .filter(inside)
                    .collect()
            }
        }
    }

    fn span(&self) -> f64 {
        (self.high - self.low).abs().max(f64::MIN_POSITIVE)
    }
}

/// 1, 2 or 5 times a power of ten, the least that is not below `value`.
fn nice(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|s| s * power >= value * 0.999);
    step.unwrap_or(10.0) * power
}

/// A number at a tick.
fn tick_label(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        a if (1e-3..1e5).contains(&a) => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => {
            let text = format!("{value:.0e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let power: String = exponent.chars().map(superscript).collect();
            if digits == "1" { format!("10{power}") } else { format!("{digits}·10{power}") }
        }
    }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32(0x2070 + c as u32 - '0' as u32).unwrap_or(c),
        _ => c,
    }
}

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

/// Colour (after Okabe and Ito, who chose ones that the colour-blind can tell apart), dashes, and
/// marker of a curve.
pub const LOOKS: [(&str, &str, Marker); 10] = [
    ("#0072b2", "", Marker::Circle),
    ("#56b4e9", "6 3", Marker::Ring),
    ("#d55e00", "", Marker::Square),
    ("#e69f00", "6 3", Marker::Box),
    ("#cc79a7", "", Marker::Diamond),
    ("#8a5a00", "2 3", Marker::Up),
    ("#7f7fc8", "9 3 2 3", Marker::Down),
    ("#009e73", "", Marker::Cross),
    ("#4caf7a", "2 3", Marker::Plus),
    ("var(--chart-ink)", "", Marker::Star),
];

/// The shape that marks points of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A disk.
    Circle,
    /// A circle.
    Ring,
    /// A full square.
    Square,
    /// An empty square.
    Box,
    /// A full diamond.
    Diamond,
    /// A triangle that points up.
    Up,
    /// A triangle that points down.
    Down,
    /// An x.
    Cross,
    /// A plus sign.
    Plus,
    /// Both of them.
    Star,
}

impl Marker {
    /// The path around (x, y), and whether it is filled.
    fn path(self, x: f64, y: f64) -> (String, bool) {
        let at = |dx: f64, dy: f64| format!("{:.1} {:.1}", x + dx, y + dy);
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<String> = corners.iter().map(|&(a, b)| at(a, b)).collect();
            format!("M{}Z", corners.join("L"))
        };
        let line = |a: f64, b: f64| format!("M{}L{}", at(-a, -b), at(a, b));
        let circle = || format!("M{}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0Z", at(-3.2, 0.0));
        let square = [(-3., -3.), (3., -3.), (3., 3.), (-3., 3.)];
        match self {
            Marker::Circle => (circle(), true),
            Marker::Ring => (circle(), false),
            Marker::Square => (polygon(&square), true),
            Marker::Box => (polygon(&square), false),
            Marker::Diamond => (polygon(&[(0., -4.2), (4.2, 0.), (0., 4.2), (-4.2, 0.)]), true),
            Marker::Up => (polygon(&[(0., -4.), (3.8, 3.), (-3.8, 3.)]), true),
            Marker::Down => (polygon(&[(0., 4.), (3.8, -3.), (-3.8, -3.)]), false),
            Marker::Cross => (line(3.2, 3.2) + &line(3.2, -3.2), false),
            Marker::Plus => (line(4.0, 0.0) + &line(0.0, 4.0), false),
            Marker::Star => (line(4.0, 0.0) + &line(2.0, 3.5) + &line(2.0, -3.5), false),
        }
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
pub enum Place {
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
    /// The drawing.
    pub fn svg(&self, place: Place) -> String {
        let longest = self.series.iter().map(|s| s.label.chars().count());
        let longest = longest.chain(self.levels.iter().map(|l| l.0.chars().count())).max();
        let legend = 50.0 + 7.0 * longest.unwrap_or(0) as f64;
        let frame =
            Frame { chart: self, width: WIDTH - LEFT - legend, height: HEIGHT - TOP - BOTTOM };
        let mut out = String::new();
        let (ink, soft, line) = match place {
            Place::File => ("#1d2125", "#5b6570", "#d9dee3"),
            Place::Page => ("var(--ink)", "var(--soft)", "var(--line)"),
        };
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             role=\"img\" aria-label=\"{}\" class=\"chart\" \
             style=\"--chart-ink:{ink};font:12px system-ui,sans-serif\">",
            escape(&self.title)
        );
        if place == Place::File {
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
        for tick in self.chart.x.tick_values() {
            let x = self.x(tick);
            let _ = writeln!(
                out,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"{line}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{soft}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                tick_label(tick)
            );
        }
        for tick in self.chart.y.tick_values() {
            let y = self.y(tick);
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {y:.1}H{right:.1}\" stroke=\"{line}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{soft}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                tick_label(tick)
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
        for (x, y) in marked(&shown, series.look) {
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
/// that markers of curves that coincide do not.
fn marked(points: &[(f64, f64)], look: usize) -> Vec<(f64, f64)> {
    if points.len() <= 2 * MARKS {
        return points.to_vec();
    }
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let offset = (look % LOOKS.len()) as f64 / LOOKS.len() as f64;
    let at = |k: usize| first + (last - first) * (k as f64 + offset) / MARKS as f64;
    let point = |x: f64| points.iter().take_while(|p| p.0 <= x).last().map(|p| (x, p.1));
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
        for place in [Place::File, Place::Page] {
            let svg = chart().svg(place);
            assert!(svg.contains("SPA &amp; co") && svg.contains("errors &lt;b&gt;"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            for element in ["svg", "g", "text", "title"] {
                let opened = svg.matches(&format!("<{element}>")).count()
                    + svg.matches(&format!("<{element} ")).count();
                assert_eq!(opened, svg.matches(&format!("</{element}>")).count(), "{element}");
            }
            assert_eq!(svg.contains("fill=\"#ffffff\""), place == Place::File);
        }
    }

    #[test]
    fn ticks_are_round_numbers() {
        let labels = |axis: Axis| -> Vec<String> {
            axis.tick_values().into_iter().map(tick_label).collect()
        };
        assert_eq!(labels(Axis::linear("", 0.0, 1.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(Axis::log("", 1.0, 20.0)), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(Axis::log("", 1e-6, 1e-3)), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001"]);
        assert_eq!(labels(Axis::linear("", 0.0, 3.0).ticks_at(&[1.0, 3.0, 9.0])), ["1", "3"]);
    }

    #[test]
    fn values_outside_lie_at_the_ends() {
        let axis = Axis::log("", 1.0, 100.0);
        assert_eq!([0.0, 1.0, 10.0, 1e9].map(|v| axis.place(v)), [0.0, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn coinciding_curves_are_marked_in_different_places() {
        let points: Vec<(f64, f64)> = (0..200).map(|k| (f64::from(k), 1.0)).collect();
        assert_ne!(marked(&points, 0)[0], marked(&points, 1)[0]);
        assert_eq!(marked(&points, 3).len(), MARKS);
    }
}
