//! What unit tests of several crates share: which cases the property tests try, and how many; a dataset.
//!
//! They are the same each time, so that a run fails for a change and not by chance. To explore others:
//! `PROPTEST_CASES=20000 PROPTEST_RNG_SEED=$RANDOM cargo test --lib`.

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof};
use proptest::test_runner::{RngSeed, contextualize_config};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns the configuration for `n` cases; variables of the environment that proptest knows go first.
pub fn cases(n: u32) -> ProptestConfig {
    contextualize_config(ProptestConfig {
        cases: n,
        rng_seed: RngSeed::Fixed(1),
        // The seed brings a case back.
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}

/// Returns the configuration for `n` cases, `n_slow` where slow tests are wanted.
#[expect(clippy::disallowed_methods, reason = "no setting of the program; `.ci/run` sets it")]
pub fn slow_cases(n: u32, n_slow: u32) -> ProptestConfig {
    let is_slow = std::env::var_os("CSV_AGENT_SLOW_TESTS").is_some();
    cases(if is_slow { n_slow } else { n })
}

/// Makes JSON of these words, as texts and as names of members, in any shape.
pub fn json_of(words: Vec<&'static str>) -> impl Strategy<Value = Value> {
    let word = prop::sample::select(words);
    let leaf = prop_oneof![
        word.clone().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(5, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

/// Returns a dataset of a catalog with so many columns, `column 0` and on, and three rows.
///
/// # Panics
///
/// When `T` is not what the catalog has for a dataset.
#[must_use]
pub fn dataset<T: DeserializeOwned>(n_columns: usize) -> T {
    let column =
        |at: usize| json!({"name": format!("column {at}"), "dtype": "float64", "nulls": 0});
    let columns: Vec<Value> = (0..n_columns).map(column).collect();
    let dialect = json!({"encoding": "utf-8", "delimiter": ",", "quote": null, "header": true, "reasons": []});
    serde_json::from_value(
        json!({"path": "datasets/x.parquet", "source": "x.csv", "sha256": "", "bytes": 1,
        "row_count": 3, "columns": columns, "dialect": dialect, "padded_rows": 0, "surplus_rows": 0,
        "ingested_at": ""}),
    )
    .expect("`T` is a dataset of a catalog")
}
