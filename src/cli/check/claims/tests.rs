//! Claims as people write them, and how they are read.

use csv_agent_types::catalog::DType;

use super::{ClaimColumn, ClaimTable, FormClaim};

/// Reads a claim that fits one table.
fn read(claim: &str, tables: &[ClaimTable]) -> Option<FormClaim> {
    let mut found = super::read(claim, tables);
    if found.len() == 1 { found.pop().map(|it| it.1) } else { None }
}

fn tables() -> Vec<ClaimTable> {
    let column = |(name, dtype, values): &(&str, DType, &[&str])| {
        ClaimColumn::new(name, *dtype, values.iter().map(ToString::to_string).collect())
    };
    let table = |name: &str, columns: &[(&str, DType, &[&str])]| ClaimTable {
        name: name.to_owned(),
        columns: columns.iter().map(column).collect(),
    };
    vec![
        table(
            "orders",
            &[
                ("order_id", DType::Int64, &[]),
                ("customer_id", DType::Int64, &[]),
                ("status", DType::String, &["pending", "Shipped", "on hold", "cancelled"]),
                ("order_date", DType::Date, &[]),
                ("ship_date", DType::Date, &[]),
                ("quantity", DType::Int64, &[]),
                ("unit price", DType::Float64, &[]),
                ("discount", DType::Float64, &[]),
                ("total", DType::Float64, &[]),
                ("sku", DType::String, &[]),
                ("is_gift", DType::Bool, &[]),
                ("paid_at", DType::Timestamp, &[]),
                ("sent_at", DType::Timestamp, &[]),
            ],
        ),
        table(
            "customers",
            &[
                ("customer_id", DType::Int64, &[]),
                ("email", DType::String, &[]),
                ("phone", DType::String, &[]),
                ("country", DType::String, &["US", "us", "NO"]),
                ("state", DType::String, &[]),
            ],
        ),
    ]
}

/// Checks what a claim about rows requires of each.
#[track_caller]
fn check(claim: &str, table: &str, condition: &str) {
    let found = read(claim, &tables()).unwrap_or_else(|| panic!("not read: {claim}"));
    let sql = found.sql.strip_prefix(&format!("select *\nfrom {table}\nwhere "));
    assert_eq!(sql, Some(&*format!("not ({condition})")), "{claim}: {}", found.sql);
}

/// Checks what is so in each row that breaks a claim.
#[track_caller]
fn check_broken(claim: &str, table: &str, broken: &str) {
    let found = read(claim, &tables()).unwrap_or_else(|| panic!("not read: {claim}"));
    assert_eq!(found.sql, format!("select *\nfrom {table}\nwhere {broken}"), "{claim}");
}

#[track_caller]
fn check_whole(claim: &str, sql: &str, reading: &str, columns: &[&str]) {
    let found = read(claim, &tables()).unwrap_or_else(|| panic!("not read: {claim}"));
    assert_eq!((&*found.sql.replace('\n', " "), &*found.reading), (sql, reading), "{claim}");
    assert_eq!(found.columns, columns, "{claim}");
}

#[test]
fn a_condition_may_have_alternatives() {
    check("quantity is 0 or more", "orders", "quantity >= 0");
    check("the `unit price` is non-negative", "orders", "\"unit price\" >= 0");
    check(
        "unit price is null or positive",
        "orders",
        "(\"unit price\" is null) or (\"unit price\" > 0)",
    );
    let range = "(discount between 0 and 1) or (discount is null)";
    check("discount is between 0 and 1, or missing", "orders", range);
    check("Discount must be between 0 and 1 or empty.", "orders", range);
    check(
        "status is pending, shipped or on hold",
        "orders",
        "status in ('pending', 'Shipped', 'on hold')",
    );
    check("status is pending or missing", "orders", "(status = 'pending') or (status is null)");
    check("quantity is 1, 2 or 3", "orders", "quantity in (1, 2, 3)");
    check(
        "ship_date is null or on or after order_date",
        "orders",
        "(ship_date is null) or (ship_date >= order_date)",
    );
    check("country is US or 'DE'", "customers", "country in ('US', 'DE')");
    check("is_gift is true or false", "orders", "is_gift in (true, false)");
    check("email or phone is present", "customers", "(email is not null) or (phone is not null)");
}

