//! `send_chart_to_ui`: show a chart of a frame to the user.

use serde_json::{Value, json};

use csv_agent_types::catalog::Catalog;
use csv_agent_types::chart::{ChartRejected, ChartSpec, ChartType, RejectedCode};
use csv_agent_types::chart_options::{ChartOrder, LogAxis, ValueFormat};
use csv_agent_types::event::{CallStatus, Shown, ToolOutput};
use csv_agent_worker::protocol::{Command, Outcome, OutcomeStatus};

use crate::strict::{
    self, array, boolean, nullable, nullable_string, number, object, one_of, string,
};
use crate::{Needs, Plan, Tool, ToolError, ToolJob, succeeded, variable};

pub(crate) const TOOL: Tool = Tool {
    name: "send_chart_to_ui",
    description: "Draws a chart of a DataFrame of the REPL, or of a result of query_datasets, and shows it to the user. Use it when a picture \
adds clarity; most answers need none. Prepare the frame first: one row a mark, with one column for x and one numeric \
column for each series, at most 10; or long data, with options.color_by. At most 200 rows; line, area, scatter, heatmap \
and long data 5000.\n\
- bar lies on its side and suits long labels, column stands; stacked_bar, stacked_column show parts and totals.\n\
- percent_stacked_column compares shares. With one series it is one whole: use it when a pie is asked for.\n\
- line shows change over an ordered x; area fills it, and stacks several series.\n\
- scatter relates two numbers; options.trend_line adds the line of least squares, its equation and r².\n\
- histogram: pass the raw rows; x_field is the numeric column that is counted in bins, series is [].\n\
- box: pass the raw rows; one series, x_field is the category (the series' column again for one box).\n\
- heatmap: x_field across, options.color_by (or a series each) down, the value as shade, such as hour by weekday.\n\
- options.facet_by draws a panel for each value of a column, with the same axes. Rows are then long: one for each x, \
panel and color. Two series whose sizes differ by far get a panel each by themselves.\n\
- options.line_series draws one series of a column chart as a line, such as a rate over counts.\n\
Weekdays and months are put in order by themselves, and names in alphabetical order by value; other rows are drawn as \
given. Returns what was drawn, or why it was \
not; then correct the frame or the spec and call again.",
    parameters,
    plan,
    needs: Needs::Nothing,
    only_reads: false,
    allowance: None,
};

fn parameters() -> Value {
    let types: Vec<&str> = ChartType::ALL.iter().map(|it| it.name()).collect();
    let series = object([
        ("name", string("the label in the legend")),
        ("y_field", string("the numeric column to plot")),
    ]);
    object([
        (
            "df_name",
            string("the DataFrame variable in the REPL, or the result_name of query_datasets"),
        ),
        ("logical_name", string("a short name for the chart, e.g. revenue_by_month")),
        ("chart_type", one_of(&types, "the shape of the marks")),
        ("x_field", string("the column of categories, days or numbers along the x axis")),
        ("x_label", nullable_string("the label of the x axis; null for the column's name")),
        ("y_label", nullable_string("the label of the y axis with its unit; null for none")),
        ("series", array(series, "1 to 10 series; [] for histogram")),
        ("title", nullable_string("what the chart shows, above it; null for none")),
        ("note", nullable_string("a caveat or a source, below it; null for none")),
        ("options", nullable(options(), "null for a plain chart")),
    ])
}

