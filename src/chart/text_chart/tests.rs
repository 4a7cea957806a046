//! Charts of characters: every kind at every width, judged by what is on the grid.

use serde_json::{Value, json};

use csv_agent_text::fit::width;
use csv_agent_types::chart::ChartType::{self, Bar, Column, Line, Scatter, StackedColumn};

use super::{Depth, draw};
use crate::gallery::{chart, gallery};
use crate::numbers::Measure;
use crate::plot::Plot;

/// Draws without the labels of axes and the note, so that a test shows what it is about.
fn drawn(
    kind: ChartType,
    x: &[&str],
    series: &[(&str, &[Option<f64>])],
    columns: usize,
    height: usize,
) -> String {
    let x: Vec<_> = x.iter().map(|it| json!(it)).collect();
    let values = |it: &[Option<f64>]| it.iter().map(|it| json!(it)).collect::<Vec<Value>>();
    let series: Vec<_> = series.iter().map(|(name, it)| (*name, values(it))).collect();
    let mut plot = Plot::of(&chart(kind, "", "object", &x, &series));
    (plot.notes, plot.y_label, plot.x_label) = (Vec::new(), None, "x".to_owned());
    draw(&plot, columns, height, Depth::Monochrome)
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_chart_higher_than_its_bound() {
    for (name, chart) in gallery() {
        for columns in [20, 40, 79, 80, 133, 200] {
            for depth in [Depth::Monochrome, Depth::Palette] {
                let text = draw(&Plot::of(&chart), columns, 20, depth);
                let mut plain = String::new();
                for (at, part) in text.split("\x1b[").enumerate() {
                    let part = if at == 0 { part } else { part.split_once('m').unwrap().1 };
                    plain.push_str(part);
                }
                let widest = plain.lines().map(width).max().unwrap();
                assert!(widest <= columns, "{name} at {columns}: {widest}\n{plain}");
                // At the narrowest, title and legend leave the plot its least.
                let highest = if columns == 20 { 28 } else { 20 };
                assert!(plain.lines().count() <= highest, "{name} at {columns}\n{plain}");
                assert!(!plain.contains('\x1b'), "{name}");
            }
        }
    }
}

#[test]
fn bars_that_lie_are_as_long_as_their_values() {
    insta::assert_snapshot!(
        drawn(Bar, &["Anvil", "Saw", "Nail", "None"], &[("n", &[Some(120.0), Some(60.0), Some(1.0), None])], 40, 20),
        @r"
        x
    Anvil │▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ 120
      Saw │▇▇▇▇▇▇▇▇▇▇▇▇▇▇▌ 60
     Nail │▎ 1
     None │ –
    "
    );
}

#[test]
fn bars_below_zero_end_on_the_other_side() {
    insta::assert_snapshot!(
        drawn(Bar, &["up", "down"], &[("n", &[Some(30.0), Some(-15.0)])], 40, 20),
        @r"
       x
      up              │▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ 30
    down −15 ▇▇▇▇▇▇▇▇▇│
    "
    );
}

#[test]
fn columns_stand_on_zero_and_carry_their_values() {
    insta::assert_snapshot!(
        drawn(Column, &["Q1", "Q2", "Q3"], &[("n", &[Some(10.0), Some(-5.0), Some(7.5)])], 40, 12),
        @r"
    10      10
         ████████                   7.5
     5   ████████                ████████
         ████████                ████████
     0   ████████                ████████
                     ████████
    −5               ████████
                        −5
            Q1          Q2          Q3
                         x
    "
    );
}

#[test]
fn parts_stand_on_each_other() {
    let series: [(&str, &[Option<f64>]); 2] =
        [("a", &[Some(10.0), Some(20.0)]), ("b", &[Some(10.0), None])];
    insta::assert_snapshot!(drawn(StackedColumn, &["Q1", "Q2"], &series, 40, 12), @r"
    ■ a   ■ b
    20         20                20
            ████████          ████████
    15      ████████          ████████
            ████████          ████████
    10      ████████          ████████
            ████████          ████████
     5      ████████          ████████
            ████████          ████████
     0      ████████          ████████
               Q1                Q2
                         x
    ");
}

#[test]
fn a_line_has_a_gap_where_a_value_is_missing_and_its_name_at_its_end() {
    let up: Vec<_> = (0..8).map(|it| (it != 4).then_some(f64::from(it))).collect();
    let down: Vec<_> = (0..8).map(|it| Some(f64::from(7 - it))).collect();
    let x = ["a", "b", "c", "d", "e", "f", "g", "h"];
    insta::assert_snapshot!(drawn(Line, &x, &[("up", &up), ("down", &down)], 40, 12), @r"
    8
        ⡀                           ⢀   up
    6   ⠈⠑⠢⢄⡀                   ⢀⡠⠔⠊⠁
            ⠈⠑⠢⢄⡀           ⢀⡠⠔⠊⠁
    4           ⠈⠑⠢⢄⣀
                    ⡀⠉⠒⠤⣀
    2           ⣀⠤⠒⠉     ⠉⠒⠤⣀
            ⣀⠤⠒⠉             ⠉⠒⠤⣀
    0   ⣀⠤⠒⠉                     ⠉⠒⠤⣀   down
      ──┬───┬───┬───┬───┬───┬───┬───┬──
        a   b   c   d   e   f   g   h
                      x
    ");
}

#[test]
fn points_stand_where_their_values_are() {
    let x: Vec<_> = ["2024-01-01", "2024-02-01", "2024-03-01"].into();
    let values = [Some(0.0), Some(50.0), Some(100.0)];
    insta::assert_snapshot!(drawn(Scatter, &x, &[("n", &values)], 40, 12), @r"
    100
                                           ▝

     50                   ▗


      0 ▖
        ┬─────────────────┬────────────────┬
      Jan                Feb             Mar
      2024
                          x
    ");
}

#[test]
fn bars_that_do_not_fit_become_dots_on_one_line() {
    let x: Vec<_> = (0..9).map(|it| format!("shop {it}")).collect();
    let x: Vec<_> = x.iter().map(String::as_str).collect();
    let one: Vec<_> = (0..9).map(|it| Some(f64::from(it))).collect();
    let other: Vec<_> = (0..9).map(|it| Some(f64::from(10 - it))).collect();
    insta::assert_snapshot!(drawn(Bar, &x, &[("a", &one), ("b", &other)], 40, 14), @r"
    ■ a   ■ b
         x
    shop 0 ●┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈●
    shop 1 │┈┈●┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈●
    shop 2 │┈┈┈┈┈●┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈●
    shop 3 │┈┈┈┈┈┈┈┈●┈┈┈┈┈┈┈┈┈┈┈●
    shop 4 │┈┈┈┈┈┈┈┈┈┈┈●┈┈┈┈┈●
    shop 5 │┈┈┈┈┈┈┈┈┈┈┈┈┈┈●
    shop 6 │┈┈┈┈┈┈┈┈┈┈┈●┈┈┈┈┈●
    shop 7 │┈┈┈┈┈┈┈┈●┈┈┈┈┈┈┈┈┈┈┈●
    shop 8 │┈┈┈┈┈●┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈●
           0      2.5    5.0     7.5   10.0
    ");
}

#[test]
fn what_is_not_shown_is_counted() {
    let x: Vec<_> = (0..60).map(|it| format!("shop {it}")).collect();
    let x: Vec<_> = x.iter().map(String::as_str).collect();
    let values: Vec<_> = (0..60).map(|it| Some(f64::from(100 - it))).collect();
    let text = drawn(Bar, &x, &[("n", &values)], 40, 12);
    assert!(text.contains("⋮ 50 rows not shown"), "{text}");
    assert!(text.contains("shop 0 ") && text.contains("shop 59 ") && !text.contains("shop 30 "));
    let days: Vec<_> =
        (0..60).map(|it| format!("2024-{:02}-{:02}", it / 28 + 1, it % 28 + 1)).collect();
    let days: Vec<_> = days.iter().map(String::as_str).collect();
    let text = drawn(Column, &days, &[("n", &values)], 40, 12);
    assert!(text.contains("each bar is the mean of 2 rows"), "{text}");
}

#[test]
fn long_labels_that_begin_alike_are_cut_where_they_differ_least() {
    let x = ["Department of the Interior, East", "Department of the Interior, West"];
    let text = drawn(Bar, &x, &[("n", &[Some(1.0), Some(2.0)])], 40, 12);
    assert!(text.contains("East │") && text.contains("West │"), "{text}");
}

#[test]
fn the_same_share_is_the_same_length_on_either_side_of_zero() {
    let text = drawn(Bar, &["a", "b"], &[("n", &[Some(40.0), Some(-40.0)])], 60, 12);
    let lengths: Vec<_> = text.lines().map(|it| it.matches('▇').count()).collect();
    assert_eq!(lengths[1], lengths[2], "{text}");
    assert!(15 < lengths[1]);
}

#[test]
fn shares_are_percentages_at_bars_and_at_ticks() {
    let values = vec![json!(0.5), json!(0.25)];
    let x = [json!("Rail"), json!("Road")];
    for kind in [Bar, Column, Line] {
        let chart = chart(kind, "", "object", &x, &[("n", values.clone())]);
        let plot = Plot { measure: Measure::Share, ..Plot::of(&chart) };
        let text = draw(&plot, 40, 12, Depth::Monochrome);
        assert!(text.contains("50%") && !text.contains("0.5"), "{text}");
    }
}

#[test]
fn what_is_not_shown_is_told_in_whole_words() {
    let x: Vec<_> = (0..200).map(|it| json!(format!("n{it}"))).collect();
    let values: Vec<_> = (0..200).map(|it| json!(f64::from(it) * 1.01 - 100.0)).collect();
    let chart = chart(Bar, "", "object", &x, &[("n", values)]);
    for columns in [20, 40, 80, 120] {
        let text = draw(&Plot::of(&chart), columns, 20, Depth::Monochrome);
        assert!(text.contains(" rows not shown"), "{columns}\n{text}");
    }
}

#[test]
fn bars_keep_a_length_in_a_narrow_terminal() {
    let x = ["n196", "n197", "n198", "n199"];
    let values = [Some(100.0), Some(10.21), Some(-0.885), Some(-11.97)];
    insta::assert_snapshot!(drawn(Bar, &x, &[("n", &values)], 20, 12), @r"
       x
    n196  │▇▇▇▇▇▇ 100
    n197  │▋ 10.21
    n198  │ −0.885
    n199 ▇│ −11.97
    ");
}
