//! `setup`: makes the Python environment before a question needs it, or removes it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use clap::Args;
use serde_json::json;

use csv_agent_sink::Format;
use csv_agent_text::digits;
use csv_agent_worker::environment::{self, Interpreter, PythonOptions, PythonOrigin};

use super::listing::{self, Listing};
use super::options::settings::Settings;
use super::options::{GlobalOptions, python_options};
use super::spinner::Spinner;
use super::{diagnostics, reset, signals, stdout};
use crate::errors::ExitStatus;

/// Bytes of a block, as `stat` counts them.
const BLOCK_BYTES: u64 = 512;

/// Flags of `setup`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SetupFlags {
    /// Remove the environment
    ///
    /// The next question that needs Python makes it again. Do not remove it while a question runs.
    #[arg(long)]
    pub remove: bool,
}

/// Makes or removes the environment, and prints where it is and how large. Fails when there is no usable
/// Python, the packages cannot be installed, or stdout cannot be written.
pub(crate) fn run(
    flags: &SetupFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let python = python_options(settings)?;
    let runtime = signals::runtime()?;
    let mut steps = Steps { options, spinner: None };
    let mut tell = |it: &str| steps.tell(it);
    if flags.remove {
        let removed = runtime.block_on(environment::remove(&python, &mut tell))?;
        let removed: Vec<_> = removed.iter().map(|it| it.display().to_string()).collect();
        return reset::print(&removed, false, options);
    }
    let interpreter = runtime.block_on(environment::set_up(&python, &mut tell))?;
    drop(steps);
    print(&interpreter, &python, options)?;
    Ok(ExitStatus::Ok)
}

/// The steps of the work, on stderr: a live line on a terminal, else one line for each step.
struct Steps<'a> {
    options: &'a GlobalOptions,
    spinner: Option<Spinner>,
}

impl Steps<'_> {
    fn tell(&mut self, message: &str) {
        let terminal = &self.options.terminal;
        // The live line shows the time itself.
        let step = message.rsplit_once(" (").filter(|(_, end)| end.ends_with(" s)"));
        match (step, &self.spinner) {
            _ if self.options.quiet => {}
            (None, None) if terminal.can_redraw => {
                let (stderr, is_given) = (terminal.stderr, terminal.is_width_given);
                let message = message.to_owned();
                self.spinner = Some(Spinner::start(message, Instant::now(), stderr, is_given));
            }
            (_, Some(spinner)) => spinner.say(step.map_or(message, |(step, _)| step).to_owned()),
            (None, None) => diagnostics::tell(&format!("{message}\n")),
            (Some(_), None) => {}
        }
    }
}

fn print(
    interpreter: &Interpreter,
    python: &PythonOptions,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let packages = interpreter.packages.listed();
    let is_managed = interpreter.origin == PythonOrigin::Managed;
    let prefix = interpreter.executable.parent().and_then(Path::parent);
    let (place, bytes) = match prefix.filter(|_| is_managed) {
        Some(directory) => (directory, Some(used_bytes(directory))),
        None => (interpreter.executable.as_path(), None),
    };
    let place = place.display().to_string();
    let origin = origin_of(interpreter, python);
    let cells = vec![json!(place), json!(origin), json!(packages), json!(bytes)];
    let columns = ["python", "origin", "packages", "bytes"];
    let document = json!({"python": place, "origin": origin, "packages": packages, "bytes": bytes});
    let listing = Listing {
        frame: listing::frame(&columns, &["bytes"], vec![cells]),
        documents: vec![document],
    };
    stdout::answer(|out| {
        if options.format != Format::Text {
            return listing.write(out, options);
        }
        let size = bytes.map(|it| format!(", {}", digits::size(it))).unwrap_or_default();
        writeln!(out, "Python is ready: {place} ({origin}{size}), with {packages}")?;
        Ok(())
    })
}

/// Says why a Python was chosen.
pub(crate) fn origin_of(interpreter: &Interpreter, python: &PythonOptions) -> String {
    match interpreter.origin {
        PythonOrigin::Given => format!("from {}", python.named_by),
        PythonOrigin::Wheel => "installed with csv-agent".to_owned(),
        PythonOrigin::VirtualEnv => "from VIRTUAL_ENV".to_owned(),
        PythonOrigin::Managed => "made by csv-agent".to_owned(),
    }
}

/// Returns how much of the disk a directory uses. What cannot be read counts as nothing.
fn used_bytes(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => used_bytes(&entry.path()),
        Ok(found) => found.blocks() * BLOCK_BYTES,
        Err(_) => 0,
    });
    sizes.sum()
}
