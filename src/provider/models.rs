//! Facts about models: prices, sizes, and whether they reason. For models that are not in the table,
//! [`reasons`] and [`output_tokens`] give defaults, and the price is unknown.
//!
//! Sources, as of [`LOOKED_UP`]: `OpenAI` API, "Pricing", "Models" and "Deprecations", and the models that
//! openai-python 3.57.0 lists; Anthropic, "Models overview" and "Pricing".

use csv_agent_types::conversation::Price;

/// The default model: the newest of those priced for everyday work. `OpenAI` announces the retirement of
/// such a model at least six months ahead, and `doctor` warns of it.
pub const DEFAULT_MODEL: &str = "gpt-6.2-sol";

/// The date of the table.
pub const LOOKED_UP: &str = "2026-11-24";

/// Output tokens that every current model supports.
const OUTPUT_TOKENS_MIN: u64 = 16_000;

/// Facts about a model.
#[derive(Debug, PartialEq)]
pub struct Model {
    /// The vendor's name, without a date.
    pub name: &'static str,
    /// The host of the vendor's own API, where the price applies.
    pub host: &'static str,
    /// For input within the length that conversations reach here: `OpenAI` charges more from 272 000
    /// tokens, and Anthropic from 100 000 for Haiku.
    pub price: Price,
    /// Size of the context, including the answer.
    pub context_tokens: u64,
    /// Maximum of one answer.
    pub output_tokens: u64,
    /// Whether it reasons before it answers.
    pub reasons: bool,
}

/// Host of `OpenAI`'s own API.
pub const OPENAI: &str = "api.openai.com";
/// Host of Anthropic's own API.
pub const ANTHROPIC: &str = "api.anthropic.com";

/// Returns a typical model: it reasons, with a context of about a million tokens.
const fn model(
    name: &'static str,
    host: &'static str,
    context_tokens: u64,
    price: [f64; 3],
) -> Model {
    let [input, cached_input, output] = price;
    let price = Price { input, cached_input, output };
    Model { name, host, price, context_tokens, output_tokens: 128_000, reasons: true }
}

const fn openai(name: &'static str, price: [f64; 3]) -> Model {
    model(name, OPENAI, 1_050_000, price)
}

const fn claude(name: &'static str, price: [f64; 3]) -> Model {
    model(name, ANTHROPIC, 1_000_000, price)
}

/// The table: prices of input, cached input and output in USD per million tokens.
pub(crate) const MODELS: &[Model] = &[
    openai("gpt-6.2-sol", [2.0, 0.10, 10.0]),
    openai("gpt-6.1-sol", [2.0, 0.10, 10.0]),
    openai("gpt-6-astra", [10.0, 1.0, 50.0]),
    openai("gpt-6-sol", [2.0, 0.20, 10.0]),
    openai("gpt-6-luna", [0.10, 0.01, 0.50]),
    openai("gpt-5.6-sol", [4.0, 0.40, 20.0]),
    openai("gpt-5.6-terra", [2.0, 0.20, 12.0]),
    openai("gpt-5.6-luna", [0.20, 0.02, 1.20]),
    Model { context_tokens: 400_000, ..openai("gpt-5.1", [1.25, 0.125, 10.0]) },
    claude("claude-opus-5-5", [4.0, 0.20, 20.0]),
    claude("claude-sonnet-5-5", [2.0, 0.10, 10.0]),
    claude("claude-haiku-5-5", [0.10, 0.01, 0.50]),
    claude("claude-opus-5", [5.0, 0.50, 25.0]),
    claude("claude-sonnet-5", [2.0, 0.20, 10.0]),
    Model {
        context_tokens: 200_000,
        output_tokens: 64_000,
        reasons: false,
        ..claude("claude-haiku-4-5", [1.0, 0.10, 5.0])
    },
];

/// Returns the facts about a model, also for a name with a date or with the vendor's prefix of gateways.
pub fn known(model: &str) -> Option<&'static Model> {
    MODELS.iter().find(|it| is_same_model(it.name, model))
}

/// Returns the list price of a model at this host. A gateway's price may differ.
pub fn price(model: &str, host: &str) -> Option<Price> {
    known(model).filter(|it| it.host == host).map(|it| it.price)
}

