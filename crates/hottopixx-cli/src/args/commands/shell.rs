//! What shells and `man` know about the program.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// `completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx completions bash > ~/.local/share/bash-completion/completions/hottopixx
  hottopixx completions zsh > ~/.zfunc/_hottopixx        with fpath+=~/.zfunc
  hottopixx completions fish > ~/.config/fish/completions/hottopixx.fish
  hottopixx completions powershell >> $PROFILE")]
pub struct CompletionsArgs {
    /// For which shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// `man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx man | man -l -
  hottopixx man --markdown                       all commands with all flags
  hottopixx man --out ~/.local/share/man/man1    one page per command")]
pub struct ManArgs {
    /// Write a page for each command to this folder, hottopixx-factor.1 and the like, instead of one page
    /// to standard output
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Print the manual of all commands in Markdown
    #[arg(long, conflicts_with = "out", help_heading = "Output")]
    pub markdown: bool,
}
