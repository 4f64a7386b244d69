//! `hottopixx generate`: a matrix whose answer is known, and the truth beside it.

use crate::args;
use crate::commands::evaluate;
use crate::failure::{Failure, print};
use crate::output;
use hottopixx::matrix::{Dense, Matrix, Sparse};
use hottopixx::synth::Recipe;
use hottopixx_io::write;
use hottopixx_report::text::grouped;

/// Makes the instance and writes both files.
pub fn run(args: &args::GenerateArgs) -> Result<(), Failure> {
    let extension = args.out.extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("npy" | "npz" | "hpx")) {
        return Err(Failure::Wrong(format!(
            "{}: unknown extension: let --out end in .npy, .npz for a sparse matrix, or .hpx",
            args.out.display()
        )));
    }
    let truth = args.out.with_extension("truth.json");
    let is_ours = || evaluate::read_truth(&truth).is_ok();
    if let Some(taken) = [&args.out, &truth].into_iter().find(|path| path.exists())
        && !is_ours()
    {
        return Err(Failure::Wrong(format!(
            "{} exists and was not written by 'hottopixx generate': choose another name for --out, \
             or move the file away",
            taken.display()
        )));
    }
    [&args.out, &truth].into_iter().for_each(write::remove_orphans);
    let recipe = recipe(args);
    let instance = recipe.generate().map_err(|error| {
        Failure::Wrong(format!("cannot generate {}: {error}", args.family.name()))
    })?;
    match (&instance.matrix, extension) {
        (matrix, Some("hpx")) => write::hpx(&args.out, matrix, None, None)?,
        (Matrix::Dense(matrix), Some("npy")) => write::npy(&args.out, matrix)?,
        (Matrix::Sparse(matrix), Some("npy")) => write::npy(&args.out, &dense(matrix))?,
        (Matrix::Sparse(matrix), _) => write::npz(&args.out, matrix)?,
        (Matrix::Dense(_), _) => write::npz(&args.out, &sparsified(&instance.matrix)?)?,
    }
    write::bytes(&truth, output::json(&instance.truth))?;
    if args.quiet {
        return Ok(());
    }
    let pixels =
        instance.truth.shape.map(|(height, width)| format!(" ({height} x {width} pixels)"));
    print(&format!(
        "{}: {} x {}{}, {} nonzeros, rank {}; the truth is in {}\n",
        args.out.display(),
        grouped(instance.matrix.rows()),
        grouped(instance.matrix.cols()),
        pixels.unwrap_or_default(),
        grouped(instance.matrix.nonzeros()),
        args.rank,
        truth.display()
    ))
}

/// The family's defaults, changed where the user says so.
fn recipe(args: &args::GenerateArgs) -> Recipe {
    let usual = Recipe::new(args.family, args.rank);
    Recipe {
        features: args.features.unwrap_or(usual.features),
        examples: args.examples.unwrap_or(usual.examples),
        duplicates: args.duplicates.unwrap_or(usual.duplicates),
        noise: args.noise.unwrap_or(usual.noise),
        ill: args.ill.unwrap_or(usual.ill),
        tokens: args.tokens.unwrap_or(usual.tokens),
        seed: args.seed,
        ..usual
    }
}

fn dense(matrix: &Sparse) -> Dense {
    let mut out = Dense::zeros(matrix.rows(), matrix.cols());
    for i in 0..matrix.rows() {
        let (columns, values) = matrix.row(i);
        for (&k, &value) in columns.iter().zip(values) {
            out.row_mut(i)[k as usize] = value;
        }
    }
    out
}

fn sparsified(matrix: &Matrix) -> Result<Sparse, Failure> {
    let entries = |i: usize| matrix.row(i).nonzeros().map(move |(k, value)| (i, k, value));
    let triplets: Vec<(usize, usize, f64)> = (0..matrix.rows()).flat_map(entries).collect();
    Sparse::from_triplets(matrix.rows(), matrix.cols(), &triplets)
        .map_err(|error| Failure::Wrong(error.to_string()))
}
