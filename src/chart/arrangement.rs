//! Rows arranged for a chart: long data as series, categories in order, and the smallest left out.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use serde_json::Value;

use csv_agent_text::calendar::{MONTHS, WEEKDAYS};
use csv_agent_types::chart::{ChartSpec, ChartType};
use csv_agent_types::chart_options::ChartOrder;
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{CHART_CATEGORIES_MAX, CHART_SERIES_MAX};

use super::band_scale::counts;
use super::numbers::amount;
use super::plot::{Panels, Plot, PlotSeries, X, number};
use super::sheet::count;

/// Returns the rows of wide data as they are, and those of long data with a series for each colour, or
/// for each panel and colour.
pub(crate) fn rows(spec: &ChartSpec, frame: &Frame) -> (X, Vec<PlotSeries>, Option<Panels>) {
    let cell = |row: &'_ [Value], field: &str| {
        frame.index_of(field).and_then(|it| row.get(it)).cloned().unwrap_or_default()
    };
    let all = |field: &str| frame.rows.iter().map(|it| cell(it, field)).collect::<Vec<_>>();
    let numbers = |field: &String| all(field).iter().map(number).collect::<Vec<_>>();
    let (x, is_numeric) = (all(&spec.x_field), frame.is_numeric(&spec.x_field));
    let options = spec.options.as_deref();
    let ends = options.and_then(|it| it.error_bars.as_ref());
    let ends = ends.map(|it| (numbers(&it.low_field), numbers(&it.high_field)));
    let ends = ends.map(|(low, high)| {
        let end = |(low, high): (Option<f64>, Option<f64>)| {
            low.zip(high).map(|(low, high)| (low.min(high), low.max(high)))
        };
        low.into_iter().zip(high).map(end).collect::<Vec<_>>()
    });
    let sizes = options.and_then(|it| it.size_by.as_ref()).map(numbers);
    let wide = spec.series.iter().map(|it| PlotSeries {
        name: super::plot::clean(&it.name),
        values: numbers(&it.y_field),
        ends: ends.clone().unwrap_or_default(),
        sizes: sizes.clone().unwrap_or_default(),
    });
    let wide: Vec<_> = wide.collect();
    if spec.color_by().is_none() && spec.facet_by().is_none() {
        return (X::of(&x.iter().collect::<Vec<_>>(), is_numeric), wide, None);
    }
    let group = |field: Option<&str>| field.map(|it| Grouping::of(&all(it), frame.is_numeric(it)));
    let (colours, panels) = (group(spec.color_by()), group(spec.facet_by()));
    // Points have a row each; other marks share the row of their x.
    let (of_x, x_rows) = match spec.chart_type {
        ChartType::Scatter => ((0..x.len()).collect(), (0..x.len()).collect()),
        _ => distinct(&x),
    };
    let names = match &colours {
        Some(colours) => colours.names.clone(),
        None => wide.iter().map(|it| it.name.clone()).collect(),
    };
    let empty = |name: &String| PlotSeries {
        name: name.clone(),
        values: vec![None; x_rows.len()],
        ends: ends.as_ref().map_or(Vec::new(), |_| vec![None; x_rows.len()]),
        sizes: sizes.as_ref().map_or(Vec::new(), |_| vec![None; x_rows.len()]),
    };
    let n_panels = panels.as_ref().map_or(1, |it| it.names.len());
    let mut series: Vec<_> = (0..n_panels).flat_map(|_| names.iter().map(empty)).collect();
    for (row, x) in of_x.into_iter().enumerate() {
        let first = panels.as_ref().map_or(0, |it| it.of_rows[row]) * names.len();
        let colour = colours.as_ref().map(|it| it.of_rows[row]);
        for (at, from) in wide.iter().enumerate() {
            let to = &mut series[first + colour.unwrap_or(at)];
            to.values[x] = from.values[row];
            if let Some(end) = to.ends.get_mut(x) {
                *end = from.ends[row];
            }
            if let Some(size) = to.sizes.get_mut(x) {
                *size = from.sizes[row];
            }
        }
    }
    let x: Vec<_> = x_rows.iter().map(|it| &x[*it]).collect();
    let panels = panels.map(|it| Panels { names: it.names, series: names, share_scale: true });
    (X::of(&x, is_numeric), series, panels)
}

