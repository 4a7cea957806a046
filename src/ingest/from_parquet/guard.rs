//! Threads that may panic: a Parquet reader does on malformed bytes.
//!
//! The panic message would help no one; the caller reports what is wrong with the file.

use std::io;
use std::panic;
use std::sync::Once;
use std::thread::{self, Scope, ScopedJoinHandle};

use anyhow::anyhow;

/// Name of threads whose panics are errors of the file.
const NAME: &str = "parquet";
/// Name prefix of the threads that polars starts for such a thread and that pass their panics on to it.
const POLARS: &str = "polars-";

/// Processes a Parquet file whose bytes may not come from a valid writer. Fails when the work fails or panics,
/// and when the system has no more threads.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    thread::scope(|scope| spawn(scope, work)?.join().unwrap_or_else(|_| Err(damaged())))
}

/// Returns the error for a file that has changed since it was written.
pub(crate) fn damaged() -> anyhow::Error {
    anyhow!("the file is damaged; ingest its source again")
}

/// Starts a thread whose panic is not printed. Fails when the system has no more threads.
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
