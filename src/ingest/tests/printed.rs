//! Tables as programs print them: fixed widths, lines of dashes, several levels of names, notes below.

use super::check;

#[test]
fn numbers_of_other_habits_are_numbers() {
    check(
        "k,v\na,\"12,34,567\"\nb,\"1,00,000.5\"\nc,\"5,000\"\n",
        "k:string | v:float64\n a | 1234567 \n b | 100000.5\n c | 5000",
    );
    check("k;v\na;1,5e-04\nb;2,5\n", "k:string | v:float64\n a | 0.00015\n b | 2.5");
    // A list is none.
    check("k,v\na,\"1,2,345\"\nb,\"1,22\"\n", "k:string | v:string\n a | 1,2,345\n b | 1,22");
}
