//! The flags that several commands share. Their doc comments are the help texts.

mod interpreter;
mod words;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use csv_agent_chart::Theme;
use csv_agent_provider::Api;
use csv_agent_provider::hosted::code_interpreter::MemoryTier;
use csv_agent_sink::Format;
use csv_agent_types::conversation::Effort;

use super::value_parsers;
use crate::value_parsers::ReportTarget;

pub(crate) use interpreter::{InterpreterChoice, OnExpired, ToolChoiceFlag};
pub(crate) use words::{Worded, one_of};

/// The value of `doctor --session` without an ID, which cannot be typed.
pub(crate) const NO_ID: &str = "\0";

/// Flags that stand before or after any command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalFlags {
    /// Session directory [default: the nearest `.csv-agent`]
    ///
    /// csv-agent looks for `.csv-agent` in the current directory and in the directories above it.
    /// If there is none, csv-agent makes one in the current directory when it ingests a file.
    #[arg(short = 'S', long, value_name = "DIR", global = true)]
    pub session_dir: Option<PathBuf>,

    /// Use the session with this ID, a subdirectory of `DATA_ROOT`
    ///
    /// The environment variable `DATA_ROOT` contains the path of the directory.
    #[arg(long, value_name = "ID", global = true, hide_short_help = true)]
    pub session: Option<String>,

    /// Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "no_config",
        global = true,
        hide_short_help = true
    )]
    pub config: Option<PathBuf>,

    /// Do not read any configuration file
    #[arg(long, global = true, hide_short_help = true)]
    pub no_config: bool,

    /// Use the settings of this profile
    ///
    /// Configuration files define profiles (see `csv-agent help config`). The profile `local` is
    /// built in. It is a server on this machine at port 11434, such as Ollama.
    #[arg(long, value_name = "NAME", global = true, hide_short_help = true)]
    pub profile: Option<String>,

    /// How the answer is written to stdout
    #[command(flatten)]
    pub format: FormatFlags,

    /// When to use color [default: auto]
    #[arg(long, value_name = "WHEN", value_enum, global = true, hide_short_help = true)]
    pub color: Option<ColorChoice>,

    /// Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]
    #[arg(long, value_name = "N", value_parser = value_parsers::line_width, global = true, hide_short_help = true)]
    pub width: Option<u16>,

    /// Print only warnings and errors on stderr
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Show the code that runs. `-vv` also shows results
    ///
    /// csv-agent writes both to stderr. In a pipe, stderr gets only warnings and errors without this
    /// flag.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,

    /// How long to wait for another csv-agent in the same session [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::duration, global = true, hide_short_help = true)]
    pub lock_wait: Option<Duration>,

    /// Never prompt for input
    ///
    /// If csv-agent needs an answer, it fails instead.
    #[arg(long, global = true, hide_short_help = true)]
    pub no_input: bool,
}

/// How the answer is written.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormatFlags {
    /// Format of the answer [default: text]
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = one_of::<Format>(),
        overrides_with = "json",
        global = true
    )]
    pub format: Option<Format>,

    /// The same as `--format json`
    #[arg(long, overrides_with = "format", global = true, hide_short_help = true)]
    pub json: bool,
}

impl FormatFlags {
    /// Returns the format that the flags select.
    pub(crate) fn given(self) -> Option<Format> {
        if self.json { Some(Format::Json) } else { self.format }
    }
}

/// When to use color.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless an environment variable turns it off
    #[default]
    Auto,
    /// Always, also in a pipe
    Always,
    /// Never
    Never,
}

/// How a terminal shows charts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImageChoice {
    /// Pictures if the terminal says that it supports them, otherwise `blocks`
    #[default]
    Auto,
    /// Only the paths of the files
    Never,
    /// Pictures, with the protocol of kitty and Ghostty
    Kitty,
    /// Pictures, with the protocol of iTerm2, which other terminals support too
    Iterm,
    /// Pictures, as sixels
    Sixel,
    /// Colored characters
    Blocks,
    /// A few lines of plain text, for screen readers and logs
    Sketch,
}

