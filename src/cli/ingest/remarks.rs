//! Remarks on an ingest of several files: one line for what many share, and one line for each dataset with
//! more to report.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use csv_agent_ingest::families::{Family, families_of};
use csv_agent_text::lists::all_names;
use csv_agent_types::catalog::{Damage, Dataset, SourceFormat};

use super::job::{Change, Ingested};
use super::sources::matches;
use super::{
    WarningSubject, amounts, by_note, counted, has_all_tables, has_unread_tables, names_flag,
    unsplit,
};
use crate::diagnostics;
use crate::options::GlobalOptions;

/// Number of datasets that a line names. Of more it states the count.
const NAMED_MAX: usize = 3;
/// Number of remarks in the line of one dataset.
const SAID_MAX: usize = 4;

/// A remark about one dataset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Remark {
    /// Whether it is printed even when only warnings are.
    is_warning: bool,
    what: RemarkKind,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RemarkKind {
    /// A number of records that are not rows, with the sort order of the remark.
    Aside(usize, &'static str, &'static str),
    Counted(&'static str, &'static str),
    /// Literal text.
    Said(String),
}

/// Prints on stderr the remarks on how several files were read. `datasets --schema NAME` has the details.
pub(super) fn tell(done: &[Ingested], options: &GlobalOptions) {
    for (is_warning, line) in lines_of(done, WarningSubject::Dataset) {
        if is_warning {
            diagnostics::warning(&line, options.terminal.stderr.colour);
        } else if options.has_notes() {
            diagnostics::note(&line);
        }
    }
}

/// Returns the warnings among the remarks on how several files were read, which name the datasets or their files.
pub(super) fn warnings(done: &[Ingested], subject: WarningSubject) -> Vec<String> {
    lines_of(done, subject).into_iter().filter(|it| it.0).map(|it| it.1).collect()
}

fn lines_of(done: &[Ingested], subject: WarningSubject) -> Vec<(bool, String)> {
    let name = |it: &'_ Ingested| match subject {
        WarningSubject::Dataset => it.name.clone(),
        WarningSubject::File => it.dataset.source.clone(),
    };
    let names: Vec<String> = done.iter().map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let remarks: Vec<Vec<(Remark, u64)>> = done.iter().map(remarks).collect();
    lines(&names, &remarks)
}

/// Returns the line with the counts of each result.
pub(super) fn counts(done: &[Ingested], n_failed: usize, (one, many): (&str, &str)) -> String {
    let count = |change: Change| done.iter().filter(|it| it.change == change).count();
    let changes =
        [Change::Added, Change::Updated, Change::Replaced, Change::Unchanged, Change::Skipped];
    let mut parts: Vec<String> = changes
        .iter()
        .map(|change| (count(*change), change.name()))
        .filter(|it| 0 < it.0)
        .map(|(n, name)| format!("{n} {name}"))
        .collect();
    if 0 < n_failed {
        parts.push(format!("{n_failed} failed"));
    }
    let is_table = |it: &Ingested| {
        matches!(it.dataset.dialect.format, SourceFormat::Sheet | SourceFormat::Database)
    };
    let [one, many] = if done.iter().any(is_table) { ["table", "tables"] } else { [one, many] };
    format!("{}: {}", counted((done.len() + n_failed) as u64, one, many), parts.join(", "))
}

/// Returns a line for each family among the datasets, with the command that joins its files where one
/// pattern matches exactly these.
pub(super) fn families(done: &[Ingested], n_failed: usize) -> Vec<String> {
    let is_fresh = |it: &&Ingested| !matches!(it.change, Change::Unchanged | Change::Skipped);
    // A file is joined with all its tables.
    let fresh = done.iter().filter(is_fresh).filter(|it| it.dataset.table_number.is_none());
    let (families, _) = families_of(fresh.map(|it| (it.name.as_str(), &it.dataset)));
    let tell = |family: &Family<'_>| {
        let n = family.members.len();
        let who = match family.pattern() {
            pattern if pattern == "*" => {
                all_names(family.members.iter().take(2).map(|it| it.0)) + ", …"
            }
            pattern => format!("`{pattern}`"),
        };
        let types =
            if family.is_of_one_type() { "" } else { ", though not all have the same types" };
        let (all, tables) = if family.members.iter().any(|it| has_all_tables(it.1)) {
            (" --tables all", ", and their further tables")
        } else {
            ("", "")
        };
        let how = match joining(family, done, n_failed) {
            Some(joining) => {
                format!("`csv-agent ingest{all} {joining}` joins their files into one{tables}")
            }
            None => format!(
                "`csv-agent ingest{all} --union --name NAME PATH…` joins their files into one{tables}"
            ),
        };
        format!("{n} datasets ({who}) have the same columns{types}; {how}")
    };
    families.iter().map(tell).collect()
}

