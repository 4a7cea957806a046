//! Chaining: sends a server that stores responses only the items that it lacks.

use csv_agent_types::conversation::{Item, Request, Response};

use crate::wire::Storage;

/// Number of breaks after which every request contains the whole conversation.
const BREAKS_MAX: u32 = 2;

/// The part of the conversation that the server has.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    is_wanted: bool,
    kept: Option<StoredResponse>,
    n_breaks: u32,
}

/// A response stored by the server, with everything before it.
#[derive(Debug)]
struct StoredResponse {
    response_id: String,
    items: Vec<Item>,
}

impl Chain {
    /// Makes the chain of an empty conversation.
    pub(crate) fn new(is_wanted: bool) -> Chain {
        Chain { is_wanted, ..Chain::default() }
    }

    /// Returns whether the server should store responses.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Returns how to send a request: after the last response, if it continues that.
    pub(crate) fn storage(&self, request: &Request) -> Storage {
        match &self.kept {
            _ if !self.is_wanted => Storage::None,
            Some(kept) if is_start(&kept.items, &request.items) => {
                Storage::After { response_id: kept.response_id.clone(), n_items: kept.items.len() }
            }
            _ => Storage::Kept,
        }
    }

    /// Records the answer to a request that was sent as `storage`. Fails with a sentence when the server
    /// does not store responses: it may then have answered without the earlier items.
    pub(crate) fn extend(
        &mut self,
        request: &Request,
        storage: &Storage,
        response: &Response,
    ) -> Result<(), &'static str> {
        if let Storage::After { response_id, .. } = storage
            && response.previous_id.as_ref() != Some(response_id)
        {
            self.give_up();
            return Err("the server ignored the response that it was asked to continue");
        }
        self.kept = response.id.clone().filter(|_| self.is_wanted).map(|response_id| {
            let items = request.items.iter().chain(&response.items).cloned().collect();
            StoredResponse { response_id, items }
        });
        Ok(())
    }

    /// Drops the last response, which the server no longer has. Returns whether that changes how a request
    /// is sent.
    pub(crate) fn break_off(&mut self) -> bool {
        self.n_breaks += 1;
        if BREAKS_MAX <= self.n_breaks {
            self.is_wanted = false;
        }
        self.kept.take().is_some()
    }

    /// Sends the whole conversation from now on.
    pub(crate) fn give_up(&mut self) {
        *self = Chain::new(false);
    }
}

fn is_start(start: &[Item], items: &[Item]) -> bool {
    start.len() < items.len() && items.starts_with(start)
}
