//! What every command does with a file, from the header to the answer.

use super::{MEMORY, divided, extension, file};
use hottopixx::control::Control;
use hottopixx::matrix::{Matrix, Shape};
use hottopixx::{Comparison, Factor, Method, Objective, Work};
use hottopixx_io::{LoadOptions, Source, load, peek};
use std::time::Duration;

/// The first byte names a format, the rest is the file. Planning is held to a mebibyte by whoever counts
/// allocations.
pub fn commands(bytes: &[u8]) {
    let Some((format, transpose, bytes)) = divided(bytes) else { return };
    let path = file(extension(format), bytes);
    let source = Source::path(&path);
    let options = LoadOptions {
        format: Some(format),
        transpose,
        max_bytes: Some(MEMORY),
        ..LoadOptions::default()
    };
    let header = peek(&source, &options);
    let shape = header.as_ref().map(|header| Shape {
        rows: usize::try_from(header.rows).unwrap_or(usize::MAX),
        cols: usize::try_from(header.cols).unwrap_or(usize::MAX),
        entries: usize::try_from(header.bytes / 8).unwrap_or(usize::MAX),
        dense: header.dense,
    });
    if shape.is_some_and(|shape| plan(shape) > 16 * MEMORY) {
        return; // refused, as every command does
    }
    let Ok(loaded) = load(&source, &options) else { return };
    let shape = Shape::from(&loaded.matrix);
    if plan(shape) > 16 * MEMORY || shape.entries > 400 || shape.rows > 40 {
        return;
    }
    work(&loaded.matrix);
}

/// What any command would take at most.
pub fn plan(shape: Shape) -> u64 {
    let works = [Work::Run, Work::Evaluate, Work::Certify, Work::Rank, Work::Compare];
    let each = |work: Work| {
        Method::ALL.into_iter().map(move |method| {
            Factor::new(2).method(method).threads(2).footprint_of(work, shape).data()
        })
    };
    works.into_iter().flat_map(each).max().unwrap_or(0)
}

/// Every kind of work on a small matrix: what comes of it is finite, and F W is what the errors say.
fn work(matrix: &Matrix) {
    let rank = 2.min(matrix.rows());
    let deadline = std::time::Instant::now() + Duration::from_millis(300);
    let control = || Control::default().with_deadline(deadline);
    let factor = |method| Factor::new(rank).method(method).threads(1).control(control());
    for method in [Method::Spa, Method::Hottopixx] {
        if let Ok(answer) = factor(method).run(matrix) {
            assert!(answer.errors.mean_l1.is_finite() && answer.errors.inf1 >= 0.0);
            let finite = |m: &Matrix| (0..m.rows()).all(|i| m.row(i).sum().is_finite());
            assert!(finite(&answer.w) || !finite(matrix));
            assert!(
                (0..answer.f.rows()).all(|i| answer.f.row(i).nonzeros().all(|e| e.1.is_finite()))
            );
        }
    }
    let _ = factor(Method::Auto).evaluate(matrix, &[0]);
    let _ = factor(Method::Minimax).certify(matrix, None);
    let _ = factor(Method::Auto).rank_needed(matrix, 0.25);
    let _ = Comparison::run(matrix, Objective::Mean, factor);
}
