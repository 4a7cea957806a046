//! Tips for common mistakes on the command line: what was typed, and what was probably meant.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use csv_agent_sink::Format;

use super::flags::Worded;
use super::usage;

/// Words that other programs have as commands, and what does it here.
const COMMANDS: [(&[&str], &str); 12] = [
    (&["version"], "the version: `csv-agent --version`"),
    (&["ls", "list", "tables", "status"], "list the datasets: `csv-agent datasets`"),
    (&["rm", "remove", "delete", "drop"], "remove a dataset: `csv-agent datasets --rm NAME`"),
    (
        &["add", "import", "init", "load", "new", "open", "read"],
        "turn a file into a dataset: `csv-agent ingest FILE`",
    ),
    (&["sql", "select", "exec"], "run SQL: `csv-agent query \"select …\"`"),
    (
        &["columns", "head", "info", "profile", "stats", "summarise", "summarize", "summary"],
        "see what a file contains: `csv-agent describe FILE`",
    ),
    (&["get", "set", "settings"], "change a setting: `csv-agent config set SETTING VALUE`"),
    (&["clear", "forget"], "forget the conversation: `csv-agent reset`"),
    (&["answers", "history", "log", "turns"], "show the last answer: `csv-agent show last`"),
    (
        &["auth", "key", "login"],
        "set the key in the variable `OPENAI_API_KEY`; see `csv-agent help environment`",
    ),
    (
        &["update", "upgrade"],
        "upgrade csv-agent with the program that installed it, such as uv, pipx or cargo",
    ),
    (
        &["install"],
        "csv-agent sets up Python by itself when a question needs it; `csv-agent setup` does it now",
    ),
];

/// Words that questions begin with.
const ASKING: [&str; 22] = [
    "are", "average", "can", "compare", "count", "do", "does", "find", "give", "how", "is", "mean",
    "plot", "sum", "total", "what", "when", "where", "which", "who", "whose", "why",
];

/// Values that are not valid for a flag, and what does it.
const VALUES: [(&str, &[&str], &str); 8] = [
    (
        "--format",
        &["html", "page"],
        "after a question, `csv-agent report last -o FILE.html` writes it as a page",
    ),
    (
        "--format",
        &["excel", "xls", "xlsx"],
        "spreadsheets open CSV: use `--format csv -o FILE.csv`",
    ),
    ("--format", &["parquet"], "write Parquet with `csv-agent query -o FILE.parquet \"select …\"`"),
    (
        "--format",
        &["pdf"],
        "after a question, `csv-agent report last -o FILE.pdf` writes it as a PDF",
    ),
    ("--format", &["yaml", "yml", "xml"], "for a program, use `--format json`"),
    ("--fail-on", &["error", "fail", "failed", "failure"], "use `--fail-on bad`"),
    ("--api", &["anthropic", "claude"], "use `--api messages`"),
    ("--api", &["openai", "gpt"], "use `--api responses`, or `--api chat` for older servers"),
];

/// Flags that other programs have, and the one that does it here, for the commands that have it.
const FLAGS: [(&[&str], &str); 10] = [
    (&["sep", "separator", "delim", "field-separator"], "delimiter"),
    (&["quotechar", "quote-char"], "quote"),
    (&["enc", "charset"], "encoding"),
    (&["type", "types", "dtypes", "schema"], "dtype"),
    (&["na", "na-values", "nullstr", "null-values", "nulls"], "null"),
    (&["no-headers", "noheader"], "no-header"),
    (&["o", "out", "outfile", "output-file"], "output"),
    (&["sheet-name", "worksheet", "tab"], "sheet"),
    (&["force", "overwrite", "replace"], "if-exists"),
    (&["fmt", "output-format", "out-format"], "format"),
];

