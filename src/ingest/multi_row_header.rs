//! Headers that span several records: groups above the names, units below them.
//!
//! Pure. A record belongs to the header or not depending on the cells it leaves empty and on the types
//! of the columns below it; the labels become one name per column.

use std::collections::HashSet;

use super::sample::Sample;
use super::type_evidence::{Nulls, TypeEvidence, classify};
use super::type_inference::is_typed;

/// Maximum records in a header.
pub(crate) const RECORDS_MAX: usize = 3;
/// Maximum bytes stored of a column description.
const DESCRIPTION_BYTES_MAX: usize = 300;
/// The Qualtrics marker of a column's id.
const IMPORT_ID: &str = "{\"ImportId\":";

/// Returns whether all records after the first of `levels` belong to the header, above `n_rows` rows
/// with the evidence `body`.
pub(crate) fn are_levels(
    levels: &[Vec<String>],
    body: &Sample,
    n_rows: usize,
    nulls: &Nulls,
) -> bool {
    // A delimiter may end each line.
    let is_empty = |it: &String| it.trim().is_empty();
    let reach = |it: &Vec<String>| it.iter().rposition(|it| !is_empty(it)).map_or(0, |at| at + 1);
    let n_named = levels.iter().map(reach).max().unwrap_or(0);
    let levels: Vec<Vec<String>> = levels.iter().map(|it| it[..n_named].to_vec()).collect();
    let Some((first, below)) = levels.split_first() else { return false };
    if below.last().is_some_and(|it| are_import_ids(it))
        || 0 < n_rows && n_index_names(&levels).is_some()
    {
        return true;
    }
    // What describes columns says something else each time; rows may begin alike.
    if !begin_differently(below) {
        return false;
    }
    let mut above = first;
    below.iter().all(|level| {
        let is_level =
            2 <= n_rows && describe(first, level) || is_level(above, level, body, n_rows, nulls);
        // Complete names are what each record below them describes.
        if !are_complete(first) {
            above = level;
        }
        is_level
    })
}

/// Returns the number of index columns, if the last of `levels` names only these, as in a file that
/// pandas writes of a table with several levels of columns. The levels above begin with their own names,
/// or with none.
pub(crate) fn n_index_names(levels: &[Vec<String>]) -> Option<usize> {
    let (names, above) = levels.split_last().filter(|it| 2 <= it.1.len())?;
    let is_empty = |it: &String| it.trim().is_empty();
    let n_index = names.iter().take_while(|it| !is_empty(it)).count();
    let is_alone =
        0 < n_index && n_index + 2 <= names.len() && names[n_index..].iter().all(is_empty);
    let are_named = above.iter().all(|it| it.len() == names.len())
        && is_alone
        && above.iter().all(|it| {
            is_empty(&it[0]) == is_empty(&above[0][0])
                && it[1..n_index].iter().all(is_empty)
                && !it[n_index..].iter().any(is_empty)
        });
    let columns = || above.iter().map(|it| it[n_index..].to_vec()).collect::<Vec<_>>();
    (are_named && are_complete(&joined(&columns()))).then_some(n_index)
}

/// Returns whether labels may belong to a header at all: they are words, or years.
pub(crate) fn may_be_level(labels: &[String], nulls: &Nulls) -> bool {
    let filled = || labels.iter().filter(|it| !it.trim().is_empty());
    let is_word = |it: &String| classify(it.as_bytes(), nulls).is_name();
    let n_words = labels.iter().take_while(|it| is_word(it)).count();
    filled().next().is_some()
        && (filled().all(is_word)
            || are_years(filled())
            || are_years(labels[n_words..].iter())
            || are_answers(labels))
}

