//! Code: the pandas that computes a reading, as an analyst would write it.

use std::fmt::Write;

use super::ground::Place;
use super::lexicon::TimeUnit;
use super::reading::{
    Agg, Check, Filter, Group, Measure, Op, Over, Part, Rank, Reading, Scalar, Test, What, Within,
};
use super::schema::{Kind, Table};

/// A table and the columns of it that are loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Which table.
    pub table: usize,
    /// The columns; all when none are named.
    pub columns: Vec<String>,
    /// The variable.
    pub variable: &'static str,
}

/// What computes a reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// What is loaded first.
    pub loads: Vec<Load>,
    /// Lines that end with the frame `result`.
    pub code: String,
    /// The columns of the result that stand for the measures.
    pub measures: Vec<String>,
    /// The columns of the result that stand for the groups.
    pub groups: Vec<String>,
}

/// The days of a week, as pandas names them.
pub const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// Bars of a histogram.
const BINS: u32 = 10;
/// Distance from the quartiles, in interquartile ranges, from which a value counts as an outlier.
pub const FAR: f64 = 1.5;

/// Writes the program of a reading. Numbers are rounded to `decimals`.
pub fn program(reading: &Reading, tables: &[&Table], decimals: u32) -> Program {
    let mut writer =
        Writer { reading, tables, lines: Vec::new(), columns: Vec::new(), all: false, decimals };
    let (measures, groups) = writer.write();
    let loads = writer.loads();
    Program { loads, code: writer.lines.join("\n"), measures, groups }
}

struct Writer<'a> {
    reading: &'a Reading,
    tables: &'a [&'a Table],
    lines: Vec<String>,
    /// Columns that the lines use.
    columns: Vec<Place>,
    /// Whether rows are wanted whole.
    all: bool,
    decimals: u32,
}

/// Writes text as Python does.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Makes a name of a column: letters, digits and underscores.
pub fn slug(name: &str) -> String {
    let parts = name.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let words: Vec<String> = parts.map(str::to_lowercase).collect();
    let name = words.join("_");
    // A name in other letters is none that code can use.
    if name.is_empty() { "value".to_owned() } else { name }
}

/// Writes a number without a needless fraction.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        format!("{value}")
    }
}

fn listed(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|it| quoted(it)).collect();
    format!("[{}]", quoted.join(", "))
}

fn one_or_list(items: &[String]) -> String {
    match items {
        [one] => quoted(one),
        items => listed(items),
    }
}

