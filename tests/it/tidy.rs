//! The house rules: by which door a crate of others comes in, and that nothing is left to do.
//!
//! Which crate of ours may import which is in the manifests, and the compiler holds it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where each crate that has a door may be named. A crate that is not listed may be named anywhere.
const DOORS: &[(&str, &[&str])] = &[
    ("reqwest", &["provider/transport/http.rs"]),
    // The protocol of other agents; nothing else knows its types.
    ("rmcp", &["mcp/"]),
    ("polars", &["ingest/head.rs", "query/engine"]),
    ("parquet", &["ingest/"]),
    (
        "nix",
        &[
            "worker/sandbox",
            "worker/engine.rs",
            "session/lock.rs",
            "session/directory.rs",
            "cli/terminal_graphics.rs",
        ],
    ),
    ("landlock", &["worker/sandbox/layers.rs"]),
    ("seccompiler", &["worker/sandbox/layers.rs"]),
    ("libc", &["worker/sandbox/"]),
    ("fernet", &["sink/encryption.rs"]),
    ("boon", &["agent/schema.rs"]),
    ("comfy_table", &["render/table/grid.rs"]),
    ("maud", &["render/page/"]),
    ("pulldown_cmark", &["render/"]),
    ("ab_glyph", &["chart/"]),
    ("quick_xml", &["render/report/junit.rs", "ingest/workbook/content.rs"]),
    ("calamine", &["ingest/workbook"]),
    ("rusqlite", &["ingest/database.rs"]),
    ("arrow_ipc", &["ingest/arrow_file.rs"]),
    (
        "percent_encoding",
        &[
            "cli/ingest/template.rs",
            "render/report/sarif.rs",
            "render/links.rs",
            "cluster/endpoint.rs",
            // Names of datasets and tables in URIs.
            "mcp/resources.rs",
        ],
    ),
    ("plotters_backend", &["chart/"]),
    ("unicode_bidi", &["chart/glyphs.rs"]),
    ("rustybuzz", &["chart/shaping.rs"]),
    ("unicode_script", &["chart/reading.rs"]),
    ("deunicode", &["chart/glyphs.rs"]),
    ("icu_normalizer", &["chart/glyphs.rs"]),
    ("unicode_segmentation", &["chart/", "render/", "text/"]),
    ("clap", &["cli/"]),
    ("clap_complete", &["cli/"]),
    ("clap_mangen", &["cli/"]),
    ("indicatif", &["cli/"]),
    ("encoding_rs", &["ingest/"]),
    ("chardetng", &["ingest/encoding.rs"]),
    ("flate2", &["ingest/"]),
    ("bzip2", &["ingest/"]),
    ("zip", &["ingest/"]),
    ("toml", &["cli/options/", "cli/check/", "session/repair.rs", "analyst/lexicon.rs"]),
    ("rust_stemmers", &["analyst/words.rs"]),
    ("uuid", &["session/", "worker/", "cluster/channel.rs"]),
    ("tonic", &["cluster/channel.rs"]),
    ("tokio_stream", &["cluster/channel.rs"]),
    ("prost", &["cluster/"]),
    ("prost_reflect", &["cluster/"]),
    ("rustyline", &["cli/chat/editor.rs"]),
    (
        "shlex",
        &["cli/chat/commands.rs", "cli/config/change.rs", "cli/tips.rs", "session/directory.rs"],
    ),
];

/// Packages of others in the lock file. A change that adds some says in its commit what they bring.
const PACKAGES: usize = 531;

/// Packages of others that are built in more than one version, as crates that we use ask for different ones.
/// Most of the older ones come with polars, whose engine also brings a client of object stores that nothing
/// here uses; those of `png` 0.17 are `bitflags` 1 and `miniz_oxide` 0.8.
const IN_SEVERAL_VERSIONS: [&str; 17] = [
    "base64", "bitflags", "block-buffer", "cpufeatures", "crypto-common", "digest", "foldhash",
    "getrandom", "hashbrown", "itertools", "miniz_oxide", "quick-xml", "reqwest", "sha2", "syn",
    "zstd", "zstd-safe",
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
fn a_type_name_stands_for_two_types_at_most() {
    // Each tool has arguments of its own, and a module of its own for them.
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, source) in sources() {
        for line in source.lines() {
            let mut words = line.split(|it: char| !it.is_alphanumeric() && it != '_');
            let words = words
                .by_ref()
                .filter(|it| !it.is_empty() && !["pub", "crate", "super"].contains(it));
            let [kind, name, ..] = words.collect::<Vec<_>>()[..] else { continue };
            let is_type = ["struct", "enum", "trait", "type", "union"].contains(&kind);
            if is_type && !line.starts_with([' ', '/']) && name != "Arguments" {
                places.entry(name.to_owned()).or_default().push(file.clone());
            }
        }
    }
    assert!(500 < places.len(), "the types were not found");
    places.retain(|_, files| 2 < files.len());
    assert!(places.is_empty(), "{places:#?}");
}

