//! How far a job on the cluster is.

use std::fmt;

use crate::fields::{Field, Malformed, fields};

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

impl JobProgress {
    /// Reads the `ExecutionProgress` of an answer.
    pub(super) fn read(message: &[u8]) -> Result<JobProgress, Malformed> {
        let mut progress = JobProgress::default();
        for field in fields(message) {
            let (1, Field::Bytes(stage)) = field? else { continue };
            progress.stages = progress.stages.saturating_add(1);
            for field in fields(stage) {
                let (number, Field::Number(value)) = field? else { continue };
                let sum = match number {
                    2 => &mut progress.tasks,
                    3 => &mut progress.tasks_done,
                    4 => &mut progress.bytes_read,
                    5 => {
                        progress.stages_done += u32::from(value != 0);
                        continue;
                    }
                    _ => continue,
                };
                *sum = sum.saturating_add(value);
            }
        }
        Ok(progress)
    }
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

#[cfg(test)]
mod tests {
    use super::JobProgress;

    #[track_caller]
    fn check(stages: (u32, u32), tasks: (u64, u64), bytes_read: u64, expected: &str) {
        let (stages_done, stages) = stages;
        let (tasks_done, tasks) = tasks;
        let progress = JobProgress { stages_done, stages, tasks_done, tasks, bytes_read };
        assert_eq!(progress.to_string(), expected);
    }

    #[test]
    fn a_job_is_told_by_its_stage_its_tasks_and_what_it_has_read() {
        check((1, 5), (120, 400), 3_290_000_000, "stage 2 of 5, 120 of 400 tasks, 3.2 GB read");
        check((0, 1), (0, 1), 0, "stage 1 of 1, 0 of 1 tasks");
        check((0, 1), (0, 1), 999, "stage 1 of 1, 0 of 1 tasks, 999 bytes read");
        check((2, 2), (8, 8), 1_000, "stage 2 of 2, 8 of 8 tasks, 1.0 kB read");
    }

    #[test]
    fn a_server_that_repeats_itself_without_end_breaks_nothing() {
        let stage = b"\x0a\x0d\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x28\x01";
        let progress = JobProgress::read(&stage.repeat(3)).unwrap();
        assert_eq!((progress.tasks, progress.stages_done), (u64::MAX, 3));
    }
}
