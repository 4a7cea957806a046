//! Data that is broken in fifty ways: each time, the one rule that should notice does, and no other.

use std::fs;

use serde_json::Value;

use crate::bench::Bench;

/// Name and claim of each rule.
const RULES: [(&str, &str); 24] = [
    ("order ids differ", "order_id is unique"),
    ("order ids are there", "no order_id is missing"),
    ("customers exist", "every customer_id in orders is in customers"),
    ("statuses", "status is open, paid or shipped"),
    ("shipped after ordered", "shipped is null or on or after ordered"),
    ("quantities from 1", "quantity is at least 1"),
    ("quantities to 100", "quantity is at most 100"),
    ("prices", "price is positive"),
    ("usual prices", "the average price is at most 50"),
    ("discounts", "discount is between 0 and 1"),
    ("totals", "total = quantity * price within 0.01"),
    ("codes", "sku matches 'AB-[0-9]{4}'"),
    ("addresses", "email contains @"),
    ("addresses are there", "at most 10% of emails are missing"),
    ("shipped orders", "if status is shipped then shipped is not null"),
    ("other orders", "shipped is only set when status is shipped"),
    ("size", "orders has between 50 and 80 rows"),
    ("customers differ", "customer_id of customers is unique"),
    ("states", "state is only set when country is US"),
    ("states of the US", "US customers have a state"),
    ("ages", "age is between 18 and 120"),
    ("countries", "country has 2 letters"),
    ("joined", "joined is before 2025-01-01"),
    ("plans", "plan is free or pro and plan is never missing"),
];

/// The cells of the two files.
pub struct Cells {
    orders: Vec<Vec<String>>,
    customers: Vec<Vec<String>>,
}

