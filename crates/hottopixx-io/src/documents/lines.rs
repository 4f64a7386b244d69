//! One document per line; blank lines are none.

use super::Output;
use crate::error::Fault;
use crate::scan::Lines;
use std::io::Read;

/// The longest document.
pub(super) const LONGEST_LINE: u64 = 1 << 30;

pub(super) fn read(reader: impl Read, out: &mut Output<'_>) -> Result<(), Fault> {
    let mut lines = Lines::new(reader, LONGEST_LINE);
    while let Some(line) = lines.next_full(None)? {
        out.add(line.bytes, None, None)?;
    }
    Ok(())
}
