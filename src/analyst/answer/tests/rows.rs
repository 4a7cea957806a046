//! Sentences on rows and on what the data is like.

use serde_json::{Value as Json, json};

use super::{at, column, drawn, filtered, is, listing, one, query, run, says};
use crate::query::{Chart, Listing, LogicalForm, Op, Profile, Shape, SortOrder, Told};

const STAFF: [&str; 3] = ["id:int64", "name:string", "MonthlyIncome:int64"];

fn staff(listing: Listing) -> LogicalForm {
    query(1, Shape::Rows(listing))
}

fn ordered(columns: &[&str], by: &str, order: SortOrder) -> LogicalForm {
    staff(Listing { order: Some((column(by), order)), ..listing(columns) })
}

#[test]
fn rows_are_named_by_their_titles() {
    let rich = || filtered(vec![is("staff.MonthlyIncome", Op::Gt, 9000.0)], staff(listing(&[])));
    let rows = json!([[1, "Ann", 9500], [2, "Bo", 9900]]);
    let text = "There are **2** rows where monthly income is over 9,000: Ann and Bo.";
    says(rich(), &STAFF, &rows, text);
    let many: Vec<Json> = (0..11).map(|it| json!([it, format!("n{it}"), 9500])).collect();
    let text = "There are **11** rows where monthly income is over 9,000; see the table.";
    says(rich(), &STAFF, &json!(many), text);
    says(rich(), &STAFF, &json!([]), "There are no rows where monthly income is over 9,000.");
    says(
        rich(),
        &STAFF,
        &json!([[1, "Ann", 9500]]),
        "There is **1** row where monthly income is over 9,000: **Ann**.",
    );
}

#[test]
fn one_row_says_its_values() {
    let chosen =
        |columns: &[&str]| filtered(vec![one("staff.name", "Ann")], staff(listing(columns)));
    let text = "Where name is Ann, the monthly income is **9,500**.";
    says(chosen(&["staff.MonthlyIncome"]), &["MonthlyIncome:int64"], &json!([[9500]]), text);
    let text = "Where name is Ann, there is **1** row: id 1001, salary 5 USD.";
    let columns = ["id:int64", "Salary (USD):int64"];
    says(chosen(&["staff.id", "staff.Salary (USD)"]), &columns, &json!([[1001, 5]]), text);
    let text = "**Ann**: monthly income 9,500.";
    let columns = ["name:string", "MonthlyIncome:int64"];
    says(chosen(&["staff.name", "staff.MonthlyIncome"]), &columns, &json!([["Ann", 9500]]), text);
}

#[test]
fn ordered_rows_are_named_with_what_orders_them() {
    let first = SortOrder { n: Some(1), ..SortOrder::DESCENDING };
    let three = SortOrder { n: Some(3), ..SortOrder::ASCENDING };
    let by = "staff.MonthlyIncome";
    let rows = json!([[1, "Ann", 9500]]);
    says(ordered(&[], by, first), &STAFF, &rows, "**Ann** has the highest monthly income, 9,500.");
    let rows = json!([[1, "Ann", 9500], [2, "Bo", 9500]]);
    says(
        ordered(&[], by, first),
        &STAFF,
        &rows,
        "**Ann and Bo** have the highest monthly income, 9,500.",
    );
    let rows = json!([[1, "Ann", 10], [2, "Bo", 20], [3, "Cy", 30]]);
    let text = "**Ann** has the lowest monthly income, 10, then Bo (20) and Cy (30).";
    says(ordered(&[], by, three), &STAFF, &rows, text);
    let text = "There are **3** rows, sorted by monthly income: **Ann** has the lowest, 10.";
    says(ordered(&[], by, SortOrder::ASCENDING), &STAFF, &rows, text);
    let text = "**Sales** has the highest monthly income.";
    says(
        ordered(&["staff.Department"], by, first),
        &["Department:string"],
        &json!([["Sales"]]),
        text,
    );
    let text = "**Ann** has the earliest hired, 2020-01-02.";
    let oldest = SortOrder { n: Some(1), ..SortOrder::ASCENDING };
    let columns = ["name:string", "hired:date"];
    says(
        ordered(&["staff.name", "staff.hired"], "staff.hired", oldest),
        &columns,
        &json!([["Ann", "2020-01-02"]]),
        text,
    );
}

#[test]
fn rows_without_a_title_are_told_by_their_number() {
    let by = |n| Listing {
        order: Some((column("penguins.body_mass_g"), SortOrder { n, ..SortOrder::DESCENDING })),
        ..listing(&[])
    };
    let columns = ["species:string", "body_mass_g:float64"];
    let penguins = |n| query(0, Shape::Rows(by(n)));
    says(
        penguins(Some(1)),
        &columns,
        &json!([["Gentoo", 6300]]),
        "The highest body mass is **6,300 g**.",
    );
    let rows = json!([["Gentoo", 6300], ["Gentoo", 6300]]);
    says(penguins(Some(1)), &columns, &rows, "**2** rows have the highest body mass, 6,300 g.");
    let text =
        "The table has **2** rows, sorted by body mass; the highest body mass is **6,300 g**.";
    says(penguins(Some(2)), &columns, &rows, text);
    says(penguins(None), &columns, &rows, "The table has **2** rows, sorted by body mass.");
}

