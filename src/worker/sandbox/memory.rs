//! How much memory this machine can give to code.

use std::fs;
use std::path::Path;

use csv_agent_types::limits::WORKER_MEMORY_BYTES_MIN;

/// Where Linux mounts control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// Returns the default memory limit of code: half of the machine's memory, or half of what its control
/// group allows, such as that of a container.
pub fn usual_memory_bytes() -> u64 {
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let groups = read(Path::new("/proc/self/cgroup"));
    let machine = of_machine(&read(Path::new("/proc/meminfo")));
    let allowed = machine.into_iter().chain(of_groups(&groups, Path::new(GROUPS), read)).min();
    allowed.map_or(WORKER_MEMORY_BYTES_MIN, |it| WORKER_MEMORY_BYTES_MIN.max(it / 2))
}

/// Reads `MemTotal:       24604180 kB`.
fn of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|it| it.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the limits of this process's control group and of its ancestors: `0::/a/b` of version 2,
/// `5:memory:/a/b` of version 1. Source: cgroups(7).
fn of_groups(groups: &str, root: &Path, read: impl Fn(&Path) -> String) -> Vec<u64> {
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (mount, name) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            it if it.split(',').any(|it| it == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        // In a container the path may be that of the host, and the root of the mount the container's
        // own group.
        let group = mount.join(group.trim_start_matches('/'));
        let around = group.ancestors().take_while(|it| it.starts_with(&mount));
        limits.extend(around.filter_map(|it| read(&it.join(name)).trim().parse::<u64>().ok()));
    }
    limits
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{of_groups, of_machine};

    #[test]
    fn the_memory_of_the_machine_is_read_in_bytes() {
        assert_eq!(
            of_machine("MemTotal:       24604180 kB\nMemFree: 1 kB\n"),
            Some(24_604_180 * 1024)
        );
        assert_eq!(of_machine(""), None);
    }

    #[test]
    fn every_group_around_the_process_may_limit_it() {
        let read = |path: &Path| {
            let text = match path.to_str().unwrap() {
                "/c/a/memory.max" => "4000\n",
                "/c/a/b/memory.max" => "max\n",
                "/c/memory/docker/1/memory.limit_in_bytes" => "3000\n",
                "/c/memory/memory.limit_in_bytes" => "9223372036854771712\n",
                _ => "",
            };
            text.to_owned()
        };
        assert_eq!(of_groups("0::/a/b\n", Path::new("/c"), read), [4000]);
        let older = "12:cpu,cpuacct:/docker/1\n5:memory:/docker/1\n";
        let unlimited = 9_223_372_036_854_771_712;
        assert_eq!(of_groups(older, Path::new("/c"), read), [3000, unlimited]);
        assert_eq!(of_groups("", Path::new("/c"), read), [] as [u64; 0]);
    }
}
