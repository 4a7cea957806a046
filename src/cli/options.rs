//! Resolves flags, environment and configuration files to options, checked once. Nothing else reads any of
//! them.

pub(crate) mod ask;
pub(crate) mod briefing;
pub(crate) mod config;
pub(crate) mod interpreter;
pub(crate) mod key;
pub(crate) mod schema;
pub(crate) mod session;
pub(crate) mod settings;

use std::fs;
use std::path::Path;
use std::time::Duration;

use csv_agent_agent::remote::ClusterOptions;
use csv_agent_cluster::ClusterAccess;
use csv_agent_session::lock::LockRequest;
use csv_agent_sink::Format;
use csv_agent_types::status::Failure;
use csv_agent_worker::environment::PythonOptions;
use csv_agent_worker::sandbox::{Demand, SandboxOptions, usual_memory_bytes};

use super::diagnostics;
use super::flags::{GlobalFlags, Worded};
use super::terminal::Terminal;
use super::tips;

use super::environment::Environment;
pub(crate) use ask::{AskOptions, ChatOptions, ProviderChoice, TurnOptions};
pub(crate) use session::SessionChoice;
use settings::{
    ALLOW_UNCONFINED, COLOR, FORMAT, LOCK_WAIT, MEMORY, PYTHON, PYTHON_PACKAGES, REQUIRE_SANDBOX,
    Settings, ValueOrigin,
};

/// Each environment variable that the program reads, in the order of the help text, with its description.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    (
        "OPENAI_API_KEY",
        "key of the provider, sent only in `Authorization`, or in `x-api-key` with `--api messages`",
    ),
    (
        "ANTHROPIC_API_KEY",
        "key for api.anthropic.com and `--api messages`, sent only in `x-api-key`",
    ),
    ("OPENAI_BASE_URL", "URL of the model's server"),
    ("OPENAI_ORG_ID", "organization to which the provider assigns the requests"),
    ("OPENAI_PROJECT_ID", "project to which the provider assigns the requests"),
    (
        "ENABLE_RESPONSES_STREAMING",
        "0 shows an answer only when it is complete, like `--no-stream`",
    ),
    ("CSV_AGENT_API_KEY_FILE", "file that contains the key. Its mode must be 0600"),
    ("CSV_AGENT_MODEL", "model to ask"),
    ("CSV_AGENT_FORMAT", "format of the answer"),
    ("CSV_AGENT_CONFIG", "configuration file to use instead of your own"),
    ("CSV_AGENT_PROFILE", "profile of the configuration"),
    ("CSV_AGENT_SESSION_DIR", "session directory"),
    ("DATA_ROOT", "directory that contains the sessions for `--session`"),
    ("DATA_EVENT_ENCRYPT", "1 encrypts the rows of tables and charts in JSONL events"),
    ("DATA_EVENT_KEY", "Fernet key to encrypt events, and for `csv-agent decrypt`"),
    ("SPARK_CONNECT_AUTHENTICATE_TOKEN", "token for the Spark cluster"),
    (
        "SPARK_REMOTE",
        "URL of a cluster. Its `token=` and headers apply to datasets on that cluster",
    ),
    (
        "GITHUB_STEP_SUMMARY",
        "file to which `--report github` adds Markdown. GitHub Actions sets it",
    ),
    ("CSV_AGENT_PYTHON", "Python interpreter that has pandas, numpy and pyarrow"),
    ("CSV_AGENT_LAUNCHER", "set by `python -m csv_agent`: the Python that runs it"),
    ("CSV_AGENT_MEMORY", "memory limit of Python code, such as `8GB`"),
    ("CSV_AGENT_SANDBOX_WITHOUT", "layers of the confinement to leave out, to test the others"),
    ("VIRTUAL_ENV", "active virtual environment, used if it has pandas, numpy and pyarrow"),
    ("PATH", "where csv-agent looks for a Python to make the managed environment"),
    ("HOME", "your home directory. The search for a session stops there"),
    ("XDG_CONFIG_HOME", "directory for `csv-agent/config.toml`, instead of `~/.config`"),
    ("VISUAL", "editor for `csv-agent config edit`"),
    ("EDITOR", "editor for `csv-agent config edit`, if `VISUAL` is not set"),
    ("XDG_CACHE_HOME", "directory for the managed Python environment, instead of `~/.cache`"),
    ("NO_COLOR", "any value turns color off"),
    ("CLICOLOR_FORCE", "any value but 0 turns color on, even in a pipe"),
    ("CLICOLOR", "0 turns color off"),
    ("TERM", "identifies the terminal. `dumb`, `cons25` and `emacs` turn color and progress off"),
    ("COLORTERM", "identifies the terminal, to show charts in it"),
    ("TERM_PROGRAM", "identifies the terminal, to show charts in it"),
    ("LC_TERMINAL", "identifies the terminal, to show charts in it"),
    ("TMUX", "set by tmux, which limits the display of charts"),
    ("STY", "set by screen, which limits the display of charts"),
    ("SSH_CONNECTION", "set by ssh, which limits the display of charts"),
    ("SSH_TTY", "set by ssh, which limits the display of charts"),
    ("COLUMNS", "width of the terminal and of help texts"),
    ("PIP_INDEX_URL", "passed to pip, which installs the managed environment"),
    ("PIP_EXTRA_INDEX_URL", "passed to pip"),
    ("PIP_FIND_LINKS", "passed to pip"),
    ("PIP_NO_INDEX", "passed to pip"),
    ("PIP_TRUSTED_HOST", "passed to pip"),
    ("PIP_CERT", "passed to pip"),
    ("PIP_PROXY", "passed to pip"),
    ("PIP_CONFIG_FILE", "passed to pip"),
    ("HTTPS_PROXY", "proxy for pip and the provider (or `https_proxy`)"),
    ("HTTP_PROXY", "proxy for pip and the provider (or `http_proxy`)"),
    ("ALL_PROXY", "proxy for pip and the provider (or `all_proxy`)"),
    ("NO_PROXY", "hosts to reach without a proxy (or `no_proxy`)"),
    ("SSL_CERT_FILE", "certificates that pip trusts"),
    ("SSL_CERT_DIR", "certificates that pip trusts"),
    ("REQUESTS_CA_BUNDLE", "certificates that pip trusts"),
    ("TMPDIR", "directory for temporary sessions"),
];