/// Adds a tip to the error, if the mistake is a known one. It replaces a command of a similar spelling, which is less
/// likely to be meant.
pub(crate) fn add(error: &mut Error, program: &Command, args: &[OsString]) {
    let Some(tip) = of_file_with_dash(error, args).or_else(|| tip(error, program)) else {
        // The parser's own tip is for values that begin with a dash.
        let is_flag = |kind| usage::strings(error, kind).iter().any(|it| it.starts_with('-'));
        let is_value = |it: &String| it.contains("as a value");
        if is_flag(ContextKind::InvalidArg)
            && usage::strings(error, ContextKind::Suggested).iter().any(is_value)
        {
            error.remove(ContextKind::Suggested);
        }
        return;
    };
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
}

/// Returns how to name a file whose name begins with a dash, which was read as flags.
fn of_file_with_dash(error: &Error, args: &[OsString]) -> Option<String> {
    let flag = usage::strings(error, ContextKind::InvalidArg).into_iter().next()?;
    let is_short = flag.starts_with('-') && !flag.starts_with("--");
    let (true, ErrorKind::UnknownArgument) = (is_short, error.kind()) else { return None };
    let words = args.iter().filter_map(|it| it.to_str());
    let mut names = words.filter(|it| it.starts_with('-') && !it.starts_with("--"));
    let name = names.find(|it| it.contains('.') && it.contains(&flag[1..]))?;
    let file = quoted(&format!("./{name}"));
    Some(format!("name a file that begins with a dash as `{file}`"))
}

/// Returns what was meant by a word after `datasets` that is not the name of one.
pub(crate) fn of_dataset(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    match first.as_str() {
        "rm" | "remove" | "delete" | "drop" => {
            let flags: Vec<String> =
                rest.iter().map(|it| format!(" --rm {}", quoted(it))).collect();
            let flags = if flags.is_empty() { " --rm NAME".to_owned() } else { flags.concat() };
            Some(format!("remove datasets with `csv-agent datasets{flags}`"))
        }
        "ls" | "list" | "all" if rest.is_empty() => {
            Some("list all of them with `csv-agent datasets`".to_owned())
        }
        "show" | "describe" | "info" => {
            Some("see what they contain with `csv-agent describe NAME`".to_owned())
        }
        _ => None,
    }
}

/// Returns what writes a format that answers do not have, by the ending of a file.
pub(crate) fn of_format(ending: &str) -> Option<&'static str> {
    let found = VALUES.iter().find(|it| it.0 == "--format" && it.1.contains(&ending));
    found.map(|it| it.2)
}

