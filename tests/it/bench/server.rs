//! A server on the loopback that speaks one of the dialects, follows a script, and can fail.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use csv_agent_provider::Api;

use super::hosted::{Call, Container, Hosted, Reply, Upload, call};
use super::script::{Finish, Round};
use super::trouble::Trouble;
use super::{HANG, chat, check, messages};

/// No connection lives longer, whatever a test does.
const CONNECTION_MAX: Duration = Duration::from_secs(2 * HANG.as_secs());

/// A running server. Dropping it ends its threads and fails the test if the script was not used up
/// or a request was wrong.
pub struct Server {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    /// What is answered; the other path is not there.
    api: Api,
    /// What is answered to whoever asks for the models, which is no part of the script.
    listed: Round,
    /// The rest of the script, last round first.
    rounds: Vec<Round>,
    requests: Vec<Captured>,
    /// Requests that concern files and containers, which are no part of the script.
    calls: Vec<Captured>,
    hosted: Hosted,
    troubles: Vec<Trouble>,
    responses: Vec<Vec<Value>>,
    /// The model that was asked last.
    model: String,
    faults: Vec<String>,
    /// Connections that are being answered.
    n_open: usize,
    is_stopped: bool,
    /// Bodies are written here for other programs to check, named after the test.
    dump: Option<(PathBuf, String)>,
}

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Captured {
    /// Like `POST /v1/responses HTTP/1.1`.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// JSON; empty when the body is none.
    pub body: Value,
    /// The body as it came.
    pub bytes: Vec<u8>,
}

impl Captured {
    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// Returns the dialect of the request.
    pub fn api(&self) -> Option<Api> {
        let path = self.line.strip_prefix("POST /v1/")?.strip_suffix(" HTTP/1.1")?;
        [Api::Responses, Api::Chat, Api::Messages].into_iter().find(|it| it.path() == path)
    }

    /// Returns the items of the input.
    #[track_caller]
    pub fn input(&self) -> &[Value] {
        self.body["input"].as_array().unwrap()
    }

    /// Returns the output that a call got.
    #[track_caller]
    pub fn output_of(&self, call_id: &str) -> &str {
        if let Some(messages) = self.body["messages"].as_array() {
            let blocks = messages.iter().filter_map(|it| it["content"].as_array()).flatten();
            let mut results = blocks.filter(|it| it["tool_use_id"] == call_id);
            if let Some(result) = results.next() {
                return result["content"].as_str().unwrap();
            }
            let message = messages.iter().find(|it| it["tool_call_id"] == call_id);
            return message
                .and_then(|it| it["content"].as_str())
                .unwrap_or_else(|| panic!("no output of `{call_id}` in {:#}", self.body));
        }
        let is_it = |it: &&Value| it["type"] == "function_call_output" && it["call_id"] == call_id;
        let item = self.input().iter().find(is_it);
        let item = item.unwrap_or_else(|| panic!("no output of `{call_id}` in {:#}", self.body));
        item["output"].as_str().unwrap()
    }
}

