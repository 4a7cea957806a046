//! `--report`: the reports of a turn for CI systems, written when it has ended, successfully or not.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use csv_agent_agent::refuse;
use csv_agent_render::report::{ReportKind, ReportOutcome, TurnReport};
use csv_agent_sink::EventSink;
use csv_agent_types::conversation::Assessment;
use csv_agent_types::event::{Body, Event, Status};

use super::diagnostics;
use super::options::ask::ReportOptions;
use super::stdout::{WholeFile, open_direct};
use super::value_parsers::ReportTarget;
use crate::errors;

/// The session id in the events of a turn that could not begin.
pub(crate) const NO_SESSION: &str = "00000000-0000-0000-0000-000000000000";

/// Writes the reports of a question that could not be asked.
pub(crate) fn tell_failure(
    targets: Vec<ReportTarget>,
    summary: Option<PathBuf>,
    question: &str,
    error: &anyhow::Error,
) -> anyhow::Result<()> {
    if targets.is_empty() {
        return Ok(());
    }
    let fails_from = Assessment::Bad;
    let options = ReportOptions { targets, fails_from, fails_ungrounded: false, summary };
    refuse(&mut Reports::open(&options)?, NO_SESSION, "", question, error, errors::exit_code)?;
    Ok(())
}

/// The files of reports, which appear when they are complete.
pub(crate) struct ReportFiles {
    /// Each with its kind; None for stderr.
    open: Vec<(ReportKind, Option<WholeFile>)>,
    /// The file that GitHub shows as Markdown beside the job.
    summary: Option<PathBuf>,
}

impl ReportFiles {
    /// Opens the files of `targets`. `summary` is `GITHUB_STEP_SUMMARY`.
    pub(crate) fn open(
        targets: &[ReportTarget],
        summary: Option<&PathBuf>,
    ) -> anyhow::Result<ReportFiles> {
        let file = |it: &PathBuf| WholeFile::create(it);
        let open = targets.iter();
        let open = open.map(|it| Ok((it.kind, it.file.as_ref().map(file).transpose()?)));
        Ok(ReportFiles { open: open.collect::<anyhow::Result<_>>()?, summary: summary.cloned() })
    }

    /// Writes each report, once. Fails when a report cannot be made or written.
    pub(crate) fn write(
        &mut self,
        text: impl Fn(ReportKind) -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        for (kind, file) in std::mem::take(&mut self.open) {
            let written = text(kind)?;
            match file {
                Some(file) => {
                    file.writer()?
                        .write_all(written.as_bytes())
                        .context("cannot write a report")?;
                    file.finish()?;
                }
                None => diagnostics::tell(&written),
            }
            if let (ReportKind::Github, Some(path)) = (kind, &self.summary) {
                let cannot = || format!("cannot write the summary `{}`", path.display());
                let opened = open_direct(OpenOptions::new().append(true).create(true), path)?;
                let mut summary = opened.with_context(cannot)?;
                let text = text(ReportKind::Md)?;
                summary.write_all(text.as_bytes()).with_context(cannot)?;
            }
        }
        Ok(())
    }
}

/// The reports of a turn.
pub(crate) struct Reports {
    files: ReportFiles,
    turn: TurnReport,
}

impl Reports {
    /// Opens the files that `options` names.
    pub(crate) fn open(options: &ReportOptions) -> anyhow::Result<Reports> {
        Ok(Reports {
            files: ReportFiles::open(&options.targets, options.summary.as_ref())?,
            turn: TurnReport::new(options.fails_from, options.fails_ungrounded),
        })
    }
}

impl EventSink for Reports {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        match &event.body {
            Body::Status(Status::Started { question, .. }) => {
                self.turn.question.clone_from(question);
                self.turn.started.clone_from(&event.ts);
            }
            Body::Reply(reply) => self.turn.ending = ReportOutcome::Answered(reply.clone()),
            Body::Error(error) if error.fatal => {
                self.turn.ending = ReportOutcome::Failed(error.clone());
            }
            _ => {}
        }
        if event.body.is_terminal() {
            self.turn.ended.clone_from(&event.ts);
            self.files.write(|kind| self.turn.text(kind))?;
        }
        Ok(())
    }
}
