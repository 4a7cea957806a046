//! Reports: the findings of a turn in formats for CI systems.
//!
//! A finding is as serious as its severity; whether that fails the check depends on the caller's
//! `--fail-on`.

pub mod checks;
mod github;
mod junit;
mod markdown;
mod sarif;

use csv_agent_text::{lists::names, sanitize};
use csv_agent_types::conversation::Assessment;
use csv_agent_types::event::{ErrorBody, FindingShown, ReplyBody, Ungrounded};

/// The command that shows a whole answer.
const WHOLE: &str = "csv-agent show --format reply";
/// Numbers that a sentence lists individually.
const NUMBERS_TOLD_MAX: usize = 10;

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportKind {
    /// `JUnit` XML, which most CI systems read.
    Junit,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations, which GitHub Actions reads from a job's output.
    Github,
    /// Markdown for people.
    Md,
}

/// The part of a turn that reports describe.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnReport {
    /// As the user asked it.
    pub question: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// RFC 3339, UTC.
    pub ended: String,
    /// The severity from which a finding fails the check.
    pub fails_from: Assessment,
    /// Whether a number that no tool result contains fails the check.
    pub fails_ungrounded: bool,
    /// How it ended.
    pub ending: ReportOutcome,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ReportOutcome {
    /// With an answer.
    Answered(Box<ReplyBody>),
    /// Without one.
    Failed(Box<ErrorBody>),
}

impl TurnReport {
    /// Creates the report of a turn that has not begun.
    pub fn new(fails_from: Assessment, fails_ungrounded: bool) -> TurnReport {
        TurnReport {
            question: String::new(),
            started: String::new(),
            ended: String::new(),
            fails_from,
            fails_ungrounded,
            ending: ReportOutcome::Failed(Box::default()),
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    ///
    /// Fails when the report cannot be serialised as text.
    pub fn text(&self, kind: ReportKind) -> anyhow::Result<String> {
        match kind {
            ReportKind::Junit => junit::report(self),
            ReportKind::Sarif => sarif::report(self),
            ReportKind::Github => Ok(github::report(self)),
            ReportKind::Md => Ok(markdown::report(self)),
        }
    }

    fn reply(&self) -> Option<&ReplyBody> {
        match &self.ending {
            ReportOutcome::Answered(reply) => Some(reply),
            ReportOutcome::Failed(_) => None,
        }
    }

    fn findings(&self) -> &[FindingShown] {
        self.reply().map_or(&[], |it| &it.findings)
    }

    /// Returns the verdict, if it fails the check.
    fn failed(&self) -> Option<(Assessment, &ReplyBody)> {
        let reply = self.reply()?;
        reply.assessment.filter(|it| self.fails(*it)).map(|it| (it, reply))
    }

    fn fails(&self, severity: Assessment) -> bool {
        self.fails_from <= severity
    }

    /// Returns why there is no usable verdict: the turn failed, or its answer has no verdict or an
    /// invalid one.
    fn trouble(&self) -> Option<(String, String)> {
        match &self.ending {
            ReportOutcome::Failed(error) => Some((error.code.clone(), error.message.clone())),
            ReportOutcome::Answered(reply) if reply.assessment.is_none() => {
                Some(("contract".to_owned(), "the answer has no verdict".to_owned()))
            }
            ReportOutcome::Answered(reply)
                if self.fails_ungrounded && !reply.ungrounded.is_empty() =>
            {
                Some(("ungrounded".to_owned(), ungrounded(&reply.ungrounded)))
            }
            ReportOutcome::Answered(reply) => match reply.exit_code {
                0 | 10 | 11 => None,
                code => {
                    Some(("incomplete".to_owned(), format!("the turn ended with status {code}")))
                }
            },
        }
    }
}

/// Reports which numbers of an answer no tool result contains.
pub fn ungrounded(numbers: &[Ungrounded]) -> String {
    let (samples, others): (Vec<_>, Vec<_>) = numbers.iter().cloned().partition(|it| it.sample);
    let told = |what: &str, numbers: &[Ungrounded]| match numbers {
        [] => None,
        _ => Some(format!("{what}: {}", listed(numbers))),
    };
    let none = told("no tool result contains these numbers of the answer", &others);
    let few =
        told("these numbers of the answer come from the first rows of a dataset only", &samples);
    [none, few].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn listed(numbers: &[Ungrounded]) -> String {
    names(numbers.iter().map(|it| &it.text), NUMBERS_TOLD_MAX)
}

/// Returns the location of a finding, for people: `orders.csv, lines 5, 8`.
pub fn place(found: &FindingShown) -> Option<String> {
    let file = found.source_file.as_deref();
    let lines: Vec<String> = found.source_lines.iter().map(u64::to_string).collect();
    if let (Some(file), false) = (file, found.source_cells.is_empty()) {
        return Some(format!("{file}, {}", found.source_cells.join(", ")));
    }
    let word = if lines.len() == 1 { "line" } else { "lines" };
    match (file, lines.is_empty()) {
        (Some(file), false) => Some(format!("{file}, {word} {}", lines.join(", "))),
        (Some(file), true) => Some(file.to_owned()),
        (None, false) => Some(format!("standard input, {word} {}", lines.join(", "))),
        (None, true) => None,
    }
}

/// Returns the message as one line.
fn message(found: &FindingShown) -> String {
    sanitize::one_line(found.finding.message.trim())
}
