//! From the file of runs to the paper's six panels, a table, and what does not hold.

use super::profile::SAME;
use super::{Contender, Diagonal, Profile, ProfileOutcome, ProfileRun, ProfileRuns, profiles};
use crate::clock::median;
use crate::paper::{DUPLICATES, ETAS};
use hottopixx_report::page::Section;
use hottopixx_report::plot::{Axis, Chart, Series};
use hottopixx_report::table::{Align, Table};
use hottopixx_report::text::percent;

/// What a panel measures.
type Measure = fn(&ProfileOutcome) -> f64;

/// One of the paper's panels.
struct ProfilePanel {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    wanted: fn(&ProfileRun) -> bool,
    measure: Measure,
    most: f64,
}

fn small(run: &ProfileRun) -> bool {
    run.recipe.features == 40 && run.recipe.examples == 400
}

const PANELS: [ProfilePanel; 6] = [
    ProfilePanel {
        name: "profile-a-inf1-small",
        title: "(a) (∞,1) error, 40 × 400",
        axis: "error",
        wanted: small,
        measure: |o| o.inf1,
        most: 11.0,
    },
    ProfilePanel {
        name: "profile-b-inf1-all",
        title: "(b) (∞,1) error, all sizes",
        axis: "error",
        wanted: |_| true,
        measure: |o| o.inf1,
        most: 11.0,
    },
    ProfilePanel {
        name: "profile-c-time",
        title: "(c) CPU time, all sizes",
        axis: "time",
        wanted: |_| true,
        measure: |o| o.seconds,
        most: 1e4,
    },
    ProfilePanel {
        name: "profile-d-rmse-small",
        title: "(d) RMSE, small: 40 × 400",
        axis: "RMSE",
        wanted: small,
        measure: |o| o.rmse,
        most: 11.0,
    },
    ProfilePanel {
        name: "profile-e-rmse-medium",
        title: "(e) RMSE, medium: all other sizes",
        axis: "RMSE",
        wanted: |run| !small(run),
        measure: |o| o.rmse,
        most: 11.0,
    },
    ProfilePanel {
        name: "profile-f-inf1-noisy",
        title: "(f) (∞,1) error, η ≥ 1, all sizes",
        axis: "error",
        wanted: |run| run.recipe.noise >= 1.0,
        measure: |o| o.inf1,
        most: 11.0,
    },
];

/// The section of the page.
pub fn section(runs: &ProfileRuns) -> Section {
    let mut section = Section::new("profiles", "Small synthetic instances: performance profiles");
    let instances = runs.runs.len() / Contender::ALL.len();
    section.text(format!(
        "{instances} of the 2025 instances of the paper's section 5 (f in 40, 80, 160; n in 400, \
         800, 1600; r in 3, 5, 10; d in 0, 1, 2 duplicates; noise η in 0.25, 0.95, 4, 10, 100; 5 \
         repeats). A curve gives the share of the instances on which a method's value is within a \
         factor τ of the best method's: the higher, the better. At the left end, τ = 1, it says how \
         often the method is best; ties, to one part in ten thousand, count for all."
    ));
    section.text(
        "Every method names its r rows, and F is then fitted exactly, for all alike. AGKM is told the \
         true ε and α, LP the true ε (its τ is 2ε); the others are told r alone. Hottopixx takes 50 \
         epochs, fast 4. Curves that coincide are told apart by their markers, which are offset.",
    );
    section.text(format!("Where it was measured: {}.", runs.remarks.join("; ")));
    for panel in &PANELS {
        let found = profiles(&runs.runs, panel.wanted, panel.measure, panel.most);
        if found.is_empty() {
            continue; // a sample without instances of this kind
        }
        section.figure(panel.name, chart(panel, &found), sentence(&found));
    }
    section.table(
        "Instances on which every topic was found, by noise, in percent",
        found(runs, &Contender::ALL),
    );
    section.table("CPU seconds of one thread, medians", seconds(runs));
    does_not_hold(&mut section, runs);
    section
}

