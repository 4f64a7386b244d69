//! The paper's last figure: test error of a linear SVM against the number of hott features, beside
//! the line of all features.

mod linear;

pub use linear::LinearSvm;

use crate::{ProgressWatch, real};
use anyhow::{Result, bail};
use hottopixx::matrix::Matrix;
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Cleaning, Error, Factor, Method, text};
use hottopixx_report::page::Section;
use hottopixx_report::plot::{Axis, Chart, Series};
use hottopixx_report::table::{Align, Table};
use hottopixx_report::text::percent;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use std::path::Path;

/// A matrix whose examples have one of two classes; the first `train` of them train.
#[derive(Debug, Clone)]
pub struct Labelled {
    /// What it is called.
    pub name: String,
    /// Features x examples.
    pub matrix: Matrix,
    /// The class of every example.
    pub positive: Vec<bool>,
    /// Examples that train.
    pub train: usize,
}

impl Labelled {
    /// Examples with these labels are positive, by default those with the largest; two thirds of
    /// the examples train.
    ///
    /// # Errors
    /// When the numbers do not fit each other or one class is empty.
    pub fn new(
        name: &str,
        matrix: Matrix,
        labels: &[f64],
        positive: &[f64],
        train: Option<usize>,
    ) -> Result<Self> {
        let examples = matrix.cols();
        if labels.len() != examples {
            bail!("{name}: {} labels for {examples} examples", labels.len());
        }
        let train = train.unwrap_or(2 * examples / 3);
        if train == 0 || train >= examples {
            bail!("{name}: {train} of {examples} examples train: leave some to test, --train");
        }
        let largest = labels.iter().copied().fold(f64::MIN, f64::max);
        let yes = |label: &f64| match positive {
            [] => *label == largest,
            some => some.contains(label),
        };
        let positive: Vec<bool> = labels.iter().map(yes).collect();
        if positive[..train].iter().all(|p| *p == positive[0]) {
            bail!("{name}: all examples that train are of one class: choose others by --positive");
        }
        Ok(Labelled { name: name.to_owned(), matrix, positive, train })
    }

    /// A made-up corpus of 20 topics; the class is whether the first ten outweigh the others.
    ///
    /// # Errors
    /// When it cannot be generated, which it can.
    pub fn made_up() -> Result<Self> {
        let recipe = Recipe::new(Family::Multinomial, 20).size(1500, 3000).tokens(80);
        let instance = recipe.generate()?;
        let factor = Factor::new(20).cleaning(Cleaning::LeastSquares);
        let truth = factor.evaluate(&instance.matrix, instance.truth.oracle())?;
        let given = text::topic_given_word(&truth.f, &truth.w)?;
        let shares = text::document_topics(&instance.matrix, &given)?;
        let score = |i: usize| -> f64 {
            let first = shares.row(i).nonzeros().filter(|(k, _)| *k < 10).map(|(_, v)| v);
            first.sum::<f64>() / shares.row(i).sum().max(f64::MIN_POSITIVE)
        };
        let scores: Vec<f64> = (0..shares.rows()).map(score).collect();
        let middle = crate::clock::median(&scores);
        let labels: Vec<f64> = scores.iter().map(|s| f64::from(*s > middle)).collect();
        Labelled::new("made-up corpus", instance.matrix, &labels, &[], Some(2000))
    }

    /// The data sets that the folder has, documents x words with labels.
    ///
    /// # Errors
    /// When a file is there but cannot be read.
    pub fn from_folder(folder: &Path) -> Result<Vec<Self>> {
        // comp.* of the 20 newsgroups are classes 2 to 6.
        let known: [(&str, &[f64], usize); 2] =
            [("newsgroups20", &[2.0, 3.0, 4.0, 5.0, 6.0], 11_269), ("rcv1_vw", &[1.0], 1000)];
        let mut found = Vec::new();
        for (name, positive, train) in known {
            let folder = folder.join(name);
            if folder.join("X.npz").is_file() {
                let matrix = real::load(&folder.join("X.npz"), true, None)?;
                let labels = hottopixx_io::read_numbers(folder.join("labels.txt"), None)?;
                found.push(Labelled::new(name, matrix, &labels, positive, Some(train))?);
            }
        }
        Ok(found)
    }

    /// Only features that occur in a few of the examples that train: the others look extreme
    /// because they are noisy.
    fn frequent(mut self) -> Self {
        let least = (self.train / 500).max(5);
        let frequency = text::document_frequency(&self.first_examples());
        let keep: Vec<usize> = (0..frequency.len()).filter(|&i| frequency[i] >= least).collect();
        self.matrix = self.matrix.select_rows(&keep);
        self
    }

    /// Features x the examples that train.
    fn first_examples(&self) -> Matrix {
        let first: Vec<usize> = (0..self.train).collect();
        self.matrix.transpose().select_rows(&first).transpose()
    }

    /// Test error when the examples are described by these numbers (examples x anything).
    fn test_error(&self, described: &Matrix) -> f64 {
        let machine = LinearSvm::train(described, &self.positive[..self.train]);
        machine.error(described, &self.positive, self.train)
    }
}

