//! Sentences on rows: what they are called, and for what they were chosen.

use std::fmt::Write;

use serde_json::Value as Json;

use super::figure::{few, grouped, listed};
use super::names::plural;
use super::quantity::Quantity;
use super::{Answer, counted};
use crate::query::{Chart, Listing, Place, SortOrder, Value};
use crate::schema::Kind;

/// Rows that one sentence names.
const TOLD_MAX: usize = 10;
/// Rows of a ranking that a sentence names with their numbers.
const RANKED_MAX: usize = 5;
/// Columns that together are what a row is called: a first name and a last.
const TITLES_MAX: usize = 2;
/// Columns of one row that a sentence tells.
const CELLS_MAX: usize = 4;

impl Answer<'_> {
    /// Says which rows were found.
    pub(super) fn rows(&self, listing: &Listing) -> String {
        let n = self.result.n_rows;
        let Some(row) = self.result.head.first() else {
            return if n == 0 {
                format!("there are no rows{}.", self.behind())
            } else {
                format!("there are {}{}; see the table.", counted(n, "rows"), self.behind())
            };
        };
        if self.query.chart == Some(Chart::Scatter)
            && let [y, x, ..] = listing.columns[..]
        {
            let plain = self.plain();
            let (y, x) = (plain.words(y), plain.words(x));
            return format!(
                "the chart shows {y} against {x}, of {}{}.",
                counted(n, "rows"),
                self.behind()
            );
        }
        if let (true, [place]) = (listing.is_distinct, &listing.columns[..]) {
            return self.values(*place);
        }
        if let Some((by, order)) = &listing.order {
            return self.ordered(listing, by, *order);
        }
        if let Some(first) = listing.first {
            return self.some(first);
        }
        if n == 1 {
            return self.one_row(listing, row);
        }
        let names: Vec<String> = self.titled(listing, TOLD_MAX);
        let found = format!("there are {}{}", counted(n, "rows"), self.behind());
        if names.is_empty() || TOLD_MAX as u64 <= n {
            format!("{found}; see the table.")
        } else {
            format!("{found}: {}.", few(&names, n, TOLD_MAX))
        }
    }

    /// Says which different values a column has.
    fn values(&self, place: Place) -> String {
        let plain = self.plain();
        let (label, words, n) = (plain.label(place), plain.words(place), self.result.n_rows);
        let head = self.result.head.iter().take(TOLD_MAX);
        let names: Vec<String> = head.map(|it| plain.cell(place, &it[label.as_str()])).collect();
        match &names[..] {
            [one] if n == 1 => format!("{}the only {words} is **{one}**.", self.ahead()),
            names if n <= TOLD_MAX as u64 => {
                let all = few(names, n, TOLD_MAX);
                format!("{}there are {}: {all}.", self.ahead(), counted(n, &plural(&words)))
            }
            _ => {
                format!("{}there are {}; see the table.", self.ahead(), counted(n, &plural(&words)))
            }
        }
    }

    /// Says that only some rows are shown.
    fn some(&self, first: i64) -> String {
        let n = self.result.n_rows;
        let end = if first < 0 { "last" } else { "first" };
        let of = if self.is_of_all() {
            format!(" of {}", grouped(self.table().n_rows))
        } else {
            String::new()
        };
        match n {
            1 => format!("the {end} row{} is in the table.", self.behind()),
            n => {
                format!("the {end} **{}**{of} rows{} are in the table.", grouped(n), self.behind())
            }
        }
    }

    fn one_row(&self, listing: &Listing, row: &Json) -> String {
        let plain = self.plain();
        let all: Vec<Place> = self.shown(listing);
        if let [place] = all[..] {
            let value = plain.cell(place, &row[plain.label(place).as_str()]);
            return format!("{}the {} is **{value}**.", self.ahead(), plain.words(place));
        }
        let titles = self.titles(listing);
        let name = self.title_of(&titles, row);
        if CELLS_MAX < all.len() {
            return match name {
                Some(name) => format!("there is **1** row{}: **{name}**.", self.behind()),
                None => format!("there is **1** row{}; see the table.", self.behind()),
            };
        }
        let cells = all.iter().filter(|it| name.is_none() || !titles.contains(it)).map(|it| {
            format!("{} {}", plain.words(*it), plain.cell(*it, &row[plain.label(*it).as_str()]))
        });
        let cells = cells.collect::<Vec<_>>().join(", ");
        match name {
            Some(name) => format!("**{name}**: {cells}."),
            None => format!("{}there is **1** row: {cells}.", self.ahead()),
        }
    }

    fn ordered(&self, listing: &Listing, by: &Value, order: SortOrder) -> String {
        let plain = self.plain();
        let (n, head) = (self.result.n_rows, &self.result.head);
        let quantity = self.ranked_by(by);
        let end = quantity.end(order.is_ascending);
        let shown = self.shown(listing);
        let column = match by {
            Value::Column(place) if shown.contains(place) => Some(plain.label(*place)),
            _ => None,
        };
        let value = |row: &Json| column.as_ref().map(|it| quantity.told(&row[it.as_str()]));
        let with = |row: &Json| value(row).map(|it| format!(", {it}")).unwrap_or_default();
        let noun = &quantity.noun;
        let ahead = self.ahead();
        let names = self.chosen(listing, by, RANKED_MAX.max(TOLD_MAX));
        let Some(first) = names.first() else {
            let which = match (value(&head[0]), n) {
                (Some(value), 1) => return format!("{ahead}the {end} {noun} is **{value}**."),
                (Some(value), _) if order.is_first() => {
                    return format!(
                        "{ahead}**{}** rows have the {end} {noun}, {value}.",
                        grouped(n)
                    );
                }
                (Some(value), _) if order.n.is_some() => {
                    format!("; the {end} {noun} is **{value}**")
                }
                _ => String::new(),
            };
            return format!(
                "the table has {}{}, sorted by {noun}{which}.",
                counted(n, "rows"),
                self.behind()
            );
        };
        if order.is_first() && 1 < n {
            let all = few(&names, n, TOLD_MAX);
            return format!("{ahead}**{all}** have the {end} {noun}{}.", with(&head[0]));
        }
        let place = super::ends::place_word(order.skip);
        if order.n.is_none() {
            return format!(
                "there are {}{}, sorted by {noun}: **{first}** has the {end}{}.",
                counted(n, "rows"),
                self.behind(),
                with(&head[0])
            );
        }
        let mut text = format!("{ahead}**{first}** has the {place}{end} {noun}{}", with(&head[0]));
        let rest = names.iter().zip(head).skip(1).take(RANKED_MAX - 1);
        let rest: Vec<String> = rest
            .map(|(name, row)| match value(row) {
                Some(value) => format!("{name} ({value})"),
                None => name.clone(),
            })
            .collect();
        if !rest.is_empty() {
            let _ = write!(text, ", then {}", listed(&rest, "and"));
        }
        if RANKED_MAX as u64 >= n {
            text + "."
        } else {
            format!("{text}. The table has all {}.", grouped(n))
        }
    }

    /// Returns what rows are sorted by.
    pub(super) fn ranked_by(&self, by: &Value) -> Quantity {
        let plain = self.plain();
        let measure = crate::query::Measure {
            agg: crate::query::Agg::Median,
            of: Some(by.clone()),
            only: Vec::new(),
        };
        let is_time = plain.is_time(by) || plain.is_year(by);
        Quantity { noun: plain.value(by), is_time, ..plain.quantity(&measure) }
    }

    /// Returns the columns of the result.
    fn shown(&self, listing: &Listing) -> Vec<Place> {
        if !listing.columns.is_empty() {
            return listing.columns.clone();
        }
        let tables = [Some(self.query.from.table), self.query.from.join.map(|it| it.right.table)];
        let columns = |table: usize| {
            (0..self.tables[table].columns.len()).map(move |column| Place { table, column })
        };
        tables.into_iter().flatten().flat_map(columns).collect()
    }

    /// Returns the columns that say what a row is called.
    fn titles(&self, listing: &Listing) -> Vec<Place> {
        let plain = self.plain();
        let shown = self.shown(listing);
        let is_text = |it: &&Place| plain.column(**it).kind == Kind::Text;
        let own = |it: &&Place| it.table == self.query.from.table;
        let texts = || shown.iter().filter(is_text);
        let titles: Vec<Place> = texts()
            .filter(own)
            .filter(|it| plain.column(**it).is_title)
            .take(TITLES_MAX)
            .copied()
            .collect();
        if !titles.is_empty() {
            return titles;
        }
        // Countries are called what their column `country` says.
        let n = self.table().n_rows;
        let is_thing = |it: &&Place| {
            let column = plain.column(**it);
            // The weather of a day is no name of it.
            let repeats = column.n_distinct.is_some_and(|it| 2 * it < n);
            !column.words.is_empty() && self.table().words.ends_with(&column.words) && !repeats
        };
        let days = || {
            let is_own = |it: &&Place| {
                let column = plain.column(**it);
                column.kind == Kind::Day && column.n_distinct == Some(n)
            };
            shown.iter().filter(own).find(is_own)
        };
        texts().filter(own).find(is_thing).or_else(days).copied().into_iter().collect()
    }

    fn title_of(&self, titles: &[Place], row: &Json) -> Option<String> {
        let plain = self.plain();
        let told = titles.iter().filter_map(|it| {
            let value = &row[plain.label(*it).as_str()];
            value.is_string().then(|| plain.cell(*it, value))
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join(" "))
    }

    /// Returns what the first rows are called; nothing if one of them has no name.
    fn titled(&self, listing: &Listing, n_max: usize) -> Vec<String> {
        let titles = self.titles(listing);
        let names = self.result.head.iter().take(n_max).map(|it| self.title_of(&titles, it));
        names.collect::<Option<Vec<String>>>().unwrap_or_default()
    }

    /// Returns what rows are called that were chosen by a value: if need be, by what was asked of them.
    fn chosen(&self, listing: &Listing, by: &Value, n_max: usize) -> Vec<String> {
        let names = self.titled(listing, n_max);
        if !names.is_empty() || listing.columns.is_empty() {
            return names;
        }
        let plain = self.plain();
        let asked = listing.columns.iter().filter(|it| *by != Value::Column(**it));
        let Some(place) =
            asked.copied().find(|it| !plain.column(*it).kind.is_number() || plain.is_name(*it))
        else {
            return Vec::new();
        };
        let label = plain.label(place);
        let shown = |it: &Json| {
            (!it[label.as_str()].is_null()).then(|| plain.cell(place, &it[label.as_str()]))
        };
        self.result.head.iter().take(n_max).map(shown).collect::<Option<_>>().unwrap_or_default()
    }
}
