//! The program as its users run it; all tests in one program, which is linked once.

mod apply;
mod big;
mod browser;
mod comforts;
mod commands;
mod common;
mod constraints;
mod hostile;
mod limits;
mod missing;
mod outliers;
mod refusals;
mod reproduce;
mod resume;
mod soak;
mod tables;
mod topics;
mod topics_page;
mod unmix;
mod update;
mod verify;
