//! `doctor`: whether this machine has what a question needs, and how code is confined on it.

use clap::Args;
use serde_json::json;
use tempfile::TempDir;

use super::listing::{self, Listing};
use super::options::key::KeySource;
use super::options::settings::{BASE_URL_OF_MODEL, Settings};
use super::options::{GlobalOptions, python_options, sandbox_options};
use super::{out, report, signals};
use crate::provider::is_on_this_machine;
use crate::python::environment::{self, Origin, PythonOptions};
use crate::python::sandbox::{self, Confinement, SandboxOptions};
use crate::python::{Worker, WorkerOptions};
use crate::status::ExitStatus;

/// Flags of `doctor`.
#[derive(Debug, Clone, Args)]
pub struct DoctorFlags {
    /// End with status 8 unless the confinement is complete
    #[arg(long)]
    pub require_sandbox: bool,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// Questions work, but not in every way, or not as safely as elsewhere.
    Warning,
    /// Questions do not work.
    Problem,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Problem => "problem",
        }
    }
}

#[derive(Debug, Clone)]
struct Check {
    name: &'static str,
    state: State,
    found: String,
}

impl Check {
    fn new(name: &'static str, state: State, found: impl Into<String>) -> Check {
        Check { name, state, found: found.into() }
    }
}

/// Looks at what a question needs, and prints a line for each.
///
/// # Errors
///
/// Fails when an environment variable is invalid, or stdout cannot take the answer.
pub fn run(
    flags: &DoctorFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let python = python_options(settings)?;
    let sandbox = sandbox_options(false, settings.environment())?;
    let mut checks = configuration(settings);
    checks.push(key(settings)?);
    let confinement = signals::runtime()?.block_on(try_python(&python, &sandbox, &mut checks))?;
    checks.extend(confinement.iter().flat_map(rules));
    let rows =
        checks.iter().map(|it| vec![json!(it.name), json!(it.state.name()), json!(it.found)]);
    let frame = listing::frame(&["check", "state", "found"], &[], rows.collect());
    let listing = Listing { documents: frame.objects(), frame };
    out::answer(|out| listing.write(out, options))?;
    let is_complete = confinement.is_some_and(|it| it.missing.is_empty());
    let fails = checks.iter().any(|it| it.state == State::Problem);
    let is_refused = fails || flags.require_sandbox && !is_complete;
    Ok(if is_refused { ExitStatus::Sandbox } else { ExitStatus::Ok })
}

fn configuration(settings: &Settings) -> Vec<Check> {
    let check = |found: String| Check::new("config", State::Ok, found);
    let files = settings.files().iter();
    let found: Vec<_> =
        files.map(|it| check(format!("{} file {}", it.place.name(), it.path.display()))).collect();
    if found.is_empty() { vec![check("no configuration file".to_owned())] } else { found }
}

/// A command that prints the key is not run: it may ask the user something.
fn key(settings: &Settings) -> anyhow::Result<Check> {
    let (source, origin) = KeySource::choose(settings)?;
    Ok(match source {
        KeySource::Variable(_) => Check::new("key", State::Ok, "OPENAI_API_KEY is set"),
        KeySource::File(path) => match source_works(&KeySource::File(path.clone())) {
            None => {
                Check::new("key", State::Ok, format!("in `{}`, says the {origin}", path.display()))
            }
            Some(found) => Check::new("key", State::Problem, found),
        },
        KeySource::Command(words) => {
            let found = format!("printed by `{}`, says the {origin}", words[0]);
            Check::new("key", State::Ok, found)
        }
        KeySource::None if is_on_this_machine(&settings.get(&BASE_URL_OF_MODEL)?) => {
            Check::new("key", State::Ok, "none; the server is on this machine and may need none")
        }
        KeySource::None => {
            let found = "none: neither OPENAI_API_KEY nor `api_key_file` nor `api_key_cmd` is set; most \
                         servers want one";
            Check::new("key", State::Warning, found)
        }
    })
}

fn source_works(source: &KeySource) -> Option<String> {
    source.get().err().map(|error| {
        let hint = report::hint_of(&error).map(|it| format!("; {it}"));
        format!("{error:#}{}", hint.unwrap_or_default())
    })
}

/// Runs Python as a question would. Returns what holds for it, if it can be confined at all.
async fn try_python(
    options: &PythonOptions,
    sandbox: &SandboxOptions,
    checks: &mut Vec<Check>,
) -> anyhow::Result<Option<Confinement>> {
    let mut tell = |state, found: String| checks.push(Check::new("python", state, found));
    match environment::find(options).await {
        Ok(Some(interpreter)) => {
            let place = interpreter.executable.display().to_string();
            let origin = match interpreter.origin {
                Origin::Given => "from CSV_AGENT_PYTHON",
                Origin::VirtualEnv => "from VIRTUAL_ENV",
                Origin::Managed => "made by csv-agent",
            };
            let scratch = TempDir::new()?;
            let options = WorkerOptions::new(interpreter, scratch.path(), sandbox.clone());
            match Worker::start(options).await {
                Ok(worker) => {
                    tell(State::Ok, format!("{}; {place}, {origin}", worker.versions()));
                    let confinement = worker.confinement().clone();
                    worker.stop().await;
                    return Ok(Some(confinement));
                }
                Err(error) => tell(State::Problem, format!("{error}; {place}, {origin}")),
            }
        }
        Ok(None) => {
            let place = options.cache_dir.display();
            tell(
                State::Warning,
                format!("no environment yet; the first question makes one in {place}"),
            );
        }
        Err(error) => tell(State::Problem, format!("{error:#}")),
    }
    match sandbox::try_out(sandbox).await {
        Ok(confinement) => Ok(Some(confinement)),
        Err(error) => {
            checks.push(Check::new("sandbox", State::Problem, error.to_string()));
            Ok(None)
        }
    }
}

fn rules(confinement: &Confinement) -> Vec<Check> {
    let lines = |state, texts: &[String]| {
        texts.iter().map(|it| Check::new("sandbox", state, it.clone())).collect::<Vec<_>>()
    };
    let missing: Vec<_> =
        confinement.missing.iter().map(|it| format!("{it}: not enforced")).collect();
    [
        lines(State::Ok, &confinement.enforced),
        lines(State::Warning, &missing),
        lines(State::Warning, &confinement.reasons),
    ]
    .concat()
}
