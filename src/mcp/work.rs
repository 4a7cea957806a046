//! What a client wants done: parsed from the arguments of its call, done elsewhere.

use std::path::PathBuf;

use serde_json::Value;

use csv_agent_types::conversation::ToolCall;

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// Files become datasets.
    Ingest(Box<IngestWork>),
    /// Calls of the tools of a turn, one after the other.
    Calls {
        /// What the turn is about, for people.
        question: String,
        /// The calls.
        calls: Vec<ToolCall>,
    },
    /// A verdict, in the form in which models give one.
    Verdict {
        /// What the turn is about, for people.
        question: String,
        /// The answer.
        answer: Value,
    },
    /// A question for the built-in analyst.
    Ask {
        /// The question.
        question: String,
    },
    /// The calls of a turn again.
    Rerun {
        /// Its number, or `last`.
        turn: String,
        /// Files in place of datasets.
        against: Vec<(String, PathBuf)>,
    },
    /// A program or a document of turns.
    Export {
        /// Their numbers, `last` or `all`.
        turns: Vec<String>,
        /// `py`, `ipynb` or `md`.
        form: String,
    },
}

/// Files, and how to read them. None is what the file itself says.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IngestWork {
    /// Files, directories and patterns.
    pub paths: Vec<PathBuf>,
    /// The name of the dataset, for a single file.
    pub name: Option<String>,
    /// The character between cells.
    pub delimiter: Option<String>,
    /// The encoding.
    pub encoding: Option<String>,
    /// `.` or `,`.
    pub decimal: Option<String>,
    /// `dmy`, `mdy` or `ymd`.
    pub date_order: Option<String>,
    /// Sheets of a workbook or tables of a database.
    #[serde(default)]
    pub sheets: Vec<String>,
    /// Texts that mean a missing value.
    #[serde(default)]
    pub nulls: Vec<String>,
    /// Types of columns.
    #[serde(default)]
    pub types: std::collections::BTreeMap<String, String>,
    /// `error`, `replace` or `skip`.
    pub if_exists: Option<String>,
    /// Further flags of `csv-agent ingest` on how to read, each with its value: `--tables=all`.
    #[serde(default)]
    pub flags: Vec<String>,
}
