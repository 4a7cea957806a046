//! The built-in analyst: answers plain analytical questions with the tools that a model would call.
//!
//! It is a semantic parser, not a chatbot. Spans of the question are linked to what they may mean (`link`), rules put
//! them together to phrases (`grammar`), phrases make queries (`assemble`), which are ranked (`rank`). The best is
//! written as SQL (`sql`), run, and told in sentences (`answer`). What it does not understand it says. It keeps nothing
//! between requests: the items of a turn say how far it is.

mod actions;
mod answer;
mod assemble;
mod compute;
mod counted;
mod follow_up;
mod frag;
mod glossary;
mod grammar;
mod join;

mod lexicon;
mod link;
mod query;
mod rank;
mod read;
mod reading;
mod scene;
mod rule;
mod schema;
mod sense;
mod sql;
mod suggest;
mod transcript;
mod values;
mod words;

use serde_json::{Value, json};

use csv_agent_types::conversation::{FinishReason, Item, Request, Response, ToolChoice, Usage};

use lexicon::ENGLISH;

/// A tool to call, and its arguments.
type Call = (&'static str, Value);

/// What happens next.
#[derive(Debug, PartialEq)]
enum Next {
    Calls(Vec<Call>),
    /// The answer: its text, and the same with a verdict, as a gate reads it.
    Say(String, Value),
    /// Why there is none.
    Refuse(String),
    /// Why there is none yet, and the readings to pick one from.
    Offer(String, Vec<String>),
}

/// Returns how many things there are, as a number to compute with.
fn float(n: impl TryInto<u32>) -> f64 {
    f64::from(n.try_into().unwrap_or(u32::MAX))
}

/// Answers a request as a model would: with calls, or with a reply.
pub fn respond(request: &Request) -> Response {
    let next = match (read::next(request, &ENGLISH), &request.tool_choice) {
        (Next::Calls(_), ToolChoice::None) => Next::Refuse(
            "There were no rounds left to compute the answer. Allow more with `--max-rounds`."
                .to_owned(),
        ),
        (next, _) => next,
    };
    let items = match next {
        Next::Calls(calls) => {
            let n_before = request.items.len();
            let item = |(n, (name, arguments)): (usize, (&str, Value))| {
                Item(json!({
                    "type": "function_call",
                    "call_id": format!("call_{n_before}_{n}"),
                    "name": name,
                    "arguments": arguments.to_string(),
                }))
            };
            calls.into_iter().enumerate().map(item).collect()
        }
        Next::Say(text, verdict) => {
            let text = if request.format.is_some() { verdict.to_string() } else { text };
            vec![Item::assistant(&text)]
        }
        Next::Refuse(text) => vec![refusal(&json!({"type": "refusal", "refusal": text}))],
        Next::Offer(text, choices) => {
            vec![refusal(&json!({"type": "refusal", "refusal": text, "choices": choices}))]
        }
    };
    Response {
        id: None,
        previous_id: None,
        request_id: None,
        model: None,
        items,
        usage: Usage { requests: 1, ..Usage::default() },
        ending: FinishReason::Completed,
        wants_more: false,
    }
}

fn refusal(part: &Value) -> Item {
    Item(json!({"type": "message", "role": "assistant", "content": [part]}))
}

/// Returns how the last question of a conversation may be read, for scripts that measure and train: calls that have to
/// be made first, or readings as SQL with their prices, the likeliest first.
pub fn readings(instructions: &str, items: &[Item], wants_verdict: bool, n_max: usize) -> Value {
    let found = read::readings(instructions, items, wants_verdict, &ENGLISH);
    match found {
        read::Outcome::Next(Next::Calls(calls)) => json!({"calls": calls}),
        read::Outcome::Next(Next::Refuse(text) | Next::Offer(text, _) | Next::Say(text, _)) => {
            json!({"refusal": text})
        }
        read::Outcome::Read(read) => {
            let computed = match read.computed() {
                Err(Next::Calls(calls)) => return json!({"calls": calls}),
                Err(_) => None,
                Ok(computed) => computed,
            };
            let result = computed.as_ref().map(|it| &it.result);
            let tables = &read.tables;
            let told = read.readings.iter().take(n_max).map(|it| {
                let statement = sql::statement(&it.query, tables, 12);
                json!({
                    "sql": statement.sql, "cost": it.cost, "skipped": it.skipped, "linked": it.linked, "chart": it.query.chart.is_some(),
                    "check": matches!(it.query.body, query::Shape::Check(_)),
                    "query": format!("{:?}", it.query), "rules": it.rules.iter().map(|it| grammar::ENGLISH.name(*it)).collect::<Vec<_>>(),
                })
            });
            // Without a result it is refused, however sure it was.
            let sureness = result.map_or(0.0, |it| rank::sureness(&read.readings, Some(it)));
            let features = rank::features(&read.readings, result)
                .map(|it| it.iter().map(|it| json!(it)).collect::<Vec<_>>());
            json!({"readings": told.collect::<Vec<_>>(), "sureness": sureness, "was_run": result.is_some(), "features": features})
        }
    }
}
