//! The provider's files and containers, against a server that answers in every way that calls can go.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use csv_agent_provider::error::{ProviderError, ProviderErrorKind};
use csv_agent_provider::hosted::store::{ContainerFile, LiveContainer, Upload};
use csv_agent_provider::{Progress, Provider, RemoteOptions};
use csv_agent_types::status::FailureKind;

use super::{SHORT, block_on, options_at};
use crate::bench::{Answer, Answers, KEY, in_time};

const DAY: Duration = Duration::from_hours(24);

fn answer(status: u16, body: impl Into<Vec<u8>>) -> Answer {
    Answer { status, body: body.into(), ..Answer::default() }
}

fn json_answer(body: &Value) -> Answer {
    answer(200, body.to_string())
}

fn complaint(status: u16, message: &str) -> Answer {
    let error = json!({"message": message, "type": "invalid_request_error", "param": null});
    let mut answer = answer(status, json!({"error": error}).to_string());
    answer.headers.push(("x-request-id", "req_7".to_owned()));
    answer
}

fn provider_at(server: &Answers) -> Provider {
    Provider::remote(options_at(server.base_url())).unwrap()
}

/// A file to upload, in a directory of its own.
fn file(content: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("made.csv");
    fs::write(&path, content).unwrap();
    (directory, path)
}

fn upload(path: &Path) -> Upload<'_> {
    Upload { path, filename: "orders.csv", dataset: "orders", expires_after: DAY, n_turns: 0 }
}

/// Returns a line for what is told.
fn told(progress: &Progress<'_>) -> String {
    match progress {
        Progress::Calling { bytes, .. } => format!("calling with {bytes}"),
        Progress::Uploading { dataset, filename, bytes, .. } => {
            format!("uploading {filename} of {dataset}, {bytes}")
        }
        Progress::Fetched { bytes } => format!("fetched {bytes}"),
        Progress::Unsent => "unsent".to_owned(),
        Progress::Retrying { attempt, reason, .. } => format!("try {attempt}: {reason}"),
        Progress::Warning { code, message } => format!("{code}: {message}"),
        other => panic!("{other:?}"),
    }
}

/// Does something with a provider and returns what came of it and what was told.
macro_rules! hear {
    ($provider:expr, $method:ident($($argument:expr),*)) => {{
        let mut lines = Vec::new();
        let mut hear = |progress: Progress<'_>| lines.push(told(&progress));
        let outcome = block_on($provider.$method($($argument,)* &mut hear));
        (outcome, lines)
    }};
}

fn ids(id: &str) -> Answer {
    json_answer(&json!({"id": id, "object": "file"}))
}

#[test]
fn an_upload_is_a_form_with_the_file_and_its_end() {
    let store = Answers::start([ids("file-1")]);
    let (_directory, path) = file(b"day,price\n1,2\n");
    let (id, lines) = hear!(provider_at(&store), upload(&upload(&path)));
    assert_eq!(id.unwrap(), "file-1");
    assert_eq!(lines, ["uploading orders.csv of orders, 14"]);
    assert_eq!(store.lines(), ["POST /v1/files"]);
    let seen = &store.seen()[0];
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let form = seen.header("content-type").unwrap();
    assert!(form.starts_with("multipart/form-data; boundary="), "{form}");
    let body = String::from_utf8(seen.bytes.clone()).unwrap();
    let field = |name: &str, value: &str| format!("name=\"{name}\"\r\n\r\n{value}\r\n");
    for field in [
        field("purpose", "user_data"),
        field("expires_after[anchor]", "created_at"),
        field("expires_after[seconds]", "86400"),
    ] {
        assert!(body.contains(&field), "{field} in {body}");
    }
    let file = "name=\"file\"; filename=\"orders.csv\"\r\nContent-Type: application/octet-stream\r\n\r\n\
                day,price\n1,2\n\r\n";
    assert!(body.contains(file), "{body}");
    assert!(!body.contains(KEY) && !body.contains("made.csv"), "{body}");
}

