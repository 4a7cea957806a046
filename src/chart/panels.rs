//! Small multiples: a panel for each category, or for each of a few series of very different scale.

use csv_agent_types::chart::{ChartSpec, ChartType};
use csv_agent_types::chart_options::ChartOptions;
use csv_agent_types::limits::CHART_PANELS_MAX;

use super::numbers::Measure;
use super::plot::{Panels, Plot, PlotSeries, Space};
use super::scene::{Mark, Scene};
use super::sheet::{ChartBuilder, HEIGHT_MAX, MARGIN, WIDTH, count, panel_title};
use super::{bars, points};

/// The factor between the values of two series from which one of them would be flat.
const SCALE_FACTOR: f64 = 25.0;
/// Series of different scale that get a panel each; of more, a legend says less than their lines.
const SPLIT_MAX: usize = 4;
/// Names of panels that are left out and named.
const LEFT_OUT_NAMED_MAX: usize = 5;
/// The share of their margins by which panels overlap.
const OVERLAP: f64 = MARGIN;

impl Plot {
    /// Gives each of a few series a panel, if on one axis some would be flat.
    pub(crate) fn split_scales(&mut self, spec: &ChartSpec, options: &ChartOptions) {
        let is_kind = matches!(self.chart_type, ChartType::Line | ChartType::Column);
        let is_wide = options.color_by.is_none() && options.facet_by.is_none();
        let is_plain = options.log_axis.is_none()
            && options.line_series.is_none()
            && options.unit.is_none()
            && options.highlight.is_none()
            && options.annotations.as_ref().is_none_or(Vec::is_empty)
            && options.references.as_ref().is_none_or(Vec::is_empty);
        let is_few = (2..=SPLIT_MAX).contains(&spec.series.len());
        if !(is_kind && is_wide && is_plain && is_few && 1 < self.x.len()) {
            return;
        }
        let size =
            |it: &PlotSeries| it.values.iter().flatten().fold(0.0, |most, it| it.abs().max(most));
        let sizes: Vec<f64> = self.series.iter().map(size).collect();
        let (low, high) = (
            sizes.iter().copied().fold(f64::MAX, f64::min),
            sizes.iter().copied().fold(0.0, f64::max),
        );
        if low <= 0.0 || high < low * SCALE_FACTOR {
            return;
        }
        let names = self.series.iter().map(|it| it.name.clone()).collect();
        self.panels = Some(Panels { names, series: vec![String::new()], share_scale: false });
        self.notes.insert(0, "Each panel has its own scale.".to_owned());
    }

    /// Names the series of panels for those who read them without, and leaves out the smallest panels.
    pub(crate) fn name_panels(&mut self) {
        let Some(panels) = &mut self.panels else { return };
        if !panels.share_scale {
            return;
        }
        let n_series = panels.series.len();
        let n_panels = panels.names.len();
        if CHART_PANELS_MAX < n_panels {
            let values = |it: &[PlotSeries]| {
                it.iter().flat_map(|it| &it.values).flatten().map(|it| it.abs()).sum::<f64>()
            };
            let weights: Vec<f64> = self.series.chunks(n_series).map(values).collect();
            let mut order: Vec<_> = (0..n_panels).collect();
            order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
            let mut left_out = order.split_off(CHART_PANELS_MAX);
            left_out.sort_unstable();
            order.sort_unstable();
            let n_more = left_out.len().saturating_sub(LEFT_OUT_NAMED_MAX);
            let mut rest: Vec<_> = left_out
                .iter()
                .take(LEFT_OUT_NAMED_MAX)
                .map(|it| panels.names[*it].clone())
                .collect();
            if 0 < n_more {
                rest.push(format!("and {n_more} more"));
            }
            let note = format!(
                "The {CHART_PANELS_MAX} largest of {n_panels} are shown, without {}.",
                rest.join(", ")
            );
            let chunks: Vec<_> = self.series.chunks(n_series).map(<[_]>::to_vec).collect();
            self.series = order.iter().flat_map(|it| chunks[*it].clone()).collect();
            panels.names = order.iter().map(|it| panels.names[*it].clone()).collect();
            self.notes.insert(0, note);
        }
        let names = panels.names.iter().flat_map(|panel| {
            let name =
                |it: &String| if n_series == 1 { panel.clone() } else { format!("{panel}, {it}") };
            panels.series.iter().map(name).collect::<Vec<_>>()
        });
        for (series, name) in self.series.iter_mut().zip(names.collect::<Vec<_>>()) {
            series.name = name;
        }
    }

