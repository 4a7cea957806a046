//! All settings: the name, the sources and the parser of each.
//!
//! A flag overrides the environment, the environment overrides the files, and these override the default. A
//! profile overrides the other settings of files. A profile named by `--profile` also overrides the
//! environment, because the user wants exactly that server.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};

use csv_agent_chart::Theme;
use csv_agent_provider::hosted::code_interpreter::MemoryTier;
use csv_agent_provider::models::DEFAULT_MODEL;
use csv_agent_provider::{BASE_URL, mask};
use csv_agent_sink::Format;
use csv_agent_types::conversation::Effort;
use csv_agent_types::status::{Failure, FailureKind};

use super::config::document::{ConfigEntry, RawValue};
use super::config::{
    ConfigFile, ConfigFiles, ConfigLevel, bad_value, own_path, path_in, prices, text,
};
use crate::environment::Environment;
use crate::flags::{
    ApiFlag, ColorChoice, GlobalFlags, ImageChoice, InterpreterChoice, OnExpired, SettingFlags,
    Worded,
};
use crate::usage::nearest;
use crate::value_parsers;

/// A local model server, as Ollama starts it; `--base-url` sets others.
pub(crate) const LOCAL: &str = "local";
const LOCAL_URL: &str = "http://127.0.0.1:11434/v1";

