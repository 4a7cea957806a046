//! Questions from stdin, without an editor.

use std::io::{BufRead, Read};

use anyhow::Context;
use serde_json::Value;
use tokio::task::{JoinHandle, spawn_blocking};

use csv_agent_types::limits::QUESTION_BYTES_MAX;
use csv_agent_types::status::Failure;

use crate::flags::InputForm;

/// Stdin, read up to a delimiter on request only.
#[derive(Default)]
pub(super) struct Stdin {
    /// A read of stdin cannot be cancelled: the next call waits for an unfinished one. It ends with stdin,
    /// or with the process.
    reading: Option<JoinHandle<std::io::Result<Vec<u8>>>>,
    n_read: u64,
}

impl Stdin {
    /// Returns the next piece, with its delimiter unless stdin ended without one; None when stdin has ended.
    /// Fails when stdin cannot be read, or the piece is too long or not UTF-8.
    pub(super) async fn next(&mut self, delimiter: u8) -> anyhow::Result<Option<String>> {
        let reading = self.reading.get_or_insert_with(|| {
            spawn_blocking(move || {
                let mut piece = Vec::new();
                let stdin = std::io::stdin().lock();
                stdin.take(QUESTION_BYTES_MAX as u64 + 1).read_until(delimiter, &mut piece)?;
                Ok(piece)
            })
        });
        let read = reading.await;
        self.reading = None;
        let piece = read.context("cannot read stdin")?.context("cannot read stdin")?;
        if piece.is_empty() {
            return Ok(None);
        }
        self.n_read += 1;
        if QUESTION_BYTES_MAX < piece.len() {
            return Err(self.refusal(&format!("is longer than {QUESTION_BYTES_MAX} bytes")).into());
        }
        let text = String::from_utf8(piece).map_err(|_| self.refusal("is not UTF-8"))?;
        // Text editors add a byte order mark at the start.
        let text = text.strip_prefix('\u{feff}').filter(|_| self.n_read == 1).unwrap_or(&text);
        Ok(Some(text.to_owned()))
    }

    /// Returns the next question; None when there are no more. Skips blank ones. Fails as [`Stdin::next`] does,
    /// and when a line is not a question in the given form.
    pub(super) async fn question(&mut self, form: InputForm) -> anyhow::Result<Option<String>> {
        let delimiter = if form == InputForm::Nul { b'\0' } else { b'\n' };
        while let Some(piece) = self.next(delimiter).await? {
            let piece = piece.trim_end_matches('\0').trim();
            if piece.is_empty() {
                continue;
            }
            let question = match form {
                InputForm::Lines | InputForm::Nul => piece.to_owned(),
                InputForm::Jsonl => question_of(piece).map_err(|it| self.refusal(&it))?,
            };
            if !question.trim().is_empty() {
                return Ok(Some(question.trim().to_owned()));
            }
        }
        Ok(None)
    }

    fn refusal(&self, what: &str) -> Failure {
        let message = format!("cannot read question {} from stdin: it {what}", self.n_read);
        Failure::usage(message)
    }
}

/// Returns the question of a JSON line, or why there is none.
fn question_of(json: &str) -> Result<String, String> {
    match serde_json::from_str::<Value>(json) {
        Ok(Value::String(question)) => Ok(question),
        Ok(Value::Object(members)) => match members.get("question") {
            Some(Value::String(question)) => Ok(question.clone()),
            Some(_) => Err("has a field `question` that is not a string".to_owned()),
            None => Err("has no field `question`".to_owned()),
        },
        Ok(_) => Err("is neither a string nor an object with a field `question`".to_owned()),
        Err(error) => Err(format!("is not valid JSON: column {}", error.column())),
    }
}

#[cfg(test)]
mod tests {
    use super::question_of;

    #[track_caller]
    fn check(json: &str, expected: Result<&str, &str>) {
        let found = question_of(json);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{json}");
    }

    #[test]
    fn a_line_of_json_is_a_question_or_says_why_not() {
        check(r#""How many\nrows?""#, Ok("How many\nrows?"));
        check(r#"{"id": 7, "question": "How many?"}"#, Ok("How many?"));
        check(r#"{"q": "How many?"}"#, Err("has no field `question`"));
        check(r#"{"question": 7}"#, Err("has a field `question` that is not a string"));
        check("[]", Err("is neither a string nor an object with a field `question`"));
        check("How many?", Err("is not valid JSON: column 1"));
    }
}
