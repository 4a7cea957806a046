//! The chart of an answer: its marks follow from the result, unless the user asked for others that can be drawn.

use serde_json::{Map, Value as Json, json};

use csv_agent_text::sql::identifier;
use csv_agent_types::chart_options::LogAxis;
use csv_agent_types::limits::{CHART_POINTS_MAX, CHART_ROWS_MAX, CHART_VALUES_MAX};

use super::figure::{capital, grouped};
use super::{Answer, free_name};
use crate::query::{Agg, Chart, GroupKey, Groups, Measure, Over, Part, Place, Shape};
use crate::sql;
use crate::transcript::Done;

/// The frame of a chart that needs another than the result.
const FRAME: &str = "chart";
/// Categories whose columns stand side by side.
pub(super) const COLUMNS_MAX: u64 = 12;
/// What is counted where rows are.
pub(super) const ROWS: &str = "Number of rows";
/// Letters of a label under a column.
pub(super) const LABEL_CHARS_MAX: usize = 12;

/// The next step to a chart.
#[derive(Debug, PartialEq)]
pub(crate) enum Drawing {
    /// Nobody asked for one, and none is of use.
    No,
    /// One was asked for, and there is none, because of this.
    Impossible(String),
    /// First this statement runs, and its result has this name.
    Needs(String, Option<String>),
    /// The spec, and what the user should know of it.
    Chart(Json, Vec<String>),
}

/// Finds a statement that ran, by its text and the name of its result.
pub(crate) type Ran<'a> = dyn Fn(&str, Option<&str>) -> Option<&'a Done> + 'a;

/// What is drawn.
#[derive(Debug, Default)]
pub(super) struct Plot {
    pub kind: &'static str,
    pub x: String,
    pub x_label: Option<String>,
    /// Names and columns.
    pub series: Vec<(String, String)>,
    pub y_label: Option<String>,
    /// Options of the spec.
    pub options: Map<String, Json>,
    /// The statement that makes the frame, if it is not the result.
    pub frame: Option<String>,
    pub notes: Vec<String>,
}

