//! The container that code runs in: looked at before a turn, replaced when it has expired.

use crate::agent::hosted::{Hosted, HostedOptions, Mended};
use crate::agent::news::listener;
use crate::agent::turn::{Ended, Turn};
use crate::agent::{Agent, Conversation};
use crate::catalog::Catalog;
use crate::conversation::Item;
use crate::event::Status;
use crate::provider::error::{ProviderError, ProviderErrorKind};
use crate::provider::hosted::code_interpreter::{Container, Memory};
use crate::session::Session;
use crate::session::hosted::KeptContainer;

/// What the model is told when the variables of its code are gone.
const GONE: &str = "(The container of earlier code_interpreter runs is gone, with its variables and the files \
that code made there. Code runs in a new one, which has the files of the datasets.)";

impl Agent {
    /// Makes ready what code at the provider needs: the files of the datasets, and the container, if
    /// there is one already.
    pub(in crate::agent) async fn prepare_hosted(
        &mut self,
        session: &Session,
        catalog: &Catalog,
        conversation: &mut Conversation<'_>,
        turn: &mut Turn<'_>,
    ) -> Result<(), Ended> {
        let Some(options) = self.options.interpreter.hosted().cloned() else { return Ok(()) };
        self.hosted.load(session, &self.provider, self.options.fresh)?;
        self.hosted.catalog = catalog.clone();
        self.hosted.mended = Mended::default();
        self.upload_datasets(session, turn).await?;
        self.leave_unfit_container(session, &options, conversation, turn)?;
        let id = match self.hosted.container(&options) {
            Container::Existing(id) => Some(id.clone()),
            Container::Auto(_) => self.hosted.container_id().map(str::to_owned),
        };
        let Some(id) = id else { return Ok(()) };
        match self.fill_container(session, &id, turn).await {
            Err(Ended::Failed(error)) => {
                self.renew_container(error, session, conversation, 0, turn)
            }
            filled => filled,
        }
    }

    /// Puts right what a failed request says of files and containers of the provider's, so that it can be
    /// sent again; each once a turn.
    ///
    /// # Errors
    ///
    /// Fails with the error when there is nothing to put right.
    pub(in crate::agent) async fn mend_hosted(
        &mut self,
        error: anyhow::Error,
        session: &Session,
        conversation: &mut Conversation<'_>,
        turn: &mut Turn<'_>,
    ) -> Result<(), Ended> {
        let kind = error.downcast_ref::<ProviderError>().map(|it| it.kind.clone());
        match kind {
            Some(ProviderErrorKind::ContainerExpired) if !self.hosted.mended.container => {
                self.hosted.mended.container = true;
                let at = conversation.items.len();
                self.renew_container(error, session, conversation, at, turn)
            }
            Some(ProviderErrorKind::NoSuchFile) if !self.hosted.mended.uploads => {
                self.hosted.mended.uploads = true;
                let message = format!("uploading the datasets again: {error:#}");
                turn.status(Status::Warning { code: "files_expired".to_owned(), message })?;
                self.hosted.kept.uploads.clear();
                self.upload_datasets(session, turn).await
            }
            _ => Err(Ended::Failed(error)),
        }
    }

    /// Leaves a container that cannot be what the turn needs: it has other memory, or a dataset in it has
    /// changed since.
    fn leave_unfit_container(
        &mut self,
        session: &Session,
        options: &HostedOptions,
        conversation: &mut Conversation<'_>,
        turn: &mut Turn,
    ) -> Result<(), Ended> {
        let Some((id, reason)) = self.hosted.unfit(options) else { return Ok(()) };
        self.leave_container(session, conversation, 0)?;
        let message = format!(
            "code runs in a new container, because {reason}: variables and files of `{id}` are not there"
        );
        turn.status(Status::Warning { code: "container_replaced".to_owned(), message })
    }

    /// Looks at a container, and puts the files of the datasets there that it does not have yet.
    async fn fill_container(
        &mut self,
        session: &Session,
        id: &str,
        turn: &mut Turn<'_>,
    ) -> Result<(), Ended> {
        let mut on_progress = listener(turn);
        let looked = turn.wait_sent(self.provider.container(id, &mut on_progress)).await?;
        let found = looked.map_err(anyhow::Error::from)?;
        if self.hosted.container_id() != Some(id) {
            // What is there already, no question of this session has made.
            let listing = self.provider.container_files(id, &mut on_progress);
            let listed = turn.wait_sent(listing).await?.map_err(anyhow::Error::from)?;
            let fetched = listed.into_iter().map(|it| (it.id, it.bytes.unwrap_or(0))).collect();
            let container_id = id.to_owned();
            self.hosted.kept.container =
                Some(KeptContainer { container_id, fetched, ..KeptContainer::default() });
        }
        for file_id in self.hosted.file_ids.clone() {
            let Some(kept) = &mut self.hosted.kept.container else { return Ok(()) };
            kept.memory_limit = found.memory_limit.clone().or(kept.memory_limit.take());
            if kept.file_ids.contains(&file_id) {
                continue;
            }
            kept.file_ids.push(file_id.clone());
            let adding = self.provider.add_to_container(id, &file_id, &mut on_progress);
            let added = turn.wait_sent(adding).await?;
            added.map_err(anyhow::Error::from)?;
        }
        Ok(self.hosted.save(session)?)
    }

