//! Handling of a conversation that is too long. Between two turns, the oldest turns are summarised. Within
//! a turn, outputs are shortened first, then older turns are summarised, then the turn ends.

use std::time::Instant;

use serde_json::json;

use csv_agent_provider::error::{ProviderError, ProviderErrorKind};
use csv_agent_session::Session;
use csv_agent_session::history::History;
use csv_agent_text::digits::count;
use csv_agent_types::conversation::{
    FinishReason, Item, ItemKind, Question, Request, Response, ToolChoice, Usage,
};
use csv_agent_types::event::Status;
use csv_agent_types::limits::{COMPACT_AT_MIN, SUMMARY_BYTES_MAX, SUMMARY_TRIES_MAX};

use crate::answer::{ModelOutput, said};
use crate::compact::{self, Cut};
use crate::hosted::is_about_hosted;
use crate::progress::summary_listener;
use crate::turn::{Turn, TurnInterrupt};
use crate::{Agent, Conversation, TurnContext};

/// How a turn made room for a request that was too long for the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OverflowState {
    /// Whether it was ever too long.
    pub was_too_long: bool,
    /// Whether older turns are summarised, or cannot be.
    is_summarised: bool,
}

impl Agent {
    /// Requests a response, with less of the conversation each time that it is too long for the model.
    ///
    /// Also returns the items of the request that was answered.
    pub(super) async fn respond_in_room(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        instructions: &str,
        question: &Question,
        conversation: &mut Conversation<'_>,
        (round, tool_choice): (u32, ToolChoice),
    ) -> Result<(Vec<Item>, Response), TurnInterrupt> {
        loop {
            let request =
                self.request(context.session, instructions, question, conversation, tool_choice);
            let asked = Instant::now();
            let error = match self.respond(&request, round, context).await {
                Ok(response) => {
                    self.tell_hosted(context, &response, asked)?;
                    return Ok((request.items, response));
                }
                Err(TurnInterrupt::Failed(error)) if is_too_long(&error) => error,
                Err(TurnInterrupt::Failed(error)) if is_about_hosted(&error) => {
                    self.mend_hosted(context, error, conversation).await?;
                    continue;
                }
                Err(TurnInterrupt::Failed(error)) if is_about_images(&error) => {
                    if drop_old_images(conversation) {
                        context.turn.status(images_dropped(&error))?;
                        continue;
                    }
                    return Err(TurnInterrupt::Failed(error));
                }
                Err(error) => return Err(error),
            };
            if !self.make_room(context, conversation).await? {
                return Err(TurnInterrupt::Failed(error));
            }
        }
    }

