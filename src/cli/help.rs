//! `help`: a command, a topic, or the whole command line as JSON.

mod page;

use std::fmt::Write as _;

use clap::builder::PossibleValue;
use clap::{Arg, Args, Command};
use serde_json::{Value, json};

use csv_agent_provider::models::LOOKED_UP;
use csv_agent_types::status::Failure;

use super::options::VARIABLES;
use super::options::settings::SETTINGS;
use super::word_wrap::wrap;
use super::{stdout, usage};
use crate::errors::ExitStatus;

/// Minimum columns of wrapped text beside a name. On a narrower terminal, it is below the name.
const COLUMN_MIN: usize = 30;

/// What `help` explains.
#[derive(Debug, Clone, Args)]
pub(crate) struct HelpFlags {
    /// A command, or a topic: `exit-codes`, `environment`, `config`, `thresholds`, `events`, `sql`, `checks`
    #[arg(value_name = "COMMAND|TOPIC")]
    pub topic: Vec<String>,
}

// Each paragraph and each row below is one line. `wrapped` breaks it.

const EVENTS: &str = "\
Events: `--format jsonl` and `--events` write one JSON object per line.

Every line has the fields v (1), type, seq (0, 1, 2, … without gaps), ts (RFC 3339, UTC), \
session_id and turn_id. The type is one of these:

  status          the state of the turn. Its phase is started, model_request, model_response, \
reasoning, executing, retrying, loading, compacting, compacted, worker, container, cluster or warning
  partial         a part of the answer, while the model writes it. The reply has the whole text
  tool_call       the model calls a tool
  tool_result     the call has ended. Its status is ok, error, timeout, killed or cancelled
  data_frame      a table: columns, dtypes, rows
  chart           a chart: its rows, its alternative text, its SVG and PNG files
  chart_rejected  a chart that cannot be drawn, and the reason
  reply           the answer. It ends the turn
  error           a failure. It ends the turn if fatal is true

The first line is a status with the phase started. Each tool_call has one tool_result, and the tables \
and charts of the call are between the two. The last line ends the turn and has the field exit_code.

Ignore fields and phases that you do not know, because later versions add some.

Examples:
  csv-agent ask --format jsonl \"top 5 products\" | jq -r .type
  csv-agent ask \"revenue by month\" --events fd:3 3>events.jsonl

`csv-agent schema events` prints the JSON Schema of a line. `csv-agent schema result` prints that of \
the document of `--format json`.
";

/// Help topics besides commands.
const TOPICS: [&str; 7] =
    ["exit-codes", "environment", "config", "thresholds", "events", "sql", "checks"];

const SQL: &str = include_str!("../../docs/sql.md");

const CHECKS: &str = include_str!("../../docs/checks.md");

const CONFIG: &str = "\
Configuration files are TOML. Flags override environment variables, and variables override the files. \
If several files have a setting, the first of these files decides:

  config.toml in the directory of the session
  csv-agent.toml in the current directory
  ~/.config/csv-agent/config.toml, your own file

If the variable XDG_CONFIG_HOME is set, that directory replaces ~/.config.

The first two may have been written by somebody else. In these files, csv-agent ignores the settings \
that are marked with *, and prints a warning. These files can turn on `require_sandbox` and `no_rows`, but \
not off. csv-agent also ignores settings marked with + if they name a file outside of the directory \
of the configuration file. To allow everything, add that directory to `trusted_projects` in your own \
file.

Settings:
";