#[track_caller]
fn check_refused(upload: &Upload<'_>, words: &str) {
    let store = Answers::start([]);
    let (outcome, lines) = hear!(provider_at(&store), upload(upload));
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Rejected);
    assert!(error.message.starts_with(words), "{error}");
    assert!(error.hint.is_some(), "{error}");
    assert_eq!(lines, [] as [&str; 0], "nothing leaves");
}

#[test]
fn what_hosted_code_cannot_be_given_is_not_sent() {
    let (directory, path) = file(b"x");
    for filename in ["orders.parquet", "notes.ipynb", "orders", "orders.csv.exe"] {
        let words = format!("cannot upload `{filename}`: files that end in");
        check_refused(&Upload { filename, ..upload(&path) }, &words);
    }
    for filename in ["a/b.csv", "a\r\nx: y.csv"] {
        let words = format!(
            "cannot upload `{}`: an upload cannot have that name",
            filename.replace("\r\n", " ")
        );
        check_refused(&Upload { filename, ..upload(&path) }, &words);
    }
    let missing = directory.path().join("missing.csv");
    check_refused(&upload(&missing), "cannot upload `orders.csv`: cannot read `");
    let large = directory.path().join("large.csv");
    File::create(&large).unwrap().set_len(512 * 1024 * 1024 + 1).unwrap();
    check_refused(
        &upload(&large),
        "cannot upload `orders.csv`: it has 536870913 bytes; at most 536870912 are uploaded",
    );
}

#[test]
fn a_call_that_fails_is_made_again_whole() {
    let limit = Answer { headers: vec![("retry-after-ms", "3".to_owned())], ..answer(429, "slow") };
    let cut = Answer { n_sent: Some(3), ..ids("file-1") };
    let store = Answers::start([limit, cut, ids("file-2")]);
    let (_directory, path) = file(b"a\n1\n");
    let (id, lines) = hear!(provider_at(&store), upload(&upload(&path)));
    assert_eq!(id.unwrap(), "file-2");
    let up = "uploading orders.csv of orders, 4";
    let [first, limited, second, cut, third] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!([first, second, third], [up; 3]);
    assert_eq!(limited, "try 1: the provider's rate limit is reached with status 429: slow");
    assert!(cut.starts_with("try 2: the connection broke within the provider's answer"), "{cut}");
    for seen in store.seen() {
        assert!(String::from_utf8(seen.bytes).unwrap().contains("\r\n\r\na\n1\n\r\n"));
    }
}

#[test]
fn tries_run_out_and_the_error_names_the_request_and_not_the_key() {
    let fails = || {
        let mut answer = complaint(500, &format!("oops {KEY}"));
        answer.headers.push(("retry-after-ms", "1".to_owned()));
        answer
    };
    let store = Answers::start([fails(), fails(), fails()]);
    let error = hear!(provider_at(&store), container("cntr_1")).0.unwrap_err();
    assert_eq!(
        error.message,
        "the provider failed with status 500: oops *** (request `req_7`); gave up after 3 tries"
    );
    assert_eq!(error.request_id.as_deref(), Some("req_7"));
    assert_eq!(error.failure_kind(), FailureKind::Provider);
    assert_eq!(store.seen().len(), 3);
}

#[test]
fn a_server_that_is_not_there_got_nothing() {
    let mut options = options_at(Answers::start([]).base_url());
    options.base_url = "http://127.0.0.1:1/v1".to_owned();
    options.retries = 0;
    let mut provider = Provider::remote(options).unwrap();
    let (outcome, lines) = hear!(provider, delete_container("cntr_1"));
    assert!(outcome.unwrap_err().is_unsent);
    assert_eq!(lines, ["calling with 0", "unsent"]);
}

