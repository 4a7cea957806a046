//! What is around a table and what its records are: titles, notes, blank rows, totals, rows that are cut.

use std::fmt::Write;

use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;

use csv_agent_testing::slow_cases;

use super::{Bench, check, check_aside, table};

/// Ingests text; returns the table, the notes and the descriptions of the columns.
fn looked_at(text: &str) -> (String, Vec<String>, Vec<String>) {
    let bench = Bench::new();
    let dataset = bench.bytes(text).unwrap();
    let described = dataset.columns.iter().map(|it| it.description.clone().unwrap_or_default());
    let described = described.collect();
    (table(&bench, &dataset), dataset.notes, described)
}

const NAMES: [&str; 6] = ["place", "n", "share", "kind", "more", "last"];

/// Cells of rows of six columns, with a text in the first.
fn rows() -> impl Strategy<Value = Vec<[String; 6]>> {
    let cells =
        ("[A-Z][a-z]{2,8}", 1_u32..9_999, 10_u32..99, "[a-z]{3,5}", 1_u32..99, "[a-z]{2,4}");
    let row = cells.prop_map(|(place, n, share, kind, more, last)| {
        [place, n.to_string(), format!("{share}.5"), kind, more.to_string(), last]
    });
    prop::collection::vec(row, 4..20)
}