#[test]
fn a_condition_may_be_the_opposite_and_several_may_hold() {
    check_broken("order_date is not in the future", "orders", "order_date > current_date");
    check_broken("ship_date must never be before order_date", "orders", "ship_date < order_date");
    check_broken("quantity must not exceed 100", "orders", "quantity > 100");
    check("sku isn't null and not empty", "orders", "(sku is not null) and (sku is not null)");
    check("quantity is at least 1 and at most 9", "orders", "(quantity >= 1) and (quantity <= 9)");
    check("quantity > 0 and total >= 0", "orders", "(quantity > 0) and (total >= 0)");
    check("quantity and total are positive", "orders", "(quantity > 0) and (total > 0)");
    let present = "(order_id is not null) and (sku is not null) and (status is not null)";
    check("there are no missing values in order_id, sku and status", "orders", present);
    check(
        "quantity is a positive integer",
        "orders",
        "(quantity > 0) and (quantity = floor(quantity))",
    );
    let unique = "select * from orders qualify not ((order_id is null or count(*) over (partition by order_id) = 1) and \
                  (order_id is not null))";
    let reading =
        "in every row of `orders`: `order_id` is in no other row and `order_id` is present";
    check_whole("order_id is unique and not null", unique, reading, &["orders.order_id"]);
}

#[test]
fn a_day_is_the_whole_day() {
    let day = "cast(paid_at as date)";
    for (claim, condition) in [
        ("paid_at is on or before 2024-11-28", format!("{day} <= date '2024-11-28'")),
        ("paid_at is at most 2024-11-28", format!("{day} <= date '2024-11-28'")),
        ("paid_at is after 2024-11-28", format!("{day} > date '2024-11-28'")),
        ("paid_at is 2024-11-28", format!("{day} = date '2024-11-28'")),
        (
            "paid_at is between 2024-11-01 and 2024-11-28",
            format!("{day} between date '2024-11-01' and date '2024-11-28'"),
        ),
        (
            "paid_at is 2024-11-01 or 2024-11-28",
            format!("{day} in (date '2024-11-01', date '2024-11-28')"),
        ),
        ("paid_at is after sent_at", "paid_at > sent_at".to_owned()),
    ] {
        check(claim, "orders", &condition);
    }
    check_broken(
        "paid_at is not after 2024-11-28",
        "orders",
        &format!("{day} > date '2024-11-28'"),
    );
}

#[test]
fn an_implication_says_nothing_about_other_rows() {
    let shipped = "(status = 'Shipped') and not (ship_date is not null)";
    for claim in [
        "if status is shipped then ship_date is present",
        "if status is shipped, then ship_date isn't null",
        "When the status is shipped, a ship_date is set",
        "ship_date is present if status is Shipped",
        "where status = 'Shipped', ship_date must be filled in",
    ] {
        check_broken(claim, "orders", shipped);
    }
    let state = "(state is not null) and not (country = 'NO')";
    check_broken("state is only set when country is NO", "customers", state);
    let only = "(total > 100) and not (status = 'Shipped')";
    check_broken("total is above 100 only if status is shipped", "orders", only);
    let unless = "(not (status = 'Shipped')) and not (ship_date is null)";
    check_broken("ship_date is null unless status is shipped", "orders", unless);
    let both = "((status = 'cancelled') or (quantity = 0)) and not (total = 0)";
    check_broken("if status is cancelled or quantity is 0 then total is 0", "orders", both);
}

