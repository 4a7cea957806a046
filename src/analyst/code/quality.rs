//! Pandas for the data as such: outliers, what is missing, what comes twice, and checks.

use super::{FAR, Writer, listed, number, one_or_list, quoted, sign};
use crate::ground::Place;
use crate::reading::{Check, Filter, Told};

impl Writer<'_> {
    fn far(&mut self, place: Place) -> String {
        let series = self.series(place);
        self.lines.push(format!("q1, q3 = {series}.quantile([0.25, 0.75])"));
        self.lines.push(format!("far = {FAR} * (q3 - q1)"));
        format!("({series} < q1 - far) | ({series} > q3 + far)")
    }

    /// Returns the condition for the values of a frame to lie far from the others of their columns.
    fn far_of_each(&mut self, frame: &str) -> String {
        self.lines.push(format!("values = {frame}"));
        self.lines.push("q1, q3 = values.quantile(0.25), values.quantile(0.75)".to_owned());
        self.lines.push(format!("far = {FAR} * (q3 - q1)"));
        "(values < q1 - far) | (values > q3 + far)".to_owned()
    }

    pub(super) fn outliers(&mut self, places: &[Place], counts: bool) -> Vec<String> {
        self.all = !counts;
        if let ([place], false) = (places, counts) {
            let mask = self.far(*place);
            self.lines.push(format!("result = df[{mask}].reset_index(drop=True)"));
            return Vec::new();
        }
        let mut of = self.frame(places);
        if places.is_empty() {
            of.push_str(".select_dtypes(\"number\")");
        }
        let is_far = self.far_of_each(&of);
        self.lines.push(format!("is_far = {is_far}"));
        self.lines.push(
            "result = is_far.sum().rename_axis(\"column\").reset_index(name=\"outliers\")"
                .to_owned(),
        );
        vec!["outliers".to_owned()]
    }

    pub(super) fn missing(&mut self, places: &[Place], keys: &[String], told: Told) -> Vec<String> {
        let label = "missing".to_owned();
        match places {
            [place] if keys.is_empty() => {
                let series = self.series(*place);
                self.lines.push(format!(
                    "result = pd.DataFrame({{\"missing\": [{series}.isna().sum()]}})"
                ));
            }
            [place] => {
                let series = self.series(*place);
                self.lines.push(format!("df = df.assign(missing={series}.isna())"));
                self.lines.push(format!(
                    "result = df.groupby({}, as_index=False).agg(missing=(\"missing\", \"sum\"))",
                    one_or_list(keys)
                ));
            }
            [] if told == Told::Total => {
                let of = self.frame(places);
                self.lines.push(format!(
                    "result = pd.DataFrame({{\"missing\": [{of}.isna().sum().sum()]}})"
                ));
            }
            places => {
                let of = self.frame(places);
                self.lines.push(format!(
                    "result = {of}.isna().sum().rename_axis(\"column\").reset_index(name=\"missing\")"
                ));
                self.lines.push(
                    "result = result.sort_values(\"missing\", ascending=False, kind=\"stable\", ignore_index=True)"
                        .to_owned(),
                );
                if told == Told::Some {
                    self.lines.push("result = result[result[\"missing\"] > 0]".to_owned());
                }
            }
        }
        vec![label]
    }

    pub(super) fn duplicates(&mut self, places: &[Place]) -> Vec<String> {
        if places.is_empty() {
            self.all = true;
            self.lines.push(
                "result = pd.DataFrame({\"duplicate_rows\": [df.duplicated().sum()]})".to_owned(),
            );
            return vec!["duplicate_rows".to_owned()];
        }
        let names = self.names(places);
        self.lines.push(format!(
            "result = df.groupby({}).size().reset_index(name=\"count\")",
            listed(&names)
        ));
        self.lines.push("result = result[result[\"count\"] > 1].sort_values(\"count\", ascending=False, ignore_index=True)".to_owned());
        vec!["count".to_owned()]
    }

    pub(super) fn describe(&mut self, places: &[Place]) -> Vec<String> {
        let of = self.frame(places);
        let all_text = !places.is_empty() && places.iter().all(|it| !self.kind(*it).is_number());
        let has_number = if places.is_empty() {
            self.tables[0].columns.iter().any(|it| it.kind.is_number())
        } else {
            !all_text
        };
        let line = if has_number {
            format!(
                "result = {of}.describe(include=\"number\").T.rename_axis(\"column\").reset_index()"
            )
        } else {
            format!("result = {of}.describe().T.rename_axis(\"column\").reset_index()")
        };
        self.lines.push(line);
        if has_number {
            self.round();
        }
        Vec::new()
    }

    pub(super) fn check(&mut self, check: &Check) {
        self.all = !matches!(check, Check::Number(..));
        // Of no row, everything holds.
        if !self.reading.filters.is_empty() && !matches!(check, Check::Any(_)) {
            self.lines.push("assert len(df), \"no row matches\"".to_owned());
        }
        let line = match check {
            Check::Any(filters) => {
                let mask = self.mask(filters);
                format!("bad = df[{mask}]")
            }
            Check::All(filters) => {
                let mask = self.mask(filters);
                let known = filters.iter().flat_map(Filter::judged);
                let known: Vec<String> = known.map(|it| self.name(it)).collect();
                if known.is_empty() {
                    format!("bad = df[~({mask})]")
                } else {
                    format!("bad = df[~({mask}) & df[{}].notna().all(axis=1)]", listed(&known))
                }
            }
            Check::Number(measure, op, limit) => {
                let label = quoted(&self.label(measure));
                let value = self.whole("df", measure);
                self.lines.push(format!("value = {value}"));
                self.lines.push(format!(
                    "result = pd.DataFrame({{{label}: [value], \"holds\": [value {} {}]}})",
                    sign(*op),
                    number(*limit)
                ));
                return;
            }
            Check::Unique(places) => {
                let names = self.names(places);
                match &names[..] {
                    [] => "bad = df[df.duplicated(keep=False)]".to_owned(),
                    names => {
                        let of = listed(names);
                        self.lines.push(format!("known = df.dropna(subset={of})"));
                        format!(
                            "bad = known[known.duplicated(subset={of}, keep=False)].sort_values({of})"
                        )
                    }
                }
            }
            Check::Present(places) => {
                let names = self.names(places);
                match &names[..] {
                    [] => "bad = df[df.isna().any(axis=1)]".to_owned(),
                    [one] => format!("bad = df[df[{}].isna()]", quoted(one)),
                    names => format!("bad = df[df[{}].isna().any(axis=1)]", listed(names)),
                }
            }
            Check::Refers(join) => {
                let left = self.series(join.left);
                let right = quoted(&self.tables[1].columns[join.right.column].name);
                format!("bad = df[{left}.notna() & ~{left}.isin(other[{right}])]")
            }
            Check::Varies(places) => {
                let of = self.frame(places);
                self.lines.push(format!("n_values = {of}.nunique(dropna=False)"));
                self.lines.push(
                    "result = pd.DataFrame({\"column\": n_values[n_values <= 1].index})".to_owned(),
                );
                return;
            }
            Check::Inliers(places) => {
                let mut numbers = places.clone();
                if numbers.is_empty() {
                    numbers = (0..self.tables[0].columns.len())
                        .map(|column| Place { table: 0, column })
                        .filter(|it| self.kind(*it).is_number())
                        .collect();
                }
                let names = self.names(&numbers);
                let is_far = self.far_of_each(&format!("df[{}]", listed(&names)));
                format!("bad = df[({is_far}).any(axis=1)]")
            }
        };
        self.lines.push(line);
        self.lines.push("result = bad.reset_index(drop=True)".to_owned());
    }
}
