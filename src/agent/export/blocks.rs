//! The parts of our own Python that a program needs. Each block of the files beside this one defines one
//! name, and brings the blocks that it uses.

/// Every function that reads a file.
pub(super) const READER: &str = include_str!("reader.py");
/// What the REPL has at hand as well: numbers as people write them.
const NUM: &str = include_str!("../../worker/program/num.py");
const CHECKS: &str = include_str!("checks.py");
const CONTAINER: &str = include_str!("container.py");
const CLUSTER: &str = include_str!("cluster.py");

/// Modules, and how they are imported.
const IMPORTS: [(&str, &str); 22] = [
    ("atexit", "import atexit"),
    ("base64", "import base64"),
    ("bz2", "import bz2"),
    ("csv", "import csv"),
    ("datetime", "import datetime"),
    ("gzip", "import gzip"),
    ("hashlib", "import hashlib"),
    ("io", "import io"),
    ("json", "import json"),
    ("math", "import math"),
    ("os", "import os"),
    ("re", "import re"),
    ("shutil", "import shutil"),
    ("sys", "import sys"),
    ("tempfile", "import tempfile"),
    ("types", "import types"),
    ("warnings", "import warnings"),
    ("zipfile", "import zipfile"),
    ("duckdb", "import duckdb"),
    ("np", "import numpy as np"),
    ("pd", "import pandas as pd"),
    ("pyarrow", "import pyarrow.parquet"),
];

/// Returns the blocks that some code uses.
pub(super) fn used_by(code: &str) -> String {
    let files = [READER, NUM, CHECKS, CONTAINER, CLUSTER];
    let blocks = files.iter().flat_map(|it| it.trim().split("\n\n\n"));
    // What stands above the first block of a file says what the file is for, and imports.
    let blocks: Vec<&str> = blocks.filter(|it| !it.starts_with("\"\"\"")).collect();
    let mut is_used = vec![false; blocks.len()];
    let mut all = code.to_owned();
    while let Some(at) = (0..blocks.len()).find(|at| !is_used[*at] && says(&all, name(blocks[*at])))
    {
        is_used[at] = true;
        all.push_str(blocks[at]);
    }
    let used = blocks.iter().zip(is_used).filter(|it| it.1).map(|it| it.0.trim_matches('\n'));
    used.collect::<Vec<_>>().join("\n\n\n")
}

/// Returns what some code must import.
pub(super) fn imports(code: &str) -> String {
    let used = IMPORTS.iter().filter(|(name, _)| says(code, name)).map(|it| it.1);
    let (ours, others): (Vec<_>, Vec<_>) = used.partition(|it| {
        !["duckdb", "numpy", "pandas", "pyarrow"].iter().any(|name| it.contains(name))
    });
    [ours.join("\n"), others.join("\n")].join("\n\n").trim().to_owned()
}

/// Returns the name that a block defines.
fn name(block: &str) -> &str {
    let first = block.lines().find(|it| !it.is_empty() && !it.starts_with('#'));
    let first = first.unwrap_or_default();
    let first = first.trim_start_matches("def ").trim_start_matches("class ");
    first.split(|it: char| !is_word(it)).next().unwrap_or_default()
}

/// Returns whether a word occurs in some code.
fn says(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let behind = code[at + word.len()..].chars().next();
        !before.is_some_and(|it| is_word(it) || it == '.') && !behind.is_some_and(is_word)
    })
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

#[cfg(test)]
mod tests {
    use super::{imports, used_by};

    #[test]
    fn a_block_comes_with_what_it_uses() {
        let found = used_by("x = _whole_numbers(cells)");
        let names: Vec<&str> = found.lines().filter_map(|it| it.strip_prefix("def ")).collect();
        assert_eq!(
            names,
            [
                "_whole_numbers(cells, missing=(\"\",), thousands=\"\"):",
                "_ungrouped(cell, thousands):"
            ]
        );
        assert_eq!(used_by("x = 1"), "");
    }

    #[test]
    fn only_what_is_used_is_imported() {
        assert_eq!(imports("re.sub(pd, 'x')"), "import re\n\nimport pandas as pd");
        assert_eq!(imports("df.date = io"), "import io");
    }
}
