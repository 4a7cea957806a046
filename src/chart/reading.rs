//! A plot read from a chart: its rows arranged, counted and scaled as its type and options ask.

use std::collections::BTreeSet;

use unicode_script::UnicodeScript;

use csv_agent_types::chart::{Chart, ChartSpec, ChartType};
use csv_agent_types::chart_options::{ChartOptions, LogAxis, ReferenceMark, ValueFormat};

use super::arrangement;
use super::distribution::{self, summarised};
use super::glyphs::spelt;
use super::numbers::{self, Measure};
use super::plot::{Plot, PlotSeries, Reference, Space, VALUE_MAX, X, clean};

/// Maximum lines of a note, before wrapping.
const NOTES_MAX: usize = 4;

impl Plot {
    pub(crate) fn of(chart: &Chart) -> Plot {
        let chart = summarised(chart.clone());
        let (spec, frame) = (chart.spec(), chart.frame());
        let options = spec.options.clone().unwrap_or_default();
        let optional =
            |it: &Option<String>| it.as_deref().map(clean).filter(|it| !it.trim().is_empty());
        let (mut bins, mut boxes, mut panels) = (Vec::new(), Vec::new(), None);
        let (x, series) = match spec.chart_type {
            ChartType::Histogram => {
                let (all, names, series) = distribution::bins(frame);
                bins = all;
                (X::Labels(names), vec![series])
            }
            ChartType::Box => {
                let (all, x) = distribution::boxes(frame, &spec.x_field);
                let values = all.iter().map(|it| it.ends.map(|it| it[2])).collect();
                boxes = all;
                let name = spec.series.first().map(|it| clean(&it.name)).unwrap_or_default();
                (x, vec![PlotSeries::new(name, values)])
            }
            _ => {
                let (x, series, found) = arrangement::rows(spec, frame);
                panels = found;
                (x, series)
            }
        };
        let only = match spec.series.as_slice() {
            _ if spec.chart_type == ChartType::Histogram => Some("Number of rows".to_owned()),
            [only] => Some(clean(&only.name)),
            _ => None,
        };
        let mut plot = Plot {
            chart_type: spec.chart_type,
            title: optional(&spec.title),
            notes: notes(spec.note.as_deref().unwrap_or_default()),
            x_label: optional(&spec.x_label).unwrap_or_else(|| clean(&spec.x_field)),
            y_label: optional(&spec.y_label).or(only),
            x,
            series,
            measure: Measure::Plain,
            bins,
            boxes,
            references: references(&options),
            is_log: match options.log_axis {
                Some(LogAxis::X) => (true, false),
                Some(LogAxis::Y) => (false, true),
                Some(LogAxis::Both) => (true, true),
                None => (false, false),
            },
            trend: None,
            panels,
            space: Space::WHOLE,
            covers: None,
            emphasis: None,
            annotations: Vec::new(),
            has_values: options.value_labels != Some(false),
            line: None,
        };
        if let Some(line) = &options.line_series {
            plot.lay_over(line);
        }
        plot.measure = match options.number_format {
            Some(ValueFormat::Plain) => Measure::Plain,
            Some(ValueFormat::Percent) => Measure::Percent,
            Some(ValueFormat::Share) => Measure::Share,
            None => plot.range().map_or(Measure::Plain, |it| measure(spec, it)),
        };
        if spec.chart_type == ChartType::Histogram {
            let n: f64 = plot.series.iter().flat_map(|it| it.values.iter().flatten()).sum();
            let n = numbers::grouped(&n.to_string());
            let values = if n == "1" { "value" } else { "values" };
            plot.notes.insert(0, format!("{n} {values}."));
        }
        if let Some(unit) = optional(&options.unit) {
            plot.name_unit(&unit);
        }
        plot.drop_unscaled();
        plot.drop_beyond();
        plot.arrange(options.order);
        if plot.chart_type == ChartType::PercentStackedColumn {
            plot.share();
            plot.measure = Measure::Share;
        }
        plot.place_rows();
        plot.split_scales(spec, &options);
        plot.name_panels();
        plot.emphasise(options.highlight.as_deref());
        plot.annotate(options.annotations.as_deref().unwrap_or_default());
        if let Some(size_by) = &options.size_by {
            plot.note_sizes(&clean(size_by));
        }
        if options.trend_line == Some(true) {
            plot.fit_trend();
        }
        plot.note_scripts();
        plot
    }

    /// Notes the scripts that no font has. A viewer of the SVG may have one.
    fn note_scripts(&mut self) {
        let labels = match &self.x {
            X::Labels(labels) => labels.as_slice(),
            X::Numbers(_) | X::Times(_) => &[],
        };
        let names = self.series.iter().map(|it| &it.name).chain(labels).chain(&self.notes);
        let titles = self.title.iter().chain(&self.y_label).chain([&self.x_label]);
        let letters = names.chain(titles).flat_map(|it| spelt(it));
        let scripts: BTreeSet<_> = letters
            .filter(|it| it.is_alphabetic())
            .map(|it| it.script().full_name().replace('_', " "))
            .collect();
        if !scripts.is_empty() {
            let scripts = scripts.into_iter().collect::<Vec<_>>().join(", ");
            let note =
                format!("In the PNG, {scripts} is in Latin letters: there is no font for it.");
            self.notes.insert(0, note);
        }
    }