impl Server {
    /// Starts a server on a free port.
    pub fn start(rounds: impl IntoIterator<Item = Round>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let test = thread::current().name().unwrap_or("test").replace("::", "-");
        let state = Arc::new(Mutex::new(State {
            listed: super::round().answers(200, r#"{"object":"list","data":[]}"#),
            dump: super::variable("CSV_AGENT_TEST_REQUESTS").map(|it| (it.into(), test)),
            ..State::default()
        }));
        let address = listener.local_addr().unwrap();
        let shared = state.clone();
        let accept = move || {
            for stream in listener.incoming() {
                if lock(&shared).is_stopped {
                    break;
                }
                let state = shared.clone();
                lock(&state).n_open += 1;
                // Ends by itself: every read and write of it has a limit.
                thread::spawn(move || {
                    let _ = stream.and_then(|it| serve(&it, &state));
                    lock(&state).n_open -= 1;
                });
            }
        };
        let server = Server { address, state, listener: Some(thread::spawn(accept)) };
        server.script(rounds);
        server
    }

    /// Says what the server speaks from now on.
    pub fn speak(&self, api: Api) {
        lock(&self.state).api = api;
    }

    /// Says what is answered from now on to whoever asks for the models.
    pub fn list(&self, round: Round) {
        lock(&self.state).listed = round;
    }

    /// Adds rounds to the script.
    pub fn script(&self, rounds: impl IntoIterator<Item = Round>) {
        let mut state = lock(&self.state);
        for round in rounds {
            state.rounds.insert(0, round);
        }
    }

    /// Forgets the rest of the script and of the troubles, when all that a process sent before it ended has
    /// come.
    pub fn forget(&self) {
        // Connections are taken in order: when this one is over, those before it have begun.
        let mut last = TcpStream::connect(self.address).unwrap();
        last.shutdown(Shutdown::Write).unwrap();
        last.read_to_end(&mut Vec::new()).unwrap();
        while 0 < lock(&self.state).n_open {
            thread::sleep(Duration::from_millis(1));
        }
        let mut state = lock(&self.state);
        state.rounds.clear();
        state.troubles.clear();
    }

    /// Returns the base URL that reaches it.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns all requests so far, less those that concern files and containers.
    pub fn requests(&self) -> Vec<Captured> {
        lock(&self.state).requests.clone()
    }

    /// Returns all requests so far that concern files and containers.
    pub fn calls(&self) -> Vec<Captured> {
        lock(&self.state).calls.clone()
    }

    /// Says what goes wrong with files and containers.
    pub fn troubles(&self, troubles: impl IntoIterator<Item = Trouble>) {
        lock(&self.state).troubles.extend(troubles);
    }

    /// Returns all uploads, gone ones too.
    pub fn files(&self) -> Vec<Upload> {
        lock(&self.state).hosted.uploads.clone()
    }

    /// Returns all containers, dead ones too.
    pub fn containers(&self) -> Vec<Container> {
        lock(&self.state).hosted.containers.clone()
    }

    /// Makes a container that no csv-agent made, and returns its id.
    pub fn make_container(&self, memory_limit: &str) -> String {
        lock(&self.state).hosted.add_container("of the user", memory_limit)
    }

    /// Puts a file into a container, as code there does, and returns its id.
    pub fn put_file(&self, container_id: &str, path: &str, content: &[u8]) -> String {
        lock(&self.state).hosted.put(container_id, path, content.to_vec(), "assistant", None)
    }

    /// Lets the time pass after which a container that nobody used is gone.
    pub fn expire_containers(&self) {
        lock(&self.state).hosted.expire_containers();
    }

    /// Lets the time pass after which uploads are gone; their copies in containers stay.
    pub fn lose_files(&self) {
        lock(&self.state).hosted.uploads.iter_mut().for_each(|it| it.is_gone = true);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        lock(&self.state).is_stopped = true;
        // Wakes the listener, so that it sees that it is over.
        let _ = TcpStream::connect_timeout(&self.address, HANG);
        let _ = self.listener.take().map(JoinHandle::join);
        if !thread::panicking() {
            let state = lock(&self.state);
            assert!(state.faults.is_empty(), "wrong requests: {:#?}", state.faults);
            let n_left = state.rounds.len();
            assert_eq!(n_left, 0, "rounds of the script that nobody asked for");
            let left: Vec<&Trouble> = state.troubles.iter().filter(|it| it.is_due()).collect();
            assert!(left.is_empty(), "troubles that nobody had: {left:#?}");
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the one request of a connection.
fn serve(stream: &TcpStream, state: &Mutex<State>) -> io::Result<()> {
    stream.set_read_timeout(Some(CONNECTION_MAX))?;
    stream.set_write_timeout(Some(CONNECTION_MAX))?;
    stream.set_nodelay(true)?;
    let Some(request) = receive(stream)? else { return Ok(()) };
    let asked = request.clone();
    if let Some(call) = call(&asked.line)
        && lock(state).api == Api::Responses
    {
        return serve_call(stream, &call, request, state);
    }
    let round = next_round(&mut lock(state), request);
    let closes_at = Instant::now() + CONNECTION_MAX;
    hold(stream, state, Instant::now() + round.delay);
    if round.is_mute {
        hold(stream, state, closes_at);
        return Ok(());
    }
    send(stream, &round, &asked, state)?;
    if round.finish == Finish::Hold {
        hold(stream, state, closes_at);
    }
    Ok(())
}

/// Answers a request that concerns files and containers.
fn serve_call(
    mut stream: &TcpStream,
    call: &Call,
    request: Captured,
    state: &Mutex<State>,
) -> io::Result<()> {
    let mut locked = lock(state);
    let subject = locked.hosted.subject(call, &request);
    let mut troubles = locked.troubles.iter_mut();
    let met = troubles.position(|it| it.meets(call.endpoint, &subject));
    let trouble = met.map(|it| locked.troubles[it].clone());
    let reply = match trouble.as_ref().and_then(|it| it.instead.clone()) {
        Some((status, body)) => Reply { status, content_type: "application/json", body },
        None => locked.hosted.answer(call, &request),
    };
    locked.calls.push(request);
    let n_calls = locked.calls.len();
    drop(locked);
    let closes_at = Instant::now() + CONNECTION_MAX;
    if let Some(trouble) = &trouble {
        hold(stream, state, Instant::now() + trouble.delay);
        if trouble.is_mute {
            hold(stream, state, closes_at);
            return Ok(());
        }
    }
    let request_id = format!("req_{n_calls}");
    let usual = [("content-type", reply.content_type), ("x-request-id", request_id.as_str())];
    let own = trouble.iter().flat_map(|it| &it.headers);
    let own: Vec<_> = own.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let usual = usual.into_iter().filter(|it| own.iter().all(|own| own.0 != it.0));
    let mut head = format!("HTTP/1.1 {} Kept\r\nconnection: close\r\n", reply.status);
    for (name, value) in usual.chain(own.iter().copied()) {
        head += &[name, ": ", value, "\r\n"].concat();
    }
    let n_bytes = trouble.as_ref().and_then(|it| it.stops_after).unwrap_or(usize::MAX);
    let body = &reply.body[..n_bytes.min(reply.body.len())];
    if trouble.as_ref().is_some_and(|it| !it.is_measured) {
        head += "transfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes())?;
        for chunk in body.chunks(1 << 16) {
            write_chunk(stream, chunk)?;
        }
        let end: &[u8] = if n_bytes < reply.body.len() { b"" } else { b"0\r\n\r\n" };
        return stream.write_all(end);
    }
    let length = trouble.and_then(|it| it.claims).unwrap_or(reply.body.len());
    head += &["content-length: ", &length.to_string(), "\r\n\r\n"].concat();
    stream.write_all(&[head.as_bytes(), body].concat())
}

/// Takes a request into the books and returns what to answer: the next round, or what is wrong.
fn next_round(state: &mut State, request: Captured) -> Round {
    if request.line == "GET /v1/models HTTP/1.1" {
        state.requests.push(request);
        return state.listed.clone();
    }
    let refuse = |faults: &[String]| {
        super::round().errs(400, "bench", "bench", &format!("the bench: {}", faults.join("; ")))
    };
    if let Some((directory, test)) = &state.dump {
        // A test may have several servers.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("{test}-{number:04}.json"));
        std::fs::create_dir_all(directory).unwrap();
        std::fs::write(path, request.body.to_string()).unwrap();
    }
    let model = request.body["model"].as_str().unwrap_or_default();
    if matches!(request.api(), Some(Api::Chat | Api::Messages)) && state.model != model {
        model.clone_into(&mut state.model);
        chat::forget_reasoning(&mut state.responses);
    }
    let mut faults = match request.api() {
        Some(Api::Responses) => check::check(&request.body, &state.responses),
        Some(Api::Chat) => chat::check(&request.body, &state.responses),
        Some(Api::Messages) => messages::check(&request.body, &state.responses),
        None => vec![format!("asked for `{}`", request.line)],
    };
    let is_there = request.api() == Some(state.api);
    let body = request.body.clone();
    state.requests.push(request);
    if !is_there && faults.is_empty() {
        return super::round()
            .answers(404, "404 page not found")
            .header("content-type", "text/plain");
    }
    // A server that keeps the conversation knows the container too.
    let kept = body.get("previous_response_id").map(|_| state.responses.iter().flatten());
    let mut kept = kept.into_iter().flatten().filter_map(|it| it["container_id"].as_str());
    let room = match state.hosted.admit(&body, kept.next_back()) {
        Err(error) if faults.is_empty() => {
            return super::round().answers(400, &error.to_string());
        }
        room => room.unwrap_or_default(),
    };
    let mut round = state.rounds.pop();
    match &mut round {
        Some(round) => faults.extend(round.settle(&mut state.hosted, room.as_ref(), &body)),
        None => faults.push(format!("request {} is not in the script", state.requests.len())),
    }
    state.faults.extend(faults.iter().cloned());
    match round {
        Some(round) if faults.is_empty() => {
            if round.is_last_of_container {
                state.hosted.expire_containers();
            }
            if !round.committed().is_empty() {
                state.responses.push(round.committed().to_vec());
            }
            round
        }
        _ => refuse(&faults),
    }
}

/// Reads a request. None when the peer has gone without one.
fn receive(stream: &TcpStream) -> io::Result<Option<Captured>> {
    let mut reader = BufReader::new(stream);
    let Some(mut request) = receive_head(&mut reader)? else { return Ok(None) };
    receive_body(&mut reader, &mut request)?;
    Ok(Some(request))
}

/// Reads a request without its body. None when the peer has gone without one.
pub(super) fn receive_head(reader: &mut impl BufRead) -> io::Result<Option<Captured>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let line = line.trim_end().to_owned();
    Ok(Some(Captured { line, headers, body: json!({}), bytes: Vec::new() }))
}

/// Reads the rest of a request's body.
pub(super) fn receive_body(reader: &mut impl BufRead, request: &mut Captured) -> io::Result<()> {
    if request.header("transfer-encoding") == Some("chunked") {
        request.bytes = receive_chunks(reader)?;
    } else {
        let length = request.header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
        let n_read = request.bytes.len();
        request.bytes.resize(length, 0);
        reader.read_exact(&mut request.bytes[n_read..])?;
    }
    request.body = serde_json::from_slice(&request.bytes).unwrap_or(json!({}));
    Ok(())
}

/// Reads a body that does not say how long it is.
fn receive_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk)?;
        if length == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&chunk[..length]);
    }
}

