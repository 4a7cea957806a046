//! The provider's files and containers through the client of csv-agent, with a server that has them.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::time::Duration;

use tempfile::TempDir;

use csv_agent_provider::error::ProviderErrorKind;
use csv_agent_provider::hosted::store::Upload;
use csv_agent_provider::{Key, Progress, Provider, RemoteOptions};

use crate::bench::{Endpoint, KEY, Life, Server, Trouble, trouble};
use crate::provider::block_on;

fn provider(server: &Server) -> Provider {
    Provider::remote(RemoteOptions {
        base_url: server.base_url(),
        key: Some(Key::new(KEY)),
        retries: 2,
        ..RemoteOptions::default()
    })
    .unwrap()
}

/// Uploads a file with this content and returns its id.
fn upload(provider: &mut Provider, filename: &str, content: &str) -> String {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("data");
    fs::write(&path, content).unwrap();
    let expires_after = Duration::from_hours(1);
    let upload = Upload { path: &path, filename, dataset: "sales", expires_after, n_turns: 0 };
    block_on(provider.upload(&upload, &mut |_| {})).unwrap()
}

#[test]
fn a_file_goes_up_into_a_container_and_comes_down() {
    let server = Server::start([]);
    let mut provider = provider(&server);
    let quiet = &mut |_: Progress<'_>| {};
    let file_id = upload(&mut provider, "Größe \"x\".csv", "a,b\r\n1,\"2\"\r\n");
    let [kept] = &server.files()[..] else { panic!("one file") };
    assert_eq!((&kept.id, kept.expires_after), (&file_id, Some(3600)));
    assert_eq!(kept.filename, "Größe \"x\".csv");
    let container_id = server.make_container("16g");
    let container = block_on(provider.container(&container_id, quiet)).unwrap();
    assert_eq!(container.memory_limit.as_deref(), Some("16g"));
    for _ in 0..120 {
        block_on(provider.add_to_container(&container_id, &file_id, quiet)).unwrap();
    }
    for n in 0..120 {
        server.put_file(&container_id, &format!("{n}.txt"), b"x");
    }
    let files = block_on(provider.container_files(&container_id, quiet)).unwrap();
    assert_eq!(files.len(), 121);
    let data = files.iter().find(|it| it.source == "user").unwrap();
    let mut into = tempfile::tempfile().unwrap();
    let fetched = provider.fetch_file(&container_id, &data.id, &mut into, 100, quiet);
    assert_eq!(block_on(fetched).unwrap(), 12);
    assert_eq!(content(into), "a,b\r\n1,\"2\"\r\n");
    block_on(provider.delete_upload(&file_id, quiet)).unwrap();
    block_on(provider.delete_upload(&file_id, quiet)).unwrap();
    block_on(provider.delete_container(&container_id, quiet)).unwrap();
    block_on(provider.delete_container(&container_id, quiet)).unwrap();
    assert!(server.files()[0].is_gone);
    assert_eq!(server.containers()[0].life, Life::Deleted);
}

fn content(mut file: File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn what_is_gone_is_told_by_its_kind() {
    let server = Server::start([]);
    let mut provider = provider(&server);
    let quiet = &mut |_: Progress<'_>| {};
    let container_id = server.make_container("1g");
    let kind =
        block_on(provider.add_to_container(&container_id, "file-9", quiet)).unwrap_err().kind;
    assert!(matches!(kind, ProviderErrorKind::NoSuchFile), "{kind:?}");
    server.expire_containers();
    for id in [&container_id[..], "cntr_9"] {
        let kinds = [
            block_on(provider.container(id, quiet)).unwrap_err().kind,
            block_on(provider.container_files(id, quiet)).unwrap_err().kind,
        ];
        let is_expired = |it: &ProviderErrorKind| matches!(it, ProviderErrorKind::ContainerExpired);
        assert!(kinds.iter().all(is_expired), "{kinds:?}");
    }
}

#[test]
fn troubles_that_pass_cost_tries() {
    let server = Server::start([]);
    let mut provider = provider(&server);
    let again = |it: Trouble| it.header("retry-after-ms", "1");
    server.troubles([
        again(trouble(Endpoint::Upload)).errs(503, "later").times(2),
        again(trouble(Endpoint::Content)).cut_after(3),
        again(trouble(Endpoint::Content)).unmeasured().cut_after(3),
    ]);
    upload(&mut provider, "a.csv", "a\n1\n");
    let container_id = server.make_container("1g");
    let file_id = server.put_file(&container_id, "b.txt", b"hello");
    let mut into = tempfile::tempfile().unwrap();
    let quiet = &mut |_: Progress<'_>| {};
    block_on(provider.fetch_file(&container_id, &file_id, &mut into, 5, quiet)).unwrap();
    assert_eq!(content(into), "hello");
    server.troubles([trouble(Endpoint::Content).claims(6)]);
    let mut into = tempfile::tempfile().unwrap();
    let too_large = provider.fetch_file(&container_id, &file_id, &mut into, 5, quiet);
    assert!(block_on(too_large).is_err());
}
