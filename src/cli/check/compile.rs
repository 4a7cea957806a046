//! Claims become statements: the built-in analyst reads each as a question about the data.

use std::cmp::Reverse;

use serde::Deserialize;
use serde_json::Value;

use csv_agent_agent::prompt::Briefing;
use csv_agent_agent::verdict::Gates;
use csv_agent_agent::{Agent, AgentOptions, TurnEnd};
use csv_agent_provider::Provider;
use csv_agent_session::Session;
use csv_agent_sink::EventSink;
use csv_agent_text::sql::identifier;
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::Question;
use csv_agent_types::event::{Body, Event};
use csv_agent_types::status::{BUILTIN, Failure, FailureKind, StopReason};

use super::claims::{self, ClaimColumn, ClaimTable, FormClaim, NUMBERS};
use super::lock::CompiledClaim;
use super::misread::{YEARS, advice, misread, words};
use crate::describe::{self, Described};
use crate::flags::TurnFlags;
use crate::options::settings::Settings;
use crate::options::{GlobalOptions, TurnOptions};
use crate::signals::{self, Signals};

/// Values of a column that a claim can name.
const VALUES_MAX: u64 = 100;
/// Words for a part of the rows.
const SHARES: [&str; 4] = ["percent", "percentage", "share", "half"];
/// Words that make a bound with `or` before them: `5 or more`.
const BOUNDS: [&str; 14] = [
    "more", "less", "above", "below", "greater", "higher", "lower", "fewer", "later", "earlier",
    "over", "equal", "older", "younger",
];
/// Words for rows that are counted.
const ROWS: [&str; 4] = ["rows", "records", "entries", "lines"];

/// What counts rows in a statement.
const COUNTS: [&str; 3] = ["count(", "sum(", "row_number("];

/// The statement of a claim, or why the analyst is not sure of one.
pub(super) type Compiled = Result<CompiledClaim, String>;

/// Compiles claims about the datasets of a temporary session.
pub(super) fn compile(
    claims: &[&str],
    session: &mut Session,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<Vec<Compiled>> {
    if claims.is_empty() {
        return Ok(Vec::new());
    }
    let flags = TurnFlags { ephemeral: true, ..TurnFlags::default() };
    let builtin = settings.flags_with_model(BUILTIN);
    let turn = TurnOptions::resolve(flags, options.clone(), &settings.with(&builtin))?;
    let agent = AgentOptions {
        gates: Gates { verdict: true, ..Gates::default() },
        // Each claim is read by itself.
        fresh: true,
        briefing: Briefing { thresholds: Vec::new(), ..turn.agent.briefing.clone() },
        ..turn.agent.clone()
    };
    let mut agent = Agent::new(agent, Provider::Builtin);
    signals::runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let mut compiled = Vec::new();
        for claim in claims {
            agent.start_afresh();
            let question = Question {
                text: (*claim).to_owned(),
                images: Vec::new(),
                verdict: true,
                pick: None,
            };
            let mut trouble = Trouble(None);
            let end = agent.turn(session, &mut trouble, question, signals.next()).await?;
            compiled.push(read(claim, end, trouble, session)?);
        }
        agent.close(signals.next()).await;
        Ok(compiled)
    })
}

/// Compiles claims that have a fixed form, or says why one has several. Returns None for the others.
pub(super) fn with_fixed_form(
    claims: &[&str],
    session: &Session,
    settings: &Settings,
) -> anyhow::Result<Vec<Option<Compiled>>> {
    let described = describe::datasets_of(session, VALUES_MAX, settings)?;
    let tables: Vec<ClaimTable> = described.iter().map(table).collect();
    let compile = |claim: &&str| match &claims::read(claim, &tables)[..] {
        [] => None,
        [(_, FormClaim { sql, reading, columns })] => {
            let (claim, by) = ((*claim).to_owned(), BUILTIN.to_owned());
            let (reading, sql, columns) = (reading.clone(), sql.clone(), columns.clone());
            Some(Ok(CompiledClaim { claim, reading, sql, by, columns }))
        }
        several => {
            let names: Vec<String> = several.iter().map(|it| format!("`{}`", it.0)).collect();
            let (table, form) = &several[0];
            let column = form.columns.first().and_then(|it| it.rsplit_once('.'));
            Some(Err(format!(
                "it may be about {}; name one of them, as in `{} of {table}`",
                names.join(" or "),
                column.map_or("…", |it| it.1),
            )))
        }
    };
    Ok(claims.iter().map(compile).collect())
}

