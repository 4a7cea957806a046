//! The process's environment: the variables that csv-agent reads.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use csv_agent_sink::Format;
use csv_agent_types::status::Failure;
use csv_agent_worker::sandbox::Layer;

use super::flags::Worded;
use super::value_parsers;

/// Values of `TERM` for terminals on which no line can be written over.
const DUMB_TERMS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// The variables that pip gets; the proxies in both spellings.
const PIP_VARIABLES: &[&str] = &[
    "HOME",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
    "PIP_TRUSTED_HOST",
    "PIP_CERT",
    "PIP_PROXY",
    "PIP_CONFIG_FILE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "TMPDIR",
];
pub(crate) const PROXY_VARIABLES_LOWER: &[&str] =
    &["https_proxy", "http_proxy", "all_proxy", "no_proxy"];

/// What the environment says. An empty value counts as unset.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a variable of its own")]
pub(crate) struct Environment {
    /// `OPENAI_API_KEY`. Never shown.
    pub api_key: Option<String>,
    /// `ANTHROPIC_API_KEY`. Never shown.
    pub anthropic_api_key: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub base_url: Option<String>,
    /// `OPENAI_ORG_ID`.
    pub organization: Option<String>,
    /// `OPENAI_PROJECT_ID`.
    pub project: Option<String>,
    /// `ENABLE_RESPONSES_STREAMING`.
    pub stream: Option<bool>,
    /// `CSV_AGENT_API_KEY_FILE`.
    pub api_key_file: Option<PathBuf>,
    /// `CSV_AGENT_MODEL`.
    pub model: Option<String>,
    /// `CSV_AGENT_FORMAT`.
    pub format: Option<Format>,
    /// `CSV_AGENT_CONFIG`.
    pub config: Option<PathBuf>,
    /// `CSV_AGENT_PROFILE`.
    pub profile: Option<String>,
    /// `CSV_AGENT_SESSION_DIR`.
    pub session_dir: Option<PathBuf>,
    /// `DATA_ROOT`.
    pub data_root: Option<PathBuf>,
    /// `DATA_EVENT_ENCRYPT`.
    pub event_encrypt: bool,
    /// `DATA_EVENT_KEY`. Never shown.
    pub event_key: Option<String>,
    /// `SPARK_CONNECT_AUTHENTICATE_TOKEN`. Never shown.
    pub spark_token: Option<String>,
    /// `SPARK_REMOTE`. Never shown: it may have a token.
    pub spark_remote: Option<String>,
    /// `GITHUB_STEP_SUMMARY`.
    pub step_summary: Option<PathBuf>,
    /// `CSV_AGENT_PYTHON`.
    pub python: Option<PathBuf>,
    /// `CSV_AGENT_LAUNCHER`.
    pub launcher: Option<PathBuf>,
    /// `CSV_AGENT_MEMORY`, in bytes.
    pub memory: Option<u64>,
    /// `CSV_AGENT_SANDBOX_WITHOUT`.
    pub sandbox_without: Vec<Layer>,
    /// `VIRTUAL_ENV`.
    pub virtual_env: Option<PathBuf>,
    /// `PATH`.
    pub path: OsString,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, when it is absolute.
    pub config_home: Option<PathBuf>,
    /// `VISUAL`.
    pub visual: Option<String>,
    /// `EDITOR`.
    pub editor: Option<String>,
    /// `XDG_CACHE_HOME`, when it is absolute, as its specification demands.
    pub cache_home: Option<PathBuf>,
    /// `NO_COLOR` has a value.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` has a value other than 0.
    pub clicolor_force: bool,
    /// `CLICOLOR` is not 0.
    pub clicolor: bool,
    /// `TERM` names a terminal that can do nothing but print.
    pub term_is_dumb: bool,
    /// What the terminal is called.
    pub terminal: TerminalNames,
    /// `COLUMNS`, when it is a number above 0.
    pub columns: Option<u16>,
    /// What pip is given beyond a clean environment.
    pub pip: Vec<(OsString, OsString)>,
}