pub(crate) static MODEL: Setting<String> = Setting {
    flag: Some(("--model", |it| it.settings.model.clone())),
    variable: Some(("CSV_AGENT_MODEL", |it| it.model.clone())),
    default: Some(|| DEFAULT_MODEL.to_owned()),
    project: Project::May,
    ..Setting::new("model", "model to ask", string)
};
pub(crate) static BASE_URL_OF_MODEL: Setting<String> = Setting {
    flag: Some(("--base-url", |it| it.settings.base_url.clone())),
    variable: Some(("OPENAI_BASE_URL", |it| it.base_url.clone())),
    default: Some(|| BASE_URL.to_owned()),
    ..Setting::new("base_url", "URL of the model's server", string)
};
pub(crate) static API: Setting<ApiFlag> = Setting {
    flag: Some(("--api", |it| it.settings.api)),
    default: Some(|| ApiFlag::Auto),
    project: Project::May,
    ..Setting::new("api", "API of the server: auto, responses, chat, messages", word)
};
pub(crate) static API_KEY_FILE: Setting<PathBuf> = Setting {
    variable: Some(("CSV_AGENT_API_KEY_FILE", |it| it.api_key_file.clone())),
    ..Setting::new("api_key_file", "file that contains the key. Its mode must be 0600", path)
};
pub(crate) static API_KEY_CMD: Setting<Vec<String>> = Setting::new(
    "api_key_cmd",
    "command that prints the key, as an array: [\"pass\", \"show\", \"openai\"]",
    |raw, _| match raw {
        RawValue::List(words) if words.first().is_some_and(|it| !it.is_empty()) => {
            Ok(words.clone())
        }
        _ => Err("write the command and its arguments as an array of strings".to_owned()),
    },
);
pub(crate) static ORGANIZATION: Setting<String> = Setting {
    variable: Some(("OPENAI_ORG_ID", |it| it.organization.clone())),
    ..Setting::new(
        "organization",
        "organization to which the provider assigns the requests",
        string,
    )
};
pub(crate) static PROJECT: Setting<String> = Setting {
    variable: Some(("OPENAI_PROJECT_ID", |it| it.project.clone())),
    ..Setting::new("project", "project to which the provider assigns the requests", string)
};
pub(crate) static REASONING: Setting<Effort> = Setting {
    flag: Some(("--reasoning", |it| it.settings.reasoning)),
    project: Project::May,
    ..Setting::new("reasoning", "how much a reasoning model thinks: low, medium, high", worded)
};
/// Anywhere but on this machine, the datasets are uploaded.
pub(crate) static INTERPRETER: Setting<InterpreterChoice> = Setting {
    flag: Some(("--interpreter", |it| it.settings.interpreter)),
    default: Some(|| InterpreterChoice::Local),
    ..Setting::new(
        "interpreter",
        "where code runs: local, hosted, both (the last two upload the datasets)",
        word,
    )
};
/// It determines their price.
pub(crate) static CONTAINER_MEMORY: Setting<MemoryTier> = Setting {
    flag: Some(("--container-memory", |it| it.settings.container_memory)),
    default: Some(|| MemoryTier::G1),
    ..Setting::new(
        "container_memory",
        "memory of a container that csv-agent makes: 1g, 4g, 16g, 64g",
        worded,
    )
};
pub(crate) static ON_EXPIRED: Setting<OnExpired> = Setting {
    flag: Some(("--on-expired", |it| it.settings.on_expired)),
    default: Some(|| OnExpired::Error),
    project: Project::May,
    ..Setting::new(
        "on_expired",
        "what to do if the provider's container has expired: error, new",
        word,
    )
};
pub(crate) static LANGUAGE: Setting<String> = Setting {
    flag: Some(("--language", |it| it.settings.language.clone())),
    project: Project::May,
    ..Setting::new(
        "language",
        "language of the answer (default: that of the question)",
        |raw, _| value_parsers::language(text(raw)?),
    )
};
pub(crate) static KNOWLEDGE: Setting<PathBuf> = Setting {
    flag: Some(("--knowledge", |it| it.settings.knowledge.clone())),
    project: Project::MayWithin,
    ..Setting::new("knowledge", "file that describes the data to the model", path)
};
pub(crate) static THRESHOLDS: Setting<PathBuf> = Setting {
    flag: Some(("--thresholds", |it| it.settings.thresholds.clone())),
    project: Project::MayWithin,
    ..Setting::new(
        "thresholds",
        "TOML file that says which values are good, a warning or bad",
        path,
    )
};
pub(crate) static CHART_THEME: Setting<Theme> = Setting {
    flag: Some(("--chart-theme", |it| it.settings.chart_theme)),
    default: Some(|| Theme::Light),
    project: Project::May,
    ..Setting::new("chart_theme", "background of charts: light, dark", worded)
};
pub(crate) static CHART_SCALE: Setting<u32> = Setting {
    flag: Some(("--chart-scale", |it| it.settings.chart_scale)),
    default: Some(|| 1),
    project: Project::May,
    ..Setting::new("chart_scale", "resolution of PNG charts: 1, 2", |raw, _| {
        whole(raw, value_parsers::chart_scale)
    })
};
pub(crate) static IMAGES: Setting<ImageChoice> = Setting {
    flag: Some(("--images", |it| it.settings.images)),
    default: Some(|| ImageChoice::Auto),
    project: Project::May,
    ..Setting::new(
        "images",
        "how a terminal shows charts: auto, never, kitty, iterm, sixel, blocks, sketch",
        word,
    )
};
pub(crate) static STREAM: Setting<bool> = Setting {
    flag: Some(("--stream", |it| match (it.settings.stream, it.settings.no_stream) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        (false, false) => None,
    })),
    variable: Some(("ENABLE_RESPONSES_STREAMING", |it| it.stream)),
    default: Some(|| true),
    project: Project::May,
    ..Setting::new("stream", "whether to show the answer while the model writes it", switch)
};
pub(crate) static RETRIES: Setting<u32> = Setting {
    flag: Some(("--retries", |it| it.settings.retries)),
    default: Some(|| 4),
    project: Project::May,
    ..Setting::new("retries", "retries after a temporary failure of a request", |raw, _| {
        whole(raw, value_parsers::retries)
    })
};
pub(crate) static MAX_ROUNDS: Setting<u32> = Setting {
    flag: Some(("--max-rounds", |it| it.settings.max_rounds)),
    default: Some(|| 10),
    project: Project::May,
    ..Setting::new(
        "max_rounds",
        "maximum number of requests to the model per question",
        |raw, _| whole(raw, value_parsers::rounds),
    )
};
pub(crate) static TIMEOUT: Setting<Duration> = Setting {
    flag: Some(("--timeout", |it| it.settings.timeout)),
    project: Project::May,
    ..Setting::new("timeout", "time limit of a question, such as \"5m\"", |raw, _| {
        value_parsers::some_time(text(raw)?)
    })
};
pub(crate) static MAX_TOKENS: Setting<u64> = Setting {
    flag: Some(("--max-tokens", |it| it.settings.max_tokens)),
    project: Project::May,
    ..Setting::new("max_tokens", "maximum input and output tokens of a question", |raw, _| {
        whole(raw, value_parsers::tokens)
    })
};
/// A project could allow itself more than its user does.
pub(crate) static MAX_COST: Setting<f64> = Setting {
    flag: Some(("--max-cost", |it| it.settings.max_cost)),
    ..Setting::new("max_cost", "maximum cost of a question, in USD", |raw, _| match raw {
        RawValue::Whole(text) | RawValue::Fraction(text) => {
            value_parsers::usd(&text.replace('_', ""))
        }
        other => Err(format!("write a number, not {}", other.kind())),
    })
};
pub(crate) static COMPACT_AT: Setting<u64> = Setting {
    flag: Some(("--compact-at", |it| it.settings.compact_at)),
    default: Some(|| csv_agent_types::limits::CONTEXT_TOKENS_MAX),
    project: Project::May,
    ..Setting::new(
        "compact_at",
        "tokens of the conversation above which the oldest turns are summarized",
        |raw, _| whole(raw, value_parsers::context),
    )
};
pub(crate) static TOOL_TIMEOUT: Setting<Duration> = Setting {
    flag: Some(("--tool-timeout", |it| it.settings.tool_timeout)),
    default: Some(|| csv_agent_types::limits::TOOL_TIMEOUT),
    project: Project::May,
    ..Setting::new("tool_timeout", "time limit of one run of Python code", |raw, _| {
        value_parsers::some_time(text(raw)?)
    })
};
pub(crate) static MEMORY: Setting<u64> = Setting {
    flag: Some(("--memory", |it| it.settings.memory)),
    variable: Some(("CSV_AGENT_MEMORY", |it| it.memory)),
    ..Setting::new(
        "memory",
        "memory limit of Python code, such as \"8GB\" (default: half of the machine's)",
        |raw, _| value_parsers::memory(text(raw)?),
    )
};
pub(crate) static REQUIRE_SANDBOX: Setting<bool> = Setting {
    flag: Some(("--require-sandbox", |it| it.settings.require_sandbox.then_some(true))),
    default: Some(|| false),
    project: Project::MayTurnOn,
    ..Setting::new(
        "require_sandbox",
        "whether code runs only if its confinement is complete",
        switch,
    )
};
pub(crate) static ALLOW_UNCONFINED: Setting<bool> = Setting {
    flag: Some(("--allow-unconfined", |it| it.settings.allow_unconfined.then_some(true))),
    default: Some(|| false),
    ..Setting::new(
        "allow_unconfined",
        "whether code runs even if it could read and write your files",
        switch,
    )
};
/// A project could name other columns than its user does.
pub(crate) static REDACT: Setting<Vec<String>> = Setting::new(
    "redact",
    "columns whose values the model does not see, as an array; --redact adds columns",
    |raw, _| match raw {
        RawValue::List(names) => names.iter().map(|it| value_parsers::column(it)).collect(),
        _ => Err("write the names of columns as an array of strings".to_owned()),
    },
);
pub(crate) static NO_ROWS: Setting<bool> = Setting {
    flag: Some(("--no-rows", |it| it.settings.no_rows.then_some(true))),
    default: Some(|| false),
    project: Project::MayTurnOn,
    ..Setting::new("no_rows", "whether the model sees schemas and aggregates only", switch)
};
pub(crate) static PYTHON: Setting<PathBuf> = Setting {
    variable: Some(("CSV_AGENT_PYTHON", |it| it.python.clone())),
    ..Setting::new("python", "Python interpreter that has pandas, numpy and pyarrow", path)
};
pub(crate) static PYTHON_PACKAGES: Setting<Vec<String>> = Setting::new(
    "python_packages",
    "packages to add to the managed environment, as an array: [\"lifelines\"]",
    |raw, _| match raw {
        RawValue::List(names) => names.iter().map(|it| value_parsers::package(it)).collect(),
        _ => Err("write the packages as an array of strings".to_owned()),
    },
);
pub(crate) static FORMAT: Setting<Format> = Setting {
    flag: Some(("--format", |it| it.global.format.given())),
    variable: Some(("CSV_AGENT_FORMAT", |it| it.format)),
    default: Some(|| Format::Text),
    project: Project::May,
    ..Setting::new("format", "format of the answer on stdout", worded)
};
pub(crate) static COLOR: Setting<ColorChoice> = Setting {
    flag: Some(("--color", |it| it.global.color)),
    default: Some(|| ColorChoice::Auto),
    project: Project::May,
    ..Setting::new("color", "when to use color: auto, always, never", word)
};
pub(crate) static LOCK_WAIT: Setting<Duration> = Setting {
    flag: Some(("--lock-wait", |it| it.global.lock_wait)),
    default: Some(|| Duration::from_secs(30)),
    project: Project::May,
    ..Setting::new(
        "lock_wait",
        "how long to wait for another csv-agent in the same session",
        |raw, _| value_parsers::duration(text(raw)?),
    )
};
pub(crate) static PROFILE: Setting<String> = Setting {
    flag: Some(("--profile", |it| it.global.profile.clone())),
    variable: Some(("CSV_AGENT_PROFILE", |it| it.profile.clone())),
    ..Setting::new("profile", "profile whose settings override the others", string)
};
pub(crate) static TRUSTED_PROJECTS: Setting<Vec<PathBuf>> = Setting::new(
    "trusted_projects",
    "directories whose files may contain every setting; DIR/* for all below DIR",
    |raw, here| match raw {
        RawValue::List(dirs) => {
            Ok(dirs.iter().map(|it| path_in(here.dir, here.home, it)).collect())
        }
        _ => Err("write directories as an array of strings".to_owned()),
    },
);

