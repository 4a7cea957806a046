//! Sessions that say what takes for ever or more memory than there is: each command ends, within bounds.

use std::fs;

use serde_json::Value;

use crate::bench::Bench;

#[test]
fn a_source_that_is_no_file_with_an_end_is_not_read_by_export() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    bench.run(["ask", "--model", "builtin", "how many rows are there"]).succeeds();
    let catalog = bench.session().join("datasets.json");
    let mut entries: Value = serde_json::from_slice(&fs::read(&catalog).unwrap()).unwrap();
    // Whoever reads the first, as root, waits for messages of the kernel.
    for (source, why) in [
        ("/proc/kmsg", "its source has changed since it was ingested"),
        ("/dev/zero", "`/dev/zero` is no file"),
    ] {
        entries["sales"]["source"] = source.into();
        fs::write(&catalog, entries.to_string()).unwrap();
        let run = bench.run(["export", "py"]).succeeds();
        let is_said = run.stderr().contains(why) || run.stderr().contains("cannot be opened");
        assert!(is_said && run.stdout().contains("/datasets/sales.parquet"), "{run}");
    }
}
