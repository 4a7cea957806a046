//! The steps of a program: the code that ran, changed so that it keeps the values to check, and the checks.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use csv_agent_tools::{Statement, ToolJob};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::dataset_names::short_forms;
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::CLUSTER_TABLE_ROWS_MAX;
use csv_agent_worker::protocol::Command;

use super::{Did, literal};
use crate::replay::compare::unwarned;
use crate::replay::expectation::{Proof, head, is_lazy, plotted, proofs};
use crate::replay::stored_turn::{ExecutionPlace, PastCall, PastTurn, number};

/// A piece of the program: a step, or the final checks.
pub(super) struct ProgramPiece {
    /// The directory name of its turn.
    pub turn: String,
    /// A short description.
    pub title: String,
    /// Python.
    pub code: String,
    /// An expression to show after the run.
    pub shows: Option<String>,
    /// Checks in Python, each with its title.
    pub checks: Vec<(String, String)>,
    /// Names that it uses but does not define.
    pub uses: BTreeSet<String>,
    /// Where its variables live.
    pub place: ExecutionPlace,
    /// Names of the built-in helpers that it calls.
    pub helpers: String,
    /// Packages that it needs.
    pub imports: BTreeSet<String>,
}

/// Added to the used names when the script must let a failed step fail again.
pub(super) const ATTEMPTED: &str = "_attempt";

/// Added to the used names when the script must capture what is printed.
pub(super) const PRINTED: &str = "_Printed";

/// Added to the used names when the script must separate the variables of containers.
pub(super) const ENTERED: &str = "_enter";

/// The built-in helper that runs a statement.
pub(super) const QUERY: &str = "_query(";

/// Built-in helpers that code of a container may call.
const HOSTED: [&str; 3] = ["_at(", "_show(", "_taken("];

/// The variable that holds outputs too long to show.
pub(super) const KEPT: &str = "data";

/// Makes the pieces of the steps. With `asks_cluster`, frames may be on a cluster. What plain Python cannot
/// express becomes a warning.
pub(super) fn pieces(
    turns: &[(PastTurn, bool)],
    done: &[Did],
    catalog: &Catalog,
    asks_cluster: bool,
    warnings: &mut Vec<String>,
) -> Vec<ProgramPiece> {
    let proofs: Vec<_> = turns.iter().map(|(turn, _)| proofs(turn)).collect();
    let keys = keys_used(done);
    let mut pieces = Vec::new();
    for (at, it) in done.iter().enumerate() {
        let (turn, is_wanted) = &turns[it.turn];
        let same = |call: usize| std::ptr::eq(&raw const turn.calls[call], it.call);
        let own = proofs[it.turn].iter().filter(|(call, _)| *is_wanted && same(*call));
        let own: Vec<Proof> = own.map(|it| it.1).collect();
        let is_ordered = turn.is_ordered(catalog);
        let place = Standing { number: at + 1, is_ordered, asks_cluster, keys: &keys, catalog };
        pieces.push(piece(it, &turn.id, &own, &place));
    }
    let mut here = &ExecutionPlace::Repl;
    for it in &mut pieces {
        if it.place != *here {
            it.code = format!("{}\n{}", enter(&it.place), it.code);
        }
        here = &it.place;
    }
    let made: Vec<&str> = done.iter().flat_map(|it| keys_of(it.call)).map(|it| it.1).collect();
    for key in keys.iter().filter(|it| !made.contains(&it.as_str())) {
        warnings.push(format!(
            "data[\"{key}\"] is known only to csv-agent; the code that uses it will fail"
        ));
    }
    for (turn, is_wanted) in turns {
        let id = number(&turn.id);
        let has_check = pieces.iter().any(|it| it.turn == turn.id && !it.checks.is_empty());
        if *is_wanted && !has_check {
            warnings.push(format!("turn {id} has no result that plain Python can check"));
        }
    }
    pieces
}

struct Standing<'a> {
    /// From 1.
    number: usize,
    is_ordered: bool,
    asks_cluster: bool,
    /// Keys of kept outputs that some code uses.
    keys: &'a BTreeSet<String>,
    catalog: &'a Catalog,
}

