//! Rows and plotted data as plain JSON, as base64url, or sealed with Fernet.
//!
//! Only the payloads are sealed: `rows` of a `data_frame`, `data` of a `chart`, and the chart blocks of
//! a `reply`, which contain the same data. `encoding` next to each states its form. Source: the Fernet
//! specification, <https://github.com/fernet/spec/blob/master/Spec.md>.

use std::borrow::Cow;
use std::fmt;

use anyhow::Context;
use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use fernet::Fernet;
use serde_json::{Value, json};

use csv_agent_types::event::{Body, Encoding, Event};
use csv_agent_types::status::Failure;

/// Written with padding, as by Python's `urlsafe_b64encode`; read with or without it.
const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const NEW_KEY: &str = "make one with `python3 -c 'import base64, os; \
     print(base64.urlsafe_b64encode(os.urandom(32)).decode())'`";

/// A key that seals and opens payloads. It is never shown.
#[derive(Clone)]
pub struct FernetKey(Fernet);

impl FernetKey {
    /// Reads a key: 32 bytes as base64url.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it is anything else.
    pub fn parse(key: &str) -> anyhow::Result<FernetKey> {
        let wrong = || {
            let found = key.trim().len();
            let message = format!(
                "`DATA_EVENT_KEY` is not a valid Fernet key: expected 44 characters of base64url, found {found}"
            );
            Failure::setup(message).hint(NEW_KEY)
        };
        Ok(FernetKey(Fernet::new(key.trim()).ok_or_else(wrong)?))
    }
}

impl fmt::Debug for FernetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FernetKey(…)")
    }
}

/// How payloads are written.
#[derive(Debug, Clone, Default)]
pub enum Seal {
    /// As JSON.
    #[default]
    Plain,
    /// As base64url of the JSON text: not secret, but one opaque string.
    Base64url,
    /// As a Fernet token of the JSON text.
    Fernet(FernetKey),
}

impl Seal {
    /// Chooses by `DATA_EVENT_ENCRYPT` and `DATA_EVENT_KEY`.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when data must be sealed and the key is missing or wrong.
    pub fn from_settings(encrypt: bool, key: Option<&str>) -> anyhow::Result<Seal> {
        match key {
            _ if !encrypt => Ok(Seal::Plain),
            Some(key) => Ok(Seal::Fernet(FernetKey::parse(key)?)),
            None => {
                let message = "`DATA_EVENT_ENCRYPT` is on, but `DATA_EVENT_KEY` is not set";
                Err(Failure::setup(message).hint(NEW_KEY).into())
            }
        }
    }

    fn encoding(&self) -> Encoding {
        match self {
            Seal::Plain => Encoding::Json,
            Seal::Base64url => Encoding::Base64url,
            Seal::Fernet(_) => Encoding::Fernet,
        }
    }

    fn close(&self, payload: &Value) -> Value {
        let text = || payload.to_string();
        match self {
            Seal::Plain => payload.clone(),
            Seal::Base64url => json!(BASE64URL.encode(text())),
            Seal::Fernet(key) => json!(key.0.encrypt(text().as_bytes())),
        }
    }
}

/// Returns the event with its payload written as `seal` specifies. A sealed payload is unchanged.
///
/// # Errors
///
/// Fails when an event cannot be serialised as JSON, which is a bug.
pub fn seal<'a>(event: &'a Event, seal: &Seal) -> anyhow::Result<Cow<'a, Event>> {
    if matches!(seal, Seal::Plain) {
        return Ok(Cow::Borrowed(event));
    }
    let mut event = event.clone();
    match &mut event.body {
        Body::DataFrame(table) if table.encoding == Encoding::Json => {
            table.rows = seal.close(&table.rows);
            table.encoding = seal.encoding();
        }
        Body::Chart(chart) if chart.encoding == Encoding::Json => {
            chart.data = seal.close(&chart.data);
            chart.encoding = seal.encoding();
            // It has the rows as well, and is made from them.
            chart.vega_lite = None;
        }
        Body::Reply(reply) => {
            let encoding = serde_json::to_value(seal.encoding())?;
            for block in reply.blocks.iter_mut().filter(|it| it["chart"].is_object()) {
                block["chart"] = seal.close(&block["chart"]);
                block["encoding"] = encoding.clone();
            }
        }
        _ => {}
    }
    Ok(Cow::Owned(event))
}

/// Returns the line of an event, or of a result document, with its payloads as plain JSON.
///
/// # Errors
///
/// Fails when the line is not a JSON object or a payload does not match its `encoding`; with
/// `FailureKind::Setup` when a payload is sealed and the key is missing or different.
pub fn unseal_line(line: &str, seal_key: Option<&FernetKey>) -> anyhow::Result<String> {
    let mut value: Value = serde_json::from_str(line).context("the line is not valid JSON")?;
    anyhow::ensure!(value.is_object(), "the line is not an event: expected a JSON object");
    unseal(&mut value, seal_key)?;
    let mut plain = crate::line(&value);
    plain.pop();
    Ok(plain)
}

fn unseal(value: &mut Value, key: Option<&FernetKey>) -> anyhow::Result<()> {
    let encoding = value["encoding"].as_str().unwrap_or("json").to_owned();
    for member in ["rows", "data", "chart"] {
        let Some(payload) = value.get_mut(member).filter(|it| it.is_string()) else { continue };
        if let Some(plain) = open(payload, &encoding, key)? {
            *payload = plain;
            value["encoding"] = json!("json");
        }
    }
    for member in ["blocks", "tables", "charts"] {
        for item in value.get_mut(member).and_then(Value::as_array_mut).into_iter().flatten() {
            if item.is_object() {
                unseal(item, key)?;
            }
        }
    }
    Ok(())
}

