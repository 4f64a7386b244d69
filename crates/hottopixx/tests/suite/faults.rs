//! Instances that once broke something, each with what must hold of it now.
//!
//! Nearly all are small matrices whose rows nearly coincide: the bases of fits and of the master
//! program are then so ill-conditioned that what a solver believes is not what is.

use hottopixx::Goal;
use hottopixx::certify::verify;
use hottopixx::control::{Control, Stop};
use hottopixx::localise::lp::{LpSettings, LpStatus, lp};
use hottopixx::matrix::{Dense, Matrix};
use hottopixx::normalise::UnitRows;
use hottopixx::{Error, Factor, Method};

fn matrix<const N: usize>(rows: &[[f64; N]]) -> Matrix {
    Dense::from_rows(rows).unwrap().into()
}

/// "Optimal" at -1.5312 with a trace of 3.412, below its own bound.
#[test]
fn near_duplicates_do_not_break_the_trace() {
    let certified = |x: &Matrix| {
        Factor::new(3).method(Method::Lp).tau(0.01).threads(1).certify(x, None).unwrap()
    };
    for (x, optimum) in [(matrix(&SIX_BY_FOUR), -1.393889), (matrix(&ELEVEN_BY_TEN), -0.402673)] {
        let found = certified(&x);
        let verified = found.verified.expect("verified");
        let bounds = found.bounds.expect("verified bounds");
        assert_eq!(bounds.status, LpStatus::Optimal);
        assert!((bounds.trace - 3.0).abs() < 1e-12, "{bounds:?}");
        assert!((bounds.objective - optimum).abs() < 2e-6, "{bounds:?}");
        assert_eq!(
            (bounds.objective, bounds.lower_bound),
            (verified.objective, verified.lower_bound)
        );
        assert!(bounds.lower_bound <= bounds.objective + 1e-9, "{bounds:?}");
    }
}

/// A "verified" value of 2.8e-16 where its own C had an error of 7.7e-6.
#[test]
fn what_is_said_is_what_the_localising_matrix_does() {
    let x = matrix(&SEVEN_BY_ELEVEN);
    let found = Factor::new(6).method(Method::Minimax).threads(1).certify(&x, None).unwrap();
    let bounds = found.bounds.expect("verified bounds");
    let again = verify(&found.x, &found.certificate, &Control::default()).unwrap();
    assert_eq!((bounds.objective, bounds.lower_bound), (again.objective, again.lower_bound));
    assert!(bounds.objective < 1e-10 && bounds.lower_bound <= bounds.objective, "{bounds:?}");
    assert!(found.answer.errors.inf1 < 1e-10, "{}", found.answer.errors.inf1);
}

/// Theorem 3.2 "held" with alpha = 0: one of the hott rows is the mean of two others.
#[test]
fn alpha_is_never_more_than_what_is_proven() {
    let x = UnitRows::new(&matrix(&NINE_BY_SEVEN)).unwrap();
    let mut zero = 0;
    for a in 0..9 {
        for b in a + 1..9 {
            for c in b + 1..9 {
                let theory =
                    hottopixx::certify::theory(&x, &[a, b, c], &Control::default()).unwrap();
                assert!(!theory.holds, "rows {a}, {b}, {c}: {theory:?}");
                zero += usize::from(theory.alpha == 0.0);
            }
        }
    }
    assert!(zero >= 1, "one of the three rows is the mean of the other two");
}

/// All 500 rounds went by with nothing proven.
#[test]
fn without_room_and_without_trace_the_program_is_solved() {
    let x = UnitRows::new(&matrix(&[[3., 1., 1.], [1., 3., 1.], [1., 1., 5.]])).unwrap();
    let settings = LpSettings { trace: false, ..LpSettings::new(Goal::Cost { tau: 0.0 }) };
    let outcome = lp(&x, 1, &[true; 3], &settings, &Control::default()).unwrap();
    assert_eq!((outcome.status, outcome.stop), (LpStatus::Optimal, Stop::Finished));
    let trace: f64 = outcome.diagonal.iter().sum();
    assert!((trace - 3.0).abs() < 1e-9 && outcome.rounds < 100, "{trace} {}", outcome.rounds);
}

