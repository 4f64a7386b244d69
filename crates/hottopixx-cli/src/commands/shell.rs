//! `hottopixx completions` and `hottopixx man`: both made of the flags as they are declared.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::failure::{Failure, print, print_data};
use clap::{Command, CommandFactory as _};
use hottopixx_io::write;
use std::fs;

/// What the shell runs to complete words of a command line.
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hottopixx", &mut script);
    print_data(&String::from_utf8_lossy(&script))
}

/// The manual: one page, or one per command.
pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &args.out else { return print_data(&page(program)) };
    fs::create_dir_all(folder)
        .map_err(|error| Failure::Wrong(format!("{}: {error}", folder.display())))?;
    let mut count = 0;
    for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = format!("hottopixx-{}", command.get_name());
        write::bytes(folder.join(format!("{name}.1")), page(command.clone()))?;
        count += 1;
    }
    write::bytes(folder.join("hottopixx.1"), page(program))?;
    print(&format!("written   {}: {} pages\n", folder.display(), count + 1))
}

/// A page in the language of `man`.
fn page(command: Command) -> String {
    let mut text = Vec::new();
    let made = clap_mangen::Man::new(command).render(&mut text);
    made.expect("memory can be written to");
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command that the help lists is in the page, and the names of its flags in its own page.
    #[test]
    fn pages_name_commands_and_flags() {
        let mut program = Cli::command();
        program.build();
        let all = page(program.clone());
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
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
}