/// Writes a table as [`table`] shows it.
fn shown(n_columns: usize, rows: &[Vec<String>]) -> String {
    const TYPES: [&str; 6] = ["string", "int64", "float64", "string", "int64", "string"];
    let columns = NAMES.iter().zip(TYPES).take(n_columns);
    let head = columns.map(|(name, dtype)| format!("{name}:{dtype}")).collect::<Vec<_>>();
    let row = |row: &Vec<String>| {
        let cell = |at| row.get(at).cloned().unwrap_or_else(|| "~".to_owned());
        (0..n_columns).map(cell).collect::<Vec<_>>().join(" | ")
    };
    [head.join(" | ")].into_iter().chain(rows.iter().map(row)).collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(slow_cases(60, 600))]

    #[test]
    fn rows_may_leave_out_their_empty_tails(
        rows in rows(),
        widths in prop::collection::vec(2_usize..7, 20),
        delimiter in select(vec![",", ";", "\t", "|"]),
    ) {
        let mut rows: Vec<Vec<String>> =
            rows.iter().zip(&widths).map(|(row, width)| row[..*width].to_vec()).collect();
        // Each type is seen, and no width is that of all.
        rows[0] = ["Oslo", "1", "1.5", "x", "2", "y"].map(str::to_owned).to_vec();
        rows[1].truncate(2);
        rows[2].truncate(3);
        let lines = rows.iter().map(|it| it.join(delimiter) + "\n");
        let text = NAMES.join(delimiter) + "\n" + &lines.collect::<String>();
        prop_assert_eq!(looked_at(&text).0, shown(6, &rows));
    }

    #[test]
    fn titles_blank_rows_and_notes_around_a_table_are_none_of_it(
        rows in rows(),
        n_columns in 2_usize..7,
        (n_titles, n_blank, n_notes) in (1_usize..3, 0_usize..3, 0_usize..4),
        (is_padded, has_blanks_between) in (prop_oneof![4 => Just(true), 1 => Just(false)], Just(true)),
    ) {
        const TITLES: [&str; 2] = ["\"Areas: reports of fraud, 2023\"", "Table 1 of the report"];
        const NOTES: [&str; 3] =
            ["\"Areas are defined by the office, 2020.\"", "Source: the office.", "Figures may not add up."];
        let padding = ",".repeat(n_columns - 1);
        let blank = if is_padded { format!("{padding}\n") } else { "\n".to_owned() };
        let padded = |it: &&str| format!("{it}{}\n", if is_padded { &padding } else { "" });
        let rows: Vec<Vec<String>> = rows.iter().map(|it| it[..n_columns].to_vec()).collect();
        let mut text: String = TITLES[..n_titles].iter().map(padded).collect();
        text += &blank.repeat(n_blank);
        text += &(NAMES[..n_columns].join(",") + "\n");
        text.extend(rows.iter().map(|it| it.join(",") + "\n"));
        for (at, note) in NOTES[..n_notes].iter().enumerate() {
            if at == 0 || has_blanks_between {
                text += &blank;
            }
            text += &padded(note);
        }
        let (found, notes, _) = looked_at(&text);
        prop_assert_eq!(found, shown(n_columns, &rows), "{}", text);
        let said = TITLES[..n_titles].iter().chain(&NOTES[..n_notes]).map(|it| it.replace('"', ""));
        prop_assert_eq!(notes, said.collect::<Vec<_>>());
    }

    #[test]
    fn a_title_above_a_table_of_text_is_no_name(
        rows in prop::collection::vec(("[A-Z][a-z]{2,6}", "[a-z]{3,7}", "[A-Z]{3,4}"), 1..9),
        n_columns in 2_usize..4,
        title in select(vec!["Offices", "List of offices", "\"Our offices, and others\"", "Table 1"]),
        (n_blank, has_second, is_padded) in (1_usize..3, any::<bool>(), any::<bool>()),
    ) {
        let names = &["Name", "City", "Country"][..n_columns];
        let padding = if is_padded { ",".repeat(n_columns - 1) } else { String::new() };
        let second = if has_second { format!("as of May{padding}\n") } else { String::new() };
        let mut text = format!("{title}{padding}\n{second}{}", format!("{padding}\n").repeat(n_blank));
        text += &(names.join(",") + "\n");
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, city, country)| {
            [name, city, country][..n_columns].to_vec()
        }).collect();
        text.extend(rows.iter().map(|it| it.join(",") + "\n"));
        let typed: Vec<String> = names.iter().map(|it| format!("{it}:string")).collect();
        let shown: Vec<String> = rows.iter().map(|it| it.join(" | ")).collect();
        let expected = format!("{}\n{}", typed.join(" | "), shown.join("\n"));
        prop_assert_eq!(looked_at(&text).0, expected, "{}", text);
    }

    #[test]
    fn notes_below_a_table_are_known_by_their_words_or_by_what_sets_them_apart(
        rows in rows(),
        n_columns in 3_usize..7,
        (apart, notes) in prop_oneof![
            // Right below, where every row is full.
            (Just(""), select(vec![
                "\"Data as of December 31, 2023\"", "(1) Preliminary data.", "Source: own survey",
                "* Includes all islands", "Percentages are based on all replies.",
            ]).prop_map(|it| vec![it])),
            // Apart, with as many cells as they like, as long as they hold no values.
            (select(vec!["\n", "__________\n"]), select(vec![
                vec!["(R) Revised, (P) Preliminary, figures may change."],
                vec!["Copyright (c) 2000-2024, the office, all rights", "Generated by: Jane Doe"],
                vec!["Seller: shop24", "Reply to the office, in writing, by post, or not"],
            ])),
        ],
    ) {
        let rows: Vec<Vec<String>> = rows.iter().map(|it| it[..n_columns].to_vec()).collect();
        let mut text = NAMES[..n_columns].join(",") + "\n";
        text.extend(rows.iter().map(|it| it.join(",") + "\n"));
        text += apart;
        for note in &notes {
            let padding = if apart.is_empty() { ",".repeat(n_columns - 1) } else { String::new() };
            writeln!(text, "{note}{padding}").unwrap();
        }
        prop_assert_eq!(looked_at(&text).0, shown(n_columns, &rows), "{}", text);
    }

    #[test]
    fn a_row_of_text_alone_is_a_row_where_others_are_like_it(
        texts in prop::collection::vec(("[A-Z][a-z]{2,8} [a-z]{2,8}\\.", prop::bool::ANY), 6..20),
        last in select(vec!["Note: this one has no reply yet.", "Source: a friend.", "* urgent"]),
    ) {
        let row = |(text, has_reply): &(String, bool)| {
            vec![text.clone(), if *has_reply { "Thanks".to_owned() } else { "~".to_owned() }]
        };
        let mut rows: Vec<Vec<String>> = texts.iter().map(row).collect();
        rows[0][1] = "Thanks".to_owned();
        rows[3][1] = "~".to_owned();
        rows.push(vec![last.to_owned(), "~".to_owned()]);
        let written = |it: &Vec<String>| it.join(",").replace('~', "") + "\n";
        let text = format!("comment,reply\n{}", rows.iter().map(written).collect::<String>());
        let lines = rows.iter().map(|it| it.join(" | ")).collect::<Vec<_>>().join("\n");
        let expected = format!("comment:string | reply:string\n{lines}");
        prop_assert_eq!(looked_at(&text).0, expected, "{}", text);
    }

    #[test]
    fn comments_and_licences_do_not_outvote_a_small_table(
        rows in rows(),
        n_columns in 2_usize..7,
        lines in prop::collection::vec((1_usize..9, 1_u32..99), 1..40),
        marker in select(vec!["# ", "// ", "% ", ""]),
    ) {
        let rows: Vec<Vec<String>> = rows.iter().map(|it| it[..n_columns].to_vec()).collect();
        let line = |(n, year): &(usize, u32)| {
            format!("{marker}Copyright of those who made this in {year}{}\n", ", and others".repeat(*n))
        };
        let mut text: String = lines.iter().map(line).collect();
        text += &(NAMES[..n_columns].join(",") + "\n");
        text.extend(rows.iter().map(|it| it.join(",") + "\n"));
        prop_assert_eq!(looked_at(&text).0, shown(n_columns, &rows), "{}", text);
    }

    #[test]
    fn a_last_row_that_holds_the_sums_is_left_out(
        rows in rows(),
        label in select(vec!["Total", "Grand Total:", "Summe", "Totaal", "Total general", "Sum of all", ""]),
        (is_apart, off) in (select(vec!["", "\n", ",,\n"]), 0_i32..3),
    ) {
        let rows: Vec<Vec<String>> = rows.iter().map(|it| it[..3].to_vec()).collect();
        let n: i32 = rows.iter().map(|it| it[1].parse::<i32>().unwrap()).sum();
        let share: f64 = rows.iter().map(|it| it[2].parse::<f64>().unwrap()).sum();
        let share = share + f64::from(off);
        let mut text = NAMES[..3].join(",") + "\n";
        text.extend(rows.iter().map(|it| it.join(",") + "\n"));
        writeln!(text, "{is_apart}{label},{},{share:.1}", n + off).unwrap();
        let mut expected = rows.clone();
        if off != 0 {
            let share = share.to_string();
            let label = if label.is_empty() { "~" } else { label };
            expected.push(vec![label.to_owned(), (n + off).to_string(), share]);
        }
        prop_assert_eq!(looked_at(&text).0, shown(3, &expected), "{}", text);
    }

    #[test]
    fn words_of_one_column_are_not_cut(
        word in "[A-Z][a-z]{2,8}",
        numbers in prop::collection::vec(1_u32..999, 3..40),
        sign in select(vec![" ", ": "]),
    ) {
        let lines: Vec<String> = numbers.iter().map(|n| format!("{word}{sign}{n}")).collect();
        let text = format!("title\n{}\n", lines.join("\n"));
        prop_assert_eq!(looked_at(&text).0, format!("title:string\n{}", lines.join("\n")));
    }

    #[test]
    fn names_outvote_signs_within_the_cells_of_rows_that_are_cut(
        (widths, minutes) in (
            prop::collection::vec(2_usize..6, 5..20),
            prop::collection::vec(0_u32..60, 20),
        ),
        (delimiter, is_sentence) in (select(vec![";", "\t", "|"]), any::<bool>()),
    ) {
        const NAMES: [&str; 5] = ["person", "at", "kind", "n", "note"];
        let row = |(at, width): (usize, &usize)| {
            let person = if is_sentence { format!("Miller, Eva{at}") } else { format!("Eva{at}") };
            let day = format!("2024-01-01 08:{:02}:00", minutes[at]);
            let row = [person, day, "x".to_owned(), (at * 7).to_string(), "y".to_owned()];
            row[..*width].to_vec()
        };
        let mut widths = widths.clone();
        widths[..3].copy_from_slice(&[5, 2, 3]);
        let rows: Vec<Vec<String>> = widths.iter().enumerate().map(row).collect();
        let mut text = NAMES.join(delimiter) + "\n";
        text.extend(rows.iter().map(|it| it.join(delimiter) + "\n"));
        let found = looked_at(&text).0;
        let types = "person:string | at:timestamp | kind:string | n:int64 | note:string";
        prop_assert_eq!(found.lines().next(), Some(types), "{}", text);
        prop_assert_eq!(found.lines().count(), 1 + rows.len(), "{}", text);
    }

    #[test]
    fn years_are_names_below_names_with_their_values(
        values in prop::collection::vec((1_u32..999, any::<bool>()), 4..20),
        (first_year, n_years) in (1_950_i32..2_000, 2_usize..9),
        (delimiter, is_padded, ends_with_delimiter) in
            (select(vec![",", ";", "\t"]), any::<bool>(), any::<bool>()),
    ) {
        let n_columns = 2 + n_years;
        let years: Vec<String> = (first_year..).take(n_years).map(|it| it.to_string()).collect();
        // Of the second year nothing is known.
        let row = |(at, (value, is_known)): (usize, &(u32, bool))| {
            let mut row = vec![format!("Place {at}"), "GDP".to_owned()];
            row.extend((0..n_years).map(|year| match year {
                1 => String::new(),
                0 if !is_known && 0 < at => String::new(),
                _ => format!("{value}.5"),
            }));
            row
        };
        let rows: Vec<Vec<String>> = values.iter().enumerate().map(row).collect();
        let end = if ends_with_delimiter { delimiter } else { "" };
        let line = |cells: &[String]| cells.join(delimiter) + end + "\n";
        let padding = if is_padded { delimiter.repeat(n_columns - 2) } else { String::new() };
        let mut text = format!("Source{delimiter}Indicators of 2024{padding}{end}\n\n");
        write!(text, "Updated{delimiter}2024-03-28{padding}{end}\n\n").unwrap();
        let names = [vec!["Country".to_owned(), "Indicator".to_owned()], years.clone()].concat();
        text += &line(&names);
        text.extend(rows.iter().map(|it| line(it)));
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        let found: Vec<&str> = dataset.columns.iter().map(|it| it.name.as_str()).collect();
        prop_assert_eq!(&found[..n_columns], &names, "{}", text);
        prop_assert_eq!(dataset.row_count, rows.len() as u64, "{}", text);
    }

    #[test]
    fn years_above_other_numbers_are_names(
        (first, n_years) in (1_950_i32..2_020, 2_usize..9),
        rows in prop::collection::vec(prop::collection::vec(1_u32..999, 9), 2..20),
    ) {
        let years: Vec<String> = (first..).take(n_years).map(|it| it.to_string()).collect();
        let line = |row: &Vec<u32>| {
            row[..n_years].iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        };
        let rows: Vec<String> = rows.iter().map(line).collect();
        let text = format!("{}\n{}\n", years.join(","), rows.join("\n"));
        let expected = format!("{}:int64\n{}", years.join(":int64 | "), rows.join("\n"));
        prop_assert_eq!(looked_at(&text).0, expected.replace(',', " | "));
    }

    #[test]
    fn a_line_about_the_logger_above_the_names_is_none_of_the_table(
        n_more in 2_usize..6,
        values in prop::collection::vec(10_u32..99, 2..20),
    ) {
        let logger = format!("\"LOG5\",\"CR9\",\"CR9\",\"1234\"{}\n", ",\"x.1\"".repeat(n_more));
        let mut text = logger.clone();
        text += "\"at\",\"record\",\"volts\",\"air\"\n\"TS\",\"RN\",\"V\",\"Deg C\"\n\"\",\"\",\"Min\",\"Avg\"\n";
        for (at, value) in values.iter().enumerate() {
            writeln!(text, "\"2024-05-13 09:{at:02}:00\",{at},{value}.5,{value}.25").unwrap();
        }
        let (found, _, described) = looked_at(&text);
        let names = "at:timestamp | record:int64 | volts:float64 | air:float64";
        prop_assert_eq!(found.lines().next(), Some(names), "{}", text);
        prop_assert_eq!(found.lines().count(), 1 + values.len(), "{}", text);
        prop_assert_eq!(described, ["TS", "RN", "V; Min", "Deg C; Avg"]);
    }

    #[test]
    fn units_below_the_names_describe_the_columns(
        values in prop::collection::vec(10_u32..99, 2..20),
        units in select(vec![["s", "km/h", "m"], ["", "[bar]", "[°C]"], ["10s", "5n", "3n"]]),
    ) {
        let mut text = format!("time,speed,way\n{}\n", units.join(","));
        for (at, value) in values.iter().enumerate() {
            writeln!(text, "{at}.5,{value}.5,{value}.25").unwrap();
        }
        let (found, _, described) = looked_at(&text);
        let names = "time:float64 | speed:float64 | way:float64";
        prop_assert_eq!(found.lines().next(), Some(names), "{}", text);
        prop_assert_eq!(found.lines().count(), 1 + values.len(), "{}", text);
        prop_assert_eq!(described, units);
    }

    #[test]
    fn a_long_list_of_names_and_values_does_not_outvote_a_small_table(
        rows in rows(),
        (n_pairs, n_rows, n_columns) in (2_usize..12, 2_usize..5, 4_usize..7),
        is_ended in any::<bool>(),
    ) {
        let end = if is_ended { ";" } else { "" };
        let mut text = String::new();
        for at in 0..n_pairs {
            writeln!(text, "Balance {at}:;1{at}3,50{end}").unwrap();
        }
        writeln!(text, "\n{}{end}", NAMES[..n_columns].join(";")).unwrap();
        for row in &rows[..n_rows] {
            writeln!(text, "{}{end}", row[..n_columns].join(";")).unwrap();
        }
        let bench = Bench::new();
        let dataset = bench.bytes(&text).unwrap();
        let found: Vec<&str> = dataset.columns.iter().map(|it| it.name.as_str()).collect();
        prop_assert_eq!(&found[..n_columns], &NAMES[..n_columns], "{}", text);
        prop_assert_eq!(dataset.row_count, n_rows as u64, "{}", text);
    }
}

