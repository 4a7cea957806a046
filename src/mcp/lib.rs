//! The server of the Model Context Protocol: the tools of a turn for the model of another program.
//!
//! This room speaks the protocol, and knows no session. A call of a client becomes a [`PendingCall`]; whoever reads the
//! calls does the work as a turn, has its result put into words by [`PendingCall::answer`], and answers. Lists and
//! prompts need no work and are answered at once.

mod answer;
pub mod clients;
mod doubt;
mod names;
mod pending_call;
mod prompts;
mod resources;
mod server;
mod settings;
mod table_view;
mod tools;
mod transport;
mod work;

pub use answer::{ClientTurn, ToolAnswer, WorkResult};
pub use pending_call::{PendingCall, StopSignal};
pub use resources::{
    DATASETS_LISTED_MAX, ResourceBody, ResourceEntry, Stored, StoredPart, TURNS_LISTED_MAX,
};
pub use server::{ResourceStore, serve};
pub use settings::ServerSettings;
pub use work::{IngestWork, Work};
