//! Rendering of values for people and programs: tables, charts, blocks.
//!
//! Nothing here accesses a file or a terminal; functions return text and bytes.

pub mod answer;
pub mod table;
pub mod blocks;
mod plotly;
pub mod page;
pub mod report;
pub mod terminal_markdown;
pub mod links;
pub mod inert;
