//! A turn of the past again, without a model: its calls run as they did then, and what they give is
//! compared with what they gave.

pub mod compare;
mod containers;
pub mod outline;
pub mod past;
pub mod proof;
mod rerun;

pub use rerun::{RerunOptions, rerun};
