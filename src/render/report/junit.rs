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

/// The content of a test case besides its name.
enum TestOutcome {
    Passed,
    Failed(&'static str, String, String),
    Broken(String, String),
}

/// Writes the report.
pub(super) fn report(turn: &TurnReport) -> anyhow::Result<String> {
    let mut cases = vec![("csv-agent.verdict".to_owned(), clean(&turn.question), verdict(turn))];
    let mut notes = String::new();
    for found in turn.findings() {
        let finding = &found.finding;
        let parts = ["csv-agent"].into_iter().chain(finding.dataset.as_deref());
        let class: Vec<&str> = parts.chain(finding.column.as_deref()).collect();
        let (name, told) = (clean(&message(found)), clean(&place(found).unwrap_or_default()));
        let outcome = if turn.fails(finding.severity) {
            TestOutcome::Failed(finding.severity.name(), name.clone(), told)
        } else {
            // Writing to a string cannot fail.
            let _ = writeln!(notes, "{}: {name} ({told})", finding.severity.name());
            TestOutcome::Passed
        };
        cases.push((clean(&class.join(".")), name, outcome));
    }
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    write(&mut writer, turn, &cases, &notes)?;
    Ok(String::from_utf8(writer.into_inner())? + "\n")
}

fn write(
    writer: &mut Writer<Vec<u8>>,
    turn: &TurnReport,
    cases: &[(String, String, TestOutcome)],
    notes: &str,
) -> io::Result<()> {
    let count =
        |is: fn(&TestOutcome) -> bool| cases.iter().filter(|it| is(&it.2)).count().to_string();
    let failures = count(|it| matches!(it, TestOutcome::Failed(..)));
    let errors = count(|it| matches!(it, TestOutcome::Broken(..)));
    let n_cases = cases.len().to_string();
    let duration_ms = turn.reply().map_or(0, |it| it.duration_ms);
    let time = format!("{}.{:03}", duration_ms / 1000, duration_ms % 1000);
    let suite = [
        ("name", "csv-agent"),
        ("id", "0"),
        ("package", "csv-agent"),
        ("timestamp", turn.started.get(..SECONDS).unwrap_or(&turn.started)),
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
                for (class, name, outcome) in cases {
                    let attributes = [("classname", class.as_str()), ("name", name), ("time", "0")];
                    let case = writer.create_element("testcase").with_attributes(attributes);
                    match outcome {
                        TestOutcome::Passed => case.write_empty()?,
                        TestOutcome::Failed(kind, message, text) => {
                            case.write_inner_content(|writer| {
                                problem(writer, "failure", kind, message, text)
                            })?
                        }
                        TestOutcome::Broken(kind, message) => {
                            case.write_inner_content(|writer| {
                                problem(writer, "error", kind, message, "")
                            })?
                        }
                    };
                }
                writer.create_element("system-out").write_text_content(BytesText::new(notes))?;
                writer.create_element("system-err").write_text_content(BytesText::new(""))?;
                Ok(())
            },
        )?;
        Ok(())
    })?;
    Ok(())
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
        return TestOutcome::Broken(clean(&code), clean(&message));
    }
    match turn.failed() {
        Some((assessment, reply)) => {
            let message = format!("the verdict is {}", assessment.name());
            TestOutcome::Failed(
                assessment.name(),
                message,
                clean(&answer::shown(&reply.text, WHOLE)),
            )
        }
        None => TestOutcome::Passed,
    }
}

/// Returns text that is valid in XML.
fn clean(text: &str) -> String {
    sanitize::for_terminal(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
