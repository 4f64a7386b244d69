//! States and proofs: checkpoints and certificates.

use super::{file, one_line};
use hottopixx::certify::{Certificate, ChoiceCertificate, ChoiceCut, verify, verify_choice};
use hottopixx::checkpoint::{Keeper, Writer};
use hottopixx::control::Control;
use hottopixx::localise::{self, HottopixxSettings};
use hottopixx::matrix::{Dense, Matrix, Sparse};
use hottopixx::normalise::UnitRows;
use hottopixx::{Factor, Goal, KeptDual, Method};
use hottopixx_io::Checkpoint;
use std::io::Read;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

fn small(dense: bool) -> Matrix {
    let rows = [[4.0, 0.0, 1.0], [0.0, 3.0, 0.0], [2.0, 2.0, 1.0], [1.0, 5.0, 2.0]];
    if dense {
        return Dense::from_rows(&rows).expect("rows of one length").into();
    }
    let entries = rows.iter().enumerate().flat_map(|(i, row)| {
        row.iter().enumerate().filter(|e| *e.1 > 0.0).map(move |(k, v)| (i, k, *v))
    });
    Sparse::from_triplets(4, 3, &entries.collect::<Vec<_>>()).expect("places in range").into()
}

/// Dense and sparse.
static SMALL: LazyLock<[UnitRows; 2]> = LazyLock::new(|| {
    [true, false].map(|dense| UnitRows::new(&small(dense)).expect("a matrix without faults"))
});

/// A state in memory, as if its file had been found sound.
struct State(Vec<u8>);

impl Keeper for State {
    fn resume(&self) -> std::io::Result<Option<Box<dyn Read + '_>>> {
        Ok(Some(Box::new(&self.0[..])))
    }

    fn due(&self) -> bool {
        false
    }

    fn save(&self, _: &Writer<'_>) {}
}

/// The bytes as the file of a checkpoint if they begin like one, otherwise as the state inside a sound one, with which
/// the method goes on.
pub fn checkpoint(bytes: &[u8]) {
    if bytes.starts_with(b"hott") {
        let path = file("checkpoint", bytes);
        if let Err(error) = Checkpoint::new(&path, 7, Duration::ZERO).take_up() {
            one_line(&error);
        }
        return;
    }
    for x in SMALL.iter() {
        let control = Control::default().with_keeper(Arc::new(State(bytes.to_owned())));
        let settings = HottopixxSettings { epochs: 2, ..HottopixxSettings::default() };
        if let Ok(found) = localise::hottopixx(x, 2, &[true; 4], &settings, &control) {
            assert!(found.diagonal.iter().all(|d| (0.0..=1.0).contains(d)), "{:?}", found.diagonal);
        }
    }
}

/// A whole run that goes on from the bytes as a state.
pub fn resumed(bytes: &[u8]) {
    for dense in [true, false] {
        let factor = Factor::new(2).method(Method::Hottopixx).epochs(2).threads(1);
        let state = Arc::new(State(bytes.to_owned()));
        if let Ok(answer) = factor.keeper(state).run(&small(dense)) {
            assert!(answer.errors.mean_l1.is_finite() && answer.hott.len() == 2);
        }
    }
}

/// Numbers out of bytes, as many as are wanted: zeros behind the last.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// Simple numbers mostly, any bits sometimes.
    fn real(&mut self) -> f64 {
        match self.byte() {
            255 => f64::from_bits(u64::from_le_bytes(std::array::from_fn(|_| self.byte()))),
            byte => f64::from(byte as i8) / 64.0,
        }
    }

    fn reals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.real()).collect()
    }
}

/// Certificates of any content for a small X: refused or true, never a panic. The bytes also as a dual that an answer keeps.
pub fn certificate(bytes: &[u8]) {
    if let Some(kept) = KeptDual::from_bytes(bytes) {
        assert_eq!(kept.to_bytes(), bytes);
    }
    let mut numbers = Numbers(bytes);
    let x = &SMALL[usize::from(numbers.byte() >= 128)];
    let (f, n) = (x.features(), x.examples());
    let goal = match numbers.byte() % 3 {
        0 => Goal::Minimax,
        1 => Goal::Total,
        _ => Goal::Cost { tau: numbers.real() },
    };
    let size = if numbers.byte() == 0 { f + 1 } else { f };
    let localising: Vec<(usize, usize, f64)> = (0..size)
        .flat_map(|i| (0..size).map(move |j| (i, j)))
        .map(|(i, j)| (i, j, numbers.real()))
        .collect();
    let count = usize::from(numbers.byte()) % 6;
    let certificate = Certificate {
        goal,
        rank: Some(usize::from(numbers.byte()) % 6).filter(|rank| *rank < 5),
        cost: numbers.reals(size),
        allowed: (0..size).map(|_| numbers.byte() < 200).collect(),
        must: match count {
            4 => vec![9, 0],
            5 => vec![0, 2],
            _ => Vec::new(),
        },
        diagonal: numbers.reals(size),
        localising: Sparse::from_triplets(size, size, &localising).expect("places in range"),
        dual: (0..count).map(|_| (usize::from(numbers.byte() % 5), numbers.reals(n))).collect(),
        claims: None,
    };
    if let Ok(found) = verify(x, &certificate, &Control::default()) {
        assert!(found.objective.is_finite() && found.lower_bound.is_finite());
    }
    let choice = ChoiceCertificate {
        rank: usize::from(numbers.byte()) % 6,
        allowed: certificate.allowed,
        threshold: numbers.real(),
        cuts: (0..count)
            .map(|_| ChoiceCut {
                row: usize::from(numbers.byte() % 6),
                y: numbers.reals(n),
                multiplier: numbers.real(),
            })
            .collect(),
    };
    if verify_choice(x, &choice, &Control::default()).is_ok() {
        // All rows, if all may be hott, explain all rows: no threshold is below an error of zero.
        let all = choice.rank >= f && choice.allowed.iter().all(|allowed| *allowed);
        assert!(!all || choice.threshold <= 0.0, "{choice:?}");
    }
}
