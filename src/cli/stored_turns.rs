//! Past turns by the user's names for them: a number, or `last`.

use anyhow::Context;

use csv_agent_agent::replay::stored_turn::{PastTurn, number, settle};
use csv_agent_session::store::MemoryBudget;
use csv_agent_session::turns::{self, TurnSummary};
use csv_agent_types::event::Event;
use csv_agent_types::status::Failure;

use super::options::GlobalOptions;

/// Finds a turn of the session. Fails when there is no session, or no such turn; the message lists the existing
/// ones.
pub(crate) fn find(wanted: &str, options: &GlobalOptions) -> anyhow::Result<TurnSummary> {
    let mut turns = listed(options)?;
    let at = place(wanted, &turns)?;
    Ok(turns.swap_remove(at))
}

/// Lists the turns of the session, at least one.
fn listed(options: &GlobalOptions) -> anyhow::Result<Vec<TurnSummary>> {
    options.session.existing()?;
    let turns = turns::list(&options.session.dir)?;
    if turns.is_empty() {
        let hint =
            "ask a question first, for example with `csv-agent ask \"How many rows are there?\"`";
        return Err(refusal("the session has no turn yet", hint));
    }
    Ok(turns)
}

fn refusal(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Failure::input(message).hint(hint).into()
}

/// Returns the index of a turn within the session.
fn place(wanted: &str, turns: &[TurnSummary]) -> anyhow::Result<usize> {
    let (first, last) = (&turns[0].id, &turns[turns.len() - 1].id);
    if wanted == "last" {
        return Ok(turns.len() - 1);
    }
    let number = |it: &str| it.parse::<u32>().ok();
    let Some(wanted) = number(wanted) else {
        let hint = format!("write its number, such as `{last}`, or `last`");
        return Err(refusal(format!("`{wanted}` is not a turn"), hint));
    };
    let at = turns.iter().position(|it| number(&it.id) == Some(wanted));
    let missing = || {
        let [first, last] = [first, last].map(|it| number(it).unwrap_or_default());
        let hint = if first == last {
            format!("the session has only turn {first}")
        } else {
            format!("the session has turns {first} to {last}")
        };
        refusal(format!("no turn {wanted}"), hint)
    };
    at.ok_or_else(missing)
}

/// Reads a turn of the session, and those before it, oldest first. Fails as [`find`] does, and when events
/// cannot be read.
pub(crate) fn read(
    wanted: &str,
    options: &GlobalOptions,
) -> anyhow::Result<(PastTurn, Vec<PastTurn>)> {
    let turns = listed(options)?;
    let mut is_wanted = vec![false; turns.len()];
    is_wanted[place(wanted, &turns)?] = true;
    let mut turns = read_up_to(turns, &is_wanted)?;
    let (turn, _) = turns.pop().context("a turn was found")?;
    Ok((turn, turns.into_iter().map(|it| it.0).collect()))
}

/// Checks that a turn withheld nothing: with all of the data, its code would give other results. Fails with
/// `FailureKind::Input` when it did.
pub(crate) fn demand_whole(turn: &PastTurn) -> anyhow::Result<()> {
    if turn.withheld.is_nothing() {
        return Ok(());
    }
    let why = if turn.withheld.columns.is_empty() {
        "with `--no-rows`, so its results are stored only in part"
    } else {
        "with columns kept back, so it did not see the real values"
    };
    let message = format!("turn {} was asked {why}", turn.id);
    let hint = "ask the question again and keep nothing back, or see the stored answer with \
                `csv-agent show`";
    Err(Failure::input(message).hint(hint).into())
}

/// Reads the turns of the session up to the last requested one, oldest first, each with whether it is
/// requested. Fails as [`find`] does, and when events cannot be read.
pub(crate) fn select(
    wanted: &[String],
    options: &GlobalOptions,
) -> anyhow::Result<Vec<(PastTurn, bool)>> {
    let turns = listed(options)?;
    let is_wanted = marked(wanted, &turns)?;
    read_up_to(turns, &is_wanted)
}

/// Returns the requested turns of the session, oldest first, each once.
pub(crate) fn choose(
    wanted: &[String],
    options: &GlobalOptions,
) -> anyhow::Result<Vec<TurnSummary>> {
    let turns = listed(options)?;
    let is_wanted = marked(wanted, &turns)?;
    let chosen = turns.into_iter().zip(is_wanted).filter(|it| it.1);
    Ok(chosen.map(|it| it.0).collect())
}

/// Returns for each turn whether it is requested.
fn marked(wanted: &[String], turns: &[TurnSummary]) -> anyhow::Result<Vec<bool>> {
    let mut is_wanted = vec![false; turns.len()];
    for wanted in wanted {
        if wanted == "all" {
            is_wanted.fill(true);
        } else {
            is_wanted[place(wanted, turns)?] = true;
        }
    }
    Ok(is_wanted)
}

/// Reads the events of turns that are in memory at the same time.
pub(crate) struct Together {
    room: MemoryBudget,
    n_read: usize,
}

impl Together {
    /// Begins with none.
    pub(crate) fn new() -> Together {
        Together { room: MemoryBudget::whole(), n_read: 0 }
    }

    /// Reads one more, and returns whether a torn last event was left out. Fails when its events cannot be
    /// read, and when there is no room for them beside the others.
    pub(crate) fn events(&mut self, turn: &TurnSummary) -> anyhow::Result<(Vec<Event>, bool)> {
        let mut room = MemoryBudget::whole();
        let read = turns::events_within(&turn.dir, &mut room)?;
        if !self.room.take_like(&room) {
            let message = format!("{} turns need more memory than the limit", self.n_read + 1);
            let hint = format!("name fewer turns, such as `{}` alone", number(&turn.id));
            return Err(refusal(message, hint));
        }
        self.n_read += 1;
        Ok(read)
    }

    /// Reads what one more did, and nothing of what it gave.
    fn deeds(&mut self, turn: &TurnSummary) -> anyhow::Result<PastTurn> {
        let mut past = PastTurn::of(&turn.id, turns::events(&turn.dir)?.0);
        past.keep_deeds();
        let mut code = past.calls.iter().map(|it| it.call.arguments.as_bytes());
        if code.any(|it| self.room.take(it).is_err()) {
            let message =
                format!("the code of {} turns needs more memory than the limit", self.n_read + 1);
            let hint = "`csv-agent show TURN` shows one turn with its code";
            return Err(refusal(message, hint));
        }
        self.n_read += 1;
        Ok(past)
    }
}

/// Reads turns up to the last that is wanted. Of the others only what they did is kept.
fn read_up_to(
    turns: Vec<TurnSummary>,
    is_wanted: &[bool],
) -> anyhow::Result<Vec<(PastTurn, bool)>> {
    let n_wanted = is_wanted.iter().rposition(|it| *it).map_or(0, |it| it + 1);
    let mut read: Vec<(PastTurn, bool)> = Vec::new();
    let mut together = Together::new();
    for (turn, is_wanted) in turns.into_iter().zip(is_wanted).take(n_wanted) {
        let past = if *is_wanted {
            PastTurn::of(&turn.id, together.events(&turn)?.0)
        } else {
            together.deeds(&turn)?
        };
        // What a turn made of tokens in place of values, no other turn ever saw.
        if *is_wanted || past.withheld.columns.is_empty() {
            read.push((past, *is_wanted));
        }
    }
    settle(read.iter_mut().map(|it| &mut it.0));
    Ok(read)
}
