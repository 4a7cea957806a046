//! Messages over stdin and stdout, one a line.
//!
//! stdin is read on a thread of its own, and stdout is written on another: a client that does not read cannot keep
//! its cancellations from being heard. A line that is not a message is answered with an error, and never ends the
//! server. At the end of stdin, calls that were made before may still be answered.

use std::collections::HashSet;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
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
                    self.has_begun |= begins(&request.request);
                    self.open.with(|it| it.insert(request.id.clone()));
                }
                JsonRpcMessage::Notification(notification) => {
                    // Nothing can be meant by it before the client has begun.
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

/// The code of a line that is not JSON.
const NO_JSON: i32 = -32_700;
/// The code of JSON that is not a message.
const NO_MESSAGE: i32 = -32_600;
/// The code of a message with wrong parameters.
const WRONG_PARAMETERS: i32 = -32_602;

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
            return Err(Some(refusal(&id.map_or(Value::Null, |it| json!(it)), NO_MESSAGE, &why)));
        }
    };
    let value = match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => value,
        Err(error) => {
            let why = format!(
                "a line of stdin is not JSON: {error}; it takes JSON-RPC messages in UTF-8, one per line"
            );
            complain(&why);
            let id = top_level_id(&String::from_utf8_lossy(bytes)).unwrap_or_default();
            return Err(Some(refusal(&id, NO_JSON, &why)));
        }
    };
    if let Value::Array(parts) = &value {
        let why = "batches of messages are not supported; send one message per line";
        complain(why);
        let ids = parts.iter().filter(|it| it.get("method").is_some());
        let ids: Vec<&Value> = ids.filter_map(|it| it.get("id")).filter(|it| is_id(it)).collect();
        if ids.is_empty() {
            return Err(Some(refusal(&Value::Null, NO_MESSAGE, why)));
        }
        return Err(Some(ids.into_iter().flat_map(|it| refusal(it, NO_MESSAGE, why)).collect()));
    }
    let is_request = value.get("method").is_some();
    let is_answer = !is_request && (value.get("result").is_some() || value.get("error").is_some());
    let id = value.get("id").cloned();
    if is_request
        && let Some(id) = &id
        && serde_json::from_value::<RequestId>(id.clone()).is_err()
    {
        let why = format!("`id` is {id}, but must be a text or a whole number of 64 bits");
        complain(&why);
        let id = if is_id(id) { id } else { &Value::Null };
        return Err(Some(refusal(id, NO_MESSAGE, &why)));
    }
    let message = serde_json::from_value(value).map_err(|error| {
        let why = format!("this is not a message of the protocol: {error}");
        complain(&why);
        match &id {
            Some(id) if is_id(id) && !is_answer => Some(refusal(id, NO_MESSAGE, &why)),
            // A notification and an answer are not answered.
            None if is_request => None,
            _ if is_answer => None,
            _ => Some(refusal(&Value::Null, NO_MESSAGE, &why)),
        }
    })?;
    if let JsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && custom.method == "initialize"
        // A client that states its version in each request has no handshake: there is no such method for it.
        && request.request.get_meta().protocol_version().is_none()
    {
        let why = "the parameters of `initialize` do not have the form of the protocol: it takes `protocolVersion`, \
                   a text, `capabilities`, an object, and `clientInfo`, an object with `name` and `version`";
        complain(why);
        return Err(Some(refusal(&id.unwrap_or_default(), WRONG_PARAMETERS, why)));
    }
    Ok(message)
}

/// Returns whether a client may send anything after a request: it is the handshake, or has what stands for one.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let version = meta.protocol_version();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && version.is_some_and(|it| ProtocolVersion::KNOWN_VERSIONS.contains(&it))
        }
    }
}

/// Returns whether a value may be the id of an answer.
fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_number()
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

/// Finds the id of a text that is not JSON: that of its outermost object, as others may be data.
fn top_level_id(text: &str) -> Option<Value> {
    let (mut depth, mut at, mut begins_member) = (0_usize, 0, false);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = end_of_text(text, at)?;
                if depth == 1 && begins_member && &text[at..end] == "\"id\"" {
                    let rest = text[end..].trim_start().strip_prefix(':')?;
                    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
                    return values.next()?.ok().filter(is_id);
                }
                at = end - 1;
            }
            _ => {}
        }
        begins_member = matches!(byte, b'{' | b',') || begins_member && byte.is_ascii_whitespace();
        at += 1;
    }
    None
}

/// Returns where a text in quotes ends that begins at a place.
fn end_of_text(text: &str, begin: usize) -> Option<usize> {
    let mut is_escaped = false;
    let mut rest = text.as_bytes().iter().enumerate().skip(begin + 1);
    rest.find_map(|(at, byte)| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends.then_some(at + 1)
    })
}

/// Returns an error as a line. Without an id that can be read, it has null.
fn refusal(id: &Value, code: i32, why: &str) -> Vec<u8> {
    let message = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}});
    format!("{message}\n").into_bytes()
}

/// Tells whoever reads the log of the client.
fn complain(text: &str) {
    // There is nowhere to report a failure.
    let _ = writeln!(io::stderr(), "csv-agent mcp: {text}");
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;
    use serde_json::{Value, json};

    use super::{Line, id_in, message_of, skip_line, top_level_id};

    #[track_caller]
    fn check_refused(line: &[u8], expected: &[(Value, i32)]) {
        let due = message_of(&Line::Whole(line.to_vec())).unwrap_err().unwrap_or_default();
        let lines = String::from_utf8(due).unwrap();
        let found: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        let found: Vec<_> = found.iter().map(|it| (&it["id"], &it["error"]["code"])).collect();
        let expected: Vec<_> = expected.iter().map(|it| (it.0.clone(), json!(it.1))).collect();
        let expected: Vec<_> = expected.iter().map(|it| (&it.0, &it.1)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_message_is_answered_so_that_nobody_waits() {
        check_refused(b"garbage", &[(Value::Null, -32_700)]);
        check_refused(b"{\"id\":7,\"method\":\"ping\",\"x\":\"\xe9\"}", &[(json!(7), -32_700)]);
        let deep = format!("{{\"params\":{}{},\"id\":\"a\"}}", "[".repeat(900), "]".repeat(900));
        check_refused(deep.as_bytes(), &[(json!("a"), -32_700)]);
        check_refused(b"[]", &[(Value::Null, -32_600)]);
        check_refused(
            br#"[{"id":1,"method":"ping"},{"method":"x"},{"id":2,"method":"ping"}]"#,
            &[(json!(1), -32_600), (json!(2), -32_600)],
        );
        check_refused(b"{}", &[(Value::Null, -32_600)]);
        for id in ["1.5", "99999999999999999999"] {
            let id: Value = serde_json::from_str(id).unwrap();
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
            check_refused(line.as_bytes(), &[(id, -32_600)]);
        }
        for id in [json!(null), json!(true), json!({"a": 1})] {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
            check_refused(line.as_bytes(), &[(Value::Null, -32_600)]);
        }
        // What needs no answer gets none.
        check_refused(br#"{"jsonrpc":"1.0","method":"x"}"#, &[]);
        check_refused(br#"{"jsonrpc":"1.0","id":3,"result":{}}"#, &[]);
    }

    #[test]
    fn the_id_of_what_is_no_json_is_not_that_of_its_data() {
        let found = top_level_id(r#"{"params": {"id": 4, "x": "\"id\":5"}, "id" : 6, oops"#);
        assert_eq!(found, Some(json!(6)));
        assert_eq!(top_level_id(r#"{"x": "id", "y": [{"id": 1}]"#), None);
    }

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
