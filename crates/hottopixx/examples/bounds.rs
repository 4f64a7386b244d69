//! How good can any choice of rows be? Bounds that an independent verifier has checked.
//!
//!     cargo run --release -p hottopixx --example bounds

use hottopixx::synth::{Family, Recipe};
use hottopixx::{Error, Factor, Method};

fn main() -> Result<(), Error> {
    // Four topics, one of them near a mixture of others, under noise.
    let instance = Recipe::new(Family::Midpoints, 4).size(60, 200).noise(0.2).seed(1).generate()?;
    let factor = Factor::new(4);

    let greedy = factor.clone().method(Method::Spa).run(&instance.matrix)?;
    println!("spa      largest error {:.4}", greedy.errors.inf1);

    let certified = factor.method(Method::Minimax).certify(&instance.matrix, None)?;
    println!("minimax  largest error {:.4}", certified.answer.errors.inf1);
    match certified.bounds {
        Some(bounds) => println!(
            "no choice of 4 rows is below {:.4} ({}, gap {:.1e})",
            bounds.lower_bound,
            bounds.status.name(),
            bounds.gap
        ),
        None => println!("there was no time to verify a bound"),
    }
    println!("recall of the planted rows: {:.0} %", 100.0 * recall(&instance, &certified.answer));
    Ok(())
}

fn recall(instance: &hottopixx::synth::Instance, answer: &hottopixx::Factorization) -> f64 {
    let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    instance.truth.recall(&rows)
}
