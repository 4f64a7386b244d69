//! Every way in which the program can end without success, and its exit code.

use std::io::{self, IsTerminal as _, Write};

/// Why there is no success. Each carries one sentence for standard error.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The data or the options are wrong: exit code 1.
    Wrong(String),
    /// A word of the command line cannot be meant: exit code 2.
    Usage(String),
    /// There is no answer (infeasible), or a limit was hit before there was one: exit code 3.
    NoAnswer(String),
    /// The user interrupted: exit code 130.
    Interrupted(String),
}

impl Failure {
    /// A failure of the library about `input`, which the sentence then names.
    pub fn from_library(input: &str, error: &hottopixx::Error) -> Self {
        use hottopixx::Error::{Infeasible, NoAnswer};
        use hottopixx::control::Stop;
        match error {
            NoAnswer(Stop::Interrupted) => {
                Failure::Interrupted("interrupted before there was any answer".to_owned())
            }
            Infeasible { .. } => Failure::NoAnswer(format!("{input}: {error}")),
            NoAnswer(_) => Failure::NoAnswer(format!("{input}: {error}; raise --max-seconds")),
            _ => Failure::Wrong(format!("{input}: {error}")),
        }
    }

    /// A setting that the library refuses, whatever the input.
    pub fn of_setting(error: hottopixx::Error) -> Self {
        Failure::Wrong(error.to_string())
    }

    /// Says the sentence, in one line whatever file names it contains, and gives the exit code.
    pub fn report(&self) -> u8 {
        let (sentence, code) = match self {
            Failure::Wrong(sentence) => (sentence, 1),
            Failure::Usage(sentence) => (sentence, 2),
            Failure::NoAnswer(sentence) => (sentence, 3),
            Failure::Interrupted(sentence) => (sentence, 130),
        };
        say(sentence);
        code
    }
}

impl From<hottopixx_io::Error> for Failure {
    fn from(error: hottopixx_io::Error) -> Self {
        Failure::Wrong(error.to_string())
    }
}

/// One line on standard error; a closed standard error is no reason to fail.
pub fn say(sentence: &str) {
    say_line(&format!("hottopixx: {sentence}"));
}

/// As [`say`], without the name of the program.
pub fn say_line(line: &str) {
    let line = hottopixx_report::table::plain(&line.replace(['\n', '\r'], " "));
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Writes to standard output, without what would act on a terminal. A reader that has gone away, as in
/// `| head`, is success.
pub fn print(text: &str) -> Result<(), Failure> {
    print_as_it_is(|out| out.write_all(hottopixx_report::table::plain_lines(text).as_bytes()))
}

/// The same for data, of which only people are spared the odd characters.
pub fn print_data(text: &str) -> Result<(), Failure> {
    print_data_with(|out| out.write_all(text.as_bytes()))
}

/// As [`print_data`], for what is written piece by piece.
pub fn print_data_with(body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    if !io::stdout().is_terminal() {
        return print_as_it_is(body);
    }
    let mut text = Vec::new();
    body(&mut text).map_err(|error| Failure::Wrong(format!("standard output: {error}")))?;
    print(&String::from_utf8_lossy(&text))
}

fn print_as_it_is(body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match body(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Wrong(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::Error;
    use hottopixx::control::Stop;

    #[test]
    fn limits_and_interrupts_have_their_own_codes() {
        let failure = |error| Failure::from_library("x.npy", &error);
        assert!(matches!(failure(Error::NoAnswer(Stop::TimeLimit)), Failure::NoAnswer(_)));
        assert!(matches!(failure(Error::NoAnswer(Stop::Interrupted)), Failure::Interrupted(_)));
        let infeasible = Error::Infeasible { tau: 0.1, bound: 0.25, enough: 0.3, must: 0 };
        let Failure::NoAnswer(sentence) = failure(infeasible) else { panic!() };
        assert!(sentence.contains("within tau = 0.1; the smallest tau that can be"), "{sentence}");
        assert!(sentence.ends_with("is at least 0.25, and 0.3 is enough"), "{sentence}");
        let Failure::Wrong(sentence) = failure(Error::AllZero { rows: 3 }) else { panic!() };
        assert!(sentence.starts_with("x.npy: all 3 rows"), "{sentence}");
    }
}
