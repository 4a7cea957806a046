//! SQL: a statement becomes a plan.
//!
//! The dialect is what people and models write, that of `DuckDB` and `PostgreSQL`, with the meaning of
//! `DuckDB`.
//! `binder` resolves names and types, `from` the tables and joins, `select` the rest of a SELECT,
//! `expressions`, `functions`, `aggregates` and `windows` what stands in it, `subqueries` the queries in
//! expressions. What is not supported is refused with its place; nothing is guessed.

#![expect(
    clippy::unused_self,
    reason = "whatever binds a part of a statement is a method of the binder"
)]

mod aggregates;
mod binder;
mod constants;
mod dialect;
mod empty_columns;
mod env;
mod error;
mod expressions;
mod from;
mod functions;
mod kept_back;
mod names;
mod scope;
mod select;
mod row_origin;
mod series;
mod subqueries;
mod types;
mod walk;
mod windows;

use std::panic::resume_unwind;
use std::thread;

use sqlparser::ast::Statement;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError, ParserOptions};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::plan::{ColumnId, OutputColumn, Plan, Query, Scalar, Type};

use binder::Binder;
use dialect::QueryDialect;
pub use empty_columns::prepare_with_empty_columns;
use error::Result;
pub use error::SqlError;
pub use kept_back::KeptBackUse;
pub use row_origin::RowOrigin;
pub(crate) use types::bool_of;

/// Terms and signs of a statement.
const TOKENS_MAX: usize = 50_000;
/// Levels that the parser descends.
const PARSER_LEVELS_MAX: usize = 100;

/// A dataset as a statement sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSchema {
    /// Its name.
    pub name: String,
    /// Name and type of each column, in order.
    pub columns: Vec<(String, Type)>,
}

/// A statement that the engine can run.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// What to run.
    pub query: Query,
    /// The datasets that it reads.
    pub tables: Vec<String>,
}

/// Bytes of the stack of the thread that binds a statement: a chain of operators is as many levels.
const STACK_BYTES: usize = 512 * 1024 * 1024;

/// Makes a plan of a statement. `now` is what `now()` returns, in microseconds since 1970.
///
/// # Errors
///
/// Fails when it is not one query, names what does not exist, or has what is not supported.
pub fn prepare(
    sql: &str,
    tables: &[TableSchema],
    now: i64,
) -> std::result::Result<Prepared, SqlError> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let bound = thread.spawn_scoped(scope, || {
            bind(sql, tables, now).map_err(|it| names::explained(it, sql, tables))
        });
        let bound =
            bound.map_err(|it| SqlError::new(format!("cannot read the statement: {it}")))?;
        bound.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

fn bind(sql: &str, tables: &[TableSchema], now: i64) -> Result<Prepared> {
    let statement = parse(sql)?;
    if matches!(statement, Statement::ShowTables { .. }) {
        return Ok(list_of_tables(tables));
    }
    let Statement::Query(query) = statement else {
        let text = statement.to_string();
        let word = text.split_whitespace().next().unwrap_or_default().to_owned();
        let message = match word.as_str() {
            "SHOW" | "DESCRIBE" | "EXPLAIN" => format!("{word} is not supported"),
            _ => format!("{word} is not a query; csv-agent only reads data"),
        };
        return Err(SqlError::new(message).hint("write SELECT …; SHOW TABLES lists the tables"));
    };
    let mut binder = Binder::new(tables, now);
    let bound = binder.query(&query, None)?;
    let mut names: Vec<String> = Vec::new();
    let mut output = Vec::new();
    for (name, column) in bound.output {
        let name = unique(&name, &names);
        names.push(name.clone());
        output.push(OutputColumn { column, name, dtype: binder.type_of(column) });
    }
    let tables = std::mem::take(&mut binder.used).into_iter().collect();
    Ok(Prepared { query: Query { plan: bound.plan, output }, tables })
}

/// Answers SHOW TABLES.
fn list_of_tables(tables: &[TableSchema]) -> Prepared {
    let column = ColumnId(0);
    let rows = tables.iter().map(|it| vec![Scalar::Text(it.name.clone())]).collect();
    let plan = Plan::Values { columns: vec![(column, Type::Text)], rows };
    let output = vec![OutputColumn { column, name: "name".to_owned(), dtype: Type::Text }];
    Prepared { query: Query { plan, output }, tables: Vec::new() }
}