fn piece(done: &Did, turn: &str, proofs: &[Proof], place: &Standing) -> ProgramPiece {
    let (number, place_of_it) = (place.number, done.call.place.clone());
    let mut helpers = String::new();
    let mut title = done.call.call.name.clone();
    let mut checks = Vec::new();
    let mut shows = None;
    let code = match &done.job {
        ToolJob::Python(Command::Load { dataset, variable, columns, n_rows }) => {
            let columns = columns.as_ref().map(|it| format!(", {}", literal::list(it)));
            let rows = n_rows.map(|it| format!(", n_rows={it}"));
            let arguments = [columns.unwrap_or_default(), rows.unwrap_or_default()].concat();
            format!("{variable} = load({}{arguments})", literal::string(dataset))
        }
        ToolJob::Python(Command::Fetch { variable, .. }) => {
            let is_saved = done.call.place != ExecutionPlace::Repl;
            let kept = if is_saved { format!("_gave[{number}]") } else { format!("sent_{number}") };
            let mut sent = None;
            for proof in proofs {
                let (what, frame, labels) = match proof {
                    Proof::Table(table) => (proof.name(), table.frame(), false),
                    Proof::Chart(chart) => {
                        let frame = plotted(chart);
                        let labels = frame.columns.iter().any(|it| it == "index");
                        (proof.name(), frame, labels)
                    }
                    Proof::Value(_) => continue,
                };
                sent = Some(readings(&frame));
                title.clone_from(&what);
                let function = if place.asks_cluster { "_check_sent" } else { "_check_table" };
                let check = table_check(function, &what, &kept, &frame, place.is_ordered, labels);
                checks.push((what, check));
            }
            shows = Some(kept.clone());
            if is_saved {
                let columns = sent.unwrap_or_default();
                helpers = format!("_saved( {columns}");
                format!("{kept} = _saved({}, {{{columns}}})", literal::string(variable))
            } else if place.asks_cluster {
                "_sent(".clone_into(&mut helpers);
                format!("{kept} = _sent({variable}, {CLUSTER_TABLE_ROWS_MAX})")
            } else {
                format!("{kept} = {variable}.copy()")
            }
        }
        ToolJob::Python(Command::Run { .. }) if done.call.is_hosted() => {
            let code = done.elsewhere.as_deref().unwrap_or_default();
            let is_checked = proofs.iter().any(|it| matches!(it, Proof::Value(_)));
            let text = in_container(done, code, is_checked, number, &mut checks);
            helpers = HOSTED.iter().filter(|it| text.contains(**it)).copied().collect();
            text
        }
        ToolJob::Python(Command::Run { code }) => {
            let code = code.replace("\r\n", "\n").replace('\r', "\n");
            let is_checked = proofs.iter().any(|it| matches!(it, Proof::Value(_)));
            let ran = run(done, code.trim_end(), is_checked, place);
            (shows, checks) = (ran.1, ran.2);
            ran.0
        }
        ToolJob::Python(Command::Find { .. } | Command::Forget { .. } | Command::Keep { .. }) => {
            String::new()
        }
        ToolJob::Query(statement) => {
            QUERY.clone_into(&mut helpers);
            let value = match &statement.result_name {
                Some(name) => name.clone(),
                None => format!("result_{number}"),
            };
            for proof in proofs {
                let (Proof::Value(_), Some(frame)) = (proof, head(&done.call.result)) else {
                    continue;
                };
                checks.push(query_check(&statement.sql, &proof.name(), &value, frame));
            }
            shows = Some(value.clone());
            query(statement, &value, place.catalog)
        }
    };
    // A container does not see the REPL's variables.
    let is_apart = place_of_it != ExecutionPlace::Repl;
    let names = || &done.outline.reads | &done.outline.binds;
    let mut uses = if is_apart { BTreeSet::new() } else { names() };
    if matches!(done.job, ToolJob::Python(Command::Load { .. })) {
        uses.insert("load".to_owned());
    }
    let mut marks = vec![("_attempt(", ATTEMPTED)];
    if is_apart {
        uses.insert(ENTERED.to_owned());
        marks.push(("_taken()", PRINTED));
    } else {
        marks.extend([("sys.stdout.take()", PRINTED), ("data[", KEPT)]);
    }
    let said = marks.iter().filter(|it| code.contains(it.0));
    uses.extend(said.map(|it| it.1.to_owned()));
    let (turn, mut imports) = (turn.to_owned(), done.outline.imports.clone());
    if matches!(done.job, ToolJob::Query(_)) {
        imports.insert("duckdb".to_owned());
    }
    ProgramPiece { turn, title, code, shows, checks, uses, place: place_of_it, helpers, imports }
}

