//! `doctor`: whether questions can be asked here, and how their code is confined.

mod cluster;
mod machine;
mod server;
mod session;

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use strum::IntoStaticStr;

use csv_agent_sink::Format;
use csv_agent_types::status::{BUILTIN, FailureKind};
use csv_agent_worker::sandbox::Demand;

use super::flags::{InterpreterChoice, NO_ID, SettingFlags};
use super::listing::{self, Listing};
use super::options::settings::{INTERPRETER, MODEL, Settings};
use super::options::{GlobalOptions, cluster_access, demand, python_options, sandbox_options};
use super::spinner::Spinner;
use super::terminal_graphics::Images;
use super::{diagnostics, signals, stdout, value_parsers};
use crate::errors::{self, ExitStatus};
use server::Server;

/// Checks that take longer than this report what they wait for.
const PATIENCE: Duration = Duration::from_secs(1);

/// What to do about a session that cannot be written.
const OTHER_SESSION: &str = "choose another directory with `-S`, or ask with `--ephemeral`";
/// What to do about a cache that cannot be written.
const OTHER_CACHE: &str = "set `XDG_CACHE_HOME` to another directory";

/// Flags of `doctor`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorFlags {
    /// Check the files of the session instead
    ///
    /// With an ID, csv-agent makes the usual checks for that session of `DATA_ROOT`, and with `--repair` it
    /// repairs the files of that session.
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = NO_ID)]
    pub session: Option<String>,

    /// Repair the files of the session
    ///
    /// csv-agent deletes nothing: it keeps damaged parts in the directory `aside` of the session.
    #[arg(long)]
    pub repair: bool,

    /// Contact no server
    #[arg(long)]
    pub offline: bool,

    /// Exit with status 8 unless the confinement is complete
    #[arg(long)]
    pub require_sandbox: bool,

    /// Model to check [default: gpt-6.2-sol]
    ///
    /// `builtin` is an analyst inside csv-agent. It needs no key and no server.
    #[arg(short, long, value_name = "NAME", value_parser = value_parsers::model)]
    pub model: Option<String>,

    /// URL of the model's server, including `/v1` [default: OpenAI's]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
}

impl DoctorFlags {
    /// Returns whether only the session's files are checked.
    pub(crate) fn is_about_session(&self) -> bool {
        self.repair || self.session.as_deref() == Some(NO_ID)
    }