/// The distinct values of a column: weekdays and months in their order, others as they come.
struct Grouping {
    names: Vec<String>,
    of_rows: Vec<usize>,
}

impl Grouping {
    fn of(cells: &[Value], is_numeric: bool) -> Grouping {
        let labels = X::of(&cells.iter().collect::<Vec<_>>(), is_numeric);
        let (of_rows, firsts) = distinct(cells);
        let names: Vec<_> = firsts.iter().map(|it| labels.full_label(*it)).collect();
        let Some(order) = calendar(&names) else { return Grouping { names, of_rows } };
        let mut places = vec![0; order.len()];
        for (place, group) in order.iter().enumerate() {
            places[*group] = place;
        }
        let of_rows = of_rows.iter().map(|it| places[*it]).collect();
        Grouping { names: taken(&order, names), of_rows }
    }
}

/// Returns which distinct cell each cell is, and the row where each of those appears first.
fn distinct(cells: &[Value]) -> (Vec<usize>, Vec<usize>) {
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut firsts = Vec::new();
    let place = |(row, cell): (usize, &Value)| {
        *at.entry(cell.to_string()).or_insert_with(|| {
            firsts.push(row);
            firsts.len() - 1
        })
    };
    (cells.iter().enumerate().map(place).collect(), firsts)
}

fn taken<T>(order: &[usize], items: Vec<T>) -> Vec<T> {
    let mut items: Vec<_> = items.into_iter().map(Some).collect();
    order.iter().filter_map(|it| items[*it].take()).collect()
}

impl Plot {
    /// Puts categories in order, and leaves out the smallest of too many.
    pub(crate) fn arrange(&mut self, order: Option<ChartOrder>) {
        let is_category = !matches!(
            self.chart_type,
            ChartType::Scatter | ChartType::Histogram | ChartType::Line | ChartType::Area
        );
        let wanted = match (order, &self.x) {
            (Some(ChartOrder::Value), _) if is_category => Some(self.largest_first()),
            (Some(ChartOrder::Name), X::Labels(labels)) if is_category => {
                let mut rows: Vec<_> = (0..labels.len()).collect();
                rows.sort_by(|a, b| by_name(&labels[*a], &labels[*b]));
                Some(rows)
            }
            (None | Some(ChartOrder::Calendar), X::Labels(labels))
                if self.chart_type != ChartType::Scatter =>
            {
                calendar(labels).or_else(|| self.by_value(order.is_none()))
            }
            _ => None,
        };
        if let Some(rows) = wanted {
            self.take(&rows);
        }
        if is_category {
            self.leave_out();
        }
    }

    fn largest_first(&self) -> Vec<usize> {
        let mut rows: Vec<_> = (0..self.x.len()).collect();
        rows.sort_by(|a, b| self.size(*b).total_cmp(&self.size(*a)));
        rows
    }

    /// Returns the largest categories first, if they are in an order that says nothing: that of the alphabet,
    /// in which grouping leaves them, or for boxes that of the rows.
    fn by_value(&self, is_free: bool) -> Option<Vec<usize>> {
        use ChartType::{Bar, Box, Column, StackedBar, StackedColumn};
        let X::Labels(labels) = &self.x else { return None };
        // Names such as "18 to 25" are in an order of their own; "bmw 320i" among others is not.
        let has_digit = |it: &&String| it.contains(|it: char| it.is_ascii_digit());
        let is_numbered = labels.len() <= 2 * labels.iter().filter(has_digit).count();
        let says_nothing = match self.chart_type {
            Box => true,
            Bar | Column | StackedBar | StackedColumn => is_alphabetical(labels),
            _ => false,
        };
        (is_free && says_nothing && !is_numbered && self.line.is_none())
            .then(|| self.largest_first())
    }

    /// Returns the sum of a row; missing values come last in descending order.
    fn size(&self, row: usize) -> f64 {
        self.total(row).unwrap_or(f64::NEG_INFINITY)
    }

