//! The functions that run on the cluster, by name.
//!
//! `functions.txt` has what `SHOW SYSTEM FUNCTIONS` says of Spark 4.0.1 and 4.2.1, and three names
//! that only the client sends, without those that
//! run Java (`reflect`, `java_method`, `try_reflect`), load classes or files of descriptors
//! (`from_avro`, `from_protobuf`), read XML, which can name files (`xpath`, `from_xml`), take sketches
//! that were made elsewhere and that are read without bounds (`hll_…`, `kll_…`, `theta_…`, `tuple_…`,
//! `approx_top_k_…`), and that tell of the server rather than of the data.

use std::collections::HashSet;
use std::sync::LazyLock;

/// What to write instead.
pub(super) const INSTEAD: &str = "use the built-in functions of pyspark.sql.functions, or aggregate first and continue in pandas";

static LISTED: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("functions.txt").lines().collect());

/// Functions that take a description of types, and which argument that is.
const TYPED: [(&str, usize); 4] =
    [("from_json", 1), ("from_csv", 1), ("variant_get", 2), ("try_variant_get", 2)];

/// Returns whether the function may be called. Spark takes names in any letters.
pub(super) fn is_listed(name: &str) -> bool {
    LISTED.contains(name.to_ascii_lowercase().as_str())
}

/// Returns whether the function may be called with any arguments.
pub(super) fn is_free(name: &str) -> bool {
    is_listed(name) && schema_argument(name).is_none()
}

/// Returns which argument, from 0, describes a type.
pub(super) fn schema_argument(name: &str) -> Option<usize> {
    TYPED.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1)
}
