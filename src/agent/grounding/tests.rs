use proptest::prelude::{prop, proptest};
use serde_json::{Value, json};

use csv_agent_testing::cases;
use csv_agent_types::catalog::Dataset;
use csv_agent_types::conversation::Item;
use csv_agent_types::event::CallStatus;
use csv_agent_types::limits::GROUNDS_MAX;

use super::figures::{Purpose, figures};
use super::quotable::Quotable;
use super::{Claims, Grounds};
use crate::prompt::tests::remote;

fn missing_of(grounds: Grounds, text: &str) -> Vec<String> {
    grounds
        .ungrounded(&Claims::of(text, None, std::iter::empty()))
        .into_iter()
        .map(|it| it.text)
        .collect()
}

fn dataset(row_count: u64) -> Dataset {
    let column = json!({"name": "mass_2007", "dtype": "int64", "nulls": 9});
    let dialect = json!({"encoding": "utf-8", "delimiter": ",", "quote": null, "header": true, "reasons": []});
    let dataset = json!({"path": "p", "source": "s", "sha256": "", "bytes": 1, "row_count": row_count,
        "columns": [column], "dialect": dialect, "padded_rows": 0, "surplus_rows": 0, "ingested_at": ""});
    serde_json::from_value(dataset).unwrap()
}

/// Checks a reply against the result of one tool call.
#[track_caller]
fn check(result: &Value, text: &str, missing: &[&str]) {
    let mut grounds = Grounds::default();
    grounds.result(result);
    assert_eq!(missing_of(grounds, text), missing, "{text}");
}

/// Checks a number against one that a tool returned among others, so that nothing is derived from it.
#[track_caller]
fn check_one(shown: &str, value: f64, is_there: bool) {
    let mut grounds = Grounds::default();
    grounds.value(value);
    let missing = missing_of(grounds, &format!("It is {shown} of them"));
    assert_eq!(missing.is_empty(), is_there, "{shown} for {value}: {missing:?}");
}

#[test]
fn a_number_is_read_as_people_of_any_country_write_it() {
    for shown in [
        "1234567.5",
        "1,234,567.5",
        "1.234.567,5",
        "1'234'567.5",
        "1’234’567.5",
        "12,34,567.5",
        "1 234 567,5",
        "1\u{202f}234\u{202f}567,5",
        "1.2345675e6",
        "$1,234,567.5",
        "1.234.567,5 €",
        "1.23 million",
        "1.23M",
        "1.2 million",
        "1,2 Millionen",
        "12.3 lakh",
        "**1,234,567.5**",
    ] {
        check_one(shown, 1_234_567.5, true);
    }
    for shown in
        ["1234568.5", "1,234,56.5", "1.24 million", "1.23 billion", "123456.75", "-1234567.5"]
    {
        check_one(shown, 1_234_567.5, false);
    }
}

#[test]
fn a_number_is_rounded_to_the_digits_it_shows() {
    for (shown, value, is_there) in [
        ("3,701", 3700.66, true),
        ("3,700", 3700.66, false),
        ("about 3,700", 3700.66, true),
        ("~3,700", 3700.66, true),
        ("3.7k", 3700.66, true),
        ("3.8k", 3700.66, false),
        ("3700.7", 3700.66, true),
        ("3700.6", 3700.66, false),
        ("0.25", 0.245, true),
        ("7", 6.8, false),
        ("about 7", 6.8, true),
        ("12", 11.6, true),
        ("12 kg", 12.0, true),
        ("12kg", 12.0, true),
        ("-12", -12.0, true),
        ("12", -12.0, true),
        ("-12", 12.0, false),
        ("−12", -12.0, true),
        ("18.34%", 0.183_412, true),
        ("18.3 %", 0.183_412, true),
        ("18 percent", 0.183_412, true),
        ("18.3%", 18.34, true),
        ("18.4%", 0.183_412, false),
        ("0.1834", 0.183_412, true),
        ("3M", 3e6, true),
        ("2bn", 2.04e9, true),
        ("10–20%", 10.0, false),
    ] {
        check_one(shown, value, is_there);
    }
}

#[test]
fn whole_numbers_beyond_a_float_are_exact() {
    let result = json!({"id": "9007199254740993", "other": 9_007_199_254_740_995_u64});
    check(&result, "9007199254740993 and 9,007,199,254,740,995", &[]);
    check(&result, "9007199254740992", &["9007199254740992"]);
}

