//! The data of a question or a statement: files, and datasets of the session.

use std::path::{Path, PathBuf};

use csv_agent_session::Session;
use csv_agent_types::catalog::Catalog;
use csv_agent_types::chosen::is_named;
use csv_agent_types::status::Failure;

use super::ingest::{TurnInputs, changed_sources, ingest_for_turn};
use super::options::GlobalOptions;
use super::options::session::SessionOrigin;

/// What the user named: `-f` and `-d`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs<'a> {
    /// Files, directories and patterns; `-` is stdin.
    pub files: &'a [PathBuf],
    /// Names and patterns of datasets.
    pub datasets: &'a [String],
    /// Whether a file of a directory that cannot be read is an error and not a warning: no check passes without it.
    pub needs_all: bool,
    /// The only statement about a temporary session, if it names all columns that it reads.
    pub statement: Option<&'a str>,
}

impl Inputs<'_> {
    /// Creates a temporary session with these inputs. It sees the datasets of the user's session only if `-d` names
    /// some, or a flag names the session.
    ///
    /// Returns it with the names of the visible datasets; see [`Inputs::ingest`].
    pub(crate) fn temporary(
        self,
        options: &GlobalOptions,
    ) -> anyhow::Result<(Session, Vec<String>)> {
        let base = self.base(options);
        let mut session = Session::ephemeral(base)?;
        let names = self.ingest(&mut session, options)?;
        let is_all = base.is_some() && self.datasets.is_empty();
        Ok((session, if is_all { Vec::new() } else { names }))
    }

    /// Ingests the files into a session, which receives the warnings about them and about data that has changed.
    /// Returns the names and patterns of the visible datasets: with files, these and what `-d` names; empty when all
    /// are visible.
    pub(crate) fn ingest(
        self,
        session: &mut Session,
        options: &GlobalOptions,
    ) -> anyhow::Result<Vec<String>> {
        let before = self.of_session(session.catalog());
        let mut names = if self.files.is_empty() {
            Vec::new()
        } else {
            let Inputs { needs_all, statement, .. } = self;
            let how = TurnInputs { needs_all, statement, ..TurnInputs::default() };
            ingest_for_turn(session, self.files, how, options)?
        };
        // What was ingested now is as it is in its file.
        let older = before.iter().filter(|it| !names.iter().any(|name| name == it.0));
        for warning in changed_sources(older, &options.session.dir) {
            session.warn(warning);
        }
        names.extend(self.datasets.iter().cloned());
        Ok(names)
    }

    /// Returns the datasets of the session that the user means.
    fn of_session(self, catalog: &Catalog) -> Catalog {
        if self.datasets.is_empty() && self.files.is_empty() {
            return catalog.clone();
        }
        catalog.filtered(|name| self.datasets.iter().any(|it| is_named(it, name)))
    }

    /// Checks that a temporary session would have data without files. Fails with `FailureKind::Usage` when it
    /// would have none.
    pub(crate) fn demand_for_temporary(self, options: &GlobalOptions) -> anyhow::Result<()> {
        if self.base(options).is_some() {
            return Ok(());
        }
        let message = "`--ephemeral` uses no session unless you name it, so there is no data";
        let hint = "name files with `-f FILE`, datasets of the session with `-d NAME` (`-d '*'` for all), or a \
                    session with `--session-dir DIR`";
        Err(Failure::usage(message).hint(hint).into())
    }

    /// Returns whether a temporary session sees datasets of the user's.
    pub(crate) fn sees_session(self, options: &GlobalOptions) -> bool {
        self.base(options).is_some()
    }

    /// Returns the session whose datasets a temporary one sees, if the user named it or a dataset of it. Opening it
    /// reports when it is another user's.
    fn base(self, options: &GlobalOptions) -> Option<&Path> {
        let session = &options.session;
        let is_named = session.origin == SessionOrigin::Flag || !self.datasets.is_empty();
        is_named.then_some(&*session.dir)
    }
}
