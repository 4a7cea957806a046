//! A turn with a model without tools: one request with a profile of the data, and an answer marked as not
//! computed.

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use csv_agent_provider::error::{ProviderError, ProviderErrorKind};
use csv_agent_types::conversation::{
    AnswerFormat, Assessment, Finding, FinishReason, Item, ItemKind, Question, Request, ToolChoice,
};
use csv_agent_types::event::Status;
use csv_agent_types::limits::{PROFILE_BYTES_MAX, PROFILE_CELLS_MAX, PROFILE_ROWS_MAX};
use csv_agent_types::status::StopReason;

use crate::answer::{Answer, ModelOutput, said};
use crate::answer_format::{self, ReplyForm};
use crate::cluster::check_untooled;
use crate::hosted::Interpreter;
use crate::profile::profile;
use crate::turn::TurnInterrupt;
use crate::{Agent, Conversation, TurnContext, prompt, tell_cut, verdict, warn};

const ROLE: &str = include_str!("prompt/untooled.md");
const FORM: &str = include_str!("prompt/untooled_form.md");

/// Precedes every answer that was not computed.
const NOT_COMPUTED: &str = "**Not computed.** The model has no tools; it answered from a profile of \
                            the data, so its numbers need a check.";

impl Agent {
    /// Returns whether a request failed because the model lacks tools, and the turn can do without them. It
    /// cannot when the user wants code to run at the provider.
    pub(super) fn may_go_untooled(&self, error: &anyhow::Error) -> bool {
        let kind = error.downcast_ref::<ProviderError>().map(|it| &it.kind);
        let is_local = self.options.interpreter == Interpreter::Local;
        is_local && kind == Some(&ProviderErrorKind::NoTools)
    }

    /// Asks the question without tools, and once more where the answer violates its schema. Fails when there is
    /// no response, a dataset cannot be read, or the turn ends first.
    pub(super) async fn ask_untooled(
        &mut self,
        context: &mut TurnContext<'_, '_>,
        question: &Question,
        conversation: &mut Conversation<'_>,
    ) -> Result<Answer, TurnInterrupt> {
        check_untooled(context.catalog).map_err(anyhow::Error::from)?;
        // The text is JSON until it is parsed.
        context.turn.hide_partial();
        context.turn.is_computed = false;
        let message = "the model has no tools: it answers from a profile of the data, and nothing \
                       is computed"
            .to_owned();
        context.turn.status(Status::Warning { code: "no_tools".to_owned(), message })?;
        let profile = profile_of(context, self.options.withheld.rows).await?;
        context.turn.record.grounds.text(&profile);
        let (told_before, notes) = prompt::said_by_user(&self.options.briefing, context.catalog);
        warn(context.turn, "instructions", notes)?;
        let mut items = conversation.history.items();
        items.extend_from_slice(conversation.items);
        // Calls of earlier turns, with another model, would bring tools back.
        items.retain(|it| matches!(it.kind(), ItemKind::UserMessage | ItemKind::AssistantMessage));
        let form = self.form(question);
        let asked = match &form.schema {
            Some(schema) => prompt::form(form.verdict, Some(schema.value())),
            None => FORM.to_owned(),
        };
        let mut request = Request {
            model: self.options.model.clone(),
            instructions: format!(
                "{ROLE}\n{asked}\n{told_before}\nProfile of the data:\n{profile}{}",
                prompt::withheld::withheld(&self.options.withheld)
            ),
            items,
            tools: Vec::new(),
            tool_choice: ToolChoice::None,
            format: if form.schema.is_some() { form.format() } else { Some(format()) },
            reasoning: self.options.reasoning,
            cache_key: context.session.id().to_owned(),
        };
        let answer = self.untooled_answer(&form, &request, conversation, context).await?;
        let may_ask = answer.stop_reason == StopReason::Complete
            && context.turn.round < self.options.limits.rounds_max;
        let repair = form.schema.is_some().then(|| form.repair(&answer.text, true)).flatten();
        let Some(repair) = repair.filter(|_| may_ask) else { return Ok(answer) };
        context.turn.round += 1;
        conversation.items.push(Item::user(&repair));
        request.items.extend([Item::assistant(&answer.text), Item::user(&repair)]);
        self.untooled_answer(&form, &request, conversation, context).await
    }

