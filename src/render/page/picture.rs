//! Charts on the page: redrawn from their stored spec and rows.

use csv_agent_chart::Theme;
use csv_agent_types::event::ChartDrawn;

/// Pixels of a chart that need less than a page's width.
const NARROW_MAX: u32 = 800;

/// A chart as page elements, one for light paper and one for dark.
pub(super) struct Picture {
    /// Each with the name of its paper, its id and its SVG.
    pub papers: [(&'static str, String, String); 2],
    /// The `viewBox` for showing one again: the size of the element.
    pub view: String,
    /// Whether it is narrower than most charts.
    pub is_narrow: bool,
}

/// Draws a chart; `None` when its rows are not plain JSON. All ids begin with `id`.
pub(super) fn picture(drawn: &ChartDrawn, id: &str) -> Option<Picture> {
    let chart = drawn.chart()?;
    let light = csv_agent_chart::svg(&chart, Theme::Light).ok()?;
    let dark = csv_agent_chart::svg(&chart, Theme::Dark).ok()?;
    let attribute = |name: &str| Some(light.split_once(name)?.1.split_once('"')?.0);
    let (width, height) = (attribute(" width=\"")?, attribute(" height=\"")?);
    let view = format!("0 0 {width} {height}");
    let is_narrow = width.parse().is_ok_and(|it: u32| it < NARROW_MAX);
    let own = |svg: &str, paper| {
        let id = format!("{id}-{paper}");
        Some((paper, id.clone(), with_ids(svg, &id)?))
    };
    Some(Picture { papers: [own(&light, "light")?, own(&dark, "dark")?], view, is_narrow })
}

/// Gives a drawing ids that are unique on the page. It has two, in its head, before any foreign text.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::picture;
    use csv_agent_types::event::ChartDrawn;

    fn drawn(chart_type: &str) -> ChartDrawn {
        serde_json::from_value(json!({
            "call_id": "c1", "df_name": "df", "logical_name": "sizes", "chart_type": chart_type,
            "title": null, "x_field": "x", "x_label": null, "y_label": null, "note": null,
            "series": [{"name": "y", "y_field": "y"}], "row_count": 3, "encoding": "json", "alt": "",
            "data": [{"x": 1, "y": 1}, {"x": 2, "y": 3}, {"x": 50, "y": 2}], "files": [],
        }))
        .unwrap()
    }

    #[test]
    fn a_picture_of_a_single_column_is_narrow() {
        assert!(picture(&drawn("percent_stacked_column"), "c").unwrap().is_narrow);
        assert!(!picture(&drawn("scatter"), "c").unwrap().is_narrow);
    }

    #[test]
    fn numbers_stand_where_their_size_puts_them() {
        let picture = picture(&drawn("scatter"), "c").unwrap();
        for (_, _, svg) in picture.papers {
            // A tick between the values, which does not occur in any row.
            assert!(svg.contains(">20</text>"), "{svg}");
        }
    }
}