/// Every setting, in the order of the help text.
pub(crate) static SETTINGS: &[&dyn AnySetting] = &[
    &MODEL, &BASE_URL_OF_MODEL, &API, &API_KEY_FILE, &API_KEY_CMD, &ORGANIZATION, &PROJECT,
    &REASONING, &INTERPRETER, &CONTAINER_MEMORY, &ON_EXPIRED, &LANGUAGE, &KNOWLEDGE, &THRESHOLDS,
    &CHART_THEME, &CHART_SCALE, &IMAGES, &STREAM, &RETRIES, &MAX_ROUNDS, &TIMEOUT, &MAX_TOKENS,
    &MAX_COST, &COMPACT_AT, &TOOL_TIMEOUT, &MEMORY, &REQUIRE_SANDBOX, &ALLOW_UNCONFINED, &REDACT,
    &NO_ROWS, &PYTHON, &PYTHON_PACKAGES, &FORMAT, &COLOR, &LOCK_WAIT, &PROFILE, &TRUSTED_PROJECTS,
];

/// Settings that name files or directories.
pub(crate) const PATHS: &[&str] =
    &["api_key_file", "knowledge", "thresholds", "python", "trusted_projects"];

/// Settings that are allowed outside of profiles only.
pub(crate) const WHOLE_FILE: &[&str] = &["profile", "trusted_projects"];

