//! Requests of the real client, and bytes that no client sends.
//!
//! `requests.jsonl` has what `pyspark-client==4.2.0` sends for lines of code: the name says for which.
//! Ids are replaced, pickled functions are empty, and the three functions of Python are shortened by hand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use proptest::prelude::*;
use prost_reflect::prost::Message;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use csv_agent_types::catalog::SparkSource;

use super::{Judged, MESSAGES, POOL, Policy, SERVICE, short_name};

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Is {
    Allowed,
    Refused,
}

#[derive(Deserialize)]
struct Request {
    is: Is,
    name: String,
    method: String,
    #[serde(rename = "request")]
    content: serde_json::Value,
}

static REQUESTS: LazyLock<Vec<Request>> = LazyLock::new(|| {
    let lines = include_str!("../../../fixtures/spark/requests.jsonl").lines();
    lines.map(|it| serde_json::from_str(it).unwrap()).collect()
});

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

fn policy() -> Policy {
    let reads = vec![
        SparkSource::Table { name: "db.flights".to_owned() },
        SparkSource::Files {
            format: "csv".to_owned(),
            schema: "year STRING, month STRING, day STRING, dep_time STRING, sched STRING, dep_delay STRING".to_owned(),
            options: BTreeMap::from([("header".to_owned(), "true".to_owned())]),
            paths: vec!["/data/flights.csv".to_owned()],
        },
    ];
    Policy::new(reads, "ann")
}

fn check(policy: &Policy, method: &str, message: &[u8]) -> Result<(), String> {
    let mut call = Judged::of(&format!("/{SERVICE}/{method}"))?;
    policy.check(&mut call, message)
}

fn input_of(method: &str) -> MessageDescriptor {
    let service = POOL.get_service_by_name(SERVICE).unwrap();
    service.methods().find(|it| it.name() == method).unwrap().input()
}

fn bytes_of(method: &str, json: &serde_json::Value) -> Vec<u8> {
    message(&input_of(method), json).encode_to_vec()
}

fn message(of: &MessageDescriptor, json: &serde_json::Value) -> DynamicMessage {
    let mut found = DynamicMessage::new(of.clone());
    for (name, value) in json.as_object().unwrap() {
        let field = of.get_field_by_name(name).unwrap_or_else(|| panic!("{name} of {}", of.name()));
        found.set_field(&field, field_value(&field, value));
    }
    found
}

fn field_value(field: &FieldDescriptor, json: &serde_json::Value) -> Value {
    if field.is_map() {
        let pairs = json.as_object().unwrap().iter();
        let value_of = field.kind().as_message().unwrap().map_entry_value_field();
        return Value::Map(
            pairs
                .map(|(key, it)| (MapKey::String(key.clone()), single(&value_of.kind(), it)))
                .collect(),
        );
    }
    match json {
        serde_json::Value::Array(items) => {
            Value::List(items.iter().map(|it| single(&field.kind(), it)).collect())
        }
        other => single(&field.kind(), other),
    }
}

fn single(kind: &Kind, json: &serde_json::Value) -> Value {
    // As protobuf has it, JSON writes 64-bit numbers as text.
    let number = || json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    let text = || json.as_str().unwrap().to_owned();
    match kind {
        Kind::Message(of) => Value::Message(message(of, json)),
        Kind::String => Value::String(text()),
        Kind::Bytes => Value::Bytes(BASE64_STANDARD.decode(text()).unwrap().into()),
        Kind::Bool => Value::Bool(json.as_bool().unwrap()),
        Kind::Double => Value::F64(json.as_f64().unwrap()),
        Kind::Int32 => Value::I32(number().parse().unwrap()),
        Kind::Int64 => Value::I64(number().parse().unwrap()),
        Kind::Enum(of) => {
            Value::EnumNumber(of.get_value_by_name(json.as_str().unwrap()).unwrap().number())
        }
        other => panic!("no {other:?} in the fixture"),
    }
}

