//! The syntax that is read: `DuckDB`'s, with what people bring from other databases.

use std::any::TypeId;

use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, DuckDbDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

#[derive(Debug)]
pub(super) struct QueryDialect;

impl Dialect for QueryDialect {
    /// The parser takes it for `DuckDB`'s where it asks for one by its type.
    fn dialect(&self) -> TypeId {
        TypeId::of::<DuckDbDialect>()
    }

    /// Reads `IS [NOT] DISTINCT FROM`. The parser's own reading takes all that follows for its right side: AND and OR
    /// as well.
    fn parse_infix(
        &self,
        parser: &mut Parser,
        left: &Expr,
        _: u8,
    ) -> Option<Result<Expr, ParserError>> {
        const WORDS: [Keyword; 3] = [Keyword::IS, Keyword::DISTINCT, Keyword::FROM];
        const NOT_WORDS: [Keyword; 4] =
            [Keyword::IS, Keyword::NOT, Keyword::DISTINCT, Keyword::FROM];
        let made = if parser.parse_keywords(&WORDS) {
            Expr::IsDistinctFrom
        } else if parser.parse_keywords(&NOT_WORDS) {
            Expr::IsNotDistinctFrom
        } else {
            return None;
        };
        let right = parser.parse_subexpr(self.prec_value(Precedence::Is));
        Some(right.map(|it| made(Box::new(left.clone()), Box::new(it))))
    }

    fn is_identifier_start(&self, c: char) -> bool {
        DuckDbDialect.is_identifier_start(c)
    }

    fn is_identifier_part(&self, c: char) -> bool {
        DuckDbDialect.is_identifier_part(c)
    }

    fn supports_trailing_commas(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_within_after_array_aggregation(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_group_by_with_modifier(&self) -> bool {
        true
    }

    fn supports_from_first_select(&self) -> bool {
        true
    }

    fn supports_order_by_all(&self) -> bool {
        true
    }

    fn supports_select_wildcard_exclude(&self) -> bool {
        true
    }

    fn supports_select_wildcard_except(&self) -> bool {
        true
    }

    fn supports_select_wildcard_replace(&self) -> bool {
        true
    }

    fn supports_select_wildcard_rename(&self) -> bool {
        true
    }

    fn supports_notnull_operator(&self) -> bool {
        true
    }

    fn supports_string_escape_constant(&self) -> bool {
        true
    }

    fn supports_numeric_literal_underscores(&self) -> bool {
        true
    }

    fn supports_window_clause_named_window_reference(&self) -> bool {
        true
    }

    fn supports_window_function_null_treatment_arg(&self) -> bool {
        true
    }

    fn supports_comma_separated_trim(&self) -> bool {
        true
    }

    fn supports_limit_comma(&self) -> bool {
        true
    }

    fn supports_left_associative_joins_without_parens(&self) -> bool {
        true
    }

    fn supports_dictionary_syntax(&self) -> bool {
        true
    }

    fn supports_array_typedef_with_brackets(&self) -> bool {
        true
    }
}
