//! Every way in which a server fails, at every point of a turn, alone and after another one, over both
//! dialects. The cases are made of the table below.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use csv_agent_provider::error::ProviderError;
use csv_agent_provider::{Api, Key, Progress, Provider, RemoteOptions};
use csv_agent_types::conversation::{FinishReason, Item, Request, Response};
use csv_agent_types::status::FailureKind;

use crate::bench::{Bench, HANG, KEY, Round, Server, is_slow_run, round};
use crate::provider::request;

/// Further tries. No case needs more.
const RETRIES: u32 = 3;
/// Silence that counts as a broken answer. A case that fails is tried again with more of it: a machine that
/// does all cases at once may be that slow.
const IDLE: Duration = Duration::from_secs(1);
const TEXT: &str = "One table.";

/// What follows from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The request is sent again.
    Again,
    /// It is sent again without something, which is told.
    Without,
    /// Nothing: it only looks like a failure.
    Fine,
    /// The answer is cut: this is why, and how the process ends.
    Cut(&'static str, i32),
    /// The turn fails: with this status.
    Fails(i32),
}

use Outcome::{Again, Cut, Fails, Fine, Without};

/// A way to fail, made of what would have been a good answer.
struct Way {
    name: &'static str,
    make: fn(Api, Round) -> Round,
    outcome: Outcome,
}

const fn way(name: &'static str, outcome: Outcome, make: fn(Api, Round) -> Round) -> Way {
    Way { name, make, outcome }
}

