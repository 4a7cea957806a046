//! Words, numbers and signs of a claim.

/// A part of a claim.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClaimToken {
    pub kind: TokenKind,
    /// Where it begins in the claim.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// Letters and digits, in lower case.
    Word(String),
    /// Digits, with a sign and decimals.
    Number(String),
    /// `2024-01-31`.
    Day(String),
    Quoted(String),
    /// Another character, or a comparison of two.
    Sign(&'static str),
}

/// Signs, the longer ones first.
const SIGNS: [(&str, &str); 24] = [
    ("<=", "<="),
    ("≤", "<="),
    (">=", ">="),
    ("≥", ">="),
    ("!=", "<>"),
    ("<>", "<>"),
    ("≠", "<>"),
    ("==", "="),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
    ("+", "+"),
    ("-", "-"),
    ("−", "-"),
    ("*", "*"),
    ("×", "*"),
    ("/", "/"),
    ("÷", "/"),
    ("(", "("),
    (")", ")"),
    (",", ","),
    ("%", "%"),
    (".", "."),
    ("@", "@"),
];
/// Quotes that open and close.
const QUOTES: [(char, char); 4] = [('\'', '\''), ('"', '"'), ('“', '”'), ('‘', '’')];

/// Cuts a claim into its parts. Returns None where it has other characters.
pub(super) fn tokens(claim: &str) -> Option<Vec<ClaimToken>> {
    let mut found: Vec<ClaimToken> = Vec::new();
    let mut at = 0;
    while let Some(first) = claim[at..].chars().next() {
        // `order-id` and `non-negative` are two words; so is a name in backticks.
        let is_hyphen = first == '-'
            && claim[..at].ends_with(char::is_alphabetic)
            && claim[at + 1..].starts_with(char::is_alphabetic);
        if first.is_whitespace() || is_hyphen || "_`".contains(first) {
            at += first.len_utf8();
            continue;
        }
        let (kind, n_bytes) = next(claim, at, first)?;
        found.push(ClaimToken { kind, start: at, end: at + n_bytes });
        at += n_bytes;
        // `isn't` is `is not`, and `order's` is `order`.
        if let Some(short) = ["'s ", "’s "].iter().find(|it| claim[at..].starts_with(**it)) {
            at += short.trim_end().len();
        } else if let Some(ClaimToken { kind: TokenKind::Word(word), .. }) = found.last_mut()
            && let Some(short) = ["'t", "’t"].iter().find(|it| claim[at..].starts_with(**it))
            && word.ends_with('n')
        {
            // `can't` is `can not`.
            if word != "can" {
                word.pop();
            }
            at += short.len();
            found.push(ClaimToken { kind: TokenKind::Word("not".to_owned()), start: at, end: at });
        }
    }
    if let Some(ClaimToken { kind: TokenKind::Sign("."), .. }) = found.last() {
        found.pop();
    }
    Some(found)
}

/// Returns the part that begins here, and its length.
fn next(claim: &str, at: usize, first: char) -> Option<(TokenKind, usize)> {
    let rest = &claim[at..];
    let is_after_word = claim[..at].ends_with(|it: char| it.is_alphanumeric());
    if let Some((_, close)) = QUOTES.iter().find(|it| it.0 == first)
        && !is_after_word
    {
        let text = &rest[first.len_utf8()..];
        let n_bytes = text.find(*close)?;
        let quoted = text[..n_bytes].to_owned();
        return Some((TokenKind::Quoted(quoted), first.len_utf8() + n_bytes + close.len_utf8()));
    }
    if let Some(day) = rest.get(..10).filter(|it| is_day(it)) {
        return Some((TokenKind::Day(day.to_owned()), 10));
    }
    let is_sign = first == '-'
        && rest[1..].starts_with(|it: char| it.is_ascii_digit())
        && !claim[..at].ends_with(|it: char| it.is_alphanumeric() || it == ')');
    if first.is_ascii_digit() || is_sign {
        let (number, n_bytes) = number(rest)?;
        let is_word = rest[n_bytes..].starts_with(|it: char| it.is_alphanumeric());
        if !is_word {
            return Some((TokenKind::Number(number), n_bytes));
        }
    }
    if first.is_alphanumeric() {
        let n_bytes = rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len());
        return Some((TokenKind::Word(rest[..n_bytes].to_lowercase()), n_bytes));
    }
    let (text, sign) = SIGNS.iter().find(|it| rest.starts_with(it.0))?;
    Some((TokenKind::Sign(sign), text.len()))
}

/// Reads a number: `-1,000.5`. Returns it without commas, and its length.
fn number(text: &str) -> Option<(String, usize)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_part = |it: char| it.is_ascii_digit() || it == ',' || it == '.';
    let n_bytes = digits.find(|it| !is_part(it)).unwrap_or(digits.len());
    let digits = digits[..n_bytes].trim_end_matches([',', '.']);
    let (whole, _) = digits.split_once('.').unwrap_or((digits, ""));
    // `1, 2` are two numbers, and so are `1,2`.
    let is_grouped = whole.split(',').skip(1).all(|it| it.len() == 3) && !whole.starts_with(',');
    let digits = if is_grouped { digits } else { digits.split(',').next()? };
    let number = digits.replace(',', "");
    number.parse::<f64>().ok()?;
    let sign = if text.starts_with('-') { "-" } else { "" };
    Some((format!("{sign}{number}"), sign.len() + digits.len()))
}

fn is_day(text: &str) -> bool {
    text.parse::<jiff::civil::Date>().is_ok() && text.as_bytes()[4] == b'-'
}

impl ClaimToken {
    /// Returns the word or number as it can be a part of a name.
    pub(super) fn word(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::Word(text) | TokenKind::Number(text) => Some(text),
            TokenKind::Day(_) | TokenKind::Quoted(_) | TokenKind::Sign(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, tokens};

    #[track_caller]
    fn check(claim: &str, expected: &[&str]) {
        let found = tokens(claim).map(|found| {
            let text = |it: TokenKind| match it {
                TokenKind::Word(text) => text,
                TokenKind::Number(text) => format!("#{text}"),
                TokenKind::Day(text) => format!("@{text}"),
                TokenKind::Quoted(text) => format!("'{text}'"),
                TokenKind::Sign(text) => text.to_owned(),
            };
            found.into_iter().map(|it| text(it.kind)).collect::<Vec<_>>()
        });
        assert_eq!(found.as_deref().unwrap_or_default(), expected, "{claim}");
    }

    #[test]
    fn a_claim_is_words_numbers_and_signs() {
        check("order_id isn't null.", &["order", "id", "is", "not", "null"]);
        check(
            "total>=-5, 1,000.50 or 3%",
            &["total", ">=", "#-5", ",", "#1000.50", "or", "#3", "%"],
        );
        check("a is 1, 2 or 3", &["a", "is", "#1", ",", "#2", "or", "#3"]);
        check("x - 1 * (1 - y)", &["x", "-", "#1", "*", "(", "#1", "-", "y", ")"]);
        check("day is after 2024-01-31", &["day", "is", "after", "@2024-01-31"]);
        check(
            "the order's code is 'A-1' or “B b”",
            &["the", "order", "code", "is", "'A-1'", "or", "'B b'"],
        );
        check("`order-id` is non-negative", &["order", "id", "is", "non", "negative"]);
        check("a is 1-5", &["a", "is", "#1", "-", "#5"]);
        check("a is ~ 5", &[]);
    }
}
