//! Every command of the README runs, ends as it says, and prints what it shows. So do those of other pages.

use std::fs;
use std::path::Path;

use crate::bench::{Bench, round};

/// A fenced block, and the comment above it that says what it is for.
pub struct Block<'a> {
    pub mark: &'a str,
    pub language: &'a str,
    pub text: &'a str,
}

/// Returns the blocks of a page. Each of them must have a mark.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let parts = page.split("<!-- ").skip(1);
    let blocks: Vec<Block> = parts
        .map(|part| {
            let (mark, rest) = part.split_once(" -->\n```").unwrap();
            let (language, rest) = rest.split_once('\n').unwrap();
            Block { mark, language, text: rest.split_once("\n```").unwrap().0 }
        })
        .collect();
    assert_eq!(blocks.len(), page.matches("\n```").count() / 2, "a block without a mark");
    blocks
}

pub fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// Copies the files of `examples` into a directory.
pub fn copy_examples(to: &Path) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        // Who has run the examples there has a directory of results.
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// A bench whose working directory has the examples, as a clone has them.
fn clone() -> Bench {
    let bench = Bench::with([]);
    fs::create_dir(bench.path("examples")).unwrap();
    copy_examples(&bench.path("examples"));
    bench
}

/// Leaves out the directory of a chart, which is another one each time.
fn without_directories(output: &str) -> String {
    let line = |line: &str| match line.strip_prefix("chart: ") {
        Some(path) => format!("chart: {}\n", path.rsplit('/').next().unwrap()),
        None => format!("{line}\n"),
    };
    output.trim_end().lines().map(line).collect()
}

/// Runs the commands of a page, one block after the other, and compares what they print with what it shows.
fn run_page(name: &str, bench: &Bench) {
    let server = bench.server_settings();
    let mut last = None;
    for Block { mark, text, .. } in blocks(&read(name)) {
        let (code, setup, command) = match mark {
            "not run" | "test" => continue,
            "output" => {
                let printed = last.as_deref().map(without_directories);
                assert_eq!(printed, Some(without_directories(text)), "{name}");
                continue;
            }
            // The tests have built the program.
            "run" => (0, "", text.replace("cargo run --locked -q --", "csv-agent")),
            "run: 0, with a server" => {
                let command = text.replace("export OPENAI_API_KEY=…\n", "");
                let url = bench.server().base_url();
                (0, server.as_str(), command.replace("http://127.0.0.1:11434/v1", &url))
            }
            _ => (mark.strip_prefix("run: ").unwrap().parse().unwrap(), "", text.to_owned()),
        };
        let script = format!("set -e\nunset CSV_AGENT_SESSION_DIR\n{setup}\n{command}");
        last = Some(bench.shell(&script, &[]).fails_with(code).stdout().to_owned());
    }
    assert!(last.is_some(), "no command of {name} ran");
}

#[test]
fn every_command_of_the_readme_runs_and_prints_what_is_shown() {
    let answer = "Chair lost 777, desk 1,245 and mirror 59.";
    let bench = clone().script([round().says(answer), round().says(answer)]);
    run_page("README.md", &bench);
    for written in ["report.html", "by_product.csv", "totals.py", "orders.xml"] {
        assert!(bench.path(written).exists(), "{written}");
    }
}

#[test]
fn every_command_of_the_pages_for_users_runs() {
    let answers = [("docs/output.md", r#"{"total": 24709.9}"#), ("docs/models.md", "Yes.")];
    for page in [
        "docs/inputs.md",
        "docs/sessions.md",
        "docs/output.md",
        "docs/reports.md",
        "docs/models.md",
        "docs/checks.md",
        "docs/configuration.md",
        "examples/README.md",
    ] {
        let rounds = answers.iter().filter(|it| it.0 == page).map(|it| round().says(it.1));
        let bench = clone().script(rounds);
        run_page(page, &bench);
    }
}

#[test]
fn the_commands_of_the_page_on_privacy_run() {
    let page = read("docs/privacy.md");
    let [Block { mark: "run", text, .. }] = blocks(&page)[..] else { panic!("one block") };
    let bench = Bench::with([]);
    let root = env!("CARGO_MANIFEST_DIR");
    let run = bench.shell(&format!("set -e; cd '{root}'\n{text}"), &[]).succeeds();
    assert!(
        run.stdout().contains("nothing was sent") && run.stdout().contains("redacted_"),
        "{run}"
    );
}
