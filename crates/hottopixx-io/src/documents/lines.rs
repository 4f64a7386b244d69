//! One document per line; blank lines are none.

use super::{DocumentColumns, Output};
use crate::error::Fault;
use crate::scan::Lines;
use std::io::Read;

pub(super) fn read(
    reader: impl Read,
    columns: &DocumentColumns,
    out: &mut Output<'_>,
) -> Result<(), Fault> {
    let mut lines = Lines::new(reader, columns.longest());
    while let Some(line) = lines.next_full(None)? {
        out.add(line.bytes, None, None)?;
    }
    Ok(())
}
