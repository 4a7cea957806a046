//! What csv-agent tells the stage, and what the stage tells it back.

use std::os::fd::RawFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a worker may do, as JSON the first that the stage reads. An argument would be visible to every
/// user, and could hold no more than a thousand datasets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Policy {
    /// The Python to become. Without one, the stage only says what it could enforce.
    pub python: Option<PathBuf>,
    /// Where it runs and may write.
    pub scratch: PathBuf,
    /// Files and directories of Python, which it may read besides the system's. No part of a path is a link,
    /// here and below.
    pub reads: Vec<PathBuf>,
    /// Files and directories of the session that it may read as well. They may be closed to other users.
    pub data: Vec<PathBuf>,
    /// Links on the way to Python.
    pub links: Vec<PathBuf>,
    /// Address space of each of its processes.
    pub memory_bytes: u64,
    /// Bytes of one file that it writes.
    pub file_bytes: u64,
    /// The descriptor that it inherits and that becomes [`RELAY`], where it may ask a cluster.
    #[serde(default)]
    pub relay: Option<RawFd>,
    /// Layers that are left out.
    pub without: Vec<Layer>,
}

/// The descriptor at which a worker finds the relay to its cluster.
pub(super) const RELAY: RawFd = 3;

/// What the kernel offers, each of which would stop most attacks by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// File system, network, processes of its own.
    Namespaces,
    /// Rules on paths, TCP and signals.
    Landlock,
    /// A list of the system calls that pass.
    Seccomp,
}

impl Layer {
    /// All of them.
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

/// What holds for a worker.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Whether it has a file system, a network and process numbers of its own.
    pub namespaces: bool,
    /// The version of Landlock in force; 0 is none.
    pub landlock: u32,
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// Whether the kernel counts its processes by themselves, so that they can be limited.
    pub counts_processes: bool,
    /// Whether it runs under the number of root, though without root's capabilities.
    pub is_root: bool,
    /// Why a layer is not there, one sentence each.
    pub refused: Vec<String>,
}

/// The only line that the stage writes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum MonitorMessage {
    /// The worker runs, and this holds for it.
    #[serde(rename = "confined")]
    Confined(Report),
    /// There is no worker.
    #[serde(rename = "failed")]
    Failed(String),
}