/// What fails before an answer begins.
const BEFORE: [Way; 25] = [
    way("429 with a header", Again, |_, it| it.answers(429, "").header("retry-after-ms", "5")),
    way("429 in words", Again, |_, it| {
        it.errs(429, "tokens", "rate_limit_exceeded", "Please try again in 5ms.")
    }),
    way("429 with seconds", Again, |_, it| it.answers(429, "{}").header("retry-after", "0.005")),
    way("408", Again, |_, it| soon(it.answers(408, ""))),
    way("409", Again, |_, it| soon(it.answers(409, "{\"error\":\"locked\"}"))),
    way("500", Again, |_, it| soon(it.errs(500, "server_error", "", "oops"))),
    way("502 of a proxy", Again, |_, it| {
        soon(it.answers(502, "<html>Bad Gateway</html>").header("content-type", "text/html"))
    }),
    way("503", Again, |_, it| soon(it.answers(503, "no healthy upstream"))),
    way("503 overloaded", Again, |_, it| soon(it.errs(503, "", "server_is_overloaded", "Busy."))),
    way("504", Again, |_, it| soon(it.answers(504, ""))),
    way("529", Again, |_, it| soon(it.answers(529, "{\"detail\":\"overloaded\"}"))),
    way("400 that may pass", Again, |_, it| {
        soon(it.answers(400, "").header("x-should-retry", "true"))
    }),
    way("400 optional field", Without, |_, it| {
        it.answers(
            400,
            r#"{"error":{"message":"Unknown parameter: 'parallel_tool_calls'.","param":"parallel_tool_calls"}}"#,
        )
    }),
    way("400", Fails(6), |_, it| it.errs(400, "invalid_request_error", "invalid_value", "No.")),
    way("400 context", Fails(6), |_, it| {
        it.errs(400, "invalid_request_error", "context_length_exceeded", "Too long.")
    }),
    way("401 of a proxy", Fails(4), |_, it| {
        it.answers(401, "<html>who?</html>").header("content-type", "text/html")
    }),
    way("403", Fails(4), |_, it| it.errs(403, "", "unsupported_country_region_territory", "No.")),
    way("404 model", Fails(6), |_, it| it.errs(404, "", "model_not_found", "No model `m`.")),
    way("413", Fails(6), |_, it| it.answers(413, "<html>Request Entity Too Large</html>")),
    way("422", Fails(6), |_, it| {
        it.answers(422, r#"{"detail":[{"loc":["body","model"],"msg":"no"}]}"#)
    }),
    way("429 quota", Fails(6), |_, it| {
        it.errs(429, "insufficient_quota", "credit_balance_exhausted", "You ran out.")
    }),
    way("429 too long", Fails(6), |_, it| it.answers(429, "").header("retry-after", "3600")),
    way("500 that may not pass", Fails(6), |_, it| {
        it.answers(500, "").header("x-should-retry", "false")
    }),
    way("307", Fails(6), |_, it| it.answers(307, "").header("location", "http://127.0.0.1:1/v1")),
    way("mute", Again, |_, it| it.mute()),
];

/// What fails within an answer, or only looks so.
const WITHIN: [Way; 28] = [
    way("200 page", Fails(6), |_, it| {
        it.answers(200, "<html>hello</html>").header("content-type", "text/html")
    }),
    way("200 empty", Fails(6), |_, it| it.answers(200, "")),
    way("200 list", Fails(6), |_, it| it.answers(200, "{\"object\":\"list\",\"data\":[]}")),
    way("200 torn", Fails(6), |_, it| it.answers(200, "{\"output\":[{\"type\"")),
    way("200 error", Fails(6), |_, it| {
        it.errs(200, "", "invalid_api_key_format", "No.").answers(
            200,
            r#"{"error":{"type":"invalid_request_error","code":null,"message":"No."}}"#,
        )
    }),
    way("no events", Fails(6), |_, it| it.raw("<html>no stream</html>")),
    way("torn event", Fails(6), |_, _| {
        round().raw(
            "data: {\"choices\":[{\ndata: \"type\"\n\n\
        data: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n\n",
        )
    }),
    way("rate limit within", Again, |_, it| {
        it.fails("rate_limit_exceeded", "Please try again in 5ms.")
    }),
    way("server error within", Again, |_, it| it.fails("server_error", "Please try again in 5ms.")),
    way("quota within", Fails(6), |_, it| it.fails("insufficient_quota", "You ran out.")),
    way("context within", Fails(6), |_, it| it.fails("context_length_exceeded", "Too long.")),
    way("prompt within", Fails(6), |_, it| it.fails("invalid_prompt", "Not this.")),
    way("cut at the head", Again, |_, it| it.cut_after(0)),
    way("cut after 1", Again, |_, it| it.cut_after(1)),
    way("cut after 2", Again, |_, it| it.cut_after(2)),
    way("cut after 3", Again, |_, it| it.cut_after(3)),
    way("closed at the head", Again, |_, it| it.closed_after(0)),
    way("closed after 1", Again, |_, it| it.closed_after(1)),
    way("closed after 3", Again, |_, it| it.closed_after(3)),
    way("done without an end", Again, |_, _| round().raw("data: {}\n\ndata: [DONE]\n\n")),
    way("silent at the head", Again, |_, it| it.silent_after(0)),
    way("silent after 2", Again, |_, it| it.silent_after(2)),
    way("output limit", Cut("max_output_tokens", 7), |_, it| {
        it.ends_early_for("max_output_tokens")
    }),
    way("content filter", Cut("content_filter", 9), |_, it| it.ends_early_for("content_filter")),
    way("byte by byte", Fine, |_, it| it.in_chunks_of(1)),
    way("left open", Fine, |_, it| it.left_open()),
    way("slow", Fine, |_, it| {
        it.delayed(Duration::from_millis(30)).pausing(Duration::from_millis(5))
    }),
    way("served by another", Without, |_, it| it.served_by("other")),
];

/// Asks for the next try at once.
fn soon(round: Round) -> Round {
    round.header("retry-after-ms", "5")
}

fn ways() -> impl Iterator<Item = &'static Way> + Clone {
    BEFORE.iter().chain(&WITHIN)
}

/// What a good server says to the n-th request of a turn.
fn good(point: usize) -> Round {
    match point {
        0 => round().calls("c1", "list_datasets", json!({})),
        _ => round().says(TEXT),
    }
}

/// A turn in which one request meets these ways, one after the other.
struct Case {
    api: Api,
    point: usize,
    ways: Vec<&'static Way>,
}

/// What a case comes to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    n_requests: usize,
    /// `retrying` or `warning`, in order.
    told: Vec<&'static str>,
    /// Why the answer was cut.
    cut: Option<&'static str>,
    exit: i32,
}

impl Case {
    fn name(&self) -> String {
        let names: Vec<_> = self.ways.iter().map(|it| it.name).collect();
        format!("{} at request {} by {}", names.join(", then "), self.point, self.api.name())
    }

