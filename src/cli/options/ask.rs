//! The options of `ask` and `chat`: the question, the provider, the limits, the destination of the answer.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Context;

use csv_agent_agent::AgentOptions;
use csv_agent_agent::hosted::Interpreter;
use csv_agent_agent::verdict::Gates;
use csv_agent_chart::ChartStyle;
use csv_agent_provider::{Api, BASE_URL, RemoteOptions, models};
use csv_agent_sink::Format;
use csv_agent_sink::encryption::Seal;
use csv_agent_types::conversation::{Assessment, Price};
use csv_agent_types::limits::{FIRST_EVENT, IMAGES_MAX, Limits, QUESTION_BYTES_MAX, STREAM_IDLE};
use csv_agent_types::named_file;
use csv_agent_types::redaction::Redaction;
use csv_agent_types::status::{BUILTIN, Failure, FailureKind};

use super::briefing::briefing;
use super::config::prices;
use super::interpreter::interpreter;
use super::key::KeySource;
use super::schema::answer_schema;
use super::settings::{
    API, BASE_URL_OF_MODEL, CHART_SCALE, CHART_THEME, COMPACT_AT, LANGUAGE, MAX_COST, MAX_ROUNDS,
    MAX_TOKENS, MODEL, NO_ROWS, ORGANIZATION, PROJECT, REASONING, REDACT, RETRIES, STREAM,
    Settings, THRESHOLDS, TIMEOUT, TOOL_TIMEOUT, ValueOrigin, without_password,
};
use super::{
    GlobalOptions, cluster_access, demand, demand_table_format, python_options, sandbox_options,
};
use crate::diagnostics;
use crate::environment::Environment;
use crate::errors;
use crate::flags::{AskFlags, ChatFlags, FailOn, InputForm, Require, TurnFlags};
use crate::inputs::Inputs;
use crate::terminal_graphics::Images;
use crate::tips;
use crate::tips::quoted;
use crate::value_parsers::ReportTarget;

/// The options of one `ask`.
#[derive(Debug)]
pub(crate) struct AskOptions {
    /// Not blank.
    pub question: String,
    /// Image files of the question.
    pub images: Vec<PathBuf>,
    /// The number of the reading to answer it by.
    pub pick: Option<u32>,
    /// How to answer it.
    pub turn: TurnOptions,
    /// Whether to only show the first request.
    pub dry_run: bool,
}

/// The options of one `chat`.
#[derive(Debug)]
pub(crate) struct ChatOptions {
    /// The first question, if it is on the command line. Not blank.
    pub question: Option<String>,
    /// The format of questions in a pipe.
    pub input: InputForm,
    /// The home directory, for `~` in paths.
    pub home: Option<PathBuf>,
    /// How to answer each question.
    pub turn: TurnOptions,
}

/// How to answer questions.
#[derive(Debug)]
pub(crate) struct TurnOptions {
    /// The options of every command: the session, the format, the terminal.
    pub global: GlobalOptions,
    pub agent: AgentOptions,
    pub provider: ProviderChoice,
    /// The cassette to write.
    pub record: Option<PathBuf>,
    /// Files, directories and patterns to ingest first; `-` is stdin.
    pub files: Vec<PathBuf>,
    /// Whether the session is temporary.
    pub ephemeral: bool,
    /// The destination of the answer.
    pub answer: AnswerOptions,
}

#[derive(Debug)]
pub(crate) enum ProviderChoice {
    /// A server, and the source of its key, which is not fetched yet.
    Remote(RemoteOptions, KeySource),
    /// A cassette.
    Replay(PathBuf),
    /// The built-in analyst.
    Builtin,
}

/// The destination of the answer.
#[derive(Debug, Default)]
pub(crate) struct AnswerOptions {
    /// A file instead of stdout.
    pub output: Option<PathBuf>,
    /// An additional destination for JSONL events.
    pub events: Option<EventsTarget>,
    /// The table that CSV and TSV write; the last when None.
    pub table: Option<String>,
    /// Whether JSON also contains absolute paths.
    pub abs_paths: bool,
    /// The directory for charts, instead of the turn's own.
    pub charts: Option<PathBuf>,
    /// How charts are shown on a terminal.
    pub images: Images,
    /// Whether responses are streamed.
    pub stream: bool,
    /// Whether the turn's files remain after the process ends.
    pub keeps_files: bool,
    /// Encryption of rows in JSONL events.
    pub seal: Seal,
    /// Reports for CI systems; None unless requested.
    pub reports: Option<ReportOptions>,
    /// The price of tokens, for the live line.
    pub price: Option<Price>,
    /// How to pick one of the readings that a reply offers.
    pub pick_hint: &'static str,
}

