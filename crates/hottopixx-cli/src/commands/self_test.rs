//! `hottopixx self-test`: small instances with known answers through every method, on this machine.

use crate::failure::{Failure, print};
use crate::version;
use hottopixx::certify::verify;
use hottopixx::control::Control;
use hottopixx::matrix::{Dense, Matrix, Sparse};
use hottopixx::synth::{Family, Instance, Recipe};
use hottopixx::text::{Counter, Reading};
use hottopixx::topics::Topics;
use hottopixx::unmix::Unmix;
use hottopixx::{Error, Factor, Factorization, Method};
use hottopixx_io::{LoadOptions, Source, load, write};
use hottopixx_study::audit;
use hottopixx_study::scenes::ExampleScene;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Hott rows of the instance.
const RANK: usize = 3;
/// Spectra of the sample scene must be nearer to the truth than this, in degrees.
const MOST_DEGREES: f64 = 3.0;

/// What a check found: figures for the user, or what is wrong.
type Outcome = Result<String, String>;

/// Runs all checks, a line each; exit code 1 when one fails.
pub fn run(started: Instant) -> Result<(), Failure> {
    print(&format!("hottopixx {}, {}\n", env!("CARGO_PKG_VERSION"), version::processor()))?;
    let instance = instance().map_err(Failure::of_setting)?;
    let mut failed: Vec<String> = Vec::new();
    let mut count = 0;
    let mut tell = |name: &str, outcome: Outcome| {
        count += 1;
        let (word, said) = match outcome {
            Ok(said) => ("ok    ", said),
            Err(said) => {
                failed.push(name.to_owned());
                ("FAILED", said)
            }
        };
        print(&format!("{word}  {name:<18} {said}\n"))
    };
    for method in Method::ALL {
        tell(&format!("method {}", method.name()), of_method(&instance, method))?;
    }
    tell("sparse", sparse(&instance))?;
    tell("threads", threads(&instance))?;
    tell("optimum", optimum())?;
    tell("certificate", certificate(&instance))?;
    tell("topics", topics())?;
    tell("unmix", unmix())?;
    tell("files", files(&instance))?;
    let seconds = started.elapsed().as_secs_f64();
    if failed.is_empty() {
        return print(&format!("All {count} checks passed in {seconds:.1} s.\n"));
    }
    Err(Failure::Wrong(format!(
        "{} of {count} checks failed ({}): do not trust this installation; report these lines",
        failed.len(),
        failed.join(", ")
    )))
}

fn instance() -> Result<Instance, Error> {
    Recipe::new(Family::Paper, RANK).size(24, 60).noise(0.25).seed(1).generate()
}

/// The settings of a method, with what it must be told.
fn settings(instance: &Instance, method: Method) -> Factor {
    let factor = Factor::new(RANK).method(method).tau(0.1);
    let epsilon = instance.truth.epsilon.unwrap_or_default();
    let alpha = instance.truth.alpha.unwrap_or_default();
    factor.epsilon(epsilon).alpha(alpha).only_used()
}

fn answered(instance: &Instance, method: Method) -> Result<Factorization, String> {
    settings(instance, method).run(&instance.matrix).map_err(|error| error.to_string())
}

/// The planted rows are found, the errors are those that F, W and X have, and no bound is above them.
fn of_method(instance: &Instance, method: Method) -> Outcome {
    let answer = answered(instance, method)?;
    let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    let found = instance.truth.recovered(&rows);
    if found != RANK || rows.len() != RANK {
        return Err(format!("rows {rows:?}, and {:?} are planted", instance.truth.hott));
    }
    let said = [answer.errors.mean_l1, answer.errors.inf1, answer.errors.rmse];
    for ((name, real), said) in
        audit::errors(&instance.matrix, &answer.f, &answer.w).into_iter().zip(said)
    {
        let agree = (real - said).abs() <= audit::AGREEMENT;
        if !agree {
            return Err(format!("{name} is {real}, and {said} is said"));
        }
    }
    Ok(format!("{found} of {RANK} rows, mean error {:.6} as computed again", answer.errors.mean_l1))
}

/// The same matrix without its zeros has the same answer.
fn sparse(instance: &Instance) -> Outcome {
    let entries = |i: usize| instance.matrix.row(i).nonzeros().map(move |(k, value)| (i, k, value));
    let triplets: Vec<_> = (0..instance.matrix.rows()).flat_map(entries).collect();
    let matrix = Sparse::from_triplets(instance.matrix.rows(), instance.matrix.cols(), &triplets);
    let matrix = Matrix::from(matrix.map_err(|error| error.to_string())?);
    let other = Instance { matrix, truth: instance.truth.clone() };
    let (dense, sparse) = (answered(instance, Method::Auto)?, answered(&other, Method::Auto)?);
    let gap = (dense.errors.mean_l1 - sparse.errors.mean_l1).abs();
    if gap <= audit::AGREEMENT {
        Ok("the same error as dense".to_owned())
    } else {
        Err(format!("errors differ by {gap:e} from dense"))
    }
}

/// The bytes of the answer do not depend on the number of threads.
fn threads(instance: &Instance) -> Outcome {
    let with = |threads: usize| {
        let answer = settings(instance, Method::Auto).threads(threads).run(&instance.matrix);
        answer.map_err(|error| error.to_string())
    };
    let (one, many) = (with(1)?, with(4)?);
    if bits(&one.f) == bits(&many.f) && bits(&one.w) == bits(&many.w) {
        Ok("the same bytes on 1 and 4".to_owned())
    } else {
        Err("other bytes on 4 than on 1".to_owned())
    }
}