/// Times differ by powers of ten and are shown over tau; errors mostly by a few percent and are
/// shown over tau - 1, from what counts as equal.
fn chart(panel: &ProfilePanel, found: &[Profile]) -> Chart {
    let ProfilePanel { axis, most, .. } = *panel;
    let (x, place): (Axis, fn(f64) -> f64) = if axis == "time" {
        (Axis::log(&format!("τ: {axis} over the least {axis} of all methods"), 1.0, most), |t| t)
    } else {
        let label = format!("τ - 1: how far above the least {axis} of all methods (0.01 is 1 %)");
        (Axis::log(&label, SAME - 1.0, most - 1.0), |t| (t - 1.0).max(SAME - 1.0))
    };
    let curve = |profile: &Profile| {
        let points = profile.points.iter().map(|&(tau, share)| (place(tau), share)).collect();
        Series::new(profile.contender.label(), profile.contender as usize, points).steps()
    };
    Chart {
        title: panel.title.to_owned(),
        x,
        y: Axis::linear("share of the instances", 0.0, 1.0),
        series: found.iter().map(curve).collect(),
        levels: Vec::new(),
    }
}

/// Who is best most often, and who is close on all.
fn sentence(found: &[Profile]) -> String {
    let three = |tau: f64, most: bool| {
        let mut order: Vec<&Profile> = found.iter().collect();
        order.sort_by(|a, b| a.at(tau).total_cmp(&b.at(tau)));
        if most {
            order.reverse();
        }
        let name = |p: &&Profile| format!("{} {:.0} %", p.contender.label(), 100.0 * p.at(tau));
        order.iter().take(3).map(name).collect::<Vec<_>>().join(", ")
    };
    format!(
        "Best on most instances: {}. Least often within a factor 2 of the best: {}.",
        three(1.0, true),
        three(2.0, false)
    )
}

/// Outcomes of one contender on the instances that `wanted` picks.
fn outcomes<'a>(
    runs: &'a ProfileRuns,
    contender: Contender,
    wanted: impl Fn(&ProfileRun) -> bool + 'a,
) -> impl Iterator<Item = (&'a ProfileRun, Option<&'a ProfileOutcome>)> {
    let mine = runs.runs.iter().filter(move |run| run.contender == contender && wanted(run));
    mine.map(|run| (run, run.outcome.as_ref()))
}

/// The share of the runs for which `yes` holds, in percent; empty when there are none.
fn share<'a>(
    runs: impl Iterator<Item = (&'a ProfileRun, Option<&'a ProfileOutcome>)>,
    yes: impl Fn(&ProfileRun, &ProfileOutcome) -> bool,
) -> String {
    let (mut hits, mut all) = (0, 0);
    for (run, outcome) in runs {
        hits += usize::from(outcome.is_some_and(|outcome| yes(run, outcome)));
        all += 1;
    }
    if all == 0 { String::new() } else { percent(hits as f64 / all as f64) }
}

fn all_found(run: &ProfileRun, outcome: &ProfileOutcome) -> bool {
    outcome.found == run.recipe.rank
}

