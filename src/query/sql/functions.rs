//! Functions of one row, by their names.

mod dates;
mod numbers;
mod texts;

use sqlparser::ast::{
    DataType, DuplicateTreatment, ExactNumberInfo, Expr as Ast, Function as AstFunction,
    FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, OrderByExpr, Value,
};

use sqlparser::parser::Parser;

use csv_agent_types::dataset_names::nearest;

use crate::plan::{DatePart, Expr, Function, Scalar, Type};

use super::binder::Binder;
use super::dialect::QueryDialect;
use super::env::Env;
use super::error::{Result, SqlError};
use super::expressions::unit_of;
use super::types::{self, Typed, agree, call, cast, convert};

/// Functions of one row and of groups: the names that a statement may use, for hints.
const NAMES: &[&str] = &[
    "abs", "ceil", "floor", "round", "trunc", "sqrt", "power", "exp", "ln", "log", "log2", "sign",
    "mod", "greatest", "least", "coalesce", "nullif", "ifnull", "if", "concat", "concat_ws",
    "lower", "upper", "length", "trim", "ltrim", "rtrim", "replace", "substring", "left", "right",
    "strpos", "starts_with", "ends_with", "contains", "regexp_matches", "regexp_replace",
    "regexp_extract", "split_part", "reverse", "repeat", "lpad", "rpad", "initcap", "date_trunc",
    "date_part", "date_diff", "date_add", "strftime", "strptime", "make_date", "last_day",
    "monthname", "dayname", "year", "quarter", "month", "week", "day", "hour", "minute", "second",
    "epoch", "now", "current_date", "age", "try_strptime", "count", "sum", "avg", "min", "max",
    "median", "mode", "stddev", "variance", "quantile_cont", "quantile_disc", "string_agg",
    "bool_and", "bool_or", "any_value", "arg_min", "arg_max", "corr",
];

/// Returns the arguments of a call that are expressions.
pub(crate) fn arguments(function: &AstFunction) -> Vec<Ast> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    let value = |it: &FunctionArg| match it {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    list.args.iter().filter_map(value).collect()
}

pub(crate) struct CallParts<'a> {
    /// The name in lower case.
    pub name: String,
    pub arguments: Vec<Ast>,
    /// Whether the argument is `*`, or there is none.
    pub is_star: bool,
    /// Whether equal arguments count once.
    pub distinct: bool,
    /// The order of the rows.
    pub order: Vec<OrderByExpr>,
    /// The separator of `group_concat`.
    pub separator: Option<String>,
    /// The call itself.
    pub function: &'a AstFunction,
}

