//! How far a job on the cluster is.

use std::fmt;

/// What is done of a job, as the server counts it. It may plan further stages while it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobProgress {
    /// Stages that are complete.
    pub stages_done: u32,
    /// Stages that are known so far.
    pub stages: u32,
    /// Tasks of these stages that are complete.
    pub tasks_done: u64,
    /// Tasks of these stages.
    pub tasks: u64,
    /// Bytes that the tasks have read of their sources.
    pub bytes_read: u64,
}

impl fmt::Display for JobProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JobProgress { stages_done, stages, tasks_done, tasks, bytes_read } = self;
        let stage = (stages_done + 1).min(*stages);
        write!(f, "stage {stage} of {stages}, {tasks_done} of {tasks} tasks")?;
        match bytes_read {
            0 => Ok(()),
            _ => write!(f, ", {} read", Bytes(*bytes_read)),
        }
    }
}

/// A number of bytes with three digits at most before its unit: `3.2 GB`.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
        match units.into_iter().find(|(unit, _)| *unit <= self.0) {
            Some((unit, name)) => {
                write!(f, "{}.{} {name}", self.0 / unit, self.0 % unit * 10 / unit)
            }
            None => write!(f, "{} bytes", self.0),
        }
    }
}
