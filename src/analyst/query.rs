//! The query algebra: what a question asks, in terms of the tables. Each value of it can be executed.
//!
//! Readings of a question are queries. One is ranked, written as SQL (`sql`), told in words and answered
//! (`answer`), and changed by the question that follows.

use jiff::civil::{Date, Time};

use csv_agent_types::chart_options::LogAxis;

use crate::lexicon::TimeUnit;

/// A column of one of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Which table.
    pub table: usize,
    /// Which of its columns.
    pub column: usize,
}

/// What a question asks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogicalForm {
    /// Where the rows come from.
    pub from: Source,
    /// What must hold of a row for it to count.
    pub filters: Vec<Test>,
    /// What is made of the rows.
    pub body: Shape,
    /// The chart that was asked for.
    pub chart: Option<Chart>,
    /// How it was asked to look.
    pub look: Look,
}

/// Where rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    /// The table.
    pub table: usize,
    /// How a second table is joined, if there is one. Rows without a match are kept.
    pub join: Option<Join>,
}

/// Equal values of two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Join {
    /// The column of the table whose rows count.
    pub left: Place,
    /// The column of the other table, which has each value once.
    pub right: Place,
}

/// What is made of rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// Numbers of groups; of all rows if there are no keys.
    Groups(Groups),
    /// The rows themselves.
    Rows(Listing),
    /// A number of two parts of the rows, side by side.
    Compare(Comparison),
    /// What the data is like.
    Profile(Profile),
    /// Whether something holds.
    Check(Check),
}

/// Numbers of groups.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Groups {
    /// What the groups have in common. None for one row of everything.
    pub keys: Vec<GroupKey>,
    /// At least one.
    pub measures: Vec<Measure>,
    /// What the first measure of a group must be.
    pub having: Option<(Op, Value)>,
    /// What is made of the first measure, along the groups.
    pub over: Option<Over>,
    /// One number of the first measure of all groups: the mean of their counts.
    pub then: Option<Agg>,
    /// The order of the groups. By their keys if there is none.
    pub order: Option<SortOrder>,
}

/// What the rows of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum GroupKey {
    Column(Place),
    /// A unit of time: the month 2024-05.
    Time(Place, TimeUnit),
    /// A part of a date, whatever the year: May.
    Part(Place, Part),
    /// A range of numbers, of this width.
    Bin(Place, f64),
}

/// A number of some rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measure {
    /// How values become one.
    pub agg: Agg,
    /// The values. None for rows.
    pub of: Option<Value>,
    /// What must also hold for a row to count: the part of a share.
    pub only: Vec<Test>,
}

/// How values become one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Agg {
    /// Rows, or values that are not missing.
    Count,
    /// Different values.
    Distinct,
    Sum,
    Mean,
    Median,
    Min,
    Max,
    /// Standard deviation of a sample.
    Std,
    /// Variance of a sample.
    Var,
    /// Third quartile minus the first.
    Iqr,
    /// Largest minus smallest.
    Range,
    /// From 0 to 1.
    Quantile(f64),
    /// The most frequent value.
    Mode,
    /// The value at the earliest time of this column.
    First(Place),
    /// The value at the latest time of this column.
    Last(Place),
    /// Percent by which the value at the latest time is more than that at the earliest.
    Grown(Place),
    /// Percent of the rows, or of the sum of the values, for which `only` holds.
    Share,
    /// Pearson correlation with this column.
    Correlation(Place),
    /// The sum divided by the sum of this column.
    Ratio(Place),
    /// The same in percent.
    Percent(Place),
}

/// What is made of a number along groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// The sum up to a group.
    Cumulative,
    /// Percent more than the group before.
    Growth,
    /// Minus the group before.
    Change,
    /// Percent of the sum of all groups.
    Share,
}

/// An order, and which of the ordered are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SortOrder {
    /// Whether the smallest come first.
    pub is_ascending: bool,
    /// How many; all if none. One means all that are equal to the first.
    pub n: Option<u32>,
    /// How many are left out before the first.
    pub skip: u32,
}

/// Rows as they are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listing {
    /// Their columns; all if none.
    pub columns: Vec<Place>,
    /// Whether equal rows are listed once.
    pub is_distinct: bool,
    /// What they are sorted by.
    pub order: Option<(Value, SortOrder)>,
    /// How many without an order: the first, or the last if negative.
    pub first: Option<i64>,
}

