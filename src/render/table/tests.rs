//! Tables in every form.

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};

use csv_agent_testing::cases;
use csv_agent_text::{fit::width as display_width, sanitize::for_terminal};
use csv_agent_types::frame::Frame;

use super::{TableStyle, delimited, markdown};

fn frame(columns: &[(&str, &str)], rows: Vec<Vec<Value>>) -> Frame {
    Frame {
        columns: columns.iter().map(|it| it.0.to_owned()).collect(),
        dtypes: columns.iter().map(|it| it.1.to_owned()).collect(),
        row_count: rows.len() as u64,
        rows,
    }
}

/// Returns the table with its isolates as marks that are seen.
fn text(frame: &Frame, style: &TableStyle) -> String {
    super::text(frame, style).text.replace('\u{2068}', "«").replace('\u{2069}', "»")
}

fn style(width: u16) -> TableStyle {
    TableStyle { width: Some(width), colour: false, rows_max: None, lines_max: None }
}

fn products() -> Frame {
    frame(
        &[("product", "object"), ("Q2", "int64"), ("change", "float64")],
        vec![
            vec![json!("Anvil"), json!(120_400), json!(-18.4)],
            vec![json!("東京タワー"), json!(7), Value::Null],
        ],
    )
}

#[test]
fn a_terminal_gets_a_grid_with_numbers_on_the_right() {
    let style = style(80);
    insta::assert_snapshot!(text(&products(), &style), @r"
    ┌────────────┬─────────┬────────┐
    │ product    │      Q2 │ change │
    ╞════════════╪═════════╪════════╡
    │ Anvil      │ 120,400 │  -18.4 │
    │ 東京タワー │       7 │        │
    └────────────┴─────────┴────────┘
    ");
}

#[test]
fn colour_is_written_only_when_asked_for() {
    let plain = text(&products(), &TableStyle { width: None, ..style(0) });
    assert!(!plain.contains('\x1b'));
    let coloured = text(&products(), &TableStyle { width: None, colour: true, ..style(0) });
    assert!(coloured.contains("\x1b["));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let names: Vec<_> = (0..30).map(|it| format!("column number {it}")).collect();
    let columns: Vec<_> = names.iter().map(|it| (it.as_str(), "object")).collect();
    let cell = json!("some words of 東京 that go on and on, withoutanyspaceatsomepoint".repeat(20));
    let wide = frame(&columns, vec![vec![cell; 30]]);
    for width in [1, 10, 20, 40, 79, 80, 200] {
        let text = text(&wide, &style(width));
        let widest = text.lines().map(display_width).max().unwrap();
        // A table cannot be narrower than one column of one character.
        assert!(widest <= usize::from(width.max(6)), "{widest} of {width}\n{text}");
        assert!(text.lines().count() < 300, "{text}");
    }
}

#[test]
fn the_middle_of_a_long_table_is_left_out() {
    let long = frame(&[("n", "int64")], (0..2_000).map(|it| vec![json!(it)]).collect());
    let text = text(&long, &style(80));
    assert!(text.lines().count() < 60);
    assert!(text.contains(" 0 ") && text.contains('…') && text.contains(" 1999 "));
}

fn flights() -> Frame {
    let columns = ["year", "carrier", "dep_delay_minutes", "distance_in_km", "time_hour", "note"];
    let dtypes = ["int64", "str", "float64", "int64", "datetime64[us]", "str"];
    let columns: Vec<_> = columns.into_iter().zip(dtypes).collect();
    let row = |delay: Value, distance: u32, note: &str| {
        let time = "2013-01-01T05:00:00";
        vec![json!(2013), json!("United"), delay, json!(distance), json!(time), json!(note)]
    };
    let rows = vec![
        row(json!(2.0), 10_400, "left before the gate was open"),
        row(json!(-12.5), 1_416, ""),
        row(Value::Null, 1_089, "שלום לכם"),
    ];
    frame(&columns, rows)
}

#[test]
fn types_show_in_alignment_and_format_and_headers_give_way_before_cells() {
    insta::assert_snapshot!(text(&flights(), &style(80)), @r#"
    ┌──────┬─────────┬─────────┬───────────┬──────────────────┬────────────────────┐
    │ year │ carrier │    dep_ │ distance_ │ time_hour        │ note               │
    │      │         │  delay_ │     in_km │                  │                    │
    │      │         │ minutes │           │                  │                    │
    ╞══════╪═════════╪═════════╪═══════════╪══════════════════╪════════════════════╡
    │ 2013 │ United  │     2.0 │    10,400 │ 2013-01-01 05:00 │ left before the    │
    │      │         │         │           │                  │ gate was open      │
    ├──────┼─────────┼─────────┼───────────┼──────────────────┼────────────────────┤
    │ 2013 │ United  │   -12.5 │     1,416 │ 2013-01-01 05:00 │ ""                 │
    ├──────┼─────────┼─────────┼───────────┼──────────────────┼────────────────────┤
    │ 2013 │ United  │         │     1,089 │ 2013-01-01 05:00 │ «שלום לכם»           │
    └──────┴─────────┴─────────┴───────────┴──────────────────┴────────────────────┘
     blank: no value · "": empty text
    "#);
}

#[test]
fn what_is_too_narrow_for_columns_gets_one_row_after_the_other() {
    insta::assert_snapshot!(text(&flights(), &style(30)), @r#"
    ──────────────┬ 1
    year          │ 2013
    carrier       │ United
    dep_delay_    │ 2.0
    minutes       │
    distance_in_  │ 10,400
    km            │
    time_hour     │ 2013-01-01
                  │ 05:00
    note          │ left before
                  │ the gate was
                  │ open
    ──────────────┬ 2
    year          │ 2013
    carrier       │ United
    dep_delay_    │ -12.5
    minutes       │
    distance_in_  │ 1,416
    km            │
    time_hour     │ 2013-01-01
                  │ 05:00
    note          │ ""
    ──────────────┬ 3
    year          │ 2013
    carrier       │ United
    dep_delay_    │
    minutes       │
    distance_in_  │ 1,089
    km            │
    time_hour     │ 2013-01-01
                  │ 05:00
    note          │ «שלום לכם»
     blank: no value · "": empty
     text
    "#);
}

#[test]
fn a_wide_table_keeps_its_first_columns_and_its_last_and_names_the_others() {
    let names: Vec<_> = (1..=12).map(|it| format!("month_{it}")).collect();
    let columns: Vec<_> = names.iter().map(|it| (it.as_str(), "int64")).collect();
    let wide = frame(&columns, (0..9).map(|row| vec![json!(row); 12]).collect());
    insta::assert_snapshot!(text(&wide, &style(48)), @r"
    ┌─────────┬─────────┬─────────┬───┬──────────┐
    │ month_1 │ month_2 │ month_3 │ … │ month_12 │
    ╞═════════╪═════════╪═════════╪═══╪══════════╡
    │       0 │       0 │       0 │ … │        0 │
    │       1 │       1 │       1 │ … │        1 │
    │       2 │       2 │       2 │ … │        2 │
    │       3 │       3 │       3 │ … │        3 │
    │       4 │       4 │       4 │ … │        4 │
    │       5 │       5 │       5 │ … │        5 │
    │       6 │       6 │       6 │ … │        6 │
    │       7 │       7 │       7 │ … │        7 │
    │       8 │       8 │       8 │ … │        8 │
    └─────────┴─────────┴─────────┴───┴──────────┘
     8 more columns: month_4, month_5, month_6,
     month_7, month_8, month_9, month_10, month_11
    ");
}

#[test]
fn a_table_without_rows_or_columns_says_so() {
    insta::assert_snapshot!(text(&frame(&[("a", "object"), ("n", "int64")], vec![]), &style(40)), @r"
    ┌───┬───┐
    │ a │ n │
    ╞═══╪═══╡
    └───┴───┘
    ");
    assert_eq!(text(&Frame::default(), &style(40)), " no columns");
    assert_eq!(markdown(&Frame::default()), "");
}

#[test]
fn twenty_thousand_columns_and_a_cell_of_a_megabyte_are_no_work() {
    let names: Vec<_> = (0..20_000).map(|it| format!("c{it}")).collect();
    let columns: Vec<_> = names.iter().map(|it| (it.as_str(), "str")).collect();
    let mut row = vec![json!("x"); 20_000];
    row[0] = json!("wörd ".repeat(200_000));
    let drawn = text(&frame(&columns, vec![row; 20]), &style(80));
    assert!(drawn.contains("more columns: c"), "{drawn}");
    assert!(drawn.len() < 40_000, "{}", drawn.len());
}

#[test]
fn rows_that_are_asked_for_are_all_shown() {
    let long = frame(&[("n", "int64")], (0..200).map(|it| vec![json!(it)]).collect());
    let n_rows = |rows_max| super::text(&long, &TableStyle { rows_max, ..style(40) }).n_rows;
    assert_eq!((n_rows(Some(200)), n_rows(None)), (200, 50));
}

#[test]
fn a_pipe_gets_markdown_without_truncation() {
    let rows = vec![
        vec![json!("a|b"), json!(1), json!("-18.4%")],
        vec![json!("x\ny \\| z\\"), Value::Null, Value::Null],
        vec![json!(" snake_case *a* <b> &lt; C:\\dir"), json!(120_400), json!("2%")],
        vec![json!("http://a.b/c_d http://a.b/~e~"), json!(2.5), json!("3%")],
    ];
    let frame = frame(&[("na|me", "object"), ("n", "Int64"), ("change", "str")], rows);
    insta::assert_snapshot!(markdown(&frame), @r"
    | na\|me | n | change |
    |---|---:|---:|
    | a\|b | 1 | -18.4% |
    | x<br>y \\\| z\\ |  |  |
    | &#32;snake_case \*a* \<b> \&lt; C:\dir | 120400 | 2% |
    | http&#58;//a.b/c_d http&#58;//a.b/\~e~ | 2.5 | 3% |
    ");
}

#[test]
fn nothing_in_a_cell_steers_a_terminal() {
    let frame = frame(&[("a\nb", "object")], vec![vec![json!("\x1b[2J\n\x1b]0;x\x07")]]);
    let style = style(80);
    assert!(!text(&frame, &style).contains('\x1b'));
    assert!(!markdown(&frame).contains('\x1b'));
}

#[test]
fn delimited_text_is_exact() {
    let rows = vec![
        vec![json!("say \"hi\""), json!(1.5), json!(true)],
        vec![json!(""), Value::Null, json!("9007199254740993")],
        vec![json!("two\nlines"), json!(-2), json!("tab\there")],
    ];
    let frame = frame(&[("a,b", "object"), ("n", "float64"), ("x", "object")], rows);
    assert_eq!(
        delimited(&frame, b','),
        "\"a,b\",n,x\n\"say \"\"hi\"\"\",1.5,true\n\"\",,9007199254740993\n\"two\nlines\",-2,tab\there\n"
    );
    assert!(delimited(&frame, b'\t').starts_with("a,b\tn\tx\n"));
    assert!(delimited(&frame, b'\t').ends_with("-2\t\"tab\there\"\n"));
}

/// Reads what [`delimited`] writes; null and empty text are told apart by the quotes.
fn read_back(text: &str, delimiter: char) -> Vec<Vec<Option<String>>> {
    let mut rows = vec![vec![]];
    let mut field: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let row = rows.last_mut().unwrap();
        match char {
            '"' => {
                let quoted = field.get_or_insert_default();
                while let Some(char) = chars.next() {
                    if char != '"' {
                        quoted.push(char);
                    } else if chars.next_if_eq(&'"').is_some() {
                        quoted.push('"');
                    } else {
                        break;
                    }
                }
            }
            '\n' => {
                row.push(field.take());
                rows.push(vec![]);
            }
            other if other == delimiter => row.push(field.take()),
            other => field.get_or_insert_default().push(other),
        }
    }
    assert_eq!(rows.pop(), Some(vec![]), "the last line ends");
    rows
}

/// What Markdown and GitHub read as marks, and what stands beside them.
const MARKUP: &str = r"[ab1 |*_`<>&;#~!()$.:/=\[\]\\\n\t\-]{0,12}|&amp;|</?b>|<!--|a  |  a|\\\|";

/// Reads the rows of a Markdown table as a renderer does, header first.
fn rendered(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![];
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(vec![]),
            Event::Start(Tag::TableCell) => rows.last_mut().unwrap().push(String::new()),
            Event::Text(text) => rows.last_mut().unwrap().last_mut().unwrap().push_str(&text),
            Event::InlineHtml(tag) if &*tag == "<br>" => {
                rows.last_mut().unwrap().last_mut().unwrap().push('\n');
            }
            Event::Start(Tag::Table(_)) | Event::End(_) => {}
            other => panic!("a mark was read: {other:?} in {text}"),
        }
    }
    rows
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn what_is_written_reads_back_equal(
        cells in vec(vec(any::<Option<String>>(), 3), 0..6),
        is_tsv in any::<bool>(),
    ) {
        let value = |it: &Option<String>| it.as_ref().map_or(Value::Null, |text| json!(text));
        let rows = cells.iter().map(|row| row.iter().map(value).collect()).collect();
        let table = frame(&[("a", "object"), ("b", "object"), ("c", "object")], rows);
        let delimiter = if is_tsv { '\t' } else { ',' };
        let back = read_back(&delimited(&table, delimiter as u8), delimiter);
        prop_assert_eq!(&back[1..], &cells[..]);
    }

    #[test]
    fn what_markdown_renders_is_what_the_cell_holds(
        cells in vec(prop_oneof![any::<String>(), MARKUP], 3),
        name in MARKUP,
    ) {
        let row = cells.iter().map(|it| json!(it)).collect();
        let columns = [("a", "object"), (name.as_str(), "object"), ("c", "object")];
        let written = markdown(&frame(&columns, vec![row]));
        prop_assert_eq!(written.lines().count(), 3);
        let safe: Vec<_> = ["a", &name, "c"].into_iter().map(for_terminal).collect();
        let safe_row: Vec<_> = cells.iter().map(|it| for_terminal(it)).collect();
        prop_assert_eq!(rendered(&written), [safe, safe_row], "{}", written);
    }

    #[test]
    fn every_line_of_a_grid_is_as_wide_as_the_others_and_fits(
        names in vec("[a-zA-Z_ ]{0,20}|[א-ת]{1,9}|[一-三]{1,9}", 1..9),
        texts in vec(prop_oneof![any::<String>(), "[a-z ]{0,60}", "[0-9]{1,9}"], 1..40),
        numbers in vec(-1e9..1e9, 4),
        width in 1_u16..160,
    ) {
        let columns: Vec<_> = names.iter().map(|it| (it.as_str(), "str")).collect();
        let rows = texts.chunks_exact(names.len()).zip(numbers.iter().cycle()).map(|(row, number)| {
            let mut row: Vec<_> = row.iter().map(|it| json!(it)).collect();
            row[0] = json!(number);
            row
        });
        let drawn = super::text(&frame(&columns, rows.collect()), &style(width)).text;
        let widths = || drawn.lines().map(display_width);
        prop_assert!(widths().all(|it| it <= usize::from(width.max(5))), "{} {}", width, drawn);
        if let Some(first) = drawn.lines().next().filter(|it| it.starts_with('┌')) {
            let grid = drawn.lines().filter(|it| !it.starts_with(' '));
            prop_assert!(grid.clone().all(|it| display_width(it) == display_width(first)), "{drawn}");
        }
    }
}

#[test]
fn a_cell_is_whole_where_it_must_be_and_cut_in_a_long_table_otherwise() {
    let told =
        "no key: set OPENAI_API_KEY, or `api_key_file` in your configuration, or ask the analyst";
    let rows = (0..20).map(|at| vec![json!(format!("check {at}")), json!(told)]).collect();
    let checks = frame(&[("check", "object"), ("found", "object")], rows);
    let drawn =
        |width, lines_max| super::text(&checks, &TableStyle { lines_max, ..style(width) }).text;
    assert!(drawn(60, None).contains('…'));
    for width in [20, 40, 60] {
        let text = drawn(width, Some(usize::MAX));
        assert!(!text.contains('…'), "{width}\n{text}");
        assert!(
            text.lines().all(|it| csv_agent_text::fit::width(it) <= usize::from(width)),
            "{text}"
        );
    }
}