#[test]
fn containers_are_looked_at_filled_and_deleted() {
    let found = json!({"id": "cntr_1", "object": "container", "status": "running",
        "memory_limit": "4g"});
    let store = Answers::start([
        json_answer(&found),
        ids("cfile_1"),
        json_answer(&json!({"deleted": true})),
        json_answer(&json!({"deleted": true})),
    ]);
    let mut provider = provider_at(&store);
    let container = hear!(provider, container("cntr_1")).0.unwrap();
    let expected = LiveContainer {
        id: "cntr_1".into(),
        status: "running".into(),
        memory_limit: Some("4g".into()),
    };
    assert_eq!(container, expected);
    let (added, lines) = hear!(provider, add_to_container("cntr_1", "file-1"));
    added.unwrap();
    assert_eq!(lines, ["calling with 20"]);
    hear!(provider, delete_upload("file-1")).0.unwrap();
    hear!(provider, delete_container("cntr_1")).0.unwrap();
    assert_eq!(
        store.lines(),
        [
            "GET /v1/containers/cntr_1",
            "POST /v1/containers/cntr_1/files",
            "DELETE /v1/files/file-1",
            "DELETE /v1/containers/cntr_1",
        ]
    );
    assert_eq!(store.seen()[1].bytes, br#"{"file_id":"file-1"}"#);
}

#[track_caller]
fn check_gone(answer: Answer, kind: &ProviderErrorKind, message: &str) {
    let store = Answers::start([answer]);
    let error = hear!(provider_at(&store), container("cntr_1")).0.unwrap_err();
    assert_eq!((&error.kind, error.message.as_str()), (kind, message));
    assert!(error.hint.is_some());
}

#[test]
fn a_container_that_is_gone_is_told_in_all_ways() {
    let gone = &ProviderErrorKind::ContainerExpired;
    check_gone(
        complaint(400, "LiveContainer is expired."),
        gone,
        "the provider no longer has the container with status 400: LiveContainer is expired. (request `req_7`)",
    );
    check_gone(
        complaint(404, "No."),
        gone,
        "the provider no longer has the container with status 404: No. (request `req_7`)",
    );
    check_gone(
        json_answer(&json!({"id": "cntr_1", "status": "expired"})),
        gone,
        "the container `cntr_1` can no longer be used: it is `expired`",
    );
    check_gone(
        answer(404, "404 page not found"),
        &ProviderErrorKind::NoEndpoint,
        "the provider refused the request with status 404: 404 page not found",
    );
    check_gone(
        answer(200, "<html>hello</html>"),
        &ProviderErrorKind::Malformed,
        "the provider's answer is not a valid response: <html>hello</html>",
    );
}

#[test]
fn what_is_gone_is_as_good_as_deleted() {
    let store = Answers::start([
        complaint(404, "No such File object: file-1"),
        complaint(400, "LiveContainer is expired."),
        answer(403, "no"),
    ]);
    let mut provider = provider_at(&store);
    hear!(provider, delete_upload("file-1")).0.unwrap();
    hear!(provider, delete_container("cntr_1")).0.unwrap();
    let error = hear!(provider, delete_container("cntr_1")).0.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Unauthorized);
}

#[test]
fn no_name_from_outside_becomes_a_path() {
    let bad = ["", "../files", "cntr_1/files", "a b", "cntr_1?x=1", "ä", &"x".repeat(129)];
    for id in bad {
        let mut provider = provider_at(&Answers::start([]));
        let outcomes: [Result<(), ProviderError>; 6] = [
            hear!(provider, container(id)).0.map(|_| ()),
            hear!(provider, add_to_container("cntr_1", id)).0,
            hear!(provider, container_files(id)).0.map(|_| ()),
            hear!(provider, fetch_file("cntr_1", id, &mut tempfile::tempfile().unwrap(), 9))
                .0
                .map(|_| ()),
            hear!(provider, delete_upload(id)).0,
            hear!(provider, delete_container(id)).0,
        ];
        for outcome in outcomes {
            assert_eq!(outcome.unwrap_err().kind, ProviderErrorKind::Malformed, "{id}");
        }
        let store = Answers::start([ids(id)]);
        let (_directory, path) = file(b"x");
        let error = hear!(provider_at(&store), upload(&upload(&path))).0.unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::Malformed, "{id}");
    }
}