fn is_level(
    above: &[String],
    labels: &[String],
    body: &Sample,
    n_rows: usize,
    nulls: &Nulls,
) -> bool {
    let is_empty = |it: &String| it.trim().is_empty();
    let fills = above.iter().zip(labels).any(|(above, it)| is_empty(above) && !is_empty(it));
    let typed = body.all.iter().zip(labels).filter(|it| is_typed(*it.0) && !is_empty(it.1));
    let (mut n_fit, mut misfits) = (0, Vec::new());
    for (seen, label) in typed {
        let mut both: TypeEvidence = *seen;
        both.add(classify(label.as_bytes(), nulls));
        if is_typed(both) {
            n_fit += 1;
        } else {
            misfits.push(label.trim());
        }
    }
    let is_complete = are_complete(above);
    if are_answers(labels) {
        return true;
    }
    if fills {
        let is_beside_names =
            labels.first().is_some_and(is_empty) && !above.first().is_some_and(is_empty);
        let are_years = is_beside_names && are_years(labels.iter().filter(|it| !is_empty(it)));
        return 2 <= n_rows && (are_years || n_fit == 0 && !misfits.is_empty());
    }
    // Neither level has a name for the days of a time series.
    let is_empty_first = |it: &[String]| it.first().is_some_and(is_empty);
    let are_days =
        body.all.first().is_some_and(|it| it.is_only(TypeEvidence::DAYS) && is_typed(*it));
    if is_empty_first(above) && is_empty_first(labels) && are_days && n_fit == 0 {
        return 3 <= n_rows
            && !misfits.is_empty()
            && !misfits.iter().any(|it| is_word_for_nothing(it));
    }
    // Below complete names: units, or the names in another language. A row whose numbers are all
    // unknown is not a level.
    if misfits.iter().any(|it| is_word_for_nothing(it)) {
        return false;
    }
    // A description has several words or is longer than the name; a marker of a missing value is not.
    let is_described = |(above, it): (&String, &String)| {
        let it = it.trim();
        it.is_empty() || it.contains([' ', '!', '{', '?']) || above.trim().len() < it.len()
    };
    let is_description = is_complete
        && n_fit == 0
        && (misfits.iter().all(|it| it.contains("!!")) || 2 <= misfits.len() && 2 <= n_rows)
        && !misfits.is_empty()
        && misfits.iter().all(|it| it.contains([' ', '!', '{', '?', '(']))
        && above.iter().zip(labels).all(is_described)
        && are_complete(&labels.iter().filter(|it| !is_empty(it)).cloned().collect::<Vec<_>>());
    if is_description {
        return true;
    }
    let is_unit = |it: &&str| it.starts_with(['(', '[']);
    let are_alike = misfits.windows(2).all(|it| it[0] == it[1]);
    let are_units = misfits.iter().all(is_unit);
    // A single unit is beside nothing else: `,[C]` or `,Persons,`.
    let is_word = |it: &&str| !it.contains(|it: char| it.is_ascii_digit());
    let is_lone = is_complete
        && n_fit == 0
        && 2 <= n_rows
        && misfits.len() == 1
        && labels.first().is_some_and(is_empty)
        && labels.iter().filter(|it| !is_empty(it)).count() == 1
        && misfits.iter().all(is_word);
    if is_lone {
        return true;
    }
    let units: Vec<&String> = labels.iter().filter(|it| !is_empty(it)).collect();
    let are_known = 2 <= units.len() && units.iter().all(|it| is_known_unit(it));
    if is_complete && n_fit == 0 && 2 <= n_rows && !misfits.is_empty() && are_known {
        return true;
    }
    if n_fit != 0 || misfits.len() < 2 || (are_alike && !are_units) {
        return false;
    }
    // Above two rows, hardly any label may be indistinguishable by type from a value.
    let n_open = labels.iter().filter(|it| !is_empty(it)).count() - misfits.len();
    let is_clear = are_units || n_open == 0 || (3 <= misfits.len() && n_open <= 1);
    // Groups that are named once a column, such as a year above each of its columns.
    let is_below_groups = !is_complete
        && n_open == 0
        && labels.first().is_some_and(is_empty)
        && are_complete(&joined(&[above.to_vec(), labels.to_vec()]));
    let is_sure = is_below_groups || is_complete && (is_clear || are_formats(labels));
    4 <= n_rows || (2 <= n_rows && is_sure)
}

