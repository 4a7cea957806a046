//! What a turn leaves for the next one: the conversation and the variables.

use std::fs::{self, OpenOptions};
use std::io::Write;

use serde_json::json;

use super::{ask, code, goes_on, last_request, shown};
use crate::bench::{Bench, round};

/// Returns a bench whose session has answered once and has `x = 1`.
fn bench() -> Bench {
    let bench = Bench::with(["sales.csv"]).script([
        round().thinks("gA").says("I look.").runs("c1", "x = 1\nx"),
        round().says("It is 1."),
    ]);
    ask(&bench, [], "first", 0);
    bench
}

/// The reasoning goes back to the server that sealed it.
const FIRST: [&str; 6] = [
    "user: first",
    "reasoning",
    "assistant: I look.",
    "call c1",
    "output c1: 1",
    "assistant: It is 1.",
];

/// Asks once more and demands what the request carries before and after the question.
#[track_caller]
fn check<const N: usize>(bench: &Bench, arguments: [&str; N], before: &[&str]) {
    bench.answers([round().says("Yes.")]);
    ask(bench, arguments, "next", 0);
    let expected = [before, &["user: next"]].concat();
    assert_eq!(shown(&last_request(bench)), expected);
}

#[test]
fn the_next_question_carries_all_that_came_before_in_order() {
    let bench = bench();
    check(&bench, [], &FIRST);
    check(&bench, [], &[&FIRST[..], &["user: next", "assistant: Yes."]].concat());
    // What was sent once is sent again as it was: a provider's cache can use it.
    let [before, after] = [2, 3].map(|it| bench.request(it));
    assert_eq!(before.input()[..], after.input()[..before.input().len()]);
    assert_eq!(before.body["instructions"], after.body["instructions"]);
    assert_eq!(before.body["prompt_cache_key"], after.body["prompt_cache_key"]);
}

#[test]
fn a_fresh_question_carries_nothing_and_is_remembered() {
    let bench = bench();
    check(&bench, ["--fresh"], &[]);
    check(&bench, [], &[&FIRST[..], &["user: next", "assistant: Yes."]].concat());
}

#[test]
fn an_ephemeral_question_leaves_nothing_behind() {
    let bench = bench();
    bench.answers([code("c2", "'x' in globals()"), round().says("No.")]);
    ask(&bench, ["--ephemeral"], "aside", 0);
    let request = last_request(&bench);
    assert_eq!(shown(&request), ["user: aside", "call c2", "output c2: False"]);
    check(&bench, [], &FIRST);
}

#[test]
fn large_arrays_and_mappings_of_frames_are_kept_for_the_next_process() {
    let bench = bench();
    let code_ = "arr = np.arange(100_000)\nboth = {'df': pd.DataFrame({'a': range(50_000)})}";
    bench.answers([code("c2", code_), round().says("Kept.")]);
    ask(&bench, [], "keep", 0);
    bench.answers([code("c3", "int(arr.sum()), len(both['df'])"), round().says("There.")]);
    ask(&bench, [], "there?", 0);
    assert_eq!(last_request(&bench).output_of("c3"), "(4999950000, 50000)");
}

#[test]
fn a_turn_that_failed_is_not_fed_back_and_its_variables_are_gone() {
    let bench = bench();
    bench.answers([code("c2", "x = 2\ny = 3"), round().answers(400, "{}")]);
    ask(&bench, [], "second", 6);
    check(&bench, [], &FIRST);
    bench.answers([code("c3", "x, 'y' in globals()"), round().says("Done.")]);
    ask(&bench, [], "third", 0);
    assert_eq!(last_request(&bench).output_of("c3"), "(1, False)");
}

#[test]
fn variables_survive_until_a_reset_drops_them_with_the_conversation() {
    let bench = bench();
    let make = "df = pd.DataFrame({'a': [1, 2]})\nd = {'k': [1, 2]}\ndef f(): return 7";
    bench.answers([code("c2", make), round().says("Made.")]);
    ask(&bench, [], "make", 0);
    let look = "x, d, len(df), df['a'].sum()";
    bench.answers([code("c3", look), round().says("All there.")]);
    ask(&bench, [], "look", 0);
    let request = last_request(&bench);
    let output = request.output_of("c3");
    assert!(output.starts_with("(1, {'k': [1, 2]}, 2, "), "{output}");
    bench.run(["reset", "--yes"]).succeeds();
    let gone = "[it for it in ('x', 'd', 'df', 'f') if it in globals()]";
    bench.answers([code("c4", gone), round().says("None.")]);
    ask(&bench, [], "after", 0);
    assert_eq!(shown(&last_request(&bench)), ["user: after", "call c4", "output c4: []"]);
    assert_eq!(bench.run(["datasets", "--names"]).succeeds().stdout(), "sales\n");
}

