//! The results of rules on stdout: lines for people, a row or a document a rule for programs.

use std::fmt::Write as _;
use std::io::Write;

use serde_json::{Map, Value, json};

use csv_agent_render::report::checks::{ChecksReport, PlacedRow, RuleOutcome, RuleReport, millis};
use csv_agent_sink::Format;
use csv_agent_text::sanitize;
use csv_agent_types::status::BUILTIN;

use crate::listing::{Listing, frame};
use crate::options::GlobalOptions;

/// Columns of the longest word for a result.
const WORD_CELLS: usize = "undecided".len();

/// Writes the results; to people with the readings and statements of claims, if these were compiled now.
pub(super) fn write(
    out: &mut dyn Write,
    report: &ChecksReport,
    with_statements: bool,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    if matches!(options.format, Format::Text | Format::Reply) {
        let text = text(report, with_statements, options.terminal.stdout.colour);
        return Ok(out.write_all(options.terminal.stdout.fitted(text, WORD_CELLS + 4).as_bytes())?);
    }
    let documents = report.rules.iter().map(document).collect();
    let columns = ["name", "result", "rows", "first", "reason"];
    let rows = report.rules.iter().map(|rule| {
        let (n_rows, first, reason) = match &rule.outcome {
            RuleOutcome::Kept => (json!(0), Value::Null, Value::Null),
            RuleOutcome::Broken(n_rows, rows) => {
                (json!(n_rows), json!(rows.first().map(PlacedRow::text)), Value::Null)
            }
            RuleOutcome::Undecided(reason, _) => (Value::Null, Value::Null, json!(reason)),
        };
        vec![json!(rule.name), json!(rule.word()), n_rows, first, reason]
    });
    let frame = frame(&columns, &["rows"], rows.collect());
    Listing { frame, documents }.write(out, options)
}

fn text(report: &ChecksReport, with_statements: bool, colour: bool) -> String {
    let mut text = String::new();
    for rule in &report.rules {
        let word = format!("{:WORD_CELLS$}", rule.word());
        let word = if colour { coloured(rule, &word) } else { word };
        let rest = match &rule.outcome {
            RuleOutcome::Kept => String::new(),
            RuleOutcome::Broken(n_rows, _) => format!(": {}", rule.found(*n_rows)),
            RuleOutcome::Undecided(reason, _) => format!(": {}", sanitize::one_line(reason)),
        };
        text.extend([&word, "  ", &sanitize::one_line(&rule.name), &rest, "\n"]);
        let mut below = if with_statements { statement(rule) } else { Vec::new() };
        below.extend(rule.lines());
        if let RuleOutcome::Undecided(_, Some(hint)) = &rule.outcome {
            below.extend(hint.lines().map(|it| format!("hint: {}", sanitize::one_line(it))));
        }
        for line in below {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:WORD_CELLS$}    {line}", "");
        }
    }
    text + &format!("\n{}\n", report.summary())
}

/// Returns how a claim was read, and its statement, as lines.
fn statement(rule: &RuleReport) -> Vec<String> {
    let (Some(reading), Some(sql)) = (&rule.reading, &rule.sql) else { return Vec::new() };
    let by = rule.compiled_by.as_deref().filter(|it| *it != BUILTIN);
    let by = by.map(|it| format!(" by {}", sanitize::one_line(it))).unwrap_or_default();
    let read = format!("read{by} as: {}", sanitize::one_line(reading));
    let sql = sql.trim().lines().map(|it| format!("| {}", sanitize::one_line(it)));
    std::iter::once(read).chain(sql).collect()
}

fn coloured(rule: &RuleReport, word: &str) -> String {
    let code = match rule.word() {
        "good" => "32",
        "bad" => "1;31",
        _ => "1;33",
    };
    format!("\x1b[{code}m{word}\x1b[0m")
}

fn document(rule: &RuleReport) -> Value {
    let (n_rows, rows, reason, hint) = match &rule.outcome {
        RuleOutcome::Kept => (Some(0), Vec::new(), None, None),
        RuleOutcome::Broken(n_rows, rows) => {
            (Some(*n_rows), rows.iter().map(row).collect(), None, None)
        }
        RuleOutcome::Undecided(reason, hint) => (None, Vec::new(), Some(reason), hint.as_ref()),
    };
    json!({
        "name": rule.name, "claim": rule.claim, "reading": rule.reading, "compiled_by": rule.compiled_by, "sql": rule.sql, "severity": rule.severity, "result": rule.word(), "row_count": n_rows, "rows": rows,
        "reason": reason, "hint": hint, "duration_ms": millis(rule.duration),
    })
}

fn row(row: &PlacedRow) -> Value {
    let values: Map<String, Value> = row.values.iter().cloned().collect();
    json!({
        "dataset": row.dataset, "source_file": row.file, "source_line": row.line, "source_cell": row.cell,
        "values": values,
    })
}
