//! Names of tools and flags in messages of ours, and what a client calls them.
//!
//! Only these phrases are changed, whole, and flags in backticks. Anything else may be data, a name, a path or code,
//! and stays as it is.

/// The name of a result within a turn.
pub(crate) const RESULT: &str = "mcp_result";

/// Tools of a turn that progress names first, and what a client calls them.
const TOOLS: [(&str, &str); 7] = [
    ("python_repl", "python"),
    ("query_datasets", "query"),
    ("list_datasets", "datasets"),
    ("get_dataset_info", "describe"),
    ("find_value_columns", "find_values"),
    ("send_data_to_ui_as_df", "table"),
    ("send_chart_to_ui", "chart"),
];

/// Ends of messages, and what they say to a client.
const ENDS: [(&str, &str); 4] = [
    ("? `csv-agent help sql` lists all", "?"),
    ("; `csv-agent help sql` lists all", "; use another function, or `python`"),
    ("; call list_datasets", "; call `datasets`"),
    ("; call `list_datasets`", "; call `datasets`"),
];

/// Phrases within messages, and what they say to a client.
const PHRASES: [(&str, &str); 10] = [
    ("… (call `get_dataset_info` for all)", "… (call `describe` for all)"),
    (
        "; missing cells are not searched: call `get_dataset_info` for how many each column has",
        "; missing cells are not searched: call `describe` for how many each column has",
    ),
    (
        "too long to be shown; in python_repl all of it is",
        "too long to be shown; in `python` all of it is",
    ),
    (
        "are shown as `head`; in python_repl all of them are",
        "are shown as `head`; in `python` all of them are",
    ),
    (
        "give files with `-f FILE`, rows with VALUES",
        "read files with `ingest`, give rows with VALUES",
    ),
    ("name the file with `-f ", "read the file with `ingest`: `"),
    ("; `csv-agent show` shows its answer", "; the resource csv-agent://turns/N has its answer"),
    (
        "DESCRIBE is not supported; write SELECT …; SHOW TABLES lists the tables",
        "DESCRIBE is not supported; call `describe`",
    ),
    (
        "replace it with `csv-agent ingest --if-exists replace ",
        "replace it with `if_exists: replace` for `",
    ),
    (
        "make names from the paths with `--name-from '{parent}_{stem}'`, or join the files with `--union`",
        "or read each file in a call of its own",
    ),
];

/// Flags, and the arguments of tools that do the same.
const ARGUMENTS: [(&str, &str); 12] = [
    ("--name", "name"),
    ("--delimiter", "delimiter"),
    ("--encoding", "encoding"),
    ("--decimal", "decimal"),
    ("--date-order", "date_order"),
    ("--if-exists", "if_exists"),
    ("--sheet", "sheets"),
    ("--table", "sheets"),
    ("--null", "nulls"),
    ("--dtype", "types"),
    ("--against", "against"),
    ("--session-dir", "session"),
];

/// Flags of `csv-agent ingest` on how a file is read.
pub(crate) const READING_FLAGS: [&str; 18] = [
    "--tables", "--columns", "--widths", "--skip-rows", "--no-header", "--comment", "--quote",
    "--escape", "--delimiter", "--encoding", "--decimal", "--date-order", "--null", "--dtype",
    "--sheet", "--flatten", "--union", "--strict",
];

/// Flags that only the user can set, and their commands.
const OF_THE_USER: [(&str, &str); 5] = [
    ("--lock-wait", "mcp"),
    ("--memory", "mcp"),
    ("--tool-timeout", "mcp"),
    ("--max-bytes", "ingest"),
    ("--name-from", "ingest"),
];

