//! Conditions on values that the data holds, on text, and on rows of another table.

use super::{
    Action, Made, frag, held_of, helds_of, holds_any, holds_test, place_of, several, test,
    tests_of, texts_of, with_side,
};
use crate::frag::Sem;
use crate::query::{GroupKey, Place, Test, Value, Within};
use crate::scene::Scene;
use crate::schema::Kind;

/// The actions, by the names that rules call them.
pub(super) const ACTIONS: &[(&str, Action)] = &[
    ("holds", |_, sems| held_of(sems).map_or_else(Vec::new, |it| test(holds_test(it)))),
    ("holds_in", |_, sems| match (place_of(sems), held_of(sems)) {
        (Some(place), Some(held)) if held.place == place => test(holds_test(held)),
        _ => Vec::new(),
    }),
    ("two_values", |_, sems| several(helds_of(sems))),
    ("both_values", |_, sems| {
        let all = helds_of(sems);
        let made = several(all.clone());
        if made.is_empty() {
            return made;
        }
        with_side(holds_any(&all, None), |_| Some(GroupKey::Column(all[0].place)))
    }),
    ("both_values_of", |_, sems| {
        let all = helds_of(sems);
        with_side(holds_any(&all, place_of(sems)), |_| Some(GroupKey::Column(all[0].place)))
    }),
    ("holds_any", |_, sems| holds_any(&helds_of(sems), None)),
    ("holds_any_in", |_, sems| holds_any(&helds_of(sems), place_of(sems))),
    ("holds_none", |_, sems| {
        let made = holds_any(&helds_of(sems), None);
        made.into_iter()
            .map(|(it, cost)| (frag(|frag| frag.tests = vec![negated(tests_of(&[&it]))]), cost))
            .collect()
    }),
    ("holds_not", |_, sems| {
        held_of(sems).map_or_else(Vec::new, |it| test(Test::Not(Box::new(holds_test(it)))))
    }),
    ("holds_not_in", |_, sems| match (place_of(sems), held_of(sems)) {
        (Some(place), Some(held)) if held.place == place => {
            test(Test::Not(Box::new(holds_test(held))))
        }
        _ => Vec::new(),
    }),
    ("is_true", |_, sems| place_of(sems).map_or_else(Vec::new, |it| test(Test::True(it)))),
    ("is_false", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| test(Test::Not(Box::new(Test::True(it)))))
    }),
    ("contains", |scene, sems| text_test(scene, place_of(sems), Within::Contains, sems)),
    ("contains_implied", |scene, sems| {
        let titles: Vec<Place> = scene.places().filter(|it| scene.column(*it).is_title).collect();
        if titles.len() == 1 {
            text_test(scene, titles.first().copied(), Within::Contains, sems)
        } else {
            Vec::new()
        }
    }),
    // One of several, of values that are lists.
    ("contains_any", |_, sems| {
        held_of(sems).map_or_else(Vec::new, |it| {
            test(Test::Text(it.place, Within::Contains, it.text.clone()))
        })
    }),
    ("starts", |scene, sems| text_test(scene, place_of(sems), Within::Starts, sems)),
    ("ends", |scene, sems| text_test(scene, place_of(sems), Within::Ends, sems)),
    // `ends with '.com' or '.org'`
    ("more_texts", |_, sems| {
        let Some(text) = texts_of(sems) else { return Vec::new() };
        let mut all: Vec<Test> = tests_of(sems)
            .into_iter()
            .flat_map(|it| match it {
                Test::Any(tests) => tests,
                it => vec![it],
            })
            .collect();
        let Some(Test::Text(place, within, _)) = all.last().cloned() else { return Vec::new() };
        all.push(Test::Text(place, within, text));
        test(Test::Any(all))
    }),
    ("equals_quoted", |scene, sems| match (place_of(sems), texts_of(sems)) {
        (Some(place), Some(text)) if scene.kind(place) == Kind::Text => {
            test(Test::In(Value::Column(place), vec![Value::Text(text)]))
        }
        _ => Vec::new(),
    }),
    ("is_missing", |scene, sems| {
        let Some(place) = place_of(sems) else { return Vec::new() };
        // A value may say that there is none.
        let none = scene
            .column(place)
            .values
            .iter()
            .flatten()
            .find(|it| matches!(it.to_lowercase().as_str(), "none" | "no" | "nothing"));
        match none {
            Some(none) => test(Test::In(Value::Column(place), vec![Value::Text(none.clone())])),
            None => test(Test::Missing(place)),
        }
    }),
    ("is_present", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| test(Test::Not(Box::new(Test::Missing(it)))))
    }),
    ("holds_same", |_, sems| match &helds_of(sems)[..] {
        [one_held, other]
            if one_held.place == other.place
                && one_held.spellings == other.spellings
                && !other.spellings.is_empty() =>
        {
            test(holds_test(one_held))
        }
        _ => Vec::new(),
    }),
    ("lacks", |scene, sems| {
        exists(scene, sems).map_or_else(Vec::new, |it| test(Test::Not(Box::new(it))))
    }),
    ("has_any", |scene, sems| exists(scene, sems).map_or_else(Vec::new, test)),
];

fn negated(tests: Vec<Test>) -> Test {
    match <[Test; 1]>::try_from(tests) {
        Ok([Test::Not(test)]) => *test,
        Ok([test]) => Test::Not(Box::new(test)),
        Err(tests) => Test::Any(tests.into_iter().map(|it| Test::Not(Box::new(it))).collect()),
    }
}

/// Returns the condition that the other table has a row.
fn exists(scene: &Scene, sems: &[&Sem]) -> Option<Test> {
    let join = scene.join?;
    let is_other = |it: &&Sem| matches!(it, Sem::Table(table) if *table == join.right.table);
    sems.iter().any(is_other).then_some(Test::Exists(join))
}

fn text_test(scene: &Scene, place: Option<Place>, within: Within, sems: &[&Sem]) -> Made {
    let text = texts_of(sems).or_else(|| held_of(sems).map(|it| it.text.clone()));
    match (place, text) {
        (Some(place), Some(text)) if scene.kind(place) == Kind::Text => {
            test(Test::Text(place, within, text))
        }
        _ => Vec::new(),
    }
}