/// Sends a head and as much of the body as the round wants.
fn send(
    mut stream: &TcpStream,
    round: &Round,
    request: &Captured,
    state: &Mutex<State>,
) -> io::Result<()> {
    let status = round.http.as_ref().map_or(200, |it| it.0);
    let content_type = match round.http {
        None if request.body["stream"] == true => "text/event-stream; charset=utf-8",
        _ => "application/json",
    };
    let mut head = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\n");
    if !round.headers.iter().any(|it| it.0 == "content-type") {
        head += &["content-type: ", content_type, "\r\n"].concat();
    }
    for (name, value) in &round.headers {
        head += &[name, ": ", value, "\r\n"].concat();
    }
    head += "transfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    let pieces = round.pieces(request.api().unwrap_or_default(), &request.body);
    let n_pieces = round.stop_after.unwrap_or(pieces.len()).min(pieces.len());
    if round.pause.is_zero() {
        for chunk in pieces[..n_pieces].concat().chunks(round.chunk_bytes) {
            write_chunk(stream, chunk)?;
        }
    } else {
        for piece in &pieces[..n_pieces] {
            hold(stream, state, Instant::now() + round.pause);
            write_chunk(stream, piece)?;
        }
    }
    if round.finish == Finish::Close {
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

fn write_chunk(mut stream: &TcpStream, chunk: &[u8]) -> io::Result<()> {
    let head = format!("{:x}\r\n", chunk.len());
    stream.write_all(&[head.as_bytes(), chunk, b"\r\n"].concat())
}

/// Keeps a connection open until the peer closes it, the server stops, or the time has come.
fn hold(mut stream: &TcpStream, state: &Mutex<State>, until: Instant) {
    let mut byte = [0];
    while !lock(state).is_stopped {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        let step = left.min(Duration::from_millis(20));
        let _ = stream.set_read_timeout(Some(step));
        if let Ok(0) = stream.read(&mut byte) {
            return;
        }
    }
}
