//! The user's context for every turn: language, knowledge and thresholds, read from their files.

use std::io::ErrorKind;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use csv_agent_agent::prompt::Briefing;
use csv_agent_agent::prompt::knowledge::Knowledge;
use csv_agent_agent::prompt::thresholds::Threshold;
use csv_agent_session::directory::Directory;
use csv_agent_text::sanitize;
use csv_agent_types::limits::{CONFIG_BYTES_MAX, KNOWLEDGE_FILE_BYTES_MAX};
use csv_agent_types::named_file::{self, NotRead};
use csv_agent_types::status::{Failure, FailureKind};
use csv_agent_types::thresholds::{Range, Ratings};

use super::config::document::{Mistake, line_of};
use super::settings::{KNOWLEDGE, LANGUAGE, Settings, THRESHOLDS};
use crate::usage::nearest;

const SESSION_FILE: &str = "knowledge.md";

/// Ratings, best first.
const RATINGS: [&str; 3] = ["good", "warning", "bad"];

/// Reads the user's context: the files in the settings, and `knowledge.md` of the session. Fails with
/// `FailureKind::Usage` when there is no such file, and with `FailureKind::Input` when it cannot be read or
/// the thresholds are invalid; the message has the line.
pub(crate) fn briefing(settings: &Settings, session_dir: &Path) -> anyhow::Result<Briefing> {
    let mut knowledge = Vec::new();
    if let Some(path) = settings.choose(&KNOWLEDGE)?.value {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let bytes = named_file::read(&path, KNOWLEDGE_FILE_BYTES_MAX);
        let text = clean(&text(&path, bytes)?);
        knowledge.push(Knowledge { name, text });
    }
    // A session that may not be used is reported when it is opened.
    if let Ok(Some(session)) = Directory::open(session_dir)
        && let Some(bytes) = session.read(SESSION_FILE, KNOWLEDGE_FILE_BYTES_MAX)?
    {
        let text = clean(&text(&session_dir.join(SESSION_FILE), Ok(bytes))?);
        knowledge.push(Knowledge { name: SESSION_FILE.to_owned(), text });
    }
    let thresholds = match settings.choose(&THRESHOLDS)?.value {
        Some(path) => {
            let bytes = named_file::read(&path, CONFIG_BYTES_MAX);
            thresholds(&text(&path, bytes)?).map_err(|it| wrong(&path, it))?
        }
        None => Vec::new(),
    };
    Ok(Briefing { language: settings.choose(&LANGUAGE)?.value, knowledge, thresholds })
}

/// Returns the failure of a file of the user with a mistake.
pub(crate) fn wrong(path: &Path, mistake: Mistake) -> Failure {
    let message = format!("{}:{}: {}", path.display(), mistake.line, mistake.message);
    let failure = Failure::input(message);
    match mistake.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns the text of a file. Fails when it cannot be read, or is not text.
pub(crate) fn text(path: &Path, bytes: Result<Vec<u8>, NotRead>) -> Result<String, Failure> {
    let shown = path.display();
    let bytes = bytes.map_err(|reason| {
        let is_missing = matches!(&reason, NotRead::Failed(it) if it.kind() == ErrorKind::NotFound);
        let status = if is_missing { FailureKind::Usage } else { FailureKind::Input };
        let found = match &reason {
            NotRead::Failed(error) if !is_missing => named_file::reason(path, error),
            reason => reason.to_string(),
        };
        let failure = Failure::new(status, format!("cannot read `{shown}`: {found}"));
        match reason {
            NotRead::TooLong(_) => failure.hint("add data with `-f FILE`"),
            NotRead::Other(_) => failure.hint("name a text file"),
            NotRead::Failed(_) => failure.hint("check the path"),
        }
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("cannot read `{shown}` as UTF-8: byte {at}");
        let hint = "convert it first, such as with `iconv -t utf-8`";
        Failure::input(message).hint(hint)
    })
}

/// Removes a BOM and control characters, and normalises line ends.
fn clean(text: &str) -> String {
    let text = sanitize::for_terminal(text.trim_start_matches('\u{feff}').trim_end());
    if text.is_empty() { text } else { text + "\n" }
}

/// The form of a file of thresholds.
const FORM: &str = "write `[COLUMN]` or `[DATASET.COLUMN]`, and ranges below it";

/// Parses thresholds: a table for a column of any dataset, `[DATASET.COLUMN]` for one of this dataset.
fn thresholds(text: &str) -> Result<Vec<Threshold>, Mistake> {
    let tables = DeTable::parse(text).map_err(|error| {
        let line = line_of(text, error.span().map_or(0, |it| it.start));
        Mistake { line, message: format!("not valid TOML: {}", error.message()), hint: None }
    })?;
    let mut found = Vec::new();
    for (name, table) in tables.get_ref() {
        let DeValue::Table(members) = table.get_ref() else {
            return Err(mistake(
                text,
                name,
                format!("`{}` is not a table", name.get_ref()),
                Some(FORM),
            ));
        };
        let (columns, own): (Vec<_>, Vec<_>) =
            members.iter().partition(|(_, it)| matches!(it.get_ref(), DeValue::Table(_)));
        if !own.is_empty() || columns.is_empty() {
            found.push((name.span().start, threshold(text, None, name, own)?));
        }
        for (column, table) in columns {
            let members = table.get_ref().as_table().into_iter().flatten().collect();
            let dataset = Some(name.get_ref().to_string());
            found.push((column.span().start, threshold(text, dataset, column, members)?));
        }
    }
    if found.is_empty() {
        let message = "there are no thresholds in it".to_owned();
        return Err(Mistake { line: 1, message, hint: Some(FORM.to_owned()) });
    }
    // In the order of the file.
    found.sort_by_key(|it| it.0);
    Ok(found.into_iter().map(|it| it.1).collect())
}

type Key<'a> = Spanned<toml::de::DeString<'a>>;
type Members<'a, 'b> = Vec<(&'a Key<'b>, &'a Spanned<DeValue<'b>>)>;

fn threshold(
    text: &str,
    dataset: Option<String>,
    column: &Key,
    members: Members,
) -> Result<Threshold, Mistake> {
    let mut ranges = [None; 3];
    let mut unit = None;
    for (key, value) in members {
        let name = key.get_ref().as_ref();
        let rating = RATINGS.iter().position(|it| *it == name);
        let Some(value) = value.get_ref().as_str() else {
            let message = format!("`{name}` is not a string in quotes");
            return Err(mistake(text, key, message, Some("write a range such as `\">= 10\"`")));
        };
        match rating {
            Some(rating) => {
                let range = Range::parse(value)
                    .map_err(|found| mistake(text, key, format!("`{name}`: {found}"), None))?;
                let other = (0..3).find(|at| ranges[*at].is_some_and(|it| range.overlaps(&it)));
                if let Some(other) = other {
                    let message = format!("`{name}` and `{}` overlap", RATINGS[other]);
                    return Err(mistake(
                        text,
                        key,
                        message,
                        Some("a value can have only one rating"),
                    ));
                }
                ranges[rating] = Some(range);
            }
            None if name == "unit" => unit = Some(value.to_owned()),
            None => {
                let known = RATINGS.into_iter().chain(["unit"]).map(str::to_owned);
                let near = nearest(name, &known.collect::<Vec<_>>());
                let hint = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "a column has `good`, `warning`, `bad` and `unit`".to_owned(),
                };
                return Err(mistake(text, key, format!("unknown `{name}`"), Some(&hint)));
            }
        }
    }
    let [good, warning, bad] = ranges;
    if ranges.iter().all(Option::is_none) {
        let message = format!("no range for `{}`", column.get_ref());
        return Err(mistake(text, column, message, Some("add `good`, `warning` or `bad`")));
    }
    let ratings = Ratings { good, warning, bad };
    Ok(Threshold { dataset, column: column.get_ref().to_string(), ratings, unit })
}

