//! The commands of a chat, which begin with a slash, and its other input.

use std::fmt::Write as _;

use clap::error::ErrorKind;
use clap::{FromArgMatches, Subcommand};

use csv_agent_text::sanitize;
use csv_agent_types::limits::QUESTION_BYTES_MAX;
use csv_agent_types::status::Failure;

use crate::HELP;
use crate::datasets::DatasetsFlags;
use crate::ingest::IngestFlags;
use crate::usage;
pub(super) use crate::word_wrap::wrap;

/// Width in cells below which `/help` puts a description under its command.
const NARROW: usize = 60;

const KEYS: &[(&str, &str)] = &[
    ("Tab", "completes commands, files, and names of datasets and columns"),
    ("Up, Down", "show earlier lines, also of earlier chats in this session"),
    ("Ctrl-R", "searches earlier lines"),
    ("Alt-Enter", "begins a new line, like Enter after a backslash or within \"\"\""),
    ("Ctrl-C", "ends the answer or clears the line. Twice on an empty line, it ends the chat"),
    ("Ctrl-D", "ends the chat, on an empty line"),
];

/// The kind of an argument of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Datasets.
    Datasets,
    /// Tables of an answer.
    Tables,
    /// Charts of an answer.
    Charts,
    /// Files of an answer.
    Fetched,
    /// Turn numbers.
    Turns,
    /// Models.
    Models,
    /// Commands.
    Commands,
    /// Any number of files.
    Files,
    /// A file, as the last argument.
    FileLast,
}

/// What can be done in a chat besides asking.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List, show or remove datasets
    #[command(name = "/datasets")]
    Datasets(DatasetsFlags),
    /// Turn CSV, Parquet and other files into datasets
    #[command(name = "/ingest")]
    Ingest(Box<IngestFlags>),
    /// Show all rows of a table of the last answer that has one
    #[command(name = "/table")]
    Table {
        /// Its number or name [default: the last]
        #[arg(value_name = "N|NAME")]
        which: Option<String>,
    },
    /// Show a chart of the last answer that has one, and its files
    #[command(name = "/chart")]
    Chart {
        /// Its number or name [default: the last]
        #[arg(value_name = "N|NAME")]
        which: Option<String>,
    },
    /// Show the code of a turn
    #[command(name = "/code")]
    Code {
        /// Number of the turn, or `last`
        #[arg(value_name = "TURN", default_value = "last", hide_default_value = true)]
        turn: String,
    },
    /// Save a table (csv, tsv, json, md, parquet), a chart (svg, png) or a file
    #[command(name = "/save", allow_missing_positional = true)]
    Save {
        /// Number or name of the table or chart, or name of the file [default: the last]
        #[arg(value_name = "N|NAME")]
        which: Option<String>,
        /// File to write. The ending of its name sets the format
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// Show the tokens and the cost of this chat and of the session
    #[command(name = "/cost")]
    Cost,
    /// Show the model, or change it
    #[command(name = "/model")]
    Model {
        /// The model. `builtin` is an analyst inside csv-agent
        #[arg(value_name = "NAME", value_parser = crate::value_parsers::model)]
        name: Option<String>,
    },
    /// Delete the last turn, with its files
    #[command(name = "/undo")]
    Undo,
    /// Forget the conversation, but keep the datasets
    #[command(name = "/reset")]
    Reset,
    /// List the commands and keys, or explain a command
    #[command(name = "/help")]
    Help {
        /// A command
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
    /// End the chat
    #[command(name = "/quit", alias = "/exit")]
    Quit,
}

/// Returns the kinds of a command's arguments.
pub(super) fn takes(command: &str) -> &'static [Takes] {
    match command {
        "/datasets" => &[Takes::Datasets],
        "/ingest" => &[Takes::Files],
        "/table" => &[Takes::Tables],
        "/chart" => &[Takes::Charts],
        "/code" => &[Takes::Turns],
        "/save" => &[Takes::Tables, Takes::Charts, Takes::Fetched, Takes::FileLast],
        "/model" => &[Takes::Models],
        "/help" => &[Takes::Commands],
        _ => &[],
    }
}

