//! Sentences on numbers.

use serde_json::json;

use super::{filtered, frame, groups, is, key, measure, one, query, run, says, top};
use crate::lexicon::TimeUnit;
use crate::query::{Agg, GroupKey, Groups, Measure, Op, Over, Part, Shape, SortOrder, Value};

const MASS: [&str; 2] = ["species:string", "mean_body_mass_g:float64"];

fn mass() -> Groups {
    groups(vec![key("penguins.species")], vec![measure(Agg::Mean, "penguins.body_mass_g")])
}

#[track_caller]
fn check(groups: Groups, columns: &[&str], rows: &serde_json::Value, text: &str) {
    says(query(0, Shape::Groups(groups)), columns, rows, text);
}

#[test]
fn both_ends_of_groups_are_named_with_their_values() {
    let rows = json!([["Adelie", 3700.6623], ["Chinstrap", 3733.0882], ["Gentoo", 5076.0163]]);
    let text =
        "**Gentoo** has the highest average body mass, 5,076.02 g; Adelie the lowest, 3,700.66 g.";
    check(mass(), &MASS, &rows, text);
    let text =
        "**Adelie** has the lowest average body mass, 3,700.66 g; Gentoo the highest, 5,076.02 g.";
    check(Groups { order: Some(SortOrder::ASCENDING), ..mass() }, &MASS, &rows, text);
}

#[test]
fn two_groups_are_compared() {
    let text = "**Gentoo** has a higher average body mass, 5,076 g, than Adelie, 3,700 g.";
    check(mass(), &MASS, &json!([["Adelie", 3700], ["Gentoo", 5076]]), text);
    let counts = groups(vec![key("penguins.sex")], vec![Measure::ROWS]);
    let text = "**male** has more rows, 168, than female, 165.";
    check(counts, &["sex:string", "count:int64"], &json!([["female", 165], ["male", 168]]), text);
}

#[test]
fn equal_groups_are_named_together() {
    let text = "**a, b and c** have the same average body mass, 1 g.";
    check(mass(), &MASS, &json!([["a", 1], ["b", 1], ["c", 1]]), text);
    let text =
        "**a and b** have the highest average body mass, 2 g; c, d and e have the lowest, 1 g.";
    check(mass(), &MASS, &json!([["a", 2], ["b", 2], ["c", 1], ["d", 1], ["e", 1]]), text);
    let text = "**a** has the highest average body mass, 2 g; 4 species have the lowest, 1 g.";
    check(mass(), &MASS, &json!([["a", 2], ["b", 1], ["c", 1], ["d", 1], ["e", 1]]), text);
}

#[test]
fn numbers_that_differ_are_told_apart() {
    let text = "**b** has a higher average body mass, 4.1234 g, than a, 4.1231 g.";
    check(mass(), &MASS, &json!([["a", 4.1231], ["b", 4.1234]]), text);
}

#[test]
fn a_ranking_names_the_first_few() {
    let rows = json!([["Gentoo", 5076.0163], ["Chinstrap", 3733.0882]]);
    let text =
        "**Gentoo** has the highest average body mass, 5,076.02 g, then Chinstrap (3,733.09 g).";
    check(Groups { order: Some(top(2)), ..mass() }, &MASS, &rows, text);
    let text = "**Gentoo** has the highest average body mass, 5,076.02 g.";
    check(Groups { order: Some(top(1)), ..mass() }, &MASS, &json!([["Gentoo", 5076.0163]]), text);
    let text = "**a and b** have the highest average body mass, 2 g each.";
    check(Groups { order: Some(top(1)), ..mass() }, &MASS, &json!([["a", 2], ["b", 2]]), text);
    let second = SortOrder { n: Some(1), skip: 1, ..SortOrder::ASCENDING };
    let text = "**Chinstrap** has the second lowest average body mass, 3,733.09 g.";
    check(
        Groups { order: Some(second), ..mass() },
        &MASS,
        &json!([["Chinstrap", 3733.0882]]),
        text,
    );
    let text = "**a** has the highest average body mass, 7 g, then b (6 g), c (5 g), d (4 g) and e (3 g). The table has all \
                7.";
    let rows = json!([["a", 7], ["b", 6], ["c", 5], ["d", 4], ["e", 3], ["f", 2], ["g", 1]]);
    check(Groups { order: Some(top(7)), ..mass() }, &MASS, &rows, text);
}

