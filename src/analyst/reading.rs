//! A reading: what a question asks, in terms of the tables. It is what code is written from, and what is
//! told back to the user.

use jiff::civil::{Date, Time};

use super::ground::Place;
use super::lexicon::TimeUnit;

/// What a question asks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// How the second table goes with the first, when there are two.
    pub join: Option<Join>,
    /// All of which must hold for a row to count.
    pub filters: Vec<Filter>,
    /// What is computed of these rows.
    pub what: What,
    /// The chart that was asked for.
    pub chart: Option<Shape>,
    /// What it could have meant as well, for the user.
    pub notes: Vec<String>,
    /// Whether days of a series may be months, if there are many: nothing says how long its steps are.
    pub may_be_months: bool,
}

/// Rows of another table that go with those of the first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Join {
    /// The column of the first table that refers to it.
    pub left: Place,
    /// The column of the other table that is referred to.
    pub right: Place,
}

/// The marks of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Whatever suits.
    Any,
    /// Bars that lie.
    Bar,
    /// Bars that stand.
    Column,
    /// Bars that stand on each other.
    Stacked,
    /// A line.
    Line,
    /// Points.
    Scatter,
}

/// How values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Gt,
    Ge,
    Lt,
    Le,
    Eq,
    Ne,
}

/// What a value is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar {
    /// An amount.
    Number(f64),
    /// A day.
    Day(Date),
    /// A time of day.
    Clock(Time),
}

/// What is taken of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Year,
    Quarter,
    Month,
    Day,
    Weekday,
    Hour,
}

/// Where text is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Contains,
    Starts,
    Ends,
}

/// What must hold for a row to count.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    /// What it is about.
    pub place: Place,
    /// What must hold.
    pub test: Test,
    /// Whether it must not hold.
    pub is_negated: bool,
}

impl Filter {
    /// Returns the columns that must have a value for it to be judged.
    pub(crate) fn judged(&self) -> Vec<Place> {
        match self.test {
            Test::Missing => Vec::new(),
            Test::IsTo(_, other) => vec![self.place, other],
            _ => vec![self.place],
        }
    }

    /// Returns whether it says no more than that there is a value.
    pub(crate) fn is_presence(&self) -> bool {
        self.test == Test::Missing && self.is_negated
    }

    /// Returns whether it takes the place of another when both are told one after the other: of a date, a
    /// weekday is told beside the rest.
    pub(crate) fn replaces(&self, old: &Filter) -> bool {
        let is_weekday = |it: &Filter| matches!(it.test, Test::Part(Part::Weekday, _));
        self.place == old.place && is_weekday(self) == is_weekday(old)
    }
}

/// What must hold of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// It compares so.
    Is(Op, Scalar),
    /// It compares so with the value of another column.
    IsTo(Op, Place),
    /// It is one of these texts.
    In(Vec<String>),
    /// It is one of these numbers.
    OneOf(Vec<f64>),
    /// It is true.
    True,
    /// There is none.
    Missing,
    /// There is none, or the text says that there is none: `no`, `none`.
    Absent(Vec<String>),
    /// It holds a text, whatever the case.
    Text(Within, String),
    /// A part of its date is one of these.
    Part(Part, Vec<i64>),
    /// It is within the last periods that the data has.
    Last(u32, TimeUnit),
}

/// How values become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Agg {
    /// Rows, or values that are there.
    Count,
    /// Different values.
    Distinct,
    Sum,
    Mean,
    Median,
    Min,
    Max,
    Std,
    Var,
    /// Third quartile less first.
    Iqr,
    /// From 0 to 1.
    Quantile(f64),
}

/// A number that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measure {
    /// How values become one.
    pub agg: Agg,
    /// Which values; rows when none.
    pub of: Option<Place>,
}

impl Measure {
    /// How many rows there are.
    pub(crate) const ROWS: Measure = Measure { agg: Agg::Count, of: None };
}

/// What rows are put together by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Group {
    /// Equal values.
    By(Place),
    /// The same unit of time.
    Time(Place, TimeUnit),
    /// The same part of the date, whatever the year.
    Part(Place, Part),
}

impl Group {
    /// Returns the column.
    pub(crate) fn place(&self) -> Place {
        match self {
            Group::By(place) | Group::Time(place, _) | Group::Part(place, _) => *place,
        }
    }
}

/// Which of several are wanted, by a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rank {
    /// How many; all when none.
    pub n: Option<u32>,
    /// How many come before the first that is wanted.
    pub skip: u32,
    /// Whether the smallest come first.
    pub is_ascending: bool,
}

impl Rank {
    /// Returns the same order, of which one is wanted unless the question says how many.
    pub(crate) fn or_one(self) -> Rank {
        Rank { n: self.n.or(Some(1)), ..self }
    }
}

/// What is made of a series of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// Each as it is.
    Plain,
    Cumulative,
    /// In percent of the one before.
    Growth,
    /// Less the one before.
    Change,
    /// In percent of all.
    Share,
    /// One number: the mean over all.
    Mean,
}

/// How missing values are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Of each column.
    Each,
    /// Of the columns that have some.
    Some,
    /// All in one number.
    Total,
}

