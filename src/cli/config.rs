//! `config`: the effective settings and their sources, and changes of the user's own file.

mod change;

use std::io::Write;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use csv_agent_sink::Format;
use csv_agent_text::sanitize;

use super::flags::SettingFlags;
use super::listing::{self, Listing};
use super::options::GlobalOptions;
use super::options::config::prices;
use super::options::key::KeySource;
use super::options::settings::{SETTINGS, SettingView, Settings};
use super::{diagnostics, stdout};
use crate::errors::ExitStatus;

/// Flags of `config`.
#[derive(Debug, Clone, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct ConfigFlags {
    #[command(subcommand)]
    pub what: ConfigAction,
}

/// What `config` does.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ConfigAction {
    /// Print each setting with its value and its origin
    Show(Box<SettingFlags>),
    /// Set a setting in your own configuration file
    Set {
        /// Name of the setting, or `profiles.NAME.SETTING`
        #[arg(value_name = "SETTING")]
        key: String,
        /// Its value. Separate the items of a list with commas
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from your own configuration file
    Unset {
        /// Name of the setting
        #[arg(value_name = "SETTING")]
        key: String,
    },
    /// Open your own configuration file in `$VISUAL` or `$EDITOR`, and check it afterwards
    Edit,
}

impl ConfigFlags {
    /// Returns the flags that configuration files can set.
    pub(crate) fn settings(&self) -> SettingFlags {
        match &self.what {
            ConfigAction::Show(flags) => SettingFlags::clone(flags),
            _ => SettingFlags::default(),
        }
    }

    /// Returns whether the files are used. A change of one works although it is invalid in another place.
    pub(crate) fn uses_files(&self) -> bool {
        matches!(self.what, ConfigAction::Show(_))
    }
}

/// Prints the settings, or changes the user's own file. Fails when stdout or the file cannot be written, or a
/// value is invalid.
pub(crate) fn run(
    flags: &ConfigFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let message = match &flags.what {
        ConfigAction::Show(_) => {
            show(settings, options)?;
            return Ok(ExitStatus::Ok);
        }
        ConfigAction::Set { key, value } => {
            let path = settings.own_path()?;
            change::set(&path, key, value)?;
            format!("`{}` now sets `{key}`", path.display())
        }
        ConfigAction::Unset { key } => {
            let path = settings.own_path()?;
            let was_there = change::unset(&path, key)?;
            let verb = if was_there { "no longer sets" } else { "does not set" };
            format!("`{}` {verb} `{key}`", path.display())
        }
        ConfigAction::Edit => {
            let path = settings.own_path()?;
            change::edit(&path, settings.environment())?;
            return Ok(ExitStatus::Ok);
        }
    };
    if options.has_notes() {
        diagnostics::note(&message);
    }
    Ok(ExitStatus::Ok)
}

fn show(settings: &Settings, options: &GlobalOptions) -> anyhow::Result<()> {
    let mut shown: Vec<SettingView> =
        SETTINGS.iter().map(|it| it.show(settings)).collect::<anyhow::Result<_>>()?;
    let (source, origin) = KeySource::choose(settings)?;
    let value = if source == KeySource::None { Value::Null } else { json!("***") };
    shown.push(SettingView { key: "api_key".to_owned(), value, origin: origin.to_string() });
    for (model, value, origin) in prices::all(settings)? {
        shown.push(SettingView { key: format!("prices.{model}"), value, origin });
    }
    stdout::answer(|out| match options.format {
        Format::Json => document(&shown, options.terminal.stdout.is_tty, out),
        _ => listing(&shown).write_whole(out, options),
    })
}

/// Prints one object, so that a program finds a setting by its name.
fn document(shown: &[SettingView], is_tty: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let of = |it: &SettingView| (it.key.clone(), json!({"value": it.value, "origin": it.origin}));
    let document: Map<String, Value> = shown.iter().map(of).collect();
    let text = if is_tty {
        serde_json::to_string_pretty(&document)?
    } else {
        serde_json::to_string(&document)?
    };
    Ok(writeln!(out, "{}", sanitize::json_for_terminal(&text))?)
}

fn listing(shown: &[SettingView]) -> Listing {
    let row = |it: &SettingView| vec![json!(it.key), for_eyes(&it.value), json!(it.origin)];
    let frame =
        listing::frame(&["setting", "value", "origin"], &[], shown.iter().map(row).collect());
    let documents =
        shown.iter().map(|it| json!({"setting": it.key, "value": it.value, "origin": it.origin}));
    Listing { documents: documents.collect(), frame }
}

fn for_eyes(value: &Value) -> Value {
    match value {
        Value::Null => json!("-"),
        Value::Array(_) | Value::Object(_) => json!(value.to_string()),
        value => value.clone(),
    }
}
