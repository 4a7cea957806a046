//! How a turn fails: its terminal event and the exit status of the process.

use serde_json::Map;

use csv_agent_provider::error::ProviderError;
use csv_agent_session::store::now_utc;
use csv_agent_sink::EventSink;
use csv_agent_types::event::{Body, CodePlace, ErrorBody, Event, Status, VERSION};
use csv_agent_types::status::{ExitStatus, Failure, hint_of_disk, one_line};

use crate::TurnEnd;
use crate::turn::Turn;

/// Ends a turn that failed: closes its calls and emits its terminal event.
pub(crate) fn fail(turn: &mut Turn, error: (ErrorBody, ExitStatus)) -> TurnEnd {
    let (mut error, status) = error;
    turn.cancel_calls();
    error.fatal = true;
    error.partial_text = turn.partial_text();
    error.usage = turn.tally.report();
    error.egress = Some(turn.record.ledger.record().all);
    error.exit_code = Some(status.code());
    // The turn has failed already; a failing sink changes nothing.
    let _ = turn.emit(Body::Error(Box::new(error)));
    TurnEnd { status, reply: None, complaint: None, warning: None }
}

/// Describes a turn that a signal stopped.
pub(crate) fn cancelled(status: ExitStatus) -> (ErrorBody, ExitStatus) {
    let message = match status {
        ExitStatus::BrokenPipe => "cancelled: the reader of the output closed it",
        ExitStatus::Terminated => "cancelled by SIGTERM",
        _ => "cancelled",
    };
    let error = ErrorBody {
        code: "cancelled".to_owned(),
        message: message.to_owned(),
        retryable: true,
        ..ErrorBody::default()
    };
    (error, status)
}

/// Describes an error, with the exit status of the process.
pub(crate) fn describe(error: &anyhow::Error) -> (ErrorBody, ExitStatus) {
    let message = one_line(error);
    if let Some(found) = error.downcast_ref::<ProviderError>() {
        let status = found.exit_status();
        let error = ErrorBody {
            code: error_code(status).to_owned(),
            message,
            hint: found.hint.clone(),
            retryable: found.may_pass(),
            http_status: found.http_status,
            request_id: found.request_id.clone(),
            ..ErrorBody::default()
        };
        return (error, status);
    }
    let failure = error.chain().find_map(|it| it.downcast_ref::<Failure>());
    let status = failure.map_or(ExitStatus::Internal, |it| it.status);
    let disk = || hint_of_disk(error).map(str::to_owned);
    let hint = failure.and_then(|it| it.hint.clone()).or_else(disk);
    let error =
        ErrorBody { code: error_code(status).to_owned(), message, hint, ..ErrorBody::default() };
    (error, status)
}

/// Returns the error code for programs when a turn fails with this status.
fn error_code(status: ExitStatus) -> &'static str {
    match status {
        ExitStatus::Auth => "auth_refused",
        ExitStatus::Provider => "provider",
        ExitStatus::Limit => "limit",
        ExitStatus::Sandbox => "sandbox",
        ExitStatus::Input => "input",
        ExitStatus::Contract => "contract",
        ExitStatus::Setup => "setup",
        ExitStatus::Usage => "usage",
        ExitStatus::Replay => "replay",
        ExitStatus::Interrupted | ExitStatus::Terminated | ExitStatus::BrokenPipe => "cancelled",
        ExitStatus::Ok
        | ExitStatus::Internal
        | ExitStatus::VerdictWarning
        | ExitStatus::VerdictBad => "internal",
    }
}

/// Reports that a turn cannot begin, with the minimal two events of a turn.
///
/// Creates no turn in the session, because no request was sent. Returns the exit status.
///
/// # Errors
///
/// Fails when the sink does.
pub fn refuse(
    sink: &mut dyn EventSink,
    session_id: &str,
    model: &str,
    question: &str,
    error: &anyhow::Error,
) -> anyhow::Result<ExitStatus> {
    let started = Status::Started {
        message: "the turn cannot start".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: model.to_owned(),
        provider: String::new(),
        api: String::new(),
        datasets: Vec::new(),
        limits: Map::new(),
        question: question.to_owned(),
        interpreter: CodePlace::default(),
        sandbox: Box::default(),
        withheld: Box::default(),
    };
    let (mut error, status) = describe(error);
    if status == ExitStatus::Auth {
        "auth_missing".clone_into(&mut error.code);
    }
    error.fatal = true;
    error.exit_code = Some(status.code());
    for (seq, body) in [Body::Status(started), Body::Error(Box::new(error))].into_iter().enumerate()
    {
        let (session_id, turn_id) = (session_id.to_owned(), "0000".to_owned());
        sink.emit(&Event {
            v: VERSION,
            seq: seq as u64,
            ts: now_utc(),
            session_id,
            turn_id,
            body,
        })?;
    }
    Ok(status)
}