/// A number of two parts of the rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    /// The number.
    pub measure: Measure,
    /// Both parts, in the order of the question.
    pub sides: [Side; 2],
    /// What is asked of the two.
    pub asks: Contrast,
}

/// A part of the rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Side {
    /// What it is called: `2019`, `Germany`.
    pub name: String,
    /// What must hold of its rows.
    pub tests: Vec<Test>,
}

/// What is asked of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contrast {
    /// The first minus the second.
    Difference,
    /// The second minus the first, and in percent of the first: from one time to another.
    Change,
    /// The first divided by the second.
    Ratio,
    /// Whether the first compares so with the second.
    Holds(Op),
}

/// What the data is like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Profile {
    /// Count, mean, deviation, extremes and quartiles of columns; of all if there are none.
    Describe(Vec<Place>),
    /// Names and types of the columns.
    Columns,
    /// How many rows and columns.
    Size,
    /// How many values are missing in columns; in all if there are none.
    Missing { of: Vec<Place>, told: Told },
    /// How the values of a column are distributed.
    Distribution(Place),
    /// Values far from the others: the rows, or how many for each column.
    Outliers { of: Vec<Place>, counts: bool },
    /// Values of columns that occur in several rows; whole rows if there are none.
    Duplicates(Vec<Place>),
    /// Columns with one value.
    Constant,
    /// Pearson correlations of columns with each other; of all numbers if there are none.
    Correlations(Vec<Place>),
}

/// How missing values are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Of each column.
    Each,
    /// Of the columns that have some.
    Some,
    /// Of the column that has the most.
    Most,
    Total,
}

/// What is claimed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Check {
    /// No row is of this kind.
    None(Vec<Test>),
    /// All rows are of this kind.
    All(Vec<Test>),
    /// A number compares so.
    Number(Measure, Op, Value),
    /// The number of every group compares so.
    Groups(Groups, Op, Value),
    /// No two rows have the same values in these columns; in all if there are none.
    Unique(Vec<Place>),
    /// No value is missing in these columns; in any if there are none.
    Present(Vec<Place>),
    /// Every value occurs in the column of another table.
    Refers(Join),
    /// No column has only one value.
    Varies(Vec<Place>),
    /// No number is far from the others.
    Inliers(Vec<Place>),
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Day(Date),
    Clock(Time),
    Text(String),
    Column(Place),
    /// A part of a date.
    Part(Place, Part),
    /// Of two numbers, or days between two dates.
    Arithmetic(Box<Value>, Arithmetic, Box<Value>),
    /// The one number that a query gives.
    Query(Box<LogicalForm>),
}

/// What is done with two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Plus,
    Minus,
    Times,
    DividedBy,
    /// Days from the second date to the first.
    Days,
}

/// What must hold of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// Two values compare so.
    Is(Value, Op, Value),
    In(Value, Vec<Value>),
    /// A text contains another, whatever the case.
    Text(Place, Within, String),
    /// A column says yes.
    True(Place),
    /// There is no value.
    Missing(Place),
    /// A date is in the last periods that the data has.
    Last(Place, u32, TimeUnit),
    /// Another table has a row with this value.
    Exists(Join),
    /// It does not hold. Where a value is missing, neither does.
    Not(Box<Test>),
    /// One of these holds.
    Any(Vec<Test>),
}

/// How values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Gt,
    Ge,
    Lt,
    Le,
    Eq,
    Ne,
}

/// What is taken of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Year,
    Quarter,
    Month,
    Day,
    /// From Monday as 1.
    Weekday,
    Hour,
}

/// Where text is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Within {
    Contains,
    Starts,
    Ends,
}

/// The marks of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Chart {
    /// Whatever suits.
    Any,
    /// Horizontal bars.
    Bar,
    /// Vertical bars.
    Column,
    Stacked,
    /// Bars of one height: parts of a whole.
    Shares,
    Line,
    Area,
    Scatter,
    Histogram,
    /// Quartiles of single values.
    Box,
    /// Shades in a grid of two kinds of groups.
    Heat,
}

/// What was asked of a chart beside its marks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Look {
    pub log_axis: Option<LogAxis>,
    pub panels: Option<Panels>,
}

/// Which groups get a panel each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Panels {
    /// Those that do not lie along the axis.
    Any,
    Of(GroupKey),
}

impl Look {
    /// Returns the groups that were named for panels.
    pub(crate) fn panel_key(&self) -> Option<GroupKey> {
        match self.panels {
            Some(Panels::Of(key)) => Some(key),
            Some(Panels::Any) | None => None,
        }
    }

