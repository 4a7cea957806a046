//! The loop: sends a question with the tools, runs the calls and answers them, until there is a reply.
//!
//! A round is one request and the calls of its response. The last round that `--max-rounds` allows forbids
//! tools, so that there is an answer.

pub mod replay;
mod output_filter;
mod answer;
mod instructions;
mod client_outputs;
mod cluster;
mod compact;
mod egress;
mod finding_locations;
pub mod export;
mod failure;
mod answer_format;
mod grounding;
pub mod hosted;
mod privacy_guard;
mod tool_cache;
mod progress;
mod query;
mod pairing;
pub mod preview;
mod profile;
pub mod prompt;
mod chart_thresholds;
mod cluster_thresholds;
pub mod remote;
mod loop_detection;
mod repl;
mod reply;
mod context_overflow;
mod round;
pub mod schema;
mod loop_state;
mod spill;
mod turn;
mod no_tools;
pub mod verdict;

use std::collections::HashSet;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::rc::Rc;

use serde_json::{Map, json};
use tokio::sync::Notify;

use csv_agent_chart::ChartStyle;
use csv_agent_cluster::ClusterAccess;
use csv_agent_provider::{Progress, Provider};
use csv_agent_session::Session;
use csv_agent_session::history::{History, HistoryTurn};
use csv_agent_sink::EventSink;
use csv_agent_tools::{CodeRoom, Needs};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::chosen::{chosen, is_named};
use csv_agent_types::conversation::{
    Effort, FinishReason, Item, ItemKind, Price, Question, Reply, Request, Response, ToolChoice,
};
use csv_agent_types::event::{ANSWER_CUT, Confinement, Status};
use csv_agent_types::limits::{Limits, REASONING_BYTES_MAX};
use csv_agent_types::redaction::Redaction;
use csv_agent_types::status::{ExitCodes, Failure, FailureKind, StopReason};
use csv_agent_worker::environment::{self, Packages, PythonOptions};
use csv_agent_worker::sandbox::SandboxOptions;

use crate::answer::{Answer, CONTENT_FILTER, ModelOutput, said, take_choices};
use crate::answer_format::ReplyForm;
use crate::context_overflow::OverflowState;
use crate::failure::{cancelled, describe, fail};
use crate::hosted::{AtProvider, Hosted, Interpreter};
use crate::loop_detection::Repeats;
use crate::loop_state::{LoopState, Next};
use crate::privacy_guard::Masked;
use crate::progress::listener;
use crate::prompt::{Briefing, Instructions};
use crate::repl::Repl;
use crate::round::{Code, Round, output_bytes_max};
use crate::schema::AnswerSchema;
use crate::tool_cache::ToolCache;
use crate::turn::{Turn, TurnInterrupt};
use crate::verdict::Gates;

/// Sent once to a model that answered nothing.
const NUDGE: &str = "Your last message was empty. Answer the question now, or call a tool.";

pub use egress::record_sent;
pub use failure::refuse;
pub use spill::cut_middle;

/// All settings that are fixed before the first turn.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// The model, as the user named it.
    pub model: String,
    /// The price of its tokens, if the user gave one.
    pub price: Option<Price>,
    /// The reasoning effort, if the user set one.
    pub reasoning: Option<Effort>,
    /// The limits of a turn.
    pub limits: Limits,
    /// Requirements beyond an answer.
    pub gates: Gates,
    /// Which Python.
    pub python: PythonOptions,
    /// How its code is confined.
    pub sandbox: SandboxOptions,
    /// Where code runs.
    pub interpreter: Interpreter,
    /// Access to the cluster that holds datasets.
    pub cluster: ClusterAccess,
    /// The datasets that the model may see; all when empty.
    pub datasets: Vec<String>,
    /// Whether turns of earlier processes are left out.
    pub fresh: bool,
    /// The user's context for every turn.
    pub briefing: Briefing,
    /// How charts are drawn.
    pub chart_style: ChartStyle,
    /// The schema of each answer, if it is JSON for a program.
    pub schema: Option<Rc<AnswerSchema>>,
    /// The data that must not leave the machine.
    pub withheld: Redaction,
    /// The withheld columns that must exist, because the user named them for this run.
    pub redact: Vec<String>,
    /// The exit status that the last event of a turn states.
    pub exit_codes: ExitCodes,
}

