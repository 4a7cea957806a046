//! Runs at the provider: reported like calls of our own, and sent back in short form.

use std::collections::HashSet;
use std::time::Instant;

use serde_json::Value;

use csv_agent_provider::hosted::code_interpreter::ContainerChoice;
use csv_agent_provider::hosted::{self, HostedCall};
use csv_agent_session::hosted::KeptContainer;
use csv_agent_tools::label;
use csv_agent_types::conversation::{Item, Response};
use csv_agent_types::event::{CallError, CallStatus, Status};
use csv_agent_types::limits::{HOSTED_CALLS_MAX, PICTURES_KEPT_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX};
use csv_agent_types::status::StopReason;

use crate::answer::Answer;
use crate::hosted::files;
use crate::pairing;
use crate::spill::cut_middle;
use crate::turn::{CallResult, Turn, TurnInterrupt, milliseconds_since};
use crate::{Agent, TurnContext};

impl Agent {
    /// Reports what the provider ran for a response, as if each run were a call of our own.
    pub(crate) fn tell_hosted(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        response: &Response,
        asked: Instant,
    ) -> Result<(), TurnInterrupt> {
        // The provider does not report single durations; each run is a part of this time.
        let duration_ms = milliseconds_since(asked);
        let runs = hosted::calls(&response.items);
        let n_runs_max = HOSTED_CALLS_MAX as usize;
        let calls: HashSet<String> =
            response.items.iter().filter_map(Item::tool_call).map(|it| it.call_id).collect();
        let n_more = runs.len().saturating_sub(n_runs_max);
        for mut run in runs.into_iter().take(n_runs_max) {
            self.meet(context, &run, response.request_id.as_deref())?;
            let base = run.call.call_id.clone();
            let mut n = 2;
            while calls.contains(&run.call.call_id)
                || !self.hosted.seen.insert(run.call.call_id.clone())
            {
                run.call.call_id = format!("{base}_{n}");
                n += 1;
            }
            context.turn.open_call(&run.call, context.turn.round, label(&run.call))?;
            context.turn.record.cells.extend(code_of(&run));
            let images = files::keep_images(context, &run.images)?;
            if !images.is_empty() {
                run.output.result["files"] = serde_json::to_value(images).unwrap_or_default();
            }
            context.turn.close_call(&run.call, closed(&run, duration_ms))?;
        }
        if 0 < n_more {
            let message = format!(
                "the provider ran more tools within one response than the {n_runs_max} that were \
                 allowed; {n_more} are not reported"
            );
            context.turn.status(Status::Warning { code: "runs_not_told".to_owned(), message })?;
        }
        Ok(())
    }

    /// Warns when no code ran although the user forces it: some servers ignore that.
    pub(crate) fn tell_unforced(
        &self,
        answer: &Answer,
        items: &[Item],
        turn: &mut Turn,
    ) -> Result<(), TurnInterrupt> {
        let Some(name) = self.options.interpreter.forced() else { return Ok(()) };
        let has_run = hosted::calls(items).iter().any(|it| it.call.name == name);
        if has_run || answer.stop_reason != StopReason::Complete {
            return Ok(());
        }
        let message = format!("`{name}` is forced, but the server answered without it");
        turn.status(Status::Warning { code: "tool_not_used".to_owned(), message })
    }

    /// Prepares the items of a response for the next request. Our calls get ids that no other call and no
    /// run of the provider has, and outputs of runs are bounded.
    pub(crate) fn make_fit(&mut self, sent: &[Item], received: &mut [Item]) {
        keep_short(received);
        pairing::make_call_ids_unique(sent, received, |it| self.hosted.seen.contains(it));
        let calls = received.iter().filter_map(Item::tool_call);
        self.hosted.seen.extend(calls.map(|it| it.call_id));
    }

    /// Records where a run took place, and reports the container once a turn.
    fn meet(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        run: &HostedCall,
        request_id: Option<&str>,
    ) -> Result<(), TurnInterrupt> {
        let Some(options) = self.options.interpreter.hosted() else { return Ok(()) };
        let Some(id) = run.container_id.as_ref() else { return Ok(()) };
        let hosted = &mut self.hosted;
        if hosted.container_id() != Some(id) {
            let (memory_limit, is_ours) = match hosted.container(options) {
                ContainerChoice::Auto(memory) => {
                    (Some(memory.unwrap_or_default().name().to_owned()), true)
                }
                ContainerChoice::Existing(_) => (None, false),
            };
            let in_use = hosted.in_use.iter();
            hosted.kept.container = Some(KeptContainer {
                container_id: id.clone(),
                memory_limit,
                is_ours,
                datasets: in_use.map(|it| (it.dataset.clone(), it.version.clone())).collect(),
                fetched: Vec::new(),
            });
            hosted.save(context.session)?;
        }
        if hosted.met.contains(id) {
            return Ok(());
        }
        hosted.met.push(id.clone());
        let memory_limit = hosted.kept.container.as_ref().and_then(|it| it.memory_limit.clone());
        let of_memory =
            memory_limit.as_ref().map_or(String::new(), |it| format!(", which has {it} of memory"));
        context.turn.status(Status::Container {
            message: format!("code runs in the container `{id}`{of_memory}"),
            container_id: id.clone(),
            memory_limit,
            request_id: request_id.map(str::to_owned),
        })
    }
}

/// Shortens what every request repeats: printed output, as for calls of our own, and images beyond their
/// total limit, which are files of the turn.
fn keep_short(items: &mut [Item]) {
    for item in items {
        let Some(outputs) = hosted::outputs_mut(item) else { continue };
        let mut room = PICTURES_KEPT_BYTES_MAX;
        outputs.retain(|it| {
            // The provider refuses items of other shapes than its own.
            let is_whole = match it["type"].as_str() {
                Some("image") => it["url"].is_string(),
                Some("logs") => it["logs"].is_string(),
                _ => it.is_object(),
            };
            if !is_whole {
                return false;
            }
            let n_bytes = it["url"].as_str().map_or(0, str::len);
            let left = room.checked_sub(n_bytes);
            room = left.unwrap_or(room);
            left.is_some()
        });
        for output in outputs {
            let long = output["logs"].as_str().filter(|it| TOOL_OUTPUT_BYTES_MAX < it.len());
            if let Some(cut) = long.map(|it| cut_middle(it, TOOL_OUTPUT_BYTES_MAX)) {
                output["logs"] = cut.into();
            }
        }
    }
}

/// Returns the code of a run, if it ran code.
fn code_of(run: &HostedCall) -> Option<String> {
    let arguments: Value = serde_json::from_str(&run.call.arguments).ok()?;
    arguments["code"].as_str().map(|it| it.trim_end().to_owned())
}

/// The provider showed the model all of it; the event is bounded.
fn closed(run: &HostedCall, duration_ms: u64) -> CallResult {
    let mut result = run.output.result.clone();
    let (mut truncated, mut bytes_to_model) = (false, 0);
    for name in ["text", "stdout"] {
        let Some(text) = result.get(name).and_then(Value::as_str) else { continue };
        bytes_to_model += text.len() as u64;
        let kept = cut_middle(text, TOOL_OUTPUT_BYTES_MAX);
        truncated |= kept.len() < text.len();
        result[name] = kept.into();
    }
    let message = result["text"].as_str().unwrap_or_default().to_owned();
    let error = (!run.succeeded).then(|| CallError { code: "failed".to_owned(), message });
    CallResult {
        status: if run.succeeded { CallStatus::Ok } else { CallStatus::Error },
        duration_ms,
        result,
        truncated,
        bytes_to_model,
        error,
    }
}
