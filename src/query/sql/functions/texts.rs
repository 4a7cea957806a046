//! Functions of text.

use crate::plan::{Expr, Function, Type};

use super::super::binder::Binder;
use super::super::error::Result;
use super::super::expressions::regex_match;
use super::super::types::{Typed, call, cast, convert};
use super::{constant, constant_text, text_of, with_options};

impl Binder<'_> {
    /// Binds a function of text; `None` when the name is of another kind.
    #[expect(clippy::too_many_lines, reason = "a table of functions")]
    pub(super) fn text_function(
        &mut self,
        name: &str,
        mut values: Vec<Typed>,
    ) -> Result<Option<Typed>> {
        let n_values = values.len();
        let texts = |values: Vec<Typed>| {
            values.into_iter().map(|it| text_of(it, name)).collect::<Result<Vec<_>>>()
        };
        let text_to_text = match name {
            "lower" | "lcase" => Some(Function::Lower),
            "upper" | "ucase" => Some(Function::Upper),
            "reverse" => Some(Function::Reverse),
            "initcap" => Some(Function::InitialCapitals),
            _ => None,
        };
        if let (Some(function), 1) = (text_to_text, n_values) {
            return Ok(Some(call(function, texts(values)?, Type::Text)));
        }
        let two_texts = match name {
            "starts_with" | "prefix" => Some(Function::StartsWith),
            "ends_with" | "suffix" => Some(Function::EndsWith),
            "contains" => Some(Function::Contains),
            _ => None,
        };
        if let (Some(function), 2) = (two_texts, n_values) {
            return Ok(Some(call(function, texts(values)?, Type::Bool)));
        }
        let found = match (name, n_values) {
            ("concat", 1..) => {
                let empty = Typed::text("").expr;
                let each = values.into_iter().map(|it| {
                    let text = cast(it, Type::Text, false)?.expr;
                    Ok(Expr::Call(Function::Coalesce, vec![text, empty.clone()]))
                });
                Ok(call(Function::Concat, each.collect::<Result<_>>()?, Type::Text))
            }
            ("concat_ws", 2..) => {
                let each = values.into_iter().map(|it| Ok(cast(it, Type::Text, false)?.expr));
                Ok(call(Function::ConcatSeparated, each.collect::<Result<_>>()?, Type::Text))
            }
            ("length" | "len" | "char_length" | "character_length", 1) => {
                Ok(call(Function::Length, texts(values)?, Type::Int))
            }
            ("trim" | "btrim" | "ltrim" | "rtrim", 1 | 2) => {
                let function = match name {
                    "ltrim" => Function::TrimStart,
                    "rtrim" => Function::TrimEnd,
                    _ => Function::Trim,
                };
                if n_values == 1 {
                    values.push(Typed::text(" "));
                }
                constant(&values[1], name, "second")?;
                Ok(call(function, texts(values)?, Type::Text))
            }
            ("replace", 3) => Ok(call(Function::Replace, texts(values)?, Type::Text)),
            ("substring" | "substr", 2 | 3) => self.substring(values),
            ("left" | "right" | "repeat", 2) => {
                let function = match name {
                    "left" => Function::Left,
                    "right" => Function::Right,
                    _ => Function::Repeat,
                };
                constant(&values[1], name, "second")?;
                let number = convert(values.swap_remove(1), Type::Int)?;
                let text = text_of(values.swap_remove(0), name)?;
                Ok(call(function, vec![text, number], Type::Text))
            }
            ("strpos" | "instr" | "position", 2) => {
                Ok(call(Function::Position, texts(values)?, Type::Int))
            }
            ("split_part", 3) => {
                constant(&values[2], name, "third")?;
                let number = convert(values.swap_remove(2), Type::Int)?;
                let mut texts = texts(values)?;
                texts.push(number);
                Ok(call(Function::SplitPart, texts, Type::Text))
            }
            ("lpad" | "rpad", 2 | 3) => {
                if n_values == 2 {
                    values.push(Typed::text(" "));
                }
                constant(&values[1], name, "second")?;
                constant(&values[2], name, "third")?;
                let function = if name == "lpad" { Function::PadStart } else { Function::PadEnd };
                let fill = text_of(values.swap_remove(2), name)?;
                let length = convert(values.swap_remove(1), Type::Int)?;
                let text = text_of(values.swap_remove(0), name)?;
                Ok(call(function, vec![text, length, fill], Type::Text))
            }
            ("regexp_matches" | "regexp_like" | "regexp_full_match", 2 | 3) => {
                let mut pattern = constant_text(&values[1], name, "second")?;
                if n_values == 3 {
                    pattern = with_options(&pattern, &constant_text(&values[2], name, "third")?)?.0;
                }
                if name == "regexp_full_match" {
                    pattern = format!("^(?:{pattern})$");
                }
                Ok(regex_match(text_of(values.swap_remove(0), name)?, pattern))
            }
            ("regexp_replace", 3 | 4) => {
                let pattern = constant_text(&values[1], name, "second")?;
                let with = constant_text(&values[2], name, "third")?;
                let options = if n_values == 4 {
                    constant_text(&values[3], name, "fourth")?
                } else {
                    String::new()
                };
                let (pattern, is_global) = with_options(&pattern, &options)?;
                let function =
                    if is_global { Function::RegexReplaceAll } else { Function::RegexReplaceFirst };
                let text = text_of(values.swap_remove(0), name)?;
                Ok(call(
                    function,
                    vec![text, Typed::text(pattern).expr, Typed::text(with).expr],
                    Type::Text,
                ))
            }
            ("regexp_extract" | "regexp_substr", 2 | 3) => {
                constant_text(&values[1], name, "second")?;
                if n_values == 2 {
                    values.push(Typed::int(0));
                }
                constant(&values[2], name, "third")?;
                let group = convert(values.swap_remove(2), Type::Int)?;
                let mut texts = texts(values)?;
                texts.push(group);
                Ok(call(Function::RegexExtract, texts, Type::Text))
            }
            _ => return Ok(None),
        };
        found.map(Some)
    }
}
