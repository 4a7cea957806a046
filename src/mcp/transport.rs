//! Messages over stdin and stdout, one a line.
//!
//! stdin is read on a thread of its own, and stdout is written on another: a client that does not read cannot keep
//! its cancellations from being heard. A line that is not a message is answered where it has an id, and never ends
//! the server. At the end of stdin, calls that were made before may still be answered.

use std::collections::HashSet;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use csv_agent_types::limits::{CLIENT_MESSAGE_BYTES_MAX, CLIENT_MESSAGES_AHEAD};

/// Time for calls that are running when stdin ends.
const GRACE: Duration = Duration::from_secs(10);

/// A line of stdin.
enum Line {
    Whole(Vec<u8>),
    /// Its beginning and its end.
    TooLong(Vec<u8>),
}

/// The messages of one client.
pub(crate) struct Stdio {
    lines: mpsc::Receiver<Line>,
    out: Option<mpsc::Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    open: Arc<Open>,
    has_begun: bool,
    has_ended: bool,
    /// Answers that are due before the next message is read.
    due: Option<Vec<u8>>,
}

/// The requests without an answer.
#[derive(Default)]
struct Open {
    ids: Mutex<HashSet<RequestId>>,
    changed: Notify,
}

impl Open {
    fn with<T>(&self, change: impl FnOnce(&mut HashSet<RequestId>) -> T) -> T {
        let changed = change(&mut self.ids.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_waiters();
        changed
    }

    async fn all_answered(&self) {
        loop {
            let changed = self.changed.notified();
            if self.with_none() {
                return;
            }
            changed.await;
        }
    }

    fn with_none(&self) -> bool {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Stdio {
    /// Begins to read stdin.
    ///
    /// # Errors
    ///
    /// Fails when a thread cannot be started.
    pub(crate) fn open() -> io::Result<Stdio> {
        let (found, lines) = mpsc::channel(CLIENT_MESSAGES_AHEAD);
        // It ends with the process, as nothing interrupts its read.
        thread::Builder::new().name("mcp-stdin".to_owned()).spawn(move || read_lines(&found))?;
        let (out, mut written) = mpsc::channel::<Vec<u8>>(CLIENT_MESSAGES_AHEAD);
        let writer = thread::Builder::new().name("mcp-stdout".to_owned()).spawn(move || {
            let mut stdout = io::stdout();
            while let Some(message) = written.blocking_recv() {
                if stdout.write_all(&message).and_then(|()| stdout.flush()).is_err() {
                    // Nobody reads any more; the end of stdin follows.
                    return;
                }
            }
        })?;
        Ok(Stdio {
            lines,
            out: Some(out),
            writer: Some(writer),
            open: Arc::default(),
            has_begun: false,
            has_ended: false,
            due: None,
        })
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (out, open) = (self.out.clone(), Arc::clone(&self.open));
        async move {
            let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone");
            let mut bytes = serde_json::to_vec(&item).map_err(io::Error::other)?;
            bytes.push(b'\n');
            let sent = out.ok_or_else(gone)?.send(bytes).await.map_err(|_| gone());
            let answered = match &item {
                JsonRpcMessage::Response(it) => Some(&it.id),
                JsonRpcMessage::Error(it) => it.id.as_ref(),
                _ => None,
            };
            if let Some(id) = answered {
                open.with(|it| it.remove(id));
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(due) = self.due.take()
                && self.out.as_ref()?.send(due).await.is_err()
            {
                return None;
            }
            if self.has_ended {
                // What the client asked before it closed its side is still answered.
                let _ = tokio::time::timeout(GRACE, self.open.all_answered()).await;
                return None;
            }
            let Some(line) = self.lines.recv().await else {
                self.has_ended = true;
                continue;
            };
            let message = match message_of(&line) {
                Ok(message) => message,
                Err(due) => {
                    self.due = due;
                    continue;
                }
            };
            match &message {
                JsonRpcMessage::Request(request) => {
                    self.has_begun = true;
                    self.open.with(|it| it.insert(request.id.clone()));
                }
                JsonRpcMessage::Notification(notification) => {
                    // Nothing can be meant by it before the first request.
                    if !self.has_begun {
                        continue;
                    }
                    if let rmcp::model::ClientNotification::CancelledNotification(it) =
                        &notification.notification
                        && let Some(id) = &it.params.request_id
                    {
                        self.open.with(|it| it.remove(id));
                    }
                }
                // What answers nothing of ours is dropped where answers are awaited.
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) if self.has_begun => {}
                _ => continue,
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.finish();
        Ok(())
    }
}

impl Stdio {
    /// Writes what is left.
    fn finish(&mut self) {
        drop(self.out.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Returns the message of a line, or what to answer to it.
fn message_of(line: &Line) -> Result<RxJsonRpcMessage<RoleServer>, Option<Vec<u8>>> {
    let bytes = match line {
        Line::Whole(bytes) => bytes,
        Line::TooLong(ends) => {
            let id = id_in(ends);
            let why = format!(
                "the message has more than {} MB; send less at once",
                CLIENT_MESSAGE_BYTES_MAX >> 20
            );
            complain(&why);
            return Err(id.map(|it| refusal(it, &why)));
        }
    };
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        complain(
            "a line of stdin is not JSON and is ignored: it takes JSON-RPC messages, one a line",
        );
        return Err(None);
    };
    let id = value.get("id").cloned().and_then(|it| serde_json::from_value(it).ok());
    serde_json::from_value(value).map_err(|error| {
        let why = format!("this is not a message of the protocol: {error}");
        complain(&why);
        id.map(|it| refusal(it, &why))
    })
}

/// Reads lines until the end, or until nobody wants them.
fn read_lines(found: &mpsc::Sender<Line>) {
    let mut stdin = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let limit = CLIENT_MESSAGE_BYTES_MAX as u64 + 1;
        match stdin.by_ref().take(limit).read_until(b'\n', &mut line) {
            // A line without its end was cut off.
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let is_whole = line.last() == Some(&b'\n');
        let line = if is_whole || line.len() <= CLIENT_MESSAGE_BYTES_MAX {
            if line.trim_ascii().is_empty() {
                continue;
            }
            Line::Whole(line)
        } else {
            line.truncate(ID_BYTES);
            line.extend(skip_line(&mut stdin));
            Line::TooLong(line)
        };
        if found.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Bytes at each end of a long message in which its id is looked for.
const ID_BYTES: usize = 200;

/// Skips the rest of a line, and returns its end.
fn skip_line(stdin: &mut impl BufRead) -> Vec<u8> {
    let mut end = Vec::new();
    while let Ok(read) = stdin.fill_buf() {
        if read.is_empty() {
            break;
        }
        let stop = read.iter().position(|it| *it == b'\n');
        let n_read = stop.map_or(read.len(), |it| it + 1);
        end.extend_from_slice(&read[..n_read]);
        stdin.consume(n_read);
        let n_surplus = end.len().saturating_sub(ID_BYTES);
        end.drain(..n_surplus);
        if stop.is_some() {
            break;
        }
    }
    end
}

/// Finds the id of a message of which only the ends are known.
fn id_in(ends: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(ends);
    let (_, rest) = text.split_once("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<RequestId>();
    // A number is complete only if something follows it.
    values.next()?.ok()
}

fn refusal(id: RequestId, why: &str) -> Vec<u8> {
    let error = ErrorData::invalid_request(why.to_owned(), None);
    let message: TxJsonRpcMessage<RoleServer> = JsonRpcMessage::error(error, Some(id));
    let mut bytes = serde_json::to_vec(&message).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Tells whoever reads the log of the client.
fn complain(text: &str) {
    // There is nowhere to report a failure.
    let _ = writeln!(io::stderr(), "csv-agent mcp: {text}");
}

#[cfg(test)]
mod tests {
    use super::{id_in, skip_line};
    use rmcp::model::RequestId;

    #[test]
    fn the_id_of_a_long_message_is_at_one_of_its_ends() {
        let number = |it: i64| Some(RequestId::Number(it));
        assert_eq!(id_in(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call""#), number(7));
        assert_eq!(
            id_in(br#"{"method":"tools/call","params":{"x": xxxx"}},"id": 12}"#),
            number(12)
        );
        let text = Some(RequestId::String("a\"b".into()));
        assert_eq!(id_in(br#"{"id":"a\"b","method"#), text);
        assert_eq!(id_in(br#"{"method":"tools/call"#), None);
    }

    #[test]
    fn what_follows_a_long_line_is_read() {
        let mut input = &b"rest of it\nnext"[..];
        assert_eq!(skip_line(&mut input), b"rest of it\n");
        assert_eq!(input, b"next");
    }
}
