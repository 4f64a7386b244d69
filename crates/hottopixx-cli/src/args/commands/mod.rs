//! The flags of each command: one file per command.

mod certify;
mod compare;
mod demo;
mod evaluate;
mod factor;
mod generate;
mod info;
mod partition;
mod rank;
mod reproduce;
mod sample;
mod shell;
mod topics;
mod unmix;
mod verify;

pub use certify::CertifyArgs;
pub use compare::CompareArgs;
pub use demo::DemoArgs;
pub use evaluate::EvaluateArgs;
pub use factor::FactorArgs;
pub use generate::GenerateArgs;
pub use info::InfoArgs;
pub use partition::PartitionArgs;
pub use rank::RankArgs;
pub use reproduce::ReproduceArgs;
pub use sample::{SampleArgs, SampleName};
pub use shell::{CompletionsArgs, ManArgs};
pub use topics::{ApplyArgs, NewData, TopicsArgs};
pub use unmix::UnmixArgs;
pub use verify::VerifyArgs;
