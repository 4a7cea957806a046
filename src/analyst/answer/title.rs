//! Titles of charts, as a person would write them.

use std::fmt::Write;

use super::Answer;
use super::figure::{capital, listed};
use crate::query::{Agg, Chart, Groups, Op, Over, Profile, Shape, Test, Value};

impl Answer<'_> {
    /// Returns the title of a chart: `Average body mass by species, 2007`.
    pub(super) fn title(&self) -> String {
        let plain = self.plain();
        let text = match &self.query.body {
            Shape::Groups(groups) => self.title_of_groups(groups),
            Shape::Rows(listing) => match &listing.columns[..] {
                [y, x] if self.query.chart == Some(Chart::Scatter) => {
                    format!("{} against {}", plain.words(*y), plain.words(*x))
                }
                [x, y] if !plain.column(*x).kind.is_number() => {
                    format!("{} by {}", plain.words(*y), plain.words(*x))
                }
                [y, x] => format!("{} by {}", plain.words(*y), plain.words(*x)),
                [] => format!("rows of {}", self.table().name),
                places => plain.listed(places),
            },
            Shape::Compare(comparison) => {
                let [one, other] = &comparison.sides;
                format!(
                    "{}: {} and {}",
                    plain.quantity(&comparison.measure).whole(),
                    one.name,
                    other.name
                )
            }
            Shape::Profile(profile) => match profile {
                Profile::Distribution(place) => format!("distribution of {}", plain.words(*place)),
                Profile::Missing { .. } => "missing values by column".to_owned(),
                Profile::Outliers { .. } => "outliers by column".to_owned(),
                Profile::Correlations(places) => match &places[..] {
                    [] => "correlations".to_owned(),
                    [one] => format!("correlation with {}", plain.words(*one)),
                    places => format!("correlation of {}", plain.listed(places)),
                },
                Profile::Duplicates(places) => format!("repeated {}", plain.listed(places)),
                Profile::Describe(_) | Profile::Columns | Profile::Size | Profile::Constant => {
                    self.table().name.clone()
                }
            },
            Shape::Check(_) => self.table().name.clone(),
        };
        let filters = self.filters_to_say().into_iter().map(|it| self.short(it));
        let parts: Vec<String> = std::iter::once(capital(&text)).chain(filters).collect();
        parts.join(", ")
    }

    fn title_of_groups(&self, groups: &Groups) -> String {
        let plain = self.plain();
        let keys: Vec<String> = groups.keys.iter().map(|it| plain.key(it)).collect();
        if self.query.chart == Some(Chart::Box)
            && let Some(place) = groups.boxed()
        {
            let by = if keys.is_empty() { "" } else { " by " };
            return format!("{}{by}{}", plain.words(place), listed(&keys, "and"));
        }
        let quantities = groups.measures.iter().map(|it| {
            let quantity = match groups.over {
                Some(over) => plain.over(over, groups, it),
                None => plain.quantity(it),
            };
            // What adds up needs no word for it.
            let whole = quantity.whole();
            let is_sum = it.agg == Agg::Sum && groups.over.is_none_or(|it| it == Over::Share);
            if is_sum { whole.replacen("total ", "", 1) } else { whole }
        });
        // Where groups are the series, one number is drawn.
        let n_drawn = if 1 < groups.keys.len() || groups.over.is_some() { 1 } else { 3 };
        let quantities: Vec<String> = quantities.take(n_drawn).collect();
        let mut text = listed(&quantities, "and");
        if !keys.is_empty() {
            let _ = write!(text, " by {}", listed(&keys, "and"));
        }
        if let Some(n) = groups.order.and_then(|it| it.n) {
            let end = if groups.order.is_some_and(|it| it.is_ascending) { "lowest" } else { "top" };
            let _ = write!(text, ", {end} {n}");
        }
        text
    }

    /// Writes a condition by its value alone, where that says it.
    fn short(&self, test: &Test) -> String {
        let plain = self.plain();
        match test {
            Test::In(Value::Column(place), values) => {
                let are_texts = values.iter().all(|it| matches!(it, Value::Text(_)));
                let values: Vec<String> =
                    values.iter().map(|it| plain.beside(it, &Value::Column(*place))).collect();
                if are_texts || plain.is_name(*place) {
                    listed(&values, "or")
                } else {
                    format!("{} {}", plain.words(*place), listed(&values, "or"))
                }
            }
            Test::In(part, values) => {
                let values: Vec<String> = values.iter().map(|it| plain.beside(it, part)).collect();
                listed(&values, "or")
            }
            Test::Is(Value::Column(place), Op::Eq, value) => {
                let told = plain.beside(value, &Value::Column(*place));
                if matches!(value, Value::Number(_)) && !plain.is_name(*place) {
                    format!("{} {told}", plain.words(*place))
                } else {
                    told
                }
            }
            Test::Is(part @ Value::Part(..), Op::Eq, value) => plain.beside(value, part),
            Test::Is(one, op, other) if *op != Op::Eq && *op != Op::Ne => {
                let op = super::terms::op_word(*op);
                format!("{} {op} {}", plain.value(one), plain.beside(other, one))
            }
            test => plain.clause(test, false),
        }
    }
}
