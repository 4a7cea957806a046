//! The column types that the user requests, whatever the values look like.

use csv_agent_text::lists::all_names;
use csv_agent_types::catalog::{DType, Meaning};
use csv_agent_types::status::Failure;

/// The requested type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedType {
    /// This type.
    Type(DType),
    /// Numbers without loss of any digit: floats, or the file is rejected.
    Decimal,
    /// Numbers with or without a currency.
    Money,
    /// Numbers with or without `%`: `12.5%` is 12.5.
    Percent,
}

impl RequestedType {
    /// The names shown in the help.
    pub const NAMES: &str =
        "text, int, float, decimal, bool, date, datetime, datetime_utc, time, money, percent";

    /// Returns the type for a name, in any case: ours, or one of SQL, pandas or Arrow.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "text" | "string" | "str" | "utf8" | "object" => RequestedType::Type(DType::String),
            "int" | "int64" | "integer" | "bigint" | "long" => RequestedType::Type(DType::Int64),
            "float" | "float64" | "double" | "real" | "number" | "numeric" => {
                RequestedType::Type(DType::Float64)
            }
            "bool" | "boolean" => RequestedType::Type(DType::Bool),
            "date" | "day" => RequestedType::Type(DType::Date),
            "datetime" | "timestamp" => RequestedType::Type(DType::Timestamp),
            "datetime_utc" | "timestamp_utc" | "timestamptz" => {
                RequestedType::Type(DType::TimestampUtc)
            }
            "time" => RequestedType::Type(DType::Time),
            "decimal" => RequestedType::Decimal,
            "money" | "currency" => RequestedType::Money,
            "percent" | "percentage" => RequestedType::Percent,
            _ => return None,
        })
    }

    /// Returns the name used in the catalog and in messages.
    pub fn name(self) -> &'static str {
        match self {
            RequestedType::Type(dtype) => dtype.name(),
            RequestedType::Decimal => "decimal",
            RequestedType::Money => "money",
            RequestedType::Percent => "percent",
        }
    }

    /// Returns whether `*` includes columns of this meaning.
    fn is_of(self, meaning: Option<&Meaning>) -> bool {
        matches!(
            (self, meaning),
            (RequestedType::Money, Some(Meaning::Money { .. }))
                | (RequestedType::Percent, Some(Meaning::Percent))
                | (RequestedType::Type(DType::Bool), Some(Meaning::YesNo))
        )
    }
}

/// The requested types of a file's columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wants {
    /// For each named column.
    by_column: Vec<Option<RequestedType>>,
    /// For all columns with that meaning.
    of_known: Vec<RequestedType>,
}

impl Wants {
    /// Finds the columns by name, ignoring case where that is unambiguous.
    ///
    /// Fails with `FailureKind::Usage` when there is no such column, or more than one, or when `*` is
    /// used with a type that no meaning corresponds to.
    pub(crate) fn find(
        dtypes: &[(String, RequestedType)],
        names: &[String],
    ) -> anyhow::Result<Self> {
        let mut wants = Wants { by_column: vec![None; names.len()], of_known: Vec::new() };
        for (name, wanted) in dtypes {
            match place(name, names) {
                Ok(at) => wants.by_column[at] = Some(*wanted),
                Err(_) if name == "*" => {
                    if !matches!(
                        wanted,
                        RequestedType::Money
                            | RequestedType::Percent
                            | RequestedType::Type(DType::Bool)
                    ) {
                        let message = format!("`*` cannot be read as {}", wanted.name());
                        let hint = "`*` works with `money`, `percent` and `bool`: it means each column \
                                    that csv-agent recognizes as that type";
                        return Err(Failure::usage(message).hint(hint).into());
                    }
                    wants.of_known.push(*wanted);
                }
                Err(problem) => {
                    let message = format!("{problem} to read as {}", wanted.name());
                    let hint = format!("the columns are {}", all_names(names.iter().take(20)));
                    return Err(Failure::usage(message).hint(hint).into());
                }
            }
        }
        Ok(wants)
    }

    /// Finds the columns that exist, as [`Wants::find`] does. Fails in the same cases, except for a missing
    /// column.
    pub(crate) fn find_any(
        dtypes: &[(String, RequestedType)],
        names: &[String],
    ) -> anyhow::Result<Self> {
        let is_there = |it: &&(String, RequestedType)| it.0 == "*" || place(&it.0, names).is_ok();
        Self::find(&dtypes.iter().filter(is_there).cloned().collect::<Vec<_>>(), names)
    }

    /// Returns the type requested for a column by name.
    pub(crate) fn of_column(&self, at: usize) -> Option<RequestedType> {
        self.by_column.get(at).copied().flatten()
    }

    /// Returns the type requested for a column with this meaning.
    pub(crate) fn of(&self, at: usize, meaning: Option<&Meaning>) -> Option<RequestedType> {
        let known = || self.of_known.iter().copied().find(|it| it.is_of(meaning));
        self.of_column(at).or_else(known)
    }
}

fn place(name: &str, names: &[String]) -> Result<usize, String> {
    if let Some(at) = names.iter().position(|it| it == name) {
        return Ok(at);
    }
    let folded = name.to_lowercase();
    let mut found = (0..names.len()).filter(|at| names[*at].to_lowercase() == folded);
    match (found.next(), found.next()) {
        (Some(at), None) => Ok(at),
        (Some(_), Some(_)) => Err(format!("more than one column `{name}`")),
        (None, _) => Err(format!("no column `{name}`")),
    }
}