fn parse(sql: &str) -> Result<Statement> {
    let statements_of = |tokens| {
        let options = ParserOptions { trailing_commas: true, ..ParserOptions::default() };
        let parser = Parser::new(&QueryDialect).with_options(options);
        let parser = parser.with_recursion_limit(PARSER_LEVELS_MAX);
        parser.with_tokens_with_locations(tokens).parse_statements()
    };
    let mut tokens = Tokenizer::new(&QueryDialect, sql);
    let tokens = tokens.tokenize_with_location().map_err(|it| SqlError {
        position: Some((it.location.line, it.location.column)),
        ..SqlError::new(it.message)
    })?;
    let is_word = |it: &&TokenWithSpan| !matches!(it.token, Token::Whitespace(_));
    if TOKENS_MAX < tokens.iter().filter(is_word).count() {
        return Err(SqlError::new(format!(
            "the statement has more than {TOKENS_MAX} words and signs"
        )));
    }
    let count = |wanted: &Token| tokens.iter().filter(|it| it.token == *wanted).count();
    let (n_opened, n_closed) = (count(&Token::LParen), count(&Token::RParen));
    let misspelt = tokens.iter().find_map(|it| clause_of(&it.token));
    let refused = tokens.iter().find_map(refused_clause);
    let with_where = with_where(&tokens);
    let statements = statements_of(tokens);
    let statements = statements.or_else(|error| with_where.map_or(Err(error), statements_of));
    let statements = statements.map_err(|error| {
        if let Some(error) = refused {
            return error;
        }
        let error = syntax(error);
        match misspelt.or_else(|| likely_cause(&error.message, n_opened, n_closed)) {
            Some(hint) if error.hint.is_none() => error.hint(hint),
            _ => error,
        }
    });
    let mut statements = statements?.into_iter();
    match (statements.next(), statements.next()) {
        (Some(statement), None) => Ok(statement),
        (None, _) => Err(SqlError::new("the statement is empty").hint("write SELECT …")),
        (Some(_), Some(_)) => {
            Err(SqlError::new("there are several statements").hint("run one after another"))
        }
    }
}

/// Returns the tokens with the WHERE that DuckDB lets FILTER do without: `count(*) filter (price is null)`. None if no
/// FILTER lacks it.
fn with_where(tokens: &[TokenWithSpan]) -> Option<Vec<TokenWithSpan>> {
    let is_keyword =
        |it: &Token, wanted: Keyword| matches!(it, Token::Word(word) if word.keyword == wanted);
    let words = tokens.iter().filter(|it| !matches!(it.token, Token::Whitespace(_)));
    let mut changed: Vec<TokenWithSpan> = Vec::new();
    let mut has_changed = false;
    for token in words {
        if let [.., filter, open] = &changed[..]
            && is_keyword(&filter.token, Keyword::FILTER)
            && open.token == Token::LParen
            && !is_keyword(&token.token, Keyword::WHERE)
        {
            changed.push(TokenWithSpan::new(Token::make_keyword("WHERE"), token.span));
            has_changed = true;
        }
        changed.push(token.clone());
    }
    has_changed.then_some(changed)
}

/// Words that begin the clauses of a statement.
const CLAUSES: [&str; 8] = ["select", "from", "where", "group", "having", "order", "limit", "join"];

/// Clauses of other engines, and what to write instead.
const REFUSED_CLAUSES: [(&str, &str); 7] = [
    (
        "asof",
        "write JOIN with the condition, and QUALIFY row_number() over (partition by … order by …) = 1",
    ),
    ("lateral", "write the subquery in SELECT, or as a table with a condition in ON"),
    ("pivot", "write a column for each value: sum(case when region = 'North' then price end)"),
    ("sample", "LIMIT gives the first rows"),
    ("summarize", "use `describe` instead of SQL"),
    ("tablesample", "LIMIT gives the first rows"),
    ("unpivot", "write a SELECT for each column, and UNION ALL between them"),
];

/// Returns the error for a word that begins a clause of another engine.
fn refused_clause(token: &TokenWithSpan) -> Option<SqlError> {
    let Token::Word(word) = &token.token else { return None };
    let found = REFUSED_CLAUSES.iter().find(|it| word.value.eq_ignore_ascii_case(it.0));
    let (clause, _) = found.filter(|_| word.quote_style.is_none())?;
    Some(SqlError {
        position: Some((token.span.start.line, token.span.start.column)),
        ..refused(clause)
    })
}