    fn script(&self) -> Vec<Round> {
        let mut rounds: Vec<Round> = (0..self.point).map(good).collect();
        let last = self.ways.last().map(|it| it.outcome);
        rounds.extend(self.ways.iter().map(|it| (it.make)(self.api, good(self.point))));
        let goes_on = match last {
            Some(Again) | None => self.point..2,
            Some(Without) if !self.is_answered() => self.point..2,
            Some(Fine | Without) => self.point + 1..2,
            Some(Cut(..) | Fails(_)) => 2..2,
        };
        rounds.extend(goes_on.map(good));
        rounds
    }

    /// Whether the last way is an answer that something is said about.
    fn is_answered(&self) -> bool {
        self.ways.last().is_some_and(|it| it.name == "served by another")
    }

    fn expected(&self) -> Expected {
        let mut expected = Expected { n_requests: self.script().len(), ..Expected::default() };
        for way in &self.ways {
            match way.outcome {
                Again => expected.told.push("retrying"),
                Without => expected.told.push("warning"),
                Fine => {}
                Cut(reason, exit) => (expected.cut, expected.exit) = (Some(reason), exit),
                Fails(exit) => expected.exit = exit,
            }
        }
        expected
    }
}

fn alone() -> Vec<Case> {
    let mut cases = Vec::new();
    for api in [Api::Responses, Api::Chat] {
        for point in 0..2 {
            cases.extend(ways().map(|it| Case { api, point, ways: vec![it] }));
        }
    }
    cases
}

/// Each way after each that is not the end. The points alternate, so that a pair meets both.
fn pairs() -> Vec<Case> {
    let goes_on = |it: &&Way| matches!(it.outcome, Again) || it.name == "400 optional field";
    let firsts = ways().filter(goes_on);
    let mut cases = Vec::new();
    for (at, (first, second)) in
        firsts.flat_map(|first| ways().map(move |second| (first, second))).enumerate()
    {
        // Dropped once, it is not there to be complained about.
        if first.outcome == Without && second.name == first.name {
            continue;
        }
        for api in [Api::Responses, Api::Chat] {
            cases.push(Case {
                api,
                point: (at + usize::from(api == Api::Chat)) % 2,
                ways: vec![first, second],
            });
        }
    }
    cases
}

/// Runs a turn of two requests, where a silence of `idle` breaks an answer. Returns what it came to.
fn found(case: &Case, idle: Duration) -> Expected {
    let server = Server::start(case.script());
    server.speak(case.api);
    let options = RemoteOptions {
        base_url: server.base_url(),
        api: Some(case.api),
        key: Some(Key::new(KEY)),
        retries: RETRIES,
        first_event: idle,
        idle,
        ..RemoteOptions::default()
    };
    let mut provider = Provider::remote(options).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut found = Expected::default();
    let mut items = vec![Item::user("what data is there?")];
    let name = case.name();
    for point in 0..2 {
        let asked = request(items.clone());
        let outcome = runtime.block_on(async {
            let turn = one_request(&mut provider, &asked, &mut found.told);
            tokio::time::timeout(HANG, turn).await
        });
        match outcome.unwrap_or_else(|_| panic!("{name} hangs")) {
            Err(error) => {
                assert!(!error.message.contains(KEY), "{error}");
                found.exit = if error.failure_kind() == FailureKind::Auth { 4 } else { 6 };
                break;
            }
            Ok(response) => {
                if let FinishReason::Incomplete(reason) = response.ending {
                    let known = ["max_output_tokens", "content_filter"];
                    found.cut = known.into_iter().find(|it| *it == reason);
                    found.exit = if reason == "content_filter" { 9 } else { 7 };
                    break;
                }
                if point == 0 {
                    let call = response.items[0].tool_call().unwrap();
                    assert_eq!(
                        (call.call_id.as_str(), call.arguments.as_str()),
                        ("c1", "{}"),
                        "{name}"
                    );
                    items.extend(response.items);
                    items.push(Item::output("c1", "[\"sales\"]"));
                } else {
                    assert_eq!(response.items[0].text(), TEXT, "{name}");
                }
            }
        }
    }
    found.n_requests = server.requests().len();
    found
}

