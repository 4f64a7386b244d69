//! Recovery, determinism and stopping of Algorithm 4.

use super::*;
use crate::localise::instances::{as_sparse, paper};

#[test]
#[ignore = "prints recoveries"]
fn study() {
    let quick = std::env::var("QUICK").is_ok();
    let get = |name: &str, default: f64| {
        std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
    };
    let seeds = get("SEEDS", 3.0) as u64;
    let settings = HottopixxSettings {
        primal_step: get("SP", 0.1),
        dual_step: get("SD", 0.01),
        epochs: get("EPOCHS", 50.0) as usize,
        first_step_factor: get("FSF", 10.0),
        ..Default::default()
    };
    let shapes: &[(usize, usize)] =
        if quick { &[(40, 400)] } else { &[(40, 400), (80, 400), (80, 800)] };
    let sparse = std::env::var("SPARSE").is_ok();
    for d in 0..3 {
        for eta in [0.25, 0.95, 4.0] {
            let (mut top, mut pool, mut wspa, mut all) = (0, 0, 0, 0);
            let mut line = String::new();
            for &(f, n) in shapes {
                for r in [3, 5, 10] {
                    for seed in 0..seeds {
                        let inst = paper((f, n, r, d), eta, 1000 * seed + r as u64);
                        let x = if sparse { as_sparse(&inst.x) } else { inst.x.clone() };
                        let allowed = vec![true; f];
                        let loc =
                            hottopixx(&x, r, &allowed, &settings, &Control::default()).unwrap();
                        let mut rank: Vec<usize> = (0..f).collect();
                        rank.sort_by(|a, b| loc.diagonal[*b].total_cmp(&loc.diagonal[*a]));
                        all += 1;
                        top += inst.recovered(&rank[..r]) as i32;
                        pool += inst.pools_lead(&loc.diagonal) as i32;
                        wspa += inst.recovered(&crate::localise::spa_weighted(
                            &x,
                            &loc.diagonal,
                            r,
                            &allowed,
                        )) as i32;
                        if seed == 0 && r == 5 {
                            line = format!(
                                "trace {:.3} obj {:.4} diag {:?}",
                                loc.diagonal.iter().sum::<f64>(),
                                loc.objective,
                                rank[..r + 3]
                                    .iter()
                                    .map(|&i| (loc.diagonal[i] * 100.0).round() / 100.0)
                                    .collect::<Vec<_>>()
                            );
                        }
                    }
                }
            }
            println!("d={d} eta={eta}: top {top} pool {pool} wspa {wspa} of {all}  {line}");
        }
    }
}
