//! Charts of rows and of what the data is like, and the titles of all.

use serde_json::json;

use super::charts::{check, made, mass_by, of, ranks};
use super::{
    at, attrition, column, drawn, filtered, frame, groups, is, key, listing, measure, one, query,
    run, top,
};
use crate::query::{
    Agg, Chart, Comparison, Contrast, Listing, Measure, Op, Profile, Shape, Side, Told,
};

#[test]
fn rows_are_points_lines_or_bars() {
    let rows = |columns: &[&str]| query(0, Shape::Rows(listing(columns)));
    let (mass, bill, year) = ("penguins.body_mass_g", "penguins.bill_length_mm", "penguins.year");
    let numbers =
        frame(&["body_mass_g:float64", "bill_length_mm:float64"], &json!([[1, 2], [3, 4]]));
    let points =
        run("", drawn(Chart::Scatter, rows(&[mass, bill])), std::slice::from_ref(&numbers));
    check(&points, "scatter", "result", "bill_length_mm", &["body_mass_g"]);
    assert_eq!(points.chart()["title"], "Body mass against bill length");
    assert_eq!(points.chart()["x_label"], "Bill length (mm)");
    check(
        &run("", drawn(Chart::Any, rows(&[mass, bill])), &[numbers]),
        "scatter",
        "result",
        "bill_length_mm",
        &["body_mass_g"],
    );
    let many =
        frame(&["body_mass_g:float64", "bill_length_mm:float64"], &ranks(5_001, |it| json!(it)));
    let sample = run("", drawn(Chart::Scatter, rows(&[mass, bill])), &[many, made()]);
    check(&sample, "scatter", "chart", "bill_length_mm", &["body_mass_g"]);
    assert!(
        sample.statements()[1]
            .contains("\"_at\" * 5000 // \"_n\" > (\"_at\" - 1) * 5000 // \"_n\"")
    );
    assert_eq!(sample.notes(), "The chart shows 5,000 of 5,001 points.");
    let series = frame(&["body_mass_g:float64", "year:int64"], &json!([[1, 2007], [3, 2008]]));
    let line = run("", drawn(Chart::Line, rows(&[mass, year])), &[series, made()]);
    check(&line, "line", "chart", "year", &["body_mass_g"]);
    assert!(line.statements()[1].ends_with("is not null order by \"year\""));
    let names = frame(&["species:string", "body_mass_g:float64"], &json!([["a", 1], ["b", 3]]));
    let bars =
        run("", drawn(Chart::Bar, rows(&["penguins.species", mass])), &[names.clone(), made()]);
    check(&bars, "bar", "chart", "species", &["body_mass_g"]);
    assert_eq!(bars.chart()["title"], "Body mass by species");
    let ranked =
        Listing { order: Some((column(mass), top(2))), ..listing(&["penguins.species", mass]) };
    let bars = run("", drawn(Chart::Bar, query(0, Shape::Rows(ranked))), &[names]);
    check(&bars, "bar", "result", "species", &["body_mass_g"]);
    let texts = frame(&["species:string", "island:string"], &json!([["a", "b"], ["c", "d"]]));
    let none = run("", drawn(Chart::Any, rows(&["penguins.species", "penguins.island"])), &[texts]);
    assert_eq!(none.notes(), "There is no chart: the rows have no two columns that make one.");
}

#[test]
fn profiles_and_comparisons_are_drawn() {
    let profile = |it| query(0, Shape::Profile(it));
    let counts =
        frame(&["species:string", "count:int64"], &json!([["Adelie", 152], ["Gentoo", 124]]));
    let distribution = run("", profile(Profile::Distribution(at("penguins.species"))), &[counts]);
    check(&distribution, "column", "result", "species", &["count"]);
    assert_eq!(distribution.chart()["title"], "Distribution of species");
    let missing = Profile::Missing { of: Vec::new(), told: Told::Each };
    let each = frame(
        &["column:string", "missing:int64", "of:int64"],
        &json!([["sex", 11, 344], ["year", 0, 344]]),
    );
    check(
        &run("", drawn(Chart::Any, profile(missing)), &[each]),
        "bar",
        "result",
        "column",
        &["missing"],
    );
    let size = frame(&["rows:int64", "columns:int64"], &json!([[344, 6]]));
    let none = run("", drawn(Chart::Any, profile(Profile::Size)), &[size]);
    assert_eq!(none.notes(), "There is no chart: the result does not fit one.");
    let part = |name: &str| Side { name: name.to_owned(), tests: vec![one("penguins.sex", name)] };
    let compared = Comparison {
        measure: Measure::ROWS,
        sides: [part("male"), part("female")],
        asks: Contrast::Difference,
    };
    let output =
        frame(&["male:int64", "female:int64", "difference:int64"], &json!([[168, 165, 3]]));
    let columns = run("", drawn(Chart::Any, query(0, Shape::Compare(compared))), &[output, made()]);
    check(&columns, "column", "chart", "part", &["value"]);
    assert_eq!(columns.chart()["title"], "Number of rows: male and female");
}

#[test]
fn titles_are_what_a_person_would_write() {
    let total =
        || groups(vec![key("staff.Department")], vec![measure(Agg::Sum, "staff.Salary (USD)")]);
    let columns = ["Department:string", "total_salary_usd:int64"];
    let titled = |filters| {
        let query = filtered(filters, query(1, Shape::Groups(total())));
        let output = frame(&columns, &json!([["HR", 1], ["Sales", 2]]));
        run("", drawn(Chart::Any, query), &[output, made()]).chart()["title"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(titled(Vec::new()), "Salary by department");
    assert_eq!(titled(vec![one("staff.Attrition", "Yes")]), "Salary by department, Yes");
    let rich = vec![is("staff.MonthlyIncome", Op::Ge, 5000.0)];
    assert_eq!(titled(rich), "Salary by department, monthly income at least 5,000");
    let shares = groups(vec![key("staff.Department")], vec![attrition()]);
    let columns = ["Department:string", "share_percent:float64", "part:int64", "of:int64"];
    let output = frame(&columns, &json!([["HR", 1.5, 1, 2], ["Sales", 2.5, 1, 2]]));
    let rates = run("", drawn(Chart::Any, query(1, Shape::Groups(shares))), &[output, made()]);
    assert_eq!(rates.chart()["title"], "Attrition rate by department");
    assert_eq!(rates.chart()["y_label"], "Attrition rate (%)");
    let year = vec![is("penguins.year", Op::Eq, 2007.0)];
    let output =
        frame(&["species:string", "mean_body_mass_g:float64"], &json!([["a", 1], ["b", 2]]));
    let query = filtered(year, of(mass_by(vec![key("penguins.species")])));
    let chart = run("", drawn(Chart::Any, query), &[output, made()]);
    assert_eq!(chart.chart()["title"], "Average body mass by species, 2007");
}