/// The reports of a turn.
#[derive(Debug)]
pub(crate) struct ReportOptions {
    /// At least one.
    pub targets: Vec<ReportTarget>,
    /// The severity from which a finding fails the check.
    pub fails_from: Assessment,
    /// Whether a number that no tool result contains fails the check.
    pub fails_ungrounded: bool,
    /// `GITHUB_STEP_SUMMARY`.
    pub summary: Option<PathBuf>,
}

/// An additional destination for JSONL events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EventsTarget {
    /// A file, which is overwritten.
    File(PathBuf),
    /// A descriptor opened by the caller; 2 or above.
    Descriptor(u32),
}

impl AskOptions {
    /// Resolves `ask`. Reads the question from stdin or a file when it is not on the command line. Fails when
    /// there is no question, stdin would be read twice, or a setting is invalid.
    pub(crate) fn resolve(
        flags: AskFlags,
        global: GlobalOptions,
        settings: &Settings,
    ) -> anyhow::Result<AskOptions> {
        let global = global.for_file(flags.output.as_deref(), &["txt"])?;
        demand_table_format(global.format, flags.table.as_deref())?;
        let asked = QuestionSource::of(&flags, global.terminal.stdin_is_tty)?;
        let dry_run = flags.dry_run;
        if IMAGES_MAX < flags.image.len() {
            let message = format!(
                "there are {} images; the limit of a question is {IMAGES_MAX}",
                flags.image.len()
            );
            return Err(Failure::usage(message).into());
        }
        let images = flags.image;
        let mut turn = TurnOptions::resolve(flags.turn, global, settings)?;
        if flags.pick.is_some() && !matches!(turn.provider, ProviderChoice::Builtin) {
            let message = "`--pick`: only the built-in analyst offers readings to pick from";
            let hint = "leave out `--pick`, or ask the built-in analyst with `--model builtin`";
            return Err(Failure::usage(message).hint(hint).into());
        }
        turn.answer.output = flags.output.filter(|it| it != Path::new("-"));
        turn.agent.gates.table.clone_from(&flags.table);
        turn.answer.table = flags.table;
        if !flags.report.is_empty() {
            turn.agent.gates.verdict = true;
            turn.answer.reports = Some(reports(flags.report, &turn, settings.environment())?);
        }
        let question = match asked {
            QuestionSource::Here(question) => question,
            QuestionSource::InFile(path) => read_file(&path)?,
            QuestionSource::OnStdin => read_question(std::io::stdin(), "stdin")?,
        };
        Ok(AskOptions { question: not_blank(question)?, images, pick: flags.pick, turn, dry_run })
    }
}

/// The source of the question. Errors are reported before anything is read.
enum QuestionSource {
    Here(String),
    InFile(PathBuf),
    OnStdin,
}

impl QuestionSource {
    fn of(flags: &AskFlags, stdin_is_tty: bool) -> anyhow::Result<QuestionSource> {
        let dash = Path::new("-");
        match (asked(&flags.question)?, &flags.question_file) {
            (Some(question), _) if question != "-" => {
                Ok(QuestionSource::Here(not_blank(question)?))
            }
            (None, Some(path)) if path != dash => Ok(QuestionSource::InFile(path.clone())),
            _ if flags.turn.file.iter().any(|it| it == dash) => Err(stdin_twice().into()),
            (None, None) if stdin_is_tty => Err(no_question().into()),
            _ => Ok(QuestionSource::OnStdin),
        }
    }
}

