//! Checks: whether something holds of the data, so that a gate can be made of it.

use super::{Doubt, Parser, Placed};
use crate::provider::builtin::lexicon::Concept;
use crate::provider::builtin::reading::{Check, Filter, What};

impl Parser<'_> {
    /// Reads a question that yes or no answers.
    pub(super) fn check(&mut self, filters: &[Placed]) -> Result<Option<What>, Doubt> {
        let begins_yes_no = self.begins_yes_no();
        let asks_any = self.has(&[Concept::IsAny]);
        let asks_all = self.has(&[Concept::IsAll]) || self.has(&[Concept::Check]);
        let each_first = self.word(0) == Some(Concept::Each);
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
        if !is_question || self.has(&others) {
            return Ok(None);
        }
        // What is only claimed is to hold always.
        let claims = self.scene.wants_verdict && !asks_any && !begins_yes_no;
        let check = self.checked(filters, asks_all || each_first || claims)?;
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
    fn begins_yes_no(&self) -> bool {
        let verbs = ["is", "are", "does", "do", "did", "was", "were", "has", "have"];
        let tokens = self.scene.tokens;
        let opening = [tokens.first(), self.marks.first().map(|it| &tokens[it.start])];
        opening.into_iter().flatten().any(|it| verbs.contains(&it.lower.as_str()))
    }

    fn checked(&mut self, filters: &[Placed], is_all: bool) -> Result<Option<Check>, Doubt> {
        let columns = self.open_columns();
        if self.has(&[Concept::Duplicate, Concept::IsUnique, Concept::Distinct]) {
            self.take_all(&[Concept::Duplicate, Concept::IsUnique, Concept::Distinct]);
            return Ok(Some(Check::Unique(self.all(&columns, |_| true)?)));
        }
        if let Some(check) = self.refers(&columns) {
            return Ok(Some(check));
        }
        if self.has(&[Concept::Missing, Concept::Present]) {
            self.take_all(&[Concept::Missing, Concept::Present]);
            self.take_all(&[Concept::Not]);
            return Ok(Some(Check::Present(self.all(&columns, |_| true)?)));
        }
        if self.take_all(&[Concept::Constant]) {
            return Ok(Some(Check::Varies(self.all(&columns, |_| true)?)));
        }
        if self.take_all(&[Concept::Outliers]) {
            let places = self.all(&columns, |it| it.kind.is_number())?;
            return Ok(Some(Check::Inliers(places)));
        }
        let predicates: Vec<Filter> =
            filters.iter().filter(|it| it.is_predicate).map(|it| it.filter.clone()).collect();
        let all: Vec<Filter> = filters.iter().map(|it| it.filter.clone()).collect();
        let has_superlative = self.has(&[Concept::Most, Concept::Least]);
        if all.is_empty() {
            // `does every order have a date`
            if is_all && !columns.is_empty() && !has_superlative {
                return Ok(Some(Check::Present(self.all(&columns, |_| true)?)));
            }
            return Ok(None);
        }
        if has_superlative || !columns.is_empty() {
            return Ok(None);
        }
        if is_all {
            let part = if predicates.is_empty() { all } else { predicates };
            return Ok(Some(Check::All(part)));
        }
        Ok(Some(Check::Any(all)))
    }

    /// `does every order have a customer`, where customers are a table of their own.
    fn refers(&mut self, columns: &[usize]) -> Option<Check> {
        let join = super::join_of(self.scene.tables, self.scene.lexicon)?;
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
