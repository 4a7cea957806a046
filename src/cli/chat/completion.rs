//! Tab completion: commands and their arguments, and names of datasets and columns in a question.
//!
//! Pure, except for the names of files, which are listed while one is typed.

use std::path::{Path, PathBuf};

use csv_agent_text::sanitize;
use csv_agent_types::limits::{COMPLETED_ENTRIES_MAX, COMPLETIONS_MAX};

use super::commands::{Takes, takes};

/// Bytes before the cursor in which a name can begin.
const NAME_BYTES_MAX: usize = 200;
/// Characters that must be escaped in a word of a command.
const SPECIAL: [char; 6] = [' ', '\t', '"', '\'', '\\', '#'];

/// The candidates for completion.
#[derive(Debug, Clone, Default)]
pub(super) struct Completions {
    /// Names of commands, each with its flags.
    pub commands: Vec<(String, Vec<String>)>,
    /// Names of datasets.
    pub datasets: Vec<String>,
    /// Names of columns, of all datasets.
    pub columns: Vec<String>,
    /// Tables of the last answer with tables.
    pub tables: Vec<String>,
    /// Charts of the last answer with charts.
    pub charts: Vec<String>,
    /// Files of the last answer with files.
    pub files: Vec<String>,
    /// Turn numbers.
    pub turns: Vec<String>,
    /// Models that the user has named.
    pub models: Vec<String>,
    /// The home directory, for `~`.
    pub home: Option<PathBuf>,
}

/// One candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Completion {
    /// The text in the list.
    pub shown: String,
    /// The text to insert.
    pub text: String,
}

impl Completions {
    /// Returns where the word before the cursor begins, and its candidates, sorted.
    pub(super) fn complete(&self, line: &str, cursor: usize) -> (usize, Vec<Completion>) {
        let before = &line[..cursor];
        let (start, mut found) = match before.strip_prefix('/') {
            Some(rest) if !rest.contains(char::is_whitespace) => (0, self.commands(before)),
            Some(rest) if !rest.starts_with('/') => self.argument(before),
            _ => self.name(before),
        };
        found.sort_by_cached_key(|it| it.shown.to_lowercase());
        found.dedup();
        found.truncate(COMPLETIONS_MAX);
        (start, found)
    }

    fn commands(&self, prefix: &str) -> Vec<Completion> {
        let names = self.commands.iter().map(|it| it.0.as_str());
        let fitting = names.filter(|it| begins(it, prefix));
        fitting.map(|it| Completion { shown: it.to_owned(), text: format!("{it} ") }).collect()
    }

    /// Completes an argument of a command.
    fn argument(&self, before: &str) -> (usize, Vec<Completion>) {
        let (n_before, start, prefix) = last_word(before);
        let command = before.split_whitespace().next().unwrap_or_default();
        let plain = |names: &[String]| {
            let fitting = names.iter().filter(|it| begins(it, &prefix));
            fitting.map(|it| Completion { shown: shown(it), text: escaped(it) }).collect::<Vec<_>>()
        };
        if prefix.starts_with('-') {
            let flags = self.commands.iter().find(|it| it.0 == command).map(|it| &it.1[..]);
            return (start, plain(flags.unwrap_or_default()));
        }
        let found = takes(command).iter().flat_map(|it| match it {
            Takes::Datasets => plain(&self.datasets),
            Takes::Tables => plain(&self.tables),
            Takes::Charts => plain(&self.charts),
            Takes::Fetched => plain(&self.files),
            Takes::Turns => plain(&self.turns),
            Takes::Models => plain(&self.models),
            Takes::Commands => {
                plain(&self.commands.iter().map(|it| it.0[1..].to_owned()).collect::<Vec<_>>())
            }
            Takes::Files => self.files(&prefix),
            // A table, a chart or a file of an answer may precede the file, and only there.
            Takes::FileLast if n_before == 1 || n_before == 2 => self.files(&prefix),
            Takes::FileLast => Vec::new(),
        });
        (start, found.collect())
    }