/// What is computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// Numbers, of all rows or of groups.
    Aggregate {
        /// At least one.
        measures: Vec<Measure>,
        /// None for all rows together.
        groups: Vec<Group>,
        /// By the first measure.
        rank: Option<Rank>,
        /// What is made of the first measure.
        over: Over,
        /// What must hold of the first measure of a group.
        having: Option<(Op, f64)>,
    },
    /// The difference of a number between two values of a column.
    Difference {
        /// The number.
        measure: Measure,
        /// The column.
        by: Place,
        /// The two values, in the order of the question.
        between: [String; 2],
    },
    /// A number at both ends of a period, and how it has changed.
    Change {
        /// The number.
        measure: Measure,
        /// The conditions of the whole period.
        span: Vec<Filter>,
        /// The conditions of both ends.
        ends: [Vec<Filter>; 2],
        /// Both ends, as they were told.
        names: [String; 2],
    },
    /// Rows as they are.
    Rows {
        /// The columns; all when there are none.
        columns: Vec<Place>,
        /// What they are sorted by, and which are wanted.
        rank: Option<(Place, Rank)>,
        /// How many, without an order.
        first: Option<i64>,
    },
    /// How much of the rows, in percent, also holds.
    Share {
        /// What also holds.
        part: Vec<Filter>,
        /// None for all rows together.
        groups: Vec<Group>,
        /// The number of which the part is taken; rows when none.
        of: Option<Place>,
        /// By the share.
        rank: Option<Rank>,
    },
    /// How large one number is by another.
    Ratio {
        /// What is divided.
        part: Place,
        /// What it is divided by.
        whole: Place,
        /// Whether it is told in percent.
        is_percent: bool,
        /// None for all rows together.
        groups: Vec<Group>,
    },
    /// How two numbers go together.
    Correlation(Vec<Place>, Vec<Group>),
    /// How values spread.
    Distribution(Place),
    /// Values far from the others; only how many, when that is asked.
    Outliers(Vec<Place>, bool),
    /// How many values are missing.
    Missing {
        /// The columns; all when there are none.
        of: Vec<Place>,
        /// None for all rows together.
        groups: Vec<Group>,
        /// How they are told.
        told: Told,
    },
    /// The column in which the most values are missing.
    MostMissing,
    /// Rows that come more than once, by these columns or by all.
    Duplicates(Vec<Place>),
    /// Columns with one value.
    Constant,
    /// Figures of columns; of all when there are none.
    Describe(Vec<Place>),
    /// Names and types of columns.
    Columns,
    /// How many rows and columns.
    Size,
    /// Whether something holds.
    Check(Check),
}

impl Reading {
    /// Returns whether it asks what tables are like, of which there is something to say without naming a column.
    pub(crate) fn is_about_tables(&self) -> bool {
        !matches!(self.what, What::Aggregate { .. } | What::Rows { .. })
    }

    /// Returns whether groups are listed, and not the first few of them asked for.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.what, What::Aggregate { rank: Some(Rank { n: None, .. }), .. })
    }

    /// Returns the same by month, of a series with too many days.
    pub(crate) fn by_month(&self, n_rows: u64) -> Reading {
        let mut reading = Reading { may_be_months: false, ..self.clone() };
        if let What::Aggregate { groups, .. } = &mut reading.what {
            for group in groups {
                if let Group::Time(_, unit @ TimeUnit::Day) = group {
                    *unit = TimeUnit::Month;
                }
            }
        }
        reading.notes.push(format!("By day there are {n_rows} rows; I took months."));
        reading
    }
}

impl What {
    /// Rows as they are, with all columns.
    pub(crate) const ROWS: What = What::Rows { columns: Vec::new(), rank: None, first: None };

    /// Returns numbers of groups, as they are.
    pub(crate) fn aggregate(
        measures: Vec<Measure>,
        groups: Vec<Group>,
        rank: Option<Rank>,
    ) -> What {
        What::Aggregate { measures, groups, rank, over: Over::Plain, having: None }
    }

    /// Returns how many rows groups have, the largest first.
    pub(crate) fn counts(groups: Vec<Group>) -> What {
        let rank = Rank { n: None, skip: 0, is_ascending: false };
        What::aggregate(vec![Measure::ROWS], groups, Some(rank))
    }

    /// Returns what numbers are put together by.
    pub(crate) fn groups(&self) -> &[Group] {
        match self {
            What::Aggregate { groups, .. }
            | What::Share { groups, .. }
            | What::Ratio { groups, .. }
            | What::Correlation(_, groups)
            | What::Missing { groups, .. } => groups,
            _ => &[],
        }
    }

    /// Makes something of numbers of groups.
    pub(crate) fn with_over(self, made: Over) -> What {
        match self {
            What::Aggregate { measures, groups, rank, over: Over::Plain, having } => {
                What::Aggregate { measures, groups, rank, over: made, having }
            }
            what => what,
        }
    }
}

/// What is to hold, or not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Check {
    /// No rows of this kind, or at least one: what was asked for.
    Any(Vec<Filter>),
    /// All rows are of this kind.
    All(Vec<Filter>),
    /// A number compares so.
    Number(Measure, Op, f64),
    /// These columns together are unique.
    Unique(Vec<Place>),
    /// Nothing is missing in these columns; in any when there are none.
    Present(Vec<Place>),
    /// Every value is in the column of another table.
    Refers(Join),
    /// A column has one value only.
    Varies(Vec<Place>),
    /// No number lies far from the others.
    Inliers(Vec<Place>),
}
