//! Parts of a question: what it asks for, comparisons, profiles, charts.

use jiff::civil::Date;

use csv_agent_types::chart_options::LogAxis;

use super::{
    Action, Made, aggs_of, compare_places, compare_with, concept_of, count_of, frag, frag_of,
    held_of, helds_of, holds_any, measure_of, merged, natural, number_of, one, op_of, order_of,
    periods_of, place_of, places_of, side_of, tests_of,
};
use crate::frag::{AskedFor, Claim, Frag, Sem};
use crate::lexicon::Concept;
use crate::link::is_time;
use crate::query::{
    Agg, Chart, Comparison, Contrast, GroupKey, Look, Measure, Op, Over, Panels, Place, Profile,
    Shape, SortOrder, Test, Told,
};
use crate::scene::Scene;
use crate::schema::Kind;

/// The actions, by the names that rules call them.
pub(super) const ACTIONS: &[(&str, Action)] = &[
    ("same", |_, sems| {
        sems.iter().rev().find(|it| !matches!(it, Sem::Word(_) | Sem::None)).map_or_else(
            Vec::new,
            |it| match it {
                Sem::Order(order) => one(frag(|frag| frag.order = Some(*order))),
                it => one((*it).clone()),
            },
        )
    }),
    ("both_flags", |_, sems| {
        place_of(sems)
            .map_or_else(Vec::new, |it| one(frag(|frag| frag.sides.push(GroupKey::Column(it)))))
    }),
    ("asked_columns", |scene, sems| {
        let places = places_of(sems);
        let is_key = |it: &Place| !scene.kind(*it).is_number() || scene.column(*it).unit.is_some();
        if places.iter().all(is_key) {
            one(frag(|it| {
                it.columns = places;
                it.has_rows = true;
            }))
        } else {
            Vec::new()
        }
    }),
    // `date in weather`
    ("columns_in", |_, sems| {
        let places = places_of(sems);
        let table = sems.iter().find_map(|it| match it {
            Sem::Table(table) => Some(*table),
            _ => None,
        });
        if places.iter().any(|it| Some(it.table) != table) {
            return Vec::new();
        }
        one(frag(|it| it.columns = places))
    }),
    ("by_measure", |_, sems| {
        let Some(inner) = sems.iter().find_map(|it| frag_of(it)) else { return Vec::new() };
        let mut inner = inner.clone();
        inner.is_by_measure = true;
        one(Sem::Frag(Box::new(inner)))
    }),
    ("names", |scene, _| {
        let titles: Vec<Place> = scene.places().filter(|it| scene.column(*it).is_title).collect();
        if titles.len() == 1 {
            one(frag(|it| {
                it.columns = titles;
                it.is_list = true;
            }))
        } else {
            Vec::new()
        }
    }),
    ("asks_any", |_, _| one(frag(|it| it.claim = Some(Claim::Any)))),
    ("asks_all", |_, _| one(frag(|it| it.claim = Some(Claim::All)))),
    ("asks_none", |_, _| one(frag(|it| it.claim = Some(Claim::None)))),
    ("asks_yes_no", |_, _| one(frag(|it| it.claim = Some(Claim::YesNo)))),
    ("compared", |_, _| one(frag(|it| it.compares = true))),
    ("count_outliers", |scene, sems| {
        let of = places_of(sems);
        if of.iter().any(|it| !scene.is_number(*it)) {
            return Vec::new();
        }
        body(Shape::Profile(Profile::Outliers { of, counts: true }))
    }),
    ("over_percent", |_, sems| {
        let over =
            if sems.iter().any(|it| matches!(it, Sem::Word(Concept::Share | Concept::Growth))) {
                Over::Growth
            } else {
                Over::Change
            };
        one(frag(|it| it.over = Some(over)))
    }),
    ("in_percent", |_, _| one(frag(|it| it.is_percent = true))),
    ("key_most", |scene, sems| {
        let frags: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        let (Some(Frag { keys, .. }), Some(order)) = (frags.first(), order_of(sems)) else {
            return Vec::new();
        };
        let [key] = keys[..] else { return Vec::new() };
        let rest = match (frags.get(1), place_of(sems)) {
            (Some(rest), None) => (*rest).clone(),
            (None, Some(place)) if scene.kind(place).is_number() => {
                Frag { by: Some(place), ..Frag::default() }
            }
            _ => return Vec::new(),
        };
        one(Sem::Frag(Box::new(Frag {
            target: Some(AskedFor::Key(key)),
            order: Some(SortOrder { n: order.n.or(Some(1)), ..order }),
            ..rest
        })))
    }),
    ("mode_top", |_, sems| match order_of(sems) {
        Some(order) if order.n.is_some() => {
            let mut made = mode(sems, false);
            for (it, _) in &mut made {
                if let Sem::Frag(frag) = it {
                    frag.order = Some(order);
                }
            }
            made
        }
        _ => Vec::new(),
    }),
    ("compared_flags", |scene, sems| {
        let places = places_of(sems);
        let held = held_of(sems).map(|it| it.place);
        let (Some(flag), Some(number)) = (
            places.iter().copied().find(|it| scene.kind(*it) == Kind::Bool).or(held),
            places.iter().find(|it| scene.kind(**it) != Kind::Bool && scene.is_number(**it)),
        ) else {
            return Vec::new();
        };
        one(frag(|it| {
            it.keys.push(GroupKey::Column(flag));
            it.measures.push(Measure::of(Agg::Mean, *number));
        }))
    }),
    ("target_n", |_, sems| {
        match (count_of(sems), sems.iter().find_map(|it| frag_of(it)).map(|it| &it.keys[..])) {
            (Some(n), Some([key])) => one(frag(|it| {
                it.target = Some(AskedFor::Key(*key));
                it.n = Some(n);
            })),
            _ => Vec::new(),
        }
    }),
    ("target_n_most", |_, sems| {
        match (
            count_of(sems),
            order_of(sems),
            sems.iter().find_map(|it| frag_of(it)).map(|it| &it.keys[..]),
        ) {
            (Some(n), Some(order), Some([key])) => one(frag(|it| {
                it.target = Some(AskedFor::Key(*key));
                it.order = Some(SortOrder { n: Some(n), ..order });
            })),
            _ => Vec::new(),
        }
    }),
    ("n_rows_most", |scene, sems| match (count_of(sems), order_of(sems), place_of(sems)) {
        (Some(n), Some(order), Some(place)) if scene.kind(place).is_number() => one(frag(|it| {
            it.order = Some(SortOrder { n: Some(n), ..order });
            it.by = Some(place);
            it.has_rows = true;
            it.tests = tests_of(sems);
        })),
        _ => Vec::new(),
    }),
    ("by_number", |scene, sems| {
        let Some(place) = place_of(sems)
            .filter(|it| scene.kind(*it).is_number() && scene.column(*it).unit.is_none())
        else {
            return Vec::new();
        };
        natural(scene, place)
            .into_iter()
            .map(|(measure, cost)| {
                (
                    frag(|it| {
                        it.measures.push(measure);
                        it.is_by_measure = true;
                    }),
                    cost,
                )
            })
            .collect()
    }),
    ("compared_by", |scene, sems| {
        let (helds, Some(place)) = (helds_of(sems), place_of(sems)) else { return Vec::new() };
        let [one_held, other] = &helds[..] else { return Vec::new() };
        if one_held.place != other.place || one_held.place == place || !scene.is_number(place) {
            return Vec::new();
        }
        let Some((Sem::Frag(tests), _)) = holds_any(&helds, None).pop() else { return Vec::new() };
        let mut numbers = natural(scene, place).into_iter();
        let Some(mean) = numbers.find(|it| it.0.agg == Agg::Mean) else { return Vec::new() };
        let mut made = (*tests).clone();
        made.measures.push(mean.0);
        made.keys.push(GroupKey::Column(one_held.place));
        vec![(Sem::Frag(Box::new(made)), 0.1)]
    }),
    // `which has the higher income: Seward or Longfellow`
    ("chosen", |scene, sems| {
        let helds = match helds_of(sems) {
            helds if helds.is_empty() => return Vec::new(),
            helds => helds,
        };
        let tests = match tests_of(sems) {
            tests if tests.is_empty() => {
                holds_any(&helds, None).pop().map(|it| tests_of(&[&it.0])).unwrap_or_default()
            }
            tests => tests,
        };
        match (place_of(sems), order_of(sems)) {
            (Some(by), Some(order)) if scene.is_number(by) && 1 < helds.len() => one(frag(|it| {
                it.target = Some(AskedFor::Key(GroupKey::Column(helds[0].place)));
                it.order = Some(SortOrder { n: Some(1), ..order });
                it.by = Some(by);
                it.tests = tests;
            })),
            _ => Vec::new(),
        }
    }),
    ("rows_missing", |scene, sems| {
        let tests: Vec<Test> = scene
            .places()
            .filter(|it| 0 < scene.column(*it).n_missing)
            .map(Test::Missing)
            .collect();
        if tests.is_empty() {
            return Vec::new();
        }
        one(frag(|it| {
            it.tests = tests_of(sems);
            it.tests.push(Test::Any(tests));
            it.has_rows = true;
            it.is_list = true;
        }))
    }),
    ("agg_open", |_, sems| one(frag(|it| it.aggs = aggs_of(sems)))),
    ("any_compare", |scene, sems| {
        let places = places_of(sems);
        let made = match places[..] {
            [_, _] => compare_places(scene, &places, op_of(sems)),
            _ => compare_with(scene, sems, op_of(sems)),
        };
        any_of(made)
    }),
    ("any_before", |scene, sems| any_of(compare_places(scene, &places_of(sems), Some(Op::Lt)))),
    ("any_after", |scene, sems| any_of(compare_places(scene, &places_of(sems), Some(Op::Gt)))),
    ("in_order", |scene, sems| {
        let key = sems.iter().find_map(|it| frag_of(it)).and_then(|it| it.keys.first().copied());
        let is_time_key = match key {
            Some(GroupKey::Column(place)) => {
                is_time(scene.column(place)) || scene.column(place).unit.is_some()
            }
            _ => true,
        };
        if is_time_key { one(frag(|_| {})) } else { Vec::new() }
    }),
    ("most_missing", |_, _| {
        body(Shape::Profile(Profile::Missing { of: Vec::new(), told: Told::Most }))
    }),
    ("most_flag", |_, sems| match (place_of(sems), order_of(sems)) {
        (Some(place), Some(order)) => {
            let only = vec![Test::True(place)];
            one(frag(|it| {
                it.order = Some(order);
                it.measures.push(Measure { agg: Agg::Share, of: None, only });
            }))
        }
        _ => Vec::new(),
    }),
    ("target", |_, sems| match sems.iter().find_map(|it| frag_of(it)).map(|it| &it.keys[..]) {
        Some([key]) => one(frag(|it| it.target = Some(AskedFor::Key(*key)))),
        _ => Vec::new(),
    }),
    ("rank_by", |scene, sems| {
        let mut frags = sems.iter().filter_map(|it| frag_of(it));
        let Some(ranked) = frags.next() else { return Vec::new() };
        let measures = match (frags.next(), place_of(sems)) {
            (Some(by), _) => vec![(by.measures.clone(), 0.0)],
            (None, Some(place)) => {
                natural(scene, place).into_iter().map(|it| (vec![it.0], it.1)).collect()
            }
            _ => Vec::new(),
        };
        let made = measures.into_iter().map(|(measures, cost)| {
            let order = Some(SortOrder::DESCENDING);
            let frag = Frag { measures, order, is_sorted: true, ..ranked.clone() };
            (Sem::Frag(Box::new(frag)), cost)
        });
        made.collect()
    }),
    ("target_who", |_, _| one(frag(|it| it.target = Some(AskedFor::Row)))),
    ("target_when", |_, _| one(frag(|it| it.target = Some(AskedFor::Time)))),
    ("list", |_, _| one(frag(|it| it.is_list = true))),
    ("chart", |_, sems| {
        let chart = match concept_of(sems) {
            Some(Concept::BarChart) => Chart::Bar,
            Some(Concept::ColumnChart) => Chart::Column,
            Some(Concept::StackedChart) => Chart::Stacked,
            Some(Concept::SharesChart) => Chart::Shares,
            Some(Concept::LineChart) => Chart::Line,
            Some(Concept::AreaChart) => Chart::Area,
            Some(Concept::ScatterChart) => Chart::Scatter,
            Some(Concept::HistogramChart) => Chart::Histogram,
            Some(Concept::BoxChart) => Chart::Box,
            Some(Concept::HeatChart) => Chart::Heat,
            _ => Chart::Any,
        };
        one(frag(|it| it.chart = Some(chart)))
    }),
    ("log_axis", |_, sems| {
        let axis = match concept_of(sems) {
            Some(Concept::LogXAxis) => LogAxis::X,
            Some(Concept::LogAxes) => LogAxis::Both,
            _ => LogAxis::Y,
        };
        one(frag(|it| {
            it.chart = Some(Chart::Any);
            it.look.log_axis = Some(axis);
        }))
    }),
    ("panels", |_, _| {
        one(frag(|it| {
            it.chart = Some(Chart::Any);
            it.look.panels = Some(Panels::Any);
        }))
    }),
    // `one panel per region`
    ("panels_of", |_, sems| {
        let made = merged(sems).filter(|it| it.keys.len() == 1);
        let made = made.map(|it| Frag {
            chart: Some(Chart::Any),
            look: Look { panels: Some(Panels::Of(it.keys[0])), ..it.look },
            ..it
        });
        made.map_or_else(Vec::new, |it| one(Sem::Frag(Box::new(it))))
    }),
    ("shares_chart", |_, sems| match number_of(sems) {
        Some(100.0) => one(frag(|it| it.chart = Some(Chart::Shares))),
        _ => Vec::new(),
    }),
    ("over", |_, sems| {
        let over = match concept_of(sems) {
            Some(Concept::Growth | Concept::PeriodChange) => Over::Growth,
            Some(Concept::Cumulative) => Over::Cumulative,
            _ => Over::Change,
        };
        one(frag(|it| it.over = Some(over)))
    }),
    ("over_share", |_, _| one(frag(|it| it.over = Some(Over::Share)))),
    ("having", |_, sems| match (op_of(sems), number_of(sems)) {
        (Some(op), Some(n)) => one(frag(|it| {
            it.having = Some((op, n));
            it.has_rows = true;
            it.tests = tests_of(sems);
        })),
        _ => Vec::new(),
    }),
    ("mode", |_, sems| mode(sems, false)),
    ("rarest", |_, sems| mode(sems, true)),
    ("mode_open", |_, sems| {
        let is_ascending = concept_of(sems) == Some(Concept::Rarest);
        one(frag(|it| {
            it.order = Some(SortOrder { is_ascending, n: Some(1), skip: 0 });
            it.measures.push(Measure::ROWS);
        }))
    }),
    ("correlations", |_, sems| {
        let is_drawn = sems.contains(&&Sem::Word(Concept::HeatChart));
        one(frag(|it| {
            it.body = Some(Shape::Profile(Profile::Correlations(places_of(sems))));
            it.chart = is_drawn.then_some(Chart::Heat);
        }))
    }),
    ("correlations_with", |scene, sems| {
        let of = places_of(sems);
        if of.iter().all(|it| scene.kind(*it).is_number()) {
            body(Shape::Profile(Profile::Correlations(of)))
        } else {
            Vec::new()
        }
    }),
    ("histogram", |_, sems| {
        let is_drawn = sems.contains(&&Sem::Word(Concept::HistogramChart));
        let chart = is_drawn.then_some(Chart::Histogram);
        merged(sems).map_or_else(Vec::new, |it| {
            one(Sem::Frag(Box::new(Frag { has_rows: true, chart, ..it })))
        })
    }),
    ("distribution", |_, sems| {
        let Some(place) = place_of(sems) else { return Vec::new() };
        let is_drawn = sems.contains(&&Sem::Word(Concept::HistogramChart));
        one(frag(|it| {
            it.body = Some(Shape::Profile(Profile::Distribution(place)));
            it.chart = is_drawn.then_some(Chart::Histogram);
        }))
    }),
    ("outliers", |scene, sems| {
        let of = places_of(sems);
        if of.iter().any(|it| !scene.is_number(*it)) {
            return Vec::new();
        }
        let counts = of.len() != 1;
        body(Shape::Profile(Profile::Outliers { of, counts }))
    }),
    ("duplicate_keys", |scene, _| {
        let keys: Vec<Place> = scene.places().filter(|it| scene.column(*it).is_key).collect();
        let made = keys.into_iter().map(|it| Shape::Profile(Profile::Duplicates(vec![it])));
        made.flat_map(body).collect()
    }),
    ("duplicates", |_, sems| body(Shape::Profile(Profile::Duplicates(places_of(sems))))),
    ("missing_values", |_, sems| {
        let of = places_of(sems);
        body(Shape::Profile(Profile::Missing { of, told: Told::Each }))
    }),
    ("columns_of", |_, _| body(Shape::Profile(Profile::Columns))),
    ("missing_columns", |_, _| {
        body(Shape::Profile(Profile::Missing { of: Vec::new(), told: Told::Some }))
    }),
    ("constant", |_, _| body(Shape::Profile(Profile::Constant))),
    ("describe", |_, sems| body(Shape::Profile(Profile::Describe(places_of(sems))))),
    ("size", |_, _| body(Shape::Profile(Profile::Size))),
    ("versus", |scene, sems| {
        let places = places_of(sems);
        let [one_place, other] = places[..] else { return Vec::new() };
        if !scene.is_number(one_place) || !scene.is_number(other) {
            return Vec::new();
        }
        // `bill length versus bill depth` are points; amounts that add up are rather totals.
        let are_totals = places.iter().any(|it| scene.is_additive(*it) == Some(true));
        let mut made = one(frag(|it| it.columns.clone_from(&places)));
        if !are_totals {
            made[0].1 = 0.5;
            made.extend(one(frag(|it| {
                it.columns = places;
                it.chart = Some(Chart::Scatter);
            })));
        }
        made
    }),
    ("versus_values", |_, sems| {
        let helds = helds_of(sems);
        let [one_held, other] = &helds[..] else { return Vec::new() };
        if one_held.place != other.place {
            return Vec::new();
        }
        let made = holds_any(&helds, None);
        let place = one_held.place;
        made.into_iter()
            .map(|(it, cost)| {
                (
                    frag(|frag| {
                        frag.tests = tests_of(&[&it]);
                        frag.keys.push(GroupKey::Column(place));
                    }),
                    cost,
                )
            })
            .collect()
    }),
    ("change", |scene, sems| measure_of(sems).map_or_else(Vec::new, |it| change(scene, &it, sems))),
    ("change_column", |scene, sems| {
        place_of(sems).map_or_else(Vec::new, |it| {
            natural(scene, it)
                .into_iter()
                .flat_map(|(measure, _)| change(scene, &measure, sems))
                .collect()
        })
    }),
    ("assemble", |scene, sems| match sems.first() {
        Some(Sem::Frag(frag)) => crate::assemble::assemble(scene, frag)
            .into_iter()
            .map(|(query, cost)| (Sem::Query(Box::new(query)), cost))
            .collect(),
        _ => Vec::new(),
    }),
];