    /// Adds what another part of a question asks.
    pub(crate) fn with(self, other: Look) -> Look {
        Look {
            log_axis: self.log_axis.or(other.log_axis),
            panels: match self.panels {
                Some(Panels::Any) => other.panels.or(self.panels),
                panels => panels.or(other.panels),
            },
        }
    }
}

impl Measure {
    pub(crate) const ROWS: Measure = Measure { agg: Agg::Count, of: None, only: Vec::new() };

    /// Returns a number of the values of a column.
    pub(crate) fn of(agg: Agg, place: Place) -> Measure {
        Measure { agg, of: Some(Value::Column(place)), only: Vec::new() }
    }

    /// Returns the column whose values it takes, if it takes one as it is.
    pub(crate) fn place(&self) -> Option<Place> {
        match self.of {
            Some(Value::Column(place)) => Some(place),
            _ => None,
        }
    }

    /// Returns whether it counts rows.
    pub(crate) fn is_rows(&self) -> bool {
        self.agg == Agg::Count && self.of.is_none()
    }
}

impl Groups {
    /// Makes the numbers of a box plot: the quartiles and the ends of a column.
    pub(crate) fn boxes(keys: Vec<GroupKey>, place: Place) -> Groups {
        let numbers = [Agg::Median, Agg::Quantile(0.25), Agg::Quantile(0.75), Agg::Min, Agg::Max];
        Groups::new(keys, numbers.map(|it| Measure::of(it, place)).to_vec())
    }

    /// Returns the column whose quartiles and ends the numbers are.
    pub(crate) fn boxed(&self) -> Option<Place> {
        let place = self.measures.first()?.place()?;
        (*self == Groups::boxes(self.keys.clone(), place)).then_some(place)
    }

    /// Returns numbers of groups as they are.
    pub(crate) fn new(keys: Vec<GroupKey>, measures: Vec<Measure>) -> Groups {
        Groups { keys, measures, having: None, over: None, then: None, order: None }
    }
}

impl GroupKey {
    /// Returns the column.
    pub(crate) fn place(&self) -> Place {
        match self {
            GroupKey::Column(place)
            | GroupKey::Time(place, _)
            | GroupKey::Part(place, _)
            | GroupKey::Bin(place, _) => *place,
        }
    }
}

impl SortOrder {
    /// The largest first.
    pub(crate) const DESCENDING: SortOrder = SortOrder { is_ascending: false, n: None, skip: 0 };
    /// The smallest first.
    pub(crate) const ASCENDING: SortOrder = SortOrder { is_ascending: true, n: None, skip: 0 };

    /// Returns whether only the first, or those equal to it, are wanted.
    pub(crate) fn is_first(&self) -> bool {
        self.n == Some(1) && self.skip == 0
    }
}

impl Op {
    /// Returns what holds where this does not.
    pub(crate) fn opposite(self) -> Op {
        match self {
            Op::Gt => Op::Le,
            Op::Ge => Op::Lt,
            Op::Lt => Op::Ge,
            Op::Le => Op::Gt,
            Op::Eq => Op::Ne,
            Op::Ne => Op::Eq,
        }
    }
}

impl Value {
    /// Returns the columns that it reads.
    pub(crate) fn places(&self) -> Vec<Place> {
        match self {
            Value::Column(place) | Value::Part(place, _) => vec![*place],
            Value::Arithmetic(one, _, other) => [one.places(), other.places()].concat(),
            Value::Number(_)
            | Value::Day(_)
            | Value::Clock(_)
            | Value::Text(_)
            | Value::Query(_) => Vec::new(),
        }
    }
}

impl Test {
    /// Returns the columns that it reads.
    pub(crate) fn places(&self) -> Vec<Place> {
        match self {
            Test::Is(one, _, other) => [one.places(), other.places()].concat(),
            Test::In(value, _) => value.places(),
            Test::Text(place, ..)
            | Test::True(place)
            | Test::Missing(place)
            | Test::Last(place, ..) => vec![*place],
            Test::Exists(join) => vec![join.left],
            Test::Not(test) => test.places(),
            Test::Any(tests) => tests.iter().flat_map(Test::places).collect(),
        }
    }

    /// Returns whether it looks for rows of another table.
    pub(crate) fn is_of_other(&self) -> bool {
        match self {
            Test::Exists(_) => true,
            Test::Not(test) => test.is_of_other(),
            Test::Any(tests) => tests.iter().any(Test::is_of_other),
            _ => false,
        }
    }

