//! The location of a source relative to the session, so that it is recognised from any working directory,
//! and after its content has changed.

use std::path::{Component, Path, PathBuf};

use csv_agent_types::catalog::Dataset;

use crate::ingest::input::Input;

/// Returns the path of an input relative to the session's directory, as in the catalog; None for stdin.
pub(super) fn origin(input: &Input, session_dir: &Path) -> Option<String> {
    origin_of(&place_in(input)?, session_dir)
}

/// Returns the origin of an input down to the part of the file, as [`Dataset::whole_origin`] does.
pub(super) fn whole_origin(input: &Input, session_dir: &Path) -> Option<String> {
    let origin = origin(input, session_dir)?;
    Some(match input.only_part() {
        Some(part) => format!("{origin}/{part}"),
        None => origin,
    })
}

/// Returns whether a dataset of one file came from an input: the same part of the file, or its only one.
pub(super) fn is_from(dataset: &Dataset, input: &Input, session_dir: &Path) -> bool {
    dataset.files.is_empty()
        && dataset.origin.is_some()
        && (dataset.origin == origin(input, session_dir)
            || dataset.whole_origin() == whole_origin(input, session_dir))
}

/// Returns the absolute path of an input; a file with content counts as a directory.
fn place_in(input: &Input) -> Option<PathBuf> {
    match input {
        Input::File(path) => Some(place_of(path)),
        Input::Member(member) => Some(place_of(&member.of).join(&member.entry.path)),
        Input::Table(table) if table.is_only => place_in(&table.of),
        Input::Table(table) => Some(place_in(&table.of)?.join(table.name.trim_start_matches('/'))),
        Input::Stdin => None,
    }
}

/// Returns a path, which may be a pattern, relative to the session's directory.
pub(super) fn origin_of(path: &Path, session_dir: &Path) -> Option<String> {
    let (path, base) = (place_of(path), absolute(session_dir));
    let base = base.canonicalize().unwrap_or(base);
    let n_shared = path.components().zip(base.components()).take_while(|(a, b)| a == b).count();
    let up = base.components().skip(n_shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(n_shared)).collect();
    relative.to_str().map(str::to_owned)
}

/// Returns the origin of paths whose files are joined.
pub(super) fn origin_of_all(paths: &[PathBuf], session_dir: &Path) -> Option<String> {
    let origins = paths.iter().map(|it| origin_of(it, session_dir));
    Some(origins.collect::<Option<Vec<_>>>()?.join(", "))
}

/// Returns the absolute path with directory links resolved. A link to a file stays: its target changes as a
/// file does.
fn place_of(path: &Path) -> PathBuf {
    let path = absolute(path);
    let parent = path.parent().and_then(|it| it.canonicalize().ok());
    parent.zip(path.file_name()).map_or_else(|| path.clone(), |(parent, name)| parent.join(name))
}

/// Returns the absolute path without `..`.
pub(super) fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::{Input, origin};

    #[test]
    fn a_file_is_one_place_however_it_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        fs::create_dir_all(dir.join("data/a")).unwrap();
        symlink(dir.join("data"), dir.join("link")).unwrap();
        let check = |path: &str, expected: &str| {
            let found = origin(&Input::File(dir.join(path)), &dir.join(".session"));
            assert_eq!(found.as_deref(), Some(expected), "{path}");
        };
        check("data/a/x.csv", "../data/a/x.csv");
        check("data/../data/./a/x.csv", "../data/a/x.csv");
        check("link/a/x.csv", "../data/a/x.csv");
        check("gone/a/../x.csv", "../gone/x.csv");
        check(".session/x.csv", "x.csv");
        let far = origin(&Input::File("/x.csv".into()), Path::new("/a/b"));
        assert_eq!(far.as_deref(), Some("../../x.csv"));
        assert_eq!(origin(&Input::Stdin, dir), None);
    }
}
