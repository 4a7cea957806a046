//! Counts, totals and rows: what is asked when nothing else is.

use super::{Doubt, Parser, Placed};
use crate::ground::{Mark, Meaning, Place};
use crate::lexicon::{Concept, Cue, TimeUnit};
use crate::reading::{Agg, Group, Measure, Over, Rank, Scalar, Shape, Test, What};
use crate::schema::Kind;

impl Parser<'_> {
    /// Counts, totals, rows.
    pub(super) fn plain(
        &mut self,
        filters: &[Placed],
        mut measures: Vec<Measure>,
        mut groups: Vec<Group>,
        mut rank: Option<Rank>,
        shape: Option<Shape>,
    ) -> Result<What, Doubt> {
        let has_noun = self.open().any(|it| self.is_noun(it));
        if let ([Group::By(place) | Group::Time(place, _)], [], true) =
            (&groups[..], &measures[..], has_noun && self.has(&[Concept::List]))
            && rank.is_none()
            && shape.is_none()
            && self.open_columns().is_empty()
        {
            // `list the orders by date` says in which order.
            let rank = Some((*place, Rank { n: None, skip: 0, is_ascending: true }));
            return Ok(What::Rows { columns: Vec::new(), rank, first: None });
        }
        if measures.is_empty()
            && rank.is_none()
            && shape.is_none()
            && let Some(what) = self.all_of(filters, &groups)
        {
            return Ok(what);
        }
        let sort_mark = self.first_word(&[Concept::Sorted]);
        let mut columns = self.open_columns();
        let mut sort_by = None;
        if let Some(mark) = sort_mark
            && let Some(at) = columns.iter().copied().find(|it| mark < *it)
        {
            sort_by = Some(self.one(at, |it| it.kind.is_number())?);
            columns.retain(|it| *it != at);
        }
        // `by month, in order of month`
        if sort_by.is_some_and(|it| groups.iter().any(|group| group.place() == it)) {
            rank = None;
        }
        let mut bare: Vec<Agg> =
            measures.iter().filter(|it| it.of.is_none()).map(|it| it.agg).collect();
        measures.retain(|it| it.of.is_some());
        if bare == [Agg::Distinct]
            && let Some(place) = self.counted_by_key(&columns)
        {
            measures.push(Measure { agg: Agg::Distinct, of: Some(place) });
            bare.clear();
        }
        // `list the different brands` asks for them, and not for their number.
        if let ([Measure { agg: Agg::Distinct, of: Some(place) }], []) =
            (&measures[..], &groups[..])
            && self.said(Concept::List)
            && !self.scene.says(Cue::HowMany)
        {
            self.take_all(&[Concept::List]);
            groups.push(Group::By(*place));
            measures = vec![Measure::ROWS];
        }
        let tells_rows = !groups.is_empty() || !filters.is_empty();
        self.counted(&mut columns, &mut measures, tells_rows)?;
        self.bare(&bare, filters, &mut columns, &mut measures)?;
        if !measures.is_empty() || !groups.is_empty() {
            self.told(columns, &mut measures, &mut groups, sort_by)?;
            let having = self.count_test.take();
            if having.is_some() && (measures[0].agg != Agg::Count || groups.is_empty()) {
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
            let measures = vec![Measure::ROWS];
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

    /// `all states in region MA` lists the states, `occupancy below 40, all states` the rows.
    fn all_of(&self, filters: &[Placed], groups: &[Group]) -> Option<What> {
        let [Group::By(place)] = groups else { return None };
        let is_all = |it: &usize| {
            self.used[*it]
                && self.word_of(*it) == Some(Concept::Each)
                && matches!(&self.marks[*it + 1].meaning, Meaning::Column(of) if of.contains(place))
        };
        let at = (0..self.marks.len().saturating_sub(1)).find(is_all)?;
        let counts = self.has(&[Concept::HowMany, Concept::Distinct]);
        if counts || filters.is_empty() || !self.open_columns().is_empty() {
            return None;
        }
        let is_last = at + 2 == self.marks.len() && filters.iter().all(|it| it.at < at);
        Some(if is_last { What::ROWS } else { What::counts(groups.to_vec()) })
    }

    /// Takes `how many` with what it counts: `species`, `births`, rows.
    fn counted(
        &mut self,
        columns: &mut Vec<usize>,
        measures: &mut Vec<Measure>,
        tells_rows: bool,
    ) -> Result<(), Doubt> {
        let counts_things = self.has(&[Concept::HowMany]);
        // `how many species`, `how many births`
        let key = if counts_things { self.counted_by_key(columns) } else { None };
        self.take_all(&[Concept::HowMany]);
        if counts_things {
            if let Some(place) = key {
                let name = &self.column(place).name;
                self.notes.push(format!("I counted each `{name}` once, and the rows beside it."));
                measures.push(Measure { agg: Agg::Distinct, of: Some(place) });
                measures.push(Measure::ROWS);
                columns.clear();
            } else if let Some(at) = columns.first().copied() {
                // `how many parks are in New York state`, where New York is a city.
                if at.checked_sub(1).is_some_and(|it| self.is_value(it) && self.touches_next(it)) {
                    return Err(Doubt::Unplaced(vec![self.text(at)]));
                }
                // `number of hispanic boys`: what is counted has the column beside it.
                let is_kind = !self.is_plural(at)
                    && self.touches_next(at)
                    && (self.is_value(at + 1) || self.is_noun(at + 1));
                if is_kind {
                    return Err(Doubt::Unplaced(vec![self.text(at)]));
                }
                let place = self.one(at, |it| !it.kind.is_number() || it.kind == Kind::Whole)?;
                let adds = self.kind(place).is_number()
                    && self.scene.lexicon.is_additive(&self.column(place).words) == Some(true);
                let is_next =
                    at.checked_sub(1).is_some_and(|it| self.word_of(it) == Some(Concept::HowMany));
                let sums = measures.iter().any(|it| it.agg == Agg::Sum) || self.said(Concept::Sum);
                if self.kind(place).is_number() && !adds && !self.is_calendar_number(place) {
                    // `how many people were affected` is no number of different values.
                    if !sums && !is_next {
                        return Err(Doubt::Unasked);
                    }
                    if sums {
                        measures.push(Measure { agg: Agg::Sum, of: Some(place) });
                        columns.remove(0);
                        return Ok(());
                    }
                }
                // `the number of employees`, where that is a column, is what it says.
                if self.kind(place).is_number() && !adds && !self.scene.says(Cue::HowMany) {
                    return Err(Doubt::Unasked);
                }
                let agg = match self.kind(place) {
                    _ if adds => Agg::Sum,
                    // `how many citations`: their number, or how many numbers of them there are.
                    kind if kind.is_number()
                        && !self.column(place).is_key
                        && !self.is_calendar_number(place) =>
                    {
                        measures.push(Measure { agg: Agg::Sum, of: Some(place) });
                        Agg::Distinct
                    }
                    kind if kind.is_time() => Agg::Count,
                    _ => Agg::Distinct,
                };
                measures.push(Measure { agg, of: Some(place) });
                if agg == Agg::Distinct && tells_rows {
                    // Of some of the rows, both counts are told.
                    measures.push(Measure::ROWS);
                }
                columns.remove(0);
            } else {
                if self.counts_another() || self.counts_numbers() {
                    return Err(Doubt::Unasked);
                }
                measures.insert(0, Measure::ROWS);
                // What the table is called after may have several rows: both counts are told.
                // So may what has a number of its own: the patients of an `id`.
                let has_noun =
                    self.open().any(|it| matches!(self.meaning(it), Some(Meaning::Noun)));
                let key = self.places().find(|it| self.column(*it).is_bare_key());
                if let Some(place) = self.label_of_table().or(key.filter(|_| has_noun)) {
                    measures.insert(1, Measure { agg: Agg::Distinct, of: Some(place) });
                }
            }
        }
        Ok(())
    }

    /// `how many purchases did married households make`, where the rows are households.
    fn counts_another(&self) -> bool {
        let is_count = |it: &Mark| it.meaning == Meaning::Word(Concept::HowMany);
        let Some(at) = self.marks.iter().position(is_count) else { return false };
        let is_noun = |it: &Mark| it.meaning == Meaning::Noun;
        let is_other = self.marks.get(at + 1).is_some_and(is_noun) && !self.names_rows(at + 1);
        is_other && (at + 2..self.marks.len()).any(|it| self.names_rows(it))
    }

    /// `how many seasons`, of which each row has a number.
    fn counts_numbers(&self) -> bool {
        let is_count = |it: &Mark| it.meaning == Meaning::Word(Concept::HowMany);
        let Some(noun) = self.marks.iter().position(is_count).map(|it| it + 1) else {
            return false;
        };
        let is_noun = self.marks.get(noun).is_some_and(|it| it.meaning == Meaning::Noun);
        let has_number = |stem: &String| {
            self.places().any(|it| {
                let column = self.column(it);
                column.kind == Kind::Whole && !column.is_key && column.words.last() == Some(stem)
            })
        };
        is_noun && !self.names_rows(noun) && has_number(&self.last_token(noun).stem)
    }

    /// Returns whether a mark says what the table is called after.
    fn names_rows(&self, at: usize) -> bool {
        let words = &self.scene.tables[0].words;
        match self.marks[at].meaning {
            Meaning::Table(_) => true,
            Meaning::Noun => words.contains(&self.last_token(at).stem),
            _ => false,
        }
    }

    /// Returns the names of what the table is called after, when that is counted: of storms, `name`.
    pub(super) fn label_of_table(&self) -> Option<Place> {
        let table = self.scene.tables[0];
        let is_label = |it: &Place| {
            let column = self.column(*it);
            let is_table = column.kind == Kind::Text && column.words == table.words;
            column.words == ["name"] || is_table
        };
        let label = self.places().find(is_label)?;
        self.open().any(|it| self.names_rows(it)).then_some(label)
    }

    /// Finds the columns of aggregates that stand before theirs, or have none: `total by region`.
    fn bare(
        &mut self,
        bare: &[Agg],
        filters: &[Placed],
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
                None if self.compared_number(filters).is_some() => {
                    // `the sum of all positive balances`
                    measures.push(Measure { agg, of: self.compared_number(filters) });
                }
                // `the total value of all houses`
                None if agg == Agg::Sum && self.is_of_amount() => return Err(Doubt::Unasked),
                None if agg == Agg::Sum
                    && !self.scene.says(Cue::HowMuch)
                    && !self.is_mass(measures) =>
                {
                    // `how many in total`; total orders may be what they amount to.
                    let adds = |it: Place| {
                        self.kind(it).is_number()
                            && self.scene.lexicon.is_additive(&self.column(it).words) == Some(true)
                    };
                    if measures.is_empty() && self.places().any(adds) {
                        return Err(Doubt::Unasked);
                    }
                    if measures.is_empty() {
                        measures.push(Measure::ROWS);
                    }
                }
                None => return Err(Doubt::Unasked),
            }
        }
        Ok(())
    }

    /// Returns whether a word behind `total` that says nothing here is what is added up.
    fn is_of_amount(&self) -> bool {
        let tokens = self.scene.tokens;
        let sums = self.marks.iter().filter(|it| it.meaning == Meaning::Word(Concept::Sum));
        sums.into_iter().any(|it| {
            tokens.get(it.end).is_some_and(|it| self.scene.lexicon.is(Cue::Amounts, &it.lower))
        })
    }

    /// Returns whether what is totalled is no number of things: the traffic of `page_traffic`.
    fn is_mass(&self, measures: &[Measure]) -> bool {
        let is_mass = |it: usize| {
            let token = self.last_token(it);
            matches!(self.meaning(it), Some(Meaning::Noun))
                && token.lower == token.text
                && !token.lower.ends_with('s')
                && self.scene.lexicon.noun_cues(&token.lower).is_none()
        };
        measures.is_empty() && self.open().any(is_mass)
    }

    /// Returns the only column of numbers that a condition is on.
    fn compared_number(&self, filters: &[Placed]) -> Option<Place> {
        let mut compared: Vec<Place> = filters
            .iter()
            .filter(|it| matches!(it.filter.test, Test::Is(_, Scalar::Number(_))))
            .map(|it| it.filter.place)
            .filter(|it| !self.is_calendar_number(*it))
            .collect();
        compared.dedup();
        if let [only] = compared[..] { Some(only) } else { None }
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
                // Where nothing says whether these add up, both are told.
                let column = self.column(place);
                let is_open = self.usual_agg(place) == Agg::Mean
                    && self.scene.lexicon.is_additive(&column.words).is_none();
                if is_open {
                    measures
                        .extend([Agg::Mean, Agg::Sum].map(|agg| Measure { agg, of: Some(place) }));
                    self.notes.push(format!(
                        "The question does not say how to combine the values of `{}`. The table has \
                         their average and their total.",
                        column.name
                    ));
                } else {
                    let usual = self.usual(place);
                    measures.push(usual);
                }
            }
        }
        // `models per mfr` counts both: the rows, and the models.
        for (n, at) in columns.into_iter().enumerate() {
            if self.said(Concept::Compare) {
                // `compare the satisfaction of men and women`: what each has how often.
                let place = self.one(at, |it| !it.kind.is_number())?;
                if self.kind(place).is_number() {
                    return Err(Doubt::Unasked);
                }
                groups.push(Group::By(place));
                continue;
            }
            // `stacked bars of medals by country` have a series for each medal.
            if measures.is_empty() && self.said(Concept::StackedChart) && !groups.is_empty() {
                groups.push(Group::By(self.one(at, |it| !it.kind.is_number())?));
                continue;
            }
            if measures.is_empty() && n == 0 && !groups.is_empty() {
                let place = self.one(at, |_| true)?;
                measures.push(Measure::ROWS);
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
            // `rent in California vs New York` compares no numbers of rows.
            if self.said(Concept::Compare) || self.said(Concept::Versus) {
                return Err(Doubt::Unasked);
            }
            measures.push(Measure::ROWS);
        }
        Ok(())
    }

    /// `how many orders`, where each has an `Order ID` that comes in several rows.
    fn counted_by_key(&mut self, columns: &[usize]) -> Option<Place> {
        let counts =
            |it: &Mark| matches!(it.meaning, Meaning::Word(Concept::HowMany | Concept::Distinct));
        let at = self.marks.iter().position(counts).map_or(0, |it| it + 1);
        let at = (at..self.marks.len()).find(|it| !self.used[*it])?;
        if !self.is_noun(at) && !self.is_column(at) {
            return None;
        }
        let stem = self.last_token(at).stem.clone();
        if self.marks[at].end - self.marks[at].start != 1
            || !(columns.is_empty() || columns == [at])
        {
            return None;
        }
        let key = self.places().find(|it| self.column(*it).is_key_of(&stem))?;
        self.take(at);
        Some(key)
    }

    /// `total murders`, where each row has a `total` of them, and `total calls` of a column called so.
    fn says_total(&self, at: usize) -> bool {
        let text = self.text(at);
        let is_called = |word: &str| self.scene.lexicon.is(Cue::Totals, word);
        if text.split_once(' ').is_some_and(|it| is_called(it.0)) {
            return true;
        }
        let is_table = |it: &Mark| matches!(it.meaning, Meaning::Table(_) | Meaning::Noun);
        self.scene.lexicon.is(Cue::Totals, &self.text(at))
            && self.marks.get(at + 1).is_some_and(is_table)
    }

    /// Returns the columns that are asked for, without those that only say what a condition is about.
    fn asked_for(&mut self, filters: &[Placed], columns: &[usize]) -> Result<Vec<usize>, Doubt> {
        for at in columns {
            // `with a textbook`, `bookings with children` may be conditions.
            let lexicon = self.scene.lexicon;
            // `which customers work for a company`
            let article = self.word_before(*at);
            if article.is_some_and(|it| lexicon.is(Cue::Articles, it)) {
                return Err(Doubt::Unplaced(vec![self.text(*at)]));
            }
            let is_with = self.follows(*at, Cue::With)
                && (self.is_number_column(*at) || !filters.is_empty() && columns.len() == 1)
                && !self.said(Concept::List);
            if is_with || !filters.is_empty() && self.follows(*at, Cue::WithA) {
                return Err(Doubt::Unplaced(vec![self.text(*at)]));
            }
        }
        let is_explained = |it: &usize| {
            let is_aside = self.scene.tokens[self.marks[*it].start].is_aside;
            let of = self.choose(*it, |_| true);
            is_aside && filters.iter().any(|it| of.contains(&it.filter.place))
                || self.is_glossed(*it)
        };
        let (explained, asked): (Vec<usize>, Vec<usize>) =
            columns.iter().partition(|it| is_explained(it));
        for at in explained {
            self.take(at);
        }
        let stray = if filters.is_empty() { None } else { self.stray(&asked) };
        match stray {
            Some(stray) => Err(Doubt::Unplaced(vec![self.text(stray)])),
            None => Ok(asked),
        }
    }

    /// Returns a column beside what rows are, which may be part of a condition that nobody understood: the
    /// strike of `pitches that were a swinging strike`, the coupon of `coupon redemptions in May`.
    fn stray(&self, columns: &[usize]) -> Option<usize> {
        let noun = self.open().find(|it| self.is_noun(*it))?;
        let is_listed = |at: usize| self.scene.tokens[self.marks[at].start].is_aside;
        let is_shown = |at: usize| {
            self.follows(at, Cue::With) && self.said(Concept::List)
                || self.word_of(at.saturating_sub(1)) == Some(Concept::List)
        };
        // `coupon redemptions` are of one kind; of `african countries` the rows are shown.
        let is_kind = |at: usize| {
            self.is_noun(at + 1)
                && self.touches_next(at)
                && !self.choose(at, |_| true).iter().any(|it| self.column(*it).is_title)
        };
        let is_named = |at: usize| at.checked_sub(1).is_some_and(|it| self.is_value(it));
        let mut is_chain = false;
        for at in columns.iter().copied() {
            let joined = self.word_of(at.saturating_sub(1)) == Some(Concept::And);
            is_chain = is_shown(at) || is_chain && joined;
            let is_behind = noun < at && !is_chain && !is_listed(at) && !is_named(at);
            if is_kind(at) || is_behind {
                return Some(at);
            }
        }
        None
    }

    /// Reads a question for one column: its values, how often each comes, how they are spread, or the rows.
    fn one_column(
        &mut self,
        place: Place,
        at: usize,
        filters: &[Placed],
        has_noun: bool,
        shape: Option<Shape>,
    ) -> Result<Option<What>, Doubt> {
        if let Some(date) = self.other_day(place) {
            return Err(self.ambiguous(at, &[place, date]));
        }
        let counts = What::counts(vec![Group::By(place)]);
        let is_number = self.kind(place).is_number();
        let is_calendar = self.is_calendar_number(place);
        if is_number && filters.is_empty() && shape.is_none() && is_calendar {
            return Ok(Some(counts));
        }
        if is_number && (self.scene.wants_verdict || self.column(place).is_key) {
            return Err(Doubt::Unasked);
        }
        if is_number && (shape.is_some() || filters.is_empty()) {
            return Ok(Some(What::Distribution(place)));
        }
        let before = at.checked_sub(1).and_then(|it| self.word_of(it));
        // `which positions do the players have` asks for each once.
        let is_asked =
            before == Some(Concept::Which) && self.is_plural(at) && !self.column(place).is_title;
        if (!is_number || is_calendar) && is_asked {
            return Ok(Some(counts));
        }
        // The contestants of `drag_contestants` are its rows.
        let table = &self.scene.tables[place.table].words;
        let is_thing = self.column(place).words.iter().all(|it| table.contains(it));
        if is_thing && !filters.is_empty() && !self.opens(Cue::Asks) {
            return Ok(Some(What::ROWS));
        }
        if is_number {
            return Ok(None);
        }
        // `medals of Cuba` are a list of rows, or their numbers.
        // `countries where medals were over 30` are rows.
        let is_inside = self.follows(at + 2, Cue::Inside);
        let is_clause = self.follows(at + 2, Cue::Places);
        if at == 0 && !filters.is_empty() && !is_inside && !is_clause {
            return Err(Doubt::Unasked);
        }
        let is_of_rows = filters.iter().any(|it| {
            self.kind(it.filter.place).is_number() || self.kind(it.filter.place).is_time()
        });
        let is_list = self.has(&[Concept::List]) && !self.has(&[Concept::Rows]);
        if !is_of_rows && is_list || !has_noun && !is_list {
            return Ok(Some(counts));
        }
        match shape {
            _ if has_noun || !is_list => Ok(None),
            Some(_) => Err(Doubt::Unasked),
            None => Ok(Some(What::ROWS)),
        }
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
        // `causes that start with C` are asked for once each.
        let first = self.marks.iter().position(|it| it.meaning != Meaning::Word(Concept::List));
        if let ([], [it], Some(first)) = (columns, filters, first)
            && matches!(it.filter.test, Test::Text(..))
            && matches!(&self.marks[first].meaning, Meaning::Column(of) if of.contains(&it.filter.place))
            && self.is_plural(first)
            && !self.column(it.filter.place).is_title
        {
            return Ok(What::counts(vec![Group::By(it.filter.place)]));
        }
        // The airports of an `AirportID` are the rows.
        let is_row = |it: usize| {
            self.is_thing(it) && self.choose(it, |_| true).iter().all(|it| it.column == 0)
        };
        let own: Vec<usize> = columns.iter().copied().filter(|it| !is_row(*it)).collect();
        let has_noun = self.open().any(|it| self.is_noun(it)) || own.len() < columns.len();
        let columns = &own[..];
        let asks = self.has(&[Concept::List, Concept::Which, Concept::NameOf]) || has_noun;
        if columns.is_empty() && filters.is_empty() && sort_by.is_none() {
            return Err(Doubt::Unasked);
        }
        if !asks && filters.is_empty() && shape.is_none() && sort_by.is_none() {
            return Err(Doubt::Unasked);
        }
        let columns = self.asked_for(filters, columns)?;
        let columns = &columns[..];
        let mut places = self.all(columns, |_| true)?;
        // `sales in the last month`: what adds up is added up, and of what is called so the largest is.
        // The noun may be what is counted: `gold medals`, `total murders`.
        let counts = |it: usize| self.says_total(it) || self.is_noun(it + 1);
        let has_other = has_noun && !columns.first().is_some_and(|it| counts(*it));
        if let ([place], false, true) = (&places[..], has_other, sort_by.is_none())
            && shape.is_none()
            && self.kind(*place).is_number()
            && filters.iter().all(|it| it.filter.place != *place)
            && !self.has(&[Concept::List])
            && let mut sum = self.clone()
            && let usual = sum.usual(*place)
            && (matches!(usual.agg, Agg::Min | Agg::Max)
                || usual.agg == Agg::Sum && (!filters.is_empty() || self.says_total(columns[0])))
        {
            self.notes = sum.notes;
            return Ok(What::aggregate(vec![usual], Vec::new(), None));
        }
        // `chart of price`, `which species are there`
        if let ([place], [at, ..], None) = (&places[..], columns, sort_by)
            && let Some(what) = self.one_column(*place, *at, filters, has_noun, shape)?
        {
            return Ok(what);
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
        // A month without its year says little: the rows show both.
        let is_part = |it: &Place| self.is_calendar_number(*it);
        let n_told = places.iter().filter(|it| is_part(it)).count();
        if 0 < n_told && n_told < self.places().filter(is_part).count() {
            places.clear();
        }
        // Rows with all that they have fit no chart.
        if shape.is_some() && places.is_empty() {
            return Err(Doubt::Unasked);
        }
        let rank = sort_by.zip(rank);
        Ok(What::Rows { columns: places, rank, first: None })
    }
}