#[test]
fn groups_without_a_value_are_named() {
    let text = "Only **B** has a value: the average body mass is 5 g. Without a value: A and C.";
    check(mass(), &MASS, &json!([["A", null], ["B", 5], ["C", null]]), text);
    let text = "No species has a value.";
    check(mass(), &MASS, &json!([["A", null], ["C", null]]), text);
}

#[test]
fn several_numbers_are_told_one_after_another() {
    let both = vec![
        measure(Agg::Mean, "penguins.body_mass_g"),
        measure(Agg::Max, "penguins.bill_length_mm"),
    ];
    let text = "**a** has a higher average body mass, 5 g, than b, 4 g. **b** has a higher maximum bill length, 9 mm, than a, \
                8 mm.";
    check(
        groups(vec![key("penguins.species")], both),
        &["species:string", "mean_body_mass_g:float64", "max_bill_length_mm:float64"],
        &json!([["a", 5, 8], ["b", 4, 9]]),
        text,
    );
}

#[test]
fn a_condition_is_said_first() {
    let rows = json!([["Adelie", 3700], ["Gentoo", 5076]]);
    let text = "Where sex is male, **Gentoo** has a higher average body mass, 5,076 g, than Adelie, 3,700 g.";
    says(
        filtered(vec![one("penguins.sex", "male")], query(0, Shape::Groups(mass()))),
        &MASS,
        &rows,
        text,
    );
    let text = "In 2007, **Gentoo** has a higher average body mass, 5,076 g, than Adelie, 3,700 g.";
    says(
        filtered(vec![is("penguins.year", Op::Eq, 2007.0)], query(0, Shape::Groups(mass()))),
        &MASS,
        &rows,
        text,
    );
}

#[test]
fn groups_that_pass_are_named() {
    let some = Groups { having: Some((Op::Gt, Value::Number(3710.0))), ..mass() };
    let text = "**2** species have an average body mass over 3,710 g: Chinstrap (3,733.09 g) and Gentoo (5,076.02 g).";
    check(some.clone(), &MASS, &json!([["Chinstrap", 3733.0882], ["Gentoo", 5076.0163]]), text);
    check(some, &MASS, &json!([]), "No species has an average body mass over 3,710 g.");
    let counts = Groups {
        having: Some((Op::Ge, Value::Number(100.0))),
        ..groups(vec![key("penguins.island")], vec![Measure::ROWS])
    };
    let text = "**1** island has at least 100 rows: Biscoe (168).";
    check(counts.clone(), &["island:string", "count:int64"], &json!([["Biscoe", 168]]), text);
    let text = "There are **2** islands with at least 100 rows.";
    check(
        Groups { then: Some(Agg::Count), ..counts },
        &["number_of_count:int64"],
        &json!([[2]]),
        text,
    );
}

#[test]
fn one_number_of_all_groups_names_both() {
    let counts = groups(vec![key("penguins.species")], vec![Measure::ROWS]);
    for (agg, label, text) in [
        (Agg::Mean, "mean_count", "The average number of rows per species is **114.67**."),
        (Agg::Median, "median_count", "The median number of rows per species is **114.67**."),
        (Agg::Max, "max_count", "The highest number of rows per species is **114.67**."),
    ] {
        let then = Groups { then: Some(agg), ..counts.clone() };
        check(then, &[&format!("{label}:float64")], &json!([[114.6667]]), text);
    }
    let text = "The average of the average body mass per species is **4,170 g**.";
    check(
        Groups { then: Some(Agg::Mean), ..mass() },
        &["mean_mean_body_mass_g:float64"],
        &json!([[4170]]),
        text,
    );
}