#[test]
fn a_torn_last_line_is_dropped_with_a_warning() {
    let bench = bench();
    let path = bench.session().join("history.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let half = "{\"turn\":\"torn\",\"items\":[{\"type\":\"mess";
    OpenOptions::new().append(true).open(&path).unwrap().write_all(half.as_bytes()).unwrap();
    bench.answers([round().says("Yes.")]);
    let turn = ask(&bench, [], "next", 0);
    let warnings = turn.phases("warning");
    assert_eq!((warnings.len(), &warnings[0]["code"]), (1, &json!("session")));
    assert!(
        warnings[0]["message"]
            .as_str()
            .unwrap()
            .contains("`history.jsonl` is incomplete and was left out")
    );
    assert_eq!(shown(&last_request(&bench)), [&FIRST[..], &["user: next"]].concat());
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.starts_with(&whole) && !now.contains(half), "{now}");
    assert!(goes_on(&bench).phases("warning").is_empty());
}

#[test]
fn code_that_ends_python_is_told_and_the_next_call_works() {
    let bench = bench();
    let ends = [
        "import os\nos._exit(3)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "import ctypes\nctypes.string_at(0)",
    ];
    for (at, end) in ends.into_iter().enumerate() {
        let [set, ended, after, last] =
            ["set", "end", "after", "last"].map(|it| format!("{it}{at}"));
        bench.answers([
            code(&set, "y = 2"),
            code(&ended, end).runs(&after, "x, 'y' in globals()"),
            code(&last, "x + 1"),
            round().says("Done."),
        ]);
        let turn = ask(&bench, ["--fresh"], "q", 0);
        let killed = [format!("{set} ok"), format!("{ended} killed: worker_gone")];
        assert_eq!(turn.results()[..2], killed, "{end}");
        let request = last_request(&bench);
        let told = request.output_of(&ended);
        assert!(told.contains("the Python process ended"), "{told}");
        // What the last whole turn left is restored; what this one made is gone.
        assert_eq!(request.output_of(&after), "(1, False)", "{end}");
        assert_eq!(request.output_of(&last), "2", "{end}");
    }
}

#[test]
fn code_that_leaves_quietly_is_told_as_well() {
    let bench = bench();
    bench.answers([
        code("c2", "raise SystemExit(0)")
            .runs("c3", "exit()")
            .runs("c4", "raise KeyboardInterrupt"),
        code("c5", "x"),
        round().says("Done."),
    ]);
    let turn = ask(&bench, ["--fresh"], "q", 0);
    assert_eq!(turn.results()[3], "c5 ok");
    for call_id in ["c2", "c3", "c4"] {
        assert_eq!(turn.result_of(call_id)["status"], "error");
    }
    assert_eq!(last_request(&bench).output_of("c5"), "1");
}

#[test]
fn a_session_may_be_named_by_a_relative_path() {
    let bench = Bench::with(["sales.csv"]).variable("CSV_AGENT_SESSION_DIR", "here").script([
        round().calls("c1", "load_dataset_full", json!({"name": "sales", "df_name": "df"})),
        round().says("Loaded."),
    ]);
    bench.ask("load it").succeeds();
    assert!(bench.path("here/session.json").is_file());
}

#[test]
fn a_name_that_csv_agent_provides_is_what_it_was_after_the_call() {
    let bench = Bench::with(["sales.csv"]).script([
        round().calls("c1", "python_repl", json!({"code": "keep = 42\nnp = 5"})),
        round().says("Done."),
        round().calls("c2", "python_repl", json!({"code": "keep, np.__name__"})),
        round().says("Done."),
    ]);
    bench.ask("one").succeeds();
    bench.ask("two").succeeds();
    let told = bench.request(1).output_of("c1").to_owned();
    assert!(told.contains("`np` is reserved here"), "{told}");
    assert_eq!(bench.request(3).output_of("c2"), "(42, 'numpy')");
}

#[test]
fn whole_numbers_stay_exact_beside_missing_ones() {
    let bench = Bench::with([]);
    fs::write(bench.path("ids.csv"), "id\n9007199254740993\n\"\"\n9007199254740995\n").unwrap();
    bench.answers([
        round().calls("c1", "load_dataset_full", json!({"name": "ids", "df_name": "df"})),
        round().calls("c2", "python_repl", json!({"code": "df.id.dropna().astype(str).tolist()"})),
        round().says("Done."),
    ]);
    bench.run(["ask", "-f", "ids.csv", "which?"]).succeeds();
    assert_eq!(bench.request(2).output_of("c2"), "['9007199254740993', '9007199254740995']");
}