/// A setting: its description, its sources and its parser.
pub(crate) struct Setting<T: 'static> {
    /// Its name in a configuration file.
    pub key: &'static str,
    about: &'static str,
    flag: Option<FromFlags<T>>,
    variable: Option<FromEnvironment<T>>,
    read: ParseSetting<T>,
    default: Option<fn() -> T>,
    project: Project,
}

/// A source, after its name for users.
type FromFlags<T> = (&'static str, fn(&Flags) -> Option<T>);
type FromEnvironment<T> = (&'static str, fn(&Environment) -> Option<T>);

/// Whether a file that comes with data may set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Project {
    May,
    /// No: it redirects the key, or runs something.
    MayNot,
    /// It may increase safety, never reduce it.
    MayTurnOn,
    /// It may name a visible file of the project. Other files are off limits.
    MayWithin,
}

impl Project {
    fn mark(self) -> char {
        match self {
            Project::May => ' ',
            Project::MayWithin => '+',
            Project::MayNot | Project::MayTurnOn => '*',
        }
    }
}

/// The location of a file, for relative paths in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Here<'a> {
    dir: &'a Path,
    home: Option<&'a Path>,
}

/// The flags that are settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flags<'a> {
    /// Those of every command.
    pub global: &'a GlobalFlags,
    /// Those of commands that ask questions; all unset for others.
    pub settings: &'a SettingFlags,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ValueOrigin {
    Flag(&'static str),
    /// A profile named by a flag.
    NamedProfile(Box<ValueOrigin>),
    /// A variable of the environment.
    Variable(&'static str),
    /// A profile of a file.
    Profile(ConfigLevel, PathBuf, usize),
    /// A built-in profile.
    BuiltIn(&'static str),
    File(ConfigLevel, PathBuf, usize),
    /// Not set.
    Default,
}

impl ValueOrigin {
    /// Returns whether it is a built-in profile.
    pub(crate) fn is_built_in(&self) -> bool {
        match self {
            ValueOrigin::NamedProfile(origin) => origin.is_built_in(),
            origin => matches!(origin, ValueOrigin::BuiltIn(_)),
        }
    }
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueOrigin::Flag(name) => write!(f, "flag {name}"),
            ValueOrigin::NamedProfile(origin) => origin.fmt(f),
            ValueOrigin::Variable(name) => write!(f, "environment variable {name}"),
            ValueOrigin::Profile(place, path, line) => {
                write!(f, "profile in the {} file {}:{line}", place.name(), path.display())
            }
            ValueOrigin::BuiltIn(name) => write!(f, "built-in profile {name}"),
            ValueOrigin::File(place, path, line) => {
                write!(f, "{} file {}:{line}", place.name(), path.display())
            }
            ValueOrigin::Default => f.write_str("default"),
        }
    }
}

