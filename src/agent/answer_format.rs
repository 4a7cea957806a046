//! The required form of an answer: plain text, a verdict, JSON of the user's schema, or both.
//!
//! Pure: takes the text of an answer and returns its parts and what violates the form.

use std::rc::Rc;

use serde_json::Value;

use csv_agent_text::sanitize::json_for_terminal;
use csv_agent_tools::strict;
use csv_agent_types::conversation::{AnswerFormat, Verdict};

use crate::schema::{AnswerSchema, Misfit, joined};
use crate::verdict;

/// Sent once to a model that gave no verdict, where the provider allows tools or a form but not both.
const VERDICT: &str = "Write that answer again, as the one JSON object that the instructions on the \
                       verdict ask for, and nothing else.";

/// The member of an answer with a verdict that holds the user's JSON.
const OUTPUT: &str = "output";

/// Members of a schema that hold other schemas by name.
const MAPS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Members of a schema that hold data.
const DATA: [&str; 4] = ["enum", "const", "default", "examples"];

/// Members that hold definitions. References find them from the root of the document.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Names the JSON Schema draft; valid at the root only.
const DRAFT: &str = "$schema";

/// The required form of a turn's answer.
#[derive(Debug, Clone)]
pub(crate) struct ReplyForm {
    /// Whether the answer must contain a verdict.
    pub verdict: bool,
    /// The schema that the answer must match.
    pub schema: Option<Rc<AnswerSchema>>,
}

/// The parts of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedAnswer {
    /// The reply for people. With a schema and no verdict, the JSON.
    pub text: String,
    /// None when the answer has no verdict, or none was requested.
    pub verdict: Option<Verdict>,
    /// None when no schema was given, or the answer does not match it.
    pub output: Option<Value>,
    /// How the answer violates the schema, in words.
    pub misfit: Option<String>,
}

impl ReplyForm {
    /// Returns whether any text is acceptable.
    pub(crate) fn is_free(&self) -> bool {
        !self.verdict && self.schema.is_none()
    }

    /// Returns the form as sent to the provider. None when any text will do, or the provider cannot enforce
    /// the form.
    pub(crate) fn format(&self) -> Option<AnswerFormat> {
        let (name, schema) = match &self.schema {
            None if self.verdict => ("verdict", verdict::schema()),
            Some(it) if self.verdict => ("answer", envelope(it.value())),
            // The API takes object schemas only; for others the instructions contain the schema.
            Some(it) if it.value()["type"] == "object" => ("answer", it.value().clone()),
            _ => return None,
        };
        let strict = strict::check(&schema).is_ok();
        Some(AnswerFormat { name: name.to_owned(), schema, strict })
    }

    pub(crate) fn read(&self, answer: &str) -> ParsedAnswer {
        let plain =
            |misfit| ParsedAnswer { text: answer.to_owned(), verdict: None, output: None, misfit };
        if self.is_free() {
            return plain(None);
        }
        let (text, value) = match json(answer) {
            Ok(found) => found,
            Err(_) if self.schema.is_none() => return plain(None),
            Err(why) => return plain(Some(format!("it is not valid JSON: {why}"))),
        };
        if !self.verdict {
            return match self.output(Some(&value)) {
                Ok(output) => ParsedAnswer {
                    text: json_for_terminal(text).into_owned(),
                    output,
                    ..plain(None)
                },
                Err(misfit) => plain(Some(misfit)),
            };
        }
        let read = verdict::read(&value);
        let output = self.output(value.get(OUTPUT));
        let misfit = output.as_ref().err().cloned();
        let (text, verdict) = match read {
            Some((text, verdict)) => (text, Some(verdict)),
            None => (answer.to_owned(), None),
        };
        ParsedAnswer { text, verdict, output: output.unwrap_or_default(), misfit }
    }

    /// Returns the prompt that makes the model write its answer again. None when the answer is acceptable.
    /// A verdict that the provider had to enforce is not requested again.
    pub(crate) fn repair(&self, answer: &str, is_enforced: bool) -> Option<String> {
        if self.is_free() {
            return None;
        }
        let said = self.read(answer);
        let is_bare = self.verdict && said.verdict.is_none();
        if let Some(misfit) = said.misfit {
            let is_json = json(answer).is_ok();
            let place =
                if self.verdict && is_json { "`output` of that answer" } else { "That answer" };
            return Some(format!(
                "{place} does not match the schema: {misfit}. Write the whole answer again, as the JSON \
                 that the instructions ask for, and nothing else. Keep what you have found; do not \
                 make up what you have not."
            ));
        }
        (is_bare && !is_enforced).then(|| VERDICT.to_owned())
    }

