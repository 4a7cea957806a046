//! `JUnit` XML: one test case for the verdict, and one for each finding.
//!
//! There is no single schema. The elements and attributes here are common to the schemas of Jenkins and
//! of Ant's `junit` task, including what either requires. Sources: github.com/jenkinsci/xunit-plugin,
//! `junit-10.xsd`; github.com/windyroad/JUnit-Schema, `JUnit.xsd`.

use std::fmt::Write as _;
use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use csv_agent_text::sanitize;

use super::{TurnReport, WHOLE, message, place};
use crate::answer;

/// Length of a timestamp without its fraction and zone.
const SECONDS: usize = "2026-01-01T00:00:00".len();

pub(super) struct TestCase {
    pub class: String,
    pub name: String,
    /// How long it took.
    pub time_ms: u64,
    /// Its result.
    pub outcome: TestOutcome,
}

/// The result of a test: kind, message and text of what is wrong.
pub(super) enum TestOutcome {
    Passed,
    Failed(&'static str, String, String),
    Broken(String, String),
}

/// All tests of a run.
pub(super) struct TestSuite<'a> {
    /// RFC 3339, UTC.
    pub started: &'a str,
    /// How long all of it took.
    pub time_ms: u64,
    pub cases: Vec<TestCase>,
    /// What was found that fails no test, as lines.
    pub notes: String,
}

pub(super) fn report(turn: &TurnReport) -> anyhow::Result<String> {
    let case = |class, name, outcome| TestCase { class, name, time_ms: 0, outcome };
    let mut cases =
        vec![case("csv-agent.verdict".to_owned(), turn.question.clone(), verdict(turn))];
    let mut notes = String::new();
    for found in turn.findings() {
        let finding = &found.finding;
        let parts = ["csv-agent"].into_iter().chain(finding.dataset.as_deref());
        let class: Vec<&str> = parts.chain(finding.column.as_deref()).collect();
        let (name, told) = (message(found), place(found).unwrap_or_default());
        let outcome = if turn.fails(finding.severity) {
            TestOutcome::Failed(finding.severity.name(), name.clone(), told)
        } else {
            // Writing to a string cannot fail.
            let _ = writeln!(notes, "{}: {name} ({told})", finding.severity.name());
            TestOutcome::Passed
        };
        cases.push(case(class.join("."), name, outcome));
    }
    let time_ms = turn.reply().map_or(0, |it| it.duration_ms);
    TestSuite { started: &turn.started, time_ms, cases, notes }.text()
}

impl TestSuite<'_> {
    /// Returns the file.
    pub(super) fn text(&self) -> anyhow::Result<String> {
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        self.write(&mut writer)?;
        Ok(String::from_utf8(writer.into_inner())? + "\n")
    }

    fn write(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let count = |is: fn(&TestOutcome) -> bool| {
            self.cases.iter().filter(|it| is(&it.outcome)).count().to_string()
        };
        let failures = count(|it| matches!(it, TestOutcome::Failed(..)));
        let errors = count(|it| matches!(it, TestOutcome::Broken(..)));
        let n_cases = self.cases.len().to_string();
        let time = format!("{}.{:03}", self.time_ms / 1000, self.time_ms % 1000);
        let suite = [
            ("name", "csv-agent"),
            ("id", "0"),
            ("package", "csv-agent"),
            ("timestamp", self.started.get(..SECONDS).unwrap_or(self.started)),
            ("hostname", "localhost"),
            ("tests", &n_cases),
            ("failures", &failures),
            ("errors", &errors),
            ("time", &time),
        ];
        writer.create_element("testsuites").write_inner_content(|writer| {
            writer.create_element("testsuite").with_attributes(suite).write_inner_content(
                |writer| {
                    writer.create_element("properties").write_empty()?;
                    self.cases.iter().try_for_each(|it| it.write(writer))?;
                    let notes = clean(&self.notes);
                    writer
                        .create_element("system-out")
                        .write_text_content(BytesText::new(&notes))?;
                    writer.create_element("system-err").write_text_content(BytesText::new(""))?;
                    Ok(())
                },
            )?;
            Ok(())
        })?;
        Ok(())
    }
}

impl TestCase {
    fn write(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let (class, name) = (clean(&self.class), clean(&self.name));
        let time = match self.time_ms {
            0 => "0".to_owned(),
            ms => format!("{}.{:03}", ms / 1000, ms % 1000),
        };
        let attributes = [("classname", class.as_str()), ("name", &name), ("time", &time)];
        let case = writer.create_element("testcase").with_attributes(attributes);
        match &self.outcome {
            TestOutcome::Passed => case.write_empty()?,
            TestOutcome::Failed(kind, message, text) => case.write_inner_content(|writer| {
                problem(writer, "failure", kind, &clean(message), &clean(text))
            })?,
            TestOutcome::Broken(kind, message) => case.write_inner_content(|writer| {
                problem(writer, "error", &clean(kind), &clean(message), "")
            })?,
        };
        Ok(())
    }
}

fn problem(
    writer: &mut Writer<Vec<u8>>,
    element: &str,
    kind: &str,
    message: &str,
    text: &str,
) -> io::Result<()> {
    let attributes = [("type", kind), ("message", message)];
    let element = writer.create_element(element).with_attributes(attributes);
    element.write_text_content(BytesText::new(text))?;
    Ok(())
}

fn verdict(turn: &TurnReport) -> TestOutcome {
    if let Some((code, message)) = turn.trouble() {
        return TestOutcome::Broken(code, message);
    }
    match turn.failed() {
        Some((assessment, reply)) => {
            let message = format!("the verdict is {}", assessment.name());
            let text = answer::shown(&reply.text, WHOLE).into_owned();
            TestOutcome::Failed(assessment.name(), message, text)
        }
        None => TestOutcome::Passed,
    }
}

/// Returns text that is valid in XML.
fn clean(text: &str) -> String {
    sanitize::for_terminal(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
