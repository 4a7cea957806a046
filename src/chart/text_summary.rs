//! A chart in a few lines of plain text, for screen readers and logs.
//!
//! Each line is self-contained: a voice reads it from the left, and the listener can stop after any
//! line. The program's own characters are ASCII; names and labels are the user's.

use csv_agent_text::digits;
use csv_agent_types::chart::{Chart, ChartType};

use super::alt;
use super::numbers::{self, Measure};
use super::plot::BoxSummary;
use super::plot::Plot;
use super::sheet::count;
use super::text::to_pixel;
use super::text_chart::{shorten_all, width, wrap};

/// Rows listed individually, at the beginning and at the end.
const HEAD: usize = 12;
const TAIL: usize = 3;
/// Characters of the longest bar.
const BAR_MAX: usize = 24;
/// Maximum lines of the sentence.
const SENTENCE_LINES_MAX: usize = 10;
/// Maximum cells of a label.
const LABEL_MAX: usize = 40;
/// Maximum points listed per series.
const POINTS: usize = 7;
/// Maximum lines of one item.
const FOLDS_MAX: usize = 3;
/// Indentation of all but its first line.
const INDENT: &str = "  ";
const MISSING: &str = "no value";

/// Returns the alternative text and the most important values, each line at most `columns` wide.
pub(crate) fn text(chart: &Chart, plot: &Plot, columns: usize) -> String {
    let parts = plot.parts();
    let plot = parts.as_ref().unwrap_or(plot);
    let sentence = wrap(&ascii(&alt(chart)), columns.saturating_sub(2), SENTENCE_LINES_MAX);
    let mut lines: Vec<_> = sentence.into_iter().map(|it| it.replace('…', "...")).collect();
    if plot.range().is_some() {
        match plot.chart_type {
            ChartType::Line | ChartType::Area => lines.extend(courses(plot)),
            ChartType::Scatter => lines.extend(points(plot)),
            ChartType::Box => lines.extend(ends(boxes(plot), "box")),
            ChartType::Heatmap => lines.extend(ends(cells(plot), "row")),
            _ => lines.extend(rows(plot, columns)),
        }
    }
    lines.extend(
        plot.references.iter().map(|it| format!("Reference: {}", ascii(&it.text(plot.measure)))),
    );
    lines.extend(plot.notes.iter().map(|it| format!("Note: {}", ascii(it))));
    let lines = lines.iter().flat_map(|it| folded(it, columns));
    lines.map(|it| it + "\n").collect()
}

/// Returns a line folded to fit; continuation lines are indented.
fn folded(line: &str, columns: usize) -> Vec<String> {
    if width(line) <= columns {
        return vec![line.to_owned()];
    }
    let first = if line.starts_with(INDENT) { INDENT } else { "" };
    let room = columns.saturating_sub(first.len() + INDENT.len() + 2);
    let lines = wrap(line, room, FOLDS_MAX).into_iter().enumerate().map(|(at, it)| {
        let indent = if at == 0 { "" } else { INDENT };
        format!("{first}{indent}{}", it.replace('…', "..."))
    });
    lines.collect()
}

/// Returns our own typography in ASCII, for every voice and log.
fn ascii(text: &str) -> String {
    text.replace(['“', '”'], "\"").replace('−', "-").replace('…', "...")
}

fn value(value: Option<f64>, measure: Measure) -> String {
    value.map_or_else(|| MISSING.to_owned(), |it| ascii(&numbers::amount(it, measure)))
}

