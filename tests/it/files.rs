//! Files that code at the provider made: where they are shown, and what they must not do.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::bench::{Bench, round};

/// Gives the first turn files of these names and contents, each in a file of its own name.
pub fn add_files(bench: &Bench, files: &[(&str, &[u8])]) {
    let turn = bench.session().join("turns/0001");
    fs::create_dir_all(turn.join("artifacts")).unwrap();
    let mut told = Vec::new();
    for (at, (name, content)) in files.iter().enumerate() {
        let format = name.rsplit('.').next().unwrap();
        let path = format!("turns/0001/artifacts/f{at}.{format}");
        fs::write(bench.session().join(&path), content).unwrap();
        told.push(json!({"name": name, "cited": at == 0, "container_id": "cntr_1", "file_id": "f",
            "format": format, "path": path, "bytes": content.len(), "sha256": "0".repeat(64)}));
    }
    change_reply(bench, |reply| reply["files"] = json!(told));
}

/// Changes what is written down of the first turn's answer.
fn change_reply(bench: &Bench, change: impl FnOnce(&mut Value)) {
    let path = bench.session().join("turns/0001/events.jsonl");
    let events = fs::read_to_string(&path).unwrap();
    let (before, last) = events.trim_end().rsplit_once('\n').unwrap();
    let mut reply: Value = serde_json::from_str(last).unwrap();
    assert_eq!(reply["type"], "reply");
    change(&mut reply);
    fs::write(&path, format!("{before}\n{reply}\n")).unwrap();
}

#[test]
fn a_turn_without_files_says_so_and_one_of_an_earlier_version_is_shown() {
    let bench = Bench::with(["sales.csv"]).script([round().says("Ten.")]);
    let run = bench.ask_with(["--format", "json"], "How many rows?").succeeds();
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(document["files"], json!([]));
    change_reply(&bench, |reply| assert!(reply.as_object_mut().unwrap().remove("files").is_some()));
    assert_eq!(bench.run(["show"]).succeeds().stdout(), "Ten.\n");
    let run = bench.run(["show", "--format", "json"]).succeeds();
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(document["files"], json!([]));
}

#[test]
fn a_turn_with_files_is_shown_and_goes_with_reset() {
    let bench =
        Bench::with(["sales.csv"]).script([round().says("See [it](turns/0001/artifacts/f0.csv).")]);
    bench.ask("Where is it?").succeeds();
    add_files(&bench, &[("by product.csv", b"a\n1\n"), ("x\x1b[2J.svg", b"<svg/>")]);
    let session = bench.session().display().to_string();
    let show = |format| {
        let run = bench.run(["show", "--format", format]).succeeds();
        run.stdout().replace(&session, "SESSION")
    };
    insta::assert_snapshot!(show("text"), @r"
    file: SESSION/turns/0001/artifacts/f0.csv
    file: SESSION/turns/0001/artifacts/f1.svg

    See [it](SESSION/turns/0001/artifacts/f0.csv).
    ");
    insta::assert_snapshot!(show("md"), @r"
    - [by product.csv](SESSION/turns/0001/artifacts/f0.csv)
    - [x\\x1b\[2J.svg](SESSION/turns/0001/artifacts/f1.svg)

    See [it](SESSION/turns/0001/artifacts/f0.csv).
    ");
    assert_eq!(show("reply"), "See [it](turns/0001/artifacts/f0.csv).\n");
    let run = bench.run(["show", "--format", "json", "--abs-paths"]).succeeds();
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    let path = bench.session().join("turns/0001/artifacts/f0.csv");
    assert_eq!(document["files"][0]["abs_path"], path.to_str().unwrap());
    bench.run(["show", "--egress"]).succeeds();
    bench.run(["reset", "--yes"]).succeeds();
    assert!(!path.exists());
}

#[test]
fn a_page_has_pictures_and_names_all_other_files() {
    let bench = Bench::with(["sales.csv"]).script([round().says("There.")]);
    bench.ask("Where is it?").succeeds();
    let picture = [b"\x89PNG\r\n\x1a\n", &[7; 100][..]].concat();
    let large = [&picture[..], &vec![0; 9 * 1024 * 1024]].concat();
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    let hostile = "\"><script>alert(2)</script>.png";
    add_files(
        &bench,
        &[
            ("plot.png", &picture),
            ("drawn.svg", svg),
            ("drawn.png", svg),
            ("report.html", b"<script>alert(3)</script>"),
            (hostile, &picture),
            ("large.png", &large),
            ("elsewhere.png", b""),
            ("linked.png", b""),
        ],
    );
    let secret = bench.path("secret.png");
    fs::write(&secret, [&picture[..], b"secret"].concat()).unwrap();
    let linked = bench.session().join("turns/0001/artifacts/f7.png");
    fs::remove_file(&linked).unwrap();
    symlink(&secret, &linked).unwrap();
    change_reply(&bench, |reply| reply["files"][6]["path"] = json!("../secret.png"));
    let page = crate::page::Page::of(&bench, &[]);
    page.is_inert();
    let alts: Vec<&str> = page.pictures();
    assert_eq!(alts, ["plot.png", hostile]);
    let words = page.words();
    for told in ["drawn.svg", "report.html", "large.png", "elsewhere.png", "9.4 MB", "108 bytes"] {
        assert!(words.contains(told), "{told}: {words}");
    }
}
