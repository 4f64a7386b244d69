//! Words by documents: anchor words as hott rows of the co-occurrence matrix.
//!
//!     cargo run --release -p hottopixx --example sparse_text

use hottopixx::synth::{Family, Recipe};
use hottopixx::{Error, Factor, text};

fn main() -> Result<(), Error> {
    // 200 words in 3000 documents of 100 words each, about five topics.
    let corpus =
        Recipe::new(Family::Multinomial, 5).size(200, 3000).tokens(100).seed(1).generate()?;
    let counts = &corpus.matrix;

    // Rows of counts are too sparse to explain each other; rows of co-occurrences are not.
    let together = text::cooccurrence(counts)?;
    // Rare words look extreme because they are noisy: they may not be hott.
    let common = text::candidates_by_df(counts, 20);

    let answer = Factor::new(5).candidates(common).run(&together)?;
    println!("mean error {:.3}", answer.errors.mean_l1);
    for hott in &answer.hott {
        println!("word {:3}, could as well be one of {:?}", hott.row, hott.group);
    }
    let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    println!("recall of the planted anchors: {:.0} %", 100.0 * corpus.truth.recall(&rows));
    Ok(())
}
