//! The bench's server keeps files and runs code as the provider does, asked in plain HTTP.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use csv_agent_provider::Api;

use crate::bench::{Bench, Endpoint, HANG, Life, Round, Server, round, trouble};

/// An answer of the server.
struct Answer {
    status: u16,
    head: String,
    /// What came of the body.
    bytes: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// Returns the JSON of an answer that is well.
    #[track_caller]
    fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.bytes));
        self.json()
    }

    /// Returns the payloads of a stream.
    fn events(&self) -> Vec<Value> {
        let text = str::from_utf8(&self.bytes).unwrap();
        let payloads = text.lines().filter_map(|it| it.strip_prefix("data: "));
        payloads.map(|it| serde_json::from_str(it).unwrap()).collect()
    }
}

/// Sends a request, with a key unless a header says otherwise.
fn send(server: &Server, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let address = server.base_url();
    let address = address.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let (method, path) = line.split_once(' ').unwrap();
    let mut head = format!("{method} /v1/{path} HTTP/1.1\r\nhost: {address}\r\n");
    let is_given = |name: &str| headers.iter().any(|it| it.0 == name);
    if !is_given("authorization") {
        head += "authorization: Bearer sk-1\r\n";
    }
    if !is_given("transfer-encoding") {
        head += &["content-length: ", &body.len().to_string(), "\r\n"].concat();
    }
    for (name, value) in headers {
        head += &[name, ": ", value, "\r\n"].concat();
    }
    stream.write_all(&[head.as_bytes(), b"\r\n", body].concat()).unwrap();
    let mut answer = Vec::new();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.read_to_end(&mut answer).unwrap();
    let end = memchr::memmem::find(&answer, b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let bytes = answer.split_off(end + 4);
    let is_chunked = head.contains("transfer-encoding: chunked");
    let bytes = if is_chunked { joined(&bytes) } else { bytes };
    Answer { status: head[9..12].parse().unwrap(), head, bytes }
}

/// Joins the chunks of a body.
fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(end) = memchr::memmem::find(chunks, b"\r\n") {
        let length = str::from_utf8(&chunks[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        bytes.extend_from_slice(&chunks[end + 2..end + 2 + length]);
        chunks = &chunks[end + 2 + length + 2..];
    }
    bytes
}

fn ask(server: &Server, line: &str) -> Answer {
    send(server, line, &[], b"")
}

fn post(server: &Server, line: &str, body: &Value) -> Answer {
    send(server, line, &[("content-type", "application/json")], body.to_string().as_bytes())
}

/// A form with a file of this name, and these values.
fn form(filename: &str, content: &str, values: &[(&str, &str)]) -> Vec<u8> {
    let mut form = format!(
        "--B\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{filename}\"\r\n\r\n\
         {content}\r\n"
    );
    for (name, value) in values {
        let head = format!("--B\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n");
        form += &[&head, *value, "\r\n"].concat();
    }
    (form + "--B--\r\n").into_bytes()
}

const FORM: (&str, &str) = ("content-type", "multipart/form-data; boundary=B");
const DAY: [(&str, &str); 3] = [
    ("purpose", "user_data"),
    ("expires_after[anchor]", "created_at"),
    ("expires_after[seconds]", "86400"),
];

/// Uploads a file and returns its id.
#[track_caller]
fn upload(server: &Server, filename: &str, content: &str) -> String {
    let answer = send(server, "POST files", &[FORM], &form(filename, content, &DAY));
    answer.ok()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_file_is_kept_until_it_is_deleted_or_lost() {
    let server = Server::start([]);
    let chunked = ("transfer-encoding", "chunked");
    let form = form("sales.csv", "a,b\n1,2\n", &DAY);
    let (head, tail) = form.split_at(100);
    let mut body = Vec::new();
    for chunk in [head, tail, b""] {
        body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        body.extend_from_slice(&[chunk, b"\r\n"].concat());
    }
    let made = send(&server, "POST files", &[FORM, chunked], &body).ok();
    let expected = json!({"id": "file-1", "object": "file", "bytes": 8, "created_at": 1,
        "expires_at": 86401, "filename": "sales.csv", "purpose": "user_data",
        "status": "processed"});
    assert_eq!(made, expected);
    assert_eq!(ask(&server, "GET files/file-1").ok(), expected);
    let deleted = ask(&server, "DELETE files/file-1").ok();
    assert_eq!(deleted, json!({"id": "file-1", "object": "file", "deleted": true}));
    upload(&server, "more.csv", "");
    server.lose_files();
    for line in ["GET files/file-1", "DELETE files/file-1", "GET files/file-2"] {
        let answer = ask(&server, line);
        assert_eq!(answer.status, 404, "{line}");
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("No such File object: file-"), "{message}");
    }
    let kept = server.files();
    let kept: Vec<_> = kept.iter().map(|it| (&it.filename[..], &it.content[..])).collect();
    assert_eq!(kept, [("sales.csv", &b"a,b\n1,2\n"[..]), ("more.csv", &b""[..])]);
    assert_eq!(server.calls()[0].header("transfer-encoding"), Some("chunked"));
    assert_eq!(server.calls()[0].bytes, form);
}

#[track_caller]
fn check_no_upload(filename: &str, values: &[(&str, &str)], param: &str) {
    let server = Server::start([]);
    let answer = send(&server, "POST files", &[FORM], &form(filename, "a\n", values));
    assert_eq!((answer.status, &answer.json()["error"]["param"]), (400, &json!(param)));
    assert_eq!(server.files(), []);
}

#[test]
fn what_is_no_proper_upload_is_refused() {
    let expiry = |anchor, seconds| {
        [DAY[0], ("expires_after[anchor]", anchor), ("expires_after[seconds]", seconds)]
    };
    check_no_upload("a.csv", &[], "purpose");
    check_no_upload("a.csv", &[("purpose", "fun")], "purpose");
    check_no_upload("a.csv", &DAY[..2], "expires_after[seconds]");
    check_no_upload("a.csv", &[DAY[0], DAY[2]], "expires_after[anchor]");
    check_no_upload("a.csv", &expiry("created_at", "3599"), "expires_after[seconds]");
    check_no_upload("a.csv", &expiry("created_at", "2592001"), "expires_after[seconds]");
    check_no_upload("a.csv", &expiry("created_at", "1h"), "expires_after[seconds]");
    check_no_upload("a.csv", &expiry("now", "3600"), "expires_after[anchor]");
    check_no_upload("a.parquet", &DAY, "file");
    check_no_upload("a.ipynb", &DAY, "file");
    check_no_upload("csv", &DAY, "file");
    let server = Server::start([]);
    assert_eq!(post(&server, "POST files", &json!({"purpose": "user_data"})).status, 400);
    let unnamed = b"--B\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\na\r\n--B--\r\n";
    assert_eq!(send(&server, "POST files", &[FORM], unnamed).status, 400);
    let without_key = [("authorization", "none")];
    assert_eq!(send(&server, "GET files/file-1", &without_key, b"").status, 401);
}

#[test]
fn a_container_holds_files_until_it_expires() {
    let server = Server::start([]);
    let file_id = upload(&server, "sales.csv", "a\n1\n");
    let wanted = json!({"name": "n", "memory_limit": "4g", "file_ids": [file_id]});
    let made = post(&server, "POST containers", &wanted).ok();
    assert_eq!((&made["id"], &made["memory_limit"]), (&json!("cntr_1"), &json!("4g")));
    assert_eq!(ask(&server, "GET containers/cntr_1").ok()["status"], "running");
    let added = post(&server, "POST containers/cntr_1/files", &json!({"file_id": "file-1"})).ok();
    let expected = json!({"id": "cfile_2", "object": "container.file", "created_at": 1, "bytes": 4,
        "container_id": "cntr_1", "path": "/mnt/data/sales.csv", "source": "user"});
    assert_eq!(added, expected);
    let other = form("b.txt", "\0\r\n", &[]);
    send(&server, "POST containers/cntr_1/files", &[FORM], &other).ok();
    assert_eq!(ask(&server, "GET containers/cntr_1/files/cfile_2").ok(), expected);
    let content = ask(&server, "GET containers/cntr_1/files/cfile_3/content");
    assert_eq!((content.status, &content.bytes[..]), (200, &b"\0\r\n"[..]));
    assert!(content.head.contains("\r\ncontent-type: application/octet-stream\r\n"));
    let deleted = ask(&server, "DELETE containers/cntr_1/files/cfile_2");
    assert_eq!((deleted.status, &deleted.bytes[..]), (200, &b""[..]));
    let gone = ["containers/cntr_1/files/cfile_1", "containers/cntr_1/files/cfile_2"];
    for path in gone {
        assert_eq!(ask(&server, &format!("GET {path}/content")).status, 404);
    }
    server.expire_containers();
    assert_eq!(ask(&server, "GET containers/cntr_1").ok()["status"], "expired");
    for line in ["GET containers/cntr_1/files", "GET containers/cntr_1/files/cfile_3/content"] {
        let answer = ask(&server, line);
        let error = json!({"error": {"message": "Container is expired.", "param": null,
            "type": "invalid_request_error", "code": null}});
        assert_eq!((answer.status, answer.json()), (400, error), "{line}");
    }
    assert_eq!(ask(&server, "DELETE containers/cntr_1").status, 200);
    assert_eq!(ask(&server, "GET containers/cntr_1").status, 404);
    assert_eq!(server.containers()[0].life, Life::Deleted);
    let no_tier = json!({"name": "n", "memory_limit": "2g"});
    assert_eq!(post(&server, "POST containers", &no_tier).status, 400);
    assert_eq!(post(&server, "POST containers", &json!({})).status, 400);
    let unknown = json!({"name": "n", "file_ids": ["file-9"]});
    assert_eq!(post(&server, "POST containers", &unknown).status, 400);
}

#[test]
fn the_files_of_a_container_come_in_pages() {
    let made = (0..5).fold(round().interprets("", ""), |it, n| it.makes_file(&n.to_string(), "x"));
    let server = Server::start([made]);
    post(&server, "POST responses", &request(&json!({"type": "auto"}))).ok();
    let page = |query: &str| ask(&server, &format!("GET containers/cntr_1/files?{query}"));
    let ids = |query: &str| {
        let page = page(query).ok();
        let data = page["data"].as_array().unwrap();
        let ids: Vec<_> = data.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(page["first_id"].as_str(), ids.first().map(String::as_str));
        assert_eq!(page["last_id"].as_str(), ids.last().map(String::as_str));
        (ids.concat().replace("cfile_", " "), page["has_more"] == true)
    };
    assert_eq!(ids(""), (" 5 4 3 2 1".to_owned(), false));
    assert_eq!(ids("limit=2"), (" 5 4".to_owned(), true));
    assert_eq!(ids("limit=2&after=cfile_4"), (" 3 2".to_owned(), true));
    assert_eq!(ids("after=cfile_2&limit=2"), (" 1".to_owned(), false));
    assert_eq!(ids("order=asc&limit=2&after=cfile_1"), (" 2 3".to_owned(), true));
    assert_eq!(ids("after=cfile_1"), (String::new(), false));
    for query in ["limit=0", "limit=101", "limit=x", "order=up", "after=cfile_9"] {
        assert_eq!(page(query).status, 400, "{query}");
    }
}

/// A request for a response that offers the interpreter, in one piece and with outputs.
fn request(container: &Value) -> Value {
    json!({
        "model": "m",
        "instructions": "i",
        "input": [{"type": "message", "role": "user", "content": "q"}],
        "tools": [{"type": "code_interpreter", "container": container}],
        "include": ["code_interpreter_call.outputs"],
        "store": false,
        "stream": false,
    })
}

#[track_caller]
fn check_refusal(request: &Value, message: &str) {
    let server = Server::start([]);
    post(&server, "POST containers", &json!({"name": "n"})).ok();
    server.expire_containers();
    post(&server, "POST containers", &json!({"name": "n"})).ok();
    let answer = post(&server, "POST responses", request);
    assert_eq!(answer.status, 400);
    let found = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(found.starts_with(message), "{found}");
}

#[test]
fn an_interpreter_without_a_proper_container_is_refused() {
    let auto = |more: Value| {
        let mut container = json!({"type": "auto"});
        container.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request(&container)
    };
    check_refusal(&request(&Value::Null), "Missing required parameter: 'tools[0].container'.");
    check_refusal(&request(&json!({"id": "cntr_2"})), "Invalid value for 'type'.");
    check_refusal(&request(&json!("cntr_1")), "Container is expired.");
    check_refusal(&request(&json!("cntr_3")), "Container with id 'cntr_3' not found.");
    check_refusal(&auto(json!({"memory_limit": "2g"})), "Invalid value: \"2g\".");
    check_refusal(&auto(json!({"file_ids": ["file-x"]})), "No such File object: file-x");
    check_refusal(&auto(json!({"file_ids": vec!["f"; 51]})), "Expected at most 50 file ids");
    let mut forced = request(&Value::Null);
    forced["tools"] = json!([]);
    forced["tool_choice"] = json!({"type": "code_interpreter"});
    check_refusal(&forced, "Tool choice 'code_interpreter' not found");
    let mut echoed = auto(json!({}));
    echoed["input"][0] = json!({"type": "code_interpreter_call", "id": "ci_1", "code": "",
        "container_id": "cntr_1", "status": "completed", "outputs": null});
    check_refusal(&echoed, "Expected container_id: cntr_1 to be active");
}

#[test]
fn code_runs_in_the_container_of_the_code_before_it() {
    let code = || round().interprets("x = 1", "");
    let server = Server::start([code(), code(), code(), code()]);
    let file_id = upload(&server, "sales.csv", "a\n");
    let auto = json!({"type": "auto", "memory_limit": "16g", "file_ids": [file_id]});
    let mut request = request(&auto);
    let mut respond = |container: &Value| {
        request["tools"][0]["container"] = container.clone();
        let response = post(&server, "POST responses", &request).ok();
        let item = response["output"][0].clone();
        request["input"].as_array_mut().unwrap().push(item.clone());
        [&item["id"], &item["container_id"]].map(|it| it.as_str().unwrap().to_owned())
    };
    assert_eq!(respond(&auto), ["ci_1", "cntr_1"]);
    assert_eq!(respond(&auto), ["ci_2", "cntr_1"]);
    post(&server, "POST containers", &json!({"name": "n"})).ok();
    assert_eq!(respond(&json!("cntr_2")), ["ci_3", "cntr_2"]);
    assert_eq!(respond(&auto), ["ci_4", "cntr_2"]);
    let [first, second] = &server.containers()[..] else { panic!("two containers") };
    assert_eq!((&first.memory_limit[..], &second.memory_limit[..]), ("16g", "1g"));
    let files = first.there().map(|it| (&it.path[..], it.source)).collect::<Vec<_>>();
    assert_eq!(files, [("/mnt/data/sales.csv", "user")]);
    assert_eq!(second.file("sales.csv").unwrap().content, b"a\n");
}

/// A round that draws and says so.
fn drawing() -> Round {
    round()
        .interprets("plot()", "done\n")
        .makes_file("plot.png", *b"\x89PNG")
        .cites("See [it](sandbox:/mnt/data/plot.png).", "plot.png")
}

#[test]
fn files_of_the_code_are_in_the_container_and_cited() {
    let server = Server::start([drawing()]);
    let response = post(&server, "POST responses", &request(&json!({"type": "auto"}))).ok();
    let citation = json!({"type": "container_file_citation", "container_id": "cntr_1",
        "file_id": "cfile_1", "filename": "plot.png", "start_index": 9, "end_index": 35});
    assert_eq!(response["output"][1]["content"][0]["annotations"], json!([citation]));
    let item = json!({"id": "ci_1", "type": "code_interpreter_call", "status": "completed",
        "container_id": "cntr_1", "code": "plot()",
        "outputs": [{"type": "logs", "logs": "done\n"}]});
    assert_eq!(response["output"][0], item);
    let content = ask(&server, "GET containers/cntr_1/files/cfile_1/content").bytes;
    assert_eq!(content, b"\x89PNG");
    let listed = ask(&server, "GET containers/cntr_1/files").ok();
    assert_eq!(listed["data"][0]["source"], "assistant");
}

#[test]
fn code_comes_in_a_stream_with_all_its_events() {
    let server = Server::start([drawing(), round().interpretation_fails("1/0")]);
    let mut request = request(&json!({"type": "auto"}));
    request["stream"] = true.into();
    request["include"] = json!([]);
    let events = post(&server, "POST responses", &request).events();
    let kinds: Vec<_> = events.iter().map(|it| it["type"].as_str().unwrap()).collect();
    let call = "code_interpreter_call";
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        &format!("response.{call}.in_progress"),
        &format!("response.{call}_code.delta"),
        &format!("response.{call}_code.delta"),
        &format!("response.{call}_code.done"),
        &format!("response.{call}.interpreting"),
        &format!("response.{call}.completed"),
        "response.output_item.done",
        "response.output_item.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.annotation.added",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(events[2]["item"]["container_id"], "cntr_1");
    let deltas = [&events[4], &events[5]].map(|it| it["delta"].as_str().unwrap()).concat();
    assert_eq!((&deltas[..], &events[6]["code"]), ("plot()", &json!("plot()")));
    let done = &events[9]["item"];
    assert_eq!((&done["status"], &done["outputs"]), (&json!("completed"), &Value::Null));
    assert_eq!(events[13]["annotation"]["file_id"], "cfile_1");
    let failed = post(&server, "POST responses", &request).events();
    assert!(!failed.iter().any(|it| it["type"] == format!("response.{call}.completed")));
    assert_eq!(failed.last().unwrap()["response"]["output"][0]["status"], "failed");
}

#[test]
fn troubles_come_about_and_pass() {
    let server = Server::start([drawing()]);
    let down = || trouble(Endpoint::Upload).errs(503, "later").header("retry-after", "1");
    server.troubles([
        down().times(2),
        trouble(Endpoint::Content).of("plot.png").cut_after(2),
        trouble(Endpoint::Content).unmeasured(),
        trouble(Endpoint::Content).claims(1 << 40),
        trouble(Endpoint::ListFiles).of("cntr_1").answers(404, "<html>"),
        trouble(Endpoint::DeleteUpload).always(),
    ]);
    let send = || send(&server, "POST files", &[FORM], &form("a.csv", "a\n", &DAY));
    let refused = send();
    assert_eq!((refused.status, refused.json()["error"]["message"].as_str()), (503, Some("later")));
    assert!(refused.head.contains("\r\nretry-after: 1\r\n"));
    assert_eq!((send().status, send().status, server.files().len()), (503, 200, 1));
    post(&server, "POST responses", &request(&json!({"type": "auto"}))).ok();
    let list = || ask(&server, "GET containers/cntr_1/files");
    assert_eq!((list().status, list().status), (404, 200));
    let content = || ask(&server, "GET containers/cntr_1/files/cfile_1/content");
    let cut = content();
    assert!(cut.head.contains("content-length: 4"));
    assert_eq!(cut.bytes, b"\x89P");
    let unmeasured = content();
    assert!(unmeasured.head.contains("transfer-encoding: chunked"));
    assert_eq!(unmeasured.bytes, b"\x89PNG");
    assert!(content().head.contains("content-length: 1099511627776"));
    assert_eq!(content().bytes, b"\x89PNG");
}

#[test]
fn an_answer_can_be_late_or_never_come() {
    let server = Server::start([]);
    let wait = Duration::from_millis(30);
    server.troubles([trouble(Endpoint::Upload).delayed(wait), trouble(Endpoint::Upload).mute()]);
    let before = Instant::now();
    upload(&server, "a.csv", "a\n");
    assert!(wait <= before.elapsed());
    let address = server.base_url()["http://".len()..].replace("/v1", "");
    let mut stream = TcpStream::connect(address).unwrap();
    let form = form("b.csv", "b\n", &DAY);
    let head = format!(
        "POST /v1/files HTTP/1.1\r\nauthorization: Bearer sk-1\r\ncontent-type: {}\r\n\
         content-length: {}\r\n\r\n",
        FORM.1,
        form.len()
    );
    stream.write_all(&[head.as_bytes(), &form].concat()).unwrap();
    while server.files().len() < 2 {
        thread::sleep(Duration::from_millis(1));
    }
    stream.set_read_timeout(Some(wait)).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
#[should_panic(expected = "asked for `GET /v1/files/file-1 HTTP/1.1`")]
fn a_server_of_the_other_dialect_keeps_no_files() {
    let bench = Bench::with([]).speaking(Api::Chat);
    assert_eq!(ask(bench.server(), "GET files/file-1").status, 400);
}

#[test]
#[should_panic(expected = "troubles that nobody had")]
fn a_trouble_must_come_about() {
    Server::start([]).troubles([trouble(Endpoint::Content)]);
}

#[track_caller]
fn check_fault(round: Round, request: &Value) {
    let server = Server::start([round]);
    post(&server, "POST responses", request);
}

#[test]
#[should_panic(expected = "the interpreter was demanded, and the round runs no code")]
fn a_script_runs_code_when_it_is_demanded() {
    let mut request = request(&json!({"type": "auto"}));
    request["tool_choice"] = json!({"type": "code_interpreter"});
    check_fault(round().says("Hm."), &request);
}

#[test]
#[should_panic(expected = "the round runs code, and no interpreter was offered")]
fn a_script_runs_no_code_without_an_interpreter() {
    let mut request = request(&Value::Null);
    request["tools"] = json!([]);
    check_fault(round().interprets("1", "1"), &request);
}

#[test]
#[should_panic(expected = "the round cites `a.png`, which is not there")]
fn a_script_cites_files_that_are_there() {
    check_fault(round().cites("See.", "a.png"), &request(&json!({"type": "auto"})));
}
