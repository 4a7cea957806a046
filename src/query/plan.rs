//! A query as the engine runs it: every name is resolved, every type is known.
//!
//! The binder makes plans from SQL; other parts of csv-agent build them directly. The meaning of each node
//! is defined here, and `engine` follows it: null handling, overflow, rounding and order are part of the
//! definition, whatever the library underneath does by default.

use serde::{Deserialize, Serialize};

/// A column, numbered uniquely in the whole query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ColumnId(pub u32);

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// Of NULL alone; it fits wherever another type does.
    Null,
    /// Truth values.
    Bool,
    /// 64-bit integers.
    Int,
    /// 64-bit floats.
    Float,
    /// Text.
    Text,
    /// Calendar dates.
    Date,
    /// Dates and times without a zone, to the microsecond.
    Timestamp,
    /// Instants, in UTC, to the microsecond.
    Instant,
    /// Times of day, to the microsecond.
    Time,
    /// Differences of timestamps, to the microsecond.
    Duration,
}

/// A constant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scalar {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number, perhaps infinite or NaN.
    Float(#[serde(with = "floats")] f64),
    /// Text.
    Text(String),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01T00:00:00, without a zone.
    Timestamp(i64),
    /// Microseconds since 1970-01-01T00:00:00Z.
    Instant(i64),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds.
    Duration(i64),
}