    /// Completes a path.
    fn files(&self, prefix: &str) -> Vec<Completion> {
        let (dir, begin) =
            prefix.rsplit_once('/').map_or(("", prefix), |it| (&prefix[..=it.0.len()], it.1));
        let place = match dir {
            "" => PathBuf::from("."),
            dir => expanded(dir, self.home.as_deref()),
        };
        let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
        let entry = |it: std::fs::DirEntry| {
            let name = it.file_name().into_string().ok()?;
            let is_hidden = name.starts_with('.') && !begin.starts_with('.');
            if is_hidden || !name.starts_with(begin) || name.contains(char::is_control) {
                return None;
            }
            // Includes links to directories.
            let end = if it.path().is_dir() { "/" } else { "" };
            let text = escaped(&format!("{dir}{name}{end}"));
            Some(Completion { shown: shown(&format!("{name}{end}")), text })
        };
        entries.flatten().take(COMPLETED_ENTRIES_MAX).filter_map(entry).collect()
    }

    /// Completes the name of a dataset or a column, which may have several words. Uses the longest prefix
    /// of a name that the text ends with.
    fn name(&self, before: &str) -> (usize, Vec<Completion>) {
        let names = || self.datasets.iter().chain(&self.columns);
        for quote in ['`', '"'] {
            if before.matches(quote).count() % 2 == 1
                && let Some(start) = before.rfind(quote)
            {
                let prefix = &before[start + 1..];
                let fitting = names().filter(|it| begins(it, prefix) && !it.contains(quote));
                let found = fitting.map(|it| {
                    let name = shown(it);
                    Completion { text: format!("{quote}{name}{quote}"), shown: name }
                });
                return (start, found.collect());
            }
        }
        let from = before.ceil_char_boundary(before.len().saturating_sub(NAME_BYTES_MAX));
        for start in (from..=before.len()).filter(|it| is_begin(before, *it)) {
            let fitting: Vec<_> = names().filter(|it| begins(it, &before[start..])).collect();
            if !fitting.is_empty() {
                return (start, fitting.into_iter().map(|it| quoted(it)).collect());
            }
        }
        (before.len(), Vec::new())
    }
}

