//! Functions of numbers, and of values of any type.

use crate::plan::{Expr, Function, Scalar, Type};

use super::super::binder::Binder;
use super::super::error::Result;
use super::super::types::{self, Typed, agree, call, convert};

impl Binder<'_> {
    /// Binds a function of numbers, or of values of any type; `None` when the name is of another kind.
    pub(super) fn number_function(
        &mut self,
        name: &str,
        mut values: Vec<Typed>,
    ) -> Result<Option<Typed>> {
        let n_values = values.len();
        let floats = |values: Vec<Typed>| {
            values.into_iter().map(|it| convert(it, Type::Float)).collect::<Result<Vec<_>>>()
        };
        let one_float = match name {
            "sqrt" => Some(Function::SquareRoot),
            "exp" => Some(Function::Exponential),
            "ln" => Some(Function::NaturalLogarithm),
            "log10" => Some(Function::Logarithm10),
            "log2" => Some(Function::Logarithm2),
            "sin" => Some(Function::Sine),
            "cos" => Some(Function::Cosine),
            "tan" => Some(Function::Tangent),
            "log" if n_values == 1 => Some(Function::Logarithm10),
            _ => None,
        };
        if let (Some(function), 1) = (one_float, n_values) {
            return Ok(Some(call(function, floats(values)?, Type::Float)));
        }
        let found = match (name, n_values) {
            ("abs" | "ceil" | "ceiling" | "floor" | "trunc" | "truncate", 1) => {
                let value = values.swap_remove(0);
                let function = match name {
                    "abs" => Function::Absolute,
                    "floor" => Function::Floor,
                    "trunc" | "truncate" => Function::Truncate,
                    _ => Function::Ceiling,
                };
                match value.dtype {
                    Type::Int | Type::Null if function != Function::Absolute => Ok(value),
                    Type::Int => Ok(call(Function::AbsoluteInt, vec![value.expr], Type::Int)),
                    _ => Ok(call(function, vec![convert(value, Type::Float)?], Type::Float)),
                }
            }
            ("sign", 1) => {
                let value = values.swap_remove(0);
                let value = if value.dtype == Type::Int {
                    value.expr
                } else {
                    convert(value, Type::Float)?
                };
                Ok(call(Function::Sign, vec![value], Type::Int))
            }
            ("round", 1 | 2) => self.round(values, Function::Round),
            ("mod", 2) => self.modulo(values),
            ("power" | "pow", 2) => Ok(call(Function::Power, floats(values)?, Type::Float)),
            ("log", 2) => {
                // The base comes first.
                let logs = floats(values)?.into_iter();
                let logs: Vec<Expr> =
                    logs.map(|it| Expr::Call(Function::NaturalLogarithm, vec![it])).collect();
                let (base, value) = (logs[0].clone(), logs[1].clone());
                Ok(call(Function::Divide, vec![value, base], Type::Float))
            }
            ("cbrt", 1) => {
                let value = floats(values)?.remove(0);
                let third = Expr::Literal(Scalar::Float(1.0 / 3.0));
                let size = Expr::Call(Function::Absolute, vec![value.clone()]);
                let root = Expr::Call(Function::Power, vec![size, third]);
                let zero = Expr::Literal(Scalar::Float(0.0));
                let is_negative = Expr::Call(Function::Less, vec![value, zero]);
                let negative = Expr::Call(Function::Negate, vec![root.clone()]);
                let branches = vec![(is_negative, negative)];
                Ok(Typed::new(Expr::Case { branches, otherwise: Box::new(root) }, Type::Float))
            }
            ("degrees" | "radians", 1) => {
                let half_turn = 180.0 / std::f64::consts::PI;
                let factor = if name == "degrees" { half_turn } else { 1.0 / half_turn };
                let mut factors = floats(values)?;
                factors.push(Expr::Literal(Scalar::Float(factor)));
                Ok(call(Function::Multiply, factors, Type::Float))
            }
            ("typeof", 1) => Ok(Typed::text(types::name(values[0].dtype))),
            ("pi", 0) => {
                Ok(Typed::new(Expr::Literal(Scalar::Float(std::f64::consts::PI)), Type::Float))
            }
            ("greatest" | "least" | "coalesce" | "ifnull" | "nvl", 1..) => {
                let function = match name {
                    "greatest" => Function::Greatest,
                    "least" => Function::Least,
                    _ => Function::Coalesce,
                };
                let (values, dtype) = agree(values)?;
                Ok(call(function, values, dtype))
            }
            ("nullif", 2) => {
                let first = values[0].clone();
                let (sides, _) = agree(values)?;
                let equal = Expr::Call(Function::Equal, sides);
                let branches = vec![(equal, types::null_of(first.dtype))];
                let otherwise = Box::new(first.expr);
                Ok(Typed::new(Expr::Case { branches, otherwise }, first.dtype))
            }
            _ => return Ok(None),
        };
        found.map(Some)
    }
}