impl ChatOptions {
    /// Resolves `chat`. Fails when the first question is blank, stdin would be read twice, or a setting is
    /// invalid.
    pub(crate) fn resolve(
        flags: ChatFlags,
        global: GlobalOptions,
        settings: &Settings,
    ) -> anyhow::Result<ChatOptions> {
        let mut turn = TurnOptions::resolve(flags.turn, global, settings)?;
        turn.answer.pick_hint = "answer with the number of a reading, or ask with more words";
        if turn.files.iter().any(|it| it.as_os_str() == "-") {
            return Err(stdin_twice().into());
        }
        Ok(ChatOptions {
            question: asked(&flags.question)?.map(not_blank).transpose()?,
            input: flags.input,
            home: settings.environment().home.clone(),
            turn,
        })
    }
}

impl TurnOptions {
    /// Returns the data that the user named.
    pub(crate) fn inputs(&self) -> Inputs<'_> {
        let needs_all = self.agent.gates.fail_on.is_some();
        Inputs { files: &self.files, datasets: &self.agent.datasets, needs_all, statement: None }
    }

    /// Resolves how questions are answered.
    pub(crate) fn resolve(
        flags: TurnFlags,
        global: GlobalOptions,
        settings: &Settings,
    ) -> anyhow::Result<TurnOptions> {
        let schema = flags.schema.as_deref().map(answer_schema).transpose()?.map(Rc::new);
        let stream = settings.get(&STREAM)?;
        let model = settings.get(&MODEL)?;
        let compact_at = settings.get(&COMPACT_AT)?;
        let limits = Limits {
            rounds_max: settings.get(&MAX_ROUNDS)?,
            timeout: settings.choose(&TIMEOUT)?.value,
            tokens_max: settings.choose(&MAX_TOKENS)?.value,
            cost_usd_max: settings.choose(&MAX_COST)?.value,
            // Without this, a conversation too long for the model would be refused before it is compacted.
            context_tokens_max: models::input_tokens(&model)
                .map_or(compact_at, |it| it.min(compact_at)),
            tool_timeout: settings.get(&TOOL_TIMEOUT)?,
            retries: settings.get(&RETRIES)?,
        };
        let price = price(&model, settings)?;
        let files = flags.file;
        if 1 < files.iter().filter(|it| it.as_os_str() == "-").count() {
            return Err(stdin_twice().into());
        }
        let environment = settings.environment();
        let answer = AnswerOptions {
            output: None,
            events: flags.events.as_deref().map(events_target).transpose()?,
            table: None,
            // The path of a temporary session is not known to the user.
            abs_paths: flags.abs_paths || flags.ephemeral,
            charts: flags.charts,
            images: Images::of(settings)?,
            stream,
            keeps_files: !flags.ephemeral,
            reports: None,
            price,
            pick_hint: "pick a reading with `--pick N`, or ask with more words",
            seal: Seal::from_settings(environment.event_encrypt, environment.event_key.as_deref())?,
        };
        let briefing = briefing(settings, &global.session.dir)?;
        let theme = settings.get(&CHART_THEME)?;
        let chart_style = ChartStyle { theme, scale: settings.get(&CHART_SCALE)? };
        let (fail_on, ungrounded) = gates(&flags.fail_on);
        if fail_on.is_some()
            && briefing.thresholds.is_empty()
            && let Some(message) = settings.ignored(&THRESHOLDS)
        {
            // Without them, the gate would pass whatever the values are.
            let hint = "name the thresholds with `--thresholds FILE`";
            return Err(Failure::setup(message).hint(hint).into());
        }
        // Named columns are withheld, whatever the other settings are.
        let columns = settings.choose(&REDACT)?.value.unwrap_or_default().into_iter();
        let columns = columns.chain(flags.redact.iter().cloned()).collect();
        let withheld = Redaction { columns, rows: settings.get(&NO_ROWS)? };
        let container = (flags.container.as_deref(), flags.tool_choice);
        let interpreter = interpreter(container, settings, &withheld)?;
        let asked =
            Demands { chain: flags.chain, schema: schema.is_some(), interpreter: &interpreter };
        let provider = match flags.replay {
            Some(cassette) => ProviderChoice::Replay(cassette),
            None => choose_provider(settings, &model, asked)?,
        };
        if matches!(provider, ProviderChoice::Builtin) {
            warn_unread(settings, global.terminal.stderr.colour)?;
        }
        let verdict = flags.verdict || fail_on.is_some();
        let gates = Gates {
            verdict,
            schema: schema.is_some(),
            fail_on,
            ungrounded,
            require_table: flags.require.contains(&Require::Table),
            writes_table: writes_table(&global),
            table: None,
            require_chart: flags.require.contains(&Require::Chart),
            allow_untooled: flags.allow_untooled,
        };
        let agent = AgentOptions {
            model,
            price,
            reasoning: settings.choose(&REASONING)?.value,
            limits,
            gates,
            python: python_options(settings)?,
            sandbox: sandbox_options(demand(settings)?, settings)?,
            interpreter,
            cluster: cluster_access(environment),
            datasets: flags.dataset,
            fresh: flags.fresh,
            briefing,
            chart_style,
            schema,
            withheld,
            redact: flags.redact,
            exit_codes: errors::exit_code,
        };
        let (record, ephemeral) = (flags.record, flags.ephemeral);
        Ok(TurnOptions { global, agent, provider, record, files, ephemeral, answer })
    }
}

