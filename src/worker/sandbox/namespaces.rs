//! A separate file system, network and process numbering for the worker.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::prctl::{set_keepcaps, set_pdeathsig};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::{Mode, umask};
use nix::sys::wait::waitpid;
use nix::unistd::{
    AccessFlags, Gid, Pid, Uid, access, pause, pivot_root, setgroups, sethostname, setresgid,
    setresuid,
};

use super::policy::Policy;
use super::{DEVICES, SYSTEM, raw};

/// Every namespace that a new process gets of its own.
pub(super) const ALL: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS;
/// The user id inside, whatever it is outside.
const INNER_USER: u32 = 1000;
/// User ids that no machine assigns: systemd reserves a range for such uses, which starts below this
/// one.
const OTHER_USERS: std::ops::Range<u32> = 61_184..65_520;
/// Bytes that fit in `/dev/shm`, where locks between processes are stored.
const SHARED_BYTES: &str = "size=64m,nr_inodes=1k,mode=1777";
const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
const NO_EXECUTION: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV).union(MsFlags::MS_NOEXEC);

/// Maps this process to user `1000` in its own user namespace, which gives it every privilege over the other
/// namespaces. Fails where an administrator or `AppArmor` forbids it.
pub(super) fn map_user(user: Uid, group: Gid) -> anyhow::Result<()> {
    let write = |name: &str, text: String| {
        let path = format!("/proc/self/{name}");
        fs::write(&path, text).with_context(|| format!("cannot write {path}"))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{INNER_USER} {user} 1"))?;
    write("gid_map", format!("{INNER_USER} {group} 1"))
}

/// Returns a user id that no process of this machine has.
fn unused_user() -> anyhow::Result<u32> {
    let processes = fs::read_dir("/proc").context("cannot list the processes")?;
    let used: Vec<u32> =
        processes.filter_map(|it| it.ok()?.metadata().ok()).map(|it| it.uid()).collect();
    // Two workers that start at once search from different ids.
    let n_users = OTHER_USERS.end - OTHER_USERS.start;
    let first = std::process::id() % n_users;
    let mut candidates = (0..n_users).map(|it| OTHER_USERS.start + (first + it) % n_users);
    candidates.find(|it| !used.contains(it)).context("every user number is in use")
}

/// Another user, and the id mapping that makes root's files theirs.
pub(super) struct OtherUser {
    /// The id of the user and of their only group.
    pub id: u32,
    /// A user namespace in which they are root.
    namespace: OwnedFd,
}

impl OtherUser {
    /// Takes a user id that no process of this machine has. Fails when the kernel refuses a user namespace.
    pub(super) fn take() -> anyhow::Result<OtherUser> {
        let id = unused_user()?;
        // A namespace lives as long as a process or a descriptor holds it.
        let holder = match raw::clone(libc::CLONE_NEWUSER).context("no user namespace")? {
            raw::ForkSide::Child => {
                let _ = set_pdeathsig(Signal::SIGKILL);
                loop {
                    pause();
                }
            }
            raw::ForkSide::Parent(holder) => holder,
        };
        let namespace = name_user(holder, id);
        let _ = kill(holder, Signal::SIGKILL);
        let _ = waitpid(holder, None);
        Ok(OtherUser { id, namespace: namespace? })
    }
}

fn name_user(holder: Pid, id: u32) -> anyhow::Result<OwnedFd> {
    for map in ["uid_map", "gid_map"] {
        let path = format!("/proc/{holder}/{map}");
        fs::write(&path, format!("0 {id} 1")).with_context(|| format!("cannot write {path}"))?;
    }
    let namespace = File::open(format!("/proc/{holder}/ns/user"));
    Ok(namespace.context("cannot open the user namespace")?.into())
}

/// Becomes a user that no one else is, without supplementary groups. Fails when the user id is not mapped in
/// this container.
pub(super) fn become_user(user: u32) -> anyhow::Result<()> {
    set_keepcaps(false)?;
    setgroups(&[]).context("cannot leave all groups")?;
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(user));
    setresgid(group, group, group).context("cannot become another group")?;
    setresuid(user, user, user).context("cannot become another user")
}

/// Replaces the file system with one that contains what the worker needs, at the same paths. Fails when the
/// kernel refuses a step, and names that step.
pub(super) fn replace_root(policy: &Policy, user: Option<&OtherUser>) -> anyhow::Result<()> {
    let scratch = &policy.scratch;
    let none = None::<&Path>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .context("cannot make the mounts private")?;
    // Scratch is sure to exist and to be ours. Below, it appears unchanged.
    mount_memory(scratch, "size=4m,mode=755").context("cannot mount a new root")?;
    // Another user has to be able to traverse the parent directories.
    let own = umask(Mode::S_IWGRP | Mode::S_IWOTH);
    let [old, new] = ["old", "new"].map(|it| scratch.join(it));
    fs::create_dir(&old)?;
    fs::create_dir(&new)?;
    pivot_root(scratch, &old).context("cannot change the root")?;
    let tree = Tree { old: Path::new("/old"), new: Path::new("/new"), user };
    bind_itself(tree.new)?;
    tree.fill(policy)?;
    umask(own);
    std::env::set_current_dir(tree.new)?;
    pivot_root(".", ".").context("cannot change the root again")?;
    umount2(".", MntFlags::MNT_DETACH).context("cannot leave the old root")?;
    raw::set_mount_flags(Path::new("/"), READ_ONLY, false)
        .context("cannot make the root read-only")?;
    std::env::set_current_dir(scratch).context("cannot enter scratch")?;
    sethostname("csv-agent").context("cannot change the host name")
}