impl Environment {
    /// Reads the process's environment. Fails when a variable has a value that cannot be meant: the message
    /// names it.
    pub(crate) fn read() -> anyhow::Result<Environment> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        Environment::look_up(&mut |name| std::env::var_os(name))
    }

    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> anyhow::Result<Environment> {
        Environment::look_up(&mut |name| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    /// Makes an environment of what `look_up` finds.
    pub(crate) fn look_up(
        look_up: &mut dyn FnMut(&'static str) -> Option<OsString>,
    ) -> anyhow::Result<Environment> {
        let mut get = |name| look_up(name).filter(|it| !it.is_empty());
        let mut pip = Vec::new();
        for name in PIP_VARIABLES.iter().chain(PROXY_VARIABLES_LOWER) {
            if let Some(value) = get(name) {
                pip.push((OsString::from(name), value));
            }
        }
        Ok(Environment {
            api_key: text("OPENAI_API_KEY", &mut get)?,
            anthropic_api_key: text("ANTHROPIC_API_KEY", &mut get)?,
            base_url: text("OPENAI_BASE_URL", &mut get)?,
            organization: text("OPENAI_ORG_ID", &mut get)?,
            project: text("OPENAI_PROJECT_ID", &mut get)?,
            stream: boolean("ENABLE_RESPONSES_STREAMING", &mut get)?,
            api_key_file: get("CSV_AGENT_API_KEY_FILE").map(PathBuf::from),
            model: text("CSV_AGENT_MODEL", &mut get)?,
            format: format("CSV_AGENT_FORMAT", &mut get)?,
            config: get("CSV_AGENT_CONFIG").map(PathBuf::from),
            profile: text("CSV_AGENT_PROFILE", &mut get)?,
            session_dir: get("CSV_AGENT_SESSION_DIR").map(PathBuf::from),
            data_root: get("DATA_ROOT").map(PathBuf::from),
            event_encrypt: boolean("DATA_EVENT_ENCRYPT", &mut get)?.unwrap_or(false),
            event_key: text("DATA_EVENT_KEY", &mut get)?,
            spark_token: text("SPARK_CONNECT_AUTHENTICATE_TOKEN", &mut get)?,
            spark_remote: text("SPARK_REMOTE", &mut get)?,
            step_summary: get("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            python: get("CSV_AGENT_PYTHON").map(PathBuf::from),
            launcher: get("CSV_AGENT_LAUNCHER").map(PathBuf::from),
            memory: memory("CSV_AGENT_MEMORY", &mut get)?,
            sandbox_without: layers("CSV_AGENT_SANDBOX_WITHOUT", &mut get)?,
            virtual_env: get("VIRTUAL_ENV").map(PathBuf::from),
            path: get("PATH").unwrap_or_default(),
            home: get("HOME").map(PathBuf::from),
            config_home: get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|it| it.is_absolute()),
            visual: text("VISUAL", &mut get)?,
            editor: text("EDITOR", &mut get)?,
            cache_home: get("XDG_CACHE_HOME").map(PathBuf::from).filter(|it| it.is_absolute()),
            no_color: get("NO_COLOR").is_some(),
            clicolor_force: get("CLICOLOR_FORCE").is_some_and(|it| it != "0"),
            clicolor: get("CLICOLOR").is_none_or(|it| it != "0"),
            term_is_dumb: get("TERM").is_some_and(|it| DUMB_TERMS.iter().any(|term| it == *term)),
            terminal: TerminalNames::look_up(&mut get),
            columns: get("COLUMNS").as_deref().and_then(OsStr::to_str).and_then(columns),
            pip,
        })
    }
}

/// What the environment says of the terminal; what is not UTF-8 says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TerminalNames {
    /// `TERM`.
    pub term: Option<String>,
    /// `COLORTERM`.
    pub colorterm: Option<String>,
    /// `TERM_PROGRAM`.
    pub program: Option<String>,
    /// `LC_TERMINAL`, which ssh takes along.
    pub lc_terminal: Option<String>,
    /// `TMUX` is set: we are inside one.
    pub tmux: bool,
    /// `STY` is set: we are inside GNU screen.
    pub screen: bool,
    /// `SSH_CONNECTION` or `SSH_TTY` is set: the terminal is elsewhere.
    pub ssh: bool,
}

impl TerminalNames {
    fn look_up(get: &mut Get) -> TerminalNames {
        let mut text = |name| get(name).and_then(|it| it.into_string().ok());
        TerminalNames {
            term: text("TERM"),
            colorterm: text("COLORTERM"),
            program: text("TERM_PROGRAM"),
            lc_terminal: text("LC_TERMINAL"),
            tmux: text("TMUX").is_some(),
            screen: text("STY").is_some(),
            // Both are read, so that the help tells the truth.
            ssh: text("SSH_CONNECTION").is_some() | text("SSH_TTY").is_some(),
        }
    }
}

type Get<'a> = dyn FnMut(&'static str) -> Option<OsString> + 'a;

/// Names of layers between commas.
fn layers(name: &'static str, get: &mut Get) -> anyhow::Result<Vec<Layer>> {
    let text = text(name, get)?.unwrap_or_default();
    let names = text.split(',').map(str::trim).filter(|it| !it.is_empty());
    let layer = |it: &str| Layer::ALL.into_iter().find(|layer| layer.name() == it);
    let found = names.map(|it| {
        layer(it).ok_or_else(|| {
            let known = Layer::ALL.map(Layer::name).join(", ");
            invalid(
                name,
                &format!("`{it}` is not a layer of the confinement; the layers are {known}"),
            )
        })
    });
    found.collect()
}

fn text(name: &'static str, get: &mut Get) -> anyhow::Result<Option<String>> {
    let Some(value) = get(name) else { return Ok(None) };
    match value.into_string() {
        Ok(value) => Ok(Some(value)),
        // The value is not shown: it may be a key.
        Err(_) => Err(invalid(name, "its value is not valid UTF-8")),
    }
}

fn boolean(name: &'static str, get: &mut Get) -> anyhow::Result<Option<bool>> {
    match text(name, get)?.as_deref() {
        None => Ok(None),
        Some("1") => Ok(Some(true)),
        Some("0") => Ok(Some(false)),
        Some(word) if word.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(word) if word.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(other) => Err(invalid(name, &format!("`{other}` is not one of 0, 1, true, false"))),
    }
}

fn memory(name: &'static str, get: &mut Get) -> anyhow::Result<Option<u64>> {
    let found = text(name, get)?.map(|it| value_parsers::memory(&it)).transpose();
    found.map_err(|reason| invalid(name, &reason))
}

fn format(name: &'static str, get: &mut Get) -> anyhow::Result<Option<Format>> {
    let Some(value) = text(name, get)? else { return Ok(None) };
    if let Some(format) = Format::of_word(&value) {
        return Ok(Some(format));
    }
    let names = Format::words().join(", ");
    Err(invalid(name, &format!("`{value}` is not one of {names}")))
}

fn columns(text: &str) -> Option<u16> {
    text.parse().ok().filter(|it| 0 < *it)
}

fn invalid(name: &str, found: &str) -> anyhow::Error {
    let failure = Failure::setup(format!("environment variable `{name}`: {found}"));
    failure.hint("unset it, or see `csv-agent help environment`").into()
}
