//! Landlock and seccomp: restrictions that a process imposes on itself and cannot remove.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::policy::Policy;

/// The newest Landlock ABI that the rules are written for; an older kernel enforces the part it knows.
const LANDLOCK: ABI = ABI::V9;

/// Lets the process read what it needs and write to its own directories, and denies everything else.
///
/// `is_apart` means that the worker has its own file system. Returns the ABI version that the kernel enforces.
/// Fails when the kernel has no Landlock.
pub(super) fn landlock(policy: &Policy, is_apart: bool) -> anyhow::Result<u32> {
    let devices = super::DEVICES.iter().map(Path::new);
    let system = super::SYSTEM.iter().chain(is_apart.then_some(&"/etc")).map(Path::new);
    // Without its own file system, every program of the user shares this directory.
    let shared = is_apart.then_some(Path::new("/dev/shm"));
    let use_device = AccessFs::ReadFile | AccessFs::WriteFile;
    let write = AccessFs::from_all(LANDLOCK) & !AccessFs::Execute;
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .scope(Scope::from_all(LANDLOCK))?
        .create()?
        .add_rules(path_beneath_rules(system, AccessFs::from_read(LANDLOCK)))?
        .add_rules(path_beneath_rules(&policy.reads, AccessFs::from_read(LANDLOCK)))?
        .add_rules(path_beneath_rules(&policy.data, look))?
        .add_rules(path_beneath_rules(shared, write))?
        .add_rules(path_beneath_rules([&policy.scratch], write))?
        .add_rules(path_beneath_rules(devices, use_device))?
        .restrict_self()?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => bail!("the kernel does not enforce Landlock"),
        (_, LandlockStatus::Available { effective_abi, .. }) => Ok(effective_abi as u32),
        _ => bail!("the kernel has no Landlock"),
    }
}

/// Restrictions in addition to the fixed ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extra {
    /// The process cannot start another process.
    pub no_processes: bool,
    /// The process can see other processes and outside files: deny signals to them and the changes that
    /// Landlock still allows.
    pub is_shared: bool,
}

/// Allows the listed system calls, then refuses those among them that reach outside. Fails when the kernel
/// lacks seccomp, or when no list exists for this architecture.
pub(super) fn seccomp(extra: Extra) -> anyhow::Result<()> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).context("no list for this machine")?;
    let compile = |rules, otherwise, matched| -> anyhow::Result<BpfProgram> {
        Ok(SeccompFilter::new(rules, otherwise, matched, arch)?.try_into()?)
    };
    // Unlisted calls return ENOSYS, as an old kernel would: programs then try another way.
    let unknown = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let listed = passing().into_iter().map(|it| (it, Vec::new())).collect();
    let passing = compile(listed, unknown, SeccompAction::Allow)?;
    let denied = compile(denied(extra)?, SeccompAction::Allow, refused)?;
    apply_filter(&passing)?;
    apply_filter(&denied)?;
    Ok(())
}

