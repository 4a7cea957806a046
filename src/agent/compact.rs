//! Compaction: a summary replaces the oldest turns of a conversation that has grown too long.
//!
//! Pure: decides what to cut, what to ask the model, and how to use its answer. The turn sends and reports.
//! Cuts are between turns only.

use std::borrow::Borrow;

use serde_json::{Value, json};

use csv_agent_provider::hosted::{self, HostedCall};
use csv_agent_session::history::{History, HistoryTurn, Summary};
use csv_agent_types::conversation::{Item, ItemKind};
use csv_agent_types::limits::{
    OLD_OUTPUT_BYTES_MAX, SUMMARY_BYTES_MAX, SUMMARY_SHOWN_BYTES_MAX, TURNS_KEPT_MAX,
    TURNS_KEPT_MIN, TURNS_SUMMARISED_MIN,
};

/// The instructions for the model that writes the summary.
pub(crate) const PROMPT: &str = include_str!("prompt/compact.md");

/// Marks the start of the part of a summary that no model wrote.
const SHOWN: &str = "<!-- shown to the user -->";
/// Approximate bytes of JSON per token.
const TOKEN_BYTES: usize = 4;
/// Approximate tokens of an image; its size in bytes does not predict them.
const IMAGE_TOKENS: usize = 1_000;
/// Candidate limits on the bytes of one text of the summarised turns; the largest that fits is used.
const TEXT_BYTES: [usize; 5] = [8_000, 2_000, 500, 200, 80];

/// A conversation that was cut.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cut {
    /// The summary of everything before these turns.
    summary: Option<Summary>,
    /// The turns to summarise, oldest first.
    older: Vec<HistoryTurn>,
    /// The turns that stay. Their long outputs are shortened only where nothing else suffices.
    kept: Vec<HistoryTurn>,
}

/// Returns whether a conversation has outgrown its budget.
pub(crate) fn is_due(history: &History, tokens_max: u64) -> bool {
    let reported = history.turns.last().and_then(|it| it.context_tokens).filter(|it| 0 < *it);
    tokens_max < reported.unwrap_or_else(|| tokens_of(&history.items()))
}

/// Returns whether a summary can no longer help: there is one already, and the fixed part of every request
/// exceeds the budget while the turns do not.
pub(crate) fn is_in_vain(history: &History, standing_tokens: u64, tokens_max: u64) -> bool {
    history.summary.is_some()
        && tokens_max <= standing_tokens
        && tokens_of(&history.items()) <= tokens_max
}

/// Estimates the tokens of items. Providers count exactly, but only afterwards.
pub(crate) fn tokens_of(items: &[Item]) -> u64 {
    tokens_in(items.iter().map(|it| &it.0))
}

/// Estimates the tokens of values.
pub(crate) fn tokens_in<V: Borrow<Value>>(values: impl Iterator<Item = V>) -> u64 {
    let n_bytes: usize = values.map(|it| bytes_of(it.borrow())).sum();
    (n_bytes / TOKEN_BYTES) as u64
}

