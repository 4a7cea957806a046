//! The flags that several commands share. Their doc comments are the help texts.

mod interpreter;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use csv_agent_chart::Theme;
use csv_agent_provider::Api;
use csv_agent_sink::Format;
use csv_agent_types::conversation::Effort;

use super::value_parsers;
use crate::value_parsers::ReportTarget;

pub(crate) use interpreter::{ContainerMemory, InterpreterChoice, OnExpired, ToolChoiceFlag};

/// The value of `doctor --session` without an ID, which cannot be typed.
pub(crate) const NO_ID: &str = "\0";

/// Flags that stand before or after any command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalFlags {
    /// Session directory [default: the nearest `.csv-agent` upward]
    #[arg(short = 'S', long, value_name = "DIR", global = true)]
    pub session_dir: Option<PathBuf>,

    /// Session with this name in the directory `DATA_ROOT`
    #[arg(long, value_name = "ID", global = true)]
    pub session: Option<String>,

    /// Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config", global = true)]
    pub config: Option<PathBuf>,

    /// Read no configuration file
    #[arg(long, global = true)]
    pub no_config: bool,

    /// Profile of the configuration whose settings hold; `local` is built in
    #[arg(long, value_name = "NAME", global = true)]
    pub profile: Option<String>,

    /// How the answer is written to stdout
    #[command(flatten)]
    pub format: FormatFlags,

    /// When to use colour [default: auto]
    #[arg(long, value_name = "WHEN", value_enum, global = true)]
    pub color: Option<ColorChoice>,

    /// Columns a line may take [default: the terminal's; no limit in a pipe]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(20..), global = true)]
    pub width: Option<u16>,

    /// Say nothing on stderr but warnings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Say more on stderr: what is run; twice, also what came back
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,

    /// How long to wait for another csv-agent on the same session [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::duration, global = true)]
    pub lock_wait: Option<Duration>,

    /// Never ask back; fail where an answer would be needed
    #[arg(long, global = true)]
    pub no_input: bool,
}

/// How the answer is written.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormatFlags {
    /// How the answer is written to stdout [default: text]
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = format_parser(),
        overrides_with = "json",
        global = true
    )]
    pub format: Option<Format>,

    /// Short for `--format json`
    #[arg(long, overrides_with = "format", global = true)]
    pub json: bool,
}

impl FormatFlags {
    /// Returns the format that the flags select.
    pub(crate) fn given(self) -> Option<Format> {
        if self.json { Some(Format::Json) } else { self.format }
    }
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless the environment says otherwise
    #[default]
    Auto,
    /// In a pipe as well
    Always,
    /// Not at all
    Never,
}

impl ColorChoice {
    /// The choices by name.
    pub(crate) const NAMES: [(&str, ColorChoice); 3] = [
        ("auto", ColorChoice::Auto),
        ("always", ColorChoice::Always),
        ("never", ColorChoice::Never),
    ];
}

/// How a terminal shows charts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ImageChoice {
    /// Pictures where the terminal says that it has them, else characters
    #[default]
    Auto,
    /// By their paths only
    Never,
    /// Pictures, by the protocol of kitty and Ghostty
    Kitty,
    /// Pictures, by the protocol of iTerm2, which others speak too
    Iterm,
    /// Pictures, as sixels
    Sixel,
    /// Coloured characters
    Blocks,
    /// A few lines of plain text, for screen readers and logs
    Sketch,
}

impl ImageChoice {
    /// The choices by name.
    pub const NAMES: [(&str, ImageChoice); 7] = [
        ("auto", ImageChoice::Auto),
        ("never", ImageChoice::Never),
        ("kitty", ImageChoice::Kitty),
        ("iterm", ImageChoice::Iterm),
        ("sixel", ImageChoice::Sixel),
        ("blocks", ImageChoice::Blocks),
        ("sketch", ImageChoice::Sketch),
    ];
}

/// The question, and flags for one answer.
#[derive(Debug, Clone, Args)]
pub struct AskFlags {
    /// What you want to know; `-` reads it from stdin, as does a pipe when nothing is given
    #[arg(value_name = "QUESTION")]
    pub question: Vec<String>,

    /// Read the question from a file
    #[arg(long, value_name = "FILE", conflicts_with = "question", help_heading = "Input")]
    pub question_file: Option<PathBuf>,

