//! Code that the provider runs: turns whose code runs in its containers, and the bench's server.

mod server;
