//! Help for people and help for programs say the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use strum::VariantArray;

use csv_agent_types::status::FailureKind;

use crate::bench::Bench;

/// What a help text says of arguments: how one is written; under which heading it stands, and what it means.
type Entries = BTreeMap<String, String>;

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn help(bench: &Bench, arguments: &[&str]) -> String {
    bench.run(arguments).succeeds().stdout().to_owned()
}

fn surface(bench: &Bench) -> Value {
    serde_json::from_str(&help(bench, &["help", "--json"])).unwrap()
}

/// Reads a `--help`: its usage, the commands in it, and the arguments.
fn read(help: &str) -> (String, Entries, Entries) {
    let (mut usage, mut commands, mut arguments) = (String::new(), Entries::new(), Entries::new());
    let mut values: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut section = "";
    let mut last = String::new();
    for line in help.lines().filter(|it| !it.is_empty()) {
        if let Some(found) = line.strip_prefix("Usage: ") {
            found.clone_into(&mut usage);
            continue;
        }
        if !line.starts_with(' ') {
            section = line.strip_suffix(':').unwrap_or_default();
            continue;
        }
        let entries = match section {
            "" | "Examples" => continue,
            "Commands" => &mut commands,
            _ => &mut arguments,
        };
        // What goes on is indented beyond any name of an argument, and a value's description once more.
        let indent = line.len() - line.trim_start().len();
        if indent <= 6 {
            let (name, about) = line.trim_start().split_once("  ").unwrap_or((line.trim(), ""));
            words(name).clone_into(&mut last);
            entries.insert(last.clone(), words(&format!("{section}: {about}")));
        } else if let Some(value) = line.strip_prefix("          - ") {
            let name = value.split(':').next().unwrap();
            values.entry(last.clone()).or_default().push(name);
        } else if line != "          Possible values:" && !line.starts_with("            ") {
            let about = entries.get_mut(&last).unwrap();
            *about = words(&format!("{about} {line}"));
        }
    }
    for (name, values) in values {
        let about = arguments.get_mut(&name).unwrap();
        *about = format!("{about} [possible values: {}]", values.join(", "));
    }
    (usage, commands, arguments)
}

/// Returns what the help text must say of arguments as programs see them.
fn expected<'a>(arguments: impl IntoIterator<Item = &'a Value>) -> Entries {
    let entry = |it: &Value| {
        let value = text(&it["value"]);
        let is_repeated = it["repeatable"] == true;
        let dots = |it: &str| if is_repeated { format!("{it}...") } else { it.to_owned() };
        let name = match (it["short"].as_str(), it["long"].as_str()) {
            (None, None) if it["required"] == true => dots(&format!("<{value}>")),
            (None, None) => dots(&format!("[{value}]")),
            (short, long) => {
                let names = [short, long].into_iter().flatten().collect::<Vec<_>>().join(", ");
                if value.is_empty() { dots(&names) } else { format!("{names} <{value}>") }
            }
        };
        let mut about = text(&it["about"]).to_owned();
        if let Some(default) = it["default"].as_str() {
            let told = format!("[default: {default}]");
            if !about.contains(&told) {
                about = format!("{about} {told}");
            }
        }
        if it["default"].is_null() {
            assert!(!about.contains("[default: "), "{it}");
        }
        if about.contains("May be repeated") {
            assert!(is_repeated, "{it}");
        }
        let values: Vec<&str> = list(&it["values"]).iter().map(text).collect();
        if !values.is_empty() {
            about = format!("{about} [possible values: {}]", values.join(", "));
        }
        let own = if it["long"].is_null() { "Arguments" } else { "Options" };
        let heading = it["heading"].as_str().unwrap_or(own);
        (name, words(&format!("{heading}: {about}")))
    };
    arguments.into_iter().map(entry).collect()
}

