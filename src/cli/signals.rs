//! Ctrl-C and SIGTERM as futures.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_usize;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use csv_agent_types::status::{Failure, FailureKind};

/// The last unhandled signal, for code that cannot await one; unset until signals are listened to.
static UNTAKEN: OnceLock<Arc<AtomicUsize>> = OnceLock::new();
const INTERRUPT: usize = 1;
const END: usize = 2;

/// Makes the runtime of a command. One thread is enough: the work is in other processes and in
/// `spawn_blocking`.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context("cannot start the runtime")
}

/// The signals that ask the process to end. From the first `listen` on, they no longer end it.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Starts to listen, from within a runtime.
    pub(crate) fn listen() -> anyhow::Result<Signals> {
        let interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
        let terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
        let hang_up = signal(SignalKind::hangup()).context("cannot listen for SIGHUP")?;
        // Last, so that a signal that comes meanwhile is one that `next` returns.
        if UNTAKEN.get().is_none() {
            let untaken = Arc::default();
            for (number, value) in [(SIGINT, INTERRUPT), (SIGTERM, END), (SIGHUP, END)] {
                register_usize(number, Arc::clone(&untaken), value)
                    .context("cannot listen for signals")?;
            }
            UNTAKEN.get_or_init(|| untaken);
        }
        Ok(Signals { interrupt, terminate, hang_up })
    }

    /// Waits for the next signal and returns how the process then fails.
    pub(crate) async fn next(&mut self) -> FailureKind {
        // All are cancel-safe: a later signal is kept for the next call.
        let status = tokio::select! {
            _ = self.interrupt.recv() => FailureKind::Interrupted,
            _ = self.terminate.recv() => FailureKind::Terminated,
            // The terminal is gone, and with it the reader of the answer.
            _ = self.hang_up.recv() => FailureKind::Terminated,
        };
        if let Some(untaken) = UNTAKEN.get() {
            untaken.store(0, Ordering::Relaxed);
        }
        status
    }
}

impl Signals {
    /// Waits for a signal that ends the process, whatever it is doing, and returns how it then fails.
    pub(crate) async fn end(&mut self) -> FailureKind {
        // Both are cancel-safe.
        tokio::select! {
            _ = self.terminate.recv() => FailureKind::Terminated,
            _ = self.hang_up.recv() => FailureKind::Terminated,
        }
    }

    /// Discards a Ctrl-C that was meant for something else, from within a runtime. Signals that end the
    /// process are kept.
    pub(crate) fn forget_interrupt(&mut self) -> anyhow::Result<()> {
        self.interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
        if let Some(untaken) = UNTAKEN.get() {
            let _ = untaken.compare_exchange(INTERRUPT, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Runs blocking work, which checks a flag that a signal sets.
///
/// Returns the result of the work and the signal that came first, if any. Fails when signals cannot be listened
/// for; the work has not begun then.
///
/// # Panics
///
/// Panics when the work does.
pub(crate) fn interruptible<T: Send>(
    work: impl FnOnce(&Arc<AtomicBool>) -> T + Send,
) -> anyhow::Result<(T, Option<FailureKind>)> {
    let runtime = runtime()?;
    let mut signals = runtime.block_on(async { Signals::listen() })?;
    let cancelled = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let (done, finished) = oneshot::channel::<()>();
        let worker = scope.spawn(|| {
            // Dropped when the work ends, in whatever way; the other side waits for that.
            let _done = done;
            work(&cancelled)
        });
        let signal = runtime.block_on(async {
            // The losing branch is only dropped; the work continues until it checks the flag.
            tokio::select! {
                _ = finished => None,
                status = signals.next() => Some(status),
            }
        });
        if signal.is_some() {
            cancelled.store(true, Ordering::Relaxed);
        }
        match worker.join() {
            Ok(outcome) => Ok((outcome, signal)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Retries until an attempt yields a value. A signal ends that, unless it has ended the process. Fails when
/// there is an unhandled signal.
pub(crate) fn until<T>(mut attempt: impl FnMut() -> Option<T>) -> anyhow::Result<T> {
    /// Time between two attempts.
    const PAUSE: Duration = Duration::from_millis(50);
    loop {
        if let Some(value) = attempt() {
            return Ok(value);
        }
        match UNTAKEN.get().map_or(0, |it| it.swap(0, Ordering::Relaxed)) {
            0 => thread::sleep(PAUSE),
            INTERRUPT => return Err(Failure::new(FailureKind::Interrupted, "interrupted").into()),
            _ => return Err(Failure::new(FailureKind::Terminated, "interrupted").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{interruptible, until};

    #[test]
    fn what_comes_late_is_waited_for() {
        let mut n_tries = 0;
        let found = until(|| {
            n_tries += 1;
            (n_tries == 3).then_some("here")
        });
        assert_eq!(found.unwrap(), "here");
    }

    #[test]
    fn work_that_is_not_interrupted_returns_what_it_found() {
        let (found, signal) = interruptible(|_| 7).unwrap();
        assert_eq!((found, signal), (7, None));
    }
}
