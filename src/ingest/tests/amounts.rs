//! Money, percentages and flags: text that is known as what it is, and numbers where the user wants them.

use std::fmt::Write;

use proptest::prelude::{Just, any, prop, prop_assert_eq, prop_oneof, proptest};

use csv_agent_testing::slow_cases;
use csv_agent_types::catalog::{DType, Meaning};

use super::{Bench, check_refused, check_with, table};
use crate::RequestedType;

fn wanted(columns: &[(&str, RequestedType)]) -> Bench {
    let dtypes = columns.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect();
    Bench::new().with(|it| it.dtypes = dtypes)
}

const TEXT: &str = "Item,Price,Share,Ok\na,\"$1,200.50\",12.5%,Yes\nb,($3.00),5 %,No\nc,-$7,,Yes\n";

#[test]
fn amounts_and_flags_stay_as_they_are_written() {
    let bench = Bench::new();
    let dataset = bench.bytes(TEXT).unwrap();
    let expected = "Item:string | Price:string | Share:string | Ok:string\n\
                    a | $1,200.50 | 12.5% | Yes\nb | ($3.00) | 5 % | No\nc | -$7 | ~ | Yes";
    assert_eq!(table(&bench, &dataset), expected);
    let usd = Meaning::Money { currency: Some("USD".to_owned()) };
    let found: Vec<_> = dataset.columns.iter().map(|it| it.meaning.clone()).collect();
    assert_eq!(found, [None, Some(usd), Some(Meaning::Percent), Some(Meaning::YesNo)]);
}

#[test]
fn amounts_and_flags_are_numbers_and_truth_values_where_the_user_wants_them() {
    let expected = "Item:string | Price:float64 | Share:float64 | Ok:bool
                    a | 1200.5 | 12.5 | true
                    b | -3 | 5 | false
                    c | -7 | ~ | true";
    let (money, percent, flag) =
        (RequestedType::Money, RequestedType::Percent, RequestedType::Type(DType::Bool));
    check_with(&wanted(&[("price", money), ("SHARE", percent), ("Ok", flag)]), TEXT, expected);
    check_with(&wanted(&[("*", money), ("*", percent), ("*", flag)]), TEXT, expected);
    let bench = wanted(&[("price", money)]);
    let dataset = bench.bytes(TEXT).unwrap();
    let usd = Meaning::Money { currency: Some("USD".to_owned()) };
    assert_eq!(dataset.columns[1].meaning, Some(usd));
    assert_eq!(dataset.dialect.told, ["--dtype price=money"]);
}

#[test]
fn a_value_that_is_no_amount_of_the_kind_is_named_with_its_line() {
    let check = |text: &str, wanted_as: RequestedType, expected: &str| {
        let bench = wanted(&[("a", wanted_as)]);
        check_refused(&bench, bench.bytes(text), expected);
    };
    let way_out = |it| format!("leave out `--dtype a={it}`, or name the value in `--null`");
    let expected = "cannot read column `a` of `-` as money: line 3 has `free` / ";
    check("a,b\n$5,x\nfree,y\n", RequestedType::Money, &(expected.to_owned() + &way_out("money")));
    let expected = "cannot read column `a` of `-` as money: line 4 has `5 €` / ";
    check(
        "a,b\n$5,x\n7,y\n5 €,z\n",
        RequestedType::Money,
        &(expected.to_owned() + &way_out("money")),
    );
    let expected = "cannot read column `a` of `-` as percent: line 2 has `$5` / ";
    check("a,b\n$5,x\n", RequestedType::Percent, &(expected.to_owned() + &way_out("percent")));
    let expected = "cannot read column `a` of `-` as decimal: line 3 has `9007199254740993` / ";
    let text = "a,b\n5,x\n9007199254740993,y\n";
    check(text, RequestedType::Decimal, &(expected.to_owned() + &way_out("decimal")));
    let expected = "cannot read column `a` of `-` as money: its numbers can be read in two ways / name the \
                    decimal mark of \
                    its numbers with `--decimal ,` or `--decimal .`";
    check("a;b\n1.250 €;x\n12.500 €;y\n", RequestedType::Money, expected);
    let expected = expected.replace("money", "float64");
    check("a;b\n1.250;x\n12.500;y\n", RequestedType::Type(DType::Float64), &expected);
}

#[test]
fn the_catalog_of_before_is_read() {
    let column = r#"{"name":"a","dtype":"string","nulls":0}"#;
    let column: csv_agent_types::catalog::Column = serde_json::from_str(column).unwrap();
    assert_eq!((column.meaning, column.is_unnamed), (None, false));
}