impl Writer<'_> {
    fn kind(&self, place: Place) -> Kind {
        self.tables[place.table].columns[place.column].kind
    }

    /// Returns the name of a column in the frame `df`.
    fn name(&mut self, place: Place) -> String {
        if !self.columns.contains(&place) {
            self.columns.push(place);
        }
        column_name(self.tables, self.reading, place)
    }

    fn names(&mut self, places: &[Place]) -> Vec<String> {
        places.iter().map(|it| self.name(*it)).collect()
    }

    /// Returns the frame of some columns; of all when none are named.
    fn frame(&mut self, places: &[Place]) -> String {
        if places.is_empty() {
            self.all = true;
            return "df".to_owned();
        }
        format!("df[{}]", listed(&self.names(places)))
    }

    fn series(&mut self, place: Place) -> String {
        format!("df[{}]", quoted(&self.name(place)))
    }

    /// Returns a column as instants.
    fn time(&mut self, place: Place) -> String {
        let series = self.series(place);
        match self.kind(place) {
            Kind::Moment => series,
            Kind::Clock => {
                format!("pd.to_datetime({series}.astype(str), format=\"mixed\", errors=\"coerce\")")
            }
            Kind::Instant => format!("{series}.dt.tz_localize(None)"),
            Kind::Text => format!("pd.to_datetime({series}, format=\"mixed\", errors=\"coerce\")"),
            _ => format!("pd.to_datetime({series})"),
        }
    }

    fn loads(&self) -> Vec<Load> {
        let of = |table: usize| -> Vec<String> {
            if self.all && table == 0 {
                return Vec::new();
            }
            let mut places: Vec<Place> =
                self.columns.iter().copied().filter(|it| it.table == table).collect();
            let join = self.joined();
            places.extend(join.map(|it| if table == 0 { it.0 } else { it.1 }));
            places.sort_unstable();
            places.dedup();
            places.iter().map(|it| self.tables[it.table].columns[it.column].name.clone()).collect()
        };
        let mut first = of(0);
        if first.is_empty() && !self.all {
            // Rows are counted by a column; the first is as good as any.
            first.extend(self.tables[0].columns.first().map(|it| it.name.clone()));
        }
        let mut loads = vec![Load { table: 0, columns: first, variable: "df" }];
        if self.joined().is_some() {
            loads.push(Load { table: 1, columns: of(1), variable: "other" });
        }
        loads
    }

    /// Returns the columns by which two tables go together.
    fn joined(&self) -> Option<(Place, Place)> {
        let checked = match &self.reading.what {
            What::Check(Check::Refers(join)) => Some(join),
            _ => None,
        };
        self.reading.join.as_ref().or(checked).map(|it| (it.left, it.right))
    }

    /// Writes all lines. Returns the columns of the measures and of the groups.
    fn write(&mut self) -> (Vec<String>, Vec<String>) {
        let what = self.reading.what.clone();
        let keys = self.keys(&what);
        let filters = self.reading.filters.clone();
        if !filters.is_empty() {
            let mask = self.mask(&filters);
            self.lines.push(format!("df = df[{mask}]"));
        }
        let measures = self.body(&what, &keys);
        if let Some(join) = self.reading.join.clone() {
            let lines = self.join_lines(join.left, join.right);
            self.lines.splice(0..0, lines);
        }
        self.lines.push("result".to_owned());
        (measures, keys)
    }

    fn join_lines(&self, left: Place, right: Place) -> Vec<String> {
        let mut lines = Vec::new();
        let of_other: Vec<Place> =
            self.columns.iter().copied().filter(|it| it.table == 1).collect();
        let renamed: Vec<String> = of_other
            .iter()
            .filter_map(|it| {
                let old = &self.tables[1].columns[it.column].name;
                let new = column_name(self.tables, self.reading, *it);
                (*old != new).then(|| format!("{}: {}", quoted(old), quoted(&new)))
            })
            .collect();
        let right_old = &self.tables[1].columns[right.column].name;
        let right_new = column_name(self.tables, self.reading, right);
        let right_name = if of_other.contains(&right) { right_new } else { right_old.clone() };
        if !renamed.is_empty() {
            lines.push(format!("other = other.rename(columns={{{}}})", renamed.join(", ")));
        }
        let left_name = &self.tables[0].columns[left.column].name;
        lines.push(format!("other = other.drop_duplicates({})", quoted(&right_name)));
        let on = if *left_name == right_name {
            format!("on={}", quoted(left_name))
        } else {
            format!("left_on={}, right_on={}", quoted(left_name), quoted(&right_name))
        };
        lines.push(format!("df = df.merge(other, how=\"left\", {on})"));
        lines
    }

    /// Writes the columns that groups need beside those of the table. Returns the names of all keys.
    fn keys(&mut self, what: &What) -> Vec<String> {
        let groups = match what {
            What::Aggregate { groups, .. }
            | What::Share { groups, .. }
            | What::Ratio { groups, .. }
            | What::Correlation(_, groups)
            | What::Missing(_, groups) => groups.clone(),
            _ => Vec::new(),
        };
        groups.iter().map(|it| self.key(*it)).collect()
    }

    fn key(&mut self, group: Group) -> String {
        let (place, label, made) = match group {
            Group::By(place) => return self.name(place),
            Group::Time(place, unit) => {
                let time = self.time(place);
                let (label, made) = match unit {
                    TimeUnit::Year => ("year", format!("{time}.dt.year.astype(\"Int64\")")),
                    TimeUnit::Quarter => {
                        ("quarter", format!("{time}.dt.to_period(\"Q\").dt.strftime(\"%Y-Q%q\")"))
                    }
                    TimeUnit::Month => ("month", format!("{time}.dt.strftime(\"%Y-%m\")")),
                    TimeUnit::Week => (
                        "week",
                        format!(
                            "{time}.dt.to_period(\"W\").dt.start_time.dt.strftime(\"%Y-%m-%d\")"
                        ),
                    ),
                    TimeUnit::Day => ("day", format!("{time}.dt.strftime(\"%Y-%m-%d\")")),
                    TimeUnit::Hour => ("hour", format!("{time}.dt.strftime(\"%Y-%m-%d %H:00\")")),
                };
                (place, label, made)
            }
            Group::Part(place, part) => {
                let time = self.time(place);
                let (label, made) = match part {
                    Part::Year => ("year", format!("{time}.dt.year.astype(\"Int64\")")),
                    Part::Quarter => ("quarter", format!("{time}.dt.quarter.astype(\"Int64\")")),
                    Part::Month => ("month", format!("{time}.dt.month.astype(\"Int64\")")),
                    Part::Weekday => ("weekday", format!("{time}.dt.day_name()")),
                    Part::Hour => ("hour", format!("{time}.dt.hour.astype(\"Int64\")")),
                };
                (place, label, made)
            }
        };
        let is_taken = self.tables[0].column(label).is_some();
        let label = if is_taken {
            format!("{label}_of_{}", slug(&self.name(place)))
        } else {
            label.to_owned()
        };
        self.lines.push(format!("df[{}] = {made}", quoted(&label)));
        label
    }

    fn body(&mut self, what: &What, keys: &[String]) -> Vec<String> {
        match what {
            What::Aggregate { measures, groups, rank, over, having } => {
                self.aggregate(measures, groups, keys, *rank, *over, *having)
            }
            What::Difference { measure, by, between } => self.difference(measure, *by, between),
            What::Rows { columns, rank, first } => {
                self.rows(columns, *rank, *first);
                Vec::new()
            }
            What::Share { part, of, rank, .. } => self.share(part, *of, *rank, keys),
            What::Ratio { part, whole, is_percent, .. } => {
                self.ratio(*part, *whole, *is_percent, keys)
            }
            What::Correlation(places, _) => self.correlation(places, keys),
            What::Distribution(place) => self.distribution(*place),
            What::Outliers(places, counts) => self.outliers(places, *counts),
            What::Missing(places, _) => self.missing(places, keys),
            What::Duplicates(places) => self.duplicates(places),
            What::Constant => {
                self.all = true;
                self.lines.push("n_values = df.nunique(dropna=False)".to_owned());
                self.lines.push(
                    "result = pd.DataFrame({\"column\": n_values[n_values <= 1].index})".to_owned(),
                );
                Vec::new()
            }
            What::Describe(places) => self.describe(places),
            What::Columns => {
                self.all = true;
                self.lines.push(
                    "result = pd.DataFrame({\"column\": df.columns, \"dtype\": df.dtypes.astype(str).values,\n                       \
                     \"missing\": df.isna().sum().values})"
                        .to_owned(),
                );
                Vec::new()
            }
            What::Size => {
                self.all = true;
                self.lines.push(
                    "result = pd.DataFrame({\"rows\": [len(df)], \"columns\": [df.shape[1]]})"
                        .to_owned(),
                );
                vec!["rows".to_owned(), "columns".to_owned()]
            }
            What::Check(check) => {
                self.check(check);
                Vec::new()
            }
        }
    }

    fn aggregate(
        &mut self,
        measures: &[Measure],
        groups: &[Group],
        keys: &[String],
        rank: Option<Rank>,
        over: Over,
        having: Option<(Op, f64)>,
    ) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        for measure in measures {
            let mut label = self.label(measure);
            while keys.contains(&label) || labels.contains(&label) {
                label.push('_');
            }
            labels.push(label);
        }
        if keys.is_empty() {
            let mut cells = Vec::new();
            for (measure, label) in measures.iter().zip(&labels) {
                cells.push(format!("{}: [{}]", quoted(label), self.whole(measure)));
            }
            self.lines.push(format!("result = pd.DataFrame({{{}}})", cells.join(", ")));
            if measures.iter().any(|it| self.has_fraction(it)) {
                self.round();
            }
            return labels;
        }
        let mut aggs = Vec::new();
        for (measure, label) in measures.iter().zip(&labels) {
            let column = match measure.of {
                Some(place) => self.name(place),
                None => keys[0].clone(),
            };
            aggs.push(format!("{label}=({}, {})", quoted(&column), of_group(measure.agg)));
        }
        let by = one_or_list(keys);
        self.lines
            .push(format!("result = df.groupby({by}, as_index=False).agg({})", aggs.join(", ")));
        if groups.iter().any(|it| matches!(it, Group::Part(_, Part::Weekday))) && rank.is_none() {
            self.lines.push(format!("days = {}", listed(&DAYS.map(str::to_owned))));
            let key =
                keys.iter().zip(groups).find(|it| matches!(it.1, Group::Part(_, Part::Weekday)));
            let key = key.map(|it| it.0.clone()).unwrap_or_default();
            self.lines.push(format!(
                "result = result.sort_values({}, key=lambda it: it.map(days.index), ignore_index=True)",
                quoted(&key)
            ));
        }
        if let Some((op, value)) = having {
            let test = format!("result[{}] {} {}", quoted(&labels[0]), sign(op), number(value));
            self.lines.push(format!("result = result[{test}]"));
        }
        let first = quoted(&labels[0]);
        let made = match over {
            Over::Plain => None,
            Over::Cumulative => Some(("cumulative", format!("result[{first}].cumsum()"))),
            Over::Growth => Some(("growth_percent", format!("100 * result[{first}].pct_change()"))),
            Over::Change => Some(("change", format!("result[{first}].diff()"))),
            Over::Share => {
                Some(("share_percent", format!("100 * result[{first}] / result[{first}].sum()")))
            }
        };
        let mut ranked_by = labels[0].clone();
        if let Some((label, made)) = made {
            self.lines.push(format!("result[{}] = {made}", quoted(label)));
            label.clone_into(&mut ranked_by);
            labels.insert(0, ranked_by.clone());
        }
        if let Some(rank) = rank {
            self.rank(&ranked_by, rank, measures.first());
        }
        let is_percent = matches!(over, Over::Growth | Over::Share);
        if is_percent || measures.iter().any(|it| self.has_fraction(it)) {
            self.round();
        }
        labels
    }

    fn rank(&mut self, by: &str, rank: Rank, measure: Option<&Measure>) {
        let is_number = measure.is_none_or(|it| {
            it.of.is_none_or(|place| self.kind(place).is_number())
                || matches!(it.agg, Agg::Count | Agg::Distinct)
        });
        let by = quoted(by);
        if rank.n == Some(1) && rank.skip == 0 && is_number {
            let largest = if rank.is_ascending { "nsmallest" } else { "nlargest" };
            self.lines.push(format!("result = result.{largest}(1, {by}, keep=\"all\")"));
            return;
        }
        let ascending = if rank.is_ascending { "" } else { ", ascending=False" };
        // Equal numbers keep the order of the groups.
        let mut line = format!(
            "result = result.sort_values({by}{ascending}, kind=\"stable\", ignore_index=True)"
        );
        if let Some(n) = rank.n {
            line.push_str(&cut(n, rank.skip));
        }
        self.lines.push(line);
    }

    fn label(&mut self, measure: &Measure) -> String {
        let column = measure.of.map(|it| slug(&self.name(it)));
        let of = |word: &str| match &column {
            Some(column) => format!("{word}_{column}"),
            None => word.to_owned(),
        };
        match measure.agg {
            Agg::Count => "count".to_owned(),
            Agg::Distinct => of("distinct"),
            Agg::Sum => of("total"),
            Agg::Mean => of("mean"),
            Agg::Median => of("median"),
            Agg::Min => of("min"),
            Agg::Max => of("max"),
            Agg::Std => of("std"),
            Agg::Var => of("var"),
            Agg::Iqr => of("iqr"),
            Agg::Quantile(share) => {
                of(&format!("p{}", number((share * 1e4).round() / 1e2).replace('.', "_")))
            }
        }
    }

    /// Returns the expression of a measure over all rows.
    fn whole(&mut self, measure: &Measure) -> String {
        let Some(place) = measure.of else { return "len(df)".to_owned() };
        let series = match self.kind(place) {
            Kind::Text if matches!(measure.agg, Agg::Min | Agg::Max) => {
                format!("{}.dropna()", self.series(place))
            }
            Kind::Day if matches!(measure.agg, Agg::Min | Agg::Max) => {
                format!("{}.dropna()", self.series(place))
            }
            _ => self.series(place),
        };
        match measure.agg {
            Agg::Count => format!("{series}.count()"),
            Agg::Distinct => format!("{series}.nunique()"),
            Agg::Iqr => format!("{series}.quantile(0.75) - {series}.quantile(0.25)"),
            Agg::Quantile(share) => format!("{series}.quantile({})", number(share)),
            agg => format!("{series}.{}()", plain(agg)),
        }
    }

    fn round(&mut self) {
        self.lines.push(format!("result = result.round({})", self.decimals));
    }

    /// Returns whether a measure may have a fraction.
    fn has_fraction(&self, measure: &Measure) -> bool {
        match measure.agg {
            Agg::Count | Agg::Distinct => false,
            Agg::Min | Agg::Max | Agg::Sum => {
                measure.of.is_some_and(|it| self.kind(it) == Kind::Real)
            }
            _ => true,
        }
    }

    fn difference(&mut self, measure: &Measure, by: Place, between: &[String; 2]) -> Vec<String> {
        let key = self.name(by);
        let label = self.label(measure);
        let column = match measure.of {
            Some(place) => self.name(place),
            None => key.clone(),
        };
        self.lines.push(format!(
            "result = df.groupby({}, as_index=False).agg({label}=({}, {}))",
            quoted(&key),
            quoted(&column),
            of_group(measure.agg)
        ));
        self.lines.push(format!("values = result.set_index({})[{}]", quoted(&key), quoted(&label)));
        self.lines.push(format!(
            "result = pd.DataFrame({{\"difference\": [values[{}] - values[{}]], {}: [values[{}]], {}: [values[{}]]}})",
            quoted(&between[0]),
            quoted(&between[1]),
            quoted(&between[0]),
            quoted(&between[0]),
            quoted(&between[1]),
            quoted(&between[1]),
        ));
        self.round();
        vec!["difference".to_owned()]
    }

    fn rows(&mut self, columns: &[Place], rank: Option<(Place, Rank)>, first: Option<i64>) {
        self.all = columns.is_empty();
        let names = self.names(columns);
        let mut line = "result = df".to_owned();
        if let Some((place, rank)) = rank {
            let by = self.name(place);
            let ascending = if rank.is_ascending { "" } else { ", ascending=False" };
            if rank.n == Some(1) && rank.skip == 0 && self.kind(place).is_number() {
                let end = if rank.is_ascending { "min" } else { "max" };
                line = format!("result = df[df[{0}] == df[{0}].{end}()]", quoted(&by));
            } else {
                let _ = write!(line, ".sort_values({}{ascending}, kind=\"stable\")", quoted(&by));
                if let Some(n) = rank.n {
                    line.push_str(&cut(n, rank.skip));
                }
            }
        }
        match first {
            Some(n) if n < 0 => _ = write!(line, ".tail({})", -n),
            Some(n) => _ = write!(line, ".head({n})"),
            None => {}
        }
        if !names.is_empty() {
            let _ = write!(line, "[{}]", listed(&names));
        }
        self.lines.push(format!("{line}.reset_index(drop=True)"));
    }

    fn share(
        &mut self,
        part: &[Filter],
        of: Option<Place>,
        rank: Option<Rank>,
        keys: &[String],
    ) -> Vec<String> {
        let mask = self.mask(part);
        let label = "share_percent".to_owned();
        let number = of.map(|it| self.name(it));
        if keys.is_empty() {
            self.lines.push(format!("part = {mask}"));
            let line = match &number {
                None => "result = pd.DataFrame({\"share_percent\": [100 * part.mean()], \"count\": [part.sum()], \
                         \"of\": [len(df)]})"
                    .to_owned(),
                Some(column) => {
                    let series = format!("df[{}]", quoted(column));
                    format!(
                        "result = pd.DataFrame({{\"share_percent\": [100 * {series}[part].sum() / {series}.sum()], \
                         \"part\": [{series}[part].sum()], \"of\": [{series}.sum()]}})"
                    )
                }
            };
            self.lines.push(line);
        } else {
            let weighted = match &number {
                None => mask,
                Some(column) => format!("df[{}].where({mask}, 0)", quoted(column)),
            };
            self.lines.push(format!("df = df.assign(part={weighted})"));
            let whole = match &number {
                None => "(\"part\", \"size\")".to_owned(),
                Some(column) => format!("({}, \"sum\")", quoted(column)),
            };
            self.lines.push(format!(
                "result = df.groupby({}, as_index=False).agg(part=(\"part\", \"sum\"), of={whole})",
                one_or_list(keys)
            ));
            self.lines.push(
                "result[\"share_percent\"] = 100 * result[\"part\"] / result[\"of\"]".to_owned(),
            );
            if let Some(rank) = rank {
                self.rank(&label, rank, None);
            }
        }
        self.round();
        vec![label]
    }

    fn ratio(
        &mut self,
        part: Place,
        whole: Place,
        is_percent: bool,
        keys: &[String],
    ) -> Vec<String> {
        let (part, whole) = (self.series(part), self.series(whole));
        let (label, scale) = if is_percent { ("percent", "100 * ") } else { ("ratio", "") };
        let mean = format!("mean_{label}");
        if keys.is_empty() {
            self.lines.push(format!(
                "result = pd.DataFrame({{\"{label}\": [{scale}{part}.sum() / {whole}.sum()], \"{mean}\": [({scale}{part} / {whole}).mean()]}})"
            ));
        } else {
            self.lines.push(format!(
                "df = df.assign(part={part}, whole={whole}, {mean}={scale}{part} / {whole})"
            ));
            self.lines.push(format!(
                "result = df.groupby({}, as_index=False).agg(part=(\"part\", \"sum\"), whole=(\"whole\", \"sum\"), {mean}=(\"{mean}\", \"mean\"))",
                one_or_list(keys)
            ));
            self.lines
                .push(format!("result[\"{label}\"] = {scale}result[\"part\"] / result[\"whole\"]"));
        }
        self.round();
        vec![label.to_owned()]
    }

    fn correlation(&mut self, places: &[Place], keys: &[String]) -> Vec<String> {
        let names = self.names(places);
        let label = "correlation".to_owned();
        match (&names[..], keys) {
            ([one, other], []) => self.lines.push(format!(
                "result = pd.DataFrame({{\"correlation\": [df[{}].corr(df[{}])]}})",
                quoted(one),
                quoted(other)
            )),
            ([one, other], keys) => {
                self.lines.push(format!(
                    "pairs = df.groupby({})[{}]",
                    one_or_list(keys),
                    listed(&[one.clone(), other.clone()])
                ));
                self.lines.push(format!(
                    "result = pairs.apply(lambda it: it[{}].corr(it[{}])).reset_index(name=\"correlation\")",
                    quoted(one),
                    quoted(other)
                ));
            }
            ([one], _) => {
                self.all = true;
                self.lines.push(format!(
                    "result = df.corr(numeric_only=True)[{0}].drop({0})",
                    quoted(one)
                ));
                self.lines.push(
                    "result = result.sort_values(key=abs, ascending=False).rename_axis(\"column\").reset_index(name=\"correlation\")"
                        .to_owned(),
                );
            }
            _ => {
                let of = self.frame(places);
                self.lines.push(format!(
                    "result = {of}.corr(numeric_only=True).rename_axis(\"column\").reset_index()"
                ));
            }
        }
        self.round();
        vec![label]
    }

    fn distribution(&mut self, place: Place) -> Vec<String> {
        let series = self.series(place);
        self.lines.push(format!("values = {series}.dropna()"));
        self.lines.push(format!(
            "counts, edges = np.histogram(values, bins=max(1, min({BINS}, values.nunique())))"
        ));
        self.lines.push(
            "result = pd.DataFrame({\"from\": edges[:-1], \"to\": edges[1:], \"count\": counts})"
                .to_owned(),
        );
        self.round();
        vec!["count".to_owned()]
    }

    fn far(&mut self, place: Place) -> String {
        let series = self.series(place);
        self.lines.push(format!("q1, q3 = {series}.quantile([0.25, 0.75])"));
        self.lines.push(format!("far = {FAR} * (q3 - q1)"));
        format!("({series} < q1 - far) | ({series} > q3 + far)")
    }

    fn outliers(&mut self, places: &[Place], counts: bool) -> Vec<String> {
        self.all = !counts;
        if let ([place], false) = (places, counts) {
            let mask = self.far(*place);
            self.lines.push(format!("result = df[{mask}].reset_index(drop=True)"));
            return Vec::new();
        }
        let mut of = self.frame(places);
        if places.is_empty() {
            of.push_str(".select_dtypes(\"number\")");
        }
        self.lines.push(format!("values = {of}"));
        self.lines.push("q1, q3 = values.quantile(0.25), values.quantile(0.75)".to_owned());
        self.lines.push(format!("far = {FAR} * (q3 - q1)"));
        self.lines.push("is_far = (values < q1 - far) | (values > q3 + far)".to_owned());
        self.lines.push(
            "result = is_far.sum().rename_axis(\"column\").reset_index(name=\"outliers\")"
                .to_owned(),
        );
        vec!["outliers".to_owned()]
    }

    fn missing(&mut self, places: &[Place], keys: &[String]) -> Vec<String> {
        let label = "missing".to_owned();
        match places {
            [place] if keys.is_empty() => {
                let series = self.series(*place);
                self.lines.push(format!(
                    "result = pd.DataFrame({{\"missing\": [{series}.isna().sum()]}})"
                ));
            }
            [place] => {
                let series = self.series(*place);
                self.lines.push(format!("df = df.assign(missing={series}.isna())"));
                self.lines.push(format!(
                    "result = df.groupby({}, as_index=False).agg(missing=(\"missing\", \"sum\"))",
                    one_or_list(keys)
                ));
            }
            places => {
                let of = self.frame(places);
                self.lines.push(format!(
                    "result = {of}.isna().sum().rename_axis(\"column\").reset_index(name=\"missing\")"
                ));
                self.lines.push(
                    "result = result.sort_values(\"missing\", ascending=False, kind=\"stable\", ignore_index=True)"
                        .to_owned(),
                );
            }
        }
        vec![label]
    }

    fn duplicates(&mut self, places: &[Place]) -> Vec<String> {
        if places.is_empty() {
            self.all = true;
            self.lines.push(
                "result = pd.DataFrame({\"duplicate_rows\": [df.duplicated().sum()]})".to_owned(),
            );
            return vec!["duplicate_rows".to_owned()];
        }
        let names = self.names(places);
        self.lines.push(format!(
            "result = df.groupby({}).size().reset_index(name=\"count\")",
            listed(&names)
        ));
        self.lines.push("result = result[result[\"count\"] > 1].sort_values(\"count\", ascending=False, ignore_index=True)".to_owned());
        vec!["count".to_owned()]
    }

    fn describe(&mut self, places: &[Place]) -> Vec<String> {
        let of = self.frame(places);
        let all_text = !places.is_empty() && places.iter().all(|it| !self.kind(*it).is_number());
        let has_number = if places.is_empty() {
            self.tables[0].columns.iter().any(|it| it.kind.is_number())
        } else {
            !all_text
        };
        let line = if has_number {
            format!(
                "result = {of}.describe(include=\"number\").T.rename_axis(\"column\").reset_index()"
            )
        } else {
            format!("result = {of}.describe().T.rename_axis(\"column\").reset_index()")
        };
        self.lines.push(line);
        if has_number {
            self.round();
        }
        Vec::new()
    }

    fn check(&mut self, check: &Check) {
        self.all = true;
        let line = match check {
            Check::Any(filters) => {
                let mask = self.mask(filters);
                format!("result = df[{mask}]")
            }
            Check::All(filters) => {
                let mask = self.mask(filters);
                let known: Vec<String> = filters
                    .iter()
                    .filter(|it| it.test != Test::Missing)
                    .map(|it| self.tables[it.place.table].columns[it.place.column].name.clone())
                    .collect();
                if known.is_empty() {
                    format!("result = df[~({mask})]")
                } else {
                    format!("result = df[~({mask}) & df[{}].notna().all(axis=1)]", listed(&known))
                }
            }
            Check::Unique(places) => {
                let names = self.names(places);
                match &names[..] {
                    [] => "result = df[df.duplicated(keep=False)]".to_owned(),
                    names => {
                        let of = listed(names);
                        self.lines.push(format!("known = df.dropna(subset={of})"));
                        format!(
                            "result = known[known.duplicated(subset={of}, keep=False)].sort_values({of})"
                        )
                    }
                }
            }
            Check::Present(places) => {
                let names = self.names(places);
                match &names[..] {
                    [] => "result = df[df.isna().any(axis=1)]".to_owned(),
                    [one] => format!("result = df[df[{}].isna()]", quoted(one)),
                    names => format!("result = df[df[{}].isna().any(axis=1)]", listed(names)),
                }
            }
            Check::Refers(join) => {
                let left = self.series(join.left);
                let right = quoted(&self.tables[1].columns[join.right.column].name);
                format!("result = df[{left}.notna() & ~{left}.isin(other[{right}])]")
            }
            Check::Varies(places) => {
                let of = self.frame(places);
                self.lines.push(format!("n_values = {of}.nunique(dropna=False)"));
                "result = pd.DataFrame({\"column\": n_values[n_values <= 1].index})".to_owned()
            }
            Check::Inliers(places) => {
                let mut numbers = places.clone();
                if numbers.is_empty() {
                    numbers = (0..self.tables[0].columns.len())
                        .map(|column| Place { table: 0, column })
                        .filter(|it| self.kind(*it).is_number())
                        .collect();
                }
                let names = self.names(&numbers);
                self.lines.push(format!("values = df[{}]", listed(&names)));
                self.lines.push("q1, q3 = values.quantile(0.25), values.quantile(0.75)".to_owned());
                self.lines.push(format!("far = {FAR} * (q3 - q1)"));
                "result = df[((values < q1 - far) | (values > q3 + far)).any(axis=1)]".to_owned()
            }
        };
        self.lines.push(format!("{line}.reset_index(drop=True)"));
    }

    /// Returns the condition for rows to count.
    fn mask(&mut self, filters: &[Filter]) -> String {
        let tests: Vec<String> = filters.iter().map(|it| self.test(it)).collect();
        match &tests[..] {
            [one] => unwrapped(one).to_owned(),
            tests => tests.join(" & "),
        }
    }

    fn test(&mut self, filter: &Filter) -> String {
        let place = filter.place;
        let series = self.series(place);
        let has_missing = 0 < self.tables[place.table].columns[place.column].n_missing;
        let not = filter.is_negated;
        let positive = match &filter.test {
            Test::Is(op, Scalar::Number(value)) => {
                let op = if not { opposite(*op) } else { *op };
                let known = if op == Op::Ne && has_missing {
                    format!(" & {series}.notna()")
                } else {
                    String::new()
                };
                return format!("({series} {} {}){known}", sign(op), number(*value));
            }
            Test::Is(op, Scalar::Day(day)) => {
                let op = if not { opposite(*op) } else { *op };
                let time = self.time(place);
                return format!("({time} {} \"{day}\")", sign(op));
            }
            Test::IsTo(op, other) => {
                let op = if not { opposite(*op) } else { *op };
                return format!("({series} {} {})", sign(op), self.series(*other));
            }
            Test::True => {
                return format!("{series}.eq({})", if not { "False" } else { "True" });
            }
            Test::Missing => {
                return format!("{series}.{}()", if not { "notna" } else { "isna" });
            }
            Test::In(values) => match (&values[..], not) {
                ([one], false) => return format!("({series} == {})", quoted(one)),
                ([one], true) => {
                    let known =
                        if has_missing { format!(" & {series}.notna()") } else { String::new() };
                    return format!("({series} != {}){known}", quoted(one));
                }
                (values, _) => format!("{series}.isin({})", listed(values)),
            },
            Test::Text(within, text) => {
                let text = quoted(text);
                match within {
                    Within::Contains => {
                        format!("{series}.str.contains({text}, case=False, regex=False, na=False)")
                    }
                    Within::Starts => {
                        format!("{series}.str.lower().str.startswith({text}.lower(), na=False)")
                    }
                    Within::Ends => {
                        format!("{series}.str.lower().str.endswith({text}.lower(), na=False)")
                    }
                }
            }
            Test::Part(part, values) => {
                let time = self.time(place);
                let (of, shift) = match part {
                    Part::Year => ("year", 0),
                    Part::Quarter => ("quarter", 0),
                    Part::Month => ("month", 0),
                    Part::Weekday => ("dayofweek", 1),
                    Part::Hour => ("hour", 0),
                };
                match &values[..] {
                    [one] => format!("({time}.dt.{of} == {})", one - shift),
                    values => {
                        let values: Vec<String> =
                            values.iter().map(|it| (it - shift).to_string()).collect();
                        format!("{time}.dt.{of}.isin([{}])", values.join(", "))
                    }
                }
            }
            Test::Last(n, unit) => {
                let time = self.time(place);
                let letter = match unit {
                    TimeUnit::Year => "Y",
                    TimeUnit::Quarter => "Q",
                    TimeUnit::Month => "M",
                    TimeUnit::Week => "W",
                    TimeUnit::Day => "D",
                    TimeUnit::Hour => "h",
                };
                let period = format!("{time}.dt.to_period(\"{letter}\")");
                format!("({period} > {period}.max() - {n})")
            }
        };
        match (not, has_missing) {
            (false, _) => positive,
            (true, false) => format!("~{positive}"),
            (true, true) => format!("~{positive} & {series}.notna()"),
        }
    }
}

