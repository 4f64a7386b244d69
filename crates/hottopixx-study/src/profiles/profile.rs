//! Performance profiles after Dolan and Moré, as the paper defines them.

use super::{Contender, Key, ProfileOutcome, ProfileRun, key};
use std::collections::BTreeMap;

/// The profile of one contender: `P_a(tau)`, the share of the instances on which its value is
/// within a factor tau of the least value of all contenders, as a staircase that begins at tau = 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Who.
    pub contender: Contender,
    /// tau and P, increasing.
    pub points: Vec<(f64, f64)>,
}

impl Profile {
    /// P at tau.
    pub fn at(&self, tau: f64) -> f64 {
        self.points.iter().take_while(|p| p.0 <= tau).last().map_or(0.0, |p| p.1)
    }
}

/// Ratios below this count as 1: the same rows, cleaned alike, up to the digits of the file.
pub(super) const SAME: f64 = 1.0 + 1e-4;

/// Profiles of a measure over the runs that `wanted` picks, up to `most` on the axis of tau.
/// A contender without an answer is never within any factor.
pub fn profiles(
    runs: &[ProfileRun],
    wanted: impl Fn(&ProfileRun) -> bool,
    measure: impl Fn(&ProfileOutcome) -> f64,
    most: f64,
) -> Vec<Profile> {
    let mut instances: BTreeMap<Key, Vec<(Contender, f64)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| wanted(run)) {
        let value = run.outcome.as_ref().map_or(f64::INFINITY, &measure);
        instances.entry(key(&run.recipe)).or_default().push((run.contender, value));
    }
    let count = instances.len().max(1) as f64;
    let mut ratios: BTreeMap<Contender, Vec<f64>> = BTreeMap::new();
    for values in instances.values() {
        let least = values.iter().map(|v| v.1).fold(f64::INFINITY, f64::min);
        for &(contender, value) in values {
            let ratio = if value == least { 1.0 } else { value / least };
            ratios.entry(contender).or_default().push(if ratio < SAME { 1.0 } else { ratio });
        }
    }
    let profile = |(contender, mut ratios): (Contender, Vec<f64>)| {
        ratios.sort_by(f64::total_cmp);
        let within = |tau: f64| ratios.partition_point(|r| *r <= tau) as f64 / count;
        let mut points = vec![(1.0, within(1.0))];
        for &ratio in ratios.iter().filter(|r| **r > 1.0 && **r <= most) {
            if points[points.len() - 1].0 < ratio {
                points.push((ratio, within(ratio)));
            }
        }
        points.push((most, within(most)));
        Profile { contender, points }
    };
    ratios.into_iter().map(profile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::synth::{Family, Recipe};

    #[test]
    fn shares_within_a_factor_of_the_best() {
        let run = |seed, contender, value: Option<f64>| ProfileRun {
            recipe: Recipe::new(Family::Paper, 3).seed(seed),
            contender,
            outcome: value.map(|inf1| ProfileOutcome {
                found: 3,
                inf1,
                mean_l1: 0.0,
                rmse: 0.0,
                seconds: 0.0,
                two_epochs: 0.0,
                diagonal: None,
            }),
        };
        let (spa, lp) = (Contender::Spa, Contender::Lp);
        // SPA is best on three of four, LP on two: they tie on one; LP has no answer on another.
        let runs = [
            run(0, spa, Some(1.0)),
            run(0, lp, Some(3.0)),
            run(1, spa, Some(2.0)),
            run(1, lp, Some(2.0)),
            run(2, spa, Some(2.0)),
            run(2, lp, Some(1.0)),
            run(3, spa, Some(5.0)),
            run(3, lp, None),
        ];
        let found = profiles(&runs, |_| true, |o| o.inf1, 10.0);
        let of = |contender| found.iter().find(|p| p.contender == contender).unwrap();
        assert_eq!(of(spa).points, [(1.0, 0.75), (2.0, 1.0), (10.0, 1.0)]);
        assert_eq!(of(lp).points, [(1.0, 0.5), (3.0, 0.75), (10.0, 0.75)]);
        assert_eq!([1.0, 2.9, 3.0].map(|tau| of(lp).at(tau)), [0.5, 0.5, 0.75]);
        let one = profiles(&runs, |run| run.recipe.seed == 1, |o| o.inf1, 10.0);
        assert!(one.iter().all(|p| p.at(1.0) == 1.0));
    }
}