    /// Show the request that would be sent first and the files that would be uploaded before it, and send
    /// nothing; needs no key
    #[arg(long, conflicts_with = "record", help_heading = "Answer")]
    pub dry_run: bool,

    /// Show the model this image (PNG, JPEG, GIF, WebP) with the question. May be repeated
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub image: Vec<PathBuf>,

    /// Write the answer to a file instead of stdout, whole or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Answer")]
    pub output: Option<PathBuf>,

    /// Write the findings for CI: `junit=FILE`, `sarif=FILE`, `md=FILE`, or `github` for annotations
    /// on stderr; implies `--verdict`. May be repeated
    #[arg(long, value_name = "KIND[=FILE]", value_parser = value_parsers::report, help_heading = "Checks")]
    pub report: Vec<ReportTarget>,

    /// Which table `--format csv` and `tsv` write [default: the last]
    #[arg(long, value_name = "NAME", help_heading = "Answer")]
    pub table: Option<String>,

    #[command(flatten)]
    pub turn: TurnFlags,
}

/// The first question, and flags for all answers.
#[derive(Debug, Clone, Args)]
pub struct ChatFlags {
    /// The first question
    #[arg(value_name = "QUESTION")]
    pub question: Vec<String>,

    /// What a pipe on stdin holds: a question a line, questions that each end with a NUL, or a JSON
    /// string or object with `question` a line
    #[arg(long, value_name = "FORM", value_enum, default_value_t, help_heading = "Input")]
    pub input: InputForm,

    #[command(flatten)]
    pub turn: TurnFlags,
}

/// How questions stand in a pipe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum InputForm {
    /// One a line
    #[default]
    Lines,
    /// Each up to a NUL, or to the end
    Nul,
    /// One JSON value a line
    Jsonl,
}

/// Flags of every turn, asked by `ask` or in `chat`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct TurnFlags {
    /// Ingest this CSV file, directory or pattern first; `-` reads stdin. May be repeated
    #[arg(short, long, value_name = "CSV", help_heading = "Input")]
    pub file: Vec<PathBuf>,

    /// Let the model see only this dataset, or those of a pattern such as 'fraud_*'. May be repeated
    #[arg(short, long, value_name = "NAME", help_heading = "Input")]
    pub dataset: Vec<String>,

    /// Keep the values of this column back, of all datasets or as `DATASET.COL`: tokens stand for
    /// them. May be repeated
    #[arg(long, value_name = "COL", value_parser = value_parsers::column, help_heading = "Privacy")]
    pub redact: Vec<String>,

    /// Answer without what was asked before; this turn is remembered
    #[arg(long, help_heading = "Input")]
    pub fresh: bool,

    /// Work in a temporary session that sees the datasets and leaves nothing behind
    #[arg(long, help_heading = "Input")]
    pub ephemeral: bool,

    /// Also write the JSONL events to a file, or to an open descriptor: `fd:3`
    #[arg(long, value_name = "FILE|fd:N", help_heading = "Answer")]
    pub events: Option<String>,

    /// Add absolute paths of tables, charts and files to JSON
    #[arg(long, help_heading = "Answer")]
    pub abs_paths: bool,

    /// Ask for a verdict on the data: good, warning or bad, with findings
    #[arg(long, help_heading = "Checks")]
    pub verdict: bool,

    /// Ask for JSON of a JSON Schema: a file, or the schema itself where it begins with `{`; exit with 9
    /// when the answer does not hold to it
    #[arg(long, value_name = "FILE|JSON", help_heading = "Checks")]
    pub schema: Option<String>,

    /// Exit with 11 when the verdict is bad, 10 when it is a warning, either of which implies
    /// `--verdict`; with 9 when the answer has a number that no tool result contains [default: never]
    #[arg(long, value_name = "WHAT,…", value_enum, value_delimiter = ',', help_heading = "Checks")]
    pub fail_on: Vec<FailOn>,

    /// Exit with 9 unless the answer comes with a table or a chart. May be repeated
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Checks")]
    pub require: Vec<Require>,

    /// Let an answer pass `--fail-on`, `--require` and `--schema` that a model without tools gave
    #[arg(long, help_heading = "Checks")]
    pub allow_untooled: bool,

    #[command(flatten)]
    pub settings: SettingFlags,

    /// The provider's container that code runs in: its id, or `auto` for one that the provider makes
    /// [default: auto]
    #[arg(long, value_name = "ID", help_heading = "Code")]
    pub container: Option<String>,

    /// Have each turn begin with a run of code in the provider's container [default: auto]
    #[arg(long, value_name = "TOOL", value_enum, help_heading = "Code")]
    pub tool_choice: Option<ToolChoiceFlag>,

    /// Let the server keep responses, and send it only what it does not have
    #[arg(long, conflicts_with_all = ["record", "replay"], help_heading = "Model")]
    pub chain: bool,

    /// Write what is said to the model and what it answers to a cassette
    #[arg(long, value_name = "CASSETTE", conflicts_with = "replay", help_heading = "Model")]
    pub record: Option<PathBuf>,

    /// Take the model's answers from a cassette; needs no key and no network
    #[arg(long, value_name = "CASSETTE", help_heading = "Model")]
    pub replay: Option<PathBuf>,
}

