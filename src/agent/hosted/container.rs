//! The container that code runs in: checked before a turn, replaced when it has expired.

use csv_agent_provider::error::{ProviderError, ProviderErrorKind};
use csv_agent_provider::hosted::code_interpreter::{ContainerChoice, MemoryTier};
use csv_agent_session::hosted::KeptContainer;
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::conversation::{Item, ItemKind};
use csv_agent_types::event::Status;

use crate::hosted::files::BY_USER;
use crate::hosted::upload::version;
use crate::hosted::{Hosted, HostedOptions, InUse, Mended};
use crate::progress::listener;
use crate::turn::{Turn, TurnInterrupt};
use crate::{Agent, Conversation, TurnContext};

/// Sent to the model when the variables of its code are lost.
const GONE: &str = "(The container of earlier code_interpreter runs is gone, with its variables and the files \
that code made there. Code runs in a new one, which has the files of the datasets.)";

impl Agent {
    /// Prepares code execution at the provider: the datasets' files, and the container, if there is one
    /// already.
    pub(crate) async fn prepare_hosted(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        conversation: &mut Conversation<'_>,
    ) -> Result<(), TurnInterrupt> {
        let Some(options) = self.options.interpreter.hosted().cloned() else { return Ok(()) };
        self.hosted.load(context.session, &self.provider, self.options.fresh)?;
        self.hosted.catalog = context.catalog.here();
        self.hosted.n_turns = conversation.history.turns.len();
        self.hosted.mended = Mended::default();
        self.hosted.met.clear();
        let before = self.hosted.container_id().map(str::to_owned);
        self.upload_datasets(context).await?;
        self.leave_unfit_container(context, &options).await?;
        loop {
            let id = match self.hosted.container(&options) {
                ContainerChoice::Existing(id) => Some(id.clone()),
                ContainerChoice::Auto(_) => self.hosted.container_id().map(str::to_owned),
            };
            let Some(id) = id else { break };
            match self.fill_container(context, &id).await {
                Err(TurnInterrupt::Failed(error)) => self.put_right(context, error).await?,
                filled => {
                    filled?;
                    break;
                }
            }
        }
        self.hosted.mended = Mended::default();
        let now = self.hosted.container_id();
        let is_left = before.is_some() && before.as_deref() != now;
        if is_left || is_unaware(&conversation.history.items(), now) {
            conversation.items.insert(0, Item::user(GONE));
        }
        Ok(())
    }

    /// Repairs the provider's files or containers after a failed request, so that it can be retried. Each
    /// repair runs once a turn. Fails with the error when there is nothing to repair.
    pub(crate) async fn mend_hosted(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        error: anyhow::Error,
        conversation: &mut Conversation<'_>,
    ) -> Result<(), TurnInterrupt> {
        let had_container = self.hosted.container_id().is_some();
        self.put_right(context, error).await?;
        if had_container && self.hosted.container_id().is_none() {
            conversation.items.push(Item::user(GONE));
        }
        Ok(())
    }

    async fn put_right(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        error: anyhow::Error,
    ) -> Result<(), TurnInterrupt> {
        let kind = error.downcast_ref::<ProviderError>().map(|it| it.kind.clone());
        match kind {
            Some(ProviderErrorKind::ContainerExpired) if !self.hosted.mended.container => {
                self.hosted.mended.container = true;
                self.renew_container(context, error)
            }
            Some(ProviderErrorKind::NoSuchFile) if !self.hosted.mended.uploads => {
                self.hosted.mended.uploads = true;
                let message = format!("uploading the datasets again: {error:#}");
                context
                    .turn
                    .status(Status::Warning { code: "files_expired".to_owned(), message })?;
                self.hosted.give_up_uploads();
                self.upload_datasets(context).await
            }
            _ => Err(TurnInterrupt::Failed(error)),
        }
    }

    /// Abandons a container that does not suit the turn: its memory differs, or a dataset in it has
    /// changed.
    async fn leave_unfit_container(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        options: &HostedOptions,
    ) -> Result<(), TurnInterrupt> {
        let unfit = self.hosted.unfit(options, &self.hosted.catalog);
        let Some((id, reason)) = unfit else { return Ok(()) };
        let message = format!(
            "code runs in a new container, because {reason}: variables and files of `{id}` are not there"
        );
        context.turn.status(Status::Warning { code: "container_replaced".to_owned(), message })?;
        self.leave_container(context).await
    }

