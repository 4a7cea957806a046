//! Random tables, and random plans over them.

use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop, prop_oneof};

use crate::plan::{
    Aggregate, AggregateFunction, Cast, ColumnId, DatePart, Expr, Function, JoinKind, Plan, Scalar,
    SortKey, Type,
};

/// The columns of the table; the file has them under their numbers.
pub(super) const COLUMNS: [(ColumnId, Type); 8] = [
    (ColumnId(0), Type::Int),
    (ColumnId(1), Type::Int),
    (ColumnId(2), Type::Float),
    (ColumnId(3), Type::Float),
    (ColumnId(4), Type::Text),
    (ColumnId(5), Type::Bool),
    (ColumnId(6), Type::Date),
    (ColumnId(7), Type::Timestamp),
];
/// Types with an order of their own.
const TYPES: [Type; 6] =
    [Type::Int, Type::Float, Type::Text, Type::Bool, Type::Date, Type::Timestamp];
/// The first column that a plan makes.
const MADE: u32 = 100;

/// Makes the rows of a table, of which there may be none.
pub(super) fn tables() -> impl Strategy<Value = Vec<Vec<Scalar>>> {
    let cell = |(_, dtype): &(ColumnId, Type)| {
        prop_oneof![4 => scalar(*dtype), 1 => Just(Scalar::Null)].boxed()
    };
    prop::collection::vec(COLUMNS.iter().map(cell).collect::<Vec<_>>(), 0..14)
}

/// Makes a value that is not null. There are few, so that some are equal.
fn scalar(dtype: Type) -> BoxedStrategy<Scalar> {
    let select = |values: Vec<Scalar>| prop::sample::select(values).boxed();
    match dtype {
        Type::Int => {
            // One more than a float has.
            const LARGE: i64 = (1 << 53) + 1;
            select([-3, -1, 0, 1, 2, 7, LARGE, -LARGE].map(Scalar::Int).to_vec())
        }
        Type::Float => {
            let (nan, inf) = (f64::NAN, f64::INFINITY);
            select(
                [0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, nan, inf, -inf].map(Scalar::Float).to_vec(),
            )
        }
        Type::Text => {
            let texts =
                ["", "a", "A", "é", "e\u{301}", "日本", "👩‍👩‍👧", " a ", "a\nb\0", "\u{10ffff}"];
            select(texts.map(|it| Scalar::Text(it.to_owned())).to_vec())
        }
        Type::Bool => select([false, true].map(Scalar::Bool).to_vec()),
        // The years 1, 1899, 1969, 1970, 2000 and 9999.
        Type::Date => {
            select([-719_162, -25_568, -1, 0, 11_016, 2_932_896].map(Scalar::Date).to_vec())
        }
        Type::Timestamp => {
            let micros =
                [-62_135_596_800_000_000, -1, 0, 1_700_000_000_123_456, 253_402_300_799_999_999];
            select(micros.map(Scalar::Timestamp).to_vec())
        }
        other => unreachable!("no table has {other:?}"),
    }
}

fn column(dtype: Type) -> BoxedStrategy<ColumnId> {
    let of_type = COLUMNS.iter().filter(|it| it.1 == dtype).map(|it| it.0);
    prop::sample::select(of_type.collect::<Vec<_>>()).boxed()
}

/// Makes an expression over the columns of the table.
fn expr(dtype: Type, depth: u32) -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        4 => column(dtype).prop_map(Expr::Column),
        2 => scalar(dtype).prop_map(Expr::Literal),
    ];
    let Some(depth) = depth.checked_sub(1) else { return leaf.boxed() };
    let same = move || expr(dtype, depth);
    let case =
        (expr(Type::Bool, depth), same(), same()).prop_map(|(condition, then, otherwise)| {
            Expr::Case { branches: vec![(condition, then)], otherwise: Box::new(otherwise) }
        });
    let any_of = prop_oneof![leaf, case, several(Function::Coalesce, dtype, depth)].boxed();
    prop_oneof![any_of, of_type(dtype, depth)].boxed()
}

