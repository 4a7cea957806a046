//! The command line: its definition, and the dispatch to commands.

mod ask;
mod chat;
mod config;
mod confirm;
mod datasets;
mod dataset_listing;
mod decrypt;
mod describe;
mod egress_report;
mod engine;
mod environment;
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
mod status_line;
mod stored_turns;
mod options;
mod stdout;
mod turn_sinks;
mod progress;
mod diagnostics;
mod query;
mod report;
mod rerun;
mod reset;
mod schemas;
mod show;
mod signals;
mod spinner;
mod terminal;
mod tips;
mod help;
mod usage;
mod value_parsers;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use csv_agent_sink::Format;
use csv_agent_types::status::ExitStatus;

use config::ConfigFlags;
use datasets::DatasetsFlags;
use describe::DescribeFlags;
use doctor::DoctorFlags;
use environment::Environment;
use export::ExportFlags;
use flags::{AskFlags, ChatFlags, ColorChoice, GlobalFlags, SettingFlags};
use generate::{CompletionsFlags, GenerateFlags, SchemaFlags};
use help::HelpFlags;
use ingest::IngestFlags;
use options::config::ConfigFiles;
use options::settings::{Flags, Settings};
use options::{AskOptions, ChatOptions, GlobalOptions, SessionChoice};
use query::QueryFlags;
use rerun::RerunFlags;
use reset::ResetFlags;
use show::ShowFlags;

/// Maximum columns of help texts, however wide the terminal is.
const HELP_WIDTH_MAX: u16 = 100;

/// The usage comes first: it answers most questions.
const HELP: &str = "\
{usage-heading} {usage}

{about-with-newline}
{all-args}{after-help}";

/// The same for the program itself, with an introduction for new users.
const PROGRAM_HELP: &str = "\
{usage-heading} {usage}

{about-with-newline}
csv-agent turns CSV files into typed tables, lets a language model examine them with Python, and
answers with text, tables, charts and a verdict. Tables and conversation stay in a session: the
directory `.csv-agent`.