/// Asks once. Text that was shown and not taken back is the text of the response.
async fn one_request(
    provider: &mut Provider,
    request: &Request,
    told: &mut Vec<&'static str>,
) -> Result<Response, ProviderError> {
    let mut shown = String::new();
    let mut watch = |progress: Progress<'_>| match progress {
        Progress::Delta(delta) => shown += delta,
        Progress::Superseded => shown.clear(),
        Progress::Retrying { .. } => told.push("retrying"),
        Progress::Warning { .. } => told.push("warning"),
        Progress::Sending { .. }
        | Progress::Hosted(_)
        | Progress::Calls(_)
        | Progress::Calling { .. }
        | Progress::Uploading { .. }
        | Progress::Fetched { .. }
        | Progress::Unsent => {}
    };
    let response = provider.respond(request, &mut watch).await?;
    let text: String = response.items.iter().map(Item::text).collect();
    assert!(shown.is_empty() || shown == text, "{shown:?} and {text:?}");
    Ok(response)
}

/// Runs cases side by side: most of them wait.
fn check(cases: &[Case], n_threads: usize, found: impl Fn(&Case, Duration) -> Expected + Sync) {
    let next = AtomicUsize::new(0);
    let wrong: Vec<String> = thread::scope(|scope| {
        let work = || {
            let mut wrong = Vec::new();
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                let expected = case.expected();
                let is_right = |idle| {
                    catch_unwind(AssertUnwindSafe(|| found(case, idle) == expected))
                        .unwrap_or(false)
                };
                if is_right(IDLE) || is_right(4 * IDLE) {
                    continue;
                }
                let found = found(case, 16 * IDLE);
                if found != expected {
                    wrong.push(format!("{}: {found:?}, not {expected:?}", case.name()));
                }
            }
            wrong
        };
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn every_failure_is_met_at_every_request() {
    check(&alone(), 16, found);
}

#[test]
fn every_failure_is_met_after_every_other() {
    let mut cases = pairs();
    assert!(1_000 < cases.len());
    if !is_slow_run() {
        // Each way is still first, and second, many times.
        let mut at = 0_usize..;
        cases.retain(|_| at.next().is_some_and(|it| it % 5 == 0));
    }
    check(&cases, 48, found);
}

/// Runs a turn with the real program and returns what its events say.
fn found_by_program(case: &Case) -> Expected {
    let bench = Bench::with(["sales.csv"]).speaking(case.api).script(case.script());
    let retries = RETRIES.to_string();
    let arguments =
        ["--api", case.api.name(), "--model", "m", "--retries", &retries, "--format", "jsonl"];
    let run = bench.ask_with(arguments, "what data is there?");
    let events = run.events();
    let name = case.name();
    let of = |kind: &str| events.iter().filter(|it| it["type"] == kind).count();
    let ending = events.last().unwrap();
    assert_eq!(
        (of("tool_call"), of("reply") + of("error")),
        (of("tool_result"), 1),
        "{name}: {run}"
    );
    assert_eq!(ending["exit_code"], json!(run.code()), "{name}: {run}");
    if run.code() == Some(0) {
        assert_eq!((&ending["text"], of("tool_call")), (&TEXT.into(), 1), "{name}: {run}");
    }
    assert!(!run.stderr().contains(KEY) && !run.stderr().contains("panicked"), "{name}: {run}");
    let told = events.iter().filter_map(|it: &Value| match it["phase"].as_str()? {
        "retrying" => Some("retrying"),
        // The turn says so of what the provider answers for.
        "warning" if it["code"] != "answer_cut" => Some("warning"),
        _ => None,
    });
    let is_cut = events.iter().any(|it| it["code"] == "answer_cut");
    let cut = match ending["stop_reason"].as_str() {
        Some("max_tokens") if is_cut => Some("max_output_tokens"),
        Some("refused") => Some("content_filter"),
        _ => None,
    };
    Expected {
        n_requests: bench.n_requests(),
        told: told.collect(),
        cut,
        exit: run.code().unwrap(),
    }
}

#[test]
fn the_program_ends_as_it_should_after_every_failure() {
    // Silence has its own tests: here it would take as long as a server may be silent.
    let mut cases = alone();
    cases.retain(|it| !it.ways[0].name.starts_with("silent") && it.ways[0].name != "mute");
    if !is_slow_run() {
        // Each way is still met in both dialects, and at both requests.
        cases.retain(|it| it.point == usize::from(it.api == Api::Chat));
    }
    // Most of the time they wait before they try again.
    check(&cases, 16, |case, _| found_by_program(case));
}
