//! Character charts, for terminals that cannot show pictures: drawn on the cell grid, with real text,
//! bars to an eighth of a cell and lines in braille dots.

mod grid;
mod sheet;
mod strip;
mod horizontal_bars;
mod vertical_bars;
mod points;
mod boxes;
mod heat;

use csv_agent_types::chart::ChartType;

use super::plot::Plot;
pub use grid::Depth;
pub(crate) use grid::{shorten_all, width, wrap};
use sheet::TextChartBuilder;
use vertical_bars::BarFit;

/// Columns beyond which a chart only becomes harder to read.
const WIDTH_MAX: usize = 160;
/// Panels that are drawn; each needs some rows.
pub(crate) const PANES_MAX: usize = 2;
/// Columns below which nothing can be drawn; narrower terminals wrap.
const WIDTH_MIN: usize = 20;

/// Returns the chart in at most `width` columns and `height` rows, each with a line feed.
pub(crate) fn draw(plot: &Plot, width: usize, height: usize, depth: Depth) -> String {
    let width = width.clamp(WIDTH_MIN, WIDTH_MAX);
    let plots = plot.panel_plots();
    if (1..=PANES_MAX).contains(&plots.len()) {
        let text = panels(plot, &plots, (width, height), depth);
        if text.lines().count() <= height {
            return text;
        }
    }
    let parts = plot.parts();
    let plot = parts.as_ref().unwrap_or(plot);
    let mut sheet = TextChartBuilder::new(plot, width, height);
    sheet.margin = points::names_width(&sheet);
    if sheet.margin == 0 && plot.chart_type != ChartType::Heatmap {
        sheet.legend();
    }
    let sheet = match plot.chart_type {
        ChartType::Line | ChartType::Scatter | ChartType::Area => points::draw(sheet),
        _ if plot.range().is_none() => points::draw(sheet),
        ChartType::Bar | ChartType::StackedBar => horizontal_bars::draw(sheet, depth),
        ChartType::Box => boxes::draw(sheet),
        ChartType::Heatmap => heat::draw(sheet),
        ChartType::Column
        | ChartType::StackedColumn
        | ChartType::PercentStackedColumn
        | ChartType::Histogram => match vertical_bars::fit(&sheet) {
            BarFit::Standing(n_merged) => vertical_bars::draw(sheet, n_merged, depth),
            BarFit::Lying => horizontal_bars::draw(sheet, depth),
            BarFit::Neither => {
                let mut sheet = sheet;
                let n_bars = plot.x.len() * plot.series.len();
                sheet.note(&format!("{n_bars} bars do not fit here; drawn as lines"));
                points::draw(sheet)
            }
        },
    };
    sheet.text(depth)
}

/// Draws panels under each other, between the title and the notes of all.
fn panels(plot: &Plot, plots: &[Plot], (width, height): (usize, usize), depth: Depth) -> String {
    let frame = |title: Option<String>, notes: Vec<String>| {
        let plot = Plot { title, notes, references: Vec::new(), ..plot.clone() };
        TextChartBuilder::new(&plot, width, height).text(depth)
    };
    let title = frame(plot.title.clone(), Vec::new());
    let notes = frame(None, plot.notes.clone());
    let rows = height.saturating_sub(title.lines().count() + notes.lines().count());
    let plots = plots.iter().map(|it| draw(it, width, rows / plots.len(), depth));
    [title].into_iter().chain(plots).chain([notes]).collect()
}

#[cfg(test)]
mod tests;
