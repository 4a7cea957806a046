//! The statements that find the rows that differ.

use serde_json::Value;

use csv_agent_render::report::checks::PlacedRow;
use csv_agent_text::sql::identifier;
use csv_agent_types::catalog::{Column, DType};
use csv_agent_types::frame::Frame;

use super::report::{ChangedCell, ChangedRow, Retyped};

/// Names of the two datasets.
pub(super) const OLD: &str = "old";
pub(super) const NEW: &str = "new";
/// The column that tells equal rows apart. No column of a file has a name with this character.
const NTH: &str = "\"nth\u{1}\"";

/// A column that both versions have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub name: String,
    pub old: DType,
    pub new: DType,
}

impl Pair {
    /// Makes one of the two columns.
    pub(super) fn of(old: &Column, new: &Column) -> Pair {
        Pair { name: old.name.clone(), old: old.dtype, new: new.dtype }
    }

    /// Returns whether the types differ.
    pub(super) fn is_retyped(&self) -> bool {
        self.old != self.new
    }

    /// Returns whether both versions have numbers.
    fn is_of_numbers(&self) -> bool {
        [self.old, self.new].iter().all(|it| matches!(it, DType::Int64 | DType::Float64))
    }

    /// Returns whether one version has days and the other has times: a day is its midnight.
    fn is_of_times(&self) -> bool {
        let is_time = |it: DType| matches!(it, DType::Date | DType::Timestamp);
        self.is_retyped() && is_time(self.old) && is_time(self.new)
    }

    /// Returns the value of a version that is compared: as text, if values of the two types cannot be compared.
    fn value(&self, version: &str) -> String {
        let name = identifier(&self.name);
        if !self.is_retyped() || self.is_of_numbers() {
            return name;
        }
        if self.is_of_times() {
            return format!("cast({name} as timestamp)");
        }
        let (own, other) = if version == OLD { (self.old, self.new) } else { (self.new, self.old) };
        if (own, other) == (DType::String, DType::Float64) {
            // The other one does not know how its numbers were written: `1.50` is 1.5 there.
            return format!("coalesce(cast(try_cast({name} as double) as text), {name})");
        }
        format!("cast({name} as text)")
    }

    /// Returns the value to join by, which is never null. Whether it is missing is a column of its own.
    fn key_value(&self, version: &str) -> String {
        let value = self.value(version);
        let own = if version == OLD { self.old } else { self.new };
        match (self.is_retyped(), own) {
            // A whole number as it is written as one, and exactly so above 2^53.
            (true, DType::Float64) if self.is_of_numbers() => format!(
                "coalesce(case when cast(try_cast({value} as bigint) as double) = {value} \
                 then cast(try_cast({value} as bigint) as text) else cast({value} as text) end, '')"
            ),
            (false, DType::Int64) => format!("coalesce({value}, 0)"),
            (false, DType::Bool) => format!("coalesce({value}, false)"),
            (false, DType::String) => format!("coalesce({value}, '')"),
            _ => format!("coalesce(cast({value} as text), '')"),
        }
    }
}

/// What is compared, and by what rows are the same.
#[derive(Debug)]
pub(super) struct DiffPlan {
    /// Columns whose values identify a row; all of them, if there is no key.
    key: Vec<Pair>,
    /// The other columns.
    others: Vec<Pair>,
    /// Whether equal rows are told apart by their number.
    is_of_whole_rows: bool,
}

impl DiffPlan {
    /// Decides how to compare. Without a key, whole rows are compared.
    pub(super) fn of(pairs: Vec<Pair>, key: &[String]) -> DiffPlan {
        let is_of_whole_rows = key.is_empty();
        let is_key = |it: &Pair| is_of_whole_rows || key.contains(&it.name);
        let (key, others) = pairs.into_iter().partition(is_key);
        DiffPlan { key, others, is_of_whole_rows }
    }

    /// Returns the columns whose types differ.
    pub(super) fn retyped(&self) -> Vec<Retyped> {
        let retyped = self.key.iter().chain(&self.others).filter(|it| it.is_retyped());
        let retyped =
            retyped.map(|it| Retyped { column: it.name.clone(), old: it.old, new: it.new });
        retyped.collect()
    }

    /// Returns the statement for the rows that only the old version has.
    pub(super) fn removed(&self) -> String {
        self.only_in(OLD, NEW)
    }

    /// Returns the statement for the rows that only the new version has.
    pub(super) fn added(&self) -> String {
        self.only_in(NEW, OLD)
    }

    fn only_in(&self, version: &str, other: &str) -> String {
        let names = self.key.iter().chain(&self.others).map(|it| identifier(&it.name));
        let names: Vec<String> = names.map(|it| format!("a.{it}")).collect();
        format!(
            "select {} from ({}) as a anti join ({}) as b on {}",
            names.join(", "),
            self.side(version),
            self.side(other),
            self.same_key()
        )
    }

    /// Returns the statement for rows with other values in the new version: the key, then for each other column the
    /// old and the new value.
    pub(super) fn changed(&self) -> Option<String> {
        let differs: Vec<String> = self.differs().collect();
        let keys = self.key.iter().map(|it| format!("a.{}", identifier(&it.name)));
        let values = self.others.iter().flat_map(|it| {
            let name = identifier(&it.name);
            ["b", "a"].map(|side| format!("{side}.{name}"))
        });
        let named = keys.chain(values).enumerate().map(|(at, it)| format!("{it} as c{at}"));
        let named: Vec<String> = named.collect();
        let (joined, where_) = (self.joined(), differs.join(" or "));
        let sql = format!("select {} from {joined} where {where_}", named.join(", "));
        (!differs.is_empty()).then_some(sql)
    }

