//! Sentences on one number, on shares and on two numbers side by side.

use serde_json::json;

use super::{
    attrition, column, drawn, filtered, frame, groups, is, joined, key, measure, one, query, run,
    says, top,
};
use crate::query::{
    Agg, Arithmetic, Comparison, Contrast, Groups, LogicalForm, Measure, Op, Shape, Side, Test,
    Value,
};

const MASS: [&str; 2] = ["species:string", "mean_body_mass_g:float64"];

fn mass() -> Groups {
    groups(vec![key("penguins.species")], vec![measure(Agg::Mean, "penguins.body_mass_g")])
}

#[test]
fn one_number_is_said_with_its_name_and_unit() {
    let total = |measures: Vec<Measure>| query(0, Shape::Groups(groups(Vec::new(), measures)));
    let mean = measure(Agg::Mean, "penguins.body_mass_g");
    says(
        total(vec![mean.clone(), measure(Agg::Std, "penguins.body_mass_g")]),
        &["mean_body_mass_g:float64", "std_body_mass_g:float64"],
        &json!([[4201.7544, 801.9545]]),
        "The average body mass is **4,201.75 g** and the standard deviation of body mass is **801.95 g**.",
    );
    let male = vec![one("penguins.sex", "male")];
    says(
        filtered(male.clone(), total(vec![mean])),
        &["mean_body_mass_g:float64"],
        &json!([[4545.6845]]),
        "Where sex is male, the average body mass is **4,545.68 g**.",
    );
    says(
        total(vec![Measure::ROWS]),
        &["count:int64"],
        &json!([[344]]),
        "There are **344** rows in penguins.",
    );
    let count = filtered(male, total(vec![Measure::ROWS]));
    says(count.clone(), &["count:int64"], &json!([[1]]), "There is **1** row where sex is male.");
    says(count, &["count:int64"], &json!([[0]]), "There are **0** rows where sex is male.");
    for (agg, label, value, text) in [
        (
            Agg::Distinct,
            "distinct_species",
            json!(3),
            "There are **3** different species in penguins.",
        ),
        (
            Agg::Mode,
            "most_frequent_species",
            json!("Adelie"),
            "The most frequent species is **Adelie**.",
        ),
    ] {
        let measure = measure(agg, "penguins.species");
        let dtype = if value.is_string() { "string" } else { "int64" };
        says(total(vec![measure]), &[&format!("{label}:{dtype}")], &json!([[value]]), text);
    }
    for (agg, label, text) in [
        (Agg::Max, "max_year", "The highest year is **2009**."),
        (Agg::Range, "range_year", "The range of year is **2,009**."),
        (Agg::Quantile(0.91), "p91_year", "The 91st percentile of year is **2009**."),
        (Agg::Count, "count", "There are **2,009** rows with a year in penguins."),
    ] {
        let measure = measure(agg, "penguins.year");
        says(total(vec![measure]), &[&format!("{label}:int64")], &json!([[2009]]), text);
    }
}

#[test]
fn dates_are_first_and_last() {
    let hired =
        |agg| query(1, Shape::Groups(groups(Vec::new(), vec![measure(agg, "staff.hired")])));
    says(
        hired(Agg::Min),
        &["min_hired:date"],
        &json!([["2020-01-02"]]),
        "The first hired is **2020-01-02**.",
    );
    says(
        hired(Agg::Max),
        &["max_hired:date"],
        &json!([["2024-01-02"]]),
        "The last hired is **2024-01-02**.",
    );
    let by = groups(vec![key("staff.Department")], vec![measure(Agg::Min, "staff.hired")]);
    says(
        query(1, Shape::Groups(by)),
        &["Department:string", "min_hired:date"],
        &json!([["Sales", "2020-01-02"], ["HR", "2021-01-02"]]),
        "The first hired is 2020-01-02 (Sales) and 2021-01-02 (HR).",
    );
}