/// A model, a REPL, and the loop between them. Lives as long as the process.
pub struct Agent {
    options: AgentOptions,
    provider: Provider,
    repl: Repl,
    hosted: Hosted,
    /// Whether the model turned out to lack tools.
    has_no_tools: bool,
    /// The confinement of code, once it was tested.
    sandbox: Option<Confinement>,
    /// The resources for code, once they were checked.
    code_room: Option<CodeRoom>,
    /// The last turn left out of the history: the one before the first, after a fresh start.
    forgotten: Option<u32>,
    /// Whether this process reads less of the history than others may.
    is_partial: bool,
    /// The datasets that code gets in place of the originals.
    masked: Option<Masked>,
}

/// How a turn ended.
#[derive(Debug)]
pub struct TurnEnd {
    /// How it failed; None if it did not.
    pub failure: Option<FailureKind>,
    /// The answer, unless the turn failed.
    pub reply: Option<Reply>,
    /// A message that no event carries: a requirement was not met, or the answer could not be written out.
    pub complaint: Option<String>,
    /// A warning for the user that does not affect the answer.
    pub warning: Option<String>,
}

impl TurnEnd {
    /// Makes the end of a turn whose reply was emitted, or could not be.
    fn with_reply(
        reply: Reply,
        told: Result<(), TurnInterrupt>,
        failure: Option<FailureKind>,
        complaint: Option<String>,
    ) -> TurnEnd {
        let (failure, complaint) = match told {
            Ok(()) => (failure, complaint),
            // The answer is complete and on disk; only its reader closed early.
            Err(TurnInterrupt::Stopped(FailureKind::BrokenPipe)) => (failure, None),
            Err(TurnInterrupt::Failed(error)) => {
                (Some(FailureKind::Internal), Some(format!("{error:#}")))
            }
            Err(TurnInterrupt::Stopped(kind)) => (Some(kind), None),
            Err(TurnInterrupt::TimedOut) => (Some(FailureKind::Limit), None),
        };
        TurnEnd { failure, reply: Some(reply), complaint, warning: None }
    }
}

impl Agent {
    /// Makes an agent. Nothing runs yet.
    pub fn new(options: AgentOptions, provider: Provider) -> Agent {
        let repl = Repl::new(
            options.python.clone(),
            options.sandbox.clone(),
            options.limits.tool_timeout,
            options.withheld.clone(),
        )
        .asking_as(options.cluster.clone());
        let repl = if matches!(provider, Provider::Client(_)) { repl.for_a_client() } else { repl };
        Agent {
            options,
            provider,
            repl,
            hosted: Hosted::default(),
            has_no_tools: false,
            sandbox: None,
            code_room: None,
            forgotten: None,
            is_partial: false,
            masked: None,
        }
    }

