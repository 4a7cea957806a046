//! The house rules: which module may import which, and by which door a crate comes in.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The floor of each module. A module imports from lower floors only.
const FLOORS: [(&str, u32); 25] = [
    ("cases", 0),
    ("limits", 0),
    ("json", 0),
    ("named_file", 0),
    ("directory", 1),
    ("status", 1),
    ("rating", 1),
    ("egress", 1),
    ("withheld", 1),
    ("frame", 1),
    ("catalog", 2),
    ("chosen", 3),
    ("conversation", 2),
    ("chart", 2),
    ("event", 3),
    ("render", 4),
    ("sink", 5),
    ("session", 6),
    ("dataset", 5),
    ("python", 5),
    ("provider", 5),
    ("spark", 5),
    ("families", 6),
    ("tools", 6),
    ("agent", 7),
];

/// Where each crate that has a door may be named. A crate that is not listed may be named anywhere.
const DOORS: &[(&str, &[&str])] = &[
    ("reqwest", &["provider/transport/http.rs"]),
    ("polars", &["dataset/"]),
    ("parquet", &["dataset/"]),
    ("nix", &["python/sandbox", "session/lock.rs", "session/directory.rs", "cli/graphics.rs"]),
    ("landlock", &["python/sandbox/layers.rs"]),
    ("seccompiler", &["python/sandbox/layers.rs"]),
    ("libc", &["python/sandbox/"]),
    ("fernet", &["sink/seal.rs"]),
    ("boon", &["agent/schema.rs"]),
    ("comfy_table", &["render/table/grid.rs"]),
    ("maud", &["render/page/"]),
    ("pulldown_cmark", &["render/"]),
    ("ab_glyph", &["render/chart/"]),
    ("quick_xml", &["render/report/junit.rs", "dataset/workbook/content.rs"]),
    ("calamine", &["dataset/workbook"]),
    ("rusqlite", &["dataset/database.rs"]),
    ("arrow_ipc", &["dataset/arrow_file.rs"]),
    (
        "percent_encoding",
        &[
            "cli/ingest/template.rs",
            "render/report/sarif.rs",
            "render/links.rs",
            "spark/endpoint.rs",
        ],
    ),
    ("plotters_backend", &["render/chart/"]),
    ("unicode_bidi", &["render/chart/glyphs.rs"]),
    ("deunicode", &["render/chart/glyphs.rs"]),
    ("icu_normalizer", &["render/chart/glyphs.rs"]),
    ("unicode_segmentation", &["render/"]),
    ("clap", &["cli/"]),
    ("clap_complete", &["cli/"]),
    ("clap_mangen", &["cli/"]),
    ("indicatif", &["cli/"]),
    ("encoding_rs", &["dataset/"]),
    ("chardetng", &["dataset/encoding.rs"]),
    ("flate2", &["dataset/"]),
    ("bzip2", &["dataset/"]),
    ("zip", &["dataset/"]),
    ("toml", &["cli/options/", "session/repair.rs", "provider/builtin/lexicon.rs"]),
    ("rust_stemmers", &["provider/builtin/words.rs"]),
    ("uuid", &["session/", "python/", "spark/channel.rs"]),
    ("tonic", &["spark/channel.rs"]),
    ("tokio_stream", &["spark/channel.rs"]),
    ("prost", &["spark/"]),
    ("prost_reflect", &["spark/"]),
    ("rustyline", &["cli/chat/editor.rs"]),
    ("shlex", &["cli/chat/commands.rs", "session/directory.rs"]),
];

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut dirs = vec![root.clone()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(30 < found.len(), "the sources were not found");
    found
}

/// The code of a file, without its comments.
fn code(source: &str) -> String {
    let lines = source.lines().filter(|it| !it.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn module_of(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

fn words_after<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(prefix).map(move |(at, _)| {
        let rest = &code[at + prefix.len()..];
        let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn a_module_imports_from_lower_floors_only() {
    let floors: BTreeMap<&str, u32> = FLOORS.into_iter().chain([("cli", 8)]).collect();
    let mut wrong = Vec::new();
    for (file, source) in sources() {
        let module = module_of(&file);
        let Some(floor) = floors.get(module) else {
            assert!(["main", "lib"].contains(&module), "`{file}` has no floor");
            continue;
        };
        for imported in words_after(&code(&source), "crate::") {
            let is_lower = floors.get(imported).is_some_and(|it| it < floor);
            if imported != module && !is_lower {
                wrong.push(format!("{file} imports crate::{imported}"));
            }
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
}

#[test]
fn a_crate_enters_by_its_door() {
    let mut wrong = Vec::new();
    for (file, source) in sources() {
        let code = code(&source);
        for (name, doors) in DOORS {
            let is_named = code.lines().any(|line| {
                let path = format!("{name}::");
                line.match_indices(&path).any(|(at, _)| {
                    !line[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_' || it == ':')
                })
            });
            if is_named && !doors.iter().any(|it| file.starts_with(it)) {
                wrong.push(format!("{file} names {name}"));
            }
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
}

#[test]
fn nothing_is_left_to_do() {
    let mut wrong = Vec::new();
    for (file, source) in sources() {
        for (at, line) in source.lines().enumerate() {
            if ["TODO", "FIXME", "XXX"].iter().any(|it| line.contains(it)) {
                wrong.push(format!("{file}:{}", at + 1));
            }
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
}
