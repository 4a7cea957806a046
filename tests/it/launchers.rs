//! What `.ci/make-launchers` writes beside the archives of a release: the script that installs one, and npm's packages.
//!
//! `.ci/release-dry-run` installs the real program with them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Stands in for the program.
const PROGRAM: &str = "#!/bin/sh\necho csv-agent of the archive\n";
/// Takes files from a directory instead of a server.
const CURL: &str = "#!/bin/sh\ncp \"$RELEASE/${2##*/}\" \"$4\"\n";

/// A release with archives for both processors.
struct Release {
    directory: TempDir,
}

impl Release {
    fn new() -> Release {
        let release = Release { directory: tempfile::tempdir().unwrap() };
        for processor in ["x86_64", "aarch64"] {
            let name = format!("csv-agent-{VERSION}-{processor}-unknown-linux-gnu");
            let root = release.path(&name);
            fs::create_dir_all(root.join("man")).unwrap();
            fs::create_dir_all(root.join("completions")).unwrap();
            write(&root.join("csv-agent"), PROGRAM);
            write(&root.join("LICENSE-MIT"), "MIT\n");
            write(&root.join("man/csv-agent.1"), ".TH csv-agent\n");
            for file in ["csv-agent.bash", "csv-agent.fish", "_csv-agent"] {
                write(&root.join("completions").join(file), "#\n");
            }
            let archive = release.path(&format!("{name}.tar.gz"));
            let mut tar = Command::new("tar");
            tar.arg("-czf").arg(archive).arg("-C").arg(release.directory.path()).arg(&name);
            assert!(tar.status().unwrap().success());
        }
        write(&release.path("bin/curl"), CURL);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/make-launchers");
        let mut made = Command::new("python3");
        made.arg(script).arg(release.directory.path()).arg("https://example.com/v1");
        let made = made.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        release
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn install(&self, arguments: &[&str]) -> Output {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new("sh");
        command.arg(self.path("install.sh")).args(arguments);
        command.env_clear().env("HOME", self.path("home")).env("RELEASE", self.directory.path());
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.output().unwrap()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[track_caller]
fn check_fails(run: &Output, error: &str) {
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && stderr.contains(&format!("error: {error}")), "{stderr}");
}

#[test]
fn the_script_installs_the_archive_of_this_machine() {
    let release = Release::new();
    let run = release.install(&[]);
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{stderr}");
    assert_eq!(run.stdout, b"csv-agent of the archive\n");
    let bin = release.path("home/.local/bin");
    assert_eq!(fs::read_to_string(bin.join("csv-agent")).unwrap(), PROGRAM);
    assert!(stderr.ends_with(&format!("export PATH=\"{}:$PATH\"\n", bin.display())), "{stderr}");
    assert!(release.path("home/.local/share/man/man1/csv-agent.1").exists());
    // An older version is replaced, anywhere.
    let prefix = release.path("opt");
    write(&prefix.join("bin/csv-agent"), "old");
    let run = release.install(&["--prefix", &prefix.to_string_lossy()]);
    assert!(run.status.success());
    assert_eq!(fs::read_to_string(prefix.join("bin/csv-agent")).unwrap(), PROGRAM);
}

#[test]
fn an_archive_that_is_not_of_the_release_is_not_installed() {
    let release = Release::new();
    for processor in ["x86_64", "aarch64"] {
        let name = format!("csv-agent-{VERSION}-{processor}-unknown-linux-gnu.tar.gz");
        fs::write(release.path(&name), "other bytes").unwrap();
    }
    check_fails(&release.install(&[]), "the checksum of csv-agent-");
    assert!(!release.path("home/.local/bin/csv-agent").exists());
    fs::remove_file(release.path("bin/curl")).unwrap();
    write(&release.path("bin/curl"), "#!/bin/sh\nexit 6\n");
    check_fails(&release.install(&[]), "cannot download https://example.com/v1/csv-agent-");
    check_fails(&release.install(&["--directory", "x"]), "there is no option `--directory`");
}

#[test]
fn a_script_that_arrives_in_part_does_nothing() {
    let release = Release::new();
    let script = fs::read_to_string(release.path("install.sh")).unwrap();
    let lines: Vec<&str> = script.lines().collect();
    for n_lines in 1..lines.len() {
        fs::write(release.path("install.sh"), lines[..n_lines].join("\n")).unwrap();
        release.install(&[]);
        assert!(!release.path("home").exists(), "{n_lines}");
    }
}

#[test]
fn the_package_of_npm_starts_one_for_each_platform() {
    let release = Release::new();
    let package = |name: &str| -> Value {
        let text = fs::read(release.path(&format!("npm/{name}/package.json"))).unwrap();
        serde_json::from_slice(&text).unwrap()
    };
    let needs = json!({"@csv-agent/linux-x64": VERSION, "@csv-agent/linux-arm64": VERSION});
    assert_eq!(package("csv-agent")["optionalDependencies"], needs);
    for (name, processor) in [("linux-x64", "x64"), ("linux-arm64", "arm64")] {
        let found = package(name);
        assert_eq!(found["name"], format!("@csv-agent/{name}"));
        assert_eq!((&found["cpu"], &found["version"]), (&json!([processor]), &json!(VERSION)));
        let program = release.path(&format!("npm/{name}/csv-agent"));
        assert_eq!(fs::read_to_string(program).unwrap(), PROGRAM);
    }
}
