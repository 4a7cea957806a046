//! Which Python the worker uses, and the managed environment with its packages.
//!
//! Where csv-agent was installed as a wheel, the Python of the wheel has the packages.
//!
//! The managed environment is created once and shared by every session. It is complete when its marker
//! exists, which is written last. The creator holds a lock, so two processes create it once. Rarely
//! needed packages, such as the Spark client, are added on first use, with their own marker.

mod wheel;

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs::{self, DirBuilder, DirEntry, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use rustix::fs::OFlags;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::select;
use tokio::time::{Instant, interval_at, sleep, timeout};

use csv_agent_types::event::{SETTING_UP, SETUP_DONE};
use csv_agent_types::limits::{PYTHON_PROBE, PYTHON_SETUP};
use csv_agent_types::named_file;
use csv_agent_types::status::Failure;
use csv_agent_types::writers::Writers;

use wheel::{Wheel, WheelPython, site_directories};

/// Package versions for a range of Python 3 minor versions. Their dependencies are pinned as well.
struct Pins {
    minors: std::ops::RangeInclusive<u32>,
    packages: &'static [&'static str],
}

/// Newest first. numpy before 2.3.4 may return zeros when memory runs out, but 3.10 has no newer one.
const PINS: [Pins; 2] = [
    Pins {
        minors: 11..=14,
        packages: &[
            "pandas==3.1.1",
            "numpy==2.4.6",
            "pyarrow==26.0.1",
            "cloudpickle==3.1.3",
            "et_xmlfile==2.0.0",
            "formulaic==1.2.2",
            "interface_meta==2.0.1",
            "joblib==1.6.0",
            "narwhals==2.29.0",
            "openpyxl==3.1.5",
            "packaging==26.3",
            "patsy==1.0.3",
            "python-dateutil==4.0.0",
            "scikit-learn==1.9.1",
            "scipy==1.17.1",
            "statsmodels==0.15.0",
            "threadpoolctl==3.8.0",
            "typing_extensions==4.16.0",
            "tzdata==2026.6",
            "wrapt==2.5.2",
        ],
    },
    Pins {
        minors: 10..=10,
        packages: &[
            "pandas==2.3.3",
            "numpy==2.2.6",
            "pyarrow==25.0.1",
            "cloudpickle==3.1.3",
            "et_xmlfile==2.0.0",
            "formulaic==1.2.2",
            "interface_meta==2.0.1",
            "joblib==1.6.0",
            "narwhals==2.29.0",
            "openpyxl==3.1.5",
            "packaging==26.3",
            "patsy==1.0.3",
            "python-dateutil==3.0.0",
            "pytz==2026.6",
            "scikit-learn==1.7.2",
            "scipy==1.15.3",
            "six==1.17.0",
            "statsmodels==0.15.0",
            "threadpoolctl==3.8.0",
            "typing_extensions==4.16.0",
            "tzdata==2026.6",
            "wrapt==2.5.2",
        ],
    },
];

/// What analysts import in addition to the packages that the worker needs: the name of each package and
/// of its module. The managed environment contains them all.
const ANALYSIS: [(&str, &str); 4] = [
    ("scipy", "scipy"),
    ("statsmodels", "statsmodels"),
    ("scikit-learn", "sklearn"),
    ("openpyxl", "openpyxl"),
];

/// The Spark client and its dependencies. Installing them leaves the other packages unchanged.
///
/// The first is pure Python, published only as source; the others are its dependencies, with wheels for
/// every Python of [`PINS`].
const SPARK: [&str; 8] = [
    "pyspark-client==4.2.0",
    "grpcio==1.85.1",
    "grpcio-status==1.85.1",
    "googleapis-common-protos==1.76.0",
    "protobuf==7.36.2",
    "pyyaml==6.0.3",
    "typing-extensions==4.16.0",
    "zstandard==0.25.0",
];

/// Names that a Python on the PATH may have, the usual one first.
const PYTHONS: [&str; 6] =
    ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];
/// Reports what a Python is and contains. It imports only the standard library.
const PROBE: &str = "import json, sys
from importlib.util import find_spec
def spark():
    from importlib.metadata import PackageNotFoundError, version
    for name in ('pyspark-client', 'pyspark', 'pyspark-connect'):
        try:
            return version(name)
        except PackageNotFoundError:
            pass
print(json.dumps({
    'minor': sys.version_info[1] if sys.version_info[0] == 3 else 0,
    'is_cpython': sys.implementation.name == 'cpython',
    'executable': sys.executable,
    'base': getattr(sys, '_base_executable', None) or sys.executable,
    'missing': [it for it in ('pandas', 'numpy', 'pyarrow') if find_spec(it) is None],
    'analysis': [it for it in sys.argv[1:] if find_spec(it)],
    'spark': spark() if find_spec('grpc') and find_spec('grpc_status') else None,
    'can_make': all(find_spec(it) for it in ('venv', 'ensurepip')),
}))";
/// The file that marks an environment as complete. It contains the path of the Python that created it.
const MARKER: &str = "complete";
/// The file that marks the Spark client as complete. It contains the packages.
const SPARK_MARKER: &str = "complete-spark";
/// The oldest client whose internal names the worker knows.
const SPARK_MIN: [u32; 2] = [4, 2];
/// Interval between progress messages during a long step.
const TICK: Duration = Duration::from_secs(3);
/// Names on the way to a path, those of links included.
const STEPS_MAX: usize = 1_000;
/// How long a lock may be held before that is told.
const LOCK_MOMENT: Duration = Duration::from_millis(300);
/// Bytes of a step's output kept for the error message.
const STEP_OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// What a Python needs, as shown to people.
const PACKAGES: &str = "pandas, numpy and pyarrow";
/// The same with the Spark client.
const PACKAGES_AND_SPARK: &str = "pandas, numpy, pyarrow and pyspark-client with what it needs";

/// Where to look for Python, according to csv-agent's environment.
#[derive(Debug, Clone, Default)]
pub struct PythonOptions {
    /// The one that the user named, and no other.
    pub python: Option<PathBuf>,
    /// Where the user named it: `CSV_AGENT_PYTHON`, or the setting of a file.
    pub named_by: String,
    /// The path of csv-agent itself, without links: a wheel has its Python near it.
    pub program: Option<PathBuf>,
    /// `CSV_AGENT_LAUNCHER`: the Python that runs `python -m csv_agent`.
    pub launcher: Option<PathBuf>,
    /// `VIRTUAL_ENV`: used when it has the packages.
    pub virtual_env: Option<PathBuf>,
    /// Where the managed environment is, or will be created; empty if the user has no directory for it.
    pub cache_dir: PathBuf,
    /// Additional packages of the managed environment, in pip's syntax: `lifelines`, `prophet>=1.1`.
    pub packages: Vec<String>,
    /// `PATH`, to find a Python to create it with.
    pub path: OsString,
    /// Variables for pip only: `PIP_*`, proxies, certificates, `HOME` for its configuration.
    pub pip_env: Vec<(OsString, OsString)>,
}

/// What a Python must have in addition to the packages that every session needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// The Spark client, for datasets on a cluster.
    pub spark: bool,
}

/// A Python that has the packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// The absolute path, not resolved: in a virtual environment it is the link that makes it one.
    pub executable: PathBuf,
    /// Why this one.
    pub origin: PythonOrigin,
    /// The directory that it takes as its user base (PEP 370), if packages of `pip install --user` are used.
    pub user_base: Option<PathBuf>,
    /// What it contains.
    pub packages: Packages,
}

/// The packages of a Python that the model is informed of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packages {
    /// Those in addition to pandas, numpy and pyarrow.
    pub there: Vec<String>,
    /// The analysis packages that it lacks.
    pub missing: Vec<&'static str>,
}

