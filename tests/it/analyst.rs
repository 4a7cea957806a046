//! The built-in analyst, through the binary: no key, no network, the same tools.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::bench::{Bench, Run, is_slow_run};

/// Asks over the tables of the question corpus, in a session of its own.
fn ask(tables: &[&str], commands: &str) -> Run {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analyst/tables");
    let bench = Bench::with([]);
    let files: Vec<String> =
        tables.iter().map(|it| format!("'{}'", root.join(it).display())).collect();
    let script = format!(
        "csv-agent ingest -q --null NA {} > /dev/null && export CSV_AGENT_MODEL=builtin && {commands}",
        files.join(" ")
    );
    bench.shell(&script, &[])
}

#[test]
fn an_answer_says_what_it_is_and_how_the_question_was_read() {
    let run =
        ask(&["penguins.csv"], "csv-agent ask 'average body mass by species, top 2'").succeeds();
    assert_eq!(
        run.stdout(),
        "| species | mean_body_mass_g |\n|---|---:|\n| Gentoo | 5076.0163 |\n| Chinstrap | 3733.0882 |\n\n\
         **Gentoo** has the highest average body mass, 5,076.02 g, then Chinstrap (3,733.09 g).\n\n\
         I read this as: mean `body_mass_g` by `species` in `penguins`, the 2 largest.\n"
    );
}

#[test]
fn a_single_number_is_a_table_for_a_program_that_reads_one() {
    let csv = "csv-agent ask --format csv 'how many penguins'";
    assert_eq!(ask(&["penguins.csv"], csv).succeeds().stdout(), "count\n344\n");
    let required = "csv-agent ask --require table 'how many penguins'";
    assert!(ask(&["penguins.csv"], required).succeeds().stdout().starts_with("| count |"));
    let text = ask(&["penguins.csv"], "csv-agent ask 'how many penguins'").succeeds();
    assert!(!text.stdout().contains("| count |"), "{text}");
}

#[test]
fn a_claim_about_values_is_judged() {
    let only = "csv-agent ask --fail-on bad 'species should only be Adelie, Gentoo or Chinstrap'";
    ask(&["penguins.csv"], only).succeeds();
    ask(&["penguins.csv"], "csv-agent ask --fail-on bad 'species must be Adelie or Gentoo'")
        .fails_with(11);
}

#[test]
fn a_question_that_is_not_understood_is_refused_with_questions_that_are() {
    let run = ask(&["penguins.csv"], "csv-agent ask 'average salary by species'").fails_with(9);
    let text = run.stdout();
    assert!(text.starts_with("I do not recognize “salary” in this data."), "{text}");
    assert_eq!(text.lines().filter(|it| it.starts_with("- ")).count(), 3, "{text}");
}

#[test]
fn a_name_that_fits_two_columns_is_not_chosen_silently() {
    let both =
        ask(&["penguins.csv"], "csv-agent ask --format csv 'average bill by species'").succeeds();
    let header = both.stdout().lines().next().unwrap();
    assert_eq!(header, "species,mean_bill_length_mm,mean_bill_depth_mm");
    let run = ask(&["penguins.csv"], "csv-agent ask 'penguins with a bill over 50'").fails_with(9);
    let lines: Vec<&str> = run.stdout().lines().collect();
    let has = |name: &str| lines.iter().any(|it| it.starts_with(['1', '2']) && it.contains(name));
    assert_eq!(lines[0], "This may mean:", "{run}");
    assert!(has("`bill_length_mm`") && has("`bill_depth_mm`"), "{run}");
}

/// A question with several readings.
const BILLS: &str = "penguins with a bill over 50";