/// Flags that a configuration file may stand in for.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct SettingFlags {
    /// What you know of the data: a dictionary, units, conventions; the model reads it
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub knowledge: Option<PathBuf>,

    /// Which values of a column are good, worth a warning or bad: ranges in TOML
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub thresholds: Option<PathBuf>,

    /// Keep rows back: the model sees schemas and aggregates only
    #[arg(long, help_heading = "Privacy")]
    pub no_rows: bool,

    /// Language of the answer [default: that of the question]
    #[arg(long, value_name = "NAME", value_parser = value_parsers::language, help_heading = "Answer")]
    pub language: Option<String>,

    /// Paper of charts [default: light]
    #[arg(long, value_name = "THEME", value_enum, help_heading = "Answer")]
    pub chart_theme: Option<ChartTheme>,

    /// Pixels of a chart's PNG to one of its SVG: 1, or 2 for fine screens and print [default: 1]
    #[arg(long, value_name = "N", value_parser = value_parsers::chart_scale, help_heading = "Answer")]
    pub chart_scale: Option<u32>,

    /// How a terminal shows charts; a pipe or a file gets their paths, whatever is said here
    /// [default: auto]
    #[arg(long, value_name = "KIND", value_enum, help_heading = "Answer")]
    pub images: Option<ImageChoice>,

    /// Show the answer while it is being written; the default
    #[arg(long, overrides_with = "no_stream", help_heading = "Answer")]
    pub stream: bool,

    /// Wait for whole responses
    #[arg(long, overrides_with = "stream", help_heading = "Answer")]
    pub no_stream: bool,

    /// Requests to the model; the last one must answer [default: 10]
    #[arg(long, value_name = "N", value_parser = value_parsers::rounds, help_heading = "Limits")]
    pub max_rounds: Option<u32>,

    /// Time for the whole turn, such as 90s or 5m [default: none]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::some_time, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Input and output tokens of the whole turn [default: no limit]
    #[arg(long, value_name = "N", value_parser = value_parsers::tokens, help_heading = "Limits")]
    pub max_tokens: Option<u64>,

    /// Cost of the whole turn in USD, at the prices of your configuration [default: no limit]
    #[arg(long, value_name = "USD", value_parser = value_parsers::usd, help_heading = "Limits")]
    pub max_cost: Option<f64>,
    /// Tokens of the conversation before its oldest turns are summarised [default: 100000]
    #[arg(long, value_name = "N", value_parser = value_parsers::context, help_heading = "Limits")]
    pub compact_at: Option<u64>,

    /// Time for one run of Python code [default: 15m]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::some_time, help_heading = "Limits")]
    pub tool_timeout: Option<Duration>,

    /// Memory for Python code, such as `8GB` [default: half of the machine's, at least 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = value_parsers::memory, help_heading = "Limits")]
    pub memory: Option<u64>,

    /// Further tries of a request that failed in a way that may pass [default: 4]
    #[arg(long, value_name = "N", value_parser = value_parsers::retries, help_heading = "Limits")]
    pub retries: Option<u32>,

    /// Where code runs; `hosted` and `both` upload the datasets [default: local]
    #[arg(long, value_name = "WHERE", value_enum, help_heading = "Code")]
    pub interpreter: Option<InterpreterChoice>,

    /// Memory of a container that the provider makes; the more, the dearer [default: 1g]
    #[arg(long, value_name = "SIZE", value_enum, help_heading = "Code")]
    pub container_memory: Option<ContainerMemory>,

    /// What to do when the provider's container has expired, and its variables with it
    /// [default: error]
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Code")]
    pub on_expired: Option<OnExpired>,

    /// Run no code unless its confinement is complete; `csv-agent doctor` shows what holds
    #[arg(long, help_heading = "Limits")]
    pub require_sandbox: bool,

    /// Run code also where nothing keeps it from reading and writing your files
    #[arg(long, help_heading = "Limits", conflicts_with = "require_sandbox")]
    pub allow_unconfined: bool,

    /// Model to ask; `builtin` is the analyst inside the binary [default: gpt-6.2-sol]
    #[arg(short, long, value_name = "NAME", value_parser = value_parsers::model, help_heading = "Model")]
    pub model: Option<String>,

    /// Server to ask, up to and with `/v1` [default: OpenAI's]
    #[arg(long, value_name = "URL", help_heading = "Model")]
    pub base_url: Option<String>,

    /// What the server speaks [default: auto]
    #[arg(long, value_name = "API", value_enum, help_heading = "Model")]
    pub api: Option<ApiFlag>,

    /// How hard a reasoning model thinks [default: the model's own]
    #[arg(long, value_name = "EFFORT", value_enum, help_heading = "Model")]
    pub reasoning: Option<Reasoning>,
}