/// Returns whether the answer is written as one table.
fn writes_table(global: &GlobalOptions) -> bool {
    matches!(global.format, Format::Csv | Format::Tsv)
}

/// A model with its provider.
#[derive(Debug)]
pub(crate) struct ModelChoice {
    /// The user's name for it.
    pub model: String,
    /// The price of its tokens, if a file sets one.
    pub price: Option<Price>,
    pub provider: ProviderChoice,
}

impl TurnOptions {
    /// Returns a model with its provider. Fails when a cassette is played or recorded, and where the flag
    /// `--model` would.
    pub(crate) fn choose_model(
        &self,
        model: &str,
        settings: &Settings,
    ) -> anyhow::Result<ModelChoice> {
        if self.record.is_some() || matches!(self.provider, ProviderChoice::Replay(_)) {
            let message = "cannot change the model: a cassette belongs to one model";
            let hint = "start a chat without `--record` and `--replay`";
            return Err(Failure::usage(message).hint(hint).into());
        }
        let chain = matches!(&self.provider, ProviderChoice::Remote(remote, _) if remote.chain);
        let flags = settings.flags_with_model(model);
        let settings = settings.with(&flags);
        let asked = Demands {
            chain,
            schema: self.agent.schema.is_some(),
            interpreter: &self.agent.interpreter,
        };
        let provider = choose_provider(&settings, model, asked)?;
        Ok(ModelChoice { model: model.to_owned(), price: price(model, &settings)?, provider })
    }

    /// Replaces the current model, and returns the previous one.
    pub(crate) fn put_model(&mut self, choice: ModelChoice) -> ModelChoice {
        ModelChoice {
            model: std::mem::replace(&mut self.agent.model, choice.model),
            price: std::mem::replace(&mut self.agent.price, choice.price),
            provider: std::mem::replace(&mut self.provider, choice.provider),
        }
    }
}

/// Returns the verdict from which the process fails, and whether ungrounded numbers make it fail. Of
/// conflicting flags, the last applies.
fn gates(given: &[FailOn]) -> (Option<Assessment>, bool) {
    given.iter().fold((None, false), |(level, ungrounded), it| match it {
        FailOn::Never => (None, false),
        FailOn::Bad => (Some(Assessment::Bad), ungrounded),
        FailOn::Warning => (Some(Assessment::Warning), ungrounded),
        FailOn::Ungrounded => (level, true),
    })
}

/// Checks that no two reports share one file. Fails with `FailureKind::Usage` when two do.
pub(crate) fn demand_apart(targets: &[ReportTarget]) -> anyhow::Result<()> {
    let files: Vec<&PathBuf> = targets.iter().filter_map(|it| it.file.as_ref()).collect();
    if let Some(twice) = (1..files.len()).find(|it| files[..*it].contains(&files[*it])) {
        let message = format!("two reports would be written to `{}`", files[twice].display());
        return Err(Failure::usage(message).hint("give each its own file").into());
    }
    Ok(())
}