impl Packages {
    /// The packages of the managed environment.
    fn managed(options: &PythonOptions) -> Packages {
        let analysis = ANALYSIS.map(|(name, _)| name.to_owned());
        let more = options.packages.iter().map(|it| name_of(it).to_owned());
        Packages { there: analysis.into_iter().chain(more).collect(), missing: Vec::new() }
    }

    /// The packages of another Python.
    fn of(probe: &Probe) -> Packages {
        let has = |module: &str| probe.analysis.iter().any(|it| it == module);
        let (there, missing): (Vec<_>, Vec<_>) =
            ANALYSIS.into_iter().partition(|(_, module)| has(module));
        Packages {
            there: there.into_iter().map(|(name, _)| name.to_owned()).collect(),
            missing: missing.into_iter().map(|(name, _)| name).collect(),
        }
    }

    /// Lists what can be imported.
    pub fn listed(&self) -> String {
        let needed = ["pandas", "numpy", "pyarrow"].into_iter();
        needed.chain(self.there.iter().map(String::as_str)).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the name in a pip requirement: `prophet` of `prophet[plot]>=1.1`.
fn name_of(package: &str) -> &str {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    package.split(|it| !is_of_name(it)).next().unwrap_or_default()
}

/// What a running Python reads, besides system libraries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonFiles {
    /// Its directories and files and those of its packages, with no link in their paths.
    pub reads: Vec<PathBuf>,
    /// Links in the path from its name to them.
    pub links: Vec<PathBuf>,
}

impl Interpreter {
    fn of(probe: Probe, origin: PythonOrigin) -> Interpreter {
        let packages = Packages::of(&probe);
        Interpreter { executable: probe.executable, origin, user_base: None, packages }
    }

    /// Returns what must be readable where this Python runs.
    ///
    /// # Errors
    ///
    /// Fails when the executable cannot be found.
    pub fn files(&self) -> io::Result<PythonFiles> {
        // `PREFIX/bin/python`: of a virtual environment, and of the Python that created it.
        let prefix = |it: &Path| it.parent().and_then(Path::parent).map(Path::to_owned);
        let (mut links, real) = resolve(&self.executable)?;
        let mut prefixes = Vec::from_iter(prefix(&real));
        let environment = prefix(&self.executable);
        if let Some(environment) = environment.filter(|it| it.join("pyvenv.cfg").is_file()) {
            let (more_links, environment) = resolve(&environment)?;
            links.extend(more_links);
            prefixes.push(environment);
        }
        let mut reads = Vec::new();
        // A Python with prefix `/` needs only system files from there.
        for prefix in prefixes.iter().filter(|it| it.parent().is_some()) {
            // An environment may be a project's directory, with everything in the project.
            for name in ["bin", "include", "lib", "lib64", "pyvenv.cfg", "share"] {
                let path = prefix.join(name);
                match path.symlink_metadata() {
                    Ok(found) if found.is_symlink() => links.push(path),
                    Ok(_) => reads.push(path),
                    Err(_) => {}
                }
            }
        }
        if let Some(user_base) = &self.user_base {
            let (more_links, user_base) = resolve(user_base)?;
            links.extend(more_links);
            // What else is below `~/.local` is private.
            reads.extend(site_directories(&user_base));
        }
        Ok(PythonFiles { reads, links })
    }
}

/// Returns the links in a path and the path that it resolves to.
fn resolve(path: &Path) -> io::Result<(Vec<PathBuf>, PathBuf)> {
    /// As many as the kernel follows.
    const LINKS_MAX: usize = 40;
    let mut links = Vec::new();
    let mut real = PathBuf::new();
    let mut rest: Vec<OsString> = names_of(path);
    while let Some(name) = rest.pop() {
        if name == ".." {
            real.pop();
            continue;
        }
        real.push(name);
        if real.symlink_metadata()?.is_symlink() {
            if links.len() == LINKS_MAX {
                return Err(io::Error::other("too many links"));
            }
            let target = fs::read_link(&real)?;
            links.push(real.clone());
            real.pop();
            rest.extend(names_of(&target));
        }
    }
    Ok((links, real))
}

/// The components of a path, last first, including the root of an absolute path.
fn names_of(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|it| it.as_os_str().to_owned()).collect()
}

/// Why a Python was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PythonOrigin {
    /// The user named it.
    Given,
    /// csv-agent was installed with it, as a wheel.
    Wheel,
    /// It belongs to the active virtual environment.
    VirtualEnv,
    /// csv-agent created it.
    Managed,
}

/// What a Python reports about itself.
#[derive(Debug, Deserialize)]
struct Probe {
    minor: u32,
    is_cpython: bool,
    executable: PathBuf,
    base: PathBuf,
    missing: Vec<String>,
    /// Modules of [`ANALYSIS`] that it has.
    #[serde(default)]
    analysis: Vec<String>,
    /// The version of the Spark client.
    #[serde(default)]
    spark: Option<String>,
    can_make: bool,
}

/// Finds the Python to run: the named one, else that of csv-agent's wheel or an active virtual environment,
/// if it has the packages and the extras, else the managed environment. That one is created, or given the
/// extras, when they are missing, unless csv-agent was installed as a wheel.
///
/// `progress` receives a sentence at each setup step, and one every few seconds within a step. When the
/// environment exists, no process starts and `progress` stays silent.
///
/// # Errors
///
/// Fails with a [`Failure`] of status `FailureKind::Sandbox` when the named Python or that of the wheel
/// lacks a package, when there is no Python to create an environment with, and when pip cannot install the
/// packages.
pub async fn prepare(
    options: &PythonOptions,
    extras: Extras,
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<Interpreter> {
    if let Some(interpreter) = find(options, extras).await? {
        return Ok(interpreter);
    }
    let made = managed(options, Extras::default())?;
    if made.is_none()
        && let Some(failure) = incomplete_wheel(options, extras).await
    {
        return Err(failure.into());
    }
    let directory = match made {
        Some(made) => made,
        None => make(&find_base(options).await?, options, progress).await?,
    };
    if extras.spark {
        add_spark(&directory, options, progress).await?;
    }
    Ok(interpreter_in(&directory, options))
}

/// Finds the Python to run as [`prepare`] does, but creates the managed environment also beside a wheel that was
/// installed without its packages.
///
/// # Errors
///
/// Fails as [`prepare`] does.
pub async fn set_up(
    options: &PythonOptions,
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<Interpreter> {
    if let Some(interpreter) = find(options, Extras::default()).await? {
        return Ok(interpreter);
    }
    let directory = make(&find_base(options).await?, options, progress).await?;
    Ok(interpreter_in(&directory, options))
}

/// Removes the managed environments. Returns the directories.
///
/// # Errors
///
/// Fails when others could have written there, another process is creating one, or one cannot be removed.
pub async fn remove(
    options: &PythonOptions,
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<Vec<PathBuf>> {
    demand_ours(cache_dir(options)?)?;
    let mut removed = Vec::new();
    for directory in environments(options) {
        let context = || format!("cannot remove {}", directory.display());
        let _lock = lock(&directory.with_added_extension("lock"), progress).await?;
        // Without its marker, it is made anew even if only a part can be removed.
        for file in [directory.join(MARKER), directory.with_added_extension("txt")] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error).with_context(context);
                }
                _ => {}
            }
        }
        fs::remove_dir_all(&directory).with_context(context)?;
        removed.push(directory);
    }
    Ok(removed)
}

/// Returns the directories of all managed environments, complete or not.
pub(crate) fn environments(options: &PythonOptions) -> Vec<PathBuf> {
    let entries = fs::read_dir(&options.cache_dir).into_iter().flatten().flatten();
    let is_one = |it: &DirEntry| {
        let is_directory = it.file_type().is_ok_and(|it| it.is_dir());
        is_directory && it.file_name().as_encoded_bytes().starts_with(b"python-3.")
    };
    let mut found: Vec<PathBuf> = entries.filter(is_one).map(|it| it.path()).collect();
    found.sort();
    found
}

