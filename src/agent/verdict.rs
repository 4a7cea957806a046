//! The verdict: its answer form, how it is read, and the gates on it.

use serde::Deserialize;
use serde_json::{Value, json};

use csv_agent_render::report;
use csv_agent_sink::rows;
use csv_agent_types::conversation::{Assessment, Verdict};
use csv_agent_types::event::Ungrounded;
use csv_agent_types::status::FailureKind;

/// The caller's requirements on a turn beyond an answer. What is missing decides how the turn ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Gates {
    /// Ask for a verdict.
    pub verdict: bool,
    /// Ask for JSON that matches a schema.
    pub schema: bool,
    /// Fail when the verdict is this bad or worse.
    pub fail_on: Option<Assessment>,
    /// Fail when the answer contains a number that nothing grounds.
    pub ungrounded: bool,
    /// Fail when no table was sent.
    pub require_table: bool,
    /// The format writes one table. Without one, a verdict has its findings.
    pub writes_table: bool,
    /// The table, by name or number, that must be among those sent; any when None.
    pub table: Option<String>,
    /// Fail when no chart was sent.
    pub require_chart: bool,
    /// Accept an answer from a model without tools.
    pub allow_untooled: bool,
}

/// The results of a turn that gates check.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// Whether the model had tools to compute with.
    pub is_computed: bool,
    /// How the answer violates its schema.
    pub misfit: Option<&'a str>,
    /// The verdict of the model, if there was one.
    pub verdict: Option<&'a Verdict>,
    /// The effective assessment: the model's, or the thresholds' when it is worse.
    pub assessment: Option<Assessment>,
    /// Names of the tables sent.
    pub tables: &'a [String],
    /// Number of charts sent.
    pub n_charts: usize,
    /// Numbers of the answer that nothing grounds.
    pub ungrounded: &'a [Ungrounded],
}

impl Gates {
    /// Returns how the turn fails by the gates, and the requirements that are not met.
    pub fn judge(&self, given: Given) -> (Option<FailureKind>, Vec<String>) {
        let mut missing = Vec::new();
        let gate = match (given.assessment, self.fail_on) {
            (Some(found), Some(limit)) if limit <= found => match found {
                Assessment::Bad => Some(FailureKind::VerdictBad),
                Assessment::Warning | Assessment::Good => Some(FailureKind::VerdictWarning),
            },
            _ => None,
        };
        // Findings from thresholds do not answer the question. Where they fail the check, no answer could pass it.
        let is_unanswered = given.verdict.and_then(|it| it.assessment).is_none();
        if self.verdict && is_unanswered && gate.is_none() {
            missing.push(match given.assessment {
                Some(_) => "the verdict is that of the thresholds alone, because the answer to the question has none; \
                            ask for a check, such as `no amount below 0`",
                None => "the answer has no verdict, which `--verdict`, `--fail-on` and `--report` require; ask for a check, such \
                         as `no amount below 0`",
            }.to_owned());
        }
        if let Some(misfit) = given.misfit {
            missing.push(format!("the answer does not match the schema: {misfit}"));
        }
        if self.ungrounded && !given.ungrounded.is_empty() {
            missing.push(report::ungrounded(given.ungrounded));
        }
        // A program that reads JSON sees no mark on answers that were not computed.
        let is_gated = self.fail_on.is_some()
            || self.ungrounded
            || self.require_table
            || self.writes_table
            || self.require_chart
            || self.schema;
        if is_gated && !given.is_computed && !self.allow_untooled {
            let why = "the answer was not computed, because the model has no tools";
            missing.push(format!("{why}; `--allow-untooled` lets it pass"));
        }
        let names: Vec<&str> = given.tables.iter().map(String::as_str).collect();
        let has_findings = self.verdict && names.is_empty() && self.table.is_none();
        let needs_table = self.require_table || self.writes_table && !has_findings;
        if needs_table && rows::chosen(&names, self.table.as_deref()).is_none() {
            missing.push(match &self.table {
                Some(table) if !names.is_empty() => {
                    format!(
                        "the table `{table}` was asked for, but the answer has {}",
                        names.join(", ")
                    )
                }
                _ => "a table was asked for, but the answer has none".to_owned(),
            });
        }
        if self.require_chart && given.n_charts == 0 {
            missing.push("a chart was asked for, but the answer has none".to_owned());
        }
        let contract = (!missing.is_empty()).then_some(FailureKind::Contract);
        (contract.max(gate), missing)
    }
}

