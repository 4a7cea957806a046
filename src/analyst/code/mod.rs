//! Code: the pandas that computes a reading, as an analyst would write it.

mod condition;
mod quality;
mod relation;

use std::fmt::Write;

pub(crate) use condition::opposite;

use super::ground::Place;
use super::lexicon::TimeUnit;
use super::reading::{
    Agg, Check, Group, Measure, Op, Over, Part, Rank, Reading, Shape, Told, What,
};
use super::schema::{Kind, Table};

/// A table and the columns of it that are loaded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Load {
    /// Which table.
    pub table: usize,
    /// The columns; all when none are named.
    pub columns: Vec<String>,
    /// The variable.
    pub variable: &'static str,
}

/// What computes a reading.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Program {
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
pub(crate) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// What reads dates that are written as text, of which a quarter stands for its first month.
const DATES: &str = r#"def dates(texts):
    quarter = r"^(\d{4})\W?Q([1-4])$"
    texts = texts.str.replace(quarter, lambda it: f"{it[1]}-{int(it[2]) * 3 - 2:02}", regex=True)
    times = pd.to_datetime(texts, format="mixed", errors="coerce")
    if times.count() * 2 < texts.count():
        raise ValueError(f"`{texts.name}` has few dates, but {texts.dropna().iloc[0]!r}")
    return times


"#;
/// Distance from the quartiles, in interquartile ranges, from which a value counts as an outlier.
pub(crate) const FAR: f64 = 1.5;

/// Writes the program of a reading. Numbers are rounded to `decimals`.
pub(crate) fn program(reading: &Reading, tables: &[&Table], decimals: u32) -> Program {
    let mut writer = Writer {
        reading,
        tables,
        lines: Vec::new(),
        columns: Vec::new(),
        all: false,
        reads_dates: false,
        decimals,
    };
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
    /// Whether dates that are written as text are read.
    reads_dates: bool,
    decimals: u32,
}

/// Writes text as Python does.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Makes a name of a column: letters, digits and underscores.
pub(crate) fn slug(name: &str) -> String {
    let parts = name.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let words: Vec<String> = parts.map(str::to_lowercase).collect();
    let name = words.join("_");
    // A name in other letters is none that code can use.
    if name.is_empty() { "value".to_owned() } else { name }
}

