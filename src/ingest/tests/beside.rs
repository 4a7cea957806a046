//! Tables side by side in one file or sheet, and one table with columns of nothing, which is no several.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::several::{Table, typed};
use super::{Bench, table};
use crate::source_cells;
use csv_agent_testing::slow_cases;
use csv_agent_types::catalog::Dataset;

/// What shows that tables have nothing to do with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// The first has fewer rows.
    Length,
    /// Each has a title of some words.
    Titles,
    /// Each but the first begins below the one before.
    Start,
}

/// Tables side by side: each with what precedes it, and the columns of nothing before it.
#[derive(Debug)]
struct Sheet {
    tables: Vec<Table>,
    above: Vec<Vec<String>>,
    gap: usize,
}

impl Sheet {
    fn new(tables: Vec<Table>, sign: Sign, is_wide: bool, is_apart: bool) -> Self {
        let mut tables = tables;
        let n_least = tables.iter().map(|it| it.rows.len()).min().unwrap();
        let n_less = |at: usize| usize::from(sign == Sign::Length && at == 0);
        for (at, it) in tables.iter_mut().enumerate() {
            it.rows.truncate(n_least - n_less(at));
        }
        let above = |at: usize| match sign {
            Sign::Titles if is_apart => vec!["Staff".to_owned(), String::new()],
            Sign::Titles => vec!["All of them today".to_owned()],
            Sign::Start => vec![String::new(); at],
            Sign::Length => Vec::new(),
        };
        let above = (0..tables.len()).map(above).collect();
        Sheet { tables, above, gap: 1 + usize::from(is_wide) }
    }

    /// Returns the cells, all rows being of one width.
    fn cells(&self) -> Vec<Vec<String>> {
        let parts = || self.tables.iter().zip(&self.above);
        let n_rows = parts().map(|it| it.0.rows.len() + 1 + it.1.len()).max().unwrap();
        let mut cells = vec![Vec::new(); n_rows];
        for (at, (table, above)) in parts().enumerate() {
            let names = table.names.iter().map(ToString::to_string).collect();
            let titles = above.iter().map(|it| vec![it.clone()]);
            let mut rows = titles.chain([names]).chain(table.rows.clone());
            for row in &mut cells {
                let n_gap = if at == 0 { 0 } else { self.gap };
                row.extend(vec![String::new(); n_gap]);
                let mut own = rows.next().unwrap_or_default();
                own.resize(table.width(), String::new());
                row.extend(own);
            }
        }
        cells
    }

    /// Returns the first column of a table and its last, the first of the sheet being 1.
    fn columns(&self, at: usize) -> (u64, u64) {
        let n_before: usize = self.tables[..at].iter().map(|it| it.width() + self.gap).sum();
        (n_before as u64 + 1, (n_before + self.tables[at].width()) as u64)
    }
}

fn written(cells: &[Vec<String>], delimiter: &str, is_quoted: bool) -> String {
    let cell = |it: &String| if is_quoted { format!("\"{it}\"") } else { it.clone() };
    let row = |it: &Vec<String>| it.iter().map(cell).collect::<Vec<_>>().join(delimiter) + "\n";
    cells.iter().map(row).collect()
}

