//! Code that the provider runs: turns whose code runs in its containers, and the bench's server.

mod again;
mod client;
mod ends;
mod files;
mod life;
mod malice;
mod reuse;
mod server;
mod turns;

use crate::ask::Turn;
use crate::bench::{Bench, Round, round};

/// A picture of one pixel.
const PNG: &[u8] = &[
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0,
    0, 0, 31, 21, 196, 137, 0, 0, 0, 13, 73, 68, 65, 84, 120, 218, 99, 100, 248, 207, 80, 15, 0, 3,
    134, 1, 128, 90, 52, 125, 107, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

/// Asks for events, with code that runs at the provider, and demands the exit status.
#[track_caller]
fn ask(bench: &Bench, arguments: &[&str], question: &str, code: i32) -> Turn {
    let hosted = ["--interpreter", "hosted", "--format", "jsonl"];
    let arguments = hosted.into_iter().chain(arguments.iter().copied());
    Turn::of(&bench.ask_with(arguments, question).fails_with(code))
}

/// A round that draws a picture and shows it.
fn drawing() -> Round {
    round()
        .interprets("plot(df)", "drawn\n")
        .makes_file("plot.png", PNG)
        .cites("See [the plot](sandbox:/mnt/data/plot.png).", "plot.png")
}
