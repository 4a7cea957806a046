//! What is written from the definition of the command line: completions, man pages, the event schema.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

use super::out;
use crate::status::ExitStatus;

/// The JSON Schema of an event line.
const EVENTS_SCHEMA: &str = include_str!("events.schema.json");

/// Flags of `completions`.
#[derive(Debug, Clone, Args)]
pub struct CompletionsFlags {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// Flags of `schema`.
#[derive(Debug, Clone, Args)]
pub struct SchemaFlags {
    /// What the schema describes
    #[arg(value_name = "WHAT", value_enum)]
    pub what: SchemaOf,
}

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// One line of `--format jsonl`
    Events,
}

/// Flags of `generate`.
#[derive(Debug, Clone, Args)]
pub struct GenerateFlags {
    /// What to write
    #[arg(value_name = "WHAT", value_enum)]
    pub what: Generated,

    /// The directory to write to
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

/// What is kept in the repository beside the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    /// One man page a command
    Man,
    /// One file a shell
    Completions,
}

/// Prints the completions of a shell.
///
/// # Errors
///
/// Fails when stdout cannot take them.
pub fn completions(flags: &CompletionsFlags, command: Command) -> anyhow::Result<ExitStatus> {
    let (_, script) = completion(flags.shell, command);
    out::answer(|out| Ok(out.write_all(&script)?))?;
    Ok(ExitStatus::Ok)
}

/// Prints a JSON Schema.
///
/// # Errors
///
/// Fails when stdout cannot take it.
pub fn schema(flags: &SchemaFlags) -> anyhow::Result<ExitStatus> {
    let text = match flags.what {
        SchemaOf::Events => EVENTS_SCHEMA,
    };
    out::answer(|out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(ExitStatus::Ok)
}

/// Writes the files of one kind to a directory.
///
/// # Errors
///
/// Fails when they cannot be written.
pub fn run(flags: &GenerateFlags, command: Command) -> anyhow::Result<ExitStatus> {
    let files = match flags.what {
        Generated::Man => man_pages(command)?,
        Generated::Completions => {
            let shells = [Shell::Bash, Shell::Zsh, Shell::Fish];
            shells.into_iter().map(|it| completion(it, command.clone())).collect()
        }
    };
    std::fs::create_dir_all(&flags.dir)
        .with_context(|| format!("cannot create `{}`", flags.dir.display()))?;
    for (name, content) in files {
        let path = flags.dir.join(name);
        std::fs::write(&path, content)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(ExitStatus::Ok)
}

/// Returns the file's name, as the shell looks for it, and the script.
fn completion(shell: Shell, mut command: Command) -> (String, Vec<u8>) {
    use clap_complete::Generator;
    let name = command.get_name().to_owned();
    let mut script = match shell {
        // Its first line says what is completed.
        Shell::Zsh => Vec::new(),
        _ => format!("# Completions of {name} for {shell}.\n").into_bytes(),
    };
    clap_complete::generate(shell, &mut command, &name, &mut script);
    (shell.file_name(&name), script)
}

/// Returns a page for the program and one for each command that is not hidden.
fn man_pages(mut command: Command) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    command.build();
    let version = command.get_version().unwrap_or_default().to_owned();
    let mut pages = vec![page(&command, command.get_name(), &version)?];
    for subcommand in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        let title = format!("{}-{}", command.get_name(), subcommand.get_name());
        pages.push(page(subcommand, &title, &version)?);
    }
    Ok(pages)
}

fn page(command: &Command, title: &str, version: &str) -> anyhow::Result<(String, Vec<u8>)> {
    let file_name = format!("{title}.1");
    let man = clap_mangen::Man::new(command.clone())
        .title(title.to_uppercase())
        .source(format!("csv-agent {version}"))
        .manual("csv-agent");
    let mut content = Vec::new();
    man.render(&mut content).with_context(|| format!("cannot write `{file_name}`"))?;
    Ok((file_name, content))
}
