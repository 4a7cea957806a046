//! Fitting text: broken into lines, or shortened so that different texts remain different.

use std::collections::HashMap;

use unicode_width::UnicodeWidthChar;

use super::text::width;
use crate::glyphs::Weight;

/// Where a word may be broken in addition to spaces, as in `net_revenue` and `2024/25`.
const BREAKS: [char; 7] = ['-', '_', '/', ',', '‐', '–', '…'];
/// Shares of the width that are tried to make lines even.
const EVEN_SHARES: [f64; 5] = [0.5, 0.6, 0.7, 0.8, 0.9];
/// For a text cut in the middle, the shares of the width that its beginning gets, tried until it
/// differs from the others.
const HEAD_SHARES: [f64; 2] = [0.6, 0.25];

/// Returns the text, cut with an ellipsis when it is wider than `width_max` pixels.
pub(crate) fn shorten(text: &str, size: f64, weight: Weight, width_max: f64) -> String {
    if width(text, size, weight) <= width_max {
        return text.to_owned();
    }
    let room = width_max - width("…", size, weight);
    format!("{}…", head(text, size, weight, room).trim_end())
}

/// Returns the texts, each at most `width_max` pixels wide, so that different ones remain different:
/// cut at the end, else in the middle, else numbered.
pub(crate) fn shorten_all(
    texts: &[String],
    size: f64,
    weight: Weight,
    width_max: f64,
) -> Vec<String> {
    let cut = |text: &String| shorten(text, size, weight, width_max);
    let mut short: Vec<_> = texts.iter().map(cut).collect();
    for head_share in HEAD_SHARES {
        for at in shared(texts, &short) {
            short[at] = middle(&texts[at], size, weight, width_max, head_share);
        }
    }
    let shared = shared(texts, &short);
    if shared.is_empty() {
        return short;
    }
    let mut taken: HashMap<String, &String> =
        short.iter().cloned().zip(texts).filter(|it| it.0 == *it.1).collect();
    let mut numbered: HashMap<&String, String> = HashMap::new();
    for at in shared {
        let text = &texts[at];
        let free = || {
            let number = |it: usize| {
                let sign = format!("… {it}");
                let room = width_max - width(&sign, size, weight);
                format!("{}{sign}", head(text, size, weight, room).trim_end())
            };
            // Of one more number than there are texts, at least one is free.
            (1..=texts.len() + 1).map(number).find(|it| !taken.contains_key(it)).unwrap_or_default()
        };
        let name = numbered.get(text).cloned().unwrap_or_else(free);
        taken.insert(name.clone(), text);
        numbered.insert(text, name.clone());
        short[at] = name;
    }
    short
}

/// Returns the texts whose shortened form equals that of another text.
fn shared(texts: &[String], short: &[String]) -> Vec<usize> {
    let mut owners: HashMap<&String, &String> = HashMap::new();
    let mut alike: HashMap<&String, bool> = HashMap::new();
    for (text, short) in texts.iter().zip(short) {
        let is_alike = *owners.entry(short).or_insert(text) != text;
        *alike.entry(short).or_default() |= is_alike;
    }
    (0..texts.len()).filter(|it| alike[&short[*it]] && short[*it] != texts[*it]).collect()
}

/// Returns the beginning and the end of a text, with an ellipsis for the middle.
fn middle(text: &str, size: f64, weight: Weight, width_max: f64, head_share: f64) -> String {
    let room = width_max - width("…", size, weight);
    let head = head(text, size, weight, room * head_share);
    let rest = &text[head.len()..];
    let room = room - width(head, size, weight);
    let mut used = 0.0;
    let fits = rest.char_indices().rev().take_while(|(_, char)| {
        used += width(char.encode_utf8(&mut [0; 4]), size, weight);
        used <= room
    });
    // A character that modifies the previous letter cannot begin a part.
    let start = fits.filter(|it| !is_joined(it.1)).last().map_or(rest.len(), |it| it.0);
    format!("{}…{}", head.trim_end(), rest[start..].trim_start())
}

