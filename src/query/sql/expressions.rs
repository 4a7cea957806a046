//! Expressions.

use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, DateTimeField, Expr as Ast, Ident,
    Interval as AstInterval, TimezoneInfo, TrimWhereField, UnaryOperator, Value, ValueWithSpan,
};

use crate::plan::{ColumnId, DateUnit, Expr, Function, Scalar, Type};

use super::binder::Binder;
use super::constants::{self, DAY_MICROS, Interval};
use super::env::{Alias, Clause, Env};
use super::error::{Result, SqlError};
use super::scope::{Outer, find, hint_of_points, is_same, unknown};
use super::types::{self, Typed, agree, call, cast, convert};

impl Binder<'_> {
    /// Binds an expression. Fails with the place of what cannot be bound.
    pub(crate) fn expr(&mut self, ast: &Ast, env: &mut Env) -> Result<Typed> {
        self.descend().map_err(|it| it.at(ast))?;
        let bound = self.expr_here(ast, env).map_err(|it| it.at(ast));
        self.n_levels -= 1;
        bound
    }

    /// Binds a condition. Fails when it is not one.
    pub(crate) fn condition(&mut self, ast: &Ast, env: &mut Env) -> Result<Expr> {
        let value = self.expr(ast, env)?;
        match value.dtype {
            Type::Bool | Type::Null => convert(value, Type::Bool),
            // As a condition, a number is whether it is not 0.
            Type::Int => Ok(cast(value, Type::Bool, false)?.expr),
            other => Err(SqlError::new(format!(
                "a condition must be true or false, but this is a {}",
                types::name(other)
            ))
            .at(ast)),
        }
    }

    /// Binds expressions.
    pub(crate) fn exprs(&mut self, asts: &[Ast], env: &mut Env) -> Result<Vec<Typed>> {
        asts.iter().map(|it| self.expr(it, env)).collect()
    }

    #[expect(clippy::too_many_lines, reason = "a table of the kinds of expressions")]
    fn expr_here(&mut self, ast: &Ast, env: &mut Env) -> Result<Typed> {
        match ast {
            Ast::Identifier(name) => self.name(None, name, env),
            Ast::CompoundIdentifier(parts) => {
                let found = match &parts[..] {
                    [table, name] | [_, table, name] => self.name(Some(table), name, env),
                    _ => Err(SqlError::unknown_name(format!("no column `{ast}`")).at(ast)),
                };
                found.map_err(|error| match hint_of_points(&env.scope, parts) {
                    Some(hint) => {
                        SqlError::unknown_name(format!("no column `{ast}`")).at(ast).hint(hint)
                    }
                    None => error,
                })
            }
            Ast::Value(value) => self.value_of(value),
            Ast::Nested(inner) => self.expr(inner, env),
            Ast::TypedString(text) => {
                let dtype = type_of(&text.data_type)?;
                let value = text.value.clone().value.into_string();
                let value = value.ok_or_else(|| SqlError::new("a text is missing"))?;
                cast(Typed::text(value), dtype, false)
            }
            Ast::Cast { kind, expr, data_type, .. } => {
                let value = self.expr(expr, env)?;
                let is_try = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
                self.cast_to(value, data_type, is_try)
            }
            Ast::UnaryOp { op, expr } => self.unary(*op, expr, env),
            Ast::BinaryOp { left, op, right } => self.binary(left, op, right, env),
            Ast::IsNull(inner) | Ast::IsUnknown(inner) => Ok(is_null(self.expr(inner, env)?)),
            Ast::IsNotNull(inner) | Ast::IsNotUnknown(inner) => {
                Ok(not(is_null(self.expr(inner, env)?)))
            }
            Ast::IsTrue(inner) => self.is_truth(inner, true, env),
            Ast::IsNotTrue(inner) => self.is_truth(inner, true, env).map(not),
            Ast::IsFalse(inner) => self.is_truth(inner, false, env),
            Ast::IsNotFalse(inner) => self.is_truth(inner, false, env).map(not),
            Ast::IsDistinctFrom(a, b) => self.compare(Function::IsNotDistinct, a, b, env).map(not),
            Ast::IsNotDistinctFrom(a, b) => self.compare(Function::IsNotDistinct, a, b, env),
            Ast::Between { expr, negated, low, high } => {
                let low = self.compare(Function::GreaterEqual, expr, low, env)?;
                let high = self.compare(Function::LessEqual, expr, high, env)?;
                let both = call(Function::And, vec![low.expr, high.expr], Type::Bool);
                Ok(if *negated { not(both) } else { both })
            }
            Ast::InList { expr, list, negated } => {
                let found = self.in_list(expr, list, env)?;
                Ok(if *negated { not(found) } else { found })
            }
            Ast::InSubquery { expr, subquery, negated } => {
                self.in_subquery(expr, subquery, *negated, env)
            }
            Ast::Exists { subquery, negated } => self.exists(subquery, *negated, env),
            Ast::Subquery(query) => self.scalar_subquery(query, env),
            Ast::AnyOp { left, compare_op, right, .. } => match (&**right, compare_op) {
                (Ast::Subquery(query), BinaryOperator::Eq) => {
                    self.in_subquery(left, query, false, env)
                }
                (Ast::Subquery(query), _) => self.any_of(left, compare_op, query, env),
                _ => Err(SqlError::new("ANY takes a subquery").hint("use IN (…)")),
            },
            Ast::AllOp { left, compare_op, right } => match (&**right, compare_op) {
                (Ast::Subquery(query), BinaryOperator::NotEq) => {
                    self.in_subquery(left, query, true, env)
                }
                // What holds for all is what has no exception.
                (Ast::Subquery(query), _) => match opposite(compare_op) {
                    Some(opposite) => self.any_of(left, &opposite, query, env).map(not),
                    None => Err(SqlError::new(format!("`{compare_op} ALL` is not supported"))),
                },
                _ => Err(SqlError::new("ALL takes a subquery").hint("use NOT IN (…)")),
            },
            Ast::Like { negated, any: false, expr, pattern, escape_char } => {
                let found = self.like(expr, pattern, escape_char.as_ref(), false, env)?;
                Ok(if *negated { not(found) } else { found })
            }
            Ast::ILike { negated, any: false, expr, pattern, escape_char } => {
                let found = self.like(expr, pattern, escape_char.as_ref(), true, env)?;
                Ok(if *negated { not(found) } else { found })
            }
            Ast::SimilarTo { negated, expr, pattern, escape_char: None } => {
                let text = self.text(expr, env)?;
                let pattern = self.constant_text(pattern, "the pattern of SIMILAR TO", env)?;
                let found = regex_match(text, format!("^(?:{pattern})$"));
                Ok(if *negated { not(found) } else { found })
            }
            Ast::RLike { negated, expr, pattern, .. } => {
                let text = self.text(expr, env)?;
                let pattern = self.constant_text(pattern, "the pattern", env)?;
                let found = regex_match(text, pattern);
                Ok(if *negated { not(found) } else { found })
            }
            Ast::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), env)
            }
            Ast::Extract { field, expr, .. } => {
                let value = self.expr(expr, env)?;
                self.date_part(&field.to_string(), value)
            }
            Ast::Ceil {
                expr,
                field: sqlparser::ast::CeilFloorKind::DateTimeField(DateTimeField::NoDateTime),
            } => {
                let value = self.expr(expr, env)?;
                self.function("ceil", vec![value])
            }
            Ast::Floor {
                expr,
                field: sqlparser::ast::CeilFloorKind::DateTimeField(DateTimeField::NoDateTime),
            } => {
                let value = self.expr(expr, env)?;
                self.function("floor", vec![value])
            }
            Ast::Position { expr, r#in } => {
                let (part, whole) = (self.text(expr, env)?, self.text(r#in, env)?);
                Ok(call(Function::Position, vec![whole, part], Type::Int))
            }
            Ast::Substring { expr, substring_from, substring_for, .. } => {
                let mut values = vec![self.expr(expr, env)?];
                match substring_from {
                    Some(from) => values.push(self.expr(from, env)?),
                    None => values.push(Typed::int(1)),
                }
                if let Some(length) = substring_for {
                    values.push(self.expr(length, env)?);
                }
                self.function("substring", values)
            }
            Ast::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    None | Some(TrimWhereField::Both) => "trim",
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                };
                let mut values = vec![self.expr(expr, env)?];
                let what =
                    trim_what.as_deref().or(trim_characters.as_ref().and_then(|it| it.first()));
                if let Some(what) = what {
                    values.push(self.expr(what, env)?);
                }
                self.function(name, values)
            }
            Ast::Function(function) => self.function_call(function, env),
            Ast::Interval(interval) => match self.interval_of(interval, env)? {
                (Interval { months: 0, days, micros }, None) => {
                    let micros = days.checked_mul(DAY_MICROS).and_then(|it| it.checked_add(micros));
                    let micros = micros.ok_or_else(|| SqlError::new("the interval is too long"))?;
                    Ok(Typed::new(Expr::Literal(Scalar::Duration(micros)), Type::Duration))
                }
                _ => Err(SqlError::new(
                    "an interval of months can only be added to or subtracted from a date",
                )),
            },
            Ast::Tuple(_) => {
                Err(SqlError::new("rows in parentheses can be compared only with IN and =")
                    .hint("compare each value: a = 1 AND b = 2"))
            }
            Ast::AtTimeZone { .. } => Err(SqlError::new("time zones are not supported")
                .hint("instants are in UTC; add or subtract an interval")),
            Ast::Collate { .. } => {
                Err(SqlError::new("COLLATE is not supported").hint("use lower(…)"))
            }
            Ast::Array(_) | Ast::Struct { .. } | Ast::Map(_) | Ast::Dictionary(_) => {
                Err(SqlError::new("lists, structs and maps are not supported"))
            }
            other => Err(SqlError::new(format!("`{other}` is not supported"))),
        }
    }

    fn name(&mut self, table: Option<&Ident>, name: &Ident, env: &mut Env) -> Result<Typed> {
        if env.prefers_aliases
            && !env.in_aggregate
            && let Some(bound) = self.alias(table, name, env)
        {
            return bound;
        }
        if let Some(id) = find(&env.scope, table, name)? {
            return Ok(self.value(id));
        }
        if let Some(bound) = self.alias(table, name, env) {
            return bound;
        }
        if let Some(outer) = env.outer.clone()
            && let Some(id) = find(&outer.scope, table, name)?
        {
            if env.clause == Clause::On {
                let message =
                    format!("a join condition cannot use `{name}` from outside the subquery");
                return Err(SqlError::new(message).at_name(name).hint("use it in WHERE"));
            }
            return Ok(self.outer_column(&outer, id));
        }
        let is_word = table.is_none() && name.quote_style.is_none();
        match name.value.to_lowercase().as_str() {
            word @ ("current_date" | "current_timestamp" | "today" | "localtimestamp" | "now")
                if is_word =>
            {
                self.function(word, Vec::new())
            }
            _ => Err(unknown(&env.scope, table, name)),
        }
    }

    /// Binds what a name of SELECT stands for.
    fn alias(
        &mut self,
        table: Option<&Ident>,
        name: &Ident,
        env: &mut Env,
    ) -> Option<Result<Typed>> {
        let is_meant = |it: &Alias| table.is_none() && is_same(&it.name, &name.value);
        let at = env.aliases.iter().position(is_meant)?;
        // It cannot use itself or a later one.
        let later = env.aliases.split_off(at);
        let bound = self.expr(&later[0].expr.clone(), env);
        env.aliases.extend(later);
        Some(bound)
    }

    /// Returns the column that stands for a column from outside.
    fn outer_column(&mut self, outer: &Outer, id: ColumnId) -> Typed {
        let known = outer.keys.borrow().iter().find(|it| it.0 == id).map(|it| it.1);
        let inner = known.unwrap_or_else(|| {
            let inner = self.column(self.type_of(id));
            outer.keys.borrow_mut().push((id, inner));
            inner
        });
        self.value(inner)
    }

    fn value_of(&self, value: &ValueWithSpan) -> Result<Typed> {
        Ok(match &value.value {
            Value::Number(text, _) => number(text)?,
            Value::Boolean(value) => Typed::bool(*value),
            Value::Null => Typed::null(),
            Value::Placeholder(name) => {
                return Err(SqlError::new(format!(
                    "parameters such as `{name}` are not supported"
                )));
            }
            other => match other.clone().into_string() {
                Some(text) => Typed::text(text),
                None => return Err(SqlError::new(format!("`{other}` is not supported"))),
            },
        })
    }

    fn cast_to(&mut self, value: Typed, data_type: &DataType, is_try: bool) -> Result<Typed> {
        // A decimal with few digits rounds.
        if let DataType::Decimal(info) | DataType::Numeric(info) | DataType::Dec(info) = data_type
            && let sqlparser::ast::ExactNumberInfo::PrecisionAndScale(_, scale) = info
        {
            let value = cast(value, Type::Float, is_try)?;
            let digits = Expr::Literal(Scalar::Int(*scale));
            return Ok(call(Function::RoundDecimal, vec![value.expr, digits], Type::Float));
        }
        cast(value, type_of(data_type)?, is_try)
    }

    fn unary(&mut self, op: UnaryOperator, inner: &Ast, env: &mut Env) -> Result<Typed> {
        if op == UnaryOperator::Minus
            && let Ast::Value(ValueWithSpan { value: Value::Number(text, _), .. }) = inner
        {
            return number(&format!("-{text}"));
        }
        let value = self.expr(inner, env)?;
        match op {
            UnaryOperator::Not | UnaryOperator::BangNot => {
                Ok(not(Typed::new(convert(value, Type::Bool)?, Type::Bool)))
            }
            UnaryOperator::Plus => {
                self.numeric(&value, "+")?;
                Ok(value)
            }
            UnaryOperator::Minus => {
                self.numeric(&value, "-")?;
                let dtype = value.dtype;
                let function =
                    if dtype == Type::Float { Function::Negate } else { Function::NegateInt };
                Ok(call(function, vec![value.expr], dtype))
            }
            other => Err(SqlError::new(format!("the operator {other} is not supported"))),
        }
    }

    fn numeric(&self, value: &Typed, what: &str) -> Result<()> {
        match value.dtype {
            Type::Int | Type::Float | Type::Null => Ok(()),
            other => Err(types::takes_numbers(what, other)),
        }
    }

    fn binary(
        &mut self,
        left: &Ast,
        op: &BinaryOperator,
        right: &Ast,
        env: &mut Env,
    ) -> Result<Typed> {
        let comparison = match op {
            BinaryOperator::Eq => Some(Function::Equal),
            BinaryOperator::NotEq => Some(Function::NotEqual),
            BinaryOperator::Lt => Some(Function::Less),
            BinaryOperator::LtEq => Some(Function::LessEqual),
            BinaryOperator::Gt => Some(Function::Greater),
            BinaryOperator::GtEq => Some(Function::GreaterEqual),
            _ => None,
        };
        if let Some(function) = comparison {
            return self.compare(function, left, right, env);
        }
        match op {
            BinaryOperator::And => self.chain(Function::And, op, left, right, env),
            BinaryOperator::Or => self.chain(Function::Or, op, left, right, env),
            BinaryOperator::StringConcat => self.concat(left, right, env),
            BinaryOperator::Plus | BinaryOperator::Minus => self.plus(left, op, right, env),
            BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::DuckIntegerDivide
            | BinaryOperator::MyIntegerDivide => {
                let (a, b) = (self.expr(left, env)?, self.expr(right, env)?);
                self.arithmetic(op, a, b)
            }
            // DuckDB's and PostgreSQL's.
            BinaryOperator::PGExp | BinaryOperator::BitwiseXor => {
                let values = vec![self.expr(left, env)?, self.expr(right, env)?];
                self.function("power", values)
            }
            BinaryOperator::PGRegexMatch
            | BinaryOperator::PGRegexIMatch
            | BinaryOperator::PGRegexNotMatch
            | BinaryOperator::PGRegexNotIMatch => {
                let text = self.text(left, env)?;
                let pattern = self.constant_text(right, "the pattern", env)?;
                let ignores_case =
                    matches!(op, BinaryOperator::PGRegexIMatch | BinaryOperator::PGRegexNotIMatch);
                let found = regex_match(
                    text,
                    if ignores_case { format!("(?i){pattern}") } else { pattern },
                );
                let is_negated = matches!(
                    op,
                    BinaryOperator::PGRegexNotMatch | BinaryOperator::PGRegexNotIMatch
                );
                Ok(if is_negated { not(found) } else { found })
            }
            BinaryOperator::PGLikeMatch => self.like(left, right, None, false, env),
            BinaryOperator::PGNotLikeMatch => self.like(left, right, None, false, env).map(not),
            BinaryOperator::PGILikeMatch => self.like(left, right, None, true, env),
            BinaryOperator::PGNotILikeMatch => self.like(left, right, None, true, env).map(not),
            other => Err(SqlError::new(format!("the operator {other} is not supported"))),
        }
    }

    /// Binds a chain of one operator without a level for each: there may be thousands.
    fn chain(
        &mut self,
        function: Function,
        op: &BinaryOperator,
        left: &Ast,
        right: &Ast,
        env: &mut Env,
    ) -> Result<Typed> {
        let mut parts = vec![right];
        let mut rest = left;
        while let Ast::BinaryOp { left, op: inner, right } = rest
            && inner == op
        {
            parts.push(right);
            rest = left;
        }
        parts.push(rest);
        let mut arguments = Vec::new();
        for part in parts.into_iter().rev() {
            arguments.push(self.condition(part, env)?);
        }
        Ok(call(function, arguments, Type::Bool))
    }

    fn concat(&mut self, left: &Ast, right: &Ast, env: &mut Env) -> Result<Typed> {
        let mut parts = vec![right];
        let mut rest = left;
        while let Ast::BinaryOp { left, op: BinaryOperator::StringConcat, right } = rest {
            parts.push(right);
            rest = left;
        }
        parts.push(rest);
        let mut texts = Vec::new();
        for part in parts.into_iter().rev() {
            let value = self.expr(part, env)?;
            texts.push(cast(value, Type::Text, false)?.expr);
        }
        let literals: Option<Vec<&str>> = texts
            .iter()
            .map(|it| match it {
                Expr::Literal(Scalar::Text(text)) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        if let Some(literals) = literals {
            return Ok(Typed::text(literals.concat()));
        }
        Ok(call(Function::Concat, texts, Type::Text))
    }

    fn compare(
        &mut self,
        function: Function,
        left: &Ast,
        right: &Ast,
        env: &mut Env,
    ) -> Result<Typed> {
        if let (Ast::Tuple(a), Ast::Tuple(b)) = (left, right)
            && a.len() == b.len()
            && matches!(function, Function::Equal | Function::NotEqual)
        {
            let pairs = a.iter().zip(b);
            let equal = pairs.map(|(a, b)| Ok(self.compare(Function::Equal, a, b, env)?.expr));
            let all = call(Function::And, equal.collect::<Result<_>>()?, Type::Bool);
            return Ok(if function == Function::Equal { all } else { not(all) });
        }
        let values = vec![self.expr(left, env)?, self.expr(right, env)?];
        self.comparison(function, values)
    }

    fn comparison(&mut self, function: Function, mut values: Vec<Typed>) -> Result<Typed> {
        // `flag = 1` is common where truth values are digits.
        for at in 0..2 {
            if values[1 - at].dtype == Type::Bool
                && matches!(values[at].literal(), Some(Scalar::Int(0 | 1)))
            {
                values[at] = cast(values[at].clone(), Type::Bool, false)?;
            }
        }
        let (arguments, _) = agree(values)?;
        Ok(call(function, arguments, Type::Bool))
    }

    fn in_list(&mut self, expr: &Ast, list: &[Ast], env: &mut Env) -> Result<Typed> {
        if let Ast::Tuple(_) = expr {
            let each = list.iter().map(|it| Ok(self.compare(Function::Equal, expr, it, env)?.expr));
            return Ok(call(Function::Or, each.collect::<Result<_>>()?, Type::Bool));
        }
        let value = self.expr(expr, env)?;
        let mut values = vec![value];
        values.extend(self.exprs(list, env)?);
        let are_literals = values[1..].iter().all(|it| it.literal().is_some());
        let (arguments, _) = agree(values)?;
        if are_literals && arguments[1..].iter().all(|it| matches!(it, Expr::Literal(_))) {
            return Ok(call(Function::In, arguments, Type::Bool));
        }
        let (value, list) =
            arguments.split_first().ok_or_else(|| SqlError::new("IN without values"))?;
        let each =
            list.iter().map(|it| Expr::Call(Function::Equal, vec![value.clone(), it.clone()]));
        Ok(call(Function::Or, each.collect(), Type::Bool))
    }

    fn is_truth(&mut self, inner: &Ast, truth: bool, env: &mut Env) -> Result<Typed> {
        let value = self.condition(inner, env)?;
        let value = if truth { value } else { not(Typed::new(value, Type::Bool)).expr };
        Ok(call(Function::Coalesce, vec![value, Typed::bool(false).expr], Type::Bool))
    }

    fn case(
        &mut self,
        operand: Option<&Ast>,
        conditions: &[CaseWhen],
        otherwise: Option<&Ast>,
        env: &mut Env,
    ) -> Result<Typed> {
        let mut tests = Vec::new();
        let mut values = Vec::new();
        for branch in conditions {
            tests.push(match operand {
                None => self.condition(&branch.condition, env)?,
                Some(operand) => {
                    self.compare(Function::Equal, operand, &branch.condition, env)?.expr
                }
            });
            values.push(self.expr(&branch.result, env)?);
        }
        values.push(match otherwise {
            Some(otherwise) => self.expr(otherwise, env)?,
            None => Typed::null(),
        });
        let (mut values, dtype) = agree(values)?;
        let otherwise = values.pop().unwrap_or(Expr::Literal(Scalar::Null));
        let branches = tests.into_iter().zip(values).collect();
        Ok(Typed::new(Expr::Case { branches, otherwise: Box::new(otherwise) }, dtype))
    }

    /// Binds an expression of text.
    pub(crate) fn text(&mut self, ast: &Ast, env: &mut Env) -> Result<Expr> {
        let value = self.expr(ast, env)?;
        match value.dtype {
            Type::Text | Type::Null => convert(value, Type::Text),
            other => Err(SqlError::new(format!(
                "text is expected here, but this is a {}",
                types::name(other)
            ))
            .at(ast)
            .hint("write cast(… as text)")),
        }
    }

    fn constant_text(&mut self, ast: &Ast, what: &str, env: &mut Env) -> Result<String> {
        match self.expr(ast, env)?.literal() {
            Some(Scalar::Text(text)) => Ok(text.clone()),
            _ => Err(SqlError::new(format!("{what} must be text in single quotes")).at(ast)),
        }
    }

    fn like(
        &mut self,
        expr: &Ast,
        pattern: &Ast,
        escape: Option<&ValueWithSpan>,
        ignores_case: bool,
        env: &mut Env,
    ) -> Result<Typed> {
        let text = self.text(expr, env)?;
        let pattern = self.expr(pattern, env)?;
        let pattern = match pattern.literal() {
            Some(Scalar::Text(pattern)) => pattern.clone(),
            Some(Scalar::Null) => return Ok(Typed::new(types::null_of(Type::Bool), Type::Bool)),
            _ => {
                let message = "the pattern of LIKE must be text in single quotes";
                return Err(SqlError::new(message)
                    .hint("use contains(a, b), starts_with(a, b) or ends_with(a, b)"));
            }
        };
        let escape =
            escape.and_then(|it| it.value.clone().into_string()).and_then(|it| it.chars().next());
        Ok(like_of(text, &pattern, escape, ignores_case))
    }

    fn plus(
        &mut self,
        left: &Ast,
        op: &BinaryOperator,
        right: &Ast,
        env: &mut Env,
    ) -> Result<Typed> {
        let is_minus = *op == BinaryOperator::Minus;
        if let Some((interval, times)) = self.interval(right, env)? {
            let value = self.expr(left, env)?;
            let interval = if is_minus { interval.negated() } else { interval };
            return self.add_interval(value, interval, times.as_ref());
        }
        if !is_minus && let Some((interval, times)) = self.interval(left, env)? {
            let value = self.expr(right, env)?;
            return self.add_interval(value, interval, times.as_ref());
        }
        let (a, b) = (self.expr(left, env)?, self.expr(right, env)?);
        self.arithmetic(op, a, b)
    }

    fn arithmetic(&mut self, op: &BinaryOperator, a: Typed, b: Typed) -> Result<Typed> {
        use Type::{Date, Float, Instant, Int, Null, Timestamp};
        let is_minus = *op == BinaryOperator::Minus;
        let is_plus = *op == BinaryOperator::Plus;
        let (a, b) = literal_dates(a, b, is_minus)?;
        match (a.dtype, b.dtype) {
            (Date, Date) if is_minus => {
                return Ok(call(Function::DaysBetween, vec![a.expr, b.expr], Int));
            }
            (Date, Int) if is_minus => {
                let days = call(Function::NegateInt, vec![b.expr], Int);
                return Ok(call(Function::AddDays, vec![a.expr, days.expr], Date));
            }
            (Date, Int) if is_plus => {
                return Ok(call(Function::AddDays, vec![a.expr, b.expr], Date));
            }
            (Int, Date) if is_plus => {
                return Ok(call(Function::AddDays, vec![b.expr, a.expr], Date));
            }
            (Date | Timestamp | Instant, Date | Timestamp | Instant) if is_minus => {
                let (values, _) = agree(vec![a, b])?;
                return Ok(call(Function::TimeBetween, values, Type::Duration));
            }
            _ => {}
        }
        let name = op.to_string();
        let (values, dtype) = agree(vec![a, b])?;
        let dtype = match dtype {
            Int | Float => dtype,
            Null => Int,
            // Two literals of text.
            Type::Text if values.iter().all(|it| matches!(it, Expr::Literal(_))) => Float,
            other => {
                let error = types::takes_numbers(&name, other);
                let joins = other == Type::Text && is_plus;
                return Err(if joins { error.hint("use `||` to join texts") } else { error });
            }
        };
        let from = if matches!(op, BinaryOperator::Divide) { Float } else { dtype };
        let is_text = |it: &Expr| matches!(it, Expr::Literal(Scalar::Text(_)));
        let values = values.into_iter().map(|it| {
            let known = if is_text(&it) { Type::Text } else { dtype };
            convert(Typed::new(it, known), from)
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        let function = match (op, from) {
            (BinaryOperator::Plus, Float) => Function::Add,
            (BinaryOperator::Plus, _) => Function::AddInt,
            (BinaryOperator::Minus, Float) => Function::Subtract,
            (BinaryOperator::Minus, _) => Function::SubtractInt,
            (BinaryOperator::Multiply, Float) => Function::Multiply,
            (BinaryOperator::Multiply, _) => Function::MultiplyInt,
            (BinaryOperator::Modulo, Float) => Function::Modulo,
            (BinaryOperator::Modulo, _) => Function::ModuloInt,
            // Of floats, `//` is the same as `/`.
            (_, Float) => Function::Divide,
            (_, _) => Function::IntegerDivide,
        };
        if let Some(value) = folded(function, &values) {
            return Ok(Typed::int(value));
        }
        Ok(call(function, values, from))
    }

    /// Reads `interval '1 month'`, or a multiple of it.
    fn interval(&mut self, ast: &Ast, env: &mut Env) -> Result<Option<(Interval, Option<Expr>)>> {
        match ast {
            Ast::Nested(inner) => self.interval(inner, env),
            Ast::Interval(interval) => self.interval_of(interval, env).map(Some),
            Ast::BinaryOp { left, op: BinaryOperator::Multiply, right } => {
                let (interval, number) =
                    match (self.interval(left, env)?, self.interval(right, env)?) {
                        (Some((interval, None)), None) => (interval, right),
                        (None, Some((interval, None))) => (interval, left),
                        _ => return Ok(None),
                    };
                let times = self.expr(number, env)?;
                self.times(interval, times).map(Some)
            }
            Ast::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                let Some(unit) = name.strip_prefix("to_").filter(|it| it.ends_with('s')) else {
                    return Ok(None);
                };
                let mut interval = Interval::default();
                let arguments = super::functions::arguments(function);
                let ([number], true) = (&arguments[..], interval.add(1.0, unit)) else {
                    return Ok(None);
                };
                let times = self.expr(number, env)?;
                self.times(interval, times).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn interval_of(
        &mut self,
        interval: &AstInterval,
        env: &mut Env,
    ) -> Result<(Interval, Option<Expr>)> {
        let unit = interval.leading_field.as_ref().map(ToString::to_string);
        let value = self.expr(&interval.value, env)?;
        let text = match value.literal() {
            Some(Scalar::Text(text)) => text.clone(),
            Some(Scalar::Int(number)) => number.to_string(),
            Some(Scalar::Float(number)) => number.to_string(),
            _ => {
                let mut one = Interval::default();
                if value.dtype == Type::Int && unit.is_some_and(|unit| one.add(1.0, &unit)) {
                    return Ok((one, Some(value.expr)));
                }
                return Err(SqlError::new(
                    "the interval is not valid: write interval '1 month' or interval (n) month",
                ));
            }
        };
        let found = constants::interval(&text, unit.as_deref());
        let found = found.ok_or_else(|| {
            SqlError::new(format!("`{text}` is not an interval"))
                .hint("write interval '1 month', '3 days', '12 hours', '90 minutes'")
        })?;
        Ok((found, None))
    }

    fn times(&self, interval: Interval, times: Typed) -> Result<(Interval, Option<Expr>)> {
        match times.literal() {
            Some(Scalar::Int(n)) => Ok((
                Interval {
                    months: interval.months.saturating_mul(*n),
                    days: interval.days.saturating_mul(*n),
                    micros: interval.micros.saturating_mul(*n),
                },
                None,
            )),
            _ if times.dtype == Type::Int => Ok((interval, Some(times.expr))),
            _ => Err(SqlError::new("an interval can be multiplied only by a whole number")
                .hint("cast it: cast(x as bigint) * interval '1 day'")),
        }
    }

    /// Adds an interval to a date or time. The result is a timestamp, unless it was a time of day.
    fn add_interval(
        &mut self,
        value: Typed,
        interval: Interval,
        times: Option<&Expr>,
    ) -> Result<Typed> {
        let value = match value.dtype {
            Type::Date => cast(value, Type::Timestamp, false)?,
            Type::Null => Typed::new(convert(value, Type::Timestamp)?, Type::Timestamp),
            Type::Text if value.literal().is_some() => cast(value, Type::Timestamp, false)?,
            Type::Timestamp | Type::Instant | Type::Time => value,
            other => {
                let message = format!(
                    "an interval can be added to dates and times, not to {}",
                    types::name(other)
                );
                return Err(SqlError::new(message));
            }
        };
        let dtype = value.dtype;
        let mut result = value.expr;
        let multiple = |n: i64| {
            let factor = Expr::Literal(Scalar::Int(n));
            match times {
                None => factor,
                Some(times) => Expr::Call(Function::MultiplyInt, vec![times.clone(), factor]),
            }
        };
        if interval.months != 0 && dtype != Type::Time {
            result = Expr::Call(Function::AddMonths, vec![result, multiple(interval.months)]);
        }
        let micros =
            interval.days.checked_mul(DAY_MICROS).and_then(|it| it.checked_add(interval.micros));
        let micros = micros.ok_or_else(|| SqlError::new("the interval is too long"))?;
        if micros != 0 {
            result = match times {
                None => {
                    let micros = Expr::Literal(Scalar::Duration(micros));
                    Expr::Call(Function::AddDuration, vec![result, micros])
                }
                Some(_) => Expr::Call(Function::AddMicroseconds, vec![result, multiple(micros)]),
            };
        }
        Ok(Typed::new(result, dtype))
    }
}

/// Computes with whole numbers that are constants.
fn folded(function: Function, values: &[Expr]) -> Option<i64> {
    let [Expr::Literal(Scalar::Int(a)), Expr::Literal(Scalar::Int(b))] = values else {
        return None;
    };
    match function {
        Function::AddInt => a.checked_add(*b),
        Function::SubtractInt => a.checked_sub(*b),
        Function::MultiplyInt => a.checked_mul(*b),
        _ => None,
    }
}

/// Returns the comparison that is true where another is false.
fn opposite(op: &BinaryOperator) -> Option<BinaryOperator> {
    Some(match op {
        BinaryOperator::Lt => BinaryOperator::GtEq,
        BinaryOperator::LtEq => BinaryOperator::Gt,
        BinaryOperator::Gt => BinaryOperator::LtEq,
        BinaryOperator::GtEq => BinaryOperator::Lt,
        _ => return None,
    })
}

/// Reads literals of text beside a date in a difference.
fn literal_dates(a: Typed, b: Typed, is_minus: bool) -> Result<(Typed, Typed)> {
    let is_moment = |it: &Typed| matches!(it.dtype, Type::Date | Type::Timestamp | Type::Instant);
    let is_text = |it: &Typed| matches!(it.literal(), Some(Scalar::Text(_)));
    if is_minus && is_moment(&a) && is_text(&b) {
        let to = a.dtype;
        return Ok((a, cast(b, to, false)?));
    }
    if is_minus && is_text(&a) && is_moment(&b) {
        let to = b.dtype;
        return Ok((cast(a, to, false)?, b));
    }
    Ok((a, b))
}

/// Reads a number as SQL writes it.
fn number(text: &str) -> Result<Typed> {
    if let Ok(value) = text.parse::<i64>() {
        return Ok(Typed::int(value));
    }
    let text = text.replace('_', "");
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => {
            Ok(Typed::new(Expr::Literal(Scalar::Float(value)), Type::Float))
        }
        _ => Err(SqlError::new(format!("`{text}` is not a number"))),
    }
}

/// Returns the type that a name of SQL means. Fails for a type that datasets do not have.
pub(crate) fn type_of(data_type: &DataType) -> Result<Type> {
    Ok(match data_type {
        DataType::Boolean | DataType::Bool => Type::Bool,
        DataType::Timestamp(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => Type::Instant,
        DataType::Timestamp(..) | DataType::Datetime(_) => Type::Timestamp,
        DataType::Time(..) => Type::Time,
        DataType::Date | DataType::Date32 => Type::Date,
        _ => {
            let text = data_type.to_string().to_lowercase();
            let word = text.split(['(', ' ']).next().unwrap_or_default();
            match word {
                "int" | "integer" | "bigint" | "smallint" | "tinyint" | "int2" | "int4"
                | "int8" | "int16" | "int32" | "int64" | "hugeint" | "signed" | "unsigned"
                | "ubigint" | "uinteger" | "long" => Type::Int,
                "double" | "float" | "real" | "float4" | "float8" | "float32" | "float64"
                | "decimal" | "numeric" | "dec" => Type::Float,
                "text" | "varchar" | "char" | "character" | "string" | "nvarchar" | "bpchar"
                | "clob" => Type::Text,
                "timestamptz" => Type::Instant,
                _ => {
                    let message = format!("the type {data_type} is not supported");
                    return Err(SqlError::new(message).hint(
                        "the types are bigint, double, boolean, text, date, time, timestamp",
                    ));
                }
            }
        }
    })
}

/// Returns the unit of a name such as `month`.
pub(crate) fn unit_of(name: &str) -> Result<DateUnit> {
    let lower = name.trim_matches('\'').to_lowercase();
    Ok(match lower.strip_suffix('s').unwrap_or(&lower) {
        "decade" => DateUnit::Decade,
        "year" | "yr" | "y" => DateUnit::Year,
        "quarter" => DateUnit::Quarter,
        "month" | "mon" => DateUnit::Month,
        "week" | "isoweek" => DateUnit::Week,
        "day" | "d" => DateUnit::Day,
        "hour" | "h" | "hr" => DateUnit::Hour,
        "minute" | "min" | "m" => DateUnit::Minute,
        "second" | "sec" => DateUnit::Second,
        "millisecond" => DateUnit::Millisecond,
        "microsecond" => DateUnit::Microsecond,
        _ => {
            return Err(SqlError::new(format!("`{name}` is not a unit of time"))
                .hint("the units are year, quarter, month, week, day, hour, minute, second"));
        }
    })
}

pub(crate) fn is_null(value: Typed) -> Typed {
    call(Function::IsNull, vec![value.expr], Type::Bool)
}

/// Returns the opposite of a truth value.
pub(crate) fn not(value: Typed) -> Typed {
    call(Function::Not, vec![value.expr], Type::Bool)
}

/// Returns whether a regular expression matches somewhere in a text.
pub(crate) fn regex_match(text: Expr, pattern: String) -> Typed {
    call(Function::RegexMatch, vec![text, Typed::text(pattern).expr], Type::Bool)
}

/// Returns whether a text is like a pattern, by the cheapest way.
fn like_of(text: Expr, pattern: &str, escape: Option<char>, ignores_case: bool) -> Typed {
    let has_signs = |part: &str| part.contains(['%', '_']);
    let is_plain = escape.is_none() && !ignores_case;
    let with = |function, part: &str| {
        call(function, vec![text.clone(), Typed::text(part).expr], Type::Bool)
    };
    if is_plain && !has_signs(pattern) {
        return with(Function::Equal, pattern);
    }
    if is_plain && 1 < pattern.len() {
        let inner = &pattern[1..];
        match (pattern.strip_prefix('%'), pattern.strip_suffix('%')) {
            (Some(_), Some(_)) if !has_signs(&inner[..inner.len() - 1]) => {
                return with(Function::Contains, &inner[..inner.len() - 1]);
            }
            (Some(end), None) if !has_signs(end) => return with(Function::EndsWith, end),
            (None, Some(start)) if !has_signs(start) => return with(Function::StartsWith, start),
            _ => {}
        }
    }
    let mut regex = String::from(if ignores_case { "(?is)^" } else { "(?s)^" });
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            c if Some(c) == escape => {
                if let Some(next) = chars.next() {
                    regex += &escaped(next);
                }
            }
            '%' => regex += ".*",
            '_' => regex += ".",
            c => regex += &escaped(c),
        }
    }
    regex.push('$');
    regex_match(text, regex)
}

/// Returns a character as a regular expression for itself.
fn escaped(c: char) -> String {
    if r"\.+*?()|[]{}^$#&-~".contains(c) { format!("\\{c}") } else { c.to_string() }
}
