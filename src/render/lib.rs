//! From values to what people and programs read: tables, charts, blocks.
//!
//! Nothing here touches a file or a terminal; text and bytes come out.

pub mod answer;
pub mod table;
pub mod blocks;
pub mod page;
pub mod report;
pub mod terminal_markdown;
pub mod links;
pub mod inert;
