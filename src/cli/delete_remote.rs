//! Deletes what providers keep for a session, together with the session.
//!
//! A file of the session names the server, and a checkout may contain an untrusted session. So only the
//! server in the settings is contacted, with its key or without one.

use csv_agent_agent::hosted::{delete_kept, left_there};
use csv_agent_provider::{Provider, RemoteOptions, health};
use csv_agent_session::Session;
use csv_agent_session::directory::Directory;
use csv_agent_session::hosted::{FILE, HostedState, ProviderState};

use crate::diagnostics;
use crate::options::GlobalOptions;
use crate::options::ask::{ProviderChoice, provider};
use crate::options::settings::Settings;
use crate::signals;

/// Deletes what providers keep for a session, or only lists it. Returns it. Reports what they do not
/// delete; the next call tries again.
pub(crate) fn forget(
    session: &Session,
    settings: &Settings,
    options: &GlobalOptions,
    dry_run: bool,
) -> anyhow::Result<Vec<String>> {
    let state = match HostedState::read(session.dir()) {
        Ok(state) => state,
        Err(error) => return Ok(broken(&error, session, options, dry_run)),
    };
    let mut gone = Vec::new();
    for (server, kept) in state.iter() {
        let before = names(server, kept);
        if dry_run {
            gone.extend(before);
            continue;
        }
        let (left, reason) = match remote(server, settings) {
            Ok(mut provider) => {
                let deleting = delete_kept(&mut provider, kept, std::future::pending());
                signals::runtime()?.block_on(deleting)
            }
            Err(reason) => (kept.clone(), Some(reason)),
        };
        if let Some(reason) = reason {
            let colour = options.terminal.stderr.colour;
            diagnostics::warning(&left_there(server, &left, &reason), colour);
        }
        let remaining = names(server, &left);
        gone.extend(before.into_iter().filter(|it| !remaining.contains(it)));
        HostedState::write(session.dir(), server, &left)?;
    }
    Ok(gone)
}

/// Removes an unreadable state file, and reports that: a reset is how to repair it.
fn broken(
    error: &anyhow::Error,
    session: &Session,
    options: &GlobalOptions,
    dry_run: bool,
) -> Vec<String> {
    let message = format!("cannot delete the uploads and containers of this session: {error:#}");
    diagnostics::warning(&message, options.terminal.stderr.colour);
    // It must be possible to remove a damaged session.
    let remove = || Directory::at(session.dir())?.remove(FILE);
    let is_gone = dry_run || remove().is_ok();
    is_gone.then(|| FILE.to_owned()).into_iter().collect()
}

fn names(server: &str, kept: &ProviderState) -> Vec<String> {
    let server = server.trim_end_matches('/');
    let container = kept.container.iter().filter(|it| it.is_ours);
    let containers = container.map(|it| format!("{server}/containers/{}", it.container_id));
    let files =
        kept.uploads.iter().map(|it| format!("{server}/files/{} ({}.csv)", it.file_id, it.dataset));
    containers.chain(files).collect()
}

/// Prepares a connection to a server, or returns why there is none.
fn remote(server: &str, settings: &Settings) -> Result<Provider, String> {
    let known = match provider(settings) {
        Ok(ProviderChoice::Remote(options, source)) => {
            let is_it = health::name(&options.base_url).is_ok_and(|it| it == server);
            is_it.then_some((options, source))
        }
        _ => None,
    };
    let Some((options, source)) = known else {
        return Err("it is not the server in your settings (`OPENAI_BASE_URL`)".to_owned());
    };
    let key = source.get().map_err(|error| format!("{error:#}"))?;
    let options = RemoteOptions { key, hosts: true, retries: 1, ..options };
    Provider::remote(options).map_err(|error| format!("{error:#}"))
}
