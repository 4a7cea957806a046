//! The state of a turn between two requests, and what a response requires next.
//!
//! Pure: decides whether the loop continues, without a provider or a tool.

use csv_agent_types::conversation::{Item, ToolCall, ToolChoice};
use csv_agent_types::status::{Failure, FailureKind, StopReason};

use crate::answer::{Answer, ModelOutput, said};

/// The state of a turn.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Default)]
pub(crate) struct LoopState {
    /// The current round, from 1.
    pub round: u32,
    /// Whether a call was repeated too often with the same outcome.
    pub is_stuck: bool,
    /// Whether the model asked for another round in addition to its text.
    pub wants_more: bool,
    /// Whether the turn has used up its tokens.
    pub is_out_of_tokens: bool,
    /// Whether the turn has used up its money.
    pub is_out_of_money: bool,
    /// Whether this is the last round, which allows no calls.
    is_last: bool,
    /// The hosted tool that the first response must run.
    forced: Option<&'static str>,
    was_nudged: bool,
    /// Whether there is an answer and only its form is wrong.
    is_form_due: bool,
}

/// What a response requires next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing: it has the answer.
    Answer(Answer),
    /// Another try: it was empty.
    Nudge,
    /// Another round: its text was an interim remark.
    More,
    Run(Vec<ToolCall>),
}

impl LoopState {
    /// Makes the state of a turn whose first response must run this hosted tool, if any.
    pub(crate) fn beginning_with(forced: Option<&'static str>) -> LoopState {
        LoopState { forced, ..LoopState::default() }
    }

    /// Begins the next of at most `rounds_max` rounds.
    pub(crate) fn begin_round(&mut self, rounds_max: u32) {
        self.round += 1;
        self.is_last = rounds_max <= self.round;
    }

    /// Returns whether the model may call tools in this round. The last round forbids them, so that there
    /// is an answer.
    pub(crate) fn tool_choice(&self) -> ToolChoice {
        match self.forced {
            // A hosted tool runs within the response, so this also works in the last round.
            Some(name) if self.round == 1 => ToolChoice::Hosted(name),
            _ if self.may_call() => ToolChoice::Auto,
            _ => ToolChoice::None,
        }
    }

    /// Requests the answer once more, in its form and without tools. Returns false when no round is left,
    /// the turn ended for another reason, or the form was requested before.
    pub(crate) fn ask_for_form(&mut self, answer: &Answer) -> bool {
        let is_over = self.is_last || self.is_spent();
        let may_ask = answer.stop_reason == StopReason::Complete && !is_over;
        may_ask && !std::mem::replace(&mut self.is_form_due, true)
    }

    /// Decides what follows from the items of a complete response. Fails with `FailureKind::Provider` when the
    /// model answered nothing, twice.
    pub(crate) fn next(&mut self, received: &[Item]) -> anyhow::Result<Next> {
        let calls: Vec<ToolCall> = received.iter().filter_map(Item::tool_call).collect();
        let said = said(received);
        let may_call = self.may_call();
        let answer = |text, stop_reason| {
            Next::Answer(Answer { text, stop_reason, rounds: self.round, choices: Vec::new() })
        };
        Ok(match said {
            said if !calls.is_empty() => {
                if may_call && !self.is_spent() {
                    return Ok(Next::Run(calls));
                }
                // The server ignored `tool_choice`, or no tokens or money are left. The commit of the turn
                // closes the calls as aborted.
                Next::Answer(Answer::cut(said, self.cut_by(), self.round))
            }
            Some(ModelOutput::Text(_)) if self.wants_more && may_call && !self.is_spent() => {
                Next::More
            }
            Some(ModelOutput::Text(text)) => {
                answer(text, if self.was_cut() { self.cut_by() } else { StopReason::Complete })
            }
            Some(ModelOutput::Refusal(text)) => answer(text, StopReason::Refused),
            None if may_call && !self.was_nudged => {
                self.was_nudged = true;
                Next::Nudge
            }
            None if self.was_cut() => Next::Answer(Answer::cut(None, self.cut_by(), self.round)),
            None => {
                let message = "the model's answer is empty: no text and no tool call";
                let hint = "ask again, or choose another `--model`";
                return Err(Failure::new(FailureKind::Provider, message).hint(hint).into());
            }
        })
    }

