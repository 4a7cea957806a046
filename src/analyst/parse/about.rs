//! Questions about the data as such: its columns, what is missing, what comes twice, what comes first.

use super::{Doubt, Parser, Placed};
use crate::ground::Meaning;
use crate::lexicon::{Concept, Cue};
use crate::reading::{Agg, Filter, Measure, Rank, Test, Told, What};
use crate::schema::Kind;

/// Rows that a preview shows when nobody says how many.
const PREVIEW_ROWS: i64 = 5;

impl Parser<'_> {
    /// Questions about the data as such: its columns, what is missing, what comes twice.
    pub(super) fn about_data(&mut self, filters: &[Placed]) -> Result<Option<What>, Doubt> {
        if let Some(at) = self.first_word(&[Concept::Missing]) {
            return self.missing(at).map(Some);
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
        if let Some(what) = self.about_columns(filters)? {
            return Ok(Some(what));
        }
        // `how many rows are about polio`
        if self.has(&[Concept::HowMany]) {
            self.take_all(&[Concept::Describe]);
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

    /// Questions about what is missing.
    fn missing(&mut self, at: usize) -> Result<What, Doubt> {
        // What is missing from another table is looked up there.
        if 1 < self.scene.tables.len() {
            return Err(Doubt::Unasked);
        }
        let counts = self.has(&[Concept::HowMany, Concept::Sum]);
        if self.has(&[Concept::Rows]) && !counts && self.open_columns().is_empty() {
            self.take_all(&[Concept::Missing]);
            return Ok(What::Check(super::Check::Present(Vec::new())));
        }
        self.take(at);
        let is_most = self.has(&[Concept::Most]) && self.has(&[Concept::Columns]);
        if !is_most && self.has(&[Concept::Most]) && self.has(&[Concept::Which]) {
            return Err(Doubt::Unasked);
        }
        self.take_all(&[Concept::Missing, Concept::HowMany, Concept::Sum, Concept::Most]);
        let is_share = self.take_all(&[Concept::Share]);
        let names_columns = self.has(&[Concept::Columns]);
        let asks_which = self.opens(Cue::Asks) && names_columns;
        self.take_all(&[Concept::Columns]);
        let groups = self.groups()?;
        let mut columns = self.open_columns();
        // `percentage of countries for which …`: the countries are the rows.
        if let (true, [of, _]) = (is_share, &columns[..])
            && self.word_of(of.saturating_sub(1)) == Some(Concept::Share)
            && !self.is_number_column(*of)
        {
            self.take(*of);
            columns.remove(0);
        }
        let lexicon = self.scene.lexicon;
        // `which areas have missing counts` asks for areas, `on which days` for days.
        let asks = self.scene.tokens.iter().take(2).any(|it| lexicon.is(Cue::Asks, &it.lower));
        let asks_things = counts || asks && !names_columns;
        let thing = columns.first().filter(|_| asks_things && 1 < columns.len());
        if let Some(thing) = thing.filter(|it| !self.is_number_column(**it)) {
            return Err(Doubt::Unplaced(vec![self.text(*thing)]));
        }
        let places = self.all(&columns, |_| true)?;
        if places.iter().any(|it| groups.iter().any(|group| group.place() == *it)) {
            return Err(Doubt::Unasked);
        }
        if is_share && let [place] = places[..] {
            let part = vec![Filter { place, test: Test::Missing, is_negated: false }];
            return Ok(What::Share { part, groups, of: None, rank: None });
        }
        let most = is_most && places.is_empty() && groups.is_empty();
        if most {
            return Ok(What::MostMissing);
        }
        let told = match () {
            () if asks_which => Told::Some,
            () if counts && places.is_empty() && groups.is_empty() && !names_columns => Told::Total,
            () => Told::Each,
        };
        Ok(What::Missing { of: places, groups, told })
    }

    /// `which columns are there`, `how many columns`.
    fn about_columns(&mut self, filters: &[Placed]) -> Result<Option<What>, Doubt> {
        // `which regime types are there` asks for no types of columns.
        let is_kind = |it: usize| {
            self.word(it + 1) == Some(Concept::Columns) && self.is_noun(it) && self.touches_next(it)
        };
        if (0..self.marks.len()).any(is_kind) {
            return Err(Doubt::Unasked);
        }
        let has_others = !self.open_columns().is_empty() || !filters.is_empty();
        if !self.has(&[Concept::Columns]) || has_others {
            return Ok(None);
        }
        let counts = self.has(&[Concept::HowMany]);
        self.take_all(&[Concept::Columns, Concept::HowMany, Concept::Describe]);
        Ok(Some(if counts { What::Size } else { What::Columns }))
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
        let asks_row =
            self.opens(Cue::Who) || self.is_noun(at + 1) && named.is_none_or(|it| at < it);
        let asks_when = named.is_some() && !asks_row || self.opens(Cue::When);
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
        // `the first name John` is no row.
        let names = |it: usize| {
            let next = self.scene.tokens.get(self.marks[it].end);
            next.is_some_and(|it| self.scene.lexicon.is(Cue::Labels, &it.lower))
        };
        if end.is_some_and(|it| names(it) || self.opens(Cue::When)) {
            return None;
        }
        let is_last = end.is_some_and(|it| self.word(it) == Some(Concept::Last));
        let n = self.open().find_map(|it| Some((it, self.count(it)?)));
        if let Some(end) = end {
            self.take(end);
        }
        let first = match n {
            Some((at, n)) => {
                self.take(at);
                i64::from(n)
            }
            None if is_preview => PREVIEW_ROWS,
            None => 1,
        };
        let first = Some(if is_last { -first } else { first });
        Some(What::Rows { columns: Vec::new(), rank: None, first })
    }
}
