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
    let id = find(wanted, options)?.id;
    let mut turns = select(&[id], options)?;
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
    let why = if turn.withheld.columns.is_empty() {
        "with `--no-rows`: what its calls gave was written down only in part"
    } else {
        "with columns kept back: it saw other values than the data has"
    };
    let message = format!("turn {} was asked {why}", turn.id);
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
    let listed = || anyhow::Ok(turns::list(&options.session.dir)?.into_iter());
    for wanted in wanted {
        if wanted == "all" {
            find("last", options)?;
            ids.extend(listed()?.map(|it| it.id));
        } else {
            ids.push(find(wanted, options)?.id);
        }
    }
    let mut turns: Vec<TurnSummary> = listed()?.collect();
    let n_wanted = turns.iter().rposition(|it| ids.contains(&it.id)).map_or(0, |it| it + 1);
    turns.truncate(n_wanted);
    let mut read = Vec::new();
    for turn in turns {
        let is_wanted = ids.contains(&turn.id);
        let past = PastTurn::of(&turn.id, turns::events(&turn.dir)?.0);
        // What a turn made of tokens in place of values, no other turn ever saw.
        if is_wanted || past.withheld.columns.is_empty() {
            read.push((past, is_wanted));
        }
    }
    Ok(read)
}