#[test]
fn a_last_row_that_only_resembles_a_note_or_a_total_is_a_row() {
    let last = "Call the plumber about the leaking tap in the kitchen";
    check(
        format!("task,done\nBuy a lamp,2024-01-01\nBuy bolts,2024-01-02\n{last},\n"),
        &format!(
            "task:string | done:date\nBuy a lamp | 2024-01-01\nBuy bolts | 2024-01-02\n{last} | ~"
        ),
    );
    check(
        "name,qty\nBoston,1\nChicago,2\nDallas,3\n\nZagreb,unknown\n",
        "name:string | qty:string\nBoston | 1\nChicago | 2\nDallas | 3\nZagreb | unknown",
    );
    check("grp,v\na,1\nb,2\n,3\n", "grp:string | v:int64\na | 1\nb | 2\n~ | 3");
}

#[test]
fn names_and_values_above_the_names_are_no_header() {
    let rows = "North,100,110,120\nSouth,200,210,220\nWest,1,2,3\n";
    let columns = "Region:string | 2000:int64 | 2001:int64 | 2002:int64";
    let table =
        format!("{columns}\nNorth | 100 | 110 | 120\nSouth | 200 | 210 | 220\nWest | 1 | 2 | 3");
    let names = "Region,2000,2001,2002\n";
    check(format!("{names}{rows}"), &table);
    for above in [
        "From,2023,,\n",
        "From,2000,,\nTo,2002,,\n",
        "Report,Sales,,\nFrom,2023,,\n,,,\n",
        "A title\n\nFrom,2023\nTo,2024\n\n",
    ] {
        check(format!("{above}{names}{rows}"), &table);
    }
}

