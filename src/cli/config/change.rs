//! Changes of the user's own configuration file. Comments and the order of its lines stay.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, fchown};
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use toml_edit::{DocumentMut, Item, Key, Table, TableLike, TomlError, Value};

use csv_agent_types::named_file;
use csv_agent_types::status::Failure;

use crate::environment::Environment;
use crate::options::config;
use crate::options::config::document::{Mistake, RawValue};
use crate::options::settings::{self, API_KEY_CMD, PROFILE, SETTINGS};
use crate::signals::{self, Signals};

/// What a new file begins with.
const HEADING: &str = "# Settings of csv-agent. `csv-agent help config` lists them.\n";

/// Sets a setting. `key` is its name, or `profiles.NAME.SETTING`. Fails with `FailureKind::Usage` when there
/// is no such setting, or it does not take the value.
pub(super) fn set(path: &Path, key: &str, value: &str) -> anyhow::Result<()> {
    make_dir(path.parent().unwrap_or(Path::new("/")))
        .map_err(|error| cannot_write(path, &error))?;
    let _lock = lock(path)?;
    let document = read(path)?;
    let names = names(key)?;
    if names[0] == "prices" {
        let message = "a price consists of several values";
        let hint = "write it with `csv-agent config edit`, as in the example of `csv-agent help \
                    config`";
        return Err(Failure::usage(message).hint(hint).into());
    }
    let mut refused: Option<Mistake> = None;
    for mut value in candidates(&names, value) {
        if settings::PATHS.contains(&names[names.len() - 1].as_str()) {
            make_absolute(&mut value);
        }
        let is_list = value.is_array();
        let mut changed = document.clone();
        put(&mut changed, &names, value)?;
        match check(&changed, &names) {
            Ok(()) => return write(path, &changed.to_string()),
            // That a number is too large says more than that it is not text.
            Err((mistake, is_of_type)) => {
                if refused.is_none() || !is_list && !is_of_type {
                    refused = Some(mistake);
                }
            }
        }
    }
    let Mistake { message, hint, .. } = refused.context("a value has at least one reading")?;
    let failure = Failure::usage(format!("cannot set `{key}`: {message}"));
    Err(failure.hint(hint.unwrap_or_else(|| "see `csv-agent help config`".to_owned())).into())
}

/// Puts a value into the document. The comment behind an old value stays.
fn put(document: &mut DocumentMut, names: &[String], value: Value) -> anyhow::Result<()> {
    let refusal = || {
        let message =
            format!("cannot set `{}`: a part of this name is a table or a value", names.join("."));
        Failure::usage(message).hint("change it with `csv-agent config edit`")
    };
    let table = table(document, names).ok_or_else(refusal)?;
    let last = &names[names.len() - 1];
    match table.get_mut(last) {
        None => drop(table.insert(last, Item::Value(value))),
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        Some(_) => return Err(refusal().into()),
    }
    Ok(())
}

/// Removes a setting. Returns whether the file had it. Fails when it is a table or no setting, or the file
/// cannot be written.
pub(super) fn unset(path: &Path, key: &str) -> anyhow::Result<bool> {
    let _lock = lock(path)?;
    let mut document = read(path)?;
    let names = names(key)?;
    let (last, parents) = names.split_last().context("a key has a name")?;
    let mut table = Some(document.as_table_mut() as &mut dyn TableLike);
    for name in parents {
        table = table.and_then(|it| it.get_mut(name)?.as_table_like_mut());
    }
    let found = table.as_ref().and_then(|it| it.get(last)).map(Item::is_value);
    match found {
        Some(true) => {}
        Some(false) => {
            let message = format!("`{key}` is a table with settings, not a setting");
            let hint = "name one of its settings, or remove the table with `csv-agent config edit`";
            return Err(Failure::usage(message).hint(hint).into());
        }
        None if SETTINGS.iter().any(|it| it.key() == last) => return Ok(false),
        None => {
            let message = format!("there is no setting `{key}`");
            let hint = "see `csv-agent help config`";
            return Err(Failure::usage(message).hint(hint).into());
        }
    }
    table.and_then(|it| it.remove(last));
    write(path, &document.to_string())?;
    Ok(true)
}

