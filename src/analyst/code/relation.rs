//! Pandas for shares, ratios, differences, correlations and distributions.

use super::{Writer, listed, one_or_list, quoted};
use crate::ground::Place;
use crate::reading::{Filter, Measure, Rank};

/// Different numbers up to which each is counted by itself.
const VALUES_MAX: u32 = 12;
/// Bars of a histogram.
const BINS: u32 = 10;

impl Writer<'_> {
    pub(super) fn difference(
        &mut self,
        measure: &Measure,
        by: Place,
        between: &[String; 2],
    ) -> Vec<String> {
        let key = self.name(by);
        let label = self.label(measure);
        let column = match measure.of {
            Some(place) => self.name(place),
            None => key.clone(),
        };
        let made = self.of_group(measure);
        self.lines.push(format!(
            "result = df.groupby({}, as_index=False).agg({label}=({}, {}))",
            quoted(&key),
            quoted(&column),
            made
        ));
        self.lines.push(format!("values = result.set_index({})[{}]", quoted(&key), quoted(&label)));
        self.lines.push(format!(
            "result = pd.DataFrame({{\"difference\": [values[{}] - values[{}]], {}: [values[{}]], {}: [values[{}]]}})",
            quoted(&between[0]),
            quoted(&between[1]),
            quoted(&between[0]),
            quoted(&between[0]),
            quoted(&between[1]),
            quoted(&between[1]),
        ));
        self.round();
        vec!["difference".to_owned()]
    }

    pub(super) fn change(
        &mut self,
        measure: &Measure,
        ends: &[Vec<Filter>; 2],
        names: &[String; 2],
    ) -> Vec<String> {
        for (variable, end) in ["before", "after"].into_iter().zip(ends) {
            let mask = self.mask(end);
            let whole = self.whole(&format!("df[{mask}]"), measure);
            self.lines.push(format!("{variable} = {whole}"));
        }
        let [start, end] = names.clone().map(|it| quoted(&it));
        self.lines.push(format!(
            "result = pd.DataFrame({{{start}: [before], {end}: [after], \"change\": [after - before],\n                       \
             \"change_percent\": [100 * (after / before - 1)]}})"
        ));
        self.round();
        vec!["change".to_owned()]
    }

    pub(super) fn share(
        &mut self,
        part: &[Filter],
        of: Option<Place>,
        rank: Option<Rank>,
        keys: &[String],
    ) -> Vec<String> {
        let mask = self.mask(part);
        let label = "share_percent".to_owned();
        let number = of.map(|it| self.name(it));
        if let Some(of) = of {
            self.fits(of);
        }
        if keys.is_empty() {
            self.lines.push(format!("part = {mask}"));
            let line = match &number {
                None => "result = pd.DataFrame({\"share_percent\": [100 * part.mean()], \"count\": [part.sum()], \
                         \"of\": [len(df)]})"
                    .to_owned(),
                Some(column) => {
                    let series = format!("df[{}]", quoted(column));
                    format!(
                        "result = pd.DataFrame({{\"share_percent\": [100 * {series}[part].sum() / {series}.sum()], \
                         \"part\": [{series}[part].sum()], \"of\": [{series}.sum()]}})"
                    )
                }
            };
            self.lines.push(line);
        } else {
            let weighted = match &number {
                None => mask,
                Some(column) => format!("df[{}].where({mask}, 0)", quoted(column)),
            };
            self.lines.push(format!("df = df.assign(part={weighted})"));
            let whole = match &number {
                None => "(\"part\", \"size\")".to_owned(),
                Some(column) => format!("({}, \"sum\")", quoted(column)),
            };
            self.lines.push(format!(
                "result = df.groupby({}, as_index=False).agg(part=(\"part\", \"sum\"), of={whole})",
                one_or_list(keys)
            ));
            self.lines.push(
                "result[\"share_percent\"] = 100 * result[\"part\"] / result[\"of\"]".to_owned(),
            );
            if let Some(rank) = rank {
                self.rank(&label, rank, None);
            }
        }
        self.round();
        vec![label]
    }

    pub(super) fn ratio(
        &mut self,
        part: Place,
        whole: Place,
        is_percent: bool,
        keys: &[String],
    ) -> Vec<String> {
        self.fits(part);
        self.fits(whole);
        let (part, whole) = (self.series(part), self.series(whole));
        let (label, scale) = if is_percent { ("percent", "100 * ") } else { ("ratio", "") };
        let mean = format!("mean_{label}");
        if keys.is_empty() {
            self.lines.push(format!(
                "result = pd.DataFrame({{\"{label}\": [{scale}{part}.sum() / {whole}.sum()], \"{mean}\": [({scale}{part} / {whole}).mean()]}})"
            ));
        } else {
            self.lines.push(format!(
                "df = df.assign(part={part}, whole={whole}, {mean}={scale}{part} / {whole})"
            ));
            self.lines.push(format!(
                "result = df.groupby({}, as_index=False).agg(part=(\"part\", \"sum\"), whole=(\"whole\", \"sum\"), {mean}=(\"{mean}\", \"mean\"))",
                one_or_list(keys)
            ));
            self.lines
                .push(format!("result[\"{label}\"] = {scale}result[\"part\"] / result[\"whole\"]"));
        }
        self.round();
        vec![label.to_owned()]
    }

    pub(super) fn correlation(&mut self, places: &[Place], keys: &[String]) -> Vec<String> {
        let names = self.names(places);
        let label = "correlation".to_owned();
        match (&names[..], keys) {
            ([one, other], []) => self.lines.push(format!(
                "result = pd.DataFrame({{\"correlation\": [df[{}].corr(df[{}])]}})",
                quoted(one),
                quoted(other)
            )),
            ([one, other], keys) => {
                self.lines.push(format!(
                    "pairs = df.groupby({})[{}]",
                    one_or_list(keys),
                    listed(&[one.clone(), other.clone()])
                ));
                self.lines.push(format!(
                    "result = pairs.apply(lambda it: it[{}].corr(it[{}])).reset_index(name=\"correlation\")",
                    quoted(one),
                    quoted(other)
                ));
            }
            ([one], _) => {
                self.all = true;
                self.lines.push(format!(
                    "result = df.corr(numeric_only=True)[{0}].drop({0})",
                    quoted(one)
                ));
                self.lines.push(
                    "result = result.sort_values(key=abs, ascending=False).rename_axis(\"column\").reset_index(name=\"correlation\")"
                        .to_owned(),
                );
            }
            _ => {
                let of = self.frame(places);
                self.lines.push(format!(
                    "result = {of}.corr(numeric_only=True).rename_axis(\"column\").reset_index()"
                ));
            }
        }
        self.round();
        vec![label]
    }

    pub(super) fn distribution(&mut self, place: Place) -> Vec<String> {
        let series = self.series(place);
        let name = quoted(&self.name(place));
        self.lines.push(format!("values = {series}.dropna()"));
        self.lines.push(format!("if values.nunique() <= {VALUES_MAX}:"));
        self.lines.push(format!(
            "    result = values.value_counts().sort_index().rename_axis({name}).reset_index(name=\"count\")"
        ));
        self.lines.push("else:".to_owned());
        self.lines.push(format!("    counts, edges = np.histogram(values, bins={BINS})"));
        self.lines.push(
            "    result = pd.DataFrame({\"from\": edges[:-1], \"to\": edges[1:], \"count\": counts})"
                .to_owned(),
        );
        self.round();
        vec!["count".to_owned()]
    }
}