    /// Runs one turn to its terminal event.
    ///
    /// `stop` resolves to the status that a signal asks for; the turn then ends as cancelled.
    ///
    /// # Errors
    ///
    /// Fails only when the turn itself cannot be written to disk: its directory or the history.
    pub async fn turn(
        &mut self,
        session: &mut Session,
        sink: &mut dyn EventSink,
        question: Question,
        stop: impl Future<Output = FailureKind>,
    ) -> anyhow::Result<TurnEnd> {
        let (catalog, lost) = self.visible(session.catalog(), session.dir())?;
        self.check_cluster(&catalog)?;
        let unknown = self.check_withheld(session.catalog())?;
        let key = if self.options.withheld.columns.is_empty() {
            None
        } else {
            Some(session.token_key()?)
        };
        // A client has its own conversation.
        let mut history =
            if self.is_for_a_client() { History::default() } else { session.history()? };
        let before = if self.options.fresh { history.last_turn() } else { 0 };
        let forgotten = *self.forgotten.get_or_insert(before);
        if 0 < forgotten {
            history.forget(forgotten);
        }
        let mut warnings = session.take_warnings();
        warnings.extend(unknown);
        warnings.extend(lost);
        warnings.extend(self.keep_back_history(&mut history));
        self.recall(session);
        let timeout = self.options.limits.timeout;
        let lacks_python = self.look_for_code_room().await;
        warnings.extend(lacks_python);
        self.repl.begin_turn(session)?;
        let begun = match self.confinement().await {
            Ok(sandbox) => session.begin_turn(&question.text).map(|dir| (dir, sandbox)),
            Err(error) => Err(error),
        };
        let (dir, sandbox) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                let (id, model) = (session.id(), &self.options.model);
                let exit_codes = self.options.exit_codes;
                let kind = refuse(sink, id, model, &question.text, &error, exit_codes)?;
                let failure = Some(kind);
                return Ok(TurnEnd { failure, reply: None, complaint: None, warning: None });
            }
        };
        let mut turn =
            Turn::begin(session, dir, sink, Box::pin(stop), timeout, self.options.exit_codes);
        if !self.form(&question).is_free() {
            turn.hide_partial();
        }
        turn.tally.price = self.options.price;
        turn.chart_style = self.options.chart_style;
        let mut items = question.items();
        let mut conversation =
            Conversation { history, items: &mut items, room: OverflowState::default() };
        let started = self.started(&catalog, &question, sandbox);
        let ended = match tell_start(&mut turn, started, warnings) {
            Ok(()) => {
                let mut context = TurnContext { session, catalog: &catalog, turn: &mut turn };
                self.answer(&mut context, key, &question, &mut conversation).await
            }
            Err(ended) => Err(ended),
        };
        let room = conversation.room;
        if self.is_for_a_client() && question.verdict {
            // It is about what earlier turns of the client have found.
            turn.record.grounds.earlier_turns(session)?;
        }
        conversation.history.items().iter().for_each(|it| turn.record.grounds.item(it));
        let mut context = TurnContext { session, catalog: &catalog, turn: &mut turn };
        let mut end = match ended {
            Ok(answer) => self.reply_or_fail(&mut context, &question, &answer),
            Err(TurnInterrupt::TimedOut) => {
                context.turn.cancel_calls();
                let said = context.turn.partial_text().map(ModelOutput::Text);
                let answer = Answer::cut(said, StopReason::Timeout, context.turn.round);
                items.push(Item::assistant(&answer.text));
                self.reply_or_fail(&mut context, &question, &answer)
            }
            Err(TurnInterrupt::Stopped(kind)) => fail(&mut turn, cancelled(kind)),
            Err(TurnInterrupt::Failed(error)) => fail(&mut turn, describe(&error)),
        };
        if let Some(server) = self.provider.server().filter(|_| 0 < turn.tally.usage.requests) {
            session.keep_api(server, self.provider.api().name());
        }
        session.spend(&self.options.model, &turn.tally.usage, turn.tally.cost_usd())?;
        if end.reply.is_some() {
            // A conversation that was too long for the model is compacted before the next request.
            let least =
                if room.was_too_long { self.options.limits.context_tokens_max + 1 } else { 0 };
            let context_tokens = turn.tally.context_tokens.max(least);
            // What a client did is no part of the conversation with a model, which would get all of it again.
            if !self.is_for_a_client() {
                session.commit(&HistoryTurn {
                    turn: turn.dir().id().to_owned(),
                    context_tokens: Some(context_tokens),
                    withheld: self.withheld(),
                    is_builtin: matches!(self.provider, Provider::Builtin),
                    items: pairing::repair(items),
                })?;
            }
            end.warning = self.keep_variables(session, &mut turn).await;
        } else {
            // A call may be half finished; its variables are not worth saving.
            self.repl.stop().await;
        }
        Ok(end)
    }

    /// Does what the first turn would do before it begins: tests the confinement, and looks for Python. Returns the
    /// warning that there is none.
    ///
    /// # Errors
    ///
    /// Fails when the confinement is weaker than the user requires.
    pub async fn prepare(&mut self) -> anyhow::Result<Option<String>> {
        let lacks_python = self.look_for_code_room().await;
        self.confinement().await?;
        Ok(lacks_python)
    }

    /// Leaves the turns so far out of the conversation, as a fresh start does.
    pub fn start_afresh(&mut self) {
        self.forgotten = None;
    }

    /// Returns whether the calls come from a client.
    fn is_for_a_client(&self) -> bool {
        matches!(self.provider, Provider::Client(_))
    }

    /// Returns the model's name, as the user gave it.
    pub fn model(&self) -> &str {
        &self.options.model
    }

    /// Switches the model from the next turn on, with the same conversation and variables.
    pub fn ask_another(&mut self, model: String, price: Option<Price>, provider: Provider) {
        self.options.model = model;
        self.options.price = price;
        self.provider = provider;
        // Another server keeps other files.
        self.hosted = Hosted::default();
        self.has_no_tools = false;
    }

    /// Follows a change of the datasets, where not all are visible: makes the `new` ones visible, and forgets those
    /// that the catalog no longer has, unless none is left.
    pub fn follow(&mut self, new: impl IntoIterator<Item = String>, catalog: &Catalog) {
        let visible = &mut self.options.datasets;
        if visible.is_empty() {
            return;
        }
        visible.extend(new);
        let exists = |wanted: &String| catalog.names().any(|it| is_named(wanted, it));
        if visible.iter().any(exists) {
            visible.retain(exists);
        }
    }

    /// Returns the names and patterns of the visible datasets; all are when it is empty.
    pub fn datasets(&self) -> &[String] {
        &self.options.datasets
    }

    /// Stops the worker, which knows only the datasets of its start. The next turn starts another, with the
    /// variables that the session keeps.
    pub async fn renew_worker(&mut self) {
        self.repl.stop().await;
    }

    /// Starts afresh after the session was cleared: turns are numbered anew.
    pub async fn forget(&mut self) {
        self.repl.stop().await;
        self.hosted = Hosted::default();
        self.forgotten = None;
    }

    /// Returns the last turn outside this process's conversation; 0 when all turns are in it.
    ///
    /// # Errors
    ///
    /// Fails when the history cannot be read.
    pub fn forgotten(&self, session: &mut Session) -> anyhow::Result<u32> {
        match self.forgotten {
            Some(turn) => Ok(turn),
            None if self.options.fresh => Ok(session.history()?.last_turn()),
            None => Ok(0),
        }
    }

    /// Stops everything that the agent started. Also deletes what a provider keeps for a temporary session,
    /// unless `stop` resolves first. Returns the user's warning about that.
    pub async fn close(mut self, stop: impl Future<Output = FailureKind>) -> Option<String> {
        self.repl.stop().await;
        self.close_hosted(stop).await
    }

    /// Returns the required form of the answer to a question.
    fn form(&self, question: &Question) -> ReplyForm {
        ReplyForm { verdict: question.verdict, schema: self.options.schema.clone() }
    }

    /// Uses the dialect in which the server answered last.
    fn recall(&mut self, session: &Session) {
        if let Some(api) = self.provider.server().and_then(|it| session.api_of(it)) {
            self.provider.assume(api);
        }
    }

    /// Answers from the datasets, or from the part of them that is not withheld.
    async fn answer(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        key: Option<String>,
        question: &Question,
        conversation: &mut Conversation<'_>,
    ) -> Result<Answer, TurnInterrupt> {
        self.meet_cluster(context).await?;
        if question.verdict {
            self.rate(context).await?;
        }
        let catalog = self.keep_back(context, key).await?;
        let TurnContext { session, turn, .. } = context;
        let context = &mut TurnContext { session, catalog: &catalog, turn };
        self.prepare_hosted(context, conversation).await?;
        let mut answer = self.rounds(context, question, conversation).await?;
        if self.is_for_a_client() && !question.verdict {
            let shown = client_outputs::shown(conversation.items);
            if !shown.is_empty() {
                answer.text = shown;
            }
        }
        self.tell_unforced(&answer, conversation.items, context.turn)?;
        self.fetch_files_in_time(context, conversation.items).await?;
        Ok(answer)
    }

    async fn rounds(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        question: &Question,
        conversation: &mut Conversation<'_>,
    ) -> Result<Answer, TurnInterrupt> {
        let form = self.form(question);
        let limits = self.options.limits.clone();
        let is_out_of_tokens =
            |turn: &Turn| limits.tokens_max.is_some_and(|it| it <= turn.tally.usage.total_tokens());
        let is_out_of_money =
            |turn: &Turn| limits.cost_usd_max.is_some_and(|it| turn.tally.has_cost(it));
        let Instructions { text: instructions, notes, .. } =
            self.instructions(context.session, context.catalog, question, &conversation.history)?;
        if let Some(cut) = self.due_cut(&conversation.history, &instructions) {
            self.tell_small_budget(&conversation.history, &instructions, context.turn)?;
            self.compact(context, conversation, cut, limits.context_tokens_max).await?;
            if is_out_of_tokens(context.turn) {
                return Ok(Answer::cut(None, StopReason::MaxTokens, 0));
            }
            if is_out_of_money(context.turn) {
                return Ok(Answer::cut(None, StopReason::MaxCost, 0));
            }
        }
        if self.has_no_tools {
            context.turn.round = 1;
            return self.ask_untooled(context, question, conversation).await;
        }
        warn(context.turn, "instructions", notes)?;
        let (mut repeats, mut memory) = (Repeats::default(), ToolCache::default());
        let mut state = LoopState::beginning_with(self.options.interpreter.forced());
        loop {
            state.begin_round(limits.rounds_max);
            context.turn.round = state.round;
            let how = (state.round, state.tool_choice());
            let asked =
                self.respond_in_room(context, &instructions, question, conversation, how).await;
            let asked = match asked {
                Err(TurnInterrupt::Failed(error)) if self.may_go_untooled(&error) => {
                    self.has_no_tools = true;
                    return self.ask_untooled(context, question, conversation).await;
                }
                asked => asked?,
            };
            let (sent, Response { items: mut received, ending, wants_more, .. }) = asked;
            self.make_fit(&sent, &mut received);
            let choices = match self.provider {
                Provider::Builtin => take_choices(&mut received),
                Provider::Remote(_) | Provider::Client(_) => Vec::new(),
            };
            if let FinishReason::Incomplete(reason) = ending {
                tell_cut(&reason, context.turn)?;
                received.retain(|it| it.kind() == ItemKind::AssistantMessage);
                let answer = Answer::incomplete(said(&received), &reason, state.round);
                conversation.items.extend(received);
                return Ok(answer);
            }
            state.wants_more = wants_more;
            state.is_out_of_tokens = is_out_of_tokens(context.turn);
            state.is_out_of_money = is_out_of_money(context.turn);
            let next = state.next(&received)?;
            conversation.items.extend(received);
            match next {
                Next::Answer(answer) => {
                    let is_enforced = self.provider.enforces_format(how.1);
                    match form.repair(&answer.text, is_enforced) {
                        Some(repair) if state.ask_for_form(&answer) => {
                            conversation.items.push(Item::user(&repair));
                        }
                        _ => return Ok(Answer { choices, ..answer }),
                    }
                }
                Next::More => {}
                Next::Nudge => conversation.items.push(Item::user(NUDGE)),
                Next::Run(calls) => {
                    let withheld = self.withheld();
                    let is_for_a_client = self.is_for_a_client();
                    let mut round = Round {
                        number: state.round,
                        provider: self.provider.name(),
                        session: context.session,
                        catalog: context.catalog,
                        interpreter: &self.options.interpreter,
                        code: if self.options.interpreter.is_local() {
                            Code::Here(&mut self.repl)
                        } else {
                            let (provider, hosted) = (&mut self.provider, &mut self.hosted);
                            Code::AtProvider(AtProvider { provider, hosted })
                        },
                        repeats: &mut repeats,
                        memory: &mut memory,
                        withheld: &withheld,
                        thresholds: &self.options.briefing.thresholds,
                        output_bytes_max: output_bytes_max(is_for_a_client),
                    };
                    let answered = round.run(&calls, context.turn).await?;
                    conversation.items.extend(answered.outputs);
                    state.is_stuck |= answered.is_stuck;
                }
            }
        }
    }

    fn request(
        &self,
        session: &Session,
        instructions: &str,
        question: &Question,
        conversation: &Conversation<'_>,
        tool_choice: ToolChoice,
    ) -> Request {
        let mut items = conversation.history.items();
        items.extend_from_slice(conversation.items);
        let interpreter = &self.options.interpreter;
        let items = pairing::repair(self.hosted.conversation(interpreter, items));
        let room = self.code_room.clone().unwrap_or_default();
        let tools = interpreter.tools().map(|it| it.declaration(&room));
        let tools = tools.chain(self.hosted.declarations(interpreter, &items)).collect();
        Request {
            model: self.options.model.clone(),
            instructions: instructions.to_owned(),
            items,
            tools,
            tool_choice,
            format: self.form(question).format(),
            reasoning: self.options.reasoning,
            cache_key: session.id().to_owned(),
        }
    }

    async fn respond(
        &mut self,
        request: &Request,
        round: u32,
        context: &mut TurnContext<'_, '_>,
    ) -> Result<Response, TurnInterrupt> {
        let TurnContext { session, catalog, turn } = context;
        let message = format!("asking {}", self.options.model);
        turn.status(Status::ModelRequest { round, message })?;
        let code_comes = Notify::new();
        let mut hear = listener(turn);
        let tools = self.options.interpreter.tools();
        let needs_repl =
            |it: &str| tools.clone().any(|tool| tool.name == it && tool.needs == Needs::Repl);
        let mut on_progress = |progress: Progress<'_>| {
            if let Progress::Calls(name) = progress
                && needs_repl(name)
            {
                code_comes.notify_one();
            }
            hear(progress);
        };
        let mut responding = pin!(self.provider.respond(request, &mut on_progress));
        let first = async {
            tokio::select! {
                response = &mut responding => Some(response),
                () = code_comes.notified() => None,
            }
        };
        let response = if let Some(response) = turn.wait_sent(first).await? {
            response
        } else {
            // Python starts while the model writes the code.
            self.repl.start(session, catalog, turn)?;
            turn.wait_sent(responding).await?
        };
        let response = response.map_err(anyhow::Error::from)?;
        turn.tally.usage.add(&response.usage);
        let usage = response.usage;
        turn.tally.context_tokens = match usage.total_tokens() {
            0 => compact::tokens_of(&request.items) + compact::tokens_of(&response.items),
            n_tokens => n_tokens,
        };
        let message = format!("{} tokens", usage.total_tokens());
        let request_id = response.request_id.clone();
        turn.status(Status::ModelResponse { round, message, usage, request_id })?;
        let thoughts: Vec<String> = response.items.iter().filter_map(Item::thought).collect();
        let mut text = thoughts.join("\n\n");
        if !text.is_empty() {
            text.truncate(text.floor_char_boundary(REASONING_BYTES_MAX));
            let message = "the model thought before it answered".to_owned();
            turn.status(Status::Reasoning { round, message, text })?;
        }
        Ok(response)
    }

    /// Returns the datasets of a turn, and those left out because their rows are lost.
    fn visible(
        &self,
        catalog: &Catalog,
        session_dir: &Path,
    ) -> anyhow::Result<(Catalog, Vec<String>)> {
        let names = &self.options.datasets;
        let wanted: HashSet<&str> = chosen(catalog, names)?.into_iter().map(|it| it.0).collect();
        let wanted = catalog.filtered(|it| names.is_empty() || wanted.contains(it));
        let mut hurt = Session::hurt_datasets(session_dir, &wanted)?;
        let chosen = wanted.filtered(|it| !hurt.contains_key(it));
        // A named dataset is required, and without any dataset there is no answer.
        if (chosen.is_empty() || !names.is_empty())
            && let Some((_, failure)) = hurt.pop_first()
        {
            return Err(failure.into());
        }
        let told = |it: Failure| {
            let hint = it.hint.map(|it| format!("; {it}")).unwrap_or_default();
            format!("{}, so it is left out{hint}", it.message)
        };
        let lost = hurt.into_values().map(told).collect();
        let keeps_rows = self.options.withheld.rows;
        let visible =
            if keeps_rows { csv_agent_ingest::without_quotations(&chosen) } else { chosen };
        Ok((visible, lost))
    }

    fn started(&self, catalog: &Catalog, question: &Question, sandbox: Confinement) -> Status {
        let limits = &self.options.limits;
        let mut shown = Map::new();
        shown.insert("max_rounds".into(), json!(limits.rounds_max));
        shown.insert("timeout_s".into(), json!(limits.timeout.map(|it| it.as_secs_f64())));
        shown.insert("max_tokens".into(), json!(limits.tokens_max));
        shown.insert("max_cost_usd".into(), json!(limits.cost_usd_max));
        shown.insert("compact_at".into(), json!(limits.context_tokens_max));
        shown.insert("tool_timeout_s".into(), json!(limits.tool_timeout.as_secs_f64()));
        shown.insert("retries".into(), json!(limits.retries));
        Status::Started {
            message: "the turn begins".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: self.options.model.clone(),
            provider: self.provider.name().to_owned(),
            api: self.provider.api().name().to_owned(),
            datasets: catalog.names().map(str::to_owned).collect(),
            limits: shown,
            question: question.text.clone(),
            interpreter: self.options.interpreter.place(),
            sandbox: Box::new(sandbox),
            withheld: Box::new(self.withheld()),
        }
    }

    /// Returns the confinement of local code, which is tested once. Where no code runs here, none is
    /// required.
    async fn confinement(&mut self) -> anyhow::Result<Confinement> {
        if self.sandbox.is_none() && self.options.interpreter.is_local() {
            let confinement = self.repl.confinement().await?;
            self.check_confinement(&confinement)?;
            self.sandbox = Some(confinement);
        }
        Ok(self.sandbox.clone().unwrap_or_default())
    }

    /// Measures the resources for local code, which the model is shown. Where there is no Python, a model gets only
    /// the tools that need none; returns the warning about that.
    async fn look_for_code_room(&mut self) -> Option<String> {
        if self.code_room.is_some() || !self.options.interpreter.is_local() {
            return None;
        }
        let memory_bytes = self.options.sandbox.memory_bytes;
        // The analyst computes with SQL only.
        if matches!(self.provider, Provider::Builtin) {
            self.code_room = Some(CodeRoom { memory_bytes, packages: Packages::default() });
            self.repl.lacks_python();
            self.options.interpreter = Interpreter::Absent;
            return None;
        }
        let (packages, missing) = match environment::packages(&self.options.python).await {
            Ok(packages) => (packages, None),
            Err(error) => (Packages::default(), Some(error)),
        };
        self.code_room = Some(CodeRoom { memory_bytes, packages });
        let missing = missing?;
        self.repl.lacks_python();
        self.options.interpreter =
            match std::mem::replace(&mut self.options.interpreter, Interpreter::Absent) {
                Interpreter::Both(hosted) => Interpreter::Hosted(hosted),
                _ => Interpreter::Absent,
            };
        let hint = missing.downcast_ref::<Failure>().and_then(|it| it.hint.as_deref());
        let hint = hint.map(|it| format!("; {it}")).unwrap_or_default();
        Some(format!("{missing:#}; until then the model computes only with SQL{hint}"))
    }

    async fn keep_variables(&mut self, session: &Session, turn: &mut Turn<'_>) -> Option<String> {
        let dir = match session.repl_dir(&self.options.withheld) {
            Ok(dir) => dir?,
            Err(error) => return Some(format!("cannot keep the variables: {error:#}")),
        };
        match turn.wait(self.repl.save(&dir)).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("{error:#}")),
            // A signal during the save leaves the variables of the previous turn.
            Err(_) => {
                self.repl.stop().await;
                None
            }
        }
    }
}

