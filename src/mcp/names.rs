//! Names of tools and flags in texts of ours, and what a client calls them.

/// The name of a result within a turn.
pub(crate) const RESULT: &str = "mcp_result";

/// Tools in texts of a turn, and what a client calls them.
const NAMES: [(&str, &str); 10] = [
    ("python_repl", "python"),
    ("query_datasets", "query"),
    ("list_datasets", "datasets"),
    ("get_dataset_info", "describe"),
    ("find_value_columns", "find_values"),
    ("send_data_to_ui_as_df", "table"),
    ("send_chart_to_ui", "chart"),
    ("load_dataset_full", "load(NAME) in python"),
    ("load_dataset_sample", "load(NAME) in python"),
    ("load_dataset_columns", "load(NAME) in python"),
];

/// Flags in messages of commands, and the arguments of a client that do the same.
const ARGUMENTS: [(&str, &str); 14] = [
    (", or use a temporary session with `--ephemeral`", ", or give another `session`"),
    ("`csv-agent ingest --if-exists replace`", "`if_exists: replace`"),
    ("give files with `-f FILE`", "read files with `ingest`"),
    ("--date-order", "date_order"),
    ("--decimal", "decimal"),
    ("--encoding", "encoding"),
    ("--delimiter", "delimiter"),
    ("--if-exists", "if_exists"),
    ("--name", "name"),
    ("--sheet", "sheets"),
    ("--null", "nulls"),
    ("--dtype", "types"),
    ("--against", "against"),
    ("`csv-agent ingest`", "`ingest`"),
];

/// Returns a text of ours with the names that a client knows.
pub(crate) fn client_names(text: &str) -> String {
    let mut text = text.to_owned();
    for (ours, theirs) in NAMES.iter().chain(&ARGUMENTS) {
        if text.contains(ours) {
            text = text.replace(ours, theirs);
        }
    }
    text.replace(RESULT, "the result")
}

#[cfg(test)]
mod tests {
    use super::client_names;

    #[test]
    fn texts_name_the_tools_of_the_client() {
        assert_eq!(
            client_names("call list_datasets, then query_datasets"),
            "call datasets, then query"
        );
    }
}
