//! The first request of a turn, shown without sending it.

use serde_json::Value;

use csv_agent_session::Session;
use csv_agent_session::history::History;
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::Question;
use csv_agent_types::egress::Egress;

use crate::context_overflow::OverflowState;
use crate::egress::Counter;
use crate::hosted::PlannedUpload;
use crate::loop_state::LoopState;
use crate::{Agent, Conversation};

/// The first request of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The body as sent to the provider.
    pub request: Value,
    /// Files that the turn would upload for code at the provider, in the order of the datasets.
    pub uploads: Vec<PlannedUpload>,
    /// The data in the request and in the uploads before it.
    pub egress: Egress,
}

impl Agent {
    /// Assembles the first request of a turn over these datasets. They need not be in the session yet;
    /// their paths are then absolute. Sends and writes nothing, and starts no Python.
    ///
    /// # Errors
    ///
    /// Fails when a named dataset does not exist, or the history cannot be read.
    pub async fn preview(
        &mut self,
        session: &mut Session,
        catalog: &Catalog,
        question: &Question,
    ) -> anyhow::Result<Preview> {
        self.recall(session);
        self.look_for_code_room().await;
        self.check_withheld(catalog)?;
        let (catalog, _) = self.visible(catalog, session.dir())?;
        self.check_cluster(&catalog)?;
        let catalog = csv_agent_ingest::masked_schema(&catalog, &self.options.withheld);
        let mut history =
            if self.options.fresh { History::default() } else { session.history()? };
        self.keep_back_history(&mut history);
        let mut items = question.items();
        let uploads = self.plan_hosted(session, &catalog.here(), &history.items(), &mut items)?;
        let instructions = self.instructions(session, &catalog, question, &history)?;
        let summary = self.first_summary(session, &history, &instructions.text);
        let is_transcript = summary.is_some();
        let request = if let Some(request) = summary {
            request
        } else {
            let conversation =
                Conversation { history, items: &mut items, room: OverflowState::default() };
            let mut standing = LoopState::beginning_with(self.options.interpreter.forced());
            standing.begin_round(self.options.limits.rounds_max);
            let (text, tool_choice) = (&instructions.text, standing.tool_choice());
            self.request(session, text, question, &conversation, tool_choice)
        };
        let body = self.provider.body(&request);
        let mut counter = Counter::new(&catalog);
        let destination = self.provider.destination_name();
        for it in uploads.iter().filter(|it| it.file_id.is_none()) {
            counter.count_upload(&it.dataset, it.bytes, destination.as_deref());
        }
        counter.count(&body, destination.as_deref(), is_transcript);
        Ok(Preview { request: body, uploads, egress: counter.record().all.clone() })
    }

    /// Returns the URL of a request and its headers, with the key masked. None when a cassette answers.
    pub fn destination(&self) -> Option<(String, Vec<(String, String)>)> {
        self.provider.destination()
    }
}