#[test]
fn a_sign_of_comments_in_a_file_of_one_column_is_a_row() {
    check("sign\n#\n$\n%\nx\n", "sign:string\n#\n$\n%\nx");
    check("#\nsign\nx\ny\n", "#:string\nsign\nx\ny");
}

#[test]
fn a_first_row_of_amounts_is_no_header() {
    check(
        "\"Reports of fraud, 2023\",\n,\nNumber of reports,\"2,600,678\",\nLoss,\"$10,000\",\n",
        "column_1:string | column_2:string | column_3:string\n\
         Number of reports | 2,600,678 | ~\nLoss | $10,000 | ~",
    );
}

#[test]
fn a_row_that_is_called_a_total_and_holds_no_sums_stays_and_is_told() {
    let bench = Bench::new();
    let dataset = bench.bytes("name,n\nanna,1\nbert,2\nTotal,9\n").unwrap();
    assert_eq!((dataset.row_count, dataset.unclear_total), (3, Some(4)));
    let dataset = Bench::new().bytes("film,votes\nAlien,1\nBrazil,2\nTotal War,9\n").unwrap();
    assert_eq!((dataset.row_count, dataset.unclear_total), (3, None));
}

proptest! {
    #![proptest_config(slow_cases(100, 1000))]

    #[test]
    fn subtotals_are_no_rows_and_rows_that_are_called_so_are(
        groups in prop::collection::vec(prop::collection::vec((1_u32..500, 1_u32..90), 1..5), 2..5),
        (name, has_all, has_mean) in (select(vec!["Subtotal", "GROUP Total", "Zwischensumme"]), any::<bool>(), any::<bool>()),
        off in prop_oneof![3 => Just(0_u32), 1 => 501_u32..900],
    ) {
        let mut text = "item,n,rate\n".to_owned();
        let (mut rows, mut subtotals, mut n_all) = (Vec::new(), 0, (0, 0));
        for (at, group) in groups.iter().enumerate() {
            let mut sums = (0, 0);
            for (n, rate) in group {
                let item = format!("item {at} {}", rows.len());
                writeln!(text, "{item},{n},{rate}.5").unwrap();
                rows.push(format!("{item} | {n} | {rate}.5"));
                sums = (sums.0 + n, sums.1 + 10 * rate + 5);
            }
            let name = name.replace("GROUP", &format!("g{at}"));
            // A number too large is that of no rows.
            let n = sums.0 + off * 10;
            writeln!(text, "{name},{n},{}.{}", sums.1 / 10, sums.1 % 10).unwrap();
            subtotals += 1;
            if off != 0 {
                let rate = if sums.1 % 10 == 0 { (sums.1 / 10).to_string() } else { format!("{}.{}", sums.1 / 10, sums.1 % 10) };
                rows.push(format!("{name} | {n} | {rate}"));
                n_all = (n_all.0 + n - sums.0, n_all.1 + sums.1);
            }
            n_all = (n_all.0 + sums.0, n_all.1 + sums.1);
        }
        let is_off = off != 0;
        if has_all && !is_off {
            writeln!(text, "Grand Total,{},{}.{}", n_all.0, n_all.1 / 10, n_all.1 % 10).unwrap();
            subtotals += 1;
        }
        if has_mean && !is_off {
            let n_rows = u32::try_from(rows.len()).unwrap();
            let mean = |it: u32| format!("{:.3}", f64::from(it) / f64::from(n_rows));
            writeln!(text, "Average,{},{:.3}", mean(n_all.0), f64::from(n_all.1) / f64::from(10 * n_rows)).unwrap();
            subtotals += 1;
        }
        // The sum of one row shows nothing.
        let is_told = groups.iter().any(|it| 1 < it.len());
        if is_told || is_off {
            let bench = Bench::new();
            let dataset = bench.bytes(&text).unwrap();
            let expected = format!("item:string | n:int64 | rate:float64\n{}", rows.join("\n"));
            prop_assert_eq!(table(&bench, &dataset), expected, "{}", text);
            prop_assert_eq!(dataset.set_aside.totals, if is_off { 0 } else { subtotals }, "{}", text);
            prop_assert_eq!(dataset.doubts.is_empty(), !is_off, "{}", text);
        }
    }
}

