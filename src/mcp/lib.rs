//! The server of the Model Context Protocol: the tools of a turn for the model of another program.
//!
//! This room speaks the protocol, and knows no session. A call of a client becomes an [`ClientOrder`]; whoever reads the
//! orders does the work as a turn, has its result put into words by [`ClientOrder::answer`], and answers. Lists and
//! prompts need no work and are answered at once.

mod answer;
pub mod clients;
mod doubt;
mod names;
mod order;
mod prompts;
mod resources;
mod server;
mod settings;
mod table_view;
mod tools;
mod transport;
mod work;

pub use answer::{ClientTurn, ToolAnswer, WorkResult};
pub use order::{ClientOrder, StopSignal};
pub use resources::{ResourceBody, ResourceEntry, Stored, StoredPart};
pub use server::{Shelf, serve};
pub use settings::ServerSettings;
pub use work::{IngestWork, Work};