#[test]
fn a_share_is_said_with_its_parts() {
    let by = groups(vec![key("staff.Department")], vec![attrition()]);
    let columns = ["Department:string", "share_percent:float64", "part:int64", "of:int64"];
    let rows =
        json!([["HR", 19.0476, 12, 63], ["R&D", 13.8398, 133, 961], ["Sales", 20.6278, 92, 446]]);
    says(
        query(1, Shape::Groups(by)),
        &columns,
        &rows,
        "**Sales** has the highest attrition rate, 20.6 % (92 of 446 rows); R&D the lowest, 13.8 % (133 of 961 rows).",
    );
    let share = |measure| query(1, Shape::Groups(groups(Vec::new(), vec![measure])));
    let (columns, rows) =
        (["share_percent:float64", "part:int64", "of:int64"], json!([[16.1224, 237, 1470]]));
    for (measure, text) in [
        (attrition(), "The attrition rate is **16.1 %** (237 of 1,470 rows)."),
        (
            Measure { only: vec![one("staff.Department", "Sales")], ..attrition() },
            "The share of rows where department is Sales is **16.1 %** (237 of 1,470 rows).",
        ),
        (
            Measure {
                only: vec![crate::query::Test::True(super::at("staff.is_manager"))],
                ..attrition()
            },
            "The share that is manager is **16.1 %** (237 of 1,470 rows).",
        ),
        (
            Measure { only: vec![is("staff.MonthlyIncome", Op::Gt, 5000.0)], ..attrition() },
            "The share of rows where monthly income is over 5,000 is **16.1 %** (237 of 1,470 rows).",
        ),
        (
            Measure {
                of: Some(column("staff.Salary (USD)")),
                only: vec![one("staff.Department", "Sales")],
                ..attrition()
            },
            "The share of Sales in the salary is **16.1 %** (237 USD of 1,470 USD).",
        ),
    ] {
        says(share(measure), &columns, &rows, text);
    }
}

#[test]
fn calculated_values_have_names() {
    let of = |sign| {
        Value::Arithmetic(
            Box::new(column("staff.MonthlyIncome")),
            sign,
            Box::new(column("staff.bonus")),
        )
    };
    for (of, label, text) in [
        (
            of(Arithmetic::Plus),
            "mean_monthlyincome_plus_bonus",
            "The average monthly income plus bonus is **5**.",
        ),
        (
            of(Arithmetic::DividedBy),
            "mean_monthlyincome_per_bonus",
            "The average monthly income divided by bonus is **5**.",
        ),
    ] {
        let measure = Measure { agg: Agg::Mean, of: Some(of), only: Vec::new() };
        let query = query(1, Shape::Groups(groups(Vec::new(), vec![measure])));
        says(query, &[&format!("{label}:float64")], &json!([[5]]), text);
    }
    let days = Value::Arithmetic(
        Box::new(Value::Day(jiff::civil::date(2024, 1, 1))),
        Arithmetic::Days,
        Box::new(column("staff.hired")),
    );
    let measure = Measure { agg: Agg::Mean, of: Some(days), only: Vec::new() };
    says(
        query(1, Shape::Groups(groups(Vec::new(), vec![measure]))),
        &["mean_days_hired_to_value:float64"],
        &json!([[99.5]]),
        "The average days from hired to 2024-01-01 is **99.5 days**.",
    );
    let ratio = measure_of_ratio();
    says(
        query(1, Shape::Groups(groups(Vec::new(), vec![ratio]))),
        &["monthlyincome_per_bonus:float64"],
        &json!([[0.5]]),
        "The monthly income per bonus is **0.5**.",
    );
}

fn measure_of_ratio() -> Measure {
    measure(Agg::Ratio(super::at("staff.bonus")), "staff.MonthlyIncome")
}