/// The context of a turn that its steps share.
pub(crate) struct TurnContext<'c, 't> {
    /// The turn's session.
    pub(crate) session: &'c Session,
    /// The datasets that the model may see, as it sees them.
    pub(crate) catalog: &'c Catalog,
    pub(crate) turn: &'c mut Turn<'t>,
}

/// The conversation of a turn: earlier items, and those that the turn adds.
struct Conversation<'a> {
    history: History,
    items: &'a mut Vec<Item>,
    room: OverflowState,
}

fn tell_start(
    turn: &mut Turn,
    started: Status,
    warnings: Vec<String>,
) -> Result<(), TurnInterrupt> {
    turn.status(started)?;
    warn(turn, "session", warnings)
}

fn warn(turn: &mut Turn, code: &str, messages: Vec<String>) -> Result<(), TurnInterrupt> {
    messages
        .into_iter()
        .try_for_each(|message| turn.status(Status::Warning { code: code.to_owned(), message }))
}

/// Reports that the provider cut an answer, as opposed to the turn's own limits.
fn tell_cut(reason: &str, turn: &mut Turn) -> Result<(), TurnInterrupt> {
    if reason == CONTENT_FILTER {
        return Ok(());
    }
    let message = "the provider cut the answer at an output limit of its own; ask for less at once, or raise \
                   the limit where the server is yours";
    turn.status(Status::Warning { code: ANSWER_CUT.to_owned(), message: message.to_owned() })
}
