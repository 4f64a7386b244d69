//! The map of topics: circles in the plane, as large as their shares of the corpus.
//!
//! The distance of two topics is Hellinger's, `sqrt(1 - sum over words of sqrt(p q))`. It is that of points
//! in a Euclidean space (the roots of the probabilities), so that classical scaling loses what the plane
//! cannot hold and nothing else. Every circle is a link to its topic's card; the script makes it choose the
//! topic whose words are shown.

use super::scaling::{Plane, classical};
use crate::page::escape;
use crate::table::cut;
use crate::text::percent;
use crate::topics::TopicSummary;
use hottopixx::matrix::Dense;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 430.0;
/// Room for circles and names beyond the outermost centres.
const MARGIN: f64 = 52.0;
/// The largest circle's radius, and the least that can be touched.
const LARGEST: f64 = 40.0;
const LEAST: f64 = 8.0;
/// Width and height of a character of a name, about, and how many of them are shown.
const LETTER: f64 = 6.9;
const LINE: f64 = 15.0;
const LETTERS: usize = 16;
/// More topics than this are a blur, and slow to place.
const MOST: usize = 200;

/// A circle.
struct Circle {
    x: f64,
    y: f64,
    r: f64,
}

/// Where a name stands: left, top, right, bottom.
#[derive(Clone, Copy)]
struct Place([f64; 4]);

/// The drawing, and how much of the distances it shows; nothing for a great many topics.
pub(super) fn map(out: &mut String, topics: &[TopicSummary], similarity: &Dense) {
    if topics.len() > MOST {
        let _ = writeln!(out, "<p class=\"small\">No map is drawn of more than {MOST} topics.</p>");
        return;
    }
    let plane = classical(&squares(similarity));
    let circles = circles(&plane, topics);
    let (axes, labels) = axes(&plane, &circles);
    let _ = write!(
        out,
        "<figure class=\"map\">\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" \
         aria-label=\"Map of topics\">\n{axes}"
    );
    let names = names(&circles, topics, &labels);
    for (k, (circle, topic)) in circles.iter().zip(topics).enumerate() {
        draw(out, k, circle, topic);
    }
    // Numbers and names lie above all circles.
    for (k, Circle { x, y, .. }) in circles.iter().enumerate() {
        let (y, number) = (y + 4.5, k + 1);
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{number}</text>");
    }
    for (topic, place) in topics.iter().zip(names).filter_map(|(t, p)| Some((t, p?))) {
        let Place([left, _, right, bottom]) = place;
        let _ = writeln!(
            out,
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            (left + right) / 2.0,
            bottom - 4.0,
            escape(&cut(&topic.name, LETTERS))
        );
    }
    let _ = writeln!(
        out,
        "</svg>\n<figcaption>Each circle is a topic, its area the topic's share of the corpus. Topics that \
         use the same words lie near each other: Hellinger distances, of whose squares the plane shows \
         {} %.</figcaption>\n</figure>",
        percent(plane.shown.iter().sum())
    );
}

/// Squared Hellinger distances from the coefficients of Bhattacharyya.
fn squares(similarity: &Dense) -> Dense {
    let mut out = Dense::zeros(similarity.rows(), similarity.cols());
    for i in 0..similarity.rows() {
        for j in (0..similarity.cols()).filter(|&j| j != i) {
            out.row_mut(i)[j] = (1.0 - similarity.row(i)[j]).max(0.0);
        }
    }
    out
}

/// The plane on paper: the same scale in both directions, the middle of what is seen in the middle.
fn circles(plane: &Plane, topics: &[TopicSummary]) -> Vec<Circle> {
    let range = |axis: usize| {
        let values = || plane.points.iter().map(|p| p[axis]);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (low, high)) = (range(0), range(1));
    let fit = |room: f64, span: f64| (room - 2.0 * MARGIN) / span.max(1e-6);
    let scale = fit(WIDTH, right - left).min(fit(HEIGHT, high - low));
    let most = topics.iter().map(|t| t.share).fold(f64::MIN_POSITIVE, f64::max);
    let circle = |(point, topic): (&[f64; 2], &TopicSummary)| Circle {
        x: WIDTH / 2.0 + scale * (point[0] - (left + right) / 2.0),
        y: HEIGHT / 2.0 - scale * (point[1] - (low + high) / 2.0),
        r: (LARGEST * (topic.share / most).max(0.0).sqrt()).max(LEAST),
    };
    plane.points.iter().zip(topics).map(circle).collect()
}

