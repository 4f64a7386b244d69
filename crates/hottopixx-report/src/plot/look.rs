//! How curves are distinguished: colour, dashes and markers.

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
    pub(super) fn path(self, x: f64, y: f64) -> (String, bool) {
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
