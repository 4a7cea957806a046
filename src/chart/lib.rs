//! Charts as pictures: SVG for documents, PNG for everything else, a sentence for screen readers; and
//! as terminals show them, by their picture protocols or in characters.
//!
//! A [`Chart`] becomes a plot (its numbers, dates and labels), the plot a scene (marks with positions),
//! the scene a document. Nothing depends on the machine: the fonts are embedded, and the arithmetic
//! that places marks uses only addition, multiplication and square roots. Character charts have their
//! own grid, built from the same plot.

mod plot;
mod arrangement;
mod distribution;
mod trend;
mod reading;
mod arranged;
mod numbers;
mod ticks;
pub mod time;
mod glyphs;
mod shaping;
mod outlines;
mod text;
mod fit;
mod scene;
mod sheet;
mod band_scale;
mod bars;
mod overlay;
mod line_labels;
mod references;
mod thinning;
mod areas;
mod points;
mod overplotting;
mod panels;
mod emphasis;
mod geometry;
mod boxes;
mod heat;
mod theme;
mod coverage;
mod raster;
mod svg;
mod png;
mod backend;
mod text_chart;
mod text_summary;
mod inline;
mod vega_lite;
mod sixel;
pub mod screen;

use std::borrow::Cow;

use csv_agent_types::chart::{Chart, ChartType};

pub use arranged::{arranged, panels, trend_line};
pub use distribution::summarised;
use plot::Plot;
use scene::Scene;
pub use theme::Theme;
pub use vega_lite::vega_lite;

/// Maximum number of series that the alternative text describes individually.
const SERIES_NAMED_MAX: usize = 4;

/// How a chart is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartStyle {
    /// Its colours.
    pub theme: Theme,
    /// Pixels of the PNG per pixel of the SVG, at least 1.
    pub scale: u32,
}

impl Default for ChartStyle {
    fn default() -> Self {
        ChartStyle { theme: Theme::default(), scale: 1 }
    }
}

/// A chart as files.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// A document with a title and a description.
    pub svg: String,
    /// Width and height of the SVG in its pixels.
    pub svg_size: (u32, u32),
    /// The same picture as PNG.
    pub png: Vec<u8>,
    /// Width and height of the PNG in pixels.
    pub png_size: (u32, u32),
}

/// A chart as pixels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Raster {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Row by row from the upper left, three bytes per pixel.
    pub rgb: Vec<u8>,
}

/// Draws a chart.
///
/// It is 960 pixels wide and 540 high, or as large as its bars, labels and legend require: from 600
/// pixels for a few columns to 3,400 for hundreds, and never higher than 1,200. The same chart always yields the same bytes.
///
/// # Errors
///
/// Fails when a backend or the encoder fails, which is a bug.
pub fn draw(chart: &Chart, style: ChartStyle) -> anyhow::Result<Drawing> {
    let plot = Plot::of(chart);
    let scene = scene(&plot);
    let svg = document(chart, &plot, &scene, style.theme)?;
    let svg_size = backend::size(&scene, 1.0)?;
    let raster = backend::raster(&scene, style.theme, f64::from(style.scale))?;
    let png = png::encode(&raster)?;
    Ok(Drawing { svg, svg_size, png, png_size: (raster.width, raster.height) })
}

/// Draws a chart only as an SVG document, as [`draw`] does.
///
/// # Errors
///
/// Fails when the backend fails, which is a bug.
pub fn svg(chart: &Chart, theme: Theme) -> anyhow::Result<String> {
    let plot = Plot::of(chart);
    document(chart, &plot, &scene(&plot), theme)
}

fn document(chart: &Chart, plot: &Plot, scene: &Scene, theme: Theme) -> anyhow::Result<String> {
    let title = plot.title.as_deref().unwrap_or(&chart.spec().logical_name);
    backend::svg(scene, theme, &plot::clean(title), &sentence(plot))
}

