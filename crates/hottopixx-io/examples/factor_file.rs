//! Factor a file of any format that the command line reads.
//!
//!     cargo run --release -p hottopixx-io --example factor_file -- X.npy 10

use hottopixx::Factor;
use hottopixx_io::{LoadOptions, Source, load};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(rank)) = (arguments.next(), arguments.next()) else {
        return Err("give a file and a rank, such as X.npy 10".into());
    };
    let loaded = load(&Source::path(path), &LoadOptions::default())?;
    let answer = Factor::new(rank.parse()?).run(&loaded.matrix)?;
    for hott in &answer.hott {
        let name = match &loaded.row_names {
            Some(names) => names[hott.row].clone(),
            None => hott.row.to_string(),
        };
        println!("{name}");
    }
    println!("mean error {:.4}, largest {:.4}", answer.errors.mean_l1, answer.errors.inf1);
    Ok(())
}
