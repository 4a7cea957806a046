//! Turns of the past, as users name them: by number, or `last`.

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
    let turn = find(wanted, options)?;
    let read = |it: &TurnSummary| {
        let (events, _) = turns::events(&it.dir)?;
        anyhow::Ok(PastTurn::of(&it.id, events))
    };
    let earlier = turns::list(&options.session.dir)?.into_iter().take_while(|it| it.id != turn.id);
    let earlier = earlier.map(|it| read(&it)).collect::<anyhow::Result<_>>()?;
    Ok((read(&turn)?, earlier))
}
