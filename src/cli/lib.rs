//! The command line: its definition, and the dispatch to commands.

mod ask;
mod background_setup;
mod chat;
mod ci_reports;
mod check;
mod config;
mod confirm;
mod datasets;
mod dataset_listing;
mod decrypt;
mod describe;
mod egress_report;
mod engine;
mod environment;
mod errors;
mod doctor;
mod dry_run;
mod export;
mod flags;
mod delete_remote;
mod generate;
mod terminal_graphics;
mod image;
mod inputs;
mod ingest;
mod listing;
mod mcp;
mod status_line;
mod stored_turns;
mod options;
mod outputs;
mod stdout;
mod turn_sinks;
mod progress;
mod diagnostics;
mod diff;
mod query;
mod report;
mod rerun;
mod reset;
mod row_places;
mod schemas;
mod setup;
mod show;
mod signals;
mod spinner;
mod terminal;
mod tips;
mod help;
mod usage;
mod value_parsers;
mod word_wrap;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use csv_agent_sink::Format;
use csv_agent_types::status::FailureKind;

use check::CheckFlags;
use config::ConfigFlags;
use datasets::DatasetsFlags;
use describe::DescribeFlags;
use diff::DiffFlags;
use doctor::DoctorFlags;
use environment::Environment;
use errors::ExitStatus;
use export::ExportFlags;
use flags::{AskFlags, ChatFlags, ColorChoice, GlobalFlags, SettingFlags};
use generate::{CompletionsFlags, GenerateFlags, SchemaFlags};
use help::HelpFlags;
use ingest::IngestFlags;
use mcp::McpFlags;
use options::config::ConfigFiles;
use options::settings::{Flags, Settings};
use options::{AskOptions, ChatOptions, GlobalOptions, SessionChoice};
use query::QueryFlags;
use report::ReportFlags;
use rerun::RerunFlags;
use reset::ResetFlags;
use setup::SetupFlags;
use show::ShowFlags;

/// Maximum columns of help texts, however wide the terminal is.
const HELP_WIDTH_MAX: u16 = 100;

/// The usage comes first: it answers most questions.
const HELP: &str = "\
{usage-heading} {usage}

{about-with-newline}
{all-args}{after-help}";

// In all texts below, clap wraps the paragraphs, so each one is a single line.

const EXAMPLES: &str = "\
Examples:
  csv-agent ingest sales.csv stores.csv
  csv-agent ask \"Which product lost revenue in Q3? Show a table and a chart.\"
  csv-agent ask --ephemeral -f data.csv \"How many rows have no email?\"
  csv-agent ask --fail-on bad \"Do order totals match their lines?\" || echo $?";

const INGEST_BRIEF: &str = "\
Examples:
  csv-agent ingest sales.csv stores.csv
  csv-agent ingest data/ 'more/**/*.csv.gz' archive.zip
  csv-agent ingest export.txt --name orders --delimiter ';' --encoding latin1";

const INGEST_EXAMPLES: &str = "\
Examples:
  csv-agent ingest sales.csv stores.csv
  csv-agent ingest data/ 'more/**/*.csv.gz' archive.zip
  csv-agent ingest --union-by-name regions='data/{region}/*.csv'
  csv-agent ingest export.txt --name orders --delimiter ';' --encoding latin1
  csv-agent ingest people.csv --dtype zip=text --null NA,-
  csv-agent ingest book.xlsx --sheet 'Q*'
  gunzip -c big.csv.gz | csv-agent ingest - --name big
  csv-agent ingest --remote sc://host:15002 flights=/data/flights/

csv-agent reads all data files of a directory and its subdirectories. If files have the same name, \
it adds a part of their path to the names of the datasets.

Types come from every value of the file, and a type never changes a value. csv-agent keeps, counts \
and reports rows that are too short or too long. Ingesting an unchanged file again does nothing.";

