//! The content of a configuration file: settings by name, each with its line, including those of profiles.
//!
//! Pure: takes text, returns the entries or the first mistake.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::usage::nearest;

/// Names under which users misplace a key.
const KEY_NAMES: [&str; 4] = ["api_key", "key", "openai_api_key", "token"];

/// The content of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ConfigDocument {
    /// Settings outside of profiles.
    pub entries: Vec<ConfigEntry>,
    /// Settings of each profile, by its name.
    pub profiles: BTreeMap<String, Vec<ConfigEntry>>,
    /// Prices of models' tokens, by model name.
    pub prices: BTreeMap<String, Vec<ConfigEntry>>,
}

/// One setting of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfigEntry {
    /// The name of an existing setting.
    pub key: String,
    /// The value, not yet parsed as the setting's type.
    pub value: RawValue,
    /// From 1.
    pub line: usize,
}

/// A value as written in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RawValue {
    Text(String),
    /// A whole number, in decimal digits.
    Whole(String),
    /// A number with a fraction, as written.
    Fraction(String),
    /// `true` or `false`.
    Switch(bool),
    /// An array of strings.
    List(Vec<String>),
}

impl RawValue {
    /// Returns the type of the value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            RawValue::Text(_) => "a string",
            RawValue::Whole(_) => "a whole number",
            RawValue::Fraction(_) => "a number with a fraction",
            RawValue::Switch(_) => "true or false",
            RawValue::List(_) => "an array",
        }
    }
}

/// A mistake in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// From 1.
    pub line: usize,
    /// The problem. Never quotes a value, which may be a key.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

/// The settings allowed in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownSettings<'a> {
    /// Names of all settings.
    pub settings: &'a [&'a str],
    /// Those allowed outside of profiles only.
    pub whole_file: &'a [&'a str],
    /// Members of a model's price.
    pub prices: &'a [&'a str],
}

/// Parses a file. Fails with the first mistake: invalid TOML, a setting that does not exist, or a value of a type
/// that no setting has.
pub(crate) fn parse(text: &str, known: KnownSettings) -> Result<ConfigDocument, Mistake> {
    // Collected once: a file may have many keys.
    let line_ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    let line = |at: usize| 1 + line_ends.partition_point(|it| *it < at);
    let table = DeTable::parse(text).map_err(|error| {
        let line = line(error.span().map_or(0, |it| it.start));
        // Only the message: the error's full text quotes the line, which may contain a key.
        Mistake { line, message: format!("not valid TOML: {}", error.message()), hint: None }
    })?;
    let mut reader = Reader { line: &line, mistakes: Vec::new() };
    let mut document = ConfigDocument::default();
    let settings = known.settings.iter().filter(|it| !known.whole_file.contains(it));
    let in_profile: Vec<&str> = settings.copied().collect();
    let names = [known.settings, &["profiles", "prices"]].concat();
    for (key, value) in table.get_ref() {
        match key.get_ref().as_ref() {
            "profiles" => {
                document.profiles.extend(reader.tables("profiles", value, &in_profile));
            }
            // A user with a single profile may write a table; a string selects one.
            "profile" if matches!(value.get_ref(), DeValue::Table(_)) => {
                document.profiles.extend(reader.tables("profile", value, &in_profile));
            }
            "prices" => document.prices = reader.tables("prices", value, known.prices),
            _ => document.entries.extend(reader.entry(key, value, &names)),
        }
    }
    document.entries.sort_by_key(|it| it.line);
    match reader.mistakes.into_iter().min_by_key(|it| it.line) {
        Some(mistake) => Err(mistake),
        None => Ok(document),
    }
}

/// Returns the line of a byte of `text`, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count()
}

struct Reader<'a> {
    line: &'a dyn Fn(usize) -> usize,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    fn mistake(&mut self, at: usize, message: String, hint: Option<String>) {
        self.mistakes.push(Mistake { line: (self.line)(at), message, hint });
    }

    /// Parses tables whose names the user chose.
    fn tables(
        &mut self,
        kind: &str,
        value: &Spanned<DeValue>,
        names: &[&str],
    ) -> BTreeMap<String, Vec<ConfigEntry>> {
        let mut found = BTreeMap::new();
        let at = value.span().start;
        let DeValue::Table(tables) = value.get_ref() else {
            let hint = format!("write `[{kind}.\"NAME\"]` and its settings below it");
            self.mistake(at, format!("`{kind}` is not a table"), Some(hint));
            return found;
        };
        for (name, table) in tables {
            let DeValue::Table(table) = table.get_ref() else {
                let hint =
                    format!("write `[{kind}.\"{}\"]` and its settings below it", name.get_ref());
                let message = format!("`{kind}.{}` is not a table", name.get_ref());
                self.mistake(table.span().start, message, Some(hint));
                continue;
            };
            let entries = table.iter().filter_map(|(key, value)| self.entry(key, value, names));
            let mut entries: Vec<ConfigEntry> = entries.collect();
            entries.sort_by_key(|it| it.line);
            found.insert(name.get_ref().to_string(), entries);
        }
        found
    }

    fn entry(
        &mut self,
        key: &Spanned<impl AsRef<str>>,
        value: &Spanned<DeValue>,
        names: &[&str],
    ) -> Option<ConfigEntry> {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        if !names.contains(&name) {
            let candidates: Vec<String> = names.iter().map(ToString::to_string).collect();
            let hint = match nearest(name, &candidates).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None if KEY_NAMES.iter().any(|it| name.eq_ignore_ascii_case(it)) => {
                    "a file cannot contain the key itself: use `api_key_file` or \
                     `api_key_cmd`"
                        .to_owned()
                }
                None => "see `csv-agent help config`".to_owned(),
            };
            self.mistake(at, format!("unknown setting `{name}`"), Some(hint));
            return None;
        }
        let Some(value) = raw(value.get_ref()) else {
            let message = format!("`{name}` cannot be {}", kind(value.get_ref()));
            self.mistake(at, message, Some("see `csv-agent help config`".to_owned()));
            return None;
        };
        Some(ConfigEntry { key: name.to_owned(), value, line: (self.line)(at) })
    }
}