#[test]
fn an_average_below_the_table_is_none_of_it_and_told_where_it_is_another() {
    let rows = "name,n\nanna,1\nbert,2\ncarl,6\n";
    let dataset = Bench::new().bytes(format!("{rows}Average,3\n")).unwrap();
    assert_eq!((dataset.row_count, dataset.set_aside.totals), (3, 1));
    let dataset = Bench::new().bytes(format!("{rows}Durchschnitt,4\n")).unwrap();
    assert_eq!((dataset.row_count, dataset.set_aside.totals), (4, 0));
    let doubt = "the row on line 5 is labeled as a total or an average but was kept, because its \
                 numbers do not confirm that";
    assert_eq!(dataset.doubts, [doubt]);
}

#[test]
fn subtotals_with_a_label_in_another_column_are_kept_and_told() {
    let rows = "dept,item,cost\nA,x,150\nA,y,20\nA,Subtotal,170\nB,x,4\nB,z,5\nB,Subtotal,9\n";
    let dataset = Bench::new().bytes(format!("{rows}Total,,179\n")).unwrap();
    assert_eq!((dataset.row_count, dataset.set_aside.totals), (6, 1));
    let doubt = "2 rows are totals of the rows above them but were kept, the first on line 4, because their \
                 labels are not in the first cell: leave them out of sums";
    assert_eq!(dataset.doubts, [doubt]);
}

