//! Datasets to CSV and back.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    Time64MicrosecondArray, TimestampMicrosecondArray,
};
use parquet::arrow::ArrowWriter;
use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use tempfile::TempDir;

use csv_agent_testing::slow_cases;
use csv_agent_types::catalog::{Column, DType};
use csv_agent_types::limits::READING_RECIPE_BYTES_MAX;
use csv_agent_types::status::{Failure, FailureKind};

use super::{Bench, rows};
use crate::RequestedType;
use crate::builder::field;
use crate::{csv_of, reading_recipe};

const DAY_US: i64 = 86_400_000_000;

/// Writes a dataset as ingest would have it.
fn dataset(dir: &Path, columns: Vec<(&str, DType, ArrayRef)>) -> PathBuf {
    let path = dir.join("from.parquet");
    let fields: Vec<_> = columns.iter().map(|it| field(it.0, it.1)).collect();
    let arrays = columns.into_iter().map(|it| it.2).collect();
    let batch = RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), arrays).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

fn written(parquet: &Path) -> String {
    let path = parquet.with_extension("csv");
    let bytes = csv_of(parquet, &mut File::create(&path).unwrap(), u64::MAX).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(bytes, text.len() as u64);
    text
}

#[track_caller]
fn check(columns: Vec<(&str, DType, ArrayRef)>, expected: &str) {
    let dir = TempDir::new().unwrap();
    assert_eq!(written(&dataset(dir.path(), columns)), expected);
}

fn texts(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn instants(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(values).with_timezone("UTC"))
}

#[test]
fn every_type_is_written_as_programs_read_it() {
    let noon = 19_782 * DAY_US + DAY_US / 2;
    check(
        vec![
            ("text", DType::String, texts(&[Some("007"), Some("NA"), None])),
            ("int", DType::Int64, Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(0)]))),
            (
                "bool",
                DType::Bool,
                Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            ),
            (
                "day",
                DType::Date,
                Arc::new(Date32Array::from(vec![Some(19_782), None, Some(-719_162)])),
            ),
            (
                "at",
                DType::Timestamp,
                Arc::new(TimestampMicrosecondArray::from(vec![
                    Some(noon),
                    None,
                    Some(noon + 500_000),
                ])),
            ),
            ("instant", DType::TimestampUtc, instants(vec![Some(noon), None, Some(-1)])),
            (
                "time",
                DType::Time,
                Arc::new(Time64MicrosecondArray::from(vec![Some(34_200_000_000), None, Some(0)])),
            ),
        ],
        "text,int,bool,day,at,instant,time\n\
         007,-9223372036854775808,true,2024-02-29,2024-02-29T12:00:00.000,2024-02-29T12:00:00.000000Z,09:30:00\n\
         NA,,,,,,\n\
         ,0,false,0001-01-01,2024-02-29T12:00:00.500,1969-12-31T23:59:59.999999Z,00:00:00\n",
    );
}

#[test]
fn a_float_keeps_its_digits_and_never_looks_like_a_whole_number() {
    let values = [2.0, 0.1, -0.0, 1e22, 5e-324, 1.5e300, f64::NAN, f64::INFINITY, -f64::INFINITY];
    check(
        vec![("x", DType::Float64, Arc::new(Float64Array::from(values.to_vec())))],
        "x\n2.0\n0.1\n-0.0\n1.0e+22\n5.0e-324\n1.5e+300\nNaN\ninf\n-inf\n",
    );
}

#[test]
fn cells_are_quoted_where_they_have_to_be() {
    check(
        vec![
            ("a,\"b\"", DType::String, texts(&[Some("x,y"), Some(" \"z\" "), Some("\u{feff}q")])),
            ("c\nd", DType::String, texts(&[Some("1\r2"), Some("3\n4"), Some(" s ")])),
        ],
        "\"a,\"\"b\"\"\",\"c\nd\"\n\"x,y\",\"1\r2\"\n\" \"\"z\"\" \",\"3\n4\"\n\"\u{feff}q\", s \n",
    );
}