#[test]
fn what_a_data_frame_sends_passes() {
    let policy = policy();
    for it in REQUESTS.iter().filter(|it| it.is == Is::Allowed) {
        let found = check(&policy, &it.method, &bytes_of(&it.method, &it.content));
        assert_eq!(found, Ok(()), "{} ({})", it.name, it.method);
    }
}

#[test]
fn what_reads_more_writes_or_runs_code_is_refused_with_what_to_do_instead() {
    let mut found = String::new();
    for it in REQUESTS.iter().filter(|it| it.is == Is::Refused) {
        let policy = policy();
        let says = check(&policy, &it.method, &bytes_of(&it.method, &it.content))
            .err()
            .unwrap_or("PASSES".to_owned());
        let _ = writeln!(found, "{}: {says}", it.name);
    }
    assert!(!found.contains("PASSES"), "{found}");
    insta::assert_snapshot!(found);
}

#[test]
fn each_name_on_the_list_is_one_of_spark() {
    for (name, fields) in MESSAGES.iter() {
        let of = POOL
            .get_message_by_name(&format!("spark.connect.{name}"))
            .unwrap_or_else(|| panic!("{name}"));
        for field in fields {
            assert!(of.get_field_by_name(field).is_some(), "{name}.{field}");
        }
    }
}

#[test]
fn each_message_that_a_listed_field_holds_is_listed() {
    for (name, fields) in MESSAGES.iter() {
        let of = POOL.get_message_by_name(&format!("spark.connect.{name}")).unwrap();
        for field in fields {
            if let Kind::Message(inner) = of.get_field_by_name(field).unwrap().kind() {
                assert!(MESSAGES.contains_key(short_name(&inner)), "{name}.{field}");
            }
        }
    }
}

fn plan_of(root: &serde_json::Value) -> Vec<u8> {
    bytes_of(
        "ExecutePlan",
        &serde_json::json!({"session_id": SESSION, "user_context": {"user_id": "ann"}, "plan": {"root": root}}),
    )
}

fn reason(bytes: &[u8]) -> String {
    check(&policy(), "ExecutePlan", bytes).unwrap_err()
}

#[test]
fn bytes_that_another_reader_could_read_differently_are_refused() {
    let fine = plan_of(&serde_json::json!({"range": {"end": "2", "step": "1"}}));
    assert_eq!(check(&policy(), "ExecutePlan", &fine), Ok(()));
    let and = |more: &[u8]| reason(&[fine.as_slice(), more].concat());
    let session = [&[0x0a, 36], SESSION.as_bytes()].concat();
    assert_eq!(
        and(&session),
        "a request that cannot be read: `spark.connect.ExecutePlanRequest.session_id` twice"
    );
    // A second plan, which would be merged with the first.
    assert_eq!(
        and(&[0x1a, 0]),
        "a request that cannot be read: `spark.connect.ExecutePlanRequest.plan` twice"
    );
    assert_eq!(
        and(&[0x9a, 0x06, 0]),
        "a request that cannot be read: field 99 of `ExecutePlanRequest`, which Spark 4.2 does not have"
    );
    // The number of the field `plan` in two bytes, its wire type as a number, a group, too few bytes.
    for bytes in [
        &[0x9a, 0x00, 0][..],
        &[0x18, 0],
        &[0x1b, 0x1c],
        &[0x3a, 5, 0],
        &[0x00, 0],
        &[0x3a, 1, 0xff],
    ] {
        assert!(and(bytes).starts_with("a request that cannot be read"), "{bytes:?}");
    }
}

#[test]
fn two_members_of_one_choice_are_refused() {
    // A relation that is a range and, after it, an SQL statement: readers take the last.
    let range = [0x7a, 2, 0x10, 1];
    let sql = [0x52, 3, 0x0a, 1, b'x'];
    let relation = [&range[..], &sql].concat();
    let plan = [&[0x0a, u8::try_from(relation.len()).unwrap()], relation.as_slice()].concat();
    let bytes =
        [&[0x0a, 36], SESSION.as_bytes(), &[0x1a, u8::try_from(plan.len()).unwrap()], &plan]
            .concat();
    assert_eq!(reason(&bytes), "a request that cannot be read: `spark.connect.Relation.sql` twice");
}

