//! How a turn with an answer ends: judges, writes and emits the reply.

use csv_agent_render::{inert, links, report};
use csv_agent_session::Session;
use csv_agent_types::conversation::{Question, Reply};
use csv_agent_types::event::{Body, ReplyBody, Status, Ungrounded};
use csv_agent_types::status::StopReason;

use crate::answer::Answer;
use crate::answer_format::ParsedAnswer;
use crate::failure::{describe, fail};
use crate::grounding::Claims;
use crate::turn::Turn;
use crate::verdict::Given;
use crate::{Agent, TurnContext, TurnEnd, finding_locations, prompt};

impl Agent {
    /// Ends a turn with an answer: writes the reply to disk and emits it.
    pub(super) fn reply_or_fail(
        &self,
        context: &mut TurnContext<'_, '_>,
        question: &Question,
        answer: &Answer,
    ) -> TurnEnd {
        match self.reply(context, question, answer) {
            Ok(end) => end,
            Err(error) => fail(context.turn, describe(&error)),
        }
    }

    fn reply(
        &self,
        context: &mut TurnContext<'_, '_>,
        question: &Question,
        answer: &Answer,
    ) -> anyhow::Result<TurnEnd> {
        let ParsedAnswer { mut text, verdict, output, misfit } =
            self.form(question).read(&answer.text);
        // JSON for a program stays as the model wrote it.
        if verdict.is_some() || output.is_none() {
            text = links::to_fetched(&text, &context.turn.record.files);
        }
        let said = verdict.as_ref().map_or(&[][..], |it| &it.findings);
        let (findings, notes) =
            finding_locations::shown(said, context.turn, context.catalog, context.session.dir());
        let assessment = context.turn.record.rated.iter().map(|it| it.severity).max();
        let assessment = verdict.as_ref().and_then(|it| it.assessment).max(assessment);
        for message in notes {
            // If this event cannot be emitted, neither can the reply, which then reports why.
            let _ = context.turn.status(Status::Warning { code: "lines".to_owned(), message });
        }
        let places = context.turn.record.rated.len() as u64..;
        let messages = places.zip(said).map(|(at, it)| (at, it.message.as_str()));
        let claims = match answer.stop_reason {
            StopReason::Refused => Claims::default(),
            _ => Claims::of(&text, output.as_ref(), messages),
        };
        let ungrounded = self.ungrounded(context, question, &claims);
        let tables: Vec<String> =
            context.turn.record.tables.iter().map(|it| it.name.clone()).collect();
        let given = Given {
            is_computed: context.turn.is_computed,
            misfit: misfit.as_deref(),
            verdict: verdict.as_ref(),
            assessment,
            tables: &tables,
            n_charts: context.turn.record.charts.len(),
            ungrounded: &ungrounded,
        };
        if !ungrounded.is_empty() && !self.options.gates.ungrounded {
            let message = report::ungrounded(&ungrounded);
            let _ = context.turn.status(Status::Warning { code: "ungrounded".to_owned(), message });
        }
        let (gate, missing) = self.options.gates.judge(given);
        let failure = answer.stop_reason.failure().max(gate);
        context.turn.dir().write("reply.md", &format!("{}\n", inert::markdown(text.trim_end())))?;
        let code_path = keep_code(context.session, context.turn)?;
        let body = ReplyBody {
            assessment,
            findings,
            output,
            ungrounded,
            choices: answer.choices.clone(),
            rounds: answer.rounds,
            code_path,
            exit_code: context.turn.exit_code(failure),
            ..context.turn.reply_body(&text, answer.stop_reason)
        };
        let told = context.turn.emit(Body::Reply(Box::new(body)));
        let reply = Reply {
            text,
            verdict,
            stop_reason: answer.stop_reason,
            usage: context.turn.tally.usage,
        };
        // Of a refusal, nothing else was to be expected.
        let is_refusal = answer.stop_reason == StopReason::Refused;
        let complaint = (!missing.is_empty() && !is_refusal).then(|| missing.join("; "));
        Ok(TurnEnd::with_reply(reply, told, failure, complaint))
    }

    /// Finds the numbers of an answer that occur in nothing the turn has shown or the model has read.
    fn ungrounded(
        &self,
        context: &mut TurnContext<'_, '_>,
        question: &Question,
        claims: &Claims,
    ) -> Vec<Ungrounded> {
        let mut grounds = std::mem::take(&mut context.turn.record.grounds);
        grounds.text(&question.text);
        self.form(question).schema.iter().for_each(|it| grounds.json(it.value()));
        grounds.text(&prompt::said_by_user(&self.options.briefing, context.catalog).0);
        grounds.count(context.catalog.len() as u64);
        context.catalog.iter().for_each(|(name, dataset)| grounds.dataset(name, dataset));
        context.turn.record.rated.iter().for_each(|it| grounds.text(&it.message));
        context.turn.record.cells.iter().for_each(|it| grounds.code(it));
        grounds.ungrounded(claims)
    }
}

/// Writes the code that ran next to the reply. Returns its path relative to the session.
fn keep_code(session: &Session, turn: &Turn) -> anyhow::Result<Option<String>> {
    if turn.record.cells.is_empty() {
        return Ok(None);
    }
    let cells: Vec<String> = turn.record.cells.iter().map(|it| format!("# %%\n{it}\n")).collect();
    turn.dir().write("code.py", &cells.join("\n"))?;
    let path = turn.dir().path().join("code.py");
    let path = path.strip_prefix(session.dir()).unwrap_or(&path);
    Ok(Some(path.display().to_string()))
}
