//! Checks: yes or no, and what a gate reads.

use serde_json::{Value as Json, json};

use super::{at, filtered, frame, groups, is, key, measure, one, query, run};
use crate::query::{Agg, Check, Comparison, Contrast, Join, Measure, Op, Shape, Side, Test, Value};

/// Checks a question, what was found for it and what is said of it; and what a gate reads.
#[track_caller]
fn check(
    question: &str,
    check: Check,
    columns: &[&str],
    rows: &Json,
    text: &str,
    column: Option<&str>,
) {
    let is_of_rows = !matches!(check, Check::Number(..) | Check::Groups(..) | Check::Varies(_));
    let n_rows = rows.as_array().unwrap().len();
    let mut outputs = vec![frame(columns, rows)];
    if is_of_rows && 0 < n_rows {
        outputs.push(frame(&["row:int64"], &json!([[7], [9]])));
    }
    let run = run(question, query(0, Shape::Check(check)), &outputs);
    assert_eq!(run.finding(), text);
    let verdict = run.verdict();
    assert_eq!(verdict["text"], run.text());
    let Some(column) = column else {
        assert_eq!((&verdict["assessment"], &verdict["findings"]), (&json!("good"), &json!([])));
        return;
    };
    assert_eq!(verdict["assessment"], "bad");
    let finding = &verdict["findings"][0];
    let message = finding["message"].as_str().unwrap();
    assert!(text.to_lowercase().ends_with(&message.to_lowercase()), "{message}");
    assert_eq!(finding["column"], if column.is_empty() { Json::Null } else { json!(column) });
    let rows = if is_of_rows { json!([7, 9]) } else { json!([]) };
    let table = if 1 < n_rows * columns.len() { json!("penguins_check") } else { Json::Null };
    assert_eq!(
        (&finding["dataset"], &finding["rows"], &finding["table"]),
        (&json!("penguins"), &rows, &table)
    );
}

const ROW: [&str; 2] = ["species:string", "body_mass_g:float64"];

fn heavy() -> Vec<Test> {
    vec![is("penguins.body_mass_g", Op::Gt, 6000.0)]
}

#[test]
fn rows_of_a_kind() {
    let rows = json!([["Gentoo", 6300], ["Gentoo", 6050]]);
    let mass = Some("body_mass_g");
    let any = "is any body mass over 6000?";
    check(
        any,
        Check::None(heavy()),
        &ROW,
        &rows,
        "Yes: in 2 of 344 rows, body mass is over 6,000 g.",
        mass,
    );
    check(
        any,
        Check::None(heavy()),
        &ROW,
        &json!([]),
        "No: there is no row where body mass is over 6,000 g.",
        None,
    );
    let no = "are there no penguins over 6000?";
    check(
        no,
        Check::None(heavy()),
        &ROW,
        &rows,
        "No: in 2 of 344 rows, body mass is over 6,000 g.",
        mass,
    );
    check(
        "rows over 6000",
        Check::None(heavy()),
        &ROW,
        &rows,
        "In 2 of 344 rows, body mass is over 6,000 g.",
        mass,
    );
    let all = || Check::All(vec![is("penguins.body_mass_g", Op::Ge, 3000.0)]);
    let text = "No: in 1 of 344 rows, body mass is under 3,000 g.";
    check("every mass at least 3000", all(), &ROW, &json!([["Adelie", 2700]]), text, mass);
    let text = "Yes: in every row that has body mass (342 of 344), body mass is at least 3,000 g.";
    check("every mass at least 3000", all(), &ROW, &json!([]), text, None);
    let both = || Check::All([heavy(), vec![one("penguins.species", "Gentoo")]].concat());
    let text = "No: in 1 of 344 rows, it is not true that body mass is over 6,000 g and species is Gentoo.";
    check("all", both(), &ROW, &json!([["Adelie", 2700]]), text, Some("species"));
}

