//! Datasets of a cluster without a model: registering, looking at them, rating their values.

use std::fs;

use serde_json::{Value, json};

use super::{EVENTS, bench, bench_at, ingest};
use crate::ask::Turn;
use crate::bench::{Bench, Spark, nobody, round};

/// Returns what the catalog says of the only dataset.
fn only(bench: &Bench) -> Value {
    let run = bench.run(["datasets", "--json"]).succeeds();
    let all: Vec<Value> = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(all.len(), 1, "{run}");
    all.into_iter().next().unwrap()
}

#[test]
fn heads_are_read_on_the_cluster_and_a_value_that_does_not_fit_is_one_of_the_data() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_at(&spark.url());
    let found = bench.run(["doctor", "--json"]);
    let checks: Vec<Value> = serde_json::from_str(found.stdout()).unwrap();
    let cluster = checks.iter().find(|it| it["check"] == "cluster").unwrap();
    assert_eq!(cluster["state"], "ok", "{found}");
    assert!(cluster["found"].as_str().unwrap().starts_with(&format!("{}: Spark 4.", spark.url())));
    let shown = bench.run(["datasets", "--head", "2"]).succeeds();
    assert!(shown.stdout().contains("Tea") && shown.stdout().contains("2310"), "{shown}");
    fs::write(bench.path("sales.csv"), "date,product,revenue\n2024-01-15,Tea,many\n").unwrap();
    let run = bench.run(["datasets", "--head", "2"]).fails_with(5);
    let reason = "cannot show `sales`: `revenue`: \"many\" is not a valid float64\n  hint: to read a \
                  column as text, \
                  register the data with `--dtype COLUMN=string`\n";
    assert!(run.stderr().contains(reason), "{run}");
}

#[test]
fn thresholds_are_counted_on_the_cluster() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_at(&spark.url());
    fs::write(bench.path("limits.toml"), "[revenue]\nbad = \"< 1000\"\n").unwrap();
    let verdict = json!({"text": "Fine.", "assessment": "good", "findings": []}).to_string();
    let ask = || {
        bench.answers([round().says(&verdict)]);
        let flags = EVENTS.into_iter().chain(["--verdict", "--thresholds", "limits.toml"]);
        Turn::of(&bench.ask_with(flags, "How are sales?").succeeds())
    };
    let turn = ask();
    let said = turn.end()["findings"][0]["message"].as_str().unwrap();
    assert_eq!(said, "3 of 10 rows have `revenue` in the bad range (< 1000).");
    assert!(turn.all("warning").is_empty());
    // What cannot be counted is told, and the turn goes on without.
    fs::write(bench.path("sales.csv"), "date,product,revenue\n2024-01-15,Tea,many\n").unwrap();
    let turn = ask();
    let warnings: Vec<_> = turn.events.iter().filter(|it| it["code"] == "thresholds").collect();
    let message = warnings[0]["message"].as_str().unwrap();
    let expected = "the thresholds `[revenue]` have no effect: the cluster cannot count the values of \
                    `revenue` in `sales`: `revenue`: \"many\" is not a valid float64";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn a_remote_dataset_takes_the_place_of_a_name_only_if_told_to() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench();
    bench.run(["ingest", "-q", "sales.csv"]).succeeds();
    let files = || fs::read_dir(bench.session().join("datasets")).unwrap().count();
    assert!(0 < files());
    let sales = format!("sales={}", bench.path("sales.csv").display());
    let refused = ingest(&spark, &bench, &[&sales]).fails_with(5);
    assert!(refused.stderr().contains("--if-exists replace"), "{refused}");
    ingest(&spark, &bench, &["--if-exists", "skip", &sales]).succeeds();
    assert!(0 < files(), "what is here stays");
    ingest(&spark, &bench, &["--if-exists", "replace", &sales]).succeeds();
    assert_eq!(files(), 0, "what was here is gone");
    // Again, it is the same.
    ingest(&spark, &bench, &[&sales]).succeeds();
}

#[test]
fn a_second_cluster_or_another_user_is_refused() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_at(&spark.url());
    for url in [nobody(), format!("{}/;user_id=another", spark.url())] {
        let run = bench.run(["ingest", "--remote", &url, "more=db.more"]).fails_with(5);
        for said in [&url, "`sales` is at", "--session NAME"] {
            assert!(run.stderr().contains(said), "{said}: {run}");
        }
    }
    only(&bench);
}