#[test]
fn a_total_may_be_beside_rates_and_its_label_in_the_last_column() {
    let rows = "/a,1000,900,40%,00:01:22\n/b,1011,910,41%,00:02:00\n/c,500,400,42%,00:00:30\n";
    let names = "Page,Sessions,Users,Bounce,Time\n";
    let dataset = Bench::new().bytes(format!("{names}{rows},2511,2210,41%,00:01:17\n")).unwrap();
    assert_eq!((dataset.row_count, dataset.set_aside.totals), (3, 1));
    // Rates alone, and one sum beside them, show nothing.
    let dataset = Bench::new().bytes(format!("{names}{rows},2511,2000,41%,00:01:17\n")).unwrap();
    assert_eq!((dataset.row_count, dataset.set_aside.totals), (4, 0));
    let dataset = Bench::new().bytes("n,m,name\n1,2,a\n4,2,b\n9,3,c\n14,7,Total\n").unwrap();
    assert_eq!((dataset.row_count, dataset.doubts.len()), (4, 1));
}

#[test]
fn a_total_is_listed_with_what_is_no_row() {
    check_aside(
        "name,n,rate\nanna,1,2.5\nbert,2,3.5\n\nTotal,3,3.0\nSource: me,,\n",
        "name:string | n:int64 | rate:float64\nanna | 1 | 2.5\nbert | 2 | 3.5",
        &["5 total", "6 footer"],
    );
}

