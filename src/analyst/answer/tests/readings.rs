//! How queries are described.

use super::{
    at, attrition, column, filtered, groups, is, joined, key, listing, measure, one, query, tables,
    top,
};
use crate::answer::describe;
use crate::lexicon::TimeUnit;
use crate::query::{
    Agg, Arithmetic, Check, Comparison, Contrast, GroupKey, Groups, Join, Listing, LogicalForm,
    Measure, Op, Over, Part, Profile, Shape, Side, SortOrder, Test, Told, Value, Within,
};

#[track_caller]
fn check(query: &LogicalForm, text: &str) {
    assert_eq!(describe(query, &tables()), text);
}

fn mass() -> Groups {
    groups(vec![key("penguins.species")], vec![measure(Agg::Mean, "penguins.body_mass_g")])
}

#[test]
fn numbers_of_groups() {
    let of = |groups| query(0, Shape::Groups(groups));
    check(&of(mass()), "mean `body_mass_g` by `species` in `penguins`");
    let two = Groups { order: Some(top(2)), ..mass() };
    check(&of(two), "mean `body_mass_g` by `species` in `penguins`, the 2 largest");
    let second =
        Groups { order: Some(SortOrder { n: Some(1), skip: 1, is_ascending: true }), ..mass() };
    check(&of(second), "mean `body_mass_g` by `species` in `penguins`, number 2 from the smallest");
    let some =
        Groups { order: Some(SortOrder { n: Some(3), skip: 2, is_ascending: false }), ..mass() };
    check(
        &of(some),
        "mean `body_mass_g` by `species` in `penguins`, numbers 3 to 5 from the largest",
    );
    for (over, text) in [
        (Over::Cumulative, "running total of mean `body_mass_g` by `species` in `penguins`"),
        (Over::Growth, "change in percent of mean `body_mass_g` by `species` in `penguins`"),
        (Over::Change, "change of mean `body_mass_g` by `species` in `penguins`"),
        (Over::Share, "share in percent of mean `body_mass_g` by `species` in `penguins`"),
    ] {
        check(&of(Groups { over: Some(over), ..mass() }), text);
    }
    let having = Groups { having: Some((Op::Gt, Value::Number(4000.0))), ..mass() };
    check(
        &of(having.clone()),
        "mean `body_mass_g` by `species`, where it is over 4000 in `penguins`",
    );
    let text = "number of `species` where mean `body_mass_g` is over 4000 in `penguins`";
    check(&of(Groups { then: Some(Agg::Count), ..having }), text);
    let text = "mean over groups of mean `body_mass_g` by `species` in `penguins`";
    check(&of(Groups { then: Some(Agg::Mean), ..mass() }), text);
    let keys = vec![
        GroupKey::Time(at("staff.hired"), TimeUnit::Month),
        GroupKey::Part(at("staff.hired"), Part::Weekday),
        GroupKey::Bin(at("staff.MonthlyIncome"), 500.0),
    ];
    let text = "number of rows by month of `hired`, day of the week of `hired` and `MonthlyIncome` in steps of 500 in `staff`";
    check(&query(1, Shape::Groups(groups(keys, vec![Measure::ROWS]))), text);
}

#[test]
fn measures() {
    let of = |agg, text: &str| {
        let measure = measure(agg, "staff.MonthlyIncome");
        check(
            &query(1, Shape::Groups(groups(Vec::new(), vec![measure]))),
            &format!("{text} in `staff`"),
        );
    };
    of(Agg::Count, "number of values of `MonthlyIncome`");
    of(Agg::Distinct, "number of different `MonthlyIncome`");
    of(Agg::Sum, "total `MonthlyIncome`");
    of(Agg::Median, "median `MonthlyIncome`");
    of(Agg::Min, "smallest `MonthlyIncome`");
    of(Agg::Max, "largest `MonthlyIncome`");
    of(Agg::Std, "standard deviation of `MonthlyIncome`");
    of(Agg::Var, "variance of `MonthlyIncome`");
    of(Agg::Iqr, "interquartile range of `MonthlyIncome`");
    of(Agg::Range, "range of `MonthlyIncome`");
    of(Agg::Mode, "most frequent value of `MonthlyIncome`");
    of(Agg::Quantile(0.9), "0.9 quantile of `MonthlyIncome`");
    of(Agg::Correlation(at("staff.bonus")), "Pearson correlation of `MonthlyIncome` and `bonus`");
    of(Agg::Ratio(at("staff.bonus")), "total `MonthlyIncome` divided by total `bonus`");
    let share = query(1, Shape::Groups(groups(vec![key("staff.Department")], vec![attrition()])));
    check(&share, "share of rows with `Attrition` Yes by `Department` in `staff`");
    let only =
        Measure { only: vec![one("staff.Department", "HR")], ..measure(Agg::Mean, "staff.bonus") };
    check(
        &query(1, Shape::Groups(groups(Vec::new(), vec![only]))),
        "mean `bonus` with `Department` HR in `staff`",
    );
}