/// A value and its origin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chosen<T> {
    /// None when it is not set and has no default.
    pub value: Option<T>,
    pub origin: ValueOrigin,
}

/// A setting as shown by `config show`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SettingView {
    /// Its name.
    pub key: String,
    /// Null when not set. Secrets are masked.
    pub value: Value,
    pub origin: String,
}

/// A setting of any type.
pub(crate) trait AnySetting: Sync {
    /// Returns its name in a configuration file.
    fn key(&self) -> &'static str;
    /// Returns its description.
    fn about(&self) -> &'static str;
    /// Returns the flag and the variable that also set it.
    fn elsewhere(&self) -> (Option<&'static str>, Option<&'static str>);
    /// Returns the mark for what an untrusted project may set, as `help config` explains it.
    fn mark(&self) -> char;
    /// Returns whether an untrusted project may set this value. Its file is in `dir`.
    fn project_may_say(&self, value: &RawValue, dir: &Path) -> bool;
    /// Checks that this value is valid in a file. Fails with what is wrong with it.
    fn check(&self, value: &RawValue) -> Result<(), String>;
    /// Returns the effective value for display. Fails when a file has an invalid value for the setting.
    fn show(&self, settings: &Settings) -> anyhow::Result<SettingView>;
}

impl<T: Show + 'static> AnySetting for Setting<T> {
    fn key(&self) -> &'static str {
        self.key
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn elsewhere(&self) -> (Option<&'static str>, Option<&'static str>) {
        (self.flag.map(|it| it.0), self.variable.map(|it| it.0))
    }

    fn mark(&self) -> char {
        self.project.mark()
    }

    fn project_may_say(&self, value: &RawValue, dir: &Path) -> bool {
        match self.project {
            Project::May => true,
            Project::MayNot => false,
            Project::MayTurnOn => *value == RawValue::Switch(true),
            Project::MayWithin => text(value).is_ok_and(|it| is_within(dir, it)),
        }
    }

    fn check(&self, value: &RawValue) -> Result<(), String> {
        (self.read)(value, &Here { dir: Path::new("/"), home: None }).map(drop)
    }

    fn show(&self, settings: &Settings) -> anyhow::Result<SettingView> {
        let chosen = settings.choose(self)?;
        let value = chosen.value.as_ref().map_or(Value::Null, Show::show);
        Ok(SettingView { key: self.key.to_owned(), value, origin: chosen.origin.to_string() })
    }
}

type ParseSetting<T> = fn(&RawValue, &Here) -> Result<T, String>;

impl<T> Setting<T> {
    /// Returns one that only files set, which did not come with data.
    const fn new(key: &'static str, about: &'static str, read: ParseSetting<T>) -> Setting<T> {
        let project = Project::MayNot;
        Setting { key, about, read, project, flag: None, variable: None, default: None }
    }

    /// Parses an entry of a file as this setting. Fails with `FailureKind::Setup` when the value is invalid.
    pub(crate) fn read(
        &self,
        entry: &ConfigEntry,
        file: &ConfigFile,
        environment: &Environment,
    ) -> anyhow::Result<T> {
        let here = Here { dir: file.dir(), home: environment.home.as_deref() };
        (self.read)(&entry.value, &here)
            .map_err(|found| bad_value(&file.path, entry, &mask(&found, None)).into())
    }
}

