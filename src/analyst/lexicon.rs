//! What words of a language mean, out of a file of that language.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use jiff::civil::Time;
use serde::Deserialize;
use strsim::damerau_levenshtein;

use super::words::Words;

/// Letters of a word from which another spelling of it is taken for it.
const MISSPELLED_MIN: usize = 6;

pub(crate) static ENGLISH: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::parse(include_str!("lexicon/en.toml")));

/// What a phrase asks for, whatever the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Concept {
    HowMany,
    Max,
    Min,
    Distinct,
    Sum,
    Mean,
    Median,
    Std,
    Var,
    Spread,
    Iqr,
    Quantile,
    Quartiles,
    Mode,
    Rarest,
    Most,
    Least,
    By,
    Each,
    OverTime,
    Growth,
    Change,
    PeriodChange,
    Cumulative,
    Rolling,
    Share,
    Ratio,
    AsShare,
    Compare,
    Versus,
    Difference,
    Correlation,
    Distribution,
    Bins,
    Outliers,
    Missing,
    Present,
    Duplicate,
    IsUnique,
    Constant,
    Describe,
    Columns,
    Rows,
    Size,
    Preview,
    First,
    Earliest,
    Latest,
    Last,
    List,
    Which,
    Sorted,
    Descending,
    Ascending,
    Gt,
    Ge,
    Lt,
    Le,
    Eq,
    Ne,
    Not,
    Without,
    Between,
    And,
    Or,
    Of,
    Contains,
    StartsWith,
    EndsWith,
    IsAny,
    IsAll,
    Check,
    Negative,
    NonNegative,
    Positive,
    Zero,
    Nonzero,
    #[serde(rename = "true_")]
    True,
    #[serde(rename = "false_")]
    False,
    Than,
    ExistsIn,
    Has,
    Chart,
    BarChart,
    ColumnChart,
    StackedChart,
    SharesChart,
    LineChart,
    AreaChart,
    ScatterChart,
    HistogramChart,
    BoxChart,
    HeatChart,
    LogAxis,
    LogXAxis,
    LogAxes,
    Panels,
    PanelPer,
    WhatAbout,
    Only,
    Weekend,
    Weekday,
    DayOfWeek,
    MonthOfYear,
    HourOfDay,
    DayOfMonth,
    NameOf,
}

/// What a word says of the question, or of a column that has it in its name, beside its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cue {
    /// Turns what is claimed, in ways that no rule reads.
    Turns,
    /// Opens a question for somebody.
    Who,
    /// Stands for a superlative where two are compared.
    Comparatives,
    /// Stands for a superlative of how many there are.
    Countings,
    /// Stands for the first of a list, by what they amount to.
    Tops,
    /// Asks for one of several things.
    Whiches,
    /// Before all things of a kind, that are no groups.
    Every,
    /// Behind `total`: of what it is, is not said.
    Amounts,
    /// Between a text and the column that has it somewhere in it.
    Inside,
    /// Asks whether something is so of one thing at least, or once.
    Ever,
    /// Asks for it of one thing or of all of them: the word does not say which.
    Yet,
    /// Ends a question, and says nothing of what is asked.
    Tags,
    /// Is where something comes from, of a column.
    Origins,
    /// Is where something goes, of a column.
    Destinations,
    /// Asks for an alarm over what is found.
    Alarms,
    /// A superlative of which the column does not say where it lies.
    Judging,
    /// Things of which nothing is said: `the highest value`.
    Vague,
    /// What was sold is counted in pieces, if a column has them.
    Traded,
    /// In names: of which more is better.
    Merits,
    /// In names: that a number is of one piece.
    Pieces,
    /// What is sold, and what that brings in.
    Sales,
    /// In names: of which less is better.
    Harms,
    /// Opens a question for a time.
    When,
    /// Before what something is of.
    Of,
    /// Opens a question that yes or no answers.
    YesNo,
    /// Says that something is.
    Is,
    /// Opens a question that takes up the one before.
    Leads,
    /// The same, and no other question begins so.
    Joins,
    /// Stands for the rows of the question before, unless one of `Relatives` follows.
    Anaphors,
    Relatives,
    /// Before the first of two ends.
    From,
    /// Between two ends.
    To,
    /// Between conditions of which one is enough.
    Or,
    /// Behind the first of what goes on without an end.
    Onwards,
    /// What says that a bound is a time.
    Timely,
    /// Between a number and what it is divided by.
    Per,
    /// An ending of verbs for what was done.
    Done,
    /// Asks for an amount.
    HowMuch,
    /// Asks for a degree: `how old`.
    Hows,
    /// In names and in questions: what somebody is paid.
    Pay,
    /// In names: follows what the name is of.
    NameJoints,
    /// In names: any table may have it.
    Common,
    /// In names: what numbers things.
    Keys,
    /// Ends of names that number things: `HouseNum`.
    KeyEnds,
    /// Names of columns that number rows.
    RowKeys,
    /// In names: what things are called.
    Labels,
    /// In names: a date that may be text.
    Dates,
    /// In names: of several, the one that has all.
    Totals,
    /// In names: the lower of two.
    Lowest,
    /// In names: the upper of two.
    Highest,
    /// In names: what one of a quantity costs.
    Prices,
    /// In names: what does not add up, whatever else they say.
    Means,
    /// In names: units of money.
    Money,
    /// In names: how many things were bought.
    Quantities,
    /// In names: when somebody was born or died.
    Births,
    /// In names: values add up.
    Additive,
    /// In names: values do not add up.
    Intensive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimeUnit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
}