/// Makes an expression with functions that give the type.
fn of_type(dtype: Type, depth: u32) -> BoxedStrategy<Expr> {
    use Function as F;
    match dtype {
        Type::Int => prop_oneof![
            pair(vec![F::AddInt, F::SubtractInt], Type::Int, depth),
            several(F::Greatest, Type::Int, depth),
            several(F::Least, Type::Int, depth),
            one(F::NegateInt, Type::Int, depth),
            one(F::Length, Type::Text, depth),
            prop::sample::select(vec![
                DatePart::Year,
                DatePart::Month,
                DatePart::Day,
                DatePart::DayOfYear,
                DatePart::IsoDayOfWeek,
                DatePart::Week,
            ])
            .prop_flat_map(move |part| one(F::DatePart(part), Type::Date, depth)),
        ]
        .boxed(),
        Type::Float => prop_oneof![
            pair(vec![F::Add, F::Subtract, F::Multiply, F::Divide], Type::Float, depth),
            several(F::Greatest, Type::Float, depth),
            several(F::Least, Type::Float, depth),
            one(F::Negate, Type::Float, depth),
            one(F::Absolute, Type::Float, depth),
            cast(Type::Int, Type::Float, depth),
        ]
        .boxed(),
        Type::Text => prop_oneof![
            several(F::Concat, Type::Text, depth),
            one(F::Reverse, Type::Text, depth),
            cast(Type::Int, Type::Text, depth),
            (expr(Type::Text, depth), 0_i64..3).prop_map(|(text, n_chars)| {
                Expr::Call(F::Left, vec![text, Expr::Literal(Scalar::Int(n_chars))])
            }),
        ]
        .boxed(),
        Type::Bool => prop_oneof![
            several(F::And, Type::Bool, depth),
            several(F::Or, Type::Bool, depth),
            one(F::Not, Type::Bool, depth),
            prop::sample::select(TYPES.to_vec()).prop_flat_map(move |it| compared(it, depth)),
            pair(vec![F::StartsWith, F::Contains], Type::Text, depth),
        ]
        .boxed(),
        Type::Timestamp => cast(Type::Date, Type::Timestamp, depth),
        other => expr(other, 0),
    }
}

fn compared(dtype: Type, depth: u32) -> BoxedStrategy<Expr> {
    use Function as F;
    let comparisons = vec![
        F::Equal,
        F::NotEqual,
        F::Less,
        F::LessEqual,
        F::Greater,
        F::GreaterEqual,
        F::IsNotDistinct,
    ];
    let literal = prop_oneof![4 => scalar(dtype), 1 => Just(Scalar::Null)].prop_map(Expr::Literal);
    let list = prop::collection::vec(literal, 1..4);
    let is_in = (expr(dtype, depth), list)
        .prop_map(|(value, list)| Expr::Call(F::In, [vec![value], list].concat()));
    prop_oneof![
        4 => pair(comparisons, dtype, depth),
        1 => one(F::IsNull, dtype, depth),
        1 => is_in,
    ]
    .boxed()
}

fn one(function: Function, dtype: Type, depth: u32) -> BoxedStrategy<Expr> {
    expr(dtype, depth).prop_map(move |it| Expr::Call(function, vec![it])).boxed()
}

fn pair(functions: Vec<Function>, dtype: Type, depth: u32) -> BoxedStrategy<Expr> {
    (prop::sample::select(functions), expr(dtype, depth), expr(dtype, depth))
        .prop_map(|(function, a, b)| Expr::Call(function, vec![a, b]))
        .boxed()
}

fn several(function: Function, dtype: Type, depth: u32) -> BoxedStrategy<Expr> {
    prop::collection::vec(expr(dtype, depth), 2..4)
        .prop_map(move |arguments| Expr::Call(function, arguments))
        .boxed()
}

fn cast(from: Type, to: Type, depth: u32) -> BoxedStrategy<Expr> {
    let cast = move |input| Expr::Cast(Box::new(Cast { input, from, to, is_try: false }));
    expr(from, depth).prop_map(cast).boxed()
}

/// Makes a plan, with the columns of its result.
pub(super) fn plans() -> impl Strategy<Value = (Plan, Vec<(ColumnId, Type)>)> {
    let whole = |plan| (plan, COLUMNS.to_vec());
    prop_oneof![
        filtered().prop_map(whole),
        selected(),
        aggregated(),
        (filtered(), columns(1..3)).prop_map(move |(input, on)| {
            whole(Plan::Distinct { input: Box::new(input), on: ids(&on) })
        }),
        sorted().prop_map(whole),
        (sorted(), 0_u64..4, prop::option::of(0_u64..6)).prop_map(move |(input, offset, count)| {
            whole(Plan::Limit { input: Box::new(input), offset, count })
        }),
        (filtered(), filtered()).prop_map(|(a, b)| {
            let made: Vec<(ColumnId, Type)> =
                COLUMNS.iter().map(|(id, dtype)| (ColumnId(MADE + id.0), *dtype)).collect();
            let inputs = vec![(a, ids(&COLUMNS)), (moved(&b), ids(&moved_columns()))];
            (Plan::Union { inputs, columns: ids(&made) }, made)
        }),
        joined(),
    ]
}

fn ids(columns: &[(ColumnId, Type)]) -> Vec<ColumnId> {
    columns.iter().map(|it| it.0).collect()
}

