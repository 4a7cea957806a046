//! Lines above a table that are not part of it: comments, and sentences such as those of a licence.
//!
//! Pure. They do not influence the detected delimiter and column count: a long text above a small table
//! would outweigh it.

/// Comment markers.
const MARKERS: [&[u8]; 7] = [b"#", b"//", b"%", b"--", b"*", b"\"#", b"\xef\xbb\xbf#"];
/// Minimum words of a sentence.
const WORDS_MIN: usize = 6;
/// Consecutive lines that may be titles.
const TITLES_MAX: usize = 5;
/// Minimum lines below that are of neither kind.
const LINES_BELOW_MIN: usize = 2;
/// Lines below to check for sentences.
const LINES_BELOW_MAX: usize = 50;

/// Returns how many bytes of `head` are lines of comments and sentences above lines that are neither, or names with
/// values above a blank line.
pub(crate) fn n_bytes(head: &[u8]) -> usize {
    match pairs(head) {
        0 => comments_and_sentences(head),
        n => n,
    }
}

/// Returns how many bytes are a few names with values, of which the first ends with a colon, above a blank line and a
/// table. Titles may be above them.
fn pairs(head: &[u8]) -> usize {
    const PAIRS_MAX: usize = 12;
    let is_title = |it: &&[u8]| matches!(kind(it), LineKind::Plain | LineKind::Blank);
    let is_blank = |it: &&[u8]| it.trim_ascii().is_empty();
    let is_pair = |line: &&[u8]| {
        let end = line.iter().position(|it| b",;\t|".contains(it));
        end.is_some_and(|it| line[..it].trim_ascii_end().ends_with(b":"))
    };
    let lines: Vec<&[u8]> =
        head.split_inclusive(|it| *it == b'\n').take(TITLES_MAX + 2 * PAIRS_MAX).collect();
    let n_titles = lines.iter().take(TITLES_MAX).take_while(|it| is_title(it)).count();
    let n_pairs = lines[n_titles..].iter().take_while(|it| !is_blank(it)).count();
    let end = n_titles + n_pairs;
    let n_blank = lines[end..].iter().take_while(|it| is_blank(it)).count();
    let below = &lines[end + n_blank..];
    let is_above = lines.get(n_titles).is_some_and(is_pair)
        && n_pairs <= PAIRS_MAX
        && LINES_BELOW_MIN <= below.len()
        && !below.iter().any(is_pair);
    if is_above { lines[..end + n_blank].iter().map(|it| it.len()).sum() } else { 0 }
}

fn comments_and_sentences(head: &[u8]) -> usize {
    let (mut n_marked, mut n_sentences, mut n_plain) = (0, 0, 0);
    // The end of the last line that is certainly not part of the table, and the end of possible titles.
    let (mut end, mut at, mut n_titles, mut is_below) = (0, 0, 0, false);
    for line in head.split_inclusive(|it| *it == b'\n') {
        let kind = kind(line);
        match kind {
            // Rows of a single column may have comments among them.
            LineKind::Marked if 0 < n_titles && 0 < n_marked => break,
            LineKind::Marked => n_marked += 1,
            LineKind::Sentence => n_sentences += 1,
            LineKind::Plain if TITLES_MAX < n_titles => break,
            LineKind::Plain => n_titles += 1,
            LineKind::Blank => {}
            LineKind::Other => {
                is_below = true;
                break;
            }
        }
        at += line.len();
        if matches!(kind, LineKind::Marked | LineKind::Sentence) {
            n_plain += n_titles;
            (end, n_titles) = (at, 0);
        }
    }
    if is_below {
        (end, n_plain) = (at, n_plain + n_titles);
    }
    let (lead, rest) = head.split_at(end);
    // An open quote may continue after these lines.
    let is_closed = memchr::memchr_iter(b'"', lead).count().is_multiple_of(2);
    let below = || rest.split(|it| *it == b'\n').filter(|it| !it.trim_ascii().is_empty());
    let is_text = || below().take(LINES_BELOW_MAX).any(|it| matches!(kind(it), LineKind::Sentence));
    let is_clear = 0 < n_marked || (0 < n_sentences && !is_text());
    let n_below_min = LINES_BELOW_MIN + if n_marked + n_sentences < n_plain { n_plain } else { 0 };
    let is_above = n_below_min <= below().take(n_below_min).count();
    if is_closed && is_clear && is_above { end } else { 0 }
}

/// The kind of a single line.
enum LineKind {
    /// It begins with a comment marker.
    Marked,
    /// It has as many words as a sentence.
    Sentence,
    /// It has no delimiter.
    Plain,
    Blank,
    Other,
}

fn kind(line: &[u8]) -> LineKind {
    let line = line.trim_ascii();
    if MARKERS.iter().any(|it| line.starts_with(it)) {
        return LineKind::Marked;
    }
    if line.is_empty() {
        return LineKind::Blank;
    }
    let (mut n_signs, mut n_spaced) = (0, 0);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b'\t' | b'|' => return LineKind::Other,
            b',' | b';' => {
                n_signs += 1;
                n_spaced += usize::from(line.get(at + 1).is_none_or(|it| *it == b' '));
            }
            _ => {}
        }
    }
    let is_word = |it: &&[u8]| it.iter().any(u8::is_ascii_alphabetic);
    let n_words = || line.split(|it| *it == b' ').filter(is_word).count();
    if n_signs == 0 {
        LineKind::Plain
    } else if n_spaced == n_signs && WORDS_MIN <= n_words() {
        LineKind::Sentence
    } else {
        LineKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::n_bytes;

    #[track_caller]
    fn check(lead: &str, rest: &str) {
        assert_eq!(n_bytes(format!("{lead}{rest}").as_bytes()), lead.len(), "{lead}{rest}");
    }

    #[test]
    fn rows_without_a_usual_delimiter_are_none_of_it() {
        let log = "#Version: 1.0\n#Fields: day time n\n";
        let rows = "2024-01-01 10:00 1\n2024-01-01 10:01 2\n";
        check(log, rows);
        check(log, &format!("{rows}{log}{rows}"));
        check("", &format!("a\nb\nc\nd\n# x\n{}", "e;f\n1;2\n"));
    }

    #[test]
    fn comments_and_sentences_above_a_table_are_told_from_it() {
        let rows = "a,b\n1,2\n3,4\n";
        check("# one, two, three\n#\n# four; five\n", rows);
        check("Some rights reserved, see the terms of it, please\nMIT License\n\n", rows);
        check("", rows);
        check("", "Title\n\na,b\n1,2\n");
        check("", "text\nthis is a sentence, and a long one\nso, is this\n");
        check(
            "",
            "text\nthis is a sentence, and a long one\na,b\nthis is a sentence, and a long one\n",
        );
        check("", "#1,x\n#2,y\n");
        check("", "# \"open\n, and closed\" by the next,\na,b\n1,2\n");
    }
}
