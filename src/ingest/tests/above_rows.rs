//! Records above and among the rows: names and values, names without one, descriptions, headings, and the names that
//! each page repeats.

use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::sample::{Index, select};

use csv_agent_testing::cases;

use super::{Bench, check, table};

/// Returns a table of texts, a whole number and an amount.
fn rows_of(values: &[(String, u32, u32)]) -> (Vec<[String; 3]>, String) {
    let rows: Vec<[String; 3]> = values
        .iter()
        .map(|(text, n, cents)| [text.clone(), n.to_string(), format!("{n}.{cents:02}11")])
        .collect();
    let shown = rows.iter().map(|it| ["\n", &it.join(" | ")].concat()).collect();
    (rows, shown)
}

fn joined(rows: &[[String; 3]], delimiter: &str) -> Vec<String> {
    rows.iter().map(|it| it.join(delimiter)).collect()
}

#[test]
fn questions_below_the_names_are_descriptions_whatever_the_values_are() {
    let expected = "place:string | code:string\n Oslo | A-1\n Rome | B-2";
    let asked = "place,code\nWhich place?,Your code (see card)\nOslo,A-1\nRome,B-2\n";
    check(asked, expected);
    let ids = "\"{\"\"ImportId\"\":\"\"Q1\"\"}\",\"{\"\"ImportId\"\":\"\"Q2\"\"}\"\n";
    check(format!("place,code\nYour town,Your card\n{ids}Oslo,A-1\nRome,B-2\n"), expected);
    let unnamed = "column_1:int64 | place:string | size:int64\n 0 | Oslo | 5\n 1 | Rome | 6";
    check(",place,size\n,,(km²)\n0,Oslo,5\n1,Rome,6\n", unnamed);
    check(",place,size\nNo?,Which place?,What size?\n0,Oslo,5\n1,Rome,6\n", unnamed);
    // Values may contain the name of their column.
    check(
        "station,line\nstation A,line 1\nstation B,line 2\nstation C,line 3\n",
        "station:string | line:string\n station A | line 1\n station B | line 2\n station C | line 3",
    );
}

#[test]
fn the_name_of_an_index_may_be_below_the_names() {
    let rows = "N,1,2\nS,5,6\nW,7,8\n";
    let expected = "region:string | a:int64 | b:int64\n N | 1 | 2\n S | 5 | 6\n W | 7 | 8";
    check(format!("kind,a,b\nregion,,\n{rows}"), expected);
    let days = "2023-01-05,1\n2023-01-06,2\n";
    check(format!("x,a\nDate,\n{days}"), "Date:date | a:int64\n 2023-01-05 | 1\n 2023-01-06 | 2");
    let years = "measure,sales,sales,cost\nyear,2022,2023,2022\nregion,,,\nN,1,2,3\nS,5,6,7\n";
    check(
        years,
        "region:string | sales 2022:int64 | sales 2023:int64 | cost 2022:int64\n N | 1 | 2 | 3\n S | 5 | 6 | 7",
    );
}

#[test]
fn which_column_has_no_name_is_a_guess_unless_rows_are_numbered() {
    let doubts = |text: &str| Bench::new().bytes(text).unwrap().doubts;
    let guess = |place: &str| {
        vec![format!(
            "the header has 2 names for 3 columns: it is a guess that the {place} column is the one without a name"
        )]
    };
    assert_eq!(doubts("a,b\nx,1,2\ny,3,4\n"), guess("first"));
    assert_eq!(doubts("a,b\n5.5,1,x\n4.5,3,y\n"), guess("last"));
    for sure in
        ["a,b\n1,x,2\n2,y,4\n", "a,b\n1,x,\n2,y,\n", "date,b\n2023-01-05,1,2\n2023-01-06,3,4\n"]
    {
        assert_eq!(doubts(sure), [""; 0], "{sure}");
    }
    check(
        "id,x\nA-1,5,\nB-2,6,\n",
        "id:string | x:int64 | column_3:string\n A-1 | 5 | ~\n B-2 | 6 | ~",
    );
    check(
        "a,b,\n1,x,2,\n2,y,4,\n",
        "column_1:int64 | a:string | b:int64 | column_4:string\n 1 | x | 2 | ~\n 2 | y | 4 | ~",
    );
}

