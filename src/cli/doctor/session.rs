//! `doctor --session`: every file of the session, and with `--repair` what can be mended.

use std::path::PathBuf;

use serde_json::json;

use crate::catalog::Dataset;
use crate::cli::ingest::ingest_in_place;
use crate::cli::listing::{self, Listing};
use crate::cli::options::GlobalOptions;
use crate::cli::{out, report};
use crate::dataset::sha256_file;
use crate::session::directory::mending;
use crate::session::repair::{Finding, State, examine, put_entry_aside};
use crate::session::{Access, Session};
use crate::status::ExitStatus;

/// Looks at the files of the session, or mends them, and prints a line for each.
///
/// # Errors
///
/// Fails when there is no session or it may not be used, a repair cannot be written, or stdout cannot take
/// the answer.
pub fn run(mends: bool, options: &GlobalOptions) -> anyhow::Result<ExitStatus> {
    options.session.existing()?;
    let dir = &options.session.dir;
    let lock = mends.then(|| options.lock("doctor"));
    let mut examined = examine(dir, lock)?;
    for (name, dataset, why) in examined.lost {
        let found = mends.then(|| ingest_again(&name, &dataset, options));
        let (state, found) = match found {
            None => (State::Problem, format!("its file {why}")),
            Some(Ok(source)) => {
                (State::Mended, format!("its file {why}; read again from `{source}`"))
            }
            Some(Err(reason)) => {
                let kept = put_entry_aside(dir, &name, options.lock("doctor"))?;
                let kept = kept.map(|it| format!(", and what was known of it is kept as `{it}`"));
                let kept = kept.unwrap_or_default();
                (State::Mended, format!("its file {why}, and {reason}; taken out{kept}"))
            }
        };
        examined.findings.push(Finding { name: format!("dataset {name}"), state, found });
    }
    let findings = &examined.findings;
    let row = |it: &Finding| vec![json!(it.name), json!(word(it.state)), json!(it.found)];
    let frame =
        listing::frame(&["file", "state", "found"], &[], findings.iter().map(row).collect());
    let listing = Listing { documents: frame.objects(), frame };
    out::answer(|out| listing.write_whole(out, options))?;
    if findings.iter().all(|it| it.state != State::Problem) {
        return Ok(ExitStatus::Ok);
    }
    if !mends && !options.quiet {
        report::note(&format!("`{}` mends what can be mended", mending(dir)));
    }
    Ok(ExitStatus::Setup)
}

fn word(state: State) -> &'static str {
    match state {
        State::Ok => "ok",
        State::Mended => "mended",
        State::Problem => "problem",
    }
}

/// Reads a dataset again from its source, and returns where that is; the reason when it cannot be.
fn ingest_again(name: &str, dataset: &Dataset, options: &GlobalOptions) -> Result<String, String> {
    let source = &dataset.source;
    if source == "-" {
        return Err("it came from standard input".to_owned());
    }
    let beside = options.session.dir.parent().map(|it| it.join(source));
    let places = [Some(PathBuf::from(source)), beside];
    let is_there = |it: &PathBuf| it.metadata().is_ok_and(|it| it.is_file());
    let Some(path) = places.into_iter().flatten().find(is_there) else {
        return Err(format!("there is no file `{source}` to read it from"));
    };
    // What has no length, as in `/proc`, may be waited for.
    let is_same = 0 < dataset.bytes
        && path.metadata().is_ok_and(|it| it.len() == dataset.bytes)
        && sha256_file(&path).is_ok_and(|it| it == dataset.sha256);
    if !is_same {
        return Err(format!("`{}` has changed since", path.display()));
    }
    let lock = options.lock("doctor");
    let ingested = Session::open(&options.session.dir, Access::Existing, lock)
        .and_then(|mut session| ingest_in_place(&mut session, name, &path, options));
    match ingested {
        Ok(()) => Ok(path.display().to_string()),
        Err(error) => Err(format!("`{}` cannot be read: {error:#}", path.display())),
    }
}
