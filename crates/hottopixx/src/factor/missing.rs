//! Entries that were not observed: refused, or left out of fits and errors.
//!
//! NaN means *not observed* with [`Missing::Observed`]. The matrix is completed first (`complete`), once for the
//! whole run; from then on rows as candidates for hott rows are completed ones, while rows that are to be
//! explained are their observed entries alone ([`UnitRows::observing`]). So every statement, the bound included, is
//! about observed entries explained by completed rows.

use super::{Factor, Factorization, Method, Outliers};
use crate::Error;
use crate::clean::Cleaning;
use crate::complete::complete;
use crate::matrix::{Gaps, Matrix};
use crate::normalise::UnitRows;
use std::borrow::Cow;

/// What becomes of entries that are NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// The matrix is refused, with the first of them named.
    #[default]
    Refuse,
    /// They were not observed: neither fits nor errors count them.
    Observed,
}

impl Missing {
    /// Both, in the order in which they are listed to users.
    pub const ALL: [Missing; 2] = [Missing::Refuse, Missing::Observed];

    /// The name on the command line and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Missing::Refuse => "refuse",
            Missing::Observed => "observed",
        }
    }
}

impl std::str::FromStr for Missing {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        crate::error::one_of("missing", name, Missing::ALL, Missing::name)
    }
}

/// What was not observed, and what was put in its place for hott rows.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Completion {
    /// Entries that were not observed.
    pub entries: usize,
    /// Rows that have such entries.
    pub rows: usize,
    /// The input with guesses in their places: a nonnegative model of the rank that was asked for, by least squares over
    /// what was observed. Rows of which nothing above zero was observed have zeros.
    #[serde(skip)]
    pub matrix: Matrix,
}

/// The matrix as the steps need it.
pub(super) struct Completed<'a> {
    pub matrix: Cow<'a, Matrix>,
    gaps: Option<Gaps>,
}

impl<'a> Completed<'a> {
    /// A matrix in which nothing is missing.
    fn whole(matrix: &'a Matrix) -> Self {
        Completed { matrix: Cow::Borrowed(matrix), gaps: None }
    }

    /// X.
    pub fn unit_rows(&self) -> Result<UnitRows, Error> {
        let x = UnitRows::new(&self.matrix)?;
        Ok(match &self.gaps {
            Some(gaps) => x.observing(gaps.clone()),
            None => x,
        })
    }

    /// The answer with what is to be told about it.
    pub fn told_with(self, mut answer: Factorization) -> Factorization {
        let Some(gaps) = self.gaps else { return answer };
        let (entries, cols) = (gaps.count(), self.matrix.cols());
        let missing = |i: &usize| gaps.row(*i).len();
        let rows = (0..gaps.rows()).filter(|i| missing(i) > 0).count();
        let rank = answer.hott.len();
        let few = (0..gaps.rows()).filter(|i| missing(i) > 0 && cols - missing(i) <= rank).count();
        let whole = gaps.rows() * cols;
        answer.notes.push(format!(
            "{entries} of {whole} entries were not observed, in {rows} of {} rows: errors are those of the others, in \
             shares of their sums, and hott rows were completed.",
            gaps.rows()
        ));
        if few > 0 {
            answer.notes.push(format!(
                "{few} of these rows have no more observed entries than there are hott rows: that they are explained \
                 says nothing."
            ));
        }
        let matrix = self.matrix.into_owned();
        answer.completion = Some(Completion { entries, rows, matrix });
        answer
    }
}

impl Factor {
    /// The matrix, completed where entries are missing and that is asked for.
    ///
    /// # Errors
    /// [`Error::Setting`] for a method or a cleaning that cannot leave entries out; bad entries as
    /// [`Factor::run`] does.
    pub(super) fn completed<'a>(&self, matrix: &'a Matrix) -> Result<Completed<'a>, Error> {
        let Some((zeros, gaps)) = self.observed(matrix)? else {
            return Ok(Completed::whole(matrix));
        };
        let completed = complete(&zeros, &gaps, self.model_rank(matrix.rows()), &self.control);
        Ok(Completed { matrix: Cow::Owned(completed), gaps: Some(gaps) })
    }

    /// Factors of the model that completes: one for each hott row, and for outliers, which would else take theirs.
    fn model_rank(&self, rows: usize) -> usize {
        let more = match self.outliers {
            None => 0,
            Some(Outliers::Count(count)) => count,
            Some(Outliers::Auto) => rows.div_ceil(10).min(2 * self.rank),
        };
        self.rank.saturating_add(more)
    }

    /// Rows above others that are whole, without completing them: enough where only the others are hott.
    pub(super) fn above<'a>(&self, rows: &Matrix, whole: &Matrix) -> Result<Completed<'a>, Error> {
        let Some((zeros, gaps)) = self.observed(rows)? else {
            rows.check_nonnegative()?;
            return Ok(Completed { matrix: Cow::Owned(rows.above(whole)?), gaps: None });
        };
        let matrix = Cow::Owned(zeros.above(whole)?);
        Ok(Completed { matrix, gaps: Some(gaps.with_whole_rows(whole.rows())) })
    }

    /// For statements about all entries: an error where some are missing and that was to be allowed. (Where it was not,
    /// the first of them is refused.)
    pub(super) fn refuse_missing(&self, matrix: &Matrix) -> Result<(), Error> {
        let missing = matrix.check_nonnegative().is_err() && matrix.check_observed().is_ok();
        if self.missing == Missing::Refuse || !missing {
            return Ok(());
        }
        let (name, value) = ("missing", Missing::Observed.name().to_string());
        let remedy = "factoring, evaluating and applying leave entries out; certificates, the rank needed and \
                      comparisons are about all entries, so fill them or drop their rows or columns first";
        Err(Error::Setting { name, value, remedy: remedy.to_string() })
    }

    /// The matrix with zeros in the place of missing entries, and these; `None` where nothing is missing, or it is
    /// to be refused.
    fn observed(&self, matrix: &Matrix) -> Result<Option<(Matrix, Gaps)>, Error> {
        let asked = self.missing == Missing::Observed;
        let Some((zeros, gaps)) = asked.then(|| matrix.split_observed()).flatten() else {
            return Ok(None);
        };
        matrix.check_observed()?;
        let refuse = |what: String| {
            let value = Missing::Observed.name().to_string();
            Err(Error::Setting { name: "missing", value, remedy: what })
        };
        if !self.method.leaves_entries_out() {
            let able = Method::ALL.iter().filter(|method| method.leaves_entries_out());
            let able: Vec<&str> = able.map(|method| method.name()).collect();
            return refuse(format!(
                "the method {} is about all entries; choose one of {}",
                self.method,
                able.join(", ")
            ));
        }
        if self.cleaning == Cleaning::Incremental {
            return refuse(
                "incremental cleaning needs all entries; choose exact or least-squares".to_string(),
            );
        }
        if self.example_weights.is_some() {
            return refuse("weights of examples need all entries; leave them out".to_string());
        }
        Ok(Some((zeros, gaps)))
    }
}