const ASK_BRIEF: &str = "\
Examples:
  csv-agent ask \"Which product lost revenue in Q3?\"
  csv-agent ask --ephemeral -f data.csv \"How many rows have no email?\"

The key comes from OPENAI_API_KEY (for Anthropic, ANTHROPIC_API_KEY).";

const ASK_EXAMPLES: &str = "\
Examples:
  csv-agent ask \"Which product lost revenue in Q3?\"
  csv-agent ask \"And in Q4?\"
  csv-agent ask --json \"top 5 products\" | jq -r .text
  csv-agent ask --ephemeral -f data.csv --format reply \"How many rows?\"
  csv-agent ask -f data/ \"Which of the files has the most rows?\"
  csv-agent ask --dry-run \"How many rows?\" | less
  csv-agent ask --record q.jsonl \"How many rows?\"
  csv-agent ask --replay q.jsonl \"How many rows?\"

csv-agent writes the answer to stdout, and progress, warnings and errors to stderr. The key comes \
from the environment variable OPENAI_API_KEY (for Anthropic, ANTHROPIC_API_KEY). `csv-agent help \
config` lists other ways.";

const CHAT_BRIEF: &str = "\
Examples:
  csv-agent chat
  csv-agent chat -f sales.csv \"Which product lost revenue in Q3?\"

Type /help in the chat for its commands and keys. Ctrl-D ends the chat.";

const CHAT_EXAMPLES: &str = "\
Examples:
  csv-agent chat
  csv-agent chat -f sales.csv \"Which product lost revenue in Q3?\"
  printf 'How many rows?\\nAnd columns?\\n' | csv-agent chat --format jsonl
  jq -c '{question: .q}' cases.jsonl | csv-agent chat --input jsonl

On a terminal, Tab completes names, Up shows earlier lines, and Alt-Enter begins a new line. Ctrl-C \
ends the answer, and Ctrl-D ends the chat.

Commands begin with a slash: /datasets, /ingest, /table, /chart, /code, /save, /cost, /model, /undo, \
/reset, /help, /quit. The session keeps the lines that you type until `csv-agent reset`, unless it \
is --ephemeral.

In a pipe, every line is a question. `exit` and `quit`, with or without the slash, end the chat. \
csv-agent reports other commands as errors. With `--input nul` or `jsonl`, any text is a question. The exit status is the worst one of all answers.";

const DATASETS_EXAMPLES: &str = "\
Examples:
  csv-agent datasets
  csv-agent datasets sales --schema
  csv-agent datasets 'fraud_*' --tree
  csv-agent datasets sales --head 5
  csv-agent datasets --names -0 | xargs -0 -n1 csv-agent describe

`csv-agent describe` summarizes what the columns contain.";

const QUERY_EXAMPLES: &str = "\
Examples:
  csv-agent query -f sales.csv 'select region, sum(units) from sales group by 1'
  csv-agent query --format csv 'select * from sales join stores using (id)'
  csv-agent query -o top.parquet 'select * from sales order by price limit 9'
  csv-agent query - < report.sql

Each dataset is a table. A file is a table too, with the name that `csv-agent ingest` would give it. \
The SQL is that of DuckDB and PostgreSQL. `csv-agent help sql` lists the differences.";

const DESCRIBE_EXAMPLES: &str = "\
Examples:
  csv-agent describe sales.csv
  csv-agent describe 'data/*.csv' --format csv > columns.csv
  csv-agent describe sales stores
  csv-agent describe sales.csv --json | jq '.[0].columns[]|select(.is_key).name'

A column is a key if every row has a different value. Counts of distinct values are exact up to ten \
million rows. In longer tables, they are exact up to about 100,000 distinct values. Other counts \
are estimates, up to 15 % off, and begin with `~`. `csv-agent schema description` describes the JSON.";

const CHECK_EXAMPLES: &str = "\
Examples:
  csv-agent check --init orders.csv > checks.toml
  csv-agent check
  csv-agent check --update
  csv-agent check ci/checks.toml --report junit=checks.xml --report github

