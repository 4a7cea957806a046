//! The calls of an answer, round by round.

use serde_json::{Value as Json, json};

use super::{drawn, filtered, frame, groups, is, joined, key, listing, measure, query, run};
use crate::Next;
use crate::query::{Agg, Chart, Check, Groups, Measure, Op, Shape};
use crate::transcript::{Done, Turn};

fn mean() -> Groups {
    groups(Vec::new(), vec![measure(Agg::Mean, "penguins.body_mass_g")])
}

fn cities() -> crate::query::LogicalForm {
    joined(query(1, Shape::Groups(groups(vec![key("departments.city")], vec![Measure::ROWS]))))
}

fn guard(repeats: u64, matches: u64) -> Json {
    frame(&["repeats:int64", "matches:int64"], &json!([[repeats, matches]]))
}

#[test]
fn a_number_takes_one_call() {
    let run = run(
        "",
        query(0, Shape::Groups(mean())),
        &[frame(&["mean_body_mass_g:float64"], &json!([[4201.7544]]))],
    );
    let call = json!({
        "sql": "select round(avg(body_mass_g), 4) as mean_body_mass_g\nfrom penguins", "result_name": "result",
    });
    assert_eq!(run.rounds, [vec![("query_datasets", call)]]);
    assert_eq!(
        run.text(),
        "The average body mass is **4,201.75 g**.\n\nI read this as: mean `body_mass_g` in `penguins`. `body_mass_g` is \
         missing in 2 of 344 rows; these are not counted."
    );
    assert_eq!(*run.verdict(), json!({"text": run.text(), "findings": [], "assessment": null}));
}

#[test]
fn a_result_of_several_cells_is_shown() {
    let by = groups(vec![key("penguins.species")], vec![Measure::ROWS]);
    let output = frame(&["species:string", "count:int64"], &json!([["a", 1], ["b", 2]]));
    let shown = run("", query(0, Shape::Groups(by)), &[output]);
    let call = json!({"df_name": "result", "logical_name": "count_by_species"});
    assert_eq!(shown.rounds[1..], [vec![("send_data_to_ui_as_df", call)]]);
    let none =
        run("", query(0, Shape::Rows(listing(&[]))), &[frame(&["species:string"], &json!([]))]);
    assert_eq!(none.rounds.len(), 1, "nothing to show");
}

#[test]
fn small_numbers_are_computed_with_more_decimals() {
    let decimals = |first: f64, n: usize| {
        let output = |value: f64| frame(&["mean_body_mass_g:float64"], &json!([[value]]));
        let run = run("", query(0, Shape::Groups(mean())), &vec![output(first); n]);
        let statement = run.statements().pop().unwrap();
        let digits = statement.split("body_mass_g), ").nth(1).unwrap().split(')').next().unwrap();
        digits.parse::<u32>().unwrap()
    };
    assert_eq!(decimals(5.0, 1), 4);
    assert_eq!(decimals(0.01, 1), 4);
    assert_eq!(decimals(0.0056, 2), 8);
    assert_eq!(decimals(0.0002, 2), 12);
    assert_eq!(decimals(0.0, 2), 12);
}

#[test]
fn a_join_is_checked_before_it_is_computed() {
    let good = run(
        "",
        cities(),
        &[guard(0, 9), frame(&["city:string", "count:int64"], &json!([["Rome", 2], ["Oslo", 1]]))],
    );
    assert_eq!(good.calls("query_datasets")[0]["result_name"], Json::Null);
    assert_eq!(good.finding(), "**Rome** has more rows, 2, than Oslo, 1.");
    let twice = run("", cities(), &[guard(1, 9)]);
    let reason = "`departments` has several rows with the same `Department`, so rows of `staff` would count more than once.";
    assert_eq!(twice.next, Next::Refuse(reason.to_owned()));
    let apart = run("", cities(), &[guard(0, 0)]);
    let reason = "No `Department` of `staff` is a `Department` of `departments`, so the two have nothing in common.";
    assert_eq!(apart.next, Next::Refuse(reason.to_owned()));
}