/// Returns whether labels describe the columns that `names` name, whatever the values below are. A column may have no
/// name, unless its label shows that it shares the name to its left.
pub(crate) fn describe(names: &[String], labels: &[String]) -> bool {
    let is_empty = |at: usize, of: &[String]| of.get(at).is_none_or(|it| it.trim().is_empty());
    let is_shared = |at: usize| {
        0 < at && is_empty(at, names) && !is_empty(at, labels) && !is_empty(at - 1, labels)
    };
    let is_labelled = |it: &usize| !is_empty(*it, names) && !is_empty(*it, labels);
    let labelled: Vec<String> =
        (0..names.len()).filter(is_labelled).map(|it| names[it].clone()).collect();
    let are_groups = !are_complete(&labelled) || (0..labels.len()).any(is_shared);
    are_import_ids(labels)
        || are_restated(names, labels)
        || !are_groups && (are_units(names, labels) || are_formats(labels))
}

fn are_import_ids(labels: &[String]) -> bool {
    labels.iter().all(|it| is_import_id(it))
}

/// Returns whether each label has the name above it among other words: `What is your age?` below `age`.
fn are_restated(names: &[String], labels: &[String]) -> bool {
    const NAMES_MIN: usize = 2;
    let is_letter = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
    let has_word = |label: &str, name: &str| {
        label.match_indices(name).any(|(at, _)| {
            let behind = label[at + name.len()..].chars().next();
            !is_letter(label[..at].chars().next_back()) && !is_letter(behind)
        })
    };
    let restates = |(name, label): (&String, &String)| {
        name.trim().len() < label.trim().len() && has_word(label, name.trim())
    };
    let mut pairs = names.iter().zip(labels).filter(|it| !it.0.trim().is_empty());
    NAMES_MIN <= pairs.clone().count() && pairs.all(restates)
}

/// Returns whether labels are units in brackets, which are units above text as well.
fn are_units(names: &[String], labels: &[String]) -> bool {
    let is_bracketed = |it: &String| {
        let it = it.trim();
        it.starts_with(['(', '['])
            && it.ends_with([')', ']'])
            && !it.contains(|it: char| it.is_ascii_digit())
    };
    let units = labels.iter().filter(|it| !it.trim().is_empty());
    units.clone().next().is_some()
        && units.clone().all(is_bracketed)
        && !names.iter().any(is_bracketed)
}

/// Returns whether a label is a common unit, or the name of a type.
fn is_known_unit(label: &str) -> bool {
    const UNITS: &str = "% percent pct ° deg degrees c °c degc celsius f °f degf fahrenheit k kelvin \
        ms s sec min h hr hrs hours d days nm µm um mm cm m km in ft mi m2 m² m3 m³ ha l ml mg g kg t lb \
        m/s km/h mph kn kt pa hpa kpa mbar bar psi atm w kw mw gw wh kwh mwh w/m2 w/m² v mv kv a ma au \
        ohm hz khz mhz db ppm ppb mg/l µg/m3 µg/m³ ug/m3 mol usd eur gbp chf jpy cad aud $ € £ pcs units";
    const TYPES: &str = "string text varchar char int integer bigint float double decimal number numeric \
        date datetime time timestamp bool boolean yyyy-mm-dd dd/mm/yyyy mm/dd/yyyy";
    let label = label.trim().to_lowercase();
    UNITS.split_whitespace().chain(TYPES.split_whitespace()).any(|it| it == label)
}

/// Returns whether no two records have the same first label.
fn begin_differently(levels: &[Vec<String>]) -> bool {
    let mut known = HashSet::new();
    levels.iter().map(|it| it[0].trim()).filter(|it| !it.is_empty()).all(|it| known.insert(it))
}

