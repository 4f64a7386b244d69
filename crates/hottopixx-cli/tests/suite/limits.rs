//! Time limits and Ctrl-C on the real program: back in time, with an answer. `hottopixx-study limits`
//! is the whole sweep, and strict; here, beside other tests, five seconds more are no failure.

use hottopixx_study::limits::{LimitSettings, run};

#[test]
fn limits_hold_and_leave_an_answer() {
    let program = env!("CARGO_BIN_EXE_hottopixx").into();
    let settings = LimitSettings {
        program,
        data: None,
        quick: true,
        leeway: LimitSettings::BUSY,
        only: Vec::new(),
    };
    let report = run(&settings).unwrap();
    assert!(report.failures.is_empty(), "{}\n{:?}", report.text, report.failures);
    assert!(report.text.contains("factor hottopixx"), "{}", report.text);
}
