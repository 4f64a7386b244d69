//! Prints how fast epochs of the dense method are, beside plain matrix products of the same shapes.
//!
//! `cargo run --release -p hottopixx --example dense_rates -- [rows] [columns] [epochs]`

use hottopixx::control::Control;
use hottopixx::kernels::gemm;
use hottopixx::localise::hottopixx::{DenseRates, HottopixxSettings, dense_rates};
use hottopixx::matrix::{Dense, Matrix};
use hottopixx::normalise::UnitRows;
use std::time::Instant;

fn main() {
    let mut numbers = std::env::args().skip(1).map_while(|a| a.parse::<usize>().ok());
    let f = numbers.next().unwrap_or(1600).max(2);
    let n = numbers.next().unwrap_or(12_800).max(1);
    let epochs = numbers.next().unwrap_or(4).max(2);
    let value = |at: usize| (at.wrapping_mul(2_654_435_761) >> 7) % 1000 + 1;
    let values = (0..f * n).map(|at| value(at) as f64).collect();
    let x = Dense::new(f, n, values).expect("f n values");
    let x = UnitRows::new(&Matrix::from(x)).expect("positive numbers");
    let settings = HottopixxSettings { epochs, ..Default::default() };
    let rank = (f / 16).max(1);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let (rates, plain) = pool.install(|| {
            let rates = dense_rates(&x, rank, &vec![true; f], &settings, &Control::default())
                .expect("good settings");
            let plain = plain_rate(&rates, epochs);
            (rates, plain)
        });
        // The first epoch gathers the columns.
        let best = rates.seconds[1..].iter().copied().fold(f64::INFINITY, f64::min);
        let rate = rates.flops / best * 1e-9;
        println!(
            "{threads} threads, {f} x {n} in panels of {}: {rate:.1} GF/s, products alone {plain:.1} \
             GF/s, share {:.2}, first epoch {:.2} s, best {best:.2} s",
            rates.panel,
            rate / plain,
            rates.seconds[0],
        );
    }
}

/// GF/s of the two products of a panel, over about the columns of an epoch, the best of some times.
fn plain_rate(rates: &DenseRates, times: usize) -> f64 {
    let (f, m, k) = (rates.rows, rates.candidates, rates.panel);
    let (x, mut c, mut d) = (vec![0.001f32; m * k], vec![0.001f32; f * m], vec![0.0f32; f * k]);
    let flops = 4.0 * (f * m * k) as f64;
    let pairs = (rates.flops / flops).ceil() as usize;
    let time = |_| {
        let start = Instant::now();
        for _ in 0..pairs {
            gemm(f, m, k, 1.0, &c, &x, false, 0.0, &mut d);
            gemm(f, k, m, 1e-9, &d, &x, true, 1.0, &mut c);
        }
        start.elapsed().as_secs_f64()
    };
    let best = (0..times).map(time).fold(f64::INFINITY, f64::min);
    pairs as f64 * flops / best * 1e-9
}