#[test]
fn formulas_patterns_and_lengths_are_read() {
    let total = "abs(total - (quantity * \"unit price\")) <= ";
    check("total = quantity * unit_price", "orders", &format!("{total}0.000001"));
    check("total is quantity times unit price within 0.01", "orders", &format!("{total}0.01"));
    check(
        "total equals the product of quantity and unit price",
        "orders",
        "abs(total - ((quantity * \"unit price\"))) <= 0.000001",
    );
    check(
        "total == quantity * unit_price * (1 - discount)",
        "orders",
        "abs(total - (quantity * \"unit price\" * (1 - discount))) <= 0.000001",
    );
    check("total is at most quantity * unit price", "orders", "total <= quantity * \"unit price\"");
    check("sku matches '[A-Z]{2}-\\d{4}'", "orders", "regexp_full_match(sku, '[A-Z]{2}-\\d{4}')");
    check("every sku has 7 characters", "orders", "length(sku) = 7");
    check("state has 2 letters", "customers", "regexp_full_match(state, '[\\p{L}]{2}')");
    check("email contains @", "customers", "contains(email, '@')");
    check(
        "email ends with '.com' or '.org'",
        "customers",
        "(ends_with(email, '.com')) or (ends_with(email, '.org'))",
    );
    check(
        "sku starts with 'A', 'B' or 'C'",
        "orders",
        "(starts_with(sku, 'A')) or (starts_with(sku, 'B')) or (starts_with(sku, 'C'))",
    );
    check(
        "email contains '@' or is missing",
        "customers",
        "(contains(email, '@')) or (email is null)",
    );
    check(
        "email contains '@' or is 'none'",
        "customers",
        "(contains(email, '@')) or (email = 'none')",
    );
    let either = "(contains(email, ' ')) or (contains(email, ','))";
    check_broken("email must not contain ' ' or ','", "customers", either);
    check(
        "sku is null or starts with SAVE",
        "orders",
        "(sku is null) or (starts_with(sku, 'SAVE'))",
    );
}

#[test]
fn characters_and_lengths_are_read() {
    check("sku has 3 or 4 characters", "orders", "(length(sku) = 3) or (length(sku) = 4)");
    check(
        "sku is 5, 6 or 7 characters long",
        "orders",
        "(length(sku) = 5) or (length(sku) = 6) or (length(sku) = 7)",
    );
    check("sku has between 3 and 9 characters", "orders", "length(sku) between 3 and 9");
    check("sku has 3 or more characters", "orders", "length(sku) >= 3");
    check("sku is shorter than 10 characters", "orders", "length(sku) <= 9");
    check_broken("no sku is longer than 30 characters", "orders", "length(sku) >= 31");
    check(
        "state has two uppercase letters",
        "customers",
        "regexp_full_match(state, '[\\p{Lu}]{2}')",
    );
    for claim in [
        "sku contains only capital letters, digits and hyphens",
        "sku only contains capital letters, digits or hyphens",
        "sku consists of uppercase letters, digits and hyphens",
    ] {
        check(claim, "orders", "regexp_full_match(sku, '[\\p{Lu}0-9\\-]+')");
    }
    check("sku is in upper case", "orders", "sku = upper(sku)");
    check("email is lowercase", "customers", "email = lower(email)");
    check(
        "email starts with a lowercase letter",
        "customers",
        "regexp_matches(email, '^[\\p{Ll}]')",
    );
    for claim in ["sku does not contain spaces", "sku has no spaces", "sku must not contain spaces"]
    {
        check_broken(claim, "orders", "regexp_matches(sku, '[ ]')");
    }
    check_broken("sku has no leading or trailing spaces", "orders", "sku <> trim(sku)");
    check_broken("no sku has trailing spaces", "orders", "sku <> rtrim(sku)");
    check_broken("email does not start with a space", "customers", "regexp_matches(email, '^[ ]')");
    // With one anchor, the rest may be anything.
    check("sku matches '^[A-Z]'", "orders", "regexp_matches(sku, '^[A-Z]')");
    check("sku matches '^[A-Z]+$'", "orders", "regexp_full_match(sku, '^[A-Z]+$')");
    check("sku can't be null", "orders", "sku is not null");
}