/// One line per row: its label, its values, and for a single series a bar after them.
fn rows(plot: &Plot, columns: usize) -> Vec<String> {
    let n_rows = plot.x.len();
    let labels: Vec<_> = (0..n_rows).map(|it| plot.x.full_label(it)).collect();
    let labels = shorten_all(&labels, LABEL_MAX.min(columns / 2));
    let label = |row: usize| ascii(&labels[row]);
    let told = |row: usize| match plot.series.as_slice() {
        [only] => value(only.values[row], plot.measure),
        all => {
            let values =
                all.iter().map(|it| format!("{} {}", it.name, value(it.values[row], plot.measure)));
            values.collect::<Vec<_>>().join(", ")
        }
    };
    let shown: Vec<_> = if n_rows <= HEAD + TAIL {
        (0..n_rows).map(Some).collect()
    } else {
        let tail = (n_rows - TAIL..n_rows).map(Some);
        (0..HEAD).map(Some).chain([None]).chain(tail).collect()
    };
    let cells =
        |of: &dyn Fn(usize) -> String| shown.iter().flatten().map(|it| width(&of(*it))).max();
    let wide = cells(&label).unwrap_or(0);
    let wide_value = if plot.series.len() == 1 { cells(&told).unwrap_or(0) } else { 0 };
    let room = columns.saturating_sub(wide + wide_value + 4).min(BAR_MAX);
    let largest = plot.range().map_or(0.0, |(low, high)| low.abs().max(high.abs()));
    let line = |row: &Option<usize>| {
        let Some(row) = *row else {
            return format!("... {} ...", digits::count((n_rows - HEAD - TAIL) as u64, "more row"));
        };
        let (label, told) = (label(row), told(row));
        let pad = " ".repeat(wide.saturating_sub(width(&label)));
        let bar = match (plot.series.as_slice(), largest) {
            ([only], largest) if 0.0 < largest => {
                let share = only.values[row].unwrap_or(0.0) / largest;
                let n_signs = to_pixel(share.abs() * count(room));
                let sign = if share < 0.0 { "-" } else { "#" };
                sign.repeat(usize::try_from(n_signs).unwrap_or(0))
            }
            _ => String::new(),
        };
        let before = " ".repeat(wide_value.saturating_sub(width(&told)));
        format!("{label}:{pad} {before}{told}  {bar}").trim_end().to_owned()
    };
    shown.iter().map(line).collect()
}

/// Two lines per series: its start and end, its extremes and gaps, and points between.
fn courses(plot: &Plot) -> Vec<String> {
    let course = |series: &super::plot::PlotSeries| {
        let known = series.values.iter().enumerate().filter_map(|(row, it)| Some((row, (*it)?)));
        let known: Vec<_> = known.collect();
        let (Some(first), Some(last)) = (known.first(), known.last()) else {
            return vec![format!("{}: no values", series.name)];
        };
        let place = |(row, it): &(usize, f64)| {
            format!("{} ({})", value(Some(*it), plot.measure), ascii(&plot.place(*row)))
        };
        let by_value = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
        let (low, high) = (known.iter().min_by(by_value), known.iter().max_by(by_value));
        let mut line = format!("{}: first {}, last {}", series.name, place(first), place(last));
        for (word, it) in [("lowest", low), ("highest", high)] {
            line += &it.map_or(String::new(), |it| format!(", {word} {}", place(it)));
        }
        let n_missing = series.values.len() - known.len();
        if 0 < n_missing {
            line = format!("{line}, {n_missing} missing");
        }
        if known.len() <= 2 || 4 < plot.series.len() {
            return vec![line];
        }
        let n_points = POINTS.min(known.len());
        let between =
            (0..n_points).map(|it| place(&known[it * (known.len() - 1) / (n_points - 1)]));
        vec![line, format!("{INDENT}in between: {}", between.collect::<Vec<_>>().join(", "))]
    };
    plot.series.iter().flat_map(course).collect()
}

