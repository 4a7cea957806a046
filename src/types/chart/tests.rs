//! Which specs can be drawn, and what is said of the others.

use serde_json::json;

use super::{ChartSpec, ChartType, RejectedCode, Series};
use crate::chart_options::ChartOptions;
use crate::frame::Frame;

fn spec(y_fields: &[&str]) -> ChartSpec {
    let series = y_fields.iter().map(|it| Series { name: (*it).into(), y_field: (*it).into() });
    ChartSpec {
        df_name: "df".into(),
        logical_name: "weeks".into(),
        chart_type: ChartType::Line,
        x_field: "week".into(),
        x_label: None,
        y_label: None,
        series: series.collect(),
        title: None,
        note: None,
        options: None,
    }
}

#[track_caller]
fn check(y_fields: &[&str], n_rows: u64, rejected: Option<(RejectedCode, &str)>) {
    let frame = Frame {
        columns: vec!["week".into(), "sales".into()],
        dtypes: vec!["object".into(), "int64".into()],
        rows: (0..n_rows.min(9)).map(|it| vec![json!("w"), json!(it)]).collect(),
        row_count: n_rows,
    };
    let found = spec(y_fields).check(frame).err().map(|it| (it.code, it.reason));
    assert_eq!(found, rejected.map(|(code, reason)| (code, reason.to_owned())));
}

#[test]
fn a_numeric_series_can_be_drawn() {
    check(&["sales"], 1, None);
    check(&["sales"], 5_000, None);
}

#[test]
fn the_reason_names_the_column_at_fault() {
    let numeric = "no numeric column `week`; convert it first";
    check(&["week"], 1, Some((RejectedCode::NonNumericY, numeric)));
    let unknown = "no column `price` in `df`; it has week, sales";
    check(&["price"], 1, Some((RejectedCode::UnknownField, unknown)));
}

#[test]
fn the_reason_gives_the_number_and_the_limit() {
    let rows = "5001 rows; a chart plots at most 5000: aggregate or take the top rows first";
    check(&["sales"], 5_001, Some((RejectedCode::TooManyRows, rows)));
    let series = "12 series; a chart shows at most 10: keep the largest and sum the rest";
    check(&["sales"; 12], 1, Some((RejectedCode::TooManySeries, series)));
}

#[test]
fn a_text_has_a_length_that_can_be_written() {
    let long = |n_chars: usize| "ä".repeat(n_chars);
    check_spec(|it| it.title = Some(long(500)), None);
    let refused = |what: &str| {
        Some(format!("the {what} has 501 characters; a text of a chart has at most 500"))
    };
    check_spec(|it| it.title = Some(long(501)), refused("title").as_deref());
    check_spec(|it| it.series[0].name = long(501), refused("name of a series").as_deref());
    let annotated = |it: &mut ChartSpec| {
        options(it, json!({"annotations": [{"x": "w1", "y": null, "text": long(501)}]}));
    };
    check_spec(annotated, refused("text in options").as_deref());
}

#[test]
fn nothing_to_draw_is_said() {
    check(&["sales"], 0, Some((RejectedCode::Empty, "`df` has no rows; there is nothing to draw")));
    check(&[], 1, Some((RejectedCode::Empty, "no series; name at least one y field")));
}

/// Checks a spec of two columns, `week` and `sales`, with these changes.
#[track_caller]
fn check_spec(change: impl Fn(&mut ChartSpec), reason: Option<&str>) {
    let mut spec = spec(&["sales"]);
    change(&mut spec);
    let frame = Frame {
        columns: ["week", "sales", "shop", "far"].map(String::from).to_vec(),
        dtypes: ["object", "int64", "object", "float64"].map(String::from).to_vec(),
        rows: vec![
            vec![json!("w1"), json!(1), json!("a"), json!(0.5)],
            vec![json!("w1"), json!(-2), json!("a"), json!(0.5)],
        ],
        row_count: 2,
    };
    let found = spec.check(frame).err().map(|it| it.reason);
    assert_eq!(found.as_deref(), reason);
}

fn options(spec: &mut ChartSpec, options: serde_json::Value) {
    spec.options = serde_json::from_value(options).unwrap();
}

#[test]
fn a_type_that_does_not_fit_is_refused_with_another() {
    let kind = |kind| move |it: &mut ChartSpec| it.chart_type = kind;
    let counted =
        "a histogram counts the values of x_field, which is numeric; its series must be []";
    check_spec(kind(ChartType::Histogram), Some(counted));
    check_spec(
        |it| {
            (it.chart_type, it.series) = (ChartType::Histogram, Vec::new());
        },
        Some("no numeric column `week`; convert it first"),
    );
    check_spec(kind(ChartType::Box), None);
    let share = "-2 is below zero and has no share; use stacked_column";
    check_spec(kind(ChartType::PercentStackedColumn), Some(share));
    check_spec(kind(ChartType::Area), None);
}