#[test]
fn a_statement_that_fails_is_no_answer() {
    let failed = json!({"kind": "error", "text": "the total does not fit into 64 bits\nmore"});
    let text = "I could not compute the answer: the total does not fit into 64 bits";
    let first = run("", query(0, Shape::Groups(mean())), std::slice::from_ref(&failed));
    assert_eq!(first.next, Next::Refuse(text.to_owned()));
    assert_eq!(run("", cities(), &[failed]).next, Next::Refuse(text.to_owned()));
}

#[test]
fn rows_are_named_only_for_a_gate() {
    let check =
        query(0, Shape::Check(Check::None(vec![is("penguins.body_mass_g", Op::Gt, 6000.0)])));
    let mut turn = Turn { question: String::new(), pick: None, calls: Vec::new() };
    let mut n_statements = 0;
    loop {
        match super::step(&turn, &check, false) {
            Next::Calls(calls) => {
                for (name, arguments) in calls {
                    n_statements += usize::from(name == "query_datasets");
                    let output =
                        frame(&["species:string", "body_mass_g:float64"], &json!([["a", 6300]]));
                    turn.calls.push(Done { name: name.to_owned(), arguments, output });
                }
            }
            Next::Say(text, verdict) => {
                assert!(text.ends_with("in `penguins`."), "{text}");
                assert_eq!(verdict["findings"][0]["rows"], json!([]));
                break;
            }
            other @ (Next::Refuse(_) | Next::Offer(..)) => panic!("{other:?}"),
        }
    }
    assert_eq!(n_statements, 1);
}

#[test]
fn a_chart_that_was_refused_is_said() {
    let by = drawn(
        Chart::Line,
        query(0, Shape::Groups(groups(vec![key("penguins.species")], vec![Measure::ROWS]))),
    );
    let mut turn = Turn { question: String::new(), pick: None, calls: Vec::new() };
    let text = loop {
        match super::step(&turn, &by, false) {
            Next::Calls(calls) => {
                for (name, arguments) in calls {
                    let output = match name {
                        "send_chart_to_ui" => {
                            json!({"kind": "error", "text": "the chart was not drawn: no rows."})
                        }
                        _ => {
                            frame(&["species:string", "count:int64"], &json!([["a", 1], ["b", 2]]))
                        }
                    };
                    turn.calls.push(Done { name: name.to_owned(), arguments, output });
                }
            }
            Next::Say(text, _) => break text,
            other @ (Next::Refuse(_) | Next::Offer(..)) => panic!("{other:?}"),
        }
    };
    assert!(text.ends_with("There is no chart: the chart was not drawn: no rows."), "{text}");
}

#[test]
fn a_condition_on_what_is_missing_has_no_note() {
    let some =
        filtered(vec![is("penguins.body_mass_g", Op::Gt, 5000.0)], query(0, Shape::Groups(mean())));
    let run = run("", some, &[frame(&["mean_body_mass_g:float64"], &json!([[5500]]))]);
    assert_eq!(run.notes(), "");
}

#[test]
fn a_result_has_a_name_that_no_dataset_has() {
    let tables = ["sales", "result", "result_"].map(|it| super::table(it, 1, &[("a", "int64")]));
    assert_eq!(crate::answer::result_name(&tables[..1]), "result");
    assert_eq!(crate::answer::result_name(&tables), "result__");
}

#[test]
fn a_sentence_has_one_full_stop() {
    let named = filtered(
        vec![super::one("staff.name", "Delta Inc.")],
        query(1, Shape::Groups(groups(Vec::new(), vec![Measure::ROWS]))),
    );
    let run = run("", named, &[frame(&["count:int64"], &json!([[3]]))]);
    let text = "There are **3** rows where name is Delta Inc.\n\nI read this as: number of rows in `staff` where `name` is \
                Delta Inc.";
    assert_eq!(run.text(), text);
}