#[test]
fn a_series_is_told_as_its_course() {
    let by_year =
        || groups(vec![key("penguins.year")], vec![measure(Agg::Mean, "penguins.body_mass_g")]);
    let columns = ["year:int64", "mean_body_mass_g:float64"];
    for (values, text) in [
        ([1, 2, 3], "The average body mass rose from 1 g in 2007 to **3 g** in 2009."),
        (
            [3, 1, 2],
            "The average body mass fell from 3 g in 2007 to **2 g** in 2009; it was lowest in 2008, 1 g.",
        ),
        (
            [1, 3, 2],
            "The average body mass rose from 1 g in 2007 to **2 g** in 2009; it was highest in 2008, 3 g.",
        ),
        ([2, 2, 2], "The average body mass was **2 g** both in 2007 and in 2009."),
    ] {
        let rows = json!([[2007, values[0]], [2008, values[1]], [2009, values[2]]]);
        check(by_year(), &columns, &rows, text);
    }
    let text = "**2009** has the highest average body mass, 3 g.";
    check(Groups { order: Some(top(1)), ..by_year() }, &columns, &json!([[2009, 3]]), text);
    let text = "The running total of body mass reaches **9 g** in 2009.";
    let total = groups(vec![key("penguins.year")], vec![measure(Agg::Sum, "penguins.body_mass_g")]);
    check(
        Groups { over: Some(Over::Cumulative), ..total.clone() },
        &["year:int64", "total_body_mass_g:float64", "cumulative:float64"],
        &json!([[2007, 2, 2], [2008, 3, 5], [2009, 4, 9]]),
        text,
    );
    let text = "**2008** has a higher growth in total body mass, 50 %, than 2009, 33.3 %.";
    check(
        Groups { over: Some(Over::Growth), ..total },
        &["year:int64", "total_body_mass_g:float64", "growth_percent:float64"],
        &json!([[2007, 2, null], [2008, 3, 50], [2009, 4, 33.3333]]),
        text,
    );
}

#[test]
fn the_ends_of_a_long_series_are_looked_up() {
    let by_day = groups(
        vec![GroupKey::Time(super::at("staff.hired"), TimeUnit::Month)],
        vec![Measure::ROWS],
    );
    let month = |it: i64| format!("20{:02}-{:02}", it / 12, it % 12 + 1);
    let rows: Vec<_> = (0..30).map(|it| json!([month(it), it + 1])).collect();
    let columns = ["month:string", "count:int64"];
    let ends = json!([["2000-01", 1], ["2002-06", 30]]);
    let run = run(
        "",
        query(1, Shape::Groups(by_day)),
        &[frame(&columns, &json!(rows)), frame(&columns, &ends)],
    );
    assert_eq!(run.finding(), "The number of rows rose from 1 in 2000-01 to **30** in 2002-06.");
    assert_eq!(run.rounds[1].len(), 3, "a table, the ends and a chart: {:?}", run.rounds);
}

#[test]
fn groups_are_called_as_people_call_them() {
    let hired = super::at("staff.hired");
    for (key, label, value, name) in [
        (GroupKey::Part(hired, Part::Month), "month:int64", json!(5), "May"),
        (GroupKey::Part(hired, Part::Weekday), "weekday:string", json!("Monday"), "Monday"),
        (GroupKey::Part(hired, Part::Hour), "hour:int64", json!(9), "09:00"),
        (GroupKey::Part(hired, Part::Quarter), "quarter:int64", json!(2), "Q2"),
        (GroupKey::Part(hired, Part::Day), "day:int64", json!(31), "day 31"),
        (GroupKey::Part(hired, Part::Year), "year:int64", json!(2007), "2007"),
        (
            GroupKey::Time(hired, TimeUnit::Week),
            "week:string",
            json!("2024-05-06"),
            "the week of 2024-05-06",
        ),
        (
            GroupKey::Bin(super::at("staff.Salary (USD)"), 500.0),
            "salary_usd_from:float64",
            json!(1000.0),
            "1,000 to 1,500 USD",
        ),
        (key("staff.is_manager"), "is_manager:bool", json!(true), "is manager true"),
        (key("staff.MonthlyIncome"), "MonthlyIncome:int64", json!(1000), "monthly income 1,000"),
        (key("staff.id"), "id:int64", json!(1000), "id 1000"),
    ] {
        let groups = Groups { order: Some(top(1)), ..groups(vec![key], vec![Measure::ROWS]) };
        let text = format!("**{name}** has the most rows, 7.");
        says(query(1, Shape::Groups(groups)), &[label, "count:int64"], &json!([[value, 7]]), &text);
    }
    let two = groups(vec![key("penguins.species"), key("penguins.year")], vec![Measure::ROWS]);
    check(
        Groups { order: Some(top(1)), ..two },
        &["species:string", "year:int64", "count:int64"],
        &json!([["Gentoo", 2009, 7]]),
        "**Gentoo in 2009** has the most rows, 7.",
    );
}