    /// Returns whether a round is left to answer a call in.
    fn may_call(&self) -> bool {
        !(self.is_last || self.is_stuck || self.is_form_due)
    }

    fn is_spent(&self) -> bool {
        self.is_out_of_tokens || self.is_out_of_money
    }

    /// Returns whether the model had to answer before it was done. A turn of one round had no call to cut,
    /// and a rewrite of the answer needs none.
    fn was_cut(&self) -> bool {
        self.is_stuck || (self.is_last && 1 < self.round && !self.is_form_due)
    }

    fn cut_by(&self) -> StopReason {
        if self.is_stuck {
            StopReason::Repeated
        } else if self.is_out_of_tokens && !self.is_last {
            StopReason::MaxTokens
        } else if self.is_out_of_money && !self.is_last {
            StopReason::MaxCost
        } else {
            StopReason::MaxRounds
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LoopState, Next};
    use csv_agent_types::conversation::Item;
    use csv_agent_types::status::StopReason::{
        self, Complete, MaxCost, MaxRounds, MaxTokens, Repeated,
    };

    fn call() -> Item {
        Item(json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}))
    }

    /// Feeds responses in order, and compares how the turn ends: the round and the reason.
    #[track_caller]
    fn check(
        standing: LoopState,
        rounds_max: u32,
        responses: &[&[Item]],
        end: Option<(u32, StopReason)>,
    ) {
        let mut standing = standing;
        let mut found = None;
        for response in responses {
            standing.begin_round(rounds_max);
            if let Next::Answer(answer) = standing.next(response).unwrap() {
                assert_ne!(answer.text, "");
                found = Some((answer.rounds, answer.stop_reason));
            }
        }
        assert_eq!(found, end);
    }

    #[test]
    fn a_turn_goes_on_until_there_is_an_answer_or_no_round() {
        let says = [Item::assistant("42")];
        check(LoopState::default(), 10, &[&[call()], &says], Some((2, Complete)));
        check(LoopState::default(), 10, &[&[call()], &[call()]], None);
        check(LoopState::default(), 2, &[&[call()], &says], Some((2, MaxRounds)));
        check(LoopState::default(), 2, &[&[call()], &[call()]], Some((2, MaxRounds)));
        check(LoopState::default(), 1, &[&says], Some((1, Complete)));
        check(LoopState::default(), 10, &[&[], &says], Some((2, Complete)));
    }

    #[test]
    fn a_bound_cuts_only_what_wants_to_go_on() {
        let out = || LoopState { is_out_of_tokens: true, ..LoopState::default() };
        check(out(), 10, &[&[Item::assistant("42")]], Some((1, Complete)));
        check(out(), 10, &[&[call()]], Some((1, MaxTokens)));
        let broke = || LoopState { is_out_of_money: true, ..LoopState::default() };
        check(broke(), 10, &[&[Item::assistant("42")]], Some((1, Complete)));
        check(broke(), 10, &[&[call()]], Some((1, MaxCost)));
        let stuck = LoopState { is_stuck: true, round: 5, ..LoopState::default() };
        check(stuck, 10, &[&[Item::assistant("42")]], Some((6, Repeated)));
    }

    #[test]
    fn a_remark_on_the_way_is_no_answer_unless_it_must_be() {
        let more = || LoopState { wants_more: true, ..LoopState::default() };
        let remark: &[&[Item]] = &[&[Item::assistant("I look.")]];
        check(more(), 10, remark, None);
        check(more(), 1, remark, Some((1, Complete)));
        let out = LoopState { is_out_of_tokens: true, ..more() };
        check(out, 10, remark, Some((1, Complete)));
    }

    #[test]
    fn an_answer_that_is_written_again_in_the_last_round_was_not_cut() {
        let mut standing = LoopState::default();
        for round in 1..=2 {
            standing.begin_round(2);
            let Next::Answer(answer) = standing.next(&[Item::assistant("42")]).unwrap() else {
                panic!("no answer");
            };
            assert_eq!(answer.stop_reason, Complete);
            assert_eq!(standing.ask_for_form(&answer), round == 1);
        }
    }

    #[test]
    fn nothing_twice_is_an_error() {
        let mut standing = LoopState::default();
        standing.begin_round(10);
        assert!(matches!(standing.next(&[]), Ok(Next::Nudge)));
        standing.begin_round(10);
        assert!(standing.next(&[]).is_err());
    }
}
