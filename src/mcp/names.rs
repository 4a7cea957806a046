//! Names of tools and flags in messages of ours, and what a client calls them.
//!
//! Only these phrases are changed, whole. Anything else may be data, a name, a path or code, and stays as it is.

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
const ENDS: [(&str, &str); 2] = [
    ("; call list_datasets", "; call `datasets`"),
    ("; call `list_datasets`", "; call `datasets`"),
];

/// Phrases within messages, and what they say to a client.
const PHRASES: [(&str, &str); 26] = [
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
    (", or use another session with `--session-dir DIR`", ", or give another `session`"),
    (
        "replace it with `csv-agent ingest --if-exists replace ",
        "replace it with `if_exists: replace` for `",
    ),
    ("`; `--if-exists replace` reads it again", "`; `if_exists: replace` reads it again"),
    (" or with `--name`", " or with `name`"),
    ("`--name` names one dataset, but", "`name` names one dataset, but"),
    (
        "make names from the paths with `--name-from '{parent}_{stem}'`, or join the files with `--union`",
        "or read each file in a call of its own",
    ),
    (
        "is not a valid name of a dataset; try `--name ",
        "is not a valid name of a dataset; try the name `",
    ),
    ("`--sheet` names a sheet or a table, but", "`sheets` names a sheet or a table, but"),
    ("is ambiguous; `--date-order` decides", "is ambiguous; `date_order` decides"),
    (
        "name the order of its days with `--date-order dmy`",
        "name the order of its days with `date_order: dmy`",
    ),
    ("a thousands separator; `--decimal` decides", "a thousands separator; `decimal` decides"),
    ("; `--decimal ,` makes it a decimal comma", "; `decimal: ,` makes it a decimal comma"),
    ("of its numbers with `--decimal ,` or `--decimal .`", "of its numbers with `decimal`"),
    ("; `--dtype 'COLUMN=", "; `types 'COLUMN="),
    ("; leave out `--dtype ", "; leave out `types "),
    (", or name the value in `--null`", ", or name the value in `nulls`"),
    ("; `--null ", "; `nulls: "),
    ("name the encoding with `--encoding`", "name the encoding with `encoding`"),
    ("name another encoding with `--encoding`", "name another encoding with `encoding`"),
    (
        "leave out `--encoding` so that csv-agent detects it, or try `--encoding windows-1252`",
        "leave out `encoding` so that csv-agent detects it, or try `encoding: windows-1252`",
    ),
    ("name the delimiter with `--delimiter`", "name the delimiter with `delimiter`"),
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
    text
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
        ] {
            assert_eq!(client_words(text), text);
        }
    }

    #[test]
    fn phrases_are_more_than_a_name_or_a_flag() {
        for (ours, _) in PHRASES {
            assert!(ours.contains(' ') && 9 < ours.len(), "{ours}");
        }
    }
}
