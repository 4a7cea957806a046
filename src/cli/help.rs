//! `help`: a command, a topic, or the whole command line as JSON.

use std::fmt::Write as _;

use clap::builder::PossibleValue;
use clap::{Arg, Args, Command};
use serde_json::{Value, json};
use strum::VariantArray;

use csv_agent_provider::models::LOOKED_UP;
use csv_agent_types::status::{ExitStatus, Failure};

use super::options::VARIABLES;
use super::options::settings::SETTINGS;
use super::{stdout, usage};

/// What `help` explains.
#[derive(Debug, Clone, Args)]
pub struct HelpFlags {
    /// A command, or `exit-codes`, `environment`, `config`, `events`
    #[arg(value_name = "COMMAND|TOPIC")]
    pub topic: Option<String>,
}

/// Returns the name of a status, and when the process ends with it.
fn explained(status: ExitStatus) -> (&'static str, &'static str) {
    match status {
        ExitStatus::Ok => ("ok", "answered; or the gate passed"),
        ExitStatus::Internal => ("internal", "a bug, unexpected I/O, a full disk"),
        ExitStatus::Usage => ("usage", "a wrong flag or value, no question, a missing --yes"),
        ExitStatus::Setup => {
            ("setup", "the session is missing, locked or broken; a setting is invalid")
        }
        ExitStatus::Auth => {
            ("auth", "no key for a remote server, or the key was refused; or a cluster's token")
        }
        ExitStatus::Input => {
            ("input", "a file is missing, unreadable, too large or no table; an unknown dataset")
        }
        ExitStatus::Provider => (
            "provider",
            "the model's server or the cluster cannot be reached, fails, or sends nonsense; the \
                 container has expired",
        ),
        ExitStatus::Limit => (
            "limit",
            "rounds, tokens, money or time ran out first; the answer so far is there; or the datasets \
                 are too many or too large to upload",
        ),
        ExitStatus::Sandbox => ("sandbox", "Python is missing, cannot start, or is gone for good"),
        ExitStatus::Contract => (
            "contract",
            "the model refused; a verdict, schema, table or chart asked for is missing; a number is in no \
             tool result, with --fail-on ungrounded",
        ),
        ExitStatus::VerdictWarning => {
            ("gate-warning", "the verdict is a warning, with --fail-on warning")
        }
        ExitStatus::VerdictBad => ("gate-bad", "the verdict is bad, with --fail-on bad or warning"),
        ExitStatus::Replay => ("replay", "a replay does not match its cassette"),
        ExitStatus::Interrupted => ("interrupted", "ended by Ctrl-C (SIGINT)"),
        ExitStatus::BrokenPipe => {
            ("broken-pipe", "the reader of stdout went away in the middle of a turn")
        }
        ExitStatus::Terminated => ("terminated", "ended by SIGTERM"),
    }
}

const EVENTS: &str = "\
Events: what `--format jsonl` and `--events` write, one JSON object a line.

Every line has v (1), type, seq (0, 1, 2, … without gaps), ts (RFC 3339, UTC), session_id, turn_id.

  status          where the turn is; phase: started, model_request, model_response, reasoning,
                  executing, retrying, loading, compacting, compacted, worker, container, cluster,
                  warning
  partial         text of the answer as it streams; the reply has it whole
  tool_call       the model asks for a tool
  tool_result     the call has ended; status: ok, error, timeout, killed, cancelled
  data_frame      a table: columns, dtypes, rows
  chart           a chart: its rows, its alternative text, its SVG and PNG files
  chart_rejected  a chart that cannot be drawn, and why
  reply           the answer; terminal
  error           a failure; terminal when fatal is true

The first line is status with phase started. Each tool_call has one tool_result, and what the call
shows stands between the two. The last line is the one terminal event; it has exit_code.
Ignore fields and phases that you do not know: later versions add some.

  csv-agent ask --format jsonl \"top 5 products\" | jq -r 'select(.type==\"reply\").text'
  csv-agent ask \"revenue by month\" --events fd:3 3>events.jsonl
  csv-agent schema events      prints the JSON Schema of a line
  csv-agent schema result      prints that of the document of `--format json`
";

/// Help topics besides commands.
const TOPICS: [&str; 4] = ["exit-codes", "environment", "config", "events"];

const CONFIG: &str = "\
Configuration files are TOML. A flag goes before the environment, the environment before the files,
and of the files the first goes before the next:

  config.toml in the session's directory
  csv-agent.toml in the current directory
  ~/.config/csv-agent/config.toml, or csv-agent/config.toml in $XDG_CONFIG_HOME: your own

A file in a session or a project comes with data that others may have made. What is marked with * is
ignored there, with a warning, unless your own file trusts its directory. So is what is marked with +
where it names a file outside of that directory.

";

