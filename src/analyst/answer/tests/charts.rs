//! Charts: their marks, frames and titles.

use serde_json::{Value as Json, json};

use csv_agent_types::chart_options::LogAxis;

use super::Run;
use super::{at, drawn, frame, groups, key, measure, query, run, top};
use crate::lexicon::TimeUnit;
use crate::query::{
    Agg, Chart, GroupKey, Groups, LogicalForm, Look, Measure, Over, Panels, Part, Profile, Shape,
};

/// The output of a statement that only makes a frame.
pub(super) fn made() -> Json {
    frame(&["x:string"], &json!([["a"]]))
}

/// Checks the marks, the column along the axis and the series of a chart.
#[track_caller]
pub(super) fn check(run: &Run, kind: &str, df: &str, x: &str, series: &[&str]) {
    let chart = run.chart();
    assert_eq!(
        (&chart["chart_type"], &chart["df_name"], &chart["x_field"]),
        (&json!(kind), &json!(df), &json!(x))
    );
    let fields: Vec<&str> = chart["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["y_field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, series);
    let mut members: Vec<&str> = chart.as_object().unwrap().keys().map(String::as_str).collect();
    members.retain(|it| *it != "options");
    members.sort_unstable();
    let all = [
        "chart_type", "df_name", "logical_name", "note", "series", "title", "x_field", "x_label",
        "y_label",
    ];
    assert_eq!(members, all);
}

pub(super) fn mass_by(keys: Vec<GroupKey>) -> Groups {
    groups(keys, vec![measure(Agg::Mean, "penguins.body_mass_g")])
}

pub(super) fn of(groups: Groups) -> LogicalForm {
    query(0, Shape::Groups(groups))
}

pub(super) fn ranks(n: usize, name: impl Fn(usize) -> Json) -> Json {
    json!((0..n).map(|it| json!([name(it), n - it])).collect::<Vec<_>>())
}

#[test]
fn categories_are_bars_by_value() {
    let columns = ["species:string", "mean_body_mass_g:float64"];
    let few = frame(&columns, &ranks(3, |it| json!(format!("s{it}"))));
    let sorted = "select * from result order by mean_body_mass_g desc nulls last";
    let any = run(
        "",
        drawn(Chart::Any, of(mass_by(vec![key("penguins.species")]))),
        &[few.clone(), made()],
    );
    check(&any, "column", "chart", "species", &["mean_body_mass_g"]);
    assert_eq!(any.statements()[1], sorted);
    assert_eq!(any.chart()["title"], "Average body mass by species");
    assert_eq!(any.chart()["y_label"], "Average body mass (g)");
    let long = frame(&columns, &ranks(3, |it| json!(format!("a long label {it}"))));
    let bars =
        run("", drawn(Chart::Any, of(mass_by(vec![key("penguins.species")]))), &[long, made()]);
    check(&bars, "bar", "chart", "species", &["mean_body_mass_g"]);
    // What was asked for is drawn, and a ranking is in order already.
    let ranked = Groups { order: Some(top(3)), ..mass_by(vec![key("penguins.species")]) };
    for (asked, kind) in
        [(Chart::Bar, "bar"), (Chart::Line, "line"), (Chart::Stacked, "stacked_column")]
    {
        let one = run("", drawn(asked, of(ranked.clone())), std::slice::from_ref(&few));
        check(&one, kind, "result", "species", &["mean_body_mass_g"]);
        assert_eq!(one.chart()["title"], "Average body mass by species, top 3");
    }
    let none = run("", of(mass_by(vec![key("penguins.species")])), &[few]);
    assert!(none.calls("send_chart_to_ui").is_empty(), "nobody asked for a chart");
}

#[test]
fn more_categories_than_a_chart_has_are_the_largest() {
    let columns = ["species:string", "mean_body_mass_g:float64"];
    let many = frame(&columns, &ranks(300, |it| json!(format!("s{it}"))));
    let ends = frame(&columns, &json!([["s0", 300], ["s299", 1]]));
    let bars = run(
        "",
        drawn(Chart::Any, of(mass_by(vec![key("penguins.species")]))),
        &[many, ends, made()],
    );
    check(&bars, "bar", "chart", "species", &["mean_body_mass_g"]);
    assert!(bars.statements()[2].ends_with("desc nulls last limit 200"), "{:?}", bars.statements());
    assert_eq!(bars.notes(), "The chart shows the largest 200 of 300.");
}