#[test]
fn numbers_of_all_rows_and_of_groups() {
    let number =
        |op| Check::Number(measure(Agg::Mean, "penguins.body_mass_g"), op, Value::Number(3000.0));
    let columns = ["mean_body_mass_g:float64", "holds:bool"];
    let text = "Yes: the average body mass is 4,201.75 g, which is over 3,000 g.";
    check("is it over 3000", number(Op::Gt), &columns, &json!([[4201.7544, true]]), text, None);
    let text = "No: the average body mass is 4,201.75 g, which is not under 3,000 g.";
    check(
        "is it",
        number(Op::Lt),
        &columns,
        &json!([[4201.7544, false]]),
        text,
        Some("body_mass_g"),
    );
    let rows = Check::Number(Measure::ROWS, Op::Gt, Value::Number(300.0));
    let text = "Yes: the number of rows is 344, which is over 300.";
    check(
        "more than 300 rows",
        rows,
        &["count:int64", "holds:bool"],
        &json!([[344, true]]),
        text,
        None,
    );
    let by =
        || groups(vec![key("penguins.species")], vec![measure(Agg::Mean, "penguins.body_mass_g")]);
    let each = || Check::Groups(by(), Op::Gt, Value::Number(3710.0));
    let columns = ["species:string", "mean_body_mass_g:float64"];
    let text = "Yes: for every species, the average body mass is over 3,710 g.";
    check("each", each(), &columns, &json!([]), text, None);
    let text = "No: for 1 species, the average body mass is not over 3,710 g: Adelie (3,700.66 g).";
    check("each", each(), &columns, &json!([["Adelie", 3700.6623]]), text, Some("body_mass_g"));
}

#[test]
fn values_that_repeat_are_missing_or_refer_to_nothing() {
    let unique = || Check::Unique(vec![at("penguins.species")]);
    let twice = json!([["Adelie", 1], ["Adelie", 2]]);
    let text = "2 of 344 rows share their species with another row: Adelie.";
    let (name, columns) = (Some("species"), &ROW);
    check("are there duplicate species", unique(), columns, &twice, &format!("Yes: {text}"), name);
    check("is species unique?", unique(), columns, &twice, &format!("No: {text}"), name);
    check(
        "duplicate species",
        unique(),
        columns,
        &twice,
        "2 of 344 rows share their species with another row: Adelie.",
        name,
    );
    check("species is unique", unique(), columns, &twice, &format!("No: {text}"), name);
    check(
        "is species unique?",
        unique(),
        columns,
        &json!([]),
        "Yes: no species occurs twice.",
        None,
    );
    let rows = || Check::Unique(Vec::new());
    let text = "Yes: 2 of 344 rows are equal to another row.";
    check("are there duplicates", rows(), columns, &twice, text, Some(""));
    check("are there duplicates", rows(), columns, &json!([]), "No: no row occurs twice.", None);
    let present = || Check::Present(vec![at("penguins.sex")]);
    check(
        "is sex missing",
        present(),
        columns,
        &twice,
        "Yes: 2 of 344 rows have no sex.",
        Some("sex"),
    );
    check(
        "is sex ever missing",
        present(),
        columns,
        &json!([]),
        "No: no value of sex is missing.",
        None,
    );
    let all = || Check::Present(Vec::new());
    check(
        "is the data complete",
        all(),
        columns,
        &twice,
        "No: 2 of 344 rows have missing values.",
        Some(""),
    );
    check("is the data complete", all(), columns, &json!([]), "Yes: no value is missing.", None);
    let refers =
        || Check::Refers(Join { left: at("penguins.island"), right: at("departments.city") });
    let text = "No: in 1 of 344 rows, the island is not in departments: Dream.";
    check(
        "every island",
        refers(),
        &["island:string", "year:int64"],
        &json!([["Dream", 2007]]),
        text,
        Some("island"),
    );
    check(
        "every island",
        refers(),
        &["island:string"],
        &json!([]),
        "Yes: every island is in departments.",
        None,
    );
    let varies = || Check::Varies(Vec::new());
    let column = ["column:string"];
    let text = "No: every column has more than one value.";
    check("does any column have one value", varies(), &column, &json!([]), text, None);
    check(
        "does any",
        varies(),
        &column,
        &json!([["year"]]),
        "Yes: year has only one value.",
        Some(""),
    );
    let inliers = || Check::Inliers(vec![at("penguins.body_mass_g")]);
    let text = "Yes: 2 of 344 rows have an outlier in body mass.";
    check("are there outliers", inliers(), columns, &twice, text, Some("body_mass_g"));
    check(
        "are there outliers",
        inliers(),
        columns,
        &json!([]),
        "No: there are no outliers in body mass.",
        None,
    );
}