#[test]
fn records_below_complete_names_describe_the_columns() {
    let id = |it: &str| format!("\"{{\"\"ImportId\"\":\"\"{it}\"\"}}\"");
    let (one, two) = (id("QID1"), id("QID2_TEXT"));
    let qualtrics = format!("Q1,Q2\nHow are you?,Why?\n{one},{two}\nGood,1\nBad,2\n");
    let (table, _, described) = looked_at(&qualtrics);
    assert_eq!(table, "Q1:string | Q2:int64\nGood | 1\nBad | 2");
    assert_eq!(described, ["How are you?", "Why?"]);

    let (table, _, described) = looked_at(
        "GEO_ID,NAME,B01_001E\nGeography,Geographic Area Name,Estimate!!Total\nUS01,Alabama,4876250\n\
         US02,Alaska,737068\n",
    );
    let columns = "GEO_ID:string | NAME:string | B01_001E:int64";
    assert_eq!(table, format!("{columns}\nUS01 | Alabama | 4876250\nUS02 | Alaska | 737068"));
    assert_eq!(described, ["Geography", "Geographic Area Name", "Estimate!!Total"]);

    let (table, _, described) = looked_at(
        "Respondent ID,Your name?,Your age?\n,Open-Ended Response,Response\n114,Anna,18-24\n115,Bert,25-34\n",
    );
    let columns = "Respondent ID:int64 | Your name?:string | Your age?:string";
    assert_eq!(table, format!("{columns}\n114 | Anna | 18-24\n115 | Bert | 25-34"));
    assert_eq!(described, ["", "Open-Ended Response", "Response"]);
}

#[test]
fn a_log_of_the_w3c_has_its_names_in_a_comment() {
    let names = "#Fields: date time cs-method cs(User-Agent) sc-status\n";
    let lead = format!("#Software: a server 10.0\n#Date: 2024-01-01 00:00:00\n{names}");
    let row = "2024-01-01 00:00:01 GET Mozilla/5.0+(X) 200\n";
    let shown = "2024-01-01 | 00:00:01 | GET | Mozilla/5.0+(X) | 200";
    let columns =
        "date:date | time:time | cs-method:string | cs(User-Agent):string | sc-status:int64";
    check(format!("{lead}{row}{row}{lead}{row}"), &format!("{columns}\n{shown}\n{shown}\n{shown}"));
}

#[test]
fn a_log_of_zeek_has_its_names_in_a_comment() {
    let lead =
        "#separator \\x09\n#path\tconn\n#fields\tts\tuid\tport\n#types\ttime\tstring\tport\n";
    check(
        format!("{lead}1700000000.5\tCa\t80\n1700000001.5\tCb\t443\n#close\t2024-01-01\n"),
        "ts:float64 | uid:string | port:int64\n1700000000.5 | Ca | 80\n1700000001.5 | Cb | 443",
    );
}

#[test]
fn names_of_r_without_quotes_tell_the_rows_apart() {
    check(
        "x y\nanna 1 2\nbert 3 4\ncarl 5 6\n",
        "column_1:string | x:int64 | y:int64\nanna | 1 | 2\nbert | 3 | 4\ncarl | 5 | 6",
    );
    check(
        "full title\nMovie 1 2\nMovie 3 4\nMovie 5 6\n",
        "full title:string\nMovie 1 2\nMovie 3 4\nMovie 5 6",
    );
}

#[test]
fn a_value_above_a_small_table_may_have_a_unit() {
    check(
        "Bank;X\nName;Max\nPeriod;2024\nSaldo;1.234,56;EUR\n\nSorted;by day\n\n\
         day;who;n;unit\n2024-01-13;anna;5;EUR\n2024-01-14;bert;6;EUR\n",
        "day:date | who:string | n:int64 | unit:string\n\
         2024-01-13 | anna | 5 | EUR\n2024-01-14 | bert | 6 | EUR",
    );
}

