//! Configuration files: what they decide, what they may not, and where the key comes from.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::bench::{Bench, KEY, Run, round, wait};

/// Writes a file below the working directory, with its directories.
fn write(bench: &Bench, name: &str, content: &str) {
    let path = bench.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Where the bench's own configuration is.
const USER: &str = "../.config/csv-agent/config.toml";

/// Runs a command without the variables that say which key and which server.
fn run<const N: usize>(bench: &Bench, arguments: [&str; N]) -> Run {
    let mut command = bench.command(arguments);
    command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL");
    let shown = format!("{command:?}");
    wait(command.spawn().unwrap(), shown, b"")
}

#[track_caller]
fn shown(bench: &Bench) -> Value {
    serde_json::from_str(run(bench, ["config", "show", "--json"]).succeeds().stdout()).unwrap()
}

fn base_url(bench: &Bench) -> String {
    let shown = bench.run(["config", "show", "--json"]).succeeds();
    let shown: Value = serde_json::from_str(shown.stdout()).unwrap();
    shown["base_url"]["value"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_and_a_project_say_what_does_no_harm() {
    let bench = Bench::with([]);
    write(&bench, USER, "model = 'user'\nretries = 1\nmax_rounds = 3\nrequire_sandbox = true\n");
    write(&bench, "csv-agent.toml", "model = 'project'\nretries = 2\npython = '/evil'\n");
    write(&bench, "../session/config.toml", "model = 'session'\nrequire_sandbox = false\n");
    let found = shown(&bench);
    assert_eq!(found["model"]["value"], "session");
    assert_eq!(found["retries"]["value"], 2);
    assert_eq!(found["max_rounds"]["value"], 3);
    assert_eq!(found["python"]["value"], Value::Null);
    assert_eq!(found["require_sandbox"]["value"], true);
    let warned = run(&bench, ["config", "show"]);
    for line in ["csv-agent.toml:3: `python` is", "session/config.toml:2: `require_sandbox` is"] {
        assert!(warned.stderr().contains(line), "{warned}");
    }
}

#[test]
fn a_trusted_project_says_everything() {
    let bench = Bench::with([]);
    write(&bench, "csv-agent.toml", "base_url = 'http://127.0.0.1:9/v1'\n");
    assert_eq!(shown(&bench)["base_url"]["origin"], "default");
    write(&bench, USER, "trusted_projects = ['~/work']\n");
    let found = run(&bench, ["config", "show", "--json"]).succeeds();
    assert_eq!(found.stderr(), "");
    assert_eq!(shown(&bench)["base_url"]["value"], "http://127.0.0.1:9/v1");
    let listed = run(&bench, ["doctor"]);
    assert!(listed.stdout().contains("user file"), "{listed}");
    assert!(listed.stdout().contains("work/csv-agent.toml"), "{listed}");
}

#[test]
fn a_project_file_that_anybody_may_write_is_ignored() {
    let bench = Bench::with([]);
    write(&bench, "csv-agent.toml", "model = 'project'\n");
    fs::set_permissions(bench.path("csv-agent.toml"), Permissions::from_mode(0o666)).unwrap();
    let found = run(&bench, ["config", "show", "--json"]).succeeds();
    assert!(found.stderr().contains("is ignored: everyone can write to it"), "{found}");
    assert_eq!(shown(&bench)["model"]["value"], "gpt-6.2-sol");
}

#[test]
fn a_switch_that_is_off_anyway_needs_no_warning() {
    let bench = Bench::with([]);
    write(&bench, "csv-agent.toml", "no_rows = false\nallow_unconfined = false\n");
    assert_eq!(run(&bench, ["config", "show"]).succeeds().stderr(), "");
    write(&bench, USER, "[profiles.a]\nno_rows = true\n");
    let found = run(&bench, ["config", "show"]).succeeds();
    assert!(found.stderr().contains("only your own configuration can turn it off"), "{found}");
    assert_eq!(found.stderr().matches("is ignored").count(), 1, "{found}");
}

#[test]
fn ones_own_file_that_anybody_may_write_is_refused_with_the_remedy() {
    let bench = Bench::with([]);
    write(&bench, USER, "model = 'user'\n");
    fs::set_permissions(bench.path(USER), Permissions::from_mode(0o666)).unwrap();
    let refused = run(&bench, ["datasets"]).fails_with(3);
    assert!(refused.stderr().contains("chmod go-w"), "{refused}");
    run(&bench, ["datasets", "--no-config"]).succeeds();
}

#[test]
fn a_broken_file_is_told_by_line_and_does_not_take_the_help_away() {
    let bench = Bench::with([]);
    write(&bench, USER, "model = 'x'\napi_key_cmd = [\"sk-abcdefghijkl\n");
    let refused = run(&bench, ["datasets"]).fails_with(3);
    assert!(refused.stderr().contains("config.toml:2: not valid TOML"), "{refused}");
    assert!(!refused.stderr().contains("abcdefghijkl"), "{refused}");
    run(&bench, ["help", "config"]).succeeds();
    run(&bench, ["completions", "bash"]).succeeds();
    let missing = run(&bench, ["datasets", "--config", "nowhere.toml"]).fails_with(3);
    assert!(missing.stderr().contains("no such file"), "{missing}");
    write(&bench, USER, &"#".repeat(300_000));
    let long = run(&bench, ["datasets"]).fails_with(3);
    assert!(long.stderr().contains("longer than"), "{long}");
    fs::remove_file(bench.path(USER)).unwrap();
    fs::create_dir(bench.path(USER)).unwrap();
    let directory = run(&bench, ["datasets"]).fails_with(3);
    assert!(directory.stderr().contains("it is a directory, not a regular file"), "{directory}");
}

#[test]
fn the_key_comes_from_a_command_when_a_question_is_asked() {
    let bench = Bench::with(["sales.csv"]).script([round().says("Ten.")]);
    let url = base_url(&bench);
    let cmd =
        format!(r#"["sh", "-c", "echo run >> {}; echo {KEY}"]"#, bench.path("runs").display());
    write(&bench, USER, &format!("base_url = '{url}'\napi_key_cmd = {cmd}\n"));
    let all = run(&bench, ["config", "show"]).succeeds();
    assert!(!all.stdout().contains(KEY), "{all}");
    assert!(all.stdout().contains("api_key\t***\tuser file"), "{all}");
    run(&bench, ["doctor"]).succeeds();
    assert!(!bench.path("runs").exists(), "it is not run for anything else");
    assert_eq!(bench.request(0).header("authorization"), None);
    run(&bench, ["ask", "-f", "sales.csv", "How many rows?"]).succeeds();
    assert_eq!(fs::read_to_string(bench.path("runs")).unwrap(), "run\n");
    assert_eq!(bench.request(1).header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[test]
fn the_key_comes_from_a_file_that_nobody_else_can_read() {
    let bench = Bench::with(["sales.csv"]).script([round().says("Ten.")]);
    let url = base_url(&bench);
    write(&bench, "../key", &format!("{KEY}\n"));
    write(&bench, USER, &format!("base_url = '{url}'\napi_key_file = '../../key'\n"));
    fs::set_permissions(bench.path("../key"), Permissions::from_mode(0o644)).unwrap();
    let ask = ["ask", "-f", "sales.csv", "--format", "jsonl", "How many rows?"];
    let refused = run(&bench, ask).fails_with(4);
    assert!(refused.stdout().contains("chmod 600"), "{refused}");
    assert_eq!(refused.events().last().unwrap()["code"], "auth_missing");
    fs::set_permissions(bench.path("../key"), Permissions::from_mode(0o600)).unwrap();
    run(&bench, ask).succeeds();
    assert_eq!(bench.request(0).header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[test]
fn the_key_for_one_server_is_not_sent_to_the_local_one() {
    let bench = Bench::with(["sales.csv"]);
    let run = bench.run(["config", "show", "--json", "--profile", "local"]).succeeds();
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(found["base_url"]["value"], "http://127.0.0.1:11434/v1");
    assert_eq!(found["api_key"]["value"], Value::Null);
    let which = bench.run(["ask", "-f", "sales.csv", "--profile", "local", "q"]).fails_with(2);
    assert!(which.stderr().contains("add `--model NAME`"), "{which}");
    let unknown = bench.run(["datasets", "--profile", "lcal"]).fails_with(2);
    assert!(unknown.stderr().contains("did you mean `local`?"), "{unknown}");
}

#[test]
fn settings_of_a_file_hold_for_a_turn() {
    let loops = || round().calls("c", "list_datasets", serde_json::json!({}));
    let bench = Bench::with(["sales.csv"]).script([loops(), round().says("Two.")]);
    write(&bench, "csv-agent.toml", "model = 'mine'\nmax_rounds = 2\nformat = 'json'\n");
    let found = bench.ask("What is there?").fails_with(7);
    let found: Value = serde_json::from_str(found.stdout()).unwrap();
    assert_eq!(found["stop_reason"], "max_rounds");
    assert_eq!(bench.request(0).body["model"], "mine");
}

#[test]
fn a_key_that_is_missing_is_told_with_all_the_places_it_may_come_from() {
    let bench = Bench::with(["sales.csv"]);
    write(&bench, USER, "[profiles.work]\nbase_url = 'https://models.example.com/v1'\n");
    let places = ["OPENAI_API_KEY", "`api_key_file`", "`api_key_cmd`"];
    let listed = run(&bench, ["doctor", "--offline", "--profile", "work"]).fails_with(4);
    let refused = run(&bench, ["ask", "--profile", "work", "-f", "sales.csv", "q"]).fails_with(4);
    for told in [listed.stdout(), refused.stderr()] {
        assert!(places.iter().all(|it| told.contains(it)), "{told}");
    }
    let local = run(&bench, ["doctor", "--offline", "--profile", "local"]).fails_with(2);
    assert!(local.stdout().contains("key\tok\tnone; the server is on this machine"), "{local}");
}

#[test]
fn the_users_own_file_is_changed_by_commands_and_keeps_its_comments() {
    let bench = Bench::with([]);
    write(&bench, USER, "# mine\nmodel = 'a'  # for now\n\n[profiles.work]\nretries = 1\n");
    let file = || fs::read_to_string(bench.path(USER)).unwrap();
    for (setting, value) in [
        ("model", "b"),
        ("max_rounds", "7"),
        ("max_cost", "0.5"),
        ("stream", "false"),
        ("timeout", "5m"),
        ("redact", "email, first name"),
        ("api_key_cmd", "pass show openai"),
        ("profiles.work.retries", "2"),
        ("profiles.home.base_url", "http://127.0.0.1:1/v1"),
    ] {
        assert_eq!(run(&bench, ["config", "set", setting, value]).succeeds().stderr(), "");
    }
    insta::assert_snapshot!(file(), @r#"
    # mine
    model = "b"  # for now
    max_rounds = 7
    max_cost = 0.5
    stream = false
    timeout = "5m"
    redact = ["email", "first name"]
    api_key_cmd = ["pass", "show", "openai"]

    [profiles.work]
    retries = 2

    [profiles.home]
    base_url = "http://127.0.0.1:1/v1"
    "#);
    assert_eq!(shown(&bench)["max_rounds"]["value"], 7);
    for setting in ["max_rounds", "profiles.home.base_url", "chart_theme"] {
        run(&bench, ["config", "unset", setting]).succeeds();
    }
    assert!(!file().contains("max_rounds") && !file().contains("base_url"), "{}", file());
    for table in ["profiles", "profiles.work", "modle"] {
        run(&bench, ["config", "unset", table]).fails_with(2);
    }
    assert!(file().contains("[profiles.work]"), "{}", file());
    let before = file();
    for (setting, value) in [
        ("max_rounds", "0"),
        ("stream", "maybe"),
        ("model", " "),
        ("model.x", "1"),
        ("a b", "1"),
        ("modle", "x"),
        ("base_url", "localhost:11434"),
        ("base_url", "http://"),
        ("profiles.work.base_url", "https//h"),
        ("redact", "[\"email\""),
        ("redact", "[email, name]"),
    ] {
        run(&bench, ["config", "set", setting, value]).fails_with(2);
    }
    assert_eq!(file(), before);
}

#[test]
fn a_path_is_relative_to_where_it_was_typed() {
    let bench = Bench::with([]);
    write(&bench, "rules.toml", "[total]\nbad = '< 0'\n");
    run(&bench, ["config", "set", "thresholds", "rules.toml"]).succeeds();
    run(&bench, ["config", "set", "knowledge", "~/notes.md"]).succeeds();
    run(&bench, ["config", "set", "trusted_projects", "a, /b"]).succeeds();
    let shown = shown(&bench);
    let here = bench.path("").canonicalize().unwrap();
    let path = |name: &str| here.join(name).to_string_lossy().into_owned();
    assert_eq!(shown["thresholds"]["value"], path("rules.toml"));
    assert!(fs::read_to_string(bench.path(USER)).unwrap().contains("\"~/notes.md\""));
    assert_eq!(shown["trusted_projects"]["value"], json!([path("a"), "/b"]));
}

#[test]
fn a_new_file_of_the_user_is_private_and_a_link_stays_one() {
    let bench = Bench::with([]);
    run(&bench, ["config", "set", "model", "a"]).succeeds();
    let mode = fs::metadata(bench.path(USER)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    fs::rename(bench.path(USER), bench.path("../dotfiles.toml")).unwrap();
    std::os::unix::fs::symlink(bench.path("../dotfiles.toml"), bench.path(USER)).unwrap();
    run(&bench, ["config", "set", "model", "b"]).succeeds();
    assert!(fs::symlink_metadata(bench.path(USER)).unwrap().is_symlink());
    assert!(fs::read_to_string(bench.path("../dotfiles.toml")).unwrap().contains("model = \"b\""));
}

#[test]
fn an_editor_opens_the_users_file_and_mistakes_are_named() {
    let bench = Bench::with([]);
    let edit = |bench: &Bench| bench.run(["config", "edit"]);
    let refused = edit(&bench).fails_with(2);
    assert!(refused.stderr().contains("neither `VISUAL` nor `EDITOR` is set"), "{refused}");
    let bench = bench.variable("EDITOR", "sh -c 'echo model = 5 >> \"$0\"'");
    let run = edit(&bench).fails_with(3);
    assert!(run.stderr().contains("config.toml:2: `model`: write a string in quotes"), "{run}");
    assert!(run.stderr().contains("`csv-agent config edit`"), "{run}");
    // A file that other commands refuse can be edited.
    let bench = bench.variable("VISUAL", "sed -i 's/5/\"m\"/'");
    edit(&bench).succeeds();
    assert_eq!(shown(&bench)["model"]["value"], "m");
}

#[test]
fn a_file_that_is_not_toml_is_not_changed_and_not_quoted() {
    let bench = Bench::with([]);
    write(&bench, USER, "model = 'a'\napi_key_file = sk-secret\n");
    for arguments in [["config", "set", "model", "b"], ["config", "unset", "model", "-v"]] {
        let run = run(&bench, arguments).fails_with(3);
        assert!(run.stderr().contains("config.toml:2: not valid TOML"), "{run}");
        assert!(!run.stderr().contains("sk-secret"), "{run}");
        assert!(run.stderr().contains("`csv-agent config edit`"), "{run}");
    }
    fs::remove_file(bench.path(USER)).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", bench.path(USER)).unwrap();
    run(&bench, ["config", "set", "model", "b"]).fails_with(3);
    assert!(fs::symlink_metadata(bench.path(USER)).unwrap().is_symlink());
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let bench = Bench::with([]);
    let script =
        "for n in 1 2 3 4 5 6 7 8; do csv-agent config set profiles.p$n.model m$n & done; wait";
    bench.shell(script, &[]).succeeds();
    let file = fs::read_to_string(bench.path(USER)).unwrap();
    assert_eq!(file.matches("model = ").count(), 8, "{file}");
}

#[test]
fn a_python_that_does_not_work_is_blamed_on_what_names_it() {
    let bench = Bench::with(["sales.csv"]);
    write(&bench, USER, "python = '/no/such'\n");
    // A statement needs no Python.
    run(&bench, ["ask", "--model", "builtin", "-f", "sales.csv", "how many rows"]).succeeds();
    let export = ["export", "py"];
    let refused = run(&bench, export).fails_with(8);
    let told = "`python` of the user file";
    assert!(refused.stderr().contains(told), "{refused}");
    assert!(refused.stderr().contains("config.toml:1 is `/no/such`"), "{refused}");
    assert!(!refused.stderr().contains("CSV_AGENT_PYTHON"), "{refused}");
    let bench = bench.variable("CSV_AGENT_PYTHON", "/not/there");
    let refused = run(&bench, export).fails_with(8);
    assert!(refused.stderr().contains("CSV_AGENT_PYTHON is `/not/there`"), "{refused}");
}
