//! x
/// x
pub struct FrobeniusSettings;