/// Floats in JSON, which has no NaN and no infinity: these are texts.
mod floats {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum NumberOrText {
        Number(f64),
        Text(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        if number.is_finite() { to.serialize_f64(*number) } else { to.collect_str(number) }
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<f64, D::Error> {
        match NumberOrText::deserialize(from)? {
            NumberOrText::Number(number) => Ok(number),
            NumberOrText::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

/// A value for each row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// The value of a column of the input.
    Column(ColumnId),
    /// The same value in each row.
    Literal(Scalar),
    /// A function of values.
    Call(Function, Vec<Expr>),
    /// Another type of the same value; see [`Cast`].
    Cast(Box<Cast>),
    /// The value of the first branch whose condition is true, or the last value.
    Case {
        /// Conditions and values, at least one.
        branches: Vec<(Expr, Expr)>,
        /// The value when no condition is true.
        otherwise: Box<Expr>,
    },
}

/// A change of type.
///
/// - Float to Int rounds half to even, and fails beyond 64 bits; Bool to a number is 0 or 1, and a number
///   to Bool is whether it is not 0.
/// - Text is trimmed; Int takes decimal digits with a sign, or a decimal number, rounded half away from
///   zero; Float what [`str::parse`] takes; Bool `true t yes y 1 on` and their opposites, whatever the
///   case; Date `YYYY-MM-DD`; Timestamp the same, optionally followed by ` ` or `T` and `HH:MM[:SS[.f]]`.
/// - To Text: whole numbers in digits; floats as the shortest text that parses to them, with a point or an
///   exponent (`1.0`, `1e+20`); `true`, `false`; `2024-02-29`, `2024-02-29 09:30:00`, with as many decimals
///   of a second as needed.
/// - Date to Timestamp is its midnight; Timestamp to Date drops the time; Timestamp to Time drops the date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cast {
    /// The value.
    pub input: Expr,
    /// Its type.
    pub from: Type,
    /// The new type.
    pub to: Type,
    /// Whether a value that has no counterpart becomes null; otherwise the query fails.
    pub is_try: bool,
}

/// A function of values of one row. Unless noted otherwise, the result is null when an argument is null,
/// and arguments of a pair have the same type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// All of the arguments; three-valued.
    And,
    /// Any of the arguments; three-valued.
    Or,
    /// Three-valued.
    Not,
    /// Never null.
    IsNull,
    /// For any type: `=`. NaN equals NaN and is greater than every number.
    Equal,
    /// `<>`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// Never null: nulls are equal to each other and to nothing else.
    IsNotDistinct,
    /// Whether the first argument equals one of the others, which are literals; three-valued.
    In,
    /// Of Float.
    Add,
    /// Of Int; beyond 64 bits the query fails, here and below.
    AddInt,
    /// Of Float.
    Subtract,
    /// Of Int.
    SubtractInt,
    /// Of Float.
    Multiply,
    /// Of Int.
    MultiplyInt,
    /// Of Float, as IEEE 754 says: by zero infinite or NaN.
    Divide,
    /// Of Int, rounded towards zero. By zero: fails the query.
    IntegerDivide,
    /// Of Float; the sign is the dividend's. By zero: NaN.
    Modulo,
    /// Of Int; the sign is the dividend's. By zero: fails the query.
    ModuloInt,
    /// Of Float.
    Negate,
    /// Of Int.
    NegateInt,
    /// Of Float.
    Absolute,
    /// Of Int.
    AbsoluteInt,
    /// −1, 0 or 1 as Int, of Int or Float.
    Sign,
    /// Float to so many decimals, an Int literal that may be negative; half away from zero.
    Round,
    /// The same by the shortest decimal text of the number, as decimals are rounded.
    RoundDecimal,
    /// Of Float.
    Floor,
    /// Of Float.
    Ceiling,
    /// Of Float, towards zero.
    Truncate,
    /// Of Float; NaN for negative numbers.
    SquareRoot,
    /// Of Float.
    Power,
    /// Of Float.
    Exponential,
    /// Of Float; NaN for negative numbers.
    NaturalLogarithm,
    /// Of Float.
    Logarithm10,
    /// Of Float.
    Logarithm2,
    /// Of Float.
    Sine,
    /// Of Float.
    Cosine,
    /// Of Float.
    Tangent,
    /// The largest of the arguments that are not null.
    Greatest,
    /// The smallest of the arguments that are not null.
    Least,
    /// The first argument that is not null.
    Coalesce,
    /// Texts one after another.
    Concat,
    /// Texts after the first that are not null, separated by the first.
    ConcatSeparated,
    /// Of Text.
    Lower,
    /// Of Text.
    Upper,
    /// Characters as Int.
    Length,
    /// Text without the characters of the second argument, a literal, at both ends.
    Trim,
    /// The same at the beginning.
    TrimStart,
    /// The same at the end.
    TrimEnd,
    /// Text, what to replace, with what.
    Replace,
    /// Text, first character from 1, number of characters, as the SQL standard counts: positions before 1
    /// count towards the number.
    Substring,
    /// Text and a literal Int: the first characters; all but the last when negative.
    Left,
    /// Text and a literal Int: the last characters; all but the first when negative.
    Right,
    /// Text and a part: the position of its first occurrence in characters from 1; 0 when there is none.
    Position,
    /// Text and its beginning.
    StartsWith,
    /// Text and its end.
    EndsWith,
    /// Text and a part.
    Contains,
    /// Text and a regular expression, a literal: whether it matches somewhere.
    RegexMatch,
    /// Text, regular expression and replacement, literals: the first match.
    RegexReplaceFirst,
    /// The same for every match.
    RegexReplaceAll,
    /// Text, regular expression, number of a group, literals: its text, empty when there is no match.
    RegexExtract,
    /// Text, separator, and a literal number from 1, or from −1 backwards: that part; empty when there is
    /// none.
    SplitPart,
    /// Characters backwards.
    Reverse,
    /// Text and a literal number of times.
    Repeat,
    /// Text, literal length, literal fill text: filled or cut to the length.
    PadStart,
    /// The same at the end.
    PadEnd,
    /// The first letter of each word in upper case, the others in lower case.
    InitialCapitals,
    /// Of Date, Timestamp or Instant, or for parts of a day also of Time: Int, for
    /// [`DatePart::Epoch`] Float.
    DatePart(DatePart),
    /// Of Timestamp or Instant: the beginning of the unit that it is in. Weeks begin on Monday.
    DateTruncate(DateUnit),
    /// Date, Timestamp or Instant, and months as Int; the last day of the month where there is no such day.
    AddMonths,
    /// Date and days as Int.
    AddDays,
    /// Timestamp, Instant, Time or Duration, and a Duration.
    AddDuration,
    /// Timestamp, Instant or Time, and microseconds as Int.
    AddMicroseconds,
    /// Dates: the first minus the second, as Int.
    DaysBetween,
    /// Timestamps or instants: the first minus the second, as Duration.
    TimeBetween,
    /// Timestamps or instants: how many boundaries of the unit lie between the first and the second.
    BoundariesBetween(DateUnit),
    /// Timestamp and a literal format of strftime.
    FormatTime,
    /// Text and a literal format of strptime: Timestamp. A text of another form fails the query.
    ParseTime,
    /// The same, but null for a text of another form.
    TryParseTime,
    /// Year, month, day as Int: Date; an impossible one fails the query.
    MakeDate,
    /// Of Date: the last day of its month.
    LastDay,
    /// Of Date, in English.
    MonthName,
    /// Of Date, in English.
    DayName,
    /// Of Duration: seconds as Float.
    DurationSeconds,
}

/// A part of a date or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    /// The year.
    Year,
    /// 1 to 4.
    Quarter,
    /// 1 to 12.
    Month,
    /// ISO 8601 week, 1 to 53.
    Week,
    /// Day of the month.
    Day,
    /// Sunday is 0.
    DayOfWeek,
    /// Monday is 1, Sunday is 7.
    IsoDayOfWeek,
    /// From 1.
    DayOfYear,
    /// The year that the ISO week belongs to.
    IsoYear,
    /// 0 to 23.
    Hour,
    /// 0 to 59.
    Minute,
    /// 0 to 59.
    Second,
    /// Milliseconds of the minute.
    Millisecond,
    /// Microseconds of the minute.
    Microsecond,
    /// Seconds since 1970-01-01T00:00:00, as Float.
    Epoch,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateUnit {
    /// Ten years.
    Decade,
    /// From 1 January.
    Year,
    /// Three months.
    Quarter,
    /// From the first.
    Month,
    /// From Monday.
    Week,
    /// From midnight.
    Day,
    /// 60 minutes.
    Hour,
    /// 60 seconds.
    Minute,
    /// One second.
    Second,
    /// A thousandth of it.
    Millisecond,
    /// A millionth of it.
    Microsecond,
}

/// A value for a group of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    /// What is computed.
    pub function: AggregateFunction,
    /// Its arguments, columns of the input.
    pub arguments: Vec<ColumnId>,
    /// Whether equal arguments count once.
    pub distinct: bool,
    /// The rows that count: those where this column of truth values is true.
    pub filter: Option<ColumnId>,
    /// The order of the rows, for functions that depend on it.
    pub order: Vec<SortKey>,
}

/// What an aggregate computes. All but `CountRows` and `Only` ignore rows where an argument is
/// null; all but the counts are null when no row remains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AggregateFunction {
    /// Rows.
    CountRows,
    /// Values that are not null.
    Count,
    /// About how many different values are not null, in little memory: it may be 15 % off.
    CountDistinctEstimate,
    /// Of Int; an overflow fails the query.
    Sum,
    /// Of Float; the order of the rows does not matter.
    SumFloat,
    /// Of Float.
    Average,
    /// Of any type but Duration.
    Minimum,
    /// Of any type but Float and Duration.
    Maximum,
    /// Of Float; NaN is larger than every number.
    MaximumFloat,
    /// Of Float: the share as a number from 0 to 1, interpolated linearly.
    QuantileContinuous(f64),
    /// Of any type: the first value, in order, with that share of values at or before it.
    QuantileDiscrete(f64),
    /// The most frequent value; of several, the one that comes first.
    Mode,
    /// Of Float; null for fewer than two values.
    StandardDeviation,
    /// Of Float, divided by the number of values.
    StandardDeviationPopulation,
    /// Of Float; null for fewer than two values.
    Variance,
    /// Of Float, divided by the number of values.
    VariancePopulation,
    /// Of two Floats.
    Correlation,
    /// Of two Floats; null for fewer than two pairs.
    Covariance,
    /// Of two Floats, divided by the number of pairs.
    CovariancePopulation,
    /// The first value in order.
    First,
    /// The last value in order.
    Last,
    /// The only value, null or not; several rows fail the query.
    Only,
    /// The first argument in the row with the smallest second one; the first such row.
    ArgumentOfMinimum,
    /// The first argument in the row with the largest second one; the first such row.
    ArgumentOfMaximum,
    /// Texts with this separator between them.
    Join(String),
    /// Of Bool.
    And,
    /// Of Bool.
    Or,
    /// Of Float.
    Product,
}