    /// Keeps the largest of too many categories. Parts of a whole can be added, so the others become one, unless
    /// beside it nothing else could be seen; of other values it is only said how many there are, because means
    /// have no sum.
    fn leave_out(&mut self) {
        /// So many times the largest category.
        const OTHERS_MAX: f64 = 4.0;
        let X::Labels(labels) = &self.x else { return };
        let n_rows = labels.len();
        let is_whole = self.chart_type == ChartType::PercentStackedColumn && self.series.len() == 1;
        let keeps_all = is_whole || self.chart_type == ChartType::Heatmap;
        if n_rows <= CHART_CATEGORIES_MAX || counts(labels) || keeps_all {
            return;
        }
        let weight = |row: usize| match self.boxes.get(row) {
            Some(it) => count(it.n),
            // Categories without a value are left out first.
            None => self.total(row).map_or(-1.0, f64::abs),
        };
        let mut largest: Vec<_> = (0..n_rows).collect();
        largest.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)));
        let others = largest[CHART_CATEGORIES_MAX - 1..].iter().map(|it| weight(*it).max(0.0));
        let are_alike = others.sum::<f64>() <= OTHERS_MAX * weight(largest[0]);
        let has_shares = self.chart_type == ChartType::PercentStackedColumn;
        let adds = self.chart_type.is_stacked() && (has_shares || are_alike);
        let n_kept = CHART_CATEGORIES_MAX - usize::from(adds);
        let rest = largest.split_off(n_kept);
        largest.sort_unstable();
        if !adds {
            let by = if self.boxes.is_empty() { "largest" } else { "most frequent" };
            self.notes.insert(0, format!("The {n_kept} {by} of {n_rows} are shown."));
            self.take(&largest);
            return;
        }
        let sums: Vec<Option<f64>> = self.series.iter().map(|it| sum(it, &rest)).collect();
        self.take(&largest);
        if let X::Labels(labels) = &mut self.x {
            labels.push(format!("other ({})", rest.len()));
        }
        for (series, sum) in self.series.iter_mut().zip(sums) {
            // Only values that have no error bars are added up.
            series.values.push(sum);
        }
    }

    /// Turns values into shares of their row. A single series is shared among the rows: what a pie
    /// shows.
    pub(crate) fn share(&mut self) {
        let of = self.y_label.take().map_or(String::new(), |it| format!(" of {}", inner(&it)));
        self.y_label = Some(format!("Share{of}"));
        if let [only] = self.series.as_slice()
            && 1 < self.x.len()
        {
            self.y_label = Some(format!("Share{of} by {}", inner(&self.x_label)));
            let total: f64 = only.values.iter().flatten().sum();
            let name = format!("{}: {} in total", only.name, amount(total, self.measure));
            let mut parts: Vec<_> = (0..self.x.len())
                .map(|it| PlotSeries::new(self.x.full_label(it), vec![only.values[it]]))
                .collect();
            parts.sort_by_key(|it| Reverse(it.values[0].map(f64::to_bits)));
            if CHART_SERIES_MAX < parts.len() {
                let rest = parts.split_off(CHART_SERIES_MAX - 1);
                let values = rest.iter().filter_map(|it| it.values[0]).sum();
                let name = format!("other ({})", rest.len());
                parts.push(PlotSeries::new(name, vec![Some(values)]));
            }
            (self.series, self.x) = (parts, X::Labels(vec![name]));
        }
        let n_series = self.panels.as_ref().map_or(self.series.len(), |it| it.series.len());
        for series in self.series.chunks_mut(n_series) {
            for row in 0..self.x.len() {
                let all = || series.iter().filter_map(|it| it.values[row]);
                let largest = all().fold(0.0, f64::max);
                let total: f64 = all().map(|it| it / largest).sum();
                let share = |it: f64| if 0.0 < largest { it / largest / total } else { 0.0 };
                for series in series.iter_mut() {
                    series.values[row] = series.values[row].map(share);
                }
            }
        }
    }
}

/// Returns a label as it is within a sentence: only the first letter of a word of small letters changes.
fn inner(label: &str) -> String {
    let word = label.split(' ').next().unwrap_or_default();
    let is_word = word.chars().skip(1).all(char::is_lowercase) && 1 < word.chars().count();
    let mut letters = label.chars();
    match letters.next() {
        Some(first) if is_word => first.to_lowercase().chain(letters).collect(),
        _ => label.to_owned(),
    }
}

/// Returns whether several names are in the order of the alphabet. Single letters may be grades.
fn is_alphabetical(labels: &[String]) -> bool {
    let names: Vec<_> = labels.iter().map(|it| it.to_lowercase()).collect();
    2 < names.len()
        && names.iter().all(|it| 1 < it.chars().count())
        && names.windows(2).all(|it| it[0] < it[1])
}

