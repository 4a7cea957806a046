//! csv-agent installed as a wheel: which Python runs the code.
//!
//! The tests lay the program where pip puts it. `.ci/try-wheel` installs a real wheel.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Bench, Run};
use crate::worker::interpreter;

/// An answer whose code runs in Python, and what `doctor` says of that Python.
const JOB: &str = r#"
unset CSV_AGENT_PYTHON VIRTUAL_ENV
export PATH="$BIN" XDG_CACHE_HOME="$CACHE"
run() { "$RUN" "${ARGUMENTS[@]}" "$@"; }
run ask -q --ephemeral -f "$FX/sales.csv" --replay "$FX/table.cass.jsonl" --events "$EVENTS" q >/dev/null
run doctor --json --offline --model builtin
"#;

/// What pip put somewhere, with the packages of the managed environment.
struct Installed {
    bench: Bench,
    directory: TempDir,
    /// The directory above `bin`.
    prefix: PathBuf,
    /// A Python without packages, and its file name with the version.
    base: PathBuf,
    name: String,
}

impl Installed {
    /// Puts the program into an empty virtual environment.
    async fn without_packages() -> Installed {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let directory = tempfile::tempdir_in(fs::canonicalize(target).unwrap()).unwrap();
        let prefix = directory.path().join("prefix");
        let managed = interpreter().await.executable;
        run(Command::new(&managed).args(["-m", "venv", "--without-pip"]).arg(&prefix));
        let lib = fs::read_dir(prefix.join("lib")).unwrap().next().unwrap().unwrap();
        let base = fs::canonicalize(managed).unwrap();
        let name = lib.file_name().into_string().unwrap();
        let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/csv_agent");
        copy(&module, &lib.path().join("site-packages/csv_agent"));
        copy(Path::new(env!("CARGO_BIN_EXE_csv-agent")), &prefix.join("bin/csv-agent"));
        Installed { bench: Bench::with([]), directory, prefix, base, name }
    }

    async fn with_packages() -> Installed {
        let installed = Installed::without_packages().await;
        let managed = interpreter().await.executable;
        let packages = managed.ancestors().nth(2).unwrap().join("lib").join(&installed.name);
        for package in fs::read_dir(packages.join("site-packages")).unwrap() {
            let package = package.unwrap();
            copy(&package.path(), &installed.site().join(package.file_name()));
        }
        installed
    }

    fn site(&self) -> PathBuf {
        self.prefix.join("lib").join(&self.name).join("site-packages")
    }

    /// Runs a script with this program and arguments, and these directories on the PATH.
    fn shell(&self, script: &str, (program, arguments): (&Path, &str), bin: &str) -> Run {
        let variables = [
            ("RUN", program.to_owned()),
            ("BIN", PathBuf::from(bin)),
            ("CACHE", self.cache()),
            ("EVENTS", self.bench.path("events.jsonl")),
            ("FX", Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cassettes")),
        ];
        let script = format!("ARGUMENTS=({arguments})\n{script}");
        self.bench.shell(&script, &variables)
    }

    fn cache(&self) -> PathBuf {
        self.directory.path().join("cache")
    }

    /// Does the job, and demands that it uses this Python and makes no environment.
    #[track_caller]
    fn uses(&self, python: &Path, program: (&Path, &str), bin: &str) {
        let run = self.shell(JOB, program, bin).succeeds();
        let events = fs::read_to_string(self.bench.path("events.jsonl")).unwrap();
        let mut events = events.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        assert!(events.any(|it| it["type"] == "tool_result" && it["status"] == "ok"), "{run}");
        let expected = format!("{}, installed with csv-agent", python.display());
        assert!(run.stdout().contains(&expected), "{expected}\n{run}");
        assert!(!self.cache().exists());
    }
}

/// Copies a file or a directory, as links where possible: the packages have 700 MB.
fn copy(from: &Path, to: &Path) {
    let mut link = Command::new("cp");
    if !link.arg("-al").args([from, to]).stderr(Stdio::null()).status().unwrap().success() {
        run(Command::new("cp").args(["-a", "--remove-destination", "-T"]).args([from, to]));
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn the_python_beside_the_program_runs_the_code() {
    let installed = Installed::with_packages().await;
    let python = installed.prefix.join("bin").join(&installed.name);
    let program = installed.prefix.join("bin/csv-agent");
    installed.uses(&python, (&program, ""), "");
    // As pipx and `uv tool` have it on the PATH.
    let link = installed.directory.path().join("csv-agent");
    symlink(&program, &link).unwrap();
    installed.uses(&python, (&link, ""), "");
}

#[tokio::test]
async fn packages_of_pip_install_user_are_found_by_a_python_elsewhere() {
    let installed = Installed::with_packages().await;
    for name in ["python", "python3", &installed.name] {
        let _ = fs::remove_file(installed.prefix.join("bin").join(name));
    }
    fs::remove_file(installed.prefix.join("pyvenv.cfg")).unwrap();
    let bin = installed.directory.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let python = bin.join(&installed.name);
    symlink(&installed.base, &python).unwrap();
    let program = installed.prefix.join("bin/csv-agent");
    installed.uses(&python, (&program, ""), bin.to_str().unwrap());
    let run = format!("export PYTHONUSERBASE='{}'\n{JOB}", installed.prefix.display());
    let found = installed.shell(&run, (&python, "-m csv_agent"), "").succeeds();
    assert!(found.stdout().contains(", installed with csv-agent"), "{found}");
    assert!(!installed.cache().exists());
}

#[tokio::test]
async fn a_wheel_without_packages_works_where_no_python_is_needed_and_says_what_it_lacks() {
    let installed = Installed::without_packages().await;
    let program = installed.prefix.join("bin/csv-agent");
    let shell = |line: &str| {
        let end = JOB.find("run ask").unwrap();
        installed.shell(&format!("{}\n{line}", &JOB[..end]), (&program, ""), "")
    };
    let sum = "select count(*) as n from sales";
    let query = shell(&format!("run query --format csv -f \"$FX/sales.csv\" '{sum}'")).succeeds();
    assert_eq!(query.stdout(), "n\n10\n");
    let asked =
        "run ask --ephemeral -f \"$FX/sales.csv\" --model builtin 'total revenue by product'";
    assert!(shell(asked).succeeds().stdout().contains("total_revenue"));
    let python = installed.prefix.join("bin").join(&installed.name);
    let lack = format!(
        "csv-agent is installed in the Python `{}`, which lacks pandas, numpy, pyarrow",
        python.display()
    );
    let doctor = shell("run doctor --offline --model builtin").succeeds();
    assert!(doctor.stdout().contains(&lack), "{doctor}");
    // The analyst needs no Python.
    let end = "You can ask a question.\n";
    assert!(doctor.stdout().ends_with(end), "{doctor}");
    let replay = "run ask --ephemeral -f \"$FX/sales.csv\" --replay \"$FX/table.cass.jsonl\" q";
    let model = shell(replay);
    assert!(model.stderr().contains(&lack), "{model}");
    assert!(model.stderr().contains("csv-agent setup"), "{model}");
    assert!(!installed.cache().exists());
}
