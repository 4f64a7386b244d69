//! The native part of the Python package: what must be said in Rust, and nothing else.
//!
//! Arrays come in without copies where they are as the library wants them ([`array`]), settings as
//! a dictionary ([`settings`]), and computations run on a thread of their own while the
//! interpreter's looks for Ctrl-C ([`run`]). Answers go out as arrays and one JSON text with
//! everything else; the package in `python/` makes its classes of them, and is the only one to
//! call what is here.

mod array;
mod calls;
mod corpus;
mod page;
mod program;
mod run;
mod settings;
mod topics;
mod topics_page;
mod unmix;

use pyo3::prelude::*;

/// See `python/hottopixx/_native.pyi`.
#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use super::calls::{
        apply, apply_columns, certify, changes, compare, cooccurrence, evaluate, factor, generate,
        l1_fit, squish, squish_matrix,
    };
    #[pymodule_export]
    use super::corpus::{dense_gram_rows, is_affordable, pair_rows};
    #[pymodule_export]
    use super::page::{answer_page, held_out, path};
    #[pymodule_export]
    use super::program::main;
    #[pymodule_export]
    use super::run::{InfeasibleError, NoAnswerError};
    #[pymodule_export]
    use super::settings::check_settings;
    #[pymodule_export]
    use super::topics::{Corpus, Counter, Saved, fit_topics, topic_words};
    #[pymodule_export]
    use super::topics_page::topics_page;
    #[pymodule_export]
    use super::unmix::unmix;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::corpus::add_constants(module)?;
        super::settings::add_names(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
