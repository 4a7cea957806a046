//! Columns that are kept back: tokens replace their values, so that a comparison with a constant is meaningless.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{AggregateFunction, ColumnId, Expr, Function, Plan, Scalar, WindowFunction};

use super::Prepared;

/// What a statement does with columns that are kept back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct KeptBackUse {
    /// The name of one that is compared with a constant.
    pub compared: Option<String>,
    /// The columns of the result that have tokens.
    pub output: BTreeSet<String>,
}

impl Prepared {
    /// Finds the uses of columns that are kept back. `is_kept_back` says it of a dataset and a column; tokens begin
    /// with `token`.
    pub fn kept_back_use(
        &self,
        token: &str,
        is_kept_back: impl Fn(&str, &str) -> bool,
    ) -> KeptBackUse {
        let mut lineage = Lineage {
            token,
            is_kept_back: &is_kept_back,
            tokens: BTreeMap::new(),
            constants: BTreeSet::new(),
            compared: None,
        };
        lineage.follow(&self.query.plan);
        let output = self.query.output.iter();
        let output = output.filter(|it| lineage.tokens.contains_key(&it.column));
        KeptBackUse {
            output: output.map(|it| it.name.clone()).collect(),
            compared: lineage.compared,
        }
    }
}

/// What is known of the columns of a plan.
struct Lineage<'a> {
    token: &'a str,
    is_kept_back: &'a dyn Fn(&str, &str) -> bool,
    /// Columns of tokens, each with the name that it has in the dataset.
    tokens: BTreeMap<ColumnId, String>,
    constants: BTreeSet<ColumnId>,
    compared: Option<String>,
}

impl Lineage<'_> {
    fn follow(&mut self, plan: &Plan) {
        plan.inputs().into_iter().for_each(|it| self.follow(it));
        match plan {
            Plan::Scan { table, columns } | Plan::Numbered { table, columns, .. } => {
                let kept_back = columns.iter().filter(|it| (self.is_kept_back)(table, &it.0));
                let kept_back: Vec<_> = kept_back.map(|it| (it.1, it.0.clone())).collect();
                self.tokens.extend(kept_back);
            }
            Plan::Values { columns, rows } => {
                for (at, (column, _)) in columns.iter().enumerate() {
                    if rows.iter().any(|row| self.is_value(&row[at])) {
                        self.constants.insert(*column);
                    }
                }
            }
            Plan::Filter { predicate, .. } => self.check(predicate),
            Plan::Extend { columns, .. } | Plan::Select { columns, .. } => {
                for (column, value) in columns {
                    self.check(value);
                    if let Some(name) = self.source(value) {
                        self.tokens.insert(*column, name);
                    } else if self.is_constant(value) {
                        self.constants.insert(*column);
                    }
                }
            }
            Plan::Aggregate { aggregates, .. } => {
                for (column, it) in aggregates {
                    self.inherit(*column, token_argument(&it.function, &it.arguments));
                }
            }
            Plan::Windows { windows, .. } => {
                for (column, it) in windows {
                    let from = match &it.function {
                        WindowFunction::Lag { column, .. }
                        | WindowFunction::First(column)
                        | WindowFunction::Last(column)
                        | WindowFunction::Nth(column, _) => Some(*column),
                        WindowFunction::Aggregate(it) => {
                            token_argument(&it.function, &it.arguments)
                        }
                        _ => None,
                    };
                    self.inherit(*column, from);
                }
            }
            Plan::Join { equal, .. } => {
                for (left, right) in equal {
                    self.compare(&[Expr::Column(*left), Expr::Column(*right)]);
                }
            }
            Plan::Union { inputs, columns } => {
                for (at, column) in columns.iter().enumerate() {
                    for (_, ids) in inputs {
                        self.inherit(*column, Some(ids[at]));
                    }
                }
            }
            Plan::Distinct { .. }
            | Plan::Sort { .. }
            | Plan::Limit { .. }
            | Plan::Single { .. } => {}
        }
    }

    /// A column has the values of another one.
    fn inherit(&mut self, column: ColumnId, from: Option<ColumnId>) {
        let Some(from) = from else { return };
        if let Some(name) = self.tokens.get(&from).cloned() {
            self.tokens.insert(column, name);
        }
        if self.constants.contains(&from) {
            self.constants.insert(column);
        }
    }

    /// Looks for comparisons in an expression.
    fn check(&mut self, expr: &Expr) {
        match expr {
            Expr::Column(_) | Expr::Literal(_) => {}
            Expr::Call(function, arguments) => {
                if compares(*function) {
                    self.compare(arguments);
                }
                for argument in arguments {
                    self.check(argument);
                }
            }
            Expr::Cast(cast) => self.check(&cast.input),
            Expr::Case { branches, otherwise } => {
                for (condition, value) in branches {
                    self.check(condition);
                    self.check(value);
                }
                self.check(otherwise);
            }
        }
    }

    fn compare(&mut self, sides: &[Expr]) {
        let column = sides.iter().find_map(|it| self.source(it));
        if self.compared.is_none() && sides.iter().any(|it| self.is_constant(it)) {
            self.compared = column;
        }
    }

    /// Returns the name of the column whose tokens an expression has, whole or in part.
    fn source(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Column(column) => self.tokens.get(column).cloned(),
            Expr::Call(function, arguments) if returns_text(*function) => {
                arguments.iter().find_map(|it| self.source(it))
            }
            Expr::Literal(_) | Expr::Call(..) => None,
            Expr::Cast(cast) => self.source(&cast.input),
            Expr::Case { branches, otherwise } => {
                let mut values = branches.iter().map(|it| &it.1).chain([&**otherwise]);
                values.find_map(|it| self.source(it))
            }
        }
    }

    fn is_constant(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Column(column) => self.constants.contains(column),
            Expr::Literal(value) => self.is_value(value),
            Expr::Call(_, arguments) => {
                !arguments.is_empty() && arguments.iter().all(|it| self.is_constant(it))
            }
            Expr::Cast(cast) => self.is_constant(&cast.input),
            Expr::Case { .. } => false,
        }
    }

    /// Returns whether a constant is a value, and not a token that a client has read.
    fn is_value(&self, value: &Scalar) -> bool {
        match value {
            Scalar::Null => false,
            Scalar::Text(text) => !text.contains(self.token),
            _ => true,
        }
    }
}

