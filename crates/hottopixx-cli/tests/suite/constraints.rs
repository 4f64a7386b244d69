//! `--must`, `--never`, `--groups` with `--quota`, `--prices` with `--budget`.

use super::common::Folder;
use serde_json::json;

/// Forty rows with names, in four groups by number, the price of each its number.
fn folder() -> Folder {
    let folder = Folder::with_instance();
    folder.write("names.txt", (0..40).map(|i| format!("w{i}\n")).collect::<String>());
    let groups = (0..40).map(|i| format!("w{i},{}\n", ["a", "b", "c", "d"][i % 4]));
    folder.write("groups.csv", format!("row,group\n{}", groups.collect::<String>()));
    folder.write("prices.txt", (0..40).map(|i| format!("{i}\n")).collect::<String>());
    folder.write("given.txt", "w8\nw33\n");
    folder
}

#[test]
fn constraints_are_obeyed_by_name_number_and_file() {
    let folder = folder();
    let base = ["factor", "X.npy", "--names", "names.txt", "--rank", "5", "--json"];
    let rows = |more: &[&str]| -> (Vec<u64>, serde_json::Value) {
        let answer = folder.json(&[&base[..], more].concat());
        let hott = answer["hott"].as_array().unwrap();
        (hott.iter().map(|hott| hott["row"].as_u64().unwrap()).collect(), answer)
    };
    let (free, answer) = rows(&["--method", "spa"]);
    assert!(answer["constraints"].is_null());
    for method in ["spa", "gradient", "total", "auto"] {
        let never = format!("w{},#{}", free[0], free[1]);
        let more = ["--method", method, "--must", "@given.txt", "--never", &never];
        let quota = ["--groups", "groups.csv", "--quota", "a=2, *=..2"];
        let budget = ["--prices", "prices.txt", "--budget", "90"];
        let (chosen, answer) = rows(&[&more[..], &quota, &budget].concat());
        assert!(chosen.contains(&8) && chosen.contains(&33), "{method}: {chosen:?}");
        assert!(!chosen.contains(&free[0]) && !chosen.contains(&free[1]), "{method}: {chosen:?}");
        let of = |group: u64| chosen.iter().filter(|row| **row % 4 == group).count();
        assert!(of(0) == 2 && (1..4).all(|g| of(g) <= 2), "{method}: {chosen:?}");
        let cost: u64 = chosen.iter().sum();
        assert!(cost <= 90, "{method}: {chosen:?}");
        let facts = &answer["constraints"];
        assert_eq!((&facts["must"], &facts["never"]), (&json!([8, 33]), &json!(2)));
        assert_eq!((&facts["cost"], &facts["budget"]), (&json!(cost as f64), &json!(90.0)));
        assert_eq!(
            facts["groups"][0],
            json!({"group": "a", "rows": 10, "least": 2, "most": 2, "chosen": 2})
        );
    }
    let text = folder.text(&["factor", "X.npy", "-r", "3", "--method", "spa", "--must", "7"]);
    assert!(text.contains("obeys     1 row given\n"), "{text}");
}

/// The programs hold the diagonals of rows that must be chosen at one, and their bounds are about such choices.
#[test]
fn bounds_of_programs_heed_rows_that_must_be_chosen() {
    let folder = folder();
    let base = ["factor", "X.npy", "--rank", "5", "--method", "minimax"];
    let must = ["--must", "8,33"];
    let prices = ["--prices", "prices.txt", "--budget", "150"];
    let bound = |more: &[&str]| {
        let answer = folder.json(&[&base[..], more, &["--json"]].concat());
        assert_eq!(answer["certificate"]["status"], "optimal", "{answer}");
        answer["certificate"]["lower_bound"].as_f64().unwrap()
    };
    let (free, ruled) = (bound(&[]), bound(&must));
    assert!(ruled > 1.5 * free, "{free} {ruled}");
    let text = folder.text(&[&base[..], &must].concat());
    assert!(text.contains("with 5 rows within the constraints, weights up to 1,\n"), "{text}");
    let heeds =
        |text: &str| !text.contains("The bound holds for more choices than those that obey");
    assert!(heeds(&text), "{text}");
    let text = folder.text(&[&base[..], &must, &prices].concat());
    assert!(!heeds(&text) && text.contains("heed the budget."), "{text}");
    let tau = format!("{}", 0.9 * ruled);
    let lp = ["factor", "X.npy", "--rank", "5", "--method", "lp", "--tau", &tau];
    folder.text(&lp);
    let refused = folder.refusal(&[&lp[..], &must].concat(), 3);
    assert!(refused.contains("no choice with the 2 rows that must be in it"), "{refused}");
}

#[test]
fn constraints_that_cannot_be_met_are_named() {
    let folder = folder();
    let base = ["factor", "X.npy", "--names", "names.txt", "--rank", "3", "--method", "spa"];
    for (more, code, expected) in [
        (&["--must", "w1,w2,w3,w4"][..], 1, "4 rows must be chosen, but the rank is 3"),
        (&["--must", "w1", "--never", "w1"], 1, "row 1 must be chosen and must not"),
        (&["--must", "nobody"], 1, "there is no row named nobody"),
        (&["--must", "@none.txt"], 1, "none.txt"),
        (
            &["--groups", "groups.csv", "--quota", "a=11"],
            1,
            "group a: at least 11 rows, but only 10",
        ),
        (&["--groups", "groups.csv", "--quota", "*=..0"], 1, "leave at most 0 rows to choose"),
        (&["--groups", "groups.csv", "--quota", "z=1"], 1, "no row is in the group z"),
        (&["--groups", "groups.csv", "--quota", "a"], 2, "write GROUP=N"),
        (&["--prices", "prices.txt", "--budget", "2"], 1, "costs 3, but the budget is 2"),
        (&["--prices", "names.txt", "--budget", "2"], 1, "names.txt"),
    ] {
        let line = folder.refusal(&[&base[..], more].concat(), code);
        assert!(line.contains(expected), "{more:?}: {line}");
    }
    assert_eq!(folder.run(&[&base[..], &["--budget", "3"]].concat()).status.code(), Some(2));
}

#[test]
fn rows_count_as_much_as_they_weigh() {
    let folder = folder();
    let base = ["factor", "X.npy", "--rank", "2", "--effort", "quick", "--out", "out"];
    let weighted = folder.json(&[&base[..], &["--weights", "prices.txt", "--json"]].concat());
    assert_eq!(weighted["weighted"], true);
    let table = String::from_utf8(folder.read("out/rows.csv")).unwrap();
    let cell = |line: &str| line.split(',').nth(2).unwrap().parse::<f64>().unwrap();
    let errors: Vec<f64> = table.lines().skip(1).map(cell).collect();
    let sum: f64 = errors.iter().enumerate().map(|(i, e)| i as f64 * e).sum();
    let mean = weighted["error"]["mean_l1"].as_f64().unwrap();
    assert!((mean - sum / 780.0).abs() < 1e-12, "{mean}");
    let text = folder.text(&[&base[..], &["--weights", "prices.txt"]].concat());
    assert!(text.contains("least mean error, rows weighted, seed 0"), "{text}");
    let line = folder.refusal(&[&base[..], &["--weights", "given.txt"]].concat(), 1);
    assert!(line.contains("given.txt"), "{line}");
}
