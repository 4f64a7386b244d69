//! What the theorem says about an answer, in words.

use super::Theory;
use super::duplicates::factor;

impl Theory {
    /// What the theorem says about this answer, in words that may be quoted.
    pub fn sentence(&self) -> String {
        let Theory { alpha, epsilon, threshold, .. } = self;
        let rank = self.rank();
        let rows = if rank == 1 { "hott row" } else { "hott rows" };
        let (alpha, least) = (short(*alpha), |d0| format!(" and margin {}", short(d0)));
        let margin = self.margin.map_or(String::new(), least);
        let copies: usize = self.duplicates.iter().map(Vec::len).sum();
        let copies = match copies {
            0 => String::new(),
            1 => " (or the 1 row that counts as a duplicate)".to_string(),
            _ => format!(" (or the {copies} rows that count as their duplicates)"),
        };
        if self.holds {
            return format!(
                "The condition of Theorem 3.2 holds: the data are within epsilon = {epsilon:.3e} \
                 of a separable matrix with these {rank} {rows}, alpha = {alpha}{margin}, and \
                 the limit for epsilon is {threshold:.3e}. Algorithm 3 with tau = 2 epsilon \
                 therefore identifies these {rows}{copies} and explains every row up to an l1 \
                 error of {:.3e}.",
                2.0 * epsilon
            );
        }
        format!("Theorem 3.2 promises nothing for these {rank} {rows}: {}.", self.failure())
    }

    /// Which inequality fails, and by how much.
    fn failure(&self) -> String {
        let Theory { alpha, epsilon, threshold, .. } = self;
        let rank = self.rank();
        if *threshold > 0.0 {
            let limit = match self.margin {
                Some(d0) if d0 < *alpha => format!("alpha d0 = {:.3e}", alpha * d0),
                _ => format!("alpha^2 = {:.3e}", alpha * alpha),
            };
            let divisor = factor(self.duplicates.iter().any(|d| !d.is_empty())) * (rank + 1) as f64;
            return format!(
                "it asks for a separable matrix nearer than {limit} / {divisor} = {threshold:.3e}, \
                 and the one constructed is epsilon = {epsilon:.3e} away, {:.1} times as far as \
                 it may be",
                epsilon / threshold
            );
        }
        if *alpha == 0.0 {
            return "alpha = 0 is all that can be proven, as one of them is a mixture of the \
                    others, or nearly so"
                .to_string();
        }
        "the margin d0 = 0, as one of them is the point of their hull nearest to another row"
            .to_string()
    }
}

/// A few digits.
fn short(value: f64) -> String {
    if value < 1e-3 { format!("{value:.3e}") } else { format!("{value:.3}") }
}