/// Returns the packages of the Python that will run, whether it exists yet or not.
///
/// # Errors
///
/// Fails when there is no Python, and none to create an environment with. A named one that cannot be used fails when it
/// is to run.
pub async fn packages(options: &PythonOptions) -> anyhow::Result<Packages> {
    match find(options, Extras::default()).await {
        Ok(Some(found)) => return Ok(found.packages),
        Ok(None) => match incomplete_wheel(options, Extras::default()).await {
            Some(failure) => return Err(failure.into()),
            None => drop(find_base(options).await?),
        },
        Err(_) => {}
    }
    Ok(Packages::managed(options))
}

/// Finds the Python to run as [`prepare`] does, but does not create one.
///
/// # Errors
///
/// Fails when the named Python cannot be used.
pub async fn find(options: &PythonOptions, extras: Extras) -> anyhow::Result<Option<Interpreter>> {
    if let Some(python) = &options.python {
        return given(python, options, extras).await.map(Some);
    }
    for python in wheel_pythons(options) {
        let WheelPython { executable, user_base } = &python;
        if let Ok(probe) = probe(executable, user_base.as_deref(), options).await
            && lacks(&probe, extras).is_none()
        {
            let found = Interpreter::of(probe, PythonOrigin::Wheel);
            return Ok(Some(Interpreter { user_base: python.user_base, ..found }));
        }
    }
    if let Some(directory) = &options.virtual_env
        && let Ok(probe) = probe(&directory.join("bin/python"), None, options).await
        && lacks(&probe, extras).is_none()
    {
        return Ok(Some(Interpreter::of(probe, PythonOrigin::VirtualEnv)));
    }
    Ok(managed(options, extras)?.map(|it| interpreter_in(&it, options)))
}

/// Returns whether the first call of [`prepare`] creates the managed environment. Starts no process: an active virtual
/// environment counts as one that has the packages.
pub fn will_be_made(options: &PythonOptions) -> bool {
    options.python.is_none()
        && options.virtual_env.is_none()
        && wheel_pythons(options).is_empty()
        && managed(options, Extras::default()).is_ok_and(|it| it.is_none())
}

/// Returns the Pythons that may have the packages of csv-agent's wheel. There are none where csv-agent was not
/// installed as one.
fn wheel_pythons(options: &PythonOptions) -> Vec<WheelPython> {
    let wheels = options.program.as_deref().map(Wheel::of).unwrap_or_default();
    let pythons = wheels.iter().map(|it| it.pythons(options.launcher.as_deref(), &options.path));
    pythons.flatten().collect()
}

/// Says what the Python of csv-agent's wheel lacks, if csv-agent was installed as one. Who left the packages out did
/// not ask for an environment of 700 MB.
async fn incomplete_wheel(options: &PythonOptions, extras: Extras) -> Option<Failure> {
    let WheelPython { executable, user_base } = wheel_pythons(options).into_iter().next()?;
    let name = executable.display();
    let fault = match probe(&executable, user_base.as_deref(), options).await {
        Err(reason) => format!("which cannot be run: {reason}"),
        Ok(probe) => lacks(&probe, extras)?,
    };
    let requirement = if extras.spark { "csv-agent[spark]" } else { "csv-agent" };
    let message = format!("csv-agent is installed in the Python `{name}`, {fault}");
    let hint = format!(
        "install what is missing with `{name} -m pip install '{requirement}'`, or run `csv-agent setup` to make a \
         Python environment, or set CSV_AGENT_PYTHON to a Python that has {PACKAGES}"
    );
    Some(Failure::sandbox(message).hint(hint))
}

async fn given(
    python: &Path,
    options: &PythonOptions,
    extras: Extras,
) -> anyhow::Result<Interpreter> {
    let name = python.display();
    let found = match python.components().count() {
        1 => on_path(python.as_os_str(), &options.path).next(),
        _ => Some(python.to_owned()),
    };
    let (fault, can_install) = match found {
        None => ("which is not on the PATH".to_owned(), false),
        Some(python) => match probe(&python, None, options).await {
            Err(reason) => (format!("which cannot be run: {reason}"), false),
            Ok(probe) => {
                let is_recent = 10 <= probe.minor && probe.is_cpython;
                let Some(lack) = lacks(&probe, extras) else {
                    return Ok(Interpreter::of(probe, PythonOrigin::Given));
                };
                (lack, is_recent)
            }
        },
    };
    let named_by = &options.named_by;
    let message = format!("{named_by} is `{name}`, {fault}");
    let packages = ["pandas", "numpy", "pyarrow"].into_iter();
    // The versions that match the pinned client; its own requirements do not fix them.
    let packages: Vec<_> = packages.chain(SPARK.into_iter().filter(|_| extras.spark)).collect();
    let repair = if can_install {
        format!("install what is missing with `{name} -m pip install {}`", packages.join(" "))
    } else {
        format!("name a Python that has {}", packages.join(", "))
    };
    let hint = format!("{repair}, or unset {named_by} to use the managed environment");
    Err(Failure::sandbox(message).hint(hint).into())
}

/// Returns what a Python lacks to run the worker.
fn lacks(probe: &Probe, extras: Extras) -> Option<String> {
    if probe.minor < 10 || !probe.is_cpython {
        return Some("which is not CPython 3.10 or newer".to_owned());
    }
    if !probe.missing.is_empty() {
        return Some(format!("which lacks {}", probe.missing.join(", ")));
    }
    let [major, minor] = SPARK_MIN;
    match &probe.spark {
        _ if !extras.spark => None,
        None => Some("which lacks pyspark-client, for datasets on a cluster".to_owned()),
        Some(version) if has_spark(version) => None,
        Some(version) => Some(format!(
            "which has the Spark client {version}; {major}.{minor} or newer is needed for datasets on a cluster"
        )),
    }
}

fn has_spark(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|it| it.parse::<u32>().ok());
    [numbers.next(), numbers.next()] >= SPARK_MIN.map(Some)
}

/// Returns the managed environment that is ready; of several, the one with the newest Python.
///
/// Its code runs unconfined, so no one else may have written there.
fn managed(options: &PythonOptions, extras: Extras) -> anyhow::Result<Option<PathBuf>> {
    demand_ours(cache_dir(options)?)?;
    let all = PINS.iter().flat_map(|pins| pins.minors.clone().rev().map(move |it| (pins, it)));
    let mut all = all.map(|(pins, minor)| directory(options, pins, minor));
    let found = all.find(|it| is_complete(it) && (!extras.spark || has_spark_client(it)));
    found.as_deref().map_or(Ok(()), demand_ours)?;
    Ok(found)
}

/// Returns the directory of the managed environments.
fn cache_dir(options: &PythonOptions) -> anyhow::Result<&Path> {
    if options.cache_dir.as_os_str().is_empty() {
        let message = "cannot tell where Python's packages are kept: neither `HOME` nor `XDG_CACHE_HOME` is set";
        return Err(Failure::setup(message).hint("set one of them").into());
    }
    Ok(&options.cache_dir)
}

/// Requires that only this user and root could have written in a directory, if it exists. For root, no directory
/// above it and no link on the way may belong to another user, who could put another one in its place.
fn demand_ours(directory: &Path) -> anyhow::Result<()> {
    let is_root = rustix::process::geteuid().is_root();
    let check = |path: &Path, found: &Metadata| {
        let writers = Writers::from(found);
        let is_itself = path == directory;
        let others = match () {
            () if is_itself => writers.others(),
            // What is above often belongs to a group, a project or a volume. Only root has more to lose there than
            // its owner could take anyway.
            () if is_root && !is_unmapped(found) => writers.other_owner(),
            () => None,
        };
        match others {
            Some(reason) if is_itself => Err(no_place(directory, reason)),
            Some(reason) => Err(no_place(directory, format!("`{}`: {reason}", path.display()))),
            None => Ok(()),
        }
    };
    match visit(directory, check) {
        Ok(checked) => Ok(checked?),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(())
        }
        Err(error) => Err(no_place(directory, error).into()),
    }
}

