//! Killed at any moment, a session is usable: nothing registered is lost, nothing is left behind.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Child;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

use crate::bench::{Bench, Changes, Round, is_slow_run, round, signal, until, until_caught};

/// Kills of each kind at a moment by chance; many in a slow run.
fn n_kills() -> u32 {
    if is_slow_run() { 25 } else { 3 }
}

/// Pseudo-random numbers, the same in every run.
pub struct Chance(pub u64);

impl Chance {
    /// Returns a number below a thousand.
    pub fn per_mille(&mut self) -> u32 {
        // Source: Marsaglia, "Xorshift RNGs".
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % 1000).unwrap()
    }

    /// Returns one of so many changes.
    fn moment(&mut self, n_changes: usize) -> usize {
        n_changes * usize::try_from(self.per_mille()).unwrap() / 1000
    }
}

/// Starts a command and kills it, with its process group, when it has changed the session so many times.
/// Returns how many changes there were: fewer, when it had ended well before.
#[track_caller]
fn kill_after(bench: &Bench, arguments: &[&str], n_changes: usize) -> usize {
    let mut changes = Changes::of(&bench.session());
    let mut child = bench.command(arguments).spawn().unwrap();
    let n_seen = changes.wait_for(n_changes, &child);
    if n_seen < n_changes {
        assert!(child.wait().unwrap().success(), "it ended by itself");
    } else {
        signal(&child, Signal::SIGKILL);
        child.wait().unwrap();
    }
    n_seen
}

/// Kills a command that cannot have ended, with its process group.
#[track_caller]
fn kill(mut child: Child) {
    signal(&child, Signal::SIGKILL);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

/// Returns the datasets with their rows, as the session lists them.
#[track_caller]
fn datasets(bench: &Bench) -> BTreeMap<String, u64> {
    let run = bench.run(["datasets", "--json"]).succeeds();
    let listed: Value = serde_json::from_str(run.stdout()).unwrap();
    let entry = |it: &Value| Some((it["name"].as_str()?.to_owned(), it["row_count"].as_u64()?));
    listed.as_array().unwrap().iter().map(|it| entry(it).unwrap()).collect()
}

/// Demands that no process works in the session any more, or names it.
#[track_caller]
fn no_process_remains(session: &Path) {
    until(&format!("no process is left in {}", session.display()), || {
        processes_of(session).is_empty()
    });
}

fn processes_of(session: &Path) -> Vec<String> {
    let is_number = |it: &PathBuf| {
        it.file_name().is_some_and(|it| it.as_encoded_bytes().iter().all(u8::is_ascii_digit))
    };
    let of_session = |process: PathBuf| {
        let command = fs::read(process.join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let cwd = fs::read_link(process.join("cwd")).unwrap_or_default();
        let name = session.to_str().unwrap();
        (command.contains(name) || cwd.starts_with(session))
            .then(|| format!("{}: {command}", process.display()))
    };
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|it| it.path());
    processes.filter(is_number).filter_map(of_session).collect()
}

/// Returns the files of a directory that were never finished.
fn unfinished(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap();
        if name.contains(".tmp") || name.starts_with(".unfinished") {
            found.push(path);
        } else if entry.file_type().unwrap().is_dir() {
            found.extend(unfinished(&path));
        }
    }
    found
}

/// Demands that everything works after a kill.
#[track_caller]
fn check(bench: &Bench, known: &BTreeMap<String, u64>) {
    no_process_remains(&bench.session());
    let found = datasets(bench);
    for (name, n_rows) in known {
        assert_eq!(found.get(name), Some(n_rows), "`{name}` was registered");
    }
    let names = found.keys().map(String::as_str);
    if !found.is_empty() {
        // The Parquet file of each can be read.
        bench.run(["datasets", "--head", "1"].into_iter().chain(names)).succeeds();
    }
    bench.run(["ingest", "sales.csv"]).succeeds();
    let saved = "globals().get('kept', 0)";
    bench.answers([round().runs("c1", saved), round().says("Fine.")]);
    let run = bench.ask("Still there?").succeeds();
    assert_eq!(run.stdout(), "Fine.\n");
    assert_eq!(unfinished(&bench.session()), [""; 0].map(PathBuf::from));
}

