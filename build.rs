//! Tells the program which commit it is built from, for `--version`.
//!
//! The date is that of the commit, so that two builds of a commit are equal. A package without a repository, such as one
//! of crates.io, has only its version.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = match Repository::of_this_package() {
        Some(repository) => {
            println!("cargo::rerun-if-changed={}", repository.log);
            format!("{} ({})", env!("CARGO_PKG_VERSION"), repository.commit)
        }
        None => env!("CARGO_PKG_VERSION").to_owned(),
    };
    println!("cargo::rustc-env=CSV_AGENT_VERSION={version}");
}

struct Repository {
    /// `1c3df8c2a 2026-11-27`.
    commit: String,
    /// A file that changes with each commit.
    log: String,
}

impl Repository {
    fn of_this_package() -> Option<Repository> {
        // Cargo begins there. The path when this was compiled may be that of another checkout.
        let root = Path::new(".").canonicalize().ok()?;
        // The package may be unpacked inside of a repository of something else.
        let top = git(&root, &["rev-parse", "--show-toplevel"])?;
        if Path::new(&top).canonicalize().ok()? != root {
            return None;
        }
        let commit = git(&root, &["log", "-1", "--abbrev=9", "--format=%h %cs"])?;
        let places = ["logs/HEAD", "HEAD"].map(|it| git(&root, &["rev-parse", "--git-path", it]));
        let log = places.into_iter().flatten().find(|it| root.join(it).exists())?;
        Some(Repository { commit, log })
    }
}

fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(directory).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