/// Returns the error for a clause of another engine.
fn refused(clause: &str) -> SqlError {
    let error = SqlError::new(format!("{} is not supported", clause.to_uppercase()));
    match REFUSED_CLAUSES.iter().find(|it| it.0 == clause) {
        Some((_, instead)) => error.hint(*instead),
        None => error,
    }
}

/// Operators that are words. None of them is meant as a name.
const OPERATORS: [&str; 9] =
    ["and", "between", "ilike", "in", "is", "like", "not", "or", "similar"];

/// Returns the clause that a word without a meaning of its own probably begins: it has the same letters, or lacks one.
fn clause_of(token: &Token) -> Option<String> {
    let Token::Word(word) = token else { return None };
    let letters = |it: &str| {
        let mut letters: Vec<char> = it.chars().collect();
        letters.sort_unstable();
        letters
    };
    let found = letters(&word.value.to_lowercase());
    let is_meant = |clause: &&&str| {
        let wanted = letters(clause);
        let without = |at| [&wanted[..at], &wanted[at + 1..]].concat();
        wanted == found || (0..wanted.len()).any(|at| without(at) == found)
    };
    let is_name = word.quote_style.is_none() && word.keyword == Keyword::NoKeyword;
    let clause = CLAUSES.iter().find(is_meant).filter(|_| is_name)?;
    Some(format!("did you mean `{clause}` instead of `{}`?", word.value))
}

/// Returns what probably made the parser stop, if its message does not say it.
fn likely_cause(message: &str, n_opened: usize, n_closed: usize) -> Option<String> {
    if n_closed < n_opened {
        return Some("a `(` is not closed".to_owned());
    }
    if n_opened < n_closed {
        return Some("there is one `)` too many".to_owned());
    }
    let word = message.strip_prefix("Expected: end of statement, found: ")?;
    let is_word = word.chars().all(|it| it.is_alphanumeric() || it == '_');
    let lower = word.to_lowercase();
    let is_name = is_word && !CLAUSES.contains(&&*lower) && !OPERATORS.contains(&&*lower);
    is_name.then(|| format!("to use `{word}` as a name, write `as {word}`"))
}

/// Returns whether a statement reads only columns that it names: it has no `*` for all of them, and no NATURAL JOIN.
#[must_use]
pub fn names_its_columns(sql: &str) -> bool {
    let Ok(tokens) = Tokenizer::new(&QueryDialect, sql).tokenize() else { return false };
    let keyword = |it: &Token| match it {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let tokens = tokens.into_iter().filter(|it| !matches!(it, Token::Whitespace(_)));
    let mut before = Token::Comma;
    let mut selects = false;
    for token in tokens {
        let begins_item = matches!(before, Token::Comma | Token::Period)
            || matches!(keyword(&before), Keyword::SELECT | Keyword::DISTINCT | Keyword::ALL);
        if (token == Token::Mul && begins_item) || keyword(&token) == Keyword::NATURAL {
            return false;
        }
        selects |= keyword(&token) == Keyword::SELECT;
        before = token;
    }
    selects
}

/// Translates the parser's error, whose text ends with the place.
fn syntax(error: ParserError) -> SqlError {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
        ParserError::RecursionLimitExceeded => {
            return SqlError::new("the statement is nested too deeply").hint("split it with WITH");
        }
    };
    let (message, place) = match text.rsplit_once(" at Line: ") {
        Some((message, place)) => (message.to_owned(), Some(place.to_owned())),
        None => (text, None),
    };
    let position = place.and_then(|it| {
        let (line, column) = it.split_once(", Column: ")?;
        Some((line.trim().parse().ok()?, column.trim().parse().ok()?))
    });
    SqlError { position, ..SqlError::new(message) }
}

/// Returns a name that is not taken yet.
fn unique(name: &str, taken: &[String]) -> String {
    if !taken.iter().any(|it| it == name) {
        return name.to_owned();
    }
    let mut number = 1;
    loop {
        let other = format!("{name}_{number}");
        if !taken.contains(&other) {
            return other;
        }
        number += 1;
    }
}
