//! The files of the worker's Python program, each by itself: `tests/worker/program.py`, on a real Python.

use std::path::Path;
use std::process::Command;

use csv_agent_worker::PROGRAM_FILES;

use crate::worker::interpreter;

#[tokio::test]
async fn each_file_of_the_program_needs_only_those_before_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(interpreter().await.executable);
    command.arg("-B").arg(root.join("tests/worker/program.py"));
    command.arg(root.join("src/worker/program")).args(PROGRAM_FILES);
    let output = command.output().unwrap();
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}");
    assert!(!report.contains("Ran 0 tests"), "{report}");
}

#[test]
fn each_file_of_the_folder_is_part_of_the_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/worker/program");
    let entries = folder.read_dir().unwrap().map(|it| it.unwrap().file_name());
    let mut found: Vec<String> = entries.map(|it| it.into_string().unwrap()).collect();
    found.sort();
    let mut listed = PROGRAM_FILES.to_vec();
    listed.sort_unstable();
    assert_eq!(found, listed);
}
