//! How questions are read: each with what is told back to the user.

use proptest::prelude::{prop, prop_assert, proptest};
use proptest::sample::select;
use serde_json::Value;

use csv_agent_testing::cases;

use super::answer::Answer;
use super::ground::{self, Facts, Held, Place};
use super::lexicon::ENGLISH;
use super::parse::{self, Scene};
use super::reading::Reading;
use super::{code, schema};

const SALES: &str = "\
- sales: 500 rows, 9 columns
  - \"Order ID\" string
  - \"Order Date\" date
  - \"Ship Date\" date
  - \"region\" string
  - \"product\" string, 3 missing
  - \"price_usd\" float64
  - \"weight_kg\" float64
  - \"quantity\" int64
  - \"profit\" float64
";
/// Values that the table holds, and the column that holds them.
const VALUES: [(&str, usize); 4] = [("north", 3), ("south", 3), ("lamp", 4), ("chair", 4)];

fn read(question: &str, last: Option<&Reading>, wants_verdict: bool) -> Option<(Reading, String)> {
    read_in(question, last, wants_verdict, false)
}

fn read_in(
    question: &str,
    last: Option<&Reading>,
    wants_verdict: bool,
    is_lost: bool,
) -> Option<(Reading, String)> {
    let tables = schema::of_instructions(SALES, &ENGLISH);
    let tables: Vec<_> = tables.iter().collect();
    let tokens = ENGLISH.words.tokens(question);
    let mut facts = Facts::default();
    for (value, column) in VALUES {
        let place = Place { table: 0, column };
        let held = Held { place, spellings: vec![value.to_owned()], n_rows: 1 };
        facts.values.insert(value.to_owned(), vec![held]);
    }
    let marks = ground::marks(question, &tokens, &tables, &facts, &ENGLISH);
    let scene =
        Scene { tables: &tables, tokens: &tokens, lexicon: &ENGLISH, last, wants_verdict, is_lost };
    let reading = parse::parse(scene, &marks).ok()?;
    let program = code::program(&reading, &tables, 4);
    let told = Answer::new(&reading, &tables, &program, &Value::Null).describe();
    Some((reading, told.replace(" in `sales`", "")))
}

#[track_caller]
fn check(question: &str, expected: &str) {
    let told = read(question, None, false).map(|it| it.1);
    assert_eq!(told.as_deref().unwrap_or("refused"), expected, "{question}");
}

#[track_caller]
fn check_verdict(question: &str, expected: &str) {
    let told = read(question, None, true).map(|it| it.1);
    assert_eq!(told.as_deref().unwrap_or("refused"), expected, "{question}");
}

#[track_caller]
fn check_after(first: &str, question: &str, expected: &str) {
    let (last, _) = read(first, None, false).unwrap();
    let told = read(question, Some(&last), false).map(|it| it.1);
    assert_eq!(told.as_deref().unwrap_or("refused"), expected, "{question}");
}

/// A question that takes up one that nobody understood is refused.
#[track_caller]
fn check_lost(question: &str) {
    let told = read_in(question, None, false, true).map(|it| it.1);
    assert_eq!(told.as_deref().unwrap_or("refused"), "refused", "{question}");
}

#[test]
fn numbers_of_rows_and_groups_are_read() {
    check("how many orders?", "number of different `Order ID`, number of rows");
    check("average price by region, top 5", "mean `price_usd` by `region`, the 5 largest");
    check("total profit per month", "total `profit` by month of `Order Date`");
    check("90th percentile of weight", "0.9 quantile of `weight_kg`");
    check("the spread of price, std", "standard deviation of `price_usd`");
    check(
        "average number of rows per day",
        "mean over groups of number of rows by day of `Order Date`",
    );
    check("how many different products are there", "number of different `product`");
    check(
        "average price per quantity by region",
        "`price_usd` divided by `quantity` by `region`, of the totals and as the mean over rows",
    );
    check(
        "how many of each product by region",
        "number of rows by `product` and `region`, largest first",
    );
    check("which product has the most missing values?", "refused");
    check("which column has the most missing values?", "the column with the most missing values");
    check(
        "which columns have missing values and how many",
        "missing values of the columns that have some",
    );
    check(
        "number of rows for each combination of region and product",
        "number of rows by `region` and `product`",
    );
    check("monthly average price by ship date", "mean `price_usd` by month of `Ship Date`");
    check(
        "median price of north and of south",
        "median `price_usd` by `region`, of rows with `region` north or south",
    );
    check("mean price by product (region)", "mean `price_usd` by `region`");
}