impl<'a> CallParts<'a> {
    fn of(function: &'a AstFunction) -> Result<CallParts<'a>> {
        let name = function.name.to_string().trim_matches('"').to_lowercase();
        let name = name.rsplit('.').next().unwrap_or_default().to_owned();
        let mut parts = CallParts {
            name,
            arguments: arguments(function),
            is_star: false,
            distinct: false,
            order: function.within_group.clone(),
            separator: None,
            function,
        };
        if function.null_treatment.is_some() {
            return Err(SqlError::new("IGNORE NULLS and RESPECT NULLS are not supported"));
        }
        let list = match &function.args {
            FunctionArguments::List(list) => list,
            FunctionArguments::None => {
                parts.is_star = true;
                return Ok(parts);
            }
            FunctionArguments::Subquery(_) => {
                let message = format!("`{}` does not take a subquery", parts.name);
                return Err(SqlError::new(message).hint("put parentheses around it: f((select …))"));
            }
        };
        parts.distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        let is_star =
            |it: &FunctionArg| matches!(it, FunctionArg::Unnamed(FunctionArgExpr::Wildcard));
        parts.is_star = list.args.iter().all(is_star);
        if !parts.is_star && parts.arguments.len() != list.args.len() {
            return Err(SqlError::new(format!("an argument of `{}` is not supported", parts.name)));
        }
        for clause in &list.clauses {
            match clause {
                FunctionArgumentClause::OrderBy(order) => parts.order.clone_from(order),
                FunctionArgumentClause::Separator(value) => {
                    parts.separator = value.value.clone().into_string();
                }
                other => {
                    return Err(SqlError::new(format!("`{other}` is not supported in a call")));
                }
            }
        }
        Ok(parts)
    }
}

impl Binder<'_> {
    /// Binds a call: an aggregate, a window function, or a function of one row.
    pub(crate) fn function_call(&mut self, function: &AstFunction, env: &mut Env) -> Result<Typed> {
        let parts = CallParts::of(function)?;
        if function.over.is_some() {
            return self.window_call(&parts, env);
        }
        if let Some(composed) = composed_aggregate(&parts) {
            return self.expr(&composed, env);
        }
        if super::aggregates::is_aggregate(&parts.name) {
            return self.aggregate_call(&parts, env);
        }
        if super::windows::is_window(&parts.name) {
            let message = format!("`{}` needs OVER (…)", parts.name);
            return Err(
                SqlError::new(message).hint(format!("write {}(…) OVER (ORDER BY …)", parts.name))
            );
        }
        if parts.distinct || !parts.order.is_empty() || function.filter.is_some() {
            let message = format!("`{}` is not an aggregate", parts.name);
            return Err(SqlError::new(message));
        }
        match (parts.name.as_str(), &parts.arguments[..]) {
            // Only the unit tells what these mean.
            (
                "date_trunc" | "datetrunc" | "date_part" | "datepart" | "date_diff" | "datediff"
                | "date_add" | "dateadd",
                [first, ..],
            ) => {
                let unit = unit_text(first);
                let from = usize::from(unit.is_some());
                if parts.name.ends_with("add")
                    && let [_, interval] = &parts.arguments[..]
                {
                    let sum = Ast::BinaryOp {
                        left: Box::new(first.clone()),
                        op: sqlparser::ast::BinaryOperator::Plus,
                        right: Box::new(interval.clone()),
                    };
                    return self.expr(&sum, env);
                }
                let values = self.exprs(&parts.arguments[from..], env)?;
                let unit = unit.ok_or_else(|| {
                    SqlError::new(format!("`{}` begins with a unit in single quotes", parts.name))
                        .hint(format!("write {}('month', …)", parts.name))
                })?;
                self.date_function(&parts.name, &unit, values)
            }
            ("time_bucket", [Ast::Interval(width), value]) => {
                let (width, _) = self.interval_of(width, env)?;
                let value = self.expr(value, env)?;
                let value = moment(value, "time_bucket")?;
                self.time_bucket(width, value)
            }
            ("if" | "iff" | "iif", [condition, _, _]) => {
                let condition = self.condition(condition, env)?;
                let values = self.exprs(&parts.arguments[1..], env)?;
                let (values, dtype) = agree(values)?;
                let [yes, no] =
                    <[Expr; 2]>::try_from(values).map_err(|_| SqlError::new("two values"))?;
                let branches = vec![(condition, yes)];
                Ok(Typed::new(Expr::Case { branches, otherwise: Box::new(no) }, dtype))
            }
            // `round(x::numeric, 2)` rounds a decimal.
            ("round", [Ast::Cast { expr, data_type, .. }, ..]) if is_decimal(data_type) => {
                let mut values = vec![self.expr(expr, env)?];
                values.extend(self.exprs(&parts.arguments[1..], env)?);
                values[0] = cast(values[0].clone(), Type::Float, false)?;
                self.round(values, Function::RoundDecimal)
            }
            (name, arguments) => {
                let values = self.exprs(arguments, env)?;
                self.function(name, values)
            }
        }
    }