    /// Sends a request and makes an answer of the response.
    async fn untooled_answer(
        &mut self,
        form: &ReplyForm,
        request: &Request,
        conversation: &mut Conversation<'_>,
        context: &mut TurnContext<'_, '_>,
    ) -> Result<Answer, TurnInterrupt> {
        let round = context.turn.round;
        let response = self.respond(request, round, context).await?;
        let text = match said(&response.items) {
            Some(ModelOutput::Text(text)) => text,
            Some(ModelOutput::Refusal(text)) => {
                conversation.items.push(Item::assistant(&text));
                let (stop_reason, choices) = (StopReason::Refused, Vec::new());
                return Ok(Answer { text, stop_reason, rounds: round, choices });
            }
            None => String::new(),
        };
        let told = |verdict: bool| match &form.schema {
            Some(_) => told_in_form(&text, form),
            None => told(&text, verdict),
        };
        let answer = match response.ending {
            FinishReason::Incomplete(reason) => {
                tell_cut(&reason, context.turn)?;
                let said = Some(ModelOutput::Text(told(false))).filter(|_| !text.is_empty());
                Answer::incomplete(said, &reason, round)
            }
            FinishReason::Completed => Answer {
                text: told(form.verdict),
                stop_reason: StopReason::Complete,
                rounds: round,
                choices: Vec::new(),
            },
        };
        // Later turns read what the user read, not JSON that no other turn uses.
        conversation.items.push(Item::assistant(&told(false)));
        Ok(answer)
    }
}

/// Reads the datasets and writes their profiles, within one bound for all.
async fn profile_of(
    context: &mut TurnContext<'_, '_>,
    keeps_rows: bool,
) -> Result<String, TurnInterrupt> {
    let mut text = String::new();
    for (at, (name, dataset)) in context.catalog.iter().enumerate() {
        // Divides the rest among the remaining datasets.
        let share = PROFILE_BYTES_MAX.saturating_sub(text.len()) / (context.catalog.len() - at);
        let path = dataset.file_in(context.session.dir())?;
        let n_rows = PROFILE_ROWS_MAX.min(PROFILE_CELLS_MAX / dataset.columns.len().max(1));
        let reading = tokio::task::spawn_blocking(move || csv_agent_ingest::head(&path, n_rows));
        let frame = context.turn.wait(reading).await?.map_err(anyhow::Error::from)??;
        text += &profile(name, &dataset.columns, &frame, keeps_rows, share);
        if PROFILE_BYTES_MAX < text.len() + name.len() {
            break;
        }
    }
    Ok(text)
}

/// Returns the answer form for models without tools.
fn format() -> AnswerFormat {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let schema = json!({
        "type": "object",
        "properties": {
            "summary": {"type": "string"},
            "assessment": {"type": "string", "enum": ["good", "warning", "bad"]},
            "explanation": {"type": "string"},
            "potential_issues": texts,
            "recommendations": texts,
        },
        "required":
            ["summary", "assessment", "explanation", "potential_issues", "recommendations"],
        "additionalProperties": false,
    });
    AnswerFormat { name: "analysis".to_owned(), schema, strict: true }
}

/// An answer in that form. Small models omit empty members or write null, give a single value for a list,
/// and vary the case of words.
#[derive(Deserialize)]
struct Analysis {
    summary: String,
    #[serde(default, deserialize_with = "assessment")]
    assessment: Option<Assessment>,
    #[serde(default)]
    explanation: Option<String>,
    #[serde(default, deserialize_with = "texts")]
    potential_issues: Vec<String>,
    #[serde(default, deserialize_with = "texts")]
    recommendations: Vec<String>,
}

/// Reads an assessment in any case; None for an unknown word.
fn assessment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Assessment>, D::Error> {
    let word = Value::deserialize(from)?.as_str().map(|it| it.trim().to_ascii_lowercase());
    Ok(word.and_then(|it| serde_json::from_value(it.into()).ok()))
}

/// Reads texts: a list, a single one, or null.
fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let values = match Value::deserialize(from)? {
        Value::Null => Vec::new(),
        Value::Array(values) => values,
        value => vec![value],
    };
    let text = |it: Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
    Ok(values.into_iter().map(text).filter(|it| !it.trim().is_empty()).collect())
}

/// Returns the text after the thoughts that some models write first.
fn without_thoughts(text: &str) -> &str {
    let text = text.trim();
    let thoughts = text.strip_prefix("<think>").and_then(|it| it.split_once("</think>"));
    thoughts.map_or(text, |(_, said)| said.trim())
}