/// Opens the file in the user's editor, and checks it afterwards. Fails when there is no editor, it fails, or
/// the file is invalid afterwards.
pub(super) fn edit(path: &Path, environment: &Environment) -> anyhow::Result<()> {
    let editor = environment.visual.as_ref().or(environment.editor.as_ref());
    let words = editor.and_then(|it| shlex::split(it)).filter(|it| !it.is_empty());
    let Some(words) = words else {
        let message = "no editor: neither `VISUAL` nor `EDITOR` is set";
        let hint = format!("set one of them, or change `{}` yourself", path.display());
        return Err(Failure::usage(message).hint(hint).into());
    };
    if !path.exists() {
        write(path, "")?;
    }
    // Ctrl-C is meant for the editor.
    let runtime = signals::runtime()?;
    let listening = runtime.block_on(async { Signals::listen() })?;
    let status = Command::new(&words[0]).args(&words[1..]).arg(path).status();
    drop(listening);
    let status = status.map_err(|error| {
        let reason = named_file::reason(Path::new(&words[0]), &error);
        let message = format!("cannot start the editor `{}`: {reason}", words[0]);
        Failure::usage(message).hint("correct `VISUAL` or `EDITOR`")
    })?;
    if !status.success() {
        let message = format!("the editor `{}` failed: {status}", words[0]);
        return Err(Failure::usage(message).into());
    }
    let text = config::own_text(path)?.ok_or_else(|| {
        let message = format!("`{}` no longer exists", path.display());
        Failure::setup(message)
    })?;
    config::parse(&text)
        .and_then(|document| {
            document.entries.iter().try_for_each(|entry| {
                settings::check_value(&entry.key, &entry.value).map_err(|found| Mistake {
                    line: entry.line,
                    message: format!("`{}`: {found}", entry.key),
                    hint: None,
                })
            })
        })
        .map_err(|mistake| {
            let mut failure = config::mistake(path, mistake);
            failure.hint = Some("correct it with `csv-agent config edit`".to_owned());
            failure.into()
        })
}

/// Splits a key into names. The name of a profile or a model may contain dots.
fn names(key: &str) -> anyhow::Result<Vec<String>> {
    let keys = Key::parse(key).map_err(|_| {
        let message = format!("`{key}` is not a valid name of a setting");
        let hint = "write a name such as `model` or `profiles.work.base_url`";
        Failure::usage(message).hint(hint)
    })?;
    let names: Vec<String> = keys.iter().map(|it| it.get().to_owned()).collect();
    Ok(match names.as_slice() {
        [first, middle @ .., last] if 1 < middle.len() => {
            vec![first.clone(), middle.join("."), last.clone()]
        }
        _ => names,
    })
}

/// Returns what a word may mean: text, another value of TOML, a command, or a list.
fn candidates(names: &[String], word: &str) -> Vec<Value> {
    let parsed = word.parse::<Value>().ok();
    // A string of TOML may have its quotes.
    let (text, other) = match parsed {
        Some(text) if text.is_str() => (text, None),
        other => (Value::from(word), other),
    };
    let mut all = vec![text];
    all.extend(other);
    // What begins as an array and is none is a mistake, and no list of words.
    if word.trim_start().starts_with('[') {
        return all;
    }
    all.push(if names.last().is_some_and(|it| it == API_KEY_CMD.key) {
        shlex::split(word).unwrap_or_default().into_iter().collect()
    } else {
        word.split(',').map(str::trim).filter(|it| !it.is_empty()).collect()
    });
    all
}

/// Completes relative paths. In the file they would be relative to it, and not to where the user typed them.
fn make_absolute(value: &mut Value) {
    if let Some(list) = value.as_array_mut() {
        list.iter_mut().for_each(make_absolute);
    } else if let Some(path) = value.as_str().filter(|it| !it.is_empty() && !it.starts_with('~'))
        && let Ok(path) = std::path::absolute(path)
        && let Some(path) = path.to_str()
    {
        *value = Value::from(path);
    }
}

