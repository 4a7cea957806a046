//! Turns of the past, as users name them: by number, or `last`.

use anyhow::Context;

use super::options::GlobalOptions;
use crate::agent::again::past::PastTurn;
use crate::session::turns::{self, TurnSummary};
use crate::status::{ExitStatus, Failure};

/// Finds a turn of the session.
///
/// # Errors
///
/// Fails when there is no session, or no such turn; the message says which there are.
pub fn find(wanted: &str, options: &GlobalOptions) -> anyhow::Result<TurnSummary> {
    options.session.existing()?;
    let mut turns = turns::list(&options.session.dir)?;
    let refuse = |message: String, hint: String| {
        Err(Failure::new(ExitStatus::Input, message).hint(hint).into())
    };
    let Some(last) = turns.last() else {
        let hint = "ask something: `csv-agent ask \"How many rows are there?\"`";
        return refuse("the session has no turn yet".to_owned(), hint.to_owned());
    };
    let number = |it: &str| it.parse::<u32>().ok();
    let at = if wanted == "last" {
        Some(turns.len() - 1)
    } else if let Some(wanted) = number(wanted) {
        turns.iter().position(|it| number(&it.id) == Some(wanted))
    } else {
        let message = format!("`{wanted}` is no turn");
        return refuse(message, format!("write its number, such as `{}`, or `last`", last.id));
    };
    let Some(at) = at else {
        let hint = format!("the session has {} to {}", turns[0].id, last.id);
        return refuse(format!("no turn {wanted}"), hint);
    };
    Ok(turns.swap_remove(at))
}

/// Reads a turn of the session, and those before it, oldest first.
///
/// # Errors
///
/// Fails as [`find`] does, and when events cannot be read.
pub fn read(wanted: &str, options: &GlobalOptions) -> anyhow::Result<(PastTurn, Vec<PastTurn>)> {
    let mut turns = select(&[wanted.to_owned()], options)?;
    let (turn, _) = turns.pop().context("a turn was found")?;
    Ok((turn, turns.into_iter().map(|it| it.0).collect()))
}

/// Demands that a turn kept nothing back: its code would not give the same with all of the data.
///
/// # Errors
///
/// Fails with [`ExitStatus::Input`] when it did.
pub fn demand_whole(turn: &PastTurn) -> anyhow::Result<()> {
    if turn.withheld.is_nothing() {
        return Ok(());
    }
    let flag = if turn.withheld.rows { "--no-rows" } else { "--redact" };
    let message =
        format!("turn {} was asked with `{flag}`: it saw other values than the data has", turn.id);
    let hint = "ask the question again without it; `csv-agent show` has the turn as it was";
    Err(Failure::new(ExitStatus::Input, message).hint(hint).into())
}

/// Reads the turns of the session up to the last that is wanted, oldest first, each with whether it is.
///
/// # Errors
///
/// Fails as [`find`] does, and when events cannot be read.
pub fn select(wanted: &[String], options: &GlobalOptions) -> anyhow::Result<Vec<(PastTurn, bool)>> {
    let mut ids = Vec::new();
    for wanted in wanted {
        if wanted == "all" {
            find("last", options)?;
            ids.extend(turns::list(&options.session.dir)?.into_iter().map(|it| it.id));
        } else {
            ids.push(find(wanted, options)?.id);
        }
    }
    let mut read = Vec::new();
    for turn in turns::list(&options.session.dir)? {
        let (events, _) = turns::events(&turn.dir)?;
        read.push((PastTurn::of(&turn.id, events), ids.contains(&turn.id)));
    }
    let n_read = read.iter().rposition(|it| it.1).map_or(0, |it| it + 1);
    read.truncate(n_read);
    Ok(read)
}