#[test]
fn different_values_are_listed() {
    let species =
        || query(0, Shape::Rows(Listing { is_distinct: true, ..listing(&["penguins.species"]) }));
    let text = "There are **2** species: Adelie and Gentoo.";
    says(species(), &["species:string"], &json!([["Adelie"], ["Gentoo"]]), text);
    says(species(), &["species:string"], &json!([["Adelie"]]), "The only species is **Adelie**.");
    let many: Vec<Json> = (0..11).map(|it| json!([format!("n{it}")])).collect();
    says(species(), &["species:string"], &json!(many), "There are **11** species; see the table.");
}

#[test]
fn the_first_rows_are_counted() {
    let some = |first| query(0, Shape::Rows(Listing { first: Some(first), ..listing(&[]) }));
    let rows = json!([["a", 1], ["b", 2]]);
    let columns = ["species:string", "year:int64"];
    says(some(2), &columns, &rows, "The first **2** of 344 rows are in the table.");
    says(some(-2), &columns, &rows, "The last **2** of 344 rows are in the table.");
    says(some(1), &columns, &json!([["a", 1]]), "The first row is in the table.");
}

#[test]
fn cells_too_long_to_be_returned_are_in_the_table() {
    let output = json!({"kind": "dataframe", "head": [], "columns": ["name"], "dtypes": {"name": "string"}, "row_count": 3});
    let query = filtered(vec![one("staff.name", "x")], staff(listing(&["staff.name"])));
    assert_eq!(
        run("", query, &[output]).finding(),
        "There are **3** rows where name is x; see the table."
    );
}

#[test]
fn a_profile_says_what_matters_first() {
    let profile = |it| query(0, Shape::Profile(it));
    let missing = |told| Profile::Missing { of: Vec::new(), told };
    let columns = ["column:string", "missing:int64", "of:int64"];
    let rows = json!([["sex", 11, 344], ["body_mass_g", 2, 344], ["year", 0, 344]]);
    let text = "**sex** has the most missing values, 11 of 344, then body mass (2).";
    says(profile(missing(Told::Each)), &columns, &rows, text);
    let text = "**sex** has the most missing values, 11 of 344.";
    says(profile(missing(Told::Most)), &columns, &json!([["sex", 11, 344]]), text);
    let text = "Only **sex** has missing values, 11 of 344.";
    says(profile(missing(Told::Some)), &columns, &json!([["sex", 11, 344]]), text);
    says(profile(missing(Told::Some)), &columns, &json!([]), "No value is missing.");
    let total = ["missing:int64", "of:int64"];
    says(profile(missing(Told::Total)), &total, &json!([[17, 344]]), "**17** values are missing.");
    let of_sex = Profile::Missing { of: vec![at("penguins.sex")], told: Told::Each };
    says(
        profile(of_sex.clone()),
        &total,
        &json!([[11, 344]]),
        "**11** of 344 values of sex are missing.",
    );
    says(profile(of_sex), &total, &json!([[0, 344]]), "No value of sex is missing.");
    let text = "There are **344** rows and **6** columns in penguins.";
    says(profile(Profile::Size), &["rows:int64", "columns:int64"], &json!([[344, 6]]), text);
    let text = "There are **2** columns in penguins: species and body mass.";
    let columns = ["column:string", "type:string"];
    says(
        profile(Profile::Columns),
        &columns,
        &json!([["species", "text"], ["body_mass_g", "double"]]),
        text,
    );
    let columns = ["duplicate_rows:int64"];
    says(
        profile(Profile::Duplicates(Vec::new())),
        &columns,
        &json!([[0]]),
        "No row repeats an earlier one.",
    );
    says(
        profile(Profile::Duplicates(Vec::new())),
        &columns,
        &json!([[2]]),
        "**2** rows repeat an earlier one.",
    );
    let species = || Profile::Duplicates(vec![at("penguins.species")]);
    let columns = ["species:string", "count:int64"];
    let text = "**2** species occur more than once: Adelie (152 times) and Gentoo (124 times).";
    says(profile(species()), &columns, &json!([["Adelie", 152], ["Gentoo", 124]]), text);
    says(profile(species()), &columns, &json!([]), "No species occurs more than once.");
    says(
        profile(Profile::Constant),
        &["column:string"],
        &json!([]),
        "Every column has more than one value.",
    );
    says(
        profile(Profile::Constant),
        &["column:string"],
        &json!([["year"]]),
        "**year** has only one value.",
    );
}

