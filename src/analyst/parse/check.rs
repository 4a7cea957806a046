//! Checks: whether something holds of the data, so that a gate can be made of it.

use super::{Doubt, Parser, Placed};
use crate::code::opposite;
use crate::ground::{Meaning, Place};
use crate::lexicon::{Concept, Cue};
use crate::reading::{Agg, Check, Filter, Join, Measure, Op, Scalar, Test, What};

impl Parser<'_> {
    /// Reads a question that yes or no answers.
    pub(super) fn check(&mut self, filters: &[Placed]) -> Result<Option<What>, Doubt> {
        let begins_yes_no = self.begins_yes_no();
        let asks_any = self.has(&[Concept::IsAny]);
        let asks_all = self.has(&[Concept::IsAll, Concept::Check]);
        let opening = if begins_yes_no { 0..2 } else { 0..1 };
        let each_first = opening.into_iter().any(|it| self.word(it) == Some(Concept::Each));
        let is_question =
            asks_any || asks_all || each_first || begins_yes_no || self.scene.wants_verdict;
        let others = [
            Concept::Correlation,
            Concept::Difference,
            Concept::HowMany,
            Concept::Share,
            Concept::OverTime,
            Concept::Distribution,
            Concept::List,
        ];
        // `how many different owners are there` counts.
        let counts = self
            .first_word(&[Concept::Distinct])
            .is_some_and(|it| self.text(it).split(' ').count() > 1 && !begins_yes_no);
        // `every storm called Bob`, `all rows where …` name rows, and claim nothing of them.
        let has_verb = || {
            let verbs =
                [Concept::IsAny, Concept::IsAll, Concept::Check, Concept::Has, Concept::Without];
            let lexicon = self.scene.lexicon;
            self.has(&verbs) || self.scene.tokens.iter().any(|it| lexicon.is(Cue::YesNo, &it.lower))
        };
        let lists = || {
            let lexicon = self.scene.lexicon;
            self.scene.tokens.iter().any(|it| lexicon.is(Cue::Places, &it.lower))
        };
        let is_named = each_first && !self.scene.wants_verdict && (!has_verb() || lists());
        if !is_question || counts || is_named || self.has(&others) {
            return Ok(None);
        }
        // What is only claimed is to hold always.
        let is_claim =
            if begins_yes_no { self.is_of_column(filters) } else { self.scene.wants_verdict };
        let claims = is_claim && !asks_any;
        let alarms = self.scene.says(Cue::Alarms);
        let check = self.checked(filters, !alarms && (asks_all || each_first || claims))?;
        let Some(check) = check else { return Ok(None) };
        let words = [
            Concept::IsAny,
            Concept::IsAll,
            Concept::Check,
            Concept::Each,
            Concept::Columns,
            Concept::Which,
        ];
        self.take_all(&words);
        Ok(Some(What::Check(check)))
    }

    /// Returns whether the question opens with a verb, or what means something in it does.
    pub(super) fn begins_yes_no(&self) -> bool {
        let tokens = self.scene.tokens;
        let opening = [tokens.first(), self.marks.first().map(|it| &tokens[it.start])];
        opening.into_iter().flatten().any(|it| self.scene.lexicon.is(Cue::YesNo, &it.lower))
    }

    /// `are ratings between 0 and 100` asks of all; what is wrong by itself is looked for: `is profit
    /// negative`.
    fn is_of_column(&self, filters: &[Placed]) -> bool {
        let first = self.marks.iter().find(|it| !matches!(it.meaning, Meaning::Word(_)));
        let suspects = |it: &Placed| {
            matches!(it.filter.test, Test::Is(Op::Lt | Op::Eq, Scalar::Number(0.0)) | Test::Missing)
        };
        matches!(first.map(|it| &it.meaning), Some(Meaning::Column(_)))
            && filters.iter().all(|it| it.is_predicate && !suspects(it))
    }

    fn checked(&mut self, filters: &[Placed], is_all: bool) -> Result<Option<Check>, Doubt> {
        let columns = self.open_columns();
        if self.take_all(&[Concept::Duplicate, Concept::IsUnique, Concept::Distinct]) {
            self.take_all(&[Concept::Without, Concept::Not]);
            return Ok(Some(Check::Unique(self.all(&columns, |_| true)?)));
        }
        if let Some(check) = self.refers(&columns) {
            return Ok(Some(check));
        }
        // That all lack something is no claim that nothing is missing.
        if self.has(&[Concept::Missing])
            && self.has(&[Concept::IsAll, Concept::Each])
            && !self.has(&[Concept::Not, Concept::Without])
        {
            return Err(Doubt::Unasked);
        }
        // `missing only for vans` says who may lack it.
        if self.has(&[Concept::Missing, Concept::Present]) && self.said(Concept::Only) {
            return Err(Doubt::Unasked);
        }
        if self.take_all(&[Concept::Missing, Concept::Present]) {
            self.take_all(&[Concept::Not, Concept::Without]);
            let mut places = self.all(&columns, |_| true)?;
            if places.is_empty() {
                places.extend(self.column_of_noun());
            }
            return Ok(Some(Check::Present(places)));
        }
        if self.take_all(&[Concept::Constant]) {
            return Ok(Some(Check::Varies(self.all(&columns, |_| true)?)));
        }
        if self.take_all(&[Concept::Outliers]) {
            self.take_all(&[Concept::Without, Concept::Not]);
            let places = self.all(&columns, |it| it.kind.is_number())?;
            return Ok(Some(Check::Inliers(places)));
        }
        if let Some(check) = self.number_check(&columns)? {
            return Ok(Some(check));
        }
        if self.has(&[Concept::Most, Concept::Least]) {
            return Ok(None);
        }
        let all: Vec<Filter> = filters.iter().map(|it| it.filter.clone()).collect();
        if all.is_empty() {
            // `does every order have a date`
            let has = self.has(&[Concept::Has]) && is_all && !columns.is_empty();
            self.take_all(&[Concept::Has]);
            if !has {
                return Ok(None);
            }
            // `every type with disks has a size` says which types.
            if columns
                .iter()
                .any(|it| self.follows(*it, Cue::With) || self.follows(*it, Cue::WithA))
            {
                return Err(Doubt::Unasked);
            }
            return Ok(Some(Check::Present(self.all(&columns, |_| true)?)));
        }
        if !columns.is_empty() {
            return Ok(None);
        }
        self.take_all(&[Concept::Has]);
        // `is the borough filled in` asks of all.
        if all.iter().all(Filter::is_presence) {
            return Ok(Some(Check::Present(all.iter().map(|it| it.place).collect())));
        }
        // `no sale above 100` says that there is none.
        if self.take_all(&[Concept::Without]) {
            return Ok(Some(Check::Any(all)));
        }
        if is_all {
            // `everyone with a card has no reports`: what stands before the verb is who is meant.
            let verbs = [Concept::Which, Concept::Has, Concept::Without, Concept::IsAll];
            let verb = (1..self.marks.len()).find(|it| {
                self.word_of(*it).is_some_and(|it| verbs.contains(&it))
                    && filters.iter().any(|filter| filter.at < *it)
                    && filters.iter().any(|filter| *it <= filter.at)
            });
            let predicates: Vec<&Placed> = filters
                .iter()
                .filter(|it| it.is_predicate && verb.is_none_or(|verb| verb <= it.at))
                .collect();
            // `all with 24 MB cost at least 2000`: the first of two may say who is meant.
            let is_list = predicates.windows(2).all(|it| {
                it[0].filter.place == it[1].filter.place
                    || (it[0].at..it[1].at).any(|it| self.word_of(it) == Some(Concept::And))
            });
            if !is_list {
                return Err(Doubt::Unasked);
            }
            let predicates: Vec<Filter> = predicates.iter().map(|it| it.filter.clone()).collect();
            // `every death happened in 1992`: of conditions, the first says who is meant.
            let first = filters.iter().map(|it| it.at).min();
            let others: Vec<Filter> = filters
                .iter()
                .filter(|it| predicates.is_empty() && Some(it.at) != first)
                .map(|it| it.filter.clone())
                .collect();
            let told = [predicates, others, all].into_iter().find(|it| !it.is_empty());
            return Ok(Some(Check::All(told.unwrap_or_default())));
        }
        Ok(Some(Check::Any(all)))
    }

    /// `the average discount is below 0.2`, `there are at least 100 rows`, `exactly 4 regions`.
    fn number_check(&mut self, columns: &[usize]) -> Result<Option<Check>, Doubt> {
        // What each has is no number of all rows.
        let lexicon = self.scene.lexicon;
        let is_each = self
            .scene
            .tokens
            .iter()
            .any(|it| lexicon.phrase(std::slice::from_ref(&it.lower)) == Some(Concept::Each));
        if is_each {
            return Ok(None);
        }
        if let Some((op, value)) = self.count_test {
            // Of groups, it is a condition.
            if !columns.is_empty() {
                return Ok(None);
            }
            self.count_test = None;
            let measure = Measure::ROWS;
            return Ok(Some(Check::Number(measure, op, value)));
        }
        let amount = self.open().find_map(|it| Some((it, self.amount(it)?)));
        let Some((at, value)) = amount else { return Ok(None) };
        if self.is_percent(at) {
            return Err(Doubt::Unasked);
        }
        let before = at.checked_sub(1).and_then(|it| self.word(it));
        let op = match before {
            Some(concept) => super::compare::op_of(concept),
            None => None,
        };
        let of = (at + 1..self.marks.len().min(at + 2)).find(|it| self.is_column(*it));
        let measure = match of {
            Some(of) if columns == [of] && !self.is_number_column(of) => {
                Measure { agg: Agg::Distinct, of: Some(self.one(of, |_| true)?) }
            }
            None if columns.is_empty() && self.is_noun(at + 1) => Measure::ROWS,
            _ => return Ok(None),
        };
        self.take(at);
        if op.is_some() {
            self.take(at - 1);
        }
        self.take_all(&[Concept::Only, Concept::Eq, Concept::Has]);
        Ok(Some(Check::Number(measure, op.unwrap_or(Op::Eq), value)))
    }

    /// Returns how a mark makes one of many values: `average`, `smallest`.
    fn one_agg(&self, at: usize) -> Option<Agg> {
        match self.word(at) {
            Some(Concept::Most) => Some(Agg::Max),
            Some(Concept::Least) => Some(Agg::Min),
            concept => match super::measures::agg_of(concept)?[..] {
                [agg] => Some(agg),
                _ => None,
            },
        }
    }

    /// Returns the column that has the name of what rows are: the `tip` of `tips`.
    fn column_of_noun(&self) -> Option<Place> {
        let nouns: Vec<&String> = self
            .open()
            .filter(|it| self.is_noun(*it))
            .map(|it| &self.last_token(it).stem)
            .collect();
        self.places()
            .find(|it| matches!(&self.column(*it).words[..], [word] if nouns.contains(&word)))
    }

    /// Reads `the average discount is below 0.2` before its condition is taken for one on rows.
    pub(super) fn aggregate_check(&mut self) -> Result<Option<Check>, Doubt> {
        let asks = self.scene.wants_verdict || self.begins_yes_no() || self.has(&[Concept::Check]);
        let aggs = self.open().find(|it| self.one_agg(*it).is_some());
        let (Some(start), true) = (aggs, asks) else { return Ok(None) };
        let Some(column) =
            (start + 1..self.marks.len().min(start + 3)).find(|it| self.is_number_column(*it))
        else {
            return Ok(None);
        };
        let mut next = column + 1;
        while matches!(
            self.word(next),
            Some(Concept::Which | Concept::IsAll | Concept::IsAny | Concept::Not)
        ) {
            next += 1;
        }
        let is_negated = (column..next).any(|it| self.word(it) == Some(Concept::Not));
        let sign = match self.word(next) {
            Some(Concept::Positive) => Some((Op::Gt, 0.0)),
            Some(Concept::Negative) => Some((Op::Lt, 0.0)),
            Some(Concept::Zero) => Some((Op::Eq, 0.0)),
            _ => None,
        };
        let compared = self.word(next).and_then(super::compare::op_of).zip(self.amount(next + 1));
        let Some((op, value)) = sign.or(compared) else { return Ok(None) };
        let end = if sign.is_some() { next } else { next + 1 };
        let agg = self.one_agg(start);
        let place = self.one(column, |it| it.kind.is_number())?;
        let value = self.in_unit_of(place, end, value)?;
        (start..=end).for_each(|it| self.take(it));
        let op = if is_negated { opposite(op) } else { op };
        Ok(agg.map(|agg| Check::Number(Measure { agg, of: Some(place) }, op, value)))
    }

    /// `does every order have a customer`, where customers are a table of their own.
    fn refers(&mut self, columns: &[usize]) -> Option<Check> {
        let of = |at: usize, table: usize| {
            self.choose(at, |_| true).into_iter().find(|it| it.table == table)
        };
        // `every source exists as an IATA` says by which columns.
        let join = match *columns {
            [one, other] => {
                let (left, right) = of(one, 0).zip(of(other, 1))?;
                Join { left, right }
            }
            _ => super::join_of(self.scene.tables, self.scene.lexicon)?,
        };
        self.take_all(&[
            Concept::ExistsIn,
            Concept::Has,
            Concept::Missing,
            Concept::Without,
            Concept::Not,
        ]);
        for at in columns {
            self.take(*at);
        }
        Some(Check::Refers(join))
    }
}