/// Returns the schema of an answer with a verdict.
pub fn schema() -> Value {
    let severity = json!({"type": "string", "enum": ["good", "warning", "bad"]});
    let nullable = json!({"type": ["string", "null"]});
    let finding = json!({
        "type": "object",
        "properties": {
            "severity": severity,
            "message": {"type": "string"},
            "dataset": nullable,
            "column": nullable,
            "rows": {"type": "array", "items": {"type": "integer"}},
            "table": nullable,
        },
        "required": ["severity", "message", "dataset", "column", "rows", "table"],
        "additionalProperties": false,
    });
    let assessment = json!({
        "anyOf": [{"type": "string", "enum": ["good", "warning", "bad"]}, {"type": "null"}],
    });
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "findings": {"type": "array", "items": finding},
            "assessment": assessment,
        },
        "required": ["text", "findings", "assessment"],
        "additionalProperties": false,
    })
}

/// Reads an answer of that form: the reply for people, and the verdict. None when the form differs.
pub fn read(answer: &Value) -> Option<(String, Verdict)> {
    #[derive(Deserialize)]
    struct Answer {
        text: String,
        #[serde(flatten)]
        verdict: Verdict,
    }
    let Answer { text, verdict } = Answer::deserialize(answer).ok()?;
    Some((text, verdict))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Gates, Given, read};
    use csv_agent_types::conversation::{Assessment, Verdict};
    use csv_agent_types::event::Ungrounded;
    use csv_agent_types::status::FailureKind::{self, Contract, VerdictBad, VerdictWarning};

    const GIVEN: Given = Given {
        is_computed: true,
        misfit: None,
        verdict: None,
        assessment: None,
        tables: &[],
        n_charts: 0,
        ungrounded: &[],
    };

    #[track_caller]
    fn check(
        fail_on: Option<Assessment>,
        found: Option<Assessment>,
        failure: impl Into<Option<FailureKind>>,
    ) {
        let gates = Gates { verdict: true, fail_on, ..Gates::default() };
        let verdict = Verdict { assessment: found, findings: Vec::new() };
        let given = Given { verdict: Some(&verdict), assessment: found, ..GIVEN };
        assert_eq!(gates.judge(given).0, failure.into());
    }

    #[test]
    fn what_thresholds_find_does_not_stand_for_a_verdict() {
        let fail_on = Some(Assessment::Bad);
        let gates = Gates { verdict: true, fail_on, ..Gates::default() };
        let given = Given { assessment: Some(Assessment::Warning), ..GIVEN };
        let (failure, missing) = gates.judge(given);
        assert_eq!(failure, Some(Contract));
        assert!(
            missing[0].starts_with("the verdict is that of the thresholds alone"),
            "{missing:?}"
        );
    }

    #[test]
    fn what_thresholds_find_fails_the_check_whatever_the_answer_is() {
        let fail_on = Some(Assessment::Warning);
        let gates = Gates { verdict: true, fail_on, ..Gates::default() };
        let judge = |found| gates.judge(Given { assessment: Some(found), ..GIVEN });
        assert_eq!(judge(Assessment::Warning), (Some(VerdictWarning), Vec::new()));
        assert_eq!(judge(Assessment::Bad), (Some(VerdictBad), Vec::new()));
    }

    #[test]
    fn a_verdict_is_data_until_a_gate_is_asked_for() {
        check(None, Some(Assessment::Bad), None);
        check(Some(Assessment::Bad), Some(Assessment::Warning), None);
        check(Some(Assessment::Bad), Some(Assessment::Bad), VerdictBad);
        check(Some(Assessment::Warning), Some(Assessment::Warning), VerdictWarning);
        check(Some(Assessment::Warning), Some(Assessment::Bad), VerdictBad);
        check(Some(Assessment::Warning), Some(Assessment::Good), None);
    }

    #[test]
    fn a_missing_verdict_never_passes() {
        check(None, None, Contract);
        check(Some(Assessment::Bad), None, Contract);
    }

    #[test]
    fn a_table_that_was_asked_for_is_missed_by_name() {
        let gates = |table: Option<&str>| Gates {
            require_table: true,
            table: table.map(str::to_owned),
            ..Gates::default()
        };
        let tables = ["top".to_owned()];
        let given = Given { tables: &tables, ..GIVEN };
        assert_eq!(gates(None).judge(given).0, None);
        assert_eq!(gates(Some("top")).judge(given).0, None);
        let (failure, missing) = gates(Some("bottom")).judge(given);
        assert_eq!(failure, Some(Contract));
        assert_eq!(missing, ["the table `bottom` was asked for, but the answer has top"]);
    }

    #[test]
    fn what_was_not_computed_passes_no_gate_unless_it_may() {
        let verdict = Verdict { assessment: Some(Assessment::Good), findings: Vec::new() };
        let given = Given {
            is_computed: false,
            verdict: Some(&verdict),
            assessment: verdict.assessment,
            ..GIVEN
        };
        let asks = Gates { schema: true, ..Gates::default() };
        assert_eq!(asks.judge(given).0, Some(Contract), "a program sees no mark");
        let mut gates = Gates { verdict: true, ..Gates::default() };
        assert_eq!(gates.judge(given).0, None, "a verdict alone is no gate");
        gates.fail_on = Some(Assessment::Bad);
        let (failure, missing) = gates.judge(given);
        assert_eq!(failure, Some(Contract));
        assert_eq!(
            missing,
            [
                "the answer was not computed, because the model has no tools; `--allow-untooled` lets it \
              pass"
            ]
        );
        gates.allow_untooled = true;
        assert_eq!(gates.judge(given).0, None);
    }

    #[test]
    fn what_does_not_hold_to_the_schema_is_named() {
        let gates = Gates { schema: true, ..Gates::default() };
        let (failure, missing) = gates.judge(Given { misfit: Some("`$.n` is missing"), ..GIVEN });
        assert_eq!(failure, Some(Contract));
        assert_eq!(missing, ["the answer does not match the schema: `$.n` is missing"]);
        assert_eq!(gates.judge(GIVEN).0, None);
    }

    #[test]
    fn a_number_that_nothing_grounds_fails_where_it_must_not_be() {
        let number = |at: u64| Ungrounded {
            text: at.to_string(),
            offset: at,
            finding: None,
            path: None,
            sample: false,
        };
        let numbers: Vec<_> = (1..=12).map(number).collect();
        let given = Given { ungrounded: &numbers, ..GIVEN };
        assert_eq!(Gates::default().judge(given).0, None);
        let gates = Gates { ungrounded: true, ..Gates::default() };
        assert_eq!(gates.judge(GIVEN).0, None);
        let (failure, missing) = gates.judge(given);
        assert_eq!(failure, Some(Contract));
        assert_eq!(
            missing,
            [
                "no tool result contains these numbers of the answer: `1`, `2`, `3`, `4`, `5`, `6`, `7`, \
              `8`, `9`, `10` and 2 more"
            ]
        );
    }

    #[test]
    fn what_is_no_row_is_left_out_of_a_finding() {
        let answer = json!({"text": "t", "assessment": "bad", "findings": [{"severity": "bad",
            "message": "m", "dataset": null, "column": null, "rows": [3, -1, "x", 1.5],
            "table": null}]});
        assert_eq!(read(&answer).unwrap().1.findings[0].rows, [3]);
    }

    #[test]
    fn an_answer_in_another_form_has_no_verdict() {
        let answer = json!({"text": "ok", "findings": [], "assessment": "good"});
        assert_eq!(read(&answer).unwrap().1.assessment, Some(Assessment::Good));
        assert_eq!(read(&json!("All is well.")), None);
        assert_eq!(read(&json!({"text": "ok"})), None);
    }
}