/// The system calls that are allowed at all. One call per line would fill pages.
#[rustfmt::skip]
fn passing() -> Vec<i64> {
    let mut calls = refused();
    calls.extend([
        // Files. The other layers decide which ones.
        libc::SYS_read, libc::SYS_write, libc::SYS_readv, libc::SYS_writev, libc::SYS_pread64,
        libc::SYS_pwrite64, libc::SYS_preadv, libc::SYS_pwritev, libc::SYS_preadv2,
        libc::SYS_pwritev2, libc::SYS_openat, libc::SYS_close,
        libc::SYS_close_range, libc::SYS_lseek, libc::SYS_fstat, libc::SYS_newfstatat,
        libc::SYS_statx, libc::SYS_statfs, libc::SYS_fstatfs, libc::SYS_getdents64,
        libc::SYS_getcwd, libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_faccessat,
        libc::SYS_faccessat2, libc::SYS_readlinkat, libc::SYS_mkdirat, libc::SYS_unlinkat,
        libc::SYS_renameat2, libc::SYS_linkat, libc::SYS_symlinkat, libc::SYS_fchmod,
        libc::SYS_fchmodat, libc::SYS_utimensat, libc::SYS_truncate, libc::SYS_ftruncate,
        libc::SYS_fallocate, libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync_file_range,
        libc::SYS_fadvise64, libc::SYS_readahead, libc::SYS_flock, libc::SYS_fcntl,
        libc::SYS_dup, libc::SYS_dup3, libc::SYS_pipe2, libc::SYS_splice, libc::SYS_tee,
        libc::SYS_sendfile, libc::SYS_copy_file_range, libc::SYS_ioctl, libc::SYS_umask,
        libc::SYS_getxattr, libc::SYS_lgetxattr, libc::SYS_fgetxattr, libc::SYS_listxattr,
        libc::SYS_llistxattr, libc::SYS_flistxattr,
        // Memory.
        libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect,
        libc::SYS_madvise, libc::SYS_msync, libc::SYS_mincore, libc::SYS_mlock, libc::SYS_munlock,
        libc::SYS_mbind, libc::SYS_get_mempolicy, libc::SYS_set_mempolicy, libc::SYS_membarrier,
        // Time.
        libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_clock_nanosleep,
        libc::SYS_gettimeofday, libc::SYS_nanosleep, libc::SYS_getitimer, libc::SYS_setitimer,
        libc::SYS_timer_create, libc::SYS_timer_settime, libc::SYS_timer_gettime,
        libc::SYS_timer_getoverrun, libc::SYS_timer_delete, libc::SYS_timerfd_create,
        libc::SYS_timerfd_settime, libc::SYS_timerfd_gettime, libc::SYS_times,
        // Waiting.
        libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_epoll_create1, libc::SYS_epoll_ctl,
        libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2, libc::SYS_eventfd2, libc::SYS_signalfd4,
        libc::SYS_futex, libc::SYS_set_robust_list, libc::SYS_get_robust_list,
        libc::SYS_restart_syscall,
        // Pairs of sockets within the process; new sockets are refused below.
        libc::SYS_socketpair, libc::SYS_sendto, libc::SYS_recvfrom, libc::SYS_recvmsg,
        libc::SYS_shutdown, libc::SYS_getsockopt,
        libc::SYS_getsockname, libc::SYS_getpeername,
        // Threads, processes, signals among them.
        libc::SYS_clone, libc::SYS_execve, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_wait4,
        libc::SYS_waitid, libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_pidfd_open,
        libc::SYS_pidfd_send_signal, libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn, libc::SYS_rt_sigpending, libc::SYS_rt_sigsuspend,
        libc::SYS_rt_sigtimedwait, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_sigaltstack, libc::SYS_set_tid_address, libc::SYS_rseq, libc::SYS_prctl,
        libc::SYS_sched_yield, libc::SYS_sched_getaffinity, libc::SYS_sched_setaffinity,
        libc::SYS_sched_getparam, libc::SYS_sched_getscheduler, libc::SYS_sched_getattr,
        libc::SYS_sched_get_priority_max, libc::SYS_sched_get_priority_min,
        libc::SYS_sched_setparam, libc::SYS_sched_setscheduler, libc::SYS_sched_setattr,
        libc::SYS_getpriority, libc::SYS_setpriority, libc::SYS_getcpu, libc::SYS_setsid,
        libc::SYS_setpgid, libc::SYS_getpgid, libc::SYS_getsid, libc::SYS_prlimit64,
        libc::SYS_getrusage,
        // Who and where.
        libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getuid, libc::SYS_geteuid,
        libc::SYS_getgid, libc::SYS_getegid, libc::SYS_getresuid, libc::SYS_getresgid,
        libc::SYS_getgroups, libc::SYS_capget, libc::SYS_uname, libc::SYS_sysinfo,
        libc::SYS_getrandom,
    ]);
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        libc::SYS_open, libc::SYS_creat, libc::SYS_stat, libc::SYS_lstat, libc::SYS_access,
        libc::SYS_readlink, libc::SYS_mkdir, libc::SYS_rmdir, libc::SYS_unlink, libc::SYS_rename,
        libc::SYS_renameat, libc::SYS_link, libc::SYS_symlink, libc::SYS_chmod, libc::SYS_utime,
        libc::SYS_utimes, libc::SYS_futimesat, libc::SYS_getdents, libc::SYS_dup2, libc::SYS_pipe,
        libc::SYS_poll, libc::SYS_select, libc::SYS_epoll_create, libc::SYS_epoll_wait,
        libc::SYS_eventfd, libc::SYS_signalfd, libc::SYS_alarm, libc::SYS_pause, libc::SYS_time,
        libc::SYS_fork, libc::SYS_vfork, libc::SYS_getpgrp, libc::SYS_arch_prctl,
        libc::SYS_getrlimit, libc::SYS_setrlimit,
    ]);
    #[cfg(target_arch = "aarch64")]
    calls.extend([libc::SYS_renameat, libc::SYS_getrlimit, libc::SYS_setrlimit]);
    calls
}