/// Returns as much of the beginning as fits.
fn head(text: &str, size: f64, weight: Weight, room: f64) -> &str {
    let mut used = 0.0;
    let mut end = 0;
    for (at, char) in text.char_indices() {
        used += width(char.encode_utf8(&mut [0; 4]), size, weight);
        if room < used {
            break;
        }
        end = at + char.len_utf8();
    }
    // A letter without the marks after it is a different letter.
    let is_split = |end: usize| text[end..].chars().next().is_some_and(is_joined);
    while 0 < end && is_split(end) {
        end = text[..end].char_indices().next_back().map_or(0, |it| it.0);
    }
    &text[..end]
}

fn is_joined(char: char) -> bool {
    UnicodeWidthChar::width(char) == Some(0)
}

/// Returns the text in at most `n_lines` lines no wider than `width_max` pixels, if it fits.
///
/// Lines end at spaces, at hyphens and similar characters, and between letters of scripts without
/// spaces.
pub(crate) fn wrap(
    text: &str,
    size: f64,
    weight: Weight,
    width_max: f64,
    n_lines: usize,
) -> Option<Vec<String>> {
    let (lines, is_whole) = lines(text, size, weight, width_max, n_lines);
    let fits = |it: &String| width(it, size, weight) <= width_max;
    (is_whole && lines.iter().all(fits)).then(|| balanced(text, lines, size, weight, width_max))
}

/// Returns the same number of lines, of more even widths where possible.
fn balanced(
    text: &str,
    whole: Vec<String>,
    size: f64,
    weight: Weight,
    width_max: f64,
) -> Vec<String> {
    let narrow = |share: &f64| {
        let room = width_max * share;
        let (lines, is_whole) = lines(text, size, weight, room, whole.len());
        let fits = |it: &String| width(it, size, weight) <= room;
        (is_whole && lines.iter().all(fits)).then_some(lines)
    };
    if whole.len() < 2 {
        return whole;
    }
    EVEN_SHARES.iter().find_map(narrow).unwrap_or(whole)
}

/// Returns the text in lines like [`wrap`]; the excess is cut with an ellipsis.
pub(crate) fn wrap_or_cut(
    text: &str,
    size: f64,
    weight: Weight,
    width_max: f64,
    n_lines: usize,
) -> Vec<String> {
    if let Some(lines) = wrap(text, size, weight, width_max, n_lines) {
        return lines;
    }
    let (lines, _) = lines(text, size, weight, width_max, n_lines);
    lines.iter().map(|it| shorten(it, size, weight, width_max)).collect()
}

/// Returns lines of which the last contains all the remaining text, and whether that is no wider than
/// the others need to be.
fn lines(
    text: &str,
    size: f64,
    weight: Weight,
    width_max: f64,
    n_lines: usize,
) -> (Vec<String>, bool) {
    let mut lines: Vec<String> = Vec::new();
    let mut is_whole = true;
    for word in text.split_whitespace() {
        for (at, piece) in pieces(word).into_iter().enumerate() {
            let space = if at == 0 { " " } else { "" };
            let is_last = lines.len() == n_lines;
            match lines.last_mut() {
                Some(line) => {
                    let longer = format!("{line}{space}{piece}");
                    if width(&longer, size, weight) <= width_max {
                        *line = longer;
                    } else if is_last {
                        is_whole = false;
                        *line = longer;
                    } else {
                        lines.push(piece.to_owned());
                    }
                }
                None => lines.push(piece.to_owned()),
            }
        }
    }
    (lines, is_whole)
}

/// Returns the parts of a word between which a line may be broken.
fn pieces(word: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, char) in word.char_indices() {
        let can_end = before.is_some_and(|it| {
            (BREAKS.contains(&it) && char.is_alphanumeric()) || is_wide(it) || is_wide(char)
        });
        if can_end && !is_joined(char) && start < at {
            pieces.push(&word[start..at]);
            start = at;
        }
        before = Some(char);
    }
    pieces.push(&word[start..]);
    // A sign before a number is not a hyphen.
    if pieces.len() > 1 && pieces[0].chars().all(|it| BREAKS.contains(&it)) {
        pieces.splice(..2, [&word[..pieces[0].len() + pieces[1].len()]]);
    }
    pieces
}

