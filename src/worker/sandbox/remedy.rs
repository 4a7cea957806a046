//! What to do when the kernel refuses a layer: which switch is off, and who can turn it on.

use std::fs;

use super::policy::Layer;

/// Files that show why a layer is refused. A missing file belongs to another kernel.
const SWITCHES: [Switch; 4] = [
    Switch {
        layer: Layer::Namespaces,
        file: "/proc/sys/user/max_user_namespaces",
        is_off: |it| it == "0",
        remedy: "they are turned off: `sudo sysctl -w user.max_user_namespaces=15000` turns them on",
    },
    Switch {
        layer: Layer::Namespaces,
        file: "/proc/sys/kernel/unprivileged_userns_clone",
        is_off: |it| it == "0",
        remedy: "only root may make them: `sudo sysctl -w kernel.unprivileged_userns_clone=1` allows everyone to",
    },
    Switch {
        layer: Layer::Namespaces,
        file: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        is_off: |it| it == "1",
        remedy: "AppArmor refuses them: a profile for csv-agent with `userns,` allows them, and for all \
                 programs `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`",
    },
    Switch {
        layer: Layer::Landlock,
        file: "/sys/kernel/security/lsm",
        is_off: |it| !it.split(',').any(|it| it == "landlock"),
        remedy: "it is not among the security modules: boot with `landlock` in the kernel's parameter `lsm=`",
    },
];

/// A setting of the machine that a layer requires.
struct Switch {
    layer: Layer,
    file: &'static str,
    is_off: fn(&str) -> bool,
    remedy: &'static str,
}

/// Returns how to enable a layer that the kernel has just refused.
pub(super) fn of(layer: Layer) -> &'static str {
    find(layer, |file| fs::read_to_string(file).ok())
}

fn find(layer: Layer, read: impl Fn(&str) -> Option<String>) -> &'static str {
    let is_off = |it: &&Switch| {
        it.layer == layer && read(it.file).is_some_and(|text| (it.is_off)(text.trim()))
    };
    SWITCHES.iter().find(is_off).map_or_else(|| otherwise(layer), |it| it.remedy)
}

/// The advice when no switch is off.
fn otherwise(layer: Layer) -> &'static str {
    match layer {
        Layer::Namespaces => {
            "they need Linux 5.12, and in a container a runtime that lets it make them: for Docker \
             `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`"
        }
        Layer::Landlock => {
            "it needs Linux 5.13 with CONFIG_SECURITY_LANDLOCK, and in a container a runtime that passes its \
             system calls on"
        }
        Layer::Seccomp => "it needs Linux with CONFIG_SECCOMP_FILTER on x86-64 or ARM64",
    }
}

#[cfg(test)]
mod tests {
    use super::{Layer, find};

    #[track_caller]
    fn check(layer: Layer, files: &[(&str, &str)], words: &str) {
        let read = |file: &str| {
            let found = files.iter().find(|it| file.ends_with(it.0));
            found.map(|it| format!("{}\n", it.1))
        };
        let remedy = find(layer, read);
        assert!(remedy.contains(words), "{remedy}");
    }

    #[test]
    fn the_switch_that_is_off_is_named() {
        let docker = "in a container a runtime that lets it";
        check(Layer::Namespaces, &[], docker);
        check(Layer::Namespaces, &[("max_user_namespaces", "15000")], docker);
        check(Layer::Namespaces, &[("max_user_namespaces", "0")], "user.max_user_namespaces=15000");
        check(Layer::Namespaces, &[("userns_clone", "0")], "kernel.unprivileged_userns_clone=1");
        check(Layer::Namespaces, &[("unprivileged_userns", "1")], "`userns,`");
        check(Layer::Landlock, &[("lsm", "capability,yama,apparmor")], "`lsm=`");
        check(Layer::Landlock, &[("lsm", "capability,landlock,yama")], "CONFIG_SECURITY_LANDLOCK");
        check(Layer::Seccomp, &[("max_user_namespaces", "0")], "CONFIG_SECCOMP_FILTER");
    }
}
