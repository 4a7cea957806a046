//! Files made by code at the provider, fetched once the answer is complete.

use std::io::Write;

use csv_agent_provider::error::{ProviderError, ProviderErrorKind};
use csv_agent_provider::hosted::store::ContainerFile;
use csv_agent_provider::hosted::{self, Citation};
use csv_agent_sink::hosted_files::{self, FileOrigin};
use csv_agent_text::digits::{self, size};
use csv_agent_types::conversation::Item;
use csv_agent_types::event::{FetchedFile, Status};
use csv_agent_types::limits::{CONTAINERS_PER_TURN_MAX, FETCHED_KNOWN_MAX, UNFETCHED_MAX};

use crate::hosted::Hosted;
use crate::progress::listener;
use crate::turn::{Turn, TurnInterrupt};
use crate::{Agent, TurnContext};

/// The `source` that the provider reports for a file uploaded into a container.
pub(super) const BY_USER: &str = "user";

/// A file to fetch.
struct FileRequest {
    container_id: String,
    file_id: String,
    path: String,
    bytes: u64,
    cited: bool,
}

impl Agent {
    /// Fetches the files that code made in the turn, whether or not the answer names them. A file that
    /// cannot be fetched is reported and does not stop the others.
    async fn fetch_files(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        items: &[Item],
    ) -> Result<(), TurnInterrupt> {
        let cited = hosted::citations(items);
        // An answer that was cut leaves no runs in the conversation, but their files exist.
        let of_runs = self.hosted.met.clone().into_iter();
        let mut containers: Vec<String> = Vec::new();
        for id in of_runs.chain(cited.iter().map(|it| it.container_id.clone())) {
            if !containers.contains(&id) && containers.len() < CONTAINERS_PER_TURN_MAX {
                containers.push(id);
            }
        }
        for container_id in containers {
            let cited: Vec<&Citation> =
                cited.iter().filter(|it| it.container_id == container_id).collect();
            let mut on_progress = listener(context.turn);
            let listing = self.provider.container_files(&container_id, &mut on_progress);
            let listed = context.turn.wait_sent(listing).await?;
            let listed = match listed {
                Ok(listed) => listed,
                Err(error) => {
                    let message = format!("cannot list the files that code made: {error}");
                    tell_unfetched(error, "files_not_listed", message, context.turn)?;
                    Vec::new()
                }
            };
            let wanted = self.wanted(&container_id, listed, &cited);
            self.fetch_all(context, wanted).await?;
        }
        Ok(self.hosted.save(context.session)?)
    }

    /// Fetches files while time remains. The answer is complete and valid without them.
    pub(crate) async fn fetch_files_in_time(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        items: &[Item],
    ) -> Result<(), TurnInterrupt> {
        match self.fetch_files(context, items).await {
            Err(TurnInterrupt::TimedOut) => {
                let message =
                    "the time limit was reached before all files that code made were fetched";
                let (code, message) = ("files_left".to_owned(), message.to_owned());
                context.turn.status(Status::Warning { code, message })
            }
            Err(TurnInterrupt::Failed(error)) if !is_mismatch(&error) => {
                let message = format!("files that code made could not be kept: {error:#}");
                context.turn.status(Status::Warning { code: "files_left".to_owned(), message })
            }
            fetched => fetched,
        }
    }

    /// Returns the files of a container that the turn made or names: files named by the answer first, then
    /// older before newer.
    fn wanted(
        &self,
        container_id: &str,
        listed: Vec<ContainerFile>,
        cited: &[&Citation],
    ) -> Vec<FileRequest> {
        let kept = self.hosted.kept.container.as_ref();
        let kept = kept.filter(|it| it.container_id == container_id);
        let is_cited = |id: &str| cited.iter().any(|it| it.file_id == id);
        let is_upload = |it: &ContainerFile| {
            let name = it.path.rsplit('/').next().unwrap_or_default();
            let mut uploads = self.hosted.kept.uploads.iter();
            it.source == BY_USER
                || it.source.is_empty() && uploads.any(|up| name == format!("{}.csv", up.dataset))
        };
        let is_known = |it: &ContainerFile| {
            let fetched = kept.map_or(&[][..], |kept| &kept.fetched);
            fetched.contains(&(it.id.clone(), it.bytes.unwrap_or(0)))
        };
        let is_wanted = |it: &ContainerFile| is_cited(&it.id) || !is_upload(it) && !is_known(it);
        // Newest first.
        let listed: Vec<FileRequest> = listed
            .into_iter()
            .rev()
            .filter(is_wanted)
            .map(|it| FileRequest {
                container_id: container_id.to_owned(),
                cited: is_cited(&it.id),
                bytes: it.bytes.unwrap_or(0),
                file_id: it.id,
                path: it.path,
            })
            .collect();
        let unlisted =
            cited.iter().filter(|it| listed.iter().all(|known| known.file_id != it.file_id));
        let unlisted = unlisted.map(|it| FileRequest {
            container_id: container_id.to_owned(),
            file_id: it.file_id.clone(),
            path: hosted_files::name_of(&it.filename),
            bytes: 0,
            cited: true,
        });
        let unlisted: Vec<FileRequest> = unlisted.collect();
        let mut wanted: Vec<FileRequest> = listed.into_iter().chain(unlisted).collect();
        // Files named by the answer must not be the ones that no longer fit.
        wanted.sort_by_key(|it| !it.cited);
        wanted
    }