#[test]
fn conditions_are_read() {
    check(
        "rows with price over 100 in the north",
        "rows, of rows with `price_usd` over 100 and `region` north",
    );
    check(
        "how many rows are heavier than 500 g",
        "number of rows, of rows with `weight_kg` over 0.5",
    );
    check("how many rows weigh over 5 miles", "refused");
    check("rows with price above 50%", "refused");
    check("rows with profit over 5 kg", "refused");
    check(
        "how many rows in May 2020",
        "number of rows, of rows with `Order Date` at least 2020-05-01 and `Order Date` under 2020-06-01",
    );
    check(
        "total profit in the first quarter of 2020",
        "total `profit`, of rows with `Order Date` at least 2020-01-01 and `Order Date` under 2020-04-01",
    );
    check(
        "rows where the ship date is before the order date",
        "rows, of rows with `Ship Date` under `Order Date`",
    );
    check(
        "how many rows on 9 April 2020",
        "number of rows, of rows with `Order Date` equal to 2020-04-09",
    );
    check("rows with no product", "rows, of rows with `product` missing or none");
    check(
        "rows without a product or a region",
        "rows, of rows with `product` missing or none and `region` missing",
    );
    check("every row called lamp", "rows, of rows with `product` lamp");
    check("rows from quantity 5 on", "rows, of rows with `quantity` at least 5");
    check("how many rows made a loss", "number of rows, of rows with `profit` under 0");
    check(
        "how many rows in the latest year",
        "number of rows, of rows with `Order Date` in the last year of the data",
    );
}

#[test]
fn what_changes_and_what_is_compared_is_read() {
    check(
        "how much did profit grow from 2018 to 2020",
        "change of total `profit` from 2018 to 2020",
    );
    check(
        "2018 vs 2020: total profit",
        "total `profit` by year of `Order Date`, of rows with year of `Order Date` 2018 or 2020",
    );
    check(
        "compare average price of north and south",
        "mean `price_usd` by `region`, of rows with `region` north or south",
    );
}

#[test]
fn shares_are_read() {
    check("share of lamp", "share of rows with `product` lamp");
    check(
        "share of lamp among north",
        "share of rows with `product` lamp, of rows with `region` north",
    );
    check("share of lamp in the north", "refused");
    check("share of products over 500 price", "share of rows with `price_usd` over 500");
    check(
        "what percentage of all products have zero profit",
        "share of rows with `profit` equal to 0",
    );
    check(
        "percentage of orders for which product is missing",
        "share of rows with `product` missing",
    );
    check("the largest share of lamp", "refused");
}

#[test]
fn superlatives_are_read() {
    check("which product has the highest price", "largest `price_usd` by `product`, the largest");
    check("heaviest lamp", "rows by `weight_kg`, the largest, of rows with `product` lamp");
    check("cheapest first", "rows by `price_usd`, smallest first");
    check("top 3 products", "number of rows by `product`, the 3 largest");
    check("in which region are products greatest", "refused");
    check("price of the largest order", "refused");
    check("most profit under 5 quantity", "largest `profit`, of rows with `quantity` under 5");
    check("profit per region, top 5", "total `profit` by `region`, the 5 largest");
    check("the best product in each region by profit", "refused");
    check("2nd most common product", "number of rows by `product`, number 2 from the largest");
    check("third highest profit", "rows by `profit`, number 3 from the largest");
    check("top 3 orders by profit, with product", "rows by `profit`, the 3 largest");
    check(
        "do north or south products have more profit on average",
        "mean `profit` by `region`, largest first, of rows with `region` north or south",
    );
}

