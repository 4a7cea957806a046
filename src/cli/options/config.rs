//! Configuration files: their paths, their precedence, their content.
//!
//! The user's own file may set everything. Those of a project or a session come with untrusted data, so
//! they cannot decide where the key is sent or what runs, unless the user trusts the project.

pub(crate) mod document;
pub(crate) mod prices;
mod trust;

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use strum::IntoStaticStr;

use csv_agent_session::directory::{Directory, EntryKind};
use csv_agent_types::limits::CONFIG_BYTES_MAX;
use csv_agent_types::named_file;
use csv_agent_types::status::Failure;
use csv_agent_types::writers::Writers;

use super::settings::{self, SETTINGS, TRUSTED_PROJECTS};
use crate::environment::Environment;
use crate::flags::GlobalFlags;
use document::{ConfigDocument, ConfigEntry, KnownSettings, Mistake, RawValue};

/// The configuration file of a project, in the directory where csv-agent is started.
const PROJECT_FILE: &str = "csv-agent.toml";

/// The level of a file. Earlier levels override later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ConfigLevel {
    /// `config.toml` of the session.
    Session,
    /// `csv-agent.toml` in the current directory.
    Project,
    /// The user's own.
    User,
}

impl ConfigLevel {
    /// Returns its name in messages.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

/// A file in use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfigFile {
    pub place: ConfigLevel,
    /// Absolute.
    pub path: PathBuf,
    /// Its content, without disallowed settings.
    pub document: ConfigDocument,
}

impl ConfigFile {
    /// Returns the base directory of relative paths in the file.
    pub(crate) fn dir(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Returns whether the file, or a profile in it, turns a switch on.
    fn turns_on(&self, key: &str) -> bool {
        let ConfigDocument { entries, profiles, .. } = &self.document;
        let mut entries = entries.iter().chain(profiles.values().flatten());
        entries.any(|it| it.key == key && it.value == RawValue::Switch(true))
    }
}

/// All files in use.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ConfigFiles {
    /// Earlier files override later ones.
    pub files: Vec<ConfigFile>,
    /// Ignored settings and files, with reasons.
    pub warnings: Vec<ConfigWarning>,
}

/// Why a setting, or a whole file, is ignored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfigWarning {
    /// The names of the ignored settings.
    pub keys: Vec<String>,
    /// A sentence with the reason.
    pub message: String,
}

impl ConfigFiles {
    /// Reads the files, as named by the flags and the environment. Fails with `FailureKind::Setup` when a file
    /// cannot be read or contains an unknown setting, and when the user's own file could have been written by
    /// others.
    pub(crate) fn read(
        flags: &GlobalFlags,
        environment: &Environment,
        session_dir: &Path,
    ) -> anyhow::Result<ConfigFiles> {
        if flags.no_config {
            return Ok(ConfigFiles::default());
        }
        let mut found = ConfigFiles::default();
        let user = read_user(flags, environment)?;
        let trusted = trusted(user.as_ref(), environment)?;
        // In a directory that was removed there is no project.
        let project = std::path::absolute(PROJECT_FILE).ok();
        let near = [
            (ConfigLevel::Session, Some(session_dir.join("config.toml"))),
            (ConfigLevel::Project, project),
        ];
        for (place, path) in near {
            let Some(path) = path else { continue };
            if place == ConfigLevel::Session && !may_read(session_dir)? {
                continue;
            }
            let is_trusted = path.parent().is_some_and(|it| trust::is_trusted(it, &trusted));
            found.read_near(place, path, is_trusted, user.as_ref())?;
        }
        found.files.extend(user);
        Ok(found)
    }

    /// Reads a file located with data.
    fn read_near(
        &mut self,
        place: ConfigLevel,
        path: PathBuf,
        is_trusted: bool,
        user: Option<&ConfigFile>,
    ) -> anyhow::Result<()> {
        let Some(opened) = Opened::open(&path)? else { return Ok(()) };
        if let Some(reason) = opened.others.filter(|_| !is_trusted) {
            let message = format!(
                "the {} file `{}` is ignored: {reason}, and its directory is not in \
                 `trusted_projects` of your own configuration",
                place.name(),
                path.display()
            );
            // Whether it would have mattered: a gate must not pass because its thresholds are ignored.
            let entries = opened.read(&path).map(|it| it.entries).unwrap_or_default();
            let keys = entries.into_iter().map(|it| it.key).collect();
            self.warnings.push(ConfigWarning { keys, message });
            return Ok(());
        }
        let mut file = ConfigFile { place, document: opened.read(&path)?, path };
        if !is_trusted {
            self.restrain(&mut file, user);
        }
        self.files.push(file);
        Ok(())
    }

