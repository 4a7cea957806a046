//! The Python worker.

pub mod protocol;
