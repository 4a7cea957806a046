//! A Python as the users of exported programs have it: with the packages that these name, and without csv-agent.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{fs, str};

/// Returns a function of a shell with this name that runs it: the managed Python, and DuckDB, which that does not have.
pub fn python(name: &str) -> String {
    format!(
        "{name}() {{ PYTHONPATH='{}' \"$(ls -d \"$XDG_CACHE_HOME\"/csv-agent/python-*/bin/python | tail -1)\" \"$@\"; }}",
        duckdb().display()
    )
}

/// Returns the directory that has the package, which is installed once for this version of Python.
fn duckdb() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let tag = run(&["-c", "import sys; print(sys.implementation.cache_tag)"]);
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let installed = directory.join(format!("duckdb-{}", tag.trim()));
        if !installed.exists() {
            let new = tempfile::tempdir_in(directory).unwrap().keep();
            let target = new.to_str().unwrap();
            run(&["-m", "pip", "install", "--quiet", "--no-deps", "--target", target, "duckdb"]);
            // Another run of the tests may have been faster.
            if fs::rename(&new, &installed).is_err() {
                fs::remove_dir_all(&new).unwrap();
            }
        }
        installed
    })
}

fn run(arguments: &[&str]) -> String {
    let output = Command::new("python3").args(arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "python3 {arguments:?}\n{told}");
    str::from_utf8(&output.stdout).unwrap().to_owned()
}