    /// Goes on in a new container when an error says that the one in use has expired, and the user wants
    /// that. The model is told at this place of the turn's items.
    ///
    /// # Errors
    ///
    /// Fails with the error when it is another, or the user does not want that.
    pub(super) fn renew_container(
        &mut self,
        error: anyhow::Error,
        session: &Session,
        conversation: &mut Conversation<'_>,
        at: usize,
        turn: &mut Turn,
    ) -> Result<(), Ended> {
        let kind = error.downcast_ref::<ProviderError>().map(|it| &it.kind);
        let options = self.options.interpreter.hosted();
        let (Some(ProviderErrorKind::ContainerExpired), Some(options)) = (kind, options) else {
            return Err(Ended::Failed(error));
        };
        let named = match self.hosted.container(options) {
            Container::Existing(id) => Some(id.clone()),
            Container::Auto(_) => None,
        };
        let id = named.clone().or(self.hosted.container_id().map(str::to_owned));
        let renews = options.renews;
        let memory = self.hosted.kept.container.as_ref().and_then(|it| it.memory_limit.clone());
        self.leave_container(session, conversation, at)?;
        if !renews {
            return Err(Ended::Failed(expired(error, named.is_some())));
        }
        if named.is_some() {
            let same = |it: &&(&str, Memory)| Some(it.0) == memory.as_deref();
            let memory = Memory::NAMES.iter().find(same).map_or(Memory::default(), |it| it.1);
            self.hosted.replacement = Some(Container::Auto(memory));
        }
        let id = id.map_or(String::new(), |it| format!(" `{it}`"));
        let message = format!(
            "the container{id} has expired: code runs in a new one, and variables and files of the old one \
             are gone"
        );
        turn.status(Status::Warning { code: "container_expired".to_owned(), message })
    }

    /// Leaves a container as [`Agent::prepare_hosted`] would, for a request that is only shown.
    pub(super) fn plan_container(&mut self, options: &HostedOptions, items: &mut Vec<Item>) {
        if self.hosted.unfit(options).is_some() {
            self.hosted.kept.container = None;
            items.insert(0, Item::user(GONE));
        }
    }

    fn leave_container(
        &mut self,
        session: &Session,
        conversation: &mut Conversation<'_>,
        at: usize,
    ) -> anyhow::Result<()> {
        self.hosted.kept.container = None;
        self.hosted.save(session)?;
        conversation.items.insert(at, Item::user(GONE));
        Ok(())
    }
}

impl Hosted {
    /// Returns the container that cannot be what a turn needs, and why.
    fn unfit(&self, options: &HostedOptions) -> Option<(String, &'static str)> {
        let Container::Auto(memory) = self.container(options) else { return None };
        let kept = self.kept.container.as_ref()?;
        let is_known = |it: &String| self.kept.uploads.iter().any(|known| known.file_id == *it);
        let reason = if !kept.is_ours {
            "another was named"
        } else if kept.memory_limit.as_deref() != Some(memory.name()) {
            "it has other memory"
        } else if !kept.file_ids.iter().all(is_known) {
            "a dataset in it has changed"
        } else {
            return None;
        };
        Some((kept.container_id.clone(), reason))
    }
}

/// Returns whether a request failed because of what the provider keeps, or no longer keeps, for code.
pub fn is_about_hosted(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<ProviderError>().map(|it| &it.kind);
    matches!(kind, Some(ProviderErrorKind::ContainerExpired | ProviderErrorKind::NoSuchFile))
}

/// Adds what the user can do now. A container that the provider made is forgotten: the next question has a
/// new one.
fn expired(error: anyhow::Error, is_named: bool) -> anyhow::Error {
    match error.downcast::<ProviderError>() {
        Ok(error) if is_named => error
            .hint("its variables and files are gone; use another container, or `--on-expired new`")
            .into(),
        Ok(error) => error
            .hint(
                "its variables and files are gone: ask again, which goes on in a new container, as \
                 `--on-expired new` does at once",
            )
            .into(),
        Err(error) => error,
    }
}
