//! csv-agent answers questions about CSV files.
//!
//! The modules stand in reading order, from words to the command line; each imports only from those
//! before it.

#[cfg(test)]
mod cases;
pub mod json;
pub mod limits;
pub mod named_file;
pub mod directory;
pub mod status;
pub mod rating;
pub mod egress;
pub mod withheld;
pub mod catalog;
pub mod frame;
pub mod chart;
pub mod conversation;
pub mod event;
pub mod render;
pub mod dataset;
pub mod chosen;
pub mod families;
pub mod provider;
pub mod spark;
pub mod python;
pub mod session;
pub mod sink;
pub mod tools;
pub mod agent;
pub mod cli;