/// How a period lies to the date that follows its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PeriodWord {
    Before,
    After,
    Until,
    Through,
    Since,
    Last,
    This,
    During,
}

/// An adjective or a verb that speaks of a column.
#[derive(Debug)]
pub(crate) struct Adjective {
    /// Stems of words, one of which the column's name has; the likelier first.
    pub of: Vec<String>,
    /// Whether its superlative is the least: `cheap`.
    pub low: bool,
}

/// What words mean.
pub(crate) struct Lexicon {
    /// Cuts text into words.
    pub words: Words,
    /// By their words in lower case.
    phrases: HashMap<Vec<String>, Concept>,
    stop: HashSet<String>,
    filler: HashSet<String>,
    units: HashMap<String, TimeUnit>,
    months: HashMap<String, i8>,
    weekdays: HashMap<String, i8>,
    periods: HashMap<Vec<String>, PeriodWord>,
    numbers: HashMap<String, f64>,
    ordinals: HashMap<String, u32>,
    scales: HashMap<String, f64>,
    measures: Vec<String>,
    /// The groups that a stem is in.
    synonyms: HashMap<String, Vec<usize>>,
    adjectives: Vec<(Vec<String>, Adjective)>,
    nouns: HashMap<String, Vec<String>>,
    implied: HashMap<String, Vec<String>>,
    values: HashMap<String, Vec<String>>,
    loose: HashMap<String, Vec<String>>,
    /// Units by their stems, in terms of the first of each kind.
    dimensions: Vec<HashMap<String, f64>>,
    clocks: HashMap<String, i8>,
    /// With what words are without their endings.
    cues: HashMap<Cue, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    stemmer: String,
    cues: HashMap<Cue, Vec<String>>,
    stop: String,
    filler: String,
    phrases: HashMap<Concept, Vec<String>>,
    units: HashMap<TimeUnit, Vec<String>>,
    months: Names,
    weekdays: Names,
    periods: HashMap<PeriodWord, Vec<String>>,
    numbers: HashMap<String, f64>,
    ordinals: HashMap<String, u32>,
    scales: HashMap<String, f64>,
    measures: WordList,
    synonyms: Groups,
    adjectives: Vec<AdjectiveEntry>,
    nouns: HashMap<String, String>,
    implied: HashMap<String, String>,
    values: HashMap<String, Vec<String>>,
    loose: HashMap<String, String>,
    clocks: HashMap<String, i8>,
    dimensions: Vec<HashMap<String, f64>>,
}

#[derive(Deserialize)]
struct Names {
    names: Vec<String>,
    #[serde(default)]
    short: Vec<String>,
}

#[derive(Deserialize)]
struct WordList {
    words: String,
}

#[derive(Deserialize)]
struct Groups {
    groups: String,
}

#[derive(Deserialize)]
struct AdjectiveEntry {
    words: Vec<String>,
    of: Vec<String>,
    #[serde(default)]
    low: bool,
}

/// Returns whether a word for a unit of time says how often something is: `annual`.
pub(crate) fn is_often(lower: &str) -> bool {
    lower.ends_with("ly") || lower.starts_with("annual")
}