/// Returns the table that contains the setting, and creates it if needed.
fn table<'a>(document: &'a mut DocumentMut, names: &[String]) -> Option<&'a mut dyn TableLike> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (depth, name) in names[..names.len() - 1].iter().enumerate() {
        let mut new = Table::new();
        // `[profiles.work]` needs no `[profiles]` above it.
        new.set_implicit(depth == 0);
        table = table.entry(name).or_insert(Item::Table(new)).as_table_like_mut()?;
    }
    Some(table)
}

/// Checks the file as it would be, and the new value in it. An error comes with whether the type of the value is wrong.
fn check(document: &DocumentMut, names: &[String]) -> Result<(), (Mistake, bool)> {
    let parsed = config::parse(&document.to_string()).map_err(|it| (it, false))?;
    let entries = match names {
        [_] => Some(&parsed.entries),
        [_, name, _] => parsed.profiles.get(name),
        _ => None,
    };
    let found = entries.and_then(|them| them.iter().find(|it| Some(&it.key) == names.last()));
    let wrong = |message: String| Mistake { line: 0, message, hint: None };
    let entry = found.ok_or_else(|| (wrong("there is no such setting".to_owned()), false))?;
    let is_profile = |name: &String| parsed.profiles.contains_key(name) || name == settings::LOCAL;
    if let ([key], RawValue::Text(name)) = (names, &entry.value)
        && key == PROFILE.key
        && !is_profile(name)
    {
        return Err((wrong(format!("there is no profile `{name}` in the file")), false));
    }
    settings::check_value(&entry.key, &entry.value).map_err(|message| {
        let is_of_type = message.ends_with(&format!("not {}", entry.value.kind()));
        (wrong(message), is_of_type)
    })
}

/// Reads the file; a syntax error is reported by its line, without quoting it.
fn read(path: &Path) -> anyhow::Result<DocumentMut> {
    let text = config::own_text(path)?.unwrap_or_default();
    text.parse().map_err(|error: TomlError| {
        let line = config::document::line_of(&text, error.span().map_or(0, |it| it.start));
        let message = format!("not valid TOML: {}", error.message());
        let hint = Some("correct it with `csv-agent config edit`".to_owned());
        config::mistake(path, Mistake { line, message, hint }).into()
    })
}

/// Locks the directory of the file until the result is dropped, so that no change between reading and writing it is
/// lost. A directory that is not there needs no lock.
fn lock(path: &Path) -> anyhow::Result<Option<File>> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    let Ok(dir) = File::open(dir) else { return Ok(None) };
    dir.lock().map_err(|error| cannot_write(path, &error))?;
    Ok(Some(dir))
}

fn make_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write `{}`: {error}", path.display());
    Failure::setup(message)
}

/// Replaces the file atomically. A link stays a link, and a new file gets a heading.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let failed = |error: io::Error| cannot_write(path, &error);
    let target = match path.canonicalize() {
        Ok(target) => target,
        // A link to nothing stays, too.
        Err(error) if path.is_symlink() => return Err(failed(error).into()),
        Err(_) => path.to_owned(),
    };
    let dir = target.parent().unwrap_or(Path::new("/"));
    make_dir(dir).map_err(failed)?;
    let mut new = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    match target.metadata() {
        Ok(found) => {
            new.as_file().set_permissions(found.permissions()).map_err(failed)?;
            fchown(new.as_file(), Some(found.uid()), Some(found.gid())).map_err(failed)?;
        }
        Err(_) => new.write_all(HEADING.as_bytes()).map_err(failed)?,
    }
    new.write_all(text.as_bytes()).map_err(failed)?;
    new.as_file().sync_all().map_err(failed)?;
    new.persist(&target).map_err(|it| failed(it.error))?;
    Ok(())
}
