//! A program as a Jupyter notebook.
//!
//! Source: nbformat, "The notebook file format", version 4.5.

use serde_json::{Value, json};

use csv_agent_render::{answer, inert};

use super::Program;
use super::script::{checks, named, prelude};

/// Writes the notebook.
///
/// # Errors
///
/// Fails when it cannot be written as JSON.
pub fn notebook(program: &Program) -> anyhow::Result<String> {
    let checks = checks(program);
    let mut cells = vec![code(&prelude(program, &checks, ""))];
    for (at, piece) in program.pieces.iter().enumerate() {
        let turn = program.turns.iter().find(|it| it.id == piece.turn);
        let is_first = at == 0 || program.pieces[at - 1].turn != piece.turn;
        if let (Some(turn), true) = (turn, is_first) {
            let question = inert::markdown(turn.question.trim());
            let reply = turn.reply.as_ref().map_or("", |it| it.text.trim());
            let reply = inert::markdown(&answer::shown(reply, &turn.reply_file()));
            cells.push(markdown(&format!(
                "## {question}\n\n{}\n\n{reply}",
                inert::text(&named(turn))
            )));
        }
        let shown = piece.shows.as_ref().filter(|_| turn.is_some());
        let shown = shown.map_or(String::new(), |it| format!("\n{it}"));
        cells.push(code(&format!("{}{shown}", piece.code)));
    }
    cells.push(markdown("## Results"));
    cells.push(code(&checks));
    for (at, cell) in cells.iter_mut().enumerate() {
        cell["id"] = json!(format!("cell-{}", at + 1));
    }
    let notebook = json!({
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "cells": cells,
    });
    Ok(serde_json::to_string_pretty(&notebook)? + "\n")
}

fn markdown(text: &str) -> Value {
    json!({"cell_type": "markdown", "metadata": {}, "source": lines(text)})
}

fn code(text: &str) -> Value {
    let source = lines(text);
    json!({
        "cell_type": "code", "metadata": {}, "execution_count": null, "outputs": [], "source": source,
    })
}

fn lines(text: &str) -> Vec<&str> {
    text.trim_end().split_inclusive('\n').collect()
}