#[test]
fn conditions() {
    let with = |test: Test, text: &str| {
        let query = filtered(vec![test], query(1, Shape::Rows(listing(&[]))));
        check(&query, &format!("rows in `staff` with {text}"));
    };
    let text = |text: &str| Value::Text(text.to_owned());
    with(is("staff.MonthlyIncome", Op::Gt, 5000.0), "`MonthlyIncome` over 5000");
    with(is("staff.MonthlyIncome", Op::Eq, 5000.0), "`MonthlyIncome` 5000");
    with(is("staff.MonthlyIncome", Op::Ne, 5000.0), "`MonthlyIncome` not 5000");
    let compared = Test::Is(column("staff.MonthlyIncome"), Op::Lt, column("staff.bonus"));
    with(compared, "`MonthlyIncome` under `bonus`");
    let several = Test::In(column("staff.Department"), vec![text("HR"), text("Sales")]);
    with(several.clone(), "`Department` HR or Sales");
    with(Test::Not(Box::new(several)), "`Department` not HR or Sales");
    let name = at("staff.name");
    with(Test::Text(name, Within::Contains, "x".to_owned()), "`name` containing “x”");
    let starts = Test::Text(name, Within::Starts, "x".to_owned());
    with(Test::Not(Box::new(starts)), "`name` not starting with “x”");
    with(Test::True(at("staff.is_manager")), "`is_manager` true");
    with(Test::Not(Box::new(Test::True(at("staff.is_manager")))), "`is_manager` false");
    with(Test::Missing(name), "`name` missing");
    with(Test::Not(Box::new(Test::Missing(name))), "`name` present");
    with(
        Test::Last(at("staff.hired"), 3, TimeUnit::Month),
        "`hired` in the last 3 months of the data",
    );
    with(Test::Last(at("staff.hired"), 1, TimeUnit::Year), "`hired` in the last year of the data");
    let either = Test::Any(vec![one("staff.name", "a"), Test::Missing(name)]);
    with(either.clone(), "`name` a or `name` missing");
    with(Test::Not(Box::new(either)), "not (`name` a or `name` missing)");
    let part = |part| Value::Part(at("staff.hired"), part);
    let may = Test::Is(part(Part::Month), Op::Eq, Value::Number(5.0));
    with(may, "month of the year of `hired` May");
    let weekend = Test::In(part(Part::Weekday), vec![Value::Number(6.0), Value::Number(7.0)]);
    with(weekend, "day of the week of `hired` Saturday or Sunday");
    let day = Value::Day(jiff::civil::date(2024, 5, 6));
    with(Test::Is(column("staff.hired"), Op::Ge, day), "`hired` at least 2024-05-06");
    let clock = Value::Clock(jiff::civil::time(9, 30, 0, 0));
    with(Test::Is(column("staff.hired"), Op::Gt, clock), "`hired` over 09:30");
    let total = Value::Arithmetic(
        Box::new(column("staff.bonus")),
        Arithmetic::Plus,
        Box::new(Value::Number(1.0)),
    );
    with(Test::Is(total, Op::Gt, Value::Number(3.0)), "`bonus` plus 1 over 3");
    let mean = query(1, Shape::Groups(groups(Vec::new(), vec![measure(Agg::Mean, "staff.bonus")])));
    let above = Test::Is(column("staff.bonus"), Op::Gt, Value::Query(Box::new(mean)));
    with(above, "`bonus` over the mean `bonus`");
}