{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  csv-agent ingest sales.csv stores.csv
  csv-agent ask \"Which product lost revenue in Q3? Show a table and a chart.\"
  csv-agent ask --format csv \"revenue per month\" > monthly.csv
  csv-agent ask --ephemeral -f data.csv --format reply \"How many rows have no email?\"
  csv-agent ask --fail-on bad \"Do the order totals match their lines?\" || echo \"exit code $?\"

See also: csv-agent help COMMAND, csv-agent help exit-codes, environment, config or events";

const INGEST_EXAMPLES: &str = "\
Examples:
  csv-agent ingest sales.csv stores.csv
  csv-agent ingest data/ 'more/**/*.csv.gz' archive.zip
  csv-agent ingest --union-by-name sales='data/{region}/sales-*.csv'
  csv-agent ingest export.txt --name orders --delimiter ';' --encoding latin1
  csv-agent ingest people.csv --dtype zip=text --null NA,-
  csv-agent ingest book.xlsx --sheet 'Q*'
  gunzip -c big.csv.gz | csv-agent ingest - --name big
  csv-agent ingest --remote sc://host:15002 flights=/data/flights/ carriers=db.carriers

Of a directory, all that is called like data is read, whatever the depth; files of one name are
told apart by their directories. The types come from the whole file and never change a value. Rows
that are too short or too long are kept, counted and told. The same file again changes nothing.";

const ASK_EXAMPLES: &str = "\
Examples:
  csv-agent ask \"Which product lost revenue in Q3?\"
  csv-agent ask \"And in Q4?\"
  csv-agent ask --format jsonl \"top 5 products\" | jq -r 'select(.type==\"reply\").text'
  csv-agent ask --ephemeral -f data.csv --format reply \"How many rows have no email?\"
  csv-agent ask -f data/ \"Which of the files has the most rows?\"
  csv-agent ask --dry-run \"…\" | less
  csv-agent ask --record q.jsonl \"…\" && csv-agent ask --replay q.jsonl \"…\"

The answer goes to stdout, what happens meanwhile to stderr. The key comes from OPENAI_API_KEY.";

const CHAT_EXAMPLES: &str = "\
Examples:
  csv-agent chat
  csv-agent chat -f sales.csv \"Which product lost revenue in Q3?\"
  printf 'How many rows?\\nAnd columns?\\n' | csv-agent chat --format jsonl
  jq -c '{question: .q}' cases.jsonl | csv-agent chat --input jsonl --format reply

On a terminal, Tab completes names, Up has what was typed before, Alt-Enter begins a new line,
Ctrl-C ends the answer and Ctrl-D the chat. Commands begin with a slash: /datasets, /ingest,
/table, /chart, /code, /save, /cost, /model, /undo, /reset, /help, /quit. What is typed is kept in
the session, unless it is --ephemeral, until a reset. In a pipe, each line is a question, also one
that begins with a slash, and the worst status is that of the command.";

const DATASETS_EXAMPLES: &str = "\
Examples:
  csv-agent datasets
  csv-agent datasets sales --schema
  csv-agent datasets 'fraud_*' --tree
  csv-agent datasets sales --head 5
  csv-agent datasets --names -0 | xargs -0 -I{} csv-agent ask --ephemeral -d {} \"duplicate keys?\"

What the columns contain, by the numbers: csv-agent describe.";

const QUERY_EXAMPLES: &str = "\
Examples:
  csv-agent query -f sales.csv 'select region, sum(price * units) as revenue from sales group by 1'
  csv-agent query --format csv 'select * from sales join stores using (store_id)' > joined.csv
  csv-agent query -o top.parquet 'select * from sales order by price desc limit 100'
  csv-agent query - < report.sql

A dataset is a table; a file is a table with the name that `ingest` gives it. The statement is
SQL as DuckDB and PostgreSQL read it; docs/sql.md lists what is different.";

const DESCRIBE_EXAMPLES: &str = "\
Examples:
  csv-agent describe sales.csv
  csv-agent describe 'data/*.csv' --format csv > columns.csv
  csv-agent describe sales stores
  csv-agent describe sales.csv --json | jq -r '.[0].columns[]|select(.is_key).name'

A file is read into a temporary session and leaves nothing behind. A key has a value of its own in
each row. Different values are counted exactly up to ten million rows, and beyond where there are
at most about 100,000 of them; other numbers of them are estimates, up to 15 % off, and begin with
`~`. `csv-agent schema description` explains the JSON.";

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

A script and a notebook run with plain Python and pandas on the original files, without csv-agent, and
fail where they do not give what they gave.";

const RERUN_EXAMPLES: &str = "\
Examples:
  csv-agent rerun 7 --check
  csv-agent rerun 7 --against orders=new.csv --check
  csv-agent rerun 7 --against orders=new.csv --format csv > new_totals.csv

Needs no key and no model. Rows may come in any order unless the question asked for one; numbers with a
fraction may differ in their tenth digit, whole numbers not at all.";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  csv-agent doctor
  csv-agent doctor --offline --model builtin
  csv-agent doctor --session --repair
  csv-agent doctor --json | jq -r '.[]|select(.state==\"problem\").found'

Ends with 0 when questions can be asked, otherwise with the code that they would end with. With
--session or --repair it looks at the files of the session, and ends with 3 when one is not as it
should be: torn, missing, a link, or another user's. The
server is asked for its models, with the key, and for nothing else; a command that prints the key is
not run.";

const CONFIG_EXAMPLES: &str = "\
Examples:
  csv-agent config show
  csv-agent config show --profile local --json | jq -r .base_url.origin
  csv-agent config set model gpt-6.2-sol
  csv-agent config set profiles.work.base_url https://models.example.com/v1
  csv-agent config unset model

See also: csv-agent help config";

const DECRYPT_EXAMPLES: &str = "\
Examples:
  DATA_EVENT_KEY=… csv-agent decrypt < events.jsonl";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  csv-agent completions bash > ~/.local/share/bash-completion/completions/csv-agent
  csv-agent completions fish > ~/.config/fish/completions/csv-agent.fish";

/// Ask questions about CSV files.
#[derive(Debug, Parser)]
#[command(
    name = "csv-agent",
    version,
    args_override_self = true,
    arg_required_else_help = true,
    disable_help_flag = true,
    disable_help_subcommand = true,
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
pub enum Verb {
    /// Turn CSV and Parquet files into datasets of the session
    #[command(after_help = INGEST_EXAMPLES)]
    Ingest(Box<IngestFlags>),
    /// Ask a question about the datasets
    #[command(after_help = ASK_EXAMPLES)]
    Ask(Box<AskFlags>),
    /// Ask one question after another
    #[command(after_help = CHAT_EXAMPLES)]
    Chat(Box<ChatFlags>),
    /// Run SQL over datasets or files; needs no model and no Python
    #[command(after_help = QUERY_EXAMPLES)]
    Query(Box<QueryFlags>),
    /// Show what each column of datasets or files contains; needs no model and no Python
    #[command(after_help = DESCRIBE_EXAMPLES)]
    Describe(DescribeFlags),
    /// List, show or remove datasets
    #[command(after_help = DATASETS_EXAMPLES)]
    Datasets(DatasetsFlags),
    /// Show the answer of an earlier turn again, in any format or as a page
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowFlags),
    /// Write earlier turns as a script that proves itself, a notebook or a document
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportFlags),
    /// Run the calls of an earlier turn again, without a model, and compare
    #[command(after_help = RERUN_EXAMPLES)]
    Rerun(RerunFlags),
    /// Forget what was asked; the datasets stay
    #[command(after_help = RESET_EXAMPLES)]
    Reset(ResetFlags),
    /// Check what a question needs: key, server, Python, disk, and how its code is confined
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorFlags),
    /// Show the settings and where they come from, or change your own
    #[command(after_help = CONFIG_EXAMPLES)]
    Config(Box<ConfigFlags>),
    /// Write encrypted events from stdin as plain ones
    #[command(after_help = DECRYPT_EXAMPLES)]
    Decrypt,
    /// Print a script that completes commands and flags in your shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsFlags),
    /// Print the JSON Schema of what csv-agent writes
    Schema(SchemaFlags),
    /// Explain a command or a topic; with --json, everything for programs
    Help(HelpFlags),
    /// Write man pages or completions to a directory
    #[command(hide = true)]
    Generate(GenerateFlags),
}

