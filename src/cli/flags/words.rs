//! The words of flags and settings for types of other crates, which know no command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use csv_agent_chart::Theme;
use csv_agent_ingest::DateOrder;
use csv_agent_mcp::clients::Client;
use csv_agent_provider::hosted::code_interpreter::MemoryTier;
use csv_agent_render::page::PageTheme;
use csv_agent_sink::Format;
use csv_agent_types::conversation::Effort;

/// A type of which each value has a word.
pub(crate) trait Worded: Copy + PartialEq + Send + Sync + 'static {
    /// Each value with its word and its description.
    const WORDS: &'static [(Self, &'static str, &'static str)];

    /// Returns the value with this word.
    fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|it| it.1 == word).map(|it| it.0)
    }

    /// Returns its word.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|it| it.0 == self).map_or("another word", |it| it.1)
    }

    /// Returns all words.
    fn words() -> Vec<String> {
        Self::WORDS.iter().map(|it| it.1.to_owned()).collect()
    }
}

/// Returns the parser of a flag that takes one of the words.
pub(crate) fn one_of<T: Worded>() -> impl TypedValueParser<Value = T> {
    let values = T::WORDS.iter().map(|(_, word, about)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(values).try_map(|word| T::of_word(&word).ok_or("no such word"))
}

impl Worded for Format {
    const WORDS: &'static [(Self, &'static str, &'static str)] = &[
        (
            Format::Text,
            "text",
            "For people. In a pipe, answers are Markdown, and lists are tab-separated lines",
        ),
        (Format::Reply, "reply", "Only the text of the reply"),
        (Format::Json, "json", "One JSON document"),
        (Format::Jsonl, "jsonl", "One JSON event per line, as it happens"),
        (Format::Csv, "csv", "One table, separated by commas"),
        (Format::Tsv, "tsv", "One table, separated by tabs"),
        (Format::Md, "md", "Markdown with the tables, charts and the reply"),
    ];
}

impl Worded for Effort {
    const WORDS: &'static [(Self, &'static str, &'static str)] = &[
        (Effort::Low, "low", "Little"),
        (Effort::Medium, "medium", "Enough for most questions"),
        (Effort::High, "high", "A lot. Slower and more expensive"),
    ];
}

impl Worded for Theme {
    const WORDS: &'static [(Self, &'static str, &'static str)] = &[
        (Theme::Light, "light", "A white background"),
        (Theme::Dark, "dark", "A dark background"),
    ];
}

impl Worded for PageTheme {
    const WORDS: &'static [(Self, &'static str, &'static str)] = &[
        (PageTheme::Auto, "auto", "As the reader's browser prefers"),
        (PageTheme::Light, "light", "White"),
        (PageTheme::Dark, "dark", "Dark"),
    ];
}

impl Worded for MemoryTier {
    const WORDS: &'static [(Self, &'static str, &'static str)] = &[
        (MemoryTier::G1, "1g", "1 GB"),
        (MemoryTier::G4, "4g", "4 GB"),
        (MemoryTier::G16, "16g", "16 GB"),
        (MemoryTier::G64, "64g", "64 GB"),
    ];
}

impl Worded for DateOrder {
    const WORDS: &'static [(Self, &'static str, &'static str)] = &[
        (DateOrder::Dmy, "dmy", "Day, month, year"),
        (DateOrder::Mdy, "mdy", "Month, day, year"),
        (DateOrder::Ymd, "ymd", "Year, month, day"),
    ];
}

impl Worded for Client {
    const WORDS: &'static [(Self, &'static str, &'static str)] = &[
        (Client::Claude, "claude", "Claude Code and Claude Desktop"),
        (Client::Codex, "codex", "Codex"),
        (Client::Cursor, "cursor", "Cursor"),
        (Client::Vscode, "vscode", "VS Code"),
        (Client::Gemini, "gemini", "Gemini CLI"),
    ];
}
