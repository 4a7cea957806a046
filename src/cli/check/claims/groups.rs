//! Claims about groups of rows that have the same value: how many they are, and what is the same in all of them.

use csv_agent_text::sql::identifier;
use csv_agent_types::catalog::DType;

use super::reader::ClaimReader;
use super::{ClaimColumn, FormClaim, ONCE, ROWS};

/// What comes before the column that is the same in a group: `varies within a customer`.
const IN_GROUP: [&str; 15] = [
    "in all rows of an",
    "in all rows of a",
    "in all rows of each",
    "in all rows of every",
    "in all rows of the same",
    "for all rows of an",
    "for all rows of a",
    "for all rows of each",
    "for all rows of the same",
    "within an",
    "within a",
    "within each",
    "within every",
    "within the same",
    "within one",
];

impl<'a> ClaimReader<'a> {
    /// `each variety occurs exactly 12 times`, `every site has 12 rows`, `there is one row per day and shop`
    pub(super) fn often(&mut self) -> Option<FormClaim> {
        if let Some((columns, test)) = self.attempt(Self::rows_per) {
            // The rows say more than the groups.
            return Some(match &*test {
                "n = 1" | "n <= 1" => self.in_one_row(&columns),
                test => self.rows_of_groups(&columns, test),
            });
        }
        let (columns, test) =
            self.attempt(Self::occurs).or_else(|| self.attempt(Self::has_rows))?;
        Some(self.rows_of_groups(&columns, &test))
    }

    fn rows_of_groups(&self, columns: &[&ClaimColumn], test: &str) -> FormClaim {
        let names: Vec<String> = columns.iter().map(|it| it.sql()).collect();
        let told: Vec<String> = columns.iter().map(|it| format!("`{}`", it.name)).collect();
        let test_of_rows = test.replace("n ", "count(*) ");
        let reading = format!(
            "the number of rows of each {} of `{}`: {test}",
            told.join(" and "),
            self.table.name
        );
        self.of_groups(&names, "count(*)", &test_of_rows, reading, columns)
    }

    fn of_groups(
        &self,
        names: &[String],
        counted: &str,
        test: &str,
        reading: String,
        columns: &[&ClaimColumn],
    ) -> FormClaim {
        let present: Vec<String> = names.iter().map(|it| format!("{it} is not null")).collect();
        let (table, by) = (&self.table.name, names.join(", "));
        let sql = format!(
            "select {by}, {counted} as n\nfrom {}\nwhere {}\ngroup by {by}\nhaving not ({test})",
            identifier(table),
            present.join(" and ")
        );
        let columns = columns.iter().map(|it| format!("{table}.{}", it.name)).collect();
        FormClaim { sql, reading, columns }
    }

    /// `each variety occurs exactly 12 times`
    fn occurs(&mut self) -> Option<(Vec<&'a ClaimColumn>, String)> {
        self.any(&["each", "every"]).then_some(())?;
        let column = self.bare_column()?;
        self.any(&["occurs", "appears", "is used", "must occur", "must appear"]).then_some(())?;
        let test = if self.any(&ONCE) {
            "n = 1".to_owned()
        } else if self.any(&["exactly twice", "twice"]) {
            "n = 2".to_owned()
        } else {
            let test = self.count(true)?;
            self.words("times").then_some(test)?
        };
        Some((vec![column], test))
    }

    /// `every site has 12 rows`
    fn has_rows(&mut self) -> Option<(Vec<&'a ClaimColumn>, String)> {
        self.any(&["each", "every"]).then_some(())?;
        let column = self.bare_column()?;
        self.any(&["must have", "should have", "has"]).then_some(())?;
        let test = self.count(true)?;
        (self.any(&ROWS) || self.table_name()).then_some((vec![column], test))
    }

    /// `there is exactly one row per day`, `sales has one row for each day and shop`
    fn rows_per(&mut self) -> Option<(Vec<&'a ClaimColumn>, String)> {
        if self.table_name() {
            self.any(&["must have", "should have", "has", "have", "contains"]).then_some(())?;
        } else {
            self.any(&["there must be", "there should be", "there is", "there are"]);
        }
        let test = self.count(true)?;
        self.any(&ROWS).then_some(())?;
        self.any(&["per", "for each", "for every"]).then_some(())?;
        let (columns, "and") = self.columns()? else { return None };
        // A day of times may be meant.
        let is_exact = |it: &&ClaimColumn| {
            !matches!(it.dtype, DType::Timestamp | DType::TimestampUtc) || 1 < columns.len()
        };
        columns.iter().all(is_exact).then_some(())?;
        Some((columns, test))
    }

    /// `each country belongs to one continent`, `price does not vary within a product`
    pub(super) fn one_value(&mut self) -> Option<FormClaim> {
        let (by, column, is_required) =
            self.attempt(Self::belongs).or_else(|| self.attempt(Self::varies))?;
        (by.name != column.name).then_some(())?;
        let counted = format!("count(distinct {})", column.sql());
        let test = format!("{counted} {} 1", if is_required { "=" } else { "<=" });
        let words = if is_required { "is exactly 1" } else { "is at most 1" };
        let reading = format!(
            "the number of different `{}` of each `{}` of `{}` {words}",
            column.name, by.name, self.table.name
        );
        Some(self.of_groups(&[by.sql()], &counted, &test, reading, &[by, column]))
    }

    /// Reads a column, another that has one value for each of its values, and whether it has to have one.
    fn belongs(&mut self) -> Option<(&'a ClaimColumn, &'a ClaimColumn, bool)> {
        self.any(&["each", "every", "an", "a"]).then_some(())?;
        let by = self.bare_column()?;
        self.any(&["must", "should", "always"]);
        self.any(&["belongs to", "belong to", "maps to", "map to", "has", "have"]).then_some(())?;
        let is_required = self.one_of(&[
            ("exactly one", true),
            ("a single", false),
            ("one and only one", true),
            ("only one", false),
            ("at most one", false),
            ("no more than one", false),
            ("one", true),
        ])?;
        self.any(&["different", "distinct"]);
        let column = self.bare_column()?;
        // `has one choice` may be a row with the number 1.
        (column.dtype == DType::String).then_some((by, column, is_required))
    }

    fn varies(&mut self) -> Option<(&'a ClaimColumn, &'a ClaimColumn, bool)> {
        let column = self.column()?;
        self.any(&[
            "must not vary", "does not vary", "do not vary", "never varies", "never vary",
            "must not change", "does not change", "never changes", "is always the same",
            "is the same", "must be the same", "is always constant", "is constant",
        ])
        .then_some(())?;
        self.any(&IN_GROUP).then_some(())?;
        Some((self.bare_column()?, column, false))
    }
}
