//! Tables as programs print them: fixed widths, lines of dashes, several levels of names, notes below.

use proptest::prelude::{prop, prop_assert_eq, proptest};

use csv_agent_testing::cases;

use super::{Bench, check, table};

#[test]
fn a_line_of_dashes_shows_the_columns() {
    let names = "id   name       total\n---- ---------- -----\n";
    let expected = "id:int64 | name:string | total:float64\n 1 | Lee, Anna | 1.5\n 2 | Carl | 2.5\n 3 | ~ | 3.5";
    let rows = "   1 Lee, Anna    1.5\n   2 Carl         2.5\n   3              3.5\n";
    check(format!("{names}{rows}"), expected);
    check(format!("{names}{rows}\n(3 rows affected)\n"), expected);
    check(format!("\n{names}{rows}\n3 rows selected.\n"), expected);
    check(format!("Report of the day\n\n{names}{rows}"), expected);
    check(
        "  F  N\n --- -\n x   1\n y   2\n\n  2 record(s) selected.\n",
        "F:string | N:int64\n x | 1\n y | 2",
    );
}

#[test]
fn a_decimal_comma_separates_no_columns() {
    let expected =
        "Ort:string | Menge:int64 | Betrag:float64\n K | 1 | 1.5\n Bonn | 2 | 12.25\n Ulm | 3 | 3";
    check(
        "Ort        Menge  Betrag\nK          1      1,50\nBonn       2     12,25\nUlm        3      3,00\n",
        expected,
    );
    let expected =
        "Ort:string | Menge:int64 | Betrag:float64\n K | 1 | 1.5\n Bonn | ~ | 12.25\n Ulm | 3 | 3";
    check(
        "Ort        Menge   Betrag\nK          1         1,50\nBonn                12,25\nUlm        3         3,00\n",
        expected,
    );
    // There, the comma is a delimiter.
    check("a,b\n1,2  x\n3,4  y\n5,6  z\n", "a:int64 | b:string\n 1 | 2  x\n 3 | 4  y\n 5 | 6  z");
}

#[test]
fn a_list_of_sap_is_a_table() {
    let dashes = "------------------------\n";
    let names = "|Mat.|Text    |   Menge|\n";
    let rows = "|M-12|Bolt    |1.200,50|\n|M-13|Nut     |  900,00|\n";
    let expected =
        "Mat.:string | Text:string | Menge:float64\n M-12 | Bolt | 1200.5\n M-13 | Nut | 900";
    check(format!("{names}{dashes}{rows}"), expected);
    check(format!("{dashes}{names}{dashes}{rows}{dashes}"), expected);
}

#[test]
fn quotes_below_a_line_of_dashes_enclose_cells() {
    check(
        "id |name\n---|----\n1|\"x \"\"y\"\"\"\n2|\"b\"\n",
        "id:int64 | name:string\n 1 | x \"y\"\n 2 | b",
    );
    check("id |name\n---|----\n1|\"b\"\n2|c\n", "id:int64 | name:string\n 1 | \"b\"\n 2 | c");
}

#[test]
fn levels_of_names_end_with_the_names_of_the_index() {
    let rows = "N,1,2,3\nS,5,6,7\n";
    let expected = "region:string | 2021 a:int64 | 2021 b:int64 | 2022 a:int64\n N | 1 | 2 | 3\n S | 5 | 6 | 7";
    check(format!("year,2021,2021,2022\nkind,a,b,a\nregion,,,\n{rows}"), expected);
    check(format!(",2021,2021,2022\n,a,b,a\nregion,,,\n{rows}"), expected);
    // A group of rows.
    check(
        "Region,a,b\nEurope,,\nFrance,1,2\nSpain,5,6\n",
        "Region:string | a:int64 | b:int64\n Europe | ~ | ~\n France | 1 | 2\n Spain | 5 | 6",
    );
}

#[test]
fn names_and_units_above_days_are_levels() {
    check(
        "\"\",A1,A1_FLAGS\n\"\",Gold,Comment\n\"Unit\",USD,\n2023-07-01,920.5,\n2023-07-02,921.25,\n2023-07-03,925.0,\n",
        "Unit:date | A1 Gold USD:float64 | A1_FLAGS Comment:string
         2023-07-01 | 920.5 | ~
         2023-07-02 | 921.25 | ~
         2023-07-03 | 925 | ~",
    );
}

#[test]
fn many_notes_below_a_small_table_are_no_rows() {
    let table = "\"Account\",\"Stage\"\n\"Acme\",\"Won\"\n\"Bolt\",\"Lost\"\n";
    let notes = "\n\"Won deals\"\n\"Copyright (c) 2000-2023\"\n\"Confidential\"\n\"By: Ann\"\n\"Acme Corp\"\n";
    check(format!("{table}{notes}"), "Account:string | Stage:string\n Acme | Won\n Bolt | Lost");
}

#[test]
fn the_times_of_a_log_separate_no_cells() {
    let line = |it: u32| format!("Oct 10 13:0{it}:01 host app[{it}]: message {it} done\n");
    let text: String = (0..4).map(line).collect();
    let dataset = Bench::new().bytes(text).unwrap();
    assert_eq!(dataset.columns.len(), 1);
}

#[test]
fn numbers_of_other_habits_are_numbers() {
    check(
        "k,v\na,\"12,34,567\"\nb,\"1,00,000.5\"\nc,\"5,000\"\n",
        "k:string | v:float64\n a | 1234567 \n b | 100000.5\n c | 5000",
    );
    check("k;v\na;1,5e-04\nb;2,5\n", "k:string | v:float64\n a | 0.00015\n b | 2.5");
    check("k,v\na,\"1,5e-04\"\nb,\"2,5\"\n", "k:string | v:float64\n a | 0.00015\n b | 2.5");
    // A list is none.
    check("k,v\na,\"1,2,345\"\nb,\"1,22\"\n", "k:string | v:string\n a | 1,2,345\n b | 1,22");
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn what_is_printed_below_a_line_of_dashes_is_read_back(
        rows in prop::collection::vec(("q[a-z]{1,8}", "[A-Z][a-zé,;|]{0,6}( [a-z]{1,5})?", 1_u32..9_999), 2..20),
        gap in 1_usize..3,
        note in 0_usize..3,
    ) {
        let gap = " ".repeat(gap);
        let line = |a: &str, b: &str, c: &str| format!("{a:<9}{gap}{b:<13}{gap}{c:>6}");
        let mut text = format!("{}\n{}\n", line("code", "full name", "amount"), line(&"-".repeat(9), &"-".repeat(13), "------"));
        let mut expected = "code:string | full name:string | amount:int64".to_owned();
        for (a, b, c) in &rows {
            text += &line(a, b, &c.to_string());
            text.push('\n');
            expected += &["\n", &[a, b, &*c.to_string()].join(" | ")].concat();
        }
        text += ["", "\n(9 rows affected)\n", "\n9 rows selected.\n"][note];
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        prop_assert_eq!(table(&bench, &dataset), expected, "{}", text);
    }
}
