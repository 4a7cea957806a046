//! `checks.toml`: data by name, and rules about it.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use csv_agent_ingest::IngestOptions;
use csv_agent_render::report::checks::{RuleOutcome, RuleReport};
use csv_agent_types::conversation::Assessment;
use csv_agent_types::dataset_names::is_dataset_name;
use csv_agent_types::limits::{CHECKS_BYTES_MAX, CHECKS_MAX};
use csv_agent_types::named_file::{self, NotRead};
use csv_agent_types::status::Failure;

use crate::ingest::{named_argument, options_of_flags};
use crate::options::briefing::{text, wrong};
use crate::options::config::document::{Mistake, line_of};
use crate::tips;
use crate::usage::nearest;

/// The name of such a file, if it has no other.
pub(super) const USUAL: &str = "checks.toml";
/// The form of such a file.
const FORM: &str = "write `[data]` with `NAME = \"FILE\"` below it, and for each rule `[[check]]` with `name`, and \
                    `sql` or `claim`";
/// How a file is read: flags of `ingest`, with `_` for `-`.
const READ_OPTIONS: [&str; 12] = [
    "delimiter", "quote", "escape", "encoding", "no_header", "skip_rows", "columns", "comment",
    "null", "dtype", "date_order", "decimal",
];
/// Members of a rule.
const MEMBERS: [&str; 4] = ["name", "claim", "sql", "severity"];

/// A file of rules.
#[derive(Debug)]
pub(super) struct ChecksFile {
    /// The datasets, in the order of the file.
    data: Vec<NamedData>,
    /// The rules, in the order of the file. With a baseline, there may be none.
    pub rules: Vec<CheckRule>,
}

/// A dataset.
#[derive(Debug)]
struct NamedData {
    name: String,
    /// At least one.
    paths: Vec<PathBuf>,
    /// How to read them, if the file says so.
    read: Option<IngestOptions>,
}

/// Files to ingest, all read in the same way.
pub(super) struct NamedFiles {
    /// `NAME=PATH`, or paths.
    pub arguments: Vec<PathBuf>,
    /// How to read them, if it is not to be detected.
    pub read: Option<IngestOptions>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct CheckRule {
    pub name: String,
    /// What it says.
    pub body: RuleBody,
    /// How severe it is when the data breaks it.
    pub severity: Assessment,
    /// Its line in the file.
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RuleBody {
    /// Words.
    Claim(String),
    /// A statement whose rows break it.
    Sql(String),
}

impl CheckRule {
    /// Returns the result of the rule, which took no time.
    pub(super) fn report(&self, outcome: RuleOutcome) -> RuleReport {
        let (name, severity, duration) = (self.name.clone(), self.severity, Duration::ZERO);
        let (claim, sql) = match &self.body {
            RuleBody::Claim(claim) => (Some(claim.clone()), None),
            RuleBody::Sql(sql) => (None, Some(sql.clone())),
        };
        let (reading, compiled_by) = (None, None);
        let line = Some(self.line);
        RuleReport { name, claim, reading, compiled_by, sql, severity, line, duration, outcome }
    }

    /// Returns what it says in words.
    pub(super) fn claim(&self) -> Option<&str> {
        match &self.body {
            RuleBody::Claim(claim) => Some(claim),
            RuleBody::Sql(_) => None,
        }
    }
}

impl ChecksFile {
    /// Reads a file. Fails with `FailureKind::Input` when it cannot be read or is not such a file; the message
    /// has the line.
    pub(super) fn read(path: &Path) -> anyhow::Result<ChecksFile> {
        let bytes = match named_file::read(path, CHECKS_BYTES_MAX) {
            Err(NotRead::Failed(error)) if error.kind() == ErrorKind::NotFound => {
                let message = format!("cannot read `{}`: no such file", path.display());
                let hint = "name the file with the rules; `csv-agent check --init DATA` proposes rules for a data \
                            file, and `csv-agent help checks` describes the form";
                return Err(Failure::input(message).hint(hint).into());
            }
            bytes => bytes,
        };
        let text = text(path, bytes)?;
        let dir = path.parent().unwrap_or(Path::new(""));
        ChecksFile::parse(&text, dir).map_err(|mistake| {
            let mistake = wrong(path, mistake);
            if path.extension().is_none_or(|it| it == "toml") {
                return mistake.into();
            }
            let file = tips::quoted(&path.to_string_lossy());
            mistake
                .hint(format!("to check data: `csv-agent check --init {file}` proposes rules"))
                .into()
        })
    }

    /// Returns the data: what is read as it is, and then each dataset that is read in a way of its own.
    pub(super) fn inputs(&self) -> Vec<NamedFiles> {
        let mut inputs = vec![NamedFiles { arguments: Vec::new(), read: None }];
        for NamedData { name, paths, read } in &self.data {
            let arguments = paths.iter().map(|it| named_argument(name, it));
            if read.is_some() {
                let (arguments, read) = (arguments.collect(), read.clone());
                inputs.push(NamedFiles { arguments, read });
            } else {
                inputs[0].arguments.extend(arguments);
            }
        }
        inputs.retain(|it| !it.arguments.is_empty());
        inputs
    }

    fn parse(text: &str, dir: &Path) -> Result<ChecksFile, Mistake> {
        let reader = ChecksReader { text, dir };
        let tables = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |it| it.start);
            reader.mistake(at, format!("not valid TOML: {}", error.message()), None)
        })?;
        let (mut data, mut rules) = (Vec::new(), Vec::new());
        for (key, value) in tables.get_ref() {
            match key.get_ref().as_ref() {
                "data" => data = reader.data(key, value)?,
                "check" => rules = reader.rules(key, value)?,
                _ => return Err(reader.unknown(key, &["data", "check"])),
            }
        }
        if data.is_empty() {
            return Err(reader.mistake(0, "the file names no data".to_owned(), Some(FORM)));
        }
        Ok(ChecksFile { data, rules })
    }

    /// Demands that there is a rule. Fails with `FailureKind::Input` when there is none.
    pub(super) fn demand_rules(&self, path: &Path) -> Result<(), Failure> {
        if !self.rules.is_empty() {
            return Ok(());
        }
        let message = "the file has no rules".to_owned();
        Err(wrong(path, Mistake { line: 1, message, hint: Some(FORM.to_owned()) }))
    }
}