#[test]
fn rows_profiles_and_comparisons() {
    let rows = |listing| query(1, Shape::Rows(listing));
    check(&rows(listing(&["staff.name", "staff.bonus"])), "`name`, `bonus` in `staff`");
    let different = Listing { is_distinct: true, ..listing(&["staff.name"]) };
    check(&rows(different), "different `name` in `staff`");
    let ordered = Listing { order: Some((column("staff.bonus"), top(3))), ..listing(&[]) };
    check(&rows(ordered), "rows by `bonus` in `staff`, the 3 largest");
    check(&rows(Listing { first: Some(-5), ..listing(&[]) }), "rows in `staff`, the last 5");
    let profile =
        |it, text: &str| check(&query(0, Shape::Profile(it)), &format!("{text} in `penguins`"));
    profile(Profile::Size, "number of rows and columns");
    profile(Profile::Columns, "names and types of the columns");
    profile(Profile::Describe(vec![at("penguins.year")]), "figures of `year`");
    profile(
        Profile::Missing { of: Vec::new(), told: Told::Most },
        "the column with the most missing values",
    );
    profile(Profile::Missing { of: Vec::new(), told: Told::Each }, "missing values of each column");
    profile(Profile::Distribution(at("penguins.year")), "distribution of `year`");
    let far = "values of `year` more than 1.5 interquartile ranges from the quartiles";
    profile(Profile::Outliers { of: vec![at("penguins.year")], counts: true }, far);
    profile(
        Profile::Duplicates(vec![at("penguins.year")]),
        "values of `year` that occur more than once",
    );
    profile(Profile::Constant, "columns with one value");
    profile(Profile::Correlations(Vec::new()), "Pearson correlation of all numbers");
    let side = |name: &str| Side { name: name.to_owned(), tests: vec![one("penguins.sex", name)] };
    let compare = |asks, text: &str| {
        let sides = [side("male"), side("female")];
        check(&query(0, Shape::Compare(Comparison { measure: Measure::ROWS, sides, asks })), text);
    };
    let text = "number of rows with `sex` male, minus that with `sex` female, in `penguins`";
    compare(Contrast::Difference, text);
    compare(
        Contrast::Change,
        "change of number of rows from `sex` male to `sex` female in `penguins`",
    );
    let text = "is number of rows with `sex` male over that with `sex` female in `penguins`";
    compare(Contrast::Holds(Op::Gt), text);
}

#[test]
fn checks_and_joins() {
    let claim =
        |check: Check, text: &str| super::readings::check(&query(0, Shape::Check(check)), text);
    let over = || vec![is("penguins.body_mass_g", Op::Gt, 6000.0)];
    claim(Check::None(over()), "is there a row with `body_mass_g` over 6000 in `penguins`");
    claim(Check::All(over()), "has every row `body_mass_g` over 6000 in `penguins`");
    let number = Check::Number(Measure::ROWS, Op::Ge, Value::Number(3.0));
    claim(number, "is number of rows at least 3 in `penguins`");
    let each = Check::Groups(mass(), Op::Gt, Value::Number(3.0));
    claim(each, "is mean `body_mass_g` by `species` always over 3 in `penguins`");
    claim(Check::Unique(Vec::new()), "does a row occur twice in `penguins`");
    claim(
        Check::Unique(vec![at("penguins.sex")]),
        "does a value of `sex` occur twice in `penguins`",
    );
    claim(Check::Present(Vec::new()), "is any value missing in `penguins`");
    let refers = Check::Refers(Join { left: at("penguins.island"), right: at("departments.city") });
    claim(refers, "is every `island` of `penguins` in `city` of `departments`");
    claim(Check::Varies(Vec::new()), "does a column have one value only in `penguins`");
    let far =
        "is a value of `year` more than 1.5 interquartile ranges from the quartiles in `penguins`";
    claim(Check::Inliers(vec![at("penguins.year")]), far);
    let cities =
        joined(query(1, Shape::Groups(groups(vec![key("departments.city")], vec![Measure::ROWS]))));
    check(&cities, "number of rows by `city` in `staff` with `departments` by `Department`");
    let boxes = Groups::boxes(vec![key("penguins.sex")], at("penguins.body_mass_g"));
    let text = "quartiles and extremes of `body_mass_g` by `sex` in `penguins`";
    check(&query(0, Shape::Groups(boxes)), text);
    let both = joined(query(
        1,
        Shape::Groups(groups(vec![key("departments.Department")], vec![Measure::ROWS])),
    ));
    check(&both, "number of rows by `Department` in `staff` with `departments` by `Department`");
}