fn listed(id: &str) -> Value {
    json!({"id": id, "object": "container.file", "bytes": 5, "path": format!("/mnt/data/{id}.csv"),
        "source": "assistant"})
}

#[test]
fn files_are_listed_page_by_page() {
    let odd = json!({"id": "../x", "path": "/mnt/data/x"});
    let first = json!({"data": [listed("cfile_1"), odd, listed("cfile_2")], "has_more": true});
    let bare = json!({"id": "cfile_3", "path": "/mnt/data/y", "bytes": null});
    let second = json!({"data": [bare, {"id": "cfile_4"}], "has_more": false});
    let store = Answers::start([json_answer(&first), json_answer(&second)]);
    let files = hear!(provider_at(&store), container_files("cntr_1")).0.unwrap();
    let found: Vec<&str> = files.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(found, ["cfile_1", "cfile_2", "cfile_3"]);
    assert_eq!(
        files[0],
        ContainerFile {
            id: "cfile_1".into(),
            path: "/mnt/data/cfile_1.csv".into(),
            bytes: Some(5),
            source: "assistant".into(),
        }
    );
    assert_eq!((files[2].bytes, files[2].source.as_str()), (None, ""));
    assert_eq!(
        store.lines(),
        [
            "GET /v1/containers/cntr_1/files?limit=100&order=desc",
            "GET /v1/containers/cntr_1/files?limit=100&order=desc&after=cfile_2",
        ]
    );
}

#[test]
fn a_list_without_end_is_cut_and_told() {
    let page = |at: usize| {
        let data: Vec<Value> = (0..100).map(|it| listed(&format!("cfile_{at}_{it}"))).collect();
        json_answer(&json!({"data": data, "has_more": true}))
    };
    let store = Answers::start((0..10).map(page));
    let (files, lines) = hear!(provider_at(&store), container_files("cntr_1"));
    assert_eq!(files.unwrap().len(), 1_000);
    let warning =
        "files_unlisted: the container `cntr_1` has more than 1000 files: these are the newest";
    assert_eq!(lines.last().map(String::as_str), Some(warning));
    assert_eq!(store.seen().len(), 10);
    let idle = Answers::start([json_answer(&json!({"data": [], "has_more": true}))]);
    assert_eq!(hear!(provider_at(&idle), container_files("cntr_1")).0.unwrap(), []);
}

/// Fetches a file into one that holds something else, and returns what it holds then.
#[track_caller]
fn fetch(
    options: RemoteOptions,
    bytes_max: u64,
) -> (Result<u64, ProviderError>, Vec<u8>, Vec<String>) {
    let mut provider = Provider::remote(options).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fetched");
    fs::write(&path, "something longer that was there before").unwrap();
    let mut into = File::options().read(true).write(true).open(&path).unwrap();
    let (outcome, lines) = hear!(provider, fetch_file("cntr_1", "cfile_1", &mut into, bytes_max));
    (outcome, fs::read(&path).unwrap(), lines)
}

#[test]
fn a_file_is_fetched_byte_by_byte() {
    let content: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let store = Answers::start([answer(200, content.clone())]);
    let (bytes, found, lines) = fetch(options_at(store.base_url()), 100_000);
    assert_eq!((bytes.unwrap(), found == content), (100_000, true));
    assert_eq!(lines, ["calling with 0", "fetched 100000"]);
    assert_eq!(store.lines(), ["GET /v1/containers/cntr_1/files/cfile_1/content"]);
    assert_eq!(store.seen()[0].header("accept"), Some("*/*"));
}