#[test]
fn a_trend_is_a_line_that_nobody_has_to_ask_for() {
    let columns = ["year:int64", "mean_body_mass_g:float64"];
    let years = |n| frame(&columns, &ranks(n, |it| json!(2000 + it)));
    let by_year = || of(mass_by(vec![key("penguins.year")]));
    let line = run("", by_year(), &[years(3)]);
    check(&line, "line", "result", "year", &["mean_body_mass_g"]);
    assert_eq!(line.rounds[1].len(), 2, "the table and its chart go out together");
    assert!(run("", by_year(), &[years(2)]).calls("send_chart_to_ui").is_empty());
    check(
        &run("", drawn(Chart::Any, by_year()), &[years(2)]),
        "line",
        "result",
        "year",
        &["mean_body_mass_g"],
    );
    check(
        &run("", drawn(Chart::Bar, by_year()), &[years(3)]),
        "bar",
        "result",
        "year",
        &["mean_body_mass_g"],
    );
    let scatter = run("", drawn(Chart::Scatter, by_year()), &[years(3)]);
    check(&scatter, "scatter", "result", "year", &["mean_body_mass_g"]);
    let long = run("", by_year(), &[years(5_300), years(2), made()]);
    check(&long, "line", "chart", "year", &["mean_body_mass_g"]);
    assert_eq!(long.notes(), "The chart shows the last 5,000 of 5,300.");
    // A ranking is none.
    let ranked = Groups { order: Some(top(3)), ..mass_by(vec![key("penguins.year")]) };
    assert!(run("", of(ranked), &[years(3)]).calls("send_chart_to_ui").is_empty());
    let growth = Groups { over: Some(Over::Growth), ..mass_by(vec![key("penguins.year")]) };
    let columns = ["year:int64", "mean_body_mass_g:float64", "growth_percent:float64"];
    let rows = json!([[2007, 1, null], [2008, 2, 100], [2009, 3, 50]]);
    let line = run("", of(growth), &[frame(&columns, &rows)]);
    check(&line, "line", "result", "year", &["growth_percent"]);
    assert_eq!(line.chart()["title"], "Growth in average body mass by year");
}

#[test]
fn parts_of_a_date_and_ranges_keep_their_order() {
    let hired = at("staff.hired");
    let staff =
        |key| drawn(Chart::Any, query(1, Shape::Groups(groups(vec![key], vec![Measure::ROWS]))));
    let days = frame(&["weekday:string", "count:int64"], &json!([["Monday", 1], ["Friday", 9]]));
    let columns = run("", staff(GroupKey::Part(hired, Part::Weekday)), &[days]);
    check(&columns, "column", "result", "weekday", &["count"]);
    let months = frame(&["month:int64", "count:int64"], &json!([[1, 1], [2, 9]]));
    check(
        &run("", staff(GroupKey::Part(hired, Part::Month)), &[months]),
        "line",
        "result",
        "month",
        &["count"],
    );
    let bins = frame(&["salary_usd_from:float64", "count:int64"], &json!([[0.0, 1], [500.0, 9]]));
    let columns = run("", staff(GroupKey::Bin(at("staff.Salary (USD)"), 500.0)), &[bins]);
    check(&columns, "column", "result", "salary_usd_from", &["count"]);
    assert_eq!(columns.chart()["x_label"], "Salary (USD)");
}

#[test]
fn two_numbers_of_groups_make_points() {
    let both = || {
        let measures =
            ["penguins.body_mass_g", "penguins.bill_length_mm"].map(|it| measure(Agg::Mean, it));
        groups(vec![key("penguins.species")], measures.to_vec())
    };
    let columns = ["species:string", "mean_body_mass_g:float64", "mean_bill_length_mm:float64"];
    let output = frame(&columns, &json!([["a", 1, 2], ["b", 3, 4]]));
    let points = run("", drawn(Chart::Scatter, of(both())), std::slice::from_ref(&output));
    check(&points, "scatter", "result", "mean_bill_length_mm", &["mean_body_mass_g"]);
    let columns = run("", drawn(Chart::Column, of(both())), &[output, made()]);
    check(&columns, "column", "chart", "species", &["mean_body_mass_g", "mean_bill_length_mm"]);
    let one = frame(&["species:string", "mean_body_mass_g:float64"], &json!([["a", 1], ["b", 3]]));
    let instead =
        run("", drawn(Chart::Scatter, of(mass_by(vec![key("penguins.species")]))), &[one, made()]);
    check(&instead, "column", "chart", "species", &["mean_body_mass_g"]);
    assert_eq!(instead.notes(), "A scatter chart needs two numbers, so this is a column chart.");
}