fn raw(value: &DeValue) -> Option<RawValue> {
    Some(match value {
        DeValue::String(text) => RawValue::Text(text.to_string()),
        DeValue::Integer(number) => {
            RawValue::Whole(i128::from_str_radix(number.as_str(), number.radix()).ok()?.to_string())
        }
        DeValue::Float(number) => RawValue::Fraction(number.as_str().to_owned()),
        DeValue::Boolean(it) => RawValue::Switch(*it),
        DeValue::Array(them) => {
            let texts = them.iter().map(|it| it.get_ref().as_str().map(str::to_owned));
            RawValue::List(texts.collect::<Option<_>>()?)
        }
        DeValue::Datetime(_) | DeValue::Table(_) => return None,
    })
}

fn kind(value: &DeValue) -> &'static str {
    match value {
        DeValue::Table(_) => "a table",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array of anything but strings",
        _ => "such a number",
    }
}

#[cfg(test)]
mod tests {
    use super::{ConfigEntry, KnownSettings, RawValue, parse};

    const KNOWN: KnownSettings = KnownSettings {
        settings: &["model", "max_rounds", "api_key_cmd", "profile", "trusted_projects"],
        whole_file: &["trusted_projects"],
        prices: &["input", "output"],
    };

    fn entry(key: &str, value: RawValue, line: usize) -> ConfigEntry {
        ConfigEntry { key: key.to_owned(), value, line }
    }

    #[test]
    fn a_file_is_settings_with_their_lines() {
        let text = "# mine\nmodel = \"a\"\nmax_rounds = 0x10\n\n[profiles.local]\n\
                    api_key_cmd = [\"pass\", \"key\"]\n";
        let found = parse(text, KNOWN).unwrap();
        let expected = [
            entry("model", RawValue::Text("a".into()), 2),
            entry("max_rounds", RawValue::Whole("16".into()), 3),
        ];
        assert_eq!(found.entries, expected);
        let list = RawValue::List(vec!["pass".into(), "key".into()]);
        assert_eq!(found.profiles["local"], [entry("api_key_cmd", list, 6)]);
        let other = parse("[profile.a]\nmodel = 'm'\n[profiles.b]\n", KNOWN).unwrap();
        assert_eq!(other.profiles["a"], [entry("model", RawValue::Text("m".into()), 2)]);
        assert_eq!(other.profiles["b"], []);
    }

    #[track_caller]
    fn check(text: &str, line: usize, message: &str, hint: &str) {
        let found = parse(text, KNOWN).unwrap_err();
        assert_eq!((found.line, found.message.as_str()), (line, message), "{text}");
        assert_eq!(found.hint.unwrap_or_default(), hint, "{text}");
    }

    #[test]
    fn the_first_mistake_is_told_with_its_line() {
        check("modle = \"x\"", 1, "unknown setting `modle`", "did you mean `model`?");
        check("model='x'\n[prfiles.a]", 2, "unknown setting `prfiles`", "did you mean `profiles`?");
        let see = "see `csv-agent help config`";
        check("zzzzzz = 1\nmodle = 2", 1, "unknown setting `zzzzzz`", see);
        let key = "a file cannot contain the key itself: use `api_key_file` or `api_key_cmd`";
        check("api_key = 'sk-x'", 1, "unknown setting `api_key`", key);
        check("\n\nmodel = 1979-05-27", 3, "`model` cannot be a date", see);
        check("model = [1]", 1, "`model` cannot be an array of anything but strings", see);
        let hint = "write `[profiles.\"NAME\"]` and its settings below it";
        check("profiles = 1", 1, "`profiles` is not a table", hint);
        let hint = "write `[profiles.\"a\"]` and its settings below it";
        check("[profiles]\na = 1", 2, "`profiles.a` is not a table", hint);
        check("[prices.a]\ninpt = 1", 2, "unknown setting `inpt`", "did you mean `input`?");
        check("[profiles.a]\ntrusted_projects = []", 2, "unknown setting `trusted_projects`", see);
    }

    #[test]
    fn no_mistake_quotes_a_value() {
        for text in
            ["api_key_cmd = \"sk-abcdefghijkl", "api_key = 'sk-abcdefghijkl'", "x = sk-abcd"]
        {
            let found = format!("{:?}", parse(text, KNOWN).unwrap_err());
            assert!(!found.contains("sk-"), "{found}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_file_makes_it_panic(text in "(\\[|\\]|\"|'|=|\\.|a|1|\n|profiles|model|\\{|,|é| ){0,40}") {
            let _ = parse(&text, KNOWN);
        }
    }
}
