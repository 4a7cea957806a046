//! `ingest` on files whose bytes are not plain UTF-8.

use crate::bench::Bench;

#[test]
fn bytes_that_are_no_text_are_told_on_stderr_and_refused_when_strict() {
    let bench = Bench::with([]);
    let text = [&b"name,city\n"[..], "Zoë,Köln\n".as_bytes(), b"Jos\xe9,Rome\n"].concat();
    let strict = bench.pipe(["ingest", "--strict", "-"], &text).fails_with(5);
    let expected = "cannot read `-` as utf-8: the bytes at offset 24, on line 3, are none";
    assert!(strict.stderr().contains(expected), "{}", strict.stderr());
    let run = bench.pipe(["ingest", "-"], &text).succeeds();
    let expected = "`stdin`: bytes that are no utf-8, replaced by U+FFFD; first at line 3, byte \
                    offset 24; `--strict` refuses such a file";
    assert!(run.stderr().contains(expected), "{}", run.stderr());
}
