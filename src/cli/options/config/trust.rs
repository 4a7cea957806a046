//! The projects that the user trusts.

use std::path::{Path, PathBuf};

use csv_agent_session::directory::NAME;

/// Returns whether the user trusts `dir`: it is listed, a session in it belongs to a listed directory, or a
/// directory above it is listed as `DIR/*`.
pub(super) fn is_trusted(dir: &Path, trusted: &[PathBuf]) -> bool {
    let Ok(dir) = dir.canonicalize() else { return false };
    let project = match dir.parent() {
        Some(parent) if dir.ends_with(NAME) => parent,
        _ => &dir,
    };
    trusted.iter().any(|it| match it.file_name() {
        Some(name) if name == "*" => {
            let above = it.parent().and_then(|it| it.canonicalize().ok());
            above.is_some_and(|above| project != above && project.starts_with(above))
        }
        _ => it.canonicalize().is_ok_and(|it| it == project || it == dir),
    })
}

#[cfg(test)]
mod tests {
    use super::is_trusted;

    #[test]
    fn a_project_is_trusted_by_name_and_with_its_session() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a"), root.path().join("b"));
        for dir in [&a.join(".csv-agent"), &b.join("c")] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let listed = [a.clone()];
        assert!(is_trusted(&a, &listed));
        assert!(is_trusted(&a.join(".csv-agent"), &listed));
        assert!(!is_trusted(&b, &listed));
        assert!(!is_trusted(&b.join("c"), std::slice::from_ref(&b)), "only the directory itself");
        assert!(is_trusted(&b.join("c"), &[b.join("*")]));
        assert!(!is_trusted(&b, &[b.join("*")]));
        assert!(!is_trusted(&root.path().join("nowhere"), &[root.path().join("nowhere")]));
    }
}