    /// Removes the settings that a project may not set. `false` needs no warning if the user has not turned the switch
    /// on: all switches that a project may not turn off are off by default.
    fn restrain(&mut self, file: &mut ConfigFile, user: Option<&ConfigFile>) {
        let is_on = |key: &str| user.is_some_and(|it| it.turns_on(key));
        let is_off = |it: &ConfigEntry| it.value == RawValue::Switch(false);
        let mut ignored = Vec::new();
        let dir = file.dir().to_owned();
        let mut restrain = |entries: &mut Vec<ConfigEntry>| {
            entries.retain(|it| {
                let may = settings::project_may_say(&it.key, &it.value, &dir);
                if !may && (!is_off(it) || is_on(&it.key)) {
                    ignored.push((it.line, it.key.clone(), is_off(it)));
                }
                may
            });
        };
        restrain(&mut file.document.entries);
        file.document.profiles.values_mut().for_each(&mut restrain);
        // Prices affect when `--max-cost` ends a turn.
        for (model, entries) in std::mem::take(&mut file.document.prices) {
            let line = entries.first().map_or(1, |it| it.line);
            ignored.push((line, format!("prices.{model}"), false));
        }
        ignored.sort();
        for (line, key, is_off) in ignored {
            let why = if is_off {
                "only your own configuration can turn it off"
            } else if settings::project_may_name_a_file(&key) {
                "only your own configuration can name a file that is hidden or outside of the \
                 project"
            } else {
                "only your own configuration can set it"
            };
            let message = format!(
                "{}:{line}: `{key}` is ignored: {why}. To allow it, add this directory to \
                 `trusted_projects` in your own configuration",
                file.path.display()
            );
            self.warnings.push(ConfigWarning { keys: vec![key], message });
        }
    }
}

/// Reads the user's own file: the named one, or else the one at the default path, if it exists.
fn read_user(flags: &GlobalFlags, environment: &Environment) -> anyhow::Result<Option<ConfigFile>> {
    let named = flags.config.as_ref().or(environment.config.as_ref());
    let Some(path) = own_path(flags, environment)? else { return Ok(None) };
    let Some(opened) = Opened::open(&path)? else {
        return match named {
            Some(path) => {
                let message = format!("cannot open the configuration `{}`", path.display());
                Err(Failure::setup(format!("{message}: no such file")).into())
            }
            None => Ok(None),
        };
    };
    // A file that the user names is trusted, whoever owns it.
    if let Some(reason) = opened.others.filter(|_| named.is_none()) {
        let shown = path.display();
        let message = format!("cannot use the configuration `{shown}`: {reason}");
        let hint = format!(
            "make it yours with `chown $(id -u) {shown}` and `chmod go-w {shown}`, or leave it out \
             with `--no-config`"
        );
        return Err(Failure::setup(message).hint(hint).into());
    }
    Ok(Some(ConfigFile { place: ConfigLevel::User, document: opened.read(&path)?, path }))
}

/// Returns whether to read the file of a session. That of a session that may not be used is ignored;
/// opening the session reports why.
fn may_read(session_dir: &Path) -> anyhow::Result<bool> {
    let Ok(Some(session)) = Directory::open_unchecked(session_dir) else { return Ok(false) };
    session.path_of("config.toml", EntryKind::File).map(|it| it.is_some())
}

/// Returns the path of the user's own file: the named one, or else the default, unless there is no home directory.
pub(crate) fn own_path(
    flags: &GlobalFlags,
    environment: &Environment,
) -> anyhow::Result<Option<PathBuf>> {
    match flags.config.as_ref().or(environment.config.as_ref()) {
        Some(path) => Ok(Some(std::path::absolute(path)?)),
        None => Ok(user_path(environment)),
    }
}

/// Returns the default path of the user's own file.
fn user_path(environment: &Environment) -> Option<PathBuf> {
    let below_home = || environment.home.as_ref().map(|it| it.join(".config"));
    let home = environment.config_home.clone().or_else(below_home)?;
    Some(home.join("csv-agent/config.toml"))
}

fn trusted(user: Option<&ConfigFile>, environment: &Environment) -> anyhow::Result<Vec<PathBuf>> {
    let Some(file) = user else { return Ok(Vec::new()) };
    let entry = file.document.entries.iter().find(|it| it.key == TRUSTED_PROJECTS.key);
    let Some(entry) = entry else { return Ok(Vec::new()) };
    TRUSTED_PROJECTS.read(entry, file, environment)
}