fn bytes_of(value: &Value) -> usize {
    match value {
        Value::String(text) if text.starts_with("data:") => IMAGE_TOKENS * TOKEN_BYTES,
        Value::String(text) => text.len() + 3,
        Value::Array(items) => items.iter().map(bytes_of).sum::<usize>() + 2,
        Value::Object(members) => {
            members.iter().map(|(name, it)| name.len() + 3 + bytes_of(it)).sum::<usize>() + 2
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 5,
    }
}

/// Shortens the long outputs of tool calls and of code at the provider. Returns how many it shortened.
pub(crate) fn shorten_outputs(items: &mut [Item]) -> usize {
    let mut n_shortened = 0;
    let mut shorten = |text: &mut Value| {
        let Some(long) = text.as_str().filter(|it| OLD_OUTPUT_BYTES_MAX < it.len()) else { return };
        let head = &long[..long.floor_char_boundary(OLD_OUTPUT_BYTES_MAX * 3 / 4)];
        let n_bytes = long.len();
        *text = json!(format!("{head}\n… shortened from {n_bytes} bytes; call again if needed …"));
        n_shortened += 1;
    };
    for item in items {
        if item.kind() == ItemKind::FunctionCallOutput {
            item.0.get_mut("output").into_iter().for_each(&mut shorten);
        }
        let outputs = hosted::outputs_mut(item).into_iter().flatten();
        outputs.filter_map(|it| it.get_mut("logs")).for_each(&mut shorten);
    }
    n_shortened
}

/// Removes images from messages and from outputs of code at the provider. Returns how many it removed.
pub(crate) fn drop_images(items: &mut [Item]) -> usize {
    let mut n_dropped = 0;
    for item in items {
        if let Some(outputs) = hosted::outputs_mut(item) {
            let n_before = outputs.len();
            outputs.retain(|it| it["type"] != "image");
            n_dropped += n_before - outputs.len();
        }
        if item.kind() != ItemKind::UserMessage {
            continue;
        }
        let parts = item.0.get_mut("content").and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten().filter(|it| it["type"] == "input_image") {
            *part = json!({"type": "input_text", "text": "(an image that is no longer shown)"});
            n_dropped += 1;
        }
    }
    n_dropped
}

/// Cuts a conversation so that the rest takes about half of its budget. Keeps as many of the last turns as
/// fit, then those with their outputs shortened, then fewer.
pub(crate) fn cut(history: History, tokens_max: u64) -> Cut {
    let budget = tokens_max / 2;
    let guessed = tokens_of(&history.items()).max(1);
    let reported = history.turns.last().and_then(|it| it.context_tokens).unwrap_or(0);
    let History { summary, mut turns } = history;
    let tokens = |turns: &[HistoryTurn]| turns.iter().map(|it| tokens_of(&it.items)).sum::<u64>();
    let n_turns = turns.len();
    let last = |n: usize| n_turns.saturating_sub(n);
    let mut most = (TURNS_KEPT_MIN..=TURNS_KEPT_MAX).rev().map(last);
    // The provider counted the total; each turn's share is proportional to its size.
    let counted =
        |turns: &[HistoryTurn]| tokens(turns).saturating_mul(guessed.max(reported)) / guessed;
    let at = most.find(|at| counted(&turns[*at..]) <= budget);
    let at = at.unwrap_or_else(|| {
        let from = last(TURNS_KEPT_MIN);
        for turn in &mut turns[from..] {
            shorten_outputs(&mut turn.items);
            drop_images(&mut turn.items);
        }
        // Keep fewer turns only when these are certainly too long.
        (from..turns.len()).find(|at| tokens(&turns[*at..]) <= budget).unwrap_or(turns.len())
    });
    let mut kept = turns.split_off(at);
    for turn in &mut kept {
        // The provider's count includes the removed turns.
        turn.context_tokens = None;
    }
    Cut { summary, older: turns, kept }
}

impl Cut {
    /// Returns how many turns the new summary replaces, without those of the previous summary.
    pub(crate) fn n_older(&self) -> usize {
        self.older.len()
    }

    /// Returns whether a summary is worth a request. It is not when one exists and almost nothing is new,
    /// as where the instructions alone exceed the budget.
    pub(crate) fn is_worth_it(&self) -> bool {
        TURNS_SUMMARISED_MIN <= self.older.len()
            || (self.summary.is_none() && !self.older.is_empty())
    }

    /// Returns how many turns stay unchanged.
    pub(crate) fn n_kept(&self) -> usize {
        self.kept.len()
    }

    /// Returns the text for the model to summarise, of about `bytes_max` bytes at most.
    pub(crate) fn material(&self, bytes_max: usize) -> String {
        let before = self.summary.as_ref().map_or(String::new(), |it| {
            format!("# Summary up to turn {}\n\n{}\n\n", it.last_turn, model_part(&it.text))
        });
        let turns_with = |text_bytes: usize| {
            self.older.iter().map(|it| transcript(it, text_bytes)).collect::<String>()
        };
        let mut turns = String::new();
        for text_bytes in TEXT_BYTES {
            turns = turns_with(text_bytes);
            if before.len() + turns.len() <= bytes_max {
                break;
            }
        }
        let room = bytes_max.saturating_sub(before.len());
        if room < turns.len() {
            // The newest turns matter most.
            let from = turns.ceil_char_boundary(turns.len() - room);
            turns = format!("(the beginning is left out)\n{}", &turns[from..]);
        }
        before + &turns
    }

    /// Lists the tables and charts that the summarised turns showed, one line each. When there are too
    /// many, the oldest are dropped.
    pub(crate) fn shown(&self) -> Vec<String> {
        let before = self.summary.iter().flat_map(|it| shown_part(&it.text).lines());
        let before = before.filter(|it| it.starts_with("- ")).map(str::to_owned);
        let mut lines: Vec<String> = before.chain(self.older.iter().flat_map(shown_by)).collect();
        let mut n_bytes = 0;
        let n_fit = lines.iter().rev().take_while(|it| {
            n_bytes += it.len() + 1;
            n_bytes <= SUMMARY_SHOWN_BYTES_MAX
        });
        let n_fit = n_fit.count();
        lines.drain(..lines.len() - n_fit);
        lines
    }

    /// Returns the conversation without a new summary, for a cut without older turns.
    pub(crate) fn whole(self) -> History {
        History { summary: self.summary, turns: self.kept }
    }

    /// Returns the conversation with the model's summary in place of the older turns.
    pub(crate) fn summarised(self, text: &str) -> History {
        let shown = self.shown();
        let text = text.replace(SHOWN, "");
        let mut text = text[..text.floor_char_boundary(SUMMARY_BYTES_MAX)].trim().to_owned();
        if !shown.is_empty() {
            text = format!("{text}\n\n{SHOWN}\nShown to the user:\n\n{}", shown.join("\n"));
        }
        let all = self.summary.iter().map(|it| &it.withheld);
        let all = all.chain(self.older.iter().map(|it| &it.withheld)).cloned();
        let withheld = all.reduce(|all, it| all.common(&it)).unwrap_or_default();
        let before = self.summary.map_or(0, |it| it.last_turn);
        let last_turn = self.older.last().map_or(before, HistoryTurn::number);
        History { summary: Some(Summary { last_turn, withheld, text }), turns: self.kept }
    }
}

/// Returns the part of a summary that a model wrote.
fn model_part(text: &str) -> &str {
    text.split(SHOWN).next().unwrap_or_default().trim()
}

fn shown_part(text: &str) -> &str {
    text.split_once(SHOWN).map_or("", |(_, it)| it)
}

/// Writes a turn as text, with at most `text_bytes` bytes for each of its texts.
fn transcript(turn: &HistoryTurn, text_bytes: usize) -> String {
    let paragraphs = turn.items.iter().flat_map(told_by);
    let paragraphs =
        paragraphs.map(|(label, text)| format!("{label}: {}\n\n", cut_text(&text, text_bytes)));
    format!("# Turn {}\n\n{}", turn.number(), paragraphs.collect::<String>())
}

/// Returns the texts of an item, each with its speaker.
fn told_by(item: &Item) -> Vec<(String, String)> {
    let part = |label: &str, text: String| (label.to_owned(), text);
    match item.kind() {
        ItemKind::UserMessage => vec![part("User", item.text())],
        ItemKind::AssistantMessage => vec![part("Analyst", item.text())],
        ItemKind::FunctionCall => {
            let call = item.tool_call().into_iter();
            call.map(|it| (format!("Call of {}", it.name), it.arguments)).collect()
        }
        ItemKind::FunctionCallOutput => {
            item.0["output"].as_str().map(|it| part("Output", it.to_owned())).into_iter().collect()
        }
        // The provider ran this call, and its item contains call and output.
        ItemKind::Other => {
            let told = |it: HostedCall| {
                let call = (format!("Call of {}", it.call.name), it.call.arguments);
                [call, part("Output", it.output.for_model())]
            };
            hosted::call(item).map(told).into_iter().flatten().collect()
        }
        ItemKind::Reasoning => Vec::new(),
    }
}

fn cut_text(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes_max)])
}

