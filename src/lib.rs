//! csv-agent answers questions about CSV files.
//!
//! The modules stand in reading order, from words to the command line; each imports only from those
//! before it.

#[cfg(test)]
#[path = "testing/cases.rs"]
mod cases;
#[path = "types/json.rs"]
pub mod json;
#[path = "types/limits.rs"]
pub mod limits;
#[path = "types/named_file.rs"]
pub mod named_file;
#[path = "types/directory.rs"]
pub mod directory;
#[path = "types/status.rs"]
pub mod status;
#[path = "types/rating.rs"]
pub mod rating;
#[path = "types/egress.rs"]
pub mod egress;
#[path = "types/withheld.rs"]
pub mod withheld;
#[path = "types/catalog.rs"]
pub mod catalog;
#[path = "types/frame.rs"]
pub mod frame;
#[path = "types/chart.rs"]
pub mod chart;
#[path = "types/conversation.rs"]
pub mod conversation;
#[path = "types/event.rs"]
pub mod event;
pub mod render;
#[path = "ingest/mod.rs"]
pub mod dataset;
#[path = "types/chosen.rs"]
pub mod chosen;
#[path = "ingest/families.rs"]
pub mod families;
pub mod provider;
#[path = "cluster/mod.rs"]
pub mod spark;
#[path = "worker/mod.rs"]
pub mod python;
pub mod session;
pub mod sink;
pub mod tools;
pub mod agent;
pub mod cli;