    /// Returns the plot of each panel, without the common parts.
    pub(crate) fn panel_plots(&self) -> Vec<Plot> {
        let Some(panels) = &self.panels else { return Vec::new() };
        let chunks = self.series.chunks(panels.series.len()).zip(&panels.names);
        let pane = |(series, name): (&[PlotSeries], &String)| {
            let named = series.iter().zip(&panels.series);
            let series: Vec<_> =
                named.map(|(it, name)| PlotSeries { name: name.clone(), ..it.clone() }).collect();
            Plot {
                title: Some(name.clone()),
                notes: Vec::new(),
                y_label: None,
                x_label: String::new(),
                series,
                panels: None,
                ..self.clone()
            }
        };
        let mut plots: Vec<_> = chunks.map(pane).collect();
        if panels.share_scale {
            let all = plots.iter().map(extent).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
            for pane in &mut plots {
                pane.covers = all;
            }
        } else {
            for pane in &mut plots {
                let name = pane.title.clone().unwrap_or_default();
                pane.measure = pane.range().map_or(Measure::Plain, |it| Measure::of(&[&name], it));
            }
        }
        plots
    }
}

/// Returns the range that the vertical axis of a panel covers.
fn extent(plot: &Plot) -> (f64, f64) {
    if plot.chart_type.is_placed() { points::upright_range(plot) } else { bars::extent(plot) }
}

fn is_lying(plot: &Plot) -> bool {
    matches!(plot.chart_type, ChartType::Bar | ChartType::StackedBar)
        || (!plot.chart_type.is_placed() && bars::labels_need_lines(plot))
}

