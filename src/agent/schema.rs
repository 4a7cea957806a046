//! The JSON Schema for answers: read, compiled, and checked against a value.
//!
//! Nothing is fetched: a schema that needs another document is rejected. Source: JSON Schema, 2020-12,
//! which applies where `$schema` names no other; `format` is validated and is not just an annotation.

use std::error::Error;
use std::fmt;

use boon::{CompileError, Compiler, Draft, ErrorKind, InstanceToken, SchemaIndex, Schemas};
use boon::{UrlLoader, ValidationError};
use serde_json::Value;

use csv_agent_types::limits::{MISFIT_BYTES_MAX, MISFITS_MAX};

/// The schema's own, internal base URI. Nothing exists at relative references to it.
const BASE: &str = "https://csv-agent.invalid/";

/// A valid schema.
pub struct AnswerSchema {
    value: Value,
    schemas: Schemas,
    root: SchemaIndex,
}

impl fmt::Debug for AnswerSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnswerSchema").field(&self.value).finish()
    }
}

/// A violation at one place of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Where it is, such as `$.items[0].price`.
    pub path: String,
    /// The violation; follows the path in a sentence.
    pub reason: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.path, self.reason)
    }
}

impl AnswerSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Fails with the reason when it is not a JSON Schema, or needs a document that it does not contain.
    pub fn compile(value: Value) -> Result<AnswerSchema, String> {
        let address = format!("{BASE}schema.json");
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        compiler.enable_format_assertions();
        compiler.use_loader(Box::new(Nowhere));
        let mut schemas = Schemas::new();
        compiler.add_resource(&address, value.clone()).map_err(|error| refusal(&error))?;
        let root = compiler.compile(&address, &mut schemas).map_err(|error| refusal(&error))?;
        Ok(AnswerSchema { value, schemas, root })
    }

    /// Returns the schema as it was given.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the violations of a value, at most [`MISFITS_MAX`]; empty when it is valid.
    pub fn misfits(&self, value: &Value) -> Vec<Misfit> {
        let mut misfits = Vec::new();
        if let Err(error) = self.schemas.validate(value, self.root) {
            collect(&error, &mut misfits);
        }
        misfits
    }
}

/// Refuses to load any document.
struct Nowhere;

impl UrlLoader for Nowhere {
    fn load(&self, _: &str) -> Result<Value, Box<dyn Error>> {
        Err("csv-agent does not fetch schemas".into())
    }
}

fn refusal(error: &CompileError) -> String {
    let own = |url: &str| shortened(url.strip_prefix(BASE).unwrap_or(url));
    let fragment = |url: &str| shortened(url.split_once('#').map_or(url, |it| it.1));
    match error {
        CompileError::ValidationError { src, .. } => {
            let mut misfits = Vec::new();
            collect(src, &mut misfits);
            joined(&misfits)
        }
        CompileError::LoadUrlError { url, .. }
        | CompileError::UnsupportedUrlScheme { url }
        | CompileError::UnsupportedDraft { url } => {
            format!("it refers to `{}`, and csv-agent does not fetch schemas", own(url))
        }
        CompileError::JsonPointerNotFound(url) => {
            format!("it refers to `#{}`, which does not exist", fragment(url))
        }
        CompileError::AnchorNotFound { reference, .. } => {
            format!("it refers to `{}`, which does not exist", own(reference))
        }
        other => shortened(&other.to_string().replace(BASE, "")),
    }
}

/// Returns misfits as one sentence.
pub fn joined(misfits: &[Misfit]) -> String {
    misfits.iter().map(Misfit::to_string).collect::<Vec<_>>().join("; ")
}

/// Adds the underlying violations of an error. Alternatives become one entry, since a value needs to match
/// only one of them.
fn collect(error: &ValidationError, misfits: &mut Vec<Misfit>) {
    if MISFITS_MAX <= misfits.len() {
        return;
    }
    let path = path_of(&error.instance_location.tokens);
    let of_members = |names: &mut dyn Iterator<Item = &str>, reason: &str| -> Vec<Misfit> {
        let misfit = |it: &str| Misfit { path: member(&path, it), reason: reason.to_owned() };
        names.take(MISFITS_MAX).map(misfit).collect()
    };
    let found = match &error.kind {
        ErrorKind::Required { want } => of_members(&mut want.iter().copied(), "is missing"),
        ErrorKind::AdditionalProperties { got } => {
            of_members(&mut got.iter().map(AsRef::as_ref), "is not allowed")
        }
        ErrorKind::Dependency { prop, missing }
        | ErrorKind::DependentRequired { prop, missing } => {
            let reason = format!("is required together with `{}`", shortened(prop));
            of_members(&mut missing.iter().copied(), &reason)
        }
        ErrorKind::AnyOf | ErrorKind::OneOf(None) => {
            let reason = shortened(&alternatives(&error.causes, &path));
            vec![Misfit { path, reason }]
        }
        ErrorKind::Group
        | ErrorKind::Schema { .. }
        | ErrorKind::Reference { .. }
        | ErrorKind::ContentSchema
        | ErrorKind::AllOf
            if !error.causes.is_empty() =>
        {
            for cause in &error.causes {
                collect(cause, misfits);
            }
            return;
        }
        kind => vec![Misfit { path, reason: shortened(&reason(kind)) }],
    };
    misfits.extend(found);
    misfits.truncate(MISFITS_MAX);
}

