//! Flags from a file: `hottopixx.toml` in the working folder, or `--config FILE`.
//!
//! Keys are the long names of flags; those above all sections are for every command that has the flag, those in
//! `[factor]` for `factor` alone. The file becomes words of the command line, behind the name of the command, so that
//! nothing else in the program knows of it; a flag that the user gives, or that excludes one of the file, wins.

use crate::args::Cli;
use crate::failure::{Failure, say};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory as _};
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The file that is read where it exists.
const USUAL: &str = "hottopixx.toml";
/// No file of flags is larger.
const MOST_BYTES: u64 = 1 << 20;
/// Commands that have nothing to be set.
const WITHOUT: [&str; 5] = ["bench", "completions", "help", "man", "self-test"];
/// Flags that mean nothing in a file.
const NEVER: [&str; 4] = ["config", "help", "no-config", "version"];

/// The command line, with what the file says behind the name of the command.
pub fn applied(words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let mut program = Cli::command();
    program.build();
    // Help, and words that make no sense, are for the parser proper.
    let Ok(given) = Cli::command().ignore_errors(true).try_get_matches_from(&words) else {
        return Ok(words);
    };
    let Some((name, own)) = given.subcommand() else { return Ok(words) };
    if own.get_flag("no_config") || WITHOUT.contains(&name) {
        return Ok(words);
    }
    let path = match own.get_one::<PathBuf>("config") {
        Some(path) => path.clone(),
        None if Path::new(USUAL).is_file() => PathBuf::from(USUAL),
        None => return Ok(words),
    };
    let said = flags(&path, &read(&path)?, &program, name, own)?;
    let quiet = own.try_get_one::<bool>("quiet").is_ok_and(|quiet| quiet == Some(&true));
    if !said.is_empty() && !quiet {
        say(&format!("flags from {}: {}", path.display(), said.join(" ")));
    }
    // `--config factor factor X.npy`: the word after `--config` is no command.
    let is_command = |k: &usize| words[*k] == *name && (*k == 1 || words[*k - 1] != *"--config");
    let Some(at) = (1..words.len()).find(is_command) else { return Ok(words) };
    let mut all = words[..=at].to_vec();
    all.extend(said.into_iter().map(OsString::from));
    all.extend_from_slice(&words[at + 1..]);
    Ok(all)
}

fn read(path: &Path) -> Result<Table, Failure> {
    let wrong = |what: String| Failure::Wrong(format!("{}: {what}", path.display()));
    let file = fs::File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    let bytes = read.map_err(|error| wrong(error.to_string()))?;
    if bytes as u64 > MOST_BYTES {
        return Err(wrong("a file of flags has at most 1 MiB".to_owned()));
    }
    text.parse::<Table>().map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        wrong(format!("line {line}: {}; write flag = value, one per line", error.message()))
    })
}

/// The words that the file adds to this command line. All of it is checked, also what is for other commands.
fn flags(
    path: &Path,
    table: &Table,
    program: &Command,
    name: &str,
    given: &ArgMatches,
) -> Result<Vec<String>, Failure> {
    let wrong = |what: String| Failure::Wrong(format!("{}: {what}", path.display()));
    let commands = || program.get_subcommands().filter(|command| !command.is_hide_set());
    let mut settings: Vec<(&str, &Value)> = Vec::new();
    for (key, value) in table {
        let Value::Table(section) = value else {
            if !commands().any(|command| flag(command, key).is_some()) {
                return Err(wrong(format!(
                    "no command has a flag --{key}: see 'hottopixx man --markdown' for those there are"
                )));
            }
            settings.push((key, value));
            continue;
        };
        let Some(command) = commands().find(|command| command.get_name() == key) else {
            return Err(wrong(format!(
                "[{key}] is no command: see 'hottopixx --help' for those there are"
            )));
        };
        if let Some(key) = section.keys().find(|key| flag(command, key).is_none()) {
            return Err(wrong(format!(
                "[{}] has no flag --{key}: see 'hottopixx {} --help' for those there are",
                command.get_name(),
                command.get_name()
            )));
        }
    }
    let command = program.find_subcommand(name).expect("the parser knows it");
    // What is said of this command alone comes instead of what is said of all.
    let own = table.get(name).and_then(Value::as_table);
    settings.retain(|(key, _)| own.is_none_or(|own| !own.contains_key(*key)));
    settings.extend(own.into_iter().flatten().map(|(key, value)| (key.as_str(), value)));
    let by_user = |arg: &Arg| {
        given.try_contains_id(arg.get_id().as_str()).is_ok()
            && given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let mut words = Vec::new();
    for (key, value) in settings {
        let Some(arg) = flag(command, key) else { continue };
        if by_user(arg) || command.get_arg_conflicts_with(arg).into_iter().any(by_user) {
            continue;
        }
        words.extend(word(arg, key, value).map_err(wrong)?);
    }
    Ok(words)
}

/// The flag of this long name.
fn flag<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    let has = |arg: &&Arg| {
        arg.get_long() == Some(key)
            || arg.get_visible_aliases().is_some_and(|all| all.contains(&key))
    };
    command.get_arguments().find(has).filter(|_| !NEVER.contains(&key))
}

/// A setting as a word of the command line; none for a switch that is off.
fn word(arg: &Arg, key: &str, value: &Value) -> Result<Option<String>, String> {
    let takes = arg.get_action().takes_values();
    match value {
        Value::Boolean(on) if !takes => Ok(on.then(|| format!("--{key}"))),
        _ if !takes => Err(format!("{key} is a switch: write {key} = true, or false")),
        Value::String(text) => Ok(Some(format!("--{key}={text}"))),
        Value::Integer(number) => Ok(Some(format!("--{key}={number}"))),
        Value::Float(number) => Ok(Some(format!("--{key}={number}"))),
        _ => Err(format!("{key} takes a number or a text in quotes, as on the command line")),
    }
}