/// Returns whether a letter belongs to a script without spaces.
fn is_wide(char: char) -> bool {
    char.is_alphabetic() && UnicodeWidthChar::width(char) == Some(2)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::{Weight, shorten, shorten_all, width, wrap, wrap_or_cut};
    use csv_agent_testing::cases;

    #[test]
    fn a_short_text_stays_and_a_long_one_ends_in_an_ellipsis() {
        assert_eq!(shorten("Anvil", 13.0, Weight::Regular, 100.0), "Anvil");
        let short = shorten(&"long ".repeat(100), 13.0, Weight::Regular, 100.0);
        assert!(short.ends_with('…') && short.starts_with("long long"));
        assert!(width(&short, 13.0, Weight::Regular) <= 100.0);
    }

    #[track_caller]
    fn check_lines(text: &str, room: f64, lines: Option<&[&str]>) {
        let lines = lines.map(|it| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(wrap(text, 13.0, Weight::Regular, room, 2), lines);
    }

    #[test]
    fn lines_break_at_spaces_and_hyphens_and_between_letters_that_need_none() {
        check_lines("one two three", 60.0, Some(&["one two", "three"]));
        check_lines("one two three four five", 60.0, None);
        check_lines("net_revenue", 60.0, Some(&["net_", "revenue"]));
        check_lines("東京都千代田区", 60.0, Some(&["東京都千", "代田区"]));
        check_lines("-5 to 0", 60.0, Some(&["-5 to 0"]));
        check_lines("extraordinary", 60.0, None);
        let lines = wrap_or_cut("one two three four five", 13.0, Weight::Regular, 60.0, 2);
        assert_eq!(lines, ["one two", "three fo…"]);
        assert!(wrap_or_cut("  ", 13.0, Weight::Regular, 60.0, 2).is_empty());
    }

    #[track_caller]
    fn check_all(texts: &[&str], expected: &[&str]) {
        let texts: Vec<_> = texts.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(shorten_all(&texts, 13.0, Weight::Regular, 110.0), expected);
    }

    #[test]
    fn texts_that_differ_are_cut_to_texts_that_differ() {
        check_all(
            &["Department of Health and Sport", "Department of Health and Work", "Rest"],
            &["Departm…d Sport", "Departm…d Work", "Rest"],
        );
        check_all(
            &["Department of Sport, Northern Part", "Department of Sport, Southern Part"],
            &["Dep…rthern Part", "Dep…uthern Part"],
        );
        check_all(
            &["Department of Health and Sport (a)", "Department of Works and Sport (a)"],
            &["Department o… 1", "Department o… 2"],
        );
        let inside = |it: &str| format!("{0}{it}{0}", "same words again ".repeat(9));
        check_all(
            &[&inside("1"), &inside("2"), &inside("1")],
            &["same words a… 1", "same words a… 2", "same words a… 1"],
        );
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn what_differs_still_does_and_fits(
            texts in proptest::collection::vec("[ab…\u{301}東אلابم 12]{0,12}", 1..20),
            repeated in "[a-cسلاةى ]{0,30}",
            room in 60.0..140.0_f64,
        ) {
            let texts: Vec<_> = texts.iter().map(|it| format!("{repeated}{it}{repeated}")).collect();
            let short = shorten_all(&texts, 13.0, Weight::Regular, room);
            let differ = |it: &[String]| it.iter().cloned().collect::<HashSet<_>>().len();
            prop_assert_eq!(differ(&texts), differ(&short), "{:?}", short);
            for text in &short {
                prop_assert!(width(text, 13.0, Weight::Regular) <= room, "{}", text);
            }
        }

        #[test]
        fn no_text_is_lost_in_lines(text in any::<String>(), room in 1.0..300.0_f64) {
            let text: String = text.chars().filter(|it| !it.is_control()).collect();
            let bare = |it: &str| it.chars().filter(|it| !it.is_whitespace()).collect::<String>();
            if let Some(lines) = wrap(&text, 13.0, Weight::Regular, room, 3) {
                prop_assert_eq!(bare(&lines.concat()), bare(&text));
            }
        }
    }
}
