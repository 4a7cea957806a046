//! Charts of the page: drawn again from their stored spec and rows.

use crate::chart::ChartSpec;
use crate::event::{ChartDrawn, Encoding};
use crate::frame::Frame;
use crate::render::chart::{self, Theme};

/// Returns the rows that a chart plots; none when they are not plain JSON.
pub fn plotted(drawn: &ChartDrawn) -> Option<Frame> {
    if drawn.encoding != Encoding::Json {
        return None;
    }
    let is_y = |name: &str| drawn.series.iter().any(|it| it.y_field == name);
    // The event does not tell types. What a series plots is a number, or there would be no chart.
    let dtype = |name: &str| if is_y(name) { "float64".to_owned() } else { String::new() };
    let rows = drawn.data.as_array()?;
    Some(Frame::of_objects(spec(drawn).fields(), dtype, rows, drawn.row_count))
}

/// A chart as elements of the page, one of them on light paper and one on dark.
pub struct Picture {
    /// Each with the name of its paper, its own id and itself.
    pub papers: [(&'static str, String, String); 2],
    /// The `viewBox` of what shows one again: it is as large as the element.
    pub view: String,
}

/// Draws a chart; none when its rows are not plain JSON. All ids begin with `id`.
pub fn picture(drawn: &ChartDrawn, id: &str) -> Option<Picture> {
    let chart = spec(drawn).check(plotted(drawn)?).ok()?;
    let light = chart::svg(&chart, Theme::Light).ok()?;
    let dark = chart::svg(&chart, Theme::Dark).ok()?;
    let attribute = |name: &str| Some(light.split_once(name)?.1.split_once('"')?.0);
    let view = format!("0 0 {} {}", attribute(" width=\"")?, attribute(" height=\"")?);
    let own = |svg: &str, paper| {
        let id = format!("{id}-{paper}");
        Some((paper, id.clone(), with_ids(svg, &id)?))
    };
    Some(Picture { papers: [own(&light, "light")?, own(&dark, "dark")?], view })
}

/// Gives a drawing ids that no other has on the page. It has two, in its head, before any text of others.
fn with_ids(svg: &str, id: &str) -> Option<String> {
    const LABELLED: &str = "aria-labelledby=\"";
    let (title, description) = svg.split_once(LABELLED)?.1.split_once('"')?.0.split_once(' ')?;
    let labelled = |title: &str, description: &str| format!("{LABELLED}{title} {description}\"");
    let (own_title, own_description) = (format!("{id}-title"), format!("{id}-desc"));
    let svg = svg.replacen("<svg ", &format!("<svg id=\"{id}\" "), 1);
    let own = labelled(&own_title, &own_description);
    let svg = svg.replacen(&labelled(title, description), &own, 1);
    let svg =
        svg.replacen(&format!("<title id=\"{title}\""), &format!("<title id=\"{own_title}\""), 1);
    Some(svg.replacen(
        &format!("<desc id=\"{description}\""),
        &format!("<desc id=\"{own_description}\""),
        1,
    ))
}

fn spec(drawn: &ChartDrawn) -> ChartSpec {
    ChartSpec {
        df_name: drawn.df_name.clone(),
        logical_name: drawn.logical_name.clone(),
        chart_type: drawn.chart_type,
        x_field: drawn.x_field.clone(),
        x_label: drawn.x_label.clone(),
        y_label: drawn.y_label.clone(),
        series: drawn.series.clone(),
        title: drawn.title.clone(),
        note: drawn.note.clone(),
    }
}
