//! Reports of a file of rules: one test a rule, whatever the data is.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use csv_agent_text::{digits::count, fit::cut, sanitize};
use csv_agent_types::conversation::{Assessment, Finding};
use csv_agent_types::event::FindingShown;

use super::junit::{TestCase, TestOutcome, TestSuite};
use super::markdown::cell;
use super::{ReportKind, github, sarif};

/// The class of the tests.
const CLASS: &str = "csv-agent.checks";
/// Columns of a row in a report, and characters of a value there.
const COLUMNS_MAX: usize = 8;
const VALUE_CELLS_MAX: usize = 60;

/// A run of a file of rules.
#[derive(Debug, Clone, PartialEq)]
pub struct ChecksReport {
    /// The file, as the user named it.
    pub file: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// RFC 3339, UTC.
    pub ended: String,
    /// How long all of it took.
    pub duration: Duration,
    /// The severity from which a rule fails the check.
    pub fails_from: Assessment,
    /// The exit status.
    pub exit_code: u8,
    /// The rules, in the order of the file.
    pub rules: Vec<RuleReport>,
    /// What is doubtful about how the data was read.
    pub warnings: Vec<String>,
    /// Why there are no rules, if the file cannot be read.
    pub trouble: Option<String>,
}

/// A rule and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleReport {
    /// Its name, which tests have as well.
    pub name: String,
    /// What it says in words.
    pub claim: Option<String>,
    /// How these were read.
    pub reading: Option<String>,
    /// The name of the model that compiled them; `builtin` is the analyst.
    pub compiled_by: Option<String>,
    /// The statement whose rows break it. A comparison with the baseline has none.
    pub sql: Option<String>,
    /// How severe it is when the data breaks it.
    pub severity: Assessment,
    /// Its line in the file of rules. A comparison with the baseline has none.
    pub line: Option<usize>,
    /// How long it took.
    pub duration: Duration,
    /// What was found.
    pub outcome: RuleOutcome,
}

/// The result of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleOutcome {
    /// The data keeps it.
    Kept,
    /// So many rows break it, of which these are the first.
    Broken(u64, Vec<PlacedRow>),
    /// It could not be decided: why, and what to do.
    Undecided(String, Option<String>),
}

/// A row of a result, with its place in the file that it comes from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlacedRow {
    /// The dataset that it comes from.
    pub dataset: Option<String>,
    /// The file that it comes from, as the user named it.
    pub file: Option<String>,
    /// Its line there, or its row in a sheet, the first being 1.
    pub line: Option<u64>,
    /// Its place in a workbook.
    pub cell: Option<String>,
    /// Its columns in the result.
    pub values: Vec<(String, Value)>,
}

impl PlacedRow {
    /// Returns the row as one line: `orders.csv:8: order_id=1127, amount=-118.0`.
    pub fn text(&self) -> String {
        let shown = self.values.iter().take(COLUMNS_MAX);
        let shown = shown.map(|(name, it)| format!("{}={}", sanitize::one_line(name), value(it)));
        let mut values = shown.collect::<Vec<_>>().join(", ");
        if COLUMNS_MAX < self.values.len() {
            values += ", …";
        }
        match self.place() {
            Some(place) if values.is_empty() => place,
            Some(place) => format!("{place}: {values}"),
            None => values,
        }
    }

    /// Returns where it is: `orders.csv:8`.
    fn place(&self) -> Option<String> {
        let file = sanitize::one_line(self.file.as_deref()?);
        Some(match (&self.cell, self.line) {
            (Some(cell), _) => format!("{file}, {}", sanitize::one_line(cell)),
            (None, Some(line)) => format!("{file}:{line}"),
            (None, None) => file,
        })
    }
}

/// Returns a value of a row.
fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => cut(&sanitize::one_line(text), VALUE_CELLS_MAX).into_owned(),
        other => other.to_string(),
    }
}

/// Returns rows as a table in Markdown: where each is, if that is known, and its first columns.
fn table(rows: &[PlacedRow]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|it| &it.values) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let has_more = COLUMNS_MAX < names.len();
    names.truncate(COLUMNS_MAX);
    let has_place = rows.iter().any(|it| it.file.is_some());
    let line = |place: &str, values: Vec<String>| {
        let place = has_place.then(|| place.to_owned());
        let more = has_more.then(|| "…".to_owned());
        let cells = place.into_iter().chain(values).chain(more).map(|it| cell(&it));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line("where", names.iter().map(|it| (*it).to_owned()).collect());
    let n_columns = names.len() + usize::from(has_place) + usize::from(has_more);
    text.extend(["|", &"---|".repeat(n_columns), "\n"]);
    for row in rows {
        let of = |name: &&str| row.values.iter().find(|it| it.0 == **name);
        let values = names.iter().map(|it| of(it).map_or_else(String::new, |it| value(&it.1)));
        text += &line(&row.place().unwrap_or_default(), values.collect());
    }
    text
}

