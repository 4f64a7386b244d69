//! Materials of a scene: from spectra of pixels to a few pure ones, and back to a map of each.
//!
//! ```text
//! cube → noise of bands → subspace → smoothed pixels → cells → choice → spectra → abundances
//! ```
//!
//! X is pixels x bands. Every pixel is taken for `brightness x (shares of materials) x (their spectra)` plus
//! noise, and materials are looked for among the pixels: some are pure. That is the factorization of this
//! crate with pixels as rows, but real scenes need more care than a matrix of rows that count the same:
//!
//! - *Noise* (`noise`): each band is predicted from all others; what is left over is its noise. Bands are divided
//!   by it, and a pixel counts the less the nearer its signal is to it. Divided by their sums, dark pixels
//!   would be the most extreme ones of a scene.
//! - *Subspace* (`subspace`): mixtures of r materials lie in r dimensions, so noise is projected away; pixels far
//!   outside are *outliers* (dead, saturated), unless several stick out in the same direction: a rare material.
//! - *Smoothed pixels* (`smooth`): neighbours that do not differ by more than noise are averaged.
//! - *Cells* (`cells`): pixels of nearly the same direction become one candidate, which counts with a
//!   power of their number, so that a small field next to a large wood is not lost.
//! - *Choice* (`choose`): exchanges in least squares ([`localise::exchange`](crate::localise::exchange), the search of `auto`) choose the cells that explain
//!   all others best. A chosen cell of a few pixels that explains nobody else is an outlier, and not chosen.
//! - *Spectra* (`spectra`): the purest pixels of each material are averaged; the pure pixel is the one of them
//!   that is nearest to the mean.
//!
//! ```
//! use hottopixx::Dense;
//! use hottopixx::unmix::Unmix;
//!
//! // Two materials and their mixtures, 6 x 5 pixels of three bands.
//! let share = |i: usize| (i % 6) as f64 / 5.0;
//! let pixel = |i: usize| [1.0 + 7.0 * share(i), 4.0, 8.0 - 6.0 * share(i)];
//! let pixels: Vec<[f64; 3]> = (0..30).map(pixel).collect();
//! let scene = Unmix::new(2).shape(5, 6).run(&Dense::from_rows(&pixels)?)?;
//! let pure: Vec<usize> = scene.materials.iter().map(|material| material.pixel % 6).collect();
//! assert!(pure == [0, 5] || pure == [5, 0]);
//! assert!(scene.mean_error < 1e-3);
//! # Ok::<(), hottopixx::Error>(())
//! ```

mod abundances;
mod cells;
mod choose;
mod cube;
mod fit;
mod noise;
mod result;
mod settings;
mod smooth;
mod spectra;
mod subspace;
#[cfg(test)]
mod tests;

pub use result::{Material, Outlier, UnmixSeconds, Unmixed, WhyOutlier};
pub use settings::{Abundances, Negative, Outliers, Unmix};