proptest! {
    #![proptest_config(slow_cases(100, 1_000))]

    #[test]
    fn money_in_any_form_is_read_as_that_number_where_the_user_wants_it(
        cents in prop::collection::vec(-999_999_999_i64..999_999_999, 1..20),
        (sign, is_before, gap) in (
            prop_oneof![Just("$"), Just("US$"), Just("€"), Just("£"), Just("CHF"), Just("kr")],
            any::<bool>(),
            prop_oneof![Just(""), Just(" "), Just("\u{a0}")],
        ),
        (decimal, group) in prop_oneof![
            Just((',', "")), Just((',', ".")), Just((',', " ")), Just(('.', "")), Just(('.', ",")),
            Just(('.', "'")),
        ],
        (minus, slice_bytes) in (0_u8..4, 1_usize..100),
    ) {
        let written = |cents: &i64| {
            let digits = (cents.abs() / 100).to_string();
            let n_first = (digits.len() + 2) % 3 + 1;
            let mut number = digits[..n_first].to_owned();
            for at in (n_first..digits.len()).step_by(3) {
                number.push_str(group);
                number.push_str(&digits[at..at + 3]);
            }
            number = format!("{number}{decimal}{:02}", cents.abs() % 100);
            let amount = |number: &str| {
                if is_before { format!("{sign}{gap}{number}") } else { format!("{number}{gap}{sign}") }
            };
            match (*cents < 0, minus) {
                (false, _) => amount(&number),
                (true, 0) => format!("-{}", amount(&number)),
                (true, 1) => format!("({})", amount(&number)),
                (true, 2) => amount(&format!("({number})")),
                (true, _) => amount(&format!("-{number}")),
            }
        };
        let values: Vec<String> = cents.iter().map(written).collect();
        let text = format!("a;b\n{};x\n", values.join(";x\n"));
        let bench = wanted(&[("A", RequestedType::Money)]).with(|it| it.delimiter = Some(";".to_owned()));
        let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
        let read: Vec<i64> = bench.rows().iter()
            .map(|it| it[0].as_ref().unwrap().parse::<f64>().unwrap() * 100.0)
            .map(|it| format!("{it:.0}").parse().unwrap())
            .collect();
        prop_assert_eq!(read, cents, "{}", text);
        let is_money = matches!(dataset.columns[0].meaning, Some(Meaning::Money { currency: Some(_) }));
        prop_assert_eq!(is_money, true, "{}", text);
        // Without that, the text is what it was.
        let bench = Bench::new().with(|it| it.delimiter = Some(";".to_owned()));
        let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
        let read: Vec<String> = bench.rows().into_iter().map(|mut it| it.remove(0).unwrap()).collect();
        prop_assert_eq!(read, values);
        let is_money = matches!(dataset.columns[0].meaning, Some(Meaning::Money { currency: Some(_) }));
        prop_assert_eq!(is_money, true, "{}", text);
    }

    #[test]
    fn thousands_are_never_fractions_in_silence(
        numbers in prop::collection::vec(1_i64..999_999, 1..20),
        delimiter in prop_oneof![Just(","), Just(";"), Just("\t")],
        is_point in any::<bool>(),
        (other, slice_bytes) in (
            prop_oneof![Just("3,50"), Just("31.12.2024"), Just("x"), Just("0.25")],
            1_usize..100,
        ),
    ) {
        let mark = if is_point { '.' } else { ',' };
        let written = |it: &i64| match it / 1_000 {
            0 => it.to_string(),
            thousands => format!("{thousands}{mark}{:03}", it % 1_000),
        };
        let values: Vec<String> = numbers.iter().map(written).collect();
        let mut text = format!("a{delimiter}b\n");
        for value in &values {
            writeln!(text, "\"{value}\"{delimiter}\"{other}\"").unwrap();
        }
        let bench = Bench::new().with(|it| it.delimiter = Some(delimiter.to_owned()));
        let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
        let read: Vec<String> = bench.rows().into_iter().map(|mut it| it.remove(0).unwrap()).collect();
        let column = &dataset.columns[0];
        let whole: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let has_marks = numbers.iter().any(|it| 999 < *it);
        let is_machine = is_point && (other == "0.25" || (delimiter != ";" && other == "x"));
        // A comma is a fraction's where `;` separates cells and another column says so.
        let is_comma = !is_point && delimiter != "," && other == "3,50";
        match column.dtype {
            DType::Int64 => prop_assert_eq!(read, whole, "{}", text),
            DType::String => prop_assert_eq!((read, column.is_ambiguous), (values, true), "{}", text),
            _ => prop_assert_eq!(has_marks && (is_machine || is_comma), true, "{}", text),
        }
    }
}
