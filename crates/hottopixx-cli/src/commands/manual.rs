//! `hottopixx man`: the manual, made of the flags as they are declared.

use crate::args::{Cli, ManArgs};
use crate::failure::{Failure, print, print_data};
use clap::{Arg, Command, CommandFactory as _};
use hottopixx_io::write;
use std::fmt::Write as _;
use std::fs;

/// The manual: one page, one per command, or all of it in Markdown.
pub fn run(args: &ManArgs) -> Result<(), Failure> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    if args.markdown {
        return print_data(&markdown(&program));
    }
    let Some(folder) = &args.out else { return print_data(&page(program)) };
    fs::create_dir_all(folder)
        .map_err(|error| Failure::Wrong(format!("{}: {error}", folder.display())))?;
    let mut count = 0;
    for command in visible(&program) {
        let name = format!("hottopixx-{}", command.get_name());
        write::bytes(folder.join(format!("{name}.1")), page(command.clone()))?;
        count += 1;
    }
    write::bytes(folder.join("hottopixx.1"), page(program))?;
    print(&format!("written   {}: {} pages\n", folder.display(), count + 1))
}

/// The commands that the help lists.
fn visible(program: &Command) -> impl Iterator<Item = &Command> {
    program.get_subcommands().filter(|command| !command.is_hide_set())
}

/// A page in the language of `man`.
fn page(command: Command) -> String {
    let mut text = Vec::new();
    let made = clap_mangen::Man::new(command).render(&mut text);
    made.expect("memory can be written to");
    String::from_utf8_lossy(&text).into_owned()
}

/// Every command with its flags, as a page of Markdown: definition lists, headings with anchors.
fn markdown(program: &Command) -> String {
    let mut out = String::from("# Command line\n\n");
    let about = program.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(out, "{}.\n\n| command | does |\n|---|---|", escaped(&about));
    for command in visible(program) {
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "| [`{name}`](#{name}) | {} |", escaped(&about));
    }
    out.push('\n');
    below(&mut out, program);
    let global: Vec<&Arg> = program.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    flags(&mut out, &global);
    for command in visible(program) {
        let _ = writeln!(out, "## {} {{ #{} }}\n", command.get_name(), command.get_name());
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ");
        let _ = writeln!(out, "{}.\n\n```text\n{usage}\n```\n", escaped(&about));
        // `--help` and `--version` stand above, once for all.
        let is_own = |arg: &&Arg| {
            !arg.is_hide_set()
                && arg.get_id() != "help"
                && !global.iter().any(|other| other.get_id() == arg.get_id())
        };
        flags(&mut out, &command.get_arguments().filter(is_own).collect::<Vec<_>>());
        below(&mut out, command);
    }
    out
}

/// What the help of a command says below its flags.
fn below(out: &mut String, command: &Command) {
    if let Some(text) = command.get_after_help() {
        let _ = writeln!(out, "```text\n{text}\n```\n");
    }
}

/// Flags under their headings, in the order of the help.
fn flags(out: &mut String, all: &[&Arg]) {
    let heading = |arg: &Arg| match arg.get_help_heading() {
        Some(heading) => heading.to_owned(),
        None if arg.is_positional() => "Arguments".to_owned(),
        None => "Options".to_owned(),
    };
    let mut headings: Vec<String> = Vec::new();
    for arg in all {
        if !headings.contains(&heading(arg)) {
            headings.push(heading(arg));
        }
    }
    // As in the help: what has no flag first, what has no heading of its own next.
    headings.sort_by_key(|name| match name.as_str() {
        "Arguments" => 0,
        "Options" => 1,
        _ => 2,
    });
    for name in headings {
        let _ = writeln!(out, "**{name}**\n");
        for arg in all.iter().filter(|arg| heading(arg) == name) {
            let _ = writeln!(out, "`{}`\n:   {}\n", spelled(arg), described(arg));
        }
    }
}

/// `-r, --rank R`, as it is typed.
fn spelled(arg: &Arg) -> String {
    let mut names: Vec<String> = Vec::new();
    names.extend(arg.get_short().map(|short| format!("-{short}")));
    let aliases = arg.get_visible_aliases().unwrap_or_default();
    names.extend(arg.get_long().into_iter().chain(aliases).map(|long| format!("--{long}")));
    let takes = arg.get_action().takes_values();
    let values = arg.get_value_names().unwrap_or_default();
    let values: Vec<&str> = values.iter().map(|name| name.as_str()).collect();
    match (names.is_empty(), takes) {
        (true, _) => values.join(" "),
        (false, true) => format!("{} {}", names.join(", "), values.join(" ")),
        (false, false) => names.join(", "),
    }
}

/// What a flag does, what it may be, and what it is if not said.
fn described(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let mut text = escaped(&help.split_whitespace().collect::<Vec<_>>().join(" "));
    if !text.ends_with(['.', '?']) {
        text.push('.');
    }
    if !arg.get_action().takes_values() {
        return text;
    }
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), escaped(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        let _ = write!(text, " One of {}.", values.join(", "));
    }
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy());
    let defaults: Vec<String> =
        defaults.filter(|value| !value.is_empty()).map(String::from).collect();
    if !defaults.is_empty() {
        let _ = write!(text, " Default: `{}`.", defaults.join(" "));
    }
    text
}

/// Text whose characters mean nothing in Markdown; words that are flags are set as code.
fn escaped(text: &str) -> String {
    let word = |word: &str| {
        let flag = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        if flag.len() > 2 && flag.starts_with("--") {
            return format!("`{flag}`{}", &word[flag.len()..]);
        }
        let mut out = String::new();
        for c in word.chars() {
            match c {
                '<' => out.push_str("&lt;"),
                '&' => out.push_str("&amp;"),
                '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => out.extend(['\\', c]),
                _ => out.push(c),
            }
        }
        out
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Command {
        let mut program = Cli::command();
        program.build();
        program
    }

    /// Every command that the help lists is in the page, and the names of its flags in its own page.
    #[test]
    fn pages_name_commands_and_flags() {
        let program = program();
        let all = page(program.clone());
        for command in visible(&program) {
            // A hyphen is written `\-` there.
            let name = command.get_name().replace('-', "\\-");
            assert!(all.contains(&name), "{name}");
        }
        let factor = program.find_subcommand("factor").unwrap().clone();
        let own = page(factor);
        for flag in ["rank", "max\\-seconds", "objective"] {
            assert!(own.contains(flag), "{flag} is not in\n{own}");
        }
    }

    /// The Markdown has every command and, in its part, every flag with its help.
    #[test]
    fn markdown_has_every_flag_of_every_command() {
        let program = program();
        let text = markdown(&program);
        for command in visible(&program).filter(|command| command.get_name() != "help") {
            let name = command.get_name();
            let start =
                text.find(&format!("## {name} {{ #{name} }}")).unwrap_or_else(|| panic!("{name}"));
            let part = &text[start + 3..];
            let part = &part[..part.find("\n## ").unwrap_or(part.len())];
            let own =
                command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_global_set());
            for long in own.filter_map(Arg::get_long).filter(|long| *long != "help") {
                assert!(part.contains(&format!("--{long}")), "{name}: --{long}");
            }
        }
    }

    #[test]
    fn markdown_is_escaped() {
        assert_eq!(
            escaped("a_b <c> see --max-seconds, or --x"),
            "a\\_b &lt;c> see `--max-seconds`, or `--x`"
        );
    }
}
