//! Names of datasets: what is a valid one, and which dataset a shorter form means.
//!
//! A dataset has the name of its file. People and models shorten it: `ibm_hr` means `066_IBM_HR`, where no
//! other dataset has these words.

use crate::limits::DATASET_NAME_BYTES_MAX;

/// Returns whether a text is a valid dataset name: letters, digits, `_` and `-`, and a letter or a digit first.
/// It is then a file name, a word of a shell, and no flag.
pub fn is_dataset_name(name: &str) -> bool {
    // An older version put two characters before a name that begins with a digit.
    name.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '-'))
        && name.len() <= DATASET_NAME_BYTES_MAX + 2
        && name.starts_with(char::is_alphanumeric)
}

/// Returns whether names differ at most in the case of letters. Two datasets of a session never do.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || one.to_lowercase() == other.to_lowercase()
}

/// Returns the names that a form may mean; one is a dataset, several are ambiguous.
///
/// The first of these that any name fits decides: the name itself, another case, another separator, some
/// of the words of the name.
pub fn meant<'a>(form: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let names: Vec<&str> = names.collect();
    let wanted = words(form);
    let has_letter = form.contains(char::is_alphabetic);
    let fits: [&dyn Fn(&str) -> bool; 4] =
        [&|it| it == form, &|it| is_same(it, form), &|it| words(it) == wanted, &|it| {
            has_letter && words(it).windows(wanted.len().max(1)).any(|it| it == wanted)
        }];
    let found = fits.iter().map(|fits| names.iter().copied().filter(|it| fits(it)).collect());
    found.into_iter().find(|it: &Vec<&str>| !it.is_empty()).unwrap_or_default()
}

/// Returns a name in double quotes, as SQL writes any name.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Bytes of a name that may be another one with typos. A comparison takes the product of both lengths.
pub const TYPO_BYTES_MAX: usize = 500;

/// Returns the name that is most like `wanted`, when one is near enough: not all of its letters are wrong.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if TYPO_BYTES_MAX < wanted.len() {
        return None;
    }
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| strsim::osa_distance(&wanted, &name.to_lowercase());
    let (name, found) = names.map(|it| (it, distance(it))).min_by_key(|it| it.1)?;
    let n_letters = wanted.chars().count();
    let is_near = found < n_letters.min(2 + n_letters / 4)
        || name.to_lowercase().contains(&wanted) && 3 <= wanted.len();
    is_near.then_some(name)
}

/// Returns the words of a name in lower case.
pub fn words(name: &str) -> Vec<String> {
    let words = name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(str::to_lowercase).collect()
}

/// A name in a statement of SQL where a table is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableWord<'a> {
    /// The name.
    pub text: &'a str,
    /// Whether it is in double quotes.
    pub is_quoted: bool,
}

/// Returns the names after FROM, JOIN and commas. The statement need not be valid.
pub fn table_words(sql: &str) -> Vec<TableWord<'_>> {
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
    let mut found = Vec::new();
    let (mut rest, mut expects_table) = (sql, false);
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |it| it + 2),
            _ if is_word(first) => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(end);
        rest = behind;
        if first.is_whitespace() {
            continue;
        }
        if expects_table && (first == '"' || is_word(first)) {
            let is_quoted = first == '"';
            found.push(TableWord { text: token.trim_matches('"'), is_quoted });
        }
        expects_table = ["from", "join", ","].iter().any(|it| token.eq_ignore_ascii_case(it));
    }
    found
}

/// Returns the short forms of names in a statement, each with the name that it means.
pub fn short_forms<'a>(
    sql: &'a str,
    names: &(impl Iterator<Item = &'a str> + Clone),
) -> Vec<(&'a str, &'a str)> {
    let mut found = Vec::new();
    for word in table_words(sql) {
        if let [name] = meant(word.text, names.clone())[..]
            && !is_same(name, word.text)
            && !found.contains(&(word.text, name))
        {
            found.push((word.text, name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{is_dataset_name, meant, short_forms, table_words};

    #[test]
    fn a_name_is_safe_as_a_file_and_in_a_shell() {
        for good in ["sales", "066_IBM_HR", "2024-q1", "Übersicht", "a__b", "1"] {
            assert!(is_dataset_name(good), "{good}");
        }
        for bad in ["", "-rf", "_x", "a b", "v1.2", "a/b", "a'b", "$a", "a\n"] {
            assert!(!is_dataset_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_short_form_means_the_names_with_its_words() {
        let names = ["066_IBM_HR", "fraud_Kansas", "theft_Kansas", "orders-july", "orders", "2024"];
        let check = |form: &str, expected: &[&str]| {
            assert_eq!(meant(form, names.into_iter()), expected, "{form}");
        };
        check("066_IBM_HR", &["066_IBM_HR"]);
        check("066_ibm_hr", &["066_IBM_HR"]);
        check("ibm_hr", &["066_IBM_HR"]);
        check("HR", &["066_IBM_HR"]);
        check("ibm_h", &[]);
        check("066", &[]);
        check("2024", &["2024"]);
        check("kansas", &["fraud_Kansas", "theft_Kansas"]);
        check("orders", &["orders"]);
        check("orders_july", &["orders-july"]);
        check("july", &["orders-july"]);
        check("july_orders", &[]);
        check("", &[]);
        check("_", &[]);
    }

    #[test]
    fn tables_of_a_statement_are_found_where_they_are_expected() {
        let sql =
            "select 'from x', a from 066_IBM_HR h JOIN \"orders-july\" on true, t where b = 1";
        let found: Vec<_> = table_words(sql).iter().map(|it| (it.text, it.is_quoted)).collect();
        let expected = [("a", false), ("066_IBM_HR", false), ("orders-july", true), ("t", false)];
        assert_eq!(found, expected);
        assert!(table_words("from").is_empty() && table_words("from '").is_empty());
        let sql = "from ibm_hr, orders, ORDERS_JULY, \"066_IBM_HR\" join ibm_hr";
        let names = ["066_IBM_HR", "orders-july", "orders"];
        let expected = [("ibm_hr", "066_IBM_HR"), ("ORDERS_JULY", "orders-july")];
        assert_eq!(short_forms(sql, &names.into_iter()), expected);
    }
}
