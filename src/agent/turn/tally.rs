//! What a turn has used: tokens, money, calls.

use csv_agent_types::conversation::{Price, Usage};
use csv_agent_types::event::UsageReport;

/// What was used so far.
pub(crate) struct Tally {
    /// Tokens so far.
    pub(crate) usage: Usage,
    /// What they cost, if somebody said so.
    pub(crate) price: Option<Price>,
    /// Tokens of the last request and its response: what the conversation has grown to.
    pub(crate) context_tokens: u64,
    /// Tool calls answered.
    pub(crate) n_calls: u32,
    session_tokens: u64,
}

impl Tally {
    /// Begins at nothing; the session had used so many tokens before.
    pub(super) fn new(session_tokens: u64) -> Self {
        Tally {
            usage: Usage::default(),
            price: None,
            context_tokens: 0,
            n_calls: 0,
            session_tokens,
        }
    }

    /// Returns the tokens of the turn and of its session.
    pub(crate) fn report(&self) -> UsageReport {
        let total_tokens = self.usage.total_tokens();
        UsageReport {
            turn: self.usage,
            total_tokens,
            session_total_tokens: self.session_tokens.saturating_add(total_tokens),
            cost_usd: self.cost_usd(),
        }
    }

    /// Returns what the turn has cost so far, if the price of its model is known.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        self.price.map(|it| it.cost(&self.usage))
    }

    /// Returns whether the turn has cost this much, in USD.
    pub(crate) fn has_cost(&self, usd: f64) -> bool {
        self.cost_usd().is_some_and(|it| usd <= it)
    }
}
