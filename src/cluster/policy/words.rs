//! SQL text in tokens, as far as one can be sure of how Spark cuts it.
//!
//! What Spark's lexer could cut otherwise, by its version or its settings, is refused: backslashes
//! (raw strings, escapes), comments, `$` (quotes of one's own), letters outside of ASCII (some turn
//! into `S` and `K` in capitals, some are spaces).

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word without quotes, in small letters.
    Word(String),
    /// A name in backticks, which is never a word of SQL.
    Name,
    /// What is in single or double quotes: a string, by the server's settings also a name.
    Text,
    Number,
    /// Any other character.
    Mark(char),
}

/// Cuts SQL text. Fails with what cannot be cut with certainty.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ' ' | '\t' | '\n' | '\r' => {
                rest = &rest[1..];
                continue;
            }
            '\'' | '"' | '`' => quoted(rest, first)?,
            _ if first.is_ascii_alphanumeric() || first == '_' => {
                rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(rest.len())
            }
            _ => mark(rest, first)?,
        };
        let (token, after) = rest.split_at(length);
        found.push(match first {
            '`' => Token::Name,
            '\'' | '"' => Token::Text,
            _ if first.is_ascii_digit() => Token::Number,
            _ if first.is_ascii_alphabetic() || first == '_' => {
                Token::Word(token.to_ascii_lowercase())
            }
            _ => Token::Mark(first),
        });
        rest = after;
    }
    Ok(found)
}

fn quoted(rest: &str, quote: char) -> Result<usize, String> {
    let length = rest[1..].find(quote).ok_or("quotes that are not closed")? + 2;
    if rest[..length].contains('\\') {
        return Err("a backslash".to_owned());
    }
    Ok(length)
}

fn mark(rest: &str, first: char) -> Result<usize, String> {
    if rest.starts_with("--") || rest.starts_with("/*") || rest.starts_with("*/") {
        return Err("a comment".to_owned());
    }
    if rest.starts_with("|>") {
        return Err("`|>`".to_owned());
    }
    if "()[]<>=!+-*/%&|^~,.:".contains(first) {
        return Ok(1);
    }
    Err(if first == '\\' {
        "a backslash".to_owned()
    } else {
        format!("`{}`", first.escape_debug())
    })
}
