//! What is asked: the kind of answer, out of what the conditions have left.

use super::{Doubt, Parser, Placed};
use crate::provider::builtin::ground::{Meaning, Place};
use crate::provider::builtin::lexicon::{Concept, TimeUnit};
use crate::provider::builtin::reading::{
    Agg, Filter, Group, Measure, Over, Rank, Shape, Test, What,
};
use crate::provider::builtin::schema::Kind;

/// Rows that a preview shows when nobody says how many.
const PREVIEW_ROWS: i64 = 5;

impl Parser<'_> {
    /// Finds out what is asked.
    pub(super) fn intent(
        &mut self,
        filters: &[Placed],
        shape: Option<Shape>,
    ) -> Result<What, Doubt> {
        if let Some(what) = self.check(filters)? {
            return Ok(what);
        }
        if let Some(what) = self.two_numbers(shape)? {
            return Ok(what);
        }
        if let Some(what) = self.about_data(filters)? {
            return Ok(what);
        }
        let mut groups = self.groups()?;
        if let Some(what) = self.relation(&groups)? {
            return Ok(what);
        }
        if let Some(what) = self.ratio(&groups)? {
            return Ok(what);
        }
        if let Some(what) = self.share(filters, &groups)? {
            return Ok(what);
        }
        if let Some(what) = self.difference(filters)? {
            return Ok(what);
        }
        let over = self.over(&mut groups);
        self.compared_values(filters, &mut groups);
        if let Some(what) = self.ranked(&groups)? {
            return Ok(with_over(what, over));
        }
        let sorted = self.sorting();
        let measures = self.aggregates()?;
        let what = self.plain(filters, measures, groups, sorted, shape)?;
        Ok(with_over(what, over))
    }

    /// `price vs carat`, `scatter plot of price by carat`: two numbers of each row.
    fn two_numbers(&mut self, shape: Option<Shape>) -> Result<Option<What>, Doubt> {
        let columns = self.open_columns();
        let [x, y] = columns[..] else { return Ok(None) };
        let versus =
            self.open().any(|it| x < it && it < y && self.word(it) == Some(Concept::Versus));
        let is_plain = !self.open().any(|it| {
            super::measures::agg_of(self.word(it)).is_some()
                || matches!(
                    self.word(it),
                    Some(
                        Concept::HowMany
                            | Concept::Share
                            | Concept::Correlation
                            | Concept::Difference
                            | Concept::Compare
                            | Concept::Ratio
                            | Concept::AsShare
                            | Concept::Most
                            | Concept::Least
                    )
                )
        });
        let are_numbers = [x, y].iter().all(|it| self.is_number_column(*it));
        let is_asked = shape == Some(Shape::Scatter) || versus && shape.is_some();
        if !is_asked || !is_plain || !are_numbers {
            return Ok(None);
        }
        let x = self.one(x, |it| it.kind.is_number())?;
        let y = self.one(y, |it| it.kind.is_number())?;
        self.take_all(&[Concept::Versus, Concept::By, Concept::And, Concept::Between]);
        Ok(Some(What::Rows { columns: vec![x, y], rank: None, first: None }))
    }

    /// Questions about the data as such: its columns, what is missing, what comes twice.
    fn about_data(&mut self, filters: &[Placed]) -> Result<Option<What>, Doubt> {
        if let Some(at) = self.first_word(&[Concept::Missing]) {
            let counts = self.has(&[Concept::HowMany]);
            if self.has(&[Concept::Rows]) && !counts && self.open_columns().is_empty() {
                self.take_all(&[Concept::Missing]);
                return Ok(Some(What::Check(super::Check::Present(Vec::new()))));
            }
            self.take(at);
            self.take_all(&[Concept::Missing, Concept::HowMany, Concept::Sum, Concept::Most]);
            let is_share = self.take_all(&[Concept::Share]);
            self.take_all(&[Concept::Columns]);
            let groups = self.groups()?;
            let columns = self.open_columns();
            let places = self.all(&columns, |_| true)?;
            if is_share && let [place] = places[..] {
                let part = vec![Filter { place, test: Test::Missing, is_negated: false }];
                return Ok(Some(What::Share { part, groups, of: None, rank: None }));
            }
            return Ok(Some(What::Missing(places, groups)));
        }
        if self.has(&[Concept::Duplicate]) {
            self.take_all(&[Concept::Duplicate, Concept::HowMany, Concept::Mode]);
            let columns = self.open_columns();
            let places = self.all(&columns, |_| true)?;
            return Ok(Some(What::Duplicates(places)));
        }
        if self.take_all(&[Concept::Constant]) {
            self.take_all(&[Concept::Columns]);
            return Ok(Some(What::Constant));
        }
        if self.has(&[Concept::Outliers]) {
            let counts = self.take_all(&[Concept::HowMany]);
            self.take_all(&[Concept::Outliers, Concept::Iqr]);
            let columns = self.open_columns();
            let places = self.all(&columns, |it| it.kind.is_number())?;
            return Ok(Some(What::Outliers(places, counts)));
        }
        if self.take_all(&[Concept::Size]) {
            self.take_all(&[Concept::Columns, Concept::HowMany]);
            return Ok(Some(What::Size));
        }
        let has_columns = !self.open_columns().is_empty();
        if self.has(&[Concept::Columns]) && !has_columns && filters.is_empty() {
            let counts_both = self.has(&[Concept::Rows]) && self.has(&[Concept::HowMany]);
            self.take_all(&[Concept::Columns, Concept::HowMany, Concept::Describe]);
            return Ok(Some(if counts_both { What::Size } else { What::Columns }));
        }
        if self.has(&[Concept::Describe]) {
            let has_agg = self.open().any(|it| super::measures::agg_of(self.word(it)).is_some());
            if !has_agg {
                self.take_all(&[Concept::Describe]);
                let groups = self.groups()?;
                if !groups.is_empty() {
                    return Err(Doubt::Unasked);
                }
                let columns = self.open_columns();
                let places = self.all(&columns, |it| it.kind.is_number())?;
                return Ok(Some(What::Describe(places)));
            }
        }
        if let Some(what) = self.ends_of_time()? {
            return Ok(Some(what));
        }
        Ok(self.preview(has_columns))
    }

    /// `the date of the first invoice`, `the earliest order`.
    fn ends_of_time(&mut self) -> Result<Option<What>, Doubt> {
        let ends = [Concept::Earliest, Concept::Latest, Concept::First, Concept::Last];
        let Some(at) = self.first_word(&ends) else { return Ok(None) };
        let word = self.word(at);
        let is_low = matches!(word, Some(Concept::Earliest | Concept::First));
        let has_number = matches!(self.meaning(at + 1), Some(Meaning::Number(_)))
            || at
                .checked_sub(1)
                .is_some_and(|it| matches!(self.meaning(it), Some(Meaning::Number(_))));
        let is_time = |it: &usize| {
            self.is_column(*it)
                && self
                    .choose(*it, |it| it.kind.is_time() || it.kind == Kind::Clock)
                    .iter()
                    .all(|it| self.kind(*it).is_time() || self.kind(*it) == Kind::Clock)
        };
        let named = self.open().find(is_time);
        let is_sure = matches!(word, Some(Concept::Earliest | Concept::Latest));
        if has_number || named.is_none() && !is_sure {
            return Ok(None);
        }
        let asks_when =
            named.is_some() || self.scene.tokens.first().is_some_and(|it| it.lower == "when");
        let place = match named {
            Some(column) => self.one(column, |it| it.kind.is_time() || it.kind == Kind::Clock)?,
            None => match self.calendar() {
                Some(place) => place,
                None => return Ok(None),
            },
        };
        self.take(at);
        if asks_when {
            let agg = if is_low { Agg::Min } else { Agg::Max };
            let measures = vec![Measure { agg, of: Some(place) }];
            let groups = self.groups()?;
            return Ok(Some(What::aggregate(measures, groups, None)));
        }
        let rank = Rank { n: Some(1), skip: 0, is_ascending: is_low };
        Ok(Some(What::Rows { columns: Vec::new(), rank: Some((place, rank)), first: None }))
    }

    /// `first 10 rows`, `a preview`, `the last row`.
    fn preview(&mut self, has_columns: bool) -> Option<What> {
        if has_columns && !self.has(&[Concept::Preview]) {
            return None;
        }
        let is_preview = self.take_all(&[Concept::Preview]);
        let end = self.first_word(&[Concept::First, Concept::Last]);
        let has_noun = self.open().any(|it| self.is_noun(it));
        if end.is_none() && !is_preview || end.is_some() && !has_noun && !is_preview {
            return None;
        }
        let is_last = end.is_some_and(|it| self.word(it) == Some(Concept::Last));
        let n = self.open().find_map(|it| match self.meaning(it)? {
            Meaning::Number(value) if 1.0 <= *value && value.fract() == 0.0 => Some((it, *value)),
            _ => None,
        });
        if let Some(end) = end {
            self.take(end);
        }
        let first = match n {
            Some((at, value)) => {
                self.take(at);
                #[expect(clippy::cast_possible_truncation, reason = "rows of a table")]
                let n = value as i64;
                n
            }
            None if is_preview => PREVIEW_ROWS,
            None => 1,
        };
        let first = Some(if is_last { -first } else { first });
        Some(What::Rows { columns: Vec::new(), rank: None, first })
    }

    /// Correlations and distributions.
    fn relation(&mut self, groups: &[Group]) -> Result<Option<What>, Doubt> {
        if self.take_all(&[Concept::Correlation]) {
            let columns = self.open_columns();
            let places = self.all(&columns, |it| it.kind.is_number())?;
            if places.iter().any(|it| !self.kind(*it).is_number()) {
                return Err(Doubt::Unasked);
            }
            self.take_all(&[Concept::Between]);
            self.take_all(&[Concept::Most]);
            return Ok(Some(What::Correlation(places, groups.to_vec())));
        }
        if self.has(&[Concept::Distribution]) {
            self.take_all(&[Concept::Distribution, Concept::HowMany]);
            let Some(at) = self.open().find(|it| self.is_column(*it)) else {
                return match groups {
                    [] => Err(Doubt::Unasked),
                    groups => Ok(Some(counts(groups.to_vec()))),
                };
            };
            let place = self.one(at, |_| true)?;
            let spreads = self.kind(place).is_number() && groups.is_empty();
            if spreads {
                return Ok(Some(What::Distribution(place)));
            }
            let mut all = vec![Group::By(place)];
            all.extend(groups.iter().copied());
            if self.kind(place).is_number() {
                return Err(Doubt::Unasked);
            }
            return Ok(Some(counts(all)));
        }
        Ok(None)
    }

    /// `ratio of tip to total bill`, `construction as a percentage of goods_producing`.
    fn ratio(&mut self, groups: &[Group]) -> Result<Option<What>, Doubt> {
        let numbers: Vec<usize> = self.open().filter(|it| self.is_number_column(*it)).collect();
        let is_percent = self.has(&[Concept::AsShare]) || !self.has(&[Concept::Ratio]);
        let is_asked = self.has(&[Concept::AsShare, Concept::Ratio])
            || numbers.len() == 2 && self.has(&[Concept::Share]) && self.has(&[Concept::Of]);
        let [part, whole] = numbers[..] else { return Ok(None) };
        if !is_asked {
            return Ok(None);
        }
        let part = self.one(part, |it| it.kind.is_number())?;
        let whole = self.one(whole, |it| it.kind.is_number())?;
        self.take_all(&[
            Concept::AsShare,
            Concept::Ratio,
            Concept::Share,
            Concept::Mean,
            Concept::Between,
        ]);
        Ok(Some(What::Ratio { part, whole, is_percent, groups: groups.to_vec() }))
    }

    /// `what percentage of passengers survived`, `share of revenue by region`.
    fn share(&mut self, filters: &[Placed], groups: &[Group]) -> Result<Option<What>, Doubt> {
        let Some(at) = self.first_word(&[Concept::Share]) else { return Ok(None) };
        self.take(at);
        self.take_all(&[Concept::Share, Concept::HowMany, Concept::Sum]);
        self.take_all(&[Concept::By, Concept::Each]);
        let mut groups = groups.to_vec();
        let number = self.open().find(|it| self.is_number_column(*it));
        let of = match number {
            Some(column) => Some(self.one(column, |it| it.kind.is_number())?),
            None => None,
        };
        let rank = match self.first_word(&[Concept::Most, Concept::Least]) {
            Some(word) => {
                let is_ascending = self.word(word) == Some(Concept::Least);
                self.take(word);
                Some(Rank { n: Some(1), skip: 0, is_ascending })
            }
            None => None,
        };
        let entity = self.open_columns();
        for column in entity {
            groups.push(Group::By(self.one(column, |_| true)?));
        }
        // Of a number, groups are the parts; a period is never one.
        let is_period = |it: &Placed| {
            matches!(it.filter.test, Test::Part(..) | Test::Last(..))
                || self.is_calendar_number(it.filter.place)
        };
        let parts_are_groups =
            !groups.is_empty() && (of.is_some() || filters.iter().all(is_period));
        // The values of a column that the question also groups by are the parts.
        if parts_are_groups
            || filters.is_empty()
            || !groups.is_empty() && filters.iter().all(|it| it.at < at && !it.is_predicate)
        {
            if groups.is_empty() {
                return Err(Doubt::Unasked);
            }
            let agg = if of.is_some() { Agg::Sum } else { Agg::Count };
            let measures = vec![Measure { agg, of }];
            let over = Over::Share;
            return Ok(Some(What::Aggregate { measures, groups, rank, over, having: None }));
        }
        // `of the female passengers`: what stands before the noun is the whole, what follows is the part.
        let noun = self.open().find(|it| self.is_noun(*it) && at < *it);
        let mut part: Vec<Filter> = Vec::new();
        if 1 < filters.len() {
            let split = noun.filter(|noun| {
                filters.iter().any(|it| it.at < *noun) && filters.iter().any(|it| *noun < it.at)
            });
            part = if let Some(noun) = split {
                filters.iter().filter(|it| noun < it.at).map(|it| it.filter.clone()).collect()
            } else {
                let predicates: Vec<Filter> = filters
                    .iter()
                    .filter(|it| it.is_predicate)
                    .map(|it| it.filter.clone())
                    .collect();
                if predicates.len() < filters.len() { predicates } else { Vec::new() }
            };
        }
        if part.is_empty() {
            // Two bounds of one column are one condition.
            let last = filters.iter().max_by_key(|it| it.at);
            let place = last.map(|it| it.filter.place);
            part = filters
                .iter()
                .map(|it| &it.filter)
                .filter(|it| Some(it.place) == place)
                .cloned()
                .collect();
        }
        Ok(Some(What::Share { part, groups, of, rank }))
    }

    /// `difference in mass between Adelie and Gentoo`.
    fn difference(&mut self, filters: &[Placed]) -> Result<Option<What>, Doubt> {
        if !self.has(&[Concept::Difference]) {
            return Ok(None);
        }
        let pair = filters.iter().find_map(|it| match &it.filter.test {
            Test::In(values) if values.len() == 2 && !it.filter.is_negated => {
                Some((it.filter.place, [values[0].clone(), values[1].clone()]))
            }
            _ => None,
        });
        let Some((by, between)) = pair else { return Ok(None) };
        self.take_all(&[Concept::Difference, Concept::Between, Concept::Most, Concept::Least]);
        let measures = self.aggregates()?;
        let measure = match measures.into_iter().next() {
            Some(measure) => measure,
            None => match self.open().find(|it| self.is_number_column(*it)) {
                Some(column) => {
                    let place = self.one(column, |it| it.kind.is_number())?;
                    self.usual(place)
                }
                None => Measure { agg: Agg::Count, of: None },
            },
        };
        Ok(Some(What::Difference { measure, by, between }))
    }

    /// Takes what is made of a series, and the time that it runs over.
    fn over(&mut self, groups: &mut Vec<Group>) -> Over {
        let overs = [
            (Concept::Cumulative, Over::Cumulative),
            (Concept::Growth, Over::Growth),
            (Concept::PeriodChange, Over::Growth),
            (Concept::Change, Over::Change),
        ];
        let mut over = Over::Plain;
        let is_period = self.has(&[Concept::PeriodChange]);
        for (concept, kind) in overs {
            if self.take_all(&[concept]) && over == Over::Plain {
                over = kind;
            }
        }
        let runs = self.take_all(&[Concept::OverTime]) || over != Over::Plain;
        let has_time = groups
            .iter()
            .any(|it| !matches!(it, Group::By(_)) || self.is_calendar_number(it.place()));
        if runs && !has_time {
            let unit = if is_period { TimeUnit::Month } else { self.unit_of_trend() };
            let year = self.places().find(|it| self.is_calendar_number(*it));
            let group = match (self.calendar(), year) {
                (Some(place), _) => Some(Group::Time(place, unit)),
                (None, Some(place)) => Some(Group::By(place)),
                (None, None) => None,
            };
            groups.splice(0..0, group);
        }
        over
    }

    fn unit_of_trend(&mut self) -> TimeUnit {
        let unit = self.open().find_map(|it| match self.meaning(it)? {
            Meaning::Unit(unit) => Some((it, *unit)),
            _ => None,
        });
        match unit {
            Some((at, unit)) => {
                self.take(at);
                unit
            }
            None => TimeUnit::Month,
        }
    }

    fn is_calendar_number(&self, place: Place) -> bool {
        let column = self.column(place);
        column.kind == Kind::Whole
            && column.words.iter().any(|it| self.scene.lexicon.unit(it).is_some())
    }

    /// `compare A and B`: the two values are the groups.
    fn compared_values(&mut self, filters: &[Placed], groups: &mut Vec<Group>) {
        let is_comparison = self.take_all(&[Concept::Compare, Concept::Versus]);
        let several = filters.iter().find(|it| {
            matches!(&it.filter.test, Test::In(values) if 1 < values.len()) && !it.filter.is_negated
        });
        let Some(several) = several else { return };
        let is_compared = is_comparison
            || self.has(&[Concept::Most, Concept::Least])
            || self.has(&[Concept::Which]) && self.open().any(|it| self.is_number_column(it));
        let place = several.filter.place;
        if is_compared && groups.iter().all(|it| it.place() != place) {
            groups.push(Group::By(place));
        }
    }

    /// Takes `sorted by price descending`.
    fn sorting(&mut self) -> Option<Rank> {
        let is_descending = self.take_all(&[Concept::Descending]);
        let is_ascending = self.take_all(&[Concept::Ascending]);
        let is_sorted = self.has(&[Concept::Sorted]) || is_ascending || is_descending;
        is_sorted.then_some(Rank { n: None, skip: 0, is_ascending })
    }

    /// Counts, totals, rows.
    fn plain(
        &mut self,
        filters: &[Placed],
        mut measures: Vec<Measure>,
        mut groups: Vec<Group>,
        rank: Option<Rank>,
        shape: Option<Shape>,
    ) -> Result<What, Doubt> {
        let sort_mark = self.first_word(&[Concept::Sorted]);
        let mut columns = self.open_columns();
        let mut sort_by = None;
        if let Some(mark) = sort_mark
            && let Some(at) = columns.iter().copied().find(|it| mark < *it)
        {
            sort_by = Some(self.one(at, |it| it.kind.is_number())?);
            columns.retain(|it| *it != at);
        }
        let bare: Vec<Agg> =
            measures.iter().filter(|it| it.of.is_none()).map(|it| it.agg).collect();
        measures.retain(|it| it.of.is_some());
        self.counted(&mut columns, &mut measures, !groups.is_empty())?;
        self.bare(&bare, &mut columns, &mut measures)?;
        if !measures.is_empty() || !groups.is_empty() {
            self.told(columns, &mut measures, &mut groups, sort_by)?;
            let having = self.count_test.take();
            if having.is_some() && measures[0].agg != Agg::Count {
                return Err(Doubt::Unasked);
            }
            return Ok(What::Aggregate { measures, groups, rank, over: Over::Plain, having });
        }
        if let Some(having) = self.count_test.take() {
            // `carriers with more than 50 flights`
            let mut groups = Vec::new();
            for at in columns {
                groups.push(Group::By(self.one(at, |it| !it.kind.is_number())?));
            }
            if groups.is_empty() {
                return Err(Doubt::Unasked);
            }
            let measures = vec![Measure { agg: Agg::Count, of: None }];
            return Ok(What::Aggregate {
                measures,
                groups,
                rank,
                over: Over::Plain,
                having: Some(having),
            });
        }
        self.rows(filters, &columns, sort_by, rank, shape)
    }

    /// Takes `how many` with what it counts: `species`, `births`, rows.
    fn counted(
        &mut self,
        columns: &mut Vec<usize>,
        measures: &mut Vec<Measure>,
        has_groups: bool,
    ) -> Result<(), Doubt> {
        let counts_things = self.has(&[Concept::HowMany]);
        // `how many species`, `how many births`
        let key = if counts_things { self.counted_by_key(columns) } else { None };
        self.take_all(&[Concept::HowMany]);
        if counts_things {
            if let Some(place) = key {
                let name = &self.column(place).name;
                self.notes.push(format!("I counted each `{name}` once, not the rows."));
                measures.push(Measure { agg: Agg::Distinct, of: Some(place) });
                columns.clear();
            } else if let Some(at) = columns.first().copied() {
                let place = self.one(at, |it| !it.kind.is_number() || it.kind == Kind::Whole)?;
                let adds = self.kind(place).is_number()
                    && self.scene.lexicon.is_additive(&self.column(place).words) == Some(true);
                // `the number of employees`, where that is a column, is what it says.
                if self.kind(place).is_number() && !adds && !self.is_asked_how_many() {
                    return Err(Doubt::Unasked);
                }
                let agg = match self.kind(place) {
                    _ if adds => Agg::Sum,
                    kind if kind.is_time() => Agg::Count,
                    _ => Agg::Distinct,
                };
                measures.push(Measure { agg, of: Some(place) });
                if agg == Agg::Distinct && self.kind(place) == Kind::Text && has_groups {
                    // Of groups, both counts are told.
                    measures.push(Measure { agg: Agg::Count, of: None });
                }
                columns.remove(0);
            } else {
                measures.insert(0, Measure { agg: Agg::Count, of: None });
            }
        }
        Ok(())
    }

    /// Returns whether the question says `how many` rather than `number of`.
    fn is_asked_how_many(&self) -> bool {
        let words: Vec<&str> = self.scene.tokens.iter().map(|it| it.lower.as_str()).collect();
        words.windows(2).any(|it| it == ["how", "many"])
    }

    /// Finds the columns of aggregates that stand before theirs, or have none: `total by region`.
    fn bare(
        &mut self,
        bare: &[Agg],
        columns: &mut Vec<usize>,
        measures: &mut Vec<Measure>,
    ) -> Result<(), Doubt> {
        let mut bare_of = None;
        for agg in bare.iter().copied() {
            let takes_time = matches!(agg, Agg::Min | Agg::Max);
            let suits = |it: &usize| {
                self.is_number_column(*it)
                    || takes_time
                        && self.choose(*it, |_| true).iter().all(|it| self.kind(*it).is_time())
            };
            match columns.iter().position(suits) {
                Some(n) => {
                    // Several figures may be of the same column.
                    let place = self.one(columns[n], |it| it.kind.is_number())?;
                    bare_of = Some(place);
                    columns.remove(n);
                    measures.push(Measure { agg, of: Some(place) });
                }
                None if bare_of.is_some() => measures.push(Measure { agg, of: bare_of }),
                None if agg == Agg::Sum => {
                    // `how many in total`
                    if measures.is_empty() {
                        measures.push(Measure { agg: Agg::Count, of: None });
                    }
                }
                None => return Err(Doubt::Unasked),
            }
        }
        Ok(())
    }

    /// Makes measures or groups of the columns that are left.
    fn told(
        &mut self,
        mut columns: Vec<usize>,
        measures: &mut Vec<Measure>,
        groups: &mut Vec<Group>,
        sort_by: Option<Place>,
    ) -> Result<(), Doubt> {
        if measures.is_empty() {
            let numbers: Vec<usize> =
                columns.iter().copied().filter(|it| self.is_number_column(*it)).collect();
            for at in numbers {
                columns.retain(|it| *it != at);
                let place = self.one(at, |it| it.kind.is_number())?;
                if self.is_calendar_number(place) {
                    return Err(Doubt::Unplaced(vec![self.text(at)]));
                }
                let usual = self.usual(place);
                measures.push(usual);
            }
        }
        // `models per mfr` counts both: the rows, and the models.
        for (n, at) in columns.into_iter().enumerate() {
            let is_counted = measures.is_empty() && n == 0 && !groups.is_empty();
            if is_counted {
                let place = self.one(at, |_| true)?;
                measures.push(Measure { agg: Agg::Count, of: None });
                measures.push(Measure { agg: Agg::Distinct, of: Some(place) });
                continue;
            }
            let is_listed = at.checked_sub(1).is_some_and(|it| {
                matches!(
                    self.marks[it].meaning,
                    Meaning::Word(Concept::And | Concept::By | Concept::Each | Concept::Versus)
                )
            });
            if !is_listed {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            let place = self.one(at, |it| !it.kind.is_number())?;
            groups.push(Group::By(place));
        }
        if let Some(place) = sort_by
            && measures.iter().all(|it| it.of != Some(place))
            && groups.iter().all(|it| it.place() != place)
        {
            let usual = self.usual(place);
            measures.insert(0, usual);
        }
        if measures.is_empty() {
            measures.push(Measure { agg: Agg::Count, of: None });
        }
        Ok(())
    }

    /// `how many orders`, where each has an `Order ID` that comes in several rows.
    fn counted_by_key(&mut self, columns: &[usize]) -> Option<Place> {
        let at = self.first_word(&[Concept::HowMany]).map_or(0, |it| it + 1);
        let at = (at..self.marks.len())
            .find(|it| !self.used[*it] && (self.is_noun(*it) || self.is_column(*it)))?;
        let stem = self.scene.tokens[self.marks[at].end - 1].stem.clone();
        if self.marks[at].end - self.marks[at].start != 1
            || !(columns.is_empty() || columns == [at])
        {
            return None;
        }
        let is_key = |it: &Place| {
            let words = &self.column(*it).words;
            matches!(&words[..], [noun, key] if *noun == stem && key == "id")
        };
        let key = self.places().find(is_key)?;
        self.take(at);
        Some(key)
    }

    /// Rows as they are, or the values of a column.
    fn rows(
        &mut self,
        filters: &[Placed],
        columns: &[usize],
        sort_by: Option<Place>,
        rank: Option<Rank>,
        shape: Option<Shape>,
    ) -> Result<What, Doubt> {
        let has_noun = self.open().any(|it| self.is_noun(it));
        let asks = self.has(&[Concept::List, Concept::Which, Concept::NameOf]) || has_noun;
        if columns.is_empty() && filters.is_empty() && sort_by.is_none() {
            return Err(Doubt::Unasked);
        }
        if !asks && filters.is_empty() && shape.is_none() && sort_by.is_none() {
            return Err(Doubt::Unasked);
        }
        let mut places = self.all(columns, |_| true)?;
        // `sales in the last month`: what adds up is added up.
        if let ([place], false, true) = (&places[..], has_noun, sort_by.is_none())
            && shape.is_none()
            && !filters.is_empty()
            && self.kind(*place).is_number()
            && filters.iter().all(|it| it.filter.place != *place)
            && !self.has(&[Concept::List])
            && let mut sum = self.clone()
            && let usual = sum.usual(*place)
            && usual.agg == Agg::Sum
        {
            self.notes = sum.notes;
            return Ok(What::aggregate(vec![usual], Vec::new(), None));
        }
        // `chart of price`, `which species are there`
        if let ([place], true) = (&places[..], sort_by.is_none()) {
            let is_number = self.kind(*place).is_number();
            if is_number && (shape.is_some() || filters.is_empty()) {
                return Ok(What::Distribution(*place));
            }
            if !is_number && !has_noun {
                return Ok(counts(vec![Group::By(*place)]));
            }
        }
        if shape.is_some() {
            let numbers: Vec<Place> =
                places.iter().copied().filter(|it| self.kind(*it).is_number()).collect();
            let others: Vec<Place> =
                places.iter().copied().filter(|it| !self.kind(*it).is_number()).collect();
            if let ([_, _], []) = (&numbers[..], &others[..]) {
                return Ok(What::Rows { columns: numbers, rank: None, first: None });
            }
            if let (false, false) = (numbers.is_empty(), others.is_empty()) {
                let measures = numbers.into_iter().map(|it| self.usual(it)).collect();
                let groups = others
                    .into_iter()
                    .map(|it| {
                        if self.kind(it).is_time() {
                            Group::Time(it, TimeUnit::Day)
                        } else {
                            Group::By(it)
                        }
                    })
                    .collect();
                return Ok(What::aggregate(measures, groups, rank));
            }
        }
        if !has_noun && !filters.is_empty() && !places.is_empty() {
            // `the population of France`: what the condition is about is shown beside it.
            for filter in filters.iter().rev() {
                if !places.contains(&filter.filter.place) {
                    places.insert(0, filter.filter.place);
                }
            }
        }
        let rank = sort_by.zip(rank);
        Ok(What::Rows { columns: places, rank, first: None })
    }
}

fn counts(groups: Vec<Group>) -> What {
    let measures = vec![Measure { agg: Agg::Count, of: None }];
    let rank = Some(Rank { n: None, skip: 0, is_ascending: false });
    What::aggregate(measures, groups, rank)
}

fn with_over(what: What, made: Over) -> What {
    match what {
        What::Aggregate { measures, groups, rank, over: Over::Plain, having } => {
            What::Aggregate { measures, groups, rank, over: made, having }
        }
        what => what,
    }
}
