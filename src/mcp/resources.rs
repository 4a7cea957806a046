//! Resources: what a session keeps, by URI.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Datasets in the list of resources.
pub const DATASETS_LISTED_MAX: usize = 50;
/// Turns in the list of resources, the last ones.
pub const TURNS_LISTED_MAX: usize = 20;

/// The scheme and the host part of all URIs.
const SCHEME: &str = "csv-agent://";
/// The parameter that names another session than the server's.
const SESSION: &str = "?session=";
/// What is not encoded in a part of a URI.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Bytes of a table as CSV that is offered as a resource. A resource may be larger by a third, as they are estimated.
pub(crate) const CSV_OFFERED_BYTES_MAX: u64 = 3 * 1024 * 1024;

/// A resource in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceEntry {
    /// What it is.
    pub what: Stored,
    /// Its title.
    pub title: String,
    /// What it contains, in a few words.
    pub about: String,
}

/// A resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// What it is.
    pub part: StoredPart,
    /// Its session, if that is not the server's.
    pub session: Option<PathBuf>,
}

/// A part of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredPart {
    /// The columns of a dataset.
    Schema(String),
    /// The first rows of a dataset.
    Head(String),
    /// A turn, as a document.
    Turn(String),
    /// A table of a turn.
    Table(String, String),
    /// A chart of a turn.
    Chart(String, String),
    /// All turns, as a document.
    Report,
}

/// The content of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// A picture.
    Png(Vec<u8>),
}

impl Stored {
    /// Returns the URI.
    pub fn uri(&self) -> String {
        let path = match &self.part {
            StoredPart::Schema(name) => format!("datasets/{}/schema", encoded(name)),
            StoredPart::Head(name) => format!("datasets/{}/head", encoded(name)),
            StoredPart::Turn(turn) => format!("turns/{turn}"),
            StoredPart::Table(turn, name) => format!("turns/{turn}/tables/{}.csv", encoded(name)),
            StoredPart::Chart(turn, name) => format!("turns/{turn}/charts/{}.png", encoded(name)),
            StoredPart::Report => "report".to_owned(),
        };
        let session = self
            .session
            .as_deref()
            .map(|it| format!("{SESSION}{}", encoded(&it.to_string_lossy())));
        format!("{SCHEME}{path}{}", session.unwrap_or_default())
    }

    /// Reads a URI. Fails with what such URIs look like.
    pub(crate) fn of_uri(uri: &str) -> Result<Stored, String> {
        let unknown = || {
            format!(
                "there is no resource `{uri}`; the URIs are csv-agent://datasets/NAME/schema, \
                 csv-agent://datasets/NAME/head, csv-agent://turns/N, csv-agent://turns/N/tables/NAME.csv, \
                 csv-agent://turns/N/charts/NAME.png and csv-agent://report"
            )
        };
        let rest = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
        let (path, session) = match rest.split_once(SESSION) {
            Some((path, session)) => (path, Some(PathBuf::from(decoded(session)))),
            None => (rest, None),
        };
        let parts: Vec<&str> = path.split('/').collect();
        let is_turn =
            |it: &str| !it.is_empty() && it.len() <= 10 && it.bytes().all(|it| it.is_ascii_digit());
        let part = match &parts[..] {
            ["report"] => StoredPart::Report,
            ["datasets", name, "schema"] => StoredPart::Schema(decoded(name)),
            ["datasets", name, "head"] => StoredPart::Head(decoded(name)),
            ["turns", turn] if is_turn(turn) => StoredPart::Turn((*turn).to_owned()),
            ["turns", turn, "tables", file] if is_turn(turn) => {
                let name = file.strip_suffix(".csv").ok_or_else(unknown)?;
                StoredPart::Table((*turn).to_owned(), decoded(name))
            }
            ["turns", turn, "charts", file] if is_turn(turn) => {
                let name = file.strip_suffix(".png").ok_or_else(unknown)?;
                StoredPart::Chart((*turn).to_owned(), decoded(name))
            }
            _ => return Err(unknown()),
        };
        Ok(Stored { part, session })
    }

    pub(crate) fn media_type(&self) -> &'static str {
        match self.part {
            StoredPart::Schema(_) => "application/json",
            StoredPart::Head(_) | StoredPart::Table(..) => "text/csv",
            StoredPart::Turn(_) | StoredPart::Report => "text/markdown",
            StoredPart::Chart(..) => "image/png",
        }
    }
}

pub(crate) fn turn_uri(turn: &str, session: Option<&Path>) -> String {
    uri_of(StoredPart::Turn(number(turn)), session)
}

pub(crate) fn table_uri(turn: &str, name: &str, session: Option<&Path>) -> String {
    uri_of(StoredPart::Table(number(turn), name.to_owned()), session)
}

pub(crate) fn chart_uri(turn: &str, name: &str, session: Option<&Path>) -> String {
    uri_of(StoredPart::Chart(number(turn), name.to_owned()), session)
}

fn uri_of(part: StoredPart, session: Option<&Path>) -> String {
    Stored { part, session: session.map(Path::to_owned) }.uri()
}

fn number(turn: &str) -> String {
    turn.trim_start_matches('0').to_owned()
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Stored, StoredPart};

    #[test]
    fn a_uri_reads_back_as_what_it_names() {
        let parts = [
            StoredPart::Schema("a b/c?d%".into()),
            StoredPart::Head("größe".into()),
            StoredPart::Turn("12".into()),
            StoredPart::Table("3".into(), "revenue_by_month".into()),
            StoredPart::Chart("3".into(), "x".into()),
            StoredPart::Report,
        ];
        for part in parts {
            for session in [None, Some("/home/a b/.csv-agent".into())] {
                let stored = Stored { part: part.clone(), session };
                assert_eq!(Stored::of_uri(&stored.uri()), Ok(stored));
            }
        }
    }

    #[test]
    fn what_is_no_resource_is_refused_with_those_that_are() {
        for uri in
            ["", "file:///etc/passwd", "csv-agent://turns/../x", "csv-agent://turns/1/tables/x"]
        {
            assert!(
                Stored::of_uri(uri).is_err_and(|it| it.contains("csv-agent://turns/N")),
                "{uri}"
            );
        }
    }
}