/// The question, and flags for one answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct AskFlags {
    /// The question. `-` reads it from stdin
    ///
    /// Without a question, csv-agent reads stdin if it is a pipe.
    #[arg(value_name = "QUESTION")]
    pub question: Vec<String>,

    /// Read the question from a file
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "question",
        help_heading = "Input",
        hide_short_help = true
    )]
    pub question_file: Option<PathBuf>,

    /// Show what would be sent, and send nothing
    ///
    /// Prints the first request to the model and the files that would be uploaded before it. Needs
    /// no key.
    #[arg(long, conflicts_with = "record", help_heading = "Answer")]
    pub dry_run: bool,

    /// Show the model this image together with the question. May be repeated
    ///
    /// The file can be a PNG, JPEG, GIF or WebP.
    #[arg(long, value_name = "FILE", help_heading = "Input", hide_short_help = true)]
    pub image: Vec<PathBuf>,

    /// Choose one of the readings that the built-in analyst offers, by its number
    ///
    /// If `--model builtin` is not sure what a question means, it offers two or three numbered readings. If it is sure,
    /// or if no reading has this number, csv-agent exits with status 9.
    #[arg(long, value_name = "N", value_parser = value_parsers::pick, help_heading = "Answer", hide_short_help = true)]
    pub pick: Option<u32>,

    /// Write the answer to a file instead of stdout
    ///
    /// Without --format, the ending of its name sets the format: .csv, .tsv, .json, .jsonl or .md. The file
    /// appears only when it is complete.
    #[arg(short, long, value_name = "FILE", help_heading = "Answer")]
    pub output: Option<PathBuf>,

    /// Write the findings as a report for CI. May be repeated
    ///
    /// `junit=FILE`, `sarif=FILE` and `md=FILE` write a file. `github` writes annotations for
    /// GitHub Actions to stderr. Implies `--verdict`.
    #[arg(long, value_name = "KIND[=FILE]", value_parser = value_parsers::report, help_heading = "Checks", hide_short_help = true)]
    pub report: Vec<ReportTarget>,

    /// Table to write with `--format csv` or `tsv` [default: the last]
    #[arg(long, value_name = "NAME", help_heading = "Answer", hide_short_help = true)]
    pub table: Option<String>,

    #[command(flatten)]
    pub turn: TurnFlags,
}

/// The first question, and flags for all answers.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChatFlags {
    /// The first question
    #[arg(value_name = "QUESTION")]
    pub question: Vec<String>,

    /// How stdin separates questions if it is a pipe
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        default_value_t,
        help_heading = "Input",
        hide_short_help = true
    )]
    pub input: InputForm,

    #[command(flatten)]
    pub turn: TurnFlags,
}

/// How a pipe separates questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputForm {
    /// One question per line
    #[default]
    Lines,
    /// A NUL byte after each question, which can have several lines
    Nul,
    /// One JSON value per line: a string, or an object with the field `question`
    Jsonl,
}

