use hottopixx::l1::*;
use hottopixx::matrix::*;
use hottopixx::normalise::*;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let r: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let bytes = std::fs::read(path).unwrap();
    let v: Vec<f64> =
        bytes.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    let (f, n) = (v[0] as usize, v[1] as usize);
    let m: Matrix = Dense::new(f, n, v[2..].to_vec()).unwrap().into();
    let x = UnitRows::new(&m).unwrap();
    let h = hottopixx::localise::spa(&x, r, &vec![true; f]);
    let atoms = Atoms::new(&x.x().select_rows(&h));
    let us: Vec<u32> = (0..r as u32).collect();
    let mut s = Solver::new();
    let mut g = Gathered::default();
    let mut hist = vec![];
    let t = std::time::Instant::now();
    let mut e = 0.0;
    let mut bases = vec![];
    let mut ks = 0;
    for i in 0..f {
        let tg = atoms.restrict(x.row(i), &mut g);
        let o = s.fit(&Problem { design: tg.design, x: tg.x, usable: &us, upper: None }, None);
        hist.push(o.pivots);
        e += o.value;
        let b = s.basis();
        ks += b.free.len();
        bases.push(b);
    }
    let dt = t.elapsed().as_secs_f64();
    hist.sort();
    println!(
        "cold {:.3}s mean {:.5} pivots mean {} med {} max {} k {}",
        dt,
        e / f as f64,
        hist.iter().sum::<usize>() as f64 / f as f64,
        hist[f / 2],
        hist[f - 1],
        ks as f64 / f as f64
    );
    let t = std::time::Instant::now();
    let mut hist = vec![];
    for i in 0..f {
        let tg = atoms.restrict(x.row(i), &mut g);
        let o = s.fit(
            &Problem { design: tg.design, x: tg.x, usable: &us, upper: None },
            Some(&bases[i]),
        );
        hist.push(o.pivots);
    }
    let dt = t.elapsed().as_secs_f64();
    hist.sort();
    println!(
        "warm {:.3}s  pivots mean {} med {} max {}",
        dt,
        hist.iter().sum::<usize>() as f64 / f as f64,
        hist[f / 2],
        hist[f - 1]
    );
}
