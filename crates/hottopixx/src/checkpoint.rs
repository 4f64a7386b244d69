//! Checkpoints: how a long run survives being killed.
//!
//! A method that works in epochs hands its state, as bytes, to a [`Keeper`] between two epochs; a
//! later run with the same data and settings takes it up. Everything random depends on the seed
//! and the number of the epoch only, so what follows is the same, bit for bit, as if the run had
//! never ended. Where the bytes are kept is the caller's business.

use std::io::{self, Read, Write};

/// Writes a state.
pub type Writer<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// Keeps the state of a run.
pub trait Keeper: Send + Sync {
    /// The state that an earlier run left, if there is one to go on from. Asked once, at the start.
    ///
    /// # Errors
    /// When there is one that cannot be read.
    fn resume(&self) -> io::Result<Option<Box<dyn Read + '_>>>;

    /// Whether it is time to save; asked after every epoch.
    fn due(&self) -> bool;

    /// Keeps what `state` writes in place of what was kept before. A failure is the keeper's to
    /// report: the run goes on.
    fn save(&self, state: &Writer<'_>);
}

pub(crate) fn put_u64(out: &mut dyn Write, value: u64) -> io::Result<()> {
    out.write_all(&value.to_le_bytes())
}

pub(crate) fn get_u64(input: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Numbers of four bytes, in pieces.
pub(crate) fn put_words(
    out: &mut dyn Write,
    words: impl IntoIterator<Item = u32>,
) -> io::Result<()> {
    let mut piece = Vec::new();
    for word in words {
        piece.extend_from_slice(&word.to_le_bytes());
        if piece.len() == 1 << 16 {
            out.write_all(&piece)?;
            piece.clear();
        }
    }
    out.write_all(&piece)
}

/// Reads `count` numbers of four bytes and hands each on.
pub(crate) fn get_words(
    input: &mut dyn Read,
    count: usize,
    mut take: impl FnMut(u32),
) -> io::Result<()> {
    let mut left = 4 * count;
    let mut piece = vec![0; left.min(1 << 16)];
    while left > 0 {
        let bytes = &mut piece[..left.min(1 << 16)];
        input.read_exact(bytes)?;
        bytes.chunks_exact(4).for_each(|c| take(u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
        left -= bytes.len();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let words: Vec<u32> = (0..40_000).map(|k| k * 77_777).collect();
        let mut bytes = Vec::new();
        put_u64(&mut bytes, u64::MAX - 3).unwrap();
        put_words(&mut bytes, words.iter().copied()).unwrap();
        let mut input = &bytes[..];
        assert_eq!(get_u64(&mut input).unwrap(), u64::MAX - 3);
        let mut found = Vec::new();
        get_words(&mut input, words.len(), |w| found.push(w)).unwrap();
        assert_eq!(found, words);
        assert!(get_words(&mut input, 1, |_| ()).is_err());
    }
}
