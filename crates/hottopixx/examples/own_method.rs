//! A method of your own: everything around it (judging, cleaning, limits, results) stays.
//!
//!     cargo run --release -p hottopixx --example own_method

use hottopixx::methods::{Localised, Localiser, Question};
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Error, Factor, Method};

/// Farthest point traversal: always the row that is farthest, in l1, from those chosen before.
#[derive(Debug)]
struct Farthest;

impl Localiser for Farthest {
    fn name(&self) -> &'static str {
        "farthest"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let Question { x, rank, allowed, control, .. } = *question;
        let candidates: Vec<usize> = (0..x.features()).filter(|&i| allowed[i]).collect();
        let mut distance = vec![f64::INFINITY; x.features()];
        let mut rows = vec![candidates[0]];
        while rows.len() < rank && control.goes_on() {
            let last = x.row(rows[rows.len() - 1]);
            for &i in &candidates {
                distance[i] = distance[i].min(x.row(i).l1_distance(last));
            }
            let open = candidates.iter().copied().filter(|i| !rows.contains(i));
            rows.extend(open.max_by(|&a, &b| distance[a].total_cmp(&distance[b])));
        }
        Ok(Localised::rows(self.name(), rows))
    }
}

fn main() -> Result<(), Error> {
    let instance = Recipe::new(Family::Paper, 5).size(80, 300).noise(0.3).seed(2).generate()?;
    let own = Factor::new(5).localiser(Farthest).run(&instance.matrix)?;
    let auto = Factor::new(5).method(Method::Auto).run(&instance.matrix)?;
    println!("farthest  mean error {:.4}", own.errors.mean_l1);
    println!("auto      mean error {:.4}", auto.errors.mean_l1);
    Ok(())
}
