//! One way to read a question.

use crate::grammar::ENGLISH;
use crate::query::{Agg, LogicalForm, Measure, Place, Shape};

/// How a question may be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// What it asks.
    pub query: LogicalForm,
    /// What it costs: the likelier, the less.
    pub cost: f64,
    /// How much of that is of words that were left out.
    pub skipped: f64,
    /// How much of it is of links.
    pub linked: f64,
    /// Whether it tells a number for each time of a column, which may be many.
    pub is_series: bool,
    /// How sure it is of the question before, if it takes that up.
    pub before: f64,
    /// The rules that made it, for those who train.
    pub rules: Vec<u16>,
}

impl Reading {
    /// Returns whether nothing was said of what is computed, so that it may be a part of a question.
    pub(crate) fn is_part(&self) -> bool {
        let has_number = match &self.query.body {
            Shape::Groups(groups) => !groups.measures.iter().all(Measure::is_rows),
            Shape::Profile(_) => true,
            _ => false,
        };
        if has_number {
            return false;
        }
        let says = ["Meas ", "Rows ", "Target ", "Part = [list]", "Question "];
        let names = self.rules.iter().map(|it| ENGLISH.name(*it));
        // `the highest pay` is a question.
        if names
            .clone()
            .any(|it| it.ends_with(": ranked_column") || it == "Ranked = SUPADJ : ranked")
        {
            return false;
        }
        let mut saying = names.filter(|it| says.iter().any(|start| it.starts_with(start)));
        saying.all(|it| it.starts_with("Question = Parts"))
    }

    /// Returns the columns whose values are totalled or averaged although the question says neither.
    pub(crate) fn combined_unsaid(&self) -> Option<(&Agg, Vec<Place>)> {
        let Shape::Groups(groups) = &self.query.body else { return None };
        let mut names = self.rules.iter().map(|it| ENGLISH.name(*it));
        // What follows up another question has the number of that.
        let is_whole = names.clone().any(|it| it.starts_with("Question "));
        let says = |it: &str| it.starts_with("Meas ") || it.starts_with("Agg ");
        let agg = &groups.measures.first()?.agg;
        if !is_whole || names.any(says) || !matches!(agg, Agg::Sum | Agg::Mean) {
            return None;
        }
        let places = groups.measures.iter().filter(|it| it.agg == *agg).flat_map(Measure::places);
        Some((agg, places.collect()))
    }
}
