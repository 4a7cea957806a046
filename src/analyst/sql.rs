//! SQL: the statement that computes a query. It is what runs, what the answer shows, and what DuckDB reads as well.

use std::fmt::Write;

use csv_agent_text::sql::{identifier, literal};

use crate::lexicon::TimeUnit;
use crate::query::{
    Agg, Arithmetic, Check, Comparison, Contrast, GroupKey, Groups, Join, Listing, LogicalForm,
    Measure, Op, Over, Part, Place, Profile, Shape, Side, SortOrder, Source, Test, Told, Value,
    Within,
};
use crate::schema::{Kind, Table};

/// Different values of a number up to which each is counted by itself.
const VALUES_MAX: usize = 12;
/// Bars of a histogram: the least before their width is rounded up, and the most.
const BINS: (u32, u32) = (10, 30);
/// Distance from the quartiles, in interquartile ranges, from which a value is an outlier.
pub(crate) const FAR: f64 = 1.5;

/// What computes a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    /// One SELECT.
    pub sql: String,
    /// The columns of the result that are the keys of groups.
    pub keys: Vec<String>,
    /// The columns of the result that are the numbers, the one that answers first.
    pub measures: Vec<String>,
}

/// Writes the statement of a query. Fractions are rounded to `decimals`.
pub(crate) fn statement(query: &LogicalForm, tables: &[Table], decimals: u32) -> Statement {
    Writer { query, tables, decimals }.statement()
}

/// Writes the statement that finds where the rows are that a check found: their places from 0.
pub(crate) fn places(query: &LogicalForm, tables: &[Table], n_max: usize) -> Option<String> {
    let writer = Writer { query, tables, decimals: 4 };
    let Shape::Check(check) = &query.body else { return None };
    // Rows of two tables are rows of neither.
    let found = writer.found(check).filter(|_| query.from.join.is_none())?;
    let table = identifier(&tables[query.from.table].name);
    let rows = format!("(select *, row_number() over () - 1 as \"row\" from {table}) as {table}");
    let filter = writer.filter(&[found]);
    Some(format!("select \"row\"\nfrom {rows}{filter}\norder by 1\nlimit {n_max}"))
}

/// Writes the statement of the single values of a column, behind the group of each if there is one; and their names.
pub(crate) fn values(
    query: &LogicalForm,
    tables: &[Table],
    keys: &[GroupKey],
    place: Place,
) -> (String, Vec<String>) {
    let writer = Writer { query, tables, decimals: 4 };
    let keys_written: Vec<_> = keys.iter().map(|it| writer.key(it)).collect();
    let value = (writer.column(place), writer.label_of(place));
    let columns = keys_written.iter().map(|it| (it.0.clone(), it.2.clone())).chain([value]);
    let (texts, names): (Vec<String>, Vec<String>) =
        columns.map(|(text, label)| (named(&text, &label), label)).unzip();
    let places = keys.iter().map(GroupKey::place).chain([place]);
    let known: Vec<String> =
        places.map(|it| format!("{} is not null", writer.column(it))).collect();
    let order = keys_written.first().map_or(String::new(), |it| format!("\norder by {}", it.1));
    let (from, filter) = (writer.from(), writer.filter(&known));
    (format!("select {}\nfrom {from}{filter}{order}", texts.join(", ")), names)
}

/// Writes the statement that counts rows of the joined table whose key another row has as well.
pub(crate) fn repeats(query: &LogicalForm, tables: &[Table]) -> Option<String> {
    let join = query.from.join?;
    let writer = Writer { query, tables, decimals: 4 };
    let key = identifier(writer.column_name(join.right));
    let rows = writer.joined_rows(join.right);
    Some(format!(
        "select count(*) - count(distinct {key}) as repeats, (select count(*) from {} where {} in (select {key} from \
         {rows})) as matches\nfrom {rows}",
        identifier(&tables[query.from.table].name),
        identifier(writer.column_name(join.left)),
    ))
}

/// Makes a name of a column: letters, digits and underscores.
pub(crate) fn slug(name: &str) -> String {
    let parts = name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let words: Vec<String> = parts.map(str::to_lowercase).collect();
    let name = words.join("_");
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

struct Writer<'a> {
    query: &'a LogicalForm,
    tables: &'a [Table],
    decimals: u32,
}

