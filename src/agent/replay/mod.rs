//! Reruns a past turn without a model: repeats its calls and compares their results with the recorded ones.

pub mod compare;
mod containers;
pub mod cell_dependencies;
pub mod stored_turn;
pub mod expectation;
mod rerun;
mod whole_tables;

pub use rerun::{Rerun, RerunOptions, rerun};
