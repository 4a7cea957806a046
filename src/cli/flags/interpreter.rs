//! Where code runs: the values of flags and configuration files.

use clap::ValueEnum;

use csv_agent_provider::hosted::code_interpreter::MemoryTier;

/// Where code runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum InterpreterChoice {
    /// On this machine, confined
    #[default]
    Local,
    /// In a container of the provider. csv-agent uploads the datasets
    Hosted,
    /// On this machine or in a container, as the model chooses. csv-agent uploads the datasets
    Both,
}

/// Memory of a container.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ContainerMemory {
    /// 1 GB
    #[default]
    #[value(name = "1g")]
    G1,
    /// 4 GB
    #[value(name = "4g")]
    G4,
    /// 16 GB
    #[value(name = "16g")]
    G16,
    /// 64 GB
    #[value(name = "64g")]
    G64,
}

impl From<ContainerMemory> for MemoryTier {
    fn from(memory: ContainerMemory) -> MemoryTier {
        match memory {
            ContainerMemory::G1 => MemoryTier::G1,
            ContainerMemory::G4 => MemoryTier::G4,
            ContainerMemory::G16 => MemoryTier::G16,
            ContainerMemory::G64 => MemoryTier::G64,
        }
    }
}

/// What becomes of a turn whose container has expired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OnExpired {
    /// Fail
    #[default]
    Error,
    /// Continue in a new container, with the datasets but without the variables
    New,
}

/// Whether a tool must run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ToolChoiceFlag {
    /// The model decides
    #[default]
    Auto,
    /// Each turn begins with a run of code in the container
    #[value(name = "code_interpreter")]
    CodeInterpreter,
}