    /// Shortens the conversation by the next available means. Returns whether there was one.
    async fn make_room(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        conversation: &mut Conversation<'_>,
    ) -> Result<bool, TurnInterrupt> {
        conversation.room.was_too_long = true;
        let is_output = |it: &Item| it.kind() == ItemKind::FunctionCallOutput;
        let n_new = conversation.items.iter().rev().take_while(|it| is_output(it)).count();
        let n_old = conversation.items.len() - n_new;
        let mut n_shortened = compact::shorten_outputs(&mut conversation.items[..n_old]);
        for turn in &mut conversation.history.turns {
            n_shortened += compact::shorten_outputs(&mut turn.items);
            n_shortened += compact::drop_images(&mut turn.items);
        }
        if 0 < n_shortened {
            tell_shorter(n_shortened, context.turn)?;
            return Ok(true);
        }
        if !std::mem::replace(&mut conversation.room.is_summarised, true) {
            let n_tokens = compact::tokens_of(&conversation.history.items());
            // A summary of less would be just as long.
            if COMPACT_AT_MIN < n_tokens && self.may_compact() {
                let cut = compact::cut(conversation.history.clone(), n_tokens / 2);
                self.compact(context, conversation, cut, n_tokens / 2).await?;
                if compact::tokens_of(&conversation.history.items()) < n_tokens {
                    return Ok(true);
                }
            }
        }
        let n_shortened = compact::shorten_outputs(conversation.items);
        if 0 < n_shortened {
            tell_shorter(n_shortened, context.turn)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns whether older turns may be summarised. Turns that this process does not read must not enter
    /// a summary that every process reads.
    fn may_compact(&self) -> bool {
        !self.options.fresh && !self.is_partial
    }

    /// Returns how to cut the conversation before a question, if it has outgrown its budget.
    pub(super) fn due_cut(&self, history: &History, instructions: &str) -> Option<Cut> {
        let tokens_max = self.options.limits.context_tokens_max;
        let is_due = self.may_compact()
            && compact::is_due(history, tokens_max)
            && !compact::is_in_vain(history, self.standing_tokens(instructions), tokens_max);
        is_due.then(|| compact::cut(history.clone(), tokens_max)).filter(Cut::is_worth_it)
    }

    /// Warns, with the first summary of a session, when no summary can bring a request below the budget.
    pub(super) fn tell_small_budget(
        &self,
        history: &History,
        instructions: &str,
        turn: &mut Turn,
    ) -> Result<(), TurnInterrupt> {
        let tokens_max = self.options.limits.context_tokens_max;
        let n_tokens = self.standing_tokens(instructions);
        if history.summary.is_some() || n_tokens < tokens_max {
            return Ok(());
        }
        let message = format!(
            "the instructions and the tools alone take about {n_tokens} tokens, but `--compact-at` is \
             {tokens_max}: a summary of older turns cannot bring a request below it; set a larger value"
        );
        turn.status(Status::Warning { code: "compact_at_small".to_owned(), message })
    }

    /// Estimates the tokens of each request that are not part of the conversation.
    fn standing_tokens(&self, instructions: &str) -> u64 {
        let tools = self.options.interpreter.tools().filter(|_| !self.has_no_tools);
        let tools = tools.map(|it| json!([it.name, it.description, (it.parameters)()]));
        compact::tokens_in(tools.chain([json!(instructions)]))
    }

    /// Replaces the older turns of a cut by a summary. When that fails, the conversation is unchanged, the
    /// user sees why, and a later turn tries again.
    pub(super) async fn compact(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        conversation: &mut Conversation<'_>,
        cut: Cut,
        tokens_max: u64,
    ) -> Result<(), TurnInterrupt> {
        if cut.n_older() == 0 {
            conversation.history = cut.whole();
            return Ok(());
        }
        let (turns, turns_kept, kept) = (cut.n_older(), cut.n_kept(), cut.shown());
        let message = format!("summarizing {}", count(turns as u64, "older turn"));
        context.turn.status(Status::Compacting { message, turns })?;
        let (text, usage) = match self.summary(context, &cut, tokens_max).await? {
            Ok(summary) => summary,
            Err(reason) => return context.turn.status(compaction_failed(&reason)),
        };
        let shorter = cut.summarised(&text);
        if let Err(error) = context.session.shorten_history(&shorter) {
            return context.turn.status(compaction_failed(&format!("{error:#}")));
        }
        conversation.history = shorter;
        let summarised = count(turns as u64, "turn");
        let message = format!("{summarised} summarized, {turns_kept} kept");
        context.turn.status(Status::Compacted { message, turns, turns_kept, kept, usage })
    }

    /// Returns the request for a summary that precedes a question, if the conversation needs one.
    pub(super) fn first_summary(
        &self,
        session: &Session,
        history: &History,
        instructions: &str,
    ) -> Option<Request> {
        let cut = self.due_cut(history, instructions)?;
        let bytes_max = material_bytes(self.options.limits.context_tokens_max);
        Some(self.summary_request(session, &cut, bytes_max))
    }

    fn summary_request(&self, session: &Session, cut: &Cut, bytes_max: usize) -> Request {
        Request {
            model: self.options.model.clone(),
            instructions: compact::PROMPT.to_owned(),
            items: vec![Item::user(&cut.material(bytes_max.max(SUMMARY_BYTES_MAX)))],
            tools: Vec::new(),
            tool_choice: ToolChoice::None,
            format: None,
            reasoning: self.options.reasoning,
            cache_key: session.id().to_owned(),
        }
    }

    /// Asks the model for a summary, of less material each time that it is too long. Fails with the reason.
    async fn summary(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        cut: &Cut,
        tokens_max: u64,
    ) -> Result<Result<(String, Usage), String>, TurnInterrupt> {
        let mut bytes_max = material_bytes(tokens_max);
        for _ in 0..SUMMARY_TRIES_MAX {
            let request = self.summary_request(context.session, cut, bytes_max);
            let mut on_progress = summary_listener(context.turn);
            let responding = self.provider.respond(&request, &mut on_progress);
            match context.turn.wait_sent(responding).await? {
                Ok(response) => {
                    context.turn.tally.usage.add(&response.usage);
                    return Ok(match (said(&response.items), response.ending) {
                        // Half a summary would lose the turns.
                        (_, FinishReason::Incomplete(reason)) => {
                            Err(format!("it was cut ({reason})"))
                        }
                        (Some(ModelOutput::Text(text)), _) => Ok((text, response.usage)),
                        (Some(ModelOutput::Refusal(text)), _) => Err(text),
                        (None, _) => Err("the model wrote none".to_owned()),
                    });
                }
                Err(error) if error.kind == ProviderErrorKind::ContextTooLong => bytes_max /= 2,
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
        Ok(Err("even a part of the conversation is too long for the model".to_owned()))
    }
}

/// Returns how many bytes may be summarised at once. A conversation that exceeds the budget still fits the
/// model.
fn material_bytes(tokens_max: u64) -> usize {
    usize::try_from(tokens_max.saturating_mul(3)).unwrap_or(usize::MAX)
}

fn tell_shorter(n_outputs: usize, turn: &mut Turn) -> Result<(), TurnInterrupt> {
    let outputs = count(n_outputs as u64, "old output");
    let message = format!("too long for the model; asking again with {outputs} shortened");
    turn.status(Status::Compacting { message, turns: 0 })
}

fn compaction_failed(reason: &str) -> Status {
    let message =
        format!("older turns were not summarized: {reason}; the next question tries again");
    Status::Warning { code: "compaction_failed".to_owned(), message }
}

/// Removes the images of earlier questions from the conversation. Returns whether there were any.
fn drop_old_images(conversation: &mut Conversation<'_>) -> bool {
    let turns = conversation.history.turns.iter_mut();
    0 < turns.map(|it| compact::drop_images(&mut it.items)).sum::<usize>()
}

fn images_dropped(error: &anyhow::Error) -> Status {
    let message = format!("asking again without the images of earlier questions: {error}");
    Status::Warning { code: "images_dropped".to_owned(), message }
}

fn is_about_images(error: &anyhow::Error) -> bool {
    let found = error.downcast_ref::<ProviderError>();
    found.is_some_and(|it| it.kind == ProviderErrorKind::NoImages)
}

fn is_too_long(error: &anyhow::Error) -> bool {
    let found = error.downcast_ref::<ProviderError>();
    found.is_some_and(|it| it.kind == ProviderErrorKind::ContextTooLong)
}