impl RuleReport {
    /// Returns the result in a word.
    pub fn word(&self) -> &'static str {
        match self.outcome {
            RuleOutcome::Kept => Assessment::Good.name(),
            RuleOutcome::Broken(..) => self.severity.name(),
            RuleOutcome::Undecided(..) => "undecided",
        }
    }

    /// Returns how many rows break it, or what else was found: `3 rows`.
    pub fn found(&self, n: u64) -> String {
        count(n, if self.sql.is_some() { "row" } else { "difference" })
    }

    /// Returns the rows that break it as lines, and how many more there are.
    pub fn lines(&self) -> Vec<String> {
        let RuleOutcome::Broken(n_rows, rows) = &self.outcome else { return Vec::new() };
        let lines = rows.iter().map(PlacedRow::text).filter(|it| !it.is_empty());
        lines.chain(more(*n_rows, rows)).collect()
    }

    /// Returns a finding for each file with rows that break it, and one for rows without a file.
    fn findings(&self) -> Vec<FindingShown> {
        let RuleOutcome::Broken(n_rows, rows) = &self.outcome else { return Vec::new() };
        let text = format!("{}: {}", sanitize::one_line(&self.name), self.found(*n_rows));
        // Of a row without a line, nobody can look up the values.
        let of = |row: &PlacedRow| match &row.file {
            Some(_) => text.clone(),
            None if *n_rows == 1 => format!("{text}: {}", row.text()),
            None => format!("{text}, the first: {}", row.text()),
        };
        let mut found: Vec<FindingShown> = Vec::new();
        for row in rows {
            let at = found.iter().position(|it| it.source_file == row.file);
            let at = at.unwrap_or_else(|| {
                let finding = Finding {
                    dataset: row.dataset.clone(),
                    ..Finding::new(self.severity, of(row))
                };
                found.push(FindingShown {
                    finding,
                    call_id: None,
                    source_file: row.file.clone(),
                    source_line: row.line,
                    source_lines: Vec::new(),
                    source_cells: Vec::new(),
                });
                found.len() - 1
            });
            found[at].source_lines.extend(row.line);
            found[at].source_cells.extend(row.cell.clone());
        }
        found
    }
}

impl ChecksReport {
    /// Writes the report.
    ///
    /// # Errors
    ///
    /// Fails when the report cannot be serialised as text.
    pub fn text(&self, kind: ReportKind) -> anyhow::Result<String> {
        match kind {
            ReportKind::Junit => self.junit(),
            ReportKind::Sarif => self.sarif(),
            ReportKind::Github => Ok(self.github()),
            ReportKind::Md => Ok(self.markdown()),
        }
    }

    /// Returns how many rules have each result, in words: `3 rules: 2 good, 1 bad`.
    pub fn summary(&self) -> String {
        let words = ["good", "warning", "bad", "undecided"];
        let n_of = |word: &str| self.rules.iter().filter(|it| it.word() == word).count();
        let parts = words.into_iter().map(|it| (n_of(it), it)).filter(|it| 0 < it.0);
        let parts: Vec<String> = parts.map(|(n, word)| format!("{n} {word}")).collect();
        let all = count(self.rules.len() as u64, "rule");
        if parts.is_empty() { all } else { format!("{all}: {}", parts.join(", ")) }
    }

    fn junit(&self) -> anyhow::Result<String> {
        let mut notes: String =
            self.warnings.iter().flat_map(|it| ["warning: ", it, "\n"]).collect();
        let mut cases: Vec<TestCase> = Vec::new();
        for rule in &self.rules {
            let outcome = match &rule.outcome {
                RuleOutcome::Kept => TestOutcome::Passed,
                RuleOutcome::Broken(n_rows, _) if self.fails_from <= rule.severity => {
                    let (message, text) = (rule.found(*n_rows), rule.lines().join("\n"));
                    TestOutcome::Failed(rule.severity.name(), message, text)
                }
                RuleOutcome::Broken(..) => {
                    // Writing to a string cannot fail.
                    let _ = writeln!(notes, "{}: {}", rule.word(), rule.name);
                    notes.extend(rule.lines().iter().flat_map(|it| ["  ", it, "\n"]));
                    TestOutcome::Passed
                }
                RuleOutcome::Undecided(reason, hint) => {
                    TestOutcome::Broken("undecided".to_owned(), told(reason, hint.as_deref()))
                }
            };
            let time_ms = millis(rule.duration);
            let (class, name) = (CLASS.to_owned(), sanitize::one_line(&rule.name));
            cases.push(TestCase { class, name, time_ms, outcome });
        }
        if let Some(trouble) = &self.trouble {
            let outcome = TestOutcome::Broken("file".to_owned(), trouble.clone());
            let (class, name) = (CLASS.to_owned(), self.file.clone());
            cases.push(TestCase { class, name, time_ms: 0, outcome });
        }
        let time_ms = millis(self.duration);
        TestSuite { started: &self.started, time_ms, cases, notes }.text()
    }