The exit status is 11 if the data breaks a rule, 10 if it breaks only rules with the severity \
`warning`, and 9 if a rule could not be decided. `csv-agent help checks` describes the file.";

const DIFF_EXAMPLES: &str = "\
Examples:
  csv-agent diff orders-june.csv orders-july.csv
  csv-agent diff old.csv new.csv --key customer --key day --ignore exported_at
  csv-agent diff old.csv new.csv --format csv > changes.csv

The exit status is 0 if the versions are the same, and 12 if they differ. The order of rows and \
columns makes no difference.";

const RESET_EXAMPLES: &str = "\
Examples:
  csv-agent reset --yes
  csv-agent reset --datasets --yes
  csv-agent reset --all --dry-run";

const SHOW_EXAMPLES: &str = "\
Examples:
  csv-agent show
  csv-agent show 7 --format md
  csv-agent show last --format csv --table revenue_by_month
  csv-agent show all --html session.html";

const EXPORT_EXAMPLES: &str = "\
Examples:
  csv-agent export py 7 > check.py && python3 check.py
  csv-agent export ipynb 5 6 7 -o revenue.ipynb
  csv-agent export md all -o report.md

A script or a notebook needs Python and the packages that it names at the top, but not csv-agent. It \
reads the original files, and fails if its results differ from the answer.";

const REPORT_EXAMPLES: &str = "\
Examples:
  csv-agent report -o report.html
  csv-agent report 2 5 6 -o report.pdf --title \"Sales in November\"
  csv-agent report last --no-code -o report.md
  csv-agent report --from questions.md -f sales.csv -o report.html";

const RERUN_EXAMPLES: &str = "\
Examples:
  csv-agent rerun 7 --check
  csv-agent rerun 7 --against orders=new.csv --check
  csv-agent rerun 7 --against orders=new.csv --format csv > new_totals.csv

A rerun needs no model and no key. The order of rows matters only if the question asked for one. Fractions \
may differ in their tenth digit. Whole numbers must be equal.";

const MCP_EXAMPLES: &str = "\
Examples:
  csv-agent mcp --print-config claude
  claude mcp add --scope user csv-agent --transport stdio -- csv-agent mcp
  codex mcp add csv-agent -- csv-agent mcp --allow ~/data
  csv-agent mcp -f sales.csv --read-only --no-rows";

const SETUP_EXAMPLES: &str = "\
Examples:
  csv-agent setup
  HTTPS_PROXY=http://proxy.example.com:8080 csv-agent setup
  PIP_INDEX_URL=https://pypi.example.com/simple csv-agent setup
  csv-agent setup --remove

The environment is in `~/.cache/csv-agent`, or in `csv-agent` of XDG_CACHE_HOME. `csv-agent doctor` \
shows which Python csv-agent uses.";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  csv-agent doctor
  csv-agent doctor --offline --model builtin
  csv-agent doctor --session --repair
  csv-agent doctor --json | jq -r '.[]|select(.state==\"problem\").found'

Exits with 0 if you can ask questions, and otherwise with the exit status that a question would have. \
csv-agent asks the server only for its list of models, with the key. It does not run the command in \
`api_key_cmd`.

With --session or --repair, it checks the files of the session, and exits with 3 if a file is \
damaged, missing, a link, or owned by another user.";

const CONFIG_EXAMPLES: &str = "\
Examples:
  csv-agent config show
  csv-agent config show --profile local --json | jq -r .base_url.origin
  csv-agent config set model gpt-6.2-sol
  csv-agent config set profiles.work.base_url https://models.example.com/v1
  csv-agent config unset model

`csv-agent help config` explains configuration files and lists all settings.";

const DECRYPT_EXAMPLES: &str = "\
Examples:
  DATA_EVENT_KEY=… csv-agent decrypt < events.jsonl";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  echo '. <(csv-agent completions bash)' >> ~/.bashrc
  csv-agent completions fish > ~/.config/fish/completions/csv-agent.fish";

