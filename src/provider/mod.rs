//! Who answers requests.

pub mod error;