/// Flags of every turn, asked by `ask` or in `chat`.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct TurnFlags {
    /// Ask about this file or directory only. May be repeated
    ///
    /// csv-agent ingests it first. It takes the same paths and patterns as `csv-agent ingest`. `-`
    /// reads the data from stdin. `-d` adds datasets of the session.
    #[arg(short, long, value_name = "FILE", help_heading = "Input")]
    pub file: Vec<PathBuf>,

    /// Ask about this dataset only. May be repeated
    ///
    /// A pattern such as 'fraud_*' selects several datasets. With `-f`, the question is about the
    /// files and these datasets.
    #[arg(short, long, value_name = "NAME", help_heading = "Input")]
    pub dataset: Vec<String>,

    /// Hide the values of this column from the model. May be repeated
    ///
    /// The model sees tokens instead of the values. `COL` applies to all datasets, `DATASET.COL` to
    /// one.
    #[arg(long, value_name = "COL", value_parser = value_parsers::column, help_heading = "Privacy", hide_short_help = true)]
    pub redact: Vec<String>,

    /// Start a new conversation in this session
    ///
    /// The model does not see the earlier questions and answers. Later questions can refer to this
    /// one.
    #[arg(long, help_heading = "Input")]
    pub fresh: bool,

    /// Use a temporary session, and do not keep it
    ///
    /// It contains the files of `-f`. csv-agent reads another session only if `-d` names datasets or
    /// `-S` names that session. csv-agent keeps only charts and files that the answer names.
    #[arg(long, help_heading = "Input")]
    pub ephemeral: bool,

    /// Also write JSONL events to a file or an open descriptor, such as `fd:3`
    ///
    /// `csv-agent help events` describes them.
    #[arg(long, value_name = "FILE|fd:N", help_heading = "Answer", hide_short_help = true)]
    pub events: Option<String>,

    /// Add absolute paths of tables, charts and files to JSON
    #[arg(long, help_heading = "Answer", hide_short_help = true)]
    pub abs_paths: bool,

    /// Write charts to this directory
    ///
    /// csv-agent creates it, and replaces files of the same name. Without this flag, the charts of
    /// `--ephemeral` are in a temporary directory, which nothing removes.
    #[arg(long, value_name = "DIR", help_heading = "Answer", hide_short_help = true)]
    pub charts: Option<PathBuf>,

    /// Ask for a verdict on the data, with findings
    ///
    /// The verdict is good, warning or bad.
    #[arg(long, help_heading = "Checks", hide_short_help = true)]
    pub verdict: bool,

    /// Require an answer in JSON that matches this JSON Schema
    ///
    /// The value is a file, or the schema itself if it begins with `{`. If the answer does not
    /// match, csv-agent exits with status 9.
    #[arg(long, value_name = "FILE|JSON", help_heading = "Checks", hide_short_help = true)]
    pub schema: Option<String>,

    /// Exit with an error status if the data is bad [default: never]
    ///
    /// Separate several values with commas. `bad` and `warning` imply `--verdict`.
    #[arg(long, value_name = "WHAT,…", value_enum, value_delimiter = ',', help_heading = "Checks")]
    pub fail_on: Vec<FailOn>,

    /// Require a table or a chart in the answer. May be repeated
    ///
    /// If it is missing, csv-agent exits with status 9.
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Checks", hide_short_help = true)]
    pub require: Vec<Require>,

    /// Let a model without tools pass the checks
    ///
    /// Such a model computes nothing. Without this flag, its answers fail `--fail-on`, `--require`
    /// and `--schema`.
    #[arg(long, help_heading = "Checks", hide_short_help = true)]
    pub allow_untooled: bool,

    #[command(flatten)]
    pub settings: SettingFlags,

    /// ID of the provider's container in which code runs [default: auto]
    ///
    /// csv-agent uploads the datasets to your container and does not delete it. With `auto`,
    /// csv-agent makes a container of its own, and deletes it on `csv-agent reset`.
    #[arg(long, value_name = "ID", help_heading = "Code", hide_short_help = true)]
    pub container: Option<String>,

    /// Whether a turn must begin with code in the provider's container [default: auto]
    #[arg(long, value_name = "TOOL", value_enum, help_heading = "Code", hide_short_help = true)]
    pub tool_choice: Option<ToolChoiceFlag>,

    /// Let the server keep the conversation
    ///
    /// csv-agent then sends only what the server does not have yet.
    #[arg(long, conflicts_with_all = ["record", "replay"], help_heading = "Model", hide_short_help = true)]
    pub chain: bool,

    /// Record the exchange with the model in this file, a cassette
    ///
    /// `--replay` repeats the answer from it.
    #[arg(
        long,
        value_name = "CASSETTE",
        conflicts_with = "replay",
        help_heading = "Model",
        hide_short_help = true
    )]
    pub record: Option<PathBuf>,

    /// Replay the model's responses from a cassette
    ///
    /// Needs no key and no network. The code of the model runs again.
    #[arg(long, value_name = "CASSETTE", help_heading = "Model", hide_short_help = true)]
    pub replay: Option<PathBuf>,
}