#[test]
fn long_data_has_one_row_for_each_pair() {
    let colour = |it: &mut ChartSpec| options(it, json!({"color_by": "shop"}));
    let twice = "several rows have `week` \"w1\" and `shop` \"a\"; aggregate them first";
    check_spec(colour, Some(twice));
    check_spec(
        |it| {
            it.chart_type = ChartType::Scatter;
            colour(it);
        },
        None,
    );
    let same = "color_by and x_field are the same column; name another, or null";
    check_spec(|it| options(it, json!({"color_by": "week"})), Some(same));
}

#[test]
fn options_belong_to_some_types() {
    let text = "no numeric column `week`; its axis cannot be logarithmic";
    check_spec(|it| options(it, json!({"log_axis": "x"})), Some(text));
    check_spec(|it| options(it, json!({"log_axis": "y"})), None);
    let trend = "a trend line belongs to a scatter plot";
    check_spec(|it| options(it, json!({"trend_line": true})), Some(trend));
    let line = json!({"value": 1, "to": null, "label": null});
    let many = "6 references; a chart has at most 5";
    check_spec(|it| options(it, json!({"references": vec![line.clone(); 6]})), Some(many));
}

#[test]
fn panels_error_bars_and_emphasis_belong_to_some_charts() {
    use ChartType::{Area, Bar, Box, Column, Line, Scatter};
    let of = |kind, given: serde_json::Value, reason: Option<&str>| {
        check_spec(
            |it| {
                it.chart_type = kind;
                options(it, given.clone());
            },
            reason,
        );
    };
    let twice = "several rows have `week` \"w1\" and `shop` \"a\"; aggregate them first";
    let panels = json!({"facet_by": "shop"});
    of(Line, panels.clone(), Some(twice));
    of(Scatter, panels.clone(), None);
    let kinds = "facet_by is for bars, columns, lines, areas and points; compare distributions with a box plot";
    of(Box, panels, Some(kinds));
    let same = "facet_by is the same column as x_field or color_by; name another, or null";
    of(Line, json!({"facet_by": "week"}), Some(same));
    let ends = json!({"error_bars": {"low_field": "sales", "high_field": "sales"}});
    of(Bar, ends.clone(), None);
    of(Area, ends, Some("error_bars are for one series of bar, column, line or scatter"));
    let distances = "no value is between its `far` and `far`; error bars need the ends, such as mean - error \
                     and mean + error, and not the distances";
    of(Bar, json!({"error_bars": {"low_field": "far", "high_field": "far"}}), Some(distances));
    let words = json!({"error_bars": {"low_field": "shop", "high_field": "sales"}});
    of(Bar, words, Some("no numeric column `shop`; convert it first"));
    of(Bar, json!({"highlight": "w1"}), None);
    of(
        Bar,
        json!({"highlight": "w2"}),
        Some("cannot highlight `w2`: it must be a value of `week`"),
    );
    let series = "cannot highlight `w1`: it must be the name of one of several series";
    of(Line, json!({"highlight": "w1"}), Some(series));
    of(Area, json!({"highlight": "w1"}), Some("highlight is for bar, column, line and scatter"));
    let text = json!({"annotations": [{"x": "w1", "y": null, "text": "t"}]});
    of(Column, text.clone(), None);
    of(Bar, text, Some("annotations are for column, line, area and scatter"));
    of(Line, json!({"size_by": "sales"}), Some("size_by is for scatter"));
    let line =
        "line_series.name must be the name of one of the series, besides which others are columns";
    of(Column, json!({"line_series": {"name": "sales", "y_label": null}}), Some(line));
}

#[test]
fn a_spec_from_before_there_were_options_is_read_and_written_unchanged() {
    let old = json!({"df_name": "df", "logical_name": "l", "chart_type": "bar", "x_field": "x",
        "x_label": null, "y_label": null, "series": [], "title": null, "note": null});
    let spec: ChartSpec = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(serde_json::to_value(spec).unwrap(), old);
}

#[test]
fn the_width_of_bins_is_positive_and_makes_no_more_bins_than_there_is_room_for() {
    let reason = |kind, width| {
        let frame = Frame {
            columns: vec!["n".into()],
            dtypes: vec!["float64".into()],
            rows: [-10, 0, 990].map(|it| vec![json!(it)]).to_vec(),
            row_count: 3,
        };
        let options = ChartOptions { bin_width: Some(width), ..ChartOptions::default() };
        let spec = ChartSpec {
            chart_type: kind,
            x_field: "n".into(),
            series: Vec::new(),
            options: Some(Box::new(options)),
            ..spec(&[])
        };
        spec.check(frame).err().map(|it| it.reason).unwrap_or_default()
    };
    let histogram = ChartType::Histogram;
    assert_eq!(reason(histogram, 10.0), "");
    assert_eq!(
        reason(histogram, 0.5),
        "bin_width 0.5 makes 2001 bins; a histogram has at most 200"
    );
    assert_eq!(reason(histogram, 0.0), "bin_width is not a positive number");
}
