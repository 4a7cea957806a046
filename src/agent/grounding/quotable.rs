//! Texts that an answer may quote: those that the turn has shown, and code that ran.
//!
//! Numbers that ground are kept elsewhere. These texts may only be repeated word for word.

use csv_agent_types::limits::QUOTABLE_BYTES_MAX;

/// Language names of code fences. The content of such a fence claims nothing.
const LANGUAGES: [&str; 29] = [
    "bash", "c", "cpp", "css", "dockerfile", "go", "html", "ipython", "java", "javascript", "js",
    "json", "julia", "powershell", "py", "python", "python3", "r", "ruby", "rust", "scala", "sh",
    "shell", "sql", "toml", "ts", "typescript", "xml", "yaml",
];

/// Texts that may be quoted, and code that may be repeated.
#[derive(Debug, Clone, Default)]
pub(super) struct Quotable {
    told: String,
    ran: String,
}

impl Quotable {
    /// Adds a text whose numbers ground nothing. Texts beyond the bound are dropped.
    pub(super) fn tell(&mut self, text: &str) {
        add(&mut self.told, text);
    }

    /// Adds code that ran.
    pub(super) fn run(&mut self, code: &str) {
        add(&mut self.ran, &trimmed(code));
    }

    /// Returns whether this text was added.
    pub(super) fn has(&self, text: &str) -> bool {
        self.told.contains(text)
    }

    /// Returns whether a fence holds code: its first line names a language, or the code ran.
    pub(super) fn is_code(&self, first_line: &str, text: &str) -> bool {
        let tag = first_line.trim_start().trim_start_matches(['`', '~']);
        let tag = tag.split_whitespace().next().unwrap_or_default();
        let tag = tag.trim_matches(['{', '}', '.']).to_lowercase();
        let text = trimmed(text);
        LANGUAGES.contains(&tag.as_str()) || !text.is_empty() && self.ran.contains(&text)
    }
}

fn add(all: &mut String, text: &str) {
    if all.len() + text.len() < QUOTABLE_BYTES_MAX {
        all.push_str(text);
        all.push('\n');
    }
}

/// Returns the lines of code without their indentation.
fn trimmed(code: &str) -> String {
    let lines: Vec<&str> = code.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    lines.join("\n")
}
