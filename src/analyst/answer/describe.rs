//! How a question was read: a query in one line, with the exact names of columns.

use std::fmt::Write;

use super::figure::listed;
use super::terms::{agg_word, clock, op_word, part_name, part_of, sign_word, units};
use crate::query::{
    Agg, Arithmetic, Check, Comparison, Contrast, GroupKey, Groups, Listing, LogicalForm, Measure,
    Op, Over, Place, Profile, Shape, SortOrder, Test, Told, Value, Within,
};
use crate::schema::Table;
use crate::sql::{FAR, column_label, number, unit_name};

/// Says what a query asks.
pub(crate) fn describe(query: &LogicalForm, tables: &[Table]) -> String {
    Reader { query, tables }.whole()
}

struct Reader<'a> {
    query: &'a LogicalForm,
    tables: &'a [Table],
}

/// The word before conditions, which decides how they are written.
#[derive(Debug, Clone, Copy)]
enum Behind {
    /// with `weather` rain
    With,
    /// where `weather` is rain
    Where,
}

impl Behind {
    fn is(self) -> &'static str {
        match self {
            Behind::With => "",
            Behind::Where => "is ",
        }
    }

    fn within(self, within: Within, not: &str) -> String {
        let (participle, verb, infinitive) = match within {
            Within::Contains => ("containing", "contains", "contain"),
            Within::Starts => ("starting with", "starts with", "start with"),
            Within::Ends => ("ending with", "ends with", "end with"),
        };
        match self {
            Behind::With => format!("{not}{participle}"),
            Behind::Where if not.is_empty() => verb.to_owned(),
            Behind::Where => format!("does not {infinitive}"),
        }
    }
}