fn reports(
    targets: Vec<ReportTarget>,
    turn: &TurnOptions,
    environment: &Environment,
) -> anyhow::Result<ReportOptions> {
    demand_apart(&targets)?;
    Ok(ReportOptions {
        targets,
        fails_from: turn.agent.gates.fail_on.unwrap_or(Assessment::Bad),
        fails_ungrounded: turn.agent.gates.ungrounded,
        summary: environment.step_summary.clone(),
    })
}

/// A cost limit requires a known price.
fn price(model: &str, settings: &Settings) -> anyhow::Result<Option<Price>> {
    if model == BUILTIN {
        // It is free.
        return Ok(None);
    }
    let price = prices::price_of(model, settings)?;
    let bound = settings.choose(&MAX_COST)?;
    if price.is_some() || bound.value.is_none() {
        return Ok(price);
    }
    let message =
        format!("the {} limits the cost, but the price of `{model}` is not known", bound.origin);
    let hint = format!(
        "add the price to your configuration, in USD for a million tokens: `[prices.\"{model}\"]` \
         with `input`, \
         `cached_input` and `output`"
    );
    Err(Failure::usage(message).hint(hint).into())
}

/// Returns the provider of a question without flags of its own. Fails when the settings name no server, or one
/// without a model.
pub(crate) fn provider(settings: &Settings) -> anyhow::Result<ProviderChoice> {
    let asked = Demands { chain: false, schema: false, interpreter: &Interpreter::Local };
    choose_provider(settings, &settings.get(&MODEL)?, asked)
}

/// Required features of a provider.
#[derive(Debug, Clone, Copy)]
struct Demands<'a> {
    chain: bool,
    schema: bool,
    interpreter: &'a Interpreter,
}

impl Demands<'_> {
    /// Rejects a provider to which a tool does not belong.
    fn check(&self, kind: &str) -> Result<(), Failure> {
        self.interpreter.hosted_tools().iter().try_for_each(|it| it.check_provider(kind))
    }
}

fn choose_provider(
    settings: &Settings,
    model: &str,
    asked: Demands,
) -> anyhow::Result<ProviderChoice> {
    if model == BUILTIN {
        return builtin(settings, asked);
    }
    // Who meant the analyst did not mean to send anything.
    let plain = model.to_lowercase().replace(['-', '_', ' '], "");
    if strsim::osa_distance(&plain, BUILTIN) <= 1
        && settings.choose(&BASE_URL_OF_MODEL)?.origin == ValueOrigin::Default
    {
        let message = format!("there is no model `{model}`");
        let hint = format!("did you mean `{BUILTIN}`, the analyst inside csv-agent?");
        return Err(Failure::usage(message).hint(hint).into());
    }
    remote(settings, asked)
}

/// Warns about flags that the built-in analyst does not read.
fn warn_unread(settings: &Settings, colour: bool) -> anyhow::Result<()> {
    if let ValueOrigin::Flag(flag) = settings.choose(&LANGUAGE)?.origin {
        let message =
            format!("`{flag}` has no effect: the built-in analyst answers in English only");
        diagnostics::warning(&message, colour);
    }
    Ok(())
}

/// Rejects options for servers, so that the analyst is not mistaken for one.
fn builtin(settings: &Settings, asked: Demands) -> anyhow::Result<ProviderChoice> {
    asked.check(BUILTIN)?;
    if asked.schema {
        let message = "`--schema`: the built-in analyst answers only in sentences";
        let hint = "name a model with `--model NAME`, or use `--json`, which has the tables of an \
                    answer as data";
        return Err(Failure::usage(message).hint(hint).into());
    }
    let base_url = settings.choose(&BASE_URL_OF_MODEL)?.origin;
    let flag = match base_url {
        ValueOrigin::Flag(name) => Some(name),
        _ => asked.chain.then_some("--chain"),
    };
    let Some(flag) = flag else { return Ok(ProviderChoice::Builtin) };
    let message = format!("`{flag}`: the built-in analyst uses no server");
    let hint = format!("leave out `{flag}`, or name a model of the server with `--model NAME`");
    Err(Failure::usage(message).hint(hint).into())
}

