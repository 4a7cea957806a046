//! `--schema`: the JSON Schema that answers must match, read before any request.

use std::path::Path;

use csv_agent_agent::schema::AnswerSchema;
use csv_agent_types::limits::ANSWER_SCHEMA_BYTES_MAX;
use csv_agent_types::named_file::{self, NotRead};
use csv_agent_types::status::Failure;

/// Reads a schema: the text itself if it begins with `{`, else the file of that name. Fails with
/// `FailureKind::Usage` when the file cannot be read, or contains no usable schema.
pub(crate) fn answer_schema(given: &str) -> Result<AnswerSchema, Failure> {
    let (shown, text) = if given.trim_start().starts_with('{') {
        ("`--schema`".to_owned(), given.as_bytes().to_vec())
    } else {
        (format!("`{given}`"), read(given)?)
    };
    if ANSWER_SCHEMA_BYTES_MAX < text.len() {
        return Err(too_long(&shown));
    }
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
    let value = serde_json::from_slice(text).map_err(|error| {
        let hint =
            "write it as `--schema '{\"type\": \"object\", …}'`, or name a file that contains it";
        Failure::usage(format!("{shown} is not valid JSON: {error}")).hint(hint)
    })?;
    AnswerSchema::compile(value).map_err(|reason| {
        let failure = Failure::usage(format!("cannot use {shown} as a JSON Schema: {reason}"));
        if !reason.starts_with("it refers to") {
            return failure;
        }
        failure.hint("put what it refers to under `$defs`, and refer to `#/$defs/NAME`")
    })
}

fn too_long(shown: &str) -> Failure {
    let message = format!("{shown} is longer than {ANSWER_SCHEMA_BYTES_MAX} bytes, the limit");
    let hint = "use a smaller schema, because each request contains all of it";
    Failure::usage(message).hint(hint)
}

fn read(path: &str) -> Result<Vec<u8>, Failure> {
    named_file::read(Path::new(path), ANSWER_SCHEMA_BYTES_MAX as u64).map_err(|reason| {
        if let NotRead::TooLong(_) = reason {
            return too_long(&format!("`{path}`"));
        }
        let message = format!("cannot read the schema `{path}`: {reason}");
        let hint = "check the path; a schema on the command line begins with `{`";
        Failure::usage(message).hint(hint)
    })
}

#[cfg(test)]
mod tests {
    use super::answer_schema;
    use csv_agent_types::limits::ANSWER_SCHEMA_BYTES_MAX;

    #[track_caller]
    fn check(given: &str, message: &str) {
        let found = answer_schema(given).map_err(|it| it.to_string());
        assert_eq!(found.err().unwrap_or_default(), message);
    }

    #[test]
    fn what_is_wrong_with_a_schema_is_told() {
        check(" {\"type\": \"object\"}", "");
        let eof = "EOF while parsing an object at line 1 column 1";
        check("{", &format!("`--schema` is not valid JSON: {eof}"));
        check(
            "{\"minimum\": \"1\"}",
            "cannot use `--schema` as a JSON Schema: `$.minimum` has type string, not number",
        );
        let away = "it refers to `https://a.example/b`, and csv-agent does not fetch schemas";
        check(
            "{\"$ref\": \"https://a.example/b\"}",
            &format!("cannot use `--schema` as a JSON Schema: {away}"),
        );
        let missing = "no such file";
        check("nowhere.json", &format!("cannot read the schema `nowhere.json`: {missing}"));
        let long = format!("{{\"title\": \"{}\"}}", "x".repeat(ANSWER_SCHEMA_BYTES_MAX));
        check(&long, "`--schema` is longer than 65536 bytes, the limit");
    }

    #[test]
    fn a_file_may_hold_any_schema_and_a_mark_of_its_encoding() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.json");
        for text in ["true", "\u{feff}{\n}\n"] {
            std::fs::write(&path, text).unwrap();
            check(path.to_str().unwrap(), "");
        }
        std::fs::write(&path, "{\n  \"type\": \"obj\"\n}").unwrap();
        let told = answer_schema(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(told.contains("`$.type` "), "{told}");
        std::fs::write(&path, "{\n  \"type\" \"object\"}").unwrap();
        let told = answer_schema(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(told.ends_with("is not valid JSON: expected `:` at line 2 column 10"), "{told}");
    }
}
