//! `code_interpreter`: Python in a container at the provider.
//!
//! Source: `OpenAI` API reference, "Code Interpreter". The provider reports no exit status; a traceback in
//! the printed text shows that the code failed.

use serde_json::{Value, json};

use csv_agent_types::conversation::{Item, ToolDeclaration};
use csv_agent_types::status::Failure;

use crate::hosted::store::is_id;
use crate::hosted::{HostedCall, HostedTool, has_ended_well, output, status, tool_call};

/// The tool's entry in the table of hosted tools.
pub const TOOL: HostedTool = HostedTool {
    name: "code_interpreter",
    provider: "responses",
    item: "code_interpreter_call",
    runs_code: true,
    handler: Some(read),
};

/// Details of runs to request; without this the response omits what code printed.
const INCLUDE: &[&str] = &["code_interpreter_call.outputs"];

/// Bytes of an exception's message that are reported apart from the traceback, as for the REPL.
const EXCEPTION_BYTES_MAX: usize = 1_000;
/// Bytes of an exception's class with its module.
const CLASS_BYTES_MAX: usize = 200;

/// Replaces printed text that the provider does not report.
pub const UNTOLD: &str = "the provider does not return what it printed";

/// The container that runs code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContainerChoice {
    /// A container by the provider, or that of earlier runs in the conversation while it lives. It has the
    /// requested memory, or else the least.
    Auto(Option<MemoryTier>),
    /// An existing container.
    Existing(String),
}

/// Memory of a container, fixed for its lifetime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemoryTier {
    /// 1 GB.
    #[default]
    G1,
    /// 4 GB.
    G4,
    /// 16 GB.
    G16,
    /// 64 GB.
    G64,
}

impl MemoryTier {
    /// The tiers by name.
    pub const NAMES: [(&str, MemoryTier); 4] = [
        ("1g", MemoryTier::G1),
        ("4g", MemoryTier::G4),
        ("16g", MemoryTier::G16),
        ("64g", MemoryTier::G64),
    ];

    /// Returns the name used in requests and flags.
    pub fn name(self) -> &'static str {
        match self {
            MemoryTier::G1 => "1g",
            MemoryTier::G4 => "4g",
            MemoryTier::G16 => "16g",
            MemoryTier::G64 => "64g",
        }
    }
}

impl ContainerChoice {
    /// Parses the user's text: `auto`, or the id of a container.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Usage` when it is not an id, or memory is set for an existing container.
    pub fn parse(text: &str, memory: Option<MemoryTier>) -> Result<ContainerChoice, Failure> {
        if text == "auto" {
            return Ok(ContainerChoice::Auto(memory));
        }
        if !text.starts_with("cntr_") || !is_id(text) {
            let message = format!("`{text}` is not a valid container id");
            let hint = "ids begin with `cntr_`; with `--container auto` the provider creates one";
            return Err(Failure::usage(message).hint(hint));
        }
        if let Some(memory) = memory {
            let message = format!(
                "the container `{text}` cannot get {} of memory: a container keeps the memory that it \
                 was created with",
                memory.name()
            );
            let hint = "leave `--container-memory` out, or use `--container auto`";
            return Err(Failure::usage(message).hint(hint));
        }
        Ok(ContainerChoice::Existing(text.to_owned()))
    }
}

/// Declares the tool, with the initial files of a container by the provider.
pub fn declaration(container: &ContainerChoice, file_ids: &[String]) -> ToolDeclaration {
    let container = match container {
        ContainerChoice::Existing(id) => json!(id),
        ContainerChoice::Auto(memory) => {
            let memory_limit = memory.unwrap_or_default().name();
            json!({"type": "auto", "memory_limit": memory_limit, "file_ids": file_ids})
        }
    };
    ToolDeclaration::Hosted {
        name: TOOL.name,
        provider: TOOL.provider,
        configuration: json!({"type": TOOL.name, "container": container}),
        include: INCLUDE,
    }
}

