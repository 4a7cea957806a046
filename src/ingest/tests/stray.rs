//! Quotes that do not enclose a cell: no row is swallowed, and each is counted.

use proptest::prelude::{Just, prop, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;

use csv_agent_testing::slow_cases;
use csv_agent_types::catalog::StrayQuotes;

use super::{Bench, table};

#[track_caller]
fn check(text: &str, expected: &str, quotes: StrayQuotes) {
    let bench = Bench::new();
    let dataset = bench.bytes(text).unwrap();
    assert_eq!(table(&bench, &dataset), expected.replace("\n         ", "\n"), "{text:?}");
    assert_eq!(dataset.stray_quotes, quotes, "{text:?}");
}

const NONE: StrayQuotes = StrayQuotes { unclosed: 0, split: 0, doubtful: 0, line: 0 };

#[test]
fn a_stray_quote_that_another_one_closes_takes_no_rows() {
    let quotes = StrayQuotes { unclosed: 1, split: 1, doubtful: 0, line: 2 };
    check(
        "a,b,c\n1,\"stray,5\n2,b,6\n3,c x\",7\n",
        "a:int64 | b:string | c:int64
         1 | \"stray | 5
         2 | b | 6
         3 | c x\" | 7",
        quotes,
    );
    check(
        "a;b\n1;\"stray\n2;b\n3;c\"\n4;\"d\"\n",
        "a:int64 | b:string
         1 | \"stray
         2 | b
         3 | c\"
         4 | d",
        quotes,
    );
}

#[test]
fn lines_that_could_be_rows_stay_a_cell_and_are_reported() {
    check(
        "a,b\nx,\"one\ntwo,three\"\ny,four\n",
        "a:string | b:string
         x | one⏎two,three
         y | four",
        StrayQuotes { unclosed: 0, split: 0, doubtful: 1, line: 2 },
    );
}

#[test]
fn cells_whose_lines_are_like_rows_throughout_are_cells() {
    let row = |at: usize| format!("{at},\"h\n1,e\n2,l\"\n");
    let text = (0..9).map(row).collect::<String>();
    let bench = Bench::new();
    let dataset = bench.bytes(format!("i,word\n0,x\n{text}")).unwrap();
    assert_eq!(dataset.row_count, 10);
    let quotes = StrayQuotes { unclosed: 0, split: 0, doubtful: 9, line: 3 };
    assert_eq!(dataset.stray_quotes, quotes);
}

#[test]
fn text_of_several_lines_is_no_stray_quote() {
    check(
        "id,name,address\n1,Bob,\"12 Main St, Apt 4\nSpringfield, IL\"\n2,Ann,\"x\ny\"\n",
        "id:int64 | name:string | address:string
         1 | Bob | 12 Main St, Apt 4⏎Springfield, IL
         2 | Ann | x⏎y",
        NONE,
    );
}

#[test]
fn two_quotes_at_the_end_close_a_quoted_word_and_its_cell() {
    check(
        "a,b\n1,\"x \"y\"\"\n2,\"z\"\n3,\"u \"\"v\"\"\"\n",
        "a:int64 | b:string
         1 | x \"y\"
         2 | z
         3 | u \"v\"",
        NONE,
    );
}

#[test]
fn a_blank_before_a_quote_is_no_text() {
    check(
        "a,b,c\n1,\"x\",2\n3, \"y,z\",4\n5,\"w\",6\n",
        "a:int64 | b:string | c:int64
         1 | x | 2
         3 | y,z | 4
         5 | w | 6",
        NONE,
    );
}

#[test]
fn who_never_quotes_writes_quotes_as_text() {
    check(
        "title\tyear\n\"Heroes\" of war\t1990\n12\" disk\t1991\n\"Lone\"\t1992\nPlain\t1993\n",
        "title:string | year:int64
         \"Heroes\" of war | 1990
         12\" disk | 1991
         \"Lone\" | 1992
         Plain | 1993",
        NONE,
    );
}

proptest! {
    #![proptest_config(slow_cases(64, 1_000))]

    #[test]
    fn no_pair_of_stray_quotes_takes_rows(
        words in prop::collection::vec("[a-z]{1,6}", 3..40),
        delimiter in select(vec![',', ';', '\t', '|']),
        end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        (open, n_rows, slice_bytes) in (0_usize..40, 1_usize..12, 20_usize..400),
    ) {
        let open = open % words.len();
        let close = open + n_rows;
        let word = |(at, word): (usize, &String)| match at {
            it if it == open && close < words.len() => format!("\"{word}"),
            it if it == close => format!("{word}\""),
            _ => word.clone(),
        };
        let words: Vec<String> = words.iter().enumerate().map(word).collect();
        let line = |(at, word): (usize, &String)| {
            format!("{at}{delimiter}{word}{delimiter}{}.5{end}", at * 7)
        };
        let lines: String = words.iter().enumerate().map(line).collect();
        let text = format!("id{delimiter}word{delimiter}n{end}{lines}");
        for slice_bytes in [slice_bytes, 1 << 20] {
            let bench = Bench::new();
            let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
            prop_assert_eq!(dataset.row_count, words.len() as u64);
            let rows = bench.rows();
            let found: Vec<_> = rows.iter().map(|row| row[1].clone().unwrap()).collect();
            prop_assert_eq!(&found, &words);
            let is_pair = close < words.len();
            prop_assert_eq!(dataset.stray_quotes.split, u64::from(is_pair), "{}", text);
        }
    }
}
