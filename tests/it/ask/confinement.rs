//! What a turn says of the confinement of its code, and when it refuses to run any.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::{ask, code};
use crate::bench::{Bench, Run, memory_mb, round, until};

fn bench(without: &str) -> Bench {
    let bench = Bench::with(["sales.csv"]).script([code("c1", "1 + 1"), round().says("It is 2.")]);
    bench.variable("CSV_AGENT_SANDBOX_WITHOUT", without)
}

/// Puts a file of configuration where it is the user's own.
fn configure(bench: &Bench, text: &str) {
    let directory = bench.path("../.config/csv-agent");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("config.toml"), text).unwrap();
}

#[test]
fn a_rule_that_does_not_hold_is_told() {
    let turn = ask(&bench("namespaces"), [], "q", 0);
    let worker = &turn.phases("worker")[0];
    let missing = worker["missing"].as_array().unwrap();
    assert!(missing.contains(&json!("names of files outside")), "{worker}");
    assert_eq!(worker["reasons"][0], "CSV_AGENT_SANDBOX_WITHOUT has namespaces");
    // It is no noise that `-q` is there to stop.
    let run = bench("namespaces").ask_with(["-q"], "q").succeeds();
    let told = "warning: code is not fully confined; not enforced: names of files outside";
    assert!(run.stderr().contains(told), "{run}");
}

/// Demands that no code ran, and that what is said says why and what to do.
#[track_caller]
fn check_refused(bench: &Bench, run: &Run) {
    bench.forget();
    for told in [
        "no code is run: it could read and write every file that you can",
        "CSV_AGENT_SANDBOX_WITHOUT has landlock",
        "`--allow-unconfined`",
    ] {
        assert!(run.stderr().contains(told), "{told}: {run}");
    }
    assert_eq!(run.stderr().matches("error: ").count(), 1, "once is enough: {run}");
    assert_eq!(bench.n_requests(), 0, "nothing was asked: {run}");
}

#[test]
fn no_code_runs_where_nothing_confines_its_files() {
    let layers = "namespaces,landlock";
    let refusing = bench(layers);
    check_refused(&refusing, &refusing.ask("q").fails_with(8));
    let doctor = refusing.run(["doctor"]).fails_with(8);
    assert!(doctor.stdout().contains("problem\tfiles: not enforced"), "{doctor}");

    let run = bench(layers).ask_with(["--allow-unconfined", "-q"], "q").succeeds();
    assert!(
        run.stderr().contains("warning: code is not fully confined; not enforced: files, names"),
        "{run}"
    );

    let refusing = bench(layers);
    fs::create_dir_all(refusing.session()).unwrap();
    for file in [refusing.path("csv-agent.toml"), refusing.session().join("config.toml")] {
        fs::write(file, "allow_unconfined = true\n").unwrap();
    }
    let run = refusing.ask("q").fails_with(8);
    assert!(run.stderr().contains("csv-agent.toml:1: `allow_unconfined` is"), "{run}");
    check_refused(&refusing, &run);

    let allowing = bench(layers);
    configure(&allowing, "allow_unconfined = true\n");
    allowing.ask("q").succeeds();
    let doctor = allowing.run(["doctor"]).succeeds();
    assert!(doctor.stdout().contains("warning\tfiles: not enforced"), "{doctor}");
    // Who wants all of it wants more than who wants nothing.
    allowing.ask_with(["--require-sandbox"], "q").fails_with(8);
    allowing.ask_with(["--require-sandbox", "--allow-unconfined"], "q").fails_with(2);
}