#[test]
fn several_columns_and_some_rows_are_read() {
    check("quantity and total are all positive", "orders", "(quantity > 0) and (total > 0)");
    check(
        "order_date and ship_date are either both present or both missing",
        "orders",
        "(order_date is null) = (ship_date is null)",
    );
    check(
        "email and phone are not both missing",
        "customers",
        "not (email is null and phone is null)",
    );
    check("email and phone are never the same", "customers", "email <> phone");
    check("email differs from phone", "customers", "email <> phone");
    check(
        "neither email nor phone is missing",
        "customers",
        "(email is not null) and (phone is not null)",
    );
    check(
        "total is between quantity and discount",
        "orders",
        "total between quantity and discount",
    );
    check("0 <= discount < 1", "orders", "(discount >= 0) and (discount < 1)");
    check("quantity is over 0 but under 9", "orders", "(quantity > 0) and (quantity < 9)");
    check("quantity is a multiple of 5", "orders", "quantity % 5 = 0");
    check_broken("quantity not in (3, 5)", "orders", "quantity in (3, 5)");
    check("discount is less than half of total", "orders", "discount < 0.5 * total");
    check("the ratio of total to quantity is at least 2", "orders", "total / quantity >= 2");
    check(
        "the difference between total and discount is at most 5",
        "orders",
        "abs(total - discount) <= 5",
    );
    check_broken("no ship_date is in the future", "orders", "ship_date > current_date");
    check_broken("no quantity is exactly 0", "orders", "quantity = 0");
    check_broken("no quantity is zero or negative", "orders", "(quantity = 0) or (quantity < 0)");
    check_broken(
        "no total is negative when status is shipped",
        "orders",
        "(status = 'Shipped') and not (not (total < 0))",
    );
    let pending = "(status = 'pending') and not (total < 100)";
    check_broken("total of pending is below 100", "orders", pending);
    check_broken("total for pending must be below 100", "orders", pending);
    check_broken("status is pending implies total is below 100", "orders", pending);
    check("either total is 0 or quantity is 1", "orders", "(total = 0) or (quantity = 1)");
}

#[test]
fn what_is_counted_and_computed_is_read() {
    #[track_caller]
    fn check_inner(claim: &str, inner: &str, broken: &str) {
        let found = read(claim, &tables()).unwrap_or_else(|| panic!("not read: {claim}"));
        let name = if inner.contains(" as n ") { "size" } else { "figure" };
        let sql = format!("select *\nfrom (select {inner}) as {name}\nwhere {broken}");
        assert_eq!(found.sql, sql, "{claim}");
    }
    let rows = "count(*) as n from orders";
    check_inner("orders has at least 5 but no more than 9 rows", rows, "not (n >= 5 and n <= 9)");
    check_inner("exactly 24 orders", rows, "not (n = 24)");
    check_inner("there are 24 rows in orders", rows, "not (n = 24)");
    let different = "count(distinct status) as n from orders";
    check_inner("there are no more than 60 different statuses", different, "not (n <= 60)");
    check_inner("status has 4 distinct values", different, "not (n = 4)");
    check_inner("the number of different statuses is at most 4", different, "not (n <= 4)");
    let missing = "count(*) filter (where sku is null) as n from orders";
    check_inner("sku is missing in at most 2 rows", missing, "not (n <= 2)");
    let average = "avg(total) as average_total from orders";
    check_inner(
        "the average total is between 3 and 5",
        average,
        "not (average_total between 3 and 5)",
    );
    check_inner("mean of total is never above 5", average, "average_total > 5");
    let latest = "max(order_date) as latest_order_date from orders";
    let day = "not (latest_order_date = date '2024-01-31')";
    check_inner("the latest order_date is 2024-01-31", latest, day);
    let largest = "max(quantity) as largest_quantity from orders where status = 'pending'";
    let nine = "not (abs(largest_quantity - 9) <= 0.000001)";
    check_inner("the highest quantity of pending orders is exactly 9", largest, nine);
    let totals =
        "status, sum(total) as total_total from orders where status is not null group by status";
    check_inner("total of total per status is at least 5", totals, "not (total_total >= 5)");
    let two = "sum(total) filter (where status = 'pending') as first_figure, sum(total) filter (where status = \
               'Shipped') as second_figure from orders";
    for claim in [
        "the sum of total for pending is lower than for shipped",
        "the total of total of pending orders is lower than that of shipped orders",
        "the sum of total for status pending is lower than the sum of total for shipped",
    ] {
        let sql = format!(
            "select *\nfrom (select {two}) as figures\nwhere not (first_figure < second_figure)"
        );
        assert_eq!(read(claim, &tables()).map(|it| it.sql), Some(sql), "{claim}");
    }
    check_inner(
        "the median of total is positive",
        "median(total) as median_total from orders",
        "not (median_total > 0)",
    );
    check_inner(
        "the total of total is at least 5 in every status",
        totals,
        "not (total_total >= 5)",
    );
    check_inner("only two rows lack a sku", missing, "not (n = 2)");
    check_inner("sku may be missing in at most 2 rows", missing, "not (n <= 2)");
    let often = read("each sku occurs at most 3 times", &tables()).unwrap().sql;
    assert!(often.ends_with("group by sku\nhaving not (count(*) <= 3)"), "{often}");
    let share = read("between 40% and 60% of orders are cancelled", &tables()).unwrap().sql;
    assert!(share.ends_with("where not (percent between 40 and 60)"), "{share}");
    let half = read("more than half of orders are cancelled", &tables()).unwrap().sql;
    assert!(half.ends_with("where not (percent > 50)"), "{half}");
    let key = "select *\nfrom orders\nqualify order_id is null or count(*) over (partition by order_id) > 1";
    for claim in ["order_id is the primary key", "order_id is the primary key of orders"] {
        assert_eq!(read(claim, &tables()).unwrap().sql, key, "{claim}");
    }
    for claim in [
        "order_id and sku are unique together in orders",
        "order_id and sku together identify a row",
        "no combination of order_id and sku occurs twice",
        "each combination of order_id and sku occurs once",
    ] {
        let sql = read(claim, &tables()).unwrap_or_else(|| panic!("not read: {claim}")).sql;
        assert!(sql.ends_with("over (partition by order_id, sku) > 1"), "{claim}: {sql}");
    }
}