/// Calls that are always refused. The first filter must list them, or they would return ENOSYS.
#[rustfmt::skip]
fn refused() -> Vec<i64> {
    let mut calls = vec![
        libc::SYS_seccomp, libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen,
        libc::SYS_accept4, libc::SYS_accept, libc::SYS_ptrace, libc::SYS_unshare, libc::SYS_setns,
        libc::SYS_mount, libc::SYS_umount2, libc::SYS_chroot, libc::SYS_setuid, libc::SYS_setgid,
        libc::SYS_setresuid, libc::SYS_setresgid, libc::SYS_setgroups, libc::SYS_mknodat,
        libc::SYS_fchownat, libc::SYS_fchown, libc::SYS_setxattr, libc::SYS_lsetxattr,
        libc::SYS_fsetxattr, libc::SYS_personality, libc::SYS_keyctl, libc::SYS_add_key,
        libc::SYS_request_key, libc::SYS_capset, libc::SYS_bpf, libc::SYS_perf_event_open,
        libc::SYS_userfaultfd, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev,
        libc::SYS_name_to_handle_at, libc::SYS_open_by_handle_at, libc::SYS_syslog,
        // No limit counts descriptors in transit or large buffers.
        libc::SYS_sendmsg, libc::SYS_sendmmsg, libc::SYS_setsockopt,
    ];
    #[cfg(target_arch = "x86_64")]
    calls.extend([libc::SYS_mknod, libc::SYS_chown, libc::SYS_lchown]);
    calls
}