/// One key of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortKey {
    /// The column.
    pub column: ColumnId,
    /// Whether larger values come first.
    pub descending: bool,
    /// Whether nulls come before all values.
    pub nulls_first: bool,
}

/// A value for each row, from the rows of its partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// What is computed.
    pub function: WindowFunction,
    /// Columns that are equal in the rows of a partition; null equals null.
    pub partition: Vec<ColumnId>,
    /// The order of the rows in a partition.
    pub order: Vec<SortKey>,
    /// The rows around a row that count, for aggregates and the value functions.
    pub frame: WindowFrame,
}

/// What a window computes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowFunction {
    /// From 1.
    RowNumber,
    /// With gaps.
    Rank,
    /// Without gaps.
    DenseRank,
    /// (rank − 1) / (rows − 1); 0 for one row.
    PercentRank,
    /// Rows before or equal, divided by rows.
    CumulativeDistribution,
    /// So many buckets of almost equal size, from 1.
    Buckets(i64),
    /// The value so many rows before, or after when negative; the default where there is no such row.
    Lag {
        /// The column.
        column: ColumnId,
        /// Rows.
        offset: i64,
        /// The column with the defaults; null without.
        default: Option<ColumnId>,
    },
    /// The value in the first row of the frame.
    First(ColumnId),
    /// The value in the last row of the frame.
    Last(ColumnId),
    /// The value in the row with this number, from 1, of the frame.
    Nth(ColumnId, i64),
    /// An aggregate of the frame, whose `order` is empty.
    Aggregate(Aggregate),
}

