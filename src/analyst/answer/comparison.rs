//! Sentences on two numbers side by side.

use std::cmp::Ordering;

use serde_json::Value as Json;

use super::Answer;
use super::figure::{number as figure, percent};
use super::head::number;
use super::quantity::Quantity;
use crate::query::{Comparison, Contrast, Op};

impl Answer<'_> {
    /// Says how two numbers compare.
    pub(super) fn comparison(&self, comparison: &Comparison) -> String {
        let null = Json::Null;
        let row = self.result.head.first().unwrap_or(&null);
        let labels: Vec<&str> = self.statement.measures.iter().map(String::as_str).collect();
        let [made, one, other] = labels[..] else { return String::new() };
        let [first, second] = &comparison.sides;
        let quantity = self.plain().quantity(&comparison.measure);
        let (noun, whole) = (&quantity.noun, quantity.whole());
        let told = |label: &str| quantity.told(&row[label]);
        let sides = format!("{} {}, {} {}", first.name, told(one), second.name, told(other));
        let value = number(row, made).unwrap_or_default();
        let text = match comparison.asks {
            Contrast::Difference if value == 0.0 => {
                format!(
                    "the {whole} is **the same** for {} and {}: {}.",
                    first.name,
                    second.name,
                    told(one)
                )
            }
            Contrast::Difference => {
                let gap = points(&quantity, value.abs(), &row[made]);
                let (more, less) = if value < 0.0 { (second, first) } else { (first, second) };
                if quantity.is_count {
                    format!(
                        "there are **{gap}** more {noun} for {} than for {}: {sides}.",
                        more.name, less.name
                    )
                } else {
                    format!(
                        "the {whole} is **{gap}** higher for {} than for {}: {sides}.",
                        more.name, less.name
                    )
                }
            }
            Contrast::Change if value == 0.0 => {
                format!(
                    "the {whole} **did not change** from {} to {}: {}.",
                    first.name,
                    second.name,
                    told(one)
                )
            }
            Contrast::Change => {
                let verb = if value < 0.0 { "fell" } else { "rose" };
                let gap = points(&quantity, value.abs(), &row[made]);
                let share = number(row, "change_percent")
                    .filter(|_| quantity.unit.as_deref() != Some("%"))
                    .map(|it| format!(" ({})", percent(it.abs())))
                    .unwrap_or_default();
                format!(
                    "the {whole} {verb} by **{gap}**{share}, from {} in {} to {} in {}.",
                    told(one),
                    first.name,
                    told(other),
                    second.name
                )
            }
            Contrast::Ratio => {
                format!(
                    "the {whole} for {} is **{} times** that for {}: {sides}.",
                    first.name,
                    figure(value),
                    second.name
                )
            }
            Contrast::Holds(op) => {
                let holds = row[made] == true;
                let yes = if holds { "Yes" } else { "No" };
                return format!(
                    "{yes}: {}{}",
                    self.ahead(),
                    self.compared(comparison, op, holds, row)
                );
            }
        };
        self.ahead() + &text
    }

    /// Says whether one number compares so with another, without yes or no.
    pub(super) fn compared(
        &self,
        comparison: &Comparison,
        op: Op,
        holds: bool,
        row: &Json,
    ) -> String {
        let [_, one, other] = &self.statement.measures[..] else { return String::new() };
        let quantity = self.plain().quantity(&comparison.measure);
        let [a, b] = [one, other].map(|it| quantity.told(&row[it.as_str()]));
        let [first, second] = [&comparison.sides[0].name, &comparison.sides[1].name];
        let order = number(row, one).partial_cmp(&number(row, other)).filter(|it| it.is_ne());
        let order = match (op, holds) {
            // Numbers that are shown as equal may differ.
            (Op::Gt, true) => Some(Ordering::Greater),
            (Op::Lt, true) => Some(Ordering::Less),
            (Op::Eq, true) | (Op::Ne, false) => None,
            _ => order,
        };
        let whole = quantity.whole();
        let Some(order) = order else {
            return format!("the {whole} is the same for {first} ({a}) and {second} ({b}).");
        };
        let word = match (quantity.is_count, quantity.is_time, order) {
            (true, _, Ordering::Greater) => "more",
            (true, ..) => "fewer",
            (_, true, Ordering::Greater) => "later",
            (_, true, _) => "earlier",
            (_, _, Ordering::Greater) => "higher",
            _ => "lower",
        };
        if quantity.is_count {
            format!("there are {word} {} for {first} ({a}) than for {second} ({b}).", quantity.noun)
        } else {
            format!("the {whole} is {word} for {first} ({a}) than for {second} ({b}).")
        }
    }
}

/// Writes how far two numbers are apart; of percentages in points.
fn points(quantity: &Quantity, gap: f64, value: &Json) -> String {
    if quantity.unit.as_deref() == Some("%") {
        return percent(gap).replace(" %", " points");
    }
    let whole = value.as_i64().map(i64::unsigned_abs);
    let gap = whole.map_or_else(|| Json::from(gap), Json::from);
    // Years between two years are an amount.
    Quantity { is_name: false, ..quantity.clone() }.told(&gap)
}