/// Checks the value of a setting. Fails with what is wrong with it, without quoting a secret.
pub(crate) fn check_value(key: &str, value: &RawValue) -> Result<(), String> {
    let found = SETTINGS.iter().find(|it| it.key() == key);
    let checked = found.map_or(Ok(()), |it| it.check(value)).and_then(|()| match value {
        RawValue::Text(url) if key == BASE_URL_OF_MODEL.key => check_url(url),
        _ => Ok(()),
    });
    checked.map_err(|found| mask(&found, None))
}

fn check_url(url: &str) -> Result<(), String> {
    let has_scheme = url.starts_with("http://") || url.starts_with("https://");
    let is_url = has_scheme && csv_agent_provider::host(url).is_some();
    is_url.then_some(()).ok_or_else(|| {
        let shown = without_password(url);
        format!("`{shown}` is not a valid URL of a server; write it with its scheme, such as `{BASE_URL}`")
    })
}

/// Returns whether an untrusted project may set this value. `key` is a setting, and the file is in `dir`.
pub(crate) fn project_may_say(key: &str, value: &RawValue, dir: &Path) -> bool {
    SETTINGS.iter().any(|it| it.key() == key && it.project_may_say(value, dir))
}

/// Returns whether a setting is a path that an untrusted project may point at one of its own files.
pub(crate) fn project_may_name_a_file(key: &str) -> bool {
    SETTINGS.iter().any(|it| it.key() == key && it.mark() == Project::MayWithin.mark())
}

/// Returns whether a path refers to a file below `dir`, even through links, or to no file. Hidden files
/// there are private: `.env`, `.git/config`, `.netrc`.
fn is_within(dir: &Path, text: &str) -> bool {
    let is_plain = |it: &Path| {
        let is_shown = |it: &OsStr| !it.as_encoded_bytes().starts_with(b".");
        it.components().all(|it| match it {
            Component::Normal(name) => is_shown(name),
            Component::CurDir => true,
            _ => false,
        })
    };
    !text.starts_with('~')
        && is_plain(Path::new(text))
        && match (dir.canonicalize(), dir.join(text).canonicalize()) {
            (Ok(dir), Ok(path)) => path.strip_prefix(dir).is_ok_and(is_plain),
            _ => true,
        }
}

/// All sources of settings.
#[derive(Clone, Copy)]
pub(crate) struct Settings<'a> {
    flags: Flags<'a>,
    environment: &'a Environment,
    files: &'a ConfigFiles,
}

