//! How a question was read, in words.

use std::fmt::Write;

use super::{Answer, capital};
use crate::code::{DAYS, FAR, number};
use crate::lexicon::TimeUnit;
use crate::reading::{
    Agg, Check, Filter, Group, Measure, Op, Over, Part, Rank, Scalar, Test, Told, What, Within,
};

impl Answer<'_> {
    pub(super) fn title(&self) -> String {
        // Where groups are the series, one number is drawn.
        let n_drawn = if 1 < self.reading.what.groups().len() { 1 } else { usize::MAX };
        capital(&self.described(n_drawn).replace('`', ""))
    }

    /// Says how the question was read.
    pub(crate) fn describe(&self) -> String {
        self.described(usize::MAX)
    }

    fn described(&self, n_measures: usize) -> String {
        let table = format!("`{}`", self.tables[0].name);
        let mut text = match &self.reading.what {
            What::Aggregate { .. } => self.describe_aggregate(n_measures),
            What::Difference { measure, by, between } => {
                format!(
                    "difference in {} between {} and {} by `{}`",
                    self.measure(measure),
                    between[0],
                    between[1],
                    self.name(*by)
                )
            }
            What::Change { measure, names, .. } => {
                format!("change of {} from {} to {}", self.measure(measure), names[0], names[1])
            }
            What::MostMissing => "the column with the most missing values".to_owned(),
            What::Rows { columns, rank, first } => {
                let mut text =
                    if columns.is_empty() { "rows".to_owned() } else { self.named(columns) };
                if let Some((place, rank)) = rank {
                    let _ = write!(text, " by `{}`{}", self.name(*place), ranked(*rank, true));
                }
                match first {
                    Some(n) if *n < 0 => _ = write!(text, ", the last {}", -n),
                    Some(n) => _ = write!(text, ", the first {n}"),
                    None => {}
                }
                text
            }
            What::Share { part, groups, of, rank } => {
                let whole = of.map_or("rows".to_owned(), |it| format!("`{}`", self.name(it)));
                let by = self.by(groups);
                let rank = rank.map(|it| ranked(it, true)).unwrap_or_default();
                format!("share of {whole} with {}{by}{rank}", self.conditions(part))
            }
            What::Ratio { part, whole, is_percent, groups } => format!(
                "`{}` divided by `{}`{}{}, of the totals and as the mean over rows",
                self.name(*part),
                self.name(*whole),
                if *is_percent { " in percent" } else { "" },
                self.by(groups)
            ),
            What::Correlation(places, groups) if places.is_empty() => {
                format!("Pearson correlation of all numbers{}", self.by(groups))
            }
            What::Correlation(places, groups) => {
                format!("Pearson correlation of {}{}", self.named(places), self.by(groups))
            }
            What::Distribution(place) => format!("distribution of `{}`", self.name(*place)),
            What::Outliers(places, _) => format!(
                "values{} more than {} interquartile ranges from the quartiles",
                if places.is_empty() {
                    String::new()
                } else {
                    format!(" of {}", self.named(places))
                },
                FAR
            ),
            What::Missing { of: places, groups, told } => format!(
                "missing values{}{}",
                if places.is_empty() {
                    match told {
                        Told::Each => " of each column".to_owned(),
                        Told::Some => " of the columns that have some".to_owned(),
                        Told::Total => " of all columns together".to_owned(),
                    }
                } else {
                    format!(" of {}", self.named(places))
                },
                self.by(groups)
            ),
            What::Duplicates(places) if places.is_empty() => {
                "rows that repeat an earlier row".to_owned()
            }
            What::Duplicates(places) => {
                format!("values of {} that come more than once", self.named(places))
            }
            What::Constant => "columns with one value".to_owned(),
            What::Describe(places) if places.is_empty() => "figures of each column".to_owned(),
            What::Describe(places) => format!("figures of {}", self.named(places)),
            What::Columns => "names and types of the columns".to_owned(),
            What::Size => "number of rows and columns".to_owned(),
            What::Check(check) => self.describe_check(check),
        };
        let _ = write!(text, " in {table}");
        if let Some(join) = &self.reading.join {
            let _ = write!(
                text,
                " with `{}` by `{}`",
                self.tables[1].name, self.tables[0].columns[join.left.column].name
            );
        }
        if !self.reading.filters.is_empty() {
            let _ = write!(text, ", of rows with {}", self.conditions(&self.reading.filters));
        }
        text
    }

    fn describe_aggregate(&self, n_measures: usize) -> String {
        let What::Aggregate { measures, groups, rank, over, having } = &self.reading.what else {
            return String::new();
        };
        let all: Vec<String> =
            measures.iter().take(n_measures).map(|it| self.measure(it)).collect();
        let text = all.join(", ");
        let mut text = match over {
            Over::Plain => text,
            Over::Cumulative => format!("running total of {text}"),
            Over::Growth => format!("change in percent of {text}"),
            Over::Change => format!("change of {text}"),
            Over::Share => format!("share in percent of {text}"),
            Over::Mean => format!("mean over groups of {text}"),
        };
        text += &self.by(groups);
        if let Some((op, value)) = having {
            let _ = write!(text, ", where it is {} {}", word(*op), number(*value));
        }
        text + &rank.map(|it| ranked(it, !groups.is_empty())).unwrap_or_default()
    }

    fn describe_check(&self, check: &Check) -> String {
        match check {
            Check::Any(filters) => format!("is there a row with {}", self.conditions(filters)),
            Check::All(filters) => format!("has every row {}", self.conditions(filters)),
            Check::Number(measure, op, value) => {
                format!("is {} {} {}", self.measure(measure), word(*op), number(*value))
            }
            Check::Unique(places) if places.is_empty() => "does a row come twice".to_owned(),
            Check::Unique(places) => {
                format!("does a value of {} come twice", self.named(places))
            }
            Check::Present(places) if places.is_empty() => "is any value missing".to_owned(),
            Check::Present(places) => format!("is a value of {} missing", self.named(places)),
            Check::Refers(join) => {
                format!("is every {} in `{}`", self.named(&[join.left]), self.tables[1].name)
            }
            Check::Varies(_) => "does a column have one value only".to_owned(),
            Check::Inliers(_) => {
                format!("is a value more than {FAR} interquartile ranges from the quartiles")
            }
        }
    }

    fn by(&self, groups: &[Group]) -> String {
        if groups.is_empty() {
            return String::new();
        }
        let names: Vec<String> = groups
            .iter()
            .map(|it| match it {
                Group::By(place) => format!("`{}`", self.name(*place)),
                Group::Time(place, unit) => {
                    format!("{} of `{}`", unit_name(*unit), self.name(*place))
                }
                Group::Part(place, part) => {
                    format!("{} of `{}`", part_name(*part), self.name(*place))
                }
            })
            .collect();
        format!(" by {}", names.join(" and "))
    }

    pub(super) fn measure(&self, measure: &Measure) -> String {
        let Some(place) = measure.of else { return "number of rows".to_owned() };
        let column = format!("`{}`", self.name(place));
        match measure.agg {
            Agg::Count => format!("number of values of {column}"),
            Agg::Distinct => format!("number of different {column}"),
            Agg::Sum => format!("total {column}"),
            Agg::Mean => format!("mean {column}"),
            Agg::Median => format!("median {column}"),
            Agg::Min => format!("smallest {column}"),
            Agg::Max => format!("largest {column}"),
            Agg::Std => format!("standard deviation of {column}"),
            Agg::Var => format!("variance of {column}"),
            Agg::Iqr => format!("interquartile range of {column}"),
            Agg::Quantile(share) => format!("{} quantile of {column}", number(share)),
        }
    }

    pub(super) fn conditions(&self, filters: &[Filter]) -> String {
        let all: Vec<String> = filters.iter().map(|it| self.condition(it)).collect();
        all.join(" and ")
    }

    fn condition(&self, filter: &Filter) -> String {
        let column = format!("`{}`", self.name(filter.place));
        let not = if filter.is_negated { "not " } else { "" };
        match &filter.test {
            Test::Is(op, Scalar::Number(value)) => {
                format!("{column} {not}{} {}", word(*op), number(*value))
            }
            Test::Is(op, Scalar::Day(day)) => format!("{column} {not}{} {day}", word(*op)),
            Test::Is(op, Scalar::Clock(time)) => format!("{column} {not}{} {time}", word(*op)),
            Test::OneOf(values) => {
                let values: Vec<String> = values.iter().map(|it| number(*it)).collect();
                format!("{column} {not}{}", values.join(" or "))
            }
            Test::IsTo(op, other) => format!("{column} {not}{} `{}`", word(*op), self.name(*other)),
            Test::In(values) => format!("{column} {not}{}", values.join(" or ")),
            Test::True => format!("{column} {}", if filter.is_negated { "false" } else { "true" }),
            Test::Missing => {
                format!("{column} {}", if filter.is_negated { "present" } else { "missing" })
            }
            Test::Absent(_) => format!("{column} {not}missing or none"),
            Test::Text(Within::Contains, text) => format!("{column} {not}containing “{text}”"),
            Test::Text(Within::Starts, text) => format!("{column} {not}starting with “{text}”"),
            Test::Text(Within::Ends, text) => format!("{column} {not}ending with “{text}”"),
            Test::Part(part, values) => {
                let values: Vec<String> = values
                    .iter()
                    .map(|it| match part {
                        Part::Weekday => DAYS
                            .get(usize::try_from(it - 1).unwrap_or(7))
                            .map_or_else(|| it.to_string(), |it| (*it).to_owned()),
                        _ => it.to_string(),
                    })
                    .collect();
                format!("{} of {column} {not}{}", part_name(*part), values.join(" or "))
            }
            Test::Last(n, unit) => {
                let name = unit_name(*unit);
                if *n == 1 {
                    format!("{column} in the last {name} of the data")
                } else {
                    format!("{column} in the last {n} {name}s of the data")
                }
            }
        }
    }
}

pub(super) fn word(op: Op) -> &'static str {
    match op {
        Op::Gt => "over",
        Op::Ge => "at least",
        Op::Lt => "under",
        Op::Le => "at most",
        Op::Eq => "equal to",
        Op::Ne => "other than",
    }
}

fn ranked(rank: Rank, is_many: bool) -> String {
    if !is_many {
        return String::new();
    }
    let end = if rank.is_ascending { "smallest" } else { "largest" };
    match (rank.n, rank.skip) {
        (None, _) => format!(", {end} first"),
        (Some(1), 0) => format!(", the {end}"),
        (Some(1), skip) => format!(", number {} from the {end}", skip + 1),
        (Some(n), _) => format!(", the {n} {end}"),
    }
}

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Year => "year",
        TimeUnit::Quarter => "quarter",
        TimeUnit::Month => "month",
        TimeUnit::Week => "week",
        TimeUnit::Day => "day",
        TimeUnit::Hour => "hour",
    }
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Year => "year",
        Part::Quarter => "quarter",
        Part::Month => "month of the year",
        Part::Day => "day of the month",
        Part::Weekday => "day of the week",
        Part::Hour => "hour of the day",
    }
}
