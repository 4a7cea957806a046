//! `ingest` of a file that was ingested before.

use std::fs;

use serde_json::Value;

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
fn a_copy_is_a_dataset_of_its_own_and_a_file_that_was_moved_is_not() {
    let bench = Bench::with(["sales.csv"]);
    fs::create_dir(bench.path("copy")).unwrap();
    fs::copy(bench.path("sales.csv"), bench.path("copy/sales.csv")).unwrap();
    check(&bench, &["sales.csv"], "sales\t");
    check(&bench, &["copy/sales.csv"], "copy_sales\t");
    check(&bench, &["copy/sales.csv"], "unchanged");
    fs::create_dir(bench.path("moved")).unwrap();
    fs::rename(bench.path("sales.csv"), bench.path("moved/sales.csv")).unwrap();
    check(&bench, &["moved/sales.csv"], "unchanged");
    let ask = ["ask", "-f", "copy/sales.csv", "--model", "builtin", "--json", "--verdict"];
    let run = bench.run([&ask[..], &["no revenue below 100000"]].concat()).succeeds();
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(found["findings"][0]["source_file"], "copy/sales.csv", "{found}");
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
