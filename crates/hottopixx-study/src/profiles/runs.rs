//! The file of runs: one line for each contender on each instance, plain CSV under a few lines of
//! remarks. Small enough to be kept, and all that the figures are made from.

use super::{Contender, key};
use anyhow::{Context, Result, bail};
use hottopixx::synth::{Family, Recipe};
use std::fmt::Write as _;

const HEAD: &str = "features,examples,rank,duplicates,eta,seed,method,found,inf1,mean_l1,rmse,\
                    seconds,two_epochs,ones,last,top";

/// What one contender did on one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRun {
    /// The instance.
    pub recipe: Recipe,
    /// Who.
    pub contender: Contender,
    /// The outcome; `None` when there was no answer.
    pub outcome: Option<ProfileOutcome>,
}

/// Errors are against rows of unit sum, after exact cleaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileOutcome {
    /// Topics found, of `rank`.
    pub found: usize,
    /// The largest l1 error of a row: the (inf,1) norm.
    pub inf1: f64,
    /// The mean l1 error of a row.
    pub mean_l1: f64,
    /// Root of the mean squared error over all entries.
    pub rmse: f64,
    /// CPU seconds, cleaning included.
    pub seconds: f64,
    /// The (inf,1) norm when the same rows are cleaned by the paper's two incremental epochs.
    pub two_epochs: f64,
    /// What the diagonal of C looks like, where there is one.
    pub diagonal: Option<Diagonal>,
}

/// The diagonal of C as the paper reads it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diagonal {
    /// Entries of at least 0.999: the paper's `C_ii = 1`.
    pub ones: usize,
    /// The r-th largest entry.
    pub last: f64,
    /// Topics found by taking the r largest entries.
    pub top: usize,
}

impl ProfileRun {
    fn line(&self) -> String {
        let Recipe { features, examples, rank, duplicates, noise, seed, .. } = self.recipe;
        let name = self.contender.name();
        let mut line = format!("{features},{examples},{rank},{duplicates},{noise},{seed},{name}");
        match &self.outcome {
            None => line.push_str(",,,,,,,,,"),
            Some(o) => {
                let numbers = [o.inf1, o.mean_l1, o.rmse, o.seconds, o.two_epochs].map(short);
                let _ = write!(line, ",{},{}", o.found, numbers.join(","));
                match o.diagonal {
                    None => line.push_str(",,,"),
                    Some(d) => {
                        let _ = write!(line, ",{},{},{}", d.ones, short(d.last), d.top);
                    }
                }
            }
        }
        line
    }

    fn parse(line: &str) -> Result<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        if cells.len() != HEAD.split(',').count() {
            bail!("{} columns instead of {}", cells.len(), HEAD.split(',').count());
        }
        let count = |k: usize| cells[k].parse::<usize>().with_context(|| quoted(cells[k]));
        let number = |k: usize| cells[k].parse::<f64>().with_context(|| quoted(cells[k]));
        let recipe = Recipe::new(Family::Paper, count(2)?)
            .size(count(0)?, count(1)?)
            .duplicates(count(3)?)
            .noise(number(4)?)
            .seed(count(5)? as u64);
        let contender = Contender::from_name(cells[6]).with_context(|| quoted(cells[6]))?;
        let outcome = if cells[7].is_empty() {
            None
        } else {
            let diagonal = if cells[13].is_empty() {
                None
            } else {
                Some(Diagonal { ones: count(13)?, last: number(14)?, top: count(15)? })
            };
            Some(ProfileOutcome {
                found: count(7)?,
                inf1: number(8)?,
                mean_l1: number(9)?,
                rmse: number(10)?,
                seconds: number(11)?,
                two_epochs: number(12)?,
                diagonal,
            })
        };
        Ok(ProfileRun { recipe, contender, outcome })
    }
}

fn quoted(cell: &str) -> String {
    format!("\"{cell}\" is not what belongs there")
}

/// Five significant digits: more than the figures show.
fn short(value: f64) -> String {
    let plain = format!("{value:.4e}");
    let value: f64 = plain.parse().unwrap_or(value);
    if (1e-3..1e5).contains(&value.abs()) || value == 0.0 { value.to_string() } else { plain }
}