#[test]
fn claims_are_checked() {
    check_verdict("price is never negative", "has every row `price_usd` at least 0");
    check_verdict("is the product filled in everywhere?", "is a value of `product` missing");
    check_verdict("region contains only north and south", "has every row `region` north or south");
    check_verdict("no profit below -100", "is there a row with `profit` under -100");
    check_verdict("region must be north or south", "has every row `region` north or south");
    check_verdict("order ids must be unique", "does a value of `Order ID` come twice");
    check_verdict("every row has a product", "is a value of `product` missing");
    check_verdict("no missing products", "is a value of `product` missing");
    check_verdict(
        "are prices between 0 and 100",
        "has every row `price_usd` at least 0 and `price_usd` at most 100",
    );
    check_verdict("there are at least 100 rows", "is number of rows at least 100");
    check_verdict("the average price is below 20", "is mean `price_usd` under 20");
    check_verdict("the smallest price is at least 1", "is smallest `price_usd` at least 1");
    check_verdict(
        "there was no lamp in the north",
        "is there a row with `product` lamp and `region` north",
    );
    check_verdict(
        "every lamp was sold in the north",
        "has every row `region` north, of rows with `product` lamp",
    );
    check_verdict("all lamps under 500", "refused");
    check_verdict("more than 20% of orders are from the north", "refused");
    check_verdict("quantity should be 1, 2 or 3", "has every row `quantity` 1 or 2 or 3");
    check_verdict(
        "quantity must be from 0 up to 24",
        "has every row `quantity` at least 0 and `quantity` at most 24",
    );
    check_verdict("quantity is not above 6", "has every row `quantity` at most 6");
    check_verdict("each order belongs to one region", "refused");
}

#[test]
fn a_question_takes_up_the_one_before() {
    let first = "total profit by region";
    check_after(first, "and by month?", "total `profit` by month of `Order Date`");
    check_after(first, "only lamps", "refused");
    check_after(first, "only lamp", "total `profit` by `region`, of rows with `product` lamp");
    check_after(first, "top 3", "total `profit` by `region`, the 3 largest");
    check_after(first, "just regions with over 5 rows", "refused");
    check_after(
        "how many rows are from the north",
        "how many of those in 2020",
        "number of rows, of rows with `region` north and year of `Order Date` 2020",
    );
    check_after(
        "rows from the north",
        "how many are there",
        "number of rows, of rows with `region` north",
    );
    check_lost("for all the regions please");
    check_lost("lamp only");
    check_lost("cheapest first");
    check_lost("how many of them");
    check_after(
        "total profit per year",
        "year over year growth in percent",
        "change in percent of total `profit` by year of `Order Date`",
    );
}

#[test]
fn a_word_beside_another_changes_what_is_meant() {
    check("sum of all profits by region", "total `profit` by `region`");
    check("rows with quantity before 5", "rows, of rows with `quantity` under 5");
    check("rows by product other than lamp", "rows, of rows with `product` not lamp");
    check(
        "bar chart of profit for north and south",
        "total `profit` by `region`, of rows with `region` north or south",
    );
    check(
        "profit as a percentage of price in north and south",
        "`profit` divided by `price_usd` in percent by `region`, of the totals and as the mean over rows, \
         of rows with `region` north or south",
    );
    check(
        "all products in region north",
        "number of rows by `product`, largest first, of rows with `region` north",
    );
    check("profit under 5, all products", "rows, of rows with `profit` under 5");
    check("share of rows with a product", "share of rows with `product` present");
    check("average price by", "refused");
    check("profit by the", "refused");
    check("orders over 20", "refused");
    check(
        "which regions have more than one order",
        "number of rows by `region`, where it is over 1",
    );
    check("rows under 30 m2", "refused");
    check("rows with no product (none)", "refused");
    check("number of draws", "refused");
    check("the heaviest quantity", "refused");
    check("the largest quantity by profit", "refused");
    check("the worst price", "refused");
    check("the most common product by region", "refused");
    check("profit by category", "refused");
    check("regions with the same name as the product", "refused");
    check("profit more than half of the price", "refused");
    check("percent of products by region", "refused");
    check_verdict("fail if any profit is below 0", "is there a row with `profit` under 0");
    check("mean profit over all regions", "mean `profit`");
    check(
        "lamp rows that started in 2020",
        "rows, of rows with `product` lamp and year of `Order Date` 2020",
    );
    check("orders by year of ship date", "number of rows by year of `Ship Date`");
    check_after(
        "how many rows are from the north",
        "and how many on November 5?",
        "number of rows, of rows with `region` north and month of the year of `Order Date` 11 and day of the month of \
         `Order Date` 5",
    );
    check_verdict("every order has exactly 4 rows", "refused");
    check_verdict("no one in the north has a product", "refused");
    check_after("profit by region", "split by product", "total `profit` by `region` and `product`");
}