/// Returns the argument that reads exactly the tables of a family, and at most files that failed besides, if the shell
/// takes it verbatim.
fn joining(family: &Family<'_>, done: &[Ingested], n_failed: usize) -> Option<String> {
    let joining = family.joining();
    let (name, files) = joining.split_once('=')?;
    let files = files.trim_matches('\'');
    // The sheets of a workbook and the members of an archive are those of one file.
    let file = Path::new(files).ancestors().skip(1).find(|it| it.is_file()).and_then(Path::to_str);
    let found = matches(files, &AtomicBool::new(false)).map(|it| it.paths).unwrap_or_default();
    let found: HashSet<PathBuf> = found.into_iter().collect();
    let is_read = |source: &str| {
        let source = Path::new(source);
        file.map_or_else(|| found.contains(source), |it| source.starts_with(it))
    };
    let n_members = family.members.iter().filter(|it| is_read(&it.1.source)).count();
    let first = done.iter().filter(|it| it.dataset.table_number.is_none());
    let n_others = first.filter(|it| is_read(&it.dataset.source)).count() - n_members;
    let is_exact = n_members == family.members.len()
        && n_others == 0
        && found.len().saturating_sub(n_members) <= n_failed;
    let files = file.unwrap_or(files);
    let is_plain = !files.contains(['\'', '\n']);
    (is_plain && is_exact).then(|| format!("{name}='{files}'"))
}

fn remarks(ingested: &Ingested) -> Vec<(Remark, u64)> {
    let Ingested { dataset, change, .. } = ingested;
    let told = &dataset.dialect.told;
    if *change == Change::Unchanged && !told.is_empty() && dataset.files.is_empty() {
        let told = told.join(" ");
        let text = format!("read with `{told}`; `--if-exists replace` reads it again");
        return vec![(Remark { is_warning: false, what: RemarkKind::Said(text) }, 1)];
    }
    if !ingested.is_read() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add = |is_warning, what, n| found.push((Remark { is_warning, what }, n));
    if *change == Change::Updated {
        add(false, RemarkKind::Said("changed, and read again".to_owned()), 1);
    }
    for (at, (n, one, many)) in dataset.set_aside.counts().into_iter().enumerate() {
        add(true, RemarkKind::Aside(at, one, many), n);
    }
    add(true, RemarkKind::Counted("short row padded", "short rows padded"), dataset.padded_rows);
    let surplus = RemarkKind::Counted(
        "long row, its surplus in `_extra`",
        "long rows, their surplus in `_extra`",
    );
    add(true, surplus, dataset.surplus_rows);
    if let Some(Damage { n_replaced, .. }) = dataset.dialect.damage {
        let what = RemarkKind::Counted(
            "place with invalid bytes, replaced by U+FFFD",
            "places with invalid bytes, replaced by U+FFFD",
        );
        add(true, what, n_replaced);
    }
    if has_unread_tables(dataset) {
        add(false, RemarkKind::Said("`--tables all` reads the other tables as well".to_owned()), 1);
    }
    for text in sentences(dataset) {
        add(true, RemarkKind::Said(text), 1);
    }
    for (columns, note) in by_note(dataset, |it| !it.is_ambiguous && names_flag(it)) {
        add(false, RemarkKind::Said(format!("{columns}: {note}")), 1);
    }
    if let Some(amounts) = amounts(dataset) {
        add(false, RemarkKind::Said(amounts), 1);
    }
    found.retain(|it| 0 < it.1);
    found
}

fn sentences(dataset: &Dataset) -> Vec<String> {
    let mut sentences = Vec::new();
    for (columns, note) in by_note(dataset, |it| it.is_ambiguous) {
        sentences.push(format!("{columns}: {note}"));
    }
    sentences.extend(unsplit(dataset));
    if dataset.dialect.doubt.is_some() {
        sentences.push(format!("read as {}, which is a guess", dataset.dialect.encoding));
    }
    if 0 < dataset.stray_quotes.unclosed + dataset.stray_quotes.doubtful {
        sentences.push("quotes that do not enclose a cell".to_owned());
    }
    if dataset.unclear_total.is_some() {
        sentences.push("its last row is labeled as a total but was kept".to_owned());
    }
    sentences.extend(dataset.doubts.iter().cloned());
    sentences
}