fn mount_memory(at: &Path, options: &str) -> nix::Result<()> {
    mount(Some("tmpfs"), at, Some("tmpfs"), NO_EXECUTION, Some(options))
}

/// Bind-mounts a directory on itself, because `pivot_root` requires a mount.
fn bind_itself(path: &Path) -> anyhow::Result<()> {
    mount(Some(path), path, None::<&Path>, MsFlags::MS_BIND, None::<&Path>)
        .with_context(|| format!("cannot mount {}", path.display()))
}

/// The new root under construction, and where the old one is visible meanwhile.
struct Tree<'a> {
    old: &'a Path,
    new: &'a Path,
    user: Option<&'a OtherUser>,
}

impl Tree<'_> {
    fn fill(&self, policy: &Policy) -> anyhow::Result<()> {
        // In path order, a directory precedes its contents.
        for path in SYSTEM.iter().map(Path::new).chain(policy.reads.iter().map(|it| &**it)) {
            self.show(path)?;
        }
        for path in &policy.data {
            self.give(path, READ_ONLY | libc::MOUNT_ATTR_NOEXEC)?;
        }
        for link in &policy.links {
            self.show(link)?;
        }
        for device in DEVICES {
            self.bind(Path::new(device), libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC)?;
        }
        let shared = self.new.join("dev/shm");
        fs::create_dir_all(&shared)?;
        mount_memory(&shared, SHARED_BYTES).context("cannot mount /dev/shm")?;
        fs::create_dir_all(self.new.join("etc"))?;
        let user = self.user.map_or(INNER_USER, |it| it.id);
        let passwd = format!("worker:x:{user}:{user}::{}:/bin/sh\n", policy.scratch.display());
        fs::write(self.new.join("etc/passwd"), passwd)?;
        fs::write(self.new.join("etc/group"), format!("worker:x:{user}:\n"))?;
        let flags = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOEXEC;
        self.give(&policy.scratch, flags)
    }

    /// Binds a path, if it exists, read-only.
    fn show(&self, path: &Path) -> anyhow::Result<()> {
        let from = within(self.old, path);
        let to = within(self.new, path);
        match fs::symlink_metadata(&from) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).with_context(|| format!("{}", path.display())),
            Ok(it) if it.is_symlink() && fs::symlink_metadata(&to).is_err() => {
                fs::create_dir_all(to.parent().unwrap_or(self.new))?;
                return symlink(fs::read_link(&from)?, &to).context("cannot link");
            }
            // An already bound directory contains it.
            Ok(_) if fs::symlink_metadata(&to).is_ok() => return Ok(()),
            Ok(_) => {}
        }
        self.bind(path, READ_ONLY)
    }

    /// Binds a file or directory of the session as the worker's own.
    fn give(&self, path: &Path, flags: u64) -> anyhow::Result<()> {
        let Some(user) = self.user else { return self.bind(path, flags) };
        let failed = || format!("cannot give {} to another user", path.display());
        let (from, to) = self.place(path).with_context(failed)?;
        raw::bind_for_user(&from, &to, flags, &user.namespace).with_context(failed)
    }

    /// Creates a mount point. Returns the current location of the path and its future one.
    fn place(&self, path: &Path) -> io::Result<(PathBuf, PathBuf)> {
        let (from, to) = (within(self.old, path), within(self.new, path));
        if fs::symlink_metadata(&to).is_err() {
            if fs::metadata(&from)?.is_dir() {
                fs::create_dir_all(&to)?;
            } else {
                fs::create_dir_all(to.parent().unwrap_or(self.new))?;
                File::create(&to)?;
            }
        }
        Ok((from, to))
    }

    fn bind(&self, path: &Path, flags: u64) -> anyhow::Result<()> {
        let failed = || format!("cannot mount {}", path.display());
        let (from, to) = self.place(path).with_context(failed)?;
        let how = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(Some(&from), &to, None::<&Path>, how, None::<&Path>).with_context(failed)?;
        raw::set_mount_flags(&to, flags, true).with_context(failed)
    }
}

fn within(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Ensures that this process can read what a worker needs. Fails with the first path that it cannot read.
pub(super) fn check_readable(policy: &Policy) -> anyhow::Result<()> {
    for directory in policy.reads.iter().chain(&policy.data) {
        let mut paths = vec![directory.clone()];
        // Packages may have been installed with a strict umask.
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            paths.push(entry.path().join("site-packages"));
            paths.push(entry.path().join("site-packages/numpy/__init__.py"));
        }
        let is_denied = |it: &&PathBuf| {
            // Check, do not open: opening a pipe that has appeared here would block until its other end
            // opens.
            access(*it, AccessFlags::R_OK) == Err(Errno::EACCES)
        };
        if let Some(denied) = paths.iter().find(is_denied) {
            bail!("{} cannot be read by another user", denied.display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use tempfile::TempDir;

    use super::check_readable;
    use crate::sandbox::policy::Policy;

    #[test]
    fn a_pipe_in_place_of_a_dataset_does_not_hold_the_worker_up() {
        let scratch = TempDir::new().unwrap();
        let fifo = scratch.path().join("sales.parquet");
        mkfifo(&fifo, Mode::S_IRWXU).unwrap();
        let policy =
            Policy { scratch: scratch.path().to_owned(), data: vec![fifo], ..Policy::default() };
        check_readable(&policy).unwrap();
    }
}
