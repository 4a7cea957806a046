//! What a model reads of its mistakes, word for word: the texts are how it finds the way out.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::bench::{Bench, round};

/// A call of a tool, as it stands in the transcript.
enum Call {
    Code(&'static str),
    Tool(&'static str, Value),
}

use Call::{Code, Tool};

fn traps() -> Vec<Call> {
    let chart = |kind: &str, x: &str, y: &str| {
        json!({"df_name": "wide", "logical_name": "c", "chart_type": kind, "x_field": x,
            "x_label": null, "y_label": null, "series": [{"name": "y", "y_field": y}], "title": null,
            "note": null})
    };
    vec![
        // Numbers are numbers, and what was printed comes before the value.
        Code("np.float64(0.83)"),
        Code("(np.int64(3), [np.float64(0.5)], {'share': np.float64(0.25), 'is': np.bool_(True)})"),
        Code("print(np.float64(0.83))\nprint('two')\n1 + 1"),
        Code("x = 5"),
        Code("print('kept ' * 4000)"),
        Code("'kept ' * 4000"),
        // Files that are none.
        Code("pd.read_csv('sales.csv')"),
        Code("pd.read_csv('/mnt/data/Sales.csv')"),
        Code("pd.read_csv(datasets['sales'])"),
        Code("open(datasets['sales']).read()"),
        Code("pd.read_csv('other.csv')"),
        Code("pd.read_csv('/etc/other.csv')"),
        // Names of tools.
        Code("df = load_dataset_full('sales')"),
        Code("send_chart_to_ui('sales')"),
        // Names of columns and datasets.
        Code("load('Sales')"),
        Code("load('sales', 'revenue').shape"),
        Code("load('sales', ['Revenue', 'prduct', 'Revenue', 'colour'])"),
        Code("df = load('sales')\ndf['Revenue']"),
        Code("df[['date', 'Product', 'colour']]"),
        Code("df.Revenue"),
        Code("df.groupby('Product').revenue.sum()"),
        Code("df.groupby('product').agg({'revenues': 'sum'})"),
        Code("df.merge(df, on='produkt')"),
        Code("df.query('Revenue > 3')"),
        Code("df.loc[0, 'Revenue']"),
        Code("df.set_index('product').loc['Teas']"),
        Code("{'a': 1}['b']"),
        // Packages.
        Code("import matplotlib.pyplot as plt"),
        Code("df.plot()"),
        Code("import torch"),
        // What stays after an error.
        Code("kept = 7\n1 / 0"),
        Code("kept"),
        Code("if True print(1)"),
        // First rows are not all rows.
        Tool("load_dataset_sample", json!({"name": "sales", "df_name": "head", "nrows": 2})),
        Code("average = head.revenue.mean()\naverage"),
        Code("load('sales').revenue.mean()"),
        // Tools.
        Tool(
            "load_dataset_columns",
            json!({"name": "sales", "columns": ["Revenue", "unit"], "df_name": "p"}),
        ),
        Tool("get_dataset_info", json!({"name": "Sales"})),
        Tool("find_value_columns", json!({"name": "sales", "value": ""})),
        Code("wide = pd.DataFrame({'a': range(6000), 'b': range(6000)});"),
        Tool("send_chart_to_ui", chart("scatter", "a", "b")),
        Tool("send_chart_to_ui", chart("line", "a", "b")),
        Code("wide = wide.head(9);"),
        Tool("send_chart_to_ui", chart("line", "A", "c")),
        Code("np.ones(10**12)"),
    ]
}

#[test]
fn a_model_reads_what_went_wrong_and_the_way_out() {
    let traps = traps();
    let rounds = traps.iter().enumerate().map(|(at, trap)| match trap {
        Code(code) => round().runs(&format!("c{at}"), code),
        Tool(name, arguments) => round().calls(&format!("c{at}"), name, arguments.clone()),
    });
    let bench = Bench::with(["sales.csv"]).script(rounds.chain([round().says("Done.")]));
    bench.ask_with(["--max-rounds", "80", "--memory", "2GiB"], "Which?").succeeds();
    let last = bench.request(bench.n_requests() - 1);
    let mut transcript = String::new();
    for (at, trap) in traps.iter().enumerate() {
        let call = match trap {
            Code(code) => code.replace('\n', "\n>>> "),
            Tool(name, arguments) => format!("{name} {arguments}"),
        };
        let output = last.output_of(&format!("c{at}"));
        // JSON holds text with its line ends written out.
        let output = output.replace("kept kept kept kept ", "").replace("\\n", "\n  ");
        let _ = writeln!(transcript, ">>> {call}\n{output}\n");
    }
    insta::assert_snapshot!(transcript);
}
