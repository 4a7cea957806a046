//! The data that a turn withholds: checked before the turn begins, and enforced before anything is sent.
//!
//! Code and queries see tokens in place of withheld columns. Items of earlier turns that withheld less are
//! left out of the conversation. Thresholds are rated on the original values, because the result is only
//! counts.

use std::io;

use tempfile::TempDir;

use csv_agent_provider::Provider;
use csv_agent_session::Session;
use csv_agent_session::directory::mendable;
use csv_agent_session::history::History;
use csv_agent_types::catalog::Catalog;
use csv_agent_types::event::{Confinement, Status};
use csv_agent_types::redaction::Redaction;
use csv_agent_types::status::Failure;
use csv_agent_worker::sandbox::FILES;

use crate::hosted::CancelOnDrop;
use crate::turn::TurnInterrupt;
use crate::{Agent, AgentOptions, TurnContext};

/// Copies of datasets without the withheld values, deleted on drop.
#[derive(Debug)]
pub(crate) struct Masked {
    /// The originals.
    source: Catalog,
    copies: Catalog,
    // Deleted with the copies in it. What a killed process leaves is deleted when the session is opened
    // again.
    _dir: TempDir,
}

impl AgentOptions {
    /// Checks that the columns named by the user exist: a misspelt name would withhold nothing. Returns the
    /// user's warning about unknown columns that a file names.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Input` when no dataset has such a column.
    pub fn check_withheld(&self, catalog: &Catalog) -> anyhow::Result<Vec<String>> {
        let mut notes = Vec::new();
        for name in &self.withheld.columns {
            let only = Redaction { columns: [name.clone()].into(), rows: false };
            let has = |(dataset, it): (&str, &csv_agent_types::catalog::Dataset)| {
                it.columns.iter().any(|column| only.has(dataset, &column.name))
            };
            if catalog.iter().any(has) {
                continue;
            }
            let message = format!("no dataset has a column `{name}` to keep back");
            if self.redact.contains(name) {
                let hint = if name.contains(',') {
                    format!(
                        "name one column per flag: `--redact {}`",
                        name.replace(',', " --redact ")
                    )
                } else {
                    "`csv-agent datasets --schema` lists the columns; write `COL` or `DATASET.COL`"
                        .to_owned()
                };
                return Err(Failure::input(message).hint(hint).into());
            }
            notes.push(message);
        }
        Ok(notes)
    }
}

impl Agent {
    /// Checks the columns to withhold, as [`AgentOptions::check_withheld`] does. A client may add data later: before
    /// there is any, nothing is wrong.
    pub(super) fn check_withheld(&self, catalog: &Catalog) -> anyhow::Result<Vec<String>> {
        if catalog.is_empty() && self.is_for_a_client() {
            return Ok(Vec::new());
        }
        self.options.check_withheld(catalog)
    }

    /// Checks that code cannot read the original values elsewhere, where its outputs are sent to a server.
    /// Fails with `FailureKind::Sandbox` when it could.
    pub(super) fn check_confinement(&self, confinement: &Confinement) -> anyhow::Result<()> {
        let keeps_back = !self.options.withheld.columns.is_empty() && self.sends();
        if !keeps_back || confinement.enforces(FILES) {
            return Ok(());
        }
        let message = "columns cannot be kept back: code could read their values in other files, because nothing \
                       confines it here";
        let hint = "`csv-agent doctor` reports what is missing; or ask the built-in analyst with \
                    `--model builtin`, which sends nothing";
        Err(Failure::sandbox(message).hint(hint).into())
    }

    /// Returns whether the turn sends anything to a server.
    pub(super) fn sends(&self) -> bool {
        self.provider.destination_name().is_some()
    }

    /// Returns what is withheld from the provider. A provider in this process may read every row, and then
    /// a later turn may not repeat the turn.
    pub(super) fn withheld(&self) -> Redaction {
        let withheld = self.options.withheld.clone();
        let rows = withheld.rows && !matches!(self.provider, Provider::Builtin);
        Redaction { rows, ..withheld }
    }

    /// Removes items from a conversation that come from turns that withheld less. Returns the user's
    /// warning about that.
    pub(super) fn keep_back_history(&mut self, history: &mut History) -> Option<String> {
        if !matches!(self.provider, Provider::Builtin) {
            history.drop_builtin_calls();
        }
        self.is_partial = history.keep_back(&self.withheld());
        let message = "the model does not see earlier questions, because they kept less back";
        self.is_partial.then(|| message.to_owned())
    }

    /// Returns the datasets for queries and code: copies, where values are withheld. Fails when a copy cannot
    /// be made, or the turn ends first.
    pub(super) async fn keep_back(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        key: Option<String>,
    ) -> Result<Catalog, TurnInterrupt> {
        let Some(key) = key else { return Ok(context.catalog.clone()) };
        if let Some(masked) = self.masked.as_ref().filter(|it| it.source == *context.catalog) {
            return Ok(masked.copies.clone());
        }
        context.turn.status(Status::Loading { message: "keeping values back".to_owned() })?;
        let dir = context.session.masked_dir()?;
        let (source, session_dir) = (context.catalog.clone(), context.session.dir().to_owned());
        let withheld = self.options.withheld.clone();
        // When the turn ends first, so does the copying, and the directory goes.
        let (_end, is_over) = CancelOnDrop::of_waiting();
        let copying = tokio::task::spawn_blocking(move || {
            let copies = csv_agent_ingest::masked(
                &source,
                &session_dir,
                &withheld,
                &key,
                dir.path(),
                &is_over,
            )?;
            anyhow::Ok(Masked { source, copies, _dir: dir })
        });
        let masked = context.turn.wait(copying).await?.map_err(anyhow::Error::from)?;
        let masked = masked.map_err(|error| of_dataset(error, context.catalog, context.session))?;
        let copies = masked.copies.clone();
        self.masked = Some(masked);
        Ok(copies)
    }
}

/// Returns the error of copies that could not be made. Unless the system refused something, a dataset is damaged.
fn of_dataset(error: anyhow::Error, catalog: &Catalog, session: &Session) -> anyhow::Error {
    if error.chain().any(|it| it.downcast_ref::<io::Error>().is_some()) {
        return error;
    }
    // An ephemeral session sees files of another one.
    let paths = || catalog.iter().filter_map(|it| it.1.path());
    let other = paths().find(|it| it.is_absolute()).and_then(|it| it.ancestors().nth(2));
    mendable(other.unwrap_or(session.dir()), format!("{error:#}")).into()
}