    fn sarif(&self) -> anyhow::Result<String> {
        let (mut rules, mut results, mut notifications) = (Vec::new(), Vec::new(), Vec::new());
        for (at, rule) in self.rules.iter().enumerate() {
            // The name is what stays, whatever the data is.
            let id = sanitize::one_line(&rule.name);
            rules.push(sarif::rule(&id, &id, rule.severity));
            let file = Some((self.file.as_str(), rule.line));
            results.extend(rule.findings().iter().map(|it| sarif::result(it, &id, at, file)));
            if let RuleOutcome::Undecided(reason, hint) = &rule.outcome {
                let mut told = sarif::notification(&told(reason, hint.as_deref()));
                told["associatedRule"] = json!({"id": id, "index": at});
                notifications.push(told);
            }
        }
        notifications.extend(self.trouble.iter().map(|it| sarif::notification(it)));
        let doubts = self.warnings.iter().map(|it| sarif::doubt(it));
        let exit_code = Some(self.exit_code);
        let mut invocation =
            sarif::invocation(&self.started, &self.ended, exit_code, &notifications);
        if !self.warnings.is_empty() {
            // They do not make it a failed run.
            let all: Vec<Value> = notifications.into_iter().chain(doubts).collect();
            invocation["toolExecutionNotifications"] = json!(all);
        }
        let properties = json!({"checks": sanitize::one_line(&self.file)});
        sarif::log(&rules, &results, &invocation, &properties)
    }

    fn github(&self) -> String {
        let mut text: String = self.warnings.iter().map(|it| github::warning(it)).collect();
        for rule in &self.rules {
            rule.findings().iter().for_each(|it| text += &github::annotation(it));
            if let RuleOutcome::Undecided(reason, hint) = &rule.outcome {
                text +=
                    &github::failure(&format!("{}: {}", rule.name, told(reason, hint.as_deref())));
            }
        }
        self.trouble.iter().for_each(|it| text += &github::failure(it));
        text
    }

    fn markdown(&self) -> String {
        let mut text = match &self.trouble {
            Some(trouble) => format!("## csv-agent: not checked\n\n{}\n", cell(trouble)),
            None => format!("## csv-agent: {}\n", self.summary()),
        };
        for warning in &self.warnings {
            text.extend(["\n**warning**: ", &cell(warning), "\n"]);
        }
        if self.rules.is_empty() {
            return text;
        }
        text += "\n| result | rule | rows | time |\n|---|---|---:|---:|\n";
        for rule in &self.rules {
            let rows = match &rule.outcome {
                RuleOutcome::Kept => "0".to_owned(),
                RuleOutcome::Broken(n_rows, _) => n_rows.to_string(),
                RuleOutcome::Undecided(..) => String::new(),
            };
            let (word, name, ms) = (rule.word(), cell(&rule.name), millis(rule.duration));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {word} | {name} | {rows} | {ms} ms |");
        }
        for rule in &self.rules {
            let found = match &rule.outcome {
                RuleOutcome::Kept => continue,
                RuleOutcome::Broken(n_rows, rows) => {
                    let more = more(*n_rows, rows).map(|it| format!("\n{it}\n"));
                    table(rows) + &more.unwrap_or_default()
                }
                RuleOutcome::Undecided(reason, hint) => cell(&told(reason, hint.as_deref())) + "\n",
            };
            // Writing to a string cannot fail.
            let _ = write!(text, "\n**{}: {}**\n\n{found}", rule.word(), cell(&rule.name));
        }
        text
    }
}

/// Returns how many rows there are beside those that are shown.
fn more(n_rows: u64, shown: &[PlacedRow]) -> Option<String> {
    let more = n_rows.saturating_sub(shown.len() as u64);
    (0 < more).then(|| format!("and {}", count(more, "more row")))
}

/// Returns a reason with what to do about it.
fn told(reason: &str, hint: Option<&str>) -> String {
    hint.map_or_else(|| reason.to_owned(), |hint| format!("{reason}; {}", hint.replace('\n', "; ")))
}

/// Returns a duration in milliseconds.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{COLUMNS_MAX, PlacedRow};

    #[test]
    fn a_row_is_one_line_with_its_place() {
        let row = PlacedRow {
            file: Some("a\nb.csv".to_owned()),
            line: Some(8),
            values: vec![("id".to_owned(), json!(1)), ("note".to_owned(), json!("x\u{1b}[2J\ny"))],
            ..PlacedRow::default()
        };
        assert_eq!(row.text(), "a b.csv:8: id=1, note=x\\x1b[2J y");
        let row = PlacedRow { cell: Some("Sheet1!12".to_owned()), values: Vec::new(), ..row };
        assert_eq!(row.text(), "a b.csv, Sheet1!12");
        let values = vec![("n".to_owned(), json!(null)); COLUMNS_MAX + 1];
        let row = PlacedRow { values, ..PlacedRow::default() };
        assert_eq!(row.text(), "n=null, n=null, n=null, n=null, n=null, n=null, n=null, n=null, …");
    }
}
