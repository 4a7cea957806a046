//! Walks over bound expressions.

use crate::plan::{ColumnId, Expr, Plan};

/// Visits each column of an expression.
pub(crate) fn columns(expr: &Expr, visit: &mut dyn FnMut(ColumnId)) {
    match expr {
        Expr::Column(id) => visit(*id),
        Expr::Literal(_) => {}
        Expr::Call(_, arguments) => arguments.iter().for_each(|it| columns(it, visit)),
        Expr::Cast(cast) => columns(&cast.input, visit),
        Expr::Case { branches, otherwise } => {
            for (condition, value) in branches {
                columns(condition, visit);
                columns(value, visit);
            }
            columns(otherwise, visit);
        }
    }
}

/// Replaces parts of an expression, outermost first: where `replace` returns an expression, that one is
/// taken as it is.
pub(crate) fn replaced<E>(
    expr: &Expr,
    replace: &mut dyn FnMut(&Expr) -> Result<Option<Expr>, E>,
) -> Result<Expr, E> {
    if let Some(found) = replace(expr)? {
        return Ok(found);
    }
    Ok(match expr {
        Expr::Column(_) | Expr::Literal(_) => expr.clone(),
        Expr::Call(function, arguments) => {
            let arguments =
                arguments.iter().map(|it| replaced(it, replace)).collect::<Result<_, E>>()?;
            Expr::Call(*function, arguments)
        }
        Expr::Cast(cast) => {
            let mut cast = cast.clone();
            cast.input = replaced(&cast.input, replace)?;
            Expr::Cast(cast)
        }
        Expr::Case { branches, otherwise } => {
            let mut new = Vec::new();
            for (condition, value) in branches {
                new.push((replaced(condition, replace)?, replaced(value, replace)?));
            }
            Expr::Case { branches: new, otherwise: Box::new(replaced(otherwise, replace)?) }
        }
    })
}

pub(crate) fn n_nodes(plan: &Plan) -> usize {
    1 + plan.inputs().into_iter().map(n_nodes).sum::<usize>()
}