/// Which rows around a row count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowFrame {
    /// Whether bounds count rows; otherwise they are values of the only sort key, and rows equal to the
    /// current one belong to it.
    pub in_rows: bool,
    /// The first row.
    pub start: FrameBound,
    /// The last row.
    pub end: FrameBound,
}

/// A bound of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameBound {
    /// The first or the last row of the partition.
    Unbounded,
    /// So many rows, or so much of the sort key, from the current row; negative for before. Days when the
    /// key is a Date, microseconds when it is a Timestamp.
    Offset(i64),
}

impl WindowFrame {
    /// The whole partition.
    pub(crate) const PARTITION: WindowFrame =
        WindowFrame { in_rows: true, start: FrameBound::Unbounded, end: FrameBound::Unbounded };
}

/// How the rows of two relations are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// Pairs, and rows of the left that have no partner, with nulls.
    Left,
    /// Pairs, and rows of either side that have no partner, with nulls.
    Full,
    /// Rows of the left that have a partner; columns of the left.
    Semi,
    /// Rows of the left that have no partner; columns of the left.
    Anti,
}

/// A relation: rows with columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// The rows of a dataset, with some of its columns.
    Scan {
        /// Its name.
        table: String,
        /// Columns of the file, by name, and their ids.
        columns: Vec<(String, ColumnId)>,
    },
    /// The rows of a dataset, with some of its columns, and the place of each row.
    Numbered {
        /// Its name.
        table: String,
        /// Columns of the file, by name, and their ids.
        columns: Vec<(String, ColumnId)>,
        /// The new column: which row of the dataset it is, from 0, as Int.
        place: ColumnId,
    },
    /// Rows of literals, each as long as `columns`.
    Values {
        /// The columns with their types.
        columns: Vec<(ColumnId, Type)>,
        /// The rows.
        rows: Vec<Vec<Scalar>>,
    },
    /// Rows where the predicate is true.
    Filter {
        /// Input.
        input: Box<Plan>,
        /// Of type Bool.
        predicate: Expr,
    },
    /// The input with further columns.
    Extend {
        /// Input.
        input: Box<Plan>,
        /// New columns, which cannot use each other.
        columns: Vec<(ColumnId, Expr)>,
    },
    /// Only these columns, of which there is at least one.
    Select {
        /// Input.
        input: Box<Plan>,
        /// Output columns.
        columns: Vec<(ColumnId, Expr)>,
    },
    /// One row a group; exactly one row without keys. The columns are the keys and the aggregates.
    Aggregate {
        /// Input.
        input: Box<Plan>,
        /// Columns that are equal in the rows of a group; null equals null.
        keys: Vec<ColumnId>,
        /// New columns.
        aggregates: Vec<(ColumnId, Aggregate)>,
    },
    /// The input with further columns; its order is not kept.
    Windows {
        /// Input.
        input: Box<Plan>,
        /// New columns.
        windows: Vec<(ColumnId, Window)>,
    },
    /// The combination of two relations. Without `equal`, every row of the left meets every row of the
    /// right, and the kind is Inner.
    Join {
        /// Left.
        left: Box<Plan>,
        /// Right.
        right: Box<Plan>,
        /// How.
        kind: JoinKind,
        /// Pairs of columns of the same type, left and right, which are equal in partners. All columns of
        /// both sides remain.
        equal: Vec<(ColumnId, ColumnId)>,
        /// Whether null equals null.
        nulls_equal: bool,
    },
    /// The rows of all inputs, one after another. Column k of the output is column k of each input.
    Union {
        /// Each input with its columns in the order of the output.
        inputs: Vec<(Plan, Vec<ColumnId>)>,
        /// Output columns.
        columns: Vec<ColumnId>,
    },
    /// The first of the rows that are equal in these columns; null equals null.
    Distinct {
        /// Input.
        input: Box<Plan>,
        /// The columns.
        on: Vec<ColumnId>,
    },
    /// Sorted rows; equal ones stay in order.
    Sort {
        /// Input.
        input: Box<Plan>,
        /// At least one key.
        keys: Vec<SortKey>,
    },
    /// A range of the rows.
    Limit {
        /// Input.
        input: Box<Plan>,
        /// Rows to skip.
        offset: u64,
        /// Rows to return at most.
        count: Option<u64>,
    },
    /// The only row; a row of nulls when there is none. Several rows fail the query.
    Single {
        /// Input.
        input: Box<Plan>,
    },
}

