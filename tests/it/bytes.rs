//! `ingest` on files whose bytes are not plain UTF-8.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::bench::Bench;

#[test]
fn bytes_that_are_no_text_are_told_on_stderr_and_refused_when_strict() {
    let bench = Bench::with([]);
    let text = [&b"name,city\n"[..], "Zoë,Köln\n".as_bytes(), b"Jos\xe9,Rome\n"].concat();
    let strict = bench.pipe(["ingest", "--strict", "-"], &text).fails_with(5);
    let expected = "cannot read `-` as utf-8: the bytes at offset 24, on line 3, are not valid";
    assert!(strict.stderr().contains(expected), "{}", strict.stderr());
    let run = bench.pipe(["ingest", "-"], &text).succeeds();
    let expected = "`stdin`: bytes that are not valid utf-8, replaced by U+FFFD; the first on line 3, byte \
                    offset 24; `--strict` refuses such a file";
    assert!(run.stderr().contains(expected), "{}", run.stderr());
}

#[test]
fn an_encoding_that_is_a_guess_is_said_with_its_bytes_and_the_flag() {
    let bench = Bench::with([]);
    let run = bench.pipe(["ingest", "--json", "-"], b"item,Amount (\xa3)\ntea,5\n").succeeds();
    let expected = "`stdin`: encoding windows-1252: a guess from few bytes outside ASCII (0xA3), read \
                    as in `£`; if that is wrong, name the encoding with `--encoding`";
    assert!(run.stderr().contains(expected), "{}", run.stderr());
    assert!(run.stdout().contains("Amount (£)"), "{}", run.stdout());
    let named = ["ingest", "--if-exists", "replace", "--encoding", "windows-1250", "-"];
    let run = bench.pipe(named, b"item,Amount (\xa3)\ntea,5\n").succeeds();
    assert!(!run.stderr().contains("guess"), "{}", run.stderr());
}

#[test]
fn a_file_joined_from_two_encodings_is_told_and_refused_when_strict() {
    let bench = Bench::with([]);
    let (utf8, western) = ("Zoë,Köln\n".repeat(9), b"Jos\xe9,N\xeemes\n".repeat(9));
    let text = [b"name,city\n", utf8.as_bytes(), &western].concat();
    let strict = bench.pipe(["ingest", "--strict", "-"], &text).fails_with(5);
    assert!(strict.stderr().contains("--encoding utf-8+windows-1252"), "{}", strict.stderr());
    let run = bench.pipe(["ingest", "-"], &text).succeeds();
    let expected = "encoding utf-8+windows-1252: it mixes UTF-8 and windows-1252: 18 bytes are \
                    windows-1252, the first on line 11 at byte offset 112";
    assert!(run.stderr().contains(expected), "{}", run.stderr());
    let told = ["ingest", "--strict", "--encoding", "utf-8+windows-1252", "--name", "told", "-"];
    bench.pipe(told, &text).succeeds();
}

#[test]
fn a_pointer_in_place_of_a_file_is_refused_with_the_way_to_the_file() {
    let bench = Bench::with([]);
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
    let run = bench.pipe(["ingest", "-"], pointer.as_bytes()).fails_with(5);
    assert!(run.stderr().contains("it is a Git LFS pointer"), "{}", run.stderr());
    assert!(run.stderr().contains("`git lfs pull`"), "{}", run.stderr());
    let reg = "\u{feff}Windows Registry Editor Version 5.00\r\n\r\n[HKEY_CURRENT_USER]\r\n";
    let wide: Vec<u8> = reg.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let run = bench.pipe(["ingest", "-"], &wide).fails_with(5);
    assert!(run.stderr().contains("it is a Windows registry export"), "{}", run.stderr());
}

#[test]
fn a_failed_ingest_removes_no_directory_and_no_file_that_was_there() {
    let bench = Bench::with([]);
    let run = |dir: &str| bench.run(["ingest", "nowhere.csv", "--session-dir", dir]).fails_with(5);
    run("new");
    assert!(!bench.path("new").exists());
    fs::create_dir(bench.path("empty")).unwrap();
    run("empty");
    assert_eq!(fs::read_dir(bench.path("empty")).unwrap().count(), 0);
    // These names are those of a session, too.
    for name in ["logs", "datasets"] {
        fs::create_dir_all(bench.path("own").join(name)).unwrap();
        fs::write(bench.path("own").join(name).join("mine.txt"), "mine").unwrap();
    }
    run("own");
    assert_eq!(fs::read_dir(bench.path("own")).unwrap().count(), 2);
    assert!(
        bench.path("own/logs/mine.txt").exists() && bench.path("own/datasets/mine.txt").exists()
    );
}

#[test]
fn a_compressed_file_is_ingested_and_the_same_one_again_changes_nothing() {
    let bench = Bench::with([]);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"name,visits\nanna,1\n").unwrap();
    let gzip = encoder.finish().unwrap();
    fs::write(bench.path("sales.csv.gz"), &gzip).unwrap();
    let run = bench.run(["ingest", "-v", "sales.csv.gz"]).succeeds();
    let told = "`sales`: gzip-compressed, 19 bytes decompressed";
    assert!(run.stderr().contains(told), "{}", run.stderr());
    let again = bench.run(["ingest", "sales.csv.gz"]).succeeds();
    assert!(again.stdout().contains("unchanged"), "{}", again.stdout());
    fs::write(bench.path("torn.csv.gz"), &gzip[..gzip.len() - 9]).unwrap();
    let torn = bench.run(["ingest", "torn.csv.gz"]).fails_with(5);
    let told = "cannot read `torn.csv.gz`: its gzip data is damaged or cut short";
    assert!(torn.stderr().contains(told), "{}", torn.stderr());
}
