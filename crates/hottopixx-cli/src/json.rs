//! JSON files that the program has written, read again.

use hottopixx_io::json_fault;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

/// Nothing that this program writes is larger.
const LARGEST: u64 = 1 << 32;

/// What stands in a file; else why it cannot be had, in words to go on from. What is no file of its own
/// (a pipe, a device) is taken as it comes, so that memory is taken only for what makes sense.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read ({error})");
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.len() > LARGEST {
        return Err("it is too large to be a file of this program".to_owned());
    }
    let mut input = file.take(LARGEST);
    if !metadata.is_file() {
        return serde_json::from_reader(BufReader::new(input)).map_err(|e| json_fault(&e));
    }
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(unreadable)?;
    serde_json::from_slice(&bytes).map_err(|e| json_fault(&e))
}
