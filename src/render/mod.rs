//! From values to what people and programs read: tables, charts, blocks.
//!
//! Nothing here touches a file or a terminal; text and bytes come out.

#[path = "../text/digits.rs"]
pub mod digits;
#[path = "../text/sanitize.rs"]
pub mod sanitize;
pub mod table;
#[path = "../chart/mod.rs"]
pub mod chart;
pub mod blocks;
pub mod page;
pub mod report;
pub mod prose;
pub mod links;
pub mod inert;