/// Parsed input.
#[derive(Debug)]
pub(super) enum InputLine {
    /// A blank line.
    Blank,
    /// A question.
    Question(String),
    /// A command.
    Command(Box<Command>),
    /// Text to show: the help of a command, requested by `--help`.
    Help(String),
}

/// Parses a line. Fails with `FailureKind::Usage` when it starts like a command but is not one.
pub(super) fn read(line: &str, width: Option<u16>) -> anyhow::Result<InputLine> {
    let question = |it: &str| {
        if QUESTION_BYTES_MAX < it.len() {
            let message = format!("the question is longer than {QUESTION_BYTES_MAX} bytes");
            let hint = "write long data to a file, and add it with /ingest FILE";
            return Err(Failure::usage(message).hint(hint).into());
        }
        Ok(InputLine::Question(it.to_owned()))
    };
    if line.trim().is_empty() {
        return Ok(InputLine::Blank);
    }
    match line.strip_prefix('/') {
        // These are for the program, not for a model, which costs money. A space before makes it a question.
        None => return said(line).map_or_else(|| question(line.trim()), Ok),
        Some(rest) if rest.starts_with('/') => return question(rest.trim()),
        Some(_) => {}
    }
    let Some(words) = shlex::split(line.trim()) else {
        let message = "a quote is not closed";
        let hint = "to type a quote that is part of a name, put a backslash before it: /ingest \
                    \\'a\\'.csv";
        return Err(Failure::usage(message).hint(hint).into());
    };
    let name = words.first().map_or("", String::as_str);
    let mut definition = definition(width);
    if definition.find_subcommand(name).is_none() {
        return Err(unknown(name).into());
    }
    match definition.try_get_matches_from_mut(&words).and_then(|it| Command::from_arg_matches(&it))
    {
        Ok(command) => Ok(InputLine::Command(Box::new(command))),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            Ok(InputLine::Help(error.render().to_string()))
        }
        Err(error) => Err(refused(name, &error).into()),
    }
}

/// Returns whether a line of a pipe ends the chat.
pub(super) fn leaves(line: &str) -> bool {
    let line = line.trim();
    matches!(line, "/quit" | "/exit")
        || matches!(said(line), Some(InputLine::Command(it)) if matches!(*it, Command::Quit))
}

/// Returns why a line of a pipe is not asked: it is a command, which needs a terminal.
pub(super) fn misplaced(line: &str) -> Option<Failure> {
    let name = line.split_whitespace().next()?;
    if !names().any(|it| it.0 == name) {
        return None;
    }
    let message = format!("`{name}` is a command of a chat on a terminal, and was not asked");
    let instead = match name {
        "/help" => "`csv-agent chat --help` explains the chat".to_owned(),
        "/datasets" | "/ingest" | "/reset" => format!("run `csv-agent {}` itself", &name[1..]),
        _ => "`csv-agent show` shows and saves what an answer has".to_owned(),
    };
    let hint = format!("{instead}; to ask any text as a question, use `--input jsonl`");
    Some(Failure::usage(message).hint(hint))
}

/// Returns what a bare word means.
fn said(line: &str) -> Option<InputLine> {
    let word = line.trim_end().trim_end_matches(['.', '!', '?']).to_lowercase();
    Some(match word.as_str() {
        "exit" | "quit" | "exit()" | "quit()" | "q" | ":q" | "bye" | "goodbye" => {
            InputLine::Command(Box::new(Command::Quit))
        }
        "help" => InputLine::Command(Box::new(Command::Help { command: None })),
        "thanks" | "thank you" | "thx" => InputLine::Help("You are welcome.\n".to_owned()),
        _ => return None,
    })
}