/// Says who asks a cluster.
pub(crate) fn cluster_access(environment: &Environment) -> ClusterAccess {
    ClusterAccess::new(environment.spark_token.clone(), environment.spark_remote.as_deref())
}

/// Returns where to look for Python.
pub(crate) fn python_options(settings: &Settings) -> anyhow::Result<PythonOptions> {
    let environment = settings.environment();
    let below_home = || environment.home.as_ref().map(|it| it.join(".cache"));
    let cache_home = environment.cache_home.clone().or_else(below_home);
    let python = settings.choose(&PYTHON)?;
    let program = std::env::current_exe().and_then(fs::canonicalize);
    Ok(PythonOptions {
        named_by: match python.origin {
            ValueOrigin::Variable(name) => name.to_owned(),
            origin => format!("`python` of the {origin}"),
        },
        python: python.value,
        program: program.ok(),
        launcher: environment.launcher.clone(),
        virtual_env: environment.virtual_env.clone(),
        cache_dir: cache_home.map(|it| it.join("csv-agent")).unwrap_or_default(),
        packages: settings.choose(&PYTHON_PACKAGES)?.value.unwrap_or_default(),
        path: environment.path.clone(),
        pip_env: environment.pip.clone(),
    })
}

/// Returns the options to access a cluster without a model.
pub(crate) fn cluster_options(settings: &Settings) -> anyhow::Result<ClusterOptions> {
    let environment = settings.environment();
    Ok(ClusterOptions {
        python: python_options(settings)?,
        sandbox: sandbox_options(demand(settings)?, settings)?,
        access: cluster_access(environment),
    })
}

/// Fails if `--table` is given for a format that does not write one table.
pub(crate) fn demand_table_format(format: Format, wanted: Option<&str>) -> anyhow::Result<()> {
    if wanted.is_none() || matches!(format, Format::Csv | Format::Tsv) {
        return Ok(());
    }
    let message = format!("`--table` does not apply to `--format {}`", format.word());
    let hint = "write one table with `--format csv` or `--format tsv`, or leave out `--table`";
    Err(Failure::usage(message).hint(hint).into())
}

/// Returns the confinement required before code runs. Requiring all of it overrides requiring none.
pub(crate) fn demand(settings: &Settings) -> anyhow::Result<Demand> {
    Ok(match (settings.get(&REQUIRE_SANDBOX)?, settings.get(&ALLOW_UNCONFINED)?) {
        (true, _) => Demand::Everything,
        (false, false) => Demand::Files,
        (false, true) => Demand::Nothing,
    })
}

/// Returns how to confine code. Fails when csv-agent cannot find its own executable, or a setting is invalid.
pub(crate) fn sandbox_options(
    demand: Demand,
    settings: &Settings,
) -> anyhow::Result<SandboxOptions> {
    // The link refers to this very file, even when it has been replaced at its path.
    let link = Path::new("/proc/self/exe");
    let program = if link.exists() { link.to_owned() } else { std::env::current_exe()? };
    let without = settings.environment().sandbox_without.clone();
    let memory_bytes = settings.choose(&MEMORY)?.value.unwrap_or_else(usual_memory_bytes);
    Ok(SandboxOptions { program, without, demand, memory_bytes })
}

/// The options of every command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GlobalOptions {
    pub session: SessionChoice,
    /// The format of the answer.
    pub format: Format,
    /// Whether a flag or a setting chose it.
    pub format_origin: ValueOrigin,
    /// The state of the three streams.
    pub terminal: Terminal,
    /// Leave out what is not the answer, a warning or an error, also on a terminal.
    pub quiet: bool,
    /// 1: also show questions and code; 2: also show their results.
    pub verbose: u8,
    /// Whether the user may be prompted: stdin and stderr are terminals, without `--no-input`.
    pub may_ask: bool,
    /// Time to wait for another process to release the session.
    pub lock_wait: Duration,
}

