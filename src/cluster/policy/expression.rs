//! Expressions in text: `F.expr("a + 1")`, `filter("price > 10")`, `selectExpr`.
//!
//! Spark takes whole queries within an expression, in parentheses. Each begins with one of few words,
//! so an expression without these words, with calls of listed functions only, reads nothing but columns.

use super::functions;
use super::words::{Token, tokens};

/// Words of which a query is made. In backticks they are names of columns.
const OF_QUERIES: [&str; 6] = ["select", "table", "values", "with", "using", "recursive"];
/// Words that stand before a parenthesis and are no function.
const BEFORE_PARENTHESES: [&str; 33] = [
    "and", "or", "not", "in", "between", "like", "ilike", "rlike", "regexp", "is", "when", "then",
    "else", "case", "over", "group", "filter", "by", "distinct", "all", "any", "some", "as",
    "where", "cast", "try_cast", "extract", "div", "varchar", "numeric", "dec", "escape", "from",
];

/// Lets pass an expression that only computes. Fails with a sentence that says what is in the way, and what to
/// write instead.
pub(super) fn check(text: &str) -> Result<(), String> {
    let tokens = tokens(text).map_err(|what| {
        format!("{what} in an expression in text is not allowed on the cluster; use pyspark.sql.functions: `F.col(\"a\")`, `F.lit(\"text\")`")
    })?;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|it| &tokens[it]);
        match token {
            Token::Word(word) => check_word(word, before)?,
            Token::Mark('(') => check_call(&tokens[..at])?,
            Token::Mark(':') => {
                // `a::int` is a cast, `a:b` a path into a variant.
                let is_cast = before == Some(&Token::Mark(':'))
                    || tokens.get(at + 1) == Some(&Token::Mark(':'));
                if !is_cast {
                    return Err("`:` in an expression in text is not allowed on the cluster; use `F.get_json_object`".to_owned());
                }
            }
            Token::Mark(_) | Token::Name | Token::Text | Token::Number => {}
        }
    }
    Ok(())
}

fn check_word(word: &str, before: Option<&Token>) -> Result<(), String> {
    // `extract(year FROM day)` has an operand before it; a query begins after a parenthesis.
    let begins_query = word == "from"
        && !matches!(
            before,
            Some(
                Token::Word(_) | Token::Name | Token::Text | Token::Number | Token::Mark(')' | ']')
            )
        );
    if begins_query || OF_QUERIES.contains(&word) {
        return Err(format!(
            "`{word}` in an expression in text is not allowed on the cluster: no SQL queries there; use DataFrame methods (join, filter, groupBy), or backticks around the name of a column"
        ));
    }
    Ok(())
}

fn check_call(before: &[Token]) -> Result<(), String> {
    let refused = |what: &str| {
        Err(format!(
            "{what} in an expression in text is not allowed on the cluster; {}",
            functions::INSTEAD
        ))
    };
    match before {
        [.., Token::Mark('.'), Token::Word(_) | Token::Name] => {
            refused("a function with a dot in its name")
        }
        [.., Token::Name | Token::Text] => refused("a function in quotes"),
        [.., Token::Word(word)] => {
            if BEFORE_PARENTHESES.contains(&word.as_str()) || functions::is_free(word) {
                return Ok(());
            }
            refused(&format!("`{word}(`"))
        }
        // `f('x')('y')` calls what IDENTIFIER names.
        [.., Token::Mark(')' | ']')] => refused("`)(`"),
        [.., Token::Number] => refused("a number before a parenthesis"),
        [.., Token::Mark(_)] | [] => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_only_computes_passes() {
        for text in [
            "a > 1 and b = 'it''s'",
            "sum(dep_delay) / count(*) as mean",
            "case when id = 1 then 'select' else \"from\" end",
            "cast(price as decimal(10, 2))",
            "price::double",
            "`values` + `my ``table`",
            "extract(year from day)",
            "trim(both 'a' from name)",
            "id in (1, 2)",
            "not(id = 1)",
            "id is distinct from 1",
            "name like any ('a%', 'b%')",
            "transform(xs, x -> x + 1)",
            "sum(x) over (partition by a order by b rows between unbounded preceding and current row)",
            "percentile_cont(0.5) within group (order by id)",
            "count(*) filter (where id > 1)",
            "date '2020-01-01' + interval 1 day",
            "exists(xs, x -> x > 1)",
            "map('a', 1)['a']",
            "timestampadd(MONTH, 1, day)",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    // Each of these is one that a server of Spark 4.2 takes, or came close to.
    #[test]
    fn what_reads_or_runs_more_is_refused() {
        for text in [
            "(select 1)",
            "(SeLeCt 1)",
            "(((select 1)))",
            "(from range(1) select id)",
            "(from flights)",
            "(table flights)",
            "(values 1)",
            "(with a as (select 1) select * from a)",
            "(map id using 'cat')",
            "(map (1) using 'cat')",
            "(reduce id using 'cat' from range(1))",
            "exists(select 1)",
            "id in (select 1)",
            "id |> select 1",
            "reflect('java.lang.System', 'getProperty', 'user.name')",
            "Reflect \n ('java.lang.System', 'getProperty', 'user.name')",
            "`reflect`('java.lang.System', 'getProperty', 'user.name')",
            "\"reflect\"('java.lang.System', 'getProperty', 'user.name')",
            "builtin.reflect('java.lang.System', 'getProperty', 'user.name')",
            "system.builtin.`reflect`('java.lang.System', 'getProperty', 'user.name')",
            "builtin.upper('a')",
            "try_reflect('java.lang.System', 'getProperty', 'user.name')",
            "java_method('java.lang.System', 'getProperty', 'user.name')",
            "identifier('reflect')('java.lang.System', 'getProperty', 'user.name')",
            "IDENTIFIER('re' || 'flect')('java.lang.System')",
            "identifier('id')",
            "reflect/**/('java.lang.System')",
            "upper--\n('a')",
            "upper/*+ x */('a')",
            "(\u{17f}elect 1)",
            "(\u{a0}select 1)",
            "(\u{3000}select 1)",
            "'\\' || (select 1) || '",
            "r'\\' || (select 1) || '",
            "$$a$$",
            "$a$ ' $a$ || (select 1) || '",
            "'open",
            "`open",
            "id; select 1",
            ":x",
            "?",
            "@x",
            "{x}",
            "parse_json('{}'):a",
            "from_json('{}', 'a int')",
            "variant_get(v, '$', 'int')",
            "my_udf(id)",
            "xpath(x, 'a')",
            "a\0",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
