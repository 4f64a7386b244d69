//! From the flags of constraints to what the library is asked for, and to what is said of it.

use crate::args::ConstraintArgs;
use crate::failure::Failure;
use crate::job;
use crate::problem::Problem;
use hottopixx::Constraints;
use hottopixx_report::{ConstraintFacts, QuotaFacts};
use std::collections::BTreeMap;
use std::path::Path;

/// What the flags ask for, with rows of the input.
#[derive(Debug, Default)]
pub struct Asked {
    must: Vec<usize>,
    never: Vec<usize>,
    groups: Vec<AskedGroup>,
    prices: Option<(Vec<f64>, f64)>,
}

#[derive(Debug)]
struct AskedGroup {
    name: String,
    rows: Vec<usize>,
    limits: Limits,
}

/// At least and at most.
type Limits = (usize, usize);

impl Asked {
    /// Reads the files that the flags name.
    pub fn read(args: &ConstraintArgs, problem: &Problem) -> Result<Self, Failure> {
        let rows = |list: &Option<String>, flag: &str| match list {
            None => Ok(Vec::new()),
            Some(list) => match list.strip_prefix('@') {
                Some(file) => {
                    problem.find_rows(&hottopixx_io::read_names(file, problem.memory)?, flag)
                }
                None => problem.find_rows(&hottopixx_io::list_items(list), flag),
            },
        };
        let (must, never) = (rows(&args.must, "--must")?, rows(&args.never, "--never")?);
        // Rows that were set aside must not be asked for; that they are not chosen goes without saying.
        must.iter().try_for_each(|&row| problem.row_of(row).map(drop))?;
        let groups = match (&args.groups, &args.quota) {
            (Some(file), Some(quotas)) => groups(file, quotas, problem)?,
            _ => Vec::new(),
        };
        let prices = job::numbers(args.prices.as_deref(), problem, "prices")?;
        Ok(Asked { must, never, groups, prices: prices.zip(args.budget) })
    }

    /// The same in rows of the matrix that is factored.
    pub fn constraints(&self, problem: &Problem) -> Constraints {
        let kept = |rows: &[usize]| -> Vec<usize> {
            rows.iter().filter_map(|&row| problem.row_of(row).ok()).collect()
        };
        let mut asked = Constraints::default().must(kept(&self.must)).never(kept(&self.never));
        for AskedGroup { name, rows, limits: (least, most) } in &self.groups {
            asked = asked.group(name, kept(rows), *least, *most);
        }
        match &self.prices {
            Some((prices, budget)) => asked.budget(problem.keep(prices), *budget),
            None => asked,
        }
    }

    /// What is said of it beside a choice; `None` where nothing was asked for.
    pub fn facts(&self, chosen: &[usize]) -> Option<ConstraintFacts> {
        let Asked { must, never, groups, prices } = self;
        let quota = |AskedGroup { name, rows, limits: (least, most) }: &AskedGroup| QuotaFacts {
            group: name.clone(),
            rows: rows.len(),
            least: *least,
            most: (*most < usize::MAX).then_some(*most),
            chosen: chosen.iter().filter(|row| rows.contains(row)).count(),
        };
        let facts = ConstraintFacts {
            must: must.clone(),
            never: never.len(),
            groups: groups.iter().map(quota).collect(),
            cost: prices.as_ref().map(|(prices, _)| chosen.iter().map(|&row| prices[row]).sum()),
            budget: prices.as_ref().map(|(_, budget)| *budget),
        };
        (facts != ConstraintFacts::default()).then_some(facts)
    }
}

/// The groups of a file with their quotas, in the order of their names.
fn groups(file: &Path, quotas: &str, problem: &Problem) -> Result<Vec<AskedGroup>, Failure> {
    let wrong = |what: String| Failure::Wrong(format!("{}: {what}", file.display()));
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (k, line) in hottopixx_io::read_names(file, problem.memory)?.iter().enumerate() {
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        let parts = line.rsplit_once('\t').or_else(|| line.rsplit_once([',', ';']));
        let Some((row, group)) = parts else {
            let what = "no comma or tab between a row and its group";
            return Err(wrong(format!("line {}: {what}", k + 1)));
        };
        let (row, group) = (unquoted(row), unquoted(group));
        if k == 0 && group == "group" {
            continue; // a heading
        }
        let rows = problem.find_rows(&[row], "--groups")?;
        members.entry(group).or_default().extend(rows);
    }
    let mut limits: BTreeMap<String, Limits> = BTreeMap::new();
    for item in hottopixx_io::list_items(quotas) {
        let (name, range) = item.rsplit_once('=').ok_or_else(|| no_quota(&item))?;
        limits.insert(name.trim().to_owned(), range_of(range).ok_or_else(|| no_quota(&item))?);
    }
    if let Some(name) = limits.keys().find(|name| *name != "*" && !members.contains_key(*name)) {
        return Err(wrong(format!("no row is in the group {name} that --quota names")));
    }
    let everywhere = limits.get("*").copied();
    let asked = members.into_iter().filter_map(|(name, rows)| {
        let limits = limits.get(&name).copied().or(everywhere)?;
        Some(AskedGroup { name, rows, limits })
    });
    Ok(asked.collect())
}

fn unquoted(cell: &str) -> String {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|c| c.strip_suffix('"')).unwrap_or(cell).replace("\"\"", "\"")
}

fn no_quota(item: &str) -> Failure {
    Failure::Usage(format!("--quota {item}: write GROUP=N, GROUP=LEAST..MOST or GROUP=..MOST"))
}

/// `3`, `1..3`, `..3` or `1..`.
fn range_of(text: &str) -> Option<Limits> {
    let number = |text: &str, default: usize| match text.trim() {
        "" => Some(default),
        digits => digits.parse().ok(),
    };
    match text.split_once("..") {
        Some((least, most)) => Some((number(least, 0)?, number(most, usize::MAX)?)),
        None => text.trim().parse().ok().map(|count| (count, count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas() {
        assert_eq!(range_of("3"), Some((3, 3)));
        assert_eq!(range_of(" 1 .. 3"), Some((1, 3)));
        assert_eq!((range_of("..2"), range_of("1..")), (Some((0, 2)), Some((1, usize::MAX))));
        assert_eq!((range_of(""), range_of("-1"), range_of("a..2")), (None, None, None));
    }
}