impl Answer<'_> {
    /// Returns the next step to the chart of the result.
    pub(crate) fn drawing(&self, ran: &Ran<'_>) -> Drawing {
        let asked = self.query.chart;
        let impossible = |reason: &str| match asked {
            Some(_) => Drawing::Impossible(reason.to_owned()),
            None => Drawing::No,
        };
        let mut plot = match &self.query.body {
            _ if self.result.n_rows == 0 => return impossible("no row matches"),
            Shape::Groups(groups)
                if asked == Some(Chart::Box)
                    && let Some(place) = groups.boxed() =>
            {
                self.of_values("box", &groups.keys, place)
            }
            Shape::Groups(groups) if groups.then.is_some() || groups.keys.is_empty() => {
                return impossible("the result is one row");
            }
            Shape::Groups(_) if self.result.n_rows < 2 => {
                return impossible("the result is one row");
            }
            Shape::Groups(groups) => {
                let runs = groups
                    .keys
                    .iter()
                    .any(|it| self.plain().runs(it) || self.plain().is_course(it));
                let is_trend = runs
                    && groups.order.is_none()
                    && groups.having.is_none()
                    && super::groups::TREND_MIN <= self.result.n_rows;
                if asked.is_none() && !is_trend {
                    return Drawing::No;
                }
                match &groups.keys[..] {
                    _ if let Some(plot) = self.of_panels(groups) => plot,
                    [GroupKey::Bin(place, width)] if self.is_histogram(groups) => {
                        self.histogram(*place, *width)
                    }
                    [key] => self.of_one_key(groups, key),
                    [_, _] => match self.of_two_keys(groups, ran) {
                        Ok(Some(plot)) => plot,
                        Ok(None) => return impossible("the result is one row"),
                        Err(sql) => return Drawing::Needs(sql, None),
                    },
                    _ => return impossible("it would have more than two kinds of groups"),
                }
            }
            Shape::Rows(listing) => {
                let Some(asked) = asked else { return Drawing::No };
                match self.of_rows(listing, asked) {
                    Some(plot) => plot,
                    None if listing.columns.is_empty() => {
                        return impossible("the question does not say which columns to draw");
                    }
                    None => return impossible("the rows have no two columns that make one"),
                }
            }
            Shape::Compare(comparison) => match asked {
                Some(asked) => self.of_sides(comparison, asked),
                None => return Drawing::No,
            },
            Shape::Profile(profile) => match self.of_profile(profile) {
                Some(plot) => plot,
                None => return impossible("the result does not fit one"),
            },
            Shape::Check(_) => return impossible("a check has none"),
        };
        self.style(&mut plot);
        let mut df = self.result();
        if let Some(sql) = &plot.frame {
            df = free_name(FRAME, self.tables);
            match ran(sql, Some(&df)) {
                None => return Drawing::Needs(sql.clone(), Some(df)),
                Some(done) if done.error().is_some() => {
                    return impossible(done.error().unwrap_or_default());
                }
                Some(_) => {}
            }
        }
        let series: Vec<Json> =
            plot.series.iter().map(|it| json!({"name": it.0, "y_field": it.1})).collect();
        let mut spec = json!({
            "df_name": df, "logical_name": self.logical_name(), "chart_type": plot.kind, "x_field": plot.x,
            "x_label": plot.x_label, "y_label": plot.y_label, "series": series, "title": self.title(), "note": null,
        });
        if !plot.options.is_empty() {
            spec["options"] = plot.options.into();
        }
        Drawing::Chart(spec, plot.notes)
    }

    /// Adds what was asked of the chart beside its marks, or says why not.
    fn style(&self, plot: &mut Plot) {
        let look = self.query.look;
        if let Some(axis) = look.log_axis {
            if matches!(plot.kind, "line" | "scatter") {
                let axis = if self.result.is_number(&plot.x) { axis } else { LogAxis::Y };
                plot.options.insert("log_axis".to_owned(), axis.name().into());
            } else {
                let kind = plot.kind.replace('_', " ");
                plot.notes.push(format!("A {kind} chart has no logarithmic axis."));
            }
        }
        if look.panels.is_some() && !plot.options.contains_key("facet_by") {
            plot.notes.push(
                "The chart has no groups along its axis beside those that would be panels."
                    .to_owned(),
            );
        }
    }

    /// Returns whether the result counts rows in bins, and a histogram was asked for.
    fn is_histogram(&self, groups: &Groups) -> bool {
        let counts = groups.measures.iter().all(Measure::is_rows) && groups.over.is_none();
        counts
            && self.query.chart == Some(Chart::Histogram)
            && groups.order.is_none()
            && groups.having.is_none()
            && self.table().n_rows <= CHART_VALUES_MAX as u64
    }

    /// Returns bars of values in the bins of the result.
    pub(super) fn histogram(&self, place: Place, width: f64) -> Plot {
        let mut plot = self.of_values("histogram", &[], place);
        plot.options.insert("bin_width".to_owned(), width.into());
        plot
    }

    fn of_one_key(&self, groups: &Groups, key: &GroupKey) -> Plot {
        let plain = self.plain();
        let n = self.result.n_rows;
        let x = self.statement.keys[0].clone();
        let quantities = self.quantities(groups);
        let result = self.result();
        let (natural, is_ordinal) = (self.natural(key), plain.is_ordinal(key));
        let mut notes = Vec::new();
        let x_label = Some(capital(&self.axis(key)));
        if let Some(plot) = self.of_points(&quantities) {
            return plot;
        }
        let kind = match self.query.chart {
            Some(Chart::Scatter) if self.is_measured(key) => "scatter",
            Some(Chart::Shares) if adds_up(groups) && quantities.len() == 1 => {
                notes.push("One column shows the shares of the whole, as a pie would.".to_owned());
                "percent_stacked_column"
            }
            Some(Chart::Histogram) if matches!(key, GroupKey::Bin(..)) => natural,
            Some(Chart::Shares) if !adds_up(groups) => {
                notes.push(not_added("has shares", natural));
                natural
            }
            Some(asked) => kind_of(asked).unwrap_or_else(|| {
                notes.extend(instead(asked, natural));
                natural
            }),
            None => natural,
        };
        let is_sorted = is_ordinal || groups.order.is_some() || matches!(kind, "line" | "area");
        let frame = if is_sorted {
            let keeps_last = plain.runs(key) && groups.order.is_none();
            self.cut(rows_max(kind), Some(keeps_last), &mut notes)
        } else {
            let measure = identifier(&quantities[0].1);
            // All but the largest parts of a whole are drawn as one.
            let is_whole = kind == "percent_stacked_column" && quantities.len() == 1;
            let max = if is_whole { CHART_POINTS_MAX } else { CHART_ROWS_MAX };
            if max as u64 >= n {
                Some(format!("select *\nfrom {result}\norder by {measure} desc nulls last"))
            } else {
                let shown = grouped(max as u64);
                notes.push(format!("The chart shows the largest {shown} of {}.", grouped(n)));
                Some(format!(
                    "select *\nfrom {result}\norder by {measure} desc nulls last\nlimit {max}"
                ))
            }
        };
        let y_label = Some(capital(&quantities[0].0)).filter(|_| quantities.len() == 1);
        let series = quantities.into_iter().map(|it| (capital(&it.0), it.1)).collect();
        Plot { kind, x, x_label, series, y_label, frame, notes, ..Plot::default() }
    }

    /// Returns points of two numbers of each group, the first up, if there are two and points were asked for.
    pub(super) fn of_points(&self, quantities: &[(String, String)]) -> Option<Plot> {
        let (Some(Chart::Scatter), [y, x, ..]) = (self.query.chart, quantities) else {
            return None;
        };
        let mut notes = Vec::new();
        Some(Plot {
            kind: "scatter",
            x: x.1.clone(),
            x_label: Some(capital(&x.0)),
            series: vec![(capital(&y.0), y.1.clone())],
            y_label: Some(capital(&y.0)),
            frame: self.cut(CHART_POINTS_MAX, None, &mut notes),
            notes,
            ..Plot::default()
        })
    }

    /// Returns the numbers that are drawn: what each is called, and its column.
    pub(super) fn quantities(&self, groups: &Groups) -> Vec<(String, String)> {
        let plain = self.plain();
        let labels = self.statement.measures.iter();
        if let (Some(over), Some(label)) = (groups.over, self.statement.measures.first()) {
            return vec![(plain.over(over, groups, &groups.measures[0]).label(), label.clone())];
        }
        let named = groups.measures.iter().map(|it| plain.quantity(it).label());
        let drawn = named.zip(labels.cloned()).filter(|it| self.result.is_number(&it.1));
        let all: Vec<(String, String)> =
            drawn.take(csv_agent_types::limits::CHART_SERIES_MAX).collect();
        if all.is_empty() {
            vec![("value".to_owned(), self.statement.measures[0].clone())]
        } else {
            all
        }
    }

    /// Returns what groups along an axis are.
    pub(super) fn axis(&self, key: &GroupKey) -> String {
        let plain = self.plain();
        match (key, plain.name(key.place()).unit) {
            (GroupKey::Bin(..), Some(unit)) => format!("{} ({unit})", plain.key(key)),
            _ => plain.key(key),
        }
    }

    /// Returns the marks that suit groups.
    fn natural(&self, key: &GroupKey) -> &'static str {
        if self.plain().runs(key) || self.plain().is_course(key) {
            return "line";
        }
        if matches!(key, GroupKey::Bin(..) | GroupKey::Part(..)) {
            return "column";
        }
        let fits = self.result.n_rows <= COLUMNS_MAX && self.are_short(0);
        if fits { "column" } else { "bar" }
    }

    /// Returns whether the names of groups fit below columns.
    pub(super) fn are_short(&self, key: usize) -> bool {
        let label = self.statement.keys[key].as_str();
        let n_chars = |it: &Json| it[label].as_str().map_or(0, |it| it.chars().count());
        self.result.head.iter().all(|it| n_chars(it) <= LABEL_CHARS_MAX)
    }

    /// Returns the single values of a column, which the chart counts in bins, or in a box for each group.
    pub(super) fn of_values(&self, kind: &'static str, keys: &[GroupKey], place: Place) -> Plot {
        let (sql, names) = sql::values(self.query, self.tables, keys, place);
        let (label, max) = (self.labelled(place), CHART_VALUES_MAX);
        let (mut frame, mut notes) = (sql, Vec::new());
        if (max as u64) < self.table().n_rows {
            let columns: Vec<String> = names.iter().map(|it| identifier(it)).collect();
            frame = sample(&format!("({frame})"), &columns.join(", "), "", max);
            notes.push(format!("The chart shows up to {} values.", grouped(max as u64)));
        }
        let is_binned = kind == "histogram";
        let x_label = keys.first().map_or(label.clone(), |it| capital(&self.axis(it)));
        let series = names.last().map(|it| (label.clone(), it.clone()));
        Plot {
            kind,
            x: names.first().cloned().unwrap_or_default(),
            x_label: Some(x_label),
            series: series.into_iter().filter(|_| !is_binned).collect(),
            y_label: Some(if is_binned { ROWS.to_owned() } else { label }),
            frame: Some(frame),
            notes,
            ..Plot::default()
        }
    }

    /// Returns what a column is called along an axis.
    pub(super) fn labelled(&self, place: Place) -> String {
        let name = self.plain().name(place);
        capital(&name.unit.map_or(name.words.clone(), |unit| format!("{} ({unit})", name.words)))
    }

    /// Returns whether groups have a place on a scale.
    fn is_measured(&self, key: &GroupKey) -> bool {
        let column = self.plain().column(key.place());
        match key {
            GroupKey::Column(_) => column.kind.is_number() || column.kind.is_time(),
            GroupKey::Bin(..)
            | GroupKey::Part(
                _,
                Part::Year | Part::Quarter | Part::Month | Part::Day | Part::Hour,
            ) => true,
            GroupKey::Part(_, Part::Weekday) | GroupKey::Time(..) => false,
        }
    }

    /// Returns a statement that keeps as many rows as a chart has, if there are more: the last, the first, or some of
    /// all.
    pub(super) fn cut(
        &self,
        max: usize,
        keeps_last: Option<bool>,
        notes: &mut Vec<String>,
    ) -> Option<String> {
        let n = self.result.n_rows;
        if n <= max as u64 {
            return None;
        }
        let (of, result, shown) = (grouped(n), self.result(), grouped(max as u64));
        Some(match keeps_last {
            Some(true) => {
                notes.push(format!("The chart shows the last {shown} of {of}."));
                format!(
                    "select *\nfrom {result}\nqualify row_number() over () > count(*) over () - {max}"
                )
            }
            Some(false) => {
                notes.push(format!("The chart shows the first {shown} of {of}."));
                format!("select *\nfrom {result}\nlimit {max}")
            }
            None => {
                notes.push(format!("The chart shows {shown} of {of} points."));
                sample(&result, "*", "", max)
            }
        })
    }
}

