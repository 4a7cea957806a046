//! The files that a command line writes: none of them may be one that it reads.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use csv_agent_session::Session;
use csv_agent_types::status::Failure;

use crate::Verb;
use crate::flags::TurnFlags;
use crate::ingest::{files_of, sources_of};
use crate::options::GlobalOptions;

/// Checks that no file to write is one that the command reads, or one that a dataset of the session was read from.
///
/// Nothing may be written before this check, not even the report of an error. Fails with `FailureKind::Usage` when
/// one is.
pub(crate) fn demand_no_input(verb: &Verb, options: &GlobalOptions) -> Result<(), Failure> {
    let place = |it: &Path| it.canonicalize().ok();
    // What is written to a pipe replaces nothing.
    let files = outputs(verb).into_iter().filter(|it| it.is_file());
    let existing: Vec<(&Path, PathBuf)> = files.filter_map(|it| Some((it, place(it)?))).collect();
    if existing.is_empty() {
        return Ok(());
    }
    let session_dir = &options.session.dir;
    // The command itself reports what is wrong with the session or with a path.
    let catalog = Session::read_catalog(session_dir).unwrap_or_default();
    let (files, data) = inputs(verb);
    let files = files.into_iter().map(Path::to_owned);
    let files = files.chain(files_of(data).unwrap_or_default());
    let files = files.chain(catalog.iter().flat_map(|it| sources_of(it.1, session_dir)));
    let inputs: HashSet<PathBuf> = files.filter_map(|it| place(&it)).collect();
    let Some((output, _)) = existing.iter().find(|it| inputs.contains(&it.1)) else {
        return Ok(());
    };
    let message = format!("the output would replace `{}`, which is an input", output.display());
    Err(Failure::usage(message).hint("write to another file"))
}

/// Returns the files that a command replaces.
fn outputs(verb: &Verb) -> Vec<&Path> {
    let mut outputs: Vec<&PathBuf> = Vec::new();
    let mut events = None;
    match verb {
        Verb::Ask(flags) => {
            outputs.extend(&flags.output);
            outputs.extend(flags.report.iter().filter_map(|it| it.file.as_ref()));
            events = flags.turn.events.as_deref();
        }
        Verb::Chat(flags) => events = flags.turn.events.as_deref(),
        Verb::Export(flags) => outputs.extend(&flags.output),
        Verb::Query(flags) => outputs.extend(&flags.output),
        Verb::Report(flags) => outputs.extend(&flags.output),
        Verb::Rerun(flags) => outputs.extend(&flags.output),
        Verb::Show(flags) => outputs.extend(flags.output.iter().chain(&flags.html)),
        _ => {}
    }
    outputs.into_iter().map(PathBuf::as_path).chain(events.map(Path::new)).collect()
}

/// Returns the files that a command reads, and its paths and patterns of data.
fn inputs(verb: &Verb) -> (Vec<&Path>, &[PathBuf]) {
    let (files, data): (Vec<&PathBuf>, &[PathBuf]) = match verb {
        Verb::Ask(flags) => {
            let own = flags.question_file.iter().chain(&flags.image);
            (own.chain(texts_of(&flags.turn)).collect(), &flags.turn.file)
        }
        Verb::Chat(flags) => (texts_of(&flags.turn).collect(), &flags.turn.file),
        Verb::Query(flags) => (Vec::new(), &flags.file),
        Verb::Report(flags) => (flags.from.iter().chain(&flags.replay).collect(), &flags.file),
        Verb::Rerun(flags) => (flags.against.iter().map(|it| &it.1).collect(), &[]),
        _ => (Vec::new(), &[]),
    };
    (files.into_iter().map(PathBuf::as_path).collect(), data)
}

fn texts_of(turn: &TurnFlags) -> impl Iterator<Item = &PathBuf> {
    let TurnFlags { settings, replay, .. } = turn;
    settings.knowledge.iter().chain(&settings.thresholds).chain(replay)
}