impl Lexicon {
    /// Reads the file of a language. It is a part of the program: a mistake in it is one of the program,
    /// and the tests read every file.
    fn parse(text: &str) -> Lexicon {
        #[expect(clippy::unwrap_used, reason = "a part of the program, read by tests")]
        let file: File = toml::from_str(text).unwrap();
        #[expect(clippy::unwrap_used, reason = "a part of the program, read by tests")]
        let words = Words::new(&file.stemmer).unwrap();
        let stems = |text: &str| -> Vec<String> {
            words.tokens(text).into_iter().map(|it| it.stem).collect()
        };
        let list = |text: &str| -> Vec<String> {
            text.split_whitespace().map(|it| words.stem(it)).collect()
        };
        let plain = |list: &WordList| -> Vec<String> {
            list.words.split_whitespace().map(str::to_owned).collect()
        };
        let phrases = file.phrases.iter();
        let lower = |text: &str| -> Vec<String> {
            words.tokens(text).into_iter().map(|it| it.lower).collect()
        };
        let phrases = phrases.flat_map(|(it, texts)| texts.iter().map(|text| (lower(text), *it)));
        let units = file.units.iter();
        let units = units.flat_map(|(it, texts)| texts.iter().map(|text| (words.stem(text), *it)));
        let periods = file.periods.iter();
        let periods = periods.flat_map(|(it, texts)| texts.iter().map(|text| (stems(text), *it)));
        let numbered = |names: &Names| -> HashMap<String, i8> {
            let each =
                |it: &Vec<String>| -> Vec<(String, i8)> { it.iter().cloned().zip(1..).collect() };
            each(&names.names).into_iter().chain(each(&names.short)).collect()
        };
        Lexicon {
            phrases: phrases.collect(),
            stop: list(&file.stop).into_iter().collect(),
            filler: list(&file.filler).into_iter().collect(),
            units: units.collect(),
            months: numbered(&file.months),
            weekdays: numbered(&file.weekdays),
            periods: periods.collect(),
            numbers: file.numbers,
            ordinals: file.ordinals,
            scales: file.scales,
            measures: plain(&file.measures),
            synonyms: groups_of(file.synonyms.groups.lines().map(list)),
            adjectives: file
                .adjectives
                .into_iter()
                .map(|it| {
                    let stems_of = |of: Vec<String>| of.iter().map(|it| words.stem(it)).collect();
                    (it.words, Adjective { of: stems_of(it.of), low: it.low })
                })
                .collect(),
            nouns: file.nouns.iter().map(|(it, cues)| (it.clone(), list(cues))).collect(),
            implied: file.implied.iter().map(|(it, of)| (words.stem(it), list(of))).collect(),
            values: file.values,
            loose: file.loose.iter().map(|(it, of)| (words.stem(it), list(of))).collect(),
            clocks: file.clocks,
            cues: file
                .cues
                .into_iter()
                .map(|(it, texts)| (it, with_stems(texts, &words)))
                .collect(),
            dimensions: file
                .dimensions
                .into_iter()
                .map(|it| it.iter().map(|(unit, size)| (words.stem(unit), *size)).collect())
                .collect(),
            words,
        }
    }

    /// Returns what a phrase means, given its words in lower case; the last may be in the plural.
    pub(crate) fn phrase(&self, words: &[String]) -> Option<Concept> {
        let singular = || {
            let (last, rest) = words.split_last()?;
            let mut words = rest.to_vec();
            words.push(last.strip_suffix('s').filter(|it| 2 < it.len())?.to_owned());
            self.phrases.get(&words)
        };
        self.phrases.get(words).or_else(singular).copied()
    }

    /// Returns whether a word carries nothing.
    pub(crate) fn is_stop(&self, stem: &str) -> bool {
        self.stop.contains(stem) || self.is_filler(stem)
    }

    /// Returns whether a word carries nothing, where no value is called so.
    pub(crate) fn is_filler(&self, stem: &str) -> bool {
        self.filler.contains(stem)
    }

    /// Returns what a word of one letter more, less or other means, or of two that changed places.
    pub(crate) fn misspelled(&self, lower: &str) -> Option<Concept> {
        let is_near = |it: &&Vec<String>| {
            let [word] = &it[..] else { return false };
            MISSPELLED_MIN <= word.len().min(lower.len())
                && word.chars().next() == lower.chars().next()
                && damerau_levenshtein(word, lower) == 1
                && self.words.stem(word) != self.words.stem(lower)
        };
        let mut near = self.phrases.keys().filter(is_near).map(|it| self.phrases[it]);
        let first = near.next()?;
        near.all(|it| it == first).then_some(first)
    }