/// Returns the columns of a dataset, with their most frequent texts.
fn table(described: &Described) -> ClaimTable {
    let facts = described.description.facts().iter();
    let columns = described.dataset.columns.iter().zip(facts).map(|(column, facts)| {
        let top = facts.top.iter().flatten();
        let values = top.filter_map(|it| it.0.as_str().map(str::to_owned)).collect();
        ClaimColumn::new(&column.name, column.dtype, values)
    });
    ClaimTable { name: described.name.clone(), columns: columns.collect() }
}

/// Why a turn has no reply.
struct Trouble(Option<String>);

impl EventSink for Trouble {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        if let Body::Error(error) = &event.body {
            self.0 = Some(error.message.clone());
        }
        Ok(())
    }
}

/// What the analyst adds to the verdict on a claim.
#[derive(Deserialize)]
struct ReadClaim {
    sql: String,
    reading: String,
    columns: Vec<String>,
}

/// Returns what the turn of a claim has found.
fn read(
    claim: &str,
    end: TurnEnd,
    trouble: Trouble,
    session: &mut Session,
) -> anyhow::Result<Compiled> {
    let Some(reply) = end.reply else {
        let message = trouble.0.unwrap_or_else(|| "the claim could not be read".to_owned());
        let kind = end.failure.unwrap_or(FailureKind::Internal);
        return Err(Failure::new(kind, message).into());
    };
    if reply.stop_reason != StopReason::Complete {
        let why = reason(&reply.text);
        return Ok(Err(advice(claim).map_or(why.clone(), |advice| format!("{advice} ({why})"))));
    }
    let last = session.history()?.items().pop();
    let document = last.and_then(|it| serde_json::from_str::<Value>(&it.text()).ok());
    let found = document.and_then(|it| ReadClaim::deserialize(&it["rule"]).ok());
    let Some(ReadClaim { sql, reading, columns }) = found else {
        return Ok(Err("it is a question, not a claim that data can break".to_owned()));
    };
    let left_out = unread_part(claim, &sql, &columns, session.catalog());
    if let Some(part) = left_out.or_else(|| uncomputed(claim, &sql)) {
        return Ok(Err(format!(
            "it contains `{part}`, but the analyst's reading leaves that out: {reading}"
        )));
    }
    if let Some(why) = misread(claim, &sql, session.catalog()) {
        return Ok(Err(format!("{why} (the analyst's reading is: {reading})")));
    }
    let (claim, by) = (claim.to_owned(), BUILTIN.to_owned());
    Ok(Ok(CompiledClaim { claim, reading, sql, by, columns }))
}

/// Returns the part of a refusal that says why, without questions that the analyst could answer instead.
fn reason(refusal: &str) -> String {
    let mut parts = refusal.split("\n\n");
    let first = parts.next().unwrap_or_default();
    let list = parts.next().filter(|_| first.ends_with(':')).unwrap_or_default();
    // Nothing picks a reading of a rule by its number.
    let readings = list.lines().map(|it| it.split_once(". ").map_or(it, |it| it.1));
    let readings: Vec<&str> = readings.collect();
    format!("{first} {}", readings.join("; or ")).trim_end().to_owned()
}

/// Returns a name or a number of a claim that its statement leaves out.
pub(super) fn unread_part<'a>(
    claim: &'a str,
    sql: &str,
    columns: &[String],
    catalog: &'a Catalog,
) -> Option<&'a str> {
    unread(claim, sql, columns, catalog)
        .or_else(|| uncounted(claim, sql))
        .or_else(|| uncounted_rows(claim, sql, catalog))
}

/// Returns a dataset or a column that a claim names and that is not read. A question would show what it was answered
/// from, but a rule that is wrong passes unseen.
fn unread<'a>(claim: &str, sql: &str, columns: &[String], catalog: &'a Catalog) -> Option<&'a str> {
    let read: Vec<(&str, &str)> = columns.iter().filter_map(|it| it.split_once('.')).collect();
    let mut names: Vec<(&str, bool)> = Vec::new();
    for (dataset, it) in catalog.iter() {
        let is_counted = columns.is_empty() && sql.contains(&identifier(dataset));
        names.push((dataset, is_counted || read.iter().any(|it| it.0 == dataset)));
        for column in &it.columns {
            names.push((&column.name, read.iter().any(|it| it.1 == column.name)));
        }
    }
    // A name may be a part of another, so the longest is taken first.
    names.sort_by_key(|(name, is_read)| (Reverse(name.len()), Reverse(*is_read)));
    let mut text = spaced(claim);
    for (name, is_read) in names {
        let words = spaced(name);
        if !words.trim().is_empty() && text.contains(&words) {
            if !is_read {
                return Some(name);
            }
            text = text.replace(&words, "  ");
        }
    }
    None
}

