//! Loop detection: a model that repeats a call gets a warning, and is stopped when it ignores that.

use std::collections::HashMap;

use csv_agent_types::conversation::ToolCall;
use csv_agent_types::limits::{REPEATS_MAX, REPEATS_TOLD};

/// Counts, over a turn, how often a call had the same arguments and the same outcome.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    counts: HashMap<(String, String, String), u32>,
}

/// What to do about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// Nothing to do.
    Fresh,
    /// Warn the model that the call occurred this many times.
    Told(u32),
    /// End the turn.
    Stop,
}

impl Repeats {
    pub(crate) fn count(&mut self, call: &ToolCall, output: &str) -> Repetition {
        let key = (call.name.clone(), call.arguments.clone(), output.to_owned());
        let count = self.counts.entry(key).or_default();
        *count += 1;
        match *count {
            n if REPEATS_MAX <= n => Repetition::Stop,
            n if REPEATS_TOLD <= n => Repetition::Told(n),
            _ => Repetition::Fresh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Repetition::{Fresh, Stop, Told};
    use super::{Repeats, Repetition};
    use csv_agent_types::conversation::ToolCall;

    #[track_caller]
    fn check(outputs: &[&str], expected: &[Repetition]) {
        let call = ToolCall { call_id: "c".into(), name: "f".into(), arguments: "{}".into() };
        let mut repeats = Repeats::default();
        let found: Vec<_> = outputs.iter().map(|it| repeats.count(&call, it)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_third_time_is_told_and_the_fifth_ends_the_turn() {
        check(&["x"; 5], &[Fresh, Fresh, Told(3), Told(4), Stop]);
    }

    #[test]
    fn another_outcome_is_another_call() {
        check(&["1", "2", "3", "4", "5"], &[Fresh; 5]);
    }
}
