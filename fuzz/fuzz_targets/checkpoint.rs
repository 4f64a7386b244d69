#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hottopixx_fuzz::exercise::run("checkpoint", bytes));