#[rustfmt::skip]
fn denied(extra: Extra) -> anyhow::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut always = refused();
    if extra.no_processes {
        #[cfg(target_arch = "x86_64")]
        always.extend([libc::SYS_fork, libc::SYS_vfork]);
    }
    if extra.is_shared {
        always.extend([
            libc::SYS_tkill, libc::SYS_pidfd_send_signal, libc::SYS_rt_sigqueueinfo,
            libc::SYS_rt_tgsigqueueinfo, libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_utimensat,
            libc::SYS_setpriority, libc::SYS_sched_setaffinity, libc::SYS_sched_setparam,
            libc::SYS_sched_setscheduler, libc::SYS_sched_setattr,
        ]);
        #[cfg(target_arch = "x86_64")]
        always.extend([
            libc::SYS_chmod, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat,
        ]);
    }
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        always.into_iter().map(|it| (it, Vec::new())).collect();
    let mut deny = |call: i64, conditions: Vec<SeccompCondition>| -> anyhow::Result<()> {
        let rule = SeccompRule::new(conditions)?;
        // An empty list of rules matches every call; adding a rule would narrow it.
        match rules.get_mut(&call) {
            Some(rules) if rules.is_empty() => {}
            Some(rules) => rules.push(rule),
            None => drop(rules.insert(call, vec![rule])),
        }
        Ok(())
    };
    // A pair of datagram sockets could send to any path; a stream pair can send only to each other.
    deny(libc::SYS_socketpair, vec![arg(0, SeccompCmpOp::Ne, libc::AF_UNIX)?])?;
    let kind = SeccompCmpOp::MaskedEq(0xf);
    for other in (0..16).filter(|&it| it != libc::SOCK_STREAM) {
        deny(libc::SYS_socketpair, vec![arg(1, kind.clone(), other)?])?;
    }
    for flag in NAMESPACES {
        let is_set = SeccompCmpOp::MaskedEq(u64::from(flag.cast_unsigned()));
        deny(libc::SYS_clone, vec![arg(0, is_set, flag)?])?;
    }
    // A set-user-ID or set-group-ID file would remain outside for someone to run.
    let mut modes = vec![
        (libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (libc::SYS_openat, 3), (libc::SYS_mkdirat, 2),
    ];
    #[cfg(target_arch = "x86_64")]
    modes.extend([
        (libc::SYS_chmod, 1), (libc::SYS_open, 2), (libc::SYS_creat, 1), (libc::SYS_mkdir, 1),
    ]);
    for (call, at) in modes {
        for bit in [libc::S_ISUID, libc::S_ISGID] {
            deny(call, vec![arg(at, SeccompCmpOp::MaskedEq(bit.into()), bit.cast_signed())?])?;
        }
    }
    // Keystrokes injected into a terminal, and signals to arbitrary processes.
    for request in [libc::TIOCSTI, libc::TIOCLINUX, FIOSETOWN, SIOCSPGRP] {
        let request = i32::try_from(request)?;
        deny(libc::SYS_ioctl, vec![arg(1, SeccompCmpOp::Eq, request)?])?;
    }
    // A lease blocks any outside process that opens the file.
    for request in [F_SETLEASE, F_NOTIFY] {
        deny(libc::SYS_fcntl, vec![arg(1, SeccompCmpOp::Eq, request)?])?;
    }
    // No file size limit counts space allocated beyond the end of a file.
    deny(libc::SYS_fallocate, vec![arg(1, SeccompCmpOp::Ne, 0)?])?;
    if extra.no_processes {
        let thread = SeccompCmpOp::MaskedEq(u64::from(libc::CLONE_THREAD.cast_unsigned()));
        deny(libc::SYS_clone, vec![arg(0, thread, 0)?])?;
    }
    if extra.is_shared {
        let own = i32::try_from(std::process::id())?;
        for call in [libc::SYS_kill, libc::SYS_tgkill] {
            deny(call, vec![arg(0, SeccompCmpOp::Ne, own)?])?;
        }
        deny(libc::SYS_prlimit64, vec![arg(0, SeccompCmpOp::Ne, 0)?])?;
        // Ids of other processes, and the parent-death signal that ties the worker to the monitor.
        for call in [libc::SYS_getsid, libc::SYS_getpgid] {
            deny(call, vec![arg(0, SeccompCmpOp::Ne, 0)?])?;
        }
        deny(libc::SYS_pidfd_open, vec![arg(0, SeccompCmpOp::Ne, own)?])?;
        deny(libc::SYS_prctl, vec![arg(0, SeccompCmpOp::Eq, libc::PR_SET_PDEATHSIG)?])?;
        for request in [libc::F_SETOWN, F_SETSIG, F_SETOWN_EX] {
            deny(libc::SYS_fcntl, vec![arg(1, SeccompCmpOp::Eq, request)?])?;
        }
    }
    Ok(rules)
}

/// The `CLONE_NEW…` namespaces; no process inside may create a new one.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// Which process receives a signal when a file is ready; from `fcntl.h`, defined in no crate.
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;
const F_SETLEASE: i32 = 1024;
const F_NOTIFY: i32 = 1026;
/// The same for sockets; from `asm-generic/sockios.h`.
const FIOSETOWN: libc::Ioctl = 0x8901;
const SIOCSPGRP: libc::Ioctl = 0x8902;

/// A condition on an argument; the kernel compares 32 bits.
fn arg(at: u8, operator: SeccompCmpOp, value: i32) -> anyhow::Result<SeccompCondition> {
    let value = u64::from(value.cast_unsigned());
    Ok(SeccompCondition::new(at, SeccompCmpArgLen::Dword, operator, value)?)
}