/// All runs with remarks on where they come from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProfileRuns {
    /// Machine, version, time: lines that begin with `#` in the file.
    pub remarks: Vec<String>,
    /// The runs, in any order.
    pub runs: Vec<ProfileRun>,
}

/// The lines of one instance, as they are added to a file under way.
pub fn lines(runs: &[ProfileRun]) -> String {
    runs.iter().map(|run| run.line() + "\n").collect()
}

impl ProfileRuns {
    /// The whole file.
    pub fn to_csv(&self) -> String {
        let mut text: String = self.remarks.iter().map(|line| format!("# {line}\n")).collect();
        let _ = writeln!(text, "{HEAD}");
        text + &lines(&self.runs)
    }

    /// Reads a file back. With `torn`, a last line that is cut short does not matter: the
    /// program may have been killed while it was written.
    ///
    /// # Errors
    /// The number of the first line that does not belong in such a file.
    pub fn from_csv(text: &str, torn: bool) -> Result<Self> {
        let mut all = ProfileRuns::default();
        let mut headed = false;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let text = if torn { &text[..whole] } else { text };
        for (k, line) in text.lines().enumerate() {
            if let Some(remark) = line.strip_prefix('#') {
                all.remarks.push(remark.trim().to_owned());
            } else if !headed {
                if line != HEAD {
                    bail!("line {}: expected the head of a file of runs: {HEAD}", k + 1);
                }
                headed = true;
            } else {
                all.runs.push(ProfileRun::parse(line).with_context(|| format!("line {}", k + 1))?);
            }
        }
        if !headed && !torn {
            bail!("this is not a file of runs: its head is missing");
        }
        Ok(all)
    }

    /// Puts the runs in the order of the grid.
    pub fn sort(&mut self) {
        self.runs.sort_by_key(|run| (key(&run.recipe), run.contender));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> ProfileRuns {
        let recipe = Recipe::new(Family::Paper, 3).size(40, 400).noise(0.25).seed(2);
        let outcome = ProfileOutcome {
            found: 3,
            inf1: 0.0123456,
            mean_l1: 0.01,
            rmse: 1.23e-5,
            seconds: 0.5,
            two_epochs: 0.625,
            diagonal: Some(Diagonal { ones: 1, last: 0.33, top: 2 }),
        };
        let run = |contender, outcome| ProfileRun { recipe: recipe.clone(), contender, outcome };
        let bare = ProfileOutcome { diagonal: None, inf1: 0.012346, ..outcome };
        ProfileRuns {
            remarks: vec!["a machine".into()],
            runs: vec![
                run(Contender::Auto, None),
                run(Contender::Spa, Some(bare)),
                run(Contender::Lp, Some(ProfileOutcome { inf1: 0.012346, ..outcome })),
            ],
        }
    }

    #[test]
    fn files_lead_back() {
        let mut runs = example();
        assert_eq!(ProfileRuns::from_csv(&runs.to_csv(), false).unwrap(), runs);
        runs.sort();
        assert_eq!(runs.runs[0].contender, Contender::Lp);
    }

    #[test]
    fn a_torn_last_line_is_done_again() {
        let text = example().to_csv();
        let torn = &text[..text.len() - 5];
        assert!(ProfileRuns::from_csv(torn, false).unwrap_err().to_string().contains("line 5"));
        assert_eq!(ProfileRuns::from_csv(torn, true).unwrap().runs.len(), 2);
        assert!(ProfileRuns::from_csv("", true).unwrap().runs.is_empty());
    }

    #[test]
    fn other_files_are_refused() {
        assert!(
            ProfileRuns::from_csv("a,b\n1,2\n", false).unwrap_err().to_string().contains("line 1")
        );
        assert!(ProfileRuns::from_csv("", false).is_err());
        let wrong = example().to_csv().replace("spa", "nobody");
        assert!(
            format!("{:#}", ProfileRuns::from_csv(&wrong, false).unwrap_err()).contains("nobody")
        );
    }
}
