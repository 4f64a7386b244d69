//! Stand-in until the exact kernel is merged.

use crate::matrix::Dense;

/// An estimate from above of the l1 distance of row `i` of `points` from the convex hull of the
/// other rows: conditional gradients on the squared l2 distance, priced in l1.
pub fn hull_distance(points: &Dense, i: usize) -> f64 {
    let others: Vec<usize> = (0..points.rows()).filter(|&j| j != i).collect();
    let Some(&first) = others.first() else { return 2.0 };
    let target = points.row(i);
    let mut at = points.row(first).to_vec();
    let price = |at: &[f64]| at.iter().zip(target).map(|(a, b)| (a - b).abs()).sum::<f64>();
    let mut best = price(&at);
    for _ in 0..200 {
        let gradient: Vec<f64> = at.iter().zip(target).map(|(a, b)| a - b).collect();
        let slope = |j: usize| crate::kernels::dot(points.row(j), &gradient);
        let next = others.iter().copied().min_by(|&a, &b| slope(a).total_cmp(&slope(b)));
        let Some(next) = next else { break };
        let step: Vec<f64> = points.row(next).iter().zip(&at).map(|(a, b)| a - b).collect();
        let length = crate::kernels::dot(&step, &step);
        if length == 0.0 {
            break;
        }
        let share = (-crate::kernels::dot(&step, &gradient) / length).clamp(0.0, 1.0);
        at.iter_mut().zip(&step).for_each(|(a, s)| *a += share * s);
        best = best.min(price(&at));
    }
    best
}