impl<'a> Settings<'a> {
    /// Returns the flags of every command.
    pub(crate) fn global_flags(&self) -> &'a GlobalFlags {
        self.flags.global
    }

    /// Combines the sources and checks all values, including overridden ones. Fails with `FailureKind::Setup`
    /// when a file has an invalid value, or the profile does not exist; in the latter case with
    /// `FailureKind::Usage` if a flag names it.
    pub(crate) fn check(
        flags: Flags<'a>,
        environment: &'a Environment,
        files: &'a ConfigFiles,
    ) -> anyhow::Result<Settings<'a>> {
        let settings = Settings { flags, environment, files };
        settings.check_profile()?;
        for setting in SETTINGS {
            setting.show(&settings)?;
        }
        prices::all(&settings)?;
        Ok(settings)
    }

    /// Returns whether the flag `--no-input` was given.
    pub(crate) fn no_input(&self) -> bool {
        self.flags.global.no_input
    }

    /// Returns the flags as if `--model` had named this model.
    pub(crate) fn flags_with_model(&self, model: &str) -> SettingFlags {
        SettingFlags { model: Some(model.to_owned()), ..self.flags.settings.clone() }
    }

    /// Returns the same settings with other flags.
    pub(crate) fn with<'b>(&self, flags: &'b SettingFlags) -> Settings<'b>
    where
        'a: 'b,
    {
        Settings { flags: Flags { settings: flags, ..self.flags }, ..*self }
    }

    /// Returns the path of the user's own configuration file. Fails with `FailureKind::Setup` when there is no
    /// home directory and no file is named.
    pub(crate) fn own_path(&self) -> anyhow::Result<PathBuf> {
        own_path(self.flags.global, self.environment)?.ok_or_else(|| {
            let message = "there is no configuration file of your own: `HOME` is not set";
            Failure::setup(message).hint("name a file with `--config FILE`").into()
        })
    }

    /// Returns the line width from `--width`.
    pub(crate) fn width(&self) -> Option<u16> {
        self.flags.global.width
    }

    /// Returns why a setting in a file is ignored, if it is.
    pub(crate) fn ignored<T>(&self, setting: &Setting<T>) -> Option<&'a str> {
        let mut warnings = self.files.warnings.iter();
        let found = warnings.find(|it| it.keys.iter().any(|key| key == setting.key));
        found.map(|it| it.message.as_str())
    }

    /// Returns the files in use.
    pub(crate) fn files(&self) -> &'a [ConfigFile] {
        &self.files.files
    }

    pub(crate) fn environment(&self) -> &'a Environment {
        self.environment
    }

    pub(crate) fn get<T: Default>(&self, setting: &Setting<T>) -> anyhow::Result<T> {
        Ok(self.choose(setting)?.value.unwrap_or_default())
    }

    /// Returns the value of a setting, if set, and its origin. Fails with `FailureKind::Setup` when a file has
    /// an invalid value for the setting.
    pub(crate) fn choose<T>(&self, setting: &Setting<T>) -> anyhow::Result<Chosen<T>> {
        let mut said: Vec<Chosen<T>> = Vec::new();
        let mut say = |value: Option<T>, origin: ValueOrigin| {
            said.extend(value.map(|it| Chosen { value: Some(it), origin }));
        };
        if let Some((name, flag)) = setting.flag {
            say(flag(&self.flags), ValueOrigin::Flag(name));
        }
        if let Some((name, variable)) = setting.variable {
            say(variable(self.environment), ValueOrigin::Variable(name));
        }
        // A setting also selects the profile, and no profile can change that.
        let profile = if setting.key == PROFILE.key { None } else { self.profile()? };
        for file in &self.files.files {
            let at = |line| (file.place, file.path.clone(), line);
            for entry in file.document.entries.iter().filter(|it| it.key == setting.key) {
                let (place, path, line) = at(entry.line);
                let value = setting.read(entry, file, self.environment)?;
                say(Some(value), ValueOrigin::File(place, path, line));
            }
            let Some((name, is_flag)) = &profile else { continue };
            let entries = file.document.profiles.get(name).into_iter().flatten();
            for entry in entries.filter(|it| it.key == setting.key) {
                let (place, path, line) = at(entry.line);
                let value = setting.read(entry, file, self.environment)?;
                say(Some(value), named(*is_flag, ValueOrigin::Profile(place, path, line)));
            }
        }
        if let Some((name, is_flag)) = profile
            && name == LOCAL
            && setting.key == BASE_URL_OF_MODEL.key
        {
            let here = Here { dir: Path::new("/"), home: None };
            let value = (setting.read)(&RawValue::Text(LOCAL_URL.to_owned()), &here).ok();
            say(value, named(is_flag, ValueOrigin::BuiltIn(LOCAL)));
        }
        let first = said.into_iter().min_by(|a, b| a.origin.cmp(&b.origin));
        let default =
            || Chosen { value: setting.default.map(|it| it()), origin: ValueOrigin::Default };
        Ok(first.unwrap_or_else(default))
    }

    /// Returns whether the active profile is that of a local server.
    pub(crate) fn is_local(&self) -> anyhow::Result<bool> {
        Ok(self.profile()?.is_some_and(|(name, _)| name == LOCAL))
    }

    /// Returns the active profile, and whether a flag names it.
    fn profile(&self) -> anyhow::Result<Option<(String, bool)>> {
        let Chosen { value, origin } = self.choose(&PROFILE)?;
        Ok(value.map(|it| (it, matches!(origin, ValueOrigin::Flag(_)))))
    }

    fn check_profile(&self) -> anyhow::Result<()> {
        let Some((name, is_flag)) = self.profile()? else { return Ok(()) };
        let in_files = self.files.files.iter().flat_map(|it| it.document.profiles.keys());
        let mut known: Vec<String> = in_files.cloned().chain([LOCAL.to_owned()]).collect();
        if known.contains(&name) {
            return Ok(());
        }
        known.sort();
        known.dedup();
        let hint = match nearest(&name, &known).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("the profiles are `{}`; see `csv-agent help config`", known.join("`, `"))
            }
        };
        let status = if is_flag { FailureKind::Usage } else { FailureKind::Setup };
        Err(Failure::new(status, format!("no profile `{name}`")).hint(hint).into())
    }
}