/// Returns clap's error about a command in the form of all other errors.
fn refused(name: &str, error: &clap::Error) -> Failure {
    Failure::usage(usage::message(error)).hint(format!("see /help {}", &name[1..]))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<String> = names().map(|it| it.0).collect();
    let near = usage::nearest(name, &names);
    let begun: Vec<String> = names.iter().filter(|it| it.starts_with(name)).cloned().collect();
    let meant = if near.is_empty() && 1 < name.len() { begun } else { near };
    let hint = if meant.is_empty() {
        format!("the commands are {}", names.join(", "))
    } else {
        format!("did you mean {}?", meant.join(" or "))
    };
    let also = "to ask a question that begins with a slash, type a space before it";
    let message = format!("`{}` is not a chat command", sanitize::one_line(name));
    Failure::usage(message).hint(format!("{hint}\n{also}"))
}

fn definition(width: Option<u16>) -> clap::Command {
    let definition = clap::Command::new("chat")
        .no_binary_name(true)
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .disable_version_flag(true);
    let definition = Command::augment_subcommands(definition);
    let width = usize::from(width.unwrap_or(u16::MAX).min(crate::HELP_WIDTH_MAX));
    definition.mut_subcommands(|it| {
        let name = it.get_name().to_owned();
        // Typed commands do not start with the program's name.
        let it = it.bin_name(name).help_template(HELP).disable_help_flag(true);
        it.term_width(width).arg(
            clap::Arg::new("help")
                .short('h')
                .long("help")
                .help("Print help")
                .action(clap::ArgAction::Help),
        )
    })
}

/// Returns the commands, each with its flags.
pub(super) fn names() -> impl Iterator<Item = (String, Vec<String>)> {
    let commands: Vec<_> = definition(None).get_subcommands().cloned().collect();
    commands.into_iter().map(|it| {
        let flags = it.get_arguments().filter_map(|it| Some(format!("--{}", it.get_long()?)));
        (it.get_name().to_owned(), flags.collect())
    })
}

/// Returns the list of commands, or the help of one. Fails with `FailureKind::Usage` when there is no such
/// command.
pub(super) fn help(command: Option<&str>, width: Option<u16>) -> anyhow::Result<String> {
    if let Some(command) = command {
        let name = format!("/{}", command.trim_start_matches('/'));
        let mut definition = definition(width);
        let found = definition.find_subcommand_mut(&name).ok_or_else(|| unknown(&name))?;
        return Ok(found.render_long_help().to_string());
    }
    let definition = definition(width);
    let commands = definition.get_subcommands().map(|it| {
        let arguments = it.get_positionals().map(|it| {
            let name = it.get_value_names().map_or("", |it| it[0].as_str());
            let many = it.get_num_args().is_some_and(|it| 1 < it.max_values());
            let dots = if many { "…" } else { "" };
            if it.is_required_set() { format!(" {name}{dots}") } else { format!(" [{name}]{dots}") }
        });
        let about = it.get_about().map(ToString::to_string).unwrap_or_default();
        (format!("{}{}", it.get_name(), arguments.collect::<String>()), about)
    });
    let cells = width.map_or(usize::MAX, usize::from);
    let mut text = String::new();
    wrap("Ask in your own words. Commands begin with a slash:", 0, cells, &mut text);
    text.push_str("\n\n");
    list(commands, width, &mut text);
    text.push_str("\nKeys:\n\n");
    let keys = KEYS.iter().map(|(key, about)| ((*key).to_owned(), (*about).to_owned()));
    list(keys, width, &mut text);
    text.push('\n');
    let more = "/help COMMAND explains a command and its flags. To ask a question that begins with a slash, type a space before it.";
    wrap(more, 0, cells, &mut text);
    text.push('\n');
    Ok(text)
}

/// Lists names with descriptions, next to or below each other.
fn list(rows: impl Iterator<Item = (String, String)>, width: Option<u16>, text: &mut String) {
    let rows: Vec<_> = rows.collect();
    let width = width.map_or(usize::MAX, usize::from);
    let column = rows.iter().map(|it| it.0.chars().count()).max().unwrap_or(0) + 2;
    for (name, about) in rows {
        let indent = if width < NARROW { 6 } else { column + 2 };
        // Writing to a string cannot fail.
        let _ = if width < NARROW {
            write!(text, "  {name}\n{:indent$}", "")
        } else {
            write!(text, "  {name:column$}")
        };
        wrap(&about, indent, width, text);
        text.push('\n');
    }
}