/// Returns how many panels are side by side.
pub(crate) fn n_columns(n_panels: usize) -> usize {
    match n_panels {
        1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// Lays out panels, as many side by side as can be read; series of different scale are under each other.
pub(crate) fn scene(plot: &Plot) -> Scene {
    let mut plots = plot.panel_plots();
    let Some(panels) = &plot.panels else { return super::scene(plot) };
    let n_columns = if panels.share_scale { n_columns(plots.len()) } else { 1 };
    let n_rows = plots.len().div_ceil(n_columns);
    let head = Plot {
        series: panels.series.iter().map(|it| PlotSeries::new(it.clone(), Vec::new())).collect(),
        ..plot.clone()
    };
    let width = (WIDTH + OVERLAP * count(n_columns - 1)) / count(n_columns);
    let height: f64 = match n_rows {
        1 => 400.0,
        2 => 300.0,
        _ => 245.0,
    };
    let lines = panels.names.iter().map(|it| panel_title(it, width).len());
    let title_lines = lines.max().unwrap_or(0);
    let (height_max, label_width) = (height, 0.0);
    let mut space = Space { width, height, height_max, label_width, title_lines, is_panel: true };
    for pane in &mut plots {
        pane.space = space;
    }
    let is_level = plots.first().is_some_and(is_lying);
    let (upright, level) = if is_level {
        (Some(plot.x_label.as_str()), plot.y_label.as_deref())
    } else {
        (plot.y_label.as_deref(), Some(plot.x_label.as_str()))
    };
    let mut sheet = ChartBuilder::new(&head, WIDTH, 1 < head.series.len(), upright);
    sheet.top -= 6.0;
    sheet.hints.extend(references(plot));
    let foot = sheet.foot_height(level);
    let room = (HEIGHT_MAX - sheet.top - foot - 2.0 * 17.0) / count(n_rows) + OVERLAP;
    let lying_height =
        if is_level { 90.0 + 20.0 * count(plot.x.len() * head.series.len()) } else { 0.0 };
    space.height_max = room.min(height.max(lying_height));
    space.height = space.height.min(space.height_max);
    let label_width = |it: &Plot| {
        if it.chart_type.is_placed() { points::label_width(it) } else { bars::label_width(it) }
    };
    if !is_level {
        space.label_width = plots.iter().map(label_width).fold(0.0, f64::max);
    }
    for pane in &mut plots {
        pane.space = space;
    }
    let drawn: Vec<_> = plots.iter().map(super::scene).collect();
    let mut y = sheet.top;
    for row in drawn.chunks(n_columns) {
        for (scene, column) in row.iter().zip(0..) {
            let x = (width - OVERLAP) * f64::from(column);
            for mark in &scene.marks {
                sheet.mark(moved(mark, (x, y - MARGIN + 4.0)));
            }
        }
        y += row.iter().map(|it| it.height).fold(0.0, f64::max) - OVERLAP;
    }
    let hints = drawn.iter().zip(&panels.names).flat_map(|(scene, name)| {
        scene
            .hints
            .iter()
            .map(move |it| if panels.share_scale { it.clone() } else { format!("{name}: {it}") })
    });
    for hint in hints {
        if !sheet.hints.contains(&hint) {
            sheet.hints.push(hint);
        }
    }
    let height = y + 6.0 + sheet.foot_height(level);
    sheet.finish(height, level, (MARGIN, WIDTH - MARGIN))
}

/// Returns what is compared with, which has no labels in panels.
pub(crate) fn references(plot: &Plot) -> impl Iterator<Item = String> {
    plot.references.iter().map(|it| {
        let what = if it.to.is_some() { "Grey band" } else { "Dashed line" };
        format!("{what}: {}.", it.text(plot.measure))
    })
}

/// Returns a mark at another place.
fn moved(mark: &Mark, (dx, dy): (f64, f64)) -> Mark {
    let all = |it: &[(f64, f64)]| it.iter().map(|it| (it.0 + dx, it.1 + dy)).collect();
    match mark {
        Mark::Rect { x, y, width, height, colour } => {
            let (x, y) = (x + dx, y + dy);
            Mark::Rect { x, y, width: *width, height: *height, colour: *colour }
        }
        Mark::Line { points, width, colour } => {
            Mark::Line { points: all(points), width: *width, colour: *colour }
        }
        Mark::Area { corners, colour } => Mark::Area { corners: all(corners), colour: *colour },
        Mark::Dot { x, y, radius, shape, colour, is_hollow } => Mark::Dot {
            x: x + dx,
            y: y + dy,
            radius: *radius,
            shape: *shape,
            colour: *colour,
            is_hollow: *is_hollow,
        },
        Mark::Text(label) => {
            let mut label = label.clone();
            (label.x, label.y) = (label.x + dx, label.y + dy);
            Mark::Text(label)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Plot;
    use crate::gallery::{chart, wave};
    use crate::gallery_types::panelled;
    use crate::scene;
    use crate::scene::Mark;
    use csv_agent_types::chart::{Chart, ChartType};

    /// Returns the texts of the picture.
    fn texts(chart: &Chart) -> Vec<String> {
        let text = |mark: Mark| match mark {
            Mark::Text(label) => Some(label.text),
            _ => None,
        };
        scene(&Plot::of(chart)).marks.into_iter().filter_map(text).collect()
    }

    #[test]
    fn panels_are_in_the_order_of_the_calendar_and_have_the_same_axes() {
        let x = ["a", "b", "c"].map(|it| json!(it));
        let made = panelled(ChartType::Column, &x, 1, &["Mar", "Jan"]);
        let plots = Plot::of(&made).panel_plots();
        let titles: Vec<_> = plots.iter().filter_map(|it| it.title.as_deref()).collect();
        assert_eq!(titles, ["Jan", "Mar"]);
        assert!(plots[0].covers.is_some() && plots[0].covers == plots[1].covers);
        assert_eq!(plots[0].x.len(), 3);
    }

    #[test]
    fn of_many_panels_the_largest_are_shown_and_the_others_named() {
        let names: Vec<_> = (1..=20).map(|it| format!("Store {it}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let made = panelled(ChartType::Line, &[json!("a"), json!("b")], 1, &names);
        let texts = texts(&made);
        assert_eq!(texts.iter().filter(|it| it.starts_with("Store ")).count(), 12, "{texts:?}");
        let is_note =
            |it: &&String| it.starts_with("The 12 largest of 20 are shown, without Store");
        let note = texts.iter().find(is_note).unwrap();
        assert!(note.ends_with(" and 3 more."), "{note}");
    }

    #[test]
    fn series_of_very_different_scale_get_a_panel_each() {
        let x: Vec<_> = (1..=6).map(|it| json!(format!("2024-{it:02}-01"))).collect();
        let drawn = |size: f64| {
            let series = [("Revenue", wave(6, size, 1)), ("Orders", wave(6, 70.0, 2))];
            Plot::of(&chart(ChartType::Line, "", "object", &x, &series))
        };
        assert_eq!(drawn(700.0).panel_plots().len(), 0);
        let plot = drawn(70_000.0);
        let plots = plot.panel_plots();
        assert_eq!(plots.len(), 2);
        assert_eq!(plots[1].title.as_deref(), Some("Orders"));
        assert_eq!(plot.notes[0], "Each panel has its own scale.");
        assert_eq!((plots[0].covers, plot.series.len()), (None, 2));
    }
}