#[test]
fn a_comparison_says_who_has_more() {
    let side = |name: &str| Side { name: name.to_owned(), tests: vec![one("penguins.sex", name)] };
    let compare = |measure: Measure, asks, made: &str, rows: serde_json::Value, text: &str| {
        let sides = [side("male"), side("female")];
        let query = query(0, Shape::Compare(Comparison { measure, sides, asks }));
        let columns = match asks {
            Contrast::Change => {
                vec!["male:float64", "female:float64", made, "change_percent:float64"]
            }
            _ => vec!["male:float64", "female:float64", made],
        };
        says(query, &columns, &rows, text);
    };
    let mass = || measure(Agg::Mean, "penguins.body_mass_g");
    let rows = || Measure::ROWS;
    let difference = Contrast::Difference;
    let text =
        "The average body mass is **5 g** higher for male than for female: male 15 g, female 10 g.";
    compare(mass(), difference, "difference:float64", json!([[15, 10, 5]]), text);
    let text =
        "The average body mass is **5 g** higher for female than for male: male 10 g, female 15 g.";
    compare(mass(), difference, "difference:float64", json!([[10, 15, -5]]), text);
    let text = "The average body mass is **the same** for male and female: 10 g.";
    compare(mass(), difference, "difference:float64", json!([[10, 10, 0]]), text);
    let text = "There are **3** more rows for male than for female: male 168, female 165.";
    compare(rows(), difference, "difference:int64", json!([[168, 165, 3]]), text);
    let text =
        "The average body mass fell by **5 g** (33.3 %), from 15 g in male to 10 g in female.";
    compare(mass(), Contrast::Change, "change:float64", json!([[15, 10, -5, -33.3333]]), text);
    let text = "The average body mass **did not change** from male to female: 10 g.";
    compare(mass(), Contrast::Change, "change:float64", json!([[10, 10, 0, 0]]), text);
    let text =
        "The average body mass for male is **1.5 times** that for female: male 15 g, female 10 g.";
    compare(mass(), Contrast::Ratio, "ratio:float64", json!([[15, 10, 1.5]]), text);
    for (op, values, text) in [
        (
            Op::Gt,
            (15, 10, true),
            "Yes: the average body mass is higher for male (15 g) than for female (10 g).",
        ),
        (
            Op::Gt,
            (10, 15, false),
            "No: the average body mass is lower for male (10 g) than for female (15 g).",
        ),
        (
            Op::Ge,
            (10, 10, true),
            "Yes: the average body mass is the same for male (10 g) and female (10 g).",
        ),
        (
            Op::Le,
            (15, 10, false),
            "No: the average body mass is higher for male (15 g) than for female (10 g).",
        ),
        (
            Op::Eq,
            (15, 10, false),
            "No: the average body mass is higher for male (15 g) than for female (10 g).",
        ),
        (
            Op::Eq,
            (10, 10, true),
            "Yes: the average body mass is the same for male (10 g) and female (10 g).",
        ),
        (
            Op::Ne,
            (15, 10, true),
            "Yes: the average body mass is higher for male (15 g) than for female (10 g).",
        ),
    ] {
        compare(
            mass(),
            Contrast::Holds(op),
            "holds:bool",
            json!([[values.0, values.1, values.2]]),
            text,
        );
    }
    let text = "Yes: there are more rows for male (168) than for female (165).";
    compare(rows(), Contrast::Holds(Op::Gt), "holds:bool", json!([[168, 165, true]]), text);
}