#[test]
fn programs_are_told_what_people_are_told() {
    let bench = Bench::with([]).variable("COLUMNS", "100");
    let surface = surface(&bench);
    let globals = list(&surface["global_options"]);
    let (_, commands, arguments) = read(&help(&bench, &["--help"]));
    let told = list(&surface["commands"]).iter();
    let about = |it: &Value| words(&format!("Commands: {}", text(&it["about"])));
    let told = told.map(|it| (text(&it["name"]).to_owned(), about(it)));
    assert_eq!(commands, told.collect());
    assert_eq!(arguments, expected(list(&surface["arguments"]).iter().chain(globals)));
    for command in list(&surface["commands"]) {
        let name = text(&command["name"]);
        let shown = help(&bench, &[name, "--help"]);
        // `help config` is about the files.
        if !list(&surface["topics"]).contains(&command["name"]) {
            assert_eq!(shown, help(&bench, &["help", name]), "{name}");
        }
        let (usage, commands, arguments) = read(&shown);
        assert_eq!(usage, text(&command["usage"]));
        let nested = list(&command["commands"]).iter();
        let nested = nested.map(|it| (text(&it["name"]).to_owned(), about(it)));
        assert_eq!(commands, nested.collect(), "{name}");
        // A command may have a flag of its own in the place of a global one.
        let own = list(&command["arguments"]);
        let is_replaced = |it: &&Value| own.iter().any(|own| own["long"] == it["long"]);
        let told = expected(own.iter().chain(globals.iter().filter(|it| !is_replaced(it))));
        assert!(globals.len() <= told.len());
        // A value that may be left out is in brackets for people.
        let plain = |it: &String| it.replace("[<", "<").replace(">]", ">");
        let shown: BTreeMap<_, _> =
            arguments.iter().map(|(it, about)| (plain(it), about)).collect();
        let told: BTreeMap<_, _> = told.iter().map(|(it, about)| (plain(it), about)).collect();
        assert_eq!(shown, told, "{name}");
    }
}

#[test]
fn the_short_help_fits_a_screen_and_leads_to_the_rest() {
    let bench = Bench::with([]).variable("COLUMNS", "80");
    let surface = surface(&bench);
    let names = list(&surface["commands"]).iter().map(|it| vec![text(&it["name"])]);
    for command in names.chain([vec![]]) {
        let short = help(&bench, &[&command[..], &["-h"]].concat());
        assert!(short.lines().count() <= 45, "{short}");
        assert!(short.lines().all(|it| it.chars().count() <= 80), "{short}");
        let (_, _, all) = read(&help(&bench, &[&command[..], &["--help"]].concat()));
        assert!(all.keys().any(|it| it.contains("--no-config")) && !short.contains("--no-config"));
        let told = words(&short);
        for more in ["--help` lists all flags", "help TOPIC` explains exit-codes"] {
            assert!(told.contains(more), "{short}");
        }
    }
}

#[test]
fn topics_fit_the_terminal() {
    for columns in [50, 80, 100] {
        let bench = Bench::with([]).variable("COLUMNS", &columns.to_string());
        for topic in ["exit-codes", "environment", "config", "events", "sql", "checks"] {
            let page = help(&bench, &["help", topic]);
            assert!(page.lines().all(|it| it.chars().count() <= columns), "{topic}: {page}");
        }
    }
}

#[test]
fn every_status_is_explained_once() {
    let bench = Bench::with([]);
    let surface = surface(&bench);
    let for_programs = list(&surface["exit_codes"]);
    let told: Vec<u64> = for_programs.iter().map(|it| it["code"].as_u64().unwrap()).collect();
    let codes: BTreeSet<u64> = told.iter().copied().collect();
    assert_eq!(codes.len(), FailureKind::VARIANTS.len() + 1, "two statuses have one code");
    assert_eq!(told, codes.iter().copied().collect::<Vec<_>>());
    let page = help(&bench, &["help", "exit-codes"]);
    // A line that goes on begins below the description.
    let page = page.replace("\n                      ", " ");
    let lines: Vec<&str> = page.lines().filter(|it| it.starts_with("  ")).collect();
    assert_eq!(lines.len(), codes.len(), "{page}");
    for (line, told) in lines.iter().zip(for_programs) {
        let expected = format!("{} {} {}", told["code"], text(&told["name"]), text(&told["when"]));
        assert_eq!(words(line), expected);
    }
}

#[test]
fn help_leads_to_commands_of_commands_and_to_topics_by_other_names() {
    let bench = Bench::with([]);
    for (words, expected) in [
        (&["config", "set"][..], "Usage: csv-agent config set"),
        (&["env"], "OPENAI_API_KEY"),
        (&["exit-code"], "the question is answered"),
        (&["settings"], "Configuration files are TOML"),
        (&["jsonl"], "Events:"),
        (&["sql"], "## Differences from DuckDB"),
        (&["checks"], "[[check]]"),
    ] {
        let page = help(&bench, &[&["help"], words].concat());
        assert!(page.contains(expected), "{words:?}: {page}");
    }
    for command in ["show", "set", "unset", "edit"] {
        let page = help(&bench, &["config", command, "--help"]);
        assert!(page.starts_with(&format!("Usage: csv-agent config {command}")), "{page}");
    }
    let run = bench.run(["help", "datasets", "rm"]).fails_with(2);
    assert!(run.stderr().contains("`csv-agent help datasets` explains it"), "{run}");
}
