//! How a factorization is shown: consumes results, computes none.
//!
//! [`Summary`] is the one object behind `--json`, `summary.json`, the terminal, `hott.csv` and
//! `report.html`; the modules turn it into text: [`text`] for 80 columns, [`csv`] for
//! spreadsheets, [`html`] for one page that needs nothing but a browser.

pub mod csv;
pub mod html;
mod proof;
mod summary;
pub mod table;
pub mod text;

pub use proof::{Proof, Theorem};
pub use summary::{
    Certificate, Entry, Seconds, Summary, Topic, six, six_down, strongest, worst_rows,
};