/// Returns the marks that were asked for, if any.
pub(super) fn kind_of(asked: Chart) -> Option<&'static str> {
    match asked {
        Chart::Any | Chart::Scatter | Chart::Histogram | Chart::Box | Chart::Heat => None,
        Chart::Bar => Some("bar"),
        Chart::Column => Some("column"),
        Chart::Stacked => Some("stacked_column"),
        Chart::Shares => Some("percent_stacked_column"),
        Chart::Line => Some("line"),
        Chart::Area => Some("area"),
    }
}

/// Returns how many rows marks can show.
pub(super) fn rows_max(kind: &str) -> usize {
    if matches!(kind, "line" | "area" | "scatter") { CHART_POINTS_MAX } else { CHART_ROWS_MAX }
}

/// Says why other marks are drawn than those that were asked for.
pub(super) fn instead(asked: Chart, kind: &str) -> Option<String> {
    let needs = match asked {
        Chart::Scatter => "A scatter chart needs two numbers",
        Chart::Histogram => "A histogram needs the values of one number",
        Chart::Box => "A box plot needs the values of one number",
        Chart::Heat => "A heat map needs two kinds of groups",
        _ => return None,
    };
    Some(format!("{needs}, so this is a {} chart.", kind.replace('_', " ")))
}

/// Says that what does not add up is drawn in another way.
pub(super) fn not_added(what: &str, kind: &str) -> String {
    format!("Only what adds up {what}, so this is a {} chart.", kind.replace('_', " "))
}

/// Writes a statement for points at even distances through rows.
pub(super) fn sample(result: &str, columns: &str, filter: &str, max: usize) -> String {
    let numbered = format!(
        "select *, row_number() over () as \"_at\", count(*) over () as \"_n\"\nfrom {result}{filter}"
    );
    format!(
        "select {columns}\nfrom ({numbered})\nwhere \"_at\" * {max} // \"_n\" > (\"_at\" - 1) * {max} // \"_n\""
    )
}

/// Returns whether a number of groups is the sum of those of their parts.
pub(super) fn adds_up(groups: &Groups) -> bool {
    let is_plain = groups.over.is_none_or(|it| it == Over::Share);
    is_plain && groups.measures.first().is_some_and(|it| matches!(it.agg, Agg::Count | Agg::Sum))
}
