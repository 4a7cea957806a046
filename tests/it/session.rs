//! Sessions that somebody else made, and sessions that are hurt: nothing outside is touched, and one command
//! mends what is inside.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::mkfifo;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Bench, is_slow_run};
use crate::parquet::python;

/// The user that is nobody.
const NOBODY: u32 = 65_534;
const MENDING: &str = "csv-agent doctor --session --repair";

/// A session with all that one can have, and a copy of it.
struct Prepared {
    bench: Bench,
    copy: TempDir,
    /// Each file and directory.
    names: Vec<PathBuf>,
}

impl Prepared {
    fn new() -> Prepared {
        let bench = Bench::with(["sales.csv", "semi.csv"]);
        bench.run(["ingest", "sales.csv", "semi.csv"]).succeeds();
        ask(&bench, "sales").succeeds();
        let session = bench.session();
        let more = [
            ("typed.jsonl", "\"hello\"\n"),
            ("knowledge.md", "Amounts are in euros.\n"),
            ("config.toml", "language = \"en\"\n"),
            ("hosted.json", "{}\n"),
            ("turns/0001/egress.json", "{}\n"),
        ];
        for (name, content) in more {
            fs::write(session.join(name), content).unwrap();
        }
        for name in ["exports", "turns/0001/tables", "turns/0001/charts"] {
            fs::create_dir(session.join(name)).unwrap();
        }
        fs::write(session.join("turns/0001/tables/top.parquet"), "PAR1").unwrap();
        let copy = TempDir::new().unwrap();
        copied(&session, &copy.path().join("s"));
        let mut names = Vec::new();
        list(&session, &session, &mut names);
        // What is in scratch goes with the next question.
        names.retain(|it| !it.starts_with("scratch") || it == Path::new("scratch"));
        Prepared { bench, copy, names }
    }

    /// Makes the session what it was.
    fn restore(&self) {
        removed(&self.bench.session());
        copied(&self.copy.path().join("s"), &self.bench.session());
    }
}

fn ask(bench: &Bench, dataset: &str) -> crate::bench::Run {
    let question = "how many rows are there";
    bench.run(["ask", "--model", "builtin", "--fresh", "-d", dataset, question])
}

fn copied(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(done.success());
}

fn removed(path: &Path) {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

fn list(directory: &Path, root: &Path, names: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(directory).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        names.push(entry.path().strip_prefix(root).unwrap().to_owned());
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), root, names);
        }
    }
}

/// What is outside the session, to be looked at again.
struct Outside(TempDir);

impl Outside {
    const FILES: [&str; 7] = [
        "file",
        "dir/0001",
        "dir/sales.parquet",
        "dir/value-1.pickle",
        "dir/manifest.json",
        "dir/.x.tmp",
        "dir/0001.d/events.jsonl",
    ];

    fn new() -> Outside {
        let outside = TempDir::new().unwrap();
        for name in Outside::FILES {
            let path = outside.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "kept\n").unwrap();
        }
        Outside(outside)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    #[track_caller]
    fn is_untouched(&self, why: &str) {
        let mut names = Vec::new();
        list(self.0.path(), self.0.path(), &mut names);
        names.retain(|it| self.0.path().join(it).is_file());
        let mut expected = Outside::FILES.map(PathBuf::from).to_vec();
        names.sort();
        expected.sort();
        assert_eq!(names, expected, "{why}");
        for name in names {
            assert_eq!(fs::read_to_string(self.0.path().join(name)).unwrap(), "kept\n", "{why}");
        }
    }
}

/// What takes the place of a file or directory.
const GUISES: [&str; 10] = [
    "link to a file",
    "link to a directory",
    "dangling link",
    "pipe",
    "device",
    "another user's file",
    "directory",
    "empty file",
    "large file",
    "random bytes",
];

