//! The Python into which csv-agent was installed, as a wheel.
//!
//! pip, pipx and uv put the program into `PREFIX/bin`, and the module `csv_agent` into
//! `PREFIX/lib/NAME/site-packages`. `NAME` is that of the Python, such as `python3.12`. It is usually in
//! `PREFIX/bin` too. With `--user`, it is elsewhere and finds the packages below the prefix as its user base.

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::on_path;

/// The module of the wheel, which starts the program for `python -m csv_agent`.
const MODULE: &str = "csv_agent/__main__.py";

/// A wheel of csv-agent that was installed for one version of Python.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wheel {
    /// The directory above `bin`.
    prefix: PathBuf,
    /// The file name of the Python.
    name: OsString,
}

/// A Python that may have the packages of a wheel.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WheelPython {
    pub(super) executable: PathBuf,
    /// Where it finds packages besides its own, if it is not the Python of the prefix.
    pub(super) user_base: Option<PathBuf>,
}

impl Wheel {
    /// Finds the wheels that this program belongs to, that of the newest Python first. A prefix of `--user` may
    /// have one for each version.
    pub(super) fn of(program: &Path) -> Vec<Wheel> {
        let Some(prefix) = program.parent().and_then(Path::parent) else { return Vec::new() };
        let mut names: Vec<OsString> = Vec::new();
        for directory in site_directories(prefix) {
            if let Some(name) = directory.parent().and_then(Path::file_name)
                && directory.join(MODULE).is_file()
                && !names.iter().any(|it| it == name)
            {
                names.push(name.to_owned());
            }
        }
        names.sort_by_key(|it| Reverse(minor_of(it)));
        names.into_iter().map(|name| Wheel { prefix: prefix.to_owned(), name }).collect()
    }

    /// Returns the Pythons that may have its packages, the likeliest first: the one that ran
    /// `python -m csv_agent`, the one of the prefix, and those on the PATH with the same version.
    pub(super) fn pythons(&self, launcher: Option<&Path>, path: &OsStr) -> Vec<WheelPython> {
        let bin = self.prefix.join("bin");
        let own = [self.name.as_os_str(), OsStr::new("python")];
        let own = own.into_iter().map(|it| bin.join(it)).find(|it| it.is_file());
        let all = launcher.map(Path::to_owned).into_iter().chain(own);
        let all = all.chain(on_path(&self.name, path));
        let python = |executable: PathBuf| {
            let is_own = executable.parent() == Some(&*bin);
            WheelPython { user_base: (!is_own).then(|| self.prefix.clone()), executable }
        };
        all.map(python).collect()
    }
}

/// Returns the directories of a prefix that have packages, for every version of Python.
pub(super) fn site_directories(prefix: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for lib in ["lib", "lib64"] {
        let versions = fs::read_dir(prefix.join(lib)).into_iter().flatten().flatten();
        for version in versions.filter(|it| minor_of(&it.file_name()).is_some()) {
            // Debian's own Python has the second name.
            let sites = ["site-packages", "dist-packages"];
            let sites = sites.map(|it| version.path().join(it));
            found.extend(sites.into_iter().filter(|it| it.is_dir()));
        }
    }
    found
}

/// Returns the minor version of a Python with this file name: 12 of `python3.12` and of `python3.12t`.
fn minor_of(name: &OsStr) -> Option<u32> {
    name.to_str()?.strip_prefix("python3.")?.trim_end_matches('t').parse().ok()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::path::Path;

    use tempfile::TempDir;

    use super::{Wheel, WheelPython};

    fn file(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn a_program_belongs_to_the_wheels_of_its_prefix_and_to_no_other() {
        let directory = TempDir::new().unwrap();
        let prefix = directory.path();
        for place in ["lib/python3.9", "lib64/python3.13t", "lib/python3.10", "lib/pypy3.11"] {
            file(&prefix.join(place).join("site-packages/csv_agent/__main__.py"));
        }
        file(&prefix.join("lib/python3.12/site-packages/pandas/__init__.py"));
        file(&prefix.join("lib/python3.11/dist-packages/csv_agent/__main__.py"));
        let names: Vec<_> =
            Wheel::of(&prefix.join("bin/csv-agent")).into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["python3.13t", "python3.11", "python3.10", "python3.9"]);
        assert_eq!(Wheel::of(&prefix.join("share/bin/csv-agent")), []);
        assert_eq!(Wheel::of(Path::new("/")), []);
    }

    #[test]
    fn only_a_python_elsewhere_finds_the_packages_through_a_user_base() {
        let directory = TempDir::new().unwrap();
        let prefix = directory.path();
        file(&prefix.join("lib/python3.12/site-packages/csv_agent/__main__.py"));
        file(&prefix.join("elsewhere/python3.12"));
        let path = prefix.join("elsewhere");
        let wheel = || Wheel::of(&prefix.join("bin/csv-agent")).remove(0);
        let elsewhere = |name: &str| WheelPython {
            executable: prefix.join(name),
            user_base: Some(prefix.to_owned()),
        };
        let on_path = elsewhere("elsewhere/python3.12");
        assert_eq!(wheel().pythons(None, path.as_os_str()), [on_path]);
        file(&prefix.join("bin/python"));
        file(&prefix.join("bin/python3.12"));
        let own = |name| WheelPython { executable: prefix.join(name), user_base: None };
        let launcher = prefix.join("launcher/python");
        let found = wheel().pythons(Some(&launcher), OsStr::new(""));
        assert_eq!(found, [elsewhere("launcher/python"), own("bin/python3.12")]);
        fs::remove_file(prefix.join("bin/python3.12")).unwrap();
        assert_eq!(wheel().pythons(None, OsStr::new("")), [own("bin/python")]);
    }
}