/// Ask questions about CSV files.
///
/// csv-agent turns CSV files into typed tables. A language model examines them with Python and
/// answers with text, tables, charts and a verdict. A session keeps the tables and the conversation
/// in the directory `.csv-agent`.
#[derive(Debug, Parser)]
#[command(
    name = "csv-agent",
    version,
    args_override_self = true,
    arg_required_else_help = true,
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    subcommand_required = true,
    after_help = EXAMPLES
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: GlobalFlags,

    #[command(subcommand)]
    pub command: Verb,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Turn CSV, Parquet and other files into datasets
    #[command(after_help = INGEST_BRIEF, after_long_help = INGEST_EXAMPLES)]
    Ingest(Box<IngestFlags>),
    /// Ask a question about the datasets
    #[command(after_help = ASK_BRIEF, after_long_help = ASK_EXAMPLES)]
    Ask(Box<AskFlags>),
    /// Ask one question after another
    #[command(after_help = CHAT_BRIEF, after_long_help = CHAT_EXAMPLES)]
    Chat(Box<ChatFlags>),
    /// Run SQL on datasets or files, without a model or Python
    #[command(after_help = QUERY_EXAMPLES)]
    Query(Box<QueryFlags>),
    /// Summarize columns of datasets or files, without a model or Python
    #[command(after_help = DESCRIBE_EXAMPLES)]
    Describe(DescribeFlags),
    /// Check data against rules in a file, without a model or Python
    ///
    /// The file names data, and contains rules about it. Each rule is a SQL statement that returns the
    /// rows that break it, or words that `--update` compiles to such a statement. csv-agent reads the data
    /// each time, and adds nothing to the session.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Box<CheckFlags>),
    /// Show where two versions of a table differ
    ///
    /// Shows columns that were added, were removed or have another type, rows that were added or
    /// removed, and cells that changed, each with its line. csv-agent reads both files, and adds nothing
    /// to the session.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffFlags),
    /// List, show or remove datasets
    #[command(after_help = DATASETS_EXAMPLES)]
    Datasets(DatasetsFlags),
    /// Show an earlier answer again, in any format or as a page
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowFlags),
    /// Save earlier turns as a script, a notebook or a document
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportFlags),
    /// Write earlier answers as a report to share
    ///
    /// The report contains the questions, answers, charts and tables in order, how each answer was
    /// computed, and at the end a description of the data. It does not contain the steps of an answer.
    /// `csv-agent show --html` shows those.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Box<ReportFlags>),
    /// Repeat an earlier turn without a model, and compare the results
    #[command(after_help = RERUN_EXAMPLES)]
    Rerun(RerunFlags),
    /// Serve other agents over the Model Context Protocol (MCP)
    ///
    /// csv-agent uses the protocol on stdin and stdout. An agent such as Claude Code, Codex, Cursor,
    /// VS Code or Gemini CLI starts csv-agent, and the agent's model calls the tools. No key is needed.
    /// Each call is a turn of the session. `csv-agent show` shows it.
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(Box<McpFlags>),
    /// Forget the conversation, but keep the datasets
    #[command(after_help = RESET_EXAMPLES)]
    Reset(ResetFlags),
    /// Make the Python environment now, or remove it
    ///
    /// A language model writes Python code. If csv-agent finds no Python with the packages, the first
    /// question that needs Python makes an environment with pip, which takes a minute or two and about 700 MB.
    /// Use this command in images, in caches of CI, and before you go offline.
    #[command(after_help = SETUP_EXAMPLES)]
    Setup(SetupFlags),
    /// Check the key, the server, Python, the disk and the confinement
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorFlags),
    /// Show each setting and its origin, or change your own settings
    #[command(after_help = CONFIG_EXAMPLES)]
    Config(Box<ConfigFlags>),
    /// Decrypt the JSONL events on stdin
    ///
    /// csv-agent writes plain events to stdout. It reads the key from the environment variable
    /// `DATA_EVENT_KEY`.
    #[command(after_help = DECRYPT_EXAMPLES)]
    Decrypt,
    /// Print a completion script for your shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsFlags),
    /// Print the JSON Schema of an output or of the configuration
    Schema(SchemaFlags),
    /// Explain a command or a topic
    ///
    /// With `--json`, csv-agent prints all commands, flags, exit statuses, variables and settings, for
    /// programs.
    Help(HelpFlags),
    /// Write man pages or completions to a directory
    #[command(hide = true)]
    Generate(GenerateFlags),
}