#[test]
fn null_and_empty_text_differ_but_in_a_row_of_one_cell() {
    let values = || texts(&[None, Some(""), Some("x")]);
    check(
        vec![("a", DType::String, values()), ("b", DType::String, values())],
        "a,b\n,\n\"\",\"\"\nx,x\n",
    );
    check(vec![("a", DType::String, values())], "a\n\"\"\n\"\"\nx\n");
}

#[test]
fn a_dataset_without_rows_is_its_names() {
    check(vec![("a", DType::String, texts(&[])), ("b", DType::String, texts(&[]))], "a,b\n");
}

#[test]
fn csv_over_the_bound_is_refused_with_the_bound() {
    let dir = TempDir::new().unwrap();
    let path = dataset(dir.path(), vec![("a", DType::String, texts(&[Some("xyz")]))]);
    let mut file = tempfile::tempfile().unwrap();
    assert_eq!(csv_of(&path, &mut file, 6).unwrap(), 6);
    let error = csv_of(&path, &mut file, 5).unwrap_err();
    let failure = error.downcast_ref::<Failure>().unwrap();
    assert_eq!(failure.kind, FailureKind::Input);
    assert_eq!(failure.message, "as CSV it has more than 5 bytes, the limit");
}

#[test]
fn a_damaged_dataset_is_an_error_and_no_panic() {
    let dir = TempDir::new().unwrap();
    let path = dataset(dir.path(), vec![("a", DType::String, texts(&[Some("xyz"); 100]))]);
    let whole = fs::read(&path).unwrap();
    for at in (4..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x5a;
        fs::write(&path, bytes).unwrap();
        // Some bytes say nothing, so it may be read as well.
        let _ = csv_of(&path, &mut tempfile::tempfile().unwrap(), 10_000);
    }
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    csv_of(&path, &mut tempfile::tempfile().unwrap(), 10_000).unwrap_err();
}

/// A column of any type and values of it.
fn columns(n_rows: usize) -> impl Strategy<Value = (DType, ArrayRef)> {
    const YEARS_US: std::ops::Range<i64> = -719_162 * DAY_US..2_932_897 * DAY_US;
    fn some<T: std::fmt::Debug>(
        value: impl Strategy<Value = T>,
        n_rows: usize,
    ) -> impl Strategy<Value = Vec<Option<T>>> {
        prop::collection::vec(prop::option::weighted(0.8, value), n_rows)
    }
    let text = prop_oneof![
        "[ -~]{0,8}",
        "[\",\\r\\n\t äß'\u{feff}x]{0,5}",
        "-?[0-9]{1,20}",
        Just("NA".to_owned()),
        Just("NaN".to_owned()),
        Just("true".to_owned()),
        Just(String::new()),
    ];
    let micros = || {
        prop_oneof![
            5 => YEARS_US,
            5 => YEARS_US.prop_map(|it| it / 1_000_000 * 1_000_000),
            1 => Just(YEARS_US.end - 1),
        ]
    };
    let float = prop_oneof![any::<f64>(), (-1000..1000_i32).prop_map(f64::from)];
    prop_oneof![
        some(text, n_rows)
            .prop_map(|it| (DType::String, Arc::new(StringArray::from(it)) as ArrayRef)),
        some(any::<i64>(), n_rows)
            .prop_map(|it| (DType::Int64, Arc::new(Int64Array::from(it)) as ArrayRef)),
        some(float, n_rows)
            .prop_map(|it| (DType::Float64, Arc::new(Float64Array::from(it)) as ArrayRef)),
        some(any::<bool>(), n_rows)
            .prop_map(|it| (DType::Bool, Arc::new(BooleanArray::from(it)) as ArrayRef)),
        some(-719_162..2_932_897_i32, n_rows)
            .prop_map(|it| (DType::Date, Arc::new(Date32Array::from(it)) as ArrayRef)),
        some(micros(), n_rows).prop_map(|it| {
            (DType::Timestamp, Arc::new(TimestampMicrosecondArray::from(it)) as ArrayRef)
        }),
        some(micros(), n_rows).prop_map(|it| (DType::TimestampUtc, instants(it))),
        some(0..DAY_US, n_rows)
            .prop_map(|it| (DType::Time, Arc::new(Time64MicrosecondArray::from(it)) as ArrayRef)),
    ]
}