fn put(guise: &str, path: &Path, outside: &Outside) {
    match guise {
        "link to a file" => symlink(outside.path("file"), path).unwrap(),
        "link to a directory" => symlink(outside.path("dir"), path).unwrap(),
        "dangling link" => symlink(outside.path("new"), path).unwrap(),
        "pipe" => mkfifo(path, Mode::S_IRWXU).unwrap(),
        "device" => {
            let made = mknod(path, SFlag::S_IFCHR, Mode::S_IRWXU, makedev(1, 5));
            // Only root can make one.
            made.or_else(|_| mkfifo(path, Mode::S_IRWXU)).unwrap();
        }
        "another user's file" => {
            fs::write(path, "{}\n").unwrap();
            // Where that is not allowed, the file is an odd one of the user's.
            let _ = chown(path, Some(NOBODY), Some(NOBODY));
        }
        "directory" => fs::create_dir(path).unwrap(),
        "empty file" => fs::write(path, "").unwrap(),
        "large file" => File::create(path).unwrap().set_len(1 << 30).unwrap(),
        "random bytes" => {
            let bytes: Vec<u8> = (0..4_096_u32).map(|it| (it * it % 251) as u8).collect();
            fs::write(path, bytes).unwrap();
        }
        _ => unreachable!("{guise}"),
    }
}

/// What is run with each replacement, the quickest first.
const COMMANDS: [&[&str]; 10] = [
    &["datasets"],
    &["show"],
    &["doctor", "--session"],
    &["ingest", "semi.csv"],
    &["datasets", "sales", "--head", "1"],
    &["export", "py"],
    &["datasets", "--rm", "sales", "--yes"],
    &["reset", "--yes"],
    &["ask", "--model", "builtin", "--fresh", "-d", "sales", "how many rows are there"],
    &["ask", "--ephemeral", "--model", "builtin", "-d", "sales", "how many rows are there"],
];

/// The slow run has all of the table, in about ten minutes.
#[test]
fn whatever_takes_the_place_of_a_file_nothing_outside_changes_and_one_command_mends_it() {
    let (n_guises, n_commands) =
        if is_slow_run() { (GUISES.len(), COMMANDS.len()) } else { (5, 2) };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..n_threads {
            scope.spawn(|| {
                let prepared = Prepared::new();
                while let Some(name) = prepared.names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for guise in &GUISES[..n_guises] {
                        replace(&prepared, name, guise, &COMMANDS[..n_commands]);
                    }
                }
            });
        }
    });
}

fn replace(prepared: &Prepared, name: &Path, guise: &str, commands: &[&[&str]]) {
    let (bench, session) = (&prepared.bench, prepared.bench.session());
    let outside = Outside::new();
    let place = || {
        prepared.restore();
        removed(&session.join(name));
        put(guise, &session.join(name), &outside);
    };
    for command in commands {
        place();
        let run = bench.run(*command);
        let why = format!("{guise} for {}: {run}", name.display());
        outside.is_untouched(&why);
        assert!(matches!(run.code(), Some(0 | 3 | 5)), "{why}");
        assert!(run.peak_mb() < 300, "{} MB: {why}", run.peak_mb());
        let is_refused = run.code() == Some(3) && command[0] != "doctor";
        let file = name.file_name().unwrap().to_str().unwrap();
        assert!(!is_refused || run.stderr().contains(file), "{why}");
        let names_way_out = ["--no-config", MENDING].iter().any(|it| run.stderr().contains(it));
        assert!(!is_refused || names_way_out, "{why}");
    }
    place();
    let why = format!("{guise} for {}", name.display());
    mended(bench, &why);
    outside.is_untouched(&why);
}

/// Demands that a session is mended by what messages name, and is of use again.
#[track_caller]
fn mended(bench: &Bench, why: &str) {
    let run = bench.run(["doctor", "--session", "--repair"]);
    assert_eq!(run.code(), Some(0), "{why}: {run}");
    let run = bench.run(["doctor", "--session"]);
    assert_eq!(run.code(), Some(0), "{why}: {run}");
    let run = bench.run(["datasets", "--names"]);
    assert_eq!((run.code(), run.stdout()), (Some(0), "sales\nsemi\n"), "{why}: {run}");
    let run = bench.run(["show"]);
    assert!(matches!(run.code(), Some(0 | 5)), "{why}: {run}");
}

/// Returns the content of a file once it is damaged; none where it is gone.
type Damage = fn(Vec<u8>) -> Option<Vec<u8>>;