/// What is changed: cells of a row (from 1) of orders or customers, or the rows.
enum Change {
    Order(usize, &'static [(&'static str, &'static str)]),
    Customer(usize, &'static [(&'static str, &'static str)]),
    /// Makes these emails empty.
    NoEmails(usize),
    /// Appends a copy of a row.
    OrderTwice(usize),
    CustomerTwice(usize),
    CustomerGone(usize),
    /// Keeps or makes so many orders.
    Orders(usize),
}

use Change::{Customer, CustomerGone, CustomerTwice, NoEmails, Order, OrderTwice, Orders};

/// Each way to break the data, with the rule that notices. Row 1 is open, 2 is paid, 3 is shipped, and so on.
const BROKEN: [(&str, Change); 55] = [
    ("order ids differ", Order(5, &[("order_id", "1003")])),
    ("order ids differ", Order(60, &[("order_id", "1000")])),
    ("order ids differ", OrderTwice(4)),
    ("order ids are there", Order(8, &[("order_id", "")])),
    ("order ids are there", Order(60, &[("order_id", "")])),
    ("customers exist", Order(4, &[("customer_id", "99")])),
    ("customers exist", Order(1, &[("customer_id", "0")])),
    ("customers exist", CustomerGone(20)),
    ("statuses", Order(2, &[("status", "lost")])),
    ("statuses", Order(2, &[("status", "Paid")])),
    ("statuses", Order(1, &[("status", "open?")])),
    ("shipped after ordered", Order(3, &[("shipped", "2023-12-31")])),
    ("shipped after ordered", Order(6, &[("shipped", "2024-01-05")])),
    ("quantities from 1", Order(1, &[("quantity", "0"), ("total", "0")])),
    ("quantities from 1", Order(1, &[("quantity", "-3"), ("total", "-6")])),
    ("quantities to 100", Order(1, &[("quantity", "101"), ("total", "202")])),
    ("quantities to 100", Order(1, &[("quantity", "1000000"), ("total", "2000000")])),
    ("prices", Order(1, &[("price", "0"), ("total", "0")])),
    ("prices", Order(1, &[("price", "-0.5"), ("total", "-0.5")])),
    ("usual prices", Order(1, &[("price", "90000"), ("total", "90000")])),
    ("discounts", Order(1, &[("discount", "1.5")])),
    ("discounts", Order(2, &[("discount", "-0.1")])),
    ("discounts", Order(3, &[("discount", "20")])),
    ("totals", Order(1, &[("total", "3")])),
    ("totals", Order(1, &[("total", "2.05")])),
    ("totals", Order(1, &[("total", "-2")])),
    ("totals", Order(2, &[("total", "0")])),
    ("totals", Order(2, &[("quantity", "3")])),
    ("codes", Order(1, &[("sku", "AB-123")])),
    ("codes", Order(1, &[("sku", "ab-0013")])),
    ("codes", Order(1, &[("sku", "AB-00131")])),
    ("codes", Order(1, &[("sku", "AB 0013")])),
    ("codes", Order(1, &[("sku", "AB-00O3")])),
    ("codes", Order(1, &[("sku", "XAB-0013")])),
    ("addresses", Order(1, &[("email", "u1x.org")])),
    ("addresses", Order(2, &[("email", "none")])),
    ("addresses are there", NoEmails(6)),
    ("addresses are there", NoEmails(60)),
    ("shipped orders", Order(3, &[("shipped", "")])),
    ("shipped orders", Order(60, &[("shipped", "")])),
    ("other orders", Order(1, &[("shipped", "2024-03-01")])),
    ("other orders", Order(2, &[("shipped", "2024-03-01")])),
    ("other orders", Order(3, &[("status", "paid")])),
    ("size", Orders(45)),
    ("size", Orders(90)),
    ("customers differ", CustomerTwice(2)),
    ("states", Customer(2, &[("state", "CA")])),
    ("states", Customer(1, &[("country", "SE")])),
    ("states of the US", Customer(1, &[("state", "")])),
    ("ages", Customer(3, &[("age", "17")])),
    ("ages", Customer(3, &[("age", "130")])),
    ("countries", Customer(2, &[("country", "NOR")])),
    ("countries", Customer(3, &[("country", "D3")])),
    ("joined", Customer(3, &[("joined", "2025-01-01")])),
    ("plans", Customer(3, &[("plan", "gold")])),
];

const ORDERS: [&str; 11] = [
    "order_id", "customer_id", "status", "ordered", "shipped", "quantity", "price", "discount",
    "total", "sku", "email",
];
const CUSTOMERS: [&str; 7] = ["customer_id", "country", "state", "joined", "age", "plan", "name"];

fn order(at: usize) -> Vec<String> {
    let (month, day, status) = (at / 26 + 1, at % 26 + 1, ["open", "paid", "shipped"][at % 3]);
    let (quantity, price) = (at % 9 + 1, at % 7 * 3 + 4);
    let shipped = format!("2024-{month:02}-{:02}", day + 2);
    vec![
        (1000 + at).to_string(),
        (at % 20 + 1).to_string(),
        status.to_owned(),
        format!("2024-{month:02}-{day:02}"),
        if status == "shipped" { shipped } else { String::new() },
        quantity.to_string(),
        // Half of it.
        format!("{}.{}", price / 2, price % 2 * 5),
        ["0.0", "0.1", "0.25"][at % 3].to_owned(),
        format!("{}.{}", quantity * price / 2, quantity * price % 2 * 5),
        format!("AB-{:04}", at * 13),
        if at % 20 == 7 { String::new() } else { format!("u{at}@x.org") },
    ]
}

fn customer(at: usize) -> Vec<String> {
    let country = ["US", "NO", "DE"][at % 3];
    vec![
        (at + 1).to_string(),
        country.to_owned(),
        if country == "US" { ["CA", "NY"][at % 2].to_owned() } else { String::new() },
        format!("2021-{:02}-10", at % 12 + 1),
        (20 + at).to_string(),
        ["free", "pro"][at % 2].to_owned(),
        format!("Customer {at}"),
    ]
}

fn set(row: &mut [String], names: &[&str], cells: &[(&str, &str)]) {
    for (name, value) in cells {
        let at = names.iter().position(|it| it == name).unwrap();
        (*value).clone_into(&mut row[at]);
    }
}

impl Cells {
    /// Makes data that keeps all rules.
    pub fn good() -> Cells {
        Cells { orders: (0..60).map(order).collect(), customers: (0..20).map(customer).collect() }
    }

    /// Makes data that is broken in one way, for each way.
    pub fn broken() -> impl Iterator<Item = Cells> {
        BROKEN.iter().map(|(_, change)| {
            let mut cells = Cells::good();
            cells.change(change);
            cells
        })
    }

    /// Makes data in which all orders have these values, and all customers those.
    pub fn all_with(orders: &[(&str, &str)], customers: &[(&str, &str)]) -> Cells {
        let mut cells = Cells::good();
        cells.orders.iter_mut().for_each(|row| set(row, &ORDERS, orders));
        cells.customers.iter_mut().for_each(|row| set(row, &CUSTOMERS, customers));
        cells
    }

    fn change(&mut self, change: &Change) {
        match change {
            Order(row, cells) => set(&mut self.orders[row - 1], &ORDERS, cells),
            Customer(row, cells) => set(&mut self.customers[row - 1], &CUSTOMERS, cells),
            NoEmails(n) => self.orders.iter_mut().take(*n).for_each(|it| it[10].clear()),
            OrderTwice(row) => self.orders.push(self.orders[row - 1].clone()),
            CustomerTwice(row) => self.customers.push(self.customers[row - 1].clone()),
            CustomerGone(row) => drop(self.customers.remove(row - 1)),
            Orders(n) => self.orders = (0..*n).map(order).collect(),
        }
    }

    /// Writes `orders.csv` and `customers.csv`.
    pub fn write(&self, bench: &Bench) {
        let text = |names: &[&str], rows: &[Vec<String>]| {
            let rows = rows.iter().map(|it| it.join(",") + "\n");
            names.join(",") + "\n" + &rows.collect::<String>()
        };
        fs::write(bench.path("orders.csv"), text(&ORDERS, &self.orders)).unwrap();
        fs::write(bench.path("customers.csv"), text(&CUSTOMERS, &self.customers)).unwrap();
    }
}

#[test]
fn each_way_to_break_data_is_noticed_by_the_rule_for_it_and_by_no_other() {
    let bench = Bench::with([]);
    let rule =
        |(name, claim): &(&str, &str)| format!("[[check]]\nname = '{name}'\nclaim = \"{claim}\"\n");
    let data = "[data]\norders = 'orders.csv'\ncustomers = 'customers.csv'\n".to_owned();
    fs::write(bench.path("checks.toml"), data + &RULES.iter().map(rule).collect::<String>())
        .unwrap();
    Cells::good().write(&bench);
    bench.shell("csv-agent check -q --update", &[]).succeeds();
    let mut noticed: Vec<&str> = Vec::new();
    for ((expected, _), cells) in BROKEN.iter().zip(Cells::broken()) {
        cells.write(&bench);
        let run = bench.shell("csv-agent check -q --locked --json", &[]).fails_with(11);
        let found: Vec<Value> = serde_json::from_str(run.stdout()).unwrap();
        let broken = found.iter().filter(|it| it["result"] != "good");
        let broken: Vec<&str> = broken.map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(broken, [*expected], "{run}");
        noticed.push(expected);
    }
    for (name, _) in &RULES {
        assert!(noticed.contains(name), "nothing breaks `{name}`");
    }
}
