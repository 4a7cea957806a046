//! `doctor --session`: checks every file of the session, and with `--repair` repairs them.

use std::env::current_dir;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde_json::json;

use csv_agent_ingest::is_same_file;
use csv_agent_session::directory::{NAME, mending};
use csv_agent_session::repair::{
    DatasetPart, Health, Lost, RepairFinding, examine, put_entry_aside,
};
use csv_agent_session::{Access, Session};
use csv_agent_types::catalog::Dataset;
use csv_agent_types::named_file;
use csv_agent_types::status::FailureKind;

use crate::errors::ExitStatus;
use crate::ingest::ingest_in_place;
use crate::listing::{self, Listing};
use crate::options::GlobalOptions;
use crate::{diagnostics, stdout};

/// Checks or repairs the files of the session, and prints one line per finding. Fails when there is no session
/// or it may not be used, a repair cannot be written, or stdout cannot be written.
pub(super) fn run(mends: bool, options: &GlobalOptions) -> anyhow::Result<ExitStatus> {
    options.session.existing()?;
    let dir = &options.session.dir;
    let lock = mends.then(|| options.lock("doctor"));
    let mut examined = examine(dir, lock)?;
    for Lost { name, dataset, why, part } in examined.lost {
        let file = match part {
            DatasetPart::Table => "file",
            DatasetPart::Lines => "line map",
        };
        let found = mends.then(|| ingest_again(&name, &dataset, options));
        let (state, found) = match found {
            None => (Health::Problem, format!("its {file} {why}")),
            Some(Ok(source)) => {
                (Health::Mended, format!("its {file} {why}; read again from `{source}`"))
            }
            Some(Err(reason)) if part == DatasetPart::Lines => {
                let found = format!(
                    "its {file} {why}, and {reason}; findings in it have no line numbers until \
                     you ingest it again"
                );
                (Health::Problem, found)
            }
            Some(Err(reason)) => {
                let kept = put_entry_aside(dir, &name, options.lock("doctor"))?;
                let kept = kept.map(|it| format!(", and its entry is kept as `{it}`"));
                let kept = kept.unwrap_or_default();
                (
                    Health::Mended,
                    format!("its {file} {why}, and {reason}; removed from the session{kept}"),
                )
            }
        };
        examined.findings.push(RepairFinding { name: format!("dataset {name}"), state, found });
    }
    let findings = &examined.findings;
    let row = |it: &RepairFinding| vec![json!(it.name), json!(word(it.state)), json!(it.found)];
    let frame =
        listing::frame(&["file", "state", "found"], &[], findings.iter().map(row).collect());
    let listing = Listing { documents: frame.objects(), frame };
    stdout::answer(|out| listing.write_whole(out, options))?;
    if findings.iter().all(|it| it.state != Health::Problem) {
        return Ok(ExitStatus::Ok);
    }
    if !mends && options.has_notes() {
        diagnostics::note(&format!("repair the session with `{}`", mending(dir)));
    }
    Ok(ExitStatus::Failed(FailureKind::Setup))
}

fn word(state: Health) -> &'static str {
    match state {
        Health::Ok => "ok",
        Health::Mended => "repaired",
        Health::Problem => "problem",
    }
}

/// Ingests a dataset again from its source, and returns the path; the reason when it cannot.
///
/// The session chose the source and is untrusted, and the model can read everything ingested. So, unless
/// the user named the file, only a file of the project is read.
fn ingest_again(name: &str, dataset: &Dataset, options: &GlobalOptions) -> Result<String, String> {
    let source = &dataset.source;
    if source == "-" {
        return Err("it came from stdin".to_owned());
    }
    let project =
        project(options).ok_or("there is no project directory to search for its source")?;
    let Ok(path) = project.join(source).canonicalize() else {
        return Err(format!("its source `{source}` does not exist"));
    };
    let shown = path.display();
    let Ok(within) = path.strip_prefix(&project) else {
        return Err(format!(
            "its source `{shown}` is not below `{}`; ingest it yourself if it is the right file",
            project.display()
        ));
    };
    let file = named_file::open(&path).map_err(|it| format!("cannot read `{shown}`: {it}"))?;
    let found = file.metadata().map_err(|it| format!("cannot read `{shown}`: {it}"))?;
    if ![rustix::process::geteuid().as_raw(), 0].contains(&found.uid()) {
        return Err(format!("its source `{shown}` belongs to another user"));
    }
    if !is_same_file(&file, dataset.bytes, &dataset.sha256) {
        return Err(format!("its source `{shown}` has changed since then"));
    }
    let lock = options.lock("doctor");
    let ingested = Session::open(&options.session.dir, Access::Existing, lock)
        .and_then(|mut session| ingest_in_place(&mut session, name, &path, options));
    match ingested {
        Ok(()) => Ok(within.display().to_string()),
        Err(error) => Err(format!("its source `{shown}` cannot be read: {error:#}")),
    }
}

/// Returns the directory whose files belong to the session: its parent, or the current one when the user
/// named the session.
fn project(options: &GlobalOptions) -> Option<PathBuf> {
    let dir = &options.session.dir;
    let project =
        if dir.ends_with(NAME) { dir.parent()?.to_owned() } else { current_dir().ok()? };
    project.canonicalize().ok()
}
