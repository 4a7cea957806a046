//! What a turn has used: tokens, money, calls.

use csv_agent_types::conversation::{Price, Usage};
use csv_agent_types::event::UsageReport;

/// The usage so far.
pub(crate) struct Tally {
    /// Tokens so far.
    pub(crate) usage: Usage,
    /// The price of the tokens, if the user gave one.
    pub(crate) price: Option<Price>,
    /// Tokens of the last request and its response: the current size of the conversation.
    pub(crate) context_tokens: u64,
    /// Tool calls answered.
    pub(crate) n_calls: u32,
    session_tokens: u64,
}

impl Tally {
    /// Starts at zero; the session has used `session_tokens` before.
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

    /// Returns the cost of the turn so far in USD, if the price of its model is known.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        self.price.map(|it| it.cost(&self.usage))
    }

    /// Returns whether the turn has cost at least this much, in USD.
    pub(crate) fn has_cost(&self, usd: f64) -> bool {
        self.cost_usd().is_some_and(|it| usd <= it)
    }
}