/// Returns whether records above a time series describe its columns: in each column that has values of a
/// type, they have some text.
pub(crate) fn are_above_series(levels: &[Vec<String>], body: &Sample, nulls: &Nulls) -> bool {
    let misfits = |column: usize| {
        let labels = levels[1..].iter().map(|it| it[column].trim());
        labels
            .filter(|it| !it.is_empty())
            .any(|it| !is_typed(body.all[column].and(classify(it.as_bytes(), nulls))))
    };
    let typed: Vec<usize> = (1..levels[0].len()).filter(|it| is_typed(body.all[*it])).collect();
    let says_nothing = || levels.iter().flatten().any(|it| is_word_for_nothing(it.trim()));
    begin_differently(levels)
        && !typed.is_empty()
        && typed.into_iter().all(misfits)
        && !says_nothing()
}

/// Returns whether labels are the widths and types of all columns, such as `5s` and `14n`.
fn are_formats(labels: &[String]) -> bool {
    let is_format = |it: &String| {
        let digits = it.trim().strip_suffix(['s', 'n', 'd', 'f']).unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
    };
    // One may be a value: a size, a class.
    1 < labels.len() && labels.iter().all(is_format)
}

/// Returns whether labels alone name all columns.
pub(crate) fn are_complete(labels: &[String]) -> bool {
    let distinct: HashSet<String> = labels.iter().map(|it| it.trim().to_lowercase()).collect();
    distinct.len() == labels.len() && !distinct.contains("")
}

/// Returns the descriptions of each column in the levels below the first. A program's internal column
/// id is not a description.
pub(crate) fn described(levels: &[Vec<String>]) -> Vec<String> {
    const BETWEEN: &str = "; ";
    let Some((names, others)) = levels.split_first() else { return Vec::new() };
    let describe = |(column, name): (usize, &String)| {
        let mut parts: Vec<String> = Vec::new();
        for label in others.iter().filter_map(|it| it.get(column)) {
            let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_new = !label.is_empty() && label != name.trim() && !parts.contains(&label);
            if is_new && !is_import_id(&label) {
                parts.push(label);
            }
        }
        let mut text = parts.join(BETWEEN);
        text.truncate(text.floor_char_boundary(DESCRIPTION_BYTES_MAX));
        text
    };
    names.iter().enumerate().map(describe).collect()
}

/// Returns whether text means an unknown value, unlike any description or unit.
fn is_word_for_nothing(text: &str) -> bool {
    const BEGINNINGS: [&str; 14] = [
        "unknown", "missing", "not ", "no ", "none", "n.a", "tbd", "pending", "error", "refused",
        "absent", "invalid", "unbekannt", "fehlt",
    ];
    let text = text.to_lowercase();
    BEGINNINGS.iter().any(|it| text.starts_with(it))
}

/// Returns whether labels are the second record of a `SurveyMonkey` export: empty below its own
/// metadata columns, and the kind of answer below each question.
fn are_answers(labels: &[String]) -> bool {
    const KINDS: [&str; 2] = ["Response", "Open-Ended Response"];
    labels.first().is_some_and(|it| it.trim().is_empty())
        && labels.iter().any(|it| KINDS.contains(&it.trim()))
}

/// Returns whether a label is what Qualtrics writes in the third record of its exports.
fn is_import_id(label: &str) -> bool {
    let text: String =
        label.chars().filter(|it| !it.is_whitespace()).take(IMPORT_ID.len()).collect();
    text == IMPORT_ID
}

