//! Where code runs: the values of flags and configuration files.

use clap::ValueEnum;

/// Where code runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InterpreterChoice {
    /// On this machine, confined
    #[default]
    Local,
    /// In a container of the provider. csv-agent uploads the datasets
    Hosted,
    /// On this machine or in a container, as the model chooses. csv-agent uploads the datasets
    Both,
}

/// What becomes of a turn whose container has expired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnExpired {
    /// Fail
    #[default]
    Error,
    /// Continue in a new container, with the datasets but without the variables
    New,
}

/// Whether a tool must run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolChoiceFlag {
    /// The model decides
    #[default]
    Auto,
    /// Each turn begins with a run of code in the container
    #[value(name = "code_interpreter")]
    CodeInterpreter,
}