/// Returns the code of a statement: its result is a variable and a table, as `load` and later statements find it.
/// The engine of the script does not know short forms of names.
fn query(statement: &Statement, value: &str, catalog: &Catalog) -> String {
    let quotes = if statement.sql.contains("\"\"\"") { "'''" } else { "\"\"\"" };
    let sql = statement.sql.trim();
    let is_plain = !sql.contains(['\\', '\r']) && !sql.contains(quotes) && !sql.ends_with('"');
    let text = if is_plain { format!("{quotes}\n{sql}\n{quotes}") } else { literal::string(sql) };
    let table = statement
        .result_name
        .as_deref()
        .map_or_else(String::new, |name| format!("_TABLES[{}] = ", literal::string(name)));
    let short = short_forms(sql, &catalog.names())
        .into_iter()
        .map(|(form, name)| format!("{}: {}", literal::string(form), literal::string(name)));
    let short: Vec<String> = short.collect();
    let short =
        if short.is_empty() { String::new() } else { format!(", {{{}}}", short.join(", ")) };
    format!("{table}{value} = _query({text}{short})")
}

/// Returns the check of a statement's result. Where rows were cut that have no order, another engine may begin with
/// others, and only their number is compared.
fn query_check(sql: &str, what: &str, value: &str, frame: Frame) -> (String, String) {
    let is_ordered = sql.to_lowercase().contains("order by");
    let is_whole = !frame.is_truncated();
    let rows = if is_whole || is_ordered { frame.rows } else { Vec::new() };
    let frame = Frame { rows, ..frame };
    let check = table_check("_check_table", what, value, &frame, false, false);
    (what.to_owned(), check)
}

/// Returns the line that switches to the variables of a place.
pub(super) fn enter(place: &ExecutionPlace) -> String {
    let name = match place {
        ExecutionPlace::Repl => "",
        ExecutionPlace::Container(name) if name.is_empty() => "container",
        ExecutionPlace::Container(name) => name,
    };
    format!("_enter({}, globals())", literal::string(name))
}

/// Returns the code of a step in a container. Its only output is what it prints.
fn in_container(
    done: &Did,
    code: &str,
    is_checked: bool,
    number: usize,
    checks: &mut Checks,
) -> String {
    if let Some(kind) = done.call.raised() {
        return attempt(kind, code);
    }
    let then = unwarned(done.call.result["text"].as_str().unwrap_or_default());
    if !is_checked {
        return code.to_owned();
    }
    let (what, kept) = ("what the code printed".to_owned(), format!("_gave[{number}]"));
    let check = text_check(&what, &then, &kept);
    checks.push((what, check));
    // Earlier output belongs to no step.
    format!("_taken()\n{code}\n{kept} = _taken()")
}

fn attempt(kind: &str, code: &str) -> String {
    let kind = kind.replace(|it: char| !it.is_alphanumeric(), " ");
    format!("# It failed, with {kind}.\n_attempt({}, globals())", literal::string(code))
}

/// Returns how to read the columns of a saved table that are not text.
fn readings(frame: &Frame) -> String {
    let reading = |at: usize| {
        let dtype = frame.dtypes[at].to_ascii_lowercase();
        let values = || frame.rows.iter().map(|row| &row[at]).filter(|it| !it.is_null());
        let all = |is: fn(&Value) -> bool| values().next().is_some() && values().all(is);
        let is_moment = |it: &Value| it.as_str().is_some_and(|it| it.get(10..11) == Some("T"));
        match dtype.as_str() {
            it if it.starts_with("int") => "_whole_numbers",
            it if it.starts_with("float") => "_numbers",
            it if it.starts_with("bool") => "_truths",
            it if it.starts_with("datetime") && it.contains(',') => "_instants",
            it if it.starts_with("datetime") => "_moments",
            // The rows of a chart carry no types.
            "" if all(Value::is_number) => "_numbers",
            "" if all(Value::is_boolean) => "_truths",
            "" if all(is_moment) => "_moments",
            _ => "None",
        }
    };
    let columns = frame.columns.iter().enumerate();
    let columns = columns.map(|(at, it)| format!("{}: {}", literal::string(it), reading(at)));
    columns.collect::<Vec<_>>().join(", ")
}

type Checks = Vec<(String, String)>;