/// Files of a crate that import each other, as they are one subject in several files: the settings and the files
/// that have them, what a column may be.
const CIRCLES: [&[&str]; 2] = [
    &["cli/options/config", "cli/options/config/prices", "cli/options/settings"],
    &["ingest/amount", "ingest/local_dates", "ingest/number", "ingest/type_evidence"],
];

#[test]
fn files_of_a_crate_import_each_other_in_no_circle() {
    let sources = sources();
    let modules: BTreeSet<String> = sources.iter().map(|it| module_of(&it.0)).collect();
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, source) in &sources {
        let module = module_of(file);
        // What only tests import makes no circle.
        if file.contains("/tests")
            || ["chart/gallery", "chart/invariants"].contains(&module.as_str())
        {
            continue;
        }
        let code = code(source);
        let code = code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let all = imports.entry(module.clone()).or_default();
        let trees = code.split("\nuse ").skip(1).map(|it| it.split(';').next().unwrap_or_default());
        for tree in trees {
            for path in paths_of(tree) {
                let target = resolved(&module, &path).into_iter().find(|it| modules.contains(it));
                // A parent and its children are one subject.
                let is_near = |it: &String| {
                    it.starts_with(&format!("{module}/"))
                        || format!("{module}/").starts_with(&format!("{it}/"))
                };
                all.extend(target.filter(|it| !is_near(it)));
            }
        }
    }
    assert!(
        1_000 < imports.values().map(BTreeSet::len).sum::<usize>(),
        "the imports were not found"
    );
    let is_in_circle = |module: &&String| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![*module]);
        while let Some(next) = open.pop() {
            open.extend(imports.get(next).into_iter().flatten().filter(|it| reached.insert(*it)));
        }
        reached.contains(*module)
    };
    let in_circles: Vec<&String> = imports.keys().filter(is_in_circle).collect();
    assert_eq!(in_circles, CIRCLES.concat());
}

/// The name of a file's module, its crate first: `ingest/header/tables`.
fn module_of(file: &str) -> String {
    let path = file.trim_end_matches(".rs");
    path.trim_end_matches("/lib").trim_end_matches("/mod").to_owned()
}

/// The paths in the tree of a `use`.
fn paths_of(tree: &str) -> Vec<String> {
    let Some((prefix, group)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let group = group.trim_end().trim_end_matches('}');
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in group.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    let joined = parts.iter().flat_map(|it| paths_of(it));
    joined.map(|it| format!("{}{it}", prefix.trim())).collect()
}

/// What a path of a module may name in its crate, the longest first.
fn resolved(module: &str, path: &str) -> Vec<String> {
    let mut parts: Vec<&str> = module.split('/').collect();
    let names: Vec<&str> = path.split("::").map(str::trim).collect();
    let n_up = names.iter().take_while(|it| **it == "super").count();
    match names[0] {
        "crate" => parts.truncate(1),
        "super" if n_up < parts.len() => parts.truncate(parts.len() - n_up),
        "self" => {}
        _ => return Vec::new(),
    }
    parts.extend(names.iter().filter(|it| !["crate", "super", "self"].contains(it)));
    (2..=parts.len()).rev().map(|n| parts[..n].join("/")).collect()
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

/// Returns the names between `start` and the next `"` or backtick in each line.
fn names_in(text: &str, start: &str, end: char) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(start)?.split_once(end));
    lines.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn the_map_is_that_of_the_workspace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let mapped = names_in(&map, "| `src/", '`');
    let rooms: Vec<String> = mapped.into_iter().filter(|it| !it.contains('/')).collect();

    let mut there = Vec::new();
    for entry in fs::read_dir(root.join("src")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            there.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    there.sort();
    let mut sorted = rooms.clone();
    sorted.sort();
    assert_eq!(sorted, there, "the rooms of ARCHITECTURE.md, and those of `src`");

    for (at, room) in rooms.iter().enumerate() {
        let manifest = fs::read_to_string(root.join("src").join(room).join("Cargo.toml")).unwrap();
        for used in names_in(&manifest, "csv-agent-", '.') {
            assert!(rooms[..at].contains(&used), "`{room}` uses `{used}`, which is below it");
        }
    }
}

#[test]
fn the_papers_name_files_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut gone = Vec::new();
    for paper in ["ARCHITECTURE.md", "CONTRIBUTING.md", "THIRD-PARTY.md"] {
        let text = fs::read_to_string(root.join(paper)).unwrap();
        let names: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        let paths = names.iter().filter(|it| {
            let top = it.split('/').next().unwrap();
            ["src", "tests", "docs", "fixtures", "benches", ".ci"].contains(&top)
                && !it.contains(['*', ' '])
        });
        let paths: Vec<&&str> = paths.collect();
        assert!(!paths.is_empty(), "`{paper}` names no file");
        gone.extend(
            paths.iter().filter(|it| !root.join(it).exists()).map(|it| format!("{paper}: {it}")),
        );
    }
    assert_eq!(gone, [] as [String; 0]);
}