#[test]
fn what_is_hurt_names_the_command_that_mends_it_which_then_does() {
    let prepared = Prepared::new();
    let (bench, session) = (&prepared.bench, prepared.bench.session());
    let damages: [(&str, Damage); 4] = [
        ("is gone", |_| None),
        ("is empty", |_| Some(Vec::new())),
        ("is cut", |it| Some(it[..it.len() / 2].to_vec())),
        ("has a bad byte", |mut it| {
            let middle = it.len() / 2;
            if let Some(byte) = it.get_mut(middle) {
                *byte = 0xff;
            }
            Some(it)
        }),
    ];
    for name in prepared.names.iter().filter(|it| prepared.copy.path().join("s").join(it).is_file())
    {
        for (damage, hurt) in damages {
            prepared.restore();
            let path = session.join(name);
            match hurt(fs::read(&path).unwrap()) {
                Some(content) => fs::write(&path, content).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let why = format!("{} {damage}", name.display());
            for command in [&["datasets"][..], &["show"]] {
                let run = bench.run(command);
                let is_named =
                    || ["--no-config", MENDING].iter().any(|it| run.stderr().contains(it));
                assert!(run.code() == Some(0) || is_named(), "{why}: {run}");
            }
            mended(bench, &why);
        }
    }
}

#[test]
fn a_lost_catalog_comes_back_from_the_files_as_it_was() {
    let bench = Bench::with(["sales.csv", "semi.csv"]);
    bench.run(["ingest", "sales.csv", "semi.csv", "--json"]).succeeds();
    let path = bench.session().join("datasets.json");
    let before: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    fs::remove_file(&path).unwrap();
    let run = bench.run(["datasets"]).fails_with(3);
    assert!(
        run.stderr().contains("datasets.json` is missing") && run.stderr().contains(MENDING),
        "{run}"
    );
    assert_eq!(run.stdout(), "");
    let run = bench.run(["doctor", "--session"]).fails_with(3);
    assert!(run.stdout().contains("datasets.json\tproblem\tis missing"), "{run}");
    bench.run(["doctor", "--session", "--repair"]).succeeds();
    let after: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(after, before);
    let run = bench.run(["ingest", "sales.csv"]).succeeds();
    assert!(run.stdout().contains("unchanged"), "{run}");
}

#[test]
fn a_dataset_whose_file_is_gone_hurts_only_itself_and_its_source_brings_it_back() {
    let bench = Bench::with(["sales.csv", "semi.csv"]);
    bench.run(["ingest", "sales.csv", "semi.csv"]).succeeds();
    let file = bench.session().join("datasets/sales.parquet");
    let whole = fs::read(&file).unwrap();
    for (content, found) in [(None, "is missing"), (Some(&whole[..whole.len() / 2]), "is damaged")]
    {
        match content {
            None => fs::remove_file(&file).unwrap(),
            Some(content) => fs::write(&file, content).unwrap(),
        }
        let run = bench.run(["datasets", "--names"]).succeeds();
        assert!(run.stdout() == "sales\nsemi\n" && run.stderr().contains(found), "{run}");
        ask(&bench, "semi").succeeds();
        let run = ask(&bench, "sales").fails_with(3);
        assert!(run.stderr().contains(found) && run.stderr().contains(MENDING), "{run}");
        let run = bench.run(["datasets", "sales", "--head", "1"]).fails_with(3);
        assert!(run.stderr().contains(MENDING), "{run}");
        let run = bench.run(["ingest", "sales.csv"]).succeeds();
        assert!(run.stdout().contains("replaced"), "{run}");
        ask(&bench, "sales").succeeds();
    }
    fs::remove_file(&file).unwrap();
    let run = bench.run(["doctor", "--session", "--repair", "--json"]).succeeds();
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    let last = found.as_array().unwrap().last().unwrap();
    let told = "its file is missing; read again from `sales.csv`";
    assert_eq!(last, &json!({"file": "dataset sales", "state": "repaired", "found": told}));
    // A source that is another by now is not what the dataset was.
    fs::remove_file(&file).unwrap();
    fs::write(bench.path("sales.csv"), "a,b\n1,2\n").unwrap();
    let run = bench.run(["doctor", "--session", "--repair"]).succeeds();
    assert!(run.stdout().contains("has changed since then; removed from the session"), "{run}");
    assert!(bench.session().join("aside/sales.json").is_file());
    assert_eq!(bench.run(["datasets", "--names"]).succeeds().stdout(), "semi\n");
}

#[test]
fn a_bad_byte_in_a_dataset_is_found_before_it_is_used_and_mended() {
    let bench = Bench::with(["sales.csv"]);
    fs::write(bench.path("blank_lines.csv"), "a,b\n1,x\n\n2,y\n4,y\n").unwrap();
    bench.run(["ingest", "sales.csv", "blank_lines.csv"]).succeeds();
    ask(&bench, "sales").succeeds();
    let file = |name: &str| bench.session().join("datasets").join(name);
    let whole = fs::read(file("sales.parquet")).unwrap();
    // Of the pages, where no decoder need notice, and of the footer.
    for at in (4..whole.len() - 8).step_by(whole.len() / 12) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(file("sales.parquet"), bytes).unwrap();
        for command in [&["datasets", "sales", "--head", "1"][..], &["export", "py", "1"]] {
            let run = bench.run(command).fails_with(3);
            assert!(run.stderr().contains("sales") && run.stderr().contains(MENDING), "{run}");
        }
        ask(&bench, "blank_lines").succeeds();
        bench.run(["doctor", "--session"]).fails_with(3);
    }
    let run = bench.run(["doctor", "--session", "--repair"]).succeeds();
    assert!(run.stdout().contains("read again from `sales.csv`"), "{run}");
    assert_eq!(ask(&bench, "sales").succeeds().stdout(), ask(&bench, "sales").stdout());

    // The map of lines says where rows are in their source.
    let map = fs::read(file("blank_lines.lines")).unwrap();
    bench.run(["ask", "--model", "builtin", "-d", "blank_lines", "mean of a per b"]).succeeds();
    let spoil: [&dyn Fn(); 3] = [
        &|| fs::remove_file(file("blank_lines.lines")).unwrap(),
        &|| fs::write(file("blank_lines.lines"), "").unwrap(),
        &|| fs::write(file("blank_lines.lines"), &map[..map.len() - 1]).unwrap(),
    ];
    for spoil in spoil {
        spoil();
        let run = bench.run(["export", "py"]).fails_with(3);
        assert!(
            run.stderr().contains("blank_lines.lines` is ") && run.stderr().contains(MENDING),
            "{run}"
        );
        let run = bench.run(["doctor", "--session"]).fails_with(3);
        assert!(run.stdout().contains("dataset blank_lines\tproblem\tits line map is "), "{run}");
        bench.run(["doctor", "--session", "--repair"]).succeeds();
        assert_eq!(fs::read(file("blank_lines.lines")).unwrap(), map);
    }
    // Without the source, the rows stay.
    fs::remove_file(bench.path("blank_lines.csv")).unwrap();
    fs::remove_file(file("blank_lines.lines")).unwrap();
    let run = bench.run(["doctor", "--session", "--repair"]).fails_with(3);
    assert!(run.stdout().contains("findings in it have no line numbers"), "{run}");
    ask(&bench, "blank_lines").succeeds();
}