fn bits(matrix: &Matrix) -> Vec<(usize, usize, u64)> {
    let row = |i: usize| matrix.row(i).nonzeros().map(move |(k, value)| (i, k, value.to_bits()));
    (0..matrix.rows()).flat_map(row).collect()
}

/// An instance whose best rows can be seen: the third is half of the first and half of the second.
fn optimum() -> Outcome {
    let rows = [[8.0, 2.0, 0.0], [0.0, 3.0, 9.0], [4.0, 2.5, 4.5]];
    let matrix = Dense::from_rows(&rows).map_err(|error| error.to_string())?.into();
    let answer = Factor::new(2).run(&matrix).map_err(|error| error.to_string())?;
    let mut found: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    found.sort_unstable();
    if found == [0, 1] && answer.errors.inf1 < 1e-12 {
        Ok("rows 0 and 1 explain the third exactly".to_owned())
    } else {
        Err(format!("rows {found:?} with an error of {:e}", answer.errors.inf1))
    }
}

/// The verifier takes a certificate, and refuses one that was changed.
fn certificate(instance: &Instance) -> Outcome {
    let certified = Factor::new(RANK).method(Method::Minimax).certify(&instance.matrix, None);
    let mut certified = certified.map_err(|error| error.to_string())?;
    let verified = certified.verified.map_err(|refusal| refusal.to_string())?;
    let is_below = verified.lower_bound <= certified.bounded_inf1 * (1.0 + 1e-9);
    if !is_below {
        let found = certified.bounded_inf1;
        return Err(format!("bound {}, and rows have {found}", verified.lower_bound));
    }
    let largest = certified.certificate.diagonal.iter().copied().fold(0.0, f64::max);
    let at = certified.certificate.diagonal.iter().position(|d| *d == largest).unwrap_or(0);
    certified.certificate.diagonal[at] += 0.25;
    match verify(&certified.x, &certified.certificate, &Control::default()) {
        Err(_) => Ok(format!("bound {:.6} verified, a changed one refused", verified.lower_bound)),
        Ok(_) => Err("a certificate that was changed is taken".to_owned()),
    }
}

/// Two kinds of documents come apart.
fn topics() -> Outcome {
    let documents: Vec<String> = (0..120)
        .map(|d| match d % 2 {
            0 => format!("oil price barrel market week{}", d % 7),
            _ => format!("court judge trial verdict week{}", d % 5),
        })
        .collect();
    let fitted = || -> Result<_, Error> {
        let mut counter = Counter::new(Reading::default())?;
        counter.add(&documents)?;
        Topics::new(2).fit(&counter.finish()?)
    };
    let model = fitted().map_err(|error| error.to_string())?;
    let first = |d: usize| model.shares.row(d)[0];
    let sure = (0..120).filter(|d| (first(*d) > 0.5) == (first(d % 2) > 0.5)).count();
    if sure == 120 && (first(0) > 0.5) != (first(1) > 0.5) {
        Ok("120 of 120 documents with their kind".to_owned())
    } else {
        Err(format!("{sure} of 120 documents with their kind"))
    }
}

/// The materials of the sample scene are found.
fn unmix() -> Outcome {
    let scene = ExampleScene::new();
    let settings = Unmix::new(scene.spectra.len()).shape(scene.shape.0, scene.shape.1);
    let found = settings.run(&scene.pixels).map_err(|error| error.to_string())?;
    let spectra: Vec<Vec<f64>> = found.materials.into_iter().map(|m| m.spectrum).collect();
    let angle = scene.angle(&spectra);
    let said = format!("{angle:.2} degrees from the true spectra");
    if angle < MOST_DEGREES { Ok(said) } else { Err(said) }
}

/// What is written is read again as it was.
fn files(instance: &Instance) -> Outcome {
    let folder = std::env::temp_dir().join(format!("hottopixx-self-test-{}", std::process::id()));
    let result = fs::create_dir_all(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))
        .and_then(|()| written(&folder, &instance.matrix));
    let _ = fs::remove_dir_all(&folder);
    result
}

fn written(folder: &Path, matrix: &Matrix) -> Outcome {
    let Matrix::Dense(dense) = matrix else { return Err("the instance is sparse".to_owned()) };
    let text = |error: hottopixx_io::Error| error.to_string();
    write::npy(folder.join("X.npy"), dense).map_err(text)?;
    write::hpx(folder.join("X.hpx"), matrix, None, None).map_err(text)?;
    let lines = (0..dense.rows()).map(|i| {
        let cells: Vec<String> = dense.row(i).iter().map(|value| format!("{value:?}")).collect();
        cells.join(",") + "\n"
    });
    write::bytes(folder.join("X.csv"), lines.collect::<String>()).map_err(text)?;
    for name in ["X.npy", "X.hpx", "X.csv"] {
        let back = load(&Source::path(folder.join(name)), &LoadOptions::default()).map_err(text)?;
        if bits(&back.matrix) != bits(matrix) {
            return Err(format!("{name} is not read as it was written"));
        }
    }
    Ok(".npy, .hpx and .csv read as they were written".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other planted rows than those in the data are a failure, not an answer.
    #[test]
    fn a_wrong_answer_is_noticed() {
        let mut instance = instance().unwrap();
        assert!(of_method(&instance, Method::Spa).is_ok());
        let other = (0..24).find(|row| !instance.truth.hott.contains(row)).unwrap();
        instance.truth.groups[0] = vec![other];
        let said = of_method(&instance, Method::Spa).unwrap_err();
        assert!(said.contains("are planted"), "{said}");
    }
}