/// Returns the noun of a number of rows that a claim says and its statement does not count: `at most 5 orders`.
fn uncounted_rows<'a>(claim: &'a str, sql: &str, catalog: &Catalog) -> Option<&'a str> {
    if COUNTS.iter().any(|it| sql.contains(it)) {
        return None;
    }
    let is_column = |it: &str| {
        let mut columns = catalog.iter().flat_map(|it| &it.1.columns);
        columns.any(|column| column.name.eq_ignore_ascii_case(it))
    };
    let is_rows = |it: &str| {
        let singular = |it: &str| it.to_lowercase().trim_end_matches('s').to_owned();
        let mut tables = catalog.iter().map(|it| singular(it.0));
        !is_column(it)
            && (ROWS.contains(&&*it.to_lowercase()) || tables.any(|table| table == singular(it)))
    };
    // `2024 orders` are those of a year.
    let is_number =
        |it: &str| it.parse::<f64>().is_ok_and(|it| it.fract() != 0.0 || !YEARS.contains(&it));
    let mut pairs = words(claim).zip(words(claim).skip(1));
    pairs.find(|(n, word)| is_number(&n.replace(',', "")) && is_rows(word)).map(|it| it.1)
}

/// Returns a share, a choice, a reference or a sign of a formula that a claim has and the statement of
/// the analyst does not compute.
fn uncomputed<'a>(claim: &'a str, sql: &str) -> Option<&'a str> {
    let is_share = |it: &&str| it.ends_with('%') || SHARES.contains(&it.to_lowercase().as_str());
    if let Some(share) = words(claim).find(is_share).filter(|_| !sql.contains("100.0 *")) {
        return Some(share);
    }
    let all: Vec<String> = words(claim).map(str::to_lowercase).collect();
    let is_choice = |at: usize| {
        let next = all.get(at + 1).map_or("", String::as_str);
        let is_bound =
            BOUNDS.contains(&next) || at.checked_sub(1).is_some_and(|it| all[it] == "on");
        all[at] == "or" && !is_bound
    };
    if (0..all.len()).any(is_choice) && !sql.contains(" or ") && !sql.contains(" in (") {
        return Some("or");
    }
    let is_reference = all.iter().any(|it| ["exist", "exists"].contains(&it.as_str()));
    if is_reference && !sql.contains("exists (") && !sql.contains("in (select") {
        return Some("exists");
    }
    let computed = sql.replace("select *", "").replace("count(*)", "");
    let signs = claim.char_indices().filter(|it| "*/+".contains(it.1));
    let mut signs = signs.map(|(at, sign)| &claim[at..at + sign.len_utf8()]);
    signs.find(|it| !computed.contains(*it))
}

/// Returns a number of a claim that its statement does not have.
fn uncounted<'a>(claim: &'a str, sql: &str) -> Option<&'a str> {
    let digits = |it: &str| it.trim_end_matches('%').replace(',', "");
    let is_number = |it: &str| digits(it).parse::<f64>().is_ok();
    let all: Vec<&str> = words(claim).collect();
    // `at least one` is a number, and `one of these` and `no two` are none.
    let before = |at: usize| at.checked_sub(1).map_or("", |it| all[it]);
    let is_count = |at: usize, n: usize| match n {
        0 => false,
        1 => ["least", "most", "exactly"].contains(&before(at)),
        _ => before(at) != "no",
    };
    let spelled = all.iter().enumerate().find(|(at, it)| {
        let n = NUMBERS.iter().position(|number| it.eq_ignore_ascii_case(number));
        n.is_some_and(|n| is_count(*at, n) && !sql.contains(&n.to_string()))
    });
    if let Some((_, word)) = spelled {
        return Some(word);
    }
    all.iter().copied().filter(|it| is_number(it)).find(|it| {
        // With a sign or without, and as the statement writes it: 5.0 as 5.
        let number = digits(it).parse::<f64>().unwrap_or_default();
        // `after 2011` is from the first day of 2012.
        let is_bound =
            YEARS.contains(&number) && sql.contains(&format!("'{}-01-01'", number + 1.0));
        !is_bound && !sql.contains(&digits(it)) && !sql.contains(&number.to_string())
    })
}