#[test]
fn a_file_that_is_another_datasets_is_told_and_mended() {
    let bench = Bench::with(["sales.csv", "semi.csv"]);
    bench.run(["ingest", "sales.csv", "semi.csv"]).succeeds();
    fs::write(bench.path("wide.csv"), "a,b\n1,2\n").unwrap();
    bench.run(["ingest", "wide.csv"]).succeeds();
    let file = |name: &str| bench.session().join(format!("datasets/{name}.parquet"));
    // Of the same columns and as many rows, and of others.
    for other in ["semi", "wide"] {
        fs::copy(file(other), file("sales")).unwrap();
        let told = "belongs to other data";
        let run = bench.run(["datasets", "--names"]).succeeds();
        assert!(run.stderr().contains(told) && run.stderr().contains(MENDING), "{run}");
        let run = ask(&bench, "sales").fails_with(3);
        assert!(run.stderr().contains(told) && run.stderr().contains(MENDING), "{run}");
        ask(&bench, "semi").succeeds();
        let run = bench.run(["ingest", "sales.csv"]).succeeds();
        assert!(run.stdout().contains("replaced"), "{run}");
        ask(&bench, "sales").succeeds();
        fs::copy(file(other), file("sales")).unwrap();
        let run = bench.run(["doctor", "--session"]).fails_with(3);
        assert!(
            run.stdout().contains("dataset sales\tproblem\tits file belongs to other data"),
            "{run}"
        );
        let run = bench.run(["doctor", "--session", "--repair"]).succeeds();
        assert!(run.stdout().contains("read again from `sales.csv`"), "{run}");
        bench.run(["doctor", "--session"]).succeeds();
        assert!(ask(&bench, "sales").succeeds().stdout().contains("**10**"));
    }
    // A process was killed when a new file was in its place, and the catalog was not.
    let catalog = bench.session().join("datasets.json");
    let before = fs::read(&catalog).unwrap();
    fs::write(bench.path("sales.csv"), "date,product\n2024-01-01,Tea\n").unwrap();
    bench.run(["ingest", "sales.csv"]).succeeds();
    let after = fs::read(&catalog).unwrap();
    fs::write(&catalog, before).unwrap();
    bench.run(["doctor", "--session"]).fails_with(3);
    let run = bench.run(["doctor", "--session", "--repair"]).succeeds();
    assert!(run.stdout().contains("the entry of `sales` does not match its file"), "{run}");
    assert_eq!(fs::read(&catalog).unwrap(), after);
}