/// Writes a number without a needless fraction.
pub(crate) fn number(value: f64) -> String {
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
            Kind::Text => {
                self.reads_dates = true;
                format!("dates({series})")
            }
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
        if self.reads_dates {
            self.lines.splice(0..0, DATES.lines().map(str::to_owned));
        }
        self.lines.push("result".to_owned());
        (measures, keys)
    }

    fn join_lines(&self, left: Place, right: Place) -> Vec<String> {
        let mut lines = Vec::new();
        let mut of_other: Vec<Place> =
            self.columns.iter().copied().filter(|it| it.table == 1).collect();
        if !of_other.contains(&right) {
            of_other.push(right);
        }
        let renamed: Vec<String> = of_other
            .iter()
            .filter_map(|it| {
                let old = &self.tables[1].columns[it.column].name;
                let new = column_name(self.tables, self.reading, *it);
                (*old != new).then(|| format!("{}: {}", quoted(old), quoted(&new)))
            })
            .collect();
        let right_old = &self.tables[1].columns[right.column].name;
        let right_name = column_name(self.tables, self.reading, right);
        if !renamed.is_empty() {
            lines.push(format!("other = other.rename(columns={{{}}})", renamed.join(", ")));
        }
        let left_name = &self.tables[0].columns[left.column].name;
        let key = quoted(&right_name);
        let reason = quoted(&format!("a `{right_old}` of the other table is in several rows"));
        lines.push(format!("other = other.dropna(subset=[{key}]).drop_duplicates()"));
        lines.push(format!("if other[{key}].duplicated().any():"));
        lines.push(format!("    raise ValueError({reason})"));
        let [left, right] = [left_name, &right_name].map(|it| quoted(it));
        let on = if left == right {
            format!("on={left}")
        } else {
            format!("left_on={left}, right_on={right}")
        };
        let reason =
            quoted(&format!("no `{left_name}` occurs as `{right_name}` in the other table"));
        lines.push(format!("if len(df) and not df[{left}].isin(other[{right}]).any():"));
        lines.push(format!("    raise ValueError({reason})"));
        lines.push(format!("df = df.merge(other, how=\"left\", {on})"));
        lines
    }

    /// Writes the columns that groups need beside those of the table. Returns the names of all keys.
    fn keys(&mut self, what: &What) -> Vec<String> {
        what.groups().iter().map(|it| self.key(*it)).collect()
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
                    Part::Day => ("day", format!("{time}.dt.day.astype(\"Int64\")")),
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
            What::Change { measure, ends, names, .. } => self.change(measure, ends, names),
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
            What::Missing { of, told, .. } => self.missing(of, keys, *told),
            What::MostMissing => {
                let label = self.missing(&[], &[], Told::Each);
                self.lines
                    .push("result = result.nlargest(1, \"missing\", keep=\"all\")".to_owned());
                label
            }
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
                cells.push(format!("{}: [{}]", quoted(label), self.whole("df", measure)));
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
            let made = self.of_group(measure);
            aggs.push(format!("{label}=({}, {made})", quoted(&column)));
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
            Over::Plain | Over::Mean => None,
            Over::Cumulative => Some(("cumulative", format!("result[{first}].cumsum()"))),
            Over::Growth => Some(("growth_percent", format!("100 * result[{first}].pct_change()"))),
            Over::Change => Some(("change", format!("result[{first}].diff()"))),
            Over::Share => {
                Some(("share_percent", format!("100 * result[{first}] / result[{first}].sum()")))
            }
        };
        if over == Over::Mean {
            let label = format!("mean_{}", labels[0]);
            self.lines.push(format!(
                "result = pd.DataFrame({{{}: [result[{first}].mean()]}})",
                quoted(&label)
            ));
            self.round();
            return vec![label];
        }
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

    /// Returns the expression of a measure over the rows of a frame.
    fn whole(&mut self, frame: &str, measure: &Measure) -> String {
        let Some(place) = measure.of else { return format!("len({frame})") };
        let mut series = format!("{frame}[{}]", quoted(&self.name(place)));
        // Days and texts do not compare with what is missing.
        let is_object = matches!(self.kind(place), Kind::Text | Kind::Day);
        if is_object && matches!(measure.agg, Agg::Min | Agg::Max) {
            series.push_str(".dropna()");
        }
        match measure.agg {
            Agg::Count => format!("{series}.count()"),
            Agg::Distinct => format!("{series}.nunique()"),
            Agg::Iqr => format!("{series}.quantile(0.75) - {series}.quantile(0.25)"),
            Agg::Quantile(share) => format!("{series}.quantile({})", number(share)),
            // A total of nothing is none.
            Agg::Sum => {
                self.fits(place);
                format!("{series}.sum(min_count=1)")
            }
            agg => format!("{series}.{}()", plain(agg)),
        }
    }

    /// Demands that a total of whole numbers does not pass what 64 bits hold: it would begin again.
    fn fits(&mut self, place: Place) {
        let name = self.name(place);
        let line = format!(
            "assert {}.astype(float).abs().sum() < 2**63, {}",
            self.series(place),
            quoted(&format!("the total of {name} does not fit into 64 bits"))
        );
        if self.kind(place) == Kind::Whole && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// Returns what a measure is called in `agg`.
    fn of_group(&mut self, measure: &Measure) -> String {
        match (measure.agg, measure.of) {
            (Agg::Count, None) => "\"size\"".to_owned(),
            (Agg::Distinct, _) => "\"nunique\"".to_owned(),
            (Agg::Iqr, _) => "lambda it: it.quantile(0.75) - it.quantile(0.25)".to_owned(),
            (Agg::Quantile(share), _) => format!("lambda it: it.quantile({})", number(share)),
            (Agg::Sum, Some(place)) => {
                self.fits(place);
                let sum = if self.has_missing(place) {
                    "lambda it: it.sum(min_count=1)"
                } else {
                    "\"sum\""
                };
                sum.to_owned()
            }
            (agg, _) => format!("\"{}\"", plain(agg)),
        }
    }

    fn has_missing(&self, place: Place) -> bool {
        0 < self.tables[place.table].columns[place.column].n_missing
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

    fn rows(&mut self, columns: &[Place], rank: Option<(Place, Rank)>, first: Option<i64>) {
        self.all = columns.is_empty();
        // Of two tables, rows have what both say.
        if let Some(join) = self.reading.join.as_ref().filter(|_| columns.is_empty()) {
            let right = join.right;
            for column in (0..self.tables[1].columns.len()).filter(|it| *it != right.column) {
                self.name(Place { table: 1, column });
            }
        }
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
        // A point has both of its numbers.
        if self.reading.chart == Some(Shape::Scatter) {
            line.push_str(".dropna()");
        }
        self.lines.push(format!("{line}.reset_index(drop=True)"));
    }
}

/// Returns the name of a column in the frame that all tables are joined into.
pub(crate) fn column_name(tables: &[&Table], reading: &Reading, place: Place) -> String {
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

pub(super) fn plain(agg: Agg) -> &'static str {
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