#[test]
fn what_may_be_a_condition_that_nobody_understood_is_refused() {
    check("regions with more than 5 lamps", "refused");
    check("regions with 5 or more orders", "refused");
    check("product rows before 2020", "refused");
    check("rows from the north that were a product", "refused");
    check("which region has the average price above 5", "refused");
    check("the region where most lamps weigh, by quantity", "refused");
    check("which north region has the most profit", "refused");
    check("profit of every quantity", "refused");
    check("total value of all orders", "refused");
    check("average price with and without product", "refused");
    check("who sold the most days", "refused");
    check("the average Order ID", "refused");
    check("average price across regions for each product", "refused");
    check_lost("sort it by price, highest first please now");
    check_lost("how many?");
}

#[test]
fn what_the_data_cannot_answer_is_refused() {
    check("how many employees do we have", "refused");
    check("profit by salesperson", "refused");
    check("what will the price be tomorrow", "refused");
    check("by region", "refused");
    check("price of north vs stayed", "refused");
    check("how many rows since May", "refused");
    check("which region has more orders than north", "refused");
    check("which region has the most profit after north", "refused");
    check("profit per 100 quantity", "refused");
    check("rows with profit over 5 or no product", "refused");
    check("the day with the largest profit, and where", "refused");
    check("rows with the first name lamp", "refused");
    check("profit minus price by region", "refused");
    check("average profit before and after 2020", "refused");
    check("profit 2020 by region", "refused");
    check("profit in the last quarter of 2020", "refused");
    check("in which region was that", "refused");
    check("how many times more lamps than chairs", "refused");
    check("average price of them", "refused");
    check("do lamps cost more than chairs", "refused");
}

#[test]
fn what_would_answer_another_question_is_refused() {
    check("lamp rows per chair", "refused");
    check("sum of the smallest prices", "refused");
    check("is a product missing? how many rows", "refused");
    check("how many rows lack a product, and in which region", "refused");
    check("rows with profit over 5 and profit under 2", "refused");
    check("rows except lamp and the north", "refused");
    check("compare the number of lamp rows", "refused");
    check("how old are the lamp rows", "refused");
    check("the best weight by region", "refused");
    check("average number of orders per region by product", "refused");
    check("how many rows of more than 100 orders", "refused");
    check("chart of all lamp rows", "refused");
    check("number of rows by region where region is north", "refused");
    check("which of price, weight and quantity correlates most with profit", "refused");
    check("from which region to which region", "refused");
    check_verdict("the product is missing only for lamp", "refused");
    check_verdict("all lamp rows with quantity 5 cost at least 20", "refused");
    check_after("rows from the north", "which is the heaviest", "refused");
    check_lost("who has the most profit");
    check("average price before the fine", "refused");
    check("as many lamps as chairs", "refused");
    check("earliest order date - who was it", "refused");
    check("number of product records", "refused");
    check("rows with an MI", "refused");
    check("scatter plot of price and profit percentage", "refused");
    check_verdict("every product must have 20 rows", "refused");
    check_verdict("every order with a product has a region", "refused");
    check_after("total profit per year", "the highest that year", "refused");
    check("which region has the highest average number of rows", "refused");
    check("top 3 quantities by weight", "refused");
    check("what share of the profit did quantity make", "refused");
    check("weight sold between 2020-01-01 and 2020-03-31", "refused");
    check("how many orders did profit", "refused");
    check("product rate of lamp", "refused");
    check("number still lamp", "refused");
    check("on which order date is the weight missing", "refused");
    check_after("number of lamp rows", "how many of them had a weight", "refused");
}

