//! Sources of the API key: a variable, a file, or a command.
//!
//! The file is read and the command is run only when a request is due.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use csv_agent_provider::models::ANTHROPIC as ANTHROPIC_HOST;
use csv_agent_provider::{Key, host};
use csv_agent_types::limits::{KEY_BYTES_MAX, KEY_COMMAND};
use csv_agent_types::named_file;
use csv_agent_types::status::Failure;

use super::settings::{API, API_KEY_CMD, API_KEY_FILE, BASE_URL_OF_MODEL, Settings, ValueOrigin};
use crate::flags::ApiFlag;

/// The variables that contain a key itself.
const OPENAI: &str = "OPENAI_API_KEY";
const ANTHROPIC: &str = "ANTHROPIC_API_KEY";

const TOO_LONG: &str = "it is too long for a key";

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// Not set; a local server may need none.
    None,
    /// This environment variable.
    Variable(&'static str, Key),
    File(PathBuf),
    /// A command that prints the key.
    Command(Vec<String>),
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::None => f.write_str("no key"),
            KeySource::Variable(name, key) => write!(f, "{name} = {key}"),
            KeySource::File(path) => write!(f, "file {}", path.display()),
            // Its arguments may be as secret as its output.
            KeySource::Command(words) => write!(f, "command {:?}", words.first()),
        }
    }
}

impl KeySource {
    /// Chooses among the settings, and returns the origin. Fails with `FailureKind::Setup` when a file sets
    /// both a file and a command.
    pub(crate) fn choose(settings: &Settings) -> anyhow::Result<(KeySource, ValueOrigin)> {
        let mut sources = Vec::new();
        let (file, command) = (settings.choose(&API_KEY_FILE)?, settings.choose(&API_KEY_CMD)?);
        sources.extend(file.value.map(|it| (KeySource::File(it), file.origin)));
        sources.extend(command.value.map(|it| (KeySource::Command(it), command.origin)));
        if let [(_, one), (_, other)] = &sources[..]
            && same_place(one, other)
        {
            let message =
                format!("`api_key_file` and `api_key_cmd` are both set: {one}, and {other}");
            return Err(Failure::setup(message).hint("keep one of them").into());
        }
        let variable = variable(settings)?;
        sources.extend(
            variable
                .map(|(name, key)| (KeySource::Variable(name, key), ValueOrigin::Variable(name))),
        );
        let server = settings.choose(&BASE_URL_OF_MODEL)?.origin;
        let is_pair = is_profile(&server);
        if is_pair && settings.is_local()? {
            // Any other key is for another server.
            sources.retain(|(_, origin)| is_profile(origin));
            if sources.is_empty() {
                return Ok((KeySource::None, server));
            }
        }
        let first =
            sources.into_iter().min_by(|(_, a), (_, b)| rank(a, is_pair).cmp(&rank(b, is_pair)));
        Ok(first.unwrap_or((KeySource::None, ValueOrigin::Default)))
    }

    /// Fetches the key. This may run a command, which may prompt the user. Fails with `FailureKind::Auth` when
    /// the file or the command yields none, or others may read the file.
    pub(crate) fn get(&self) -> anyhow::Result<Option<Key>> {
        match self {
            KeySource::None => Ok(None),
            KeySource::Variable(_, key) => Ok(Some(key.clone())),
            KeySource::File(path) => Ok(Some(read_file(path)?)),
            KeySource::Command(words) => Ok(Some(run(words, KEY_COMMAND, has_terminal())?)),
        }
    }
}

/// Returns the variable with the key for the server. Anthropic never gets `OpenAI`'s key, nor the other way
/// round; other servers with the Messages API may want either.
fn variable(settings: &Settings) -> anyhow::Result<Option<(&'static str, Key)>> {
    let environment = settings.environment();
    let openai = (OPENAI, environment.api_key.as_deref());
    let anthropic = (ANTHROPIC, environment.anthropic_api_key.as_deref());
    let host = host(&settings.get(&BASE_URL_OF_MODEL)?);
    let variables = match settings.get(&API)? {
        _ if host.as_deref() == Some(ANTHROPIC_HOST) => vec![anthropic],
        ApiFlag::Messages => vec![anthropic, openai],
        ApiFlag::Auto | ApiFlag::Responses | ApiFlag::Chat => vec![openai],
    };
    let mut keys = variables.into_iter().filter_map(|(name, it)| Some((name, Key::new(it?))));
    Ok(keys.find(|(_, key)| !key.is_empty()))
}