/// How examples are described by few numbers, and which look the curve has.
const CURVES: [(&str, usize); 5] = [
    ("hott features alone, Hottopixx", 0),
    ("hott features alone, SPA", 7),
    ("all, by hott features, Hottopixx", 2),
    ("all, by hott features, SPA", 5),
    ("features at random", 6),
];

/// Test error against the number of features for every data set; `None` when stopped.
///
/// # Errors
/// When a matrix cannot be factored.
pub fn section(
    sets: Vec<Labelled>,
    quick: bool,
    watch: &ProgressWatch<'_>,
) -> Result<Option<Section>> {
    let mut section = Section::new("svm", "Features for a classifier");
    section.text(
        "Test error of a linear SVM (squared hinge loss, trained to a proven gap of 0.1 %) that sees \
         only some features, against their number. “Hott features alone” is the paper's experiment: \
         all but the hott features are thrown away. “All, by hott features” describes an example by how \
         much of it each hott feature explains, so that every feature counts. The dotted line is the \
         error with all features. Hott features are found on the examples that train, without their \
         classes.",
    );
    let counts: &[usize] = if quick { &[10, 30] } else { &[10, 20, 50, 100, 200, 400] };
    let total = sets.len() * counts.len();
    for (k, set) in sets.into_iter().enumerate() {
        let set = set.frequent();
        let name = set.name.clone();
        let train = set.first_examples();
        let most = train.rows().min(train.cols());
        let all = set.test_error(&set.matrix.transpose());
        let mut curves: Vec<Vec<(f64, f64)>> = vec![Vec::new(); CURVES.len()];
        for (at, &count) in counts.iter().enumerate().filter(|c| *c.1 < most) {
            for (curve, error) in curves.iter_mut().zip(errors(&set, &train, count)?) {
                curve.push((count as f64, error));
            }
            if !watch(k * counts.len() + at + 1, total) {
                return Ok(None);
            }
        }
        section.heading(&name);
        section.text(format!(
            "{} features, {} examples train and {} test; with all features {} % are classified \
             wrongly.",
            set.matrix.rows(),
            set.train,
            set.positive.len() - set.train,
            percent(all)
        ));
        let series: Vec<Series> = CURVES
            .iter()
            .zip(&curves)
            .map(|((label, look), points)| Series::new(label, *look, points.clone()))
            .collect();
        let high = curves.iter().flatten().map(|p| p.1).fold(all, f64::max);
        let chart = Chart {
            title: format!("Linear SVM on {name}"),
            x: Axis::log("number of features", counts[0] as f64, counts[counts.len() - 1] as f64)
                .ticks_at(&counts.iter().map(|c| *c as f64).collect::<Vec<_>>()),
            y: Axis::linear("test error, share wrong", 0.0, high * 1.05),
            series,
            levels: vec![(format!("all {} features", set.matrix.rows()), all)],
        };
        let file = format!("svm-{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        section.figure(&file, chart, "Lower is better.");
        section.table(format!("Test error on {name}, percent"), table(&curves));
    }
    Ok(Some(section))
}

/// The test errors of all curves with this many features.
fn errors(set: &Labelled, train: &Matrix, count: usize) -> Result<[f64; 5]> {
    let answer = |method: Method| -> Result<[f64; 2], Error> {
        let factor = Factor::new(count).method(method).cleaning(Cleaning::LeastSquares);
        let answer = factor.groups(false).run(train)?;
        let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
        let alone = set.test_error(&set.matrix.select_rows(&rows).transpose());
        let given = text::topic_given_word(&answer.f, &answer.w)?;
        Ok([alone, set.test_error(&text::document_topics(&set.matrix, &given)?)])
    };
    let (ours, spa) = (answer(Method::Hottopixx)?, answer(Method::Spa)?);
    let mut rows: Vec<usize> = (0..set.matrix.rows()).collect();
    rows.shuffle(&mut ChaCha8Rng::seed_from_u64(count as u64));
    rows.truncate(count);
    let guess = set.test_error(&set.matrix.select_rows(&rows).transpose());
    Ok([ours[0], spa[0], ours[1], spa[1], guess])
}

fn table(curves: &[Vec<(f64, f64)>]) -> Table {
    let counts: Vec<String> = curves[0].iter().map(|p| p.0.to_string()).collect();
    let mut columns = vec![("features", Align::Left)];
    columns.extend(counts.iter().map(|count| (count.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for ((label, _), points) in CURVES.iter().zip(curves) {
        let cells = points.iter().map(|p| percent(p.1));
        table.row([(*label).to_owned()].into_iter().chain(cells));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::matrix::Dense;

    #[test]
    fn labels_must_fit() {
        let matrix: Matrix = Dense::from_rows(&[[1.0, 2.0, 3.0, 4.0]]).unwrap().into();
        let set = |labels: &[f64], positive: &[f64], train| {
            Labelled::new("x", matrix.clone(), labels, positive, train)
        };
        let fine = set(&[1.0, 2.0, 1.0, 2.0], &[], Some(2)).unwrap();
        assert_eq!(fine.positive, [false, true, false, true]);
        assert!(set(&[1.0], &[], None).is_err());
        assert!(set(&[1.0, 2.0, 1.0, 2.0], &[], Some(4)).is_err());
        let error = set(&[1.0, 1.0, 2.0, 2.0], &[], Some(2)).unwrap_err().to_string();
        assert!(error.contains("one class"), "{error}");
    }
}