proptest! {
    #![proptest_config(slow_cases(100, 1_000))]

    #[test]
    fn what_is_written_and_read_back_is_equal(
        columns in (1_usize..6, 0_usize..30).prop_flat_map(|(n_columns, n_rows)| {
            prop::collection::vec(columns(n_rows), n_columns)
        })
    ) {
        const NAMES: [&str; 5] = ["id", "full name", "a, \"b\"", "c; 'd'", "# e"];
        let bench = Bench::new().with(|it| {
            it.is_plain = true;
            it.dtypes = NAMES.iter().zip(&columns).map(|it| ((*it.0).to_owned(), RequestedType::Type(it.1.0))).collect();
        });
        let n_columns = columns.len();
        let named = NAMES.iter().zip(columns).map(|(name, it)| (*name, it.0, it.1)).collect();
        let from = dataset(bench.dir.path(), named);
        let text = written(&from);
        let back = bench.bytes(&text).unwrap();
        let names: Vec<_> = back.columns.iter().map(|it| it.name.as_str()).collect();
        prop_assert_eq!(&names, &NAMES[..n_columns]);
        let expected: Vec<Vec<Option<String>>> = rows(&from);
        let back = bench.rows();
        prop_assert_eq!(back.len(), expected.len());
        for (back, mut expected) in back.into_iter().zip(expected) {
            // Alone, missing text is read as empty; a float that is no number is missing here.
            for (back, cell) in back.iter().zip(&mut expected) {
                if n_columns == 1 && cell.is_none() && back.as_deref() == Some("") {
                    *cell = back.clone();
                }
                if back.is_none() && cell.as_deref() == Some("NaN") {
                    *cell = None;
                }
            }
            prop_assert_eq!(back, expected, "{}", text);
        }
    }
}

#[test]
fn a_recipe_says_what_pandas_would_not_find_out() {
    let check = |columns: &[Column], expected: &str| {
        assert_eq!(reading_recipe("orders", columns), expected);
    };
    check(
        &[Column::new("n", DType::Int64, Some(0)), Column::new("x", DType::Float64, Some(3))],
        "pd.read_csv(\"/mnt/data/orders.csv\", float_precision=\"round_trip\")",
    );
    check(
        &[
            Column::new("id", DType::String, Some(0)),
            Column::new("n", DType::Int64, Some(2)),
            Column::new("day", DType::Date, Some(0)),
        ],
        "pd.read_csv(\"/mnt/data/orders.csv\", dtype={\"id\": \"str\", \"n\": \"Int64\"}, \
         parse_dates=[\"day\"], keep_default_na=False, na_values={\"n\": [\"\"]})",
    );
    check(
        &[Column::new("a\\\"\u{202e}ö\n", DType::String, Some(0))],
        "pd.read_csv(\"/mnt/data/orders.csv\", dtype={\"a\\\\\\\"\\U0000202eö\\n\": \"str\"}, \
         keep_default_na=False)",
    );
}

#[test]
fn a_recipe_is_short_however_many_columns_there_are() {
    for n_columns in [1, 20, 100, 500] {
        for dtype in DType::ALL {
            let columns: Vec<Column> = (0..n_columns)
                .map(|it| Column::new(format!("column_{it}"), dtype, Some(1)))
                .chain([Column::new("text", DType::String, Some(0))])
                .collect();
            let recipe = reading_recipe("orders", &columns);
            assert!(recipe.len() <= READING_RECIPE_BYTES_MAX && !recipe.contains('\n'), "{recipe}");
        }
    }
}
