//! Shared types and vocabulary of the rooms: the catalog, the conversation, events, limits with their
//! units, and the kinds of failure.
//!
//! The modules are in reading order; each imports only from earlier ones.

pub mod json;
pub mod limits;
pub mod named_file;
pub mod writers;
pub mod directory;
pub mod status;
pub mod thresholds;
pub mod egress;
pub mod dataset_names;
pub mod redaction;
pub mod catalog;
pub mod frame;
pub mod chart_options;
pub mod chart;
pub mod chosen;
pub mod conversation;
pub mod event;
