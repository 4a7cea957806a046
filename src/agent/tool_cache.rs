//! A turn's memory of its calls: cached results of reads, and call allowances.

use std::collections::HashMap;

use serde_json::Value;

use csv_agent_tools::{Tool, ToolError};
use csv_agent_types::conversation::ToolCall;
use csv_agent_types::event::ToolOutput;

/// Appended to a result from the cache.
pub(crate) const FROM_MEMORY: &str =
    "\n\n(From memory: the same call was answered before in this question.)";

/// The calls of a turn so far.
#[derive(Debug, Default)]
pub(crate) struct ToolCache {
    /// Results of read-only tools: nothing changes the datasets during a turn.
    answers: HashMap<(&'static str, String), ToolOutput>,
    n_calls: HashMap<&'static str, u32>,
}

impl ToolCache {
    /// Returns the cached result of the same call, if the tool only reads.
    pub(crate) fn answer(&self, tool: &Tool, call: &ToolCall) -> Option<ToolOutput> {
        self.answers.get(&(tool.name, arguments(call))).cloned()
    }

    /// Caches a result.
    pub(crate) fn remember(&mut self, tool: &Tool, call: &ToolCall, output: &ToolOutput) {
        if tool.only_reads {
            self.answers.insert((tool.name, arguments(call)), output.clone());
        }
    }

    /// Counts a call against the allowance of its tool. Fails when the allowance is used up. The model reads
    /// the reason.
    pub(crate) fn allow(&mut self, tool: &Tool) -> Result<(), ToolError> {
        let n_calls = self.n_calls.entry(tool.name).or_default();
        match tool.allowance {
            Some(allowance) if allowance <= *n_calls => {
                let message = format!(
                    "not run: a question may call `{}` {allowance} times; work with what is loaded",
                    tool.name
                );
                Err(ToolError::new("allowance", message))
            }
            _ => {
                *n_calls += 1;
                Ok(())
            }
        }
    }

    /// Returns the note for the last allowed call.
    pub(crate) fn note(&self, tool: &Tool) -> Option<String> {
        let n_calls = self.n_calls.get(tool.name)?;
        let is_last = tool.allowance == Some(*n_calls);
        is_last.then(|| {
            format!(
                "\n\n(That was the last of {n_calls} calls of `{}` for this question.)",
                tool.name
            )
        })
    }
}

/// Returns the arguments normalised: without blanks, members sorted.
fn arguments(call: &ToolCall) -> String {
    let sorted = serde_json::from_str::<std::collections::BTreeMap<String, Value>>(&call.arguments);
    let text = sorted.ok().and_then(|it| serde_json::to_string(&it).ok());
    text.unwrap_or_else(|| call.arguments.clone())
}

#[cfg(test)]
mod tests {
    use super::ToolCache;
    use csv_agent_types::conversation::ToolCall;
    use csv_agent_types::event::ToolOutput;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { call_id: "c".into(), name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn a_read_is_remembered_however_its_arguments_are_written() {
        let mut memory = ToolCache::default();
        let find =
            csv_agent_tools::find("find_value_columns", csv_agent_tools::TOOLS.iter()).unwrap();
        let output = ToolOutput::text("2 columns");
        memory.remember(find, &call("", r#"{"name": "a", "value": "x"}"#), &output);
        let again = |arguments: &str| memory.answer(find, &call("", arguments)).is_some();
        assert!(again(r#"{"value":"x","name":"a"}"#));
        assert!(!again(r#"{"value":"y","name":"a"}"#));
    }

    #[test]
    fn what_changes_something_is_not_remembered() {
        let mut memory = ToolCache::default();
        let repl = csv_agent_tools::find("python_repl", csv_agent_tools::TOOLS.iter()).unwrap();
        memory.remember(repl, &call("", "{}"), &ToolOutput::text("1"));
        assert_eq!(memory.answer(repl, &call("", "{}")), None);
    }

    #[test]
    fn an_allowance_is_told_when_it_is_used_up_and_then_holds() {
        let mut memory = ToolCache::default();
        let load =
            csv_agent_tools::find("load_dataset_full", csv_agent_tools::TOOLS.iter()).unwrap();
        let allowance = load.allowance.unwrap();
        for _ in 1..allowance {
            memory.allow(load).unwrap();
        }
        assert_eq!(memory.note(load), None);
        memory.allow(load).unwrap();
        let note = memory.note(load).unwrap();
        assert!(note.contains("the last of 10 calls of `load_dataset_full`"), "{note}");
        assert_eq!(memory.allow(load).unwrap_err().code, "allowance");
    }
}