/// Returns the words of a text in lower case, each between spaces.
fn spaced(text: &str) -> String {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    format!(" {} ", words.map(str::to_lowercase).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use csv_agent_testing::dataset;
    use csv_agent_types::catalog::{Catalog, Column, DType, Dataset};

    use super::{reason, uncomputed, uncounted, uncounted_rows, unread};

    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        let tables = [
            ("orders", ["order_id", "customer", "price"]),
            ("items", ["item_id", "order", "price"]),
        ];
        for (name, columns) in tables {
            let columns = columns.map(|it| Column::new(it, DType::Int64, Some(0))).into();
            catalog.insert(name.to_owned(), Dataset { columns, ..dataset(3) });
        }
        catalog
    }

    /// Checks which name of the datasets `orders` and `items` is not read.
    #[track_caller]
    fn check(claim: &str, columns: &[&str], expected: Option<&str>) {
        let catalog = catalog();
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let sql = "select count(*) from orders";
        assert_eq!(unread(claim, sql, &columns, &catalog), expected, "{claim}");
    }

    #[test]
    fn a_name_of_the_claim_has_to_be_read() {
        check("every order_id is unique", &["orders.order_id"], None);
        check("is every Order ID unique", &["orders.order_id"], None);
        check("no customer in orders is missing", &["orders.order_id"], Some("customer"));
        check("no customer in orders is missing", &["orders.customer"], None);
        check("no price in items is below 0", &["orders.price"], Some("items"));
        check("there are at least 5 orders", &[], None);
        check("there are at least 5 items", &[], Some("items"));
    }

    #[test]
    fn a_number_of_the_claim_has_to_be_in_the_statement() {
        let sql = "select * from t where not (a >= 1 and b <= 2.5) and c <= 1000";
        assert_eq!(uncounted("a is at least 1.0, b at most 2.5, and c 1,000.", sql), None);
        assert_eq!(uncounted("at most 7 of them", sql), Some("7"));
        assert_eq!(uncounted("each has at least three of them", sql), Some("three"));
        assert_eq!(uncounted("no two of them, and one is missing", sql), None);
        assert_eq!(uncounted("at least one of them", "where a >= b"), Some("one"));
        assert_eq!(uncounted("no day is after 2011", "day >= date '2012-01-01'"), None);
    }

    #[test]
    fn a_number_of_rows_has_to_be_counted() {
        let catalog = catalog();
        let sql = "select * from orders where not (a >= 1 and b <= 80)";
        for (claim, expected) in [
            ("orders has between 1 and 80 rows", Some("rows")),
            ("at most 5 orders have no customer", Some("orders")),
            ("exactly 1 Item has no order", Some("Item")),
            ("fewer than 1,000 entries are open", Some("entries")),
            ("all rows have a of at least 1", None),
            ("no order is over 5", None),
            ("2024 orders have a customer", None),
            ("each has at least 5 prices", None),
        ] {
            assert_eq!(uncounted_rows(claim, sql, &catalog), expected, "{claim}");
        }
        let counts = "select count(*) from orders having count(*) <> 80";
        assert_eq!(uncounted_rows("orders has 80 rows", counts, &catalog), None);
    }

    #[test]
    fn what_a_claim_computes_has_to_be_computed() {
        let sql = "select * from t where not (a >= 1 and b <= 80)";
        assert_eq!(uncomputed("at most 1% of a is null", sql), Some("1%"));
        assert_eq!(uncomputed("at most half of a is null", sql), Some("half"));
        assert_eq!(
            uncomputed("at most 1% is null", "select 100.0 * n as p where not p <= 1"),
            None
        );
        assert_eq!(uncomputed("a = b * c", "select * from t where a = b and c <= 0"), Some("*"));
        assert_eq!(uncomputed("a = b * c", "select * from t where a <> b * c"), None);
        assert_eq!(uncomputed("a is null or b", sql), Some("or"));
        assert_eq!(uncomputed("a is 1 or more, and on or after b", sql), None);
        assert_eq!(uncomputed("a is 1 or 2", "select * from t where a not in (1, 2)"), None);
        assert_eq!(uncomputed("each a exists in u", sql), Some("exists"));
    }

    #[test]
    fn a_refusal_is_cut_to_its_reason() {
        assert_eq!(reason("I do not know.\n\nI can answer, for example: …"), "I do not know.");
        assert_eq!(
            reason("This may mean:\n\n1. a\n2. b\n\nIn a chat, …"),
            "This may mean: a; or b"
        );
    }
}
