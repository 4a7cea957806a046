//! A program as a script for `python3`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use csv_agent_text::sanitize;

use super::cluster::{self, Cluster};
use super::readers::PARQUET;
use super::steps::{ATTEMPTED, ENTERED, KEPT, PRINTED, ProgramPiece, QUERY, enter};
use super::{Program, blocks, literal, questions};
use crate::replay::stored_turn::{ExecutionPlace, PastTurn, number};

/// Parses `NAME=PATH` arguments. The hash seed equals the REPL's, so that sets iterate in the same order.
const ARGUMENTS: &str = r#"if os.environ.get("PYTHONHASHSEED") != "0":
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
for _argument in sys.argv[1:]:
    _name, _, _path = _argument.partition("=")
    if _name not in _PATHS or not _path:
        sys.exit(f"cannot take {_argument}: write NAME=PATH; the names are {', '.join(_PATHS)}")
    _PATHS[_name] = _path
"#;

/// Sets pandas to display numbers and tables as a worker does.
const DISPLAY: &str = r#"pd.set_option("display.width", 160, "display.max_columns", 40, "display.max_colwidth", 80)
"#;

/// Heading note where code ran in containers.
const IN_CONTAINERS: &str = "\n
Some of it ran in a container of the provider's, with variables of its own. Here a directory replaces
/mnt/data: texts of the code that begin with that path lead there (`_at`), and it is the current directory.
It contains the datasets as the CSV files that were uploaded, with two differences: a float that is `NaN` is
empty, and empty text is missing if other text is missing. The directory is removed when this ends. Warnings
are not compared.";

/// Writes the script.
pub fn script(program: &Program) -> String {
    let code: Vec<String> = program.pieces.iter().map(|it| piece_code(program, it)).collect();
    let code = code.join("\n\n");
    let checks = checks(program);
    let prelude = prelude(program, &checks, ARGUMENTS);
    let head = heading(program);
    format!("#!/usr/bin/env python3\n{head}\n\n{prelude}\n\n{code}\n\n# %% Results\n{checks}\n")
}

/// Returns the part before the steps: imports, functions, paths of the data, and arguments that override
/// them.
pub(super) fn prelude(program: &Program, checks: &str, arguments: &str) -> String {
    let uses = |name: &str| program.pieces.iter().any(|it| it.uses.contains(name));
    let mut given = String::new();
    if !program.readers.is_empty() || program.cluster.is_some() {
        given = sources(program, arguments);
    } else if uses(ENTERED) || program.pieces.iter().any(|it| it.helpers == QUERY) {
        given += "_TABLES = {}\n";
    }
    if uses("datasets") {
        // The Parquet reader without pandas needs file functions.
        let has_files = ["pyarrow", "pq", "open"].iter().any(|it| uses(it));
        given += if has_files {
            "datasets = _parquet_files()\n"
        } else {
            "datasets = _parquet_names()\n"
        };
    }
    if uses(KEPT) {
        given += "data = {}\n";
    }
    given += DISPLAY;
    if uses(PRINTED) {
        given += "sys.stdout = sys.stderr = _Printed(sys.stdout)\nwarnings.showwarning = sys.stdout.warn\n";
    }
    if uses(ENTERED) {
        given += "_gave = {}\n";
    }
    given += "_apart()\n";
    if uses(ENTERED) {
        given.extend([enter(&ExecutionPlace::Repl).as_str(), "\n"]);
    }
    let readers = program.readers.iter().filter(|it| !it.code.is_empty());
    let readers: Vec<&str> = readers.map(|it| it.code.as_str()).collect();
    let readers = readers.join("\n\n\n");
    let load = if uses("load") { "load(" } else { "" };
    let num = if uses("num") { "num(" } else { "" };
    let attempt = if uses(ATTEMPTED) { "_attempt(" } else { "" };
    let helpers: Vec<&str> = program.pieces.iter().map(|it| it.helpers.as_str()).collect();
    let helpers = helpers.join("\n");
    let texts = [readers.as_str(), &given, checks, load, num, attempt, &helpers];
    let needed = blocks::used_by(&texts.join("\n"));
    // The REPL provides both.
    let imports = blocks::imports(&[&needed, &readers, &given, "np pd"].join("\n"));
    let reading = program.cluster.as_ref().map(|_| Cluster::reading()).unwrap_or_default();
    let parts = [needed.as_str(), &reading, &readers, &given];
    let parts: Vec<&str> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    let parts = parts.join("\n\n\n");
    format!("{imports}\n\n\n{parts}")
}