    async fn fetch_all(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        wanted: Vec<FileRequest>,
    ) -> Result<(), TurnInterrupt> {
        let n_wanted = wanted.len();
        let mut n_failed = 0;
        for (at, wanted) in wanted.into_iter().enumerate() {
            let room = hosted_files::room(&context.turn.record.files)
                .ok_or("the limit of a turn is reached");
            let room = room.and_then(|it| match n_failed {
                UNFETCHED_MAX.. => Err("none of the last ones could be fetched"),
                _ => Ok(it),
            });
            let bytes_max = match room {
                Ok(bytes_max) => bytes_max,
                Err(reason) => {
                    let n_left = n_wanted - at;
                    let message =
                        format!("files that code made, left in the container: {n_left} ({reason})");
                    return context
                        .turn
                        .status(Status::Warning { code: "files_left".to_owned(), message });
                }
            };
            context.turn.status(fetching(&wanted.path, wanted.bytes))?;
            let mut file = hosted_files::temporary(context.turn.dir().path())?;
            let mut on_progress = listener(context.turn);
            let (container_id, file_id) = (&wanted.container_id, &wanted.file_id);
            let fetching = self.provider.fetch_file(
                container_id,
                file_id,
                file.as_file_mut(),
                bytes_max,
                &mut on_progress,
            );
            let fetched = context.turn.wait_sent(fetching).await?;
            if let Err(error) = fetched {
                let name = hosted_files::name_of(&wanted.path);
                let message = format!("cannot fetch `{name}`, which code made: {error}");
                let is_gone = error.kind == ProviderErrorKind::ContainerExpired;
                tell_unfetched(error, "file_not_fetched", message, context.turn)?;
                if is_gone {
                    return Ok(());
                }
                n_failed += 1;
                continue;
            }
            n_failed = 0;
            self.hosted.remember(&wanted.container_id, &wanted.file_id, wanted.bytes);
            let origin = FileOrigin {
                name: wanted.path,
                cited: wanted.cited,
                container_id: Some(wanted.container_id),
                file_id: Some(wanted.file_id),
            };
            let kept =
                hosted_files::keep(context.session.dir(), context.turn.dir().path(), origin, file)?;
            context.turn.record.files.push(kept);
        }
        Ok(())
    }
}

/// Reports the current download, and its size if known.
pub(super) fn fetching(path: &str, n_bytes: u64) -> Status {
    let name = path.strip_prefix("/mnt/data/").unwrap_or(path);
    let size = if 0 < n_bytes { format!(" ({})", size(n_bytes)) } else { String::new() };
    Status::Loading { message: format!("fetching `{name}`{size}") }
}

fn is_mismatch(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<ProviderError>().map(|it| &it.kind);
    kind == Some(&ProviderErrorKind::Mismatch)
}

/// Warns that a file was not fetched. A cassette without such a call ends the turn, as for requests.
fn tell_unfetched(
    error: ProviderError,
    code: &str,
    message: String,
    turn: &mut Turn,
) -> Result<(), TurnInterrupt> {
    if error.kind == ProviderErrorKind::Mismatch {
        return Err(TurnInterrupt::Failed(error.into()));
    }
    turn.status(Status::Warning { code: code.to_owned(), message })
}

impl Hosted {
    /// Records that a file of the container was fetched, so that no later turn fetches it again.
    pub(super) fn remember(&mut self, container_id: &str, file_id: &str, bytes: u64) {
        let kept = self.kept.container.as_mut().filter(|it| it.container_id == container_id);
        let Some(container) = kept else { return };
        container.fetched.push((file_id.to_owned(), bytes));
        let n_over = container.fetched.len().saturating_sub(FETCHED_KNOWN_MAX);
        container.fetched.drain(..n_over);
    }
}

/// Saves the images of a run as files of the turn. Reports those that are not in a provider's format or do
/// not fit.
pub(super) fn keep_images(
    context: &mut TurnContext<'_, '_>,
    images: &[String],
) -> Result<Vec<FetchedFile>, TurnInterrupt> {
    let (mut kept, mut n_left_out) = (Vec::new(), 0);
    for image in images {
        let room = hosted_files::room(&context.turn.record.files);
        let decoded = hosted_files::decode_image(image);
        let fits = |it: &(&str, Vec<u8>)| room.is_some_and(|room| it.1.len() as u64 <= room);
        let Some((ending, bytes)) = decoded.filter(fits) else {
            n_left_out += 1;
            continue;
        };
        let mut file = hosted_files::temporary(context.turn.dir().path())?;
        file.write_all(&bytes).map_err(anyhow::Error::from)?;
        let n_images = context.turn.record.files.iter().filter(|it| it.file_id.is_none()).count();
        let name = format!("image_{}.{ending}", n_images + 1);
        let origin = FileOrigin { name, ..FileOrigin::default() };
        let image =
            hosted_files::keep(context.session.dir(), context.turn.dir().path(), origin, file)?;
        context.turn.record.files.push(image.clone());
        kept.push(image);
    }
    if 0 < n_left_out {
        let message = format!(
            "left out {} that code drew: too large, too many, or of a kind that is not kept",
            digits::count(n_left_out, "picture")
        );
        context.turn.status(Status::Warning { code: "file_not_fetched".to_owned(), message })?;
    }
    Ok(kept)
}