const CONFIG_PROFILES: &str = "
A profile is a set of settings with a name, for another server or another purpose:

  [profiles.work]
  base_url = \"https://models.example.com/v1\"
  api_key_cmd = [\"pass\", \"show\", \"work/models\"]
  model = \"gpt-6.2-sol\"

`--profile work` chooses it for one command. Its settings then override environment variables too. \
CSV_AGENT_PROFILE or `profile = \"work\"` chooses it for all commands. The key of a profile belongs to \
its `base_url`: csv-agent uses them together, even if OPENAI_API_KEY is set.

The profile `local` needs no file. It is a server on this machine at port 11434, such as Ollama. \
csv-agent sends it no key, even if your file changes its `base_url`, unless the profile has a key of \
its own.

Prices are in USD for a million tokens. If csv-agent knows the prices of a model, it reports what a \
turn cost, and --max-cost works. It knows the list prices of OpenAI's and Anthropic's models, as of \
{LOOKED_UP}, and uses them if you ask these vendors. Add other prices or discounts like this:

  [prices.\"gpt-6.2-sol\"]
  input = 1.25
  cached_input = 0.125
  output = 10
";

const THRESHOLDS: &str = "
Thresholds are ranges in a separate TOML file (`--thresholds`). They apply to a column of any \
dataset, or to a column of one dataset:

  [revenue]
  good = \">= 100\"
  warning = \"50..100\"
  bad = \"< 50\"
  unit = \"EUR\"

  [sales.discount]
  bad = \"> 0.5\"

A range is a comparison with `<`, `<=`, `>`, `>=` or `=`, or two numbers: `50..100` includes 50 and excludes 100. \
Ranges of a column must not overlap. If a column has a good range, a value in no range is a warning. With --fail-on, \
csv-agent ends with 5 if a threshold matches no column.
";

const CONFIG_KEY: &str = "
The key comes from OPENAI_API_KEY (for Anthropic, ANTHROPIC_API_KEY), from a file that only you can \
read (`api_key_file`), or from a command that prints it (`api_key_cmd`). csv-agent runs the command \
without a shell when you ask a question. No flag and no setting contains the key itself.

`csv-agent config show` prints each setting and its origin. `csv-agent schema config` prints the JSON \
Schema of these files. With `--no-config`, csv-agent reads none of them.
";

/// Prints the requested help, with lines of at most `width` columns. Fails when there is no such command or
/// topic, or stdout cannot be written.
pub(crate) fn run(
    flags: &HelpFlags,
    mut command: Command,
    width: usize,
    as_json: bool,
) -> anyhow::Result<ExitStatus> {
    command.build();
    if as_json {
        let surface = surface(&command);
        stdout::answer(|out| Ok(writeln!(out, "{surface}")?))?;
        return Ok(ExitStatus::Ok);
    }
    let text = match &flags.topic[..] {
        [] => command.render_long_help().to_string(),
        words => explain(words, &mut command, width)?,
    };
    stdout::answer(|out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(ExitStatus::Ok)
}

fn explain(words: &[String], command: &mut Command, width: usize) -> anyhow::Result<String> {
    let topic = words.join(" ");
    match topic.as_str() {
        "exit-codes" | "exit-code" | "exit" | "status" => return Ok(wrapped(&exit_codes(), width)),
        "environment" | "env" | "variables" => return Ok(wrapped(&environment(), width)),
        "config" | "configuration" | "settings" => return Ok(wrapped(&configuration(), width)),
        "events" | "event" | "jsonl" => return Ok(wrapped(EVENTS, width)),
        "sql" => return Ok(page::text(SQL, width)),
        "checks" => return Ok(page::text(CHECKS, width)),
        "thresholds" | "threshold" => return Ok(wrapped(THRESHOLDS.trim_start(), width)),
        _ => {}
    }
    // `config set` is the command `set` of `config`.
    let mut found = Some(&mut *command);
    for word in words {
        found = found.and_then(|it| it.find_subcommand_mut(word));
    }
    if let Some(subcommand) = found {
        return Ok(subcommand.render_long_help().to_string());
    }
    if let Some((first, [_, ..])) = words.split_first()
        && command.find_subcommand(first).is_some()
    {
        let message = format!("`{first}` has no command `{}`", words[1..].join(" "));
        let hint = format!("`csv-agent help {first}` explains it");
        return Err(Failure::usage(message).hint(hint).into());
    }
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name);
    let commands = commands.filter(|it| !TOPICS.contains(it));
    let known: Vec<String> = commands.chain(TOPICS).map(str::to_owned).collect();
    let hint = match usage::nearest(&topic, &known).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is help on {}", known.join(", ")),
    };
    Err(Failure::usage(format!("no command or topic `{topic}`")).hint(hint).into())
}

/// Breaks long lines. Of a row with columns, which have two spaces between them, the last column is wrapped.
fn wrapped(text: &str, width: usize) -> String {
    let mut page = String::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let column = line.rfind("  ").map_or(indent, |at| indent.max(at + 2));
        let (names, words) = line.split_at(column);
        let is_row = indent < column;
        let column = if is_row && width < column + COLUMN_MIN { indent + 4 } else { column };
        if is_row && column < names.len() {
            page.push_str(names.trim_end());
            let _ = write!(page, "\n{:column$}", "");
        } else {
            page.push_str(names);
        }
        wrap(words, column, width, &mut page);
        page.push('\n');
    }
    page
}

fn exit_codes() -> String {
    let mut text = "Exit statuses:\n\n".to_owned();
    for status in ExitStatus::all() {
        let (code, name, when) = status.explained();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {code:>3}  {name:<13}  {when}");
    }
    text.push_str(
        "\nIf several apply, the first of these decides: a signal, 1, 8, 6, 4, 7, 12, 9, 11, 10. Errors \
         of a tool do not change the status if the model recovered from them.\n",
    );
    text
}