/// Flags that are also settings of configuration files.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SettingFlags {
    /// Give the model this description of the data
    ///
    /// The file can contain a data dictionary, units and conventions.
    #[arg(long, value_name = "FILE", help_heading = "Input", hide_short_help = true)]
    pub knowledge: Option<PathBuf>,

    /// Rate values with the ranges in this TOML file
    ///
    /// The ranges say which values of a column are good, a warning or bad. `csv-agent help thresholds`
    /// shows an example.
    #[arg(long, value_name = "FILE", help_heading = "Input", hide_short_help = true)]
    pub thresholds: Option<PathBuf>,

    /// Let the model see only schemas, aggregates, and values that 5 or more rows share
    #[arg(long, help_heading = "Privacy")]
    pub no_rows: bool,

    /// Language of the answer [default: that of the question]
    #[arg(long, value_name = "NAME", value_parser = value_parsers::language, help_heading = "Answer", hide_short_help = true)]
    pub language: Option<String>,

    /// Background of charts [default: light]
    #[arg(long, value_name = "THEME", value_parser = one_of::<Theme>(), help_heading = "Answer", hide_short_help = true)]
    pub chart_theme: Option<Theme>,

    /// Resolution of PNG charts, 1 or 2 [default: 1]
    ///
    /// Use 2 for high-resolution screens and for print.
    #[arg(long, value_name = "N", value_parser = value_parsers::chart_scale, help_heading = "Answer", hide_short_help = true)]
    pub chart_scale: Option<u32>,

    /// How a terminal shows charts [default: auto]
    ///
    /// A pipe or a file always gets the paths of the charts.
    #[arg(long, value_name = "KIND", value_enum, help_heading = "Answer", hide_short_help = true)]
    pub images: Option<ImageChoice>,

    /// Show the answer while the model writes it. This is the default
    #[arg(long, overrides_with = "no_stream", help_heading = "Answer", hide_short_help = true)]
    pub stream: bool,

    /// Show the answer when it is complete
    #[arg(long, overrides_with = "stream", help_heading = "Answer", hide_short_help = true)]
    pub no_stream: bool,

    /// Maximum number of requests to the model per question [default: 10]
    ///
    /// In the last request, the model must answer.
    #[arg(long, value_name = "N", value_parser = value_parsers::rounds, help_heading = "Limits", hide_short_help = true)]
    pub max_rounds: Option<u32>,

    /// Time limit of a question, such as 90s or 5m [default: none]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::some_time, help_heading = "Limits", hide_short_help = true)]
    pub timeout: Option<Duration>,

    /// Maximum input and output tokens of a question [default: no limit]
    #[arg(long, value_name = "N", value_parser = value_parsers::tokens, help_heading = "Limits", hide_short_help = true)]
    pub max_tokens: Option<u64>,

    /// Maximum cost of a question in USD [default: no limit]
    ///
    /// csv-agent knows the prices of OpenAI's and Anthropic's models. Add others to your
    /// configuration (see `csv-agent help config`).
    #[arg(long, value_name = "USD", value_parser = value_parsers::usd, help_heading = "Limits", hide_short_help = true)]
    pub max_cost: Option<f64>,
    /// Summarize the oldest turns if the conversation has more tokens than this [default: 100000]
    #[arg(long, value_name = "N", value_parser = value_parsers::context, help_heading = "Limits", hide_short_help = true)]
    pub compact_at: Option<u64>,

    /// Time limit of one run of Python code [default: 15m]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::some_time, help_heading = "Limits", hide_short_help = true)]
    pub tool_timeout: Option<Duration>,

    /// Memory limit of Python code, such as 8GB [default: half of the machine's, at least 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = value_parsers::memory, help_heading = "Limits", hide_short_help = true)]
    pub memory: Option<u64>,

    /// Retries after a temporary failure of a request [default: 4]
    #[arg(long, value_name = "N", value_parser = value_parsers::retries, help_heading = "Limits", hide_short_help = true)]
    pub retries: Option<u32>,

    /// Where code runs [default: local]
    #[arg(long, value_name = "WHERE", value_enum, help_heading = "Code", hide_short_help = true)]
    pub interpreter: Option<InterpreterChoice>,

    /// Memory of a container that csv-agent makes [default: 1g]
    ///
    /// More memory costs more.
    #[arg(long, value_name = "SIZE", value_parser = one_of::<MemoryTier>(), help_heading = "Code", hide_short_help = true)]
    pub container_memory: Option<MemoryTier>,

    /// What to do if the provider's container has expired [default: error]
    ///
    /// The variables in an expired container are lost.
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Code", hide_short_help = true)]
    pub on_expired: Option<OnExpired>,

    /// Run no code unless the confinement is complete
    ///
    /// `csv-agent doctor` shows what is enforced.
    #[arg(long, help_heading = "Limits", hide_short_help = true)]
    pub require_sandbox: bool,

    /// Run code even if it could read and write your files
    ///
    /// Without this flag, csv-agent runs no code on a machine that cannot confine the code's access
    /// to files.
    #[arg(
        long,
        help_heading = "Limits",
        conflicts_with = "require_sandbox",
        hide_short_help = true
    )]
    pub allow_unconfined: bool,

    /// Model to ask [default: gpt-6.2-sol]
    ///
    /// `builtin` is an analyst inside csv-agent. It needs no key and no server.
    #[arg(short, long, value_name = "NAME", value_parser = value_parsers::model, help_heading = "Model")]
    pub model: Option<String>,

    /// URL of the model's server, including `/v1` [default: OpenAI's]
    #[arg(long, value_name = "URL", help_heading = "Model", hide_short_help = true)]
    pub base_url: Option<String>,

    /// API of the server [default: auto]
    #[arg(long, value_name = "API", value_enum, help_heading = "Model", hide_short_help = true)]
    pub api: Option<ApiFlag>,

    /// How much a reasoning model thinks [default: the model's own]
    #[arg(long, value_name = "EFFORT", value_parser = one_of::<Effort>(), help_heading = "Model", hide_short_help = true)]
    pub reasoning: Option<Effort>,
}