    fn date_function(&mut self, name: &str, unit: &str, mut values: Vec<Typed>) -> Result<Typed> {
        for value in &mut values {
            if matches!(value.literal(), Some(Scalar::Text(_))) {
                *value = cast(value.clone(), Type::Timestamp, false)?;
            }
        }
        let mut values = values.into_iter();
        match (name, values.next(), values.next(), values.next()) {
            ("date_part" | "datepart", Some(value), None, None) => self.date_part(unit, value),
            ("date_trunc" | "datetrunc", Some(value), None, None) => {
                let unit = unit_of(unit)?;
                let value = moment(value, name)?;
                Ok(call(Function::DateTruncate(unit), vec![value.expr], value.dtype))
            }
            ("date_diff" | "datediff", Some(start), Some(end), None) => {
                let unit = unit_of(unit)?;
                let (start, end) = (moment(start, name)?, moment(end, name)?);
                let (values, _) = agree(vec![start, end])?;
                Ok(call(Function::BoundariesBetween(unit), values, Type::Int))
            }
            ("date_add" | "dateadd", Some(number), Some(value), None) => {
                let value = moment(value, name)?;
                let number = convert(number, Type::Int)?;
                let times = |n| {
                    Expr::Call(Function::MultiplyInt, vec![number, Expr::Literal(Scalar::Int(n))])
                };
                let mut one = super::constants::Interval::default();
                if !one.add(1.0, unit) {
                    return unit_of(unit).map(|_| value);
                }
                let dtype = value.dtype;
                let function =
                    if one.months == 0 { Function::AddMicroseconds } else { Function::AddMonths };
                let amount = if one.months == 0 {
                    one.days * super::constants::DAY_MICROS + one.micros
                } else {
                    one.months
                };
                Ok(call(function, vec![value.expr, times(amount)], dtype))
            }
            _ => Err(SqlError::new(format!("wrong number of arguments for `{name}`"))),
        }
    }

    /// Returns a part of a date or time.
    pub(crate) fn date_part(&mut self, name: &str, value: Typed) -> Result<Typed> {
        let value = if matches!(value.literal(), Some(Scalar::Text(_))) {
            cast(value, Type::Timestamp, false)?
        } else {
            value
        };
        let lower = name.trim_matches('\'').to_lowercase();
        if let Some(found) = self.composed_part(&lower, &value)? {
            return Ok(found);
        }
        let part = match lower.strip_suffix('s').unwrap_or(&lower) {
            "year" | "yr" => DatePart::Year,
            "quarter" => DatePart::Quarter,
            "month" | "mon" => DatePart::Month,
            "week" | "isoweek" | "weekofyear" => DatePart::Week,
            "day" | "dayofmonth" => DatePart::Day,
            "dow" | "dayofweek" | "weekday" => DatePart::DayOfWeek,
            "isodow" => DatePart::IsoDayOfWeek,
            "doy" | "dayofyear" => DatePart::DayOfYear,
            "isoyear" => DatePart::IsoYear,
            "hour" => DatePart::Hour,
            "minute" => DatePart::Minute,
            "second" => DatePart::Second,
            "millisecond" => DatePart::Millisecond,
            "microsecond" => DatePart::Microsecond,
            "epoch" => DatePart::Epoch,
            _ => {
                return Err(SqlError::new(format!("`{name}` is not a part of a date")).hint(
                    "the parts are year, quarter, month, week, day, dow, isodow, doy, hour, minute, second, epoch",
                ));
            }
        };
        if value.dtype == Type::Duration && part == DatePart::Epoch {
            return Ok(call(Function::DurationSeconds, vec![value.expr], Type::Float));
        }
        let is_of_day = matches!(
            part,
            DatePart::Hour
                | DatePart::Minute
                | DatePart::Second
                | DatePart::Millisecond
                | DatePart::Microsecond
        );
        let value = match value.dtype {
            Type::Time if is_of_day => value,
            _ => moment(value, name)?,
        };
        let dtype = if part == DatePart::Epoch { Type::Float } else { Type::Int };
        Ok(call(Function::DatePart(part), vec![value.expr], dtype))
    }

    /// Returns the parts of a date that others are computed into.
    fn composed_part(&mut self, name: &str, value: &Typed) -> Result<Option<Typed>> {
        let int = |value| Expr::Literal(Scalar::Int(value));
        let of = |function, a: Expr, b: i64| Expr::Call(function, vec![a, int(b)]);
        let mut part = |name: &str| self.date_part(name, value.clone()).map(|it| it.expr);
        let expr = match name {
            "decade" | "decades" => of(Function::IntegerDivide, part("year")?, 10),
            "century" | "centuries" => {
                of(Function::IntegerDivide, of(Function::AddInt, part("year")?, 99), 100)
            }
            "millennium" | "millennia" => {
                of(Function::IntegerDivide, of(Function::AddInt, part("year")?, 999), 1_000)
            }
            "yearweek" => {
                let years = of(Function::MultiplyInt, part("isoyear")?, 100);
                Expr::Call(Function::AddInt, vec![years, part("week")?])
            }
            _ => return Ok(None),
        };
        Ok(Some(Typed::new(expr, Type::Int)))
    }

