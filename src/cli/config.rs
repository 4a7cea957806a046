//! `config`: the effective settings and their sources.

use std::io::Write;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use csv_agent_sink::Format;
use csv_agent_text::sanitize;
use csv_agent_types::status::ExitStatus;

use super::flags::SettingFlags;
use super::listing::{self, Listing};
use super::options::GlobalOptions;
use super::options::config::prices;
use super::options::key::KeySource;
use super::options::settings::{SETTINGS, SettingView, Settings};
use super::stdout;

/// Flags of `config`.
#[derive(Debug, Clone, Args)]
pub struct ConfigFlags {
    /// What to do
    #[arg(value_name = "WHAT", value_enum)]
    pub what: ConfigAction,

    #[command(flatten)]
    pub settings: SettingFlags,
}

/// What `config` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigAction {
    /// Print each setting, its value and where it comes from
    Show,
}

/// Prints the requested information.
///
/// # Errors
///
/// Fails when stdout cannot be written.
pub(crate) fn run(
    flags: &ConfigFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    match flags.what {
        ConfigAction::Show => show(settings, options)?,
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