    /// Returns the columns that must have a value for it to be judged.
    pub(crate) fn judged(&self) -> Vec<Place> {
        match self {
            Test::Missing(_) => Vec::new(),
            Test::Not(test) => test.judged(),
            test => test.places(),
        }
    }
}

impl LogicalForm {
    /// Returns whether it judges something.
    pub(crate) fn judges(&self) -> bool {
        match &self.body {
            Shape::Check(_) => true,
            Shape::Compare(comparison) => matches!(comparison.asks, Contrast::Holds(_)),
            _ => false,
        }
    }

    /// Returns the columns that it reads.
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.filters.iter().flat_map(Test::places).collect();
        match &self.body {
            Shape::Groups(groups) => places.extend(groups.places()),
            Shape::Rows(listing) => {
                places.extend(&listing.columns);
                places.extend(listing.order.iter().flat_map(|it| it.0.places()));
            }
            Shape::Compare(it) => {
                places.extend(it.measure.places());
                places.extend(it.sides.iter().flat_map(|it| &it.tests).flat_map(Test::places));
            }
            Shape::Profile(
                Profile::Describe(of)
                | Profile::Missing { of, .. }
                | Profile::Outliers { of, .. }
                | Profile::Duplicates(of)
                | Profile::Correlations(of),
            ) => places.extend(of),
            Shape::Profile(Profile::Distribution(of)) => places.push(*of),
            Shape::Profile(Profile::Columns | Profile::Size | Profile::Constant) => {}
            Shape::Check(check) => places.extend(check.places()),
        }
        places
    }
}

impl LogicalForm {
    /// Returns the columns whose values it computes with or compares, rather than counts or tells apart.
    pub(crate) fn computed_with(&self) -> Vec<Place> {
        let measures = match &self.body {
            Shape::Groups(groups) => &groups.measures[..],
            Shape::Compare(comparison) => std::slice::from_ref(&comparison.measure),
            Shape::Check(Check::Number(measure, ..)) => std::slice::from_ref(measure),
            _ => &[],
        };
        let claims = match &self.body {
            Shape::Check(Check::All(tests) | Check::None(tests)) => &tests[..],
            _ => &[],
        };
        let order = match &self.body {
            // `the highest salary`, where it is text
            Shape::Groups(it) if it.order.is_some() && it.measures.iter().all(Measure::is_rows) => {
                it.keys.iter().map(GroupKey::place).collect()
            }
            Shape::Rows(listing) => listing.order.iter().flat_map(|it| it.0.places()).collect(),
            Shape::Profile(Profile::Distribution(place)) => vec![*place],
            Shape::Profile(Profile::Describe(of) | Profile::Outliers { of, .. })
            | Shape::Check(Check::Inliers(of)) => of.clone(),
            _ => Vec::new(),
        };
        let counts = |it: &&Measure| matches!(it.agg, Agg::Count | Agg::Distinct | Agg::Mode);
        let of = measures.iter().filter(|it| !counts(it)).flat_map(|it| &it.of);
        let tests = self.filters.iter().chain(claims);
        let compared = tests.filter(|it| !matches!(it, Test::Missing(_) | Test::Not(_)));
        of.flat_map(Value::places).chain(compared.flat_map(Test::places)).chain(order).collect()
    }
}

impl Measure {
    /// Returns the columns that it reads.
    pub(crate) fn places(&self) -> Vec<Place> {
        let of = self.of.iter().flat_map(Value::places);
        let only = self.only.iter().flat_map(Test::places);
        let beside = match self.agg {
            Agg::Correlation(place)
            | Agg::Ratio(place)
            | Agg::Percent(place)
            | Agg::First(place)
            | Agg::Last(place)
            | Agg::Grown(place) => Some(place),
            _ => None,
        };
        of.chain(only).chain(beside).collect()
    }
}

impl Groups {
    fn places(&self) -> Vec<Place> {
        let keys = self.keys.iter().map(GroupKey::place);
        keys.chain(self.measures.iter().flat_map(Measure::places)).collect()
    }
}

impl Check {
    fn places(&self) -> Vec<Place> {
        match self {
            Check::None(tests) | Check::All(tests) => tests.iter().flat_map(Test::places).collect(),
            Check::Number(measure, ..) => measure.places(),
            Check::Groups(groups, ..) => groups.places(),
            Check::Unique(places)
            | Check::Present(places)
            | Check::Varies(places)
            | Check::Inliers(places) => places.clone(),
            Check::Refers(join) => vec![join.left],
        }
    }
}
