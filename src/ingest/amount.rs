//! Amounts with a unit sign: `$1,234.50`, `5,00 €`, `USD 5`, `(1,234)`, `12.5 %`.
//!
//! Pure, from bytes, without allocation. An amount yields the evidence of its number, as any number
//! does, and its sign; the whole column decides whether all are of one kind.

use super::number::NumberForm;
use super::type_evidence::{self, TypeEvidence};

/// The currencies by ISO code, each with its common signs. A sign shared by several countries belongs
/// to the first one listed here; `kr` is the krone of three countries and is kept as is.
pub(crate) const CURRENCIES: [(&str, &[&str]); 27] = [
    ("USD", &["US$", "$"]),
    ("EUR", &["€"]),
    ("GBP", &["£"]),
    ("JPY", &["¥"]),
    ("CHF", &[]),
    ("CNY", &["CN¥", "RMB"]),
    ("INR", &["₹", "Rs.", "Rs"]),
    ("BRL", &["R$"]),
    ("CAD", &["CA$", "C$"]),
    ("AUD", &["AU$", "A$"]),
    ("NZD", &["NZ$"]),
    ("SEK", &[]),
    ("NOK", &[]),
    ("DKK", &[]),
    ("kr", &["kr.", "kr"]),
    ("PLN", &["zł"]),
    ("CZK", &["Kč"]),
    ("HUF", &[]),
    ("RUB", &["₽"]),
    ("TRY", &["₺"]),
    ("ZAR", &[]),
    ("KRW", &["₩"]),
    ("MXN", &["MX$"]),
    ("ILS", &["₪"]),
    ("SGD", &["S$"]),
    ("HKD", &["HK$"]),
    ("THB", &["฿"]),
];

/// The minus sign of Unicode.
const MINUS: &[u8] = "−".as_bytes();

/// The unit of a column's amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Money in the currency at this index of [`CURRENCIES`], if any value has a sign.
    Money(Option<usize>),
    /// Percent.
    Percent,
}

/// A text with everything around its number removed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amount<'a> {
    /// Digits and marks, without a sign, if the text is an amount or a number.
    pub number: &'a [u8],
    /// Whether it had a minus or parentheses.
    pub is_negative: bool,
    /// Whether it had parentheses, a minus at its end, or a minus that programs do not write.
    is_accounting: bool,
    sign: Option<Sign>,
}

impl<'a> Amount<'a> {
    /// Removes a sign, a minus and parentheses; `None` where one of them occurs twice.
    pub(crate) fn strip(text: &'a [u8]) -> Option<Self> {
        let mut amount =
            Amount { number: text, is_negative: false, is_accounting: false, sign: None };
        // A sign, a minus and parentheses may surround the number in any order, each once.
        loop {
            let rest = trim(amount.number);
            amount.number = rest;
            if let [b'(', inner @ .., b')'] = rest {
                amount.negate()?;
                (amount.is_accounting, amount.number) = (true, inner);
            } else if let Some(rest) = rest.strip_prefix(b"-") {
                amount.negate()?;
                amount.number = rest;
            } else if let Some(rest) = rest.strip_suffix(b"-").or(rest.strip_prefix(MINUS)) {
                amount.negate()?;
                (amount.is_accounting, amount.number) = (true, rest);
            } else if let Some((sign, rest)) = sign(rest) {
                if amount.sign.replace(sign).is_some() {
                    return None;
                }
                amount.number = rest;
            } else {
                return Some(amount);
            }
        }
    }

    /// Parses a text with a sign or parentheses, as far as its ends show; most other text costs little.
    fn scan(text: &'a [u8]) -> Option<Self> {
        let amount = Amount::strip(text)?;
        let is_plain = matches!(amount.number, [b'0'..=b'9', .., b'0'..=b'9'] | [b'0'..=b'9']);
        (is_plain && (amount.is_accounting || amount.sign.is_some())).then_some(amount)
    }

    fn negate(&mut self) -> Option<()> {
        let is_first = !self.is_negative;
        self.is_negative = true;
        is_first.then_some(())
    }

    fn evidence(&self) -> Option<TypeEvidence> {
        // `$1e5` is not an amount in a form that people write.
        let has_letters = self.number.iter().any(u8::is_ascii_alphabetic);
        let number = type_evidence::number(self.number).filter(|_| !has_letters)?;
        let kind = match self.sign {
            Some(Sign::Percent) => TypeEvidence::PERCENT,
            Some(Sign::Money(at)) => {
                TypeEvidence::CURRENCY.and(TypeEvidence::currency(at.unwrap_or(0)))
            }
            None => TypeEvidence::ACCOUNTING,
        };
        Some(kind.and(TypeEvidence::of_amount(number)))
    }
}

/// Removes a currency or `%` from either end.
fn sign(text: &[u8]) -> Option<(Sign, &[u8])> {
    if let Some(rest) = text.strip_suffix(b"%") {
        return Some((Sign::Percent, rest));
    }
    // The ends of most text show that it is not an amount.
    let is_end = |it: Option<&u8>| it.is_some_and(|it| it.is_ascii_digit() || b"()-".contains(it));
    if is_end(text.first()) && is_end(text.last()) {
        return None;
    }
    CURRENCIES.iter().enumerate().find_map(|(at, (code, signs))| {
        let rest = signs.iter().chain([code]).find_map(|it| cut(text, it.as_bytes()))?;
        Some((Sign::Money(Some(at)), rest))
    })
}