#[test]
fn groups_of_rows_are_read() {
    #[track_caller]
    fn check(claims: &[&str], by: &str, test: &str) {
        for claim in claims {
            let sql = read(claim, &tables()).unwrap_or_else(|| panic!("not read: {claim}")).sql;
            let end = format!("group by {by}\nhaving not ({test})");
            assert!(sql.ends_with(&end), "{claim}: {sql}");
        }
    }
    check(&["every sku has 12 rows", "there are 12 rows per sku"], "sku", "count(*) = 12");
    check(&["orders has two rows per sku and order_date"], "sku, order_date", "count(*) = 2");
    let at_most = "count(distinct status) <= 1";
    check(
        &[
            "each sku has only one status",
            "a sku belongs to a single status",
            "status does not vary within a sku",
            "status is the same in all rows of a sku",
        ],
        "sku",
        at_most,
    );
    check(&["every sku has exactly one status"], "sku", "count(distinct status) = 1");
    let discount = "count(distinct discount) <= 1";
    check(&["discount is constant within each sku"], "sku", discount);
    let key = "select *\nfrom orders\nwhere sku is not null and order_date is not null\nqualify count(*) over \
               (partition by sku, order_date) > 1";
    for claim in [
        "sku is unique within each order_date",
        "no sku occurs twice in an order_date",
        "there is one row per sku and order_date",
    ] {
        assert_eq!(read(claim, &tables()).map(|it| it.sql).as_deref(), Some(key), "{claim}");
    }
}