/// Makes a workbook of one sheet; what is all digits is a number, and all else is text.
fn workbook(cells: &[Vec<String>]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const LINKS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let mut rows = String::new();
    for (number, row) in (1..).zip(cells) {
        write!(rows, r#"<row r="{number}">"#).unwrap();
        for (column, cell) in ('A'..='Z').zip(row).filter(|it| !it.1.is_empty()) {
            let place = format!("{column}{number}");
            let is_number = cell.bytes().all(|it| it.is_ascii_digit() || it == b'.');
            if is_number {
                write!(rows, r#"<c r="{place}"><v>{cell}</v></c>"#).unwrap();
            } else {
                write!(rows, r#"<c r="{place}" t="inlineStr"><is><t>{cell}</t></is></c>"#).unwrap();
            }
        }
        rows.push_str("</row>");
    }
    let link = |to: &str, kind: &str| {
        format!(
            r#"<Relationships xmlns="{LINKS}"><Relationship Id="r1" Type="{OFFICE}/{kind}" Target="{to}"/></Relationships>"#
        )
    };
    let book = format!(
        r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>"#
    );
    let sheet = format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>"#);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        ("_rels/.rels", link("xl/workbook.xml", "officeDocument")),
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", link("worksheets/sheet1.xml", "worksheet")),
        ("xl/worksheets/sheet1.xml", sheet),
    ] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn of_all(bytes: &[u8]) -> (Bench, Dataset) {
    let bench = Bench::new().with(|it| it.all_tables = true);
    let dataset = bench.bytes(bytes).unwrap();
    (bench, dataset)
}

/// Reads each table, as `--tables all` does, and returns the datasets that were made of them.
fn each(bytes: &[u8]) -> Vec<(Bench, Dataset)> {
    let first = of_all(bytes);
    let columns: Vec<_> = first.1.side_by_side.iter().skip(1).copied().collect();
    let further = columns.into_iter().map(|columns| {
        let bench = Bench::new().with(|it| {
            it.all_tables = true;
            it.columns = Some(columns);
        });
        let dataset = bench.bytes(bytes).unwrap();
        (bench, dataset)
    });
    std::iter::once(first).chain(further.collect::<Vec<_>>()).collect()
}

/// Two tables or three. A workbook has no days here, which are numbers with a format.
fn sheets() -> impl Strategy<Value = Sheet> {
    let signs = select(vec![Sign::Length, Sign::Titles, Sign::Start]);
    let tables = (typed(0, 4..9), typed(1, 4..9), typed(2, 4..9), 2_usize..4);
    (tables, signs, any::<bool>(), any::<bool>()).prop_map(|(tables, sign, is_wide, is_apart)| {
        let (one, two, three, n) = tables;
        let tables = [one, two, three].into_iter().take(n).collect();
        Sheet::new(tables, sign, is_wide, is_apart)
    })
}

proptest! {
    #![proptest_config(slow_cases(150, 1500))]

    #[test]
    fn tables_side_by_side_are_read_back_each_by_itself(
        sheet in sheets(),
        delimiter in select(vec![",", ";", "\t", "|"]),
        is_quoted in any::<bool>(),
    ) {
        let text = written(&sheet.cells(), delimiter, is_quoted);
        let found = each(text.as_bytes());
        prop_assert_eq!(found.len(), sheet.tables.len(), "{}", text);
        for (at, (bench, dataset)) in found.iter().enumerate() {
            prop_assert_eq!(table(bench, dataset), sheet.tables[at].shown(), "{}", text);
            let line = sheet.above[at].len() as u64 + 1;
            prop_assert_eq!(dataset.dialect.header_line, Some(line), "{}", text);
            prop_assert!(dataset.doubts.is_empty(), "{}{:?}", text, dataset.doubts);
        }
        // Without being asked to, nothing is cut, and it is told.
        let dataset = Bench::new().bytes(&text).unwrap();
        prop_assert!(dataset.side_by_side.is_empty());
        let doubt = dataset.doubts.iter().any(|it| it.contains("are tables side by side but were read as one"));
        prop_assert!(doubt, "{}{:?}", text, dataset.doubts);
    }

    #[test]
    fn tables_side_by_side_in_a_sheet_are_read_back_and_their_cells_are_called_as_there(sheet in sheets()) {
        let cells = sheet.cells();
        let book = workbook(&cells);
        let found = each(&book);
        prop_assert_eq!(found.len(), sheet.tables.len(), "{:?}", cells);
        for (at, (bench, dataset)) in found.iter().enumerate() {
            let wanted = &sheet.tables[at];
            // Days are text in this workbook.
            let wanted = wanted.shown().replace(":date", ":string");
            prop_assert_eq!(table(bench, dataset), wanted, "{:?}", cells);
            let (first, last) = sheet.columns(at);
            let names = &sheet.tables[at].names;
            let row = sheet.above[at].len() as u64 + 2;
            let ends = [(names[0], first), (names[names.len() - 1], last)];
            for (name, column) in ends {
                let letter = char::from(b'A' + u8::try_from(column - 1).unwrap());
                let found = source_cells(dataset, Some(name), &[row]);
                prop_assert_eq!(found, [format!("Sheet1!{letter}{row}")]);
            }
        }
    }

    #[test]
    fn one_table_with_columns_of_nothing_is_never_cut(
        whole in typed(0, 2..12),
        (at, n_empty, step) in (any::<prop::sample::Index>(), 1_usize..3, 0_usize..3),
        empty in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12),
        (name, group) in (select(vec!["", "", "Notes"]), any::<bool>()),
        is_sheet in any::<bool>(),
    ) {
        let mut whole = whole;
        let (n_rows, width) = (whole.rows.len(), whole.width());
        // Each row has a name of its own and may lack anything else.
        for (row, column) in empty {
            whole.rows[row.index(n_rows)][1 + column.index(width - 1)] = String::new();
        }
        // Several columns of nothing may be anywhere in a table, one by one or side by side.
        let mut cells = Sheet { tables: vec![whole], above: vec![Vec::new()], gap: 0 }.cells();
        let places: Vec<usize> = (0..n_empty).map(|n| (at.index(width) + 1 + step * n).min(width)).collect();
        for place in places.iter().rev() {
            for (row, cells) in cells.iter_mut().enumerate() {
                cells.insert(*place, if row == 0 { name.to_owned() } else { String::new() });
            }
        }
        if group {
            // What columns left and right of the gap have in common.
            let mut titles = vec![String::new(); cells[0].len()];
            titles[0] = "Plan".to_owned();
            if places[0] + 1 < titles.len() {
                titles[places[0] + 1] = "Actual".to_owned();
            }
            cells.insert(0, titles);
        }
        let bytes = if is_sheet { workbook(&cells) } else { written(&cells, ",", false).into_bytes() };
        let (bench, dataset) = of_all(&bytes);
        prop_assert!(dataset.side_by_side.is_empty(), "{:?}", cells);
        let n_filled = |rows: &[Vec<Option<String>>]| rows.iter().flatten().flatten().count();
        let wanted = cells.iter().skip(1 + usize::from(group)).flatten().filter(|it| !it.is_empty()).count();
        prop_assert!(wanted <= n_filled(&bench.rows()) + n_rows, "{:?}", cells);
    }
}

#[test]
fn what_may_be_one_table_is_kept_whole_and_the_way_to_each_is_told() {
    let check = |text: &str, hint: &str| {
        let (bench, dataset) = of_all(text.as_bytes());
        assert_eq!(dataset.side_by_side, [], "{text}");
        assert_eq!(dataset.columns.len(), text.lines().next().unwrap().split(',').count());
        assert_eq!(bench.rows().len() as u64, dataset.row_count);
        let told = dataset.doubts.iter().any(|it| it.contains(hint));
        assert!(told, "{text}{:?}", dataset.doubts);
    };
    let hint = "`--columns 1-2` and `--columns 4-5` read each table";
    // As long as each other, a key may be one of both.
    check("Country,People,,Capital,Area\nNorway,5,,Oslo,100\nItaly,6,,Rome,200\n", hint);
    // What is not yet known is missing below.
    check("Month,Plan,,Actual,Delta\nMay,5,,6,1\nJune,6,,7,1\nJuly,7,,,\nAugust,8,,,\n", hint);
    let tasks =
        "Task,Owner,,Checked by,On\na,Ann,,Cid,2024-01-01\nb,Bob,,Dan,2024-01-02\nc,Eve,,,\n";
    check(tasks, hint);
    // A word above columns is what they have in common.
    check("Person,,,Address,\nName,Age,,City,Zip\nAnn,30,,Oslo,100\nBob,31,,Rome,200\n", hint);
    check("Region,Sales,,Contact,\n,,,Name,Phone\nNorth,1,,Ann,30\nSouth,2,,Bob,31\n", hint);
}

#[test]
fn of_a_long_file_each_record_is_looked_at_before_tables_are_cut() {
    const N_ROWS: usize = 30_000;
    let text = |stray: usize| {
        let gap = |at: usize| if at == stray { "x" } else { "" };
        let row = |at: usize| format!("a{at},{at},{},,b{at},{at}.5\n", gap(at));
        format!("Region,Sales,,,Region,Share\n{}", (0..N_ROWS).map(row).collect::<String>())
    };
    let found = each(text(N_ROWS).as_bytes());
    let sizes: Vec<_> = found.iter().map(|it| (it.1.columns.len(), it.1.row_count)).collect();
    assert_eq!(sizes, [(2, N_ROWS as u64), (2, N_ROWS as u64)]);
    assert_eq!(found[1].0.rows()[20_000], [Some("b20000".to_owned()), Some("20000.5".to_owned())]);
    let (bench, dataset) = of_all(text(17_003).as_bytes());
    assert_eq!((dataset.side_by_side.len(), dataset.columns.len()), (0, 6));
    assert_eq!(bench.rows()[17_003][2].as_deref(), Some("x"));
}
