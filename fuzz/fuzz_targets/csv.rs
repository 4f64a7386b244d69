#![no_main]

use hottopixx_io::Format;

libfuzzer_sys::fuzz_target!(init: hottopixx_fuzz::prepare(), |bytes: &[u8]| hottopixx_fuzz::exercise::parser(Format::Csv, bytes));
