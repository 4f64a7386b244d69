//! Classical multidimensional scaling: points in the plane whose distances are near given ones.
//!
//! With D2 the squared distances and `J = I - 1 1' / n`, the matrix `B = -1/2 J D2 J` holds the inner
//! products of points around their mean (Torgerson 1952; also known as principal coordinates). Its two
//! leading eigenvectors, scaled by the roots of their eigenvalues, are the best two coordinates. The
//! eigenvectors come from Jacobi's rotations, which need no start and no random numbers: the same
//! distances give the same picture. O(n^3) a sweep, fewer than ten sweeps.

use hottopixx::matrix::Dense;

/// Sweeps at most; quadratic convergence ends long before.
const SWEEPS: usize = 60;
/// Rotations end when what is beside the diagonal is this small against the whole, squared.
const SMALL: f64 = 1e-24;

/// Items in the plane.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plane {
    /// The two coordinates of each item.
    pub points: Vec<[f64; 2]>,
    /// How much of the sum of all squared distances each coordinate shows, 0 to 1.
    pub shown: [f64; 2],
}

/// Places items by the squares of their distances (symmetric, zeros on the diagonal). In each coordinate
/// the item farthest from the middle, the first of several, lies on the positive side.
pub(super) fn classical(squares: &Dense) -> Plane {
    let n = squares.rows();
    let (values, vectors) = jacobi(centred(squares));
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    let total: f64 = values.iter().filter(|v| **v > 0.0).sum();
    let mut plane = Plane { points: vec![[0.0; 2]; n], shown: [0.0; 2] };
    for (axis, &k) in order.iter().take(2).enumerate().filter(|(_, k)| values[**k] > 0.0) {
        let vector = vectors.row(k);
        let far = vector.iter().fold(0.0, |far: f64, v| far.max(v.abs()));
        let sign = vector.iter().find(|v| v.abs() > 0.999_999 * far).map_or(1.0, |v| v.signum());
        for (point, v) in plane.points.iter_mut().zip(vector) {
            point[axis] = sign * v * values[k].sqrt();
        }
        plane.shown[axis] = values[k] / total;
    }
    plane
}

/// `-1/2 J D2 J`: means of rows and columns are taken off, that of all added back.
fn centred(squares: &Dense) -> Dense {
    let n = squares.rows();
    let mean = |i: usize| squares.row(i).iter().sum::<f64>() / n as f64;
    let means: Vec<f64> = (0..n).map(mean).collect();
    let all = means.iter().sum::<f64>() / n.max(1) as f64;
    let mut b = Dense::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            b.row_mut(i)[j] = -0.5 * (squares.row(i)[j] - means[i] - means[j] + all);
        }
    }
    b
}

/// Eigenvalues of a symmetric matrix and, as rows, its eigenvectors (Golub and Van Loan, section 8.5).
fn jacobi(mut a: Dense) -> (Vec<f64>, Dense) {
    let n = a.rows();
    let mut vectors = Dense::zeros(n, n);
    (0..n).for_each(|i| vectors.row_mut(i)[i] = 1.0);
    let whole: f64 = a.values().iter().map(|v| v * v).sum();
    for _ in 0..SWEEPS {
        let beside = |i: usize| a.row(i)[i + 1..].iter().map(|v| v * v).sum::<f64>();
        if (0..n).map(beside).sum::<f64>() <= SMALL * whole {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    ((0..n).map(|i| a.row(i)[i]).collect(), vectors)
}

/// Makes entry (p, q) zero by turning rows and columns p and q.
fn rotate(a: &mut Dense, vectors: &mut Dense, p: usize, q: usize) {
    let apq = a.row(p)[q];
    if apq == 0.0 {
        return;
    }
    let theta = (a.row(q)[q] - a.row(p)[p]) / (2.0 * apq);
    let t = 1f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for i in 0..a.rows() {
        let row = a.row_mut(i);
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    for matrix in [a, vectors] {
        for j in 0..matrix.cols() {
            let (x, y) = (matrix.row(p)[j], matrix.row(q)[j]);
            (matrix.row_mut(p)[j], matrix.row_mut(q)[j]) = (c * x - s * y, s * x + c * y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(points: &[[f64; 3]]) -> Dense {
        let mut out = Dense::zeros(points.len(), points.len());
        for (i, a) in points.iter().enumerate() {
            for (j, b) in points.iter().enumerate() {
                out.row_mut(i)[j] = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum();
            }
        }
        out
    }

    #[test]
    fn points_of_a_plane_keep_their_distances() {
        let points = [[0., 0., 1.], [4., 0., 1.], [0., 3., 1.], [4., 7., 1.], [-2., 1., 1.]];
        let given = squares(&points);
        let plane = classical(&given);
        let flat: Vec<[f64; 3]> = plane.points.iter().map(|p| [p[0], p[1], 0.0]).collect();
        for (a, b) in squares(&flat).values().iter().zip(given.values()) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
        assert!((plane.shown[0] + plane.shown[1] - 1.0).abs() < 1e-12, "{:?}", plane.shown);
        assert!(plane.shown[0] > plane.shown[1]);
        for axis in 0..2 {
            let far =
                plane.points.iter().map(|p| p[axis]).max_by(|a, b| a.abs().total_cmp(&b.abs()));
            assert!(far.unwrap() > 0.0);
        }
    }

    #[test]
    fn what_lies_outside_the_plane_is_said() {
        // Corners of a tetrahedron: three directions alike.
        let plane =
            classical(&squares(&[[1., 1., 1.], [1., -1., -1.], [-1., 1., -1.], [-1., -1., 1.]]));
        assert!(plane.shown.iter().all(|s| (s - 1.0 / 3.0).abs() < 1e-12), "{:?}", plane.shown);
    }

    #[test]
    fn one_or_equal_items_lie_in_the_middle() {
        for n in [0, 1, 3] {
            let plane = classical(&Dense::zeros(n, n));
            assert_eq!(plane, Plane { points: vec![[0.0; 2]; n], shown: [0.0; 2] });
        }
        let two = classical(&Dense::from_rows(&[[0.0, 4.0], [4.0, 0.0]]).unwrap());
        assert!((two.points[0][0] - 1.0).abs() < 1e-12 && (two.points[1][0] + 1.0).abs() < 1e-12);
    }
}