#[test]
fn a_download_that_breaks_or_falls_silent_begins_anew() {
    let half = |is_silent| Answer { n_sent: Some(3), is_silent, ..answer(200, "a,b\n1,2\n") };
    in_time(SHORT, |idle| {
        let store = Answers::start([half(false), half(true), answer(200, "a,b\n1,2\n")]);
        let options = RemoteOptions { idle, ..options_at(store.base_url()) };
        let (bytes, found, lines) = fetch(options, 100);
        let tries: Vec<&String> = lines.iter().filter(|it| it.starts_with("try ")).collect();
        let silent = format!("try 2: the provider sent nothing for {} s", idle.as_secs_f64());
        let is_so = bytes.as_ref().is_ok_and(|it| *it == 8)
            && found == b"a,b\n1,2\n"
            && tries[0].starts_with("try 1: the connection broke within")
            && *tries[1] == silent
            && lines.last().unwrap() == "fetched 8";
        if is_so { Ok(()) } else { Err(format!("{bytes:?} {lines:?}")) }
    });
}

#[test]
fn a_file_beyond_the_bound_is_refused_at_once_or_as_it_comes() {
    // The server that says so never gets to send the rest.
    let said = Answer { n_sent: Some(0), is_silent: true, ..answer(200, "123456789") };
    let unsaid = Answer { is_unmeasured: true, ..answer(200, "123456789") };
    for answer in [said, unsaid] {
        let store = Answers::start([answer]);
        let (outcome, found, lines) = fetch(options_at(store.base_url()), 8);
        let error = outcome.unwrap_err();
        assert_eq!(error.message, "the file `cfile_1` is larger than 8 bytes, the limit");
        assert_eq!(error.kind, ProviderErrorKind::Malformed);
        assert!(found.len() <= 38, "nothing beyond the bound is written");
        assert_eq!(lines, ["calling with 0"], "it is not tried again, and nothing was fetched");
    }
}

#[test]
fn a_file_that_is_not_there_says_so_and_writes_nothing() {
    let store = Answers::start([complaint(404, "File not found.")]);
    let (outcome, found, _) = fetch(options_at(store.base_url()), 100);
    assert_eq!(outcome.unwrap_err().kind, ProviderErrorKind::NoSuchFile);
    assert_eq!(found, b"something longer that was there before");
}

#[test]
fn an_upload_may_be_slow_but_not_stop() {
    let (_directory, path) = file(&vec![b'x'; 40 * 1024 * 1024]);
    let reads = |every| Answer { reads_every: Some(every), ..ids("f") };
    let send = |store: &Answers, limit: Duration| {
        let (first_event, idle) = (limit, limit);
        let options =
            RemoteOptions { first_event, idle, retries: 0, ..options_at(store.base_url()) };
        hear!(Provider::remote(options).unwrap(), upload(&upload(&path))).0
    };
    // Loopback connections take a megabyte at once or nothing.
    in_time(Duration::from_millis(400), |limit| {
        let begin = Instant::now();
        let outcome = send(&Answers::start([reads(limit / 40)]), limit);
        assert!(
            outcome.is_err() || 2 * limit < begin.elapsed(),
            "it took longer than a silence may"
        );
        outcome.map(|it| assert_eq!(it, "f"))
    });
    let error = send(&Answers::start([reads(DAY)]), Duration::from_millis(400)).unwrap_err();
    assert!(error.message.ends_with("did not answer within 0.4 s"), "{error}");
    assert!(error.may_pass());
}

#[test]
fn a_refusal_may_come_before_the_file_is_through() {
    let (_directory, path) = file(&vec![b'x'; 40 * 1024 * 1024]);
    let store = Answers::start([Answer { is_early: true, ..complaint(413, "Too large.") }]);
    let error = hear!(provider_at(&store), upload(&upload(&path))).0.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Rejected);
    let message = "the provider refused the request with status 413: Too large. (request `req_7`)";
    assert_eq!(error.message, message);
}