/// Returns whether a model reasons before it answers and seals its reasoning; None when unknown. `OpenAI`'s
/// models do since the first `o` and `gpt-5`, except those for chat.
pub fn reasons(model: &str) -> Option<bool> {
    if let Some(known) = known(model) {
        return Some(known.reasons);
    }
    let name = base(model);
    let generation = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?;
        rest.split(|it: char| !it.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    match (generation("gpt-"), generation("o")) {
        (Some(generation), _) => Some(5 <= generation && !name.contains("chat")),
        (None, Some(_)) => Some(true),
        (None, None) => None,
    }
}

/// Returns the maximum tokens of a conversation before the answer; None when unknown.
pub fn input_tokens(model: &str) -> Option<u64> {
    known(model).map(|it| it.context_tokens - it.output_tokens)
}

/// Returns the maximum tokens of a model's answer.
pub fn output_tokens(model: &str) -> u64 {
    known(model).map_or(OUTPUT_TOKENS_MIN, |it| it.output_tokens)
}

/// Returns whether a model is the requested one: `gpt-5.1-2025-11-13` is a `gpt-5.1`, and `gpt-5-mini` is
/// not a `gpt-5`.
pub(crate) fn is_same_model(asked: &str, served: &str) -> bool {
    let (asked, served) = (base(asked), base(served));
    let is_version = |rest: &str| {
        let rest = rest.trim_start_matches(['-', '@']);
        8 <= rest.len() && rest.chars().all(|it| it.is_ascii_digit() || it == '-')
    };
    served.strip_prefix(asked.as_str()).is_some_and(|rest| rest.is_empty() || is_version(rest))
        || asked
            .strip_prefix(served.as_str())
            .is_some_and(|rest| !served.is_empty() && is_version(rest))
}

/// Returns a model name without the additions of self-hosted servers: its origin and its file.
fn base(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    name.trim_end_matches(".gguf").trim_end_matches(":latest").to_owned()
}

#[cfg(test)]
mod tests {
    use super::{
        DEFAULT_MODEL, MODELS, input_tokens, is_same_model, known, output_tokens, price, reasons,
    };

    #[test]
    fn a_dated_model_is_the_one_that_was_asked() {
        for (asked, served) in [
            ("gpt-5.1", "gpt-5.1"),
            ("gpt-5.1", "gpt-5.1-2025-11-13"),
            ("gpt-5.1-2025-11-13", "gpt-5.1"),
            ("claude-haiku-4-5", "claude-haiku-4-5-20251001"),
            ("llama3", "llama3:latest"),
            ("Qwen/Qwen3-8B", "qwen3-8b"),
            ("tiny", "/models/tiny.gguf"),
        ] {
            assert!(is_same_model(asked, served), "{asked} and {served}");
        }
        for (asked, served) in
            [("gpt-5", "gpt-5-mini"), ("gpt-5", "gpt-5.1"), ("a", "b"), ("a", "")]
        {
            assert!(!is_same_model(asked, served), "{asked} and {served}");
        }
    }

    #[test]
    fn each_model_is_found_under_its_names_and_no_other() {
        for model in MODELS {
            assert_eq!(known(model.name), Some(model));
            let dated = format!("vendor/{}-2026-11-24", model.name);
            assert_eq!(known(&dated), Some(model));
            assert!(model.price.cached_input <= model.price.input, "{}", model.name);
            assert!(model.output_tokens < model.context_tokens, "{}", model.name);
        }
        for name in ["gpt-6", "gpt-6-sol-mini", "claude", ""] {
            assert_eq!(known(name), None, "{name}");
        }
        let default = known(DEFAULT_MODEL).unwrap();
        assert!(default.reasons && default.host == "api.openai.com");
    }

    #[test]
    fn a_price_holds_at_the_vendor_alone() {
        assert!(price("gpt-6-luna", "api.openai.com").is_some());
        assert_eq!(price("gpt-6-luna", "openrouter.ai"), None);
        assert_eq!(price("claude-opus-5-5", "api.openai.com"), None);
        assert_eq!(price("qwen3", "api.openai.com"), None);
    }

    #[test]
    fn what_the_table_lacks_has_a_rule() {
        for (model, expected) in [
            ("gpt-5.1", Some(true)),
            ("gpt-5-nano-2025-08-07", Some(true)),
            ("openai/gpt-7.3-terra", Some(true)),
            ("gpt-5-chat-latest", Some(false)),
            ("gpt-4.1-mini", Some(false)),
            ("gpt-4o", Some(false)),
            ("o4-mini", Some(true)),
            ("olmo-2", None),
            ("gpt-oss-120b", None),
            ("qwen3-8b", None),
        ] {
            assert_eq!(reasons(model), expected, "{model}");
        }
        assert_eq!((output_tokens("gpt-6-luna"), output_tokens("qwen3")), (128_000, 16_000));
        assert_eq!((input_tokens("gpt-6-luna"), input_tokens("qwen3")), (Some(922_000), None));
    }
}