/// A limit carried the bound of another program and a gap of 0, and the time limit was named
/// where there was none.
#[test]
fn a_limit_claims_nothing() {
    let x = UnitRows::new(&matrix(&SEVEN_BY_ELEVEN)).unwrap();
    let late = Control::default().with_deadline(std::time::Instant::now());
    let settings = LpSettings::new(Goal::Cost { tau: 1e-9 });
    let outcome = lp(&x, 2, &[true; 7], &settings, &late).unwrap();
    assert_eq!((outcome.status, outcome.stop), (LpStatus::Limit, Stop::TimeLimit));
    assert!(outcome.objective.is_infinite() && outcome.gap.is_infinite());
    let mut cost = outcome.cost.clone();
    cost.sort_by(f64::total_cmp);
    assert_eq!(outcome.lower_bound, cost[0] + cost[1], "what the two cheapest rows cost");
    let undecided = Error::Undecided { tau: 0.1, bound: 0.05, reached: 0.2 }.to_string();
    assert!(undecided.contains("not decided") && !undecided.contains("time"), "{undecided}");
}

#[rustfmt::skip]
const SIX_BY_FOUR: [[f64; 4]; 6] = [
    [0.0, 1.0000000008, 1.0000000001, 1.0000000006],
    [0.0, 0.0, 0.9999999998, 0.9999999993],
    [0.0, 1.0000000004, 0.9999999999, 1.0000000009],
    [0.0, 0.0, 2.0000000014, 0.9999999995],
    [0.0, 1.0000000005, 1.0000000009, 0.9999999999],
    [0.0, 0.0, 0.9999999993, 1.0000000004],
];

#[rustfmt::skip]
const ELEVEN_BY_TEN: [[f64; 10]; 11] = [
    [1.0000000004954717, 0.9999999999538083, 1.9999999986943646, 2.000000000730671, 2.0000000002893823, 0.0, 1.0000000002317249, 1.000000000424631, 0.9999999997390473, 1.9999999989119617],
    [0.0, 1.0000000000193254, 0.9999999993032297, 1.9999999990779993, 2.000000000063626, 0.0, 0.9999999994588735, 0.9999999999471912, 1.999999999906419, 2.0000000018741413],
    [1.0000000006734777, 1.0000000000551046, 1.9999999997806586, 1.9999999993524067, 1.9999999990066892, 0.0, 0.9999999996974199, 1.0000000000285558, 0.9999999996555482, 2.0000000001860037],
    [0.9999999998651697, 0.9999999996556487, 2.0000000000327427, 1.9999999999527296, 2.0000000007207235, 0.0, 0.9999999998152237, 0.999999999938943, 0.9999999997115098, 1.9999999992507802],
    [1.0000000001030154, 0.9999999999136555, 2.0000000007741656, 1.9999999995132294, 2.000000000576854, 0.0, 0.9999999998239143, 1.0000000005829481, 0.9999999999291239, 1.999999999776228],
    [1.0000000001384333, 1.0000000008492507, 1.9999999998570517, 2.000000000117613, 2.000000001609137, 0.0, 1.0000000002672091, 1.000000000559356, 0.9999999994722019, 2.00000000107646],
    [0.0, 0.9999999997241129, 0.9999999993446962, 2.000000000012097, 2.000000001644007, 0.0, 0.9999999997449688, 0.9999999995481405, 2.0000000002525407, 1.999999999647112],
    [0.0, 1.0000000004817267, 1.0000000000213825, 2.000000000419838, 1.9999999995833484, 0.0, 1.0000000003600065, 0.9999999999017437, 2.000000000125191, 1.9999999998058715],
    [0.9999999999901406, 0.9999999998198404, 1.999999999850355, 2.0000000026700904, 2.00000000087931, 0.0, 1.0000000002923246, 0.999999999648008, 1.000000000022191, 1.9999999999254976],
    [0.0, 1.0000000002283378, 0.9999999999302924, 1.9999999996250524, 1.9999999994991382, 0.0, 1.0000000002411908, 0.9999999998231531, 1.9999999998732114, 2.0000000009562577],
    [0.0, 0.9999999997834489, 1.000000000533418, 2.0000000001755995, 1.9999999985047372, 0.0, 0.999999999308017, 0.9999999999356303, 1.999999999008068, 1.9999999995980005],
];

