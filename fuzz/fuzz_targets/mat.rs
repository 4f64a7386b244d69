#![no_main]

libfuzzer_sys::fuzz_target!(init: hottopixx_fuzz::prepare(), |bytes: &[u8]| hottopixx_fuzz::exercise::mat(bytes));
