//! Errors against the number of hott rows.

use crate::Summary;
use crate::page::escape;
use crate::plot::{Axis, Chart, ChartTarget, Series};
use crate::text::count;
use hottopixx::{RankPath, RankPoint};
use std::fmt::Write as _;

/// What entries that were held out say.
fn held_out(out: &mut String, s: &Summary) {
    let Some(found) = &s.held_out else { return };
    let _ = writeln!(
        out,
        "<p>By entries that were held out: {}. {}</p>",
        count(found.suggested, "hott row"),
        escape(&found.reason)
    );
}

/// The chart and the rank it speaks for; nothing where no path was computed.
pub(super) fn path(out: &mut String, s: &Summary) {
    held_out(out, s);
    let Some(path) = &s.path else { return };
    let _ = writeln!(
        out,
        "<h2>Rank</h2>\n<p>The errors speak for <strong>{}</strong>{}. {}</p>",
        count(path.suggested, "hott row"),
        if path.suggested == s.rank { ", as here" } else { "" },
        escape(&path.reason)
    );
    if path.points.len() < 2 {
        return;
    }
    let _ = writeln!(
        out,
        "<figure>\n{}<figcaption>Errors with this many hott rows. More rows explain more: look \
         for the place from where on they gain little.{}</figcaption>\n</figure>",
        chart(path).svg(ChartTarget::Page),
        if bounds(path).is_empty() { "" } else { BOUND }
    );
}

/// What the curve of the bounds says.
const BOUND: &str = " No other choice of as many rows has a mean error below the bound: between the two \
                     lies what a better choice could gain.";

/// The bounds on the mean error, where there are any.
fn bounds(path: &RankPath) -> Vec<(f64, f64)> {
    let bound = |point: &RankPoint| Some((point.rank as f64, point.lower_bound?));
    path.points.iter().filter_map(bound).collect()
}

fn chart(path: &RankPath) -> Chart {
    let ranks = path.points.iter().map(|point| point.rank);
    let (first, last) = (ranks.clone().min().unwrap_or(1), ranks.max().unwrap_or(1));
    let step = (last - first).div_ceil(10).max(1);
    let ticks: Vec<f64> = (first..=last).step_by(step).map(|rank| rank as f64).collect();
    let top = path.points.iter().map(|point| point.errors.inf1).filter(|e| e.is_finite());
    let top = 1.05 * top.fold(1e-9, f64::max);
    let points = |value: fn(&hottopixx::Errors) -> f64| {
        path.points.iter().map(|point| (point.rank as f64, value(&point.errors))).collect()
    };
    let suggested = path.suggested as f64;
    let mut series = vec![
        Series::new("suggested", 9, vec![(suggested, 0.0), (suggested, top)]),
        Series::new("largest", 2, points(|error| error.inf1)),
        Series::new("mean", 0, points(|error| error.mean_l1)),
    ];
    let bounds = bounds(path);
    if !bounds.is_empty() {
        series.push(Series::new("bound on mean", 1, bounds));
    }
    Chart {
        title: "Error against rank".to_owned(),
        x: Axis::linear("number of hott rows", first as f64, last as f64).ticks_at(&ticks),
        y: Axis::linear("l1 error, rows sum to 1", 0.0, top),
        series,
        levels: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::example;
    use hottopixx::Stop;

    #[test]
    fn the_path_is_drawn_with_its_suggestion() {
        let mut summary = example();
        let point = |rank: usize| {
            let mut errors = summary.error.clone();
            (errors.inf1, errors.mean_l1) = (1.0 / rank as f64, 0.5 / rank as f64);
            let lower_bound = (rank > 3).then_some(0.4 / rank as f64);
            RankPoint { rank, hott: (0..rank).collect(), errors, lower_bound }
        };
        summary.path = Some(RankPath {
            points: (1..=25).map(point).collect(),
            suggested: 2,
            reason: "A third row gains <little>.".into(),
            stop: Stop::Finished,
        });
        let mut out = String::new();
        path(&mut out, &summary);
        assert!(
            out.contains("<strong>2 hott rows</strong>, as here. A third row gains &lt;little")
        );
        assert!(out.contains("class=\"chart\"") && !out.contains("NaN"), "{out}");
        assert!(out.contains("bound on mean") && out.contains("below the bound"), "{out}");
        for point in &mut summary.path.as_mut().unwrap().points {
            point.lower_bound = None;
        }
        out.clear();
        path(&mut out, &summary);
        assert!(out.contains("<svg") && !out.contains("bound"), "{out}");
        summary.path.as_mut().unwrap().points.truncate(1);
        out.clear();
        path(&mut out, &summary);
        assert!(!out.contains("<svg"), "{out}");
    }
}
