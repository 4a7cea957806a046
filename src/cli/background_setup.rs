//! `csv-agent setup` in the background, while the user reads what `ingest` found.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use csv_agent_types::status::BUILTIN;
use csv_agent_worker::environment;

use super::flags::InterpreterChoice;
use super::options::config::ConfigLevel;
use super::options::key::KeySource;
use super::options::python_options;
use super::options::settings::{INTERPRETER, MODEL, PROFILE, Settings};

/// Starts to make the environment in a process of its own, if the first question to a model would have to, and there is a
/// key to ask one. Returns whether it did. Whether it succeeds shows when a question needs Python, and waits for it.
pub(crate) fn begin(settings: &Settings) -> anyhow::Result<bool> {
    let has_key = KeySource::choose(settings)?.0 != KeySource::None;
    let is_asked = has_key && settings.get(&MODEL)? != BUILTIN;
    let is_local = settings.get(&INTERPRETER)? != InterpreterChoice::Hosted;
    if !is_asked || !is_local || !environment::will_be_made(&python_options(settings)?) {
        return Ok(false);
    }
    let Ok(program) = std::env::current_exe() else { return Ok(false) };
    let mut setup = Command::new(program);
    setup.args(["setup", "--quiet"]);
    // Packages of the environment may be set there.
    match settings.files().iter().find(|it| it.place == ConfigLevel::User) {
        Some(file) => drop(setup.arg("--config").arg(&file.path)),
        None if settings.files().is_empty() => drop(setup.arg("--no-config")),
        None => {}
    }
    if let Some(profile) = settings.choose(&PROFILE)?.value {
        setup.args(["--profile", &profile]);
    }
    // A group of its own: Ctrl-C in the terminal does not end it.
    setup.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    Ok(setup.spawn().is_ok())
}