#[test]
fn directories_named_for_their_values_are_columns_and_names_with_points_are_csv() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench();
    for (year, text) in [("2023", "a\n1\n2\n"), ("2024", "a\n3\n")] {
        let directory = bench.path(&format!("data/year={year}"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("of.{year}-01-01.xlsx.csv")), text).unwrap();
    }
    ingest(&spark, &bench, &[&format!("data={}", bench.path("data").display())]).succeeds();
    let dataset = only(&bench);
    let columns = dataset["columns"].as_array().unwrap();
    let names: Vec<_> = columns.iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!((names, dataset["row_count"].as_u64()), (vec!["a", "year"], Some(3)));
    let shown = bench.run(["datasets", "--head", "5"]).succeeds();
    assert!(shown.stdout().contains("2023") && shown.stdout().contains("2024"), "{shown}");
}

#[test]
fn flags_for_files_of_this_machine_are_refused_with_a_cluster() {
    let bench = bench();
    let url = nobody();
    let with = |flags: &[&str], url: &str| {
        bench.run([&["ingest", "--remote", url], flags, &["sales=/data/sales.csv"]].concat())
    };
    let run = with(&["--max-bytes", "1MB"], &url).fails_with(2);
    assert!(run.stderr().contains("--max-bytes"), "{run}");
    let run = with(&[], &format!("{url}/;use_ssl=1")).fails_with(2);
    assert!(run.stderr().contains("`use_ssl` must be `true` or `false`"), "{run}");
    let run = with(&[], &format!("{url}/;x-key=s3cret")).fails_with(6);
    assert!(run.stderr().contains("csv-agent does not store the headers in `--remote`"), "{run}");
    assert!(!run.stderr().contains("s3cret"), "{run}");
}

#[test]
fn a_marker_of_nothing_that_could_be_a_value_is_missing_there_as_here() {
    let Some(spark) = Spark::shared() else { return };
    let text = "n,x,yes,day,note\n1,1.5,true,2024-01-02,a\n-999,-999,no,1900-01-01,-999\n,nan,false,-,\n\
                2,2.5,true,2024-01-03,no\n";
    let nulls = "--null=-999,nan,no,1900-01-01,-";
    let (here, there) = (bench(), bench());
    for bench in [&here, &there] {
        fs::write(bench.path("marked.csv"), text).unwrap();
    }
    here.run(["ingest", "-q", nulls, "marked.csv"]).succeeds();
    let path = format!("marked={}", there.path("marked.csv").display());
    ingest(&spark, &there, &[nulls, &path]).succeeds();
    let head = |bench: &Bench| {
        let run = bench.run(["datasets", "--json", "--head", "9", "marked"]).succeeds();
        serde_json::from_str::<Value>(run.stdout()).unwrap()[0]["rows"].clone()
    };
    assert_eq!(head(&there), head(&here));
    let missing = |row: usize| {
        head(&there)[row].as_object().unwrap().values().filter(|it| it.is_null()).count()
    };
    assert_eq!([0, 1, 2, 3].map(missing), [0, 5, 4, 1]);
}

#[test]
fn codes_in_the_names_of_directories_keep_their_zeros() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench();
    for (zip, month) in [("00123", "01"), ("04567", "12")] {
        let directory = bench.path(&format!("p/zip={zip}/month={month}"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("a.csv"), "a,b\n1,2\n").unwrap();
    }
    let read = |flags: &[&str]| {
        let path = format!("p={}", bench.path("p").display());
        ingest(&spark, &bench, &[flags, &["--if-exists", "replace", &path]].concat()).succeeds();
        let run = bench.run(["datasets", "--json", "--head", "9", "p"]).succeeds();
        let documents: Value = serde_json::from_str(run.stdout()).unwrap();
        let rows = documents[0]["rows"].as_array().unwrap().iter();
        // A cluster gives them in any order.
        let mut values: Vec<_> =
            rows.map(|it| json!([it["zip"], it["month"]]).to_string()).collect();
        values.sort();
        values
    };
    assert_eq!(read(&[]), [r#"["00123",1]"#, r#"["04567",12]"#]);
    assert_eq!(read(&["--dtype", "month=string"]), [r#"["00123","01"]"#, r#"["04567","12"]"#]);
    let path = format!("p={}", bench.path("p").display());
    let run = ingest(&spark, &bench, &["--dtype", "month=float64", &path]).fails_with(2);
    assert!(run.stderr().contains("`--dtype month=string`"), "{run}");
}

#[test]
fn what_is_no_text_for_spark_is_refused_with_what_to_do() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench();
    fs::write(bench.path("packed.csv"), b"\x1f\x8b\x08\x00a,b\n1,2\n").unwrap();
    let path = format!("packed={}", bench.path("packed.csv").display());
    let run = ingest(&spark, &bench, &[&path]).fails_with(5);
    assert!(
        run.stderr().contains("is gzip, but Spark recognizes that only by the ending of a name"),
        "{run}"
    );
    let sales = format!("sales={}", bench.path("sales.csv").display());
    let run = ingest(&spark, &bench, &["--dtype", "date=time", &sales]).fails_with(2);
    assert!(run.stderr().contains("Spark has no time of day"), "{run}");
}