/// Returns why a value matches none of the alternatives, from the causes of each.
fn alternatives(causes: &[ValidationError], path: &str) -> String {
    let mut misfits = Vec::new();
    for cause in causes {
        collect(cause, &mut misfits);
    }
    // All violations are at the place itself: short enough to list without a path.
    if misfits.iter().all(|it| it.path == path) {
        let reasons = misfits.iter().map(|it| format!("it {}", it.reason));
        return format!("matches no alternative: {}", reasons.collect::<Vec<_>>().join(", "));
    }
    format!("matches no alternative: {}", joined(&misfits))
}

/// Returns the violation at a place, to follow its path.
fn reason(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::Type { got, want } => {
            let want: Vec<String> = want.iter().map(|it| it.to_string()).collect();
            format!("has type {got}, not {}", want.join(" or "))
        }
        ErrorKind::Enum { want } => {
            let want: Vec<String> = want.iter().map(Value::to_string).collect();
            format!("is not one of {}", want.join(", "))
        }
        ErrorKind::Const { want } => format!("is not {want}"),
        ErrorKind::Format { got, want: "regex", .. } => {
            format!("is {got}, which is not a valid regular expression, or has a look-around")
        }
        ErrorKind::Format { got, want, .. } => format!("is {got}, which is not a valid {want}"),
        ErrorKind::Pattern { got, want } => format!("is {got:?}, which does not match `{want}`"),
        ErrorKind::FalseSchema => "is not allowed".to_owned(),
        ErrorKind::AdditionalItems { got } => format!("has {got} items too many"),
        ErrorKind::MinItems { got, want } => format!("has {got} items, not at least {want}"),
        ErrorKind::MaxItems { got, want } => format!("has {got} items, not at most {want}"),
        ErrorKind::MinProperties { got, want } => {
            format!("has {got} members, not at least {want}")
        }
        ErrorKind::MaxProperties { got, want } => {
            format!("has {got} members, not at most {want}")
        }
        ErrorKind::MinLength { got, want } => {
            format!("has {got} characters, not at least {want}")
        }
        ErrorKind::MaxLength { got, want } => {
            format!("has {got} characters, not at most {want}")
        }
        ErrorKind::Minimum { got, want } => format!("is {got}, not at least {want}"),
        ErrorKind::Maximum { got, want } => format!("is {got}, not at most {want}"),
        ErrorKind::ExclusiveMinimum { got, want } => format!("is {got}, not above {want}"),
        ErrorKind::ExclusiveMaximum { got, want } => format!("is {got}, not below {want}"),
        ErrorKind::MultipleOf { got, want } => format!("is {got}, not a multiple of {want}"),
        ErrorKind::UniqueItems { got: [one, other] } => {
            format!("has the same item at {one} and at {other}")
        }
        ErrorKind::Contains | ErrorKind::MinContains { .. } => {
            "has too few of the items that it must contain".to_owned()
        }
        ErrorKind::MaxContains { .. } => "has too many of the items that it may contain".to_owned(),
        ErrorKind::PropertyName { prop } => {
            format!("has the member {prop:?}, which is not allowed")
        }
        ErrorKind::OneOf(Some(_)) => "matches more than one alternative".to_owned(),
        ErrorKind::Not => "matches what it must not match".to_owned(),
        other => format!("is not valid: {other}"),
    }
}

fn path_of(tokens: &[InstanceToken]) -> String {
    tokens.iter().fold("$".to_owned(), |path, token| match token {
        InstanceToken::Prop(name) => member(&path, name),
        InstanceToken::Item(at) => format!("{path}[{at}]"),
    })
}

/// Returns the path of a member: `$.name`, or `$["a name"]` where the name is not a plain word.
pub fn member(path: &str, name: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || it == '_';
    if !name.is_empty() && name.chars().all(is_plain) {
        return format!("{path}.{}", shortened(name));
    }
    format!("{path}[{}]", Value::from(shortened(name)))
}