/// Whether a key is required is not decided here: a local server may need none.
fn remote(settings: &Settings, asked: Demands) -> anyhow::Result<ProviderChoice> {
    let chosen = settings.choose(&BASE_URL_OF_MODEL)?;
    let base_url = chosen.value.unwrap_or_default();
    if !(base_url.starts_with("http://") || base_url.starts_with("https://")) {
        let (origin, status) = match chosen.origin {
            ValueOrigin::Flag(name) => (name.to_owned(), FailureKind::Usage),
            ValueOrigin::Variable(name) => (name.to_owned(), FailureKind::Setup),
            origin => (origin.to_string(), FailureKind::Setup),
        };
        let shown = without_password(&base_url);
        let message = format!("{origin}: `{shown}` is not a valid URL of a server");
        let hint = format!("write it with its scheme, such as `{BASE_URL}`");
        return Err(Failure::new(status, message).hint(hint).into());
    }
    if chosen.origin.is_built_in() && settings.choose(&MODEL)?.origin == ValueOrigin::Default {
        // The default model belongs to another server.
        let message = "the profile `local` names a server, but no model";
        let hint = "add `--model NAME`, or `model = \"NAME\"` to `[profiles.local]`";
        return Err(Failure::usage(message).hint(hint).into());
    }
    let model = settings.get(&MODEL)?;
    if model.starts_with("claude") && chosen.origin == ValueOrigin::Default {
        let message = format!("`{model}` is a model of Anthropic, but the server is {BASE_URL}");
        let hint =
            "add `--base-url https://api.anthropic.com`; the key comes from `ANTHROPIC_API_KEY`";
        return Err(Failure::usage(message).hint(hint).into());
    }
    let (key, _) = KeySource::choose(settings)?;
    let api: Option<Api> = settings.get(&API)?.into();
    asked.check(api.unwrap_or_default().name())?;
    if let Some(api) = api.filter(|it| asked.chain && *it != Api::Responses) {
        let message = format!("`--chain`: the {} does not store responses", api.title());
        let hint = "leave out `--chain`, or use `--api responses`";
        return Err(Failure::usage(message).hint(hint).into());
    }
    let options = RemoteOptions {
        base_url,
        api,
        key: None,
        organization: settings.choose(&ORGANIZATION)?.value,
        project: settings.choose(&PROJECT)?.value,
        chain: asked.chain,
        hosts: !asked.interpreter.hosted_tools().is_empty(),
        stream: settings.get(&STREAM)?,
        retries: settings.get(&RETRIES)?,
        first_event: FIRST_EVENT,
        idle: STREAM_IDLE,
    };
    Ok(ProviderChoice::Remote(options, key))
}

fn events_target(text: &str) -> anyhow::Result<EventsTarget> {
    let Some(number) = text.strip_prefix("fd:") else {
        let path = PathBuf::from(text);
        let dir = path.parent().filter(|it| !it.as_os_str().is_empty() && !it.is_dir());
        if let Some(dir) = dir {
            let (reason, hint) = match dir.ancestors().find(|it| it.is_file()) {
                Some(file) => (
                    format!("`{}` is a file, not a directory", file.display()),
                    "name another file with `--events`".to_owned(),
                ),
                None => (
                    format!("there is no directory `{}`", dir.display()),
                    format!("make it with `mkdir -p {}`", tips::quoted(&dir.to_string_lossy())),
                ),
            };
            let message = format!("cannot write events to `{text}`: {reason}");
            return Err(Failure::input(message).hint(hint).into());
        }
        return Ok(EventsTarget::File(path));
    };
    match number.parse() {
        // Checked before this process opens a descriptor, which could get the same number.
        Ok(descriptor) if 2 <= descriptor && Path::new("/dev/fd").join(number).exists() => {
            Ok(EventsTarget::Descriptor(descriptor))
        }
        Ok(descriptor) if 2 <= descriptor => {
            let message = format!("`--events {text}`: descriptor {descriptor} is not open");
            let hint = format!("open it, as in `--events {text} {descriptor}>events.jsonl`");
            Err(Failure::usage(message).hint(hint).into())
        }
        Ok(_) => {
            let message = format!("`--events {text}`: events cannot be written to stdin or stdout");
            let hint =
                "use `--events fd:3 3>events.jsonl`, or `--format jsonl` for events on stdout";
            Err(Failure::usage(message).hint(hint).into())
        }
        Err(_) => {
            let message = format!("`--events {text}`: `{number}` is not a valid file descriptor");
            let hint = "use `--events fd:3 3>events.jsonl`";
            Err(Failure::usage(message).hint(hint).into())
        }
    }
}