#[test]
fn a_short_table_below_lines_of_text_has_its_delimiter() {
    let above = "Download of 05.02.2023;\n\nMR SMITH JOHN\nAccount 12345;\nBalance 1 234\n\nOperations;\n\n";
    let rows = "04.02.2023;X;;1200,50;\n03.02.2023;Y;45,10;;\n20.01.2023;Z;62,00;;\n";
    let dataset = Bench::new().bytes(format!("{above}Date;Text;Debit;Credit;\n{rows}")).unwrap();
    let names: Vec<&str> = dataset.columns.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((dataset.row_count, &names[..4]), (3, &["Date", "Text", "Debit", "Credit"][..]));
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn names_with_values_above_a_table_are_not_part_of_it(
        pairs in prop::collection::vec(("[A-Z][a-z]{2,8}", "[A-Z][a-z]{1,8}|[0-9]{4} [0-9]{4}|0[1-9]\\.01\\.2023"), 1..5),
        values in prop::collection::vec(("[A-Z][a-z]{1,8}", 1_u32..999, 0_u32..99), 3..9),
        (delimiter, is_padded, title) in (select(vec![",", ";", "\t", "|"]), any::<bool>(), select(vec!["", "Report of the day\n", "Report\n\n"])),
    ) {
        let (rows, shown) = rows_of(&values);
        let pad = if is_padded { delimiter } else { "" };
        let mut text = title.to_owned();
        for (at, (name, value)) in pairs.iter().enumerate() {
            let colon = if at == 0 { ":" } else { "" };
            text += &[name.as_str(), colon, delimiter, value.as_str(), pad, "\n"].concat();
        }
        let names = ["place", "count", "rate"].join(delimiter);
        text += &["\n", &names, "\n", &joined(&rows, delimiter).join("\n"), "\n"].concat();
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        let expected = format!("place:string | count:int64 | rate:float64{shown}");
        prop_assert_eq!(table(&bench, &dataset), expected, "{}", text);
    }

    #[test]
    fn a_row_with_only_its_first_text_is_kept_and_reported(
        values in prop::collection::vec(("[A-Z][a-z]{1,8}", 1_u32..999, 0_u32..99), 4..20),
        at in prop::collection::vec(any::<Index>(), 1..4),
    ) {
        let mut lines = joined(&rows_of(&values).0, ",");
        let mut headings: Vec<usize> = at.iter().map(|it| it.index(lines.len())).collect();
        headings.sort_unstable();
        headings.dedup();
        for at in headings.iter().rev() {
            lines.insert(*at, "Group of rows,,".to_owned());
        }
        let text = format!("place,count,rate\n{}\n", lines.join("\n"));
        let dataset = Bench::new().bytes(&text).unwrap();
        prop_assert_eq!(dataset.row_count, (values.len() + headings.len()) as u64);
        let doubt = dataset.doubts.concat();
        let line = format!("on line {}", headings[0] + 2);
        prop_assert!(doubt.contains("only") && doubt.contains(&line), "{}\n{}", doubt, text);
    }

    #[test]
    fn the_names_that_a_page_repeats_are_no_row_however_few_and_quoted(
        texts in prop::collection::vec(("[A-Z][a-z]{1,8}", "[A-Z]-[0-9]{1,3}"), 4..30),
        (at, is_quoted, has_gap) in (any::<Index>(), any::<bool>(), any::<bool>()),
    ) {
        let quote = if is_quoted { "\"" } else { "" };
        let line = |a: &str, b: &str| format!("{quote}{a}{quote},{quote}{b}{quote}");
        let mut lines: Vec<String> = texts.iter().map(|(a, b)| line(a, b)).collect();
        let header = line("place", "code");
        let gap = if has_gap { "\n" } else { "" };
        lines.insert(1 + at.index(lines.len() - 1), format!("{gap}\x0c{header}"));
        let text = format!("{header}\n{}\n", lines.join("\n"));
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        let shown: String = texts.iter().map(|(a, b)| ["\n", a, " | ", b].concat()).collect();
        prop_assert_eq!(table(&bench, &dataset), format!("place:string | code:string{shown}"), "{}", text);
    }

    #[test]
    fn quotes_between_bars_without_blanks_enclose_cells(
        values in prop::collection::vec(("[A-Z][a-z]{1,8}( [a-z]{1,5})?", 1_u32..999, 0_u32..99), 2..9),
        is_header_quoted in any::<bool>(),
    ) {
        let (rows, shown) = rows_of(&values);
        let quoted = |it: &[String; 3]| it.each_ref().map(|it| format!("\"{it}\"")).join("|");
        let names = ["place", "count", "rate"].map(str::to_owned);
        let header = if is_header_quoted { quoted(&names) } else { names.join("|") };
        let rows: Vec<String> = rows.iter().map(quoted).collect();
        let text = format!("{header}\n-----|-----|----\n{}\n", rows.join("\n"));
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        prop_assert_eq!(table(&bench, &dataset), format!("place:string | count:int64 | rate:float64{shown}"), "{}", text);
    }
}
