//! A field of JSON objects: one object per line, or an array of them.
//!
//! A field inside an object of the object goes by its path, `article.text`. Numbers count as text, and lists as
//! their parts, a line each; an object that lacks the field is a document that is missing.

use super::{DocumentColumns, Output};
use crate::error::{Fault, FileLocation, json_fault, quote};
use crate::scan::Lines;
use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

/// Fields that are looked for when none is named, in this order.
const USUAL: [&str; 6] = ["text", "body", "abstract", "content", "document", "message"];
/// Objects in objects that are looked into for text.
const DEEPEST: usize = 8;
/// Fields that a sentence names.
const NAMED: usize = 8;

type Object = Map<String, Value>;

pub(super) fn read(
    reader: impl Read,
    columns: &DocumentColumns,
    out: &mut Output<'_>,
) -> Result<(), Fault> {
    let mut reader = BufReader::new(reader);
    let first = reader.fill_buf()?.trim_ascii_start().first().copied();
    let fields = columns.text.as_ref().map_or_else(Vec::new, |list| list.items().to_vec());
    let mut objects = Objects { fields, columns, out, present: Vec::new(), found: false };
    if first == Some(b'[') {
        array(reader, &mut objects)?;
    } else {
        let mut lines = Lines::new(reader, columns.longest());
        while let Some(line) = lines.next_full(None)? {
            let object: Object = serde_json::from_slice(line.bytes).map_err(|error| {
                let what = format!("the line is not a JSON object ({})", json_fault(&error));
                line.fault(what, "give one object per line, or an array of objects")
            })?;
            let taken = objects.take(&object, line.number)?;
            taken.map_err(|(what, remedy)| line.fault(what, remedy))?;
        }
    }
    objects.finish()
}

/// The objects of one array, each handed on when it is read.
fn array(reader: impl Read, objects: &mut Objects<'_, '_>) -> Result<(), Fault> {
    let longest = objects.columns.longest();
    let left = Cell::new(longest);
    let (mut fault, mut number) = (None, 0);
    let elements =
        Elements { objects, fault: &mut fault, number: &mut number, left: &left, longest };
    let mut reader = serde_json::Deserializer::from_reader(Limited { reader, left: &left });
    let read = reader.deserialize_seq(elements).and_then(|()| reader.end());
    match (fault, read) {
        (Some(fault), _) => Err(fault),
        (None, Ok(())) => Ok(()),
        (None, Err(_)) if left.get() == 0 => Err(Fault::file(
            format!("object {} is longer than {longest} bytes", number + 1),
            "divide it into several documents, or raise --memory",
        )),
        (None, Err(error)) if error.is_io() => Err(std::io::Error::from(error).into()),
        (None, Err(error)) => Err(Fault::line(
            error.line() as u64,
            format!("it is not an array of JSON objects ({})", json_fault(&error)),
            "give one object per line, or an array of objects",
        )),
    }
}

/// A reader that ends with an error when this many bytes have been read: sizes of elements are limited as those of
/// lines are, since one is held in memory as a whole. Whoever takes an element sets the number back.
struct Limited<'a, R> {
    reader: R,
    left: &'a Cell<u64>,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = usize::try_from(self.left.get()).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 && !buffer.is_empty() {
            return Err(std::io::Error::other("an element is too long"));
        }
        let read = self.reader.read(&mut buffer[..most])?;
        self.left.set(self.left.get() - read as u64);
        Ok(read)
    }
}

/// Takes the elements of an array; why it ended goes to `fault`, how many there were to `number`.
struct Elements<'a, 'b, 'c> {
    objects: &'a mut Objects<'b, 'c>,
    fault: &'a mut Option<Fault>,
    number: &'a mut u64,
    left: &'a Cell<u64>,
    longest: u64,
}

impl<'de> Visitor<'de> for Elements<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(object) = elements.next_element::<Object>()? {
            *self.number += 1;
            let number = *self.number;
            self.left.set(self.longest);
            let fault = match self.objects.take(&object, number) {
                Ok(Ok(())) => continue,
                Ok(Err((what, remedy))) => Fault::file(format!("object {number}: {what}"), remedy),
                Err(Fault::Malformed { place: FileLocation::Line(_), what, remedy }) => {
                    Fault::file(format!("object {number}: {what}"), remedy)
                }
                Err(fault) => fault,
            };
            *self.fault = Some(fault);
            return Err(serde::de::Error::custom("it ended"));
        }
        Ok(())
    }
}