/// Runs the program with these arguments, of which the first is its name.
///
/// Every error is reported once, on stderr.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let status = match Environment::read() {
        Ok(environment) => match parse(&args, &environment) {
            Ok(cli) => perform(cli, &args, &environment),
            Err(error) => refuse(error, &args, &environment),
        },
        Err(error) => fail(&error, usage::wants_json(&args, None), false),
    };
    ExitCode::from(status.code())
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
    // The same help text for `-h` and `--help`: it fits a screen or two, and hides nothing.
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort);
    fit(Cli::command())
        .arg(help.help("Print help").global(true).help_heading("Global options").display_order(100))
        .help_template(PROGRAM_HELP)
        .mut_subcommands(|it| fit(it).help_template(HELP))
}

fn parse(args: &[OsString], environment: &Environment) -> Result<Cli, clap::Error> {
    let mut command = command(environment);
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
        diagnostics::warning(warning, colour);
    }
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
            return flags.needs_valid_files();
        }
        !matches!(self, Verb::Completions(_) | Verb::Schema(_) | Verb::Help(_) | Verb::Generate(_))
    }

    /// Returns the flags that configuration files can set.
    fn settings(&self) -> SettingFlags {
        match self {
            Verb::Ask(flags) => flags.turn.settings.clone(),
            Verb::Chat(flags) => flags.turn.settings.clone(),
            Verb::Config(flags) => flags.settings(),
            Verb::Describe(flags) => flags.settings(),
            Verb::Doctor(flags) => flags.settings(),
            Verb::Query(flags) => flags.settings(),
            Verb::Show(flags) => flags.settings(),
            _ => SettingFlags::default(),
        }
    }
}

fn dispatch(verb: Verb, options: GlobalOptions, settings: &Settings) -> anyhow::Result<ExitStatus> {
    let environment = settings.environment();
    match verb {
        Verb::Ingest(flags) => ingest::run(&flags, settings, &options),
        Verb::Ask(flags) => {
            let options = AskOptions::resolve(*flags, options, settings)?;
            if options.dry_run { dry_run::run(&options) } else { ask::run(options) }
        }
        Verb::Chat(flags) => chat::run(ChatOptions::resolve(*flags, options, settings)?, settings),
        Verb::Datasets(flags) => datasets::run(&flags, settings, &options),
        Verb::Query(flags) => query::run(&flags, settings, &options),
        Verb::Describe(flags) => describe::run(&flags, settings, &options),
        Verb::Show(flags) => show::run(&flags, settings, &options),
        Verb::Export(flags) => export::run(&flags, settings, &options),
        Verb::Rerun(flags) => rerun::run(&flags, settings, &options),
        Verb::Reset(flags) => reset::run(&flags, settings, &options),
        Verb::Doctor(flags) => doctor::run(&flags, settings, &options),
        Verb::Config(flags) => config::run(&flags, settings, &options),
        Verb::Decrypt => decrypt::run(environment, &options),
        Verb::Completions(flags) => generate::completions(&flags, command(environment)),
        Verb::Schema(flags) => generate::schema(&flags),
        Verb::Help(flags) => {
            help::run(&flags, command(environment), options.format == Format::Json)
        }
        Verb::Generate(flags) => generate::run(&flags, command(&Environment::default())),
    }
}

/// Reports an invalid command line, or prints the requested help.
fn refuse(mut error: clap::Error, args: &[OsString], environment: &Environment) -> ExitStatus {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    suggest(&mut error, environment);
    if !is_help && usage::wants_json(args, environment.format) {
        diagnostics::tell(&format!("{}\n", usage::as_json(&error)));
        return ExitStatus::Usage;
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
        return ExitStatus::Usage;
    }
    match stdout::answer(|out| Ok(out.write_all(text.as_bytes())?)) {
        Ok(()) => ExitStatus::Ok,
        Err(error) => fail(&error, false, false),
    }
}

fn suggest(error: &mut clap::Error, environment: &Environment) {
    let command = command(environment);
    let verbs = command.get_subcommands().filter(|it| !it.is_hide_set());
    let verbs: Vec<String> = verbs.map(|it| it.get_name().to_owned()).collect();
    usage::suggest_command(error, &verbs);
    tips::add(error, &command);
}

/// Reports an error and returns its exit status.
fn fail(error: &anyhow::Error, json: bool, colour: bool) -> ExitStatus {
    let status = diagnostics::status_of(error);
    if status == ExitStatus::Ok {
        return status;
    }
    if json && status == ExitStatus::Usage {
        let (message, hint) = (format!("{error:#}"), diagnostics::hint_of(error));
        let object = usage::object("usage", &message, None, hint, &[]);
        diagnostics::tell(&format!("{object}\n"));
    } else {
        diagnostics::error(error, colour);
    }
    status
}
