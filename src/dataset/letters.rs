//! Whether letters beyond ASCII stand where letters do.
//!
//! Pure. A detector weighs which letters a language has; where few of them are known, their places
//! tell more: `Kšln` may be a word, `M‡laga` and `OrlŽans` are none.

/// How the characters beyond ASCII stand in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Letters {
    /// Characters beyond ASCII.
    pub n: usize,
    /// Those that stand where they cannot be meant.
    pub n_misplaced: usize,
    /// Those that hardly any language has, but that Western letters become when they are taken for
    /// those of Central Europe.
    pub n_rare: usize,
}

impl Letters {
    /// Looks at a text.
    pub fn of(text: &str) -> Self {
        let mut letters = Letters::default();
        let mut before = None;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            if !char.is_ascii() {
                letters.n += 1;
                letters.n_misplaced +=
                    usize::from(is_misplaced(before, char, chars.peek().copied()));
                letters.n_rare += usize::from(is_rare(char));
            }
            before = Some(char);
        }
        letters
    }
}

fn is_rare(char: char) -> bool {
    matches!(char, 'ŕ' | 'Ŕ' | 'ĺ' | 'Ĺ' | '˛' | '˘' | '˝')
}

fn is_misplaced(before: Option<char>, char: char, behind: Option<char>) -> bool {
    /// What only begins a word, or stands apart from it.
    const LEADING: &str = "‚„†‡ˆ‰‹•˜¡¿“‘¤¢¥";
    let is_lower = |it: Option<char>| it.is_some_and(char::is_lowercase);
    let is_letter = |it: Option<char>| it.is_some_and(char::is_alphabetic);
    if matches!(char, '\u{80}'..='\u{9f}') {
        return true;
    }
    if char.is_alphabetic() {
        return char.is_uppercase() && is_lower(before);
    }
    // `l’eau` and `l·l`; a range may have a dash.
    let is_within = is_letter(before) && is_letter(behind);
    let is_catalan = char == '·' && before == Some('l');
    (is_within && !is_catalan && !matches!(char, '’' | '\u{ad}' | '–'))
        || (is_letter(before) && LEADING.contains(char))
}

#[cfg(test)]
mod tests {
    use super::Letters;

    #[test]
    fn letters_have_their_places() {
        let check = |text: &str, n_misplaced, n_rare| {
            let found = Letters::of(text);
            assert_eq!((found.n_misplaced, found.n_rare), (n_misplaced, n_rare), "{text}");
        };
        check("Crème brûlée, Straße, Müller, ÉTÉ, 5 €, 20 °C, l’eau, “x”", 0, 0);
        check("Žofie, Łódź, Paris–Lyon, Lego™, ½", 0, 0);
        check("M‡laga, OrlŽans, Bj”rk, caf‚, M\u{81}ller, Stra§e", 6, 0);
        check("Mise ŕ jour, km˛", 0, 2);
    }
}
