//! x
/// x
pub struct HottopixxSettings;
