//! The instructions of a turn, from the user's briefing, the datasets and the session.

use csv_agent_provider::Provider;
use csv_agent_session::history::History;
use csv_agent_session::{Session, turns};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::Question;

use crate::Agent;
use crate::prompt::findings::PastFinding;
use crate::prompt::{Instructions, Parts, instructions};

/// Tells the built-in analyst, which has no table for a single number otherwise.
const WANTS_TABLE: &str = "The user's program reads the answer as a table.\n";

impl Agent {
    /// Assembles the instructions of a turn. They stay the same throughout it.
    pub(super) fn instructions(
        &self,
        session: &Session,
        catalog: &Catalog,
        question: &Question,
        history: &History,
    ) -> anyhow::Result<Instructions> {
        let past = if self.options.fresh { Vec::new() } else { turns::findings(session.dir())? };
        // A turn that withheld less may have findings that quote withheld data.
        let withheld = &self.withheld();
        let past = past.into_iter().filter(|it| withheld.is_nothing() || history.has(it.0));
        let past = past.map(|(turn, finding)| PastFinding { turn, finding });
        let mut made = instructions(&Parts {
            briefing: &self.options.briefing,
            question: &question.text,
            catalog,
            // The analyst reads one dataset after the other.
            folds: !matches!(self.provider, Provider::Builtin),
            interpreter: &self.options.interpreter,
            findings: &past.collect::<Vec<_>>(),
            withheld,
            verdict: question.verdict,
            schema: self.options.schema.as_ref().map(|it| it.value()),
        });
        let gates = &self.options.gates;
        if matches!(self.provider, Provider::Builtin) && (gates.require_table || gates.writes_table)
        {
            made.text += WANTS_TABLE;
        }
        Ok(made)
    }
}