#[test]
fn time_and_categories_are_lines() {
    let by = |keys| of(mass_by(keys));
    let rows =
        json!([["Adelie", 2007, 1], ["Adelie", 2008, 2], ["Gentoo", 2007, 5], ["Gentoo", 2008, 6]]);
    let columns = ["species:string", "year:int64", "mean_body_mass_g:float64"];
    let query = by(vec![key("penguins.species"), key("penguins.year")]);
    let lines = run("", query, &[frame(&columns, &rows), made()]);
    check(&lines, "line", "chart", "year", &["Gentoo", "Adelie"]);
    assert_eq!(
        lines.statements()[1],
        "select \"year\", max(mean_body_mass_g) filter (where species = 'Gentoo') as \"Gentoo\", max(mean_body_mass_g) \
         filter (where species = 'Adelie') as \"Adelie\" from result group by \"year\" order by \"year\""
    );
    assert_eq!(lines.chart()["title"], "Average body mass by species and year");
}

#[test]
fn two_categories_are_stacked() {
    let by = |measure| groups(vec![key("penguins.species"), key("penguins.island")], vec![measure]);
    let rows =
        json!([["Adelie", "Biscoe", 44], ["Adelie", "Dream", 56], ["Gentoo", "Biscoe", 124]]);
    let columns = ["species:string", "island:string", "count:int64"];
    let stacked =
        run("", drawn(Chart::Any, of(by(Measure::ROWS))), &[frame(&columns, &rows), made()]);
    check(&stacked, "stacked_column", "chart", "species", &["Biscoe", "Dream"]);
    // Means do not add up.
    let columns = ["species:string", "island:string", "mean_body_mass_g:float64"];
    let mean = measure(Agg::Mean, "penguins.body_mass_g");
    let beside = run("", drawn(Chart::Any, of(by(mean))), &[frame(&columns, &rows), made()]);
    check(&beside, "column", "chart", "species", &["Biscoe", "Dream"]);
}

#[test]
fn more_series_than_fit_are_the_largest_and_the_rest() {
    let keys = || vec![GroupKey::Time(at("staff.hired"), TimeUnit::Year), key("staff.Department")];
    let rows: Vec<Json> =
        (0..60).map(|it| json!([2000 + it / 12, format!("d{}", it % 12), it])).collect();
    let counts = groups(keys(), vec![Measure::ROWS]);
    let columns = ["year:int64", "Department:string", "count:int64"];
    let sizes: Vec<Json> = (0..12).map(|it| json!([format!("d{it}"), 100 - it, 5])).collect();
    let sizes = frame(&["series:string", "size:int64", "along:int64"], &json!(sizes));
    let outputs = [frame(&columns, &json!(rows)), made(), sizes.clone(), made()];
    let lines = run("", query(1, Shape::Groups(counts)), &outputs);
    let mut series: Vec<String> = (0..9).map(|it| format!("d{it}")).collect();
    series.push("other".to_owned());
    check(&lines, "line", "chart", "year", &series.iter().map(String::as_str).collect::<Vec<_>>());
    let pivot = &lines.statements()[3];
    assert!(
        pivot.contains("sum(\"count\") filter (where \"Department\" not in ('d0', 'd1', "),
        "{pivot}"
    );
    assert_eq!(
        lines.notes(),
        "The chart shows the largest of 12 departments; the rest is “other”."
    );
    let means = groups(keys(), vec![measure(Agg::Mean, "staff.MonthlyIncome")]);
    let columns = ["year:int64", "Department:string", "mean_monthlyincome:float64"];
    let outputs = [frame(&columns, &json!(rows)), made(), sizes, made()];
    let lines = run("", query(1, Shape::Groups(means)), &outputs);
    assert_eq!(lines.chart()["series"].as_array().unwrap().len(), 10);
    assert_eq!(lines.notes(), "The chart shows the 10 largest of 12 departments.");
}

#[test]
fn series_are_told_apart_from_the_axis_and_each_other() {
    let by = groups(vec![key("penguins.year"), key("penguins.species")], vec![Measure::ROWS]);
    let rows = json!([[2007, "year", 4], [2007, "O'Hare", 3], [2008, "Year", 2], [2008, "", 1]]);
    let columns = ["year:int64", "species:string", "count:int64"];
    let lines = run("", of(by), &[frame(&columns, &rows), made()]);
    check(&lines, "line", "chart", "year", &["year_", "O'Hare", "Year__", "value"]);
    assert!(lines.statements()[1].contains("species = 'O''Hare') as \"O'Hare\""));
}

