//! Fragments: what phrases mean while a question is put together.

use jiff::civil::{Date, Time};

use crate::lexicon::{Concept, TimeUnit};
use crate::link::Held;
use crate::query::{
    Agg, Chart, GroupKey, LogicalForm, Look, Measure, Op, Over, Place, Shape, Side, SortOrder, Test,
};

/// What a phrase means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sem {
    /// Nothing by itself.
    None,
    Word(Concept),
    Column(Place),
    Held(Held),
    /// Values of which one is enough.
    Several(Vec<Held>),
    Table(usize),
    Number(f64),
    /// An amount, and the stem of its unit.
    Amount(f64, Option<String>),
    Period(Date, Date, TimeUnit),
    Clock(Time),
    Unit(TimeUnit),
    Text(String),
    Op(Op),
    Aggs(Vec<Agg>),
    /// A column of which an adjective speaks, and whether its superlative is the least.
    Adjective(Place, bool),
    Order(SortOrder),
    /// A part of the rows that is compared with another.
    Side(Side),
    Frag(Box<Frag>),
    Query(Box<LogicalForm>),
}

/// A part of a question.
#[expect(clippy::struct_excessive_bools, reason = "each is said or not, whatever else is")]
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Frag {
    pub measures: Vec<Measure>,
    pub tests: Vec<Test>,
    pub keys: Vec<GroupKey>,
    /// Columns of which nothing is said.
    pub columns: Vec<Place>,
    /// Whether rows are named as such.
    pub has_rows: bool,
    /// The stem of the noun for rows.
    pub noun: Option<String>,
    pub order: Option<SortOrder>,
    /// Whether all are wanted, in this order.
    pub is_sorted: bool,
    /// What is ordered by.
    pub by: Option<Place>,
    /// Whether an adjective says what is ordered by.
    pub is_spoken: bool,
    pub chart: Option<Chart>,
    pub look: Look,
    pub over: Option<Over>,
    pub then: Option<Agg>,
    /// Of what one is asked for: `which region`.
    pub target: Option<AskedFor>,
    pub is_list: bool,
    pub having: Option<(Op, f64)>,
    /// Whether it goes along time, without a unit.
    pub is_trend: bool,
    pub first: Option<i64>,
    pub body: Option<Shape>,
    /// Columns of which several values were said, joined by `and`: they may be groups.
    pub sides: Vec<GroupKey>,
    /// Whether a comparison is asked for.
    pub compares: bool,
    /// What is claimed of the rows that the tests find.
    pub claim: Option<Claim>,
    /// Both ends of a period, whose conditions are among the tests.
    pub ends: Option<Box<[Side; 2]>>,
    /// Whether it is told in percent.
    pub is_percent: bool,
    /// How many are wanted: `the 3 islands with`.
    pub n: Option<u32>,
    /// What is computed of numbers of which nothing is said.
    pub aggs: Vec<Agg>,
    /// Whether groups are told by a number: `by number of orders`.
    pub is_by_measure: bool,
    /// How many conditions are joined by `and`: of rows, both are said.
    pub n_joined: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AskedFor {
    Key(GroupKey),
    /// `who`
    Row,
    /// `when`
    Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// That there are rows.
    Any,
    /// That all rows are so.
    All,
    /// That no row is so.
    None,
    /// Something that yes or no answers.
    YesNo,
}

impl Frag {
    /// Puts two parts together. Nothing if they contradict each other.
    pub(crate) fn merge(&self, other: &Frag) -> Option<Frag> {
        #[expect(clippy::option_option, reason = "none if they contradict each other")]
        fn one<T: Copy + PartialEq>(a: Option<T>, b: Option<T>) -> Option<Option<T>> {
            match (a, b) {
                (Some(a), Some(b)) if a != b => None,
                (a, b) => Some(a.or(b)),
            }
        }
        if self.body.is_some() && other.body.is_some()
            || self.target.is_some() && other.target.is_some()
            || self.order.is_some() && other.order.is_some() && self.order != other.order
            || self.ends.is_some() && other.ends.is_some()
            || self.then.is_some() && other.then.is_some()
            || self.first.is_some() && other.first.is_some()
            || self.n.is_some() && other.n.is_some()
        {
            return None;
        }
        let is_same = |it: &Test| other.tests.contains(it);
        if self.tests.iter().any(is_same) {
            return None;
        }
        let look = self.look.with(other.look);
        // Of the same groups only panels are said beside: `by month and symbol, one panel per symbol`.
        let (twice, more): (Vec<_>, Vec<_>) =
            other.keys.iter().partition(|it| self.keys.contains(it));
        if twice.iter().any(|it| look.panel_key() != Some(*it)) {
            return None;
        }
        Some(Frag {
            measures: [self.measures.clone(), other.measures.clone()].concat(),
            tests: [self.tests.clone(), other.tests.clone()].concat(),
            keys: [self.keys.clone(), more].concat(),
            look,
            columns: [self.columns.clone(), other.columns.clone()].concat(),
            has_rows: self.has_rows || other.has_rows,
            noun: self.noun.clone().or(other.noun.clone()),
            is_sorted: self.is_sorted || other.is_sorted,
            order: self.order.or(other.order),
            by: one(self.by, other.by)?,
            is_spoken: self.is_spoken || other.is_spoken,
            chart: match (self.chart, other.chart) {
                (Some(Chart::Any), Some(chart)) | (Some(chart), Some(Chart::Any)) => Some(chart),
                // `100 % stacked bars`
                (Some(Chart::Bar | Chart::Column), Some(chart))
                | (Some(chart), Some(Chart::Bar | Chart::Column))
                    if matches!(chart, Chart::Stacked | Chart::Shares) =>
                {
                    Some(chart)
                }
                (a, b) => one(a, b)?,
            },
            over: match (self.over, other.over) {
                // `by how many percent did it change`
                (Some(Over::Growth), Some(Over::Change))
                | (Some(Over::Change), Some(Over::Growth)) => Some(Over::Growth),
                (a, b) => one(a, b)?,
            },
            then: self.then.clone().or(other.then.clone()),
            target: self.target.or(other.target),
            is_list: self.is_list || other.is_list,
            having: one(self.having, other.having)?,
            is_trend: self.is_trend || other.is_trend,
            first: self.first.or(other.first),
            body: self.body.clone().or(other.body.clone()),
            sides: [self.sides.clone(), other.sides.clone()].concat(),
            compares: self.compares || other.compares,
            claim: match (self.claim, other.claim) {
                (Some(Claim::YesNo), claim @ Some(_)) | (claim @ Some(_), Some(Claim::YesNo)) => {
                    claim
                }
                (a, b) => one(a, b)?,
            },
            ends: self.ends.clone().or(other.ends.clone()),
            is_percent: self.is_percent || other.is_percent,
            n: self.n.or(other.n),
            aggs: [self.aggs.clone(), other.aggs.clone()].concat(),
            is_by_measure: self.is_by_measure || other.is_by_measure,
            n_joined: self.n_joined + other.n_joined,
        })
    }
}