/// Returns whether a name may begin at this position.
fn is_begin(text: &str, at: usize) -> bool {
    let Some(rest) = text.get(at..) else { return false };
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    // Scripts without spaces between words: Thai, Lao, Khmer, Chinese, Japanese and Korean.
    let is_dense =
        |it: char| matches!(it, '\u{e00}'..='\u{eff}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..);
    match (text[..at].chars().next_back(), rest.chars().next()) {
        (_, Some(first)) if first.is_whitespace() => false,
        (Some(before), Some(first)) => !is_word(before) || is_dense(before) || is_dense(first),
        (Some(before), None) => !is_word(before),
        (None, _) => true,
    }
}

/// Returns whether a name has this prefix, ignoring case.
fn begins(name: &str, prefix: &str) -> bool {
    let mut name = name.chars().flat_map(char::to_lowercase);
    prefix.chars().flat_map(char::to_lowercase).all(|it| name.next() == Some(it))
}

/// Returns a name as written in a question: in quotes, unless it is one word.
fn quoted(name: &str) -> Completion {
    let name = shown(name);
    let is_word = name.chars().all(|it| it.is_alphanumeric() || it == '_');
    let quote = if name.contains('`') { '"' } else { '`' };
    let text = if is_word { name.clone() } else { format!("{quote}{name}{quote}") };
    Completion { shown: name, text }
}

fn shown(name: &str) -> String {
    sanitize::one_line(name)
}

/// Returns a word escaped for a command line.
fn escaped(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len());
    for char in word.chars() {
        if SPECIAL.contains(&char) {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}

/// Returns the number of words before the last one, where that begins, and its unescaped text.
fn last_word(line: &str) -> (usize, usize, String) {
    let (mut n_before, mut start, mut word) = (0, 0, String::new());
    let (mut quote, mut is_escaped, mut is_in) = (None, false, false);
    for (at, char) in line.char_indices() {
        if !is_in && !char.is_whitespace() {
            (start, is_in) = (at, true);
        }
        match char {
            _ if is_escaped => {
                word.push(char);
                is_escaped = false;
            }
            '\\' if quote != Some('\'') => is_escaped = true,
            '"' | '\'' if quote.is_none() => quote = Some(char),
            _ if quote == Some(char) => quote = None,
            _ if char.is_whitespace() && quote.is_none() => {
                n_before += usize::from(is_in);
                is_in = false;
                word.clear();
            }
            _ => word.push(char),
        }
    }
    (n_before, if is_in { start } else { line.len() }, word)
}

/// Returns a path with `~` replaced by the home directory.
pub(super) fn expanded(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Completions, expanded};

    fn words() -> Completions {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        Completions {
            commands: vec![
                ("/table".to_owned(), Vec::new()),
                ("/datasets".to_owned(), names(&["--schema", "--head"])),
                ("/ingest".to_owned(), Vec::new()),
                ("/model".to_owned(), Vec::new()),
            ],
            datasets: names(&["sales", "Stores"]),
            columns: names(&[
                "region", "net revenue", "net_sales", "価格", "Ärger", "a`b", "x\x1b[2J",
            ]),
            tables: names(&["by region", "1"]),
            models: names(&["builtin"]),
            ..Completions::default()
        }
    }

    /// A `|` marks the cursor in the line and in each expected line.
    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let cursor = line.find('|').unwrap();
        let text = line.replacen('|', "", 1);
        let (start, found) = words().complete(&text, cursor);
        let found: Vec<String> =
            found.iter().map(|it| format!("{}{}", &text[..start], it.text)).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn commands_and_what_they_take_are_completed() {
        check("/t|", &["/table "]);
        check("/D|", &["/datasets "]);
        check("/x|", &[]);
        check("/datasets s|", &["/datasets sales", "/datasets Stores"]);
        check("/datasets --s|", &["/datasets --schema"]);
        check("/table |", &["/table 1", "/table by\\ region"]);
        check("/table by\\ r|", &["/table by\\ region"]);
        check("/table \"by r|", &["/table by\\ region"]);
        check("/model b|", &["/model builtin"]);
    }

    #[test]
    fn names_are_completed_anywhere_in_a_question() {
        check("total by reg|", &["total by region"]);
        check("TOTAL BY REG|", &["TOTAL BY region"]);
        check("(reg|) of sales", &["(region"]);
        check("sum of net|", &["sum of `net revenue`", "sum of net_sales"]);
        check("sum of net rev|", &["sum of `net revenue`"]);
        check("sum of `net|", &["sum of `net revenue`", "sum of `net_sales`"]);
        check("sum of \"net r|", &["sum of \"net revenue\""]);
        check("sto|", &["Stores"]);
        check("wieso ärg|", &["wieso Ärger"]);
        check("平均価|", &["平均価格"]);
        check("unsales|", &[]);
        check("a|", &["\"a`b\""]);
        // A leading space, or a second slash, makes it a question.
        check(" /t|", &[]);
        check("//of sal|", &["//of sales"]);
    }

    #[test]
    fn a_name_that_could_steer_the_terminal_is_shown_instead() {
        check("x|", &["`x\\x1b[2J`"]);
    }

    #[test]
    fn files_are_completed_with_their_directory() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["sales 2024.csv", "sales.csv", ".hidden", "other.csv"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::create_dir(dir.path().join("salaries")).unwrap();
        let home = Some(dir.path().to_owned());
        let complete = |line: &str| {
            let words = Completions { home: home.clone(), ..words() };
            let found = words.complete(line, line.len()).1;
            found.into_iter().map(|it| it.text).collect::<Vec<_>>()
        };
        let expected = ["~/salaries/", "~/sales\\ 2024.csv", "~/sales.csv"];
        assert_eq!(complete("/ingest ~/sal"), expected);
        assert_eq!(complete("/ingest --strict ~/sales\\ "), ["~/sales\\ 2024.csv"]);
        assert_eq!(complete("/ingest ~/.h"), ["~/.hidden"]);
        assert_eq!(expanded("~/a", Some(Path::new("/h"))), PathBuf::from("/h/a"));
        assert_eq!(expanded("~x/a", Some(Path::new("/h"))), PathBuf::from("~x/a"));
    }
}