#[test]
fn lists_conditions_and_sums_of_columns_are_read() {
    let listed = "status in ('pending', 'Shipped')";
    check("status takes only the values pending and shipped", "orders", listed);
    check("the allowed values of status are pending and shipped", "orders", listed);
    let pending = "(status = 'pending') and not (total < 5)";
    check_broken("if status is pending, total is below 5", "orders", pending);
    check_broken("total is below 5 for pending", "orders", pending);
    check_broken(
        "total is below 5 only for status pending",
        "orders",
        "(total < 5) and not (status = 'pending')",
    );
    check("sku is missing if and only if total is 0", "orders", "(sku is null) = (total = 0)");
    check("total is above 0 in every row", "orders", "total > 0");
    check("state codes have 2 letters", "customers", "regexp_full_match(state, '[\\p{L}]{2}')");
    let sum = "abs((quantity + discount) - (total)) <= ";
    check("quantity and discount add up to total", "orders", &format!("{sum}0.000001"));
    check("quantity and discount sum to total, within 1", "orders", &format!("{sum}1"));
    let apart = "abs(quantity - discount)";
    check("quantity and discount differ by at most 3", "orders", &format!("{apart} <= 3"));
    check_broken("quantity and discount never differ by over 3", "orders", &format!("{apart} > 3"));
    check(
        "neither sku nor status may be blank",
        "orders",
        "(sku is not null) and (status is not null)",
    );
    check_broken("no total may be negative", "orders", "total < 0");
}

#[test]
fn shares_sizes_keys_and_references_are_read() {
    let share = |condition: &str, all: &str, bound: &str, table: &str| {
        format!(
            "select * from (select 100.0 * count(*) filter (where {condition}) / nullif({all}, 0) as percent from {table}) \
             as share where not (percent {bound})"
        )
    };
    let missing = share("email is null", "count(*)", "<= 5", "customers");
    let reading = "the share of the rows of `customers` in which `email` is missing is <= 5 %";
    for claim in
        ["at most 5 % of emails are missing", "no more than 5 percent of customers have no email"]
    {
        check_whole(claim, &missing, reading, &["customers.email"]);
    }
    let empty = share("(email is null) or (email = 'x')", "count(*)", "<= 5", "customers");
    let reading = "the share of the rows of `customers` in which `email` is missing or `email` = 'x' is <= 5 %";
    let claim = "at most 5% of emails are missing or 'x'";
    check_whole(claim, &empty, reading, &["customers.email"]);
    let negative = share("total < 0", "count(total)", "< 1", "orders");
    let reading =
        "the share of the rows of `orders` that have `total` in which `total` is < 0 is < 1 %";
    check_whole("less than 1% of totals are negative", &negative, reading, &["orders.total"]);
    let cancelled = share("status = 'cancelled'", "count(*)", "<= 10", "orders");
    let reading = "the share of the rows of `orders` in which `status` is 'cancelled' is <= 10 %";
    for claim in
        ["no more than 10% of orders are cancelled", "at most 10% of orders are in cancelled"]
    {
        check_whole(claim, &cancelled, reading, &["orders.status"]);
    }
    let above = share("total > discount", "count(*)", ">= 100.0 / 3", "orders");
    let reading = "the share of the rows of `orders` in which `total` > discount is >= 100.0 / 3 %";
    let claim = "total is above discount in at least a third of all rows";
    check_whole(claim, &above, reading, &["orders.discount", "orders.total"]);
    let five = share("quantity = 5", "count(*)", "<= 10", "orders");
    let reading = "the share of the rows of `orders` in which `quantity` = 5 is <= 10 %";
    check_whole("at most 10% of orders have quantity 5", &five, reading, &["orders.quantity"]);
    let complete = share("email is not null", "count(*)", ">= 95", "customers");
    let reading = "the share of the rows of `customers` in which `email` is present is >= 95 %";
    check_whole("email is at least 95% complete", &complete, reading, &["customers.email"]);
    let size = "select * from (select count(*) as n from orders) as size where not (n between 100 and 1000)";
    let reading = "the number of rows of `orders` is between 100 and 1000";
    check_whole("orders has between 100 and 1,000 rows", size, reading, &[]);
    let pair = "select * from orders where order_id is not null and sku is not null qualify count(*) over (partition by \
                order_id, sku) > 1";
    let reading = "no two rows of `orders` have the same `order_id` and `sku`";
    for claim in [
        "order_id and sku together are unique",
        "the combination of order_id and sku is unique",
        "no two orders have the same order_id and sku",
    ] {
        check_whole(claim, pair, reading, &["orders.order_id", "orders.sku"]);
    }
    let reference = "select * from orders where customer_id is not null and customer_id not in (select customer_id from \
                     customers where customer_id is not null)";
    let reading = "every `customer_id` of `orders` is a `customer_id` of `customers`";
    let columns = ["orders.customer_id", "customers.customer_id"];
    for claim in [
        "every customer_id in orders is in customers",
        "orders.customer_id exists in customers.customer_id",
        "customer_id of orders must exist in customers",
    ] {
        check_whole(claim, reference, reading, &columns);
    }
}

