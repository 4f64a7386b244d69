//! The folder that `certify --out` writes: what stands in it, and whether it says the same throughout.

use super::JSON;
use crate::commands::certify::{Written, WrittenChoice};
use crate::failure::Failure;
use crate::json;
use crate::output;
use hottopixx::Bounds;
use hottopixx::certify::{Certificate, ChoiceCertificate, ChoiceCut, Verified};
use hottopixx::matrix::{Matrix, Sparse};
use hottopixx::normalise::UnitRows;
use hottopixx_io::{LoadOptions, Source, load_signed};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// How far X of the folder may be from the data: it was rounded once or twice.
const SAME: f64 = 1e-12;
/// How far a figure that is printed in certificate.json may be from what is found.
const AGREEMENT: f64 = 1e-9;

/// The figures that a reader of certificate.json sees first.
#[derive(Deserialize)]
pub(super) struct Stated {
    pub certificate: Figures,
}

#[derive(Deserialize)]
pub(super) struct Figures {
    #[serde(flatten)]
    pub claims: Bounds,
    pub choice_bound: Option<f64>,
}

/// The folder of a certificate.
pub(super) struct CertificateFolder<'a> {
    pub path: &'a Path,
    pub memory: Option<u64>,
}

impl CertificateFolder<'_> {
    pub fn wrong(&self, file: &str, what: impl std::fmt::Display) -> Failure {
        Failure::Wrong(format!("{}: {what}", self.path.join(file).display()))
    }

    /// A part of certificate.json.
    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, Failure> {
        let remedy = "give the folder that 'hottopixx certify --out' wrote";
        json::read(&self.path.join(JSON))
            .map_err(|what| self.wrong(JSON, format!("{what}: {remedy}")))
    }

    /// Whether the figures that certificate.json prints are those found.
    pub fn check_stated(&self, stated: &Figures, found: &Verified) -> Result<(), Failure> {
        let stated = &stated.claims;
        for (what, stated, found) in [
            ("the objective", stated.objective, found.objective),
            ("the lower bound", stated.lower_bound, found.lower_bound),
            ("the gap", stated.gap, found.gap),
            ("the trace", stated.trace, found.trace),
        ] {
            if (stated - found).abs() > AGREEMENT * found.abs().max(1.0) {
                let sentence = format!("refused: {what} is {found}, and the file says {stated}");
                return Err(self.wrong(JSON, sentence));
            }
        }
        Ok(())
    }

    /// The matrix of this name.
    fn matrix(&self, stem: &str) -> Result<Matrix, Failure> {
        let path = self.file(stem).ok_or_else(|| {
            self.wrong(&format!("{stem}.npz"), "the file is not there: run 'certify' again")
        })?;
        let options = LoadOptions { max_bytes: self.memory, ..LoadOptions::default() };
        Ok(load_signed(&Source::path(&path), &options)?)
    }

    fn file(&self, stem: &str) -> Option<PathBuf> {
        let names = output::matrix_files(&[stem]);
        names.iter().map(|name| self.path.join(name)).find(|path| path.exists())
    }

    /// Whether X of the folder, if there is one, is what the data give.
    pub fn check_x(&self, x: &UnitRows) -> Result<(), Failure> {
        let Some(path) = self.file("X") else { return Ok(()) };
        let found = self.matrix("X")?;
        let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let refuse = |what: String| {
            let sentence = "the data are not those that were certified, or the file was changed";
            self.wrong(&file, format!("refused: {what}: {sentence}"))
        };
        if (found.rows(), found.cols()) != (x.features(), x.examples()) {
            return Err(refuse(format!(
                "{} x {} numbers, but the data have {} x {}",
                found.rows(),
                found.cols(),
                x.features(),
                x.examples()
            )));
        }
        let mut difference = vec![0.0; x.examples()];
        for i in 0..x.features() {
            x.row(i).add_to(1.0, &mut difference);
            found.row(i).add_to(-1.0, &mut difference);
            if let Some(k) = difference.iter().position(|d| d.abs() > SAME) {
                return Err(refuse(format!("row {i}, column {k} differs")));
            }
            difference.fill(0.0);
        }
        Ok(())
    }

    /// d, C and Y, with shapes that fit X.
    pub fn certificate(&self, x: &UnitRows, written: Written) -> Result<Certificate, Failure> {
        let (f, n) = (x.features(), x.examples());
        let d = self.shaped("d", f, 1)?;
        let c = self.shaped("C", f, f)?;
        let y = self.shaped("Y", f, n)?;
        // Rows of Y take memory only where they have entries, and n is that of the data.
        let dual = (0..f).filter(|&i| y.row(i).nonzeros().next().is_some()).map(|i| {
            let mut row = vec![0.0; n];
            y.row(i).nonzeros().for_each(|(k, value)| row[k] = value);
            (i, row)
        });
        Ok(Certificate {
            goal: written.program.goal,
            rank: written.program.trace,
            cost: written.cost,
            allowed: written.allowed,
            // `certify` knows no such rows.
            must: Vec::new(),
            diagonal: (0..f).map(|i| d.row(i).sum()).collect(),
            localising: sparse(&c).map_err(|error| self.wrong("C.npz", error))?,
            dual: dual.collect(),
            claims: written.claims,
        })
    }

    /// The certificate for choices, whose cuts stand in a file of their own.
    pub fn choice_certificate(
        &self,
        x: &UnitRows,
        written: &Written,
    ) -> Result<Option<ChoiceCertificate>, Failure> {
        let Some(choice) = &written.choice_certificate else { return Ok(None) };
        let WrittenChoice { rank, threshold, rows, multipliers } = choice;
        if rows.len() != multipliers.len() {
            let what = "refused: choice_certificate has not one multiplier for each row";
            return Err(self.wrong(JSON, what));
        }
        let y = self.shaped(output::CHOICE, rows.len(), x.examples())?;
        let cuts = rows.iter().zip(multipliers).enumerate().map(|(at, (&row, &multiplier))| {
            let mut cut = vec![0.0; x.examples()];
            y.row(at).write_to(1.0, &mut cut);
            ChoiceCut { row, y: cut, multiplier }
        });
        Ok(Some(ChoiceCertificate {
            rank: *rank,
            allowed: written.allowed.clone(),
            threshold: *threshold,
            cuts: cuts.collect(),
        }))
    }

    /// Whether the bound for choices that certificate.json prints is the one proven; none means 0.
    pub fn check_choice(&self, stated: Option<f64>, found: Option<f64>) -> Result<(), Failure> {
        let (stated, found) = (stated.unwrap_or(0.0), found.unwrap_or(0.0));
        if (stated - found).abs() <= AGREEMENT {
            return Ok(());
        }
        let sentence =
            format!("refused: the bound for choices is {found}, and the file says {stated}");
        Err(self.wrong(JSON, sentence))
    }

    fn shaped(&self, stem: &str, rows: usize, cols: usize) -> Result<Matrix, Failure> {
        let found = self.matrix(stem)?;
        if (found.rows(), found.cols()) == (rows, cols) {
            return Ok(found);
        }
        Err(Failure::Wrong(format!(
            "{}: refused: {stem} has {} x {} numbers, and the data ask for {rows} x {cols}",
            self.path.display(),
            found.rows(),
            found.cols()
        )))
    }
}

fn sparse(matrix: &Matrix) -> Result<Sparse, hottopixx::Error> {
    if let Matrix::Sparse(matrix) = matrix {
        return Ok(matrix.clone());
    }
    let entries = |i: usize| matrix.row(i).nonzeros().map(move |(j, value)| (i, j, value));
    let triplets: Vec<_> = (0..matrix.rows()).flat_map(entries).collect();
    Sparse::from_triplets(matrix.rows(), matrix.cols(), &triplets)
}