fn columns(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(ColumnId, Type)>> {
    prop::sample::subsequence(COLUMNS.to_vec(), n)
}

/// Makes the rows of the table, or some of them.
fn filtered() -> impl Strategy<Value = Plan> {
    let scan = || {
        let columns = COLUMNS.iter().map(|(id, _)| (id.0.to_string(), *id));
        Plan::Scan { table: "t".to_owned(), columns: columns.collect() }
    };
    prop::option::of(expr(Type::Bool, 3)).prop_map(move |predicate| match predicate {
        None => scan(),
        Some(predicate) => Plan::Filter { input: Box::new(scan()), predicate },
    })
}

fn selected() -> impl Strategy<Value = (Plan, Vec<(ColumnId, Type)>)> {
    let dtype = prop::sample::select(TYPES.to_vec());
    let made = dtype.prop_flat_map(|dtype| expr(dtype, 3).prop_map(move |it| (dtype, it)));
    (filtered(), prop::collection::vec(made, 1..4), any::<bool>()).prop_map(
        |(input, made, is_extended)| {
            let input = Box::new(input);
            let numbered = (MADE..).map(ColumnId).zip(made);
            let (types, columns): (Vec<_>, Vec<_>) =
                numbered.map(|(id, (dtype, expr))| ((id, dtype), (id, expr))).unzip();
            if !is_extended {
                return (Plan::Select { input, columns }, types);
            }
            (Plan::Extend { input, columns }, [COLUMNS.to_vec(), types].concat())
        },
    )
}

fn sort_key(column: ColumnId) -> impl Strategy<Value = SortKey> {
    (any::<bool>(), any::<bool>()).prop_map(move |(descending, nulls_first)| SortKey {
        column,
        descending,
        nulls_first,
    })
}

fn sorted() -> impl Strategy<Value = Plan> {
    let keys =
        columns(1..4).prop_flat_map(|it| it.iter().map(|it| sort_key(it.0)).collect::<Vec<_>>());
    (filtered(), keys).prop_map(|(input, keys)| Plan::Sort { input: Box::new(input), keys })
}

fn aggregate() -> impl Strategy<Value = (Aggregate, Type)> {
    use AggregateFunction as F;
    let of = |functions: Vec<F>, dtype: Type, result: Option<Type>| {
        (prop::sample::select(functions), column(dtype)).prop_map(move |(function, argument)| {
            let dtype = if function == F::Count { Type::Int } else { result.unwrap_or(dtype) };
            (function, vec![argument], dtype)
        })
    };
    let ordered = vec![F::Count, F::Minimum, F::Maximum];
    let call = prop_oneof![
        Just((F::CountRows, Vec::new(), Type::Int)),
        of([ordered.clone(), vec![F::Sum]].concat(), Type::Int, None),
        of(vec![F::Count, F::Minimum, F::MaximumFloat, F::SumFloat, F::Average], Type::Float, None),
        of(ordered.clone(), Type::Text, None),
        of(ordered.clone(), Type::Date, None),
        of(ordered, Type::Timestamp, None),
        of(vec![F::Count, F::And, F::Or], Type::Bool, None),
    ];
    (call, any::<bool>(), prop::option::of(column(Type::Bool))).prop_map(
        |((function, arguments, dtype), is_distinct, filter)| {
            // Of the others, equal values say nothing.
            let can_be = matches!(function, F::Count | F::Sum | F::SumFloat | F::Average);
            let distinct = is_distinct && can_be;
            (Aggregate { function, arguments, distinct, filter, order: Vec::new() }, dtype)
        },
    )
}

fn aggregated() -> impl Strategy<Value = (Plan, Vec<(ColumnId, Type)>)> {
    (filtered(), columns(0..3), prop::collection::vec(aggregate(), 1..4)).prop_map(
        |(input, keys, aggregates)| {
            let numbered = (MADE..).map(ColumnId).zip(aggregates);
            let (types, aggregates): (Vec<_>, Vec<_>) =
                numbered.map(|(id, (it, dtype))| ((id, dtype), (id, it))).unzip();
            let plan = Plan::Aggregate { input: Box::new(input), keys: ids(&keys), aggregates };
            (plan, [keys, types].concat())
        },
    )
}

/// Returns the columns of a plan beside another one over the same table.
fn moved_columns() -> Vec<(ColumnId, Type)> {
    COLUMNS.iter().map(|(id, dtype)| (ColumnId(id.0 + 50), *dtype)).collect()
}

fn moved(plan: &Plan) -> Plan {
    let columns = moved_columns().into_iter().zip(COLUMNS);
    let columns = columns.map(|((to, _), (from, _))| (to, Expr::Column(from))).collect();
    Plan::Select { input: Box::new(plan.clone()), columns }
}

fn joined() -> impl Strategy<Value = (Plan, Vec<(ColumnId, Type)>)> {
    use JoinKind as K;
    let kind = prop::sample::select(vec![K::Inner, K::Left, K::Full, K::Semi, K::Anti]);
    (filtered(), filtered(), kind, columns(1..3), any::<bool>()).prop_map(
        |(left, right, kind, on, nulls_equal)| {
            let equal = on.iter().map(|(id, _)| (*id, ColumnId(id.0 + 50))).collect();
            let (left, right) = (Box::new(left), Box::new(moved(&right)));
            let plan = Plan::Join { left, right, kind, equal, nulls_equal };
            let is_half = matches!(kind, K::Semi | K::Anti);
            let right = if is_half { Vec::new() } else { moved_columns() };
            (plan, [COLUMNS.to_vec(), right].concat())
        },
    )
}
