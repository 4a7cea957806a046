//! A chart on a terminal: as a picture, in characters, or as a few lines of plain text.

use csv_agent_types::chart::{Chart, ChartType};
use csv_agent_types::limits::CHART_TTY_LINES_MAX;

use super::plot::Plot;
use super::text::to_pixel;
use super::text_chart;
use super::{Theme, backend, inline, png, scene, sixel, text_summary};

pub use text_chart::Depth;

/// Pixels of a cell when the terminal does not report them.
const CELL_UNKNOWN: (u16, u16) = (8, 16);
/// A picture scaled down further than this is unreadable; characters are not.
const SCALE_MIN: f64 = 0.45;
/// Terminals that report larger cells than real screens have get no larger pictures.
const SCALE_MAX: f64 = 3.0;

/// How a terminal shows charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graphics {
    /// Pictures by kitty's protocol.
    Kitty,
    /// Pictures by iTerm2's protocol.
    Iterm,
    /// Pictures as sixels.
    Sixel,
    /// Characters on the grid.
    Blocks,
    /// A few lines of text.
    Sketch,
}

/// The terminal that a chart is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// What it can show.
    pub graphics: Graphics,
    /// Cells of a line.
    pub columns: u16,
    /// The colour depth of text.
    pub colours: Depth,
    /// Pixels of a cell, horizontal and vertical; `None` when the terminal does not report them.
    pub cell: Option<(u16, u16)>,
    /// The theme of pictures; characters appear on the terminal's own background.
    pub theme: Theme,
    /// Whether a tmux is between us and the terminal that shows pictures.
    pub is_in_tmux: bool,
}

/// Returns the output for the chart, with a final line feed: at most as wide as the screen, and at most
/// [`CHART_TTY_LINES_MAX`] rows.
///
/// A picture too small to read is drawn in characters instead; several series in characters without
/// colour would be indistinguishable and become a sketch.
///
/// # Errors
///
/// Fails when drawing the picture fails, which is a bug.
pub fn show(chart: &Chart, screen: &Screen) -> anyhow::Result<String> {
    let plot = Plot::of(chart);
    let columns = usize::from(screen.columns);
    let characters = || {
        // Shades and the parts of a whole have no need of colours.
        let is_told = plot.chart_type != ChartType::Heatmap && plot.parts().is_none();
        if screen.colours == Depth::Monochrome && 1 < plot.series.len() && is_told {
            return text_summary::text(chart, &plot, columns);
        }
        if text_chart::PANES_MAX < plot.panel_plots().len() {
            return text_summary::text(chart, &plot, columns);
        }
        text_chart::draw(&plot, columns, CHART_TTY_LINES_MAX, screen.colours)
    };
    match screen.graphics {
        Graphics::Blocks => return Ok(characters()),
        Graphics::Sketch => return Ok(text_summary::text(chart, &plot, columns)),
        Graphics::Kitty | Graphics::Iterm | Graphics::Sixel => {}
    }
    let scene = scene(&plot);
    let Some(size) = Size::of((scene.width, scene.height), screen) else {
        return Ok(characters());
    };
    let raster = backend::raster(&scene, screen.theme, size.scale)?;
    let cells = (size.columns, size.rows);
    Ok(match screen.graphics {
        Graphics::Kitty if screen.is_in_tmux => {
            inline::kitty_in_tmux(&png::encode(&raster)?, cells)
        }
        Graphics::Kitty => inline::kitty(&png::encode(&raster)?, cells),
        Graphics::Iterm if screen.is_in_tmux => {
            inline::through_tmux(&inline::iterm(&png::encode(&raster)?, cells)) + "\n"
        }
        Graphics::Iterm => inline::iterm(&png::encode(&raster)?, cells) + "\n",
        _ => sixel::encode(&raster) + "\n",
    })
}

