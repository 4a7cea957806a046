//! Killed at any moment, a session is usable: nothing registered is lost, nothing is left behind.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::bench::{Bench, Round, round};

/// Kills of each kind; many in a slow run.
fn n_kills() -> u32 {
    if std::env::var_os("CSV_AGENT_SLOW_TESTS").is_some() { 25 } else { 3 }
}

/// Time until the processes of a killed one must be gone.
const GONE: Duration = Duration::from_secs(10);

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

    /// Returns a moment within `span`.
    fn moment(&mut self, span: Duration) -> Duration {
        span * self.per_mille() / 1000
    }
}

/// Starts a command and kills it, with its process group, after so long. Returns whether it was
/// still running.
fn kill_after(bench: &Bench, arguments: &[&str], delay: Duration) -> bool {
    let mut child = bench.command(arguments).spawn().unwrap();
    thread::sleep(delay);
    killpg(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGKILL).unwrap();
    child.wait().unwrap().signal() == Some(9)
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
    let until = Instant::now() + GONE;
    loop {
        let left = processes_of(session);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < until, "left behind: {left:?}");
        thread::sleep(Duration::from_millis(10));
    }
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
    fs::write(bench.path("big.csv"), csv).unwrap();
    let started = Instant::now();
    bench.run(["ingest", "big.csv", "--name", "big"]).succeeds();
    let span = started.elapsed() * 5 / 4;
    let mut moments = Chance(0x9E37_79B9_7F4A_7C15);
    let mut n_killed = 0;
    for number in 0..n_kills() {
        let known = datasets(&bench);
        // Now a new name, now one that is replaced.
        let fresh = format!("big{number}");
        let name = if number % 2 == 0 { &fresh } else { "big" };
        let arguments = ["ingest", "big.csv", "--name", name, "--if-exists", "replace"];
        n_killed += u32::from(kill_after(&bench, &arguments, moments.moment(span)));
        check(&bench, &known);
    }
    assert!(0 < n_killed, "no kill came in time");
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
    let arguments: Vec<&str> =
        ["ingest"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    let started = Instant::now();
    bench.run(&arguments).succeeds();
    assert_eq!(datasets(&bench).len(), N_FILES);
    let span = started.elapsed();
    let mut moments = Chance(0xA076_1D64_78BD_642F);
    let mut n_killed = 0;
    for _ in 0..n_kills() {
        bench.run(["reset", "--datasets", "--yes"]).succeeds();
        n_killed += u32::from(kill_after(&bench, &arguments, moments.moment(span)));
        let known = datasets(&bench);
        let expected: BTreeMap<_, _> =
            names.iter().take(known.len()).map(|it| (it.clone(), 2)).collect();
        assert_eq!(known, expected, "registered are the first ones, whole");
        check(&bench, &known);
    }
    assert!(0 < n_killed, "no kill came in time");
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
    let bench = Bench::with(["sales.csv"]).script(script());
    let started = Instant::now();
    bench.ask("q").succeeds();
    let span = started.elapsed() * 5 / 4;
    let mut moments = Chance(0xD1B5_4A32_D192_ED03);
    let mut n_killed = 0;
    for _ in 0..n_kills() {
        let known = datasets(&bench);
        bench.answers(script());
        let arguments = ["ask", "--", "q"];
        n_killed += u32::from(kill_after(&bench, &arguments, moments.moment(span)));
        bench.forget();
        check(&bench, &known);
    }
    assert!(0 < n_killed, "no kill came in time");
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
    let is_running = || !processes_of(&bench.session()).is_empty();
    let until = Instant::now() + GONE;
    while !is_running() && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
    killpg(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(processes_of(&bench.session()), [""; 0]);
    bench.forget();
}