/// The two axes through the mean of all topics, with what each shows, and where that stands.
fn axes(plane: &Plane, circles: &[Circle]) -> (String, [Place; 2]) {
    let n = circles.len().max(1) as f64;
    let (x, y) = circles.iter().fold((0.0, 0.0), |(x, y), c| (x + c.x / n, y + c.y / n));
    let label = |axis: usize| format!("axis {}: {} %", axis + 1, percent(plane.shown[axis]));
    let at = |axis: usize, left: f64, bottom: f64| {
        Place([left, bottom - LINE, left + LETTER * label(axis).width() as f64, bottom])
    };
    // At the other end where a circle would cover it; there it ends at the edge, however large its letters are.
    let mut first = at(0, 4.0, y - 5.0);
    let (class, start) = match circles.iter().any(|c| first.covers(c)) {
        true => ("axis far", WIDTH - 4.0),
        false => ("axis", 4.0),
    };
    if start > 4.0 {
        first = at(0, start + first.0[0] - first.0[2], y - 5.0);
    }
    let drawn = format!(
        "<path class=\"axis\" d=\"M0 {y:.1}H{WIDTH}M{x:.1} 0V{HEIGHT}\"/>\n\
         <text class=\"{class}\" x=\"{start:.1}\" y=\"{:.1}\">{}</text>\
         <text class=\"axis\" x=\"{:.1}\" y=\"12\">{}</text>\n",
        y - 5.0,
        label(0),
        x + 5.0,
        label(1)
    );
    (drawn, [first, at(1, x + 5.0, 14.0)])
}

fn draw(out: &mut String, k: usize, circle: &Circle, topic: &TopicSummary) {
    let Circle { x, y, r } = circle;
    let number = k + 1;
    let said = format!("topic {number}, {}: {} % of the corpus", topic.name, percent(topic.share));
    let said = escape(&said);
    let _ = writeln!(
        out,
        "<a href=\"#topic-{number}\" data-topic=\"{k}\" aria-label=\"{said}\"><title>{said}</title>\
         <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\"/></a>"
    );
}

/// A place for each name, below, above, right or left of its circle, where it covers no other name and no
/// other circle, nor what stands at the axes; none where there is no such place. The largest topics choose first.
fn names(circles: &[Circle], topics: &[TopicSummary], labels: &[Place]) -> Vec<Option<Place>> {
    let mut taken = labels.to_vec();
    let mut place = |(k, (circle, topic)): (usize, (&Circle, &TopicSummary))| {
        let wide = LETTER * cut(&topic.name, LETTERS).width() as f64;
        let Circle { x, y, r } = circle;
        let at = |x: f64, y: f64| {
            Place([x - wide / 2.0, y - LINE / 2.0, x + wide / 2.0, y + LINE / 2.0])
        };
        let (aside, above) = (r + 4.0 + wide / 2.0, r + 2.0 + LINE / 2.0);
        let places = [at(*x, y + above), at(*x, y - above), at(x + aside, *y), at(x - aside, *y)];
        let found = places.into_iter().find(|place| {
            let others = circles.iter().enumerate().filter(|(l, _)| *l != k);
            place.inside()
                && !taken.iter().any(|t| place.meets(t))
                && !others.clone().any(|(_, c)| place.covers(c))
        });
        taken.extend(found);
        found
    };
    circles.iter().zip(topics).enumerate().map(&mut place).collect()
}

impl Place {
    fn inside(&self) -> bool {
        let Place([left, top, right, bottom]) = *self;
        left >= 0.0 && top >= 0.0 && right <= WIDTH && bottom <= HEIGHT
    }

    fn meets(&self, other: &Place) -> bool {
        let (Place(a), Place(b)) = (self, other);
        a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
    }

    fn covers(&self, circle: &Circle) -> bool {
        let Place([left, top, right, bottom]) = *self;
        let (dx, dy) =
            (circle.x - circle.x.clamp(left, right), circle.y - circle.y.clamp(top, bottom));
        dx.hypot(dy) < circle.r
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics_page::tests::summary;

    #[test]
    fn topics_are_drawn_inside_and_apart() {
        let summary = summary();
        let mut similarity = Dense::zeros(3, 3);
        similarity.row_mut(0).copy_from_slice(&[1.0, 0.9, 0.1]);
        similarity.row_mut(1).copy_from_slice(&[0.9, 1.0, 0.1]);
        similarity.row_mut(2).copy_from_slice(&[0.1, 0.1, 1.0]);
        let plane = classical(&squares(&similarity));
        let circles = circles(&plane, &summary.topics);
        let distance =
            |a: usize, b: usize| (circles[a].x - circles[b].x).hypot(circles[a].y - circles[b].y);
        assert!(distance(0, 1) < 0.6 * distance(0, 2), "{} {}", distance(0, 1), distance(0, 2));
        assert_eq!(circles[0].r, LARGEST);
        for c in &circles {
            assert!(c.x >= c.r && c.y >= c.r && c.x <= WIDTH - c.r && c.y <= HEIGHT - c.r);
        }
        let labels = axes(&plane, &circles).1;
        let places = names(&circles, &summary.topics, &labels);
        for (k, a) in places.iter().flatten().enumerate() {
            assert!(labels.iter().all(|label| !a.meets(label)));
            assert!(a.inside() && places.iter().flatten().skip(k + 1).all(|b| !a.meets(b)));
        }
    }

    #[test]
    fn many_topics_are_not_drawn() {
        let topic = summary().topics[0].clone();
        let (mut few, mut many) = (String::new(), String::new());
        map(&mut few, &vec![topic.clone(); 1], &Dense::zeros(1, 1));
        map(&mut many, &vec![topic; MOST + 1], &Dense::zeros(MOST + 1, MOST + 1));
        assert!(few.contains("<circle") && !few.contains("NaN") && !many.contains("<svg"), "{few}");
    }
}