/// Returns whether the input continues on the next line: it ends with a backslash, or `"""` is open.
pub(super) fn is_open(line: &str) -> bool {
    let n_slashes = line.len() - line.trim_end_matches('\\').len();
    n_slashes % 2 == 1 || line.matches("\"\"\"").count() % 2 == 1
}

/// Returns the text of continued lines, without the continuation marks.
pub(super) fn joined(lines: &str) -> String {
    let text = lines.replace("\\\n", "\n");
    let inner = text.trim().strip_prefix("\"\"\"").and_then(|it| it.strip_suffix("\"\"\""));
    match inner {
        Some(inner) => inner.trim().to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, InputLine, help, is_open, joined, read};
    use csv_agent_types::limits::QUESTION_BYTES_MAX;
    use csv_agent_types::status::Failure;

    #[track_caller]
    fn question(line: &str, expected: Option<&str>) {
        let found = match read(line, None) {
            Ok(InputLine::Question(text)) => Some(text),
            _ => None,
        };
        assert_eq!(found.as_deref(), expected, "{line:?}");
    }

    #[test]
    fn a_question_is_what_begins_with_no_slash_or_two() {
        question("How many rows?  ", Some("How many rows?"));
        question(" /cost of goods?", Some("/cost of goods?"));
        question("//cost of goods?", Some("/cost of goods?"));
        question("/cost", None);
        question("/cots", None);
        question("  ", None);
        question(&"x".repeat(QUESTION_BYTES_MAX + 1), None);
    }

    #[track_caller]
    fn check_unknown(line: &str, message: &str, hint: &str) {
        let error = read(line, None).unwrap_err();
        let failure = error.downcast_ref::<Failure>().unwrap();
        let found = failure.hint.as_deref().unwrap().lines().next().unwrap();
        assert_eq!((failure.message.as_str(), found), (message, hint));
    }

    #[test]
    fn a_mistyped_command_says_which_was_meant() {
        let is_none = |name: &str| format!("`{name}` is not a chat command");
        check_unknown("/tabel 1", &is_none("/tabel"), "did you mean /table?");
        check_unknown("/data", &is_none("/data"), "did you mean /datasets?");
        let all = "the commands are /datasets, /ingest, /table, /chart, /code, /save, /cost, /model, /undo, \
                   /reset, /help, /quit";
        check_unknown("/home/me/a.csv?", &is_none("/home/me/a.csv?"), all);
        check_unknown("/", &is_none("/"), all);
        check_unknown(
            "/table 'a",
            "a quote is not closed",
            "to type a quote that is part of a name, put a backslash before it: /ingest \
             \\'a\\'.csv",
        );
        check_unknown("/table 1 2", "unexpected argument '2' found", "see /help table");
    }

    #[test]
    fn the_file_comes_last() {
        let save = |line: &str| match read(line, None) {
            Ok(InputLine::Command(command)) => match *command {
                Command::Save { which, file } => (which, file),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        assert_eq!(save("/save a.csv"), (None, "a.csv".to_owned()));
        assert_eq!(save("/save 2 'a b.csv'"), (Some("2".to_owned()), "a b.csv".to_owned()));
    }

    #[test]
    fn lines_that_go_on_become_one() {
        assert!(is_open("a \\") && !is_open("a \\\\") && !is_open("a"));
        assert!(is_open("\"\"\"a\n") && !is_open("\"\"\"a\nb\"\"\""));
        assert_eq!(joined("a \\\nb"), "a \nb");
        assert_eq!(joined("\"\"\"\na\nb\n\"\"\""), "a\nb");
    }

    #[test]
    fn the_help_fits_the_terminal() {
        for width in [30, 40, 80] {
            let text = help(None, Some(width)).unwrap();
            for line in text.lines() {
                assert!(line.chars().count() <= usize::from(width), "{line}");
            }
        }
        assert!(help(Some("ingest"), Some(80)).unwrap().starts_with("Usage: /ingest"));
    }
}
