//! Flags of `ingest` in messages of other commands, which do not have them: what to do there instead.

use clap::{Args as _, Command};

use csv_agent_types::status::Failure;

use super::ReadFlags;

/// Where a user can say how files are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ReadFlagsOf {
    /// Only `ingest` has the flags.
    #[default]
    Ingest,
    /// `check` has some of the flags, and its file of rules the others.
    Rules,
    /// `diff` has one of the flags, and takes no datasets.
    Diff,
}

impl ReadFlagsOf {
    /// Returns the flags of `ingest` that the command has too.
    fn own(self) -> &'static [&'static str] {
        match self {
            ReadFlagsOf::Ingest => &[],
            ReadFlagsOf::Rules => &["date-order", "strict"],
            ReadFlagsOf::Diff => &["date-order"],
        }
    }

    /// Returns a message in which flags that the command does not have lead on.
    pub(super) fn told(self, text: &str) -> String {
        let flags = ReadFlags::augment_args(Command::new("ingest"));
        let flags = flags.get_arguments().filter_map(|it| it.get_long());
        let is_named =
            |flag: &&str| [' ', '`'].iter().any(|end| text.contains(&format!("`--{flag}{end}")));
        let named: Vec<&str> =
            flags.filter(|it| !self.own().contains(it)).filter(is_named).collect();
        if named.is_empty() {
            return text.to_owned();
        }
        let of_ingest = |text: String, flag: &&str| {
            text.replace(&format!("`--{flag}"), &format!("`csv-agent ingest --{flag}"))
        };
        match self {
            ReadFlagsOf::Ingest => named.iter().fold(text.to_owned(), of_ingest),
            ReadFlagsOf::Diff => {
                let text = named.iter().fold(text.to_owned(), of_ingest);
                format!(
                    "{text}. `csv-agent query \"select * from NAME\" -o FILE.csv` then writes a file for `diff`"
                )
            }
            ReadFlagsOf::Rules => {
                let keys: Vec<String> =
                    named.iter().map(|it| format!("`{}`", it.replace('-', "_"))).collect();
                format!(
                    "{text}. In the file of rules, write {} beside `path` (see `csv-agent help checks`)",
                    keys.join(" and ")
                )
            }
        }
    }

    /// Returns an error whose hint leads on.
    pub(super) fn told_error(self, mut error: anyhow::Error) -> anyhow::Error {
        if let Some(failure) = error.downcast_mut::<Failure>() {
            failure.hint = failure.hint.take().map(|it| self.told(&it));
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::ReadFlagsOf::{Diff, Ingest, Rules};

    #[test]
    fn a_flag_that_the_command_does_not_have_leads_on() {
        let text = "name the encoding with `--encoding`";
        assert_eq!(Ingest.told(text), "name the encoding with `csv-agent ingest --encoding`");
        let rules = "name the encoding with `--encoding`. In the file of rules, write `encoding` beside `path` (see \
                     `csv-agent help checks`)";
        assert_eq!(Rules.told(text), rules);
        let diff = "name the encoding with `csv-agent ingest --encoding`. `csv-agent query \"select * from NAME\" -o \
                    FILE.csv` then writes a file for `diff`";
        assert_eq!(Diff.told(text), diff);
    }

    #[test]
    fn a_flag_that_the_command_has_stays_and_so_does_text_without_flags() {
        for text in ["`--date-order` decides", "the file has no rows"] {
            assert_eq!(Rules.told(text), text);
            assert_eq!(Diff.told(text), text);
        }
        assert_eq!(Ingest.told("`--nullable`"), "`--nullable`");
    }
}