/// Lists what the calls of a turn showed to the user.
fn shown_by(turn: &HistoryTurn) -> impl Iterator<Item = String> {
    turn.items.iter().filter_map(|item| {
        let call = item.tool_call()?;
        let kind = match call.name.as_str() {
            "send_data_to_ui_as_df" => "table",
            "send_chart_to_ui" => "chart",
            _ => return None,
        };
        let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
        let name = arguments["logical_name"].as_str()?;
        Some(format!("- turn {}: {kind} `{}`", turn.number(), cut_text(name, 100)))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{cut, drop_images, is_due, is_in_vain, shorten_outputs, tokens_of};
    use csv_agent_session::history::{History, HistoryTurn, Summary};
    use csv_agent_types::conversation::{Item, Question};
    use csv_agent_types::redaction::Redaction;

    fn turn(number: u32, n_output_bytes: usize) -> HistoryTurn {
        let call_id = format!("c{number}");
        let arguments = json!({"df_name": "df", "logical_name": format!("table {number}")});
        let call = json!({"type": "function_call", "call_id": call_id,
            "name": "send_data_to_ui_as_df", "arguments": arguments.to_string()});
        let items = vec![
            Item::user(&format!("question {number}")),
            Item(call),
            Item::output(&call_id, &"x".repeat(n_output_bytes)),
            Item::assistant(&format!("answer {number}")),
        ];
        HistoryTurn {
            turn: format!("{number:04}"),
            context_tokens: None,
            withheld: Redaction::default(),
            is_builtin: false,
            items,
        }
    }

    fn history(n_turns: u32, n_output_bytes: usize, reported: Option<u64>) -> History {
        let mut turns: Vec<_> = (1..=n_turns).map(|it| turn(it, n_output_bytes)).collect();
        turns.last_mut().unwrap().context_tokens = reported;
        History { summary: None, turns }
    }

    #[track_caller]
    fn check(history: History, tokens_max: u64, n_older: usize, n_kept: usize) {
        let cut = cut(history, tokens_max);
        assert_eq!((cut.n_older(), cut.n_kept()), (n_older, n_kept));
    }

    #[test]
    fn ten_turns_are_kept_or_fewer_when_they_are_long() {
        check(history(30, 10, None), 100_000, 20, 10);
        // The provider counts 4 000 tokens a turn.
        check(history(30, 10, Some(120_000)), 100_000, 20, 10);
        check(history(30, 10, Some(240_000)), 100_000, 24, 6);
        // Five turns stay however the provider counts.
        check(history(30, 10, Some(3_000_000)), 100_000, 25, 5);
        check(history(4, 10, Some(3_000_000)), 100_000, 0, 4);
        // 40 KB each; shortened, five fit.
        check(history(30, 40_000, None), 20_000, 25, 5);
        // Too long, with nothing to shorten.
        let mut long = history(3, 10, None);
        for turn in &mut long.turns {
            turn.items[0] = Item::user(&"why? ".repeat(10_000));
        }
        check(long, 30_000, 2, 1);
    }

    #[test]
    fn a_conversation_is_too_long_by_what_the_provider_counted_or_by_its_size() {
        assert!(!is_due(&History::default(), 1));
        assert!(is_due(&history(1, 10, Some(101)), 100));
        assert!(!is_due(&history(1, 4_000, Some(100)), 100));
        assert!(is_due(&history(1, 4_000, None), 1_000));
        assert!(!is_due(&history(1, 4_000, None), 2_000));
    }

    #[test]
    fn a_second_summary_is_in_vain_where_the_rest_of_each_request_is_over_the_budget() {
        let first = history(9, 10, Some(5_000));
        assert!(!is_in_vain(&first, 3_000, 1_000), "a first one takes what there is");
        let summary =
            Some(Summary { last_turn: 4, withheld: Redaction::default(), text: "Before.".into() });
        let again = History { summary, ..first };
        assert!(is_in_vain(&again, 3_000, 1_000));
        assert!(!is_in_vain(&again, 3_000, 4_000), "the turns are what is too long");
        let long = History { turns: history(9, 1_000, Some(7_000)).turns, ..again };
        assert!(!is_in_vain(&long, 3_000, 1_000), "the turns are too long as well");
    }

    #[test]
    fn the_material_has_the_summary_before_and_fits() {
        let mut history = history(12, 4_000, None);
        history.summary = Some(Summary {
            last_turn: 0,
            withheld: Redaction::default(),
            text: "Before: rain.".into(),
        });
        let cut = cut(history, 100_000);
        let whole = cut.material(usize::MAX);
        assert!(whole.starts_with("# Summary up to turn 0\n\nBefore: rain.\n\n# Turn 1\n\nUser: "));
        assert!(whole.contains("Analyst: answer 2") && !whole.contains("question 3"), "{whole}");
        for bytes_max in [10_000, 2_000, 300] {
            let material = cut.material(bytes_max);
            assert!(material.len() < bytes_max + 100, "{}", material.len());
            assert!(material.contains("answer 2"), "{material}");
        }
    }

    #[test]
    fn a_summary_is_what_the_model_wrote_whatever_its_headings() {
        let text = "## Shown to the user\n\nTea costs 4.20.";
        let summary = cut(history(12, 10, None), 100_000).summarised(text).summary.unwrap();
        assert!(summary.text.starts_with(text), "{}", summary.text);
    }

    #[test]
    fn a_summary_is_not_written_again_for_a_turn_or_two() {
        let mut long = history(12, 10, Some(3_000_000));
        assert!(cut(long.clone(), 100_000).is_worth_it());
        long.summary =
            Some(Summary { last_turn: 0, withheld: Redaction::default(), text: "Before.".into() });
        assert!(cut(long.clone(), 100_000).is_worth_it());
        long.turns.drain(..6);
        assert!(!cut(long, 100_000).is_worth_it());
    }

    #[test]
    fn what_was_shown_is_known_by_name_through_every_summary() {
        let first = cut(history(12, 10, None), 100_000).summarised("All went well.");
        let summary = first.summary.clone().unwrap();
        assert_eq!(summary.last_turn, 2);
        assert_eq!(
            summary.text,
            "All went well.\n\n<!-- shown to the user -->\nShown to the user:\n\n- turn 1: table `table 1`\n- turn 2: table `table 2`"
        );
        let mut again = first;
        again.turns.extend((13..=14).map(|it| turn(it, 10)));
        let cut = cut(again, 100_000);
        assert!(!cut.material(10_000).contains("Shown"));
        assert_eq!(cut.shown().len(), 4);
    }

    #[test]
    fn an_image_leaves_a_word_behind() {
        let question = Question {
            text: "What is this?".into(),
            images: vec!["data:image/png;base64,AA".into()],
            verdict: false,
            pick: None,
        };
        let mut items = [question.item()];
        assert_eq!((drop_images(&mut items), drop_images(&mut items)), (1, 0));
        assert_eq!(items[0].text(), "What is this?(an image that is no longer shown)");
    }

    #[test]
    fn long_outputs_are_shortened_once_and_an_image_counts_as_one() {
        let mut items = turn(1, 5_000).items;
        assert_eq!(shorten_outputs(&mut items), 1);
        assert_eq!(shorten_outputs(&mut items), 0);
        let text = items[2].0["output"].as_str().unwrap();
        assert!(text.len() < 1_024 && text.contains("shortened from 5000 bytes"), "{text}");
        let image =
            Item(json!({"image_url": format!("data:image/png;base64,{}", "A".repeat(9_999))}));
        assert!(tokens_of(&[image]) < 1_100);
    }
}
