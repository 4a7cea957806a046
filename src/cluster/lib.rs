//! Spark Connect: what runs on a cluster, and who may ask for it.
//!
//! The worker can reach nothing but the [`Relay`], over one inherited socket; the relay checks each
//! request, adds what is secret, and speaks to the one server of the session.

mod access;
mod call;
mod channel;
mod endpoint;
mod error;
mod fields;
mod messages;
mod policy;
mod progress;
mod relay;
mod wire;

pub use crate::call::Activity;
pub use access::ClusterAccess;
pub use channel::{Traffic, contact};
pub use endpoint::{Endpoint, SCHEME};
pub use error::{ClusterError, beginning};
pub use progress::JobProgress;
pub use relay::{Allowed, Relay};
