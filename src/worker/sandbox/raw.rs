//! The system calls that no crate wraps, or that only a single-threaded process may make.

#![expect(unsafe_code, reason = "the only place where the program calls the kernel by itself")]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{SigHandler, Signal, raise};
use nix::unistd::{ForkResult, Pid, fork};
use tokio::process::Command;

pub(super) enum ForkSide {
    /// The new process.
    Child,
    /// The old one, with the number of the new one.
    Parent(Pid),
}

/// Forks the process; the new one is in new namespaces. `flags` are `CLONE_NEW…`. Fails when the kernel refuses
/// such namespaces, or a process.
pub(super) fn clone(flags: i32) -> io::Result<ForkSide> {
    if flags == 0 {
        // SAFETY: the stage has one thread, so no lock is held by a thread that is not copied.
        return match unsafe { fork() }? {
            ForkResult::Child => Ok(ForkSide::Child),
            ForkResult::Parent { child } => Ok(ForkSide::Parent(child)),
        };
    }
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: without CLONE_VM this is fork, whose stack is copied; the other arguments are for
    // threads and are null. The stage has one thread, as above.
    let pid = Errno::result(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    match i32::try_from(pid) {
        Ok(0) => Ok(ForkSide::Child),
        Ok(pid) => Ok(ForkSide::Parent(Pid::from_raw(pid))),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Lets the child of `command` inherit a descriptor. Other children started meanwhile do not inherit
/// it, because it becomes inheritable only after the fork.
pub(super) fn inherit(command: &mut Command, descriptor: Arc<OwnedFd>) {
    let share = move || Ok(fcntl(&*descriptor, FcntlArg::F_SETFD(FdFlag::empty())).map(drop)?);
    // SAFETY: between fork and exec it makes one system call, and neither allocates nor locks.
    unsafe { command.pre_exec(share) };
}

/// Moves an inherited descriptor to the number `to`, where it stays open across exec. Fails when there is no
/// such descriptor.
pub(super) fn move_to(descriptor: i32, to: i32) -> io::Result<()> {
    // SAFETY: the stage has just started and owns neither of them.
    Errno::result(unsafe { libc::dup2(descriptor, to) })?;
    // A descriptor duplicated onto itself is not duplicated, and keeps its flags.
    Errno::result(unsafe { libc::fcntl(to, libc::F_SETFD, 0) })?;
    Ok(())
}

/// Closes every descriptor from `first` on. Fails before Linux 5.9.
pub(super) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: the stage uses no descriptor from there on: it has just started, or only waits from here
    // on.
    Errno::result(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) })?;
    Ok(())
}

/// Sets `MOUNT_ATTR_…` flags of a mount, and of all mounts below it when `recursive`. Fails before Linux 5.12,
/// and when the mount has flags that may not be removed.
pub(super) fn set_mount_flags(path: &Path, flags: u64, recursive: bool) -> io::Result<()> {
    let how = if recursive { libc::AT_RECURSIVE } else { 0 };
    set_attributes(libc::AT_FDCWD, path, how, mount_attributes(flags, None))
}

/// Binds the file or directory `from` at `to`, where files owned by root outside belong to the user of `users`.
/// Fails before Linux 5.12, and on file systems without id-mapped mounts.
pub(super) fn bind_for_user(from: &Path, to: &Path, flags: u64, users: &OwnedFd) -> io::Result<()> {
    let (from, target) = (c_path(from)?, c_path(to)?);
    // SAFETY: the path outlives the call.
    let tree = Errno::result(unsafe {
        libc::syscall(
            libc::SYS_open_tree,
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::OPEN_TREE_CLONE | libc::O_CLOEXEC.cast_unsigned(),
        )
    })?;
    let tree = i32::try_from(tree).map_err(io::Error::other)?;
    // SAFETY: the kernel has just made it, for this process alone.
    let tree = unsafe { OwnedFd::from_raw_fd(tree) };
    let attributes = mount_attributes(flags, Some(users));
    set_attributes(tree.as_raw_fd(), Path::new(""), libc::AT_EMPTY_PATH, attributes)?;
    // SAFETY: both paths outlive the call.
    Errno::result(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH,
        )
    })?;
    Ok(())
}

fn mount_attributes(flags: u64, users: Option<&OwnedFd>) -> libc::mount_attr {
    let (by_user, users) = match users {
        Some(users) => (libc::MOUNT_ATTR_IDMAP, users.as_raw_fd()),
        None => (0, 0),
    };
    let userns_fd = u64::from(users.cast_unsigned());
    libc::mount_attr { attr_set: flags | by_user, attr_clr: 0, propagation: 0, userns_fd }
}

fn set_attributes(
    directory: i32,
    path: &Path,
    how: i32,
    attributes: libc::mount_attr,
) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: path and attributes outlive the call, and the size is that of the attributes.
    Errno::result(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            directory,
            path.as_ptr(),
            how,
            &raw const attributes,
            size_of_val(&attributes),
        )
    })?;
    Ok(())
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Ends this process by a signal, as another process ended.
pub(super) fn die_by(signal: Signal) {
    // SAFETY: the default action is not a handler, so it runs no code of this program. The runtime has
    // replaced some default actions with its own handlers.
    let _ = unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) };
    let _ = raise(signal);
}

/// Ends a forked process without running its parent's exit handlers.
pub(super) fn exit(status: i32) -> ! {
    // SAFETY: it does not return, and runs no code of this program.
    unsafe { libc::_exit(status) }
}