/// Returns one label per column: those of all levels, where a group covers the columns to its right up
/// to the next one.
pub(crate) fn joined(levels: &[Vec<String>]) -> Vec<String> {
    if let (Some(n_index), Some((names, above))) = (n_index_names(levels), levels.split_last()) {
        let columns: Vec<_> = above.iter().map(|it| it[n_index..].to_vec()).collect();
        let index: Vec<String> = names[..n_index].iter().map(|it| it.trim().to_owned()).collect();
        return [index, joined(&columns)].concat();
    }
    let n_columns = levels.first().map_or(0, Vec::len);
    let mut spread = Vec::new();
    let mut is_below = vec![false; n_columns];
    for level in levels.iter().rev() {
        let level = spread_over(level, &is_below);
        is_below = level.iter().map(|it| !it.is_empty()).collect();
        spread.insert(0, level);
    }
    let join = |column: usize| {
        let mut parts: Vec<&str> = Vec::new();
        for label in spread.iter().map(|it| it[column]).filter(|it| !it.is_empty()) {
            if !parts.iter().any(|it| it.eq_ignore_ascii_case(label)) {
                parts.push(label);
            }
        }
        parts.join(" ")
    };
    (0..n_columns).map(join).collect()
}

/// Returns labels, each repeated over the columns that it groups, given where labels exist below.
fn spread_over<'a>(labels: &'a [String], is_below: &[bool]) -> Vec<&'a str> {
    let mut group = "";
    let spread = labels.iter().zip(is_below).map(|(label, is_below)| {
        let label = label.trim();
        if label.is_empty() && *is_below {
            return group;
        }
        // A label with nothing below it is a name and groups nothing.
        group = if *is_below { label } else { "" };
        label
    });
    spread.collect()
}

/// Returns whether labels are consecutive years, ascending or descending, or repeated groups of them.
pub(crate) fn are_years<'a>(labels: impl Iterator<Item = &'a String>) -> bool {
    let years: Option<Vec<i32>> = labels.map(|it| it.trim().parse().ok()).collect();
    let Some(years) = years else { return false };
    let is_run = years.windows(2).all(|it| (it[1] - it[0]).abs() == 1 || it[1] == years[0]);
    1 < years.len() && is_run && years.iter().all(|it| (1900..=2100).contains(it))
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[track_caller]
    fn check(levels: &[&[&str]], expected: &[&str]) {
        let levels: Vec<Vec<String>> =
            levels.iter().map(|it| it.iter().map(ToString::to_string).collect()).collect();
        assert_eq!(joined(&levels), expected);
    }

    #[test]
    fn a_group_names_the_columns_to_its_right_until_the_next() {
        check(
            &[&["", "2022", "", "2023", ""], &["Region", "Sales", "Cost", "Sales", "Cost"]],
            &["Region", "2022 Sales", "2022 Cost", "2023 Sales", "2023 Cost"],
        );
        check(
            &[&["Region", "Sales", "", "Note"], &["", "2022", "2023", ""]],
            &["Region", "Sales 2022", "Sales 2023", "Note"],
        );
        check(&[&["Id", "", "Id"], &["", "Name", "Key"]], &["Id", "Name", "Id Key"]);
        check(
            &[&["A", "", "", ""], &["B", "", "C", ""], &["d", "e", "f", "g"]],
            &["A B d", "A B e", "A C f", "A C g"],
        );
    }

    #[test]
    fn a_record_of_pandas_names_the_index_alone() {
        check(
            &[&["year", "2021", "2021"], &["kind", "a", "b"], &["region", "", ""]],
            &["region", "2021 a", "2021 b"],
        );
        check(
            &[&["", "", "x", "x"], &["", "", "a", "b"], &["r", "s", "", ""]],
            &["r", "s", "x a", "x b"],
        );
        // The name of a group of rows below the names.
        check(
            &[&["", "2021", "2021"], &["Region", "a", "b"], &["Europe", "", ""]],
            &["Region Europe", "2021 a", "2021 b"],
        );
    }

    #[test]
    fn units_stand_behind_the_names() {
        check(&[&["time", "speed", "name"], &["s", "km/h", ""]], &["time s", "speed km/h", "name"]);
    }
}