#[rustfmt::skip]
const SEVEN_BY_ELEVEN: [[f64; 11]; 7] = [
    [0.9481169134957823, 0.1102102600665772, 0.28660730566560444, 0.5637329479294737, 0.3916924668487027, 0.9314287934897677, 0.15934095710901564, 0.24803025863702824, 0.8020102624318936, 0.1431570197600455, 0.4495320241361918],
    [0.7179418556157277, 0.28896849904145305, 0.4692729515824808, 0.624013791449125, 0.8395802362033546, 0.9221830171068183, 0.4092576205656219, 0.029499232655958624, 0.7080093869012466, 0.5856185077750897, 0.04512755750984529],
    [0.19707880095332056, 0.5679729167112713, 0.33119391159733336, 0.46613229293437475, 0.5120177282045782, 0.29765043705092603, 0.4754026348979393, 0.44593004282360127, 0.8500132592426585, 0.426955394035795, 0.9438559076096706],
    [0.19707880095180394, 0.5679729167105968, 0.3311939115985592, 0.46613229293737185, 0.5120177282028312, 0.2976504370524853, 0.4754026349007218, 0.44593004282581244, 0.8500132592309247, 0.42695539403364335, 0.9438559076074274],
    [0.8084289585545902, 0.5645121704645046, 0.3345653798296707, 0.505928583859788, 0.8595866617157962, 0.36502313194617403, 0.19351725874490447, 0.6102650121465448, 0.19715725468037643, 0.9947370072169275, 0.9243744586667432],
    [0.7767339051574298, 0.17498852227511458, 0.36270463249043666, 0.4693853866750349, 0.6855981182537145, 0.31979439859139913, 0.9683988176654892, 0.38293359889052314, 0.516981658028689, 0.8239418767342231, 0.921195709627389],
    [0.19707880095352356, 0.5679729167086475, 0.3311939115965717, 0.4661322929367905, 0.5120177282043179, 0.29765043705132344, 0.47540263489899, 0.4459300428249968, 0.8500132592373537, 0.42695539403238575, 0.9438559076059707],
];

#[rustfmt::skip]
const NINE_BY_SEVEN: [[f64; 7]; 9] = [
    [536870951.0, 805306349.0, 805306373.0, 268435530.0, 536870915.0, 536870959.0, 805306380.0],
    [536870846.0, 805306314.0, 805306276.0, 268435554.0, 536871006.0, 536870938.0, 805306296.0],
    [536870890.0, 805306416.0, 805306310.0, 268435542.0, 536870982.0, 536870894.0, 805306298.0],
    [536871010.0, 805306370.0, 805306330.0, 268435484.0, 536870844.0, 536870820.0, 805306440.0],
    [536870916.0, 805306400.0, 805306468.0, 268435416.0, 536870860.0, 536870818.0, 805306452.0],
    [536870872.0, 268435516.0, 536870938.0, 268435374.0, 805306382.0, 268435548.0, 536870866.0],
    [536870920.0, 805306352.0, 805306432.0, 268435424.0, 536870872.0, 536870826.0, 805306332.0],
    [536870940.0, 805306350.0, 805306376.0, 268435550.0, 536870986.0, 536870982.0, 805306430.0],
    [536870962.0, 805306348.0, 805306370.0, 268435510.0, 536870844.0, 536870936.0, 805306330.0],
];