/// Returns the pages for users and for those who work on csv-agent.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = Vec::new();
    for dir in [".", "docs", "docs/internals", "examples"] {
        let entries = fs::read_dir(root.join(dir)).unwrap().map(|it| it.unwrap().path());
        pages.extend(entries.filter(|it| it.extension().is_some_and(|it| it == "md")));
    }
    assert!(20 < pages.len(), "the pages were not found");
    pages
}

/// Returns the anchors of a page, as hosts of repositories make them of its headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|it| it.starts_with('#'));
    let anchor = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        text.chars().filter(|it| it.is_alphanumeric() || ['-', '_'].contains(it)).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn the_links_of_the_pages_lead_to_files_and_headings() {
    let (mut n_links, mut dead) = (0, Vec::new());
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        // A link may be wrapped within its words, and never within its target.
        let targets = text.split("](").skip(1).map(|it| it.split(')').next().unwrap());
        for target in targets.filter(|it| !it.starts_with("http")) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { page.clone() } else { page.with_file_name(path) };
            n_links += 1;
            let is_there = path.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&path).unwrap()).contains(anchor));
            if !is_there {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(50 < n_links, "the links were not found");
    assert_eq!(dead, [] as [String; 0]);
}

/// Phrases that readers stumbled over. CONTRIBUTING.md says what to write instead.
const PHRASES: &[&str] = &[
    "is told",
    "are told",
    "and told",
    "goes before",
    "go before",
    "stands in",
    "stand in",
    "could not place",
    "whole or not at all",
    "too dear",
    "nobody can tell",
    "mends",
    "torn",
];

/// Phrases that are wrong in messages as well. A page may have some of them for a reason.
const PHRASES_OF_MESSAGES: &[&str] = &[
    "anew", "called a total", "further tries", "hold to", "holds for", "holds other", "holds to",
    "is none of", "mend", "mended", "nothing is there", "says the", "stand for",
];

/// Returns where a text says "is no delimiter". "There is no key" and "is no longer" are plain.
fn negations(text: &str) -> Vec<String> {
    let words: Vec<&str> = std::iter::once("").chain(text.split_whitespace()).collect();
    let is_odd = |it: &&[&str]| {
        ["is", "are"].contains(&it[1])
            && it[2] == "no"
            && !it[0].eq_ignore_ascii_case("there")
            && it[3] != "longer"
    };
    words.windows(4).filter(is_odd).map(|it| it.join(" ")).collect()
}