    /// Binds a function of one row by its name.
    pub(crate) fn function(&mut self, name: &str, values: Vec<Typed>) -> Result<Typed> {
        let n_values = values.len();
        if let Some(found) = self.number_function(name, values.clone())? {
            return Ok(found);
        }
        if let Some(found) = self.text_function(name, values.clone())? {
            return Ok(found);
        }
        if let Some(found) = self.date_function_of_one(name, values)? {
            return Ok(found);
        }
        let names = || NAMES.iter().chain(super::windows::NAMES).copied();
        if names().any(|it| it == name) {
            return Err(SqlError::new(format!(
                "wrong number of arguments for `{name}`: {n_values}"
            )));
        }
        let error = SqlError::unknown_name(format!("no function `{name}`"));
        let near = nearest(name, names()).filter(|near| is_typo(name, near));
        Err(match near {
            Some(near) => {
                error.hint(format!("did you mean `{near}`? `csv-agent help sql` lists all"))
            }
            None => error.hint("`csv-agent help sql` lists all"),
        })
    }

    fn round(&self, mut values: Vec<Typed>, function: Function) -> Result<Typed> {
        let digits = match values.len() {
            2 => values.swap_remove(1),
            _ => Typed::int(0),
        };
        constant(&digits, "round", "second")?;
        let value = values.swap_remove(0);
        let dtype = value.dtype;
        let digits_value = match digits.literal() {
            Some(Scalar::Int(digits)) => *digits,
            _ => return Err(SqlError::new("`round` takes a whole number of digits")),
        };
        if dtype == Type::Int && 0 <= digits_value {
            return Ok(value);
        }
        let arguments = vec![convert(value, Type::Float)?, digits.expr];
        let rounded = call(function, arguments, Type::Float);
        if dtype == Type::Int { cast(rounded, Type::Int, false) } else { Ok(rounded) }
    }

    fn modulo(&self, values: Vec<Typed>) -> Result<Typed> {
        let (values, dtype) = agree(values)?;
        match dtype {
            Type::Int => Ok(call(Function::ModuloInt, values, dtype)),
            Type::Float => Ok(call(Function::Modulo, values, dtype)),
            other => Err(types::takes_numbers("mod", other)),
        }
    }

    /// Binds `substring`, whose start counts from the end when it is negative.
    fn substring(&self, mut values: Vec<Typed>) -> Result<Typed> {
        /// More characters than any text has.
        const ALL: i64 = 1 << 40;
        let length = if values.len() == 3 { values.swap_remove(2) } else { Typed::int(ALL) };
        let start = values.swap_remove(1);
        let text = text_of(values.swap_remove(0), "substring")?;
        let length = convert(length, Type::Int)?;
        let start = match start.literal() {
            Some(Scalar::Int(number)) if *number < 0 => {
                let count = Expr::Call(Function::Length, vec![text.clone()]);
                let first = Expr::Literal(Scalar::Int(number + 1));
                Expr::Call(Function::AddInt, vec![count, first])
            }
            Some(_) => convert(start, Type::Int)?,
            None => {
                let start = convert(start, Type::Int)?;
                let zero = Expr::Literal(Scalar::Int(0));
                let is_negative = Expr::Call(Function::Less, vec![start.clone(), zero]);
                let count = Expr::Call(Function::Length, vec![text.clone()]);
                let one = Expr::Literal(Scalar::Int(1));
                let first = Expr::Call(Function::AddInt, vec![start.clone(), one]);
                let from_end = Expr::Call(Function::AddInt, vec![count, first]);
                Expr::Case { branches: vec![(is_negative, from_end)], otherwise: Box::new(start) }
            }
        };
        Ok(call(Function::Substring, vec![text, start, length], Type::Text))
    }
}