    /// Returns the user's JSON, if a schema was given. Fails with how it violates the schema.
    fn output(&self, value: Option<&Value>) -> Result<Option<Value>, String> {
        let Some(schema) = &self.schema else { return Ok(None) };
        let Some(value) = value else {
            let path = format!("$.{OUTPUT}");
            return Err(Misfit { path, reason: "is missing".to_owned() }.to_string());
        };
        let misfits = schema.misfits(value);
        if misfits.is_empty() { Ok(Some(value.clone())) } else { Err(joined(&misfits)) }
    }
}

/// Reads JSON that is the whole of a text or the content of its only code fence. Also returns the JSON as
/// written. Fails with the parse error of the whole text when neither is JSON.
pub(crate) fn json(text: &str) -> Result<(&str, Value), String> {
    let text = text.trim();
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok((text, value)),
        Err(error) => error,
    };
    // JSON strings contain no line breaks, so a line that looks like a fence is one.
    let starts = text.split_inclusive('\n').scan(0, |end, line| {
        let start = *end;
        *end += line.len();
        Some((start, *end, line.trim_start().starts_with("```")))
    });
    let fences: Vec<(usize, usize, bool)> = starts.filter(|it| it.2).collect();
    if let [(_, from, _), (to, ..)] = fences[..]
        && let Ok(value) = serde_json::from_str(&text[from..to])
    {
        return Ok((text[from..to].trim(), value));
    }
    Err(error.to_string())
}

/// Returns the schema of an answer with a verdict and the user's JSON. Members that belong at the root move
/// there, where references find them.
fn envelope(schema: &Value) -> Value {
    let mut whole = verdict::schema();
    let mut inner = schema.clone();
    redirect(&mut inner);
    for name in DEFINITIONS.into_iter().chain([DRAFT]) {
        if let Some(found) = inner.as_object_mut().and_then(|it| it.shift_remove(name)) {
            whole[name] = found;
        }
    }
    whole["properties"][OUTPUT] = inner;
    if let Some(required) = whole["required"].as_array_mut() {
        required.push(OUTPUT.into());
    }
    whole
}