/// What in an answer ends the process with a status of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Nothing, whatever was said before
    Never,
    /// A bad verdict
    Bad,
    /// A bad verdict or a warning
    Warning,
    /// A number that no tool result contains; may be combined with one of the others
    Ungrounded,
}

/// What an answer must come with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Require {
    /// A table
    Table,
    /// A chart
    Chart,
}

/// What a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ApiFlag {
    /// The Responses API, or Chat Completions where the server has no other
    #[default]
    Auto,
    /// The Responses API
    Responses,
    /// Chat Completions
    Chat,
    /// Anthropic's Messages API; `auto` at api.anthropic.com
    Messages,
}

impl ApiFlag {
    /// The choices by name.
    pub const NAMES: [(&str, ApiFlag); 4] = [
        ("auto", ApiFlag::Auto),
        ("responses", ApiFlag::Responses),
        ("chat", ApiFlag::Chat),
        ("messages", ApiFlag::Messages),
    ];
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

/// How hard a reasoning model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Reasoning {
    /// Little
    Low,
    /// As most questions need
    Medium,
    /// Much; slower and dearer
    High,
}

impl Reasoning {
    /// The choices by name.
    pub const NAMES: [(&str, Reasoning); 3] =
        [("low", Reasoning::Low), ("medium", Reasoning::Medium), ("high", Reasoning::High)];
}

impl From<Reasoning> for Effort {
    fn from(reasoning: Reasoning) -> Effort {
        match reasoning {
            Reasoning::Low => Effort::Low,
            Reasoning::Medium => Effort::Medium,
            Reasoning::High => Effort::High,
        }
    }
}

/// The paper of charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ChartTheme {
    /// White paper
    #[default]
    Light,
    /// Dark paper
    Dark,
}

impl ChartTheme {
    /// The choices by name.
    pub const NAMES: [(&str, ChartTheme); 2] =
        [("light", ChartTheme::Light), ("dark", ChartTheme::Dark)];
}

impl From<ChartTheme> for Theme {
    fn from(theme: ChartTheme) -> Theme {
        match theme {
            ChartTheme::Light => Theme::Light,
            ChartTheme::Dark => Theme::Dark,
        }
    }
}

/// Every format with its name and description.
pub(crate) const FORMATS: [(Format, &str, &str); 7] = [
    (Format::Text, "text", "For people: tables, charts, the reply; plain Markdown in a pipe"),
    (Format::Reply, "reply", "The text of the reply only"),
    (Format::Json, "json", "One document"),
    (Format::Jsonl, "jsonl", "One event a line, as it happens"),
    (Format::Csv, "csv", "One table, separated by commas"),
    (Format::Tsv, "tsv", "One table, separated by tabs"),
    (Format::Md, "md", "Tables, charts and the reply as Markdown"),
];

/// Returns the format with this name.
pub(crate) fn format_of(name: &str) -> Option<Format> {
    FORMATS.iter().find(|(_, it, _)| *it == name).map(|(format, _, _)| *format)
}

fn format_parser() -> impl TypedValueParser<Value = Format> {
    let values = FORMATS.map(|(_, name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(values).try_map(|name| format_of(&name).ok_or("no such format"))
}
