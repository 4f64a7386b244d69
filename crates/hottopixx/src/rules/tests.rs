use super::*;
use crate::localise::instances::unit_rows;

fn rules(asked: &Constraints, rows: usize, rank: usize) -> Result<(Rules, Vec<bool>), Error> {
    let x = unit_rows(&(0..rows).map(|i| vec![1.0, 1.0 + i as f64]).collect::<Vec<_>>());
    let mut allowed = vec![true; rows];
    Rules::new(asked, &x, &mut allowed, rank).map(|rules| (rules, allowed))
}

fn subsets(rows: usize, rank: usize) -> Vec<Vec<usize>> {
    let all = (0..1usize << rows).filter(|set| set.count_ones() as usize == rank);
    all.map(|set| (0..rows).filter(|i| set >> i & 1 == 1).collect()).collect()
}

/// Of random constraints on seven rows: what is refused no set obeys, what is not refused some set does,
/// whoever is admitted can be completed and whoever is not cannot, and exchanges are judged as whole sets are.
#[test]
fn rules_say_what_looking_at_all_sets_says() {
    let mut state = 9u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let (mut refused, mut met) = (0, 0);
    for _ in 0..400 {
        let (rows, rank) = (7, 1 + next(4));
        let mut asked = Constraints::default();
        let split = next(rows);
        if next(2) == 0 {
            asked = asked.must((0..next(3)).map(|_| next(rows)).collect::<Vec<_>>());
        }
        if next(2) == 0 {
            asked = asked.never([next(rows)]);
        }
        if next(3) > 0 {
            asked = asked.group("a", 0..split, next(3), 1 + next(3));
        }
        if next(3) > 0 {
            asked = asked.group("b", split..rows - 1, next(2), next(4));
        }
        if next(2) == 0 {
            let prices = (0..rows).map(|_| next(5) as f64).collect();
            asked = asked.budget(prices, next(12) as f64);
        }
        let obeys = |set: &Vec<usize>| {
            let within = |g: &Group| {
                let count = set.iter().filter(|i| g.rows.contains(i)).count();
                (g.least..=g.most).contains(&count)
            };
            asked.must.iter().all(|i| set.contains(i))
                && !asked.never.iter().any(|i| set.contains(i))
                && asked.groups.iter().all(within)
                && asked.prices.as_ref().is_none_or(|(prices, budget)| {
                    set.iter().map(|&i| prices[i]).sum::<f64>() <= *budget
                })
        };
        let all = subsets(rows, rank);
        let good: Vec<&Vec<usize>> = all.iter().filter(|set| obeys(set)).collect();
        let Ok((rules, allowed)) = rules(&asked, rows, rank) else {
            assert!(good.is_empty(), "{asked:?} {rank}: {good:?}");
            refused += 1;
            continue;
        };
        assert!(!good.is_empty(), "{asked:?} {rank}");
        met += 1;
        let open = |set: &[usize]| set.iter().all(|&i| allowed[i]);
        for set in all.iter().filter(|set| open(set)) {
            assert_eq!(rules.obeyed_by(set), obeys(set), "{asked:?} {set:?}");
        }
        let chosen = rules.choose(&[5, 2, 6], rank, &allowed);
        assert!(chosen.len() == rank && rules.obeyed_by(&chosen) && open(&chosen), "{asked:?}");
        let mut selection = Selection::new(&rules, rank, &allowed);
        let mut taken: Vec<usize> = rules.must().to_vec();
        taken.iter().for_each(|&i| selection.take(i));
        for i in 0..rows {
            let with =
                |set: &&&Vec<usize>| set.contains(&i) && taken.iter().all(|t| set.contains(t));
            let possible = !taken.contains(&i) && good.iter().any(|set| with(&set));
            assert_eq!(selection.admits(i), possible, "{asked:?} {rank} {taken:?} {i}");
            if possible && next(2) == 0 {
                selection.take(i);
                taken.push(i);
            }
        }
        let set = good[0];
        let exchanges = rules.exchanges(set);
        for (at, enter) in (0..rank).flat_map(|at| (0..rows).map(move |j| (at, j))) {
            if set.contains(&enter) || !allowed[enter] {
                continue;
            }
            let mut other = set.clone();
            other[at] = enter;
            assert_eq!(exchanges.allow(set[at], enter), obeys(&other), "{asked:?} {set:?} {enter}");
        }
    }
    assert!(refused > 40 && met > 100, "{refused} {met}");
}

#[test]
fn what_cannot_be_met_is_named() {
    let said = |asked: Constraints| rules(&asked, 5, 2).unwrap_err().to_string();
    let none = Constraints::default;
    for (asked, expected) in [
        (none().must([7]), "row 7 is named by a constraint, but the last row is 4"),
        (none().must([1]).never([1]), "row 1 must be chosen and must not"),
        (none().must([0, 1, 2]), "3 rows must be chosen, but the rank is 2"),
        (none().group("a", [0, 1], 0, 1).group("b", [1], 0, 1), "row 1 is in the groups a and b"),
        (none().group("a", [0, 1], 3, 1), "group a: at least 3 and at most 1 rows"),
        (none().group("a", [0, 1], 2, 2).never([0]), "group a: at least 2 rows, but only 1"),
        (none().group("a", 0..5, 0, 1), "the groups leave at most 1 rows to choose"),
        (none().group("a", [0, 1], 0, 1).must([0, 1]), "group a: at most 1 rows, but 2 of it"),
        (none().group("a", [0, 1], 2, 2).must([3]), "are 3 rows together, but the rank is 2"),
        (none().budget(vec![3.0; 5], 5.0), "the cheapest choice of 2 rows costs 6"),
        (none().budget(vec![3.0; 4], 5.0), "prices has 4 entries"),
        (none().budget(vec![-3.0; 5], 5.0), "row 0 has the price -3"),
    ] {
        let sentence = said(asked);
        assert!(sentence.contains(expected), "{sentence}");
    }
}