/// Limits of a run of the SQL engine.
#[derive(Debug, Clone, Args)]
pub(crate) struct EngineLimits {
    /// Memory limit, such as 8GB [default: half of the machine's, at least 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = value_parsers::memory)]
    pub memory: Option<u64>,

    /// Time limit, such as 90s or 5m [default: 15m]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::some_time)]
    pub timeout: Option<Duration>,
}

impl EngineLimits {
    /// Returns the flags that configuration files can set.
    pub(crate) fn settings(&self) -> SettingFlags {
        SettingFlags { memory: self.memory, timeout: self.timeout, ..SettingFlags::default() }
    }
}

/// What in an answer ends the process with a status of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Turn the check off, and ignore an earlier `--fail-on`
    Never,
    /// Exit with 11 if the verdict is bad
    Bad,
    /// Exit with 11 if the verdict is bad, and with 10 if it is a warning
    Warning,
    /// Exit with 9 if the answer has a number that no tool result contains. Can be combined with
    /// `bad` or `warning`
    Ungrounded,
}

/// What an answer must come with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Require {
    /// A table
    Table,
    /// A chart
    Chart,
}

/// What a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApiFlag {
    /// The Responses API, or Chat Completions if the server does not have it
    #[default]
    Auto,
    /// The Responses API
    Responses,
    /// Chat Completions
    Chat,
    /// Anthropic's Messages API. `auto` chooses it for api.anthropic.com
    Messages,
}

impl From<ApiFlag> for Option<Api> {
    fn from(flag: ApiFlag) -> Option<Api> {
        match flag {
            ApiFlag::Auto => None,
            ApiFlag::Responses => Some(Api::Responses),
            ApiFlag::Chat => Some(Api::Chat),
            ApiFlag::Messages => Some(Api::Messages),
        }
    }
}