impl Writer<'_> {
    fn statement(&self) -> Statement {
        match &self.query.body {
            Shape::Groups(groups) => self.groups(groups),
            Shape::Rows(listing) => plain(self.rows(listing)),
            Shape::Compare(comparison) => self.comparison(comparison),
            Shape::Profile(profile) => self.profile(profile),
            Shape::Check(check) => self.check(check),
        }
    }

    fn kind(&self, place: Place) -> Kind {
        self.tables[place.table].columns[place.column].kind
    }

    fn column_name(&self, place: Place) -> &str {
        &self.tables[place.table].columns[place.column].name
    }

    /// Writes a column, with its table where two are read.
    fn column(&self, place: Place) -> String {
        let name = identifier(self.column_name(place));
        if self.query.from.join.is_some() {
            format!("{}.{name}", self.alias(place.table))
        } else {
            name
        }
    }

    /// Writes a column as what is computed with: dates that are text as dates.
    fn computed(&self, place: Place) -> String {
        self.parsed(place, self.column(place))
    }

    fn parsed(&self, place: Place, text: String) -> String {
        let column = &self.tables[place.table].columns[place.column];
        let Some(form) = &column.form else { return text };
        let time = format!("try_strptime({text}, {})", literal(form));
        if column.kind == Kind::Day { format!("cast({time} as date)") } else { time }
    }

    fn alias(&self, table: usize) -> String {
        identifier(&self.tables[table].name)
    }

    /// Returns the name that a column has in a result.
    fn label_of(&self, place: Place) -> String {
        column_label(self.query, self.tables, place)
    }

    /// Writes the rows of the joined table that are read: one for each that differs.
    fn joined_rows(&self, key: Place) -> String {
        let mut columns = self.query.places();
        if let Shape::Rows(listing) = &self.query.body
            && listing.columns.is_empty()
        {
            columns.extend(self.all(key.table));
        }
        columns.push(key);
        columns.retain(|it| it.table == key.table);
        columns.sort_unstable();
        columns.dedup();
        let names: Vec<String> =
            columns.iter().map(|it| identifier(self.column_name(*it))).collect();
        format!(
            "(select distinct {} from {} where {} is not null)",
            names.join(", "),
            self.alias(key.table),
            identifier(self.column_name(key))
        )
    }

    fn all(&self, table: usize) -> Vec<Place> {
        (0..self.tables[table].columns.len()).map(|column| Place { table, column }).collect()
    }

    fn from(&self) -> String {
        let Source { table, join } = self.query.from;
        let first = self.alias(table);
        match join {
            None => first,
            Some(join) => format!(
                "{first}\nleft join {} as {} on {} = {}",
                self.joined_rows(join.right),
                self.alias(join.right.table),
                self.column(join.left),
                self.column(join.right)
            ),
        }
    }

    /// Writes the conditions of the query and some more, with WHERE; nothing if there are none.
    fn filter(&self, more: &[String]) -> String {
        let own = self.query.filters.iter().map(|it| self.test(it));
        let all: Vec<String> = own.chain(more.iter().cloned()).collect();
        if all.is_empty() { String::new() } else { format!("\nwhere {}", all.join(" and ")) }
    }

    fn all_of(&self, tests: &[Test]) -> String {
        let tests: Vec<String> = tests.iter().map(|it| self.test(it)).collect();
        if tests.is_empty() { "true".to_owned() } else { tests.join(" and ") }
    }

    /// Writes a condition; what has an OR in it is in parentheses.
    fn test(&self, test: &Test) -> String {
        match test {
            // Sums of fractions are not exact.
            Test::Is(one, op @ (Op::Eq | Op::Ne), other)
                if self.is_computed(one) || self.is_computed(other) =>
            {
                format!("round({} - {}, 6) {} 0", self.value(one), self.value(other), sign(*op))
            }
            Test::Is(one, op, other) => {
                format!("{} {} {}", self.value(one), sign(*op), self.value_beside(other, one))
            }
            Test::In(value, values) => {
                let listed: Vec<String> =
                    values.iter().map(|it| self.value_beside(it, value)).collect();
                match &listed[..] {
                    [one] => format!("{} = {one}", self.value(value)),
                    _ => format!("{} in ({})", self.value(value), listed.join(", ")),
                }
            }
            Test::Text(place, within, wanted) => {
                let escaped: String = wanted
                    .chars()
                    .flat_map(|it| {
                        let escape = matches!(it, '%' | '_' | '\\').then_some('\\');
                        escape.into_iter().chain([it])
                    })
                    .collect();
                let pattern = match within {
                    Within::Contains => format!("%{escaped}%"),
                    Within::Starts => format!("{escaped}%"),
                    Within::Ends => format!("%{escaped}"),
                };
                let escape = if escaped.contains('\\') { " escape '\\'" } else { "" };
                format!("{} ilike {}{escape}", self.column(*place), literal(&pattern))
            }
            Test::True(place) => {
                let column = &self.tables[place.table].columns[place.column];
                match (&column.yes, column.is_number) {
                    (Some(yes), _) => format!("{} = {}", self.column(*place), literal(yes)),
                    (None, true) => format!("{} = 1", self.column(*place)),
                    (None, false) => self.column(*place),
                }
            }
            Test::Missing(place) => format!("{} is null", self.column(*place)),
            Test::Last(place, n, unit) => self.last(*place, *n, *unit),
            Test::Exists(join) => self.exists(*join),
            Test::Not(test) => self.not(test),
            Test::Any(tests) => {
                let tests: Vec<String> = tests.iter().map(|it| self.test(it)).collect();
                format!("({})", tests.join(" or "))
            }
        }
    }

    fn is_computed(&self, value: &Value) -> bool {
        matches!(value, Value::Arithmetic(_, sign, _) if *sign != Arithmetic::Days)
            && value.places().iter().any(|it| self.kind(*it) == Kind::Real)
    }

    fn not(&self, test: &Test) -> String {
        match test {
            Test::Missing(place) => format!("{} is not null", self.column(*place)),
            Test::Is(one, op, other) => {
                self.test(&Test::Is(one.clone(), op.opposite(), other.clone()))
            }
            Test::In(value, values) if values.len() == 1 => {
                format!("{} <> {}", self.value(value), self.value_beside(&values[0], value))
            }
            Test::In(value, _) => {
                let column = self.value(value);
                self.test(test).replacen(&format!("{column} in "), &format!("{column} not in "), 1)
            }
            Test::Not(test) => self.test(test),
            Test::Exists(join) => format!("not {}", self.exists(*join)),
            test => format!("not ({})", self.test(test)),
        }
    }

    fn exists(&self, join: Join) -> String {
        format!(
            "exists (select 1 from {1} as there where there.{2} = {3}.{0})",
            identifier(self.column_name(join.left)),
            self.alias(join.right.table),
            identifier(self.column_name(join.right)),
            self.alias(join.left.table),
        )
    }

    fn last(&self, place: Place, n: u32, unit: TimeUnit) -> String {
        let table = self.alias(place.table);
        let column = self.computed(place);
        let bare = self.parsed(place, identifier(self.column_name(place)));
        if self.kind(place).is_number() {
            return format!("{column} > (select max({bare}) from {table}) - {n}");
        }
        let unit = unit_name(unit);
        format!("date_diff('{unit}', {column}, (select max({bare}) from {table})) < {n}")
    }

    fn value(&self, value: &Value) -> String {
        match value {
            Value::Number(it) => number(*it),
            Value::Day(day) => format!("date '{day}'"),
            Value::Clock(time) => format!("time '{time}'"),
            Value::Text(text) => literal(text),
            Value::Column(place) => self.computed(*place),
            Value::Part(place, part) => self.part(*place, *part),
            Value::Arithmetic(one, Arithmetic::Days, other) => {
                format!("date_diff('day', {}, {})", self.value(other), self.value(one))
            }
            Value::Arithmetic(one, sign, other) => {
                let operator = match sign {
                    Arithmetic::Plus => "+",
                    Arithmetic::Minus => "-",
                    Arithmetic::Times => "*",
                    Arithmetic::DividedBy | Arithmetic::Days => "/",
                };
                format!("({} {operator} {})", self.value(one), self.value(other))
            }
            Value::Query(query) => {
                let inner = Writer { query, tables: self.tables, decimals: 12 };
                let statement = inner.statement();
                let measure = statement.measures.first().map_or("*", String::as_str);
                format!("(select {} from ({}))", identifier(measure), statement.sql)
            }
        }
    }

    /// Writes a value that is compared with another: a time of day with that of an instant.
    fn value_beside(&self, value: &Value, other: &Value) -> String {
        match (value, other) {
            (Value::Clock(_), Value::Column(place)) if self.kind(*place) != Kind::Clock => {
                self.value(value)
            }
            _ => self.value(value),
        }
    }

    fn part(&self, place: Place, part: Part) -> String {
        let column = self.computed(place);
        let name = match part {
            Part::Year => "year",
            Part::Quarter => "quarter",
            Part::Month => "month",
            Part::Day => "day",
            Part::Weekday => "isodow",
            Part::Hour => "hour",
        };
        if self.kind(place).is_number() { column } else { format!("{name}({column})") }
    }

    /// Writes the key of groups, what sorts them, and its name in the result.
    fn key(&self, key: &GroupKey) -> (String, String, String) {
        let place = key.place();
        let column = self.computed(place);
        let named = |label: &str| {
            let is_taken = self.tables[self.query.from.table].column(label).is_some();
            if is_taken {
                format!("{label}_of_{}", slug(self.column_name(place)))
            } else {
                label.to_owned()
            }
        };
        let same = |text: String, label: String| (text.clone(), text, label);
        match key {
            GroupKey::Column(place) => same(column, self.label_of(*place)),
            GroupKey::Bin(_, width) => {
                let text = format!("floor({column} / {0}) * {0}", number(*width));
                same(text, format!("{}_from", slug(self.column_name(place))))
            }
            GroupKey::Time(_, unit) => {
                let text = match unit {
                    TimeUnit::Year => format!("year({column})"),
                    TimeUnit::Quarter => {
                        format!("year({column}) || '-Q' || quarter({column})")
                    }
                    TimeUnit::Month => format!("strftime({column}, '%Y-%m')"),
                    TimeUnit::Week => {
                        format!("strftime(date_trunc('week', {column}), '%Y-%m-%d')")
                    }
                    TimeUnit::Day => format!("strftime({column}, '%Y-%m-%d')"),
                    TimeUnit::Hour => format!("strftime({column}, '%Y-%m-%d %H:00')"),
                };
                same(text, named(unit_name(*unit)))
            }
            GroupKey::Part(_, Part::Weekday) => {
                (format!("dayname({column})"), format!("isodow({column})"), named("weekday"))
            }
            GroupKey::Part(_, part) => {
                let label = match part {
                    Part::Year => "year",
                    Part::Quarter => "quarter",
                    Part::Month => "month",
                    Part::Day => "day",
                    Part::Weekday => "weekday",
                    Part::Hour => "hour",
                };
                same(self.part(place, *part), named(label))
            }
        }
    }

    /// Writes a number of rows.
    fn measure(&self, measure: &Measure) -> String {
        let of = measure.of.as_ref().map(|it| self.value(it));
        let only = if measure.only.is_empty() {
            String::new()
        } else {
            format!(" filter (where {})", self.all_of(&measure.only))
        };
        let of = of.as_deref();
        let column = of.unwrap_or("*");
        match &measure.agg {
            Agg::Count => format!("count({column}){only}"),
            Agg::Distinct => format!("count(distinct {column}){only}"),
            Agg::Sum => format!("sum({column}){only}"),
            Agg::Mean => format!("avg({column}){only}"),
            Agg::Median => format!("median({column}){only}"),
            Agg::Min => format!("min({column}){only}"),
            Agg::Max => format!("max({column}){only}"),
            Agg::Std => format!("stddev({column}){only}"),
            Agg::Var => format!("variance({column}){only}"),
            Agg::Range => format!("(max({column}){only} - min({column}){only})"),
            Agg::Iqr => format!(
                "(quantile_cont({column}, 0.75){only} - quantile_cont({column}, 0.25){only})"
            ),
            Agg::Quantile(share) => format!("quantile_cont({column}, {}){only}", number(*share)),
            Agg::Mode => format!("mode({column}){only}"),
            Agg::First(time) => format!("arg_min({column}, {}){only}", self.column(*time)),
            Agg::Last(time) => format!("arg_max({column}, {}){only}", self.column(*time)),
            Agg::Grown(time) => {
                let time = self.column(*time);
                format!(
                    "100.0 * (arg_max({column}, {time}){only} / arg_min({column}, {time}){only} - 1)"
                )
            }
            Agg::Share if of.is_some() => format!("100.0 * sum({column}){only} / sum({column})"),
            Agg::Share => format!("100.0 * count(*){only} / count(*)"),
            Agg::Correlation(other) => format!("corr({column}, {}){only}", self.column(*other)),
            Agg::Percent(other) => {
                format!("100.0 * sum({column}){only} / sum({}){only}", self.column(*other))
            }
            Agg::Ratio(other) => {
                format!("1.0 * sum({column}){only} / sum({}){only}", self.column(*other))
            }
        }
    }

    /// Writes a number of rows as the result has it: fractions are rounded.
    fn shown(&self, measure: &Measure) -> String {
        self.rounded(measure, self.measure(measure))
    }

    fn rounded(&self, measure: &Measure, text: String) -> String {
        if self.has_fraction(measure) { self.round(&text) } else { text }
    }

    fn round(&self, text: &str) -> String {
        format!("round({text}, {})", self.decimals)
    }

    /// Returns whether a number may have a fraction.
    fn has_fraction(&self, measure: &Measure) -> bool {
        match measure.agg {
            Agg::Count | Agg::Distinct | Agg::Mode => false,
            Agg::Min | Agg::Max | Agg::Sum | Agg::Range | Agg::First(_) | Agg::Last(_) => {
                match &measure.of {
                    Some(Value::Column(place)) => self.kind(*place) == Kind::Real,
                    Some(Value::Arithmetic(_, sign, _)) => *sign != Arithmetic::Days,
                    _ => false,
                }
            }
            _ => true,
        }
    }

    fn label(&self, measure: &Measure) -> String {
        let column = match &measure.of {
            None => None,
            Some(Value::Column(place) | Value::Part(place, _)) => {
                Some(slug(self.column_name(*place)))
            }
            Some(Value::Arithmetic(one, sign, other)) => {
                let names = [one, other].map(|it| {
                    it.places()
                        .first()
                        .map_or_else(|| "value".to_owned(), |it| slug(self.column_name(*it)))
                });
                let sign = match sign {
                    Arithmetic::Plus => "plus",
                    Arithmetic::Minus => "minus",
                    Arithmetic::Times => "times",
                    Arithmetic::DividedBy => "per",
                    Arithmetic::Days => "days_from",
                };
                Some(if sign == "days_from" {
                    format!("days_{}_to_{}", names[1], names[0])
                } else {
                    names.join(&format!("_{sign}_"))
                })
            }
            Some(_) => Some("value".to_owned()),
        };
        let of = |word: &str| match &column {
            Some(column) => format!("{word}_{column}"),
            None => word.to_owned(),
        };
        match &measure.agg {
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
            Agg::Range => of("range"),
            Agg::Mode => of("most_frequent"),
            Agg::First(_) => of("first"),
            Agg::Last(_) => of("last"),
            Agg::Grown(_) => format!("{}_percent", of("growth_of")),
            Agg::Share => "share_percent".to_owned(),
            Agg::Correlation(_) => "correlation".to_owned(),
            Agg::Percent(other) => {
                format!(
                    "{}_percent_of_{}",
                    column.as_deref().unwrap_or("rows"),
                    slug(self.column_name(*other))
                )
            }
            Agg::Ratio(other) => {
                format!(
                    "{}_per_{}",
                    column.as_deref().unwrap_or("rows"),
                    slug(self.column_name(*other))
                )
            }
            Agg::Quantile(share) => {
                of(&format!("p{}", number((share * 1e4).round() / 1e2).replace('.', "_")))
            }
        }
    }

    fn groups(&self, groups: &Groups) -> Statement {
        let keys: Vec<(String, String, String)> =
            groups.keys.iter().map(|it| self.key(it)).collect();
        let mut labels: Vec<String> = Vec::new();
        let mut columns: Vec<String> =
            keys.iter().map(|(text, _, label)| named(text, label)).collect();
        let mut taken: Vec<String> = keys.iter().map(|it| it.2.clone()).collect();
        let mut own = |label: String| {
            let mut label = label;
            while taken.contains(&label) {
                label.push('_');
            }
            taken.push(label.clone());
            label
        };
        for measure in &groups.measures {
            let label = own(self.label(measure));
            columns.push(named(&self.shown(measure), &label));
            labels.push(label);
            // A share is told with its part and its whole.
            if measure.agg == Agg::Share && groups.over.is_none() {
                let whole = Measure { only: Vec::new(), ..measure.clone() };
                let agg = if measure.of.is_some() { Agg::Sum } else { Agg::Count };
                let part = Measure { agg: agg.clone(), ..measure.clone() };
                let whole = Measure { agg, ..whole };
                for (it, label) in [(part, "part"), (whole, "of")] {
                    columns.push(named(&self.shown(&it), &own(label.to_owned())));
                }
            }
        }
        let rows = Measure::ROWS;
        let first = groups.measures.first().unwrap_or(&rows);
        let mut ranked = self.measure(first);
        if let Some(over) = groups.over {
            let order: Vec<&str> = keys.iter().map(|it| it.1.as_str()).collect();
            let (label, text) = over_text(over, &ranked, &order.join(", "));
            let label = own(label.to_owned());
            let text = if over == Over::Cumulative || over == Over::Change {
                self.rounded(first, text)
            } else {
                self.round(&text)
            };
            ranked.clone_from(&text);
            columns.push(named(&text, &label));
            labels.insert(0, label);
        }
        let known: Vec<String> = groups
            .keys
            .iter()
            .map(|it| format!("{} is not null", self.column(it.place())))
            .collect();
        let mut sql =
            format!("select {}\nfrom {}{}", columns.join(", "), self.from(), self.filter(&known));
        if !keys.is_empty() {
            let mut by: Vec<&str> = Vec::new();
            for (text, order, _) in &keys {
                by.push(text);
                if order != text {
                    by.push(order);
                }
            }
            let _ = write!(sql, "\ngroup by {}", by.join(", "));
        }
        if let Some((op, value)) = &groups.having {
            let _ =
                write!(sql, "\nhaving {} {} {}", self.measure(first), sign(*op), self.value(value));
        }
        if let Some(agg) = &groups.then {
            let label = format!("{}_{}", word_of(agg), labels[0]);
            let outer = Measure { agg: agg.clone(), of: None, only: Vec::new() };
            let column = identifier(&labels[0]);
            let text = self.measure(&outer).replacen('*', &column, 1);
            let text = if matches!(agg, Agg::Count) { text } else { self.round(&text) };
            return Statement {
                sql: format!("select {}\nfrom ({sql})", named(&text, &label)),
                keys: Vec::new(),
                measures: vec![label],
            };
        }
        let sorted: Vec<&str> = keys.iter().map(|it| it.1.as_str()).collect();
        if !keys.is_empty() {
            let sorted = sorted.join(", ");
            match groups.order {
                None => _ = write!(sql, "\norder by {sorted}"),
                Some(order) => {
                    let way = if order.is_ascending { "" } else { " desc" };
                    if order.is_first() {
                        let _ = write!(sql, "\nqualify rank() over (order by {ranked}{way}) = 1");
                    }
                    let _ = write!(sql, "\norder by {ranked}{way}, {sorted}");
                    if !order.is_first() {
                        sql += &limit(order);
                    }
                }
            }
        }
        Statement { sql, keys: keys.into_iter().map(|it| it.2).collect(), measures: labels }
    }

    fn rows(&self, listing: &Listing) -> String {
        let columns = if !listing.columns.is_empty() {
            listing.columns.iter().map(|it| self.column(*it)).collect()
        } else if let Some(join) = self.query.from.join {
            let own = self.all(self.query.from.table).into_iter();
            let other = self.all(join.right.table).into_iter().filter(|it| *it != join.right);
            own.chain(other)
                .map(|it| named(&self.column(it), &self.label_of(it)))
                .collect::<Vec<String>>()
        } else {
            vec!["*".to_owned()]
        };
        let distinct = if listing.is_distinct { "distinct " } else { "" };
        let mut more = Vec::new();
        // A point has both of its numbers.
        if self.query.chart == Some(crate::query::Chart::Scatter) {
            more.extend(
                listing.columns.iter().map(|it| format!("{} is not null", self.column(*it))),
            );
        }
        let ordered = listing.order.as_ref().map(|(by, order)| (self.value(by), *order));
        if let Some((by, order)) = &ordered
            && order.is_first()
        {
            let end = if order.is_ascending { "min" } else { "max" };
            let filter = self.filter(&more);
            more.push(format!("{by} = (select {end}({by}) from {}{filter})", self.from()));
        }
        let mut sql = format!(
            "select {distinct}{}\nfrom {}{}",
            columns.join(", "),
            self.from(),
            self.filter(&more)
        );
        if let Some((by, order)) = &ordered {
            if !order.is_first() {
                let way = if order.is_ascending { "" } else { " desc" };
                let _ = write!(sql, "\norder by {by}{way}{}", limit(*order));
            }
        } else if listing.is_distinct {
            let _ = write!(sql, "\norder by {}", columns.join(", "));
        }
        match listing.first {
            Some(n) if n < 0 => {
                let places = format!("row_number() over () > count(*) over () - {}", -n);
                let _ = write!(sql, "\nqualify {places}");
            }
            Some(n) => _ = write!(sql, "\nlimit {n}"),
            None => {}
        }
        sql
    }

    fn comparison(&self, comparison: &Comparison) -> Statement {
        let Comparison { measure, sides, asks } = comparison;
        let side = |side: &Side| {
            let only = [measure.only.clone(), side.tests.clone()].concat();
            self.measure(&Measure { only, ..measure.clone() })
        };
        let names = [slug(&sides[0].name), slug(&sides[1].name)];
        let names =
            if names[0] == names[1] { ["first".to_owned(), "second".to_owned()] } else { names };
        let inner = format!(
            "select {}, {}\nfrom {}{}",
            named(&side(&sides[0]), "a"),
            named(&side(&sides[1]), "b"),
            self.from(),
            self.filter(&[])
        );
        let shown = |text: &str| {
            if self.has_fraction(measure) { self.round(text) } else { text.to_owned() }
        };
        let mut columns = vec![named(&shown("a"), &names[0]), named(&shown("b"), &names[1])];
        let made: Vec<(String, &str)> = match asks {
            Contrast::Difference => vec![(shown("a - b"), "difference")],
            Contrast::Change => vec![
                (shown("b - a"), "change"),
                (self.round("100.0 * (b - a) / a"), "change_percent"),
            ],
            Contrast::Ratio => vec![(self.round("1.0 * a / b"), "ratio")],
            Contrast::Holds(op) => vec![(format!("a {} b", sign(*op)), "holds")],
        };
        let label = made.first().map(|it| it.1.to_owned()).unwrap_or_default();
        columns.extend(made.iter().map(|(text, label)| named(text, label)));
        Statement {
            sql: format!("select {}\nfrom ({inner})", columns.join(", ")),
            keys: Vec::new(),
            measures: vec![label, names[0].clone(), names[1].clone()],
        }
    }

    fn profile(&self, profile: &Profile) -> Statement {
        let measured = |sql: String, label: &str| Statement {
            sql,
            keys: Vec::new(),
            measures: vec![label.to_owned()],
        };
        let table = self.query.from.table;
        match profile {
            Profile::Size => Statement {
                sql: format!(
                    "select count(*) as rows, {} as columns\nfrom {}{}",
                    self.tables[table].columns.len(),
                    self.from(),
                    self.filter(&[])
                ),
                keys: Vec::new(),
                measures: vec!["rows".to_owned(), "columns".to_owned()],
            },
            Profile::Columns => {
                let each = self.all(table).into_iter().map(|it| {
                    let column = &self.tables[it.table].columns[it.column];
                    format!(
                        "({}, {}, {})",
                        literal(&column.name),
                        literal(column.kind.dtype()),
                        column.n_missing
                    )
                });
                let each: Vec<String> = each.collect();
                plain(format!(
                    "select *\nfrom (values {}) as t(\"column\", type, missing)",
                    each.join(", ")
                ))
            }
            Profile::Missing { of, told } => {
                let places = if of.is_empty() { self.all(table) } else { of.clone() };
                let missing = |place: &Place| format!("count(*) - count({})", self.column(*place));
                if *told == Told::Total || places.len() == 1 {
                    let all: Vec<String> = places.iter().map(missing).collect();
                    let sql = format!(
                        "select {} as missing, count(*) as \"of\"\nfrom {}{}",
                        all.join(" + "),
                        self.from(),
                        self.filter(&[])
                    );
                    return measured(sql, "missing");
                }
                let sql = self.union(&places, |it| {
                    format!("{} as missing, count(*) as \"of\"", missing(&it))
                });
                let end = match told {
                    Told::Some => "\nwhere missing > 0\norder by missing desc",
                    Told::Most => "\nqualify rank() over (order by missing desc) = 1",
                    Told::Each | Told::Total => "\norder by missing desc",
                };
                measured(format!("select *\nfrom ({sql}){end}"), "missing")
            }
            Profile::Distribution(place) => self.distribution(*place),
            Profile::Outliers { of, counts } => self.outliers(of, *counts),
            Profile::Duplicates(places) if places.is_empty() => {
                let sql = format!(
                    "select (select count(*) from {0}{1}) - (select count(*) from (select distinct * from {0}{1})) as \
                     duplicate_rows",
                    self.from(),
                    self.filter(&[])
                );
                measured(sql, "duplicate_rows")
            }
            Profile::Duplicates(places) => {
                let names: Vec<String> = places.iter().map(|it| self.column(*it)).collect();
                let by = names.join(", ");
                let sql = format!(
                    "select {by}, count(*) as count\nfrom {}{}\ngroup by {by}\nhaving count(*) > 1\norder by count(*) desc, {by}",
                    self.from(),
                    self.filter(
                        &names.iter().map(|it| format!("{it} is not null")).collect::<Vec<_>>()
                    )
                );
                measured(sql, "count")
            }
            Profile::Constant => {
                let sql = self.union(&self.all(table), |it| {
                    let column = self.column(it);
                    format!(
                        "count(distinct {column}) + cast(count(*) > count({column}) as bigint) as n_values"
                    )
                });
                plain(format!("select \"column\"\nfrom ({sql})\nwhere n_values <= 1"))
            }
            Profile::Describe(places) => self.describe(places),
            Profile::Correlations(places) => self.correlations(places),
        }
    }

    /// Writes one row for each column, which has its name first.
    fn union(&self, places: &[Place], row: impl Fn(Place) -> String) -> String {
        let rows: Vec<String> = places
            .iter()
            .map(|it| {
                format!(
                    "select {} as \"column\", {}\nfrom {}{}",
                    literal(self.column_name(*it)),
                    row(*it),
                    self.from(),
                    self.filter(&[])
                )
            })
            .collect();
        rows.join("\nunion all\n")
    }

    fn numbers(&self) -> Vec<Place> {
        let all = self.all(self.query.from.table).into_iter();
        all.filter(|it| self.kind(*it).is_number()).collect()
    }

    fn describe(&self, places: &[Place]) -> Statement {
        let mut places = if places.is_empty() { self.numbers() } else { places.to_vec() };
        let are_numbers = !places.is_empty() && places.iter().all(|it| self.kind(*it).is_number());
        if places.is_empty() {
            places = self.all(self.query.from.table);
        }
        let sql = self.union(&places, |it| {
            let column = self.column(it);
            if !are_numbers {
                return format!(
                    "count({column}) as count, count(distinct {column}) as \"unique\", cast(mode({column}) as text) as \
                     most_frequent, cast(min({column}) as text) as min, cast(max({column}) as text) as max"
                );
            }
            let round = |text: String| self.round(&text);
            format!(
                "count({column}) as count, {} as mean, {} as std, min({column}) as min, {} as \"25%\", {} as \"50%\", {} as \
                 \"75%\", max({column}) as max",
                round(format!("avg({column})")),
                round(format!("stddev({column})")),
                round(format!("quantile_cont({column}, 0.25)")),
                round(format!("median({column})")),
                round(format!("quantile_cont({column}, 0.75)")),
            )
        });
        plain(sql)
    }

    fn correlations(&self, places: &[Place]) -> Statement {
        let measured = |sql: String| Statement {
            sql,
            keys: Vec::new(),
            measures: vec!["correlation".to_owned()],
        };
        let numbers = self.numbers();
        if let [one, other] = places {
            let measure = Measure::of(Agg::Correlation(*other), *one);
            return measured(format!(
                "select {} as correlation\nfrom {}{}",
                self.shown(&measure),
                self.from(),
                self.filter(&[])
            ));
        }
        if let [one] = places {
            let others: Vec<Place> = numbers.into_iter().filter(|it| it != one).collect();
            let sql = self.union(&others, |it| {
                let text = format!("corr({}, {})", self.column(*one), self.column(it));
                named(&self.round(&text), "correlation")
            });
            return measured(format!("select *\nfrom ({sql})\norder by abs(correlation) desc"));
        }
        let places = if places.is_empty() { numbers } else { places.to_vec() };
        let sql = self.union(&places, |it| {
            let each = places.iter().map(|other| {
                let text = format!("corr({}, {})", self.column(it), self.column(*other));
                named(&self.round(&text), self.column_name(*other))
            });
            each.collect::<Vec<_>>().join(", ")
        });
        measured(sql)
    }

    fn distribution(&self, place: Place) -> Statement {
        let column = self.column(place);
        let name = self.label_of(place);
        let facts = &self.tables[place.table].columns[place.column];
        if let Some(width) = binned(&self.tables[place.table], place) {
            let from = format!("floor({column} / {0}) * {0}", number(width));
            let sql = format!(
                "select {} as \"from\", {} as \"to\", count(*) as count\nfrom {}{}\ngroup by {from}\norder by {from}",
                self.round(&from),
                self.round(&format!("{from} + {}", number(width))),
                self.from(),
                self.filter(&[format!("{column} is not null")]),
            );
            return Statement {
                sql,
                keys: vec!["from".to_owned()],
                measures: vec!["count".to_owned()],
            };
        }
        let order = if facts.kind == Kind::Text {
            format!("count(*) desc, {column}")
        } else {
            column.clone()
        };
        let sql = format!(
            "select {}, count(*) as count\nfrom {}{}\ngroup by {column}\norder by {order}",
            named(&column, &name),
            self.from(),
            self.filter(&[format!("{column} is not null")]),
        );
        Statement { sql, keys: vec![name], measures: vec!["count".to_owned()] }
    }

    /// Writes the condition for a value to be far from the others.
    fn is_far(&self, place: Place) -> String {
        let column = self.column(place);
        let quartile = |share: &str| {
            format!(
                "(select quantile_cont({column}, {share}) from {}{})",
                self.from(),
                self.filter(&[])
            )
        };
        let (low, high) = (quartile("0.25"), quartile("0.75"));
        format!(
            "({column} < {low} - {FAR} * ({high} - {low}) or {column} > {high} + {FAR} * ({high} - {low}))"
        )
    }

    fn outliers(&self, of: &[Place], counts: bool) -> Statement {
        if let ([place], false) = (of, counts) {
            let far = self.is_far(*place);
            return plain(format!("select *\nfrom {}{}", self.from(), self.filter(&[far])));
        }
        let places = if of.is_empty() { self.numbers() } else { of.to_vec() };
        let sql = self.union(&places, |it| {
            format!("count(*) filter (where {}) as outliers", self.is_far(it))
        });
        Statement { sql, keys: Vec::new(), measures: vec!["outliers".to_owned()] }
    }

    /// Writes the condition for a row to break a claim; nothing if no rows do.
    fn found(&self, check: &Check) -> Option<String> {
        Some(match check {
            Check::None(tests) => self.all_of(tests),
            Check::All(tests) => {
                let mut known: Vec<Place> = tests.iter().flat_map(Test::judged).collect();
                known.sort_unstable();
                known.dedup();
                let known = known.iter().map(|it| format!("{} is not null", self.column(*it)));
                let not = std::iter::once(format!("not ({})", self.all_of(tests)));
                not.chain(known).collect::<Vec<_>>().join(" and ")
            }
            Check::Present(places) => {
                let places = if places.is_empty() {
                    self.all(self.query.from.table)
                } else {
                    places.clone()
                };
                let each: Vec<String> =
                    places.iter().map(|it| format!("{} is null", self.column(*it))).collect();
                if let [one] = &each[..] { one.clone() } else { format!("({})", each.join(" or ")) }
            }
            // An anti-join with NOT IN has its rows in any order; this one keeps that of the table.
            Check::Refers(join) => {
                format!(
                    "{} is not null and not {}",
                    identifier(self.column_name(join.left)),
                    self.exists(*join)
                )
            }
            Check::Unique(places) => {
                let all = places.is_empty();
                let places = if all { self.all(self.query.from.table) } else { places.clone() };
                let names: Vec<String> = places.iter().map(|it| self.column(*it)).collect();
                // Rows that are equal as a whole may have missing values.
                let filter = if all {
                    Vec::new()
                } else {
                    names.iter().map(|it| format!("{it} is not null")).collect()
                };
                let same: Vec<String> = names
                    .iter()
                    .map(|it| format!("{it} is not distinct from twice.{it}"))
                    .collect();
                let twice = format!(
                    "exists (select 1 from (select {0} from {1}{2} group by {0} having count(*) > 1) as twice where {3})",
                    names.join(", "),
                    self.from(),
                    self.filter(&filter),
                    same.join(" and ")
                );
                twice
            }
            Check::Inliers(places) => {
                let places = if places.is_empty() { self.numbers() } else { places.clone() };
                let far: Vec<String> = places.iter().map(|it| self.is_far(*it)).collect();
                format!("({})", far.join(" or "))
            }
            Check::Number(..) | Check::Groups(..) | Check::Varies(_) => return None,
        })
    }

    fn check(&self, check: &Check) -> Statement {
        match check {
            Check::Number(measure, op, limit) => {
                let label = self.label(measure);
                let sql = format!(
                    "select {}, {} {} {} as holds\nfrom {}{}",
                    named(&self.shown(measure), &label),
                    self.measure(measure),
                    sign(*op),
                    self.value(limit),
                    self.from(),
                    self.filter(&[])
                );
                Statement { sql, keys: Vec::new(), measures: vec![label] }
            }
            Check::Groups(groups, op, limit) => {
                let broken =
                    Groups { having: Some((op.opposite(), limit.clone())), ..groups.clone() };
                self.groups(&broken)
            }
            Check::Varies(places) => {
                let places = if places.is_empty() {
                    self.all(self.query.from.table)
                } else {
                    places.clone()
                };
                let sql = self.union(&places, |it| {
                    let column = self.column(it);
                    format!("count(distinct {column}) + cast(count(*) > count({column}) as bigint) as n_values")
                });
                plain(format!("select \"column\"\nfrom ({sql})\nwhere n_values <= 1"))
            }
            Check::Unique(places) if !places.is_empty() => {
                let names: Vec<String> = places.iter().map(|it| self.column(*it)).collect();
                let known: Vec<String> =
                    names.iter().map(|it| format!("{it} is not null")).collect();
                let by = names.join(", ");
                plain(format!(
                    "select *\nfrom {}{}\nqualify count(*) over (partition by {by}) > 1\norder by {by}",
                    self.from(),
                    self.filter(&known)
                ))
            }
            Check::Unique(_) => {
                let by: Vec<String> =
                    self.all(self.query.from.table).iter().map(|it| self.column(*it)).collect();
                plain(format!(
                    "select *\nfrom {}{}\nqualify count(*) over (partition by {}) > 1",
                    self.from(),
                    self.filter(&[]),
                    by.join(", ")
                ))
            }
            check => {
                let found: Vec<String> = self.found(check).into_iter().collect();
                plain(format!("select *\nfrom {}{}", self.from(), self.filter(&found)))
            }
        }
    }
}

