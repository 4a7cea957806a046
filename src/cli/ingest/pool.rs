//! Concurrent ingest: small inputs in parallel, one per core; large ones one by one, each on all cores.
//!
//! In both cases peak memory is that of one large file.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use csv_agent_ingest::files_at_once;

use super::bar::IngestBar;
use super::job::{IngestContext, Ingested, Job};

/// Minimum bytes of an input that uses all cores.
const LARGE_BYTES_MIN: u64 = 64 * 1024 * 1024;

/// Returns the numbers of the small jobs, and of the large ones.
pub(super) fn divided(jobs: &[Job<'_>]) -> (Vec<usize>, Vec<usize>) {
    let is_small = |at: &usize| jobs[*at].input.bytes().is_some_and(|it| it < LARGE_BYTES_MIN);
    (0..jobs.len()).partition(is_small)
}

/// Runs small jobs in parallel, and passes on each result with the number of its job as it finishes. When
/// the user stops it, the remaining jobs have no result.
pub(super) fn run(
    jobs: &[Job<'_>],
    small: &[usize],
    place: &IngestContext<'_>,
    bar: &IngestBar,
    mut each: impl FnMut(usize, anyhow::Result<Ingested>),
) {
    let n_at_once = files_at_once().min(small.len());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, outcomes) = channel();
        for _ in 0..n_at_once {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(at) = small.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = jobs[*at].run(place, n_at_once, bar);
                    bar.count();
                    let is_cut = outcome.is_err() && place.cancelled.load(Ordering::Relaxed);
                    if is_cut || sender.send((*at, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (at, outcome) in outcomes {
            each(at, outcome);
        }
    });
}