const CONFIG_PROFILES: &str = "
A profile is a set of settings under a name, for another server or another purpose:

  [profiles.work]
  base_url = \"https://models.example.com/v1\"
  api_key_cmd = [\"pass\", \"show\", \"work/models\"]
  model = \"gpt-6.2-sol\"

`--profile work` chooses it for one command and then also goes before the environment; CSV_AGENT_PROFILE
or `profile = \"work\"` choose it for good. The key of a profile goes with its `base_url`: where the one
holds, so does the other, also before OPENAI_API_KEY. The profile `local` is there without a file: a
server on this machine at port 11434, such as Ollama. It is sent no key, also where your file gives it
another `base_url`, unless the profile itself names one.

Prices are in USD for a million tokens; with them, usage tells what a turn cost, and --max-cost works. The
list prices of OpenAI's and Anthropic's models hold where these are asked, as of {LOOKED_UP}; others, and
what you pay instead, go here:

  [prices.\"gpt-6.2-sol\"]
  input = 1.25
  cached_input = 0.125
  output = 10

Thresholds are a TOML file of their own: ranges of a column of any dataset, or of one dataset:

  [revenue]
  good = \">= 100\"
  warning = \"50..100\"
  bad = \"< 50\"
  unit = \"EUR\"

  [sales.discount]
  bad = \"> 0.5\"

The key comes from OPENAI_API_KEY, or ANTHROPIC_API_KEY where Anthropic is asked, from a file of yours that
nobody else can read, or from a command that prints it, run without a shell when a question is asked. No
flag and no setting holds it.

  csv-agent schema config      prints the JSON Schema of these files
  csv-agent config show        prints each setting and where it comes from
  csv-agent --no-config …      reads none of these files
";

/// Prints the requested help.
///
/// # Errors
///
/// Fails when there is no such command or topic, or stdout cannot be written.
pub(crate) fn run(
    flags: &HelpFlags,
    mut command: Command,
    as_json: bool,
) -> anyhow::Result<ExitStatus> {
    command.build();
    if as_json {
        let surface = surface(&command);
        stdout::answer(|out| Ok(writeln!(out, "{surface}")?))?;
        return Ok(ExitStatus::Ok);
    }
    let text = match flags.topic.as_deref() {
        None => command.render_help().to_string(),
        Some(topic) => explain(topic, &mut command)?,
    };
    stdout::answer(|out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(ExitStatus::Ok)
}

fn explain(topic: &str, command: &mut Command) -> anyhow::Result<String> {
    match topic {
        "exit-codes" => return Ok(exit_codes()),
        "environment" => return Ok(environment()),
        "config" => return Ok(configuration()),
        "events" => return Ok(EVENTS.to_owned()),
        _ => {}
    }
    if let Some(subcommand) = command.find_subcommand_mut(topic) {
        return Ok(subcommand.render_help().to_string());
    }
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name);
    let commands = commands.filter(|it| !TOPICS.contains(it));
    let known: Vec<String> = commands.chain(TOPICS).map(str::to_owned).collect();
    let hint = match usage::nearest(topic, &known).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is help on {}", known.join(", ")),
    };
    Err(Failure::new(ExitStatus::Usage, format!("no command or topic `{topic}`")).hint(hint).into())
}

fn exit_codes() -> String {
    let mut text = "Exit codes:\n\n".to_owned();
    for status in ExitStatus::VARIANTS {
        let (name, when) = explained(*status);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:>3}  {name:<13}  {when}", status.code());
    }
    text.push_str(
        "\nWhen several hold, the first of these counts: a signal, 1, 8, 6, 4, 7, 12, 9, 11, 10.\n\
         Errors of a tool that the model recovered from do not change the code.\n",
    );
    text
}

fn configuration() -> String {
    let mut text = CONFIG.to_owned();
    for setting in SETTINGS {
        let _ = writeln!(text, "  {:<16} {} {}", setting.key(), setting.mark(), setting.about());
    }
    text + &CONFIG_PROFILES.replace("{LOOKED_UP}", LOOKED_UP)
}

fn environment() -> String {
    let mut text =
        "Environment variables, each of which an empty value leaves unset:\n\n".to_owned();
    for (name, about) in VARIABLES {
        let line = format!("  {name:<26}  {about}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str("\nFlags go before variables. Booleans are 0, 1, true or false.\n");
    text
}

/// The complete command line, for programs that call it.
fn surface(command: &Command) -> Value {
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set());
    let shown = command.get_arguments().filter(|it| !it.is_hide_set());
    let (globals, own): (Vec<&Arg>, Vec<&Arg>) = shown.partition(|it| it.is_global_set());
    let exit_codes = ExitStatus::VARIANTS.iter().map(|status| {
        let (name, when) = explained(*status);
        json!({"code": status.code(), "name": name, "when": when})
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
    })
}

fn argument(arg: &Arg) -> Value {
    let takes_value = arg.get_action().takes_values();
    let values = arg.get_possible_values();
    let values =
        values.iter().filter(|it| takes_value && !it.is_hide_set()).map(PossibleValue::get_name);
    let names = arg.get_value_names().filter(|_| takes_value).map(|it| it[0].as_str());
    let about = arg.get_help().map(ToString::to_string);
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
