//! Charts of rows, of two numbers side by side, and of what the data is like.

use serde_json::Value as Json;

use csv_agent_text::sql::{identifier, literal};
use csv_agent_types::limits::{CHART_HEAT_ROWS_MAX, CHART_VALUES_MAX};

use super::Answer;
use super::chart::{COLUMNS_MAX, Plot, ROWS, instead, kind_of, rows_max, sample};
use super::figure::{capital, grouped};
use crate::query::{Chart, Comparison, Listing, Place, Profile};
use crate::schema::Kind;
use crate::sql::binned;

/// Bins of one whole number each.
const SINGLE_BINS_MAX: u32 = 50;

impl Answer<'_> {
    pub(super) fn of_rows(&self, listing: &Listing, asked: Chart) -> Option<Plot> {
        let plain = self.plain();
        let kind = |place: &Place| plain.column(*place).kind;
        let columns = &listing.columns;
        let is_number = |it: &&Place| kind(it).is_number() && !plain.is_name(**it);
        let along = |it: &&Place| kind(it).is_time() || plain.is_name(**it) && kind(it).is_number();
        let (y, x, marks) = match (&columns[..], asked) {
            ([y, x, ..], Chart::Scatter)
                if kind(y).is_number() && (kind(x).is_number() || kind(x).is_time()) =>
            {
                (*y, *x, "scatter")
            }
            (columns, asked) => {
                let y = *columns.iter().find(is_number)?;
                let others = || columns.iter().filter(|it| **it != y);
                let time = others().find(along);
                let text = others().find(|it| kind(it) == Kind::Text);
                let number = others().find(is_number);
                match (time, text, number, asked) {
                    (Some(x), _, _, Chart::Any | Chart::Line | Chart::Area) => {
                        (y, *x, kind_of(asked).unwrap_or("line"))
                    }
                    (_, None, Some(x), Chart::Any) => (y, *x, "scatter"),
                    (_, Some(x), _, asked) | (Some(x), _, _, asked) | (_, _, Some(x), asked) => {
                        let natural =
                            if self.result.n_rows <= COLUMNS_MAX { "column" } else { "bar" };
                        (y, *x, kind_of(asked).unwrap_or(natural))
                    }
                    (None, None, None, _) => return None,
                }
            }
        };
        let [x_field, y_field] = [x, y].map(|it| plain.label(it));
        let [x_name, y_name] = [&x_field, &y_field].map(|it| identifier(it));
        let by = columns.get(2).filter(|_| marks == "scatter").map(|it| plain.label(*it));
        let option = if self.query.look.panels.is_some() { "facet_by" } else { "color_by" };
        let options = by.iter().map(|it| (option.to_owned(), it.clone().into())).collect();
        let mut notes = Vec::new();
        let (n, result) = (self.result.n_rows, self.result());
        let max = rows_max(marks);
        let is_long = (max as u64) < n;
        let known = format!("{x_name} is not null and {y_name} is not null");
        let frame = match marks {
            "scatter" if is_long => {
                let shown = grouped(max as u64);
                notes.push(format!("The chart shows {shown} of {} points.", grouped(n)));
                let filter = format!(" where {known}");
                let names = [&x_field, &y_field].into_iter().chain(&by);
                let names: Vec<String> = names.map(|it| identifier(it)).collect();
                Some(sample(&result, &names.join(", "), &filter, max))
            }
            "scatter" => None,
            "line" | "area" => {
                let rows = format!("select {x_name}, {y_name}\nfrom {result}\nwhere {known}");
                if is_long {
                    let shown = grouped(max as u64);
                    notes.push(format!("The chart shows the last {shown} of {}.", grouped(n)));
                    Some(format!(
                        "select *\nfrom ({rows}\norder by {x_name} desc\nlimit {max})\norder by {x_name}"
                    ))
                } else {
                    Some(format!("{rows}\norder by {x_name}"))
                }
            }
            _ if listing.order.is_some() => self.cut(max, Some(false), &mut notes),
            _ => {
                let rows = format!(
                    "select {x_name}, {y_name}\nfrom {result}\nwhere {known}\norder by {y_name} desc"
                );
                if is_long {
                    notes.push(format!("The chart shows the largest {max} of {}.", grouped(n)));
                    Some(format!("{rows}\nlimit {max}"))
                } else {
                    Some(rows)
                }
            }
        };
        if marks != "scatter" {
            notes.splice(0..0, instead(asked, marks));
        }
        Some(Plot {
            kind: marks,
            x: x_field,
            x_label: Some(self.labelled(x)),
            series: vec![(self.labelled(y), y_field)],
            y_label: Some(self.labelled(y)),
            options,
            frame,
            notes,
        })
    }

    pub(super) fn of_sides(&self, comparison: &Comparison, asked: Chart) -> Plot {
        let [one, other] = [1, 2].map(|it| self.statement.measures[it].clone());
        let quantity = self.plain().quantity(&comparison.measure);
        let result = self.result();
        let side = |at: usize, label: &str| {
            let name = literal(&comparison.sides[at].name);
            format!("select {name} as part, {} as \"value\"\nfrom {result}", identifier(label))
        };
        let frame = format!("{}\nunion all\n{}", side(0, &one), side(1, &other));
        Plot {
            kind: match asked {
                Chart::Bar => "bar",
                _ => "column",
            },
            x: "part".to_owned(),
            x_label: Some(String::new()),
            series: vec![(capital(&quantity.whole()), "value".to_owned())],
            y_label: Some(capital(&quantity.label())),
            frame: Some(frame),
            ..Plot::default()
        }
    }

    pub(super) fn of_profile(&self, profile: &Profile) -> Option<Plot> {
        let plain = self.plain();
        let asked = self.query.chart;
        if self.result.n_rows < 2 {
            return None;
        }
        let mut notes = Vec::new();
        if let Profile::Distribution(place) = profile {
            return Some(self.of_distribution(*place));
        }
        let asked = asked?;
        if let Profile::Correlations(_) = profile
            && let [x, rest @ ..] = &self.result.columns[..]
            && 1 < rest.len()
            && matches!(asked, Chart::Any | Chart::Heat)
        {
            let rest = rest.iter().filter(|it| *it != "correlation").take(CHART_HEAT_ROWS_MAX);
            return Some(Plot {
                kind: "heatmap",
                x: x.clone(),
                x_label: Some(String::new()),
                series: rest.map(|it| (self.said(it), it.clone())).collect(),
                y_label: Some(String::new()),
                ..Plot::default()
            });
        }
        let (x, x_label) = match profile {
            Profile::Duplicates(places) if places.len() == 1 => {
                (plain.label(places[0]), plain.words(places[0]))
            }
            profile if super::nothing::is_of_columns(profile) => {
                ("column".to_owned(), "column".to_owned())
            }
            _ => return None,
        };
        let y = self.statement.measures.first()?.clone();
        let name = match profile {
            Profile::Missing { .. } => "Missing values",
            Profile::Duplicates(_) => ROWS,
            Profile::Correlations(_) => "Correlation",
            _ => "Outliers",
        };
        let kind = kind_of(asked).filter(|it| matches!(*it, "bar" | "column")).unwrap_or("bar");
        Some(Plot {
            kind,
            x,
            x_label: Some(capital(&x_label)),
            series: vec![(name.to_owned(), y)],
            y_label: Some(name.to_owned()),
            frame: self.cut(rows_max(kind), Some(false), &mut notes),
            notes,
            ..Plot::default()
        })
    }

    fn of_distribution(&self, place: Place) -> Plot {
        let (plain, asked) = (self.plain(), self.query.chart.unwrap_or(Chart::Any));
        let kind = plain.column(place).kind;
        // Whole numbers that are close to each other have a bin each.
        let value = |row: Option<&Json>| row.and_then(|it| it[&self.statement.keys[0]].as_f64());
        let ends = value(self.result.head.first()).zip(value(self.result.head.last()));
        let are_close = kind == Kind::Whole
            && ends.is_some_and(|(least, most)| most - least < f64::from(SINGLE_BINS_MAX));
        let width = binned(&self.tables[place.table], place).or(are_close.then_some(1.0));
        // The bars of more values have the numbers of all of them.
        let are_few = self.table().n_rows <= CHART_VALUES_MAX as u64;
        match asked {
            Chart::Box if kind.is_number() => return self.of_values("box", &[], place),
            Chart::Any | Chart::Histogram if are_few && let Some(width) = width => {
                return self.histogram(place, width);
            }
            _ => {}
        }
        let is_category = matches!(kind, Kind::Text | Kind::Bool);
        let fits = self.result.n_rows <= COLUMNS_MAX && self.are_short(0);
        let natural = if is_category && !fits { "bar" } else { "column" };
        let mut notes = Vec::new();
        let marks = kind_of(asked).unwrap_or_else(|| {
            notes.extend(instead(asked, natural).filter(|_| asked != Chart::Histogram));
            natural
        });
        Plot {
            kind: marks,
            x: self.statement.keys[0].clone(),
            x_label: Some(self.labelled(place)),
            series: vec![(ROWS.to_owned(), "count".to_owned())],
            y_label: Some(ROWS.to_owned()),
            frame: self.cut(rows_max(marks), Some(kind.is_time()), &mut notes),
            notes,
            ..Plot::default()
        }
    }
}