/// Returns a message of ours in the words of a client. What it quotes stays as it is.
pub(crate) fn client_words(text: &str) -> String {
    let mut text = text.to_owned();
    for (ours, theirs) in PHRASES {
        if text.contains(ours) {
            text = text.replace(ours, theirs);
        }
    }
    for (ours, theirs) in ENDS {
        if let Some(rest) = text.strip_suffix(ours) {
            text = format!("{rest}{theirs}");
        }
    }
    let mut parts = text.split("`--");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let flag = part.split('`').next().unwrap_or_default();
        match client_argument(flag).filter(|_| flag.len() < part.len()) {
            Some(argument) => said.extend([&argument, &part[flag.len() + 1..]]),
            None => said.extend(["`--", part]),
        }
    }
    said
}

/// Returns what a client gives in place of a flag, which is written without `--`; None where that is not known.
fn client_argument(flag: &str) -> Option<String> {
    let flag = format!("--{flag}");
    let (name, value) = flag.split_once([' ', '=']).unwrap_or((&flag, ""));
    let of = |list: &[(&str, &'static str)]| list.iter().find(|it| it.0 == name).map(|it| it.1);
    if let Some(argument) = of(&ARGUMENTS) {
        let value = value.trim_matches('\'');
        let separator = if value.is_empty() { "" } else { ": " };
        return Some(format!("`{argument}{separator}{value}`"));
    }
    if READING_FLAGS.contains(&name) {
        return Some(format!("`flags: {flag}`"));
    }
    let command = of(&OF_THE_USER)?;
    Some(format!("`{flag}` (a flag of `csv-agent {command}`, which only the user can set)"))
}

/// Returns a message about a result that the client has not named.
pub(crate) fn without_result_name(text: &str) -> String {
    text.replace(&format!("`{RESULT}`"), "the result")
}

/// Returns what is going on, which begins with the name of a tool.
pub(crate) fn client_label(text: &str) -> String {
    let (first, rest) = text.split_once(' ').map_or((text, ""), |it| (it.0, it.1));
    match TOOLS.iter().find(|it| it.0 == first) {
        Some((_, theirs)) if rest == RESULT || rest.is_empty() => (*theirs).to_owned(),
        Some((_, theirs)) => format!("{theirs} {rest}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{PHRASES, client_label, client_words};

    #[test]
    fn messages_name_the_tools_and_arguments_of_the_client() {
        let check = |text: &str, expected: &str| assert_eq!(client_words(text), expected);
        check(
            "no dataset on this machine matches `x*`; call list_datasets",
            "no dataset on this machine matches `x*`; call `datasets`",
        );
        check(
            "text: the order of day and month is ambiguous; `--date-order` decides",
            "text: the order of day and month is ambiguous; `date_order` decides",
        );
        for (ours, theirs) in [
            ("try `--name 2_x`", "try `name: 2_x`"),
            ("`--dtype 'a b=money'` makes them numbers", "`types: a b=money` makes them numbers"),
            ("`--decimal ,` or `--decimal .`", "`decimal: ,` or `decimal: .`"),
            ("`--tables all` reads both", "`flags: --tables all` reads both"),
            (
                "use another session with `--session-dir DIR`",
                "use another session with `session: DIR`",
            ),
            (
                "wait longer with `--lock-wait 5m`",
                "wait longer with `--lock-wait 5m` (a flag of `csv-agent mcp`, which only the user can set)",
            ),
        ] {
            check(ours, theirs);
        }
        assert_eq!(client_label("get_dataset_info list_datasets"), "describe list_datasets");
        assert_eq!(client_label("query_datasets mcp_result"), "query");
    }

    #[test]
    fn data_names_and_code_stay_as_they_are() {
        for text in [
            "no column `list_datasetz`; there are list_datasets, get_dataset_info, python_repl",
            "ValueError: call list_datasets or --name with python_repl",
            "data[\"get_dataset_info_3978c4ec\"]",
            "cannot find `/data/my--types list_datasets.csv`",
            "call --name and --if-exists with send_data_to_ui_as_df",
            "`--unknown x` and `--name",
        ] {
            assert_eq!(client_words(text), text);
        }
    }

    #[test]
    fn phrases_are_more_than_a_name() {
        for (ours, _) in PHRASES {
            assert!(ours.contains(' ') && 9 < ours.len(), "{ours}");
        }
    }
}