/// Bounds the length of untrusted text in a message.
fn shortened(text: &str) -> String {
    if text.len() <= MISFIT_BYTES_MAX {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MISFIT_BYTES_MAX)])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{AnswerSchema, joined};
    use csv_agent_types::limits::{MISFIT_BYTES_MAX, MISFITS_MAX};

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`json!({…})` reads better without a `&`")]
    fn check(schema: Value, value: Value, misfits: &str) {
        let schema = AnswerSchema::compile(schema).unwrap();
        assert_eq!(joined(&schema.misfits(&value)), misfits);
    }

    #[test]
    fn what_does_not_hold_is_told_with_its_path() {
        let item = json!({"type": "object", "properties": {"price": {"type": "number", "minimum": 0}},
            "required": ["price"], "additionalProperties": false});
        let schema = json!({"type": "object", "properties": {"a b": {"$ref": "#/$defs/items"}},
            "$defs": {"items": {"type": "array", "items": item}}});
        check(schema.clone(), json!({"a b": [{"price": 1}, {"price": 2.5}]}), "");
        let wrong = json!({"a b": [{"price": -1}, {"cost": 1}, {"price": "1"}]});
        check(
            schema,
            wrong,
            "`$[\"a b\"][0].price` is -1, not at least 0; `$[\"a b\"][1].price` is missing; \
             `$[\"a b\"][1].cost` is not allowed; `$[\"a b\"][2].price` has type string, not number",
        );
    }

    #[test]
    fn alternatives_are_told_as_one() {
        let either = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
        check(
            either.clone(),
            json!("x"),
            "`$` matches no alternative: it has type string, not integer, it has type string, not null",
        );
        let deep = json!({"oneOf": [{"properties": {"a": {"const": 1}}}, {"required": ["b"]}]});
        check(
            deep,
            json!({"a": 2}),
            "`$` matches no alternative: `$.a` is not 1; `$.b` is missing",
        );
        check(either, Value::Null, "");
    }

    #[test]
    fn formats_count_and_drafts_are_those_that_the_schema_names() {
        let date = json!({"type": "string", "format": "date"});
        check(date, json!("2026-02-30"), "`$` is \"2026-02-30\", which is not a valid date");
        let draft_4 = json!({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1,
            "exclusiveMinimum": true});
        check(draft_4, json!(1), "`$` is 1, not above 1");
        check(json!({"type": "integer"}), json!(9_007_199_254_740_993_u64), "");
    }

    #[test]
    fn what_is_told_is_bounded() {
        let schema = json!({"items": {"pattern": "^a$"}});
        let values: Vec<String> = (0..100).map(|_| "é".repeat(1_000)).collect();
        let misfits = AnswerSchema::compile(schema).unwrap().misfits(&json!(values));
        assert_eq!(misfits.len(), MISFITS_MAX);
        assert!(misfits.iter().all(|it| it.reason.len() <= MISFIT_BYTES_MAX + 3));
    }

    #[track_caller]
    fn check_refused(schema: Value, reason: &str) {
        assert_eq!(AnswerSchema::compile(schema).unwrap_err(), reason);
    }

    #[test]
    fn what_is_no_schema_is_refused_with_the_reason() {
        check_refused(json!({"minimum": "1"}), "`$.minimum` has type string, not number");
        check_refused(
            json!({"$ref": "https://example.com/a.json#/b"}),
            "it refers to `https://example.com/a.json`, and csv-agent does not fetch schemas",
        );
        check_refused(
            json!({"$ref": "a.json"}),
            "it refers to `a.json`, and csv-agent does not fetch schemas",
        );
        check_refused(
            json!({"$ref": "file:///etc/passwd"}),
            "it refers to `file:///etc/passwd`, and csv-agent does not fetch schemas",
        );
        check_refused(
            json!({"$schema": "https://example.com/own"}),
            "it refers to `https://example.com/own`, and csv-agent does not fetch schemas",
        );
        check_refused(
            json!({"$ref": "#/$defs/a"}),
            "it refers to `#/$defs/a`, which does not exist",
        );
        check_refused(
            json!({"properties": {"a": {"pattern": "(?!b)"}}}),
            "`$.properties.a.pattern` is \"(?!b)\", which is not a valid regular expression, or has a \
             look-around",
        );
    }

    #[test]
    fn a_schema_that_goes_in_a_circle_ends() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
        let misfits = AnswerSchema::compile(schema).map(|it| it.misfits(&json!(1)).len());
        assert_ne!(misfits, Ok(0));
    }
}