#[test]
fn single_values_are_counted_in_bins_or_boxes() {
    let mass = at("penguins.body_mass_g");
    let columns = [
        "species:string",
        "median_body_mass_g:float64",
        "p25_body_mass_g:float64",
        "p75_body_mass_g:float64",
        "min_body_mass_g:float64",
        "max_body_mass_g:float64",
    ];
    let output = frame(&columns, &json!([["a", 3, 2, 4, 1, 5], ["b", 4, 3, 5, 2, 6]]));
    let boxes = of(Groups::boxes(vec![key("penguins.species")], mass));
    let boxes = run("", drawn(Chart::Box, boxes), &[output, made()]);
    check(&boxes, "box", "chart", "species", &["body_mass_g"]);
    assert_eq!(
        boxes.statements()[1],
        "select species, body_mass_g from penguins where species is not null and body_mass_g is not null order by species"
    );
    assert_eq!(boxes.chart()["title"], "Body mass by species");
    assert_eq!(boxes.finding(), "**b** has a higher median body mass, 4 g, than a, 3 g.");
    let years = frame(&["year:int64", "count:int64"], &json!([[2007, 1], [2009, 2]]));
    let distribution = || query(0, Shape::Profile(Profile::Distribution(at("penguins.year"))));
    let histogram = run("", distribution(), &[years.clone(), made()]);
    check(&histogram, "histogram", "chart", "year", &[]);
    assert_eq!(histogram.chart()["y_label"], "Number of rows");
    let values = "select \"year\" from penguins where \"year\" is not null";
    assert_eq!(histogram.statements()[1], values);
    // Its bins are those of the result.
    assert_eq!(histogram.chart()["options"], json!({"bin_width": 1.0}));
    let far = frame(&["year:int64", "count:int64"], &json!([[7, 1], [2009, 2]]));
    check(&run("", distribution(), &[far]), "column", "result", "year", &["count"]);
    let bands = of(groups(vec![GroupKey::Bin(mass, 500.0)], vec![Measure::ROWS]));
    let output = frame(&["body_mass_g:float64", "count:int64"], &json!([[2500, 3], [3000, 4]]));
    let bands = run("", drawn(Chart::Histogram, bands), &[output, made()]);
    check(&bands, "histogram", "chart", "body_mass_g", &[]);
    assert_eq!(bands.chart()["options"], json!({"bin_width": 500.0}));
    let one = run("", drawn(Chart::Box, distribution()), &[years.clone(), made()]);
    check(&one, "box", "chart", "year", &["year"]);
    let bars = run("", drawn(Chart::Bar, distribution()), &[years]);
    check(&bars, "bar", "result", "year", &["count"]);
    let output =
        frame(&["species:string", "mean_body_mass_g:float64"], &json!([["a", 3], ["b", 4]]));
    let means = drawn(Chart::Histogram, of(mass_by(vec![key("penguins.species")])));
    let columns = run("", means, &[output, made()]);
    check(&columns, "column", "chart", "species", &["mean_body_mass_g"]);
    assert_eq!(
        columns.notes(),
        "A histogram needs the values of one number, so this is a column chart."
    );
}

#[test]
fn groups_have_a_panel_each_and_an_axis_is_logarithmic_where_it_can_be() {
    let (species, island) = (key("penguins.species"), key("penguins.island"));
    let output = frame(
        &["species:string", "island:string", "mean_body_mass_g:float64"],
        &json!([["a", "x", 3], ["a", "y", 5], ["b", "x", 4]]),
    );
    let looks = |chart, look, keys: Vec<GroupKey>, output: &Json| {
        let query = LogicalForm { look, ..drawn(chart, of(mass_by(keys))) };
        run("", query, std::slice::from_ref(output))
    };
    let panels = |it| Look { panels: Some(it), log_axis: None };
    let by_species = looks(Chart::Any, panels(Panels::Of(species)), vec![species, island], &output);
    check(&by_species, "column", "result", "island", &["mean_body_mass_g"]);
    assert_eq!(by_species.chart()["options"], json!({"facet_by": "species"}));
    let bars = looks(Chart::Bar, panels(Panels::Any), vec![species, island], &output);
    assert_eq!(bars.chart()["chart_type"], "bar");
    assert!(bars.chart()["options"]["facet_by"].is_string());
    let output =
        frame(&["year:int64", "mean_body_mass_g:float64"], &json!([[1, 3], [2, 5], [3, 9]]));
    let log = Look { panels: None, log_axis: Some(LogAxis::Y) };
    let line = looks(Chart::Any, log, vec![key("penguins.year")], &output);
    assert_eq!(line.chart()["options"], json!({"log_axis": "y"}));
    let bars = looks(Chart::Bar, log, vec![key("penguins.year")], &output);
    assert_eq!(bars.chart()["options"], Json::Null);
    assert_eq!(bars.notes(), "A bar chart has no logarithmic axis.");
}