#[test]
fn series_are_compared_where_they_end() {
    let by = || {
        groups(
            vec![key("penguins.species"), key("penguins.year")],
            vec![measure(Agg::Mean, "penguins.body_mass_g")],
        )
    };
    let columns = ["species:string", "year:int64", "mean_body_mass_g:float64"];
    let rows = json!([
        ["Adelie", 2008, 1],
        ["Adelie", 2009, 2],
        ["Chinstrap", 2009, 4],
        ["Gentoo", 2008, 9],
        ["Gentoo", 2009, 6],
    ]);
    let chart = frame(&["year:int64"], &json!([[2008], [2009]]));
    let few = run("", query(0, Shape::Groups(by())), &[frame(&columns, &rows), chart.clone()]);
    assert_eq!(
        few.finding(),
        "In 2009, **Gentoo** has the highest average body mass, 6 g; Adelie the lowest, 2 g."
    );
    let rows: Vec<_> =
        (0..30).map(|it| json!([format!("s{}", it / 10), 2000 + it % 10, it])).collect();
    let last = frame(
        &["species:string", "year:int64", "mean_body_mass_g:float64", "_equal:int64"],
        &json!([["s2", 2009, 29, 1], ["s1", 2009, 19, 1], ["s0", 2009, 9, 1]]),
    );
    let sizes = frame(
        &["series:string", "size:float64", "along:int64"],
        &json!([["s2", 9, 10], ["s1", 8, 10], ["s0", 7, 10]]),
    );
    let many = run(
        "",
        query(0, Shape::Groups(by())),
        &[frame(&columns, &json!(rows)), last, sizes, chart],
    );
    assert_eq!(
        many.finding(),
        "In 2009, **s2** has the highest average body mass, 29 g; s0 the lowest, 9 g."
    );
    let statement = &many.statements()[1];
    assert!(
        statement.contains("\"year\" = (select max(\"year\") from result where"),
        "{statement}"
    );
}

#[test]
fn equals_are_counted_where_not_all_rows_are_known() {
    let rows: Vec<_> = (0..30).map(|it| json!([format!("s{it}"), it])).collect();
    let columns = ["species:string", "mean_body_mass_g:float64", "_equal:int64"];
    let found = |ends: &serde_json::Value| {
        let outputs = [frame(&MASS, &json!(rows)), frame(&columns, ends)];
        run("", query(0, Shape::Groups(mass())), &outputs).finding().to_owned()
    };
    let text = "**s9** has the highest average body mass, 9 g; 21 species have the lowest, 1 g.";
    assert_eq!(found(&json!([["s0", 1, 21], ["s9", 9, 1]])), text);
    let text = "**s9** has the highest average body mass, 9 g; s1 the lowest, 1 g.";
    assert_eq!(found(&json!([["s1", 1, 1], ["s9", 9, 1]])), text);
    assert_eq!(
        found(&json!([["s1", 1, 30]])),
        "**All 30 species** have the same average body mass, 1 g."
    );
}