impl GlobalOptions {
    /// Takes the format from the ending of the file of `-o`, if no format was chosen. Files with one of the
    /// `other` endings are written as text. Fails when the ending is that of a format that answers are not
    /// written in.
    pub(crate) fn for_file(
        self,
        output: Option<&Path>,
        other: &[&str],
    ) -> anyhow::Result<GlobalOptions> {
        let ending = output.and_then(|it| it.extension()?.to_str()).map(str::to_lowercase);
        let (Some(ending), Some(output)) = (ending, output) else { return Ok(self) };
        let of_ending = Format::of_word(&ending);
        if !matches!(self.format_origin, ValueOrigin::Default) {
            let is_markdown = |it: Format| matches!(it, Format::Text | Format::Reply | Format::Md);
            let is_other =
                |it: &Format| *it != self.format && !(is_markdown(*it) && is_markdown(self.format));
            if of_ending.is_some_and(|it| is_other(&it)) || tips::of_format(&ending).is_some() {
                let (file, name) = (output.display(), self.format.word());
                let text = format!("`{file}` gets {name}, because `--format` or a setting says so");
                diagnostics::warning(&text, self.terminal.stderr.colour);
            }
            return Ok(self);
        }
        match of_ending {
            Some(format) => Ok(GlobalOptions { format, ..self }),
            None if other.contains(&&*ending) => Ok(self),
            None => {
                let message = format!("cannot write an answer as `.{ending}`");
                let known = "name the file .csv, .tsv, .json, .jsonl or .md, or set `--format`";
                let hint = tips::of_format(&ending).unwrap_or(known);
                Err(Failure::usage(message).hint(hint).into())
            }
        }
    }

    /// Resolves the flags of every command.
    pub(crate) fn resolve(
        flags: &GlobalFlags,
        session: SessionChoice,
        settings: &Settings,
    ) -> anyhow::Result<GlobalOptions> {
        let color = settings.get(&COLOR)?;
        let format = settings.choose(&FORMAT)?;
        let terminal = Terminal::look(color, flags.width, settings.environment());
        Ok(GlobalOptions {
            session,
            format_origin: format.origin,
            format: format.value.unwrap_or(Format::Text),
            terminal,
            quiet: flags.quiet,
            verbose: flags.verbose,
            may_ask: terminal.stdin_is_tty && terminal.stderr.is_tty && !flags.no_input,
            lock_wait: settings.get(&LOCK_WAIT)?,
        })
    }

    /// Returns whether stderr gets more than warnings and errors: on a terminal, or with `-v`.
    pub(crate) fn has_notes(&self) -> bool {
        !self.quiet && (self.terminal.stderr.is_tty || 0 < self.verbose)
    }

    /// Returns how `command` locks the session; a noticeable wait is reported.
    pub(crate) fn lock(&self, command: &'static str) -> LockRequest {
        let tell: fn(&str) = diagnostics::note;
        let instead = match command {
            "ask" | "chat" => Some("use a temporary session with `--ephemeral -f FILE`"),
            "mcp" => Some("use another session with `--session-dir DIR`"),
            _ => None,
        };
        let tell = self.has_notes().then_some(tell);
        LockRequest { wait: self.lock_wait, command, instead, tell }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::VARIABLES;
    use crate::environment::{Environment, PROXY_VARIABLES_LOWER};
    use csv_agent_types::status::{Failure, FailureKind};

    #[test]
    fn the_help_lists_exactly_what_is_read() {
        let mut read = BTreeSet::new();
        let environment = Environment::look_up(&mut |name| {
            read.insert(name);
            None
        });
        assert!(environment.is_ok());
        let told =
            VARIABLES.iter().map(|(name, _)| *name).chain(PROXY_VARIABLES_LOWER.iter().copied());
        assert_eq!(read, told.collect());
    }

    #[test]
    fn an_empty_value_is_no_value() {
        let environment = Environment::of(&[("OPENAI_API_KEY", ""), ("NO_COLOR", "")]).unwrap();
        assert_eq!(environment.api_key, None);
        assert!(!environment.no_color);
    }

    #[track_caller]
    fn check_stream(value: &str, expected: Option<bool>) {
        let found = Environment::of(&[("ENABLE_RESPONSES_STREAMING", value)]);
        assert_eq!(found.unwrap().stream, expected, "{value}");
    }

    #[test]
    fn a_boolean_is_a_digit_or_a_word() {
        check_stream("1", Some(true));
        check_stream("TRUE", Some(true));
        check_stream("0", Some(false));
        check_stream("false", Some(false));
        check_stream("", None);
    }

    #[test]
    fn any_other_boolean_is_refused_by_name() {
        let error = Environment::of(&[("DATA_EVENT_ENCRYPT", "yes")]).err().unwrap();
        let failure = error.downcast_ref::<Failure>().unwrap();
        assert_eq!(failure.kind, FailureKind::Setup);
        assert_eq!(
            failure.message,
            "environment variable `DATA_EVENT_ENCRYPT`: `yes` is not one of 0, 1, true, false"
        );
    }
}