/// Returns an answer for the user: marked, as Markdown, and as a verdict when one was requested. An answer
/// in another form is unchanged.
fn told(text: &str, verdict: bool) -> String {
    let text = without_thoughts(text);
    // Models without tools often put their JSON into a fence.
    let json = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
    let analysis = json.and_then(|it| serde_json::from_str::<Analysis>(it).ok());
    let Some(analysis) = analysis else {
        let said = if text.is_empty() { "The model's answer is empty." } else { text };
        return format!("{NOT_COMPUTED}\n\n{said}");
    };
    let Analysis { summary, assessment, explanation, potential_issues, recommendations } = analysis;
    let list = |title: &str, entries: &[String]| {
        let entries: String = entries.iter().map(|it| ["\n- ", it.trim()].concat()).collect();
        (!entries.is_empty()).then(|| format!("{title}:{entries}"))
    };
    let parts = [
        Some(NOT_COMPUTED.to_owned()),
        Some(summary),
        explanation,
        list("Potential issues", &potential_issues),
        list("Recommendations", &recommendations),
    ];
    let parts = parts.into_iter().flatten().filter(|it| !it.trim().is_empty());
    let text = parts.collect::<Vec<_>>().join("\n\n");
    if !verdict {
        return text;
    }
    let severity = assessment.filter(|it| *it != Assessment::Good).unwrap_or(Assessment::Warning);
    let finding = |message: String| Finding::new(severity, message);
    let findings: Vec<Finding> = potential_issues.into_iter().map(finding).collect();
    json!({"text": text, "findings": findings, "assessment": assessment}).to_string()
}

/// Returns an answer in the requested form, without thoughts. Text for people is marked; JSON for a program
/// has no place for a mark.
fn told_in_form(text: &str, form: &ReplyForm) -> String {
    let text = match without_thoughts(text) {
        "" => "The model's answer is empty.",
        text => text,
    };
    let marked =
        answer_format::json(text).ok().filter(|_| form.verdict).and_then(|(_, mut envelope)| {
            let (said, _) = verdict::read(&envelope)?;
            envelope["text"] = format!("{NOT_COMPUTED}\n\n{said}").into();
            Some(envelope.to_string())
        });
    marked.unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::told;
    use crate::answer_format::ReplyForm;
    use csv_agent_types::conversation::{Assessment, Verdict};

    const LEGACY: &str = r#"```json
        {"summary": "Two columns are empty.", "assessment": "bad", "explanation": "See `a`.",
         "potential_issues": ["`a` is empty", "`b` is empty"], "recommendations": []}
        ```"#;

    fn read(told: &str) -> (String, Verdict) {
        let said = ReplyForm { verdict: true, schema: None }.read(told);
        (said.text, said.verdict.unwrap())
    }

    #[test]
    fn a_legacy_answer_is_told_as_text_that_says_what_it_is() {
        assert_eq!(
            told(LEGACY, false),
            "**Not computed.** The model has no tools; it answered from a profile of the data, so \
             its numbers need a check.\n\nTwo columns are empty.\n\nSee `a`.\n\nPotential \
             issues:\n- `a` is empty\n- `b` is empty"
        );
        for other in ["No idea.", "{\"text\": 7}", ""] {
            let text = told(other, true);
            assert!(text.starts_with("**Not computed.**") && text.contains(other), "{text}");
        }
    }

    #[test]
    fn an_answer_of_a_small_model_is_read_for_what_it_means() {
        let loose = "<think>\nA {list}?\n</think>\n{\"summary\": \"One is empty.\", \"assessment\": \
                     \"BAD\", \"explanation\": null, \"potential_issues\": \"`a` is empty\", \
                     \"recommendations\": null}";
        let (text, verdict) = read(&told(loose, true));
        assert!(text.ends_with("\n\nOne is empty.\n\nPotential issues:\n- `a` is empty"), "{text}");
        assert_eq!(verdict.assessment, Some(Assessment::Bad));
        assert_eq!(verdict.findings.len(), 1);
        let unknown = told(r#"{"summary": "Fine.", "assessment": "ok"}"#, false);
        assert!(unknown.ends_with("\n\nFine."), "{unknown}");
        assert!(told("<think>7 {</think>Seven.", false).ends_with(".\n\nSeven."));
    }

    #[test]
    fn its_assessment_is_a_verdict() {
        let (text, verdict) = read(&told(LEGACY, true));
        assert!(text.starts_with("**Not computed.**"), "{text}");
        assert_eq!(verdict.assessment, Some(Assessment::Bad));
        assert_eq!(verdict.findings[1].message, "`b` is empty");
    }
}
