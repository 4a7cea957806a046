//! The chart of an answer.

use serde_json::{Value, json};

use csv_agent_types::limits::{CHART_ROWS_MAX, CHART_SERIES_MAX};

use super::{Answer, Drawing};
use crate::code::quoted;
use crate::reading::{Group, Over, Part, Shape, What};
use crate::schema::Kind;
use crate::transcript::Turn;

/// Groups from which a series over time gets a chart that nobody asked for.
const TREND_MIN: u64 = 3;

impl Answer<'_> {
    /// Returns the chart of the result, with the code that prepares its frame.
    pub(super) fn chart(&self, turn: &Turn) -> Option<Drawing> {
        let shape = self.reading.chart;
        let groups: &[Group] = match &self.reading.what {
            What::Aggregate { groups, .. }
            | What::Share { groups, .. }
            | What::Correlation(_, groups) => groups,
            _ => &[],
        };
        let runs = |it: &Group| self.is_time(it);
        let is_trend = groups.first().is_some_and(runs) && TREND_MIN <= self.n_rows;
        let is_ranked = matches!(&self.reading.what, What::Aggregate { rank: Some(_), .. });
        if self.n_rows < 2 || shape.is_none() && (!is_trend || is_ranked) {
            return None;
        }
        let y = self.program.measures.first().cloned();
        match (&self.program.groups[..], &y) {
            ([x], Some(y)) => {
                let kind = match shape {
                    None | Some(Shape::Any) if is_trend => "line",
                    None | Some(Shape::Any) if self.n_rows <= 12 => "column",
                    None | Some(Shape::Any | Shape::Bar) => "bar",
                    Some(Shape::Column) => "column",
                    Some(Shape::Stacked) => "stacked_column",
                    Some(Shape::Line) => "line",
                    Some(Shape::Scatter) => "scatter",
                };
                let mut series = vec![y.clone()];
                if matches!(self.reading.what, What::Aggregate { over: Over::Plain, .. }) {
                    series = self.program.measures.iter().take(CHART_SERIES_MAX).cloned().collect();
                }
                let label = Some(series[0].replace('_', " ")).filter(|_| series.len() == 1);
                let (code, df) = self.cut();
                Some((code, Some(self.spec(df, kind, x, &series, label.as_deref()))))
            }
            ([x, by], Some(y)) => {
                let code = format!(
                    "chart = result.pivot(index={}, columns={}, values={}).reset_index()\n\
                     chart.columns = [str(it) for it in chart.columns]\nchart",
                    quoted(x),
                    quoted(by),
                    quoted(y)
                );
                let done = turn.done("python_repl", &json!({"code": code}));
                let series: Vec<String> = done
                    .and_then(|it| it.output["columns"].as_array())
                    .into_iter()
                    .flatten()
                    .filter_map(|it| it.as_str().map(str::to_owned))
                    .skip(1)
                    .collect();
                let kind = match shape {
                    Some(Shape::Stacked) => "stacked_column",
                    Some(Shape::Bar) => "bar",
                    Some(Shape::Column) => "column",
                    Some(Shape::Scatter) => "scatter",
                    _ if is_trend => "line",
                    _ => "column",
                };
                let n_rows =
                    done.and_then(|it| it.output["row_count"].as_u64()).unwrap_or_default();
                let fits = !series.is_empty()
                    && series.len() <= CHART_SERIES_MAX
                    && n_rows <= CHART_ROWS_MAX as u64;
                let label = Some(y.replace('_', " "));
                Some((
                    Some(code),
                    fits.then(|| self.spec("chart", kind, x, &series, label.as_deref())),
                ))
            }
            ([], _) => self.chart_of_rows(shape?),
            _ => None,
        }
    }

    fn chart_of_rows(&self, shape: Shape) -> Option<Drawing> {
        let (code, df) = self.cut();
        match &self.reading.what {
            What::Distribution(_) => {
                let series = vec!["count".to_owned()];
                let x = self.columns.first()?;
                Some((code, Some(self.spec(df, "column", x, &series, Some("count")))))
            }
            What::Rows { .. } | What::Describe(_) | What::Missing { .. } | What::Duplicates(_) => {
                let others: Vec<&String> =
                    self.columns.iter().filter(|it| !self.numbers.contains(it)).collect();
                let kind = match shape {
                    Shape::Line => "line",
                    Shape::Column => "column",
                    Shape::Bar => "bar",
                    Shape::Stacked => "stacked_column",
                    Shape::Scatter => "scatter",
                    Shape::Any => {
                        if others.is_empty() {
                            "scatter"
                        } else {
                            "bar"
                        }
                    }
                };
                let (x, y) = match (&others[..], &self.numbers[..]) {
                    ([x, ..], [y, ..]) if kind != "scatter" => ((*x).clone(), y.clone()),
                    (_, [x, y, ..]) => (x.clone(), y.clone()),
                    _ => return None,
                };
                let label = y.clone();
                Some((code, Some(self.spec(df, kind, &x, &[y], Some(&label)))))
            }
            _ => None,
        }
    }

    fn spec(
        &self,
        df: &str,
        kind: &str,
        x: &str,
        series: &[String],
        y_label: Option<&str>,
    ) -> Value {
        let series: Vec<Value> =
            series.iter().map(|it| json!({"name": it.replace('_', " "), "y_field": it})).collect();
        json!({
            "df_name": df, "logical_name": self.logical_name(), "chart_type": kind,
            "x_field": x, "x_label": null, "y_label": y_label,
            "series": series, "title": self.title(), "note": null,
        })
    }

    /// Returns the frame of a chart: the result, or as much of it as a chart takes.
    fn cut(&self) -> (Option<String>, &'static str) {
        if self.n_rows <= CHART_ROWS_MAX as u64 {
            return (None, "result");
        }
        let code = if matches!(self.reading.what, What::Rows { .. }) {
            format!(
                "chart = result.sample({CHART_ROWS_MAX}, random_state=0).sort_index()\nlen(chart)"
            )
        } else {
            format!("chart = result.tail({CHART_ROWS_MAX})\nlen(chart)")
        };
        (Some(code), "chart")
    }

    fn is_time(&self, group: &Group) -> bool {
        match group {
            Group::Time(..) => true,
            Group::Part(_, part) => matches!(part, Part::Hour | Part::Month),
            Group::By(place) => {
                let column = &self.tables[place.table].columns[place.column];
                let named = |it: &String| {
                    matches!(it.as_str(), "year" | "month" | "hour" | "quarter" | "week")
                };
                column.kind.is_time()
                    || column.kind == Kind::Whole && column.words.iter().any(named)
            }
        }
    }
}