/// Returns the code of a step, what it shows, and its checks.
fn run(
    done: &Did,
    code: &str,
    is_checked: bool,
    place: &Standing,
) -> (String, Option<String>, Checks) {
    let (number, result) = (place.number, &done.call.result);
    if let Some(kind) = done.call.raised() {
        return (attempt(kind, code), None, Vec::new());
    }
    let used = keys_of(done.call).into_iter().filter(|it| place.keys.contains(it.1));
    let used: Vec<(&str, &str)> = used.collect();
    let keeps = |member: &str| used.iter().any(|it| it.0 == member);
    let (value, printed) = (format!("value_{number}"), format!("printed_{number}"));
    let has_value = result["kind"] != "none" && !is_lazy(result);
    let kept = done.outline.last.filter(|_| has_value && (is_checked || keeps("data_key")));
    let mut text = match kept {
        Some(last) => with_value(code, last, &value),
        None => code.to_owned(),
    };
    let has_printed = result.get("stdout").is_some() && (is_checked || keeps("stdout_key"));
    if has_printed {
        // Earlier output belongs to no step.
        text = format!("sys.stdout.take()\n{text}\n{printed} = sys.stdout.take()");
    }
    for (member, key) in used {
        let from = if member == "data_key" { &value } else { &printed };
        // Writing to a string cannot fail.
        let _ = write!(text, "\ndata[{}] = {from}", literal::string(key));
    }
    let mut checks = Vec::new();
    let what = "the value of the code".to_owned();
    match head(result) {
        _ if !is_checked => {}
        Some(frame) if kept.is_some() => {
            let function = "_check_table";
            let check = table_check(function, &what, &value, &frame, place.is_ordered, true);
            checks.push((what, check));
        }
        _ => {
            if let (Some(then), Some(_)) = (result["text"].as_str(), kept) {
                checks.push((what.clone(), text_check(&what, then, &format!("repr({value})"))));
            }
        }
    }
    if let (Some(then), true) = (result["stdout"].as_str(), is_checked) {
        let what = "what the code printed".to_owned();
        let check = text_check(&what, then, &printed);
        checks.push((what, check));
    }
    (text, kept.map(|_| value), checks)
}

/// Binds the value of the last expression to a name.
fn with_value(code: &str, [line, byte, end_line, end_byte]: [usize; 4], name: &str) -> String {
    let offset = |line: usize, byte: usize| {
        let before = code.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        code.floor_char_boundary(before + byte)
    };
    let (from, to) = (offset(line, byte), offset(end_line, end_byte));
    let expression = &code[from..to];
    let assigned = if expression.contains('\n') {
        format!("{name} = (\n{expression}\n)")
    } else {
        format!("{name} = {expression}")
    };
    format!("{}{assigned}{}", &code[..from], &code[to..])
}

fn table_check(
    function: &str,
    what: &str,
    value: &str,
    frame: &Frame,
    is_ordered: bool,
    labels: bool,
) -> String {
    let ordered = if is_ordered { ", ordered=True" } else { "" };
    let labels = if labels { ", row_labels=True" } else { "" };
    let (columns, rows) = (literal::list(&frame.columns), literal::rows(&frame.rows));
    let what = literal::string(what);
    format!("{function}({what}, {value}, {columns}, {rows}, {}{ordered}{labels})", frame.row_count)
}

fn text_check(what: &str, then: &str, now: &str) -> String {
    format!("_check_text({}, {}, {now})", literal::string(what), literal::string(then))
}

/// Returns the keys under which outputs of a call were kept, each with its member of the result.
fn keys_of(call: &PastCall) -> Vec<(&'static str, &str)> {
    let key = |member| Some((member, call.result.get(member).and_then(Value::as_str)?));
    ["data_key", "stdout_key"].into_iter().filter_map(key).collect()
}

/// Returns the keys of kept outputs in code: `python_repl_` and eight digits.
fn keys_used(done: &[Did]) -> BTreeSet<String> {
    let code = done.iter().filter_map(|it| match &it.job {
        ToolJob::Python(Command::Run { code }) => Some(code.as_str()),
        _ => None,
    });
    let words = code.flat_map(|it| it.split(|it: char| !it.is_ascii_alphanumeric() && it != '_'));
    let is_key = |it: &&str| {
        it.rsplit_once('_').is_some_and(|(tool, digits)| {
            let is_tool = csv_agent_tools::TOOLS.iter().any(|it| it.name == tool);
            is_tool && digits.len() == 8 && digits.bytes().all(|it| it.is_ascii_hexdigit())
        })
    };
    words.filter(is_key).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::with_value;

    #[track_caller]
    fn check(code: &str, last: [usize; 4], expected: &str) {
        assert_eq!(with_value(code, last, "v"), expected);
    }

    #[test]
    fn the_last_expression_gets_a_name_where_it_stands() {
        check("a = 1\na + 1  # one more", [2, 0, 2, 5], "a = 1\nv = a + 1  # one more");
        check("é = 1; é", [1, 8, 1, 10], "é = 1; v = é");
        check("(df\n .sum())", [1, 0, 2, 8], "v = (\n(df\n .sum())\n)");
    }
}