/// Returns the lines that set the paths of the data and read local files.
fn sources(program: &Program, arguments: &str) -> String {
    let entry =
        |(name, value): (&String, String)| format!("    {}: {value},\n", literal::string(name));
    let here = program.readers.iter().map(|it| (&it.name, literal::string(&it.path)));
    let there = program.cluster.iter().flat_map(|it| &it.datasets);
    let there = there.map(|it| (&it.name, literal::string(&it.what)));
    let paths: String = here.chain(there).map(entry).collect();
    let readers = program.readers.iter().map(|it| (&it.name, it.function.clone()));
    let readers: String = readers.map(entry).collect();
    let of_files = match program.cluster {
        Some(_) => "{it: _PATHS[it] for it in _READERS}",
        None => "_PATHS",
    };
    let begin = program.cluster.as_ref().map(Cluster::begin).unwrap_or_default();
    format!(
        "_PATHS = {{\n{paths}}}\n_READERS = {{\n{readers}}}\n{arguments}_TABLES = _tables_of({of_files}, \
         _READERS)\n{begin}"
    )
}

fn heading(program: &Program) -> String {
    let turns: Vec<String> = program.turns.iter().map(named).collect();
    let mut text = questions(&program.turns).join("\n");
    let turns = turns.join(", ");
    // Writing to a string cannot fail.
    let needs_arrow = program.readers.iter().any(|it| it.function == PARQUET);
    let mut packages = BTreeSet::from(["pandas"]);
    packages.extend(needs_arrow.then_some("pyarrow"));
    // pandas brings it.
    let imports = program.pieces.iter().flat_map(|it| &it.imports).map(String::as_str);
    packages.extend(imports.filter(|it| !["numpy", "pyspark"].contains(it)));
    packages.extend(program.cluster.iter().flat_map(|_| cluster::PACKAGES));
    let packages: Vec<String> = packages.iter().map(|it| sanitize::one_line(it)).collect();
    let packages = packages.join(" and ");
    let _ = write!(
        text,
        "\n\nThe code that csv-agent ran for {turns}, and its results. It needs Python 3.10 or later with\n\
         {packages}. It exits with 0 if the results are the same. Its own functions begin with an underscore."
    );
    if !program.readers.is_empty() {
        text += "\nIt reads these files. Arguments of the form NAME=PATH replace them.\n";
    }
    for reader in &program.readers {
        let _ = write!(text, "\n  {}  {} ({})", reader.name, reader.path, reader.about);
        if let Some(why) = &reader.why {
            let _ = write!(text, "\n    the session's copy of the source: {why}");
        }
    }
    if let Some(cluster) = &program.cluster {
        text += &cluster.told();
    }
    if program.pieces.iter().any(|it| it.place != ExecutionPlace::Repl) {
        text += IN_CONTAINERS;
    }
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"\"\"{text}\n\"\"\"")
}

/// Returns a turn's title: its number and date.
pub(super) fn named(turn: &PastTurn) -> String {
    let day = turn.started.split('T').next().unwrap_or_default();
    format!("turn {} ({day})", number(&turn.id))
}

fn piece_code(program: &Program, piece: &ProgramPiece) -> String {
    let is_own = program.turns.iter().any(|it| it.id == piece.turn);
    let from = if is_own && program.turns.len() == 1 {
        String::new()
    } else {
        format!(", of turn {}", number(&piece.turn))
    };
    let shown = piece.shows.as_ref().filter(|_| is_own);
    let shown = shown.map_or(String::new(), |it| format!("\nprint({it})"));
    format!("# %% {}{from}\n{}{shown}", piece.title.replace(['\n', '\r'], " "), piece.code)
}

/// Returns the final checks.
pub(super) fn checks(program: &Program) -> String {
    let checks = || program.pieces.iter().flat_map(|it| &it.checks);
    let lines: Vec<&str> = checks().map(|it| it.1.as_str()).collect();
    let names: Vec<&str> = checks().map(|it| it.0.as_str()).collect();
    let told = match &names[..] {
        [] => "nothing was checked".to_owned(),
        names => format!("same as before: {}", names.join(", ")),
    };
    let is_away = program.pieces.last().is_some_and(|it| it.place != ExecutionPlace::Repl);
    let back = if is_away { format!("{}\n", enter(&ExecutionPlace::Repl)) } else { String::new() };
    format!("{back}{}\nprint({})", lines.join("\n"), literal::string(&told))
}
