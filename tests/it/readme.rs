//! The README's first command gives what the README shows.

use std::fs;
use std::path::Path;

use crate::bench::Bench;

/// Returns the fenced block that follows a marker.
fn block<'a>(readme: &'a str, marker: &str) -> &'a str {
    let (_, rest) = readme.split_once(marker).unwrap();
    let (_, rest) = rest.split_once("```").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let command = block(&readme, "<!-- run -->").trim();
    let command = command.strip_prefix("cargo run --locked -q -- ").unwrap();
    let script = format!("cd '{}' && csv-agent {command}", root.display());
    let run = Bench::with([]).shell(&script, &[]).succeeds();
    let shown = |text: &str| {
        let is_path = |line: &&str| line.starts_with("chart: ") && line.ends_with("_continent.svg");
        assert_eq!(text.lines().filter(is_path).count(), 1, "{text}");
        text.lines().filter(|it| !is_path(it)).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(shown(run.stdout()), shown(block(&readme, "<!-- output -->")));
}

#[test]
fn the_commands_of_the_page_on_privacy_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/privacy.md")).unwrap();
    let commands = block(&page, "<!-- run -->");
    let script = format!("set -e; cd '{}'\n{commands}", root.display());
    let run = Bench::with([]).shell(&script, &[]).succeeds();
    assert!(
        run.stdout().contains("nothing was sent") && run.stdout().contains("redacted_"),
        "{run}"
    );
}