/// One line per series: the number and range of its points.
fn points(plot: &Plot) -> Vec<String> {
    let cloud = |series: &super::plot::PlotSeries| {
        let mut known: Vec<_> = series.values.iter().flatten().copied().collect();
        known.sort_by(f64::total_cmp);
        let [low, .., high] = known.as_slice() else {
            return format!("{}: {}", series.name, digits::count(known.len() as u64, "point"));
        };
        let middle = known[known.len() / 2];
        let [low, middle, high] = [*low, middle, *high].map(|it| value(Some(it), plot.measure));
        let n_points = known.len();
        format!(
            "{}: {n_points} points from {low} to {high}, half of them below {middle}",
            series.name
        )
    };
    plot.series.iter().map(cloud).collect()
}

/// Returns the first and the last of many lines, with the number of those between.
fn ends(mut lines: Vec<String>, what: &str) -> Vec<String> {
    if HEAD + TAIL < lines.len() {
        let n_more = lines.len() - HEAD - TAIL;
        let what = if what == "box" && 1 < n_more { "boxe" } else { what };
        let more = format!("... {} ...", digits::count(n_more as u64, &format!("more {what}")));
        lines.splice(HEAD..HEAD + n_more, [more]);
    }
    lines
}

/// One line per box: its quartiles and range, and how many values it has.
fn boxes(plot: &Plot) -> Vec<String> {
    let line = |(row, summary): (usize, &BoxSummary)| {
        let label = ascii(&plot.x.full_label(row));
        let (Some(ends), Some((low, high))) = (summary.ends, summary.range()) else {
            return format!("{label}: no values");
        };
        let [_, q1, median, q3, _] = ends.map(|it| value(Some(it), plot.measure));
        let [low, high] = [low, high].map(|it| value(Some(it), plot.measure));
        let n = digits::count(summary.n as u64, "value");
        format!("{label}: median {median}, half from {q1} to {q3}, all from {low} to {high}, {n}")
    };
    plot.boxes.iter().enumerate().map(line).collect()
}

