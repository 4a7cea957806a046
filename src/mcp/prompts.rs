//! Prompts: work that a user starts by name.

use rmcp::model::{JsonObject, Prompt, PromptArgument};

/// A prompt of the server.
struct PromptKind {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// Name and description of each argument; all are required.
    arguments: &'static [(&'static str, &'static str)],
    /// The message, with `{name}` where an argument belongs, and `{first}` for the first step.
    text: &'static str,
    /// The first step: of a server that reads files, and of one that does not.
    first: [&'static str; 2],
}

const PROMPTS: [PromptKind; 3] = [
    PromptKind {
        name: "profile",
        title: "Profile a file",
        about: "What a data file contains: rows, columns, types, missing values, keys, what stands out.",
        arguments: &[("file", "path of the file, or the name of a dataset")],
        text: "Profile the data `{file}` with the tools of csv-agent.\n\n\
               1. {first} Then call `describe` for each dataset.\n\
               2. With `query`, find: how many rows; which columns are unique; for each column the missing values, \
               the number of different values, and the smallest, largest or most frequent ones.\n\
               3. Look for what is odd: duplicates, outliers, several spellings of one value, dates out of range.\n\n\
               Report in a short table what each column is, then what a user of the data must know. \
               Take every number from a result, and name the turn it is from.",
        first: [
            "If it is a path, call `ingest` with it.",
            "Find it with `datasets`; if it is not listed, ask the user to run `csv-agent ingest` on it.",
        ],
    },
    PromptKind {
        name: "check",
        title: "Check a file",
        about: "Whether a data file is fit for use, as a verdict with findings that is recorded in the session.",
        arguments: &[("file", "path of the file, or the name of a dataset")],
        text: "Check whether the data `{file}` can be relied on, with the tools of csv-agent.\n\n\
               1. {first} Then call `describe`, and read the notes.\n\
               2. With `query`, test what should hold: keys are unique, required cells are filled, numbers are in a \
               plausible range, totals match their parts, dates are in order, categories have one spelling each.\n\
               3. Call `verdict` with your assessment and one finding for each problem, with its column and how many \
               rows it concerns.\n\n\
               Then tell the user the verdict, the problems in order of their weight, and what was tested.",
        first: [
            "If it is a path, call `ingest` with it.",
            "Find it with `datasets`; if it is not listed, ask the user to run `csv-agent ingest` on it.",
        ],
    },
    PromptKind {
        name: "compare",
        title: "Compare two files",
        about: "What differs between two versions of a data file.",
        arguments: &[
            ("old", "path of the earlier file, or the name of its dataset"),
            ("new", "path of the later file, or the name of its dataset"),
        ],
        text: "Compare the data `{old}` with `{new}`, with the tools of csv-agent.\n\n\
               1. {first} Call `describe` for both: say which columns were added, removed, or have another type.\n\
               2. Find the key: a column, or a few, whose values are unique in both.\n\
               3. With `query`, count the rows that are only in one of them (anti joins on the key), and for each \
               column the rows whose values differ. Show some of each.\n\n\
               Report rows added, removed and changed, the columns that changed most, and whether totals changed.",
        first: [
            "For each that is a path, call `ingest`, with names such as `old` and `new`.",
            "Find both with `datasets`; if one is not listed, ask the user to run `csv-agent ingest` on it.",
        ],
    },
];

pub(crate) fn all() -> Vec<Prompt> {
    let argument = |(name, about): &(&str, &str)| {
        PromptArgument::new(*name).with_description(*about).with_required(true)
    };
    let prompt = |it: &PromptKind| {
        let arguments = it.arguments.iter().map(argument).collect();
        Prompt::new(it.name, Some(it.about), Some(arguments)).with_title(it.title)
    };
    PROMPTS.iter().map(prompt).collect()
}

/// Returns the text of a prompt, for a server that reads files or does not. Fails when there is no such prompt,
/// or an argument is missing.
pub(crate) fn text(name: &str, arguments: &JsonObject, can_ingest: bool) -> Result<String, String> {
    let Some(prompt) = PROMPTS.iter().find(|it| it.name == name) else {
        let names: Vec<&str> = PROMPTS.iter().map(|it| it.name).collect();
        return Err(format!("there is no prompt `{name}`; the prompts are {}", names.join(", ")));
    };
    let first = prompt.first[usize::from(!can_ingest)];
    let mut text = prompt.text.replace("{first}", first);
    for (argument, about) in prompt.arguments {
        let value = arguments.get(*argument).and_then(|it| it.as_str()).map(str::trim);
        let Some(value) = value.filter(|it| !it.is_empty()) else {
            return Err(format!(
                "the prompt `{name}` lacks the argument `{argument}`: the {about}"
            ));
        };
        text = text.replace(&format!("{{{argument}}}"), value);
    }
    Ok(text)
}