/// Returns whether the owner has no number in this user namespace, as root of the host has in a container.
fn is_unmapped(found: &Metadata) -> bool {
    const OVERFLOW_UID: u64 = 65_534;
    let Ok(map) = fs::read_to_string("/proc/self/uid_map") else { return false };
    let is_mapped = map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        matches!(numbers[..], [first, _, n] if (first..first + n).contains(&OVERFLOW_UID))
    });
    !is_mapped && u64::from(found.uid()) == OVERFLOW_UID
}

/// Calls `check` for each directory and link on the way to a path, and for the path itself.
fn visit(
    path: &Path,
    mut check: impl FnMut(&Path, &Metadata) -> Result<(), Failure>,
) -> io::Result<Result<(), Failure>> {
    let mut real = PathBuf::new();
    let mut rest = names_of(path);
    for _ in 0..STEPS_MAX {
        let Some(name) = rest.pop() else { return Ok(Ok(())) };
        if name == ".." {
            real.pop();
            continue;
        }
        real.push(name);
        let found = real.symlink_metadata()?;
        let shown = if rest.is_empty() && !found.is_symlink() { path } else { &real };
        if let Err(refused) = check(shown, &found) {
            return Ok(Err(refused));
        }
        if found.is_symlink() {
            let target = fs::read_link(&real)?;
            real.pop();
            rest.extend(names_of(&target));
        }
    }
    Err(io::Error::other("too many links"))
}

fn interpreter_in(directory: &Path, options: &PythonOptions) -> Interpreter {
    Interpreter {
        executable: directory.join("bin/python"),
        origin: PythonOrigin::Managed,
        user_base: None,
        packages: Packages::managed(options),
    }
}

/// Returns the directory of the environment of these packages; other packages have another directory.
fn directory(options: &PythonOptions, pins: &Pins, minor: u32) -> PathBuf {
    let more = options.packages.iter().map(String::as_str);
    let packages: Vec<&str> = pins.packages.iter().copied().chain(more).collect();
    let digest = Sha256::digest(packages.join("\n"));
    let hash = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    options.cache_dir.join(format!("python-3.{minor}-{hash:08x}"))
}

/// Returns whether an environment is complete and the Python that created it still exists.
fn is_complete(directory: &Path) -> bool {
    let base = fs::canonicalize(directory.join("bin/python"));
    let marker = fs::read_to_string(directory.join(MARKER));
    matches!((base, marker), (Ok(base), Ok(marker)) if base.to_str() == Some(marker.as_str()))
}

/// Returns whether the Spark client in an environment is complete.
fn has_spark_client(directory: &Path) -> bool {
    fs::read_to_string(directory.join(SPARK_MARKER)).is_ok_and(|it| it == SPARK.join("\n"))
}

/// Returns the executables of that name on a PATH, in order.
fn on_path(name: &OsStr, path: &OsStr) -> impl Iterator<Item = PathBuf> {
    let directories: Vec<_> = std::env::split_paths(path).collect();
    directories.into_iter().map(move |it| it.join(name)).filter(|it| it.is_file())
}

/// Returns a Python to create an environment with. The first on the PATH may be a broken shim, too old,
/// or without `venv`, so the others are probed as well.
async fn find_base(options: &PythonOptions) -> anyhow::Result<Probe> {
    let mut refused = Vec::new();
    for name in PYTHONS {
        for python in on_path(OsStr::new(name), &options.path) {
            let shown = python.display();
            match probe(&python, None, options).await {
                Err(reason) => refused.push(format!("{shown} does not run ({reason})")),
                Ok(probe) if pins_of(&probe).is_none() => {
                    refused.push(format!("{shown} is not CPython 3.10 to 3.14"));
                }
                Ok(probe) if !probe.can_make => {
                    refused.push(format!("{shown} has no `venv` or `ensurepip`"));
                }
                Ok(probe) => return Ok(probe),
            }
        }
    }
    let found = if refused.is_empty() { "none was found".to_owned() } else { refused.join("; ") };
    let message = format!("csv-agent needs a Python 3.10 to 3.14 with `venv` on the PATH: {found}");
    let hint = format!(
        "install one (Debian and Ubuntu: `apt install python3-venv`), or {}",
        ways_out(PACKAGES)
    );
    Err(Failure::sandbox(message).hint(hint).into())
}

fn pins_of(probe: &Probe) -> Option<&'static Pins> {
    PINS.iter().find(|it| probe.is_cpython && it.minors.contains(&probe.minor))
}

/// Asks a Python what it is and contains, with the packages of a user base if there is one.
async fn probe(
    python: &Path,
    user_base: Option<&Path>,
    options: &PythonOptions,
) -> Result<Probe, String> {
    let mut command = Command::new(python);
    command.env_clear().env("PATH", &options.path);
    match user_base {
        None => drop(command.arg("-I")),
        // `-I` would leave out the user base. Without it, modules of the current directory would be imported.
        Some(base) => drop(command.env("PYTHONUSERBASE", base).current_dir("/")),
    }
    command.args(["-B", "-c", PROBE]).args(ANALYSIS.map(|(_, module)| module));
    command.envs(options.pip_env.iter().filter(|(name, _)| name == "HOME").cloned());
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = match timeout(PYTHON_PROBE, command.output()).await {
        Err(_) => return Err(format!("no answer within {} s", PYTHON_PROBE.as_secs())),
        Ok(Err(error)) => return Err(named_file::reason(python, &error)),
        Ok(Ok(output)) => output,
    };
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(last_lines(&text, 1).unwrap_or_else(|| output.status.to_string()));
    }
    serde_json::from_slice(&output.stdout).map_err(|_| "it is not Python".to_owned())
}

/// Says what to do when Python's packages cannot be stored.
fn no_place(directory: &Path, reason: impl Display) -> Failure {
    let shown = directory.display();
    let message = format!("cannot keep Python's packages in `{shown}`: {reason}");
    let hint = "set `XDG_CACHE_HOME` to a directory of yours, or set `CSV_AGENT_PYTHON` to a Python \
                that has pandas, numpy and pyarrow";
    Failure::sandbox(message).hint(hint)
}

/// Creates the managed environment, or waits for another process that is creating it.
async fn make(
    base: &Probe,
    options: &PythonOptions,
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<PathBuf> {
    let pins =
        pins_of(base).context("csv-agent has no list of packages for this version of Python")?;
    let directory = directory(options, pins, base.minor);
    private_directory(cache_dir(options)?)?;
    demand_ours(&options.cache_dir)?;
    let lock = lock(&directory.with_added_extension("lock"), progress).await?;
    if !is_complete(&directory) {
        if directory.exists() {
            fs::remove_dir_all(&directory)
                .with_context(|| format!("cannot remove {}", directory.display()))?;
        }
        private_directory(&directory)?;
        let mut venv = Command::new(&base.base);
        venv.args(["-I", "-m", "venv"]).arg(&directory);
        let what = format!("{SETTING_UP}: creating an environment with Python 3.{}", base.minor);
        step(venv, (&what, PACKAGES), &lock, options, progress).await?;

        let versions = directory.with_added_extension("txt");
        let kept = fs::read_to_string(&versions).ok().filter(|_| !options.packages.is_empty());
        let mut pip = pip_install(&directory);
        match &kept {
            Some(kept) => pip.args(kept.lines()),
            None => pip.args(pins.packages).args(&options.packages),
        };
        let named = options.packages.iter().map(String::as_str);
        let named: Vec<&str> = pins.packages[..3].iter().copied().chain(named).collect();
        let what = format!("{SETTING_UP}: installing {}", listed(&named));
        step(pip, (&what, PACKAGES), &lock, options, progress).await?;
        if kept.is_none() && !options.packages.is_empty() {
            let mut pip = Command::new(directory.join("bin/python"));
            pip.args(["-I", "-m", "pip", "freeze", "--disable-pip-version-check"]);
            let what = format!("{SETTING_UP}: recording the versions");
            let versions_there = step(pip, (&what, PACKAGES), &lock, options, progress).await?;
            keep(&versions, &versions_there)?;
        }
        let base = fs::canonicalize(directory.join("bin/python"))?;
        keep(&directory.join(MARKER), base.as_os_str().as_encoded_bytes())?;
        progress(SETUP_DONE);
    }
    Ok(directory)
}

/// Creates a directory with its parents, unless it exists.
fn private_directory(path: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| no_place(path, error).into())
}