/// An existing file, not read yet.
struct Opened {
    file: File,
    others: Option<&'static str>,
}

impl Opened {
    /// Opens a file; None when it does not exist.
    fn open(path: &Path) -> anyhow::Result<Option<Opened>> {
        let cannot = |found: &str| {
            let message = format!("cannot read the configuration `{}`: {found}", path.display());
            let hint = "correct it, or use no configuration file with `--no-config`";
            Failure::setup(message).hint(hint)
        };
        // A link counts as well: its owner chose the file.
        let link = match path.symlink_metadata() {
            Ok(link) => link,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(cannot(&error.to_string()).into()),
        };
        let file = named_file::open(path).map_err(|reason| cannot(&reason.to_string()))?;
        let meta = file.metadata().map_err(|error| cannot(&error.to_string()))?;
        let linked = || link.is_symlink().then(|| owner_of_link(&link)).flatten();
        Ok(Some(Opened { file, others: Writers::from(&meta).others().or_else(linked) }))
    }

    fn read(self, path: &Path) -> anyhow::Result<ConfigDocument> {
        parse(&self.text(path)?).map_err(|it| mistake(path, it).into())
    }

    fn text(self, path: &Path) -> anyhow::Result<String> {
        let fail = |message: String| Failure::setup(message);
        let shown = path.display();
        let bytes = named_file::read_opened(self.file, CONFIG_BYTES_MAX).map_err(|reason| {
            let hint = "is it a configuration file? With `--no-config`, csv-agent reads none";
            fail(format!("cannot read the configuration `{shown}`: {reason}")).hint(hint)
        })?;
        String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + memchr::memchr_iter(b'\n', valid).count();
            let hint = "correct it, or use no configuration file with `--no-config`";
            fail(format!("{shown}:{line}: not valid UTF-8")).hint(hint).into()
        })
    }
}

/// Returns the text of the user's own file, to change it; None when it does not exist. Fails with
/// `FailureKind::Setup` when it cannot be read, or others could have written it.
pub(crate) fn own_text(path: &Path) -> anyhow::Result<Option<String>> {
    let Some(opened) = Opened::open(path)? else { return Ok(None) };
    if let Some(reason) = opened.others {
        let message = format!("cannot change the configuration `{}`: {reason}", path.display());
        return Err(Failure::setup(message).into());
    }
    opened.text(path).map(Some)
}

/// Parses the text of a file. Fails with the first mistake, as [`document::parse`] does.
pub(crate) fn parse(text: &str) -> Result<ConfigDocument, Mistake> {
    let names: Vec<&str> = SETTINGS.iter().map(|it| it.key()).collect();
    let (whole_file, prices) = (settings::WHOLE_FILE, prices::NAMES);
    document::parse(text, KnownSettings { settings: &names, whole_file, prices })
}

/// Checks only the owner: the mode of a link is meaningless.
fn owner_of_link(link: &std::fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    let is_ours = [rustix::process::geteuid().as_raw(), 0].contains(&link.uid());
    (!is_ours).then_some("it is a link that belongs to another user")
}

/// Returns the error for a mistake in a file.
pub(crate) fn mistake(path: &Path, mistake: Mistake) -> Failure {
    let message = format!("{}:{}: {}", path.display(), mistake.line, mistake.message);
    let failure = Failure::setup(message);
    match mistake.hint {
        Some(hint) => failure.hint(hint),
        None => failure.hint("correct it, or use no configuration file with `--no-config`"),
    }
}

/// Returns the error for an invalid value of a setting. `found` must not quote a secret.
pub(crate) fn bad_value(path: &Path, entry: &ConfigEntry, found: &str) -> Failure {
    let message = format!("{}:{}: `{}`: {found}", path.display(), entry.line, entry.key);
    Failure::setup(message).hint("see `csv-agent help config`")
}

/// Returns the path for a value in a file: `~/` is the home directory, and relative paths start at the
/// file's directory.
pub(crate) fn path_in(file_dir: &Path, home: Option<&Path>, text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => file_dir.join(text),
    }
}

/// Returns a string that is not blank. Fails for anything else, naming its type.
pub(crate) fn text(raw: &RawValue) -> Result<&str, String> {
    match raw {
        RawValue::Text(text) if text.trim().is_empty() => Err("it is empty".to_owned()),
        RawValue::Text(text) => Ok(text),
        other => Err(format!("write a string in quotes, not {}", other.kind())),
    }
}