impl Reader<'_> {
    fn whole(&self) -> String {
        let from = self.query.from;
        let mut text = self.body();
        // Of what refers to another table, both are named already.
        if !matches!(self.query.body, Shape::Check(Check::Refers(_))) {
            let _ = write!(text, " in `{}`", self.tables[from.table].name);
        }
        if let Some(join) = from.join {
            let other = &self.tables[join.right.table].name;
            let _ = write!(text, " with `{other}` by `{}`", self.bare(join.left));
        }
        if !self.query.filters.is_empty() {
            let filters = &self.query.filters;
            let _ = if self.is_of_rows() {
                write!(text, " with {}", self.conditions(filters))
            } else {
                write!(text, " where {}", self.joined(filters, Behind::Where))
            };
        }
        text + &self.which()
    }

    /// Returns whether the rows themselves are asked for, of one table and in no order, so that it need not be said again
    /// of which rows something is.
    fn is_of_rows(&self) -> bool {
        let is_plain =
            |it: &Listing| it.columns.is_empty() && it.order.is_none() && it.first.is_none();
        matches!(&self.query.body, Shape::Rows(listing) if is_plain(listing))
            && self.query.from.join.is_none()
    }

    fn body(&self) -> String {
        match &self.query.body {
            Shape::Groups(groups) => self.groups(groups),
            Shape::Rows(listing) => self.rows(listing),
            Shape::Compare(comparison) => self.comparison(comparison),
            Shape::Profile(profile) => self.profile(profile),
            Shape::Check(check) => self.check(check),
        }
    }

    fn bare(&self, place: Place) -> &str {
        &self.tables[place.table].columns[place.column].name
    }

    fn name(&self, place: Place) -> String {
        format!("`{}`", column_label(self.query, self.tables, place))
    }

    fn named(&self, places: &[Place]) -> String {
        places.iter().map(|it| self.name(*it)).collect::<Vec<_>>().join(", ")
    }

    fn groups(&self, groups: &Groups) -> String {
        let all: Vec<String> = groups.measures.iter().map(|it| self.measure(it)).collect();
        let text = match groups.boxed() {
            Some(place) => format!("quartiles and extremes of {}", self.name(place)),
            None => all.join(", "),
        };
        let mut text = match groups.over {
            None => text,
            Some(Over::Cumulative) => format!("running total of {text}"),
            Some(Over::Growth) => format!("change in percent of {text}"),
            Some(Over::Change) => format!("change of {text}"),
            Some(Over::Share) => format!("share in percent of {text}"),
        };
        text += &self.by(&groups.keys);
        if let Some((op, value)) = &groups.having {
            let _ = write!(text, ", where it is {} {}", op_word(*op), self.value(value));
        }
        if let Some(agg) = &groups.then {
            return match (agg, &groups.having) {
                (Agg::Count, Some((op, value))) => {
                    let (by, all) = (self.by(&groups.keys), all.join(", "));
                    let keys = by.strip_prefix(" by ").unwrap_or("groups");
                    format!(
                        "number of {keys} where {all} is {} {}",
                        op_word(*op),
                        self.value(value)
                    )
                }
                (Agg::Count, None) => format!("number of groups of {text}"),
                (agg, _) => format!("{} over groups of {text}", agg_word(agg)),
            };
        }
        text
    }

    fn by(&self, keys: &[GroupKey]) -> String {
        let names = keys.iter().map(|it| match it {
            GroupKey::Column(place) => self.name(*place),
            GroupKey::Time(place, unit) => format!("{} of {}", unit_name(*unit), self.name(*place)),
            GroupKey::Part(place, part) => format!("{} of {}", part_name(*part), self.name(*place)),
            GroupKey::Bin(place, width) => {
                format!("{} in steps of {}", self.name(*place), number(*width))
            }
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() { String::new() } else { format!(" by {}", listed(&names, "and")) }
    }

    fn measure(&self, measure: &Measure) -> String {
        if let Agg::Share = measure.agg {
            let of = measure.of.as_ref().map_or_else(|| "rows".to_owned(), |it| self.value(it));
            return format!("share of {of} with {}", self.conditions(&measure.only));
        }
        let of = measure.of.as_ref().map(|it| self.value(it)).unwrap_or_default();
        let text = match &measure.agg {
            Agg::Count if measure.of.is_none() => "number of rows".to_owned(),
            Agg::Count => format!("number of values of {of}"),
            Agg::Distinct => format!("number of different {of}"),
            Agg::Quantile(share) => format!("{} quantile of {of}", number(*share)),
            Agg::Correlation(other) => {
                format!("Pearson correlation of {of} and {}", self.name(*other))
            }
            Agg::Percent(other) => format!("total {of} in percent of total {}", self.name(*other)),
            Agg::Ratio(other) => format!("total {of} divided by total {}", self.name(*other)),
            agg @ (Agg::Std | Agg::Var | Agg::Iqr | Agg::Range | Agg::Mode) => {
                format!("{} of {of}", agg_word(agg))
            }
            agg => format!("{} {of}", agg_word(agg)),
        };
        if measure.only.is_empty() {
            text
        } else {
            format!("{text} with {}", self.conditions(&measure.only))
        }
    }

    fn rows(&self, listing: &Listing) -> String {
        let what = if listing.columns.is_empty() {
            "rows".to_owned()
        } else {
            self.named(&listing.columns)
        };
        let mut text = if listing.is_distinct { format!("different {what}") } else { what };
        if let Some((by, _)) = &listing.order {
            let _ = write!(text, " by {}", self.value(by));
        }
        text
    }

    /// Returns which of the rows or groups, and in which order.
    fn which(&self) -> String {
        match &self.query.body {
            Shape::Groups(Groups { order: Some(order), keys, then: None, .. })
                if !keys.is_empty() =>
            {
                ranked(*order)
            }
            Shape::Rows(Listing { order, first, .. }) => {
                let order = order.as_ref().map(|it| ranked(it.1)).unwrap_or_default();
                let first = match first {
                    Some(n) if *n < 0 => format!(", the last {}", -n),
                    Some(n) => format!(", the first {n}"),
                    None => String::new(),
                };
                order + &first
            }
            _ => String::new(),
        }
    }

    fn comparison(&self, comparison: &Comparison) -> String {
        let measure = self.measure(&comparison.measure);
        let [one, other] = [0, 1].map(|it| {
            let side = &comparison.sides[it];
            if side.tests.is_empty() { side.name.clone() } else { self.conditions(&side.tests) }
        });
        match comparison.asks {
            Contrast::Difference => format!("{measure} with {one}, minus that with {other},"),
            Contrast::Change => format!("change of {measure} from {one} to {other}"),
            Contrast::Ratio => format!("{measure} with {one}, divided by that with {other},"),
            Contrast::Holds(op) => {
                format!("is {measure} with {one} {} that with {other}", op_word(op))
            }
        }
    }

    fn profile(&self, profile: &Profile) -> String {
        let of = |places: &[Place], all: &str| {
            if places.is_empty() { all.to_owned() } else { format!(" of {}", self.named(places)) }
        };
        match profile {
            Profile::Describe(places) => format!("figures{}", of(places, " of each column")),
            Profile::Columns => "names and types of the columns".to_owned(),
            Profile::Size => "number of rows and columns".to_owned(),
            Profile::Missing { of: places, told } => {
                let all = match told {
                    Told::Each => " of each column",
                    Told::Some => " of the columns that have some",
                    Told::Total => " of all columns together",
                    Told::Most => "",
                };
                match told {
                    Told::Most => {
                        format!("the column with the most missing values{}", of(places, all))
                    }
                    _ => format!("missing values{}", of(places, all)),
                }
            }
            Profile::Distribution(place) => format!("distribution of {}", self.name(*place)),
            Profile::Outliers { of: places, .. } => {
                format!("values{} {}", of(places, ""), far())
            }
            Profile::Duplicates(places) if places.is_empty() => {
                "rows that repeat an earlier row".to_owned()
            }
            Profile::Duplicates(places) => {
                format!("values of {} that occur more than once", self.named(places))
            }
            Profile::Constant => "columns with one value".to_owned(),
            Profile::Correlations(places) => match &places[..] {
                [] => "Pearson correlation of all numbers".to_owned(),
                [one] => {
                    format!("Pearson correlation of {} with each other number", self.name(*one))
                }
                places => {
                    let names: Vec<String> = places.iter().map(|it| self.name(*it)).collect();
                    format!("Pearson correlation of {}", listed(&names, "and"))
                }
            },
        }
    }

    fn check(&self, check: &Check) -> String {
        match check {
            Check::None(tests) => format!("is there a row with {}", self.conditions(tests)),
            Check::All(tests) => format!("has every row {}", self.conditions(tests)),
            Check::Number(measure, op, value) => {
                format!("is {} {} {}", self.measure(measure), op_word(*op), self.value(value))
            }
            Check::Groups(groups, op, value) => {
                format!("is {} always {} {}", self.groups(groups), op_word(*op), self.value(value))
            }
            Check::Unique(places) if places.is_empty() => "does a row occur twice".to_owned(),
            Check::Unique(places) => format!("does a value of {} occur twice", self.named(places)),
            Check::Present(places) if places.is_empty() => "is any value missing".to_owned(),
            Check::Present(places) => format!("is a value of {} missing", self.named(places)),
            Check::Refers(join) => format!(
                "is every {} of `{}` in `{}` of `{}`",
                self.name(join.left),
                self.tables[join.left.table].name,
                self.bare(join.right),
                self.tables[join.right.table].name
            ),
            Check::Varies(places) if places.is_empty() => {
                "does a column have one value only".to_owned()
            }
            Check::Varies(places) => format!("has {} one value only", self.named(places)),
            Check::Inliers(places) if places.is_empty() => format!("is a value {}", far()),
            Check::Inliers(places) => format!("is a value of {} {}", self.named(places), far()),
        }
    }

    fn conditions(&self, tests: &[Test]) -> String {
        self.joined(tests, Behind::With)
    }

    fn joined(&self, tests: &[Test], behind: Behind) -> String {
        let condition = |test: &Test| match test {
            Test::Any(each) if 1 < tests.len() && 1 < each.len() => {
                format!("({})", self.condition(test, "", behind))
            }
            test => self.condition(test, "", behind),
        };
        tests.iter().map(condition).collect::<Vec<_>>().join(" and ")
    }

    fn condition(&self, test: &Test, not: &str, behind: Behind) -> String {
        let is = behind.is();
        let subject = |one: &Value| match (behind, one) {
            (Behind::Where, Value::Part(..)) => format!("the {}", self.value(one)),
            _ => self.value(one),
        };
        match test {
            Test::Is(one, op @ (Op::Eq | Op::Ne), other) if is_name(other) => {
                let not = if *op == Op::Ne { "not " } else { not };
                format!("{} {is}{not}{}", subject(one), self.beside(other, one))
            }
            Test::Is(one, op, other) => {
                format!("{} {is}{not}{} {}", subject(one), op_word(*op), self.beside(other, one))
            }
            Test::In(value, values) => {
                let values: Vec<String> = values.iter().map(|it| self.beside(it, value)).collect();
                format!("{} {is}{not}{}", subject(value), listed(&values, "or"))
            }
            Test::Text(place, within, wanted) => {
                let within = behind.within(*within, not);
                format!("{} {within} “{wanted}”", self.name(*place))
            }
            Test::True(place) => {
                let word = if not.is_empty() { "true" } else { "false" };
                format!("{} {is}{word}", self.name(*place))
            }
            Test::Missing(place) => {
                let word = if not.is_empty() { "missing" } else { "present" };
                format!("{} {is}{word}", self.name(*place))
            }
            Test::Last(place, n, unit) => {
                let (name, units) = (self.name(*place), units(*n, *unit));
                format!("{name} {is}{not}in the last {units} of the data")
            }
            Test::Exists(join) => {
                let other = &self.tables[join.right.table].name;
                let (left, right) = (self.name(join.left), self.bare(join.right));
                format!("{left} {is}{not}in `{right}` of `{other}`")
            }
            Test::Not(test) => {
                self.condition(test, if not.is_empty() { "not " } else { "" }, behind)
            }
            Test::Any(tests) => {
                let each = tests.iter().map(|it| self.condition(it, "", behind));
                let any = each.collect::<Vec<_>>().join(" or ");
                if not.is_empty() { any } else { format!("not ({any})") }
            }
        }
    }

    fn value(&self, value: &Value) -> String {
        match value {
            Value::Number(it) => number(*it),
            Value::Day(day) => day.to_string(),
            Value::Clock(time) => clock(*time),
            Value::Text(text) => text.clone(),
            Value::Column(place) => self.name(*place),
            Value::Part(place, part) => format!("{} of {}", part_name(*part), self.name(*place)),
            Value::Arithmetic(one, Arithmetic::Days, other) => {
                format!("days from {} to {}", self.value(other), self.value(one))
            }
            Value::Arithmetic(one, sign, other) => {
                format!("{} {} {}", self.value(one), sign_word(*sign), self.value(other))
            }
            Value::Query(query) => {
                let reader = Reader { query, tables: self.tables };
                let is_same = query.from == self.query.from && query.filters.is_empty();
                let text = if is_same { reader.body() + &reader.which() } else { reader.whole() };
                format!("the {text}")
            }
        }
    }

    /// Writes a value that is compared with a part of a date by its name: `May`.
    fn beside(&self, value: &Value, other: &Value) -> String {
        part_of(value, other).unwrap_or_else(|| self.value(value))
    }
}

/// Returns whether a value is what something is, not how much.
fn is_name(value: &Value) -> bool {
    matches!(value, Value::Text(_) | Value::Number(_) | Value::Day(_) | Value::Clock(_))
}

fn far() -> String {
    format!("more than {FAR} interquartile ranges from the quartiles")
}

fn ranked(order: SortOrder) -> String {
    let end = if order.is_ascending { "smallest" } else { "largest" };
    match (order.n, order.skip) {
        (None, _) => format!(", {end} first"),
        (Some(1), 0) => format!(", the {end}"),
        (Some(1), skip) => format!(", number {} from the {end}", skip + 1),
        (Some(n), 0) => format!(", the {n} {end}"),
        (Some(n), skip) => format!(", numbers {} to {} from the {end}", skip + 1, skip + n),
    }
}
