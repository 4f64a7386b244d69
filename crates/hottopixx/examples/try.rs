use hottopixx::matrix::*;
use hottopixx::*;
fn main() {
    // random cooc-like test: file of f64 from numpy raw: f n then values
    let path = std::env::args().nth(1).unwrap();
    let r: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let bytes = std::fs::read(path).unwrap();
    let v: Vec<f64> =
        bytes.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    let (f, n) = (v[0] as usize, v[1] as usize);
    let m: Matrix = Dense::new(f, n, v[2..].to_vec()).unwrap().into();
    for method in [Method::Spa, Method::Snpa, Method::Xray, Method::Gradient, Method::Auto] {
        let t = std::time::Instant::now();
        let a = Factor::new(r).method(method).run(&m).unwrap();
        println!(
            "{:10} mean {:.5} inf1 {:.4} rmse {:.2e} {:?} ex {} {:.2}s {:?} {:?}",
            method.name(),
            a.errors.mean_l1,
            a.errors.inf1,
            a.errors.rmse,
            a.chosen_from,
            a.exchanges,
            t.elapsed().as_secs_f64(),
            a.seconds,
            a.hott.iter().map(|h| (h.row, h.group.len())).collect::<Vec<_>>()
        );
        if method == Method::Auto {
            for j in &a.judged {
                println!("   {:?}", j)
            }
        }
    }
}
