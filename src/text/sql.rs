//! SQL text: names and strings, quoted where they need to be.

/// Words that a name without quotes cannot be, in the dialects of DuckDB and `PostgreSQL`, and in ours.
const RESERVED: &[&str] = &[
    "all", "analyse", "analyze", "and", "anti", "any", "array", "as", "asc", "asof", "asymmetric",
    "between", "both", "case", "cast", "check", "collate", "column", "constraint", "count",
    "create", "cross", "current_date", "current_time", "current_timestamp", "date", "day",
    "default", "deferrable", "desc", "describe", "distinct", "do", "else", "end", "escape",
    "except", "exclude", "exists", "extract", "false", "fetch", "filter", "first", "for",
    "foreign", "from", "full", "grant", "group", "groups", "having", "hour", "if", "ilike", "in",
    "initially", "inner", "intersect", "interval", "into", "is", "join", "lambda", "last",
    "lateral", "leading", "left", "like", "limit", "minute", "month", "natural", "not", "null",
    "nulls", "of", "offset", "on", "only", "or", "order", "outer", "over", "partition", "pivot",
    "placing", "position", "positional", "primary", "qualify", "quarter", "range", "recursive",
    "references", "replace", "returning", "right", "row", "rows", "sample", "second", "select",
    "semi", "set", "show", "similar", "some", "sum", "summarize", "symmetric", "table", "then",
    "time", "timestamp", "to", "top", "trailing", "true", "union", "unique", "unnest", "unpivot",
    "user", "using", "value", "values", "variadic", "view", "week", "when", "where", "window",
    "with", "within", "year",
];

/// Writes a name: in double quotes unless it is lower case and no word of the language.
pub fn identifier(name: &str) -> String {
    let is_plain = name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_')
        && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
        && RESERVED.binary_search(&name).is_err();
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Writes a string in single quotes.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::{RESERVED, identifier, literal};

    #[test]
    fn names_are_quoted_where_they_need_to_be() {
        assert!(RESERVED.is_sorted());
        assert_eq!(identifier("body_mass_g"), "body_mass_g");
        for name in ["Body", "of", "2019", "a b", "größe", ""] {
            assert_eq!(identifier(name), format!("\"{name}\""));
        }
        assert_eq!(identifier("the \"day\""), "\"the \"\"day\"\"\"");
        assert_eq!(literal("O'Hare"), "'O''Hare'");
    }
}
