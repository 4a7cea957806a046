//! Code that the provider runs: where it runs, on which files, and the reports of its runs.

mod container;
mod files;
mod forget;
mod interpreter;
mod runs;
mod table;
mod upload;

use std::collections::HashSet;

use csv_agent_provider::Provider;
use csv_agent_provider::hosted;
use csv_agent_provider::hosted::code_interpreter::{self, ContainerChoice};
use csv_agent_session::Session;
use csv_agent_session::hosted::{HostedState, ProviderState};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::{Item, ToolDeclaration};

use crate::Agent;

pub(crate) use container::is_about_hosted;
pub use forget::{delete_kept, left_there};
pub use interpreter::{HostedOptions, Interpreter};
pub(crate) use table::{AtProvider, CancelOnDrop};
pub use upload::PlannedUpload;

/// A process's knowledge of the code that the provider ran for it, and of the files and containers that the
/// provider keeps for that.
#[derive(Debug, Default)]
pub struct Hosted {
    /// The server under whose name the session records this; none for a cassette.
    server: Option<String>,
    kept: ProviderState,
    is_loaded: bool,
    /// Whether everything kept is deleted when the process ends.
    is_temporary: bool,
    /// The datasets that the turn sees, and their uploads.
    catalog: Catalog,
    in_use: Vec<InUse>,
    /// Number of earlier turns in the conversation.
    n_turns: usize,
    mended: Mended,
    /// Replaces the user's container, which has expired.
    replacement: Option<ContainerChoice>,
    /// Ids of runs and calls, which pair events.
    seen: HashSet<String>,
    /// Containers that code of the turn ran in.
    met: Vec<String>,
}

/// The upload of a dataset that the turn sees.
#[derive(Debug, Clone)]
struct InUse {
    dataset: String,
    version: String,
    file_id: String,
}

/// Repairs already done in a turn; each is done once.
#[derive(Debug, Clone, Copy, Default)]
struct Mended {
    container: bool,
    uploads: bool,
}

impl Hosted {
    /// Loads what the provider keeps for the session. A replay has none of it, so a recording does not use
    /// it either.
    fn load(
        &mut self,
        session: &Session,
        provider: &Provider,
        is_fresh: bool,
    ) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.is_loaded, true) {
            return Ok(());
        }
        self.is_temporary = !session.is_kept();
        let Some((server, is_recorded)) = provider.keeper() else { return Ok(()) };
        self.kept = forget::nameable(HostedState::read(session.dir())?.of(server));
        self.server = Some(server.to_owned());
        if is_recorded {
            self.kept.uploads.iter_mut().for_each(|it| it.version.clear());
        }
        if is_recorded || is_fresh {
            self.kept.container = None;
        }
        Ok(())
    }

    /// Writes what the provider keeps to the session.
    fn save(&self, session: &Session) -> anyhow::Result<()> {
        match &self.server {
            Some(server) => HostedState::write(session.dir(), server, &self.kept),
            None => Ok(()),
        }
    }

    /// Stops relying on the uploads of the turn: the provider has lost at least one of them.
    fn give_up_uploads(&mut self) {
        for upload in &mut self.kept.uploads {
            if self.in_use.iter().any(|it| it.file_id == upload.file_id) {
                upload.expires = 0;
            }
        }
    }

    /// Returns where code runs.
    fn container<'a>(&'a self, options: &'a HostedOptions) -> &'a ContainerChoice {
        self.replacement.as_ref().unwrap_or(&options.container)
    }

    /// Returns the container that holds the variables of earlier runs.
    fn container_id(&self) -> Option<&str> {
        self.kept.container.as_ref().map(|it| it.container_id.as_str())
    }

    /// Returns the conversation as a request may contain it.
    pub fn conversation(&self, interpreter: &Interpreter, items: Vec<Item>) -> Vec<Item> {
        let container_id = interpreter.hosted().and_then(|_| self.container_id());
        hosted::only_of_container(items, container_id)
    }

    /// Returns the tool declarations of a request with these items.
    pub(crate) fn declarations(
        &self,
        interpreter: &Interpreter,
        items: &[Item],
    ) -> Vec<ToolDeclaration> {
        let Some(options) = interpreter.hosted() else { return Vec::new() };
        let container = match (self.container(options), self.container_id()) {
            // The provider finds the container through the runs in the conversation; where these were
            // summarised, the declaration names it.
            (ContainerChoice::Auto(_), Some(id))
                if items.iter().all(|it| it.container_id() != Some(id)) =>
            {
                &ContainerChoice::Existing(id.to_owned())
            }
            (container, _) => container,
        };
        let file_ids: Vec<String> = self.in_use.iter().map(|it| it.file_id.clone()).collect();
        vec![code_interpreter::declaration(container, &file_ids)]
    }
}

impl Agent {
    /// Returns what a turn would upload first. Its items and the declaration then match what the turn would
    /// send, except for ids that the provider has not assigned yet. Sends and writes nothing. Fails when a
    /// dataset cannot be uploaded, or the record of what the provider keeps cannot be read.
    pub(super) fn plan_hosted(
        &mut self,
        session: &Session,
        catalog: &Catalog,
        history: &[Item],
        items: &mut Vec<Item>,
    ) -> anyhow::Result<Vec<PlannedUpload>> {
        let Some(options) = self.options.interpreter.hosted().cloned() else {
            return Ok(Vec::new());
        };
        self.hosted.load(session, &self.provider, self.options.fresh)?;
        let planned = self.plan_uploads(session, catalog)?;
        self.plan_container(&options, catalog, history, items);
        Ok(planned)
    }
}