/// Returns the lines, each with whether it is a warning: those of several datasets first.
fn lines(names: &[&str], remarks: &[Vec<(Remark, u64)>]) -> Vec<(bool, String)> {
    let mut by_remark: BTreeMap<&Remark, Vec<(usize, u64)>> = BTreeMap::new();
    for (at, remarks) in remarks.iter().enumerate() {
        for (remark, n) in remarks {
            by_remark.entry(remark).or_default().push((at, *n));
        }
    }
    // Remarks shared by the same datasets are one line.
    let mut by_datasets: BTreeMap<Vec<usize>, Vec<(bool, String)>> = BTreeMap::new();
    let mut asides: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
    for (remark, found) in by_remark {
        let counts = found.iter().map(|it| it.1);
        let (least, most) = (counts.clone().min().unwrap_or(1), counts.max().unwrap_or(1));
        let text = match &remark.what {
            RemarkKind::Said(text) => text.clone(),
            RemarkKind::Aside(_, one, many) | RemarkKind::Counted(one, many) => match (least, most)
            {
                (_, 1) => format!("1 {one}"),
                _ if least == most => format!("{most} {many}"),
                _ => format!("{least} to {most} {many}"),
            },
        };
        let datasets: Vec<usize> = found.iter().map(|it| it.0).collect();
        if matches!(remark.what, RemarkKind::Aside(..)) {
            asides.entry(datasets).or_default().push(text);
        } else {
            by_datasets.entry(datasets).or_default().push((remark.is_warning, text));
        }
    }
    for (datasets, texts) in asides {
        let text = format!("kept out of the table: {}", texts.join(", "));
        by_datasets.entry(datasets).or_default().insert(0, (true, text));
    }
    let mut lines: Vec<(usize, bool, String)> = Vec::new();
    for (datasets, said) in by_datasets {
        let is_warning = said.iter().any(|it| it.0);
        let who = match datasets.len() {
            n if n <= NAMED_MAX => all_names(datasets.iter().map(|it| names[*it])),
            n if n == names.len() => format!("all {n} datasets"),
            n => format!("{n} datasets"),
        };
        let mut texts: Vec<&str> = said.iter().take(SAID_MAX).map(|it| it.1.as_str()).collect();
        let more;
        if SAID_MAX < said.len() {
            more = format!("and more: `csv-agent datasets --schema {}`", names[datasets[0]]);
            texts.push(&more);
        }
        lines.push((datasets.len(), is_warning, format!("{who}: {}", texts.join("; "))));
    }
    lines.sort_by_key(|it| std::cmp::Reverse(it.0));
    lines.into_iter().map(|(_, is_warning, line)| (is_warning, line)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Remark, RemarkKind, lines};

    fn counted(n: u64) -> (Remark, u64) {
        (
            Remark {
                is_warning: true,
                what: RemarkKind::Aside(0, "preamble line", "preamble lines"),
            },
            n,
        )
    }

    fn said(text: &str) -> (Remark, u64) {
        (Remark { is_warning: false, what: RemarkKind::Said(text.to_owned()) }, 1)
    }

    #[track_caller]
    fn check(remarks: &[Vec<(Remark, u64)>], expected: &[&str]) {
        let names = ["a", "b", "c", "d", "e"];
        let found = lines(&names[..remarks.len()], remarks);
        assert_eq!(found.iter().map(|it| it.1.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_many_have_in_common_is_said_once() {
        check(
            &vec![vec![counted(2), said("x")]; 5],
            &["all 5 datasets: kept out of the table: 2 preamble lines; x"],
        );
        check(
            &[vec![counted(1)], vec![counted(3)], vec![said("x")], vec![], vec![counted(2)]],
            &["`a`, `b`, `e`: kept out of the table: 1 to 3 preamble lines", "`c`: x"],
        );
    }

    #[test]
    fn a_dataset_has_one_line_of_its_own() {
        let many = ["1", "2", "3", "4", "5"].map(said).to_vec();
        check(&[many, vec![]], &["`a`: 1; 2; 3; 4; and more: `csv-agent datasets --schema a`"]);
        check(&[vec![], vec![]], &[]);
    }
}