#[test]
fn an_ingest_may_be_killed_at_any_moment() {
    let bench = Bench::with(["sales.csv"]);
    let mut csv = "id,day,product,amount\n".to_owned();
    for id in 0..80_000_u32 {
        writeln!(csv, "{id},2024-01-{:02},P{},{}.5", id % 28 + 1, id % 97, id % 1009).unwrap();
    }
    fs::write(bench.path("big.csv"), &csv).unwrap();
    bench.run(["ingest", "sales.csv"]).succeeds();
    let n_changes = kill_after(&bench, &["ingest", "big.csv", "--name", "big"], usize::MAX);
    let known = datasets(&bench);
    assert_eq!(known["big"], 80_000);

    // It has read half of its input and waits for the rest.
    let arguments = ["ingest", "-", "--name", "big", "--if-exists", "replace"];
    let mut child = bench.command(arguments).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&csv.as_bytes()[..csv.len() / 2]).unwrap();
    kill(child);
    check(&bench, &known);

    let mut moments = Chance(0x9E37_79B9_7F4A_7C15);
    for number in 0..n_kills() {
        let known = datasets(&bench);
        // Now a new name, now one that is replaced.
        let fresh = format!("big{number}");
        let name = if number % 2 == 0 { &fresh } else { "big" };
        let arguments = ["ingest", "big.csv", "--name", name, "--if-exists", "replace"];
        kill_after(&bench, &arguments, moments.moment(n_changes));
        check(&bench, &known);
    }
}

/// Opens a pipe for writing as soon as somebody reads it.
#[track_caller]
fn open_when_read(path: &Path) -> File {
    let mut open = OpenOptions::new();
    // Until then, there is an error.
    open.write(true).custom_flags(libc::O_NONBLOCK);
    let mut pipe = None;
    until(&format!("{} is read", path.display()), || {
        pipe = open.open(path).ok();
        pipe.is_some()
    });
    pipe.unwrap()
}

