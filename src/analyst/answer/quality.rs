//! Sentences on values far from the others.

use serde_json::Value as Json;

use super::Answer;
use super::figure::{few, grouped};
use super::head::number;
use crate::query::Place;

/// Names that one sentence has.
const TOLD_MAX: usize = 10;

impl Answer<'_> {
    /// Says how many values are far from the others, and which.
    pub(super) fn outliers(&self, of: &[Place], counts: bool, row: &Json) -> String {
        let plain = self.plain();
        let count = |it: &Json| it["outliers"].as_u64().unwrap_or_default();
        if let [place] = of {
            let words = plain.words(*place);
            let n = if counts { count(row) } else { self.result.n_rows };
            let found = match n {
                0 => return format!("there are **no** outliers in {words}{}.", self.behind()),
                1 => format!("there is **1** outlier in {words}{}", self.behind()),
                n => format!("there are **{}** outliers in {words}{}", grouped(n), self.behind()),
            };
            let label = plain.label(*place);
            let mut values: Vec<&Json> = self
                .result
                .head
                .iter()
                .map(|it| &it[label.as_str()])
                .filter(|it| it.is_number())
                .collect();
            values.sort_by(|one, other| {
                one.as_f64().unwrap_or_default().total_cmp(&other.as_f64().unwrap_or_default())
            });
            values.dedup();
            let told: Vec<String> = values.iter().map(|it| plain.cell(*place, it)).collect();
            return if counts
                || told.is_empty()
                || TOLD_MAX < told.len()
                || !self.result.is_complete()
            {
                format!("{found}.")
            } else {
                format!("{found}: {}.", few(&told, told.len() as u64, TOLD_MAX))
            };
        }
        let mut rows: Vec<&Json> = self.result.head.iter().filter(|it| 0 < count(it)).collect();
        rows.sort_by(|one, other| {
            number(other, "outliers")
                .unwrap_or_default()
                .total_cmp(&number(one, "outliers").unwrap_or_default())
        });
        let each = rows.iter().map(|it| {
            let table = self.query.from.table;
            let name = it["column"].as_str().unwrap_or_default();
            let place = self.table().column(name).map(|column| Place { table, column });
            let name = place.map_or_else(|| name.to_owned(), |it| plain.words(it));
            format!("{name} ({})", grouped(count(it)))
        });
        let each: Vec<String> = each.collect();
        match &each[..] {
            [] => format!("there are **no** outliers{}.", self.behind()),
            each => format!(
                "outliers are in **{}**{}.",
                few(each, each.len() as u64, TOLD_MAX),
                self.behind()
            ),
        }
    }
}
