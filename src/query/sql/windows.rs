//! Window functions.

use sqlparser::ast::{
    Expr as Ast, Ident, NamedWindowExpr, WindowFrame as AstFrame, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};

use crate::plan::{Expr, FrameBound, Scalar, Type, WindowFrame, WindowFunction};

use super::binder::Binder;
use super::constants::{DAY_MICROS, Interval};
use super::env::{Clause, Env, OrderCall, WindowCall, WindowCallFunction};
use super::error::{Result, SqlError};
use super::functions::CallParts;
use super::scope::is_same;
use super::types::{Typed, agree};

/// The names of functions that only windows have.
pub(super) const NAMES: &[&str] = &[
    "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead",
    "first_value", "last_value", "nth_value",
];

/// Returns whether a function needs OVER.
pub(crate) fn is_window(name: &str) -> bool {
    NAMES.contains(&name)
}

/// A window as it is written.
#[derive(Default)]
struct Spec {
    partition: Vec<Ast>,
    order: Vec<sqlparser::ast::OrderByExpr>,
    frame: Option<AstFrame>,
}

impl Binder<'_> {
    /// Binds a call with OVER. Fails where window functions do not belong.
    pub(crate) fn window_call(&mut self, parts: &CallParts<'_>, env: &mut Env) -> Result<Typed> {
        if env.clause != Clause::Output || env.in_aggregate || env.in_window {
            let place = match (env.clause, env.in_aggregate || env.in_window) {
                (_, true) => "another function of rows",
                (Clause::Where, _) => "WHERE",
                (Clause::GroupBy, _) => "GROUP BY",
                _ => "this place",
            };
            let message = format!("`{}` with OVER cannot be in {place}", parts.name);
            return Err(
                SqlError::new(message).hint("use QUALIFY, or compute it in a subquery first")
            );
        }
        env.in_window = true;
        let bound = self.window(parts, env);
        env.in_window = false;
        let (window, dtype) = bound?;
        let known = env.windows.iter().find(|it| it.1 == window).map(|it| it.0);
        let id = known.unwrap_or_else(|| {
            let id = self.column(dtype);
            env.windows.push((id, window));
            id
        });
        Ok(Typed::new(Expr::Column(id), dtype))
    }

    fn window(&mut self, parts: &CallParts<'_>, env: &mut Env) -> Result<(WindowCall, Type)> {
        let mut spec = Spec::default();
        match &parts.function.over {
            Some(WindowType::NamedWindow(name)) => add_named(&mut spec, name, env, 0)?,
            Some(WindowType::WindowSpec(written)) => add(&mut spec, written, env, 0)?,
            None => {}
        }
        let partition = self.exprs(&spec.partition, env)?;
        let order = self.order_calls(&spec.order, env)?;
        let (function, dtype) = self.window_function(parts, env)?;
        let frame = match &spec.frame {
            Some(frame) => self.frame(frame, &order, env)?,
            None if order.is_empty() => WindowFrame::PARTITION,
            None => WindowFrame {
                in_rows: false,
                start: FrameBound::Unbounded,
                end: FrameBound::Offset(0),
            },
        };
        Ok((WindowCall { function, partition, order, frame }, dtype))
    }

    fn window_function(
        &mut self,
        parts: &CallParts<'_>,
        env: &mut Env,
    ) -> Result<(WindowCallFunction, Type)> {
        let name = parts.name.as_str();
        if super::aggregates::is_aggregate(name) {
            let (aggregate, dtype) = self.aggregate(parts, env)?;
            if !aggregate.order.is_empty() {
                let message = format!("`{name}` with OVER takes its order from OVER");
                return Err(SqlError::new(message));
            }
            return Ok((WindowCallFunction::Aggregate(aggregate), dtype));
        }
        if !is_window(name) {
            return Err(SqlError::new(format!(
                "`{name}` is neither a window function nor an aggregate"
            )));
        }
        let mut values = self.exprs(&parts.arguments, env)?;
        let position = |function, dtype| Ok((WindowCallFunction::Position(function), dtype));
        match (name, values.len()) {
            ("row_number", 0) => position(WindowFunction::RowNumber, Type::Int),
            ("rank", 0) => position(WindowFunction::Rank, Type::Int),
            ("dense_rank", 0) => position(WindowFunction::DenseRank, Type::Int),
            ("percent_rank", 0) => position(WindowFunction::PercentRank, Type::Float),
            ("cume_dist", 0) => position(WindowFunction::CumulativeDistribution, Type::Float),
            ("ntile", 1) => match values[0].literal() {
                Some(Scalar::Int(n)) if 0 < *n => position(WindowFunction::Buckets(*n), Type::Int),
                _ => Err(SqlError::new("`ntile` takes a whole number above 0")),
            },
            ("lag" | "lead", 1..=3) => {
                let default = (values.len() == 3).then(|| values.swap_remove(2));
                let offset = match values.get(1).map(Typed::literal) {
                    None => 1,
                    Some(Some(Scalar::Int(offset))) => *offset,
                    Some(_) => {
                        return Err(SqlError::new(format!(
                            "`{name}` takes a whole number of rows"
                        )));
                    }
                };
                let offset = if name == "lag" { offset } else { -offset };
                let value = values.swap_remove(0);
                let (value, default) = match default {
                    None => (value, None),
                    Some(default) => {
                        let (sides, dtype) = agree(vec![value, default])?;
                        let mut sides = sides.into_iter().map(|it| Typed::new(it, dtype));
                        let value = sides.next().unwrap_or_else(Typed::null);
                        (value, sides.next())
                    }
                };
                let dtype = value.dtype;
                Ok((WindowCallFunction::Lag(value, offset, default), dtype))
            }
            ("first_value" | "last_value", 1) => {
                let value = values.swap_remove(0);
                let dtype = value.dtype;
                let function = if name == "first_value" {
                    WindowCallFunction::First(value)
                } else {
                    WindowCallFunction::Last(value)
                };
                Ok((function, dtype))
            }
            ("nth_value", 2) => match values[1].literal() {
                Some(Scalar::Int(n)) if 0 < *n => {
                    let n = *n;
                    let value = values.swap_remove(0);
                    let dtype = value.dtype;
                    Ok((WindowCallFunction::Nth(value, n), dtype))
                }
                _ => Err(SqlError::new("`nth_value` takes a whole number above 0")),
            },
            (_, n) => Err(SqlError::new(format!("wrong number of arguments for `{name}`: {n}"))),
        }
    }

    fn frame(
        &mut self,
        frame: &AstFrame,
        order: &[OrderCall],
        env: &mut Env,
    ) -> Result<WindowFrame> {
        let in_rows = match frame.units {
            WindowFrameUnits::Rows => true,
            WindowFrameUnits::Range => false,
            WindowFrameUnits::Groups => {
                return Err(
                    SqlError::new("frames of GROUPS are not supported").hint("use ROWS or RANGE")
                );
            }
        };
        let key = order.first().map(|it| it.value.dtype);
        let mut bound = |bound: &WindowFrameBound, is_start: bool| -> Result<FrameBound> {
            let (amount, is_before) = match bound {
                WindowFrameBound::CurrentRow => return Ok(FrameBound::Offset(0)),
                WindowFrameBound::Preceding(amount) => (amount, true),
                WindowFrameBound::Following(amount) => (amount, false),
            };
            let Some(amount) = amount else {
                if is_before == is_start {
                    return Ok(FrameBound::Unbounded);
                }
                return Err(SqlError::new("the frame ends before it begins"));
            };
            let amount = self.frame_amount(amount, in_rows, key, env)?;
            Ok(FrameBound::Offset(if is_before { -amount } else { amount }))
        };
        let start = bound(&frame.start_bound, true)?;
        let end = match &frame.end_bound {
            Some(end) => bound(end, false)?,
            None => FrameBound::Offset(0),
        };
        let has_offset = |it| matches!(it, FrameBound::Offset(offset) if offset != 0);
        if !in_rows && (has_offset(start) || has_offset(end)) && order.len() != 1 {
            return Err(SqlError::new("RANGE with an offset needs one key in ORDER BY"));
        }
        Ok(WindowFrame { in_rows, start, end })
    }

    fn frame_amount(
        &mut self,
        amount: &Ast,
        in_rows: bool,
        key: Option<Type>,
        env: &mut Env,
    ) -> Result<i64> {
        if let Ast::Interval(interval) = amount {
            let (Interval { months, days, micros }, times) = self.interval_of(interval, env)?;
            let found = match (in_rows, key) {
                _ if months != 0 || times.is_some() => None,
                (false, Some(Type::Date)) if micros % DAY_MICROS == 0 => {
                    Some(days + micros / DAY_MICROS)
                }
                (false, Some(Type::Timestamp | Type::Instant | Type::Time)) => {
                    days.checked_mul(DAY_MICROS).and_then(|it| it.checked_add(micros))
                }
                _ => None,
            };
            return found.ok_or_else(|| {
                SqlError::new("this interval cannot bound the frame")
                    .at(amount)
                    .hint("use days, or hours and shorter with timestamps")
            });
        }
        let value = self.expr(amount, env)?;
        match value.literal() {
            Some(Scalar::Int(amount))
                if 0 <= *amount && (in_rows || matches!(key, Some(Type::Int | Type::Float))) =>
            {
                Ok(*amount)
            }
            _ => Err(SqlError::new(
                "a frame can be bounded by a whole number from 0, or by an interval if it is sorted by dates",
            )
            .at(amount)),
        }
    }
}

/// Adds what a named window says.
fn add_named(spec: &mut Spec, name: &Ident, env: &Env, level: usize) -> Result<()> {
    let found = env.windows_named.iter().find(|it| is_same(&it.0.value, &name.value));
    match found.map(|it| &it.1) {
        Some(NamedWindowExpr::WindowSpec(written)) if level < env.windows_named.len() => {
            add(spec, written, env, level + 1)
        }
        Some(NamedWindowExpr::NamedWindow(other)) if level < env.windows_named.len() => {
            add_named(spec, other, env, level + 1)
        }
        _ => Err(SqlError::unknown_name(format!("no window `{}`", name.value)).at_name(name)),
    }
}

fn add(spec: &mut Spec, written: &WindowSpec, env: &Env, level: usize) -> Result<()> {
    if let Some(name) = &written.window_name {
        add_named(spec, name, env, level)?;
    }
    spec.partition.extend(written.partition_by.iter().cloned());
    if !written.order_by.is_empty() {
        spec.order.clone_from(&written.order_by);
    }
    if written.window_frame.is_some() {
        spec.frame.clone_from(&written.window_frame);
    }
    Ok(())
}
