//! Lists in a sentence: `a, b and 3 more`.

use std::fmt::Display;

/// Returns the items with commas; of more than `shown_max`, the first and how many more there are.
pub fn listed(items: impl IntoIterator<Item = impl Display>, shown_max: usize) -> String {
    let mut items = items.into_iter();
    let shown: Vec<String> = items.by_ref().take(shown_max).map(|it| it.to_string()).collect();
    match items.count() {
        0 => shown.join(", "),
        n_more => format!("{} and {n_more} more", shown.join(", ")),
    }
}

/// Returns the names in backticks like [`listed`].
pub fn names(names: impl IntoIterator<Item = impl Display>, shown_max: usize) -> String {
    listed(names.into_iter().map(|it| format!("`{it}`")), shown_max)
}

/// Returns all names, in backticks and with commas.
pub fn all_names(all: impl IntoIterator<Item = impl Display>) -> String {
    names(all, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::{all_names, listed, names};

    #[test]
    fn of_many_items_the_first_are_listed() {
        assert_eq!(listed([1, 2, 3], 3), "1, 2, 3");
        assert_eq!(listed([1, 2, 3, 4], 2), "1, 2 and 2 more");
        assert_eq!(names(["a", "b", "c"], 2), "`a`, `b` and 1 more");
        assert_eq!(all_names(["a", "b"]), "`a`, `b`");
    }
}
