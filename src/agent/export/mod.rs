//! Turns as standalone programs: the code that ran, on the original files, and its results.

mod blocks;
mod cluster;
mod document;
mod literal;
mod notebook;
mod readers;
mod script;
mod steps;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use csv_agent_session::Session;
use csv_agent_text::sanitize;
use csv_agent_tools::{Statement, ToolJob};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::status::Failure;
use csv_agent_worker::environment::PythonOptions;
use csv_agent_worker::protocol::Command;
use csv_agent_worker::sandbox::SandboxOptions;
use csv_agent_worker::trusted_script::Study;

use crate::query::datasets_said;
use crate::replay::cell_dependencies::{DependencyStep, Outline, needed, outlines};
use crate::replay::stored_turn::{ExecutionPlace, PastCall, PastTurn, names_said, number, saved};
use cluster::Cluster;
use readers::DatasetReader;
use steps::ProgramPiece;

pub use document::document;
pub use notebook::notebook;
pub use script::script;

/// Makes code that ran in containers run elsewhere.
const HERE: &str = include_str!("here.py");

/// Turns as a program.
pub struct Program {
    /// The turns, in order.
    turns: Vec<PastTurn>,
    /// One for each local dataset that the code reads.
    readers: Vec<DatasetReader>,
    /// The cluster that it queries, if any.
    cluster: Option<Cluster>,
    /// The code, in order.
    pieces: Vec<ProgramPiece>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// The inputs of a program.
pub struct Sources<'a> {
    /// Which Python.
    pub python: PythonOptions,
    /// How it is confined.
    pub sandbox: SandboxOptions,
    /// The session's directory.
    pub session_dir: &'a Path,
    /// Its datasets.
    pub catalog: &'a Catalog,
    /// The session's turns up to the last requested one, each with whether it is requested.
    pub turns: Vec<(PastTurn, bool)>,
}

/// The REPL's name for a Spark session.
const SESSION: &str = "spark";

/// A call that affected the variables, with the names it reads and makes.
struct Did<'a> {
    call: &'a PastCall,
    job: ToolJob,
    /// Its code adapted to run elsewhere, if it ran in a container.
    elsewhere: Option<String>,
    /// The position of its turn within the session.
    turn: usize,
    /// Whether its turn is requested.
    is_wanted: bool,
    outline: Outline,
}

/// Makes a program from turns.
///
/// # Errors
///
/// Fails with `FailureKind::Input` when the turns ran no code. Fails with `FailureKind::Setup` when the
/// file of a dataset that they read is missing or damaged, and when Python is not available.
pub async fn program(sources: Sources<'_>) -> anyhow::Result<Program> {
    let Sources { python, sandbox, session_dir, catalog, turns } = sources;
    let here = catalog.here();
    // A dataset whose file is lost affects only the turns that read it.
    let mut hurt = Session::hurt_datasets(session_dir, &here)?;
    let troubles = readers::troubles(here.clone()).await;
    let sound = here.filtered(|it| !hurt.contains_key(it));
    let files = readers::files(session_dir, &sound, &troubles);
    let mut done = Vec::new();
    for (at, (turn, is_wanted)) in turns.iter().enumerate() {
        for call in &turn.calls {
            if let Some(job) = call.job(catalog)
                && makes_something(&job, *is_wanted)
            {
                let (is_wanted, outline, elsewhere) = (*is_wanted, Outline::default(), None);
                done.push(Did { call, job, elsewhere, turn: at, is_wanted, outline });
            }
        }
    }
    if !done.iter().any(|it| it.is_wanted) {
        let id = turns.last().map_or("", |it| number(&it.0.id));
        let message = format!("turn {id} ran no code");
        let hint = "`csv-agent show` shows its answer";
        return Err(Failure::input(message).hint(hint).into());
    }
    let mut study = Study::start(&python, &sandbox, files).await?;
    let ran: Vec<_> = done.iter().map(|it| (it.job.clone(), it.call)).collect();
    let uploaded: Vec<String> = catalog.names().map(saved).collect();
    let found = outlines(Some(&mut study), &ran, &uploaded).await?;
    done.iter_mut().zip(found).for_each(|(it, found)| it.outline = found);
    let mut warnings = Vec::new();
    move_code(&mut study, &mut done, &mut warnings).await?;
    let steps: Vec<DependencyStep> = done.iter().map(step).collect();
    let is_needed = needed(&steps);
    let kept: Vec<Did> = done.into_iter().zip(is_needed).filter(|it| it.1).map(|it| it.0).collect();
    let names = read_by(&kept, catalog);
    if let Some(failure) = names.iter().find_map(|it| hurt.remove(*it)) {
        return Err(failure.into());
    }
    let has_session = kept.iter().any(|it| it.outline.reads.contains(SESSION));
    let cluster = Cluster::of(catalog, &names, has_session)?;
    let readers = readers::readers(&mut study, session_dir, &here, &troubles, &names);
    let readers = readers.await.context("cannot find out how plain Python reads the data")?;
    warnings.extend(readers.iter().filter_map(DatasetReader::warning));
    warnings.extend(unknown_files(&kept, &uploaded));
    let pieces = steps::pieces(&turns, &kept, catalog, cluster.is_some(), &mut warnings);
    let turns = turns.into_iter().filter(|it| it.1).map(|it| it.0).collect();
    Ok(Program { turns, readers, cluster, pieces, warnings })
}