#[test]
fn the_pages_are_in_plain_words() {
    // CONTRIBUTING.md quotes the phrases. The others are not for users.
    let others = ["CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "THIRD-PARTY.md"];
    let mut wrong = Vec::new();
    for page in pages().into_iter().filter(|it| !others.iter().any(|other| it.ends_with(other))) {
        let text = fs::read_to_string(&page).unwrap();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = PHRASES.iter().filter(|it| line.contains(&format!(" {it} ")));
        wrong.extend(found.map(|it| format!("{}: {it}", page.display())));
        wrong.extend(negations(&text).iter().map(|it| format!("{}: {it}", page.display())));
    }
    assert_eq!(wrong, [] as [String; 0]);
}

/// Returns the string literals of a source, without those of its tests. A line break in one is a space.
fn literals(source: &str) -> Vec<String> {
    let mut rest = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let mut found = Vec::new();
    while let Some(at) = rest.find(['/', '\'', '"', 'r']) {
        rest = &rest[at..];
        let marks = rest[1..].len() - rest[1..].trim_start_matches('#').len();
        let is_raw = rest.starts_with('r') && rest[1 + marks..].starts_with('"');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("'\\") {
            // The first character after the backslash may be a quote.
            4 + rest[3..].find('\'').expect("a character ends")
        } else if rest.starts_with('\'') && rest.chars().nth(2) == Some('\'') {
            rest.char_indices().nth(3).map_or(rest.len(), |it| it.0)
        } else if is_raw {
            let (opening, closing) = (marks + 2, format!("\"{}", "#".repeat(marks)));
            let length = rest[opening..].find(&closing).expect("a raw string ends");
            found.push(rest[opening..opening + length].to_owned());
            opening + length + closing.len()
        } else if let Some(text) = rest.strip_prefix('"') {
            let mut is_escaped = false;
            let is_end = |it: char| {
                let is_end = it == '"' && !is_escaped;
                is_escaped = it == '\\' && !is_escaped;
                is_end
            };
            let length = text.find(is_end).expect("a string ends");
            found.push(text[..length].replace("\\\n", " ").replace("\\n", " "));
            length + 2
        } else {
            1
        };
        rest = &rest[length..];
    }
    found
}

#[test]
fn the_literals_of_a_source_are_found() {
    let source = "f(\"a \\\n  b\", '\"', r#\"c\"d\"#); // \"e\"\n\
                  g::<'x>(b\"f\", \"\\\"\\n\", '\\'');\n#[cfg(test)]\nmod tests {\n\"g\"";
    assert_eq!(literals(source), ["a    b", "c\"d", "f", "\\\" "]);
}

#[test]
fn messages_are_in_plain_words() {
    let (mut n_literals, mut wrong) = (0, Vec::new());
    for (file, source) in sources() {
        // Tests quote people, and the lexicon of the analyst is what people ask.
        if file.split('/').any(|it| it.trim_end_matches(".rs") == "tests") {
            continue;
        }
        for literal in literals(&source) {
            n_literals += 1;
            let is_mark = |it: char| !it.is_alphanumeric() && it != '\'';
            let words: Vec<&str> = literal.split(is_mark).filter(|it| !it.is_empty()).collect();
            let text = words.join(" ");
            let line = format!(" {} ", text.to_lowercase());
            let phrases = PHRASES.iter().chain(PHRASES_OF_MESSAGES);
            let found = phrases.filter(|it| line.contains(&format!(" {it} ")));
            let found = found.map(|it| (*it).to_owned()).chain(negations(&text));
            wrong.extend(found.map(|it| format!("{file}: {it}: {literal}")));
        }
    }
    assert!(10_000 < n_literals, "the literals were not found");
    assert_eq!(wrong, [] as [String; 0]);
}

fn manifests() -> Vec<(String, toml::Table)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let entries = fs::read_dir(&src).unwrap().map(|it| it.unwrap().path());
    let rooms = entries.filter(|it| it.is_dir());
    let manifest = |room: PathBuf| {
        let name = room.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(room.join("Cargo.toml")).unwrap().parse().unwrap())
    };
    rooms.map(manifest).collect()
}

#[test]
fn no_package_comes_in_unseen() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    let lock: toml::Table = fs::read_to_string(lock).unwrap().parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    // Only what comes from a registry has a source.
    let n_of_others = packages.iter().filter(|it| it.get("source").is_some()).count();
    assert_eq!(n_of_others, PACKAGES, "packages of others in Cargo.lock");
}

#[cfg(target_os = "linux")]
#[test]
fn a_package_is_built_in_one_version() {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--duplicates", "--edges", "normal,build", "--depth", "0", "--locked"]);
    tree.args(["--offline", "--prefix", "none"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = tree.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let stdout = str::from_utf8(&output.stdout).unwrap();
    for (name, version) in stdout.lines().filter_map(|it| it.split_once(' ')) {
        versions.entry(name).or_default().insert(version);
    }
    // With the same version, what differs is a build for this machine and one for a macro.
    versions.retain(|_, of_name| 1 < of_name.len());
    let found: Vec<&str> = versions.into_keys().collect();
    assert_eq!(found, IN_SEVERAL_VERSIONS);
}

#[test]
fn a_room_names_each_crate_of_its_manifest() {
    let sources = sources();
    let mut unused = Vec::new();
    for (room, manifest) in manifests() {
        let own: Vec<String> = sources
            .iter()
            .filter(|(file, _)| file.starts_with(&format!("{room}/")))
            .map(|(_, source)| code(source))
            .collect();
        for kind in ["dependencies", "dev-dependencies"] {
            let listed = manifest.get(kind).and_then(|it| it.as_table()).into_iter().flatten();
            for (name, _) in listed {
                let path = name.replace('-', "_");
                if !own.iter().any(|it| words_of(it).any(|word| word == path)) {
                    unused.push(format!("{room}: {name}"));
                }
            }
        }
    }
    assert_eq!(unused, [] as [String; 0]);
}

fn words_of(source: &str) -> impl Iterator<Item = &str> {
    source.split(|it: char| !it.is_alphanumeric() && it != '_')
}
