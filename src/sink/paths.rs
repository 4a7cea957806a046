//! Paths of artifacts, as people open them and as programs join them.

use std::env::current_dir;
use std::path::{Component, Path, PathBuf, absolute};

use serde_json::Value;

use csv_agent_text::sanitize;

use crate::OutputOptions;

/// Returns the path of an artifact as the user would type it: relative if it is below the working
/// directory, else absolute. A Markdown file links relative to its own directory.
pub(crate) fn shown(options: &OutputOptions, path: &str) -> String {
    let joined = options.session_dir.join(path);
    let path = absolute(&joined).unwrap_or(joined);
    let shown = match &options.linked_from {
        _ if options.abs_paths => None,
        Some(dir) => dir.canonicalize().ok().zip(path.canonicalize().ok()).and_then(relative),
        None => current_dir().ok().and_then(|it| Some(path.strip_prefix(it).ok()?.to_owned())),
    };
    sanitize::one_line(&shown.unwrap_or(path).to_string_lossy())
}

/// Returns the way from a directory to a path, both without links. `None` if it leads through the root, where the
/// absolute path is plainer.
fn relative((dir, path): (PathBuf, PathBuf)) -> Option<PathBuf> {
    let common = dir.ancestors().find(|it| path.starts_with(it))?;
    let inner = path.strip_prefix(common).ok()?;
    let n_up = dir.strip_prefix(common).ok()?.components().count();
    let is_root = common.parent().is_none();
    (!is_root).then(|| (0..n_up).map(|_| Component::ParentDir).collect::<PathBuf>().join(inner))
}

/// Adds `abs_path` to every artifact in the JSON of an event or of a document.
pub(crate) fn add_absolute(value: &mut Value, session_dir: &Path) {
    let session_dir = absolute(session_dir).unwrap_or_else(|_| session_dir.to_owned());
    add(value, &session_dir);
}

fn add(value: &mut Value, session_dir: &Path) {
    let Some(object) = value.as_object_mut() else { return };
    for member in ["artifact", "files", "tables", "charts", "result"] {
        match object.get_mut(member) {
            Some(Value::Array(items)) => items.iter_mut().for_each(|it| add(it, session_dir)),
            Some(item) => add(item, session_dir),
            None => {}
        }
    }
    if object.contains_key("sha256")
        && let Some(path) = object.get("path").and_then(Value::as_str)
    {
        let abs_path = session_dir.join(path).to_string_lossy().into_owned();
        object.insert("abs_path".into(), Value::String(abs_path));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::relative;

    #[track_caller]
    fn check(dir: &str, path: &str, way: Option<&str>) {
        let found = relative((dir.into(), path.into()));
        assert_eq!(found.as_deref(), way.map(Path::new));
    }

    #[test]
    fn the_way_goes_up_to_what_both_have_in_common() {
        check("/home/a", "/home/a/charts/x.svg", Some("charts/x.svg"));
        check("/home/a/reports/2025", "/home/a/charts/x.svg", Some("../../charts/x.svg"));
        check("/home/ab", "/home/a/x.svg", Some("../a/x.svg"));
        check("/home", "/tmp/x.svg", None);
    }
}