/// Adds the Spark client to the managed environment, or waits for another process that is adding it.
///
/// Workers of other sessions may be using it: no existing file is changed or removed.
async fn add_spark(
    directory: &Path,
    options: &PythonOptions,
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<()> {
    let lock = lock(&directory.with_added_extension("lock"), progress).await?;
    if has_spark_client(directory) {
        return Ok(());
    }
    let mut pip = pip_install(directory);
    // An earlier attempt may have been interrupted: rewrite what it left of a package.
    pip.args(["--no-binary", "pyspark-client", "--no-deps", "--ignore-installed"]).args(SPARK);
    let what = format!("installing the Spark client, only once: {}", listed(&SPARK[..2]));
    step(pip, (&what, PACKAGES_AND_SPARK), &lock, options, progress).await?;
    keep(&directory.join(SPARK_MARKER), SPARK.join("\n").as_bytes())?;
    progress("the Spark client is ready");
    Ok(())
}

fn pip_install(directory: &Path) -> Command {
    let mut pip = Command::new(directory.join("bin/python"));
    pip.args(["-I", "-m", "pip", "install", "--only-binary", ":all:", "--no-input"]);
    pip.args(["--disable-pip-version-check", "--progress-bar", "off", "--compile"]);
    pip
}

fn listed(packages: &[&str]) -> String {
    let names: Vec<_> = packages.iter().map(|it| it.replace("==", " ")).collect();
    names.join(", ")
}

/// Takes the lock, and reports when another process holds it. Closing the file releases it.
async fn lock(path: &Path, progress: &mut (dyn FnMut(&str) + Send)) -> anyhow::Result<File> {
    let context = || format!("cannot lock {}", path.display());
    let mut open = OpenOptions::new();
    open.read(true).write(true).create(true).truncate(false);
    open.mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    let lock = open.open(path).with_context(context)?;
    let start = Instant::now();
    // A child process that is just starting holds the lock for a moment.
    let mut tell_at = start + LOCK_MOMENT;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(error)) => return Err(error).with_context(context),
            Err(TryLockError::WouldBlock) => {}
        }
        let waited = start.elapsed();
        if PYTHON_SETUP < waited {
            let message = format!("another process has held {} for 15 minutes", path.display());
            let hint = "end that process and try again";
            return Err(Failure::sandbox(message).hint(hint).into());
        }
        if tell_at <= Instant::now() {
            let seconds = waited.as_secs();
            progress(&format!("waiting for another csv-agent to set up Python ({seconds} s)"));
            tell_at += TICK;
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// Runs one setup step for these packages and reports progress every few seconds. Returns its output,
/// only the end if that is long.
async fn step(
    mut command: Command,
    (what, packages): (&str, &str),
    lock: &File,
    options: &PythonOptions,
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<Vec<u8>> {
    progress(what);
    command.env_clear().env("PATH", &options.path).envs(options.pip_env.iter().cloned());
    // The lock file is empty, so it serves as empty input. The child must hold the lock as long as the
    // step runs, even if this process is killed first: two steps in one directory must not mix.
    command.stdin(lock.try_clone()?).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().context("cannot start Python")?;
    let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
        unreachable!("the command asks for both pipes");
    };
    let start = Instant::now();
    let mut tick = interval_at(start + TICK, TICK);
    let mut text = Vec::new();
    let (mut out, mut err) = ([0; 4096], [0; 4096]);
    let (mut out_open, mut err_open) = (true, true);
    while out_open || err_open {
        // Reads that lose are cancel safe: they have consumed nothing.
        select! {
            read = stdout.read(&mut out), if out_open => out_open = take(read, &out, &mut text),
            read = stderr.read(&mut err), if err_open => err_open = take(read, &err, &mut text),
            _ = tick.tick() => {
                let elapsed = start.elapsed();
                if PYTHON_SETUP < elapsed {
                    child.kill().await?;
                }
                progress(&format!("{what} ({} s)", elapsed.as_secs()));
            }
        }
    }
    let status = child.wait().await?;
    if status.success() {
        return Ok(text);
    }
    let text = String::from_utf8_lossy(&text);
    let said = last_lines(&text, 3).unwrap_or_else(|| status.to_string());
    let message = format!("{what} failed: {said}");
    let more = match &options.packages[..] {
        [] => "",
        _ => "correct `python_packages` in your configuration, ",
    };
    let hint = format!(
        "connect to the network and try again (behind a proxy, set HTTPS_PROXY; for a mirror of PyPI, set \
         PIP_INDEX_URL), {more}or {}",
        ways_out(packages)
    );
    Err(Failure::sandbox(message).hint(hint).into())
}

/// Returns what to do when the managed environment is unavailable.
fn ways_out(packages: &str) -> String {
    format!(
        "set CSV_AGENT_PYTHON to a Python that has {packages}, or activate a virtual environment that has them"
    )
}

/// Keeps the end of a step's output. Returns whether more can follow.
fn take(read: std::io::Result<usize>, chunk: &[u8], text: &mut Vec<u8>) -> bool {
    let n_bytes = read.unwrap_or(0);
    text.extend_from_slice(&chunk[..n_bytes]);
    text.drain(..text.len().saturating_sub(STEP_OUTPUT_BYTES_MAX));
    n_bytes != 0
}

/// Returns the last informative lines, joined. One of pip's connection retries is enough.
fn last_lines(text: &str, n_lines: usize) -> Option<String> {
    let says = |line: &&str| {
        let is_retry = line.starts_with("WARNING: Retrying") && !line.contains("total=0");
        !line.is_empty() && !line.starts_with("[notice]") && !is_retry
    };
    let lines: Vec<_> = text.lines().map(str::trim).filter(says).collect();
    let last = &lines[lines.len().saturating_sub(n_lines)..];
    let cut = |line: &&str| {
        let reason = line.split_once("connection broken by ").map_or(*line, |(_, reason)| reason);
        reason.chars().take(300).collect::<String>()
    };
    (!last.is_empty()).then(|| last.iter().map(cut).collect::<Vec<_>>().join("; "))
}

/// Writes a small file atomically, by rename.
fn keep(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let directory = path.parent().context("a file is in a directory")?;
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use tempfile::TempDir;

    use super::{
        Extras, Interpreter, PINS, Packages, PythonOptions, PythonOrigin, SPARK, packages, prepare,
        remove, set_up,
    };
    use csv_agent_types::status::{Failure, FailureKind};

    /// A Python that knows three things: what it is, how to make an environment, how to run pip.
    const FAKE: &str = r#"#!/bin/sh
case "$*" in
    *find_spec*) echo '{"minor": MINOR, "is_cpython": true, "executable": "'$0'", "base": "'$0'",
        "missing": [MISSING], "analysis": ["sklearn"], "spark": SPARK, "can_make": true}' ;;
    *"-m venv"*) for directory; do :; done
        /bin/mkdir -p "$directory/bin"; /bin/ln -s "$0" "$directory/bin/python"
        echo venv >> LOG ;;
    *"pip freeze"*) echo 'lifelines==0.31.0' ;;
    *pyspark*) echo "pip spark $PIP_FAIL" >> LOG; while [ -e HELD ]; do /bin/sleep 0.01; done
        if [ -n "$PIP_FAIL" ]; then echo "ERROR: no route to host" >&2; exit 1; fi ;;
    *lifelines*) echo "pip ${*##*--compile }" >> LOG ;;
    *"-m pip"*) echo "pip $PIP_FAIL" >> LOG; while [ -e HELD ]; do /bin/sleep 0.01; done
        if [ -n "$PIP_FAIL" ]; then echo "ERROR: no route to host" >&2; exit 1; fi ;;