fn read(item: &Item) -> HostedCall {
    let outputs = item.0["outputs"].as_array();
    let of_type = |name: &'static str, member: &'static str| {
        let outputs = outputs.into_iter().flatten().filter(move |it| it["type"] == name);
        outputs.filter_map(move |it| it[member].as_str())
    };
    let mut logs = String::new();
    for it in of_type("logs", "logs") {
        if !logs.is_empty() && !logs.ends_with('\n') {
            logs.push('\n');
        }
        logs += &without_colours(it);
    }
    let images: Vec<String> = of_type("image", "url").map(str::to_owned).collect();
    let succeeded = has_ended_well(item) && !shows_an_exception(&logs);
    let printed = if has_ended_well(item) { printed_before_exception(&logs) } else { "" };
    let text = match (logs.trim().is_empty(), has_ended_well(item)) {
        (_, false) => {
            format!("the provider could not run the code: it is {}\n{logs}", status(item))
        }
        (true, true) if outputs.is_none() => UNTOLD.to_owned(),
        (_, true) => logs[printed.len()..].to_owned(),
    };
    let code = item.0["code"].as_str().unwrap_or_default();
    // A value that is not a container id is not stored as one.
    let container_id = item.container_id().filter(|it| is_id(it)).map(str::to_owned);
    let mut output = output(succeeded, text.trim_end());
    if !succeeded && let Some((name, message)) = exception(&text) {
        output.result["error"] = json!({"type": name, "message": message});
    }
    if !printed.trim().is_empty() {
        output.result["stdout"] = printed.trim_end().into();
    }
    if let Some(id) = &container_id {
        output.result["container_id"] = Value::from(id.as_str());
    }
    HostedCall {
        call: tool_call(item, TOOL.name, &json!({"code": code})),
        succeeded,
        output,
        images,
        container_id,
    }
}

/// Returns whether an exception ended the code: a traceback starts a line, as Python writes it, or follows
/// the name of the exception, as in a notebook. These words in a table cell do not count. A syntax error
/// has no traceback.
fn shows_an_exception(logs: &str) -> bool {
    let last = logs.lines().rfind(|it| !it.trim().is_empty()).unwrap_or_default();
    let is_unparsed =
        ["SyntaxError: ", "IndentationError: ", "TabError: "].iter().any(|it| last.starts_with(it));
    let has_place = |line: &str| {
        let line = line.trim_start();
        line.starts_with("Cell In[") || line.starts_with("File ") || line.starts_with("Input In")
    };
    logs.lines().any(is_traceback) || (is_unparsed && logs.lines().any(has_place))
}

fn is_traceback(line: &str) -> bool {
    const TRACEBACK: &str = "Traceback (most recent call last)";
    match line.split_once(TRACEBACK) {
        Some((before, after)) => {
            let name = before.trim_end();
            let is_name = name.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '.');
            let is_of_notebook = is_name && !name.is_empty() && before.len() - name.len() > 1;
            (before.is_empty() || is_of_notebook) && matches!(after.trim_end(), "" | ":")
        }
        None => false,
    }
}

/// Returns what code printed before an exception ended it; empty where there is none, or the two cannot be
/// separated.
fn printed_before_exception(logs: &str) -> &str {
    let mut at = 0;
    for line in logs.split_inclusive('\n') {
        if is_traceback(line) {
            return &logs[..at];
        }
        at += line.len();
    }
    ""
}

/// Returns the class and message of the exception that ended the code: its last line, as Python writes it.
fn exception(logs: &str) -> Option<(&str, &str)> {
    let last = logs.lines().rfind(|it| !it.trim().is_empty())?;
    let (name, message) = last.split_once(": ").unwrap_or((last.trim_end_matches(':'), ""));
    let is_letter = |it: char| it.is_alphanumeric() || it == '_' || it == '.';
    let is_class = name.len() <= CLASS_BYTES_MAX
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(is_letter);
    let message = &message[..message.floor_char_boundary(EXCEPTION_BYTES_MAX)];
    is_class.then(|| (name.rsplit('.').next().unwrap_or(name), message.trim_end()))
}

