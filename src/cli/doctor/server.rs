//! The key and its server.

use csv_agent_provider::error::{ProviderError, ProviderErrorKind};
use csv_agent_provider::health::{Health, look, name};
use csv_agent_provider::{Key, RemoteOptions, is_on_this_machine};
use csv_agent_types::limits::SERVER_LOOK;
use csv_agent_types::status::FailureKind;

use super::{Check, CheckState};
use crate::options::ask::{ProviderChoice, provider};
use crate::options::key::KeySource;
use crate::options::settings::{BASE_URL_OF_MODEL, MODEL, Settings};

const NONE_NEEDED: &str = "none needed: the built-in analyst uses no server";

/// The key and the server, as known before any request.
pub(super) struct Server {
    pub key: Check,
    plan: CheckPlan,
}

enum CheckPlan {
    /// The result is known.
    Known(Check),
    Ask {
        remote: Box<RemoteOptions>,
        model: String,
        sent: Sent,
    },
}

/// Whether the request contains the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Key,
    /// There is none, or it cannot be read.
    NoKey,
    /// A command prints it, which is not run here: it may prompt the user.
    NotPrinted,
}

impl Server {
    /// Checks the settings.
    pub(super) fn of(settings: &Settings, offline: bool) -> anyhow::Result<Server> {
        let base_url = settings.get(&BASE_URL_OF_MODEL)?;
        let known = |key, check| Server { key, plan: CheckPlan::Known(check) };
        let (key_check, key, sent) = key(settings, is_on_this_machine(&base_url));
        let remote = match provider(settings) {
            Ok(ProviderChoice::Remote(remote, _)) => remote,
            Ok(ProviderChoice::Builtin | ProviderChoice::Replay(_)) => {
                let none = |name| Check::new(name, CheckState::Ok, NONE_NEEDED);
                return Ok(known(none("key"), none("server")));
            }
            Err(error) => return Ok(known(key_check, Check::failed("server", &error))),
        };
        let name = match name(&remote.base_url) {
            Ok(name) => name,
            Err(failure) => return Ok(known(key_check, Check::failed("server", &failure.into()))),
        };
        if offline {
            let found = format!("{name}: not contacted, because of --offline");
            return Ok(known(key_check, Check::new("server", CheckState::Skipped, found)));
        }
        let remote = Box::new(RemoteOptions { key, ..remote });
        let plan = CheckPlan::Ask { remote, model: settings.get(&MODEL)?, sent };
        Ok(Server { key: key_check, plan })
    }

    /// Contacts the server, if there is one.
    pub(super) async fn ask(self) -> Check {
        let (remote, model, sent) = match self.plan {
            CheckPlan::Known(check) => return check,
            CheckPlan::Ask { remote, model, sent } => (remote, model, sent),
        };
        let is_here = is_on_this_machine(&remote.base_url);
        match look(&remote, &model, SERVER_LOOK).await {
            Ok(health) => judge(&health, &model, sent, is_here),
            Err(error) => match error.downcast_ref::<ProviderError>() {
                Some(unreached) => {
                    let advice = "check that a server runs there and that the network is up";
                    let found = format!("{}; {advice}", unreached.message);
                    Check::new("server", CheckState::Problem(FailureKind::Provider), found)
                }
                None => Check::failed("server", &error),
            },
        }
    }
}

/// Returns the check of the key, and the key itself when it is available without running a command.
fn key(settings: &Settings, is_here: bool) -> (Check, Option<Key>, Sent) {
    let (source, origin) = match KeySource::choose(settings) {
        Ok(chosen) => chosen,
        Err(error) => return (Check::failed("key", &error), None, Sent::NoKey),
    };
    let ok = |found: String| Check::new("key", CheckState::Ok, found);
    let place = match &source {
        KeySource::Variable(name, _) => format!("{name} is set"),
        KeySource::File(path) => format!("in `{}`, set by the {origin}", path.display()),
        KeySource::Command(words) => {
            let found = format!("printed by `{}`, set by the {origin}", words[0]);
            return (ok(found), None, Sent::NotPrinted);
        }
        KeySource::None if is_here => {
            let found = "none; the server is on this machine and may need none";
            return (ok(found.to_owned()), None, Sent::NoKey);
        }
        KeySource::None => {
            let found = "none: set OPENAI_API_KEY (for Anthropic, ANTHROPIC_API_KEY), or ask without a key with \
                 `--model builtin`, or set `api_key_file` or `api_key_cmd` (see `csv-agent help config`)";
            let check = Check::new("key", CheckState::Problem(FailureKind::Auth), found);
            return (check, None, Sent::NoKey);
        }
    };
    match source.get() {
        Ok(key) => (ok(place), key, Sent::Key),
        Err(error) => (Check::failed("key", &error), None, Sent::NoKey),
    }
}

fn judge(health: &Health, model: &str, sent: Sent, is_here: bool) -> Check {
    let (server, status) = (&health.server, health.status);
    let check = |state, found: String| Check::new("server", state, format!("{server}: {found}"));
    let Some(complaint) = &health.complaint else {
        if !health.may_have(model) {
            let found = format!("answers, but `{model}` is not among the models that it lists");
            return check(CheckState::Warning, found);
        }
        if let Some(end) = health.end_of(model) {
            let found = format!(
                "answers, but `{model}` will be retired: {end}; choose another with `--model NAME`, or \
                 `model = \"NAME\"` in your configuration"
            );
            return check(CheckState::Warning, found);
        }
        return check(CheckState::Ok, "answers".to_owned());
    };
    let hint = complaint.hint.as_ref().map(|it| format!("; {it}")).unwrap_or_default();
    let told = format!("{}{hint}", complaint.message);
    match (&complaint.kind, sent) {
        // A key may be restricted to questions.
        (ProviderErrorKind::Unauthorized, Sent::Key) if complaint.message.contains("scope") => {
            check(
                CheckState::Warning,
                format!("answers, but does not list models for this key: {told}"),
            )
        }
        (ProviderErrorKind::Unauthorized, Sent::Key) => {
            check(CheckState::Problem(FailureKind::Auth), told)
        }
        (ProviderErrorKind::Unauthorized, Sent::NoKey) if is_here => {
            let found = format!("requires a key (status {status}), but no key is set");
            check(CheckState::Problem(FailureKind::Auth), found)
        }
        (ProviderErrorKind::Unauthorized, Sent::NoKey) => {
            check(CheckState::Ok, format!("answers, and requires a key (status {status})"))
        }
        (ProviderErrorKind::Unauthorized, Sent::NotPrinted) => check(
            CheckState::Ok,
            "answers; csv-agent did not run the command that prints the key".to_owned(),
        ),
        (ProviderErrorKind::NoEndpoint, _) => {
            let found = format!(
                "answers, but lists no models (status {status}); check the path of its URL, which \
                 is often `/v1`"
            );
            check(CheckState::Warning, found)
        }
        _ => check(CheckState::Warning, format!("answers, but {told}")),
    }
}