    /// Returns whether a word says the first place of an order.
    pub(crate) fn is_first(&self, lower: &str) -> bool {
        self.phrase(&[lower.to_owned()]) == Some(Concept::First)
    }

    /// Returns the unit of time that a word names.
    pub(crate) fn unit(&self, stem: &str) -> Option<TimeUnit> {
        self.units.get(stem).copied()
    }

    /// Returns what stands before the year that a word of a name ends with, and the stem of that:
    /// `founding` and `year` of `foundingyear`.
    pub(crate) fn year_within<'a>(&self, word: &'a str) -> Option<(&'a str, String)> {
        let years = self.units.iter().filter(|it| *it.1 == TimeUnit::Year && 3 < it.0.len());
        years
            .into_iter()
            .find_map(|it| Some((word.strip_suffix(it.0.as_str())?, it.0.clone())))
            .filter(|it| 2 < it.0.len())
    }

    /// Returns the month that a word names, from 1.
    pub(crate) fn month(&self, lower: &str) -> Option<i8> {
        self.months.get(lower).copied()
    }

    /// Returns the day of the week that a word names, from Monday as 1. It may stand in the plural.
    pub(crate) fn weekday(&self, lower: &str) -> Option<i8> {
        let singular = lower.strip_suffix('s').unwrap_or(lower);
        self.weekdays.get(lower).or_else(|| self.weekdays.get(singular)).copied()
    }

    /// Returns how a period lies to the date behind this word.
    pub(crate) fn period(&self, stems: &[String]) -> Option<PeriodWord> {
        self.periods.get(stems).copied()
    }

    /// Returns the amount that a word names.
    pub(crate) fn number(&self, lower: &str) -> Option<f64> {
        self.numbers.get(lower).copied()
    }

    /// Returns the place in an order that a word names.
    pub(crate) fn ordinal(&self, lower: &str) -> Option<u32> {
        self.ordinals.get(lower).copied()
    }

    /// Returns by what a word multiplies the number before it.
    pub(crate) fn scale(&self, lower: &str) -> Option<f64> {
        self.scales.get(lower).copied()
    }

    /// Returns whether a word is a unit of measure.
    pub(crate) fn is_measure(&self, lower: &str) -> bool {
        self.measures.iter().any(|it| it == lower)
    }

    /// Returns whether two stems stand for each other in names of columns.
    pub(crate) fn are_synonyms(&self, one: &str, other: &str) -> bool {
        let (Some(of), Some(also)) = (self.synonyms.get(one), self.synonyms.get(other)) else {
            return false;
        };
        of.iter().any(|it| also.contains(it))
    }

    /// Returns what an adjective or a verb may speak of; the likelier first.
    pub(crate) fn adjectives<'a>(&'a self, lower: &'a str) -> impl Iterator<Item = &'a Adjective> {
        let speaks = move |words: &Vec<String>| words.iter().any(|it| it == lower);
        self.adjectives.iter().filter(move |it| speaks(&it.0)).map(|it| &it.1)
    }

    /// Returns the first of those.
    pub(crate) fn adjective(&self, lower: &str) -> Option<&Adjective> {
        self.adjectives.iter().find(|it| it.0.iter().any(|it| it == lower)).map(|it| &it.1)
    }

    /// Returns those of a noun that is one letter more, less or other, or has two that changed places.
    pub(crate) fn misspelled_noun(&self, lower: &str) -> Option<&[String]> {
        let singular = lower.strip_suffix('s').unwrap_or(lower);
        let is_near = |it: &&String| {
            MISSPELLED_MIN <= it.len().min(singular.len())
                && it.chars().next() == singular.chars().next()
                && damerau_levenshtein(it, singular) == 1
        };
        self.nouns.keys().find(is_near).and_then(|it| self.nouns.get(it)).map(Vec::as_slice)
    }

    /// Returns the cues in names of columns that let a noun stand for a row; it may be in the plural.
    pub(crate) fn noun_cues(&self, lower: &str) -> Option<&[String]> {
        let singular = || {
            let short = lower.strip_suffix('s')?;
            let shorter = short.strip_suffix('e').map(str::to_owned);
            let with_y = short.strip_suffix("ie").map(|it| format!("{it}y"));
            let forms = [Some(short.to_owned()), shorter, with_y];
            forms.into_iter().flatten().find_map(|it| self.nouns.get(&it))
        };
        self.nouns.get(lower).or_else(singular).map(Vec::as_slice)
    }

    /// Returns words in the names of columns that a bare number behind a noun is of.
    pub(crate) fn implied(&self, stem: &str) -> &[String] {
        self.implied.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Returns how data may write what a word says in another way: `usa` for `american`.
    pub(crate) fn written(&self, lower: &str) -> &[String] {
        self.values.get(lower).map_or(&[], Vec::as_slice)
    }

    /// Returns how well a word speaks of a column that has this word in its name, if no name fits better.
    pub(crate) fn speaks_of(&self, stem: &str, word: &str) -> Option<f64> {
        let at = self.loose.get(stem)?.iter().position(|it| it == word)?;
        Some(0.05f64.mul_add(-crate::float(at), 0.83))
    }

    /// Returns the time of day that a word names.
    pub(crate) fn clock(&self, lower: &str) -> Option<Time> {
        Time::new(*self.clocks.get(lower)?, 0, 0, 0).ok()
    }

    /// Returns whether a word or a phrase is a cue.
    pub(crate) fn is(&self, cue: Cue, text: &str) -> bool {
        self.cues(cue).iter().any(|it| it.eq_ignore_ascii_case(text))
    }

    pub(crate) fn has_ending(&self, cue: Cue, word: &str) -> bool {
        self.cues(cue).iter().any(|it| word.ends_with(it.as_str()))
    }

    /// Returns whether one of some words is a cue.
    pub(crate) fn has(&self, cue: Cue, words: &[String]) -> bool {
        words.iter().any(|it| self.is(cue, it))
    }

    /// Returns the words of a cue.
    pub(crate) fn cues(&self, cue: Cue) -> &[String] {
        self.cues.get(&cue).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a word ends like a verb for what was done: `founded`.
    pub(crate) fn is_done(&self, lower: &str) -> bool {
        self.cues(Cue::Done).iter().any(|it| lower.ends_with(it))
    }

    /// Returns how many of one unit another is; none when they measure different things, or one is unknown.
    pub(crate) fn per_unit(&self, one: &str, other: &str) -> Option<f64> {
        self.dimensions.iter().find_map(|it| Some(it.get(other)? / it.get(one)?))
    }

    /// Returns whether a word is a unit that is known in terms of others.
    pub(crate) fn is_known_unit(&self, stem: &str) -> bool {
        self.dimensions.iter().any(|it| it.contains_key(stem))
    }

    /// Returns whether the values of a column add up, as far as its name says.
    pub(crate) fn is_additive(&self, stems: &[String]) -> Option<bool> {
        // `number_of_bags`
        if let [count, joint, _, ..] = stems
            && self.are_synonyms(count, "number")
            && self.is(Cue::NameJoints, joint)
        {
            return Some(true);
        }
        match (self.has(Cue::Additive, stems), self.has(Cue::Intensive, stems)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }
}

/// Adds what words are without their endings, behind all of them.
fn with_stems(mut texts: Vec<String>, words: &Words) -> Vec<String> {
    let stems: Vec<String> = texts.iter().map(|it| words.stem(it)).collect();
    let is_new = |it: &String| !texts.contains(it);
    let new: Vec<String> = stems.into_iter().filter(is_new).collect();
    texts.extend(new);
    texts
}

/// Returns in which groups each word is.
fn groups_of(groups: impl Iterator<Item = Vec<String>>) -> HashMap<String, Vec<usize>> {
    let mut of: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, group) in groups.enumerate() {
        for word in group {
            of.entry(word).or_default().push(at);
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{ENGLISH, File};

    #[test]
    fn no_phrase_has_two_meanings() {
        let file: File = toml::from_str(include_str!("lexicon/en.toml")).unwrap();
        let mut seen = HashMap::new();
        for (concept, phrases) in &file.phrases {
            for phrase in phrases {
                let before = seen.insert(phrase.as_str(), concept);
                assert!(before.is_none_or(|it| it == concept), "{phrase}: {before:?}, {concept:?}");
            }
        }
        assert!(500 < seen.len());
    }

    #[test]
    fn other_ways_to_write_a_value_are_words_or_phrases() {
        assert_eq!(ENGLISH.written("german"), ["germany", "de", "deu"]);
        assert_eq!(ENGLISH.written("american"), ["usa", "us", "united states", "america"]);
        assert_eq!(ENGLISH.written("penguin"), [""; 0]);
    }
}