/// Returns whether a job makes a variable or a result, or shows what is requested.
fn makes_something(job: &ToolJob, is_wanted: bool) -> bool {
    match job {
        ToolJob::Query(_) | ToolJob::Python(Command::Load { .. } | Command::Run { .. }) => true,
        ToolJob::Python(Command::Fetch { .. }) => is_wanted,
        ToolJob::Python(Command::Find { .. } | Command::Forget { .. } | Command::Keep { .. }) => {
            false
        }
    }
}

fn step(done: &Did) -> DependencyStep {
    let failed = done.call.raised().is_some();
    let (place, outline) = (done.call.place.clone(), done.outline.clone());
    DependencyStep { place, outline, failed, is_wanted: done.is_wanted && !failed }
}

/// Adapts code of containers to run elsewhere. Code that is not valid Python is left out with a warning.
async fn move_code(
    study: &mut Study,
    done: &mut Vec<Did<'_>>,
    warnings: &mut Vec<String>,
) -> anyhow::Result<()> {
    let is_hosted = |it: &Did| it.call.is_hosted();
    let code = |it: &Did| {
        let code = it.call.hosted_code().replace("\r\n", "\n").replace('\r', "\n");
        json!([code.trim_end(), it.call.raised().is_none()])
    };
    let code: Vec<Value> = done.iter().filter(|it| is_hosted(it)).map(code).collect();
    if code.is_empty() {
        return Ok(());
    }
    let moved = study.ask(HERE, &json!(code)).await;
    let moved = moved.context("cannot make code of a container run elsewhere")?;
    let moved: Vec<Option<String>> = serde_json::from_value(moved)?;
    done.iter_mut().filter(|it| is_hosted(it)).zip(moved).for_each(|(it, moved)| {
        it.elsewhere = moved;
    });
    for it in done.extract_if(.., |it| is_hosted(it) && it.elsewhere.is_none()) {
        let message =
            format!("`{}` is left out, because its code is not plain Python", it.call.call.name);
        warnings.push(message);
    }
    Ok(())
}

/// Warns of files that code reads and no step has made.
fn unknown_files(done: &[Did], uploaded: &[String]) -> Vec<String> {
    let mut known: BTreeSet<(&ExecutionPlace, &str)> = BTreeSet::new();
    let mut found = Vec::new();
    for Did { call, outline, .. } in done {
        let is_known = |it: &str| {
            let is_uploaded = uploaded.iter().any(|name| name == it);
            is_uploaded || outline.written.contains(it) || known.contains(&(&call.place, it))
        };
        for file in outline.taken.iter().filter(|it| !is_known(it)) {
            let file = sanitize::one_line(file);
            found.push(format!(
                "`{file}` is only in the container; the code that reads it will fail"
            ));
        }
        known.extend(outline.files.iter().map(|it| (&call.place, it.as_str())));
    }
    found
}

/// Returns the datasets that the calls may read.
fn read_by<'a>(done: &[Did], catalog: &'a Catalog) -> Vec<&'a str> {
    let mut names = BTreeSet::new();
    for Did { call, job, outline, .. } in done {
        let command = match job {
            ToolJob::Python(command) => command,
            ToolJob::Query(Statement { sql, .. }) => {
                names.extend(datasets_said(sql, catalog));
                continue;
            }
        };
        match command {
            Command::Load { dataset, .. } => names.extend(catalog.names().find(|it| it == dataset)),
            Command::Run { code } if call.is_hosted() => names.extend(names_said(code, catalog)),
            Command::Run { code } => {
                if ["load", "datasets"].iter().any(|it| outline.reads.contains(*it)) {
                    let is_said = |it: &&str| {
                        [format!("'{it}'"), format!("\"{it}\"")].iter().any(|it| code.contains(it))
                    };
                    let said: Vec<&str> = catalog.names().filter(is_said).collect();
                    // Code that names no dataset may read any.
                    if said.is_empty() { names.extend(catalog.names()) } else { names.extend(said) }
                }
            }
            Command::Fetch { .. }
            | Command::Find { .. }
            | Command::Forget { .. }
            | Command::Keep { .. } => {}
        }
    }
    names.into_iter().collect()
}

/// Returns the questions of the turns, for a heading.
fn questions(turns: &[PastTurn]) -> Vec<String> {
    let question = |it: &PastTurn| sanitize::for_terminal(it.question.trim());
    turns.iter().map(question).collect()
}