#[test]
fn what_names_numbers_or_quotes_claims_nothing() {
    let code = "x = 99\ny = df.head(5)";
    let mut grounds = Grounds::default();
    grounds.quotable.run(code);
    for text in [
        "1. First\n2) Second\n- 3. Third\n## 4. Fourth",
        "`df[df.x > 77]` gives it, as does:\n```\n  x = 99\n```\nand no more",
        "~~~ {.python}\ny = 98\n~~~\n```SQL\nlimit 97\n```\nno more",
        "Column `q77`, `model_2` and Q3 of A320-214, see orders.csv:12 or COVID-19",
        "see https://example.com/2013/12?page=99#a4 or www.example.com/99",
        "[the plot](turns/0001/artifacts/2024_plot_99.png), [not](sandbox:/mnt/data/plot_99.png)",
        "It ranks 17th, as #4, of version 1.22.3",
        "",
        "no number at all",
        "#1. é",
        "#12. x",
    ] {
        assert_eq!(missing_of(grounds.clone(), text), [] as [String; 0], "{text}");
    }
    check(&json!(null), "7 rows are missing", &["7"]);
    check(&json!(null), "#1. 5 apples", &["5"]);
    check(&json!(null), "n=152 (x: 42), `17`, EUR12, 第3名", &["152", "42", "17", "12", "3"]);
}

#[test]
fn dates_and_times_are_those_of_the_data() {
    let result = json!({"head": [{"day": "2013-01-31T09:30:00"}, {"day": "2014-07-04T21:05:00Z"}]});
    for text in [
        "On 2013-01-31 at 9:30",
        "31.01.2013",
        "1/31/2013",
        "January 31, 2013",
        "31. Januar 2013",
        "In 2013 and 2014",
        "2014-07",
        "at 9:05 PM",
        "the 4th of July 2014",
        "2014-07-04T21:05:00Z",
    ] {
        check(&result, text, &[]);
    }
    check(&result, "On 2013-02-01", &["2013-02-01"]);
    check(&result, "February 3, 2015", &["3", "2015"]);
    check(&result, "at 9:31, on day 31", &["9:31", "31"]);
    let hours = json!({"head": [{"hour": 15, "n": 9}]});
    check(&hours, "at 15:00, not at 16:00 or 15:30", &["16:00", "15:30"]);
}

#[test]
fn what_follows_from_a_small_table_is_grounded() {
    let result = json!({"head": [{"a": "x", "n": 120}, {"a": "y", "n": 80}, {"a": "z", "n": 55}]});
    for text in [
        "40 more",
        "33% fewer than x",
        "50% more than y",
        "1.5 times as many",
        "255 in all",
        "x and y have 200 together, 78.4 % of all",
        "3 groups",
        "85 on average",
        "47.1%",
    ] {
        check(&result, text, &[]);
    }
    check(&result, "41 more, 34% fewer, 1.6 times, 256 in all", &["41", "34%", "1.6 times", "256"]);
}

#[test]
fn of_many_numbers_nothing_follows() {
    let rows: Vec<Value> = (0..60).map(|it| json!({"n": 1000 + it * it * 7})).collect();
    let mut grounds = Grounds::default();
    grounds.result(&json!({"head": rows}));
    assert_eq!(missing_of(grounds, "The first two differ by 21, by 0.7%"), ["21", "0.7%"]);
}

#[test]
fn shares_of_a_dataset_follow_from_its_rows() {
    let mut grounds = Grounds::default();
    grounds.dataset("penguins", &dataset(344));
    grounds.text("2");
    let text =
        "2 of 344 rows (0.6%) are odd, 342 are not; 9 lack the mass of 2007; 3 (0.9%) are odd";
    assert_eq!(missing_of(grounds, text), ["3", "0.9%"]);
}

#[test]
fn an_estimate_of_rows_is_no_fact() {
    let mut grounds = Grounds::default();
    grounds.dataset("flights", &remote(&["day"], 336_776));
    let info = json!({"kind": "schema", "row_count_estimate": 336_776});
    grounds.call(CallStatus::Ok, &info);
    grounds.call(CallStatus::Ok, &json!({"kind": "datasets", "datasets": [info]}));
    assert_eq!(missing_of(grounds.clone(), "There are 336,776 rows."), ["336,776"]);
    grounds.call(CallStatus::Ok, &json!({"kind": "value", "text": "336776"}));
    assert_eq!(missing_of(grounds, "There are 336,776 rows."), [""; 0]);
}

