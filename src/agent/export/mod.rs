//! Turns as files that run by themselves: the code that ran, on the original files, and what it gave.

mod blocks;
mod document;
mod literal;
mod notebook;
mod readers;
mod script;
mod steps;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;

use crate::agent::again::outline::{Outline, Step, needed, outlines};
use crate::agent::again::past::{PastCall, PastTurn, number};
use crate::catalog::Catalog;
use crate::python::environment::PythonOptions;
use crate::python::protocol::Command;
use crate::python::sandbox::SandboxOptions;
use crate::python::study::Study;
use crate::status::{ExitStatus, Failure};
use readers::Reader;
use steps::Piece;

pub use document::document;
pub use notebook::notebook;
pub use script::script;

/// Turns as a program.
pub struct Program {
    /// The turns, in order.
    turns: Vec<PastTurn>,
    /// One for each dataset that the code reads.
    readers: Vec<Reader>,
    /// The code, in order.
    pieces: Vec<Piece>,
    /// What the user should know of it.
    pub warnings: Vec<String>,
}

/// What a program is made of.
pub struct Sources<'a> {
    /// Which Python.
    pub python: PythonOptions,
    /// How it is confined.
    pub sandbox: SandboxOptions,
    /// The session's directory.
    pub session_dir: &'a Path,
    /// Its datasets.
    pub catalog: &'a Catalog,
    /// Its turns up to the last that is wanted, each with whether it is.
    pub turns: Vec<(PastTurn, bool)>,
}

/// A call that did something to the variables, and what it reads and makes.
struct Did<'a> {
    call: &'a PastCall,
    command: Command,
    /// The place of its turn among those of the session.
    turn: usize,
    /// Whether its turn is wanted.
    is_wanted: bool,
    outline: Outline,
}

/// Makes a program of turns.
///
/// # Errors
///
/// Fails with [`ExitStatus::Input`] when the turns ran no code, and when Python cannot be had.
pub async fn program(sources: Sources<'_>) -> anyhow::Result<Program> {
    let Sources { python, sandbox, session_dir, catalog, turns } = sources;
    let troubles = readers::troubles(catalog);
    let files = readers::files(session_dir, catalog, &troubles);
    let mut done = Vec::new();
    for (at, (turn, is_wanted)) in turns.iter().enumerate() {
        for call in &turn.calls {
            if let Some(command) = call.command(catalog)
                && (*is_wanted || !matches!(command, Command::Fetch { .. }))
            {
                let (is_wanted, outline) = (*is_wanted, Outline::default());
                done.push(Did { call, command, turn: at, is_wanted, outline });
            }
        }
    }
    if !done.iter().any(|it| it.is_wanted) {
        let id = turns.last().map_or("", |it| number(&it.0.id));
        let message = format!("turn {id} ran no code");
        let hint = "`csv-agent show` has its answer";
        return Err(Failure::new(ExitStatus::Input, message).hint(hint).into());
    }
    let mut study = Study::start(&python, &sandbox, files).await?;
    let ran: Vec<_> = done.iter().map(|it| (it.command.clone(), &it.call.result)).collect();
    let found = outlines(&mut study, &ran).await?;
    done.iter_mut().zip(found).for_each(|(it, found)| it.outline = found);
    let steps: Vec<Step> = done.iter().map(step).collect();
    let is_needed = needed(&steps);
    let kept: Vec<Did> = done.into_iter().zip(is_needed).filter(|it| it.1).map(|it| it.0).collect();
    let names = read_by(&kept, catalog);
    let readers = readers::readers(&mut study, session_dir, catalog, &troubles, &names);
    let readers = readers.await.context("cannot find out how plain Python reads the data")?;
    let mut warnings: Vec<String> = readers.iter().filter_map(Reader::warning).collect();
    let pieces = steps::pieces(&turns, &kept, &mut warnings);
    let turns = turns.into_iter().filter(|it| it.1).map(|it| it.0).collect();
    Ok(Program { turns, readers, pieces, warnings })
}

fn step(done: &Did) -> Step {
    let failed = done.call.raised().is_some();
    Step { outline: done.outline.clone(), failed, is_wanted: done.is_wanted && !failed }
}

/// Returns the datasets that some calls may read.
fn read_by<'a>(done: &[Did], catalog: &'a Catalog) -> Vec<&'a str> {
    let mut names = BTreeSet::new();
    for Did { command, outline, .. } in done {
        match command {
            Command::Load { dataset, .. } => names.extend(catalog.names().find(|it| it == dataset)),
            Command::Run { code } => {
                if ["load", "datasets"].iter().any(|it| outline.reads.contains(*it)) {
                    let is_said = |it: &&str| {
                        [format!("'{it}'"), format!("\"{it}\"")].iter().any(|it| code.contains(it))
                    };
                    let said: Vec<&str> = catalog.names().filter(is_said).collect();
                    // Code that names none may take any.
                    if said.is_empty() { names.extend(catalog.names()) } else { names.extend(said) }
                }
            }
            Command::Fetch { .. } | Command::Keep { .. } => {}
        }
    }
    names.into_iter().collect()
}

/// Returns the questions of the turns, for a heading.
fn questions(turns: &[PastTurn]) -> Vec<String> {
    let question = |it: &PastTurn| crate::render::sanitize::for_terminal(it.question.trim());
    turns.iter().map(question).collect()
}
