//! A field of JSON objects, one object per line.

use super::lines::LONGEST_LINE;
use super::{DocumentColumns, Output};
use crate::error::{Fault, quote};
use crate::scan::Lines;
use serde_json::{Map, Value};
use std::io::Read;

/// Fields that are looked for when none is named, in this order.
const USUAL: [&str; 6] = ["text", "body", "abstract", "content", "document", "message"];

pub(super) fn read(
    reader: impl Read,
    columns: &DocumentColumns,
    out: &mut Output<'_>,
) -> Result<(), Fault> {
    let mut lines = Lines::new(reader, LONGEST_LINE);
    let mut field = columns.text.clone();
    while let Some(line) = lines.next_full(None)? {
        let object: Map<String, Value> = serde_json::from_slice(line.bytes).map_err(|error| {
            let what = format!("the line is not a JSON object ({error})");
            line.fault(what, "give one object per line")
        })?;
        if field.is_none() {
            let found = chosen(&object).ok_or_else(|| {
                line.fault("no field of the object is text", "name the field with --column")
            })?;
            out.names.notes.push(format!("Documents: the field {}.", quote(found.as_bytes())));
            field = Some(found);
        }
        let name = field.as_deref().unwrap_or_default();
        let text = match object.get(name) {
            Some(Value::String(text)) => text.as_str(),
            Some(Value::Null) => "",
            Some(_) => {
                let what = format!("the field {} is no text", quote(name.as_bytes()));
                return Err(line.fault(what, "name another field with --column"));
            }
            None => {
                let what = format!("the object has no field {}", quote(name.as_bytes()));
                let there: Vec<&str> = object.keys().map(String::as_str).take(8).collect();
                return Err(line.fault(what, format!("its fields are {}", there.join(", "))));
            }
        };
        let [title, date] = [&columns.title, &columns.date].map(|column| {
            column.as_ref().and_then(|name| object.get(name)).map(|value| match value {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            })
        });
        out.add(text.as_bytes(), title, date)?;
    }
    Ok(())
}

/// A field with a usual name, else the one with the longest text.
fn chosen(object: &Map<String, Value>) -> Option<String> {
    let usual = USUAL.iter().find(|name| object.get(**name).is_some_and(Value::is_string));
    if let Some(name) = usual {
        return Some((*name).to_owned());
    }
    let texts = object.iter().filter_map(|(name, value)| Some((name, value.as_str()?.len())));
    texts.max_by_key(|(_, length)| *length).map(|(name, _)| name.clone())
}