    /// Returns the flags that configuration files can set.
    pub(crate) fn settings(&self) -> SettingFlags {
        SettingFlags {
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            ..SettingFlags::default()
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum CheckState {
    Ok,
    /// Not checked.
    Skipped,
    /// Questions work, but with limitations or less safely.
    Warning,
    /// Questions fail so.
    Problem(FailureKind),
}

impl CheckState {
    fn name(self) -> &'static str {
        self.into()
    }

    fn status(self) -> ExitStatus {
        match self {
            CheckState::Ok | CheckState::Skipped | CheckState::Warning => ExitStatus::Ok,
            CheckState::Problem(kind) => ExitStatus::Failed(kind),
        }
    }
}

#[derive(Debug, Clone)]
struct Check {
    name: &'static str,
    state: CheckState,
    found: String,
}

impl Check {
    fn new(name: &'static str, state: CheckState, found: impl Into<String>) -> Check {
        Check { name, state, found: found.into() }
    }

    /// Makes a problem from an error that would end a question.
    fn failed(name: &'static str, error: &anyhow::Error) -> Check {
        let hint = errors::hint_of(error).map(|it| format!("; {}", it.replace('\n', "; ")));
        let found = format!("{error:#}{}", hint.unwrap_or_default());
        Check::new(name, CheckState::Problem(errors::kind_of(error)), found)
    }
}

/// Checks what a question needs, and prints one line per check. Fails when an environment variable is invalid,
/// or stdout cannot be written.
pub(crate) fn run(
    flags: &DoctorFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    if flags.is_about_session() {
        return session::run(flags.repair, options);
    }
    let python = python_options(settings)?;
    let demand = if flags.require_sandbox { Demand::Everything } else { demand(settings)? };
    // Only csv-agent's own code runs here, to test the confinement of other code.
    let sandbox = sandbox_options(Demand::Nothing, settings)?;
    let server = Server::of(settings, flags.offline)?;
    let mut checks = configuration(settings);
    checks.push(server.key.clone());
    let runtime = signals::runtime()?;
    let runs_code = settings.get(&INTERPRETER)? != InterpreterChoice::Hosted;
    let needs_none = settings.get(&MODEL)? == BUILTIN;
    let missing = if needs_none { CheckState::Skipped } else { CheckState::Warning };
    let trying = async {
        if runs_code {
            machine::try_python(&python, &sandbox, missing).await
        } else {
            Ok((machine::no_python(), None))
        }
    };
    let access = cluster_access(settings.environment());
    let cluster = cluster::ask(options, &access, flags.offline);
    let all = async { tokio::join!(server.ask(), cluster, trying) };
    let what = if runs_code { "checking the server and Python" } else { "checking the server" };
    let (server, cluster, tried) = runtime.block_on(patiently(all, what, options));
    // A name lookup may take longer than the timeout.
    runtime.shutdown_background();
    let (found, confinement) = tried?;
    checks.push(server);
    checks.extend(cluster);
    checks.extend(found);
    checks.push(machine::disk(&options.session.dir, "the session", OTHER_SESSION));
    if runs_code && !python.cache_dir.as_os_str().is_empty() {
        checks.push(machine::disk(&python.cache_dir, "Python's packages", OTHER_CACHE));
    }
    let images = Images::of(settings)?;
    checks.push(machine::terminal(options, &images));
    let rules = confinement.iter().flat_map(|it| machine::rules(it, demand));
    checks.extend(rules);
    let is_for_people = options.format == Format::Text && options.terminal.stdout.is_tty;
    let shown = if is_for_people { on_one_screen(&checks) } else { checks.clone() };
    let rows = shown.iter().map(|it| vec![json!(it.name), json!(it.state.name()), json!(it.found)]);
    let frame = listing::frame(&["check", "state", "found"], &[], rows.collect());
    let listing = Listing { documents: frame.objects(), frame };
    stdout::answer(|out| {
        listing.write_whole(out, options)?;
        if options.format == Format::Text {
            writeln!(out, "{}", conclusion(&checks))?;
        }
        Ok(())
    })?;
    Ok(checks.iter().map(|it| it.state.status()).max().unwrap_or(ExitStatus::Ok))
}

/// Joins the rules of the confinement that are in effect, each of which is a line in other formats.
fn on_one_screen(checks: &[Check]) -> Vec<Check> {
    let mut shown: Vec<Check> = Vec::new();
    for check in checks {
        match shown.last_mut() {
            Some(last)
                if check.name == "sandbox"
                    && (last.name, last.state) == (check.name, check.state)
                    && check.state == CheckState::Ok =>
            {
                last.found = format!("{}; {}", last.found, check.found);
            }
            _ => shown.push(check.clone()),
        }
    }
    shown
}

/// Returns the sentence about whether a question can be asked.
fn conclusion(checks: &[Check]) -> String {
    let is_local = |it: &&Check| !["key", "server"].contains(&it.name);
    let has_local_problem = checks.iter().filter(is_local).any(|it| it.state.name() == "problem");
    let of = |state: &str| {
        let names = checks.iter().filter(|it| it.state.name() == state).map(|it| it.name);
        names.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    };
    match (of("problem"), of("warning")) {
        (problems, _) if !problems.is_empty() && !has_local_problem => format!(
            "You cannot ask a model yet, because of the problems above ({problems}), but you can ask the built-in \
             analyst, which needs no key and no server: `--model builtin`."
        ),
        (problems, _) if !problems.is_empty() => {
            format!("You cannot ask a question yet, because of the problems above: {problems}.")
        }
        (_, warnings) if warnings.is_empty() => "You can ask a question.".to_owned(),
        (_, warnings) => format!("You can ask a question, with the warnings above: {warnings}."),
    }
}

/// Waits, and reports for what when it takes a while.
async fn patiently<T>(work: impl Future<Output = T>, message: &str, options: &GlobalOptions) -> T {
    let started = Instant::now();
    let mut work = pin!(work);
    // The work that loses continues below.
    tokio::select! {
        found = &mut work => return found,
        () = tokio::time::sleep(PATIENCE) => {}
    }
    let terminal = options.terminal;
    let start =
        || Spinner::start(message.to_owned(), started, terminal.stderr, terminal.is_width_given);
    let bar = (terminal.can_redraw && !options.quiet).then(start);
    if bar.is_none() && options.has_notes() {
        diagnostics::tell(&format!("{message}\n"));
    }
    let found = work.await;
    drop(bar);
    found
}

fn configuration(settings: &Settings) -> Vec<Check> {
    let check = |found: String| Check::new("config", CheckState::Ok, found);
    let files = settings.files().iter();
    let found: Vec<_> =
        files.map(|it| check(format!("{} file {}", it.place.name(), it.path.display()))).collect();
    if found.is_empty() { vec![check("no configuration file".to_owned())] } else { found }
}