/// Returns the argument whose values an aggregate returns.
fn token_argument(function: &AggregateFunction, arguments: &[ColumnId]) -> Option<ColumnId> {
    use AggregateFunction::{Count, CountDistinctEstimate, CountRows};
    match function {
        CountRows | Count | CountDistinctEstimate => None,
        _ => arguments.first().copied(),
    }
}

fn compares(function: Function) -> bool {
    use Function::{
        Contains, EndsWith, Equal, Greater, GreaterEqual, In, IsNotDistinct, Less, LessEqual,
        NotEqual, Position, RegexMatch, StartsWith,
    };
    matches!(
        function,
        Equal
            | NotEqual
            | Less
            | LessEqual
            | Greater
            | GreaterEqual
            | IsNotDistinct
            | In
            | StartsWith
            | EndsWith
            | Contains
            | RegexMatch
            | Position
    )
}

/// Returns whether a function returns one of its arguments, or a text made of it.
fn returns_text(function: Function) -> bool {
    use Function::{
        Coalesce, Concat, ConcatSeparated, Greatest, InitialCapitals, Least, Left, Lower, PadEnd,
        PadStart, RegexExtract, RegexReplaceAll, RegexReplaceFirst, Repeat, Replace, Reverse,
        Right, SplitPart, Substring, Trim, TrimEnd, TrimStart, Upper,
    };
    matches!(
        function,
        Coalesce
            | Concat
            | ConcatSeparated
            | Greatest
            | InitialCapitals
            | Least
            | Left
            | Lower
            | PadEnd
            | PadStart
            | RegexExtract
            | RegexReplaceAll
            | RegexReplaceFirst
            | Repeat
            | Replace
            | Reverse
            | Right
            | SplitPart
            | Substring
            | Trim
            | TrimEnd
            | TrimStart
            | Upper
    )
}

#[cfg(test)]
mod tests {
    use crate::plan::Type;
    use crate::{TableSchema, prepare};

    #[track_caller]
    fn check(sql: &str, compared: Option<&str>, output: &[&str]) {
        let columns = [("id", Type::Int), ("note", Type::Text), ("city", Type::Text)];
        let columns = columns.map(|it| (it.0.to_owned(), it.1)).to_vec();
        let table = TableSchema { name: "t".to_owned(), columns };
        let prepared = prepare(sql, &[table], 0).unwrap();
        let found = prepared.kept_back_use("redacted_", |_, column| column == "note");
        let names: Vec<&str> = found.output.iter().map(String::as_str).collect();
        assert_eq!((found.compared.as_deref(), &names[..]), (compared, output), "{sql}");
    }

    #[test]
    fn a_comparison_with_a_constant_is_found_wherever_it_is() {
        for sql in [
            "select count(*) as n from t where note = 'rush'",
            "select count(*) as n from t where 'rush' <> note",
            "select count(*) as n from t where note in ('rush', 'slow')",
            "select count(*) as n from t where note like '%rush%'",
            "select count(*) as n from t where note ilike 'RUSH'",
            "select count(*) as n from t where lower(trim(note)) = lower('Rush')",
            "select count(*) as n from t where note between 'a' and 'b'",
            "select sum(case when note = 'rush' then 1 else 0 end) as n from t",
            "select sum(case note when 'rush' then 1 else 0 end) as n from t",
            "select count(*) filter (where contains(note, 'rush')) as n from t",
            "with x as (select note as m from t) select count(*) as n from x where m = 'rush'",
            "select count(*) as n from t where note in (select v from (values ('rush')) as x(v))",
            "select city from t group by city having min(note) = 'rush'",
        ] {
            check(sql, Some("note"), &[]);
        }
    }

    #[test]
    fn counting_grouping_and_tokens_themselves_are_no_such_comparison() {
        check("select note, count(*) as n from t group by note", None, &["note"]);
        check("select count(*) as n from t where note is not null", None, &[]);
        check("select id from t where note = 'redacted_3f9c'", None, &[]);
        check("select a.id from t a join t b on a.note = b.note where a.city = 'Oslo'", None, &[]);
        check("select upper(note) as u, max(id) as m from t group by 1", None, &["u"]);
        check("select city, lag(note) over (order by id) as before from t", None, &["before"]);
    }
}