/// Lays out a plot. A text that has no place at its point is in the note.
fn scene(plot: &Plot) -> Scene {
    let mut plot = Cow::Borrowed(plot);
    loop {
        match emphasis::placed(marks(&plot)) {
            Ok(scene) => return scene,
            Err(text) => plot.to_mut().note_text(&text),
        }
    }
}

fn marks(plot: &Plot) -> Scene {
    if plot.panels.is_some() {
        return panels::scene(plot);
    }
    match plot.chart_type {
        ChartType::Bar | ChartType::StackedBar => bars::lying(plot),
        ChartType::Column | ChartType::StackedColumn | ChartType::PercentStackedColumn
            if bars::labels_need_lines(plot) =>
        {
            bars::lying(plot)
        }
        ChartType::Column
        | ChartType::StackedColumn
        | ChartType::PercentStackedColumn
        | ChartType::Histogram => bars::standing(plot),
        ChartType::Line | ChartType::Scatter | ChartType::Area => points::scene(plot),
        ChartType::Box => boxes::scene(plot),
        ChartType::Heatmap => heat::scene(plot),
    }
}

/// Returns the chart in one sentence: its type and title, its axes, and the extremes.
pub fn alt(chart: &Chart) -> String {
    sentence(&Plot::of(chart))
}

fn sentence(plot: &Plot) -> String {
    let kind = match plot.chart_type {
        ChartType::Bar => "Bar chart",
        ChartType::Column => "Column chart",
        ChartType::StackedColumn => "Stacked column chart",
        ChartType::Line => "Line chart",
        ChartType::Scatter => "Scatter plot",
        ChartType::StackedBar => "Stacked bar chart",
        ChartType::PercentStackedColumn => "Chart of shares",
        ChartType::Area => "Area chart",
        ChartType::Histogram => "Histogram",
        ChartType::Box => "Box plot",
        ChartType::Heatmap => "Heat map",
    };
    let kind = match &plot.panels {
        Some(panels) => {
            format!(
                "{kind} in {}",
                csv_agent_text::digits::count(panels.names.len() as u64, "panel")
            )
        }
        None => kind.to_owned(),
    };
    let parts = plot.parts();
    let plot = parts.as_ref().unwrap_or(plot);
    let title = plot.title.as_ref().map_or(String::new(), |it| format!(" “{it}”"));
    let names: Vec<_> = plot.series.iter().map(|it| it.name.as_str()).collect();
    let what = match names.as_slice() {
        [name] => (*name).to_owned(),
        names if SERIES_NAMED_MAX < names.len() => {
            format!("{} series ({}, …)", names.len(), names[..SERIES_NAMED_MAX].join(", "))
        }
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    };
    let row = match plot.chart_type {
        ChartType::Histogram => "bin",
        ChartType::Box => "box",
        ChartType::Heatmap => "column",
        _ => "row",
    };
    let rows = match plot.x.len() {
        1 => format!("1 {row}"),
        n => format!("{n} {row}{}", if row == "box" { "es" } else { "s" }),
    };
    let what = if row == "box" { format!("median of {what}") } else { what };
    let what_and_where = format!("{kind}{title}: {what} by {}, {rows}", plot.x_label);
    let Some((low, high)) = plot.extremes() else {
        return format!("{what_and_where}, without values.");
    };
    let amount = |at| plot.value(at).map_or(String::new(), |it| numbers::amount(it, plot.measure));
    // A few digits do not tell close values apart.
    let is_close = plot.value(low) != plot.value(high) && amount(low) == amount(high);
    let place = |(series, row): (usize, usize)| {
        let value = match plot.value((series, row)) {
            Some(value) if is_close => numbers::name(value),
            _ => amount((series, row)),
        };
        let at = plot.place(row);
        match names.len() {
            1 => format!("{value} ({at})"),
            _ => format!("{value} ({}, {at})", names[series]),
        }
    };
    if plot.value(low) == plot.value(high) {
        return format!("{what_and_where}, always {}.", place(low));
    }
    format!("{what_and_where}, from {} to {}.", place(low), place(high))
}

#[cfg(test)]
mod gallery;
#[cfg(test)]
mod gallery_types;
#[cfg(test)]
mod invariants;