#[test]
fn a_choice_in_code_is_grounded_and_a_remark_is_not() {
    let mut grounds = Grounds::default();
    grounds.code("x = df.quantile(0.95)  # 77 rows\ntop = df[df.day < '2020-01-31'].head(5)");
    let text = "the top 5 of the 95th, before 2020-01-31; 77 rows, 1 more";
    assert_eq!(missing_of(grounds, text), ["77", "1"]);
}

#[test]
fn a_number_in_a_statement_is_grounded_and_a_remark_in_it_is_not() {
    let mut grounds = Grounds::default();
    grounds.statement(
        "select round(avg(mass), 12) as m from penguins -- 77 rows\nwhere mass > 5000 and day >= date '2006-01-01'",
    );
    let text = "over 5,000, since 2006-01-01; 77 rows, and 12";
    assert_eq!(missing_of(grounds, text), ["77", "12"]);
}

#[test]
fn a_text_may_count_what_it_lists() {
    check(&json!(null), "There are 3 issues:\n\n- a\n- b\n- c\n\nAnd 4 more.", &["4"]);
    check(&json!(null), "These 3 of 2:\n\n1. a\n\n2. b\n\n3. c", &["2"]);
    let table = "| x |\n|---|\n| a |\n| b |\n";
    check(&json!(null), &format!("2 and 2, not 6:\n\n{table}\n{table}"), &["6"]);
}

#[test]
fn where_a_number_stands_is_counted_in_letters() {
    let missing = Grounds::default().ungrounded(&Claims::of(
        "Größe **42** cm",
        None,
        [(3, "ä 7 %")].into_iter(),
    ));
    let told: Vec<_> = missing.iter().map(|it| (it.text.as_str(), it.offset, it.finding)).collect();
    assert_eq!(told, [("42", 8, None), ("7 %", 2, Some(3))]);
}

#[test]
fn of_more_numbers_than_are_kept_the_first_are() {
    let mut grounds = Grounds::default();
    grounds.value(9e15);
    for it in 0..GROUNDS_MAX as u64 {
        grounds.count(7 * it);
    }
    grounds.dataset("sales", &dataset(1));
    assert_eq!(grounds.row_counts, [1.0]);
    assert_eq!(missing_of(grounds, "9000000000000000 of 14 and 139999999"), ["139999999"]);
}

#[test]
fn hostile_input_takes_no_time_and_no_room() {
    let began = std::time::Instant::now();
    let mut grounds = Grounds::default();
    let row = |at: usize| json!((0..100).map(|it| json!(at * 100 + it)).collect::<Vec<_>>());
    grounds.result(&Value::Array((0..2_000).map(row).collect()));
    let text = "12345678 ".repeat(100_000)
        + &"9".repeat(100_000)
        + &",1".repeat(100_000)
        + &"`\"“".repeat(10_000);
    let missing = missing_of(grounds, &text);
    assert_eq!(missing.len(), 100);
    let mut grounds = Grounds::default();
    grounds.text(&text);
    assert_eq!(missing_of(grounds, &text), [] as [String; 0]);
    let long = format!("7{}", "a".repeat(100_000));
    assert_eq!(missing_of(Grounds::default(), &long), [long[..60].to_owned()]);
    // Quadratic time would take hours.
    assert!(began.elapsed().as_secs() < 300, "{:?}", began.elapsed());
}

proptest! {
    #![proptest_config(cases(2_000))]

    /// Fragments of real replies, so that the cases are not all noise.
    #[test]
    fn whatever_a_reply_says_its_figures_are_read_to_the_end(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "1", "12", "2013", "7", ".", ",", ")", "#", "-", "−", "+", "*", ">", "|", " ", "\n", "é", "x",
                "`", "```", "~~~", "\"", "“", "”", "„", "«", "»", "'", "’", ":", "/", "://", "e", "T", "Z",
                "%", "$", "€", "₹", "USD", "k", "m", "million", "th", "May", "of", "about", "Q3", "\u{a0}",
            ]),
            0..24,
        ),
        noise in ".{0,12}",
    ) {
        let text = pieces.concat() + &noise + &pieces.concat();
        let quotable = Quotable::default();
        for purpose in [Purpose::Claims(&quotable), Purpose::Everything] {
            let mut end = 0;
            for (range, _) in figures(&text, purpose) {
                assert!(end <= range.start && text.get(range.clone()).is_some(), "{range:?} of {text}");
                end = range.end;
            }
        }
    }
}

