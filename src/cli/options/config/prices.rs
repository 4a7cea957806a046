//! `[prices."MODEL"]`: the price of a model's tokens, where the vendor's list price does not apply.

use serde_json::{Value, json};

use csv_agent_provider::{host, models};
use csv_agent_types::conversation::Price;
use csv_agent_types::status::Failure;

use super::document::{ConfigEntry, RawValue};
use super::{ConfigFile, bad_value};
use crate::options::settings::{BASE_URL_OF_MODEL, Settings, ValueOrigin};

/// Keys of `[prices."MODEL"]`.
pub(crate) const NAMES: &[&str] = &["input", "cached_input", "output"];

/// Returns the price of a model: from a file, or else the list price at the vendor's own host. Fails with
/// `FailureKind::Setup` when a price in a file is invalid.
pub(crate) fn price_of(model: &str, settings: &Settings) -> anyhow::Result<Option<Price>> {
    let mut files = settings.files().iter();
    let found = files.find_map(|file| Some((file, file.document.prices.get(model)?)));
    if let Some((file, entries)) = found {
        return Ok(Some(price(model, entries, file)?));
    }
    let host = host(&settings.get(&BASE_URL_OF_MODEL)?);
    Ok(host.and_then(|it| models::price(model, &it)))
}

/// Checks all prices, including those of unused models, and returns each with its location.
pub(crate) fn all(settings: &Settings) -> anyhow::Result<Vec<(String, Value, String)>> {
    let mut shown: Vec<(String, Value, String)> = Vec::new();
    for file in settings.files() {
        for (model, entries) in &file.document.prices {
            let price = price(model, entries, file)?;
            let line = entries.first().map_or(1, |it| it.line);
            let origin = ValueOrigin::File(file.place, file.path.clone(), line).to_string();
            if shown.iter().all(|it| it.0 != *model) {
                shown.push((model.clone(), value(&price), origin));
            }
        }
    }
    Ok(shown)
}

fn value(price: &Price) -> Value {
    json!({"input": price.input, "cached_input": price.cached_input, "output": price.output})
}

fn price(model: &str, entries: &[ConfigEntry], file: &ConfigFile) -> Result<Price, Failure> {
    let named = |name: &str| {
        let entry = entries.iter().find(|it| it.key == name);
        entry.map(|it| usd(&it.value).map_err(|found| bad_value(&file.path, it, found))).transpose()
    };
    let needed = |name: &str| {
        let missing = || {
            let entry = entries.first().cloned();
            let line = entry.map_or(1, |it| it.line);
            let entry =
                ConfigEntry { key: format!("prices.{model}"), value: RawValue::Switch(true), line };
            bad_value(
                &file.path,
                &entry,
                &format!("`{name}` is missing (in USD for a million tokens)"),
            )
        };
        named(name)?.ok_or_else(missing)
    };
    let input = needed("input")?;
    let cached_input = named("cached_input")?.unwrap_or(input);
    Ok(Price { input, cached_input, output: needed("output")? })
}

fn usd(raw: &RawValue) -> Result<f64, &'static str> {
    let number = match raw {
        RawValue::Whole(text) | RawValue::Fraction(text) => text.replace('_', "").parse().ok(),
        _ => None,
    };
    let is_price = |it: &f64| it.is_finite() && 0.0 <= *it;
    number.filter(is_price).ok_or("write USD for a million tokens, such as 1.25")
}