#[test]
fn what_a_word_says_of_others_is_kept() {
    check("third quartile of price", "0.75 quantile of `price_usd`");
    check("list the different products", "number of rows by `product`");
    check(
        "rows without weekends",
        "rows, of rows with day of the week of `Order Date` not Saturday or Sunday",
    );
    check("which is the heaviest", "rows by `weight_kg`, the largest");
    check(
        "year over year change in total profit",
        "change of total `profit` by year of `Order Date`",
    );
    check("range of profit: minimum and maximum", "smallest `profit`, largest `profit`");
    check("how many rows are about lamp", "number of rows, of rows with `product` lamp");
    check("stacked bars of product by region", "number of rows by `region` and `product`");
    check_verdict("is profit above 100 anywhere", "is there a row with `profit` over 100");
    check_verdict(
        "is the ship date ever before the order date",
        "is there a row with `Ship Date` under `Order Date`",
    );
    check("rows with quantity 80+", "rows, of rows with `quantity` at least 80");
    check(
        "products that start with L",
        "number of rows by `product`, largest first, of rows with `product` starting with “L”",
    );
    check("price over time", "mean `price_usd` by day of `Order Date`");
    check(
        "total profit of lamp and of chair",
        "total `profit` by `product`, of rows with `product` lamp or chair",
    );
    check(
        "who is from the north? just the products",
        "number of rows by `product`, largest first, of rows with `region` north",
    );
    check("rows without a value for profit", "rows, of rows with `profit` missing");
    check(
        "running total of weight by month",
        "running total of total `weight_kg` by month of `Order Date`",
    );
    check(
        "mean price by region, from 2020",
        "mean `price_usd` by `region`, of rows with `Order Date` at least 2020-01-01",
    );
    check(
        "regions where quantity is over 30",
        "number of rows by `region`, largest first, of rows with `quantity` over 30",
    );
    check_after(
        "how many rows are heavier than 5",
        "heavier than 2?",
        "number of rows, of rows with `weight_kg` over 2",
    );
    check_after(
        "bar chart of total profit by region",
        "only lamp",
        "total `profit` by `region`, of rows with `product` lamp",
    );
    check_after(
        "lamp rows in 2020",
        "and on sundays?",
        "rows, of rows with `product` lamp and year of `Order Date` 2020 and day of the week of `Order Date` Sunday",
    );
}

/// Words that mean something, in this data or in the language.
const WORDS: &str = "the most fewest highest price profit region product quantity north lamp by per each all of in \
                     with without a and or not no is are which who when where how many average total share percent \
                     more than over under between at least 5 2020 100 second last first month year days before \
                     after since only missing unique rows orders Order ID date US Q3 heaviest cheaper top 3 same as \
                     chart (region) sorted every any fail if compare vs correlation over time together there it \
                     that split";

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn no_question_ends_the_program(
        words in prop::collection::vec(select(WORDS.split_whitespace().collect::<Vec<_>>()), 1..9),
        wants_verdict: bool,
        goes_on: bool,
    ) {
        let question = words.join(" ");
        let last = goes_on.then(|| read("total profit by region", None, false).unwrap().0);
        if let Some((_, told)) = read(&question, last.as_ref(), wants_verdict) {
            prop_assert!(!told.is_empty(), "{question}");
        }
    }
}