/// One line per row of a heat map: its extremes.
fn cells(plot: &Plot) -> Vec<String> {
    let line = |series: &super::plot::PlotSeries| {
        let known = series.values.iter().enumerate().filter_map(|(row, it)| Some((row, (*it)?)));
        let known: Vec<_> = known.collect();
        let by_value = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
        let ends = (known.iter().min_by(by_value), known.iter().max_by(by_value));
        let (Some(low), Some(high)) = ends else { return format!("{}: no values", series.name) };
        let place = |(row, it): &(usize, f64)| {
            format!("{} ({})", value(Some(*it), plot.measure), ascii(&plot.place(*row)))
        };
        format!("{}: lowest {}, highest {}", series.name, place(low), place(high))
    };
    plot.series.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::text;
    use crate::gallery::{chart, gallery};
    use crate::numbers::Measure;
    use crate::plot::Plot;
    use crate::text_chart::width;
    use csv_agent_types::chart::ChartType::{self, Bar, Column, Line, Scatter};

    fn told(kind: ChartType, x: &[Value], series: &[(&str, Vec<Value>)], columns: usize) -> String {
        let chart = chart(kind, "Sales", "object", x, series);
        let mut plot = Plot::of(&chart);
        plot.notes.clear();
        text(&chart, &plot, columns)
    }

    #[test]
    fn a_bar_is_a_line_with_its_value_before_its_length() {
        let x = [json!("Anvil"), json!("Saw"), json!("Loss"), json!("None")];
        let values = vec![json!(1200), json!(600), json!(-300), Value::Null];
        insta::assert_snapshot!(told(Bar, &x, &[("n", values)], 60), @r#"
    Bar chart "Sales": n by What stands on the x axis, 4 rows,
    from -300 (Loss) to 1,200 (Anvil).
    Anvil:    1,200  ########################
    Saw:        600  ############
    Loss:      -300  ------
    None:  no value
    "#);
    }

    #[test]
    fn several_series_are_told_by_name() {
        let x = [json!("Q1"), json!("Q2")];
        let series = [("a", vec![json!(1), json!(2)]), ("b", vec![json!(3), Value::Null])];
        insta::assert_snapshot!(told(Column, &x, &series, 60), @r#"
    Column chart "Sales": a and b by What stands on the x
    axis, 2 rows, from 1 (a, Q1) to 3 (b, Q1).
    Q1: a 1, b 3
    Q2: a 2, b no value
    "#);
    }

    #[test]
    fn a_line_is_told_from_its_beginning_to_its_end() {
        let x: Vec<_> = (1..=12).map(|it| json!(format!("2024-{it:02}-01"))).collect();
        let values = (0..12).map(|it| if it == 5 { Value::Null } else { json!(it * it) });
        insta::assert_snapshot!(told(Line, &x, &[("n", values.collect())], 70), @r#"
    Line chart "Sales": n by What stands on the x axis, 12 rows, from 0
    (Jan 2024) to 121 (Dec 2024).
    n: first 0 (Jan 2024), last 121 (Dec 2024), lowest 0 (Jan 2024),
      highest 121 (Dec 2024), 1 missing
      in between: 0 (Jan 2024), 1 (Feb 2024), 9 (Apr 2024), 36 (Jul
        2024), 49 (Aug 2024), 81 (Oct 2024), 121 (Dec 2024)
    "#);
    }

    #[test]
    fn a_measured_x_is_told_with_few_digits() {
        let x = [json!(-1.033_532_721), json!(0.5), json!(2.0)];
        let values = vec![json!(1), json!(3), json!(2)];
        let chart = chart(Scatter, "Sales", "float64", &x, &[("n", values)]);
        let text = text(&chart, &Plot::of(&chart), 100);
        assert!(text.contains("from 1 (-1.03) to 3 (0.5)"), "{text}");
    }

    #[test]
    fn points_are_told_by_where_they_lie() {
        let x: Vec<_> = (1..=9).map(|it| json!(it)).collect();
        insta::assert_snapshot!(told(Scatter, &x, &[("n", x.clone())], 70), @r#"
    Scatter plot "Sales": n by What stands on the x axis, 9 rows, from 1
    (1) to 9 (9).
    n: 9 points from 1 to 9, half of them below 5
    "#);
    }

    #[test]
    fn shares_are_told_as_percentages() {
        let x = [json!("Rail"), json!("Road")];
        let told = |kind| {
            let chart =
                chart(kind, "Sales", "object", &x, &[("n", vec![json!(0.25), json!(0.75)])]);
            let plot = Plot { measure: Measure::Share, ..Plot::of(&chart) };
            text(&chart, &plot, 80)
        };
        let bars = told(Bar);
        assert!(bars.contains("Rail: 25%  ########\nRoad: 75%  ####"), "{bars}");
        let line = told(Line);
        assert!(line.contains("first 25% (Rail), last 75% (Road)"), "{line}");
    }

    #[test]
    fn labels_that_are_cut_still_differ() {
        let long = |it| {
            json!(format!(
                "Department of administrative affairs number {it}, northern and central regions"
            ))
        };
        let x: Vec<_> = (1..=3).map(long).collect();
        let text = told(Bar, &x, &[("n", vec![json!(1), json!(2), json!(3)])], 80);
        for at in 1..=3 {
            let is_told = |it: &str| {
                it.contains(&format!("{at}, northern")) && it.contains(&format!(": {at}  #"))
            };
            assert!(text.lines().any(is_told), "{text}");
        }
    }

    #[test]
    fn every_chart_is_a_few_lines_that_fit_and_hide_nothing_from_a_voice() {
        for (name, chart) in gallery() {
            for columns in [40, 80] {
                let text = text(&chart, &Plot::of(&chart), columns);
                assert!(text.lines().all(|it| width(it) <= columns), "{name}\n{text}");
                assert!(text.lines().count() <= 60, "{name}\n{text}");
                assert!(!text.contains(['\u{1b}', '“', '−', '…', '█']), "{name}\n{text}");
            }
        }
    }
}