#[test]
fn a_turn_with_the_last_number_is_put_aside() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    ask(&bench, "sales").succeeds();
    let last = bench.session().join(format!("turns/{}", u32::MAX));
    fs::rename(bench.session().join("turns/0001"), &last).unwrap();
    bench.run(["show"]).succeeds();
    let run = ask(&bench, "sales").fails_with(3);
    assert!(run.stderr().contains("no turn can follow it"), "{run}");
    assert!(run.stderr().contains(MENDING), "{run}");
    let run = bench.run(["doctor", "--session", "--repair"]).succeeds();
    assert!(run.stdout().contains(&format!("kept as `aside/turns-{}`", u32::MAX)), "{run}");
    bench.run(["doctor", "--session"]).succeeds();
    ask(&bench, "sales").succeeds();
    assert!(bench.session().join("turns/0001/reply.md").is_file());
}

#[test]
fn a_catalog_that_leads_elsewhere_is_refused_with_the_entry() {
    let bench = Bench::with(["sales.csv", "semi.csv"]);
    bench.run(["ingest", "sales.csv", "semi.csv"]).succeeds();
    let path = bench.session().join("datasets.json");
    let whole: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let outside = Outside::new();
    let absolute = outside.path("dir/sales.parquet");
    let cases = [
        ("sales", json!("../../x")),
        ("sales", json!(absolute)),
        ("sales", json!("datasets/../datasets/sales.parquet")),
        ("../../x", json!("datasets/../../x.parquet")),
        ("x\u{1b}]0;title\u{7}", json!("datasets/x.parquet")),
        ("sales", json!(7)),
    ];
    for (name, path_given) in cases {
        let mut catalog = whole.clone();
        let mut entry = catalog.as_object_mut().unwrap().remove("sales").unwrap();
        entry["path"] = path_given;
        catalog[name] = entry;
        for command in [
            &["datasets", "--names"][..],
            &["datasets", "--rm", "sales", "--yes"],
            &["ask", "--ephemeral", "--model", "builtin", "-d", "semi", "how many rows"],
            &["reset", "--all", "--yes"],
        ] {
            fs::write(&path, catalog.to_string()).unwrap();
            let run = bench.run(command).fails_with(3);
            assert!(
                run.stderr().contains("datasets.json`") && run.stderr().contains(MENDING),
                "{run}"
            );
            assert!(!format!("{}{}", run.stdout(), run.stderr()).contains('\u{1b}'), "{run}");
        }
        bench.run(["doctor", "--session", "--repair"]).succeeds();
        let names = bench.run(["datasets", "--names"]).succeeds();
        // What the file itself says is what it is.
        assert_eq!(names.stdout(), "sales\nsemi\n");
        assert!(bench.session().join("aside/datasets.json").is_file());
        fs::remove_file(bench.session().join("aside/datasets.json")).unwrap();
        outside.is_untouched(name);
    }
}