#[test]
fn a_fence_that_is_no_code_hides_nothing() {
    let text = "```text\nTea 98765\n```\nand\n```\nx = 99\n```\n~~~\n```\n77\n~~~\n1. and 42";
    check(&json!(null), text, &["98765", "99", "77", "42"]);
    check(&json!({"n": 98765}), "```\nTea 98,765\n```", &[]);
}

#[test]
fn a_quotation_claims_unless_it_was_told() {
    let found = json!({"kind": "text", "text": "Windows 95, Area 51"});
    for text in ["“Windows 95” and \"Area 51\"", "«Area 51» and „Windows 95“"] {
        check(&found, text, &[]);
        assert_eq!(missing_of(Grounds::default(), text).len(), 2, "{text}");
    }
}

#[test]
fn what_the_model_wrote_grounds_nothing() {
    let mut grounds = Grounds::default();
    let none = json!({"kind": "matches", "name": "t", "value": "Area 111", "columns": []});
    let found = json!({"kind": "matches", "name": "t", "value": "222", "columns": [{"name": "n", "rows": 3}]});
    let sent = json!({"kind": "table_sent", "logical_name": "top_333 40471", "row_count": 12});
    grounds.call(CallStatus::Ok, &none);
    grounds.call(CallStatus::Ok, &found);
    grounds.call(CallStatus::Ok, &sent);
    let error = json!({"kind": "error", "text": "KeyError: Total 555", "stdout": "sum 666"});
    grounds.call(CallStatus::Error, &error);
    let text = "111, 222, 40471, 555, 666, 12";
    assert_eq!(missing_of(grounds.clone(), text), ["111", "40471", "555"]);
    // A reply may repeat the output of a tool as a quotation.
    assert_eq!(missing_of(grounds, "\"Area 111\" and “Total 555” are missing"), [] as [String; 0]);
    let mut earlier = Grounds::default();
    for output in [format!("{error}\n\n(a note)"), none.to_string(), sent.to_string()] {
        earlier.item(&Item::output("c", &output));
    }
    assert_eq!(missing_of(earlier, text), ["111", "222", "40471", "555"]);
}

#[test]
fn what_code_printed_at_the_provider_grounds_and_what_is_told_of_the_run_does_not() {
    let run = |logs: &str| {
        let outputs = json!([{"type": "logs", "logs": logs}]);
        Item(json!({"type": "code_interpreter_call", "id": "ci_1", "status": "completed",
            "container_id": "cntr_777", "code": "8123", "outputs": outputs}))
    };
    let failed = "sum 666\nTraceback (most recent call last):\nKeyError: 555";
    let result = json!({"kind": "text", "text": "total 222", "container_id": "cntr_777",
        "files": [{"name": "image_333.png", "bytes": 444}]});
    let mut now = Grounds::default();
    now.call(CallStatus::Ok, &result);
    assert_eq!(missing_of(now, "222, 333, 444, 777"), ["333", "444", "777"]);
    let mut earlier = Grounds::default();
    earlier.item(&run("total 222"));
    earlier.item(&run(failed));
    assert_eq!(missing_of(earlier, "222, 555, 666, 777, 8123"), ["555", "777", "8123"]);
}

#[test]
fn json_is_read_leaf_by_leaf() {
    let answer =
        json!({"answer": "Revenue was 98765 kr", "n": -77, "ok": true, "by 2013": [12, "x\n42"]});
    let mut grounds = Grounds::default();
    grounds.json(&json!({"properties": {"by 2013": {}}}));
    let told = |text: &str, output: Option<&Value>| -> Vec<(String, u64, Option<String>)> {
        let missing = grounds.clone().ungrounded(&Claims::of(text, output, std::iter::empty()));
        missing.into_iter().map(|it| (it.text, it.offset, it.path)).collect()
    };
    let place = |text: &str, at, path: &str| (text.to_owned(), at, Some(path.to_owned()));
    let expected = [
        place("98765", 12, "$.answer"),
        place("77", 1, "$.n"),
        place("12", 0, "$[\"by 2013\"][0]"),
        place("42", 2, "$[\"by 2013\"][1]"),
    ];
    assert_eq!(told(&answer.to_string(), Some(&answer)), expected);
    assert_eq!(told(&answer.to_string(), None), expected);
    // Next to a text for people.
    assert_eq!(told("All is well", Some(&answer)), expected);
    assert_eq!(told("[]", Some(&answer)), expected);
    assert_eq!(told("7", Some(&json!(7))), [place("7", 0, "$")]);
}
