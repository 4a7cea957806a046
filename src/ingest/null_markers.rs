//! Markers of missing values that occur in a column.
//!
//! Pure. In a column of numbers or dates they are null; in a text column they are kept, since Namibia's
//! code is NA. Both are reported, because code that compares or counts must know.

use csv_agent_text::{lists::names, sanitize};

/// Returns whether a text is a marker of a missing value.
#[inline]
fn is_word(text: &[u8]) -> bool {
    // The match compares lengths first, so other text costs next to nothing.
    matches!(
        text,
        b"-" | b"."
            | b"?"
            | b"--"
            | b"NA"
            | b"na"
            | b"\\N"
            | b"N/A"
            | b"n/a"
            | b"NaN"
            | b"NAN"
            | b"nan"
            | b"NaT"
            | b"nil"
            | b"Nil"
            | b"NIL"
            | b"#N/A"
            | b"N.A."
            | b"n.a."
            | b"NULL"
            | b"null"
            | b"Null"
            | b"None"
            | b"none"
            | b"NONE"
            | b"#REF!"
            | b"#NULL!"
            | b"#VALUE!"
            | b"missing"
            | b"Missing"
            | b"MISSING"
            | b"unknown"
            | b"Unknown"
            | b"UNKNOWN"
    )
}

/// The markers of a column, in file order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Markers {
    /// Those read as null.
    taken: Counts,
    /// Those kept as text.
    kept: Counts,
}

#[derive(Debug, Clone, Default)]
struct Counts(Vec<(Vec<u8>, u64)>);

impl Markers {
    /// Counts a marker that is null.
    pub(crate) fn take(&mut self, text: &[u8]) {
        self.taken.add(text.trim_ascii(), 1);
    }

    /// Counts a text if it is a marker of a missing value.
    #[inline]
    pub(crate) fn keep(&mut self, text: &[u8]) {
        if is_word(text) {
            self.kept.add(text, 1);
        }
    }

    /// Adds the markers of another part of the file.
    pub(crate) fn add(&mut self, other: Markers) {
        for (all, part) in [(&mut self.taken, other.taken), (&mut self.kept, other.kept)] {
            part.0.into_iter().for_each(|(text, n)| all.add(&text, n));
        }
    }

    /// Reports the markers. Those already named in `told` are not repeated.
    pub(crate) fn note(&self, told: &str) -> Option<String> {
        let taken = self.taken.words("").map(|it| format!("{it} read as missing"));
        let kept = self.kept.words(told).map(|it| format!("{it} kept as text"));
        let said: Vec<String> = taken.into_iter().chain(kept).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// Reports a marker that is null in some columns and kept in others: there it most likely means the same, and counts as
/// a value.
pub(crate) fn doubt(columns: &[(&str, &Markers)]) -> Option<String> {
    const NAMED_MAX: usize = 3;
    let with = |marker: &[u8], counts: fn(&Markers) -> &Counts| {
        let has = |it: &(&str, &Markers)| counts(it.1).0.iter().any(|it| it.0 == marker);
        columns.iter().filter(|it| has(it)).map(|it| it.0).collect::<Vec<_>>()
    };
    let mut taken = columns.iter().flat_map(|it| &it.1.taken.0);
    let (marker, nulls, texts) = taken.find_map(|(marker, _)| {
        let texts = with(marker, |it| &it.kept);
        (!texts.is_empty()).then(|| (marker, with(marker, |it| &it.taken), texts))
    })?;
    let marker = sanitize::one_line(&String::from_utf8_lossy(marker));
    Some(format!(
        "`{marker}` is a missing value in {}, but text in {}; `--null {marker}` reads it as missing everywhere",
        names(nulls, NAMED_MAX),
        names(texts, NAMED_MAX)
    ))
}

impl Counts {
    fn add(&mut self, text: &[u8], n: u64) {
        match self.0.iter_mut().find(|it| it.0 == text) {
            Some(known) => known.1 += n,
            None if text.is_empty() => {}
            None => self.0.push((text.to_owned(), n)),
        }
    }

    fn words(&self, told: &str) -> Option<String> {
        /// More are rare, and add nothing.
        const SHOWN_MAX: usize = 4;
        let shown =
            |text: &[u8]| format!("`{}`", sanitize::one_line(&String::from_utf8_lossy(text)));
        let said = self.0.iter().map(|it| (shown(&it.0), it.1)).filter(|it| !told.contains(&it.0));
        let mut said: Vec<(String, u64)> = said.collect();
        said.sort_by_key(|it| std::cmp::Reverse(it.1));
        let n_more = said.len().saturating_sub(SHOWN_MAX);
        let mut words: Vec<String> =
            said.iter().take(SHOWN_MAX).map(|(text, n)| format!("{n} {text}")).collect();
        if 0 < n_more {
            words.push(format!("{n_more} other words"));
        }
        (!words.is_empty()).then(|| words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::{Markers, doubt, is_word};
    use crate::type_evidence::USUAL;

    #[test]
    fn what_is_null_in_numbers_is_counted_in_text() {
        for word in USUAL {
            assert!(is_word(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn a_marker_that_is_null_in_one_column_and_text_in_another_is_doubtful() {
        let (mut age, mut sex, mut note) = <(Markers, Markers, Markers)>::default();
        age.take(b"NA");
        note.keep(b"-");
        sex.keep(b"m");
        let found = |sex: &Markers| doubt(&[("age", &age), ("note", &note), ("sex", sex)]);
        assert_eq!(found(&sex), None);
        sex.keep(b"NA");
        let told = "`NA` is a missing value in `age`, but text in `sex`; `--null NA` reads it as missing everywhere";
        assert_eq!(found(&sex).as_deref(), Some(told));
    }

    #[test]
    fn words_are_counted_and_the_most_frequent_come_first() {
        let mut markers = Markers::default();
        for text in ["None", "DE", "NA", "None", "Mr None", "Natalia", ""] {
            markers.keep(text.as_bytes());
        }
        let mut more = Markers::default();
        more.keep(b"None");
        more.keep(b"-");
        more.take(b" NA ");
        markers.add(more);
        let expected = "1 `NA` read as missing; 3 `None`, 1 `NA`, 1 `-` kept as text";
        assert_eq!(markers.note("").as_deref(), Some(expected));
        let told = "text: 3 values that are not numbers, the first `None` on line 2";
        let expected = "1 `NA` read as missing; 1 `NA`, 1 `-` kept as text";
        assert_eq!(markers.note(told).as_deref(), Some(expected));
        assert_eq!(Markers::default().note(""), None);
    }
}