#[test]
fn an_ingest_of_many_files_may_be_killed_at_any_moment() {
    const N_FILES: usize = 200;
    let bench = Bench::with(["sales.csv"]);
    let names: Vec<String> = (0..N_FILES).map(|it| format!("small{it:03}")).collect();
    let paths: Vec<String> = names.iter().map(|it| format!("{it}.csv")).collect();
    for path in &paths {
        fs::write(bench.path(path), "id,word\n1,one\n2,two\n").unwrap();
    }
    bench.run(["ingest", "sales.csv"]).succeeds();
    let arguments: Vec<&str> =
        ["ingest"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    let first = |n_names: usize| -> BTreeMap<String, u64> {
        names.iter().take(n_names).map(|it| (it.clone(), 2)).collect()
    };
    bench.run(["reset", "--datasets", "--yes"]).succeeds();
    let n_changes = kill_after(&bench, &arguments, usize::MAX);
    assert_eq!(datasets(&bench), first(N_FILES));

    // All other files are registered, and it waits for the one that is a pipe.
    bench.run(["reset", "--datasets", "--yes"]).succeeds();
    let mut held = arguments.clone();
    held[1 + N_FILES / 2] = "held";
    mkfifo(&bench.path("held"), Mode::S_IRWXU).unwrap();
    let child = bench.command(&held).spawn().unwrap();
    let pipe = open_when_read(&bench.path("held"));
    kill(child);
    drop(pipe);
    let known = datasets(&bench);
    let mut others = first(N_FILES);
    others.remove(&names[N_FILES / 2]);
    assert_eq!(known, others);
    check(&bench, &known);

    let mut moments = Chance(0xA076_1D64_78BD_642F);
    for _ in 0..n_kills() {
        bench.run(["reset", "--datasets", "--yes"]).succeeds();
        kill_after(&bench, &arguments, moments.moment(n_changes));
        let known = datasets(&bench);
        let all = first(N_FILES);
        assert!(known.iter().all(|it| all.get(it.0) == Some(it.1)), "what is registered is whole");
        check(&bench, &known);
    }
}

/// What the model does in the turn that is killed.
fn script() -> [Round; 4] {
    let send = json!({"df_name": "df", "logical_name": "rows"});
    let make = "kept = globals().get('kept', 0) + 1\ndf = pd.DataFrame({'x': range(100_000)})";
    [
        round().runs("k1", make),
        round().calls("k2", "send_data_to_ui_as_df", send),
        round().runs("k3", "sum(range(1_000_000))"),
        round().says("Done."),
    ]
}

#[test]
fn a_question_may_be_killed_at_any_moment() {
    const ASK: [&str; 3] = ["ask", "--", "q"];
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    bench.answers(script());
    let n_changes = kill_after(&bench, &ASK, usize::MAX);

    // It waits for its first answer, or for its last one.
    for n_answers in [0, 3] {
        let known = datasets(&bench);
        let n_before = bench.n_requests();
        bench.answers(script().into_iter().take(n_answers).chain([round().mute()]));
        let child = bench.command(ASK).spawn().unwrap();
        until("the last request", || n_before + n_answers < bench.n_requests());
        kill(child);
        bench.forget();
        check(&bench, &known);
    }

    let mut moments = Chance(0xD1B5_4A32_D192_ED03);
    for _ in 0..n_kills() {
        let known = datasets(&bench);
        bench.answers(script());
        kill_after(&bench, &ASK, moments.moment(n_changes));
        bench.forget();
        check(&bench, &known);
    }
}

#[test]
fn no_process_outlives_a_turn() {
    let bench = Bench::with(["sales.csv"]);
    for _ in 0..5 {
        // The answer is there before Python is.
        bench.answers([round().says("Ten rows.")]);
        bench.ask("How many rows?").succeeds();
        assert_eq!(processes_of(&bench.session()), [""; 0]);
    }
    // A signal comes while it starts.
    bench.answers([round().runs("c1", "while True: pass")]);
    let mut child = bench.command(["ask", "--", "q"]).spawn().unwrap();
    until("Python starts", || !processes_of(&bench.session()).is_empty());
    signal(&child, Signal::SIGINT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // It was killed; on a busy machine it takes a moment to go.
    until("Python is gone", || processes_of(&bench.session()).is_empty());
    bench.forget();
}

#[test]
fn a_pipe_is_waited_for_until_it_has_another_end_or_a_signal_comes() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    bench.run(["ask", "--model", "builtin", "how many rows are there"]).succeeds();
    mkfifo(&bench.path("pipe"), Mode::S_IRWXU).unwrap();
    let commands: [(&[&str], Signal); 6] = [
        (&["ingest", "pipe"], Signal::SIGINT),
        (&["ingest", "--union", "both=sales.csv", "pipe"], Signal::SIGTERM),
        (&["ask", "--model", "builtin", "-f", "pipe", "how many rows are there"], Signal::SIGTERM),
        (&["rerun", "--against", "sales=pipe"], Signal::SIGINT),
        (&["ask", "--model", "builtin", "-o", "pipe", "how many rows are there"], Signal::SIGINT),
        (&["rerun", "-o", "pipe"], Signal::SIGTERM),
    ];
    let files = || {
        let entries = fs::read_dir(bench.session().join("datasets")).unwrap();
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    for (command, sent) in commands {
        let mut child = bench.command(command).spawn().unwrap();
        until_caught(&child, sent);
        signal(&child, sent);
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(if sent == Signal::SIGINT { 130 } else { 143 }), "{command:?}");
        assert_eq!(files(), before, "{command:?}");
    }
    let mut child = bench.command(["ingest", "pipe"]).spawn().unwrap();
    fs::copy(bench.path("sales.csv"), bench.path("pipe")).unwrap();
    assert!(child.wait().unwrap().success());
    let rows = datasets(&bench);
    assert_eq!(rows["pipe"], rows["sales"]);
    let child = bench.command(["show", "-o", "pipe"]).spawn().unwrap();
    assert!(fs::read_to_string(bench.path("pipe")).unwrap().contains("**10**"));
    assert!(child.wait_with_output().unwrap().status.success());
}