/// Removes the colour codes of a notebook's tracebacks.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|it: char| !it.is_ascii_digit() && it != ';');
        match end.filter(|end| piece[*end..].starts_with('m')) {
            Some(end) => plain.push_str(&piece[end + 1..]),
            None => plain.extend(["\u{1b}[", piece]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ContainerChoice, MemoryTier, declaration, read};
    use crate::hosted::HostedCall;
    use csv_agent_types::conversation::{Item, ToolDeclaration};

    #[track_caller]
    fn check_refused(container: &str, memory: Option<MemoryTier>, message: &str) {
        let refused = ContainerChoice::parse(container, memory).unwrap_err();
        assert_eq!(refused.to_string(), message);
    }

    #[test]
    fn what_no_container_can_be_is_refused_before_any_request() {
        assert_eq!(ContainerChoice::parse("auto", None).unwrap(), ContainerChoice::Auto(None));
        let existing = ContainerChoice::parse("cntr_68-a", None).unwrap();
        assert_eq!(existing, ContainerChoice::Existing("cntr_68-a".into()));
        for text in ["", "AUTO", "abc", "cntr_../../files", "cntr_a b"] {
            check_refused(text, None, &format!("`{text}` is not a valid container id"));
        }
        check_refused(
            "cntr_1",
            Some(MemoryTier::G4),
            "the container `cntr_1` cannot get 4g of memory: a container keeps the memory that it was \
             created with",
        );
    }

    #[track_caller]
    fn check_declared(container: &ContainerChoice, expected: &Value) {
        let ToolDeclaration::Hosted { configuration, .. } =
            declaration(container, &["file-1".into()])
        else {
            panic!("it is the provider's")
        };
        assert_eq!(&configuration, expected);
    }

    #[test]
    fn a_container_is_made_with_memory_and_files_or_named() {
        check_declared(
            &ContainerChoice::Auto(Some(MemoryTier::G16)),
            &json!({"type": "code_interpreter", "container":
                {"type": "auto", "memory_limit": "16g", "file_ids": ["file-1"]}}),
        );
        check_declared(
            &ContainerChoice::Existing("cntr_1".into()),
            &json!({"type": "code_interpreter", "container": "cntr_1"}),
        );
    }

    fn run(status: &str, outputs: &Value) -> HostedCall {
        read(&Item(json!({"type": "code_interpreter_call", "id": "ci_1", "status": status,
            "container_id": "cntr_1", "code": "1 + 1", "outputs": outputs})))
    }

    #[test]
    fn a_run_gives_what_it_printed_and_drew() {
        let image = "data:image/png;base64,AAAA";
        let found = run(
            "completed",
            &json!([{"type": "logs", "logs": "2\n"}, {"type": "image", "url": image},
                {"type": "logs", "logs": "done"}]),
        );
        assert_eq!(found.call.arguments, r#"{"code":"1 + 1"}"#);
        assert_eq!((found.call.call_id.as_str(), found.succeeded), ("ci_1", true));
        let result = json!({"kind": "text", "text": "2\ndone", "container_id": "cntr_1"});
        assert_eq!(found.output.result, result);
        assert_eq!(found.images, [image]);
        assert_eq!(run("completed", &json!([])).output.result["text"], "");
        let untold = run("completed", &Value::Null).output.result["text"].clone();
        assert_eq!(untold, "the provider does not return what it printed");
    }

    #[track_caller]
    fn check_logs(logs: &str, succeeded: bool) {
        let found = run("completed", &json!([{"type": "logs", "logs": logs}]));
        assert_eq!(found.succeeded, succeeded, "{logs}");
    }

    #[test]
    fn a_traceback_is_a_failure_and_words_in_a_table_are_none() {
        check_logs(
            "Traceback (most recent call last):\n  File \"a\", line 1\nKeyError: 'x'\n",
            false,
        );
        check_logs(
            "\u{1b}[0;31mKeyError\u{1b}[0m       Traceback (most recent call last)\n",
            false,
        );
        check_logs("  Cell In[1], line 1\n    1 +\n       ^\nSyntaxError: invalid syntax\n", false);
        check_logs("0   Traceback (most recent call last) of job 7\n1   fine\n", true);
        check_logs("SyntaxError: is a word in row 7\n", true);
        check_logs("3\n", true);
    }

    #[test]
    fn what_code_printed_before_it_failed_is_apart_as_in_the_repl() {
        let trace = "Traceback (most recent call last):\n  File \"a\", line 1\nKeyError: 'x'";
        let logs = format!("total 7\n\n{trace}\n");
        let told = run("completed", &json!([{"type": "logs", "logs": logs}])).output.result;
        assert_eq!((&told["stdout"], &told["text"]), (&json!("total 7"), &json!(trace)));
        let told = run("completed", &json!([{"type": "logs", "logs": trace}])).output.result;
        assert_eq!((&told["stdout"], &told["text"]), (&Value::Null, &json!(trace)));
    }

    #[track_caller]
    fn check_exception(logs: &str, expected: &Value) {
        let logs = format!("Traceback (most recent call last):\n  File \"a\", line 1\n{logs}\n");
        let found = run("completed", &json!([{"type": "logs", "logs": logs}]));
        assert_eq!(&found.output.result["error"], expected);
    }

    #[test]
    fn an_exception_is_told_by_its_class_as_the_repl_tells_it() {
        check_exception("KeyError: 'x'", &json!({"type": "KeyError", "message": "'x'"}));
        check_exception("KeyboardInterrupt", &json!({"type": "KeyboardInterrupt", "message": ""}));
        let parsing = json!({"type": "ParserError", "message": "line 3"});
        check_exception("pandas.errors.ParserError: line 3", &parsing);
        check_exception("12 rows: fine", &Value::Null);
        check_exception(&"x".repeat(1_000), &Value::Null);
    }

    #[test]
    fn what_the_provider_could_not_run_failed() {
        for status in ["failed", "incomplete", "in_progress"] {
            let found = run(status, &Value::Null);
            assert!(!found.succeeded);
            let told = format!("the provider could not run the code: it is {status}");
            assert_eq!(found.output.result["text"], told.as_str());
            assert_eq!(found.output.result["kind"], "error");
        }
    }
}
