//! `ask`: one question, one turn, one answer.

use std::ops::ControlFlow;

use csv_agent_agent::{Agent, TurnEnd, refuse};
use csv_agent_provider::{Key, Provider, RemoteOptions};
use csv_agent_session::{Access, Session};
use csv_agent_sink::Format;
use csv_agent_types::conversation::Reply;
use csv_agent_types::status::{FailureKind, StopReason};

use crate::ci_reports::NO_SESSION;
use crate::diagnostics;
use crate::errors::{self, ExitStatus};
use crate::image;
use crate::options::{AskOptions, GlobalOptions, ProviderChoice, TurnOptions};
use crate::signals::{self, Signals};
use crate::turn_sinks::TurnSinks;

/// Answers the question. Fails when the command line is wrong, or the turn could not be stored.
pub(crate) fn run(mut options: AskOptions) -> anyhow::Result<ExitStatus> {
    let (mut agent, mut session) = match open(&mut options.turn, "ask", &options.question, false)? {
        ControlFlow::Continue(opened) => opened,
        ControlFlow::Break(status) => return Ok(status),
    };
    let question = match image::question(&options) {
        Ok(question) => question,
        Err(error) => return tell_failure(error, &options.turn, &options.question),
    };
    let options = options.turn;
    signals::runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let mut output = TurnSinks::open(&options.answer, &options.global, session.dir())?;
        let asked = question.text.clone();
        let ended = agent.turn(&mut session, &mut output, question, signals.next()).await;
        let is_answered = ended.as_ref().is_ok_and(|it| it.reply.is_some());
        if options.answer.charts.is_some() && is_answered {
            session.drop_charts();
        }
        if let Some(warning) = agent.close(signals.next()).await {
            diagnostics::warning(&warning, options.global.terminal.stderr.colour);
        }
        match ended {
            Ok(end) => settle(end, output, &options.global),
            Err(error) if output.has_ended() => Err(error),
            Err(error) => tell_failure_to(output, &error, &options, &asked),
        }
    })
}

/// Opens what a turn needs, in the order in which errors are most useful: the session, the key, then the
/// files. Sets the datasets that `options` makes visible.
///
/// Breaks with a status when the turn cannot begin, after emitting that as events of a turn. Creates a missing
/// session if there are files, or if the caller may fill it later. Fails when the command line is wrong, or the
/// events cannot be written.
pub(crate) fn open(
    options: &mut TurnOptions,
    command: &'static str,
    question: &str,
    may_create: bool,
) -> anyhow::Result<ControlFlow<ExitStatus, (Agent, Session)>> {
    match prepare(options, command, may_create) {
        Ok(opened) => Ok(ControlFlow::Continue(opened)),
        Err(error) => tell_failure(error, options, question).map(ControlFlow::Break),
    }
}

fn prepare(
    options: &mut TurnOptions,
    command: &'static str,
    may_create: bool,
) -> anyhow::Result<(Agent, Session)> {
    let creates = may_create || !options.files.is_empty();
    if !creates {
        demand_data(options)?;
    }
    let provider = provider(options, key(options)?)?;
    let (session, visible) = if options.ephemeral {
        options.inputs().temporary(&options.global)?
    } else {
        let access = if creates { Access::Create } else { Access::Existing };
        let lock = options.global.lock(command);
        let mut session = Session::open(&options.global.session.dir, access, lock)?;
        let visible = options.inputs().ingest(&mut session, &options.global)?;
        (session, visible)
    };
    options.agent.datasets = visible;
    let agent = Agent::new(options.agent.clone(), provider);
    Ok((agent, session))
}

/// Checks that there is data to ask about, where no file adds any. Fails when there is no session, or a
/// temporary one would have no data.
pub(crate) fn demand_data(options: &TurnOptions) -> anyhow::Result<()> {
    if options.ephemeral {
        options.inputs().demand_for_temporary(&options.global)
    } else {
        options.global.session.existing()?;
        Session::require(&options.global.session.dir)
    }
}

/// Finishes the output of a turn and reports what no event carries. Fails when the file of `-o` cannot be put
/// in place.
pub(crate) fn settle(
    end: TurnEnd,
    output: TurnSinks,
    global: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    // JSON and JSONL describe a failure too; the other formats have nothing to write.
    let is_answered = |it: &Reply| it.stop_reason != StopReason::Refused;
    let keeps = end.reply.as_ref().is_some_and(is_answered)
        || matches!(global.format, Format::Json | Format::Jsonl);
    output.finish(keeps)?;
    let colour = global.terminal.stderr.colour;
    if let Some(complaint) = end.complaint {
        diagnostics::error(&anyhow::Error::msg(complaint), colour);
    }
    if let Some(warning) = end.warning {
        diagnostics::warning(&warning, colour);
    }
    Ok(end.failure.into())
}

/// Prepares the provider. Fails when a required key is missing, or a cassette cannot be used.
pub(crate) fn provider(options: &TurnOptions, key: Option<Key>) -> anyhow::Result<Provider> {
    let provider = match &options.provider {
        ProviderChoice::Remote(remote, _) => {
            Provider::remote(RemoteOptions { key, ..remote.clone() })?
        }
        ProviderChoice::Replay(cassette) => Provider::replay(cassette)?,
        ProviderChoice::Builtin => Provider::Builtin,
    };
    // The provider of a cassette is known only once it is open.
    let kind = provider.kind();
    options.agent.interpreter.hosted_tools().iter().try_for_each(|it| it.check_provider(kind))?;
    match &options.record {
        Some(cassette) => provider.recording(cassette),
        None => Ok(provider),
    }
}

/// Fetches the key, now that a request is due. Fails when a required key is missing.
pub(crate) fn key(options: &TurnOptions) -> anyhow::Result<Option<Key>> {
    match &options.provider {
        ProviderChoice::Remote(_, source) => source.get(),
        ProviderChoice::Replay(_) | ProviderChoice::Builtin => Ok(None),
    }
}

/// Reports as a turn would why it cannot begin, and returns the status. A wrong command line is not a turn.
/// Fails with this error when the command line is wrong, and when the events cannot be written.
fn tell_failure(
    error: anyhow::Error,
    options: &TurnOptions,
    question: &str,
) -> anyhow::Result<ExitStatus> {
    if matches!(errors::status_of(&error), ExitStatus::Ok | ExitStatus::Failed(FailureKind::Usage))
    {
        return Err(error);
    }
    let output = TurnSinks::open(&options.answer, &options.global, &options.global.session.dir)?;
    tell_failure_to(output, &error, options, question)
}

fn tell_failure_to(
    mut output: TurnSinks,
    error: &anyhow::Error,
    options: &TurnOptions,
    question: &str,
) -> anyhow::Result<ExitStatus> {
    let agent = &options.agent;
    let (model, exit_codes) = (&agent.model, agent.exit_codes);
    let kind = refuse(&mut output, NO_SESSION, model, question, error, exit_codes)?;
    output.finish(matches!(options.global.format, Format::Json | Format::Jsonl))?;
    Ok(ExitStatus::Failed(kind))
}