#[test]
fn code_reads_the_datasets_of_the_question_and_no_other() {
    for without in ["", "namespaces"] {
        let bench = Bench::with([]).variable("CSV_AGENT_SANDBOX_WITHOUT", without);
        for (name, cell) in [("seen", "plain"), ("unseen", "secret-7f3")] {
            fs::write(bench.path(&format!("{name}.csv")), format!("word\n{cell}\n")).unwrap();
            bench.run(["ingest", &format!("{name}.csv")]).succeeds();
        }
        let directory = bench.session().join("datasets");
        assert!(directory.join("unseen.parquet").exists());
        let read = |name: &str| {
            let path = directory.join(name);
            format!("pd.read_parquet('{}').word[0]", path.display())
        };
        let listed = format!("import os; os.listdir('{}')", directory.display());
        let all = "[pd.read_parquet(os.path.join(at, it)).word[0] for at, _, names in os.walk('/') \
             for it in names if it.endswith('.parquet')]";
        bench.answers([
            code("c1", &read("seen.parquet")),
            code("c2", &read("unseen.parquet")),
            code("c3", &listed),
            code("c4", all),
            code("c5", "load('unseen')"),
            round().says("Done."),
        ]);
        let arguments = ["ask", "--format", "jsonl", "-d", "seen", "q"];
        let run = bench.run(arguments).succeeds();
        assert!(run.stdout().contains("plain"), "{without}: {run}");
        assert!(!run.stdout().contains("secret-7f3"), "{without}: {run}");
        // Without `-d` the question is about both.
        bench.answers([code("c6", &read("unseen.parquet")), round().says("Done.")]);
        let run = bench.run(["ask", "--format", "jsonl", "q"]).succeeds();
        assert!(run.stdout().contains("secret-7f3"), "{without}: {run}");
    }
}

