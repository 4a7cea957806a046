//! A turn of the past again, without a model: its calls run as they did then, and what they give is
//! compared with what they gave.

pub mod compare;
mod containers;
pub mod cell_dependencies;
pub mod stored_turn;
pub mod expectation;
mod rerun;

pub use rerun::{RerunOptions, rerun};