fn tip(error: &Error, program: &Command) -> Option<String> {
    let said = |kind| usage::strings(error, kind).into_iter().next();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = said(ContextKind::InvalidSubcommand)?;
            match (&*word, said(ContextKind::Usage)?.contains("config")) {
                ("get" | "list", true) => Some("use `csv-agent config show`".to_owned()),
                (_, true) => None,
                _ => of_command(&word),
            }
        }
        ErrorKind::InvalidValue => {
            let flag = said(ContextKind::InvalidArg)?;
            let value = said(ContextKind::InvalidValue)?.to_lowercase();
            let known = VALUES.iter().find(|it| it.0 == flag && it.1.contains(&&*value))?;
            Some(known.2.to_owned())
        }
        ErrorKind::UnknownArgument => {
            let word = said(ContextKind::InvalidArg)?;
            let (word, name) = (&*word, word.trim_start_matches('-'));
            let usage = said(ContextKind::Usage)?;
            let name_of = || usage.split_whitespace().nth(2);
            let command = program.get_subcommands().find(|it| name_of() == Some(it.get_name()));
            let Some(command) = command else {
                let is_of_ask = ["-f", "--file", "-d", "--dataset", "--ephemeral", "-m", "--model"];
                return is_of_ask
                    .contains(&word)
                    .then(|| "write the command first: `csv-agent ask -f FILE \"…\"`".to_owned());
            };
            if ["-f", "--file"].contains(&word) {
                let tip = match command.get_name() {
                    "check" => {
                        "name the data in `checks.toml`; `csv-agent check --init FILE > checks.toml` writes one"
                    }
                    "rerun" => "to calculate on other data, use `--against NAME=FILE`",
                    "describe" | "diff" | "ingest" => "name the file without a flag",
                    _ => return None,
                };
                return Some(tip.to_owned());
            }
            let is_flag = |wanted: &str| {
                let global = program.get_arguments().filter(|it| it.is_global_set());
                let mut flags = command.get_arguments().chain(global);
                flags.any(|it| it.get_long() == Some(wanted) && !it.is_hide_set())
            };
            let ours = FLAGS.iter().find(|it| it.0.contains(&name)).map_or(name, |it| it.1);
            match (word.starts_with('-'), name) {
                (true, _) if ours == "output" && !is_flag("output") => {
                    let name = command.get_name();
                    Some(format!("it writes to stdout: `csv-agent {name} … > FILE`"))
                }
                (true, "fix") if is_flag("repair") => Some("use `--session --repair`".to_owned()),
                (true, name) if Format::of_word(name).is_some() => {
                    Some(format!("use `--format {name}`"))
                }
                (false, name) if is_flag(name) => Some(format!("use `--{name}`")),
                (true, "column" | "columns" | "select") if command.get_name() == "describe" => {
                    Some("leave it out: `csv-agent describe` shows all columns".to_owned())
                }
                (true, name) if ours != name && is_flag(ours) => {
                    let value = if ours == "if-exists" { " replace" } else { "" };
                    Some(format!("use `--{ours}{value}`"))
                }
                (true, _) => of_reading(ours, command, program),
                (false, _) if command.get_name() == "query" => {
                    Some("name files with -f: `csv-agent query -f FILE \"select …\"`".to_owned())
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the tip for a flag of `ingest` that says how to read a file, after a command that reads files too.
fn of_reading(name: &str, command: &Command, program: &Command) -> Option<String> {
    let after = match command.get_name() {
        "ask" => "`csv-agent ask \"…\"`",
        "chat" => "`csv-agent chat`",
        "query" => "`csv-agent query \"select …\"`",
        "describe" => "`csv-agent describe NAME`",
        _ => return None,
    };
    let ingest = program.find_subcommand("ingest")?;
    let flag =
        ingest.get_arguments().find(|it| it.get_long() == Some(name) && !it.is_global_set())?;
    let takes_value = flag.get_action().takes_values();
    let value = flag.get_value_names().filter(|_| takes_value).and_then(|it| it.first());
    let value = match name {
        "decimal" => " ,".to_owned(),
        _ => value.map_or_else(String::new, |it| format!(" {it}")),
    };
    Some(format!(
        "read the file first with `csv-agent ingest FILE --{name}{value}`, then run {after}"
    ))
}

/// Returns the tip for a first word that is not a command: a question, a file, or the name of a command elsewhere.
fn of_command(word: &str) -> Option<String> {
    if ASKING.contains(&word.to_lowercase().as_str()) {
        return Some(format!("ask a question with `csv-agent ask \"{word} …\"`"));
    }
    if word.contains(char::is_whitespace) {
        return Some(format!("ask a question with `csv-agent ask {}`", quoted(word)));
    }
    let is_table = |it: &Path| {
        it.extension().and_then(|it| it.to_str()).is_some_and(|it| {
            ["parquet", "gz", "zip", "xlsx"].contains(&it)
                || matches!(Format::of_word(it), Some(Format::Csv | Format::Tsv))
        })
    };
    let path = Path::new(word);
    if is_table(path) || path.is_file() {
        let file = quoted(word);
        return Some(format!(
            "ask about a file with `csv-agent ask -f {file} \"…\"`, or see what it contains with `csv-agent describe \
             {file}`"
        ));
    }
    let known = COMMANDS.iter().find(|it| it.0.contains(&word))?;
    Some(known.1.to_owned())
}

/// Returns a word as a shell reads it, in double quotes if it needs quotes and that is enough.
pub(crate) fn quoted(word: &str) -> String {
    match shlex::try_quote(word) {
        Ok(it) if it == word => word.to_owned(),
        _ if !word.contains(['"', '$', '`', '\\', '!', '\n']) => format!("\"{word}\""),
        Ok(it) => it.into_owned(),
        Err(_) => "\"…\"".to_owned(),
    }
}