type MemberKey<'a> = Spanned<DeString<'a>>;

struct ChecksReader<'a> {
    text: &'a str,
    /// The directory of the file.
    dir: &'a Path,
}

impl ChecksReader<'_> {
    fn data(&self, key: &MemberKey, value: &Spanned<DeValue>) -> Result<Vec<NamedData>, Mistake> {
        let DeValue::Table(members) = value.get_ref() else {
            return Err(self.at(key, "`data` is not a table".to_owned(), Some(FORM)));
        };
        let mut members: Vec<_> = members.iter().collect();
        members.sort_by_key(|it| it.0.span().start);
        let mut data: Vec<NamedData> = Vec::new();
        for (key, value) in members {
            let name = key.get_ref().as_ref();
            if !is_dataset_name(name) {
                let fitting = csv_agent_ingest::name_of(Path::new(name));
                let message = format!("`{name}` is not a valid name of a dataset");
                return Err(self.at(key, message, Some(&format!("try `{fitting}`"))));
            }
            if let Some(other) =
                data.iter().find(|it| it.name.to_lowercase() == name.to_lowercase())
            {
                let other = &other.name;
                let message = format!("`{other}` and `{name}` differ only in the case of letters");
                return Err(self.at(key, message, Some("give each its own name")));
            }
            let (path, read) = match value.get_ref() {
                DeValue::Table(members) => {
                    (members.get("path"), Some(self.read_options(key, members)?))
                }
                _ => (Some(value), None),
            };
            let paths = self.paths(key, name, path)?;
            data.push(NamedData { name: name.to_owned(), paths, read });
        }
        Ok(data)
    }

    /// Reads the path of a dataset, or several.
    fn paths(
        &self,
        key: &MemberKey,
        name: &str,
        value: Option<&Spanned<DeValue>>,
    ) -> Result<Vec<PathBuf>, Mistake> {
        let paths: Option<Vec<&str>> = match value.map(Spanned::get_ref) {
            Some(DeValue::String(path)) => Some(vec![path]),
            Some(DeValue::Array(paths)) => paths.iter().map(|it| it.get_ref().as_str()).collect(),
            _ => None,
        };
        let is_path = |it: &&str| !it.trim().is_empty() && *it != "-";
        let paths = paths.filter(|them| !them.is_empty() && them.iter().all(is_path));
        let Some(paths) = paths else {
            let message = format!("`{name}` is not the path of a file");
            let hint = "write a path or a pattern such as `\"data/orders-*.csv\"`, a list of them, or \
                        `{ path = \"…\", delimiter = \";\" }`";
            return Err(self.at(key, message, Some(hint)));
        };
        Ok(paths.into_iter().map(|it| self.dir.join(it)).collect())
    }

    /// Reads how to read a file: flags of `ingest`, with `_` for `-`.
    fn read_options(&self, of: &MemberKey, members: &DeTable) -> Result<IngestOptions, Mistake> {
        let known = [&["path"], &READ_OPTIONS[..]].concat();
        let mut flags: Vec<(&MemberKey, String)> = Vec::new();
        for (key, value) in members {
            let name = key.get_ref().as_ref();
            if name == "path" {
                continue;
            }
            if !READ_OPTIONS.contains(&name) {
                return Err(self.unknown(key, &known));
            }
            let flag = format!("--{}", name.replace('_', "-"));
            let wrong = || self.at(key, format!("`{name}` has a value of the wrong type"), None);
            let texts = |value: &DeValue| match value {
                DeValue::String(text) => Some(text.to_string()),
                DeValue::Integer(number) => Some(number.as_str().to_owned()),
                _ => None,
            };
            match value.get_ref() {
                DeValue::Boolean(is_set) if name == "no_header" => {
                    flags.extend(is_set.then(|| (key, flag)));
                }
                DeValue::Table(types) if name == "dtype" => {
                    for (column, dtype) in types {
                        let dtype = dtype.get_ref().as_str().ok_or_else(wrong)?;
                        flags.push((key, format!("{flag}={}={dtype}", column.get_ref())));
                    }
                }
                DeValue::Array(values) if name == "null" => {
                    let values = values.iter().map(|it| texts(it.get_ref()));
                    let values = values.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
                    flags.push((key, format!("{flag}={}", values.join(","))));
                }
                value if !["no_header", "dtype"].contains(&name) => {
                    flags.push((key, format!("{flag}={}", texts(value).ok_or_else(wrong)?)));
                }
                _ => return Err(wrong()),
            }
        }
        for (key, flag) in &flags {
            options_of_flags([flag.clone()]).map_err(|error| self.refused(key, &error))?;
        }
        options_of_flags(flags.into_iter().map(|it| it.1)).map_err(|it| self.refused(of, &it))
    }

    /// Says why `ingest` refuses a flag, without the usage of `ingest`.
    fn refused(&self, key: &MemberKey, error: &clap::Error) -> Mistake {
        let text = error.to_string();
        let reason = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        self.at(key, reason.to_owned(), Some("`csv-agent ingest --help` lists the values"))
    }

    fn rules(&self, key: &MemberKey, value: &Spanned<DeValue>) -> Result<Vec<CheckRule>, Mistake> {
        let not_rules = || self.at(key, "`check` is not a list of rules".to_owned(), Some(FORM));
        let DeValue::Array(tables) = value.get_ref() else { return Err(not_rules()) };
        if CHECKS_MAX < tables.len() {
            let message = format!("there are {} rules; the limit is {CHECKS_MAX}", tables.len());
            return Err(self.at(key, message, Some("split the file")));
        }
        let mut rules: Vec<CheckRule> = Vec::new();
        let mut lines: HashMap<String, usize> = HashMap::new();
        for table in tables {
            let DeValue::Table(members) = table.get_ref() else { return Err(not_rules()) };
            let at = table.span().start;
            let rule = self.rule(at, members)?;
            if let Some(line) = lines.insert(rule.name.clone(), line_of(self.text, at)) {
                let message = format!("the rule on line {line} is also named `{}`", rule.name);
                return Err(self.mistake(at, message, Some("give each rule its own name")));
            }
            rules.push(rule);
        }
        Ok(rules)
    }

    fn rule(&self, at: usize, members: &DeTable) -> Result<CheckRule, Mistake> {
        let mut found: [Option<String>; MEMBERS.len()] = Default::default();
        let mut severity = Assessment::Bad;
        for (key, value) in members {
            let name = key.get_ref().as_ref();
            let Some(place) = MEMBERS.iter().position(|it| *it == name) else {
                return Err(self.unknown(key, &MEMBERS));
            };
            let Some(value) = value.get_ref().as_str().map(str::trim) else {
                return Err(self.at(key, format!("`{name}` is not a string in quotes"), None));
            };
            if value.is_empty() {
                return Err(self.at(key, format!("`{name}` is empty"), None));
            }
            if name == "severity" {
                severity = match value {
                    "bad" => Assessment::Bad,
                    "warning" => Assessment::Warning,
                    _ => {
                        let message = format!("`{value}` is not a severity");
                        return Err(self.at(key, message, Some("write `bad` or `warning`")));
                    }
                };
            }
            found[place] = Some(value.to_owned());
        }
        let [name, claim, sql, _] = found;
        let Some(name) = name else {
            let hint = "add `name`: reports show the rule as a test with this name";
            return Err(self.mistake(at, "a rule has no name".to_owned(), Some(hint)));
        };
        let body = match (claim, sql) {
            (Some(claim), None) => RuleBody::Claim(claim),
            (None, Some(sql)) => RuleBody::Sql(sql),
            (claim, _) => {
                let what = if claim.is_some() {
                    "both `claim` and `sql`"
                } else {
                    "neither `claim` nor `sql`"
                };
                let hint = "write `claim` with the rule in words, or `sql` with a statement that returns the rows \
                            that break it";
                return Err(self.mistake(at, format!("`{name}` has {what}"), Some(hint)));
            }
        };
        Ok(CheckRule { name, body, severity, line: line_of(self.text, at) })
    }

    fn unknown(&self, key: &MemberKey, known: &[&str]) -> Mistake {
        let name = key.get_ref().as_ref();
        let names: Vec<String> = known.iter().map(ToString::to_string).collect();
        let hint = match nearest(name, &names).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are `{}`", known.join("`, `")),
        };
        self.at(key, format!("unknown `{name}`"), Some(&hint))
    }

    fn at(&self, key: &MemberKey, message: String, hint: Option<&str>) -> Mistake {
        self.mistake(key.span().start, message, hint)
    }

    fn mistake(&self, at: usize, message: String, hint: Option<&str>) -> Mistake {
        Mistake { line: line_of(self.text, at), message, hint: hint.map(str::to_owned) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Assessment, CheckRule, ChecksFile, FORM, RuleBody};

    const DATA: &str = "[data]\na = 'a.csv'\n";

    #[test]
    fn a_file_is_data_and_rules() {
        let text = "[data]\norders = 'data/o-*.csv'\nitems = ['i.csv', '/j.csv']\n[[check]]\nname = 'one'\n\
                    claim = 'ids are unique'\n[[check]]\nname = 'two'\nsql = 'select 1'\nseverity = 'warning'\n";
        let found = ChecksFile::parse(text, Path::new("ci")).unwrap();
        let paths = ["orders=ci/data/o-*.csv", "items=ci/i.csv", "items=/j.csv"].map(PathBuf::from);
        let inputs = found.inputs();
        assert_eq!((inputs.len(), &inputs[0].arguments[..]), (1, &paths[..]));
        let rule = |name: &str, body, severity, line| {
            let name = name.to_owned();
            CheckRule { name, body, severity, line }
        };
        let claim = RuleBody::Claim("ids are unique".to_owned());
        let sql = RuleBody::Sql("select 1".to_owned());
        let rules =
            [rule("one", claim, Assessment::Bad, 4), rule("two", sql, Assessment::Warning, 7)];
        assert_eq!(found.rules, rules);
    }

    #[track_caller]
    fn check(text: &str, line: usize, message: &str, hint: &str) {
        let found = ChecksFile::parse(text, Path::new("")).unwrap_err();
        let hint_found = found.hint.unwrap_or_default();
        assert_eq!((found.line, &*found.message, &*hint_found), (line, message, hint), "{text}");
    }

    #[track_caller]
    fn check_rule(members: &str, line: usize, message: &str, hint: &str) {
        check(&format!("{DATA}[[check]]\n{members}\n"), line, message, hint);
    }

    #[test]
    fn what_is_wrong_has_its_line_and_what_to_write() {
        check("", 1, "the file names no data", FORM);
        let empty = ChecksFile::parse(DATA, Path::new("")).unwrap();
        let failure = empty.demand_rules(Path::new("c.toml")).unwrap_err();
        assert_eq!(failure.message, "c.toml:1: the file has no rules");
        check("[[check]]\nname='n'\nsql='s'\n", 1, "the file names no data", FORM);
        check("[data]\n[[check]]\nname='n'\nsql='s'\n", 1, "the file names no data", FORM);
        check("[dat]\na='a'\n", 1, "unknown `dat`", "did you mean `data`?");
        check("[data]\n'a b' = 'a'\n", 2, "`a b` is not a valid name of a dataset", "try `a_b`");
        let path = "write a path or a pattern such as `\"data/orders-*.csv\"`, a list of them, or \
                    `{ path = \"…\", delimiter = \";\" }`";
        for value in
            ["1", "[]", "''", "['a', 1]", "'-'", "{}", "{ path = 1 }", "{ delimiter = ';' }"]
        {
            check(&format!("[data]\na = {value}\n"), 2, "`a` is not the path of a file", path);
        }
        let case = "`a` and `A` differ only in the case of letters";
        check("[data]\na = 'a'\nA = 'b'\n", 3, case, "give each its own name");
        check("check = 1\n", 1, "`check` is not a list of rules", FORM);
        check("[data]\na = 'a'\na = 'b'\n", 3, "not valid TOML: duplicate key", "");
        check_rule("nme = 'n'", 4, "unknown `nme`", "did you mean `name`?");
        check_rule("name = 1", 4, "`name` is not a string in quotes", "");
        check_rule("name = ' '", 4, "`name` is empty", "");
        let name = "add `name`: reports show the rule as a test with this name";
        check_rule("sql = 's'", 3, "a rule has no name", name);
        check_rule(
            "name='n'\nsql='s'\nseverity='high'",
            6,
            "`high` is not a severity",
            "write `bad` or `warning`",
        );
        let hint = "write `claim` with the rule in words, or `sql` with a statement that returns the rows that break it";
        check_rule("name = 'n'", 3, "`n` has neither `claim` nor `sql`", hint);
        check_rule("name='n'\nclaim='c'\nsql='s'", 3, "`n` has both `claim` and `sql`", hint);
        let twice = "name='n'\nsql='s'\n[[check]]\nname='n'\nclaim='c'";
        check_rule(twice, 6, "the rule on line 3 is also named `n`", "give each rule its own name");
    }

    #[test]
    fn data_may_say_how_it_is_read() {
        let read = |value: &str| {
            let text =
                format!("[data]\na = {value}\nb = 'b.csv'\n[[check]]\nname = 'n'\nsql = 's'\n");
            ChecksFile::parse(&text, Path::new("")).map(|it| it.inputs())
        };
        let value = "{ path = ['a.csv', 'c.csv'], delimiter = ';', encoding = 'latin1', decimal = ',', skip_rows = 2, \
                     no_header = true, null = ['NA', '-'], dtype = { zip = 'text', day = 'date' }, date_order = 'dmy' }";
        let found = read(value).unwrap();
        assert_eq!(found[0].arguments, [PathBuf::from("b=b.csv")]);
        assert_eq!(found[1].arguments, ["a=a.csv", "a=c.csv"].map(PathBuf::from));
        let options = found[1].read.as_ref().unwrap();
        assert_eq!((options.encoding.as_deref(), options.skip_lines), (Some("latin1"), Some(2)));
        assert_eq!((options.header, options.dtypes.len()), (Some(false), 2));
        assert_eq!(options.nulls.as_deref(), Some(&["NA".to_owned(), "-".to_owned()][..]));
        let refused = |value: &str| {
            let mistake = read(value).err().unwrap();
            assert_eq!(mistake.line, 2);
            (mistake.message, mistake.hint.unwrap_or_default())
        };
        let (message, hint) = refused("{ path = 'a', delimeter = ';' }");
        assert_eq!((&*message, &*hint), ("unknown `delimeter`", "did you mean `delimiter`?"));
        for (value, start) in [
            ("{ path = 'a', delimiter = 1.5 }", "`delimiter` has a value of the wrong type"),
            ("{ path = 'a', no_header = 'yes' }", "`no_header` has a value of the wrong type"),
            ("{ path = 'a', dtype = 'text' }", "`dtype` has a value of the wrong type"),
            ("{ path = 'a', decimal = 'x' }", "invalid value 'x' for '--decimal"),
            ("{ path = 'a', dtype = { a = 'blob' } }", "invalid value 'a=blob' for '--dtype"),
            ("{ path = 'a', skip_rows = -1 }", "invalid value '-1' for '--skip-rows"),
        ] {
            let (message, _) = refused(value);
            assert!(message.starts_with(start), "{value}: {message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_file_makes_it_panic(text in "(\\[|\\]|\"|'|=|\\.|a|1|\n|data|check|name|sql|\\{|,|é| ){0,40}") {
            let _ = ChecksFile::parse(&text, Path::new(""));
        }
    }
}