/// Runs the program with these arguments, of which the first is its name. `--version` prints `version`.
///
/// Every error is reported once, on stderr.
pub fn run(args: impl IntoIterator<Item = OsString>, version: &'static str) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let status = match Environment::read() {
        Ok(environment) => match parse(&args, &environment, version) {
            Ok(cli) => perform(cli, &args, &environment),
            Err(error) => refuse(error, &args, &environment),
        },
        Err(error) => fail(&error, usage::wants_json(&args, None), false),
    };
    ExitCode::from(errors::exit_code(status))
}

/// Returns the definition of the command line.
fn command(environment: &Environment) -> clap::Command {
    let width = environment.columns.map(|it| usize::from(it.min(HELP_WIDTH_MAX)));
    let fit = move |it: clap::Command| {
        let it = it.max_term_width(HELP_WIDTH_MAX.into());
        match width {
            Some(width) => it.term_width(width),
            None => it,
        }
    };
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let help = help.help("Print help. `--help` describes all flags");
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
    let version = version.help("Print version");
    let command = fit(Cli::command())
        .arg(help.global(true).help_heading("Global options").display_order(100))
        // A section of its own would take three lines of the screen.
        .arg(version.help_heading("Global options").display_order(101))
        .mut_subcommands(|it| {
            let name = format!("csv-agent {}", it.get_name());
            let it = it.mut_subcommands(|it| {
                let name = format!("{name} {}", it.get_name());
                with_numbers(with_more_help(fit(it), &name))
            });
            with_numbers(with_more_help(fit(it), &name))
        });
    with_numbers(with_more_help(command, "csv-agent"))
}

/// Lets flags take negative numbers, so that the parser of the value says which numbers are valid.
fn with_numbers(command: clap::Command) -> clap::Command {
    command.mut_args(|it| {
        let takes_value = !it.is_positional() && it.get_action().takes_values();
        it.allow_negative_numbers(takes_value)
    })
}

/// Ends the help of a command with where the rest is. `-h` shows only the flags that are used most.
fn with_more_help(command: clap::Command, name: &str) -> clap::Command {
    let brief = command.get_after_help().map(ToString::to_string);
    let whole = command.get_after_long_help().map(ToString::to_string).or_else(|| brief.clone());
    let commands = if command.has_subcommands() {
        "`csv-agent COMMAND -h` shows the flags of a command. "
    } else {
        ""
    };
    let end = |text: Option<String>, flags: &str| {
        let more = format!(
            "{commands}{flags}`csv-agent help TOPIC` explains exit-codes, environment, config, thresholds, \
             events, sql or checks."
        );
        text.into_iter().chain([more]).collect::<Vec<_>>().join("\n\n")
    };
    let brief = end(brief, &format!("`{name} --help` lists all flags. "));
    command.help_template(HELP).after_help(brief).after_long_help(end(whole, ""))
}