/// Returns the payload in a string; `None` when it is plain.
fn open(payload: &Value, encoding: &str, key: Option<&FernetKey>) -> anyhow::Result<Option<Value>> {
    let text = payload.as_str().unwrap_or_default();
    let bytes = match encoding {
        "json" => return Ok(None),
        "base64url" => BASE64URL.decode(text.trim()).context("a payload is not valid base64url")?,
        "fernet" => {
            let Some(key) = key else {
                let message = "the data is encrypted, but `DATA_EVENT_KEY` is not set";
                let hint = "set it to the key that the data was encrypted with";
                return Err(Failure::setup(message).hint(hint).into());
            };
            key.0.decrypt(text.trim()).map_err(|_| {
                let message = "cannot decrypt a payload: the key is wrong, or the data was changed";
                Failure::setup(message)
            })?
        }
        other => anyhow::bail!(
            "`{other}` is not a known encoding; the encodings are json, \
             base64url and fernet"
        ),
    };
    let plain = serde_json::from_slice(&bytes).context("a decrypted payload is not valid JSON")?;
    Ok(Some(plain))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use serde_json::{Value, json};

    use super::{FernetKey, Seal, seal, unseal_line};
    use csv_agent_testing::cases;
    use csv_agent_types::event::{Body, DataFrame, Encoding, Event};
    use csv_agent_types::status::{Failure, FailureKind};

    const KEY: &str = "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=";

    fn event(rows: Value) -> Event {
        Event {
            v: 1,
            seq: 3,
            ts: "2026-01-01T00:00:00.000Z".into(),
            session_id: "s".into(),
            turn_id: "0001".into(),
            body: Body::DataFrame(DataFrame {
                call_id: "c1".into(),
                df_name: "df".into(),
                logical_name: "q".into(),
                columns: vec!["a".into()],
                dtypes: serde_json::Map::new(),
                row_count: 1,
                rows,
                rows_emitted: 1,
                truncated: false,
                encoding: Encoding::Json,
                artifact: None,
            }),
        }
    }

    fn seals() -> [Seal; 3] {
        let key = FernetKey::parse(KEY).unwrap();
        [Seal::Plain, Seal::Base64url, Seal::Fernet(key)]
    }

    #[track_caller]
    fn status(result: anyhow::Result<impl Sized>) -> Option<FailureKind> {
        result.err().unwrap().downcast_ref::<Failure>().map(|it| it.kind)
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn seal_then_open_is_the_identity(cells in vec(any::<Option<String>>(), 0..4), n in any::<i32>()) {
            let plain = event(json!([{"a": cells, "b": n}]));
            let key = FernetKey::parse(KEY).unwrap();
            for seal_as in seals() {
                let sealed = serde_json::to_string(&*seal(&plain, &seal_as).unwrap()).unwrap();
                let opened = unseal_line(&sealed, Some(&key)).unwrap();
                prop_assert_eq!(serde_json::from_str::<Event>(&opened).unwrap(), plain.clone());
            }
        }
    }

    #[test]
    fn what_python_sealed_opens() {
        // The token of the Fernet specification's `verify.json`, made at 1985-10-26; it says `hello`.
        let token = "gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA==";
        let key = FernetKey::parse(KEY).unwrap();
        assert_eq!(key.0.decrypt(token).unwrap(), b"hello");
        let line = r#"{"type":"data_frame","rows":"gAAAAAAdwJ6ww7UxqaheZDARJy76KelZP_J6TWAcWg0XvOVzhGgAQShgcMV-8KHiBIzrf1NwDD5T4DMqQtBqnEiXrtiBnu5DwShycK5Me3UNIBOvAjLtqZQ=","encoding":"fernet"}"#;
        let opened = unseal_line(line, Some(&key)).unwrap();
        assert_eq!(
            opened,
            r#"{"type":"data_frame","rows":[{"city":"Łódź","n":1}],"encoding":"json"}"#
        );
    }

    #[test]
    fn base64url_opens_with_and_without_padding() {
        for rows in ["W3siYSI6IjEifV0=", "W3siYSI6IjEifV0"] {
            let line =
                json!({"rows": rows, "encoding": "base64url", "new": {"kept": 1}}).to_string();
            let opened = unseal_line(&line, None).unwrap();
            assert_eq!(opened, r#"{"rows":[{"a":"1"}],"encoding":"json","new":{"kept":1}}"#);
        }
    }

    #[test]
    fn a_wrong_or_missing_key_is_an_error_and_never_plain_data() {
        let plain = event(json!([{"a": "secret"}]));
        let line = serde_json::to_string(&*seal(&plain, &seals()[2]).unwrap()).unwrap();
        assert!(!line.contains("secret"));
        let other = FernetKey::parse("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap();
        assert_eq!(status(unseal_line(&line, None)), Some(FailureKind::Setup));
        assert_eq!(status(unseal_line(&line, Some(&other))), Some(FailureKind::Setup));
        assert_eq!(status(Seal::from_settings(true, None)), Some(FailureKind::Setup));
        assert_eq!(status(Seal::from_settings(true, Some("hunter2"))), Some(FailureKind::Setup));
        assert!(matches!(Seal::from_settings(false, Some("hunter2")), Ok(Seal::Plain)));
        let error = format!("{:?}", Seal::from_settings(true, Some("hunter2")).unwrap_err());
        assert!(!error.contains("hunter2"));
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for line in [
            "",
            "7",
            "not json",
            r#"{"rows":"%%","encoding":"base64url"}"#,
            r#"{"rows":"x","encoding":"rot13"}"#,
        ] {
            assert!(unseal_line(line, None).is_err(), "{line}");
        }
    }
}