impl Plan {
    /// Returns the relations that this one is made of.
    pub fn inputs(&self) -> Vec<&Plan> {
        match self {
            Plan::Scan { .. } | Plan::Numbered { .. } | Plan::Values { .. } => Vec::new(),
            Plan::Filter { input, .. }
            | Plan::Extend { input, .. }
            | Plan::Select { input, .. }
            | Plan::Aggregate { input, .. }
            | Plan::Windows { input, .. }
            | Plan::Distinct { input, .. }
            | Plan::Sort { input, .. }
            | Plan::Limit { input, .. }
            | Plan::Single { input } => vec![input],
            Plan::Join { left, right, .. } => vec![left, right],
            Plan::Union { inputs, .. } => inputs.iter().map(|it| &it.0).collect(),
        }
    }

    /// Returns the same relations, to change them.
    pub(crate) fn inputs_mut(&mut self) -> Vec<&mut Plan> {
        match self {
            Plan::Scan { .. } | Plan::Numbered { .. } | Plan::Values { .. } => Vec::new(),
            Plan::Filter { input, .. }
            | Plan::Extend { input, .. }
            | Plan::Select { input, .. }
            | Plan::Aggregate { input, .. }
            | Plan::Windows { input, .. }
            | Plan::Distinct { input, .. }
            | Plan::Sort { input, .. }
            | Plan::Limit { input, .. }
            | Plan::Single { input } => vec![input],
            Plan::Join { left, right, .. } => vec![left, right],
            Plan::Union { inputs, .. } => inputs.iter_mut().map(|it| &mut it.0).collect(),
        }
    }
}

/// A whole query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// The rows.
    pub plan: Plan,
    /// The columns of the result, in order, with unique names.
    pub output: Vec<OutputColumn>,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputColumn {
    /// The column of the plan.
    pub column: ColumnId,
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub dtype: Type,
}