/// Orders sources of keys. `CSV_AGENT_API_KEY_FILE` is for this program alone, so it comes first. Where a
/// profile sets the server, its key is for that server: `is_pair`.
fn rank(origin: &ValueOrigin, is_pair: bool) -> (&ValueOrigin, u8) {
    const ENVIRONMENT: &ValueOrigin = &ValueOrigin::Variable("");
    match origin {
        ValueOrigin::Variable(OPENAI | ANTHROPIC) => (ENVIRONMENT, 2),
        ValueOrigin::Profile(..) if is_pair => (ENVIRONMENT, 1),
        ValueOrigin::Variable(_) => (ENVIRONMENT, 0),
        origin => (origin, 0),
    }
}

fn same_place(one: &ValueOrigin, other: &ValueOrigin) -> bool {
    match (one, other) {
        (ValueOrigin::NamedProfile(one), ValueOrigin::NamedProfile(other)) => {
            same_place(one, other)
        }
        (ValueOrigin::Profile(_, one, _), ValueOrigin::Profile(_, other, _))
        | (ValueOrigin::File(_, one, _), ValueOrigin::File(_, other, _)) => one == other,
        _ => false,
    }
}

fn is_profile(origin: &ValueOrigin) -> bool {
    matches!(
        origin,
        ValueOrigin::NamedProfile(_) | ValueOrigin::Profile(..) | ValueOrigin::BuiltIn(_)
    )
}

fn read_file(path: &Path) -> Result<Key, Failure> {
    let shown = path.display();
    let fail =
        |found: String| Failure::auth(format!("cannot read the API key from `{shown}`: {found}"));
    let file = named_file::open(path).map_err(|reason| fail(reason.to_string()))?;
    let meta = file.metadata().map_err(|error| fail(error.to_string()))?;
    let owners = [rustix::process::geteuid().as_raw(), 0];
    let mode = meta.mode() & 0o777;
    let is_open = mode & 0o077 != 0;
    if is_open || !owners.contains(&meta.uid()) {
        let found = if is_open {
            format!("its mode is {mode:04o}, so others can read it")
        } else {
            "it belongs to another user".to_owned()
        };
        let hint = format!("make it yours alone: `chmod 600 {shown}`");
        return Err(fail(found).hint(hint));
    }
    let bytes = named_file::read_opened(file, KEY_BYTES_MAX);
    key(bytes.map_err(|reason| fail(reason.to_string()))?).map_err(|found| fail(found.to_owned()))
}

/// Runs a command and returns its output. Its stderr is the user's, its stdin is empty; it may prompt on
/// the terminal.
fn run(words: &[String], time: Duration, has_terminal: bool) -> Result<Key, Failure> {
    let program = words.first().map(String::as_str).unwrap_or_default();
    let fail = |found: String| {
        let message = format!("cannot get the API key: `{program}` of `api_key_cmd` {found}");
        Failure::auth(message)
    };
    let mut command = Command::new(program);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped());
    if !has_terminal {
        // On a terminal, a process group of its own would be in the background: it could not prompt, and
        // Ctrl-C would not reach it.
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(|error| fail(format!("cannot start: {error}")))?;
    let mut printed = Printed::of(&mut child);
    let deadline = Instant::now() + time;
    let status = loop {
        printed.take();
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                kill(&mut child, has_terminal);
                return Err(fail(format!("did not end within {} s", time.as_secs_f64())));
            }
        }
    };
    // All its output is in the pipe by now. Processes that it leaves behind may keep the pipe open.
    printed.take();
    let bytes = printed.bytes;
    match key(bytes) {
        // A command with endless output is stopped when we close the pipe, and fails for that reason.
        Err(found) if status.success() || found == TOO_LONG => {
            Err(fail(format!("printed no valid key: {found}")))
        }
        Ok(key) if status.success() => Ok(key),
        _ => Err(fail(format!("failed: {status}"))),
    }
}

/// Kills a process, and its children when it has a process group of its own.
fn kill(child: &mut Child, has_terminal: bool) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).filter(|_| !has_terminal);
    // It may have exited by now, which is fine.
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The output of a process, up to one piece beyond the limit.
struct Printed {
    /// None at the end, or after too much output: closing it stops an endless writer.
    pipe: Option<ChildStdout>,
    bytes: Vec<u8>,
}

impl Printed {
    fn of(child: &mut Child) -> Printed {
        // Without this flag, a silent process would block us beyond its timeout.
        let is_set = |it: &ChildStdout| fcntl_setfl(it, OFlags::NONBLOCK).is_ok();
        Printed { pipe: child.stdout.take().filter(is_set), bytes: Vec::new() }
    }