#[test]
fn a_distribution_says_which_values_are_most_frequent() {
    let mass = query(0, Shape::Profile(Profile::Distribution(at("penguins.species"))));
    let columns = ["species:string", "count:int64"];
    let rows = json!([["Adelie", 152], ["Gentoo", 124], ["Chinstrap", 68]]);
    let text =
        "The most frequent species is **Adelie** (152 rows), then Gentoo (124) and Chinstrap (68).";
    says(mass, &columns, &rows, text);
    let mut tables = super::tables();
    tables[0].columns[3].range = Some((2700.0, 6300.0));
    let query = query(0, Shape::Profile(Profile::Distribution(at("penguins.body_mass_g"))));
    let statement = crate::sql::statement(&query, &tables, 4);
    let output = super::frame(
        &["from:float64", "to:float64", "count:int64"],
        &json!([[2500, 3000, 9], [3000, 3500, 67], [3500, 4000, 92]]),
    );
    let done = crate::transcript::Done { name: String::new(), arguments: json!({}), output };
    let answer = crate::answer::Answer {
        query: &query,
        tables: &tables,
        statement: &statement,
        result: crate::answer::ResultHead::of(&done),
        ends: None,
        question: "",
    };
    let text = "The most frequent values of body mass are from **3,500 to 4,000 g** (92 rows); all are from 2,500 to \
                4,000 g.";
    assert_eq!(answer.finding(), text);
}

#[test]
fn figures_of_a_column_are_a_sentence() {
    let describe = |path: &str| query(0, Shape::Profile(Profile::Describe(vec![at(path)])));
    let columns = [
        "column:string", "count:int64", "mean:float64", "std:float64", "min:float64",
        "25%:float64", "50%:float64", "75%:float64", "max:float64",
    ];
    let rows = json!([["body_mass_g", 342, 4201.7544, 801.9545, 2700, 3550, 4050, 4750, 6300]]);
    let text = "Body mass is **4,201.75 g** on average, with a median of 4,050 g and a standard deviation of 801.95 g; it \
                ranges from 2,700 g to 6,300 g.";
    says(describe("penguins.body_mass_g"), &columns, &rows, text);
    let columns = [
        "column:string",
        "count:int64",
        "unique:int64",
        "most_frequent:string",
        "min:string",
        "max:string",
    ];
    let rows = json!([["species", 344, 3, "Adelie", "Adelie", "Gentoo"]]);
    let text = "Species has **3** different values in 344 rows; the most frequent is **Adelie**.";
    says(describe("penguins.species"), &columns, &rows, text);
}

#[test]
fn outliers_and_correlations_are_named() {
    let profile = |it| query(0, Shape::Profile(it));
    let mass = at("penguins.body_mass_g");
    let outliers = |of: Vec<_>, counts| profile(Profile::Outliers { of, counts });
    let columns = ["species:string", "body_mass_g:float64"];
    let text = "There are **2** outliers in body mass: 50 g and 9,000 g.";
    says(outliers(vec![mass], false), &columns, &json!([["a", 9000], ["b", 50]]), text);
    says(
        outliers(vec![mass], false),
        &columns,
        &json!([]),
        "There are **no** outliers in body mass.",
    );
    let columns = ["column:string", "outliers:int64"];
    let text = "Outliers are in **body mass (3) and year (1)**.";
    says(
        outliers(Vec::new(), true),
        &columns,
        &json!([["year", 1], ["body_mass_g", 3], ["x", 0]]),
        text,
    );
    says(outliers(Vec::new(), true), &columns, &json!([["year", 0]]), "There are **no** outliers.");
    let two = profile(Profile::Correlations(vec![at("penguins.bill_length_mm"), mass]));
    let text =
        "The correlation of bill length and body mass is **0.5951**, a moderate positive one.";
    says(two, &["correlation:float64"], &json!([[0.5951]]), text);
    let one = profile(Profile::Correlations(vec![mass]));
    let text = "Body mass correlates most with **bill length**, 0.5951, then with year (-0.0423).";
    let columns = ["column:string", "correlation:float64"];
    says(one, &columns, &json!([["bill_length_mm", 0.5951], ["year", -0.0423]]), text);
    let all = profile(Profile::Correlations(Vec::new()));
    let columns =
        ["column:string", "bill_length_mm:float64", "body_mass_g:float64", "year:float64"];
    let rows = json!([
        ["bill_length_mm", 1, 0.5951, 0.05],
        ["body_mass_g", 0.5951, 1, -0.7],
        ["year", 0.05, -0.7, 1]
    ]);
    says(all, &columns, &rows, "The strongest correlation is **-0.7**, of body mass and year.");
}

#[test]
fn points_are_said_to_be_drawn() {
    let points = staff(listing(&["staff.MonthlyIncome", "staff.Salary (USD)"]));
    let columns = ["MonthlyIncome:int64", "Salary (USD):int64"];
    let text = "The chart shows monthly income against salary, of **2** rows.";
    says(drawn(Chart::Scatter, points), &columns, &json!([[1, 2], [3, 4]]), text);
}