/// A table with one line for each contender and one column for each noise level.
fn by_noise(contenders: &[Contender], cell: impl Fn(Contender, f64) -> String) -> Table {
    let names: Vec<String> = ETAS.iter().map(|eta| format!("η = {eta}")).collect();
    let mut columns = vec![("", Align::Left)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for &contender in contenders {
        let cells = ETAS.map(|eta| cell(contender, eta));
        table.row([contender.label().to_owned()].into_iter().chain(cells));
    }
    table
}

/// On how many instances of each noise level every topic was found, in percent.
fn found(runs: &ProfileRuns, contenders: &[Contender]) -> Table {
    by_noise(contenders, |contender, eta| {
        share(outcomes(runs, contender, |run| run.recipe.noise == eta), all_found)
    })
}

fn seconds(runs: &ProfileRuns) -> Table {
    let sizes = [(40, 400), (80, 800), (160, 1600)];
    let names = sizes.map(|(f, n)| format!("{f} × {n}"));
    let mut columns = vec![("", Align::Left)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    columns.push(("longest of all", Align::Right));
    let mut table = Table::new(&columns);
    for contender in Contender::ALL {
        let times = |wanted: &dyn Fn(&ProfileRun) -> bool| -> Vec<f64> {
            outcomes(runs, contender, wanted).filter_map(|(_, o)| Some(o?.seconds)).collect()
        };
        let cells = sizes.map(|(f, n)| {
            let size = times(&|run| run.recipe.features == f && run.recipe.examples == n);
            if size.is_empty() { String::new() } else { format!("{:.4}", median(&size)) }
        });
        let longest = times(&|_| true).into_iter().fold(0.0, f64::max);
        let name = contender.label().to_owned();
        table.row([name].into_iter().chain(cells).chain([format!("{longest:.2}")]));
    }
    table
}

/// Three statements of the paper, and the measurements that say otherwise.
fn does_not_hold(section: &mut Section, runs: &ProfileRuns) {
    section.heading("What the paper says, and what is measured");
    section.text(
        "“Any p with distinct values.” Algorithm 3 is run with τ = 2ε, the least for which the truth is \
         sure to be feasible. With random distinct costs p the slack is spent on the cost: rows that \
         are not hott but cheap take the weight. With p_j = -‖x_j‖² extreme rows are cheap and the same \
         program finds the topics. All topics found, percent of the instances:",
    );
    let programs = [Contender::LpAnyCost, Contender::Lp, Contender::Minimax];
    section.table(
        "The linear program by its cost; minimax has neither cost nor τ",
        found(runs, &programs),
    );
    section.text(
        "“I = {i : C_ii = 1}.” The rows are to be read off the diagonal. Below: on how many instances \
         exactly r entries are 1 (at least 0.999), the median of the r-th largest entry, and on how \
         many instances the r largest entries hit every topic, for d = 0, 1 and 2 duplicates, against \
         our reading of the same diagonal (several candidate sets, the one with the least error).",
    );
    section.table("Reading the diagonal, percent of the instances", diagonals(runs));
    section.text(
        "“Two cleaning epochs.” The paper fits F by two epochs of incremental gradients with step 0.1. \
         The same hott rows (those of Hottopixx), cleaned in that way and exactly: median (∞,1) error.",
    );
    let mut table = Table::new(&[
        ("noise", Align::Left),
        ("two epochs", Align::Right),
        ("exact", Align::Right),
        ("noise itself, at most", Align::Right),
    ]);
    for eta in ETAS {
        let of = |measure: Measure| {
            let mine = outcomes(runs, Contender::Hottopixx, |run| run.recipe.noise == eta);
            median(&mine.filter_map(|(_, o)| Some(measure(o?))).collect::<Vec<_>>())
        };
        let (rough, exact) = (of(|o| o.two_epochs), of(|o| o.inf1));
        if exact.is_finite() {
            // The norm of the noise is eta alpha^2 / (20 + 13 alpha), and alpha is at most 2.
            let noise = (eta * 4.0 / 46.0).min(2.0);
            let cells = [rough, exact, noise].map(|value| format!("{value:.4}"));
            table.row([format!("η = {eta}")].into_iter().chain(cells));
        }
    }
    section.table("The same rows, cleaned in two ways", table);
}

fn diagonals(runs: &ProfileRuns) -> Table {
    let mut table = Table::new(&[
        ("", Align::Left),
        ("d", Align::Right),
        ("r ones", Align::Right),
        ("r-th entry", Align::Right),
        ("r largest hit all", Align::Right),
        ("our reading", Align::Right),
    ]);
    for contender in [Contender::Hottopixx, Contender::Lp, Contender::LpAnyCost] {
        for d in DUPLICATES {
            let mine = || outcomes(runs, contender, move |run| run.recipe.duplicates == d);
            let read = |yes: fn(&Diagonal, usize) -> bool| {
                share(mine(), |run, o| o.diagonal.is_some_and(|diag| yes(&diag, run.recipe.rank)))
            };
            let last: Vec<f64> = mine().filter_map(|(_, o)| Some(o?.diagonal?.last)).collect();
            if last.is_empty() {
                continue;
            }
            table.row([
                contender.label().to_owned(),
                d.to_string(),
                read(|diag, rank| diag.ones == rank),
                format!("{:.3}", median(&last)),
                read(|diag, rank| diag.top == rank),
                share(mine(), all_found),
            ]);
        }
    }
    table
}