    /// Reads what is in the pipe now.
    fn take(&mut self) {
        let mut piece = [0; 4096];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut piece) {
                Ok(n_bytes @ 1..) => self.bytes.extend(&piece[..n_bytes]),
                Ok(0) => self.pipe = None,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
            if KEY_BYTES_MAX < self.bytes.len() as u64 {
                self.pipe = None;
            }
        }
    }
}

/// Returns whether there is a terminal for prompts.
fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}

/// Reads the single line of a file or a command. Errors do not quote it.
fn key(bytes: Vec<u8>) -> Result<Key, &'static str> {
    if KEY_BYTES_MAX < bytes.len() as u64 {
        return Err(TOO_LONG);
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
    let key = Key::new(&text);
    match text.trim().lines().count() {
        0 => Err("it is empty"),
        1 => Ok(key),
        _ => Err("it has more than one line"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};

    use super::{KeySource, OPENAI, key, read_file, run};
    use csv_agent_provider::Key;
    use csv_agent_types::status::FailureKind;

    #[test]
    fn a_source_does_not_show_what_it_knows() {
        let words = ["echo", "s3cret"].map(str::to_owned).to_vec();
        let shown = [KeySource::Variable(OPENAI, Key::new("s3cret")), KeySource::Command(words)];
        assert_eq!(format!("{shown:?}"), "[OPENAI_API_KEY = ***, command Some(\"echo\")]");
    }

    #[test]
    fn a_key_is_one_line() {
        assert_eq!(key(b" sk-1\n".to_vec()), Ok(Key::new("sk-1")));
        assert_eq!(key(b"\n".to_vec()), Err("it is empty"));
        assert_eq!(key(b"a\nb\n".to_vec()), Err("it has more than one line"));
        assert_eq!(key(vec![b'a'; 100_000]), Err("it is too long for a key"));
        assert_eq!(key(vec![0xFF]), Err("it is not UTF-8"));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_with_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        fs::write(&path, "sk-1\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let failure = read_file(&path).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Auth);
        assert!(failure.message.ends_with("its mode is 0640, so others can read it"));
        assert!(failure.hint.unwrap().contains(&format!("`chmod 600 {}`", path.display())));
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read_file(&path).unwrap(), Key::new("sk-1"));
        assert!(read_file(dir.path()).unwrap_err().message.ends_with("not a regular file"));
    }

    #[track_caller]
    fn check_command(words: &[&str], found: Result<&str, &str>) {
        check_command_within(Duration::from_mins(10), words, found);
    }

    #[track_caller]
    fn check_command_within(time: Duration, words: &[&str], found: Result<&str, &str>) {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let ran = run(&words, time, false).map_err(|it| it.message);
        let beginning = "cannot get the API key: ";
        let found = found.map(Key::new).map_err(|it| format!("{beginning}{it}"));
        assert_eq!(ran, found);
    }

    #[test]
    fn a_command_is_run_without_a_shell_and_not_for_ever() {
        check_command(&["printf", "sk-1;$HOME\n"], Ok("sk-1;$HOME"));
        let silent = "`true` of `api_key_cmd` printed no valid key: it is empty";
        check_command(&["true"], Err(silent));
        check_command(&["false"], Err("`false` of `api_key_cmd` failed: exit status: 1"));
        let late = "`sleep` of `api_key_cmd` did not end within 0.5 s";
        check_command_within(Duration::from_millis(500), &["sleep", "600"], Err(late));
        let endless = "`yes` of `api_key_cmd` printed no valid key: it is too long for a key";
        check_command(&["yes"], Err(endless));
        // Its child processes may keep the pipe open.
        check_command(&["sh", "-c", "sleep 60 & echo sk-1"], Ok("sk-1"));
        check_command(
            &["/no/such/program"],
            Err("`/no/such/program` of `api_key_cmd` cannot start: No such file or directory (os \
                 error 2)"),
        );
    }

    #[test]
    fn what_a_command_has_started_ends_with_it_at_the_time_out() {
        let dir = tempfile::tempdir().unwrap();
        let held = dir.path().join("held");
        mknodat(CWD, &held, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let reads = open(&held, OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut reads = File::from(reads);
        let script = format!("sleep 600 > '{}' & wait", held.display());
        let late = "`sh` of `api_key_cmd` did not end within 0.5 s";
        check_command_within(Duration::from_millis(500), &["sh", "-c", &script], Err(late));
        // The pipe ends when the last process that could write to it exits.
        let deadline = Instant::now() + Duration::from_mins(5);
        while reads.read(&mut [0]).is_err() {
            assert!(Instant::now() < deadline, "what it has started goes on");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
