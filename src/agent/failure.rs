//! How a turn fails: its terminal event.

use serde_json::Map;

use csv_agent_provider::error::ProviderError;
use csv_agent_session::store::now_utc;
use csv_agent_sink::EventSink;
use csv_agent_types::event::{Body, CodePlace, ErrorBody, Event, Status, VERSION};
use csv_agent_types::status::{ExitCodes, Failure, FailureKind, hint_of_disk, one_line};

use crate::TurnEnd;
use crate::turn::Turn;

/// Ends a turn that failed: closes its calls and emits its terminal event.
pub(crate) fn fail(turn: &mut Turn, error: (ErrorBody, FailureKind)) -> TurnEnd {
    let (mut error, kind) = error;
    turn.cancel_calls();
    error.fatal = true;
    error.partial_text = turn.partial_text();
    error.usage = turn.tally.report();
    error.egress = Some(turn.record.ledger.record().all);
    error.exit_code = Some(turn.exit_code(Some(kind)));
    // The turn has failed already; a failing sink changes nothing.
    let _ = turn.emit(Body::Error(Box::new(error)));
    TurnEnd { failure: Some(kind), reply: None, complaint: None, warning: None }
}

/// Describes a turn that a signal stopped.
pub(crate) fn cancelled(kind: FailureKind) -> (ErrorBody, FailureKind) {
    let message = match kind {
        FailureKind::BrokenPipe => "cancelled: the reader of the output closed it",
        FailureKind::Terminated => "cancelled by SIGTERM",
        _ => "cancelled",
    };
    let error = ErrorBody {
        code: "cancelled".to_owned(),
        message: message.to_owned(),
        retryable: true,
        ..ErrorBody::default()
    };
    (error, kind)
}

/// Describes an error, with its kind.
pub(crate) fn describe(error: &anyhow::Error) -> (ErrorBody, FailureKind) {
    let message = one_line(error);
    if let Some(found) = error.downcast_ref::<ProviderError>() {
        let kind = found.failure_kind();
        let error = ErrorBody {
            code: error_code(kind).to_owned(),
            message,
            hint: found.hint.clone(),
            retryable: found.may_pass(),
            http_status: found.http_status,
            request_id: found.request_id.clone(),
            ..ErrorBody::default()
        };
        return (error, kind);
    }
    let failure = error.chain().find_map(|it| it.downcast_ref::<Failure>());
    let kind = failure.map_or(FailureKind::Internal, |it| it.kind);
    let disk = || hint_of_disk(error).map(str::to_owned);
    let hint = failure.and_then(|it| it.hint.clone()).or_else(disk);
    let error =
        ErrorBody { code: error_code(kind).to_owned(), message, hint, ..ErrorBody::default() };
    (error, kind)
}

/// Returns the error code for programs when a turn fails so.
fn error_code(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Auth => "auth_refused",
        FailureKind::Provider => "provider",
        FailureKind::Limit => "limit",
        FailureKind::Sandbox => "sandbox",
        FailureKind::Input => "input",
        FailureKind::Contract => "contract",
        FailureKind::Setup => "setup",
        FailureKind::Usage => "usage",
        FailureKind::Replay => "replay",
        FailureKind::Interrupted | FailureKind::Terminated | FailureKind::BrokenPipe => "cancelled",
        FailureKind::Internal | FailureKind::VerdictWarning | FailureKind::VerdictBad => "internal",
    }
}

/// Reports that a turn cannot begin, with the minimal two events of a turn.
///
/// Creates no turn in the session, because no request was sent. Returns how it failed.
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
    exit_codes: ExitCodes,
) -> anyhow::Result<FailureKind> {
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
    let (mut error, kind) = describe(error);
    if kind == FailureKind::Auth {
        "auth_missing".clone_into(&mut error.code);
    }
    error.fatal = true;
    error.exit_code = Some(exit_codes(Some(kind)));
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
    Ok(kind)
}
