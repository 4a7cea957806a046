//! Paths of artifacts, as people open them and as programs join them.

use std::env::current_dir;
use std::path::{Path, absolute};

use serde_json::Value;

use csv_agent_text::sanitize;

use crate::OutputOptions;

/// Returns the path of an artifact as the user would type it: relative if it is below the working
/// directory, else absolute.
pub(crate) fn shown(options: &OutputOptions, path: &str) -> String {
    let joined = options.session_dir.join(path);
    let path = absolute(&joined).unwrap_or(joined);
    let below = current_dir().ok().filter(|_| !options.abs_paths);
    let path = below.and_then(|it| path.strip_prefix(it).ok()).unwrap_or(&path);
    sanitize::one_line(&path.to_string_lossy())
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