/// The size of a picture on a screen.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Size {
    columns: u16,
    rows: u16,
    /// Screen pixels per pixel of the drawing.
    scale: f64,
}

impl Size {
    /// Returns the largest size that fits; `None` where text would be too small to read.
    fn of(natural: (f64, f64), screen: &Screen) -> Option<Size> {
        let known = screen.cell.filter(|(width, height)| 0 < *width && 0 < *height);
        let cell = known.unwrap_or(CELL_UNKNOWN);
        let cell = (f64::from(cell.0), f64::from(cell.1));
        let rows_max = f64::from(u16::try_from(CHART_TTY_LINES_MAX).unwrap_or(u16::MAX));
        let room = (f64::from(screen.columns) * cell.0, rows_max * cell.1);
        let scale = (room.0 / natural.0).min(room.1 / natural.1).min(SCALE_MAX);
        if scale < SCALE_MIN {
            return None;
        }
        let cells = |pixels: f64, cell: f64| {
            u16::try_from(to_pixel((pixels * scale / cell).round().max(1.0))).ok()
        };
        Some(Size { columns: cells(natural.0, cell.0)?, rows: cells(natural.1, cell.1)?, scale })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Depth, Graphics, Screen, Size, show};
    use crate::Theme;
    use crate::gallery::chart;
    use csv_agent_types::chart::{Chart, ChartType};

    fn screen(graphics: Graphics) -> Screen {
        Screen {
            graphics,
            columns: 80,
            colours: Depth::True,
            cell: Some((10, 20)),
            theme: Theme::Light,
            is_in_tmux: false,
        }
    }

    fn bars(n_rows: usize, n_series: usize) -> Chart {
        let x: Vec<_> = (0..n_rows).map(|it| json!(format!("shop {it}"))).collect();
        let values: Vec<_> = (0..n_rows).map(|it| json!(it)).collect();
        let series = vec![("n", values); n_series];
        chart(ChartType::Bar, "Shops", "object", &x, &series)
    }

    #[track_caller]
    fn check(
        columns: u16,
        cell: Option<(u16, u16)>,
        natural: (f64, f64),
        size: Option<(u16, u16)>,
    ) {
        let screen = Screen { columns, cell, ..screen(Graphics::Kitty) };
        let found = Size::of(natural, &screen);
        assert_eq!(found.map(|it| (it.columns, it.rows)), size);
    }

    #[test]
    fn a_picture_fits_the_width_and_twenty_rows() {
        check(80, Some((10, 20)), (960.0, 540.0), Some((71, 20)));
        check(80, None, (960.0, 540.0), Some((71, 20)));
        check(200, Some((9, 18)), (960.0, 540.0), Some((71, 20)));
        check(60, Some((10, 20)), (960.0, 540.0), Some((60, 17)));
        check(80, Some((65_000, 65_000)), (960.0, 540.0), Some((1, 1)));
        check(40, Some((10, 20)), (960.0, 540.0), None);
        check(80, Some((10, 20)), (960.0, 1_500.0), None);
    }

    #[test]
    fn what_is_too_small_as_a_picture_is_drawn_in_characters() {
        let shown = show(&bars(100, 1), &screen(Graphics::Sixel)).unwrap();
        assert!(shown.contains('▇') && !shown.contains("\x1bP"), "{shown}");
        let shown = show(&bars(5, 1), &screen(Graphics::Sixel)).unwrap();
        assert!(shown.starts_with("\x1bP") && shown.ends_with("\x1b\\\n"));
    }

    #[test]
    fn series_without_colours_are_told_and_not_drawn() {
        let without = Screen { colours: Depth::Monochrome, ..screen(Graphics::Blocks) };
        assert!(show(&bars(5, 1), &without).unwrap().contains('▇'));
        let shown = show(&bars(5, 2), &without).unwrap();
        assert!(shown.starts_with("Bar chart \"Shops\"") && !shown.contains('▇'), "{shown}");
    }
}