#[test]
fn names_with_values_above_numbers_without_names_are_no_rows() {
    let above =
        "\"Title\",\"Output\"\n\"Code\",\"ABMI\"\n\"Unit\",\"m\"\n\"Date\",\"28-03-2024\"\n";
    let rows = "\"1948\",\"400000\"\n\"1949\",\"400777\"\n\"1950\",\"401554\"\n";
    let shown = "1948 | 400000\n1949 | 400777\n1950 | 401554";
    check(format!("{above}{rows}"), &format!("column_1:int64 | column_2:int64\n{shown}"));
    check(format!("{above}year,output\n{rows}"), &format!("year:int64 | output:int64\n{shown}"));
    // A value that fits may be one of a row.
    let table = "key:string | value:string\na | x\nb | y\nc | z\n5 | 1\n6 | 2\n7 | 3\nd | 4";
    check("key,value\na,x\nb,y\nc,z\n5,1\n6,2\n7,3\nd,4\n", table);
}

#[test]
fn years_that_are_rows_are_no_names() {
    check(
        "2019,2020\n2020,2021\n2021,2022\n",
        "column_1:int64 | column_2:int64\n2019 | 2020\n2020 | 2021\n2021 | 2022",
    );
    check("2019,2025\n5,6\n7,8\n", "column_1:int64 | column_2:int64\n2019 | 2025\n5 | 6\n7 | 8");
}

#[test]
fn a_first_record_that_comes_again_and_again_is_a_row() {
    let rows = "ok,up\n".repeat(12) + "bad,down\n";
    let found = looked_at(&rows).0;
    assert!(found.starts_with("column_1:string | column_2:string\nok | up\n"), "{found}");
    assert_eq!(found.lines().count(), 14);
}

#[test]
fn names_of_r_are_one_short_and_the_column_says_so() {
    for text in [
        "\"mpg\" \"cyl\"\n\"Mazda RX4\" 21.0 6\n\"Datsun 710\" 22.8 4\n",
        "mpg,cyl\nMazda RX4,21.0,6\nDatsun 710,22.8,4\n",
    ] {
        let bench = Bench::new();
        let dataset = bench.bytes(text).unwrap();
        let rows = "Mazda RX4 | 21 | 6\nDatsun 710 | 22.8 | 4";
        let expected = format!("column_1:string | mpg:float64 | cyl:int64\n{rows}");
        assert_eq!(table(&bench, &dataset), expected);
        let first = &dataset.columns[0];
        assert!(first.is_unnamed);
        assert!(first.note.as_ref().unwrap().starts_with("the header has one name fewer"));
    }
}

#[test]
fn single_quotes_are_no_part_of_names() {
    check(
        "'id','it''s',''\n1,2,3\n4,5,6\n",
        "id:int64 | it's:int64 | column_3:int64\n1 | 2 | 3\n4 | 5 | 6",
    );
    check(
        "id,'',it''s\n1,2,3\n4,5,6\n",
        "id:int64 | column_2:int64 | it's:int64\n1 | 2 | 3\n4 | 5 | 6",
    );
    check("id,5'' pipe\n1,2\n4,5\n", "id:int64 | 5'' pipe:int64\n1 | 2\n4 | 5");
}

#[test]
fn a_table_of_nothing_but_delimiters_keeps_its_rows() {
    check("a,b\n,\n,\n", "a:string | b:string\n~ | ~\n~ | ~");
    check("a,b\n1,2\n,\n3,4\n", "a:int64 | b:int64\n1 | 2\n3 | 4");
}

#[test]
fn groups_above_the_names_need_no_more_rows_than_a_total() {
    let header = "Region,FY22,FY22,FY23,FY23\n,Units,Revenue,Units,Revenue\n";
    let rows = ["North,10,100.5,12,130.0\n", "South,20,210.0,18,190.5\n", "West,5,55.25,7,70\n"];
    let totals = ["Total,30,310.5,30,320.5\n", "Total,35,365.75,37,390.5\n"];
    for (n_rows, total) in [(2, totals[0]), (3, totals[1])] {
        let dataset =
            Bench::new().bytes(format!("{header}{}{total}", rows[..n_rows].concat())).unwrap();
        let names: Vec<&str> = dataset.columns.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["Region", "FY22 Units", "FY22 Revenue", "FY23 Units", "FY23 Revenue"]);
        assert_eq!((dataset.row_count, dataset.set_aside.totals), (n_rows as u64, 1));
    }
}