/// What is wrong with an object, and what to do.
type Wrong = (String, String);

/// Makes documents of objects.
struct Objects<'a, 'b> {
    /// Paths of the fields that are the text; of the first object with any where none was named.
    fields: Vec<String>,
    columns: &'a DocumentColumns,
    out: &'a mut Output<'b>,
    /// Fields of the first object.
    present: Vec<String>,
    /// Whether any object had one of `fields`.
    found: bool,
}

impl Objects<'_, '_> {
    fn take(&mut self, object: &Object, number: u64) -> Result<Result<(), Wrong>, Fault> {
        if self.present.is_empty() {
            self.present = object.keys().take(NAMED).cloned().collect();
        }
        if self.fields.is_empty()
            && let Some(field) = chosen(object)
        {
            let note = format!("Documents: the field {}.", quote(field.as_bytes()));
            self.out.names.notes.push(note);
            self.fields.push(field);
        }
        let mut text = String::new();
        for name in &self.fields {
            let Some(value) = at(object, name) else { continue };
            self.found = true;
            if !append(value, &mut text) {
                let what = format!("the field {} is no text", quote(name.as_bytes()));
                return Ok(Err((what, "name another field with --column".to_owned())));
            }
        }
        let [title, date] = [&self.columns.title, &self.columns.date].map(|column| {
            column.as_ref().and_then(|name| at(object, name)).map(|value| match value {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            })
        });
        match text.trim().is_empty() {
            true => self.out.add_missing(number, title, date)?,
            false => self.out.add(text.as_bytes(), title, date)?,
        }
        Ok(Ok(()))
    }

    fn finish(self) -> Result<(), Fault> {
        if self.found || self.present.is_empty() {
            return Ok(());
        }
        let there = format!("the first has {}", self.present.join(", "));
        Err(match self.fields.first() {
            None => Fault::file("no field of any object is text", "name the field with --column"),
            Some(name) => {
                let what = format!("no object has a field {}", quote(name.as_bytes()));
                Fault::file(what, format!("name another with --column; {there}"))
            }
        })
    }
}

/// The value of a field: of this name, or at this path of names with dots between them.
fn at<'a>(object: &'a Object, path: &str) -> Option<&'a Value> {
    if let Some(value) = object.get(path) {
        return Some(value);
    }
    path.match_indices('.').find_map(|(dot, _)| {
        object.get(&path[..dot]).and_then(Value::as_object).and_then(|o| at(o, &path[dot + 1..]))
    })
}

/// Adds the text of a value, on lines of its own; says whether it is text.
fn append(value: &Value, text: &mut String) -> bool {
    let part = match value {
        Value::Null => return true,
        Value::Object(_) => return false,
        Value::Array(values) => return values.iter().all(|value| append(value, text)),
        Value::String(part) => part.as_str().into(),
        Value::Number(_) | Value::Bool(_) => std::borrow::Cow::Owned(value.to_string()),
    };
    if !text.is_empty() && !part.is_empty() {
        text.push('\n');
    }
    *text += &part;
    true
}

/// The field with a usual name, the outermost first, else the one with the longest text.
fn chosen(object: &Object) -> Option<String> {
    let mut texts = Vec::new();
    collect(object, "", DEEPEST, &mut texts);
    let last =
        |path: &str| path.rsplit('.').next().and_then(|n| USUAL.iter().position(|u| *u == n));
    let usual = texts.iter().filter_map(|(path, depth, _)| Some((depth, last(path)?, path)));
    let usual = usual.min().map(|(_, _, path)| path.clone());
    usual.or_else(|| texts.into_iter().max_by_key(|text| text.2).map(|(path, _, _)| path))
}

/// The paths of the fields that are strings, with how deep they are and how long.
fn collect(object: &Object, before: &str, depth: usize, texts: &mut Vec<(String, usize, usize)>) {
    for (name, value) in object {
        let path = format!("{before}{name}");
        match value {
            Value::String(text) => texts.push((path, DEEPEST - depth, text.len())),
            Value::Object(inner) if depth > 0 => {
                collect(inner, &format!("{path}."), depth - 1, texts);
            }
            _ => {}
        }
    }
}