fn parse(
    args: &[OsString],
    environment: &Environment,
    version: &'static str,
) -> Result<Cli, clap::Error> {
    let mut command = command(environment).version(version);
    let matches = command.try_get_matches_from_mut(args)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn perform(cli: Cli, args: &[OsString], environment: &Environment) -> ExitStatus {
    let json = usage::wants_json(args, environment.format);
    match set_up(cli, environment) {
        Ok(status) => status,
        Err((error, colour)) => fail(&error, json, colour),
    }
}

/// Reads the configuration and runs the command. An error comes with whether stderr may be coloured.
fn set_up(cli: Cli, environment: &Environment) -> Result<ExitStatus, (anyhow::Error, bool)> {
    let plain = |error| (error, false);
    let session = SessionChoice::resolve(&cli.global, environment).map_err(plain)?;
    let files = if cli.command.is_configured() {
        ConfigFiles::read(&cli.global, environment, &session.dir).map_err(plain)?
    } else {
        ConfigFiles::default()
    };
    let (global, given) = (cli.global, cli.command.settings());
    let flags = Flags { global: &global, settings: &given };
    let settings = Settings::check(flags, environment, &files).map_err(plain)?;
    let options = GlobalOptions::resolve(&global, session, &settings).map_err(plain)?;
    let colour = options.terminal.stderr.colour;
    for warning in &files.warnings {
        diagnostics::warning(&warning.message, colour);
    }
    outputs::demand_no_input(&cli.command, &options).map_err(|it| (it.into(), colour))?;
    dispatch(cli.command, options, &settings).map_err(|error| (error, colour))
}

impl Verb {
    /// Returns whether the command uses configuration files. Help and generated files work even when those
    /// are invalid.
    fn is_configured(&self) -> bool {
        // Repair works even if the session's own configuration is invalid.
        if let Verb::Doctor(flags) = self {
            return !flags.is_about_session();
        }
        if let Verb::Config(flags) = self {
            return flags.uses_files();
        }
        !matches!(self, Verb::Completions(_) | Verb::Schema(_) | Verb::Help(_) | Verb::Generate(_))
    }

    /// Returns the flags that configuration files can set.
    fn settings(&self) -> SettingFlags {
        match self {
            Verb::Ask(flags) => flags.turn.settings.clone(),
            Verb::Chat(flags) => flags.turn.settings.clone(),
            Verb::Check(flags) => flags.settings(),
            Verb::Config(flags) => flags.settings(),
            Verb::Describe(flags) => flags.limits.settings(),
            Verb::Diff(flags) => flags.limits.settings(),
            Verb::Doctor(flags) => flags.settings(),
            Verb::Mcp(flags) => flags.settings(),
            Verb::Query(flags) => flags.limits.settings(),
            Verb::Report(flags) => flags.settings(),
            Verb::Show(flags) => flags.settings(),
            _ => SettingFlags::default(),
        }
    }
}

fn dispatch(verb: Verb, options: GlobalOptions, settings: &Settings) -> anyhow::Result<ExitStatus> {
    let environment = settings.environment();
    match verb {
        Verb::Ingest(flags) => ingest::run(&flags, settings, &options),
        Verb::Ask(flags) => ask(*flags, options, settings),
        Verb::Chat(flags) => chat::run(ChatOptions::resolve(*flags, options, settings)?, settings),
        Verb::Datasets(flags) => datasets::run(&flags, settings, &options),
        Verb::Query(flags) => query::run(&flags, settings, &options),
        Verb::Describe(flags) => describe::run(&flags, settings, &options),
        Verb::Check(flags) => check::run(&flags, settings, &options),
        Verb::Diff(flags) => diff::run(&flags, settings, &options),
        Verb::Show(flags) => show::run(&flags, settings, &options),
        Verb::Export(flags) => export::run(&flags, settings, &options),
        Verb::Report(flags) => report::run(&flags, settings, &options),
        Verb::Rerun(flags) => rerun::run(&flags, settings, &options),
        Verb::Mcp(flags) => mcp::run(&flags, settings, options),
        Verb::Reset(flags) => reset::run(&flags, settings, &options),
        Verb::Setup(flags) => setup::run(&flags, settings, &options),
        Verb::Doctor(flags) => doctor::run(&flags, settings, &options),
        Verb::Config(flags) => config::run(&flags, settings, &options),
        Verb::Decrypt => decrypt::run(environment, &options),
        Verb::Completions(flags) => generate::completions(&flags, command(environment)),
        Verb::Schema(flags) => generate::schema(&flags),
        Verb::Help(flags) => {
            let columns = options.terminal.stdout.width.or(environment.columns);
            let width = columns.map_or(HELP_WIDTH_MAX, |it| it.min(HELP_WIDTH_MAX));
            let as_json = options.format == Format::Json;
            help::run(&flags, command(environment), width.into(), as_json)
        }
        Verb::Generate(flags) => generate::run(&flags, command(&Environment::default())),
    }
}

/// Answers a question, or shows the request that would be sent. Where this fails, the reports say so: those of an
/// earlier run would look like a result.
fn ask(flags: AskFlags, options: GlobalOptions, settings: &Settings) -> anyhow::Result<ExitStatus> {
    let targets = if flags.dry_run { Vec::new() } else { flags.report.clone() };
    let question = flags.question.join(" ");
    let ended = AskOptions::resolve(flags, options, settings).and_then(|options| {
        if options.dry_run {
            return dry_run::run(&options);
        }
        ask::run(options)
    });
    if let Err(error) = &ended
        && errors::status_of(error) != ExitStatus::Ok
    {
        // Only the first error helps.
        let summary = settings.environment().step_summary.clone();
        let _ = ci_reports::tell_failure(targets, summary, &question, error);
    }
    ended
}

/// Reports an invalid command line, or prints the requested help.
fn refuse(mut error: clap::Error, args: &[OsString], environment: &Environment) -> ExitStatus {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    suggest(&mut error, args, environment);
    if !is_help && usage::wants_json(args, environment.format) {
        diagnostics::tell(&format!("{}\n", usage::as_json(&error)));
        return ExitStatus::Failed(FailureKind::Usage);
    }
    let is_tty =
        if is_help { std::io::stdout().is_terminal() } else { std::io::stderr().is_terminal() };
    // Flags without a command show the list of commands, as an empty command line does.
    let text = if error.kind() == ErrorKind::MissingSubcommand {
        command(environment).render_help()
    } else {
        error.render()
    };
    let text = if ColorChoice::Auto.allows(is_tty, environment) {
        text.ansi().to_string()
    } else {
        text.to_string()
    };
    if !is_help {
        diagnostics::tell(&text);
        return ExitStatus::Failed(FailureKind::Usage);
    }
    match stdout::answer(|out| Ok(out.write_all(text.as_bytes())?)) {
        Ok(()) => ExitStatus::Ok,
        Err(error) => fail(&error, false, false),
    }
}

fn suggest(error: &mut clap::Error, args: &[OsString], environment: &Environment) {
    let command = command(environment);
    let verbs = command.get_subcommands().filter(|it| !it.is_hide_set());
    let verbs: Vec<String> = verbs.map(|it| it.get_name().to_owned()).collect();
    usage::suggest_command(error, &verbs);
    tips::add(error, &command, args);
    if error.kind() == ErrorKind::UnknownArgument {
        // clap would show only the flags that it has understood so far.
        error.remove(ContextKind::Usage);
    }
}

/// Reports an error and returns its exit status.
fn fail(error: &anyhow::Error, json: bool, colour: bool) -> ExitStatus {
    let status = errors::status_of(error);
    if status == ExitStatus::Ok {
        return status;
    }
    if json && status == ExitStatus::Failed(FailureKind::Usage) {
        let (message, hint) = (format!("{error:#}"), errors::hint_of(error));
        let meant: Vec<String> = hint.and_then(usage::meant).into_iter().collect();
        let object = usage::object("usage", &message, None, hint, &meant);
        diagnostics::tell(&format!("{object}\n"));
    } else {
        diagnostics::error(error, colour);
    }
    status
}