    /// Adds a unit to the label of the values, unless they have it.
    fn name_unit(&mut self, unit: &str) {
        let label = match self.chart_type {
            ChartType::Histogram => return with_unit(&mut self.x_label, unit),
            _ => self.y_label.get_or_insert_default(),
        };
        with_unit(label, unit);
    }

    /// Notes what the size of points means.
    fn note_sizes(&mut self, name: &str) {
        let sizes = || self.series.iter().flat_map(|it| &it.sizes).flatten().copied();
        let largest = sizes().fold(0.0, f64::max);
        if 0.0 < largest {
            let largest = numbers::amount(largest, Measure::Plain);
            let note = format!("The area of a point shows {name}, up to {largest}.");
            self.notes.insert(0, note);
        }
    }

    /// Drops the references that are not on the axis of the bins or of the shares, and notes them.
    fn drop_beyond(&mut self) {
        let axis = match (self.bins.first().zip(self.bins.last()), self.chart_type) {
            (Some((first, last)), _) => first.from..=last.to,
            (None, ChartType::PercentStackedColumn) => 0.0..=1.0,
            (None, _) => return,
        };
        let is_on =
            |it: &Reference| axis.contains(&it.from) && it.to.is_none_or(|it| axis.contains(&it));
        let (on, beyond): (Vec<_>, Vec<_>) = self.references.drain(..).partition(is_on);
        let names: Vec<_> = beyond.iter().map(|it| it.text(Measure::Plain)).collect();
        self.references = on;
        if !names.is_empty() {
            self.notes.insert(0, format!("Beyond the axis: {}.", names.join(", ")));
        }
    }

    /// Drops the values that a logarithmic axis cannot show, and notes how many.
    fn drop_unscaled(&mut self) {
        let mut n_lost = 0;
        let mut keep = |value: &mut Option<f64>| {
            if value.is_some_and(|it| it <= 0.0) {
                *value = None;
                n_lost += 1;
            }
        };
        if let (true, X::Numbers(numbers)) = (self.is_log.0, &mut self.x) {
            numbers.iter_mut().for_each(&mut keep);
        }
        if self.is_log.1 {
            self.series.iter_mut().flat_map(|it| &mut it.values).for_each(&mut keep);
            self.references.retain(|it| 0.0 < it.from && it.to.is_none_or(|it| 0.0 < it));
            for ends in self.series.iter_mut().flat_map(|it| &mut it.ends) {
                *ends = ends.filter(|it| 0.0 < it.0);
            }
        }
        if 0 < n_lost {
            let values = if n_lost == 1 { "value is" } else { "values are" };
            let note = format!(
                "{n_lost} {values} zero or less and cannot be shown on a logarithmic axis."
            );
            self.notes.insert(0, note);
        }
    }

    /// Sorts the rows of a line by time or number, and notes those without a position.
    fn place_rows(&mut self) {
        if self.chart_type.is_placed() {
            let n_lost = self.x.n_missing();
            if 0 < n_lost && n_lost < self.x.len() {
                let rows = if n_lost == 1 { "row has" } else { "rows have" };
                let lost = format!("{n_lost} {rows} no {} and cannot be shown.", self.x_label);
                self.notes.insert(0, lost);
            }
        }
        if matches!(self.chart_type, ChartType::Line | ChartType::Area) {
            self.take(&self.x.order());
        }
    }
}

/// The value label applies to all values; without one, the names of the series or their columns do.
fn measure(spec: &ChartSpec, range: (f64, f64)) -> Measure {
    if let Some(label) = &spec.y_label {
        return Measure::of(&[label.as_str()], range);
    }
    let names: Vec<_> = spec.series.iter().map(|it| it.name.as_str()).collect();
    let fields: Vec<_> = spec.series.iter().map(|it| it.y_field.as_str()).collect();
    match Measure::of(&names, range) {
        Measure::Plain => Measure::of(&fields, range),
        measure => measure,
    }
}

fn with_unit(label: &mut String, unit: &str) {
    if label.is_empty() {
        unit.clone_into(label);
    } else if !label.contains(unit) {
        *label = format!("{label} ({unit})");
    }
}

fn references(options: &ChartOptions) -> Vec<Reference> {
    let all = options.references.iter().flatten();
    let is_drawn = |it: &&ReferenceMark| {
        it.value.abs() <= VALUE_MAX && it.to.is_none_or(|it| it.abs() <= VALUE_MAX)
    };
    let reference = |it: &ReferenceMark| {
        let amounts = [Some(it.value), it.to].into_iter().flatten();
        let amounts: Vec<_> = amounts.map(|it| numbers::amount(it, Measure::Plain)).collect();
        let label = it.label.as_deref().map(clean).filter(|it| !it.trim().is_empty());
        let from = it.to.map_or(it.value, |to| it.value.min(to));
        let to = it.to.map(|to| it.value.max(to)).filter(|to| from < *to);
        Reference { from, to, label: label.unwrap_or_else(|| amounts.join(" to ")) }
    };
    all.filter(is_drawn).map(reference).collect()
}

/// Returns the lines of a note. A source at its end gets its own line.
fn notes(note: &str) -> Vec<String> {
    let lines = note.lines().flat_map(|line| match line.rfind(". Source: ") {
        Some(at) => vec![&line[..=at], &line[at + 2..]],
        None => vec![line],
    });
    lines.map(clean).filter(|it| !it.trim().is_empty()).take(NOTES_MAX).collect()
}