fn sum(series: &PlotSeries, rows: &[usize]) -> Option<f64> {
    let known: Vec<_> = rows.iter().filter_map(|it| series.values[*it]).collect();
    (!known.is_empty()).then(|| known.iter().sum())
}

/// Returns the rows in the order of weekdays or months, if the labels are distinct ones of those and not
/// in such an order already: a week may begin on Sunday, and a year in April.
pub(crate) fn calendar(labels: &[String]) -> Option<Vec<usize>> {
    let places = |names: &[&str]| {
        let place = |label: &String| {
            let label = label.trim().trim_end_matches('.');
            let is_label = |it: &str| it.eq_ignore_ascii_case(label);
            names.iter().position(|it| is_label(it) || is_label(&it[..3]))
        };
        labels.iter().map(place).collect::<Option<Vec<_>>>().map(|it| (it, names.len()))
    };
    let (places, n_names) = places(&WEEKDAYS).or_else(|| places(&MONTHS))?;
    let mut order: Vec<_> = (0..labels.len()).collect();
    order.sort_by_key(|it| places[*it]);
    let are_distinct = order.windows(2).all(|it| places[it[0]] < places[it[1]]);
    let n_turns = places.windows(2).filter(|it| it[1] < it[0]).count();
    let is_round = n_turns == 0 || (n_turns == 1 && labels.len() == n_names);
    (are_distinct && 1 < labels.len() && !is_round).then_some(order)
}