fn configuration() -> String {
    let mut text = CONFIG.to_owned();
    for setting in SETTINGS {
        let _ = writeln!(text, "  {} {:<16}  {}", setting.mark(), setting.key(), setting.about());
    }
    text + &CONFIG_PROFILES.replace("{LOOKED_UP}", LOOKED_UP) + THRESHOLDS + CONFIG_KEY
}

fn environment() -> String {
    let mut text = "Environment variables. An empty value counts as not set:\n\n".to_owned();
    for (name, about) in VARIABLES {
        let _ = writeln!(text, "  {name:<26}  {about}");
    }
    text.push_str("\nFlags override variables. Booleans are 0, 1, true or false.\n");
    text
}

/// The complete command line, for programs that call it.
fn surface(command: &Command) -> Value {
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set());
    let shown = command.get_arguments().filter(|it| !it.is_hide_set());
    let (globals, own): (Vec<&Arg>, Vec<&Arg>) = shown.partition(|it| it.is_global_set());
    let exit_codes = ExitStatus::all().into_iter().map(|status| {
        let (code, name, when) = status.explained();
        json!({"code": code, "name": name, "when": when})
    });
    let variables = VARIABLES.iter().map(|(name, about)| json!({"name": name, "about": about}));
    let settings = SETTINGS.iter().map(|it| {
        let (flag, variable) = it.elsewhere();
        json!({"key": it.key(), "about": it.about(), "flag": flag, "variable": variable})
    });
    json!({
        "name": command.get_name(),
        "version": command.get_version(),
        "about": command.get_about().map(ToString::to_string),
        "arguments": own.into_iter().map(argument).collect::<Vec<_>>(),
        "global_options": globals.into_iter().map(argument).collect::<Vec<_>>(),
        "commands": commands.map(subcommand).collect::<Vec<_>>(),
        "exit_codes": exit_codes.collect::<Vec<_>>(),
        "environment": variables.collect::<Vec<_>>(),
        "settings": settings.collect::<Vec<_>>(),
        "topics": TOPICS,
    })
}

fn subcommand(command: &Command) -> Value {
    let own = command.get_arguments().filter(|it| !it.is_hide_set() && !it.is_global_set());
    json!({
        "name": command.get_name(),
        "about": command.get_about().map(ToString::to_string),
        "usage": command.clone().render_usage().to_string().trim_start_matches("Usage: "),
        "arguments": own.map(argument).collect::<Vec<_>>(),
        "commands": command.get_subcommands().map(subcommand).collect::<Vec<_>>(),
    })
}

fn argument(arg: &Arg) -> Value {
    let takes_value = arg.get_action().takes_values();
    let values = arg.get_possible_values();
    let values =
        values.iter().filter(|it| takes_value && !it.is_hide_set()).map(PossibleValue::get_name);
    let names = arg.get_value_names().filter(|_| takes_value).map(|it| it[0].as_str());
    let about = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string);
    let defaults = arg.get_default_values().iter().filter(|_| !arg.is_hide_default_value_set());
    let default = defaults.map(|it| it.to_string_lossy().into_owned()).next();
    let default = default.or_else(|| about.as_deref().and_then(told_default).map(str::to_owned));
    json!({
        "long": arg.get_long().map(|it| format!("--{it}")),
        "short": arg.get_short().map(|it| format!("-{it}")),
        "value": names,
        "values": values.collect::<Vec<_>>(),
        "default": default.filter(|_| takes_value),
        "repeatable": matches!(arg.get_action(), clap::ArgAction::Append | clap::ArgAction::Count),
        "required": arg.is_required_set(),
        "about": about,
        "heading": arg.get_help_heading(),
    })
}

/// Returns the default stated in a help text, for settings that files or the environment can change.
fn told_default(about: &str) -> Option<&str> {
    about.split_once("[default: ")?.1.split(']').next()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::EVENTS;
    use crate::schemas;

    #[test]
    fn every_event_phase_and_status_is_explained() {
        let schema: Value = serde_json::from_str(schemas::EVENTS).unwrap();
        let definitions = &schema["$defs"];
        let types = schema["oneOf"].as_array().unwrap().iter();
        let types = types.map(|it| it["$ref"].as_str().unwrap().rsplit('/').next().unwrap());
        let phases = definitions["status"]["allOf"].as_array().unwrap().iter();
        let phases = phases.map(|it| it["if"]["properties"]["phase"]["const"].as_str().unwrap());
        let statuses = definitions["tool_result"]["properties"]["status"]["enum"].as_array();
        let statuses = statuses.unwrap().iter().map(|it| it.as_str().unwrap());
        let words: Vec<&str> =
            EVENTS.split(|it: char| !it.is_alphanumeric() && it != '_').collect();
        for name in types.chain(phases).chain(statuses) {
            assert!(words.contains(&name), "`help events` does not say {name}");
        }
    }
}
