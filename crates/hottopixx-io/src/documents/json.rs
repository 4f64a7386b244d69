//! A field of JSON objects, one object per line.

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
    let mut lines = Lines::new(reader, columns.longest());
    let mut fields = columns.text.as_ref().map_or_else(Vec::new, |list| list.items().to_vec());
    while let Some(line) = lines.next_full(None)? {
        let object: Map<String, Value> = serde_json::from_slice(line.bytes).map_err(|error| {
            let what = format!("the line is not a JSON object ({error})");
            line.fault(what, "give one object per line")
        })?;
        if fields.is_empty() {
            let found = chosen(&object).ok_or_else(|| {
                line.fault("no field of the object is text", "name the field with --column")
            })?;
            out.names.notes.push(format!("Documents: the field {}.", quote(found.as_bytes())));
            fields.push(found);
        }
        let mut text = String::new();
        for name in &fields {
            let part = part(&object, name).map_err(|(what, remedy)| line.fault(what, remedy))?;
            if !text.is_empty() && !part.is_empty() {
                text.push('\n');
            }
            text += part;
        }
        let [title, date] = [&columns.title, &columns.date].map(|column| {
            column.as_ref().and_then(|name| object.get(name)).map(|value| match value {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            })
        });
        match text.trim().is_empty() {
            true => out.add_missing(line.number, title, date)?,
            false => out.add(text.as_bytes(), title, date)?,
        }
    }
    Ok(())
}

/// The text of a field, or what is wrong with it and what to do.
fn part<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str, (String, String)> {
    match object.get(name) {
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(Value::Null) => Ok(""),
        Some(_) => Err((
            format!("the field {} is no text", quote(name.as_bytes())),
            "name another field with --column".to_owned(),
        )),
        None => {
            let there: Vec<&str> = object.keys().map(String::as_str).take(8).collect();
            Err((
                format!("the object has no field {}", quote(name.as_bytes())),
                format!("its fields are {}", there.join(", ")),
            ))
        }
    }
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