#[test]
fn shades_of_two_kinds_of_groups() {
    let by = |measure| groups(vec![key("penguins.species"), key("penguins.island")], vec![measure]);
    let rows =
        json!([["Adelie", "Biscoe", 44], ["Adelie", "Dream", 56], ["Gentoo", "Biscoe", 124]]);
    let columns = ["species:string", "island:string", "count:int64"];
    let output = frame(&columns, &rows);
    let grid = run("", drawn(Chart::Heat, of(by(Measure::ROWS))), &[output, made()]);
    assert_eq!(
        grid.statements()[1],
        "select species, island, \"count\" from (select distinct species from result) as across cross join (select distinct \
         island from result) as down left join result using (species, island) order by species, island"
    );
    assert_eq!(grid.chart()["chart_type"], "heatmap");
    assert_eq!(grid.chart()["x_field"], "species");
    assert_eq!(grid.chart()["options"], json!({"color_by": "island"}));
    // A grid of many means is not drawn as columns side by side, and more rows than fit are the largest.
    let many: Vec<Json> =
        (0..15).map(|it| json!([format!("a{}", it % 5), format!("b{it}"), it])).collect();
    let mean = || by(measure(Agg::Mean, "penguins.body_mass_g"));
    let columns = ["species:string", "island:string", "mean_body_mass_g:float64"];
    let grid = run("", drawn(Chart::Any, of(mean())), &[frame(&columns, &json!(many)), made()]);
    assert_eq!(grid.chart()["chart_type"], "heatmap");
    let many: Vec<Json> =
        (0..60).map(|it| json!([format!("a{it}"), format!("b{it}"), it])).collect();
    let sizes: Vec<Json> = (0..60).map(|it| json!([format!("b{it}"), 1, 60])).collect();
    let sizes = frame(&["series:string", "size:float64", "along:int64"], &json!(sizes));
    let outputs = [frame(&columns, &json!(many)), made(), sizes, made()];
    let grid = run("", drawn(Chart::Heat, of(mean())), &outputs);
    assert_eq!(grid.notes(), "The chart shows the largest 40 of 60 islands.");
    let down = "cross join (select island from result group by island order by avg(mean_body_mass_g) desc limit 40) as down";
    assert!(grid.statements()[3].contains(down), "{:?}", grid.statements());
    let one = frame(&["species:string", "count:int64"], &json!([["a", 1], ["b", 3]]));
    let counts = groups(vec![key("penguins.species")], vec![Measure::ROWS]);
    let columns = run("", drawn(Chart::Heat, of(counts.clone())), &[one.clone(), made()]);
    check(&columns, "column", "chart", "species", &["count"]);
    assert_eq!(columns.notes(), "A heat map needs two kinds of groups, so this is a column chart.");
    let shares = run("", drawn(Chart::Shares, of(counts)), &[one, made()]);
    check(&shares, "percent_stacked_column", "chart", "species", &["count"]);
    assert_eq!(shares.notes(), "One column shows the shares of the whole, as a pie would.");
}

#[test]
fn what_does_not_add_up_is_not_stacked() {
    let by = |measure| groups(vec![key("penguins.species"), key("penguins.island")], vec![measure]);
    let rows = json!([["Adelie", "Biscoe", 44], ["Gentoo", "Dream", 56]]);
    for (asked, kind) in [
        (Chart::Stacked, "stacked_column"),
        (Chart::Shares, "percent_stacked_column"),
        (Chart::Area, "area"),
    ] {
        let columns = ["species:string", "island:string", "count:int64"];
        let outputs = [frame(&columns, &rows), made()];
        let counts = run("", drawn(asked, of(by(Measure::ROWS))), &outputs);
        check(&counts, kind, "chart", "species", &["Dream", "Biscoe"]);
        let columns = ["species:string", "island:string", "mean_body_mass_g:float64"];
        let mean = by(measure(Agg::Mean, "penguins.body_mass_g"));
        let outputs = [frame(&columns, &rows), made()];
        let means = run("", drawn(asked, of(mean)), &outputs);
        check(&means, "column", "chart", "species", &["Dream", "Biscoe"]);
        let told = "Only what adds up can be stacked, so this is a column chart.";
        assert_eq!(means.notes(), told);
    }
}