/// A range under so many filters, innermost first.
fn deep(n_filters: usize) -> Vec<u8> {
    let varint = |mut it: usize| {
        let mut bytes = Vec::new();
        while 0x80 <= it {
            bytes.push(u8::try_from(it & 0x7f).unwrap() | 0x80);
            it >>= 7;
        }
        bytes.push(u8::try_from(it).unwrap());
        bytes
    };
    let within = |tag: u8, inner: Vec<u8>| [vec![tag], varint(inner.len()), inner].concat();
    let range = vec![0x7a, 2, 0x10, 1];
    let relation = (0..n_filters).fold(range, |it, _| within(0x22, within(0x0a, it)));
    let plan = within(0x1a, within(0x0a, relation));
    let user = within(0x12, within(0x0a, b"ann".to_vec()));
    [&[0x0a, 36], SESSION.as_bytes(), &user, &plan].concat()
}

#[test]
fn a_deep_plan_is_refused_and_a_long_chain_of_steps_is_not() {
    assert_eq!(check(&policy(), "ExecutePlan", &deep(200)), Ok(()));
    for n_filters in [300, 20_000] {
        assert!(
            reason(&deep(n_filters)).starts_with("the plan is too large for the cluster"),
            "{n_filters}"
        );
    }
}

#[test]
fn a_wide_plan_is_refused() {
    let columns = vec![serde_json::json!({}); 600_000];
    let project = serde_json::json!({"project": {"expressions": columns}});
    assert!(reason(&plan_of(&project)).starts_with("the plan is too large for the cluster"));
}

#[test]
fn a_cluster_is_asked_as_one_user_only() {
    let policy = policy();
    let check = |user: serde_json::Value, expected: bool| {
        let mut request = serde_json::json!({"session_id": SESSION, "spark_version": {}});
        request.as_object_mut().unwrap().extend(user.as_object().unwrap().clone());
        let found = check(&policy, "AnalyzePlan", &bytes_of("AnalyzePlan", &request));
        assert_eq!(found.is_ok(), expected, "{found:?}");
    };
    check(serde_json::json!({"user_context": {"user_id": "ann"}}), true);
    check(serde_json::json!({"user_context": {"user_id": "bob"}}), false);
    check(serde_json::json!({"user_context": {}}), false);
    check(serde_json::json!({}), false);
}

#[test]
fn a_method_that_is_not_listed_is_refused() {
    for method in [
        "/x/ExecutePlan",
        "ExecutePlan",
        "",
        "/spark.connect.SparkConnectService/CloneSession/",
        "/spark.connect.SparkConnectService/GetStatus",
        "/spark.connect.SparkConnectService/ReleaseSession",
    ] {
        assert!(Judged::of(method).is_err(), "{method}");
    }
}

#[test]
fn a_call_of_one_message_takes_no_second() {
    let policy = policy();
    let mut call = Judged::of(&format!("/{SERVICE}/ExecutePlan")).unwrap();
    let fine = plan_of(&serde_json::json!({"range": {"end": "2", "step": "1"}}));
    assert_eq!(policy.check(&mut call, &fine), Ok(()));
    assert_eq!(policy.check(&mut call, &fine), Err("a second message in a call of one".to_owned()));
}

fn hash(data: &[u8]) -> String {
    format!("{:x}", Sha256::digest(data))
}

/// The messages that send a blob in pieces of ten bytes.
fn upload(name: &str, data: &[u8]) -> Vec<Vec<u8>> {
    let chunk = |it: &[u8]| serde_json::json!({"data": BASE64_STANDARD.encode(it), "crc": "1"});
    let chunks: Vec<_> = data.chunks(10).collect();
    let begin = serde_json::json!({"session_id": SESSION, "user_context": {"user_id": "ann"}, "begin_chunk": {
        "name": name, "total_bytes": data.len().to_string(), "num_chunks": chunks.len().to_string(), "initial_chunk": chunk(chunks[0])}});
    let more =
        chunks[1..].iter().map(|it| serde_json::json!({"session_id": SESSION, "user_context": {"user_id": "ann"}, "chunk": chunk(it)}));
    std::iter::once(begin).chain(more).map(|it| bytes_of("AddArtifacts", &it)).collect()
}

