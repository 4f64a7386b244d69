//! The `hottopixx` program; everything is in the library beside it.

use hottopixx_cli::Launch;
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(hottopixx_cli::main(Launch::by_name()))
}
