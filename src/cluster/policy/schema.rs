//! Descriptions of types that go to the cluster as text: types and nothing else.
//!
//! Spark's own descriptions can hold more: the name of a Java class that it makes one of, and default
//! values, which are expressions in text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::words::{Token, tokens};

const INSTEAD: &str = "write names and types only, as `name STRING, price DECIMAL(10, 2)`";

/// Lets pass a list of columns or a type, in DDL or in Spark's JSON. Fails with a sentence when there is
/// anything besides names and types.
pub(super) fn check(text: &str) -> Result<(), String> {
    let text = text.trim();
    let is_types = if text.starts_with(['{', '"']) {
        serde_json::from_str::<Json>(text).is_ok_and(|it| it.is_types())
    } else {
        is_ddl(text)
    };
    if is_types {
        Ok(())
    } else {
        Err(format!("a schema with more than types is not allowed on the cluster; {INSTEAD}"))
    }
}

fn is_ddl(text: &str) -> bool {
    let Ok(tokens) = tokens(text) else { return false };
    tokens.iter().enumerate().all(|(at, token)| match token {
        Token::Word(word) => !is_clause(word),
        Token::Name => true,
        Token::Number => is_in_parentheses(&tokens, at),
        Token::Mark(mark) => match mark {
            '(' => at.checked_sub(1).is_some_and(|it| is_sized(&tokens[it])),
            ')' | '<' | '>' | ',' | ':' => true,
            _ => false,
        },
        Token::Text => false,
    })
}

fn is_clause(word: &str) -> bool {
    ["default", "generated", "always", "identity", "as", "select", "from"].contains(&word)
}

fn is_sized(token: &Token) -> bool {
    let sized = [
        "decimal", "dec", "numeric", "char", "character", "varchar", "time", "geometry",
        "geography",
    ];
    matches!(token, Token::Word(word) if sized.contains(&word.as_str()))
}

/// Whether the number at `at` is one of those of `DECIMAL(10, 2)`.
fn is_in_parentheses(tokens: &[Token], at: usize) -> bool {
    let before = tokens[..at].iter().rev();
    before.take_while(|it| **it != Token::Mark(')')).any(|it| *it == Token::Mark('('))
}

/// JSON with every pair of its objects: of two pairs with one name, readers differ in which holds.
enum Json {
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    Other,
}

impl Json {
    fn is_types(&self) -> bool {
        match self {
            Json::Text(_) | Json::Other => true,
            Json::List(items) => items.iter().all(Json::is_types),
            Json::Object(pairs) => pairs.iter().enumerate().all(|(at, (key, value))| {
                let is_twin = pairs[..at].iter().any(|it| it.0 == *key);
                let is_fine = match key.as_str() {
                    "metadata" => matches!(value, Json::Object(pairs) if pairs.is_empty()),
                    "type" => {
                        !matches!(value, Json::Text(text) if text == "udt") && value.is_types()
                    }
                    "fields" | "name" | "nullable" | "elementType" | "containsNull" | "keyType"
                    | "valueType" | "valueContainsNull" => value.is_types(),
                    _ => false,
                };
                is_fine && !is_twin
            }),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON of a schema")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut found = Vec::new();
        while let Some(item) = items.next_element()? {
            found.push(item);
        }
        Ok(Json::List(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Json, A::Error> {
        let mut found = Vec::new();
        while let Some(pair) = pairs.next_entry()? {
            found.push(pair);
        }
        Ok(Json::Object(found))
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn types_pass_in_ddl_and_in_json() {
        for text in [
            "a int",
            "string",
            "`my name` STRING NOT NULL, b array<struct<x:int,y:decimal(10, 2)>>",
            "comment string, time timestamp_ntz",
            r#"{"type":"struct","fields":[{"name":"x","type":"long","nullable":true,"metadata":{}}]}"#,
            r#"{"type":"array","elementType":"string","containsNull":true}"#,
            r#""integer""#,
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_can_run_in_a_schema_is_refused() {
        for text in [
            "a int default 5",
            "a int DEFAULT reflect('java.lang.System', 'exit')",
            "a int generated always as (b)",
            "a string comment 'x'",
            "a int, b foo(c)",
            "a int -- b",
            "a int /* b */",
            "a int; drop table x",
            r#"{"type":"udt","class":"java.lang.Object","pyClass":null,"sqlType":"long"}"#,
            r#"{"type":"struct","type":"udt","fields":[]}"#,
            r#"{"\u0074ype":"\u0075dt"}"#,
            r#"{"type":"struct","fields":[{"name":"x","type":"long","nullable":true,"metadata":{"EXISTS_DEFAULT":"1"}}]}"#,
            r#"{"type":"struct","fields":[],"class":"java.lang.Object"}"#,
            r#"{"type":"struct","fields":[]} x"#,
            "{",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