fn read_file(path: &Path) -> anyhow::Result<String> {
    let file = named_file::open(path)
        .map_err(|reason| Failure::input(format!("cannot open `{}`: {reason}", path.display())))?;
    read_question(file, &format!("`{}`", path.display()))
}

/// Reads a question to its end, without a BOM or surrounding white space.
fn read_question(from: impl Read, shown_name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let mut bounded = from.take(QUESTION_BYTES_MAX as u64 + 1);
    bounded.read_to_end(&mut bytes).with_context(|| format!("cannot read {shown_name}"))?;
    if QUESTION_BYTES_MAX < bytes.len() {
        let message =
            format!("the question in {shown_name} is longer than {QUESTION_BYTES_MAX} bytes");
        let hint = "add data with `-f FILE`, or with `-f -` from stdin";
        return Err(Failure::usage(message).hint(hint).into());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.trim_start_matches('\u{feff}').trim().to_owned()),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let message = format!("cannot read the question in {shown_name} as UTF-8: byte {at}");
            let hint = "convert it first, such as with `iconv -t utf-8`";
            Err(Failure::usage(message).hint(hint).into())
        }
    }
}

/// Returns the question that was given as one word or several. Fails when it begins with a file, which a flag should
/// have named.
fn asked(words: &[String]) -> anyhow::Result<Option<String>> {
    if let [file, rest @ ..] = words
        && (!rest.is_empty() || file.contains('.'))
        && Path::new(file).is_file()
    {
        let message = format!("the question begins with `{file}`, which is a file");
        let hint = format!("name each file with its own flag: `-f {}`", quoted(file));
        return Err(Failure::usage(message).hint(hint).into());
    }
    Ok((!words.is_empty()).then(|| words.join(" ")))
}

fn not_blank(question: String) -> anyhow::Result<String> {
    if question.trim().is_empty() { Err(no_question().into()) } else { Ok(question) }
}

fn no_question() -> Failure {
    let hint =
        "put it in quotes after the flags, as in `csv-agent ask \"How many rows are there?\"`";
    Failure::usage("no question").hint(hint)
}

fn stdin_twice() -> Failure {
    let message = "cannot read both data and questions from stdin";
    Failure::usage(message).hint("give one of them as a file")
}

#[cfg(test)]
mod tests {
    use super::{EventsTarget, events_target, gates, not_blank, read_question};
    use crate::flags::FailOn::{Bad, Never, Ungrounded, Warning};
    use csv_agent_types::conversation::Assessment;

    #[track_caller]
    fn check(bytes: &[u8], question: Option<&str>) {
        let found = read_question(bytes, "stdin").and_then(not_blank).ok();
        assert_eq!(found.as_deref(), question);
    }

    #[test]
    fn a_question_from_a_pipe_is_trimmed_text() {
        check("\u{feff}how many rows?\n".as_bytes(), Some("how many rows?"));
        check(b" \n\t", None);
        check(b"", None);
        check(b"caf\xe9?", None);
    }

    #[test]
    fn of_gates_that_exclude_each_other_the_last_counts() {
        assert_eq!(gates(&[]), (None, false));
        assert_eq!(gates(&[Bad, Ungrounded]), (Some(Assessment::Bad), true));
        assert_eq!(gates(&[Ungrounded, Bad, Warning]), (Some(Assessment::Warning), true));
        assert_eq!(gates(&[Warning, Ungrounded, Never]), (None, false));
        assert_eq!(gates(&[Never, Ungrounded]), (None, true));
    }

    #[test]
    fn events_go_to_a_file_or_to_a_descriptor_that_is_free() {
        assert_eq!(events_target("fd:2").unwrap(), EventsTarget::Descriptor(2));
        assert_eq!(events_target("a.jsonl").unwrap(), EventsTarget::File("a.jsonl".into()));
        for text in ["fd:0", "fd:1", "fd:", "fd:-1", "fd:x", "fd:900"] {
            assert!(events_target(text).is_err(), "{text}");
        }
    }
}
