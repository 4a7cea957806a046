//! What the user wants columns to be, whatever their values look like.

use csv_agent_types::catalog::{DType, Meaning};
use csv_agent_types::status::{ExitStatus, Failure};

/// What a column is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedType {
    /// Of this type.
    Type(DType),
    /// Numbers of which no digit is lost: floats, or the file is refused.
    Decimal,
    /// Numbers that are written with a currency, or without.
    Money,
    /// Numbers that are written with `%`, or without: `12.5%` is 12.5.
    Percent,
}

impl RequestedType {
    /// The names that the help shows.
    pub const NAMES: &str =
        "text, int, float, decimal, bool, date, datetime, datetime_utc, time, money, percent";

    /// Returns what a name means, in any case: one of ours, of SQL, of pandas or of Arrow.
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

    /// Returns the name that the catalog and messages have.
    pub fn name(self) -> &'static str {
        match self {
            RequestedType::Type(dtype) => dtype.name(),
            RequestedType::Decimal => "decimal",
            RequestedType::Money => "money",
            RequestedType::Percent => "percent",
        }
    }

    /// Returns whether columns of this meaning are what `*` stands for.
    fn is_of(self, meaning: Option<&Meaning>) -> bool {
        matches!(
            (self, meaning),
            (RequestedType::Money, Some(Meaning::Money { .. }))
                | (RequestedType::Percent, Some(Meaning::Percent))
                | (RequestedType::Type(DType::Bool), Some(Meaning::YesNo))
        )
    }
}

/// What is wanted of the columns of a file.
#[derive(Debug, Clone, Default)]
pub struct Wants {
    /// Of the columns that are named.
    by_column: Vec<Option<RequestedType>>,
    /// Of all columns that are known as that.
    of_known: Vec<RequestedType>,
}

impl Wants {
    /// Finds the columns by their names, without regard to case where that leaves one.
    ///
    /// # Errors
    ///
    /// Fails with [`ExitStatus::Usage`] when there is no such column, or more than one, or when `*` stands for
    /// a type that nothing is known as.
    pub fn find(dtypes: &[(String, RequestedType)], names: &[String]) -> anyhow::Result<Self> {
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
                        let hint = "`*` is for `money`, `percent` and `bool`, and means each column that is \
                                    known as that";
                        return Err(Failure::new(ExitStatus::Usage, message).hint(hint).into());
                    }
                    wants.of_known.push(*wanted);
                }
                Err(problem) => {
                    let message = format!("{problem} to read as {}", wanted.name());
                    let shown =
                        names.iter().take(20).map(|it| format!("`{it}`")).collect::<Vec<_>>();
                    let hint = format!("the columns are {}", shown.join(", "));
                    return Err(Failure::new(ExitStatus::Usage, message).hint(hint).into());
                }
            }
        }
        Ok(wants)
    }

    /// Finds those columns that there are, as [`Wants::find`] does.
    ///
    /// # Errors
    ///
    /// Fails as that does, but for a column that is not there.
    pub fn find_any(dtypes: &[(String, RequestedType)], names: &[String]) -> anyhow::Result<Self> {
        let is_there = |it: &&(String, RequestedType)| it.0 == "*" || place(&it.0, names).is_ok();
        Self::find(&dtypes.iter().filter(is_there).cloned().collect::<Vec<_>>(), names)
    }

    /// Returns what the user wants of a column by its name.
    pub fn of_column(&self, at: usize) -> Option<RequestedType> {
        self.by_column.get(at).copied().flatten()
    }

    /// Returns what is wanted of a column that is known to have this meaning.
    pub fn of(&self, at: usize, meaning: Option<&Meaning>) -> Option<RequestedType> {
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
