//! How a factorization is shown: consumes results, computes none.
//!
//! [`Summary`] is the one object behind `--json`, `summary.json`, the terminal, `hott.csv` and
//! `report.html`; the modules turn it into text: [`text`] for 80 columns, [`csv`] for
//! spreadsheets, [`html`] for one page that needs nothing but a browser. [`page`] is what all
//! pages share, [`plot`] draws charts, [`bounds`] puts what was proven into words. [`topics`] and
//! [`topics_page`] do the same for topics of documents, [`unmix`] and [`unmix_page`] for materials of scenes.

mod applied;
pub mod bounds;
mod constraints;
pub mod csv;
pub mod html;
mod named;
pub mod page;
pub mod plot;
mod proof;
mod rows;
mod run;
mod summary;
pub mod table;
pub mod text;
pub mod topics;
pub mod topics_page;
pub mod unmix;
pub mod unmix_page;
mod update;

pub use applied::{AppliedColumnsSummary, AppliedSummary};
pub use constraints::{ConstraintFacts, QuotaFacts};
pub use named::{NamedHott, NamedRow, numbered};
pub use proof::{ChoiceProof, Proof, Theorem};
pub use rows::ExplainedRow;
pub use run::{RunFacts, StepSeconds};
pub use summary::{
    Described, MissingFacts, Preparation, RowValue, Summary, Topic, six, six_down, six_up,
};
pub use update::{MovedTopic, UpdateFacts};