    /// Forgets the container. One that csv-agent created is deleted: it holds old data, and no later
    /// process would find it.
    async fn leave_container(
        &mut self,
        context: &mut TurnContext<'_, '_>,
    ) -> Result<(), TurnInterrupt> {
        let left = self.hosted.kept.container.take();
        if let Some(KeptContainer { container_id, is_ours: true, .. }) = left {
            let mut on_progress = listener(context.turn);
            let deleting = self.provider.delete_container(&container_id, &mut on_progress);
            let deleted = context.turn.wait_sent(deleting).await?;
            // Otherwise it soon expires.
            match deleted {
                Err(error) if error.kind == ProviderErrorKind::Mismatch => {
                    return Err(TurnInterrupt::Failed(error.into()));
                }
                _ => {}
            }
        }
        Ok(self.hosted.save(context.session)?)
    }

    /// Checks a container, and uploads the datasets' files that it lacks.
    async fn fill_container(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        id: &str,
    ) -> Result<(), TurnInterrupt> {
        let mut on_progress = listener(context.turn);
        let looked = context.turn.wait_sent(self.provider.container(id, &mut on_progress)).await?;
        let found = looked.map_err(anyhow::Error::from)?;
        if self.hosted.container_id() != Some(id) {
            // Files that other code made there are not made by this turn.
            let listing = self.provider.container_files(id, &mut on_progress);
            let listed = context.turn.wait_sent(listing).await?;
            let listed = listed.map_err(anyhow::Error::from)?;
            self.leave_container(context).await?;
            self.hosted.kept.container =
                Some(KeptContainer { container_id: id.to_owned(), ..KeptContainer::default() });
            // Newest first.
            for file in listed.iter().rev() {
                self.hosted.remember(id, &file.id, file.bytes.unwrap_or(0));
            }
        }
        if let Some(kept) = &mut self.hosted.kept.container {
            kept.memory_limit = found.memory_limit.or(kept.memory_limit.take());
        }
        for InUse { dataset, version, file_id } in self.hosted.in_use.clone() {
            let kept = self.hosted.kept.container.as_ref();
            if kept.is_some_and(|it| it.datasets.get(&dataset) == Some(&version)) {
                continue;
            }
            if kept.is_some_and(|it| it.datasets.contains_key(&dataset)) {
                self.take_out(id, &dataset, context.turn).await?;
            }
            let adding = self.provider.add_to_container(id, &file_id, &mut on_progress);
            let added = context.turn.wait_sent(adding).await?;
            added.map_err(anyhow::Error::from)?;
            if let Some(kept) = &mut self.hosted.kept.container {
                kept.datasets.insert(dataset, version);
            }
        }
        Ok(self.hosted.save(context.session)?)
    }

    /// Removes old versions of a dataset from a container that the user manages, so that code does not read
    /// them.
    async fn take_out(
        &mut self,
        id: &str,
        dataset: &str,
        turn: &mut Turn<'_>,
    ) -> Result<(), TurnInterrupt> {
        let mut on_progress = listener(turn);
        let listing = self.provider.container_files(id, &mut on_progress);
        let listed = turn.wait_sent(listing).await?.map_err(anyhow::Error::from)?;
        // The provider may prefix a name.
        let is_of_dataset = |path: &str| {
            let rest = path.strip_suffix(&format!("{dataset}.csv"));
            rest.is_some_and(|it| it.ends_with(['/', '-']))
        };
        let old = listed.iter().filter(|it| it.source == BY_USER && is_of_dataset(&it.path));
        for file in old {
            let removing = self.provider.remove_from_container(id, &file.id, &mut on_progress);
            turn.wait_sent(removing).await?.map_err(anyhow::Error::from)?;
        }
        Ok(())
    }

