//! The log of a session: what happened and when, without data, questions or code.
//!
//! It is the event stream reduced to an allow-list of members. None of these come from a file, a model or
//! the user, so the log can be shared. Keys are masked before an event is made.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use rustix::fs::OFlags;
use serde_json::value::RawValue;

use csv_agent_types::limits::LOG_BYTES_MAX;

use crate::directory::Directory;

/// Members of an event that are logged, in this order.
const KEPT: [&str; 39] = [
    "ts", "turn_id", "type", "phase", "version", "provider", "api", "model", "limits", "sandbox",
    "enforced", "missing", "reasons", "round", "call_id", "name", "status", "duration_ms",
    "bytes_to_model", "row_count", "chart_type", "attempt", "max_attempts", "delay_ms", "code",
    "message", "hint", "fatal", "retryable", "http_status", "request_id", "container_id",
    "memory_limit", "stop_reason", "assessment", "rounds", "tool_calls", "usage", "exit_code",
];

/// The log, open for appending. The session's lock ensures a single writer.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens the log of a session. A log that has grown too long first becomes `csv-agent.log.1`.
    pub(crate) fn open(session: &Directory) -> anyhow::Result<Log> {
        const NAME: &str = "csv-agent.log";
        let logs = session.make("logs")?;
        let path = logs.path().join(NAME);
        let open = || logs.file_to_write(NAME, OFlags::APPEND);
        let mut file = open()?;
        if file.metadata().is_ok_and(|it| LOG_BYTES_MAX < it.len()) {
            let renamed = logs.rename(NAME.as_ref(), "csv-agent.log.1".as_ref());
            renamed.with_context(|| format!("cannot rename `{}`", path.display()))?;
            file = open()?;
        }
        Ok(Log { path, file })
    }

    /// Appends the loggable part of an event, which is given as its JSON line.
    pub(crate) fn append(&mut self, event: &str) -> anyhow::Result<()> {
        let Some(entry) = entry(event).context("cannot log an event")? else { return Ok(()) };
        let written = self.file.write_all(format!("{entry}\n").as_bytes());
        written.with_context(|| format!("cannot write `{}`", self.path.display()))
    }
}

/// Returns the log line of an event; None for streamed text.
fn entry(event: &str) -> serde_json::Result<Option<String>> {
    let members: BTreeMap<&str, &RawValue> = serde_json::from_str(event)?;
    if members.get("type").is_some_and(|it| it.get() == "\"partial\"") {
        return Ok(None);
    }
    let kept = KEPT.iter().filter_map(|name| Some(format!("\"{name}\":{}", members.get(name)?)));
    Ok(Some(format!("{{{}}}", kept.collect::<Vec<_>>().join(","))))
}

#[cfg(test)]
mod tests {
    use super::{Log, entry};
    use crate::directory::Directory;
    use csv_agent_types::limits::LOG_BYTES_MAX;

    #[track_caller]
    fn check(event: &str, logged: Option<&str>) {
        assert_eq!(entry(event).unwrap().as_deref(), logged);
    }

    #[test]
    fn what_came_from_data_or_people_is_not_logged() {
        check(
            r#"{"v":1,"seq":0,"ts":"T","session_id":"s","turn_id":"0001","type":"status","phase":"started","model":"m","question":"who earns most?","datasets":["pay"]}"#,
            Some(r#"{"ts":"T","turn_id":"0001","type":"status","phase":"started","model":"m"}"#),
        );
        check(
            r#"{"ts":"T","turn_id":"0001","type":"tool_call","call_id":"c","name":"python_repl","arguments":{"code":"1"}}"#,
            Some(
                r#"{"ts":"T","turn_id":"0001","type":"tool_call","call_id":"c","name":"python_repl"}"#,
            ),
        );
        check(
            r#"{"type":"data_frame","columns":["a"],"rows":[{"a":"x"}],"row_count":1}"#,
            Some(r#"{"type":"data_frame","row_count":1}"#),
        );
        check(r#"{"type":"partial","delta":"The "}"#, None);
    }

    #[test]
    fn a_log_that_is_too_long_makes_room() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/csv-agent.log");
        let session = Directory::at(dir.path()).unwrap();
        Log::open(&session).unwrap().append(r#"{"type":"status"}"#).unwrap();
        let bytes = usize::try_from(LOG_BYTES_MAX).unwrap();
        std::fs::write(&path, "x".repeat(bytes + 1)).unwrap();
        Log::open(&session).unwrap().append(r#"{"type":"reply"}"#).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"type\":\"reply\"}\n");
        let older = std::fs::metadata(dir.path().join("logs/csv-agent.log.1")).unwrap();
        assert_eq!(older.len(), LOG_BYTES_MAX + 1);
    }
}