/// Compares names; numbers in them count as numbers.
fn by_name(one: &str, other: &str) -> Ordering {
    let parts = |text: &str| {
        let mut parts: Vec<(bool, String)> = Vec::new();
        for char in text.to_lowercase().chars() {
            let is_digit = char.is_ascii_digit();
            match parts.last_mut() {
                Some(part) if part.0 == is_digit => part.1.push(char),
                _ => parts.push((is_digit, char.to_string())),
            }
        }
        let key = |(is_digit, text): (bool, String)| {
            let digits = text.trim_start_matches('0');
            if is_digit { (false, digits.len(), digits.to_owned()) } else { (true, 0, text) }
        };
        parts.into_iter().map(key).collect::<Vec<_>>()
    };
    parts(one).cmp(&parts(other))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Ordering, by_name, calendar};
    use crate::gallery::chart;
    use crate::gallery_types::with_options;
    use crate::plot::{Plot, X};
    use csv_agent_types::chart::ChartType;
    use csv_agent_types::chart_options::{ChartOptions, ChartOrder};

    /// Returns the labels and the values of a chart of one series.
    fn drawn(kind: ChartType, values: &[Value], order: Option<ChartOrder>) -> (Plot, Vec<String>) {
        let letters = ('a'..='z').chain('α'..='ω').take(values.len());
        let x: Vec<_> = letters.map(|it| json!(format!("{it} shop"))).collect();
        let made = chart(kind, "", "object", &x, &[("n", values.to_vec())]);
        let plot =
            Plot::of(&with_options(&made, ChartOptions { order, ..ChartOptions::default() }));
        let labels = (0..plot.x.len()).map(|it| plot.x.full_label(it)).collect();
        (plot, labels)
    }

    #[track_caller]
    fn check(labels: &[&str], expected: Option<&[usize]>) {
        let labels: Vec<_> = labels.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(calendar(&labels).as_deref(), expected, "{labels:?}");
    }

    #[test]
    fn weekdays_and_months_come_in_their_order() {
        check(&["Fri", "Mon", "Wed"], Some(&[1, 2, 0]));
        check(&["April", "january", "Mar."], Some(&[1, 2, 0]));
        check(&["Mon", "Tue", "Anvil"], None);
        check(&["Mon", "Fri", "Mon"], None);
        check(&["Mon", "Tue", "Fri"], None);
        check(
            &["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
            None,
        );
    }

    #[test]
    fn names_with_numbers_are_ordered_by_them() {
        assert_eq!(by_name("Store 9", "store 10"), Ordering::Less);
        assert_eq!(by_name("b", "A"), Ordering::Greater);
        assert_eq!(by_name("Week 02", "Week 1"), Ordering::Greater);
    }

    #[test]
    fn categories_are_ordered_as_asked_and_else_as_given() {
        let values = [json!(2), Value::Null, json!(9)];
        let labels = |order| drawn(ChartType::Bar, &values, order).1.join(", ");
        assert_eq!(labels(Some(ChartOrder::AsGiven)), "a shop, b shop, c shop");
        assert_eq!(labels(Some(ChartOrder::Value)), "c shop, a shop, b shop");
        assert_eq!(labels(Some(ChartOrder::Name)), "a shop, b shop, c shop");
    }

    #[test]
    fn categories_in_the_order_of_the_alphabet_come_by_value() {
        let labels = |kind, names: &[&str]| {
            let x: Vec<_> = names.iter().map(|it| json!(it)).collect();
            let values = (0..names.len()).map(|it| json!(it)).collect();
            let plot = Plot::of(&chart(kind, "", "object", &x, &[("n", values)]));
            (0..plot.x.len()).map(|it| plot.x.full_label(it)).collect::<Vec<_>>().join(", ")
        };
        let (bar, line) = (ChartType::Bar, ChartType::Line);
        assert_eq!(labels(bar, &["ash", "Beech 2", "elm"]), "elm, Beech 2, ash");
        assert_eq!(labels(bar, &["small", "middle", "large"]), "small, middle, large");
        for given in [&["A", "B", "C"][..], &["ash", "elm"], &["0 to 9", "10 to 19", "20 to 29"]] {
            assert_eq!(labels(bar, given), given.join(", "));
        }
        assert_eq!(labels(line, &["ash", "beech", "elm"]), "ash, beech, elm");
    }

    #[test]
    fn boxes_are_in_the_order_of_numbers_or_of_their_medians() {
        let labels = |dtype: &str, x: &[Value]| {
            let values = (0..x.len()).map(|it| json!(it)).collect();
            let plot = Plot::of(&chart(ChartType::Box, "", dtype, x, &[("n", values)]));
            (0..plot.x.len()).map(|it| plot.x.full_label(it)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(labels("int64", &[json!(8), json!(4), json!(6)]), "4, 6, 8");
        assert_eq!(labels("object", &[json!("low"), json!("high")]), "high, low");
    }

    #[test]
    fn categories_without_a_value_are_left_out_first() {
        let mut values: Vec<_> = (0..26).map(|it| json!(it)).collect();
        values[3] = Value::Null;
        let (_, labels) = drawn(ChartType::Bar, &values, Some(ChartOrder::AsGiven));
        assert!(labels.len() == 25 && !labels.contains(&"d shop".to_owned()), "{labels:?}");
    }

    #[test]
    fn of_too_many_categories_the_largest_are_kept_and_parts_are_added_up() {
        let values: Vec<_> = (1..=26).map(|it| json!(it)).collect();
        let (plot, labels) = drawn(ChartType::Bar, &values, Some(ChartOrder::AsGiven));
        assert_eq!((labels.len(), labels[0].as_str()), (25, "b shop"));
        assert_eq!(plot.notes[0], "The 25 largest of 26 are shown.");
        let (plot, labels) = drawn(ChartType::StackedBar, &values, Some(ChartOrder::AsGiven));
        assert_eq!((labels.len(), labels[24].as_str()), (25, "other (2)"));
        assert_eq!(plot.value((0, 24)), Some(3.0));
        let (plot, labels) = drawn(ChartType::StackedBar, &vec![json!(1); 29], None);
        assert_eq!((labels.len(), plot.notes[0].as_str()), (25, "The 25 largest of 29 are shown."));
    }

    #[test]
    fn a_single_series_of_shares_is_one_whole_with_the_largest_part_first() {
        let values = [json!(1), json!(3), Value::Null, json!(0)];
        let (plot, labels) = drawn(ChartType::PercentStackedColumn, &values, None);
        assert_eq!(labels, ["n: 4 in total"]);
        let parts: Vec<_> = plot.series.iter().map(|it| (it.name.as_str(), it.values[0])).collect();
        let expected = [
            ("b shop", Some(0.75)),
            ("a shop", Some(0.25)),
            ("d shop", Some(0.0)),
            ("c shop", None),
        ];
        assert_eq!(parts, expected);
        assert!(matches!(plot.parts().unwrap().x, X::Labels(_)));
    }
}
