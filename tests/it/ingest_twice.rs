//! `ingest` of a file that was ingested before.

use crate::bench::Bench;

/// Ingests with these arguments; the status must be `expected`.
#[track_caller]
fn check(bench: &Bench, arguments: &[&str], expected: &str) -> String {
    let run = bench.run([&["ingest", "-v"], arguments].concat()).succeeds();
    assert!(run.stdout().contains(expected), "{arguments:?}: {}", run.stdout());
    run.stderr().to_owned()
}

#[test]
fn the_same_file_is_read_again_only_if_it_is_to_be_read_in_another_way() {
    let bench = Bench::with(["semi.csv"]);
    check(&bench, &["semi.csv", "--delimiter", ";"], "added");
    let told = check(&bench, &["semi.csv"], "unchanged");
    let expected = "`semi` was read with `--delimiter ;`; `--if-exists replace` reads it again";
    assert!(told.contains(expected), "{told}");
    check(&bench, &["semi.csv", "--delimiter", ";"], "unchanged");
    check(&bench, &["semi.csv", "--delimiter", ","], "replaced");
    let told = check(&bench, &["semi.csv", "--if-exists", "replace"], "replaced");
    assert!(told.contains("`;`"), "{told}");
    let told = check(&bench, &["semi.csv"], "unchanged");
    assert_eq!(told, "");
    check(&bench, &["semi.csv", "--if-exists", "replace"], "unchanged");
}

#[test]
fn a_file_that_was_repaired_is_refused_when_it_comes_again_and_strict() {
    let bench = Bench::with(["ragged.csv", "sales.csv"]);
    check(&bench, &["ragged.csv", "sales.csv"], "added");
    check(&bench, &["ragged.csv"], "unchanged");
    bench.run(["ingest", "-v", "--strict", "ragged.csv"]).fails_with(5);
    check(&bench, &["ragged.csv"], "unchanged");
    check(&bench, &["--strict", "sales.csv"], "unchanged");
}