    /// Continues in a new container when an error says that the current one has expired and the user allows
    /// that. Fails with the error when it has another cause, or the user does not allow that.
    fn renew_container(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        error: anyhow::Error,
    ) -> Result<(), TurnInterrupt> {
        let kind = error.downcast_ref::<ProviderError>().map(|it| &it.kind);
        let options = self.options.interpreter.hosted();
        let (Some(ProviderErrorKind::ContainerExpired), Some(options)) = (kind, options) else {
            return Err(TurnInterrupt::Failed(error));
        };
        let named = match self.hosted.container(options) {
            ContainerChoice::Existing(id) => Some(id.clone()),
            ContainerChoice::Auto(_) => None,
        };
        let id = named.clone().or(self.hosted.container_id().map(str::to_owned));
        let renews = options.renews;
        let memory = self.hosted.kept.container.as_ref().and_then(|it| it.memory_limit.clone());
        self.hosted.kept.container = None;
        self.hosted.save(context.session)?;
        if !renews {
            return Err(TurnInterrupt::Failed(expired(error, named.is_some())));
        }
        if named.is_some() {
            let same = |it: &&(&str, MemoryTier)| Some(it.0) == memory.as_deref();
            let memory = MemoryTier::NAMES.iter().find(same).map(|it| it.1);
            self.hosted.replacement = Some(ContainerChoice::Auto(memory));
        }
        let id = id.map_or(String::new(), |it| format!(" `{it}`"));
        let message = format!(
            "the container{id} has expired: code runs in a new one, and variables and files of the old one \
             are gone"
        );
        context.turn.status(Status::Warning { code: "container_expired".to_owned(), message })
    }

    /// Abandons a container as [`Agent::prepare_hosted`] would, for a request that is only shown.
    pub(super) fn plan_container(
        &mut self,
        options: &HostedOptions,
        catalog: &Catalog,
        history: &[Item],
        items: &mut Vec<Item>,
    ) {
        let is_left = self.hosted.unfit(options, catalog).is_some();
        if is_left {
            self.hosted.kept.container = None;
        }
        if is_left || is_unaware(history, self.hosted.container_id()) {
            items.insert(0, Item::user(GONE));
        }
    }
}

impl Hosted {
    /// Returns the container that does not suit a turn over these datasets, and why.
    fn unfit(&self, options: &HostedOptions, catalog: &Catalog) -> Option<(String, &'static str)> {
        let ContainerChoice::Auto(memory) = self.container(options) else { return None };
        let kept = self.kept.container.as_ref()?;
        let has_changed = |(name, now): (&str, &Dataset)| {
            kept.datasets.get(name).is_some_and(|before| *before != version(now))
        };
        let reason = if !kept.is_ours {
            "another container was named"
        } else if memory.is_some_and(|it| kept.memory_limit.as_deref() != Some(it.name())) {
            "it has a different memory size"
        } else if catalog.iter().any(has_changed) {
            "a dataset in it has changed"
        } else {
            return None;
        };
        Some((kept.container_id.clone(), reason))
    }
}

/// Returns whether a conversation mentions runs in another container, and neither that container's end nor
/// later runs in this one.
fn is_unaware(items: &[Item], container_id: Option<&str>) -> bool {
    let last = |is_it: &dyn Fn(&Item) -> bool| items.iter().rposition(is_it);
    let elsewhere = last(&|it| it.container_id().is_some_and(|other| Some(other) != container_id));
    let here = last(&|it| container_id.is_some() && it.container_id() == container_id);
    let told = last(&|it| it.kind() == ItemKind::UserMessage && it.text() == GONE);
    here.max(told) < elsewhere
}

/// Returns whether a request failed because of files or containers that the provider keeps, or no longer
/// keeps, for code.
pub(crate) fn is_about_hosted(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<ProviderError>().map(|it| &it.kind);
    matches!(kind, Some(ProviderErrorKind::ContainerExpired | ProviderErrorKind::NoSuchFile))
}

/// Adds a hint for the user. A container that the provider created is forgotten; the next question gets a
/// new one.
fn expired(error: anyhow::Error, is_named: bool) -> anyhow::Error {
    match error.downcast::<ProviderError>() {
        Ok(error) if is_named => error
            .hint("its variables and files are gone; use another container, or `--on-expired new`")
            .into(),
        Ok(error) => error
            .hint(
                "its variables and files are gone: ask again to continue in a new container; \
                 `--on-expired new` does so at once",
            )
            .into(),
        Err(error) => error,
    }
}