/// Returns the name of a column in the frame that all tables are joined into.
pub fn column_name(tables: &[&Table], reading: &Reading, place: Place) -> String {
    let name = &tables[place.table].columns[place.column].name;
    let is_key = reading.join.as_ref().is_some_and(|it| it.right == place)
        && reading.join.as_ref().is_some_and(|it| tables[0].columns[it.left.column].name == *name);
    if place.table == 1 && tables[0].column(name).is_some() && !is_key {
        return format!("{name}_{}", tables[1].name);
    }
    name.clone()
}

/// Returns what takes some rows of many in order.
fn cut(n: u32, skip: u32) -> String {
    match skip {
        0 => format!(".head({n})"),
        skip => format!(".iloc[{skip}:{}]", skip + n),
    }
}

/// Takes off the parentheses around a condition that stands alone.
fn unwrapped(test: &str) -> &str {
    let inner = test.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    inner.filter(|it| !it.contains(") & ")).unwrap_or(test)
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Eq => "==",
        Op::Ne => "!=",
    }
}

/// Returns what holds when another does not.
pub fn opposite(op: Op) -> Op {
    match op {
        Op::Gt => Op::Le,
        Op::Ge => Op::Lt,
        Op::Lt => Op::Ge,
        Op::Le => Op::Gt,
        Op::Eq => Op::Ne,
        Op::Ne => Op::Eq,
    }
}

fn plain(agg: Agg) -> &'static str {
    match agg {
        Agg::Sum => "sum",
        Agg::Mean => "mean",
        Agg::Median => "median",
        Agg::Min => "min",
        Agg::Max => "max",
        Agg::Std => "std",
        Agg::Var => "var",
        _ => "count",
    }
}

fn of_group(agg: Agg) -> String {
    match agg {
        Agg::Count => "\"size\"".to_owned(),
        Agg::Distinct => "\"nunique\"".to_owned(),
        Agg::Iqr => "lambda it: it.quantile(0.75) - it.quantile(0.25)".to_owned(),
        Agg::Quantile(share) => format!("lambda it: it.quantile({})", number(share)),
        agg => format!("\"{}\"", plain(agg)),
    }
}
