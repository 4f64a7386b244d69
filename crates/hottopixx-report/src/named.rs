//! Rows of the input with their names.

use hottopixx::HottRow;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

/// A row of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct NamedRow {
    /// Row of the input, from 0.
    pub row: usize,
    /// Its name, where names are known.
    pub name: Option<String>,
}

impl NamedRow {
    /// The row with its name, where there are names.
    pub fn new(row: usize, names: Option<&[String]>) -> Self {
        NamedRow { row, name: name_of(row, names) }
    }
}

/// A hott row of an answer and its name, where names are known. It serialises as one object, the name
/// after the row.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
pub struct NamedHott {
    /// The row.
    #[serde(flatten)]
    pub hott: HottRow,
    /// Its name.
    #[serde(default)]
    pub name: Option<String>,
}

impl NamedHott {
    /// The row with its name, where there are names.
    pub fn new(hott: HottRow, names: Option<&[String]>) -> Self {
        let name = name_of(hott.row, names);
        NamedHott { hott, name }
    }
}

impl NamedHott {
    /// Its name, or its number where there are no names.
    pub fn label(&self) -> String {
        label(self.hott.row, self.name.as_deref())
    }
}

impl Serialize for NamedHott {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let HottRow { row, weight, group } = &self.hott;
        let mut object = serializer.serialize_struct("NamedHott", 4)?;
        object.serialize_field("row", row)?;
        object.serialize_field("name", &self.name)?;
        object.serialize_field("weight", weight)?;
        object.serialize_field("group", group)?;
        object.end()
    }
}

/// The name of a row, or its number where there are no names.
pub(crate) fn label(row: usize, name: Option<&str>) -> String {
    name.map_or_else(|| row.to_string(), str::to_owned)
}

/// The number of a row, and its name where there are names: `7 (oil)`.
pub fn numbered(row: usize, name: Option<&str>) -> String {
    let named = |name| format!("{row} ({})", crate::table::plain(name));
    name.map_or_else(|| row.to_string(), named)
}

/// The name of a row, where there are names.
pub(crate) fn name_of(row: usize, names: Option<&[String]>) -> Option<String> {
    names.and_then(|names| names.get(row).cloned())
}