#[test]
fn readings_that_are_offered_are_data() {
    let document = |question: &str| {
        let commands = format!("csv-agent ask --json '{question}'; test $? -le 9");
        serde_json::from_str::<Value>(ask(&["penguins.csv"], &commands).succeeds().stdout())
            .unwrap()
    };
    let unsure = document(BILLS);
    assert_eq!(unsure["stop_reason"], "refused");
    let choices: Vec<&str> =
        unsure["choices"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(choices[1], "rows in `penguins` with `bill_depth_mm` over 50");
    let numbered: Vec<String> =
        choices.iter().zip(1..).map(|(it, n)| format!("{n}. {it}")).collect();
    assert_eq!(unsure["text"], format!("This may mean:\n\n{}", numbered.join("\n")));
    for question in ["how many penguins", "average salary by species"] {
        assert_eq!(document(question)["choices"], serde_json::json!([]), "{question}");
    }
    // They are in the event too, and in nothing that a model of a later turn gets.
    let commands = format!(
        "csv-agent ask --format jsonl '{BILLS}' | grep '\"type\":\"reply\"' && cd \"$CSV_AGENT_SESSION_DIR\" \
         && grep -q 'This may mean' history.jsonl && ! grep choices history.jsonl"
    );
    let run = ask(&["penguins.csv"], &commands).succeeds();
    assert_eq!(run.events().last().unwrap()["choices"], unsure["choices"], "{run}");
}

#[test]
fn a_reading_is_picked_as_the_hint_says() {
    let told = |commands: &str| {
        let run = ask(&["penguins.csv"], commands).succeeds();
        (run.stdout().to_owned(), run.stderr().to_owned())
    };
    let (offered, hint) = told(&format!("csv-agent ask '{BILLS}' || test $? = 9"));
    assert!(
        hint.ends_with("  hint: pick a reading with `--pick N`, or ask with more words\n"),
        "{hint}"
    );
    let (picked, _) = told(&format!("csv-agent ask '{BILLS}' --pick 2"));
    assert!(picked.starts_with("There are no rows where bill depth is over 50 mm."), "{picked}");
    // The same after it was offered, and in a chat.
    let again = format!("csv-agent ask -q '{BILLS}'; csv-agent ask '{BILLS}' --pick 2");
    assert_eq!(told(&again).0, format!("{offered}{picked}"));
    let chat = format!("printf '{BILLS}\n2\n' | csv-agent chat || test $? = 9");
    let (both, hint) = told(&chat);
    assert_eq!(both, format!("{offered}{picked}"));
    assert!(
        hint.ends_with("  hint: answer with the number of a reading, or ask with more words\n"),
        "{hint}"
    );
    // What follows takes up the reading, and it was one turn.
    let follows = format!(
        "csv-agent ask -q '{BILLS}' --pick 1 > /dev/null && csv-agent ask --format csv 'and by species?' \
         && ls \"$CSV_AGENT_SESSION_DIR/turns\" | wc -l"
    );
    assert_eq!(told(&follows).0, "species,count\nChinstrap,30\nGentoo,22\n2\n");
    // A table has no place for the readings, so the error has them.
    let csv = format!("csv-agent ask --format csv '{BILLS}' || test $? = 9");
    let (table, error) = told(&csv);
    assert_eq!(table, "");
    assert!(error.contains("hint: 2. rows in") && error.contains("`--pick N`"), "{error}");
}

#[test]
fn only_a_reading_that_is_offered_can_be_picked() {
    let refused = |pick: &str, code: i32| {
        let run = ask(&["penguins.csv"], &format!("csv-agent ask {pick}")).fails_with(code);
        (run.stdout().to_owned(), run.stderr().to_owned())
    };
    let (text, hint) = refused(&format!("'{BILLS}' --pick 4"), 9);
    assert!(text.starts_with("There is no reading 4. This may mean:\n\n1. rows in"), "{text}");
    assert!(hint.contains("`--pick N`"), "{hint}");
    let (text, hint) = refused("'average body mass by species' --pick 1", 9);
    let sure = "I am sure what this question means, so it has no readings to pick from. Ask it without `--pick`.\n";
    assert_eq!(text, sure);
    assert!(!hint.contains("hint:"), "{hint}");
    let (text, _) = refused("'average salary by species' --pick 1", 9);
    assert!(text.starts_with("I do not recognize “salary” in this data."), "{text}");
    let (_, error) = refused(&format!("'{BILLS}' --pick 0"), 2);
    assert!(error.contains("write a whole number from 1 to 10"), "{error}");
    let (text, error) = refused(&format!("'{BILLS}' --pick 1 --model gpt-6.2-sol"), 2);
    assert_eq!(
        (text.as_str(), error.as_str()),
        (
            "",
            "error: `--pick`: only the built-in analyst offers readings to pick from\n  \
             hint: leave out `--pick`, or ask the built-in analyst with `--model builtin`\n"
        )
    );
}

#[test]
fn what_is_not_there_is_not_counted() {
    let bench = Bench::with([]);
    let trial = "treatment,death_date\nplacebo,2020-01-02\nplacebo,\ndrug,2020-02-03\n";
    fs::write(bench.path("trial.csv"), trial).unwrap();
    let question = "number of deaths per treatment";
    let script = format!("csv-agent ask --model builtin --format csv -f trial.csv '{question}'");
    let run = bench.shell(&script, &[]).fails_with(9);
    let offered = "1. number of values of `death_date` by `treatment`";
    assert!(run.stderr().contains(offered), "{}", run.stderr());
}

#[test]
fn a_group_without_a_value_has_none() {
    let bench = Bench::with([]);
    fs::write(bench.path("teams.csv"), "team,bonus\nA,\nB,5\nC,\nC,\n").unwrap();
    let run = bench.shell(
        "export CSV_AGENT_MODEL=builtin && csv-agent ingest -q teams.csv > /dev/null \
         && csv-agent ask --format csv 'total bonus by team' && csv-agent ask --format reply 'total bonus by team'",
        &[],
    );
    let told = run.succeeds().stdout().to_owned();
    assert!(
        told.starts_with(
            "team,total_bonus\nA,\nB,5\nC,\nOnly **B** has a value: the total bonus is 5."
        ),
        "{told}"
    );
    // What is claimed of each is judged where there is a value, and that is said.
    let run = bench.shell(
        "csv-agent ask --model builtin --format reply --fail-on bad 'every bonus is at least 5'",
        &[],
    );
    let said = "Yes: in every row that has bonus (1 of 4), bonus is at least 5.\n";
    let told = run.succeeds().stdout().to_owned();
    assert!(told.starts_with(said), "{told}");
}

#[test]
fn what_cannot_be_computed_is_no_answer() {
    let bench = Bench::with([]);
    let rows = "host,bytes,none\na,9000000000000000000,\n".to_owned()
        + &"b,9000000000000000000,\n".repeat(9);
    fs::write(bench.path("log.csv"), rows).unwrap();
    let told = |question: &str| {
        let script = format!("csv-agent ask --model builtin --ephemeral -f log.csv '{question}'");
        bench
            .shell(&script, &[])
            .fails_with(9)
            .stdout()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    // Ten times that is more than 64 bits hold.
    let wraps = "I could not compute the answer: a whole number is beyond 64 bits";
    for question in ["total bytes", "total bytes by host"] {
        assert_eq!(told(question), wraps, "{question}");
    }
    for question in ["total bytes is above 0", "share of bytes by host"] {
        assert!([wraps, "This may mean:"].contains(&told(question).as_str()), "{question}");
    }
    // The last digit counts.
    assert!(told("how many rows with bytes 9000000000000000001").starts_with("I do not recognize"));
    assert_eq!(told("average none"), "`none` has no values, so there is nothing to calculate.");
    let long = told(&"ts ".repeat(300));
    assert!(long.starts_with("The question has 300 words"), "{long}");
}

#[test]
fn many_like_files_can_be_asked_about() {
    let bench = Bench::with([]);
    for month in 1..=8 {
        let row = |day: u32| {
            let store = if day.is_multiple_of(2) { "Berlin" } else { "Rome" };
            format!("2024-0{month}-{day},{store},{},{day}.5\n", day % 7 + 1)
        };
        let rows: String = (10..28).map(row).collect();
        let file = bench.path(&format!("sales_0{month}.csv"));
        fs::write(file, format!("day,store,units,amount\n{rows}")).unwrap();
    }
    let script = "csv-agent ask --model builtin --ephemeral -f . 'total amount in sales_02'";
    assert!(bench.shell(script, &[]).succeeds().stdout().contains("342"));
}

#[test]
fn rows_without_a_value_are_told() {
    let bench = Bench::with([]);
    fs::write(bench.path("c.csv"), "id,country\n1,DE\n2,DE\n3,FR\n4,\n5,\n6,\n").unwrap();
    let missing = "`country` is missing in 3 of 6 rows; these are not counted.";
    for (question, parts, note) in [
        ("share of rows by country", "share of the rows with a country, 66.7 %", false),
        ("share of DE", "(2 of 6 rows)", false),
        ("how many rows are not DE", "**1** row", true),
        ("how many rows are from DE", "**2** rows", false),
    ] {
        let script = format!("csv-agent ask --model builtin --ephemeral -f c.csv '{question}'");
        let run = bench.shell(&script, &[]).succeeds();
        assert!(run.stdout().contains(parts), "{question}: {run}");
        assert_eq!(run.stdout().contains(missing), note, "{question}: {run}");
    }
}

#[test]
fn every_question_that_is_suggested_is_answered() {
    let bench = Bench::with([]);
    fs::write(bench.path("years.csv"), "country,2019,2020\nChad,1,2\nPeru,3,4\n").unwrap();
    let run = bench.shell(
        "export CSV_AGENT_MODEL=builtin && csv-agent ingest -q years.csv > /dev/null && csv-agent ask zork; test $? = 9",
        &[],
    );
    let questions: Vec<String> = run
        .succeeds()
        .stdout()
        .lines()
        .filter_map(|it| it.strip_prefix("- "))
        .map(str::to_owned)
        .collect();
    assert_eq!(questions[0], "average \"2019\" by \"country\", top 5");
    for question in questions {
        bench.shell(&format!("csv-agent ask --model builtin '{question}'"), &[]).succeeds();
    }
}

#[test]
fn a_check_is_a_gate_without_a_model() {
    let commands = |question: &str| format!("csv-agent ask --json --fail-on bad '{question}'");
    let good = ask(&["airlines.csv"], &commands("are there duplicate carriers?")).succeeds();
    let document: Value = serde_json::from_str(good.stdout()).unwrap();
    assert_eq!(document["assessment"], "good", "{document}");
    let bad = ask(&["penguins.csv"], &commands("is any body mass over 6000?")).fails_with(11);
    let document: Value = serde_json::from_str(bad.stdout()).unwrap();
    assert_eq!(document["findings"][0]["message"], "In 2 of 344 rows, body mass is over 6,000 g.");
    assert_eq!(document["findings"][0]["column"], "body_mass_g");
    // What is no check has no verdict, and passes no gate.
    ask(&["penguins.csv"], &commands("average body mass")).fails_with(9);
}

#[test]
fn two_claims_in_one_sentence_pass_no_gate() {
    let bench = Bench::with([]);
    let rows = "order_id,amount,price,customer\n1,5,2,Ada\n2,-118,-3,Bob\n2,7,1,\n";
    fs::write(bench.path("orders.csv"), rows).unwrap();
    let claims = [
        "no amount below 0 and no customer is missing",
        "no amount below 0, no customer is missing",
        "no amount below 0; no customer is missing",
        "order_id is unique and no amount below 0",
        "order_id is unique. no amount below 0.",
        "order_id is never empty and amount is positive",
        "no amount below 0 and no price below 0",
        "there are no duplicate rows and no amount below 0",
    ];
    for claim in claims {
        let script = format!(
            "csv-agent ask --ephemeral -f orders.csv --model builtin --fail-on bad --format reply '{claim}'"
        );
        let run = bench.shell(&script, &[]).fails_with(9);
        assert!(
            run.stdout().starts_with("This claims two things at once."),
            "{claim}: {}",
            run.stdout()
        );
    }
    // What is said of one claim stays one.
    for claim in ["every price is between -5 and 5", "customer is one of Ada, Bob"] {
        let script = format!(
            "csv-agent ask --ephemeral -f orders.csv --model builtin --fail-on bad --format reply '{claim}'"
        );
        bench.shell(&script, &[]).succeeds();
    }
}

#[test]
fn words_that_turn_a_claim_pass_no_gate() {
    let bench = Bench::with([]);
    let rows = "id,qty,status,start,end,active\n1,-5,void,2024-02-05,2024-02-01,no\n1,0,void,2024-03-05,2024-03-01,yes\n";
    fs::write(bench.path("rows.csv"), rows).unwrap();
    let ask = |claim: &str| {
        let ask = "csv-agent ask --ephemeral -f rows.csv --model builtin --fail-on bad";
        bench.shell(&format!("{ask} \"{claim}\""), &[])
    };
    // No row keeps any of these; what is not read is refused.
    for claim in [
        "no duplicate ids",
        "qty isn't negative or zero",
        "qty cannot be below 1",
        "qty is never 0",
        "qty should not be 0",
        "end is not before start",
        "start is never after end",
        "none of the qty are below 1",
        "qty is outside -10 to 10",
        "no status is void or cancelled",
        "no qty or discount is below 0",
        "total qty of void rows is over 0",
    ] {
        let run = ask(claim);
        assert!([Some(9), Some(11)].contains(&run.code()), "{claim}: {run}");
    }
    for claim in ["there are at least 3 rows", "there is 1 row", "there are more than 2 void rows"]
    {
        ask(claim).fails_with(11);
    }
    for claim in [
        "there are 2 rows",
        "there is at least 1 void row",
        "every qty is below 1",
        "no qty above 0",
        "qty is never above 0",
        "fail if qty is positive",
    ] {
        ask(claim).succeeds();
    }
}

#[test]
fn a_line_for_each_value_of_a_second_key_is_drawn_whatever_its_type() {
    for [one, other] in [
        ["a", "it's"],
        ["2024-01-02", "2024-02-03"],
        ["08:00:00", "09:30:00"],
        ["2024-01-02 08:00:00", "2024-01-03 09:00:00"],
        ["2024-01-02T08:00:00Z", "2024-01-03T09:00:00Z"],
    ] {
        let bench = Bench::with([]);
        let row = |it: usize| [format!("{},{},{it}\n", it / 2, [one, other][it % 2])];
        let rows = (0..12).flat_map(row).collect::<String>();
        fs::write(bench.path("rows.csv"), format!("level,kind,amount\n{rows}")).unwrap();
        let ask = "csv-agent ask --ephemeral -f rows.csv --model builtin --json";
        let ask = format!("{ask} 'total amount by level and kind as a line chart'");
        let run = bench.shell(&ask, &[]).succeeds();
        let answer: Value = serde_json::from_str(run.stdout()).unwrap();
        let text = answer["text"].as_str().unwrap();
        assert!(!text.contains("There is no chart"), "{one}: {text}");
        assert_eq!(answer["charts"].as_array().unwrap().len(), 1, "{one}: {text}");
    }
}

#[test]
fn a_claim_that_fits_several_columns_is_refused() {
    let bench = Bench::with([]);
    let rows =
        "order_date,ship_date,unit_price,list_price\n2024-01-02,,1,0\n2024-01-03,2024-01-04,2,-1\n";
    fs::write(bench.path("rows.csv"), rows).unwrap();
    for (claim, status) in [
        ("no date is missing", 9),
        ("every date is present", 9),
        ("no price is below 0", 9),
        ("every price is unique", 9),
        ("no order date is missing", 0),
        ("no ship date is missing", 11),
        ("no list price is below 0", 11),
        ("every unit_price is unique", 0),
        ("ship_date is after order_date", 0),
        ("every ship date is before the order date", 11),
        ("no ship date is before its order date", 0),
        ("no ship date is after its order date", 11),
        ("ship date is never before order date", 0),
        ("ship date is never after order date", 11),
        ("every ship date is on or after the order date", 0),
        ("ship_date is no earlier than order_date", 0),
        ("order_date is on or before ship_date", 0),
        ("order_date is no earlier than ship_date", 11),
    ] {
        let ask = "csv-agent ask --ephemeral -f rows.csv --model builtin --fail-on bad";
        let run = bench.shell(&format!("{ask} \"{claim}\""), &[]);
        assert_eq!(run.code(), Some(status), "{claim}: {run}");
    }
}

#[test]
fn every_value_is_in_the_table_that_is_referred_to() {
    let tables = ["flights.csv", "airlines.csv"];
    let question =
        "csv-agent ask --json --fail-on bad 'does every flight have a carrier in airlines?'";
    let run = ask(&tables, question).succeeds();
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(document["assessment"], "good", "{document}");
}

/// Returns how questions of one chat are read, without the table.
#[track_caller]
fn read_in_chat(questions: &str) -> Vec<String> {
    let commands = format!("printf '{questions}' | csv-agent chat --format jsonl");
    let run = ask(&["penguins.csv"], &commands).succeeds();
    let events = run.events();
    let replies =
        events.iter().filter(|it| it["type"] == "reply").filter_map(|it| it["text"].as_str());
    let reading = |it: &str| {
        let reading = it.split("I read this as: ").nth(1).unwrap_or(it);
        reading.split(['.', '\n']).next().unwrap().replace(" in `penguins`", "")
    };
    replies.map(reading).collect()
}

#[test]
fn a_question_that_says_all_takes_up_nothing() {
    let questions = "body mass by species\nflipper length by island\nbody mass by island\nhow many penguins?\n\
                     body mass by sex\n";
    assert_eq!(
        read_in_chat(questions),
        [
            "mean `body_mass_g` by `species`",
            "mean `flipper_length_mm` by `island`",
            "mean `body_mass_g` by `island`",
            "number of rows",
            "mean `body_mass_g` by `sex`",
        ]
    );
}

#[test]
fn a_question_takes_up_the_one_before() {
    let questions = "average body mass by species\nand by island?\nonly Biscoe\nand the median?\n";
    assert_eq!(
        read_in_chat(questions),
        [
            "mean `body_mass_g` by `species`",
            "mean `body_mass_g` by `island`",
            "mean `body_mass_g` by `island` where `island` is Biscoe",
            "median `body_mass_g` by `island` where `island` is Biscoe",
        ]
    );
}

#[test]
fn its_code_is_what_an_analyst_would_write() {
    let run = ask(
        &["penguins.csv"],
        "csv-agent ask 'how many adelie penguins on torgersen are heavier than 4000 g' > /dev/null && \
         cat $CSV_AGENT_SESSION_DIR/turns/0001/code.py",
    )
    .succeeds();
    let code = run.stdout();
    assert_eq!(
        code,
        "# %%\n# SQL of result:\n# select count(*) as \"count\"\n# from penguins\n\
         # where species = 'Adelie' and island = 'Torgersen' and body_mass_g > 4000\n",
        "what it looked up is not there"
    );
}

#[test]
fn what_needs_a_server_is_refused_with_the_reason() {
    for (flags, words) in [
        ("--base-url http://127.0.0.1:9/v1", "`--base-url`: the built-in analyst uses no server"),
        ("--chain", "`--chain`: the built-in analyst uses no server"),
        ("--record q.cass.jsonl", "`--record`: the built-in analyst has no exchange to record"),
    ] {
        let run =
            ask(&["airlines.csv"], &format!("csv-agent ask {flags} 'how many rows'")).fails_with(2);
        assert!(run.stderr().contains(words), "{}", run.stderr());
    }
    ask(&["airlines.csv"], "csv-agent ask --max-cost 0.01 'how many rows'").succeeds();
}

/// Asks every fourth question of the corpus: hardly an answer may be wrong, and most must be right.
#[test]
fn few_answers_are_wrong() {
    if !is_slow_run() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = root.join("benches/analyst.py");
    // By the first letter of the table's name: one run of all takes longer than a run may.
    let (mut n_right, mut n_wrong, mut n_all) = (0, 0, 0);
    let mut told = String::new();
    for names in ["[a-c]*", "[d-g]*", "[h-r]*", "s*", "[t-z]*"] {
        let script = script.display();
        let ask = format!(
            "python3 '{script}' \"$(command -v csv-agent)\" --table '{names}' --every 4 --show wrong"
        );
        let run = Bench::with([]).shell(&ask, &[]).succeeds();
        let line = run.stdout().lines().find(|it| it.starts_with("| all ")).unwrap();
        let numbers: Vec<usize> = line.split(['|', ' ']).filter_map(|it| it.parse().ok()).collect();
        let [all, right, _, wrong] = numbers[..] else { panic!("{line}") };
        (n_all, n_right, n_wrong) = (n_all + all, n_right + right, n_wrong + wrong);
        told += run.stdout();
    }
    assert!(180 < n_all, "{n_all} questions");
    assert!(n_wrong * 25 <= n_all, "{n_wrong} of {n_all} are wrong:\n{told}");
    assert!(n_all <= n_right * 2, "{n_right} of {n_all} are right:\n{told}");
}

#[test]
fn a_whole_question_is_not_about_the_rows_of_the_one_before() {
    let bench = Bench::with([]);
    fs::write(bench.path("orders.csv"), "region,total\neast,10\neast,20\nwest,7\n").unwrap();
    bench.run(["ingest", "orders.csv"]).succeeds();
    for (question, answer) in [
        ("total of east", "**30**"),
        ("how many rows", "**3**"),
        ("how many rows are there?", "**3**"),
        ("total of west", "**7**"),
        // This goes on.
        ("how many?", "**1**"),
    ] {
        let run =
            bench.run(["ask", "--model", "builtin", "--format", "reply", question]).succeeds();
        assert!(run.stdout().contains(answer), "{question}: {run}");
    }
}

#[test]
fn after_a_refusal_a_whole_question_is_answered() {
    let bench = Bench::with([]);
    fs::write(bench.path("orders.csv"), "region,total\neast,10\neast,20\nwest,\n").unwrap();
    bench.run(["ingest", "orders.csv"]).succeeds();
    let ask =
        |question: &str| bench.run(["ask", "--model", "builtin", "--format", "reply", question]);
    for question in [
        "are there duplicate rows?",
        "how many missing values are in each column?",
        "how many rows are there",
        "which columns are there?",
        "total by region",
    ] {
        ask("what is the weather").fails_with(9);
        ask(question).succeeds();
    }
    ask("what is the weather").fails_with(9);
    // What goes on with a question that was not understood has no answer.
    ask("and by region?").fails_with(9);
}

#[test]
fn charts_of_single_values_and_of_two_kinds_of_groups_are_drawn() {
    let bench = Bench::with([]);
    let row = |it: usize| {
        let (hour, kind) = (it % 24, ["a", "b"][it % 2]);
        format!(
            "2024-01-{:02} {hour:02}:00:00,{kind},{}.5,{}\n",
            it / 24 + 1,
            it * it % 97,
            [-2, -1, 0, 1, 2][it % 5]
        )
    };
    let rows: String = (0..480).map(row).collect();
    fs::write(bench.path("rides.csv"), format!("started,kind,fare,balance\n{rows}")).unwrap();
    let charts = |question: &str| {
        let ask = "csv-agent ask --ephemeral -f rides.csv --model builtin --json";
        let run = bench.shell(&format!("{ask} '{question}'"), &[]).succeeds();
        let answer: Value = serde_json::from_str(run.stdout()).unwrap();
        let charts = answer["charts"].as_array().unwrap().iter();
        charts.map(|it| it["chart_type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (question, kind) in [
        ("distribution of fare", "histogram"),
        ("distribution of fare by kind", "box"),
        ("box plot of fare by kind", "box"),
        ("heat map of average fare by weekday and hour", "heatmap"),
        ("total fare by weekday and kind as 100 % stacked columns", "percent_stacked_column"),
        ("total fare by day as an area chart", "area"),
        // Areas below zero do not add up.
        ("total balance by day and kind as an area chart", "line"),
        ("pie chart of rides by kind", "percent_stacked_column"),
    ] {
        assert_eq!(charts(question), [kind], "{question}");
    }
}

#[test]
fn names_that_the_user_gives_are_read_and_what_is_of_no_use_is_said_once() {
    let bench = Bench::with([]);
    let rows = "product,price,units,status\nlamp,2,3,open\ndesk,50,1,closed\nlamp,4,2,closed\n";
    fs::write(bench.path("orders.csv"), rows).unwrap();
    let notes = "# Words\n- revenue = price × units\n- goods means product\n- deals: rows of orders\n\
                 - done: status is closed\nPrices include tax.\n";
    fs::write(bench.path("notes.md"), notes).unwrap();
    bench.run(["ingest", "-q", "orders.csv"]).succeeds();
    let ask = |question: &str| {
        let flags = ["ask", "--model", "builtin", "--format", "reply", "--knowledge", "notes.md"];
        bench.run(flags.into_iter().chain([question])).succeeds().stdout().to_owned()
    };
    let unused =
        "I could not use this part of your description of the data: “Prices include tax.”.";
    let first = ask("total revenue");
    assert!(first.contains("**64**") && first.contains(unused), "{first}");
    for (question, part) in [
        ("which goods have the highest revenue?", "**desk** has the highest"),
        ("how many deals?", "**3** rows"),
        ("how many done", "**2** rows"),
        ("orders with revenue over 10", "**1** row"),
    ] {
        let text = ask(question);
        assert!(text.contains(part) && !text.contains(unused), "{question}: {text}");
    }
}

/// Asks about a file of its own.
fn ask_file(name: &str, content: &str, commands: &str) -> Run {
    let bench = Bench::with([]);
    let script = format!(
        "mkdir data && printf '{content}' > data/{name} && csv-agent ingest -q data/{name} > /dev/null \
         && export CSV_AGENT_MODEL=builtin && {commands}"
    );
    bench.shell(&script, &[])
}

#[test]
fn a_file_called_like_a_column_is_asked_for_the_column() {
    let sales = "region,product,sales\\nnorth,a,10\\nnorth,b,20\\nsouth,a,25\\nsouth,b,30\\n";
    let run =
        ask_file("sales.csv", sales, "csv-agent ask --format csv 'sales by region'").succeeds();
    assert_eq!(run.stdout(), "region,total_sales\nnorth,30\nsouth,55\n");
    let weather = "date,wind,weather\\n2024-01-01,9,rain\\n2024-01-02,8.5,sun\\n2024-01-02,9.5,rain\\n\
                   2024-01-03,2,rain\\n2024-01-04,1,sun\\n";
    let commands = "csv-agent ask --verdict 'weather.date is unique'";
    let run = ask_file("weather.csv", weather, commands).succeeds();
    assert!(run.stdout().contains("2 of 5 rows share their date"), "{run}");
}

#[test]
fn a_value_that_is_kept_back_is_not_averaged() {
    let salaries = "sex,salary\\nf,10\\nm,20\\nf,30\\n";
    let commands = "csv-agent ask --redact salary 'average salary by sex'";
    let run = ask_file("Salaries.csv", salaries, commands).fails_with(9);
    let text = "`--redact` keeps back the values of `salary`, so I cannot compute with them.";
    assert!(run.stdout().starts_with(text), "{run}");
    for question in ["total salary", "salary by sex", "highest salary"] {
        let commands = format!("csv-agent ask --redact salary '{question}'");
        let run = ask_file("Salaries.csv", salaries, &commands).fails_with(9);
        assert!(run.stdout().starts_with(text), "{run}");
    }
}

/// The readings that `examples/orders.csv` gives a question, which is not sure of any.
#[track_caller]
fn choices(question: &str) -> Vec<String> {
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/orders.csv");
    let bench = Bench::with([]);
    let script = format!(
        "csv-agent ask --ephemeral --json --model builtin -f '{}' '{question}'",
        orders.display()
    );
    let run = bench.shell(&script, &[]).fails_with(9);
    let answer: Value = serde_json::from_str(run.stdout()).unwrap();
    answer["choices"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_biggest_row_is_that_of_a_measure_which_the_user_picks_and_never_that_of_a_key() {
    let by = |what: &str, end: &str| format!("rows by `{what}` in `orders`, the {end}");
    let [amount, price, units] = ["amount", "price", "units"].map(|it| by(it, "largest"));
    for question in ["biggest order", "largest order"] {
        assert_eq!(choices(question)[..2], [amount.clone(), units.clone()], "{question}");
    }
    assert_eq!(choices("most expensive order")[..2], [amount, price]);
    assert_eq!(choices("cheapest order")[..2], ["amount", "price"].map(|it| by(it, "smallest")));
    assert_eq!(choices("top 3 orders")[..2], ["amount", "units"].map(|it| by(it, "3 largest")));
}

#[test]
fn a_key_that_is_named_has_a_largest_value() {
    let orders = "order_id,amount\\n7,10\\n9,20\\n8,30\\n";
    let run = ask_file("orders.csv", orders, "csv-agent ask 'largest order id'").succeeds();
    assert!(run.stdout().contains("**9**"), "{run}");
}

#[test]
fn each_question_that_a_refusal_suggests_is_answered_after_it() {
    let bench = Bench::with([]);
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analyst/tables");
    for name in ["pizzaplace", "state_capitals"] {
        let ask = |question: &str| {
            let session = format!("-S {name} --model builtin");
            bench.shell(&format!("csv-agent ask {session} '{question}'"), &[])
        };
        let file = tables.join(format!("{name}.csv"));
        bench.shell(&format!("csv-agent ingest -q -S {name} '{}'", file.display()), &[]).succeeds();
        let refused = ask("biggest zork").fails_with(9);
        let suggested: Vec<&str> =
            refused.stdout().lines().filter_map(|it| it.strip_prefix("- ")).collect();
        assert_eq!(suggested.len(), 3, "{refused}");
        // What no round is left to try is not suggested.
        let ask_shortly =
            format!("csv-agent ask -S {name} --model builtin --max-rounds 2 'biggest zork'");
        let short = bench.shell(&ask_shortly, &[]).fails_with(9);
        assert!(short.stdout().starts_with("I do not recognize “zork”"), "{short}");
        // Each is asked right after the refusal.
        for (n, question) in suggested.iter().enumerate() {
            if 0 < n {
                assert_eq!(ask("biggest zork").fails_with(9).stdout(), refused.stdout());
            }
            ask(question).succeeds();
        }
    }
}

#[test]
fn a_whole_question_after_a_refusal_refers_to_nothing() {
    let products = "product,amount\\nlamp,10\\ndesk,20\\nlamp,30\\nsofa,5\\n";
    let commands = "csv-agent ask 'zork the florb' > /dev/null; csv-agent ask 'lamps and desks'";
    let run = ask_file("sold.csv", products, commands).succeeds();
    assert!(run.stdout().contains("| lamp | 2 |"), "{run}");
    let commands = "csv-agent ask 'zork the florb' > /dev/null; csv-agent ask 'by product'";
    let run = ask_file("sold.csv", products, commands).fails_with(9);
    assert!(run.stdout().contains("or use `--fresh` to ask it by itself."), "{run}");
    let commands = "csv-agent ask 'zork the florb' > /dev/null; csv-agent ask --fresh 'by product'";
    ask_file("sold.csv", products, commands).succeeds();
}

#[test]
fn a_text_that_may_mean_missing_is_named() {
    let sleep = "name,vore,hours\\na,NA,9\\nb,herbi,3\\nc,NA,NA\\nd,herbi,4\\n";
    let asks = "csv-agent ask 'is any vore missing?' && csv-agent ask 'which vore has the highest average hours?'";
    let run = ask_file("sleep.csv", sleep, asks).succeeds();
    let text = "2 rows have the text `NA` in `vore`, which does not count as missing.";
    assert!(run.stdout().contains(text), "{run}");
    assert!(run.stdout().contains("The group `NA` has the rows"), "{run}");
}

#[test]
fn a_number_of_the_statement_that_ran_is_grounded() {
    let asks = "csv-agent ask --fail-on ungrounded 'penguins heavier than 5kg by species'";
    let run = ask(&["penguins.csv"], asks).succeeds();
    assert!(run.stdout().contains("over 5,000 g"), "{run}");
}
