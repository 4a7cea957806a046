//! Text as people and terminals can take it: safe, measured, cut, listed, with digits in groups.
//!
//! Pure: strings go in, strings come out.

pub mod bars;
pub mod calendar;
pub mod digits;
pub mod lists;
pub mod sanitize;
pub mod sql;
pub mod fit;
pub mod direction;
pub mod delimited;