#[test]
fn calls_are_recorded_and_replayed_with_their_files() {
    let directory = tempfile::tempdir().unwrap();
    let cassette = directory.path().join("q.cass.jsonl");
    let (_directory, path) = file(b"day\n1\n");
    let png: Vec<u8> = (0..=255).rev().collect();
    let secret = format!("key,{KEY}\n");
    let limit = Answer { headers: vec![("retry-after-ms", "1".to_owned())], ..answer(429, "slow") };
    let store = Answers::start([
        limit,
        ids("file-1"),
        answer(200, png.clone()),
        answer(200, secret.clone()),
    ]);
    let mut live = provider_at(&store).recording(&cassette).unwrap();
    hear!(live, upload(&upload(&path))).0.unwrap();
    let fetch = |provider: &mut Provider, file_id: &str| {
        let fetched = directory.path().join("fetched");
        let mut into = File::options();
        let mut into =
            into.read(true).write(true).create(true).truncate(true).open(&fetched).unwrap();
        let (bytes, lines) = hear!(provider, fetch_file("cntr_1", file_id, &mut into, 1_000));
        (bytes.unwrap(), fs::read(fetched).unwrap(), lines)
    };
    assert_eq!(fetch(&mut live, "cfile_1").1, png);
    assert_eq!(fetch(&mut live, "cfile_2").1, secret.as_bytes());
    let text = fs::read_to_string(&cassette).unwrap();
    assert!(!text.contains(KEY), "{text}");
    let lines: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    let file = &lines[0]["call"]["file"];
    assert_eq!(file["filename"], "orders.csv");
    assert_eq!(file["sha256"], "5189ae7d0873608981b847e6365dd8fbae327c86548ab7bce963f3bc25223cd4");
    assert_eq!(lines[0]["key"], lines[1]["key"]);
    assert_eq!(lines[2]["headers"], json!({}), "{}", lines[2]);

    let mut replay = Provider::replay(&cassette).unwrap();
    let (id, told) = hear!(replay, upload(&upload(&path)));
    assert_eq!(id.unwrap(), "file-1");
    // Nothing leaves, and the failure comes again.
    assert_eq!(told, ["try 1: the provider's rate limit is reached with status 429: slow"]);
    let (bytes, found, told) = fetch(&mut replay, "cfile_1");
    assert_eq!((bytes, found == png, told), (256, true, Vec::new()));
    assert_eq!(fetch(&mut replay, "cfile_2").1, b"key,***\n", "secrets are masked in text");

    fs::write(&path, "day\n2\n").unwrap();
    let error = hear!(replay, upload(&upload(&path))).0.unwrap_err();
    assert_eq!(error.failure_kind(), FailureKind::Replay);
    let words = "has no such call; the nearest is on line 1, where `file.sha256` is `\"";
    assert!(error.message.contains(words), "{error}");
}

#[test]
fn a_cassette_without_calls_says_that_it_has_none() {
    let directory = tempfile::tempdir().unwrap();
    let cassette = directory.path().join("q.cass.jsonl");
    fs::write(&cassette, r#"{"v":1,"request":{},"status":200,"body":""}"#).unwrap();
    let mut replay = Provider::replay(&cassette).unwrap();
    let error = hear!(replay, container("cntr_1")).0.unwrap_err();
    let path = cassette.display();
    assert_eq!(error.message, format!("the cassette `{path}` has no such call"));
    assert_eq!(error.kind, ProviderErrorKind::Mismatch);
}

#[test]
fn the_analyst_inside_the_binary_has_no_store() {
    let (_directory, path) = file(b"x");
    let error = hear!(Provider::Builtin, upload(&upload(&path))).0.unwrap_err();
    assert_eq!(error.message, "the built-in analyst keeps no files and runs no containers");
    assert!(hear!(Provider::Builtin, delete_container("cntr_1")).0.is_err());
}