esac
"#;

    /// A machine with an empty cache and a PATH of its own.
    struct Machine {
        directory: TempDir,
        options: PythonOptions,
        extras: Extras,
        /// What its Pythons say of the Spark client.
        spark: String,
    }

    impl Machine {
        fn new() -> Self {
            let directory = TempDir::new().unwrap();
            let root = fs::canonicalize(directory.path()).unwrap();
            fs::create_dir(root.join("bin")).unwrap();
            let options = PythonOptions {
                named_by: "CSV_AGENT_PYTHON".to_owned(),
                cache_dir: root.join("cache"),
                path: root.join("bin").into_os_string(),
                ..PythonOptions::default()
            };
            let (extras, spark) = (Extras::default(), "null".to_owned());
            Machine { directory, options, extras, spark }
        }

        fn python(self, name: &str, minor: u32, missing: &str) -> Self {
            let log = self.directory.path().join("log");
            let held = self.directory.path().join("held");
            let script = FAKE
                .replace("MINOR", &minor.to_string())
                .replace("MISSING", missing)
                .replace("SPARK", &self.spark)
                .replace("LOG", log.to_str().unwrap())
                .replace("HELD", held.to_str().unwrap());
            self.file(name, &script)
        }

        fn file(self, name: &str, script: &str) -> Self {
            let path = PathBuf::from(&self.options.path).join(name);
            let text = path.with_added_extension("txt");
            fs::write(&text, script).unwrap();
            fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).unwrap();
            // Another process writes it: one that this process had open for writing could not be run
            // while a test beside this one forks.
            let copied = Command::new("/bin/cp").arg("-p").args([&text, &path]).status().unwrap();
            assert!(copied.success());
            self
        }

        fn log(&self) -> String {
            fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
        }

        async fn prepare(&self) -> (anyhow::Result<super::Interpreter>, Vec<String>) {
            let mut told = Vec::new();
            let mut tell = |it: &str| {
                told.push(it.to_owned());
                if it.starts_with("waiting") {
                    // Now pip may go on.
                    let _ = fs::remove_file(self.directory.path().join("held"));
                }
            };
            let result = prepare(&self.options, self.extras, &mut tell).await;
            (result, told)
        }

        /// Makes the directory above its Pythons the prefix of a wheel for Python 3.12.
        fn wheel(mut self) -> Self {
            let prefix = Path::new(&self.options.path).parent().unwrap();
            let module = prefix.join("lib/python3.12/site-packages/csv_agent");
            fs::create_dir_all(&module).unwrap();
            fs::write(module.join("__main__.py"), "").unwrap();
            self.options.program = Some(prefix.join("bin/csv-agent"));
            self
        }

        async fn set_up(&self) -> super::Interpreter {
            set_up(&self.options, &mut |_| {}).await.unwrap()
        }

        /// Keeps pip from ending until another process says that it waits.
        fn hold_pip(&self) {
            fs::write(self.directory.path().join("held"), "").unwrap();
        }

        async fn failure(&self) -> Failure {
            let failure = self.prepare().await.0.unwrap_err().downcast::<Failure>().unwrap();
            assert_eq!(failure.kind, FailureKind::Sandbox);
            failure
        }
    }

    #[tokio::test]
    async fn packages_that_can_be_kept_nowhere_are_told_with_the_way_out() {
        let mut machine = Machine::new().python("python3", 12, r#""pandas""#);
        let file = machine.directory.path().join("file");
        fs::write(&file, "").unwrap();
        machine.options.cache_dir = file.join("cache");
        let failure = machine.failure().await;
        let expected = format!(
            "cannot keep Python's packages in `{}`: Not a directory (os error 20)",
            machine.options.cache_dir.display()
        );
        assert_eq!(failure.message, expected);
        assert!(failure.hint.unwrap().contains("XDG_CACHE_HOME"));
    }

    #[tokio::test]
    async fn packages_where_others_may_write_are_neither_used_nor_made() {
        let check = async |name: &str, spoil: &dyn Fn(&Path), reason: &str| {
            let mut machine = Machine::new().python("python3", 12, "");
            machine.prepare().await.0.unwrap();
            let cache = &machine.options.cache_dir;
            let environment = fs::read_dir(cache).unwrap().map(|it| it.unwrap().path());
            let environment = environment.filter(|it| it.is_dir()).last().unwrap();
            let spoiled = if name == "cache" { cache } else { &environment };
            spoil(spoiled);
            let expected =
                format!("cannot keep Python's packages in `{}`: {reason}", spoiled.display());
            let log = machine.log();
            assert_eq!(machine.failure().await.message, expected);
            // With packages of its own, it would be made anew.
            machine.options.packages = vec!["lifelines".to_owned()];
            if name == "cache" {
                assert_eq!(machine.failure().await.message, expected);
            }
            assert_eq!(machine.log(), log);
        };
        let open = |it: &Path| fs::set_permissions(it, fs::Permissions::from_mode(0o777)).unwrap();
        let give_away = |it: &Path| chown(it, Some(12_345), None).unwrap();
        for name in ["cache", "environment"] {
            check(name, &open, "everyone can write to it").await;
            if rustix::process::geteuid().is_root() {
                check(name, &give_away, "it belongs to another user").await;
            }
        }
    }

    #[tokio::test]
    async fn packages_below_what_others_may_exchange_are_neither_used_nor_made() {
        let check = async |spoil: &dyn Fn(&Path), refused: Option<&str>| {
            let mut machine = Machine::new().python("python3", 12, "");
            let above = machine.options.cache_dir.parent().unwrap().join("above");
            fs::create_dir_all(above.join("home")).unwrap();
            spoil(&above);
            machine.options.cache_dir = above.join("home/cache");
            match refused {
                Some(path) => {
                    let message = machine.failure().await.message;
                    let path: PathBuf = above.join(path).components().collect();
                    assert!(message.contains(&format!("`{}`: ", path.display())), "{message}");
                    assert_eq!(machine.log(), "");
                }
                None => drop(machine.prepare().await.0.unwrap()),
            }
        };
        let open = |mode: u32| {
            move |it: &Path| fs::set_permissions(it, fs::Permissions::from_mode(mode)).unwrap()
        };
        check(&open(0o755), None).await;
        check(&open(0o1777), None).await;
        check(&open(0o777), None).await;
        let link = |above: &Path| {
            fs::rename(above.join("home"), above.join("real")).unwrap();
            symlink("real", above.join("home")).unwrap();
        };
        check(&link, None).await;
        if rustix::process::geteuid().is_root() {
            check(&|it| chown(it, Some(12_345), None).unwrap(), Some("")).await;
            let foreign_link = |above: &Path| {
                link(above);
                lchown(above.join("home"), Some(12_345), None).unwrap();
            };
            check(&foreign_link, Some("home")).await;
        }
    }

    #[tokio::test]
    async fn the_lock_is_no_way_to_empty_another_file() {
        let machine = Machine::new().python("python3", 12, "");
        machine.prepare().await.0.unwrap();
        let mut entries =
            fs::read_dir(&machine.options.cache_dir).unwrap().map(|it| it.unwrap().path());
        let lock = entries.find(|it| it.extension().is_some_and(|it| it == "lock")).unwrap();
        let kept = machine.directory.path().join("kept");
        fs::write(&kept, "content").unwrap();
        fs::remove_file(&lock).unwrap();
        symlink(&kept, &lock).unwrap();
        fs::remove_dir_all(lock.with_extension("")).unwrap();
        let error = format!("{:#}", machine.prepare().await.0.unwrap_err());
        assert!(error.starts_with("cannot lock "), "{error}");
        assert_eq!(fs::read_to_string(kept).unwrap(), "content");
    }

    #[tokio::test]
    async fn the_managed_environment_is_made_once() {
        let machine = Machine::new().python("python3", 12, r#""pandas""#);
        let (interpreter, told) = machine.prepare().await;
        let interpreter = interpreter.unwrap();
        assert_eq!(interpreter.origin, PythonOrigin::Managed);
        assert!(interpreter.executable.starts_with(&machine.options.cache_dir));
        assert_eq!(
            told,
            [
                "setting up Python, only once: creating an environment with Python 3.12",
                "setting up Python, only once: installing pandas 3.1.1, numpy 2.4.6, pyarrow 26.0.1",
                "Python is ready",
            ]
        );
        let (again, told) = machine.prepare().await;
        assert_eq!((again.unwrap(), told), (interpreter, Vec::new()));
        assert_eq!(machine.log(), "venv\npip \n");
    }

    #[tokio::test]
    async fn packages_of_the_user_are_in_an_environment_of_their_own_with_the_versions_written_down()
     {
        let mut machine = Machine::new().python("python3", 12, "");
        let plain = machine.prepare().await.0.unwrap();
        assert_eq!(
            plain.packages.listed(),
            "pandas, numpy, pyarrow, scipy, statsmodels, scikit-learn, openpyxl"
        );
        machine.options.packages = vec!["lifelines[all]>=0.30".to_owned()];
        let more = machine.prepare().await.0.unwrap();
        assert_ne!(more.executable, plain.executable);
        assert!(more.packages.listed().ends_with("openpyxl, lifelines"), "{more:?}");
        let directory = more.executable.parent().and_then(Path::parent).unwrap();
        let versions = fs::read_to_string(directory.with_added_extension("txt")).unwrap();
        assert_eq!(versions, "lifelines==0.31.0\n");
        // Made anew, it is of these versions again.
        fs::remove_dir_all(directory).unwrap();
        machine.prepare().await.0.unwrap();
        let log = machine.log();
        let pips: Vec<&str> = log.lines().filter(|it| it.contains("lifelines")).collect();
        assert!(pips[0].starts_with("pip pandas==") && pips[0].ends_with(" lifelines[all]>=0.30"));
        assert_eq!(pips[1..], ["pip lifelines==0.31.0"]);
    }

    #[tokio::test]
    async fn what_was_removed_is_made_anew() {
        let mut machine = Machine::new().python("python3", 12, "");
        let removed =
            async |machine: &Machine| remove(&machine.options, &mut |_| {}).await.unwrap();
        assert_eq!(removed(&machine).await, [] as [PathBuf; 0]);
        machine.options.packages = vec!["lifelines".to_owned()];
        let more = machine.prepare().await.0.unwrap();
        machine.options.packages.clear();
        let plain = machine.prepare().await.0.unwrap();
        let kept = machine.options.cache_dir.join("target");
        fs::create_dir(&kept).unwrap();
        let mut expected =
            [more, plain].map(|it| it.executable.ancestors().nth(2).unwrap().to_owned());
        expected.sort();
        assert_eq!(removed(&machine).await, expected);
        let entries =
            fs::read_dir(&machine.options.cache_dir).unwrap().map(|it| it.unwrap().path());
        let left: Vec<_> = entries.filter(|it| it.extension().is_none()).collect();
        assert_eq!(left, [kept]);
        machine.prepare().await.0.unwrap();
        assert_eq!(machine.log().matches("venv").count(), 3);
    }

    #[tokio::test]
    async fn two_processes_make_it_once_and_the_second_says_that_it_waits() {
        let machine = Machine::new().python("python3", 12, "");
        machine.hold_pip();
        let (first, second) = tokio::join!(machine.prepare(), machine.prepare());
        assert_eq!(first.0.unwrap(), second.0.unwrap());
        let waited =
            |told: &[String]| told == ["waiting for another csv-agent to set up Python (0 s)"];
        assert!(waited(&first.1) != waited(&second.1), "{:?} {:?}", first.1, second.1);
        assert_eq!(machine.log(), "venv\npip \n");
    }

    #[tokio::test]
    async fn a_making_that_was_cut_off_begins_anew() {
        let mut machine = Machine::new().python("python3", 12, "");
        machine.options.pip_env = vec![(OsString::from("PIP_FAIL"), OsString::from("1"))];
        let failure = machine.failure().await;
        assert_eq!(
            failure.message,
            "setting up Python, only once: installing pandas 3.1.1, numpy 2.4.6, pyarrow 26.0.1 failed: \
             ERROR: no route to host"
        );
        assert!(failure.hint.unwrap().contains("CSV_AGENT_PYTHON"));
        machine.options.pip_env.clear();
        machine.prepare().await.0.unwrap();
        assert_eq!(machine.log(), "venv\npip 1\nvenv\npip \n");
    }

    #[tokio::test]
    async fn a_python_that_is_gone_makes_its_environment_void() {
        let machine = Machine::new().python("python3", 12, "");
        machine.prepare().await.0.unwrap();
        fs::remove_file(PathBuf::from(&machine.options.path).join("python3")).unwrap();
        let machine = machine.python("python3.11", 11, "");
        let executable = machine.prepare().await.0.unwrap().executable;
        assert!(executable.to_str().unwrap().contains("/python-3.11-"), "{executable:?}");
    }

    #[tokio::test]
    async fn a_python_that_does_not_do_is_passed_over() {
        let machine = Machine::new()
            .file("python3", "#!/bin/sh\necho 'pyenv: not found' >&2; exit 127")
            .python("python3.13", 9, "")
            .python("python3.10", 10, "");
        assert!(machine.prepare().await.1[0].ends_with("Python 3.10"));
        let machine = Machine::new().file("python3", "#!/bin/sh\necho broken >&2; exit 1");
        let failure = machine.failure().await;
        assert!(failure.message.ends_with("python3 does not run (broken)"), "{failure}");
        let failure = Machine::new().failure().await;
        assert!(failure.message.ends_with("none was found"), "{failure}");
    }

    #[tokio::test]
    async fn a_named_python_is_used_or_refused_but_never_replaced() {
        let mut machine = Machine::new().python("good", 12, "").python("bare", 12, r#""numpy""#);
        for (name, lack) in [("bare", "which lacks numpy"), ("none", "which is not on the PATH")] {
            machine.options.python = Some(PathBuf::from(name));
            let expected = format!("CSV_AGENT_PYTHON is `{name}`, {lack}");
            assert_eq!(machine.failure().await.message, expected);
        }
        machine.options.python = Some(PathBuf::from("good"));
        let found = machine.prepare().await.0.unwrap();
        assert_eq!(found.origin, PythonOrigin::Given);
        assert_eq!(found.packages.there, ["scikit-learn"]);
        assert_eq!(found.packages.missing, ["scipy", "statsmodels", "openpyxl"]);
    }

    #[tokio::test]
    async fn an_active_virtual_environment_is_used_when_it_has_the_packages() {
        let mut machine = Machine::new().python("python3", 12, "");
        let bin = PathBuf::from(&machine.options.path);
        fs::rename(bin.join("python3"), bin.join("python")).unwrap();
        machine.options.virtual_env = bin.parent().map(PathBuf::from);
        assert_eq!(machine.prepare().await.0.unwrap().origin, PythonOrigin::VirtualEnv);
        let machine = machine.python("python", 12, r#""pandas""#).python("python3", 12, "");
        assert_eq!(machine.prepare().await.0.unwrap().origin, PythonOrigin::Managed);
    }

    #[tokio::test]
    async fn the_python_of_the_wheel_comes_before_an_active_virtual_environment() {
        let machine = Machine::new().python("python3.12", 12, "").python("python", 12, "");
        let mut machine = machine.wheel();
        machine.options.virtual_env = Path::new(&machine.options.path).parent().map(Path::to_owned);
        let found = machine.prepare().await.0.unwrap();
        assert_eq!((found.origin, found.user_base), (PythonOrigin::Wheel, None));
        assert!(found.executable.ends_with("bin/python3.12"), "{:?}", found.executable);
        machine.options.python = Some(PathBuf::from("python"));
        assert_eq!(machine.prepare().await.0.unwrap().origin, PythonOrigin::Given);
        assert!(!machine.options.cache_dir.exists());
    }

    #[tokio::test]
    async fn a_wheel_without_its_packages_makes_no_environment_unasked() {
        let mut machine = Machine::new().python("python3.12", 12, r#""pandas""#).wheel();
        let failure = machine.failure().await;
        let bin = machine.options.path.display();
        let message =
            format!("csv-agent is installed in the Python `{bin}/python3.12`, which lacks pandas");
        assert_eq!(failure.message, message);
        assert!(failure.hint.unwrap().contains("python3.12 -m pip install 'csv-agent'`, or run"));
        let refused = packages(&machine.options).await.unwrap_err().to_string();
        assert_eq!(refused, message);
        machine.extras.spark = true;
        assert!(machine.failure().await.hint.unwrap().contains("'csv-agent[spark]'"));
        machine.extras.spark = false;
        assert!(!machine.options.cache_dir.exists());
        let (made, again) = (machine.set_up().await, machine.prepare().await.0.unwrap());
        assert_eq!((made.origin, &made), (PythonOrigin::Managed, &again));
        machine.options.program = None;
        assert_eq!(machine.prepare().await.0.unwrap(), made);
    }

    #[test]
    fn of_what_is_below_a_user_base_only_packages_can_be_read() {
        let directory = TempDir::new().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let site = root.join("home/lib/python3.12/site-packages");
        for directory in [&site, &root.join("home/share/keys"), &root.join("python/bin")] {
            fs::create_dir_all(directory).unwrap();
        }
        let executable = root.join("python/bin/python3.12");
        fs::write(&executable, "").unwrap();
        symlink(root.join("home"), root.join("link")).unwrap();
        let interpreter = Interpreter {
            executable,
            origin: PythonOrigin::Wheel,
            user_base: Some(root.join("link")),
            packages: Packages::default(),
        };
        let files = interpreter.files().unwrap();
        assert_eq!(files.reads, [root.join("python/bin"), site]);
        assert_eq!(files.links, [root.join("link")]);
    }

    #[test]
    fn the_wheel_requires_the_packages_of_the_managed_environment() {
        let manifest = include_str!("../../pyproject.toml");
        let list = |name: &str| {
            let from = manifest.split_once(&format!("\n{name} = [\n")).unwrap().1;
            let lines = from.split_once("\n]").unwrap().0.lines();
            let quoted = lines.map(|it| it.trim().trim_matches([',', '"']).to_owned());
            quoted.collect::<BTreeSet<_>>()
        };
        let [newer, older] = PINS.map(|it| it.packages);
        let marked = |packages: &[&str], others: &[&str], marker: &str| {
            let version = |it: &&str| {
                let marker = format!("; python_version {marker} '3.11'");
                format!("{it}{}", if others.contains(it) { "" } else { &marker })
            };
            packages.iter().map(version).collect::<BTreeSet<_>>()
        };
        let mut all = marked(newer, older, ">=");
        all.extend(marked(older, newer, "<"));
        assert_eq!(list("dependencies"), all);
        assert_eq!(list("spark"), BTreeSet::from(SPARK.map(str::to_owned)));
        let (from, to) = (PINS[1].minors.start(), PINS[0].minors.end() + 1);
        assert_eq!(*PINS[0].minors.start(), 11);
        let versions = format!("requires-python = \">=3.{from},<3.{to}\"");
        assert!(manifest.contains(&versions), "{versions}");
    }

    #[tokio::test]
    async fn the_spark_client_is_added_once_and_only_where_it_is_needed() {
        let mut machine = Machine::new().python("python3", 12, "");
        let plain = machine.prepare().await.0.unwrap();
        machine.extras.spark = true;
        let (interpreter, told) = machine.prepare().await;
        assert_eq!(interpreter.unwrap(), plain);
        assert_eq!(
            told,
            [
                "installing the Spark client, only once: pyspark-client 4.2.0, grpcio 1.85.1",
                "the Spark client is ready",
            ]
        );
        assert_eq!(machine.prepare().await.1, Vec::<String>::new());
        machine.extras.spark = false;
        assert_eq!(machine.prepare().await.1, Vec::<String>::new());
        assert_eq!(machine.log(), "venv\npip \npip spark \n");
    }

    #[tokio::test]
    async fn two_processes_add_the_spark_client_once() {
        let mut machine = Machine::new().python("python3", 12, "");
        machine.extras.spark = true;
        machine.hold_pip();
        let (first, second) = tokio::join!(machine.prepare(), machine.prepare());
        assert_eq!(first.0.unwrap(), second.0.unwrap());
        assert_eq!(machine.log(), "venv\npip \npip spark \n");
    }

    #[tokio::test]
    async fn adding_that_was_cut_off_leaves_the_environment_whole_and_is_tried_again() {
        let mut machine = Machine::new().python("python3", 12, "");
        let plain = machine.prepare().await.0.unwrap();
        machine.extras.spark = true;
        machine.options.pip_env = vec![(OsString::from("PIP_FAIL"), OsString::from("1"))];
        let message = machine.failure().await.message;
        assert!(message.starts_with("installing the Spark client, only once: "), "{message}");
        machine.options.pip_env.clear();
        machine.extras.spark = false;
        assert_eq!(machine.prepare().await.0.unwrap(), plain);
        machine.extras.spark = true;
        assert_eq!(machine.prepare().await.0.unwrap(), plain);
        assert_eq!(machine.log(), "venv\npip \npip spark 1\npip spark \n");
    }

    #[tokio::test]
    async fn a_named_python_without_the_spark_client_is_refused_only_where_it_is_needed() {
        let check = async |spark: &str, expected: Option<&str>| {
            let mut machine = Machine::new();
            machine.spark = spark.to_owned();
            let mut machine = machine.python("mine", 12, "");
            machine.options.python = Some(PathBuf::from("mine"));
            assert_eq!(machine.prepare().await.0.unwrap().origin, PythonOrigin::Given);
            machine.extras.spark = true;
            let Some(expected) = expected else {
                assert_eq!(machine.prepare().await.0.unwrap().origin, PythonOrigin::Given);
                return;
            };
            let failure = machine.failure().await;
            assert_eq!(failure.message, format!("CSV_AGENT_PYTHON is `mine`, {expected}"));
            let hint = failure.hint.unwrap();
            assert!(hint.contains("`mine -m pip install pandas numpy pyarrow pyspark-client==4"));
        };
        check("null", Some("which lacks pyspark-client, for datasets on a cluster")).await;
        let old =
            "which has the Spark client 3.5.1; 4.2 or newer is needed for datasets on a cluster";
        check("\"3.5.1\"", Some(old)).await;
        check("\"4.2.0\"", None).await;
        check("\"4.10.0.dev1\"", None).await;
    }

    #[tokio::test]
    async fn a_virtual_environment_without_the_spark_client_gives_way_to_the_managed_one() {
        let mut machine = Machine::new().python("python", 12, "").python("python3", 12, "");
        let bin = PathBuf::from(&machine.options.path);
        machine.options.virtual_env = bin.parent().map(PathBuf::from);
        assert_eq!(machine.prepare().await.0.unwrap().origin, PythonOrigin::VirtualEnv);
        machine.extras.spark = true;
        assert_eq!(machine.prepare().await.0.unwrap().origin, PythonOrigin::Managed);
    }
}