/// Returns the name that a column has in a result: with its table, if both tables have one of that name.
pub(crate) fn column_label(query: &LogicalForm, tables: &[Table], place: Place) -> String {
    let name = &tables[place.table].columns[place.column].name;
    let is_key = query.from.join.is_some_and(|it| it.right == place);
    let first = &tables[query.from.table];
    if place.table != query.from.table && first.column(name).is_some() && !is_key {
        return format!("{name}_{}", tables[place.table].name);
    }
    name.clone()
}

fn plain(sql: String) -> Statement {
    Statement { sql, keys: Vec::new(), measures: Vec::new() }
}

/// Writes an expression with its name, unless it is its name.
fn named(text: &str, label: &str) -> String {
    let label = identifier(label);
    if text == label { label } else { format!("{text} as {label}") }
}

fn limit(order: SortOrder) -> String {
    let mut text = order.n.map(|it| format!("\nlimit {it}")).unwrap_or_default();
    if 0 < order.skip {
        let _ = write!(text, " offset {}", order.skip);
    }
    text
}

fn over_text(over: Over, measure: &str, order: &str) -> (&'static str, String) {
    match over {
        Over::Cumulative => ("cumulative", format!("sum({measure}) over (order by {order})")),
        Over::Growth => (
            "growth_percent",
            format!("100.0 * ({measure} / lag({measure}) over (order by {order}) - 1)"),
        ),
        Over::Change => ("change", format!("{measure} - lag({measure}) over (order by {order})")),
        Over::Share => ("share_percent", format!("100.0 * {measure} / sum({measure}) over ()")),
    }
}