/// Rewrites references to the root of a schema to its new location. A schema with an `$id` of its own keeps
/// them.
fn redirect(schema: &mut Value) {
    let Some(members) = schema.as_object_mut().filter(|it| !it.contains_key("$id")) else { return };
    for (name, value) in members {
        match value {
            Value::String(to) if name == "$ref" => {
                let stays = DEFINITIONS.iter().any(|it| to.starts_with(&format!("#/{it}/")));
                if let Some(rest) = to.strip_prefix('#').filter(|it| it.is_empty() || !stays)
                    && (rest.is_empty() || rest.starts_with('/'))
                {
                    *to = format!("#/properties/{OUTPUT}{rest}");
                }
            }
            Value::Object(named) if MAPS.contains(&name.as_str()) => {
                named.values_mut().for_each(redirect);
            }
            Value::Array(all) if !DATA.contains(&name.as_str()) => {
                all.iter_mut().for_each(redirect);
            }
            value if !DATA.contains(&name.as_str()) => redirect(value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use serde_json::{Value, json};

    use super::ReplyForm;
    use crate::schema::AnswerSchema;
    use csv_agent_types::conversation::Assessment;

    fn form(schema: Value, verdict: bool) -> ReplyForm {
        ReplyForm { verdict, schema: Some(Rc::new(AnswerSchema::compile(schema).unwrap())) }
    }

    fn count() -> Value {
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
            "additionalProperties": false})
    }

    #[track_caller]
    fn check(answer: &str, text: &str, output: Result<Value, &str>) {
        let said = form(count(), false).read(answer);
        assert_eq!(said.text, text, "{answer}");
        let (output, misfit) = match output {
            Ok(output) => (Some(output), None),
            Err(misfit) => (None, Some(misfit.to_owned())),
        };
        assert_eq!((said.output, said.misfit), (output, misfit), "{answer}");
    }

    #[test]
    fn an_answer_is_json_or_has_it_in_its_only_fence() {
        let seven = || Ok(json!({"n": 7}));
        check(" {\"n\": 7}\n", "{\"n\": 7}", seven());
        check("```json\n{\"n\":\n 7}\n```", "{\"n\":\n 7}", seven());
        check("It is:\n\n```\n{\"n\": 7}\n```\nDone.", "{\"n\": 7}", seven());
        let two = "```\n{\"n\": 7}\n```\n```\n{\"n\": 8}\n```";
        check(two, two, Err("it is not valid JSON: expected value at line 1 column 1"));
        let twice = "{\"n\": 7} {\"n\": 8}";
        check(twice, twice, Err("it is not valid JSON: trailing characters at line 1 column 10"));
        check("{\"n\": \"7\"}", "{\"n\": \"7\"}", Err("`$.n` has type string, not integer"));
    }

    #[test]
    fn what_a_terminal_must_not_get_stays_json() {
        let said = form(json!({"type": "string"}), false).read("\"a\u{202e}b\u{9b}\"");
        assert_eq!(said.text, "\"a\\u202eb\\u009b\"");
        let again: Value = serde_json::from_str(&said.text).unwrap();
        assert_eq!(Some(again), said.output);
    }

    #[test]
    fn a_verdict_and_json_stand_in_one_envelope() {
        let form = form(count(), true);
        let answer = |output: Value| {
            json!({"text": "t", "findings": [], "assessment": "good", "output": output}).to_string()
        };
        let said = form.read(&answer(json!({"n": 1})));
        assert_eq!((said.text.as_str(), said.output), ("t", Some(json!({"n": 1}))));
        assert_eq!(said.verdict.unwrap().assessment, Some(Assessment::Good));
        let wrong = answer(json!({}));
        assert_eq!(form.read(&wrong).misfit.unwrap(), "`$.n` is missing");
        assert!(form.read(&wrong).verdict.is_some(), "the verdict counts all the same");
        let told = form.repair(&wrong, true).unwrap();
        assert!(told.starts_with("`output` of that answer does not match the schema: `$.n` is"));
        let told = form.repair("seven", true).unwrap();
        assert!(
            told.starts_with("That answer does not match the schema: it is not valid JSON: "),
            "{told}"
        );
        let bare = form.read("{\"n\": 1}");
        assert_eq!(bare.misfit.as_deref(), Some("`$.output` is missing"));
    }

    #[test]
    fn a_provider_gets_what_it_can_take() {
        let format = form(count(), false).format().unwrap();
        assert_eq!((format.schema, format.strict), (count(), true));
        assert!(!form(json!({"type": "object"}), false).format().unwrap().strict);
        assert_eq!(form(json!({"type": "array"}), false).format(), None);
        assert_eq!(form(json!(true), false).format(), None);
        assert!(form(count(), true).format().unwrap().strict);
        assert!(!form(json!(true), true).format().unwrap().strict);
    }

    #[test]
    fn references_are_found_in_the_envelope() {
        let tree = json!({"type": "object", "additionalProperties": false, "required": ["a", "b", "c"],
            "properties": {
                "a": {"$ref": "#/$defs/leaf"},
                "b": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
                "c": {"$ref": "#/properties/a"},
            },
            "$defs": {"leaf": {"type": "string", "enum": ["$ref", "#"]}}});
        let format = form(tree.clone(), true).format().unwrap();
        let envelope = &format.schema;
        assert_eq!(envelope["$defs"]["leaf"]["enum"], json!(["$ref", "#"]));
        let output = &envelope["properties"]["output"];
        assert_eq!(output["properties"]["a"]["$ref"], "#/$defs/leaf");
        assert_eq!(output["properties"]["b"]["anyOf"][0]["$ref"], "#/properties/output");
        assert_eq!(output["properties"]["c"]["$ref"], "#/properties/output/properties/a");
        assert_eq!(output.get("$defs"), None);
        assert!(format.strict);
        let whole = AnswerSchema::compile(envelope.clone()).unwrap();
        let answer = |leaf: &str| {
            json!({"text": "t", "findings": [], "assessment": null,
                "output": {"a": leaf, "b": null, "c": "#"}})
        };
        assert_eq!(whole.misfits(&answer("#")), []);
        assert_eq!(whole.misfits(&answer("x"))[0].path, "$.output.a");
    }
}