/// Removes `word` from either end, if present.
fn cut<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    text.strip_prefix(word).or_else(|| text.strip_suffix(word))
}

/// Trims blanks, including non-breaking ones.
fn trim(text: &[u8]) -> &[u8] {
    const BLANKS: [&str; 2] = ["\u{a0}", "\u{202f}"];
    let mut text = text.trim_ascii();
    while let Some(rest) = BLANKS.iter().find_map(|it| {
        let blank = it.as_bytes();
        text.strip_prefix(blank).or_else(|| text.strip_suffix(blank))
    }) {
        text = rest.trim_ascii();
    }
    text
}

/// Returns the evidence of an amount.
pub(crate) fn evidence(text: &[u8]) -> Option<TypeEvidence> {
    Amount::scan(text)?.evidence()
}

/// Returns the number of an amount of this kind, or of a number without a sign, and its evidence.
pub(crate) fn read<T>(
    text: &[u8],
    wanted: Sign,
    form: NumberForm,
    parse: impl Fn(&[u8], NumberForm) -> Option<T>,
) -> Option<(T, TypeEvidence)>
where
    T: std::ops::Neg<Output = T>,
{
    let Some(amount) = Amount::scan(text) else {
        return Some((parse(text, form)?, type_evidence::number(text)?));
    };
    let fits = match (wanted, amount.sign) {
        (Sign::Money(at), Some(Sign::Money(found))) => at.is_none() || at == found,
        (Sign::Percent, Some(Sign::Percent)) | (Sign::Money(_), None) => true,
        _ => false,
    };
    let value = parse(amount.number, form).filter(|_| fits)?;
    Some((if amount.is_negative { -value } else { value }, amount.evidence()?))
}

#[cfg(test)]
mod tests {
    use super::{CURRENCIES, Sign, evidence, read};
    use crate::number::{self, NumberForm};
    use crate::type_evidence::TypeEvidence;

    /// `expected` is what the amount counts and its number.
    #[track_caller]
    fn check(text: &str, expected: Option<(&str, f64)>) {
        let found = evidence(text.as_bytes()).and_then(|it| it.currencies().0);
        let signs = [Sign::Money(found), Sign::Percent].into_iter();
        let forms = [NumberForm::PLAIN].into_iter().chain(NumberForm::ALL);
        let found = evidence(text.as_bytes()).and_then(|seen| {
            forms.clone().find_map(|form| {
                signs.clone().find_map(|sign| {
                    let (value, read) = read(text.as_bytes(), sign, form, number::float)?;
                    assert_eq!(read, seen, "{text}");
                    let name = match sign {
                        Sign::Money(at) => at.map_or("", |it| CURRENCIES[it].0),
                        Sign::Percent => "%",
                    };
                    Some((name, value))
                })
            })
        });
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn an_amount_is_a_number_and_what_it_counts() {
        check("6,00 US$", Some(("USD", 6.0)));
        check("$1,200.50", Some(("USD", 1200.5)));
        check("$1200.50", Some(("USD", 1200.5)));
        check("USD 1200", Some(("USD", 1200.0)));
        check("1.200,50 €", Some(("EUR", 1200.5)));
        check("1 200,50\u{a0}€", Some(("EUR", 1200.5)));
        check("5EUR", Some(("EUR", 5.0)));
        check("£5", Some(("GBP", 5.0)));
        check("R$ 5,00", Some(("BRL", 5.0)));
        check("12,50 zł", Some(("PLN", 12.5)));
        check("100 kr.", Some(("kr", 100.0)));
        check("CHF 1'234.50", Some(("CHF", 1234.5)));
        check("-$5", Some(("USD", -5.0)));
        check("$-5", Some(("USD", -5.0)));
        check("−5 €", Some(("EUR", -5.0)));
        check("$(5.00)", Some(("USD", -5.0)));
        check("($5.00)", Some(("USD", -5.0)));
        check("(5 €)", Some(("EUR", -5.0)));
        check("(1,234.50)", Some(("", -1234.5)));
        check("1.234,50-", Some(("", -1234.5)));
        check("12 -", Some(("", -12.0)));
        check("5,00- €", Some(("EUR", -5.0)));
        check("−5.5", Some(("", -5.5)));
        check("12.5%", Some(("%", 12.5)));
        check("12,5 %", Some(("%", 12.5)));
        check("-3%", Some(("%", -3.0)));
        check("(3%)", Some(("%", -3.0)));
    }

    #[test]
    fn what_is_no_amount_has_none() {
        for text in [
            "$", "%", "()", "(a)", "-5-", "(5-)", "-−5", "5--", "5-6", "a-", "-", "50% off",
            "5 apples", "$1e5", "$5 €", "-(5)", "--5", "5", "-5", "US", "USD", "$ - 5 -", "(5",
            "5)", "EUR EUR", "5 5 %", "$a", "$.", "€-", "A1$", "kr", "(2019) x", "Try 5",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn an_amount_of_one_currency_is_none_of_another() {
        let euros = Sign::Money(Some(1));
        assert!(read(b"$5", euros, NumberForm::PLAIN, number::float).is_none());
        assert!(read(b"5%", euros, NumberForm::PLAIN, number::float).is_none());
        assert_eq!(read(b"5", euros, NumberForm::PLAIN, number::int).map(|it| it.0), Some(5));
        assert_eq!(read(b"(5)", euros, NumberForm::PLAIN, number::int).map(|it| it.0), Some(-5));
        assert!(evidence("5 €".as_bytes()).is_some_and(|it| it.has(TypeEvidence::CURRENCY)));
    }
}