/// Returns what an aggregate of pairs is composed of: `regr_slope(y, x)` and `regr_intercept(y, x)`.
fn composed_aggregate(parts: &CallParts<'_>) -> Option<Ast> {
    let [y, x] = &parts.arguments[..] else { return None };
    let slope =
        format!("(covar_pop({y}, {x}) / var_pop(case when ({y}) is not null then ({x}) end))");
    let text = match parts.name.as_str() {
        "regr_slope" => slope,
        "regr_intercept" => format!(
            "(avg(case when ({x}) is not null then ({y}) end) \
             - {slope} * avg(case when ({y}) is not null then ({x}) end))"
        ),
        _ => return None,
    };
    Parser::new(&QueryDialect).try_with_sql(&text).ok()?.parse_expr().ok()
}

/// Returns whether a type is a decimal without a number of places.
fn is_decimal(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Decimal(ExactNumberInfo::None)
            | DataType::Numeric(ExactNumberInfo::None)
            | DataType::Dec(ExactNumberInfo::None)
    )
}

/// Returns the unit in a call such as `date_trunc('month', …)`.
fn unit_text(ast: &Ast) -> Option<String> {
    match ast {
        Ast::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        // `datediff(month, a, b)`
        Ast::Identifier(name) if unit_of(&name.value).is_ok() => Some(name.value.clone()),
        _ => None,
    }
}

/// Converts a date to a timestamp; other moments stay.
fn moment(value: Typed, name: &str) -> Result<Typed> {
    match value.dtype {
        Type::Timestamp | Type::Instant => Ok(value),
        Type::Date => cast(value, Type::Timestamp, false),
        Type::Null => Ok(Typed::new(convert(value, Type::Timestamp)?, Type::Timestamp)),
        Type::Text if value.literal().is_some() => cast(value, Type::Timestamp, false),
        other => {
            Err(SqlError::new(format!("`{name}` takes a date or time, not {}", types::name(other)))
                .hint("write cast(… as date), or strptime(…, '%d/%m/%Y') for other forms"))
        }
    }
}

fn text_of(value: Typed, name: &str) -> Result<Expr> {
    match value.dtype {
        Type::Text | Type::Null => convert(value, Type::Text),
        other => Err(SqlError::new(format!("`{name}` takes text, not {}", types::name(other)))
            .hint("write cast(… as text)")),
    }
}

fn constant(value: &Typed, name: &str, which: &str) -> Result<()> {
    match value.literal() {
        Some(Scalar::Int(_) | Scalar::Text(_)) => Ok(()),
        _ => Err(SqlError::new(format!("the {which} argument of `{name}` has to be a constant"))),
    }
}

/// Returns the text of an argument that has to be a constant.
pub(crate) fn constant_text(value: &Typed, name: &str, which: &str) -> Result<String> {
    match value.literal() {
        Some(Scalar::Text(text)) => Ok(text.clone()),
        _ => Err(SqlError::new(format!(
            "the {which} argument of `{name}` must be text in single quotes"
        ))),
    }
}

/// Applies the options of a regular expression. Returns whether `g` is one of them.
fn with_options(pattern: &str, options: &str) -> Result<(String, bool)> {
    let mut flags = String::new();
    let mut is_global = false;
    for option in options.chars() {
        match option {
            'g' => is_global = true,
            'i' | 's' | 'm' => flags.push(option),
            'c' => {}
            other => {
                return Err(SqlError::new(format!(
                    "`{other}` is not an option of regular expressions"
                ))
                .hint("the options are g, i, s, m"));
            }
        }
    }
    let pattern =
        if flags.is_empty() { pattern.to_owned() } else { format!("(?{flags}){pattern}") };
    Ok((pattern, is_global))
}
/// Returns whether a name is another one with typos: `date_sub` is not `date_add`, since `sub` is another word.
fn is_typo(name: &str, other: &str) -> bool {
    let (words, others) = (name.split('_'), other.split('_'));
    words.clone().count() != others.clone().count()
        || words.zip(others).all(|(word, other)| nearest(word, [other].into_iter()).is_some())
}