    /// Returns the statement that counts the rows whose value differs, for each column that is not of the key.
    pub(super) fn counts(&self) -> Option<String> {
        let counts = self.differs().enumerate();
        let counts = counts.map(|(at, it)| format!("count(*) filter (where {it}) as c{at}"));
        let counts: Vec<String> = counts.collect();
        (!counts.is_empty()).then(|| format!("select {} from {}", counts.join(", "), self.joined()))
    }

    fn differs(&self) -> impl Iterator<Item = String> {
        self.others.iter().map(|it| {
            let name = identifier(&it.name);
            let differs = format!("a.{name} is distinct from b.{name}");
            if !it.is_retyped() || !it.is_of_numbers() {
                return differs;
            }
            // Whole numbers above 2^53 may be equal as floats.
            let whole = |side: &str| format!("try_cast({side}.{name} as bigint)");
            format!("({differs} or {} is distinct from {})", whole("a"), whole("b"))
        })
    }

    /// Returns the rows that both versions have: `a` is the new one.
    fn joined(&self) -> String {
        let (new, old) = (self.side(NEW), self.side(OLD));
        format!("({new}) as a join ({old}) as b on {}", self.same_key())
    }

    fn side(&self, version: &str) -> String {
        let pairs = || self.key.iter().chain(&self.others);
        let mut columns: Vec<String> = pairs()
            .map(|it| format!("{} as {}", it.value(version), identifier(&it.name)))
            .collect();
        for (at, pair) in self.key.iter().enumerate() {
            let (value, name) = (pair.key_value(version), identifier(&pair.name));
            columns.push(format!("{value} as {}, {name} is null as {}", key(at), missing(at)));
        }
        if self.is_of_whole_rows {
            let values: Vec<String> = pairs().map(|it| it.key_value(version)).collect();
            let missing = pairs().map(|it| format!("{} is null", identifier(&it.name)));
            let same: Vec<String> = values.into_iter().chain(missing).collect();
            columns.push(format!("row_number() over (partition by {}) as {NTH}", same.join(", ")));
        }
        format!("select {} from {version}", columns.join(", "))
    }

    /// Returns the condition for the same row: equalities, by which many rows are joined at once.
    fn same_key(&self) -> String {
        let nth = self.is_of_whole_rows.then(|| NTH.to_owned());
        let names = (0..self.key.len()).flat_map(|at| [key(at), missing(at)]).chain(nth);
        let same: Vec<String> = names.map(|it| format!("a.{it} = b.{it}")).collect();
        same.join(" and ")
    }

    /// Returns the columns with values that differ, and how many rows they differ in, from the result of
    /// [`DiffPlan::counts`].
    pub(super) fn changed_cells(&self, counts: Option<Frame>) -> Vec<(String, u64)> {
        let counts = counts.map(counts_of).unwrap_or_default();
        let names = self.others.iter().map(|it| it.name.clone());
        names.zip(counts).filter(|it| 0 < it.1).collect()
    }

    /// Returns the changes in rows of [`DiffPlan::changed`].
    pub(super) fn changes(&self, rows: Vec<PlacedRow>) -> Vec<ChangedRow> {
        rows.into_iter().map(|it| self.change(it)).collect()
    }

    fn change(&self, row: PlacedRow) -> ChangedRow {
        let mut values = row.values.into_iter().map(|it| it.1);
        let key = self.key.iter().zip(&mut values).map(|(pair, it)| (pair.name.clone(), it));
        let key: Vec<(String, Value)> = key.collect();
        let mut cells = Vec::new();
        for pair in &self.others {
            let (Some(old), Some(new)) = (values.next(), values.next()) else { break };
            if !is_equal(&old, &new) {
                cells.push(ChangedCell { column: pair.name.clone(), old, new });
            }
        }
        ChangedRow { row: PlacedRow { values: key, ..row }, cells }
    }
}

/// Returns the name of the column with a part of the key. No column of a file has a name with this character.
fn key(at: usize) -> String {
    format!("\"key{at}\u{1}\"")
}

/// Returns the name of the column that says whether that part is missing.
fn missing(at: usize) -> String {
    format!("\"missing{at}\u{1}\"")
}

/// Returns whether two values are equal; a whole number may be a float in one of them, and a large one text.
fn is_equal(old: &Value, new: &Value) -> bool {
    let whole = |it: &Value| match it {
        Value::String(text) => text.parse::<i128>().ok(),
        it => it.as_i64().map(i128::from).or_else(|| {
            let number = it.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 1e30)?;
            #[expect(clippy::cast_possible_truncation, reason = "whole, and in range")]
            Some(number as i128)
        }),
    };
    let is_number = |it: &Value| it.is_number();
    old == new
        || (is_number(old) || is_number(new)) && whole(old).is_some_and(|it| whole(new) == Some(it))
}

/// Returns the statement that counts the different values of columns of a version.
pub(super) fn key_counts(names: &[&str], version: &str) -> String {
    let counts = names.iter().enumerate();
    let counts = counts.map(|(at, it)| format!("count(distinct {}) as c{at}", identifier(it)));
    format!("select {} from {version}", counts.collect::<Vec<_>>().join(", "))
}

/// Returns the statement for a key that most rows of a version have in common, with their number.
pub(super) fn of_equal_key(key: &[String], version: &str) -> String {
    let names: Vec<String> = key.iter().map(|it| identifier(it)).collect();
    let names = names.join(", ");
    let n = key.len() + 1;
    format!(
        "select {names}, count(*) from {version} group by {names} having count(*) > 1 order by {n} desc limit 1"
    )
}

/// Returns the numbers of a row of counts.
pub(super) fn counts_of(frame: Frame) -> Vec<u64> {
    let row = frame.rows.into_iter().next().unwrap_or_default();
    row.iter().map(|it| it.as_u64().unwrap_or_default()).collect()
}