fn mistake(text: &str, key: &Key, message: String, hint: Option<&str>) -> Mistake {
    Mistake { line: line_of(text, key.span().start), message, hint: hint.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::{Ratings, clean, thresholds};

    #[test]
    fn thresholds_are_of_a_column_everywhere_or_in_one_dataset() {
        let text = "[revenue]\ngood = '>= 100'\nbad = '< 50'\nunit = 'EUR'\n\
                    [sales.price]\nwarning = '0..1'\n['a.b']\ngood = '= 1'\n";
        let found = thresholds(text).unwrap();
        let shown = found.iter().map(|it| {
            let range = |it: Option<super::Range>| it.map(|it| it.to_string());
            let dataset = it.dataset.as_deref().unwrap_or("*");
            let Ratings { good, warning, bad } = it.ratings;
            let ranges = [good, warning, bad].map(|it| range(it).unwrap_or_default());
            format!("{dataset}/{}: {}", it.column, ranges.join("|"))
        });
        let expected = ["*/revenue: >= 100||< 50", "sales/price: |>= 0 and < 1|", "*/a.b: = 1||"];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[track_caller]
    fn check(text: &str, line: usize, message: &str, hint: &str) {
        let found = thresholds(text).unwrap_err();
        let hint_found = found.hint.unwrap_or_default();
        assert_eq!((found.line, &*found.message, &*hint_found), (line, message, hint), "{text}");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let range = "write a range such as `>= 10`, `< 5` or `5..10`";
        check("[a]\n\ngood = '10'", 3, &format!("`good`: {range}"), "");
        let nothing = "there are no thresholds in it";
        let write = "write `[COLUMN]` or `[DATASET.COLUMN]`, and ranges below it";
        check("", 1, nothing, write);
        check("# [a]\n# good = '> 1'\n", 1, nothing, write);
        check("[a]\ngod = '> 1'", 2, "unknown `god`", "did you mean `good`?");
        let hint = "write a range such as `\">= 10\"`";
        check("[a]\ngood = 10", 2, "`good` is not a string in quotes", hint);
        let text = "[a]\ngood = '> 1'\nbad = '< 2'";
        check(text, 2, "`good` and `bad` overlap", "a value can have only one rating");
        check("\n[a]", 2, "no range for `a`", "add `good`, `warning` or `bad`");
        let hint = "write `[COLUMN]` or `[DATASET.COLUMN]`, and ranges below it";
        check("a = 1", 1, "`a` is not a table", hint);
    }

    #[test]
    fn knowledge_is_text_without_controls() {
        assert_eq!(clean("\u{feff}a\r\nb\u{1b}[2J\n\n"), "a\nb\\x1b[2J\n");
        assert_eq!(clean("\n"), "");
    }
}