#[test]
fn what_says_nothing_is_no_answer() {
    let nothing = |query, columns: &[&str], rows: serde_json::Value, reason: &str| {
        let run = run("", query, &[frame(columns, &rows)]);
        assert_eq!(run.next, crate::Next::Refuse(reason.to_owned()));
    };
    let total = query(
        0,
        Shape::Groups(groups(Vec::new(), vec![measure(Agg::Mean, "penguins.body_mass_g")])),
    );
    let columns = ["mean_body_mass_g:float64"];
    nothing(total.clone(), &columns, json!([[null]]), "There are no values to calculate it from.");
    let drawn_total = drawn(crate::query::Chart::Any, total);
    nothing(
        drawn_total,
        &columns,
        json!([[1]]),
        "There is nothing to draw: the result is one row.",
    );
    let ranked = || query(0, Shape::Groups(Groups { order: Some(top(3)), ..mass() }));
    nothing(ranked(), &MASS, json!([]), "There is nothing to rank: no row matches.");
    let drawn_none = drawn(crate::query::Chart::Bar, ranked());
    nothing(drawn_none, &MASS, json!([]), "There is nothing to draw: no row matches.");
    let counts =
        Groups { order: Some(top(3)), ..groups(vec![key("staff.id")], vec![Measure::ROWS]) };
    let reason = "Each id has one row, so they cannot be ranked by how many they have.";
    nothing(
        query(1, Shape::Groups(counts)),
        &["id:int64", "count:int64"],
        json!([[1, 1], [2, 1]]),
        reason,
    );
    let side = |name: &str| Side { name: name.to_owned(), tests: vec![one("penguins.sex", name)] };
    let compared = Comparison {
        measure: measure(Agg::Mean, "penguins.body_mass_g"),
        sides: [side("male"), side("other")],
        asks: Contrast::Difference,
    };
    let columns = ["male:float64", "other:float64", "difference:float64"];
    let reason = "There are no values for other to calculate it from.";
    nothing(query(0, Shape::Compare(compared)), &columns, json!([[1, null, null]]), reason);
}

#[test]
fn missing_values_are_noted() {
    let total = groups(Vec::new(), vec![measure(Agg::Mean, "penguins.body_mass_g")]);
    let first = run(
        "",
        query(0, Shape::Groups(total)),
        &[frame(&["mean_body_mass_g:float64"], &json!([[5]]))],
    );
    assert_eq!(first.notes(), "`body_mass_g` is missing in 2 of 344 rows; these are not counted.");
    // The number is not that of a part of the rows.
    let total = groups(Vec::new(), vec![measure(Agg::Mean, "penguins.body_mass_g")]);
    let of_some = LogicalForm {
        filters: vec![one("penguins.species", "Adelie")],
        ..query(0, Shape::Groups(total))
    };
    let some = run("", of_some, &[frame(&["mean_body_mass_g:float64"], &json!([[5]]))]);
    let note =
        "In all of `penguins`, `body_mass_g` is missing in 2 of 344 rows; these are not counted.";
    assert_eq!(some.notes(), note);
    // A negation leaves them out, and a share has them in its whole.
    let columns = ["count:int64", "share_percent:float64"];
    let rows = |filters: Vec<Test>, measure: Measure| {
        let body = Shape::Groups(groups(Vec::new(), vec![measure]));
        let query = LogicalForm { filters, ..query(0, body) };
        run("", query, &[frame(&columns, &json!([[5, 5]]))]).notes().to_owned()
    };
    let note = "`sex` is missing in 11 of 344 rows; these are not counted.";
    let male = one("penguins.sex", "male");
    let not_male = Test::Not(Box::new(male.clone()));
    assert_eq!(rows(vec![not_male], Measure::ROWS), note);
    let ne = Test::Is(column("penguins.sex"), Op::Ne, Value::Text("male".to_owned()));
    assert_eq!(rows(vec![ne], Measure::ROWS), note);
    assert_eq!(rows(vec![male.clone()], Measure::ROWS), "");
    let share = Measure { agg: Agg::Share, of: None, only: vec![male] };
    assert_eq!(rows(Vec::new(), share), "");
    let by = groups(vec![key("penguins.sex")], vec![Measure::ROWS]);
    let columns = ["sex:string", "count:int64"];
    let second = run(
        "",
        query(0, Shape::Groups(by)),
        &[frame(&columns, &json!([["male", 1], ["female", 2]]))],
    );
    assert_eq!(second.notes(), "Rows without `sex` (11 in all) are in no group.");
    let other =
        joined(query(1, Shape::Groups(groups(vec![key("departments.city")], vec![Measure::ROWS]))));
    let guard = frame(&["repeats:int64", "matches:int64"], &json!([[0, 9]]));
    let cities = frame(&["city:string", "count:int64"], &json!([["Rome", 1], ["Oslo", 2]]));
    assert_eq!(run("", other, &[guard, cities]).notes(), "");
}