#[test]
fn a_session_that_is_a_link_is_refused_and_what_it_leads_to_stays_as_it_is() {
    let bench = Bench::with(["sales.csv"]);
    let outside = Outside::new();
    let link = bench.path(".csv-agent");
    for target in [outside.path("dir"), outside.path("new")] {
        symlink(&target, &link).unwrap();
        for command in
            ["datasets", "ingest sales.csv", "ask --model builtin q", "reset --yes", "show"]
        {
            let script = format!("unset CSV_AGENT_SESSION_DIR; csv-agent {command}");
            let run = bench.shell(&script, &[]).fails_with(3);
            assert!(run.stderr().contains(".csv-agent` is a link"), "{run}");
            outside.is_untouched(command);
        }
        fs::remove_file(&link).unwrap();
    }
}

#[test]
fn another_users_session_is_refused_with_what_makes_it_ones_own() {
    let bench = Bench::with(["sales.csv"]);
    let there = bench.path("theirs");
    fs::create_dir_all(there.join("deep")).unwrap();
    let script = "unset CSV_AGENT_SESSION_DIR; cd theirs && csv-agent ingest ../sales.csv";
    bench.shell(script, &[]).succeeds();
    if chown(&there, Some(NOBODY), None).is_err() {
        // Only root can give a directory away.
        return;
    }
    let run = |directory: &str, command: &str| {
        let script = format!("unset CSV_AGENT_SESSION_DIR; cd {directory} && csv-agent {command}");
        bench.shell(&script, &[])
    };
    // A session of one's own in another user's directory is found there, and not from below.
    run("theirs", "datasets").succeeds();
    let refused = run("theirs/deep", "datasets").fails_with(3);
    assert!(refused.stderr().contains("nor one of yours above it"), "{refused}");
    let session = there.join(".csv-agent");
    chown(&session, Some(NOBODY), None).unwrap();
    for command in
        ["datasets", "ask --model builtin -f ../sales.csv q", "ingest ../sales.csv", "show"]
    {
        let refused = run("theirs", command).fails_with(3);
        assert!(refused.stderr().contains(".csv-agent` belongs to "), "{refused}");
        assert!(refused.stderr().contains("chown -R 0"), "{refused}");
    }
    run("theirs", "doctor --session --repair").fails_with(3);
    // What is not kept has nothing to do with it.
    let question =
        "ask --ephemeral --model builtin -f $OLDPWD/sales.csv \"how many rows are there\"";
    let asked = run("theirs", question).succeeds();
    assert_eq!(asked.stderr(), "");
    // Where everybody may write, as in `/tmp`, it is in nobody's way.
    let shared = bench.path("shared");
    fs::create_dir_all(shared.join("mine")).unwrap();
    fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
    fs::create_dir(shared.join(".csv-agent")).unwrap();
    chown(shared.join(".csv-agent"), Some(NOBODY), None).unwrap();
    let asked = run("shared/mine", question).succeeds();
    assert!(asked.stderr().contains("shared/.csv-agent` belongs to another user"), "{asked}");
    run("shared/mine", "-q ingest ../../sales.csv").succeeds();
    assert!(shared.join("mine/.csv-agent/session.json").is_file());
    assert_eq!(run("shared/mine", "datasets").succeeds().stderr(), "");
    chown(&session, Some(0), None).unwrap();
    run("theirs", "datasets").succeeds();
    fs::set_permissions(&session, Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn who_may_not_read_a_session_is_not_told_to_copy_it() {
    let dir = TempDir::new().unwrap();
    let (session, program) = (dir.path().join("theirs"), dir.path().join("csv-agent"));
    fs::create_dir(&session).unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    if chown(&session, Some(NOBODY - 1), None).is_err() {
        // Only root can give a directory away.
        return;
    }
    copied(&crate::worker::program(), &program);
    let check = |mode: u32, hint: &str| {
        fs::set_permissions(&session, Permissions::from_mode(mode)).unwrap();
        let mut command = Command::new(&program);
        command.args(["datasets", "-S"]).arg(&session).env_clear().env("HOME", dir.path());
        let output = command.uid(NOBODY).gid(NOBODY).current_dir(dir.path()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("belongs to user") && told.contains(hint), "{told}");
    };
    check(0o755, "copy it with `cp -R ");
    check(0o700, "hint: name another session with `--session-dir DIR`");
}

#[test]
fn what_the_user_may_not_open_or_has_another_name_is_mended() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    ask(&bench, "sales").succeeds();
    let session = bench.session();
    let outside = Outside::new();
    for name in ["logs/csv-agent.log", "history.jsonl", "lock", "typed.jsonl"] {
        let _ = fs::remove_file(session.join(name));
        fs::hard_link(outside.path("file"), session.join(name)).unwrap();
    }
    let long = "x".repeat(255);
    symlink(outside.path("dir"), session.join(&long)).unwrap();
    symlink(outside.path("dir"), session.join("turns/0001").join(&long)).unwrap();
    let refused = ask(&bench, "sales").fails_with(3);
    assert!(refused.stderr().contains(MENDING), "{refused}");
    bench.run(["doctor", "--session", "--repair"]).succeeds();
    bench.run(["doctor", "--session"]).succeeds();
    ask(&bench, "sales").succeeds();
    outside.is_untouched("hard links");
    assert!(session.join("aside").join(&long[..200]).is_symlink());
    if rustix::process::geteuid().is_root() {
        // Root opens whatever its mode is.
        return;
    }
    for name in ["history.jsonl", "datasets.json", "turns/0001", "turns/0001/events.jsonl", "lock"]
    {
        fs::set_permissions(session.join(name), Permissions::from_mode(0o0)).unwrap();
        bench.run(["doctor", "--session", "--repair"]).succeeds();
        bench.run(["doctor", "--session"]).succeeds();
        ask(&bench, "sales").succeeds();
    }
}

#[test]
fn a_lost_dataset_is_read_again_from_files_of_the_project_only() {
    let bench = Bench::with(["sales.csv"]);
    let outside = TempDir::new().unwrap();
    let elsewhere = outside.path().join("pay.csv");
    fs::copy(bench.path("sales.csv"), &elsewhere).unwrap();
    let shown = elsewhere.to_str().unwrap();
    let other = outside.path().join("other.csv");
    fs::write(&other, "a,b\n1,2\n").unwrap();
    symlink(&other, bench.path("linked.csv")).unwrap();
    bench.run(["ingest", shown, "linked.csv"]).succeeds();
    for name in ["pay", "linked"] {
        fs::remove_file(bench.session().join(format!("datasets/{name}.parquet"))).unwrap();
    }
    let run = bench.run(["doctor", "--session", "--repair"]).succeeds();
    assert_eq!(run.stdout().matches("is not below").count(), 2, "{run}");
    assert_eq!(bench.run(["datasets", "--names"]).succeeds().stdout(), "");
}

/// The slow run has all of the table, in some minutes.
#[test]
fn a_huge_file_is_measured_and_mended_in_little_memory() {
    /// Fills a file.
    type Fill = Box<dyn Fn(&Path)>;
    const MB_MAX: u64 = 300;
    const NAMES: [&str; 4] =
        ["turns/0001/events.jsonl", "history.jsonl", "datasets.json", "typed.jsonl"];
    let prepared = Prepared::new();
    let (bench, session) = (&prepared.bench, prepared.bench.session());
    // A sparse file, what wants many times its size in memory, lines of blanks.
    let line = |unit: &str, n: usize| format!("{{\"a\":[{}0]}}\n", unit.repeat(n)).into_bytes();
    let event = |result: &str| {
        let mut event = json!({
            "v": 1, "seq": 1, "ts": "2026-01-01T00:00:00.000Z", "session_id": "s", "turn_id": "0001",
            "type": "tool_result", "call_id": "c", "name": "n", "status": "ok", "duration_ms": 1,
            "truncated": false, "bytes_to_model": 1, "result": [],
        })
        .to_string();
        let at = event.rfind("[]").unwrap();
        event.replace_range(at..at + 2, result);
        event + "\n"
    };
    let objects = event(&format!("[{}0]", "{\"a\":1},".repeat(1_000)));
    let fills: [(&str, Fill); 5] = [
        ("1 GB of zeros", Box::new(|it| File::create(it).unwrap().set_len(1 << 30).unwrap())),
        ("small objects", Box::new(move |it| fs::write(it, objects.repeat(2_500)).unwrap())),
        ("a line of 250 MB", Box::new(|it| fs::write(it, vec![b' '; 250 << 20]).unwrap())),
        ("empty values", Box::new(move |it| fs::write(it, line("[],", 10_000_000)).unwrap())),
        (
            "lines of empty values",
            Box::new(move |it| fs::write(it, line("{},", 300_000).repeat(30)).unwrap()),
        ),
    ];
    let (n_names, n_fills) = if is_slow_run() { (NAMES.len(), fills.len()) } else { (1, 2) };
    for name in &NAMES[..n_names] {
        for (what, fill) in &fills[..n_fills] {
            prepared.restore();
            fill(&session.join(name));
            let why = format!("{what} in {name}");
            for command in ["datasets", "show", "doctor --session", "doctor --session --repair"] {
                let run = bench.run(command.split(' '));
                assert!(matches!(run.code(), Some(0 | 3)), "{why}: {run}");
                assert!(run.peak_mb() < MB_MAX, "{why}, {command}: {} MB", run.peak_mb());
            }
            mended(bench, &why);
        }
    }
}

/// The slow run has all of the table.
#[test]
fn a_dataset_that_unpacks_to_gigabytes_is_refused_before_it_is_decoded() {
    let bench = Bench::with([]);
    fs::write(bench.path("t.csv"), "a,b\nx,1\ny,2\n").unwrap();
    bench.run(["ingest", "t.csv"]).succeeds();
    // One cell, a text that is stored once and named by each row, and texts that go on where the last ended.
    let word = "pa.DictionaryArray.from_arrays(pa.array([0] * 500), ['x' * (16 << 20)])";
    let bombs = [
        ("a long cell", "['x' * (400 << 20)]", "use_dictionary=True"),
        ("a long word", word, "dictionary_pagesize_limit=64 << 20"),
        (
            "long prefixes",
            "['x' * (1 << 20)] * 400",
            "use_dictionary=False, column_encoding={'a': 'DELTA_BYTE_ARRAY'}",
        ),
    ];
    let n_bombs = if is_slow_run() { bombs.len() } else { 1 };
    let catalog = bench.session().join("datasets.json");
    let mut entries: Value = serde_json::from_slice(&fs::read(&catalog).unwrap()).unwrap();
    for (what, texts, options) in &bombs[..n_bombs] {
        let code = format!(
            "import pyarrow as pa, pyarrow.parquet as pq\n\
             texts = {texts}\n\
             table = pa.table({{'a': texts, 'b': pa.array([1] * len(texts), pa.int64())}})\n\
             pq.write_table(table, 't.parquet', compression='zstd', write_statistics=False, \
             store_schema=False, {options})\n\
             open('rows', 'w').write(str(len(table)))"
        );
        python(&bench, &code);
        // Whoever made the file made the catalog.
        let n_rows: u64 = fs::read_to_string(bench.path("rows")).unwrap().parse().unwrap();
        entries["t"]["row_count"] = n_rows.into();
        fs::write(&catalog, entries.to_string()).unwrap();
        fs::rename(bench.path("t.parquet"), bench.session().join("datasets/t.parquet")).unwrap();
        let path = bench.session().join("datasets/t.parquet");
        assert!(path.metadata().unwrap().len() < 1 << 20, "{what}");
        for command in [
            &["datasets", "t", "--head", "100"][..],
            &["ask", "--model", "builtin", "--fresh", "which column has x?"],
            &["ask", "--model", "builtin", "--fresh", "--redact", "b", "how many rows are there"],
            &["doctor", "--session", "--repair"],
        ] {
            let run = bench.run(command);
            assert!(run.peak_mb() < 300, "{what}: {} MB: {run}", run.peak_mb());
            if command[0] == "datasets" && *what != "a long word" {
                assert!(run.code() == Some(3) && run.stderr().contains(MENDING), "{what}: {run}");
            }
        }
    }
}

#[test]
fn a_path_with_parents_names_the_same_session() {
    let bench = Bench::with(["sales.csv"]);
    let script = "unset CSV_AGENT_SESSION_DIR; mkdir in; csv-agent -q -S .csv-agent ingest sales.csv \
                  && cd in && csv-agent -S ../.csv-agent ask --model builtin 'how many rows'";
    let run = bench.shell(script, &[]).succeeds();
    assert!(run.stdout().contains("**10**"), "{run}");
}
