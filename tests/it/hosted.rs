//! Code that the provider runs: turns whose code runs in its containers, and the bench's server.

mod client;
mod server;
mod turns;

use crate::ask::Turn;
use crate::bench::Bench;

/// Asks for events, with code that runs at the provider, and demands the exit status.
#[track_caller]
fn ask(bench: &Bench, arguments: &[&str], question: &str, code: i32) -> Turn {
    let hosted = ["--interpreter", "hosted", "--format", "jsonl"];
    let arguments = hosted.into_iter().chain(arguments.iter().copied());
    Turn::of(&bench.ask_with(arguments, question).fails_with(code))
}
