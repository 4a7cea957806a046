//! Turns over datasets that are on a cluster.

use crate::agent::Agent;
use crate::agent::hosted::Interpreter;
use crate::catalog::Catalog;
use crate::provider::Provider;
use crate::status::{ExitStatus, Failure};

impl Agent {
    /// Refuses what cannot be had where a dataset is on a cluster, before anything is sent.
    ///
    /// # Errors
    ///
    /// Fails with [`ExitStatus::Usage`]; the hint names the way out.
    pub(super) fn check_cluster(&self, catalog: &Catalog) -> Result<(), Failure> {
        let Some((name, _)) = catalog.remote().next() else { return Ok(()) };
        let withheld = &self.options.withheld;
        let (message, instead) = if matches!(self.provider, Provider::Builtin) {
            let message = format!(
                "the built-in analyst reads files of this machine, and `{name}` is on a cluster"
            );
            (message, "name a model with `--model NAME`")
        } else if withheld.rows {
            (promised_here("--no-rows", name), "leave out `--no-rows`")
        } else if !withheld.columns.is_empty() {
            (promised_here("--redact", name), "leave out `--redact`")
        } else if matches!(self.options.interpreter, Interpreter::Hosted(_)) {
            let message = format!(
                "`--interpreter hosted`: `{name}` is on a cluster, which code at the provider cannot reach"
            );
            (message, "run code on this machine with `--interpreter local` or `both`")
        } else {
            return Ok(());
        };
        Err(refused(message, instead, catalog))
    }
}

/// Refuses a model without tools: the profile that it would answer from is made of files of this machine.
///
/// # Errors
///
/// Fails with [`ExitStatus::Usage`] when a dataset is on a cluster.
pub fn check_untooled(catalog: &Catalog) -> Result<(), Failure> {
    let Some((name, _)) = catalog.remote().next() else { return Ok(()) };
    let message = format!(
        "the model has no tools: it would answer from a profile, and none is made of `{name}`, which is on \
         a cluster"
    );
    Err(refused(message, "name a model that has tools with `--model NAME`", catalog))
}

fn promised_here(flag: &str, name: &str) -> String {
    format!(
        "`{flag}` holds for files of this machine, and `{name}` is on a cluster: code there sees its values"
    )
}

fn refused(message: String, instead: &str, catalog: &Catalog) -> Failure {
    let here = catalog.here();
    let others =
        here.names().next().map(|it| format!(", or leave the dataset out with `--dataset {it}`"));
    let hint = format!("{instead}{}", others.unwrap_or_default());
    Failure::new(ExitStatus::Usage, message).hint(hint)
}
