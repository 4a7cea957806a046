//! Charts of two kinds of groups: one along the axis, the other as series.

use std::fmt::Write;

use serde_json::{Map, Value as Json};

use csv_agent_text::sql::{identifier, literal};
use csv_agent_types::limits::{
    CHART_HEAT_ROWS_MAX, CHART_POINTS_MAX, CHART_ROWS_MAX, CHART_SERIES_MAX,
};

use super::chart::{COLUMNS_MAX, Plot, Ran, adds_up, instead, kind_of, not_added};
use super::figure::{capital, grouped};
use super::names::plural;
use super::{Answer, ResultHead};
use crate::query::{Chart, GroupKey, Groups, Panels, Part};

/// The series of what is not shown by itself.
const OTHER: &str = "other";
/// Columns that are drawn side by side.
const SIDE_BY_SIDE_MAX: u64 = 40;

/// The values of the key that makes the series.
struct Series {
    /// The largest first; no more than there may be.
    values: Vec<Json>,
    n: u64,
    /// How many groups lie along the axis.
    n_along: u64,
}

impl Answer<'_> {
    /// Returns the chart of two kinds of groups; none if there is only one group along its axis and one series.
    /// Fails with the statement that has to run before.
    pub(super) fn of_two_keys(
        &self,
        groups: &Groups,
        ran: &Ran<'_>,
    ) -> Result<Option<Plot>, String> {
        let plain = self.plain();
        let quantities = self.quantities(groups);
        let asked = self.query.chart;
        if let Some(plot) = self.of_points(&quantities) {
            return Ok(Some(plot));
        }
        let [along, by] = self.along(groups);
        let runs = plain.runs(&groups.keys[along]);
        let label = quantities[0].1.as_str();
        let adds = adds_up(groups);
        let series = self.series(along, by, label, adds, ran)?;
        if series.values.is_empty() {
            return Ok(None);
        }
        if self.is_grid(groups, &series) {
            return Ok(Some(self.heat(groups, [along, by], &quantities[0], &series)));
        }
        let is_course = runs || plain.is_course(&groups.keys[along]);
        let stands = series.n_along <= COLUMNS_MAX && self.are_short(along);
        let natural = match (is_course, adds) {
            (true, _) if 1 < series.n_along => "line",
            (_, true) if stands => "stacked_column",
            (_, true) => "stacked_bar",
            (_, false) => "column",
        };
        let mut notes = Vec::new();
        let kind = match asked {
            Some(Chart::Stacked | Chart::Shares | Chart::Area) if !adds => {
                notes.push(not_added("can be stacked", natural));
                natural
            }
            Some(Chart::Stacked) if !stands && !is_course => "stacked_bar",
            Some(asked) => kind_of(asked).unwrap_or_else(|| {
                notes.extend(instead(asked, natural));
                natural
            }),
            None => natural,
        };
        let fits = series.n <= CHART_SERIES_MAX as u64;
        let n_own = if fits || !adds { CHART_SERIES_MAX } else { CHART_SERIES_MAX - 1 };
        let own = &series.values[..series.values.len().min(n_own)];
        if !fits {
            let things = plural(&plain.key(&groups.keys[by]));
            let of = grouped(series.n);
            notes.push(if adds {
                format!("The chart shows the largest of {of} {things}; the rest is “{OTHER}”.")
            } else {
                format!("The chart shows the {n_own} largest of {of} {things}.")
            });
        }
        if (CHART_ROWS_MAX as u64) < series.n_along {
            let end = if runs { "last" } else { "first" };
            let of = grouped(series.n_along);
            notes.push(format!(
                "The chart shows the {end} {CHART_ROWS_MAX} of {of} along its axis."
            ));
        }
        let (frame, drawn) =
            self.pivot(groups, [along, by], label, own, !fits && adds, series.n_along);
        let names = own.iter().map(|it| plain.group(&groups.keys[by], it));
        let names = names.chain((!fits && adds).then(|| OTHER.to_owned()));
        Ok(Some(Plot {
            kind,
            x: self.statement.keys[along].clone(),
            x_label: Some(capital(&self.axis(&groups.keys[along]))),
            series: names.zip(drawn).collect(),
            y_label: Some(capital(&quantities[0].0)),
            frame: Some(frame),
            notes,
            ..Plot::default()
        }))
    }

    /// Returns a chart with a panel for each of some groups; none if that was not asked for, or if no other groups are
    /// left to lie along its axis.
    pub(super) fn of_panels(&self, groups: &Groups) -> Option<Plot> {
        let (plain, keys) = (self.plain(), &self.statement.keys);
        let by = match self.query.look.panels? {
            Panels::Of(key) => groups.keys.iter().position(|it| *it == key)?,
            Panels::Any if groups.keys.len() == 2 => self.along(groups)[1],
            Panels::Any => return None,
        };
        let mut rest: Vec<usize> = (0..groups.keys.len()).filter(|it| *it != by).collect();
        // Time lies along the axis.
        rest.sort_by_key(|it| !plain.runs(&groups.keys[*it]));
        let (along, color) = match rest[..] {
            [along] => (along, None),
            [along, color] => (along, Some(color)),
            _ => return None,
        };
        let key = &groups.keys[along];
        let (runs, asked) = (plain.runs(key), self.query.chart);
        let natural = match (runs || plain.is_course(key), self.are_short(along)) {
            (true, _) => "line",
            (false, true) => "column",
            (false, false) => "bar",
        };
        let mut notes = Vec::new();
        let kind = match asked {
            Some(Chart::Stacked | Chart::Shares) if color.is_none() || !adds_up(groups) => natural,
            Some(asked) => kind_of(asked).unwrap_or_else(|| {
                notes.extend(instead(asked, natural));
                natural
            }),
            None => natural,
        };
        let (name, column) = self.quantities(groups).swap_remove(0);
        let colors = color.map(|it| ("color_by", it));
        let options = colors.into_iter().chain([("facet_by", by)]);
        Some(Plot {
            kind,
            x: keys[along].clone(),
            x_label: Some(capital(&self.axis(key))),
            series: vec![(capital(&name), column)],
            y_label: Some(capital(&name)),
            options: options.map(|(it, at)| (it.to_owned(), keys[at].clone().into())).collect(),
            frame: self.cut(CHART_POINTS_MAX, Some(runs), &mut notes),
            notes,
        })
    }

    /// Returns whether groups make a grid of shades: they were asked for, or there are too many for marks side by side
    /// and the numbers cannot be stacked.
    fn is_grid(&self, groups: &Groups, series: &Series) -> bool {
        let are_parts = groups.keys.iter().all(|it| matches!(it, GroupKey::Part(..)));
        let runs = groups.keys.iter().any(|it| self.plain().runs(it));
        match self.query.chart {
            Some(Chart::Heat) => true,
            None | Some(Chart::Any) if are_parts => true,
            None | Some(Chart::Any) if !adds_up(groups) && !runs => {
                SIDE_BY_SIDE_MAX < series.n.saturating_mul(series.n_along)
            }
            _ => false,
        }
    }

    /// Returns the shades of a number in a grid of both kinds of groups.
    fn heat(
        &self,
        groups: &Groups,
        [along, by]: [usize; 2],
        quantity: &(String, String),
        series: &Series,
    ) -> Plot {
        let (keys, result) = (&self.statement.keys, self.result());
        let [x, y, measure] = [&keys[along], &keys[by], &quantity.1].map(|it| identifier(it));
        let agg = if adds_up(groups) { "sum" } else { "avg" };
        let mut notes = Vec::new();
        // Groups of one kind, with as many as fit.
        let mut side = |key: usize, name: &str, n: u64, max: usize| {
            if n <= max as u64 {
                return format!("(select distinct {name} from {result})");
            }
            let runs = self.plain().runs(&groups.keys[key]);
            let (end, by) = if runs {
                ("last", name.to_owned())
            } else {
                ("largest", format!("{agg}({measure})"))
            };
            let things = plural(&self.plain().key(&groups.keys[key]));
            notes.push(format!("The chart shows the {end} {max} of {} {things}.", grouped(n)));
            format!("(select {name} from {result} group by {name} order by {by} desc limit {max})")
        };
        let across = side(along, &x, series.n_along, CHART_POINTS_MAX / CHART_HEAT_ROWS_MAX);
        let down = side(by, &y, series.n, CHART_HEAT_ROWS_MAX);
        // Each pair has a row, so that both sides are in order also where pairs are missing.
        let rows = format!(
            "select {x}, {y}, {measure}\nfrom {across} as across\ncross join {down} as down\nleft join {result} using \
             ({x}, {y})\norder by {x}, {y}"
        );
        Plot {
            kind: "heatmap",
            x: keys[along].clone(),
            x_label: Some(capital(&self.axis(&groups.keys[along]))),
            series: vec![(capital(&quantity.0), quantity.1.clone())],
            y_label: Some(capital(&quantity.0)),
            options: Map::from_iter([("color_by".to_owned(), keys[by].clone().into())]),
            frame: Some(rows),
            notes,
        }
    }

    /// Returns which key lies along the axis, and which makes the series: time lies along it, else that of more values.
    fn along(&self, groups: &Groups) -> [usize; 2] {
        let plain = self.plain();
        let [first, second] = [0, 1].map(|it| &groups.keys[it]);
        let n_values = |it: &GroupKey| match it {
            GroupKey::Part(_, Part::Weekday) => 7,
            GroupKey::Part(_, Part::Month) => 12,
            GroupKey::Part(_, Part::Hour) => 24,
            it => plain.column(it.place()).n_values().unwrap_or(usize::MAX),
        };
        let is_swapped = match (plain.runs(first), plain.runs(second)) {
            (true, _) => false,
            (false, true) => true,
            (false, false) => match (plain.is_ordinal(first), plain.is_ordinal(second)) {
                (true, false) => false,
                (false, true) => true,
                _ => n_values(first) < n_values(second),
            },
        };
        if is_swapped { [1, 0] } else { [0, 1] }
    }

    /// Returns the values that make series, the largest first.
    fn series(
        &self,
        along: usize,
        by: usize,
        label: &str,
        adds: bool,
        ran: &Ran<'_>,
    ) -> Result<Series, String> {
        let keys = &self.statement.keys;
        if self.result.is_complete() {
            return Ok(self.series_known(&keys[along], &keys[by], label, adds));
        }
        let [x, key, measure] = [&keys[along], &keys[by], label].map(identifier);
        let (agg, result) = (if adds { "sum" } else { "avg" }, self.result());
        let sql = format!(
            "select {key} as series, {agg}({measure}) as size, (select count(distinct {x}) from {result}) as along\nfrom \
             {result}\ngroup by {key}\norder by size desc nulls last, {key}"
        );
        let Some(done) = ran(&sql, None) else { return Err(sql) };
        let frame = ResultHead::of(done);
        let along = frame.head.first().and_then(|it| it["along"].as_u64());
        Ok(Series {
            values: frame.head.iter().map(|it| it["series"].clone()).collect(),
            n: frame.n_rows,
            n_along: along.unwrap_or_default(),
        })
    }

    fn series_known(&self, along: &str, by: &str, label: &str, adds: bool) -> Series {
        let mut sizes: Vec<(Json, f64, f64)> = Vec::new();
        let mut xs: Vec<&Json> = Vec::new();
        for row in &self.result.head {
            let size = row[label].as_f64().unwrap_or_default();
            if !xs.contains(&&row[along]) {
                xs.push(&row[along]);
            }
            match sizes.iter_mut().find(|it| it.0 == row[by]) {
                Some(it) => {
                    it.1 += size;
                    it.2 += 1.0;
                }
                None => sizes.push((row[by].clone(), size, 1.0)),
            }
        }
        let size = |it: &(Json, f64, f64)| if adds { it.1 } else { it.1 / it.2 };
        sizes.sort_by(|one, other| size(other).total_cmp(&size(one)));
        let n = sizes.len() as u64;
        let values = sizes.into_iter().map(|it| it.0).collect();
        Series { values, n, n_along: xs.len() as u64 }
    }

    /// Writes the frame with a column for each series, and returns these columns.
    fn pivot(
        &self,
        groups: &Groups,
        [along, by]: [usize; 2],
        label: &str,
        values: &[Json],
        has_other: bool,
        n_along: u64,
    ) -> (String, Vec<String>) {
        let keys = &self.statement.keys;
        let [x, key, measure] = [&keys[along], &keys[by], label].map(identifier);
        let mut taken = vec![keys[along].clone()];
        let mut column = |name: &str| {
            let mut name = if name.is_empty() { "value".to_owned() } else { name.to_owned() };
            while taken.iter().any(|it| it.eq_ignore_ascii_case(&name)) {
                name.push('_');
            }
            taken.push(name.clone());
            name
        };
        let written: Vec<String> = values.iter().map(|it| self.written(&keys[by], it)).collect();
        let mut columns = Vec::new();
        let mut selected = x.clone();
        for (value, written) in values.iter().zip(&written) {
            let name = column(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            let filter = format!("filter (where {key} = {written})");
            let _ = write!(selected, ", max({measure}) {filter} as {}", identifier(&name));
            columns.push(name);
        }
        if has_other {
            let name = column(OTHER);
            let filter = format!("filter (where {key} not in ({}))", written.join(", "));
            let _ = write!(selected, ", sum({measure}) {filter} as {}", identifier(&name));
            columns.push(name);
        }
        let result = self.result();
        let is_long = (CHART_ROWS_MAX as u64) < n_along;
        let (limit, runs) =
            (format!("limit {CHART_ROWS_MAX}"), self.plain().runs(&groups.keys[along]));
        if runs && is_long {
            let last = format!(
                "select {selected}\nfrom {result}\ngroup by {x}\norder by {x} desc\n{limit}"
            );
            return (format!("select *\nfrom ({last})\norder by {x}"), columns);
        }
        // Days of a week, and what is sorted by a number, keep the order of the result.
        let is_weekday = matches!(groups.keys[along], GroupKey::Part(_, Part::Weekday));
        let (from, order) = if runs || groups.order.is_none() && !is_weekday {
            (result, x.clone())
        } else {
            let numbered = format!("(select *, row_number() over () as \"_at\" from {result})");
            (numbered, "min(\"_at\")".to_owned())
        };
        let mut sql = format!("select {selected}\nfrom {from}\ngroup by {x}\norder by {order}");
        if is_long {
            let _ = write!(sql, "\n{limit}");
        }
        (sql, columns)
    }

    /// Writes a value of a key as SQL.
    fn written(&self, key: &str, value: &Json) -> String {
        match value {
            Json::String(text) => match self.result.dtype(key) {
                // Dates and times of day.
                "object" => {
                    let kind = if text.contains(':') { "time" } else { "date" };
                    format!("{kind} {}", literal(text))
                }
                "datetime64[us]" => {
                    format!("timestamp {}", literal(&text.replacen('T', " ", 1)))
                }
                it if it.starts_with("datetime64") => {
                    format!("try_cast({} as timestamptz)", literal(text))
                }
                _ => literal(text),
            },
            value => value.to_string(),
        }
    }
}