/// Returns a round width of so many bins, or fewer.
pub(crate) fn bin_width(min: f64, max: f64, n_bins: u32) -> f64 {
    let rough = (max - min) / f64::from(n_bins);
    if rough <= 0.0 || !rough.is_finite() {
        return 1.0;
    }
    let scale = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|it| rough / scale <= *it).unwrap_or(10.0);
    step * scale
}

/// Returns the width of the bins in which the values of a column are counted; none if each value is.
pub(crate) fn binned(table: &Table, place: Place) -> Option<f64> {
    let facts = &table.columns[place.column];
    let is_few = facts.n_values().is_some_and(|it| it <= VALUES_MAX);
    let (min, max) = facts.range.filter(|_| facts.kind.is_number() && !is_few)?;
    // Twice the cube root of the number of values, after Rice, and more as the width is rounded up.
    let wanted = (BINS.0..BINS.1).find(|it| table.n_rows <= u64::from(it * it * it / 27));
    Some(bin_width(min, max, wanted.unwrap_or(BINS.1)))
}

fn word_of(agg: &Agg) -> &'static str {
    match agg {
        Agg::Mean => "mean",
        Agg::Median => "median",
        Agg::Min => "min",
        Agg::Max => "max",
        Agg::Sum => "total",
        Agg::Std => "std",
        _ => "number_of",
    }
}

pub(crate) fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Year => "year",
        TimeUnit::Quarter => "quarter",
        TimeUnit::Month => "month",
        TimeUnit::Week => "week",
        TimeUnit::Day => "day",
        TimeUnit::Hour => "hour",
    }
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Eq => "=",
        Op::Ne => "<>",
    }
}