#[test]
fn a_name_may_be_a_word_of_the_forms() {
    let columns =
        ["a", "value", "in", "null"].map(|it| ClaimColumn::new(it, DType::Int64, Vec::new()));
    let table = [ClaimTable { name: "t".to_owned(), columns: columns.into() }];
    let broken =
        |claim: &str| read(claim, &table).map(|it| it.sql.replace("select *\nfrom t\nwhere ", ""));
    for (claim, expected) in [
        ("a is not null", Some("not (a is not null)")),
        ("a and value are positive", Some("not ((a > 0) and (\"value\" > 0))")),
        ("the value of a is positive", Some("not (a > 0)")),
        ("a value is positive", None),
        ("in is null or 5", Some("not ((\"in\" is null) or (\"in\" = 5))")),
    ] {
        assert_eq!(broken(claim).as_deref(), expected, "{claim}");
    }
}

#[test]
fn what_may_mean_two_things_or_has_a_word_too_many_is_refused() {
    for claim in [
        "",
        "customer_id is unique",
        "quantity is 0 or more than usual",
        "quantity is positive and total is positive or sku is null",
        "any email is missing",
        "email or phone is not null",
        "country is uS",
        "status is unknown",
        "status is shipped or late",
        "if status is shipped then order_id is unique",
        "order_date is before 2025",
        "total is quantity",
        "sku matches ^[A-Z]+$",
        "at most 5 of emails are missing",
        "at most 5% of things are missing",
        "quantity may be 0",
        "quantity is 50%",
        "total is quantity - ship_date",
        "state is only set",
        "ship_date is set when shipped",
        "quantity is 1 and 2",
        "sku contains digits",
        "email contains '@' and '.'",
        "email contains 'a', 'b' and 'c'",
        "sku starts with letters",
        "phone has at least 8 digits",
        "quantity is 1-5",
        "quantity is 1 - 5",
        "total is more than usual",
        "unit is positive",
        "status is shipped or ship_date",
        "if ship_date is set",
        "if then",
        "order_date is before ship_date unless missing",
        "at most 5% of orders",
        "order_id and sku are unique",
        "order_id must not always be null",
        "no order_id is unique",
        "no order_id is not null",
        "total of pending and shipped is above 5",
        "the average status is 5",
        "the latest total is 2024-01-01",
        "the average total is",
        "the maximum quantity is 9",
        "there are 5 statuses",
        "at least 5 totals are positive",
        "either sku is null",
        "either sku is null and total is 5",
        "sku and email are both present or both missing",
        "neither sku nor status is not null",
        "total is even",
        "sku is longer than 5 letters",
        "sku has 3 or more digits",
        "quantity consists of digits",
        "5 < sku < 9",
        "order_date is between quantity and total",
        "if status is pending, shipped",
        "status is pending, shipped",
        "each sku has one quantity",
        "every sku has the same status",
        "there is one row per paid_at",
        "sku and status are unique within order_date",
        "sku is unique per order_date",
        "average total is the same as average discount",
        "average total is higher than average order_date",
        "average total is higher than for shipped",
        "5 rows lack a sku",
        "quantity and sku add up to total",
        "total is below 5 for pending and shipped",
    ] {
        assert_eq!(read(claim, &tables()), None, "{claim}");
    }
}

proptest::proptest! {
    #[test]
    fn no_claim_makes_it_panic(
        claim in "((if|then|is|are|not|or|and|of|the|null|unique|between|5|%|at|least|most|only|when|total|status|orders|email|shipped|=|\\*|\\(|\\)|,|'|-|é|’) ?){0,14}"
    ) {
        let _ = read(&claim, &tables());
    }
}