fn body(make: Shape) -> Made {
    one(frag(|it| it.body = Some(make)))
}

/// Asks whether there are such rows.
fn any_of(made: Made) -> Made {
    made.into_iter()
        .map(|(it, cost)| {
            let tests = tests_of(&[&it]);
            (
                frag(|frag| {
                    frag.tests = tests;
                    frag.claim = Some(Claim::Any);
                }),
                cost,
            )
        })
        .collect()
}

fn mode(sems: &[&Sem], is_ascending: bool) -> Made {
    let n = count_of(sems).unwrap_or(1);
    let Some(keys) = sems.iter().find_map(|it| frag_of(it)).map(|it| it.keys.clone()) else {
        return Vec::new();
    };
    one(frag(|it| {
        it.keys = keys;
        it.measures.push(Measure::ROWS);
        it.order = Some(SortOrder { is_ascending, n: Some(n), skip: 0 });
    }))
}

fn change(scene: &Scene, measure: &Measure, sems: &[&Sem]) -> Made {
    let periods = periods_of(sems);
    let [one_period, other] = periods[..] else { return Vec::new() };
    let Some(place) = scene.times().first().copied() else { return Vec::new() };
    let side = |period: (Date, Date)| side_of(scene, place, period);
    let (Some(before), Some(after)) = (side(one_period), side(other)) else { return Vec::new() };
    let comparison =
        Comparison { measure: measure.clone(), sides: [before, after], asks: Contrast::Change };
    body(Shape::Compare(comparison))
}