#[test]
fn a_check_of_some_rows_says_of_which() {
    let male = || vec![one("penguins.sex", "male")];
    let query = |check| filtered(male(), query(0, Shape::Check(check)));
    let said = |check, rows: Json| {
        let outputs = [frame(&ROW, &rows), frame(&["row:int64"], &json!([[1]]))];
        let n = if rows == json!([]) { 1 } else { 2 };
        run("", query(check), &outputs[..n]).finding().to_owned()
    };
    let found = || json!([["Gentoo", 6300]]);
    assert_eq!(
        said(Check::None(heavy()), found()),
        "In 1 row, sex is male and body mass is over 6,000 g."
    );
    let text = "There is no row where sex is male and body mass is over 6,000 g.";
    assert_eq!(said(Check::None(heavy()), json!([])), text);
    let text = "No: in 1 row where sex is male, body mass is at most 6,000 g.";
    assert_eq!(said(Check::All(heavy()), found()), text);
    let text = "Where sex is male, no value is missing.";
    assert_eq!(said(Check::Present(Vec::new()), json!([])), text);
}

#[test]
fn a_comparison_is_a_check() {
    let side = |name: &str| Side { name: name.to_owned(), tests: vec![one("penguins.sex", name)] };
    let comparison = |asks| Comparison {
        measure: measure(Agg::Mean, "penguins.body_mass_g"),
        sides: [side("male"), side("female")],
        asks,
    };
    let columns = ["male:float64", "female:float64", "holds:bool"];
    let output = |holds: bool| [frame(&columns, &json!([[15, 10, holds]]))];
    let good =
        run("", query(0, Shape::Compare(comparison(Contrast::Holds(Op::Gt)))), &output(true));
    assert_eq!(
        (&good.verdict()["assessment"], &good.verdict()["findings"]),
        (&json!("good"), &json!([]))
    );
    let bad =
        run("", query(0, Shape::Compare(comparison(Contrast::Holds(Op::Lt)))), &output(false));
    assert_eq!(bad.verdict()["assessment"], "bad");
    let finding = json!({
        "severity": "bad", "message": "The average body mass is higher for male (15 g) than for female (10 g).",
        "dataset": "penguins", "column": "body_mass_g", "rows": [], "table": "penguins_comparison",
    });
    assert_eq!(bad.verdict()["findings"], json!([finding]));
    let none = run(
        "",
        query(0, Shape::Compare(comparison(Contrast::Ratio))),
        &[frame(&["male:float64", "female:float64", "ratio:float64"], &json!([[15, 10, 1.5]]))],
    );
    assert_eq!(none.verdict()["assessment"], Json::Null);
}

#[test]
fn what_cannot_be_checked_is_not_good() {
    let reason = |table: usize, check: Check, columns: &[&str], rows: Json| match run(
        "",
        query(table, Shape::Check(check)),
        &[frame(columns, &rows)],
    )
    .next
    {
        crate::Next::Refuse(reason) => reason,
        other => panic!("{other:?}"),
    };
    let bonus = Check::All(vec![is("staff.bonus", Op::Gt, 0.0)]);
    let text = "`bonus` has no values: there is nothing to check.";
    assert_eq!(reason(1, bonus, &["bonus:float64"], json!([])), text);
    let empty = Check::Present(Vec::new());
    assert_eq!(
        reason(3, empty, &["a:int64"], json!([])),
        "`none` has no rows: there is nothing to check."
    );
    let mean =
        Check::Number(measure(Agg::Mean, "penguins.body_mass_g"), Op::Gt, Value::Number(0.0));
    let columns = ["mean_body_mass_g:float64", "holds:bool"];
    assert_eq!(reason(0, mean, &columns, json!([[null, null]])), "There are no values to check.");
}
