//! The messages between csv-agent and the stage.

use std::os::fd::RawFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a worker may do, sent as JSON before anything else. A command-line argument would be visible to
/// every user, and could list no more than a thousand datasets.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Policy {
    /// What the stage becomes.
    pub program: StagedProgram,
    /// Its working directory, where it may write.
    pub scratch: PathBuf,
    /// Files and directories of Python that it may read in addition to the system's. No component of a
    /// path is a link, here and below.
    pub reads: Vec<PathBuf>,
    /// Files and directories of the session that it may read as well. Other users may have no access to
    /// them.
    pub data: Vec<PathBuf>,
    /// Links in the path to Python.
    pub links: Vec<PathBuf>,
    /// Address space limit of each of its processes; of the query engine, without the files that it maps.
    pub memory_bytes: u64,
    /// Size limit in bytes of a file that it writes.
    pub file_bytes: u64,
    /// Size limit in bytes of all files that it writes.
    pub scratch_bytes: u64,
    /// The inherited descriptor that becomes [`RELAY`], through which it may query a cluster.
    #[serde(default)]
    pub relay: Option<RawFd>,
    /// Layers to leave out.
    pub without: Vec<Layer>,
}

/// What the stage becomes once it is confined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StagedProgram {
    /// Nothing: it only reports what it could enforce.
    #[default]
    Trial,
    Python {
        executable: PathBuf,
        /// The directory that it takes as its user base, if any.
        user_base: Option<PathBuf>,
    },
    /// The query engine, which is part of csv-agent.
    Engine,
}

/// The descriptor of the relay to a worker's cluster.
pub(super) const RELAY: RawFd = 3;

/// What the kernel offers. Each layer alone would stop most attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Its own file system, network and processes.
    Namespaces,
    /// Rules on paths, TCP and signals.
    Landlock,
    /// A list of allowed system calls.
    Seccomp,
}

impl Layer {
    /// Every layer.
    pub const ALL: [Layer; 3] = [Layer::Namespaces, Layer::Landlock, Layer::Seccomp];

    /// Its name, as the user writes it.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Namespaces => "namespaces",
            Layer::Landlock => "landlock",
            Layer::Seccomp => "seccomp",
        }
    }
}

/// The confinement in effect for a worker.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Whether it has its own file system, network and process numbering.
    pub namespaces: bool,
    /// The Landlock version in force; 0 means none.
    pub landlock: u32,
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// Whether the kernel counts its processes separately, so that they can be limited.
    pub counts_processes: bool,
    /// Whether it runs as root's user id, though without root's capabilities.
    pub is_root: bool,
    /// Why a layer is missing, one sentence each.
    pub refused: Vec<String>,
}

/// The only line that the stage writes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum MonitorMessage {
    /// The worker is running with this confinement.
    #[serde(rename = "confined")]
    Confined(Report),
    /// There is no worker.
    #[serde(rename = "failed")]
    Failed(String),
}
