//! Records of units, types and descriptions between the names and the rows.

use super::check;

#[test]
fn units_below_the_names_are_no_row() {
    let rows = "0.0,200,0.5\n0.5,201,0.6\n";
    let expected = "Time:float64 | Wave:int64 | Abs:float64\n 0 | 200 | 0.5\n 0.5 | 201 | 0.6";
    check(format!("Time,Wave,Abs\ns,nm,AU\n{rows}"), expected);
    // A delimiter at the end of each line, a column without values, and no unit.
    let ended = rows.replace('\n', ",\n");
    check(
        format!("Time,Wave,Abs,\ns,nm,AU,\n{ended}"),
        "Time:float64 | Wave:int64 | Abs:float64 | column_4:string\n 0 | 200 | 0.5 | ~\n 0.5 | 201 | 0.6 | ~",
    );
    check(
        "Day,Price,Remark\nd,EUR,\n2024-01-13,1.5,\n2024-01-14,2.5,\n",
        "Day:date | Price:float64 | Remark:string\n 2024-01-13 | 1.5 | ~\n 2024-01-14 | 2.5 | ~",
    );
    let priced = "Name:string | Price:float64\n a | 1.5\n b | 2.5";
    check("Name,Price\n-,EUR\na,1.5\nb,2.5\n", priced);
    check("Name,Price\nstring,EUR\na,1.5\nb,2.5\n", priced);
    check(
        "Region,Q1 2023,Change\n,Persons,Percent\nCanada,\"1,000\",5.5\nOntario,\"2,007\",4.5\n",
        "Region:string | Q1 2023:int64 | Change:float64\n Canada | 1000 | 5.5\n Ontario | 2007 | 4.5",
    );
    // Rows whose numbers are not known, and an index.
    check(
        "name,a,b\nx,unknown,missing\ny,1,2\nz,3,4\n",
        "name:string | a:string | b:string\n x | unknown | missing\n y | 1 | 2\n z | 3 | 4",
    );
}

#[test]
fn names_with_values_above_the_names_and_their_units_are_no_rows() {
    let rows = "0.1,1.5,1\n0.2,2.5,2\n0.3,3.5,2\n0.4,3.5,2\n";
    let expected = "Time:float64 | Price:float64 | Qty:int64\n 0.1 | 1.5 | 1\n 0.2 | 2.5 | 2\n 0.3 | 3.5 | 2\n 0.4 | 3.5 | 2";
    check(format!("Report,Sales,\nOwner,Jane,\nTime,Price,Qty\ns,EUR,pcs\n{rows}"), expected);
    check(
        format!("Report,Sales,\nSerial,SN-1,\nOwner,Jane,\n,,\nTime,Price,Qty\ns,EUR,pcs\n{rows}"),
        expected,
    );
    check(
        "Station,Berlin\nLat,52.5\nLon,13.4\nDate,Tmax\n2024-01-01,3.5\n2024-01-02,4.1\n2024-01-03,2.2\n",
        "Date:date | Tmax:float64\n 2024-01-01 | 3.5\n 2024-01-02 | 4.1\n 2024-01-03 | 2.2",
    );
}

#[test]
fn descriptions_above_a_time_series_are_no_rows() {
    check(
        ",Employed,Unemployed\nUnit,000,000\nSeries Type,Original,Original\nSeries ID,A84A,A84B\n\
         Feb-1978,5958.2,422.3\nMar-1978,5949.1,410.1\n",
        "column_1:string | Employed:float64 | Unemployed:float64\n Feb-1978 | 5958.2 | 422.3\n Mar-1978 | 5949.1 | 410.1",
    );
    check(
        "\"Series\",\"Funds rate\"\n\"Unit:\",\"Percent\"\n\"Multiplier:\",\"1\"\n\"Currency:\",\"NA\"\n\
         \"Time Period\",\"A\"\n2000-01,5.45\n2000-02,5.73\n",
        "Series:string | Funds rate:float64\n 2000-01 | 5.45\n 2000-02 | 5.73",
    );
    // Rows without a time, at the beginning of a table.
    check(
        "day,n\nlater,x\nlater,y\n2024-01-01,3\n2024-01-02,4\n",
        "day:string | n:string\n later | x\n later | y\n 2024-01-01 | 3\n 2024-01-02 | 4",
    );
}

#[test]
fn titles_and_notes_may_outnumber_the_rows() {
    let expected = "Region:string | Year:int64 | Cases:int64\n A | 2009 | 5";
    let table = "Region,Year,Cases\nA,2009,5\n";
    for (n_titles, n_notes) in [(1, 2), (3, 0), (5, 9), (12, 4)] {
        let lines = |n: usize, what: &str| format!("{what}\n").repeat(n);
        let (above, below) = (lines(n_titles, "About this"), lines(n_notes, "Note: x"));
        check(format!("{above}\n{table}\n{below}"), expected);
        check(format!("{above}\n\n{table}\n\n{below}"), expected);
        check(format!("{above}{table}\n{below}"), expected);
    }
}