fn send(policy: &Policy, messages: &[Vec<u8>]) -> Result<(), String> {
    let mut call = Judged::of(&format!("/{SERVICE}/AddArtifacts"))?;
    messages.iter().try_for_each(|it| policy.check(&mut call, it))
}

fn cached(schema: &str, data: &str) -> Vec<u8> {
    plan_of(
        &serde_json::json!({"chunked_cached_local_relation": {"dataHashes": [data], "schemaHash": schema}}),
    )
}

#[test]
fn a_local_frame_that_was_sent_is_read_and_another_is_not() {
    let policy = policy();
    let (schema, rows) = (b"a int, b string", b"rows in Arrow's form \xff\x00");
    for data in [&schema[..], rows] {
        assert_eq!(send(&policy, &upload(&format!("cache/{}", hash(data)), data)), Ok(()));
    }
    assert_eq!(check(&policy, "ExecutePlan", &cached(&hash(schema), &hash(rows))), Ok(()));
    let unknown =
        Err("rows that were not sent to the cluster; call `spark.createDataFrame(frame)` again"
            .to_owned());
    assert_eq!(check(&policy, "ExecutePlan", &cached(&hash(schema), &hash(b"other"))), unknown);
    assert_eq!(check(&policy, "ExecutePlan", &cached(&hash(rows), &hash(rows))), unknown);
}

#[test]
fn a_schema_with_a_class_is_never_taken_for_one() {
    let policy = policy();
    let schema = br#"{"type":"udt","class":"java.lang.Object","pyClass":null,"sqlType":"long"}"#;
    assert_eq!(send(&policy, &upload(&format!("cache/{}", hash(schema)), schema)), Ok(()));
    assert!(check(&policy, "ExecutePlan", &cached(&hash(schema), &hash(schema))).is_err());
}

#[test]
fn a_blob_of_another_name_or_length_is_refused() {
    let data = b"rows in Arrow's form, somewhat longer";
    for name in [
        "jars/x.jar", "pyfiles/x.py", "files/x", "cache/../x", "cache/", "classes/x.class",
        "forward_to_fs/x",
    ] {
        let says = send(&policy(), &upload(name, data)).unwrap_err();
        assert!(says.starts_with("files and modules are not sent"), "{name}: {says}");
    }
    let name = format!("cache/{}", hash(data));
    let says = send(&policy(), &upload(&format!("cache/{}", hash(b"x")), data)).unwrap_err();
    assert_eq!(says, "a blob whose name is not its SHA-256");
    let messages = upload(&name, data);
    let says = send(&policy(), &[&messages[..], &messages[1..2]].concat()).unwrap_err();
    assert_eq!(says, "pieces of blobs out of their order");
    let says = send(&policy(), &[messages[0].clone(), messages[0].clone()]).unwrap_err();
    assert_eq!(says, "pieces of blobs out of their order");
    assert!(send(&policy(), &messages[1..]).is_err());
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(at in 0..9_usize, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = check(&policy(), super::METHODS[at], &bytes);
    }

    #[test]
    fn no_change_of_a_real_request_makes_it_panic(at in any::<prop::sample::Index>(), byte in any::<prop::sample::Index>(), to in any::<u8>()) {
        let it = at.get(&REQUESTS);
        let mut bytes = bytes_of(&it.method, &it.content);
        if !bytes.is_empty() {
            let byte = byte.index(bytes.len());
            bytes[byte] = to;
        }
        let _ = check(&policy(), &it.method, &bytes);
    }

    #[test]
    fn no_text_makes_an_expression_or_a_schema_panic(text in "\\PC{0,60}") {
        let _ = super::expression::check(&text);
        let _ = super::schema::check(&text);
    }
}
