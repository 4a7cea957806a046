//! What people do with pandas works inside the confinement, in each of its ways.

use csv_agent_worker::protocol::OutcomeStatus;
use csv_agent_worker::sandbox::Layer;

use crate::bench::HANG;
use crate::hostile::Target;

/// Code, and the text of its last value.
const CODE: [(&str, &str); 21] = [
    ("df.groupby('city').price.agg(['sum', 'mean']).round(2).loc['Bonn'].tolist()", "[6.0, 3.0]"),
    (
        "int(df.merge(pd.DataFrame({'city': ['Bonn'], 'land': ['NW']}), how='left').land.notna().sum())",
        "2",
    ),
    ("df.pivot_table(index='city', columns='day', values='price').shape", "(2, 3)"),
    ("df.set_index('day').price.resample('MS').sum().tolist()", "[4.0, 4.0]"),
    ("df.set_index('day').price.rolling('40D').mean().round(1).tolist()", "[2.0, 2.0, 3.0]"),
    (
        "df.day.dt.tz_localize('Europe/Berlin').dt.tz_convert('UTC').dt.hour.tolist()",
        "[23, 23, 23]",
    ),
    ("int(df.city.str.upper().str.extract(r'^(B)')[0].notna().sum())", "2"),
    ("pd.cut(df.price, [0, 2, 9], labels=['low', 'high']).tolist()", "['low', 'low', 'high']"),
    ("df.melt(id_vars='city', value_vars='price').shape", "(3, 3)"),
    ("float(df.describe().loc['max', 'price'])", "4.0"),
    ("df.to_parquet('df.parquet'); pd.read_parquet('df.parquet').equals(df)", "True"),
    ("df.to_csv('df.csv', index=False); len(pd.read_csv('df.csv', parse_dates=['day']))", "3"),
    ("np.random.default_rng(7).integers(0, 100, 3).tolist()", "[94, 62, 68]"),
    ("np.linalg.solve(np.eye(3) * 2, np.ones(3)).tolist()", "[0.5, 0.5, 0.5]"),
    ("import pyarrow.compute as pc, pyarrow as pa; pc.sum(pa.array([1, 2, 3])).as_py()", "6"),
    ("import sqlite3; sqlite3.connect(':memory:').execute('select 1 + 1').fetchone()", "(2,)"),
    (
        "import tempfile; f = tempfile.NamedTemporaryFile('w+'); f.write('x'); f.flush(); f.tell()",
        "1",
    ),
    ("import threading; t = threading.Thread(target=lambda: None); t.start(); t.join(); 1", "1"),
    ("from zoneinfo import ZoneInfo; ZoneInfo('Asia/Tokyo').key", "'Asia/Tokyo'"),
    ("import os; os.environ['HOME'] == os.getcwd() and os.cpu_count() is not None", "True"),
    ("import json, re, statistics; statistics.median(map(int, re.findall('[0-9]', '1b2c3')))", "2"),
];
/// The same, where other processes may be started and the user has a name.
const APART: [(&str, &str); 3] = [
    ("import getpass; isinstance(getpass.getuser(), str)", "True"),
    (
        "import subprocess; subprocess.run(['echo', 'a'], capture_output=True, text=True).stdout",
        "'a\\n'",
    ),
    ("import multiprocessing; multiprocessing.Pool(2).map(abs, [-1, -2])", "[1, 2]"),
];
const FRAME: &str = "df = pd.DataFrame({'city': ['Bonn', 'Köln', 'Bonn'], 'price': [2.0, 2.0, 4.0], \
                     'day': pd.to_datetime(['2024-01-01', '2024-01-10', '2024-02-15'])})";

async fn check(without: &[Layer], code: &[(&str, &str)]) {
    let mut target = Target::new(without);
    target.command_timeout = HANG;
    target.run(FRAME).await.unwrap();
    let mut wrong = Vec::new();
    for (code, expected) in code {
        let outcome = target.run(code).await.unwrap();
        if outcome.text() != *expected {
            wrong.push(format!("{code}: {}", outcome.text()));
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
    target.stop().await;
}

#[tokio::test]
async fn pandas_works_as_its_users_expect() {
    check(&[], &[&CODE[..], &APART].concat()).await;
    check(&[Layer::Namespaces], &CODE).await;
}

#[tokio::test]
async fn what_is_refused_names_the_rule() {
    let mut target = Target::new(&[]);
    target.command_timeout = HANG;
    for (code, rule) in [
        (
            "import urllib.request\nurllib.request.urlopen('http://example.com')",
            "There is no network here",
        ),
        ("import socket\nsocket.create_connection(('10.0.0.1', 80))", "There is no network here"),
        ("pd.read_csv('https://example.com/x.csv')", "There is no network here"),
        ("open('/home/user/data.csv')", "Only the datasets and Python's own files can be read"),
        (
            "pd.DataFrame().to_csv('/tmp/x.csv')",
            "Only the datasets and Python's own files can be read",
        ),
        (
            "import subprocess\n[subprocess.Popen(['sleep', '600']) for _ in range(9)]",
            "At most 8 processes",
        ),
        ("open('x', 'wb').truncate(10 ** 9)", "A file may have at most 512 MB"),
        ("np.ones(10 ** 10)", "The memory limit of 2048 MB was reached"),
    ] {
        let outcome = target.run(code).await.unwrap();
        assert_eq!(outcome.status, OutcomeStatus::Error, "{code}");
        assert!(outcome.text().contains(rule), "{code}: {}", outcome.text());
    }
    target.stop().await;
}
