//! Messages from background work to the turn, and the provider's progress events that the user should see.

use tokio::sync::mpsc::UnboundedSender;

use csv_agent_provider::Progress;
use csv_agent_text::digits::size;
use csv_agent_types::event::Status;

use crate::turn::ProgressMessage;
use crate::turn::Turn;

/// Returns what hears of requests and calls to the provider: the record of what left, and the story.
pub(crate) fn listener(turn: &Turn) -> impl FnMut(Progress<'_>) + use<> {
    hearing(turn, false)
}

/// Returns the listener for the request for a summary, whose text is not part of the answer.
pub(crate) fn summary_listener(turn: &Turn) -> impl FnMut(Progress<'_>) + use<> {
    hearing(turn, true)
}

fn hearing(turn: &Turn, is_summary: bool) -> impl FnMut(Progress<'_>) + use<> {
    let (news, ledger) = (turn.progress(), turn.record.ledger.clone());
    move |progress: Progress<'_>| {
        ledger.hear(&progress, is_summary);
        let told =
            news_of(progress).filter(|it| !is_summary || matches!(it, ProgressMessage::Status(_)));
        // The receiver lives as long as the turn that waits.
        let _ = told.map(|it| news.send(it));
    }
}

/// Returns the message for the user, if this progress needs one.
fn news_of(progress: Progress) -> Option<ProgressMessage> {
    Some(match progress {
        Progress::Delta(delta) => ProgressMessage::Delta(delta.to_owned()),
        Progress::Superseded => ProgressMessage::Superseded,
        Progress::Hosted(name) => ProgressMessage::Hosted(name.to_owned()),
        // A download was reported earlier, by name.
        Progress::Sending { .. }
        | Progress::Calling { .. }
        | Progress::Fetched { .. }
        | Progress::Calls(_)
        | Progress::Unsent => return None,
        Progress::Uploading { filename, bytes, .. } => {
            loading(format!("uploading `{filename}` ({})", size(bytes)))
        }
        Progress::Retrying { attempt, max_attempts, delay, reason, http_status } => {
            let message = format!("{reason}; trying again in {:.1} s", delay.as_secs_f64());
            let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            ProgressMessage::Status(Box::new(Status::Retrying {
                message,
                attempt,
                max_attempts,
                delay_ms,
                reason,
                http_status,
            }))
        }
        Progress::Warning { code, message } => {
            ProgressMessage::Status(Box::new(Status::Warning { code: code.to_owned(), message }))
        }
    })
}

fn loading(message: String) -> ProgressMessage {
    ProgressMessage::Status(Box::new(Status::Loading { message }))
}

/// Returns a function that reports loading messages to a turn.
pub(crate) fn teller(news: UnboundedSender<ProgressMessage>) -> impl FnMut(&str) + Send {
    move |message| {
        // A turn that has ended needs no messages.
        let _ = news.send(loading(message.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::news_of;
    use crate::turn::ProgressMessage;
    use csv_agent_provider::Progress;
    use csv_agent_types::event::Status;

    #[track_caller]
    fn check(progress: Progress, told: Option<&str>) {
        let found = news_of(progress).map(|it| match it {
            ProgressMessage::Status(status) => match *status {
                Status::Loading { message } => message,
                other => panic!("{other:?}"),
            },
            _ => panic!("no status"),
        });
        assert_eq!(found.as_deref(), told);
    }

    #[test]
    fn files_that_go_up_are_news_and_what_came_is_told_before() {
        let to = "http://host";
        let (dataset, filename) = ("orders", "orders.csv");
        check(
            Progress::Uploading { dataset, filename, bytes: 1_234_567, to },
            Some("uploading `orders.csv` (1.2 MB)"),
        );
        check(Progress::Fetched { bytes: 900 }, None);
        check(Progress::Calling { bytes: 1, to }, None);
    }
}
