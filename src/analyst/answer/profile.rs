//! Sentences on what the data is like.

use serde_json::Value as Json;

use super::figure::{few, grouped, listed, number as figure, with_unit};
use super::head::number;
use super::names::plural;
use super::{Answer, counted};
use crate::query::{Place, Profile, Told};
use crate::schema::Kind;

/// Names that one sentence has.
const TOLD_MAX: usize = 10;

impl Answer<'_> {
    /// Says what the data is like.
    pub(super) fn profile(&self, profile: &Profile) -> String {
        let null = Json::Null;
        let row = self.result.head.first().unwrap_or(&null);
        let n = self.result.n_rows;
        match profile {
            Profile::Size => format!(
                "there are {} and {} in {}{}.",
                counted(row["rows"].as_u64().unwrap_or_default(), "rows"),
                counted_columns(row["columns"].as_u64().unwrap_or_default()),
                self.table().name,
                self.behind()
            ),
            Profile::Columns => {
                let names = self.column_names();
                format!(
                    "there are {} in {}: {}.",
                    counted_columns(n),
                    self.table().name,
                    few(&names, n, TOLD_MAX * 2)
                )
            }
            Profile::Missing { of, told } => self.missing(of, *told, row),
            Profile::Distribution(place) => self.distribution(*place),
            Profile::Describe(places) => self.figures_of(places, row),
            Profile::Outliers { of, counts } => self.outliers(of, *counts, row),
            Profile::Duplicates(places) if places.is_empty() => {
                match row["duplicate_rows"].as_u64().unwrap_or_default() {
                    0 => "no row repeats an earlier one.".to_owned(),
                    1 => "**1** row repeats an earlier one.".to_owned(),
                    n => format!("**{}** rows repeat an earlier one.", grouped(n)),
                }
            }
            Profile::Duplicates(places) => self.repeated(places),
            Profile::Constant => match n {
                0 => "every column has more than one value.".to_owned(),
                1 => format!("**{}** has only one value.", self.column_names()[0]),
                n => format!("**{}** have only one value.", few(&self.column_names(), n, TOLD_MAX)),
            },
            Profile::Correlations(places) => self.correlations(places, row),
        }
    }

    /// Returns the columns that a result names.
    pub(super) fn column_names(&self) -> Vec<String> {
        let names = self.result.head.iter().filter_map(|it| it["column"].as_str());
        names.map(|it| self.said(it)).collect()
    }

    /// Returns how people say a column that a result names.
    pub(super) fn said(&self, column: &str) -> String {
        let table = self.query.from.table;
        let place = self.table().column(column).map(|column| Place { table, column });
        place.map_or_else(|| column.to_owned(), |it| self.plain().words(it))
    }

    fn missing(&self, of: &[Place], told: Told, row: &Json) -> String {
        let plain = self.plain();
        let value = |row: &Json, label: &str| row[label].as_u64().unwrap_or_default();
        let n = value(row, "missing");
        let (n_rows, rows) = (grouped(value(row, "of")), self.behind());
        if of.len() == 1 {
            let words = plain.words(of[0]);
            return match n {
                0 => format!("no value of {words} is missing{rows}."),
                1 => format!("**1** of {n_rows} values of {words} is missing{rows}."),
                n => format!("**{}** of {n_rows} values of {words} are missing{rows}.", grouped(n)),
            };
        }
        let all = if of.is_empty() { String::new() } else { format!(" in {}", plain.listed(of)) };
        if told == Told::Total {
            return match n {
                0 => format!("no value is missing{all}{rows}."),
                1 => format!("**1** value is missing{all}{rows}."),
                n => format!("**{}** values are missing{all}{rows}.", grouped(n)),
            };
        }
        let with = self.result.head.iter().filter(|it| 0 < value(it, "missing"));
        let each: Vec<String> = with
            .clone()
            .map(|it| {
                let name = self.said(it["column"].as_str().unwrap_or_default());
                format!("{name} ({})", grouped(value(it, "missing")))
            })
            .collect();
        let names: Vec<String> =
            with.map(|it| self.said(it["column"].as_str().unwrap_or_default())).collect();
        match &names[..] {
            [] => format!("no value is missing{all}{rows}."),
            [one] if told != Told::Most => {
                format!("only **{one}** has missing values, {} of {n_rows}{rows}.", grouped(n))
            }
            names if told == Told::Most => {
                let has = if names.len() == 1 { "has" } else { "have" };
                let names = few(names, self.result.n_rows, TOLD_MAX);
                format!(
                    "**{names}** {has} the most missing values, {} of {n_rows}{rows}.",
                    grouped(n)
                )
            }
            names => format!(
                "**{}** has the most missing values, {} of {n_rows}{rows}, then {}.",
                names[0],
                grouped(n),
                few(&each[1..], each.len() as u64 - 1, TOLD_MAX)
            ),
        }
    }

    fn distribution(&self, place: Place) -> String {
        let plain = self.plain();
        let (name, head) = (plain.name(place), &self.result.head);
        let count = |it: &Json| it["count"].as_u64().unwrap_or_default();
        let Some(most) = head.iter().max_by_key(|it| count(it)) else {
            return format!("there are no values of {}{}.", name.words, self.behind());
        };
        let [Some(first), Some(last)] = [head.first(), head.last()] else { return String::new() };
        if let (Some(from), Some(to)) = (number(most, "from"), number(most, "to")) {
            let range = |from: f64, to: f64| {
                with_unit(&format!("{} to {}", figure(from), figure(to)), name.unit.as_deref())
            };
            let ends = number(first, "from").zip(number(last, "to"));
            let all = ends.map(|it| range(it.0, it.1)).unwrap_or_default();
            let n = grouped(count(most));
            return format!(
                "{}the most frequent values of {} are from **{}** ({n} rows); all are from {all}.",
                self.ahead(),
                name.words,
                range(from, to)
            );
        }
        let label = plain.label(place);
        let told = |it: &Json| plain.cell(place, &it[label.as_str()]);
        let mut rows: Vec<&Json> = head.iter().collect();
        rows.sort_by_key(|it| std::cmp::Reverse(count(it)));
        let rest: Vec<String> = rows[1..]
            .iter()
            .take(4)
            .map(|it| format!("{} ({})", told(it), grouped(count(it))))
            .collect();
        let n = format!("{} values", grouped(self.result.n_rows));
        let then = if rest.is_empty() {
            String::new()
        } else {
            format!(", then {}", listed(&rest, "and"))
        };
        let of = if (rest.len() as u64) < self.result.n_rows - 1 {
            format!(", of {n}")
        } else {
            String::new()
        };
        format!(
            "{}the most frequent {} is **{}** ({} rows){then}{of}.",
            self.ahead(),
            name.words,
            told(rows[0]),
            grouped(count(rows[0]))
        )
    }

    fn figures_of(&self, places: &[Place], row: &Json) -> String {
        let plain = self.plain();
        let [place] = places else {
            let names = self.column_names();
            let n = self.result.n_rows;
            return format!(
                "the table has the figures of {}: {}.",
                counted_columns(n),
                few(&names, n, TOLD_MAX)
            );
        };
        let (name, is_number) = (plain.words(*place), plain.column(*place).kind.is_number());
        let told = |label: &str| plain.cell(*place, &row[label]);
        if row["count"] == 0 {
            return format!("there are no values of {name}{}.", self.behind());
        }
        if is_number {
            format!(
                "{}{name} is **{}** on average, with a median of {} and a standard deviation of {}; it ranges from {} to {}.",
                self.ahead(),
                told("mean"),
                told("50%"),
                told("std"),
                told("min"),
                told("max")
            )
        } else if plain.column(*place).kind == Kind::Text {
            let n = row["unique"].as_u64().unwrap_or_default();
            format!(
                "{}{name} has {} in {} rows; the most frequent is **{}**.",
                self.ahead(),
                counted(n, "different values").replace("value of values", "value"),
                grouped(row["count"].as_u64().unwrap_or_default()),
                told("most_frequent")
            )
        } else {
            format!("{}{name} is from **{}** to **{}**.", self.ahead(), told("min"), told("max"))
        }
    }

    fn repeated(&self, places: &[Place]) -> String {
        let plain = self.plain();
        let (words, n) = (plain.listed(places), self.result.n_rows);
        if n == 0 {
            return format!("no {words} occurs more than once{}.", self.behind());
        }
        let each = self.result.head.iter().take(TOLD_MAX).map(|it| {
            let cells =
                places.iter().map(|place| plain.cell(*place, &it[plain.label(*place).as_str()]));
            let cells = cells.collect::<Vec<_>>().join(", ");
            format!("{cells} ({} times)", grouped(it["count"].as_u64().unwrap_or_default()))
        });
        let each: Vec<String> = each.collect();
        let nouns = if places.len() == 1 { plural(&words) } else { format!("values of {words}") };
        let occur = if n == 1 {
            format!("**1** {words} occurs")
        } else {
            format!("**{}** {nouns} occur", grouped(n))
        };
        format!("{occur} more than once{}: {}.", self.behind(), few(&each, n, TOLD_MAX))
    }
}

fn counted_columns(n: u64) -> String {
    format!("**{}** column{}", grouped(n), if n == 1 { "" } else { "s" })
}