fn options() -> Value {
    let names = |all: &[&'static str], what| nullable(one_of(all, what), "null for the default");
    let orders: Vec<_> = ChartOrder::ALL.iter().map(|it| it.name()).collect();
    let axes: Vec<_> = LogAxis::ALL.iter().map(|it| it.name()).collect();
    let formats: Vec<_> = ValueFormat::ALL.iter().map(|it| it.name()).collect();
    let reference = object([
        ("value", number("the value of the line, or where the band begins")),
        ("to", nullable(number("where the band ends"), "null for a line")),
        ("label", nullable_string("what it is, such as Target; null for the value")),
    ]);
    let error_bars = object([
        ("low_field", string("the column of lower ends, as values and not as distances")),
        ("high_field", string("the column of upper ends")),
    ]);
    let annotation = object([
        ("x", string("x of the point, as in the data, e.g. 2024-03-01")),
        ("y", nullable(number("its value"), "null for the value of the first series")),
        ("text", string("a few words")),
    ]);
    let line_series = object([
        ("name", string("the name of one of the series")),
        (
            "y_label",
            nullable_string(
                "the label of its own axis, if its unit differs; null for the same axis",
            ),
        ),
    ]);
    object([
        (
            "color_by",
            nullable_string("the column whose values become the series; null for wide data"),
        ),
        ("order", names(&orders, "the order of categories; value is largest first")),
        ("log_axis", names(&axes, "the logarithmic axis of a line or scatter")),
        ("references", nullable(array(reference, "1 to 5"), "lines and bands; null for none")),
        ("trend_line", nullable(boolean("for scatter"), "null for none")),
        ("number_format", names(&formats, "percent: 25 is 25%; share: 0.25 is 25%")),
        ("unit", nullable_string("the unit of the values, such as USD; null for none")),
        (
            "facet_by",
            nullable_string("the column whose values get a panel each; null for one panel"),
        ),
        ("error_bars", nullable(error_bars, "null for none; for one series")),
        (
            "highlight",
            nullable_string(
                "a series, or a category of x of bars, in strong colour, all else grey; null for none",
            ),
        ),
        ("annotations", nullable(array(annotation, "1 to 5"), "texts at points; null for none")),
        ("size_by", nullable_string("for scatter: the numeric column of sizes; null for one size")),
        ("line_series", nullable(line_series, "for column; null for columns alone")),
        (
            "value_labels",
            nullable(boolean("false leaves out the values at bars"), "null where they fit"),
        ),
        ("bin_width", nullable(number("for histogram"), "null for one that suits the values")),
    ])
}

fn plan(_: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let mut spec: ChartSpec = strict::arguments(arguments)?;
    spec.df_name = variable(spec.df_name)?;
    if spec.logical_name.trim().is_empty() {
        spec.logical_name.clone_from(&spec.df_name);
    }
    if let Err(rejected) = spec.check_series() {
        return Err(refused(spec, rejected));
    }
    let command = Command::Fetch {
        variable: spec.df_name.clone(),
        columns: Some(spec.fields()),
        rows_max: spec.rows_max(),
        cells_max: spec.rows_max() * spec.fields().len(),
        write: false,
    };
    Ok(Plan::ask(ToolJob::Python(command), move |outcome| finish(spec, outcome)))
}

fn finish(spec: ChartSpec, outcome: Outcome) -> Result<ToolOutput, ToolError> {
    if outcome.status == OutcomeStatus::Error {
        let (code, reason) = (RejectedCode::UnknownDf, outcome.text().to_owned());
        return Err(refused(spec, ChartRejected { code, reason, limit: None, actual: None }));
    }
    let outcome = succeeded(outcome)?;
    // Only the requested columns were sent; the REPL knows which others exist.
    let lacks = outcome.result["lacks"].as_str().map(|it| format!("`{}` has {it}", spec.df_name));
    match spec.clone().check(outcome.frame.unwrap_or_default()) {
        Err(mut rejected) => {
            if let Some(reason) = lacks {
                rejected = ChartRejected { code: RejectedCode::UnknownField, reason, ..rejected };
            }
            Err(refused(spec, rejected))
        }
        Ok(chart) => {
            let result = json!({
                "kind": "chart_sent", "logical_name": spec.logical_name,
                "chart_type": spec.chart_type, "row_count": chart.frame().rows.len(),
                "series": spec.series.len(),
            });
            Ok(ToolOutput::json(result).show(Shown::Chart(chart)))
        }
    }
}

fn refused(spec: ChartSpec, rejected: ChartRejected) -> ToolError {
    let text = format!("the chart was not drawn: {}", rejected.reason);
    let output = ToolOutput::json(json!({"kind": "error", "text": text}));
    let spec = Box::new(spec);
    let output = output.show(Shown::Rejected { spec, rejected });
    ToolError { status: CallStatus::Error, code: "chart_rejected", output }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Plan;
    use csv_agent_types::catalog::Catalog;
    use csv_agent_types::event::Shown;
    use csv_agent_types::frame::Frame;
    use csv_agent_worker::protocol::{Outcome, OutcomeStatus};

    #[track_caller]
    fn check(frame: Option<Frame>, reason: Option<&str>) {
        let arguments = json!({"df_name": "df", "logical_name": "weeks", "chart_type": "line",
            "x_field": "week", "x_label": null, "y_label": null,
            "series": [{"name": "Sales", "y_field": "sales"}], "title": null, "note": null});
        let Ok(Plan::Ask(_, finish)) = super::plan(&Catalog::default(), arguments) else {
            panic!("a chart needs the REPL");
        };
        let status = if frame.is_some() { OutcomeStatus::Ok } else { OutcomeStatus::Error };
        let result = json!({"kind": "error", "text": "no variable `df`",
            "lacks": "no column `sales`; the columns are: `week`"});
        let shown = match finish(Outcome { status, result, frame, file: None }) {
            Ok(output) => output.shown,
            Err(error) => error.output.shown,
        };
        let found = shown.into_iter().next().and_then(|it| match it {
            Shown::Rejected { rejected, .. } => Some(rejected.reason),
            _ => None,
        });
        assert_eq!(found.as_deref(), reason);
    }

    #[test]
    fn a_chart_is_shown_or_refused_with_its_reason() {
        let frame = Frame {
            columns: vec!["week".into(), "sales".into()],
            dtypes: vec!["object".into(), "int64".into()],
            rows: vec![vec![json!("w1"), json!(1)]],
            row_count: 1,
        };
        check(Some(frame), None);
        check(None, Some("no variable `df`"));
        let lean = Frame {
            columns: vec!["week".into()],
            rows: vec![vec![json!("w1")]],
            dtypes: vec!["object".into()],
            row_count: 1,
        };
        check(Some(lean), Some("`df` has no column `sales`; the columns are: `week`"));
    }
}