/// Code that answers in the worker's place: with the id of the command, and the mark behind what was printed.
const FORGERY: &str = "
import os, sys
frame = sys._getframe()
while 'request' not in frame.f_locals: frame = frame.f_back
id = frame.f_locals['request']['id']
line = b'{\"id\":\"%s\",\"status\":\"ok\",\"result\":{\"kind\":\"none\",\"a\":[' % id.encode()
line += UNIT * min(COUNT, ((31 << 20) - len(line)) // len(UNIT)) + b'0]}}\\n'
os.write(202, b'\\0' + id.encode() + b'\\0')
while line: line = line[os.write(201, line):]
";

/// Asks, and returns the most memory that csv-agent itself has had.
fn peak_mb(bench: &Bench) -> u64 {
    let mut child = bench.command(["ask", "-f", "sales.csv", "--json", "q"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    let mut peak_mb = 0;
    while child.try_wait().unwrap().is_none() {
        peak_mb = peak_mb.max(memory_mb(child.id()));
        std::thread::sleep(Duration::from_millis(1));
    }
    reader.join().unwrap().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(10 < peak_mb, "{peak_mb} MB cannot be");
    peak_mb
}

#[test]
fn whatever_the_worker_sends_takes_little_memory() {
    let all = u32::MAX;
    for (unit, count) in [
        ("b'[],'", all),
        ("b'{\"\":[0]},'", all),
        // As many values as are built, in the forms that take most.
        ("b'[0],'", 199_000),
        ("b'{\"\":[0]},'", 99_000),
        ("b'\"' + b'x' * 150 + b'\",'", all),
    ] {
        let code_of_it = FORGERY.replace("UNIT", &format!("({unit})"));
        let code_of_it = code_of_it.replace("COUNT", &count.to_string());
        let script = [code("c1", &code_of_it), round().says("Hm.")];
        let peak_mb = peak_mb(&Bench::with(["sales.csv"]).script(script));
        assert!(peak_mb < 300, "{unit}: {peak_mb} MB");
    }
    // The largest table: what it is takes more in events and documents than as an answer.
    let largest =
        "df = pd.DataFrame({'x' * 70 + str(at): ['y' * 100] * 2000 for at in range(100)})";
    let send = json!({"df_name": "df", "logical_name": "all"});
    let send = round().calls("c2", "send_data_to_ui_as_df", send);
    let script = [code("c1", largest), send, round().says("Hm.")];
    let peak_mb = peak_mb(&Bench::with(["sales.csv"]).script(script));
    assert!(peak_mb < 300, "the largest table: {peak_mb} MB");
}

#[test]
fn the_log_has_what_holds_and_nothing_of_the_data() {
    let bench = Bench::with(["sales.csv"])
        .script([code("c1", "'p' + 'ear'"), round().says("It is a secret.")]);
    ask(&bench, [], "what fruit?", 0);
    let log = fs::read_to_string(bench.session().join("logs/csv-agent.log")).unwrap();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert!(lines[0]["sandbox"]["enforced"][0] == "network: none", "{}", lines[0]);
    assert_eq!(lines.last().unwrap()["exit_code"], 0);
    for word in ["fruit", "pear", "ear'", "secret"] {
        assert!(!log.contains(word), "`{word}` is in {log}");
    }
}

#[test]
fn no_code_runs_when_the_whole_confinement_is_wanted_and_not_there() {
    let bench = bench("namespaces");
    let run = bench.ask_with(["--require-sandbox"], "q").fails_with(8);
    bench.forget();
    let told = "`--require-sandbox`: not enforced here: names of files outside";
    assert!(run.stderr().contains(told), "{}", run.stderr());
    assert!(run.stderr().contains("CSV_AGENT_SANDBOX_WITHOUT has namespaces"), "{run}");
    let run = bench.run(["doctor", "--require-sandbox"]).fails_with(8);
    assert!(run.stdout().contains("names of files outside: not enforced"), "{}", run.stdout());
}

#[test]
fn the_doctor_has_a_line_for_each_thing() {
    let bench = Bench::with([]);
    let run = bench.run(["doctor", "--json"]).succeeds();
    let checks: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
    let of = |name: &str| {
        let found = checks.as_array().unwrap().iter().filter(|it| it["check"] == name);
        found.map(|it| it["state"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((of("key"), of("python")), (vec!["ok"], vec!["ok"]));
    assert!(5 < of("sandbox").len());
}

#[test]
fn other_processes_of_the_user_see_neither_its_memory_nor_its_environment() {
    let home = tempfile::TempDir::new().unwrap();
    let mut command = std::process::Command::new("cp");
    let program = home.path().join("csv-agent");
    assert!(command.arg(crate::worker::program()).arg(&program).status().unwrap().success());
    let mut command = std::process::Command::new(&program);
    if nix::unistd::geteuid().is_root() {
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::process::CommandExt;
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        command.uid(65_534).gid(65_534);
    }
    command.env_clear().env("HOME", home.path()).current_dir("/");
    command.env("DATA_EVENT_KEY", "Zm9yIHRlc3RzIG9ubHksIGZvciB0ZXN0cyBvbmx5ISE=");
    command.stdin(std::process::Stdio::piped()).arg("decrypt");
    let mut child = command.spawn().unwrap();
    // Files in `/proc` of a process that is closed belong to root.
    let environment = format!("/proc/{}/environ", child.id());
    until("it is closed to others", || {
        use std::os::unix::fs::MetadataExt;
        assert!(child.try_wait().unwrap().is_none(), "it has ended before");
        fs::metadata(Path::new(&environment)).is_ok_and(|it| it.uid() == 0)
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn code_that_nothing_confines_still_finds_no_key() {
    let source = "
import os
def parent(pid): return int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[1])
agent = parent(parent(os.getpid()))
found = [open(f'/proc/{agent}/comm').read().strip()]
for name in ('environ', 'mem', 'maps'):
    try: found += [name] if open(f'/proc/{agent}/{name}', 'rb').read(1) else []
    except OSError: pass
found";
    let bench = Bench::with(["sales.csv"]).script([code("c1", source), round().says("Done.")]);
    let bench = bench.variable("CSV_AGENT_SANDBOX_WITHOUT", "namespaces,landlock");
    let turn = ask(&bench, ["--allow-unconfined"], "q", 0);
    assert_eq!(turn.one("tool_result")["result"]["text"], "['csv-agent']");
}

#[test]
fn code_waits_while_csv_agent_is_stopped() {
    let source = "while True: open('beat', 'a').write('x')";
    let bench = Bench::with(["sales.csv"]).script([code("c1", source)]);
    let mut child = bench.command(["ask", "-f", "sales.csv", "q"]).spawn().unwrap();
    let beat = bench.session().join("scratch/beat");
    let beats = || fs::metadata(&beat).map_or(0, |it| it.len());
    until("the code runs", || 0 < beats());
    let pid = Pid::from_raw(child.id().cast_signed());
    kill(pid, Signal::SIGSTOP).unwrap();
    until("the code waits", || {
        let before = beats();
        std::thread::sleep(Duration::from_millis(300));
        before == beats()
    });
    let stopped_at = beats();
    kill(pid, Signal::SIGCONT).unwrap();
    until("the code goes on", || stopped_at < beats());
    kill(pid, Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
}
