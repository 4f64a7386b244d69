//! The example of the README.

use hottopixx::{Dense, Error, Factor, Matrix, Method};

fn main() -> Result<(), Error> {
    let x: Matrix = Dense::from_rows(&[
        [8.0, 2.0, 0.0],
        [0.0, 3.0, 9.0],
        [4.0, 2.5, 4.5], // half of the first row, half of the second
    ])?
    .into();
    let answer = Factor::new(2).method(Method::Auto).seed(0).run(&x)?;
    let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    println!("rows {rows:?} explain the rest, mean error {:.3}", answer.errors.mean_l1);
    Ok(())
}
