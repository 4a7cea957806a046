//! The claims of an answer: its text, its findings, and each leaf of its JSON as prose.

use std::borrow::Cow;

use serde_json::Value;

use super::listed;
use crate::schema::member;

/// A text of an answer, to be searched for figures.
pub(super) struct Claim<'a> {
    pub text: Cow<'a, str>,
    /// The finding whose message it is.
    pub finding: Option<u64>,
    /// Its path within JSON.
    pub path: Option<String>,
}

/// All claims of an answer.
#[derive(Default)]
pub(crate) struct Claims<'a> {
    pub(super) all: Vec<Claim<'a>>,
    /// The number of entries of each list and table.
    pub(super) n_listed: Vec<u64>,
}

impl<'a> Claims<'a> {
    /// Reads an answer: its text, which may be JSON, and the accompanying JSON. Each of `findings` has its
    /// index among all findings.
    pub(crate) fn of(
        text: &'a str,
        output: Option<&Value>,
        findings: impl Iterator<Item = (u64, &'a str)>,
    ) -> Claims<'a> {
        let mut claims = Claims { n_listed: listed(text), ..Claims::default() };
        let json: Option<Value> = serde_json::from_str(text).ok();
        let is_output = json.is_some() && json.as_ref() == output;
        match json.filter(|it| is_output || it.is_object() || it.is_array()) {
            Some(json) => claims.leaves(&json, "$"),
            None => {
                claims.all.push(Claim { text: text.into(), finding: None, path: None });
            }
        }
        if let Some(output) = output.filter(|_| !is_output) {
            claims.leaves(output, "$");
        }
        let claim =
            |(at, it): (u64, &'a str)| Claim { text: it.into(), finding: Some(at), path: None };
        claims.all.extend(findings.map(claim));
        claims
    }

    /// Adds the numbers, strings and member names of a value.
    fn leaves(&mut self, value: &Value, path: &str) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.leaf(number.to_string(), path),
            Value::String(text) => self.leaf(text.clone(), path),
            Value::Array(values) => {
                self.n_listed.push(values.len() as u64);
                for (at, value) in values.iter().enumerate() {
                    self.leaves(value, &format!("{path}[{at}]"));
                }
            }
            Value::Object(members) => {
                for (name, value) in members {
                    let path = member(path, name);
                    self.leaf(name.clone(), &path);
                    self.leaves(value, &path);
                }
            }
        }
    }

    fn leaf(&mut self, text: String, path: &str) {
        self.all.push(Claim { text: text.into(), finding: None, path: Some(path.to_owned()) });
    }
}