fn named(is_flag: bool, origin: ValueOrigin) -> ValueOrigin {
    if is_flag { ValueOrigin::NamedProfile(Box::new(origin)) } else { origin }
}

fn string(raw: &RawValue, _: &Here) -> Result<String, String> {
    text(raw).map(str::to_owned)
}

fn path(raw: &RawValue, here: &Here) -> Result<PathBuf, String> {
    text(raw).map(|it| path_in(here.dir, here.home, it))
}

fn switch(raw: &RawValue, _: &Here) -> Result<bool, String> {
    match raw {
        RawValue::Switch(it) => Ok(*it),
        other => Err(format!("write true or false, not {}", other.kind())),
    }
}

fn whole<T>(raw: &RawValue, read: fn(&str) -> Result<T, String>) -> Result<T, String> {
    match raw {
        RawValue::Whole(digits) => read(digits),
        other => Err(format!("write a whole number, not {}", other.kind())),
    }
}

fn word<T: ValueEnum>(raw: &RawValue, _: &Here) -> Result<T, String> {
    let name = text(raw)?;
    T::from_str(name, false)
        .map_err(|_| format!("`{name}` is not one of {}", words::<T>().join(", ")))
}

fn worded<T: Worded>(raw: &RawValue, _: &Here) -> Result<T, String> {
    let name = text(raw)?;
    T::of_word(name).ok_or_else(|| format!("`{name}` is not one of {}", T::words().join(", ")))
}

/// Returns the words that a flag takes.
pub(crate) fn words<T: ValueEnum>() -> Vec<String> {
    T::value_variants().iter().filter_map(word_of).collect()
}

fn word_of<T: ValueEnum>(value: &T) -> Option<String> {
    value.to_possible_value().map(|it| it.get_name().to_owned())
}

/// A value for display. Potential secrets are masked.
pub(crate) trait Show {
    /// Returns the value for people and programs.
    fn show(&self) -> Value;
}

impl Show for String {
    fn show(&self) -> Value {
        mask(&without_password(self), None).into()
    }
}

macro_rules! show_as_json {
    ($($type:ty),+) => {
        $(impl Show for $type {
            fn show(&self) -> Value {
                json!(self)
            }
        })+
    };
}

show_as_json!(bool, u32, u64, f64);

impl Show for PathBuf {
    fn show(&self) -> Value {
        self.display().to_string().into()
    }
}

impl<T: Show> Show for Vec<T> {
    fn show(&self) -> Value {
        self.iter().map(Show::show).collect()
    }
}

impl Show for Duration {
    fn show(&self) -> Value {
        let (secs, millis) = (self.as_secs(), self.subsec_millis());
        let text = match (secs, millis) {
            (secs, 0) if 0 < secs && secs % 3600 == 0 => format!("{}h", secs / 3600),
            (secs, 0) if 0 < secs && secs % 60 == 0 => format!("{}m", secs / 60),
            (secs, 0) => format!("{secs}s"),
            (0, millis) => format!("{millis}ms"),
            (secs, millis) => format!("{secs}s{millis}ms"),
        };
        text.into()
    }
}

macro_rules! show_worded {
    ($($choice:ty),+) => {
        $(impl Show for $choice {
            fn show(&self) -> Value {
                json!(self.word())
            }
        })+
    };
}

show_worded!(Effort, Format, MemoryTier, Theme);

macro_rules! show_words {
    ($($choice:ty),+) => {
        $(impl Show for $choice {
            fn show(&self) -> Value {
                json!(word_of(self))
            }
        })+
    };
}

show_words!(ApiFlag, ColorChoice, ImageChoice, InterpreterChoice, OnExpired);

/// Returns a URL without a user and password; any other text unchanged.
pub(crate) fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://***@{}", &rest[at + 1..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "settings/tests.rs"]
mod tests;
