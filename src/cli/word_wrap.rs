//! Wraps words: of help texts, and of lines on a narrow terminal.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

/// Appends wrapped words, with `indent` cells before each further line; the first is indented already.
pub(crate) fn wrap(words: &str, indent: usize, width: usize, text: &mut String) {
    let mut at = indent;
    for (nth, word) in words.split(' ').enumerate() {
        let n_cells = UnicodeWidthStr::width(word);
        if 0 < nth && width <= at + 1 + n_cells {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{:indent$}", "");
            at = indent;
        } else if 0 < nth {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += n_cells;
    }
}

/// Wraps the lines of a text that do not fit, with `indent` cells before each further line.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut wrapped = String::new();
    for line in text.split_inclusive('\n') {
        let words = line.trim_end_matches('\n');
        // Words that are longer than a line are not cut.
        if UnicodeWidthStr::width(words) <= width || width <= indent {
            wrapped.push_str(line);
            continue;
        }
        let rest = words.trim_start_matches(' ');
        wrapped.push_str(&words[..words.len() - rest.len()]);
        wrap(rest, indent, width, &mut wrapped);
        wrapped.push('\n');
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_that_fit_stay_as_they_are() {
        let text = "bad  totals\n     a.csv:3: one=1, two=2, three=3\n\n1 rule\n";
        assert_eq!(wrapped(text, 5, 80), text);
        assert_eq!(wrapped(text, 5, 3), text);
        let narrow = "bad  totals\n     a.csv:3: one=1,\n     two=2, three=3\n\n1 rule\n";
        assert_eq!(wrapped(text, 5, 24), narrow);
    }
}
