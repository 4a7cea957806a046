//! Threads that may panic: a reader of Parquet does, at bytes that nobody wrote so.
//!
//! What it would print of that is no use to anybody; the caller says what is wrong with the file.

use std::io;
use std::panic;
use std::sync::Once;
use std::thread::{self, Scope, ScopedJoinHandle};

use anyhow::anyhow;

/// Of threads whose panics are errors of the file.
const NAME: &str = "parquet";
/// What the names of those begin with that polars starts for such a thread, which hears of their panics.
const POLARS: &str = "polars-";

/// Does work on a Parquet file whose bytes need not be those of a writer.
///
/// # Errors
///
/// Fails when the work does or panics, and when the system has no more threads.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    thread::scope(|scope| spawn(scope, work)?.join().unwrap_or_else(|_| Err(damaged())))
}

/// Returns what is wrong with a file that is not as it was written.
pub(crate) fn damaged() -> anyhow::Error {
    anyhow!("the file is damaged; ingest its source again")
}

/// Starts a thread whose panic is not printed.
///
/// # Errors
///
/// Fails when the system has no more threads.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let thread = thread::current();
            if !thread.name().is_some_and(|it| it == NAME || it.starts_with(POLARS)) {
                print(info);
            }
        }));
    });
    thread::Builder::new().name(NAME.to_owned()).spawn_scoped(scope, work)
}
