//! From the evidence of all columns to their types, with the reasons that a user might ask for.
//!
//! Pure. A column decides for itself where it can. Where its values are ambiguous, the user decides, or
//! else the other columns do; if they show nothing, it remains text.

use csv_agent_types::catalog::{DType, Meaning};

use super::amount::{CURRENCIES, Sign};
use super::local_dates::DateOrder;
use super::number::{DecimalMark, DigitGrouping, NumberForm};
use super::parse::YES_NO;
use super::requested_types::{RequestedType, Wants};
use super::type_evidence::TypeEvidence;

/// How the values of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ValueForm {
    /// As programs write them: ISO 8601, a decimal point, `true`.
    #[default]
    Plain,
    /// Dates in this order.
    Local(DateOrder),
    /// Numbers in this form.
    Number(NumberForm),
    /// Numbers in this form, with or without a unit sign.
    Amount(Sign, NumberForm),
    /// Truth values as words of [`YES_NO`], or as 1 and 0.
    Words,
}

/// The note of numbers that no single form fits.
pub(crate) const DIFFERENT_FORMS: &str = "text: numbers of different forms";

/// What the user specified about all values.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hints {
    /// The order of ambiguous dates.
    pub date_order: Option<DateOrder>,
    /// The decimal mark of all numbers.
    pub decimal: Option<DecimalMark>,
    /// The delimiter is `;`, as is common where the comma is the decimal mark.
    pub is_semicolon: bool,
    /// The delimiter is `,`, so that a quoted `1,2` may be a list.
    pub is_comma: bool,
    /// A program wrote the values: any other form is text.
    pub is_plain: bool,
}

/// The type of a column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ColumnType {
    /// The type that represents all values unchanged.
    pub dtype: Option<DType>,
    /// How they are written.
    pub form: ValueForm,
    /// The reason, where it is not obvious.
    pub note: Option<String>,
    /// Text for the sole reason that the values are ambiguous.
    pub is_ambiguous: bool,
    /// The meaning of the values beyond their type.
    pub meaning: Option<Meaning>,
}

impl ColumnType {
    /// Returns the type; text unless another is known.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype.unwrap_or(DType::String)
    }

    fn plain(dtype: DType) -> Self {
        ColumnType { dtype: Some(dtype), ..ColumnType::default() }
    }

    fn text(note: String) -> Self {
        ColumnType { note: Some(note), ..ColumnType::default() }
    }

    fn ambiguous(note: &str) -> Self {
        ColumnType { is_ambiguous: true, ..ColumnType::text(note.to_owned()) }
    }
}

/// Returns the type of each column, if the user requests none.
pub(crate) fn decide(columns: &[TypeEvidence], hints: Hints) -> Vec<ColumnType> {
    decide_as(columns, &Wants::default(), hints)
}

/// Returns whether values are unambiguous numbers, regardless of the rest of the file.
pub(crate) fn is_clear_number(seen: TypeEvidence) -> bool {
    Numbers::of(seen).is_some_and(|it| !it.has_marks() || it.clear_mark().is_some())
}

/// Returns whether the marks of numbers or amounts can be read in several ways, regardless of the rest of
/// the file.
pub(crate) fn is_ambiguous_number(seen: TypeEvidence) -> bool {
    let numbers = Numbers::of(seen).or(Numbers::of_amounts(seen));
    numbers.is_some_and(|it| it.has_marks() && !it.is_scientific() && it.clear_mark().is_none())
}

/// Returns the type of each column. A column requested as an amount or as exact gets that type, if all
/// its values fit; the caller handles other requested types.
pub(crate) fn decide_as(columns: &[TypeEvidence], wants: &Wants, hints: Hints) -> Vec<ColumnType> {
    let may_be_lists = |it: &Numbers| hints.is_comma && it.may_be_lists();
    let numbers = columns.iter().filter_map(|it| Numbers::of(*it));
    let of_amounts = columns.iter().filter_map(|it| Numbers::of_amounts(*it));
    let marks =
        numbers.filter(|it| !may_be_lists(it)).chain(of_amounts).filter_map(Numbers::clear_mark);
    let marks: Vec<DecimalMark> = marks.collect();
    // Only people write `12.500` beside `980`.
    let has_groups = marks.is_empty()
        && !hints.is_comma
        && !hints.is_plain
        && any_numbers(columns, |it| it.may_be_groups() && it.0.has(TypeEvidence::INT))
        && any_numbers(columns, |it| it.may_be_groups() && it.0.has(TypeEvidence::GROUP_ZERO));
    let decimal = agreed(marks.into_iter()).or(has_groups.then_some(DecimalMark::Comma));
    let decimal = hints.decimal.or(decimal);
    let is_told = hints.decimal.is_some();
    let orders = columns.iter().filter_map(|it| LocalDays::of(*it)?.clear_order());
    let order = agreed(orders).map(|it| (it, "as in other columns"));
    let by_comma = (hints.is_semicolon && decimal == Some(DecimalMark::Comma))
        .then_some((DateOrder::Dmy, "as in files with `;` and decimal comma"));
    // Where no column shows an order; contradictory columns prove nothing.
    let is_open = !columns
        .iter()
        .any(|it| LocalDays::of(*it).is_some_and(|days| days.clear_order().is_some()));
    let order = order.or(by_comma.filter(|_| is_open));
    let says = Others {
        hints,
        decimal,
        groups_by_point: has_groups || any_numbers(columns, Numbers::has_clear_points),
        has_groups,
        has_commas: any_numbers(columns, |it| it.clear_mark() == Some(DecimalMark::Comma)),
        is_european: hints.is_semicolon || columns.iter().any(|it| LocalDays::are_dotted(*it)),
    };
    let read = |(at, seen): (usize, &TypeEvidence)| {
        let meaning = meaning(*seen);
        let wanted = wants.of(at, meaning.as_ref());
        if let Some(reading) = wanted.and_then(|it| as_wanted(*seen, it, says)) {
            reading
        } else if let Some(days) = LocalDays::of(*seen) {
            days.read(hints.date_order, order)
        } else if let Some(numbers) = Numbers::of(*seen) {
            if !is_told && decimal != Some(DecimalMark::Comma) && may_be_lists(&numbers) {
                return ColumnType::ambiguous(
                    "text: `,` separates cells, so it may separate numbers as well; `--decimal ,` \
                     makes it a decimal comma",
                );
            }
            numbers.read(says)
        } else {
            let known = meaning.map(|it| ColumnType { meaning: Some(it), ..ColumnType::default() });
            known.or_else(|| amounts(*seen)).unwrap_or_else(|| plain(*seen))
        }
    };
    let is_plain =
        |it: &ColumnType| !hints.is_plain || (it.form == ValueForm::Plain && it.meaning.is_none());
    let readings = columns.iter().enumerate().map(read);
    readings.map(|it| Some(it).filter(is_plain).unwrap_or_default()).collect()
}

/// Returns how the values of each column are written, where a type is requested for it: the values
/// that cannot be of that type are ignored.
pub(crate) fn likely_forms(
    columns: &[TypeEvidence],
    wants: &Wants,
    hints: Hints,
) -> Vec<ValueForm> {
    const ISO: TypeEvidence = TypeEvidence::DATE.and(TypeEvidence::TIMESTAMP);
    let fit = |(at, seen): (usize, &TypeEvidence)| match wants.of_column(at) {
        Some(RequestedType::Money | RequestedType::Percent) => seen.numbers(),
        Some(RequestedType::Decimal | RequestedType::Type(DType::Int64 | DType::Float64)) => {
            seen.of_kinds(TypeEvidence::NUMBERS)
        }
        Some(RequestedType::Type(DType::Date | DType::Timestamp)) => {
            seen.of_kinds(ISO.and(TypeEvidence::LOCAL_DAYS))
        }
        _ => *seen,
    };
    let columns: Vec<TypeEvidence> = columns.iter().enumerate().map(fit).collect();
    let readings = decide(&columns, hints);
    // Where values of several forms fit the type, the user has named the form.
    let form = |(reading, seen): (ColumnType, &TypeEvidence)| match hints {
        _ if reading.form != ValueForm::Plain || reading.is_ambiguous => reading.form,
        Hints { date_order: Some(order), .. } if seen.has(LocalDays::LOCAL) => {
            ValueForm::Local(order)
        }
        Hints { decimal: Some(DecimalMark::Comma), .. } if seen.has(TypeEvidence::LOCAL_NUMBER) => {
            let (decimal, group) = (DecimalMark::Comma, DigitGrouping::Point);
            ValueForm::Number(NumberForm { decimal, group })
        }
        _ => ValueForm::Plain,
    };
    readings.into_iter().zip(&columns).map(form).collect()
}

/// Returns the common value, if all agree.
fn agreed<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|it| it == first).then_some(first)
}

fn any_numbers(columns: &[TypeEvidence], is_it: impl Fn(Numbers) -> bool) -> bool {
    let numbers = |it: &TypeEvidence| Numbers::of(*it).or(Numbers::of_amounts(*it));
    columns.iter().filter_map(numbers).any(is_it)
}

/// What the user and the rest of the file show about the numbers of a column.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is seen by itself")]
struct Others {
    hints: Hints,
    /// The decimal mark that the user named, or else the only one possible in all columns.
    decimal: Option<DecimalMark>,
    /// In some column points can only separate thousands.
    groups_by_point: bool,
    /// They do so by the absence of zeros alone.
    has_groups: bool,
    /// In some column commas can only be decimal marks, unless they separate the items of lists.
    has_commas: bool,
    /// The delimiter is `;`, or dates are written as `31.12.2024`: in such files, `1.250` may mean
    /// 1250.
    is_european: bool,
}

impl Others {
    fn is_told(self) -> bool {
        self.hints.decimal.is_some()
    }
}

/// Returns the meaning of text, if it holds for every value: money of one currency, a percentage, or
/// yes and no where both words of a pair occur.
fn meaning(seen: TypeEvidence) -> Option<Meaning> {
    let both = |at: usize| TypeEvidence::word(at, true).and(TypeEvidence::word(at, false));
    if (0..YES_NO.len()).any(|at| seen == both(at)) {
        return Some(Meaning::YesNo);
    }
    if !seen.has(TypeEvidence::AMOUNTS) || !seen.is_only(TypeEvidence::AMOUNTS) {
        return None;
    }
    let is_money = seen.has(TypeEvidence::CURRENCY);
    match (seen.currencies(), seen.has(TypeEvidence::PERCENT)) {
        ((Some(at), 1), false) => Some(money(Some(at))),
        ((None, _), true) if !is_money && !seen.has(TypeEvidence::ACCOUNTING) => {
            Some(Meaning::Percent)
        }
        _ => None,
    }
}

fn money(currency: Option<usize>) -> Meaning {
    Meaning::Money { currency: currency.map(|it| CURRENCIES[it].0.to_owned()) }
}

/// Explains why amounts of mixed kinds remain text.
fn amounts(seen: TypeEvidence) -> Option<ColumnType> {
    let is_amount = seen.has(TypeEvidence::AMOUNTS);
    if !is_amount || !seen.is_only(TypeEvidence::AMOUNTS.and(TypeEvidence::NUMBERS)) {
        return None;
    }
    let (is_money, is_percent) =
        (seen.has(TypeEvidence::CURRENCY), seen.has(TypeEvidence::PERCENT));
    let what = match (is_money, is_percent) {
        (true, true) => "amounts of money and percentages",
        (true, false) if 1 < seen.currencies().1 => "amounts of money in several currencies",
        (true, false) => {
            "amounts of money, some without a currency; `--dtype 'COLUMN=money'` makes them numbers"
        }
        (false, true) => {
            "percentages, some without `%`; `--dtype 'COLUMN=percent'` makes them numbers"
        }
        (false, false) => {
            "numbers in parentheses or with an unusual minus, which may be negative; `--dtype \
             'COLUMN=money'` makes them so"
        }
    };
    Some(ColumnType::text(format!("text: {what}")))
}

/// Returns whether a column was read as the user requested.
pub(crate) fn is_as_wanted(reading: &ColumnType, wanted: RequestedType) -> bool {
    match wanted {
        RequestedType::Money => matches!(reading.form, ValueForm::Amount(Sign::Money(_), _)),
        RequestedType::Percent => matches!(reading.form, ValueForm::Amount(Sign::Percent, _)),
        RequestedType::Decimal => {
            matches!(reading.form, ValueForm::Number(_)) && reading.dtype() == DType::Float64
        }
        // `1.250` would silently become a fraction.
        RequestedType::Type(dtype) => dtype != DType::Float64 || !reading.is_ambiguous,
    }
}

/// Reads a column as the user requested, if all values fit.
fn as_wanted(seen: TypeEvidence, wanted: RequestedType, others: Others) -> Option<ColumnType> {
    let (kinds, sign) = match wanted {
        RequestedType::Money => {
            let kinds =
                TypeEvidence::AMOUNTS.and(TypeEvidence::NUMBERS).without(TypeEvidence::PERCENT);
            (kinds, Some(Sign::Money(seen.currencies().0)))
        }
        RequestedType::Percent => {
            let kinds = TypeEvidence::AMOUNTS.and(TypeEvidence::NUMBERS);
            (
                kinds.without(TypeEvidence::CURRENCY.and(TypeEvidence::ACCOUNTING)),
                Some(Sign::Percent),
            )
        }
        RequestedType::Decimal => (TypeEvidence::NUMBERS, None),
        RequestedType::Type(DType::Bool) => {
            let reading = ColumnType { form: ValueForm::Words, ..ColumnType::plain(DType::Bool) };
            return meaning(seen).filter(|it| *it == Meaning::YesNo).map(|_| reading);
        }
        RequestedType::Type(_) => return None,
    };
    if seen == TypeEvidence::default() || !seen.is_only(kinds) || 1 < seen.currencies().1 {
        return None;
    }
    let numbers = Numbers(seen.numbers());
    let long = TypeEvidence::LONG_INT.and(TypeEvidence::LOCAL_LONG);
    let reading = numbers.read(others);
    let form = match reading.form {
        ValueForm::Number(form) => form,
        _ => NumberForm::PLAIN,
    };
    match (sign, reading.dtype()) {
        (None, DType::Int64) if numbers.0.has(long) => None,
        (None, DType::Int64 | DType::Float64) => Some(ColumnType {
            dtype: Some(DType::Float64),
            form: ValueForm::Number(form),
            ..reading
        }),
        (Some(sign), DType::Int64 | DType::Float64) => {
            let meaning = match sign {
                Sign::Money(currency) => money(currency),
                Sign::Percent => Meaning::Percent,
            };
            Some(ColumnType {
                form: ValueForm::Amount(sign, form),
                meaning: Some(meaning),
                ..reading
            })
        }
        _ if reading.is_ambiguous => Some(reading),
        _ => None,
    }
}

/// The note of numbers whose points may separate thousands, although nothing shows it.
pub(crate) const THREE_DIGITS: &str = "three digits follow each `.`";

/// The form in which `1.250` is a whole number.
const GROUPED: NumberForm = NumberForm { decimal: DecimalMark::Comma, group: DigitGrouping::Point };

/// A column that contains only numbers.
#[derive(Clone, Copy)]
struct Numbers(TypeEvidence);

impl Numbers {
    fn of(seen: TypeEvidence) -> Option<Self> {
        let is_number = seen != TypeEvidence::default() && seen.is_only(TypeEvidence::NUMBERS);
        is_number.then_some(Numbers(seen))
    }

    /// Returns the numbers of a column that contains only amounts.
    fn of_amounts(seen: TypeEvidence) -> Option<Self> {
        let is_amount = seen.has(TypeEvidence::AMOUNTS)
            && seen.is_only(TypeEvidence::AMOUNTS.and(TypeEvidence::NUMBERS));
        is_amount.then(|| Numbers(seen.numbers()))
    }

    fn is_plain(self) -> bool {
        !self.0.has(TypeEvidence::LOCAL_NUMBER)
    }

    fn is_open(self, form: NumberForm) -> bool {
        !self.0.has(form.ruled_out())
    }

    /// Returns the forms that fit every value.
    fn open(self) -> impl Iterator<Item = NumberForm> {
        NumberForm::ALL.into_iter().filter(move |it| self.is_open(*it))
    }

    fn has_marks(self) -> bool {
        self.0.has(TypeEvidence::COMMA.and(TypeEvidence::LAST_POINT).and(TypeEvidence::POINT))
    }

    /// Returns the decimal mark if the column allows only one, and contains marks at all.
    fn clear_mark(self) -> Option<DecimalMark> {
        if !self.has_marks() || self.is_scientific() {
            return None;
        }
        let is_plain = self.is_plain().then_some(DecimalMark::Point);
        agreed(self.open().map(|it| it.decimal).chain(is_plain))
    }

    /// Returns whether three digits follow each point, so that points may separate thousands.
    fn may_be_groups(self) -> bool {
        self.is_plain() && self.0.has(TypeEvidence::POINT) && self.is_open(GROUPED)
    }

    /// Only programs write exponents and infinity, wherever they occur.
    fn is_scientific(self) -> bool {
        self.open().next().is_none()
    }

    /// Returns whether points can only separate thousands.
    fn has_clear_points(self) -> bool {
        let is_points =
            |it: NumberForm| it.decimal == DecimalMark::Comma && it.group == DigitGrouping::Point;
        !self.is_plain() && self.open().all(is_points)
    }

    /// Returns whether every value is one whole number, or two separated by a comma.
    fn may_be_lists(self) -> bool {
        let comma = NumberForm { decimal: DecimalMark::Comma, group: DigitGrouping::None };
        let is_other = |it: NumberForm| it.decimal == DecimalMark::Point;
        // No list has an exponent.
        self.0.has(TypeEvidence::COMMA)
            && !self.0.has(TypeEvidence::EXPONENT)
            && self.is_open(comma)
            && !self.open().any(is_other)
    }

    fn read(self, others: Others) -> ColumnType {
        if self.is_plain() {
            return self.read_plain(others);
        }
        let (decimal, is_told) = (others.decimal, others.is_told());
        let why = if is_told { "; as specified" } else { "; as in other columns" };
        let open: Vec<NumberForm> = self.open().collect();
        let of = |mark: DecimalMark| open.iter().copied().find(|it| it.decimal == mark);
        let (comma, point) = (of(DecimalMark::Comma), of(DecimalMark::Point));
        let is_same =
            !self.0.has(TypeEvidence::COMMA.and(TypeEvidence::LAST_POINT).and(TypeEvidence::POINT));
        match (comma, point, decimal) {
            (None, None, _) => ColumnType::text(DIFFERENT_FORMS.to_owned()),
            (Some(form), _, _) if is_same => self.numbers(form, ""),
            (Some(form), Some(_), Some(DecimalMark::Comma))
                if is_told || !others.hints.is_comma =>
            {
                self.numbers(form, why)
            }
            (Some(_), Some(form), Some(DecimalMark::Point)) => self.numbers(form, why),
            // Where `,` is the delimiter, only a writer that separates thousands with it writes
            // `5,811`.
            (Some(_), Some(form), None) if others.hints.is_comma && !others.has_commas => {
                self.numbers(form, "; `--decimal ,` makes it a decimal comma")
            }
            (Some(_), Some(_), _) => ColumnType::ambiguous(
                "text: `,` may be a decimal mark or a thousands separator; `--decimal` decides",
            ),
            (Some(_), None, Some(DecimalMark::Point)) if is_told => ColumnType::text(
                "text: not every value is a number with a decimal point".to_owned(),
            ),
            (None, Some(_), Some(DecimalMark::Comma)) if is_told => ColumnType::text(
                "text: not every value is a number with a decimal comma".to_owned(),
            ),
            (Some(form), None, _) | (None, Some(form), _) => self.numbers(form, ""),
        }
    }

    /// Reads a column that a program may have written: its points are decimal points, unless three
    /// digits follow each and the file may separate thousands with points.
    fn read_plain(self, others: Others) -> ColumnType {
        let Others { decimal, groups_by_point, has_commas, is_european, hints, .. } = others;
        let is_told = others.is_told();
        let form = GROUPED;
        let plain =
            || plain(self.0.without(TypeEvidence::NOT_NUMBERS.and(TypeEvidence::GROUP_ZERO)));
        if decimal == Some(DecimalMark::Point)
            || hints.is_plain
            || !self.0.has(TypeEvidence::POINT)
            || self.is_scientific()
        {
            return plain();
        }
        if !self.is_open(form) {
            let note = "text: not every value is a number with a decimal comma";
            return if is_told { ColumnType::text(note.to_owned()) } else { plain() };
        }
        // Next to `1.250`, a program would write `980.000`, or fractions of other lengths.
        let has_whole = self.0.has(TypeEvidence::INT);
        let is_comma = decimal == Some(DecimalMark::Comma);
        let may_be_groups = has_commas || is_european;
        if is_told {
            self.numbers(form, "; as specified")
        } else if others.has_groups {
            self.numbers(form, "; `--decimal .` makes it a decimal point")
        } else if is_comma && (groups_by_point || has_whole) {
            self.numbers(form, "; as in other columns")
        } else if is_comma || may_be_groups {
            ColumnType::ambiguous(
                "text: `.` may be a decimal mark or a thousands separator; `--decimal` decides",
            )
        } else if hints.is_comma {
            plain()
        } else {
            ColumnType { note: Some(THREE_DIGITS.to_owned()), ..plain() }
        }
    }

    fn numbers(self, form: NumberForm, why: &str) -> ColumnType {
        if form.group == DigitGrouping::Blank && !self.0.has(TypeEvidence::SHORT_GROUP) {
            let note = "text: groups of three digits, which may be identifiers";
            return ColumnType::text(note.to_owned());
        }
        let fraction = match form.decimal {
            DecimalMark::Comma => TypeEvidence::COMMA,
            DecimalMark::Point => TypeEvidence::POINT.and(TypeEvidence::LAST_POINT),
        };
        let dtype = if self.0.has(fraction) { DType::Float64 } else { DType::Int64 };
        let long = TypeEvidence::LONG_INT.and(TypeEvidence::LOCAL_LONG);
        if dtype == DType::Float64 && self.0.has(long) {
            return ColumnType::text("text: more digits than a float can hold".to_owned());
        }
        ColumnType {
            dtype: Some(dtype),
            form: ValueForm::Number(form),
            note: Some(format!("{}{why}", form.words())),
            ..ColumnType::default()
        }
    }
}

/// Returns whether the values of a column have some type or meaning, even if how to read them is
/// ambiguous.
pub(crate) fn is_typed(seen: TypeEvidence) -> bool {
    let readings = decide(&[seen], Hints::default());
    readings.iter().any(|it| it.is_ambiguous || it.meaning.is_some() || it.dtype() != DType::String)
}

/// Reads values in the form that programs write.
fn plain(seen: TypeEvidence) -> ColumnType {
    const LOCAL: TypeEvidence =
        TypeEvidence::DATE.and(TypeEvidence::TIMESTAMP).and(TypeEvidence::LOCAL_DAYS);
    match plain_dtype(seen.without(TypeEvidence::OFFSET)) {
        DType::TimestampUtc if seen.has(TypeEvidence::OFFSET) => ColumnType {
            note: Some("in UTC; the file has other offsets".to_owned()),
            ..ColumnType::plain(DType::TimestampUtc)
        },
        DType::String if seen.has(TypeEvidence::TEXT.and(TypeEvidence::WORDS)) => {
            ColumnType::plain(DType::String)
        }
        DType::String if seen.is_only(TypeEvidence::DAYS) && seen.has(LOCAL) => {
            ColumnType::text("text: times with an offset and without".to_owned())
        }
        DType::String => match kinds(seen)[..] {
            [first, .., last] => ColumnType::text(format!("text: {first} and {last}")),
            ["numbers"] if seen.has(TypeEvidence::EXPONENT) => ColumnType::text(
                "text: exponents among whole numbers, which may be identifiers".to_owned(),
            ),
            ["numbers"] if seen.has(TypeEvidence::LONG_INT) => {
                ColumnType::text("text: more digits than a float can hold".to_owned())
            }
            _ => ColumnType::plain(DType::String),
        },
        dtype => ColumnType::plain(dtype),
    }
}

/// Returns the kinds of values in words.
fn kinds(seen: TypeEvidence) -> Vec<&'static str> {
    let kinds = [
        (TypeEvidence::NUMBERS, "numbers"),
        (TypeEvidence::DAYS, "days"),
        (TypeEvidence::TIME, "times of day"),
        (TypeEvidence::BOOL, "truth values"),
    ];
    kinds.into_iter().filter(|it| seen.has(it.0)).map(|it| it.1).collect()
}

/// Returns the type of values in the form that programs write.
fn plain_dtype(seen: TypeEvidence) -> DType {
    const INT: TypeEvidence = TypeEvidence::INT.and(TypeEvidence::LONG_INT);
    const FLOAT: TypeEvidence =
        TypeEvidence::INT.and(TypeEvidence::POINT).and(TypeEvidence::EXPONENT);
    const TIMESTAMP: TypeEvidence = TypeEvidence::DATE.and(TypeEvidence::TIMESTAMP);
    // No evidence: text, all null.
    if seen == TypeEvidence::default() || seen.has(TypeEvidence::TEXT) {
        DType::String
    } else if seen.is_only(TypeEvidence::BOOL) {
        DType::Bool
    } else if seen.is_only(INT) {
        DType::Int64
    } else if seen.is_only(FLOAT) {
        // `1E5` among whole numbers without any point: identifiers.
        let is_identifier = seen.has(TypeEvidence::EXPONENT)
            && seen.has(TypeEvidence::INT)
            && !seen.has(TypeEvidence::POINT);
        if is_identifier { DType::String } else { DType::Float64 }
    } else if seen.is_only(TypeEvidence::DATE) {
        DType::Date
    } else if seen.is_only(TIMESTAMP) {
        DType::Timestamp
    } else if seen.is_only(TypeEvidence::INSTANT) {
        DType::TimestampUtc
    } else if seen.is_only(TypeEvidence::TIME) {
        DType::Time
    } else {
        DType::String
    }
}

/// A column that contains only dates, some of them in local forms.
#[derive(Clone, Copy)]
struct LocalDays(TypeEvidence);

impl LocalDays {
    const LOCAL: TypeEvidence = TypeEvidence::LOCAL_DATE.and(TypeEvidence::LOCAL_TIMESTAMP);
    const SEPARATORS: [TypeEvidence; 5] = [
        TypeEvidence::SLASH,
        TypeEvidence::DASH,
        TypeEvidence::DOT,
        TypeEvidence::BLANK,
        TypeEvidence::JOINED,
    ];

    fn of(seen: TypeEvidence) -> Option<Self> {
        const ISO: TypeEvidence = TypeEvidence::DATE.and(TypeEvidence::TIMESTAMP);
        if !seen.has(Self::LOCAL) || !seen.is_only(ISO.and(TypeEvidence::LOCAL_DAYS)) {
            return None;
        }
        let mut all = seen;
        if seen.has(ISO) {
            // `2024-10-31` may have the same form as `2024-1-5`, with two more digits.
            all = all.and(TypeEvidence::DASH).and(TypeEvidence::YEAR4);
            all = all.and(TypeEvidence::NOT_DMY).and(TypeEvidence::NOT_MDY);
        }
        if seen.has(TypeEvidence::TIMESTAMP) {
            all = all.and(TypeEvidence::CLOCK24);
        }
        Some(LocalDays(all))
    }

    /// Returns whether a column has dates such as `31.12.2024`.
    fn are_dotted(seen: TypeEvidence) -> bool {
        let is_dotted =
            |it: LocalDays| it.0.has(TypeEvidence::DOT) && it.open() != [DateOrder::Ymd];
        LocalDays::of(seen).is_some_and(is_dotted)
    }

    fn has_all(self, kinds: [TypeEvidence; 2]) -> bool {
        kinds.iter().all(|it| self.0.has(*it))
    }

    /// Returns the order of day and month, if the numbers alone allow only one.
    fn clear_order(self) -> Option<DateOrder> {
        match self.open()[..] {
            [order @ (DateOrder::Dmy | DateOrder::Mdy)] => {
                (!self.0.has(TypeEvidence::NAMED_MONTH)).then_some(order)
            }
            _ => None,
        }
    }

    /// Returns the orders in which every value is a valid date.
    fn open(self) -> Vec<DateOrder> {
        let mut open: Vec<_> =
            DateOrder::ALL.into_iter().filter(|it| !self.0.has(it.ruled_out())).collect();
        if 1 < open.len() && open.contains(&DateOrder::Ymd) && !self.may_begin_with_year() {
            open.retain(|it| *it != DateOrder::Ymd);
        }
        open
    }

    /// Returns whether two-digit years may come first, although they may also come last.
    ///
    /// That is rare, and rarer with `/` and `.` than with `-`. Days of the month cover most tens from 0
    /// to 3; years of a table often cover one.
    fn may_begin_with_year(self) -> bool {
        let (n_first, n_third) = self.0.n_tens();
        if self.0.has(TypeEvidence::DASH) {
            n_first < 3 || n_third != 1
        } else {
            n_first == 1 && 3 <= n_third
        }
    }

    fn read(self, told: Option<DateOrder>, others: Option<(DateOrder, &str)>) -> ColumnType {
        let n_separators = Self::SEPARATORS.iter().filter(|it| self.0.has(**it)).count();
        if 1 < n_separators {
            return ColumnType::text("text: days with different separators".to_owned());
        }
        if self.has_all([TypeEvidence::YEAR2, TypeEvidence::YEAR4]) {
            return ColumnType::text("text: years of two and of four digits".to_owned());
        }
        if self.has_all([TypeEvidence::CLOCK12, TypeEvidence::CLOCK24]) {
            return ColumnType::text("text: times with AM or PM and without".to_owned());
        }
        let may_be = |order: DateOrder| !self.0.has(order.ruled_out());
        let is_named = self.0.has(TypeEvidence::NAMED_MONTH);
        if is_named && self.0.has(TypeEvidence::NUMBERED_MONTH) {
            return ColumnType::text("text: months in letters and in digits".to_owned());
        }
        let open = self.open();
        // Only the values show the position of four-digit years or named months.
        let told = told.filter(|it| {
            let is_year_first = self.0.has(TypeEvidence::YEAR4)
                && (*it == DateOrder::Ymd || open == [DateOrder::Ymd]);
            !is_named && !is_year_first
        });
        if let Some(order) = told {
            let words = order.words();
            return if may_be(order) {
                self.days(order, "as specified")
            } else {
                ColumnType::text(format!("text: not every value is a day as {words}"))
            };
        }
        match open[..] {
            [] => ColumnType::text("text: no order of day and month fits every value".to_owned()),
            [order] => self.days(order, "no other order fits every value"),
            _ if self.0.has(TypeEvidence::DOT) && may_be(DateOrder::Dmy) => {
                self.days(DateOrder::Dmy, "the parts are separated by `.`")
            }
            _ => match others {
                Some((order, why)) if open.contains(&order) => self.days(order, why),
                _ => ColumnType::ambiguous(
                    "text: the order of day and month is ambiguous; `--date-order` decides",
                ),
            },
        }
    }

    fn days(self, order: DateOrder, why: &str) -> ColumnType {
        const TIME: TypeEvidence = TypeEvidence::TIMESTAMP.and(TypeEvidence::LOCAL_TIMESTAMP);
        let dtype = if self.0.has(TIME) { DType::Timestamp } else { DType::Date };
        let years = if self.0.has(TypeEvidence::YEAR2) { "; years are 1969 to 2068" } else { "" };
        let clock = if self.0.has(TypeEvidence::CLOCK12) { "; times with AM or PM" } else { "" };
        let note = if self.0.has(TypeEvidence::NAMED_MONTH) {
            format!("months in letters{years}{clock}")
        } else {
            format!("{}: {why}{years}{clock}", order.words())
        };
        ColumnType {
            dtype: Some(dtype),
            form: ValueForm::Local(order),
            note: Some(note),
            ..ColumnType::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnType, Hints, decide, decide_as};
    use crate::local_dates::DateOrder;
    use crate::number::DecimalMark;
    use crate::requested_types::{RequestedType, Wants};
    use crate::type_evidence::{Nulls, TypeEvidence, classify};
    use csv_agent_types::catalog::DType;

    fn evidence<'a>(values: impl Iterator<Item = &'a &'a str>) -> TypeEvidence {
        let nulls = Nulls::new(None);
        values.fold(TypeEvidence::default(), |all, it| all.and(classify(it.as_bytes(), &nulls)))
    }

    fn reading(values: &[&str], hints: Hints) -> ColumnType {
        decide(&[evidence(values.iter())], hints).remove(0)
    }

    #[track_caller]
    fn check(values: &[&str], expected: DType) {
        assert_eq!(reading(values, Hints::default()).dtype(), expected, "{values:?}");
        let reversed: Vec<_> = values.iter().rev().copied().collect();
        assert_eq!(reading(&reversed, Hints::default()).dtype(), expected, "{reversed:?}");
    }

    #[test]
    fn clean_columns_have_their_type() {
        check(&["1", "-2", "", "9223372036854775807"], DType::Int64);
        check(&["1", "2.5", "1e-3"], DType::Float64);
        check(&["true", "FALSE"], DType::Bool);
        check(&["2024-02-29", "1999-12-31"], DType::Date);
        check(&["2024-02-29", "1999-12-31 10:00"], DType::Timestamp);
        check(&["2024-02-29T10:00:00Z", "2024-02-29T10:00:00+02:00"], DType::TimestampUtc);
        check(&["10:00", "23:59:59.5"], DType::Time);
        check(&["a", "b"], DType::String);
    }

    #[test]
    fn what_would_change_stays_text() {
        check(&["007", "12"], DType::String);
        check(&["12345678901234567890", "1"], DType::String);
        check(&["9007199254740993", "0.5"], DType::String);
        check(&["+491701234567", "5"], DType::String);
        check(&["0.12345678901234567890"], DType::String);
        check(&["2024-01-01 00:00:00.000000001"], DType::String);
    }

    #[test]
    fn mixed_columns_are_text() {
        check(&["1", "a"], DType::String);
        check(&["1", "true"], DType::String);
        check(&["1", "2024-01-01"], DType::String);
        check(&["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"], DType::String);
        check(&["1E5", "12"], DType::String);
        check(&["1E5", "12", "0.5"], DType::Float64);
    }

    #[test]
    fn a_null_marker_says_nothing_and_alone_is_text() {
        check(&["NA", "1", "-", " "], DType::Int64);
        check(&["NA", "", "null"], DType::String);
        check(&["NA", "DE"], DType::String);
    }

    /// `expected` is the note; a type precedes it unless it is text.
    #[track_caller]
    fn check_days(values: &[&str], told: Option<DateOrder>, expected: &str) {
        let reading = reading(values, Hints { date_order: told, ..Hints::default() });
        let dtype = reading.dtype.map_or(String::new(), |it| format!("{}, ", it.name()));
        let found = format!("{dtype}{}", reading.note.unwrap_or_default());
        assert_eq!(found, expected, "{values:?}");
    }

    #[track_caller]
    fn check_numbers(values: &[&str], decimal: Option<DecimalMark>, expected: &str) {
        let reading = reading(values, Hints { decimal, ..Hints::default() });
        let dtype = reading.dtype.map_or(String::new(), |it| format!("{} ", it.name()));
        let found = format!("{dtype}{}", reading.note.unwrap_or_default());
        assert_eq!(found, expected, "{values:?}");
    }

    #[test]
    fn numbers_of_one_form_are_numbers() {
        check_numbers(&["1234,56", "5", "0,123"], None, "float64 decimal comma");
        let comma = "float64 `.` between thousands, decimal comma";
        check_numbers(&["1.234,56", "5,5", "1.234"], None, comma);
        check_numbers(&["1,234,567", "1,234", "12"], None, "int64 `,` between thousands");
        check_numbers(&["1,234", "5.5"], None, "float64 `,` between thousands");
        check_numbers(&["1.234.567"], None, "int64 `.` between thousands, decimal comma");
        check_numbers(&["1 234", "12"], None, "int64 blanks between thousands, decimal comma");
        check_numbers(&["1'234.50"], None, "float64 `'` between thousands");
        check_numbers(&["1234", "1.5", "1e5"], None, "float64 ");
    }

    #[test]
    fn numbers_that_can_be_read_in_two_ways_wait_for_the_user() {
        let ambiguous =
            "text: `,` may be a decimal mark or a thousands separator; `--decimal` decides";
        check_numbers(&["1,234", "5"], None, ambiguous);
        check_numbers(&["1,234"], Some(DecimalMark::Comma), "float64 decimal comma; as specified");
        let thousands = "int64 `,` between thousands; as specified";
        check_numbers(&["1,234"], Some(DecimalMark::Point), thousands);
        let points = "int64 `.` between thousands, decimal comma; as specified";
        check_numbers(&["1.234"], Some(DecimalMark::Comma), points);
        let not = "text: not every value is a number with a decimal comma";
        check_numbers(&["5.5"], Some(DecimalMark::Comma), not);
        check_numbers(&["1,234.5"], Some(DecimalMark::Comma), not);
        let not = "text: not every value is a number with a decimal point";
        check_numbers(&["5,5"], Some(DecimalMark::Point), not);
    }

    #[test]
    fn a_comma_between_numbers_in_a_file_with_commas_may_make_a_list() {
        let first = |columns: &[&str], decimal| {
            let seen: Vec<_> = columns.iter().map(|it| evidence([it].into_iter())).collect();
            let hints = Hints { is_comma: true, decimal, ..Hints::default() };
            let reading = decide(&seen, hints).remove(0);
            (reading.dtype(), reading.note.unwrap_or_default())
        };
        let list = "text: `,` separates cells, so it may separate numbers as well; `--decimal ,` \
                    makes it a decimal comma";
        assert_eq!(first(&["1,2"], None), (DType::String, list.to_owned()));
        // Numbers with a point beside them make it no likelier.
        assert_eq!(first(&["1,2", "362.10"], None), (DType::String, list.to_owned()));
        assert_eq!(first(&["1,2"], Some(DecimalMark::Comma)).0, DType::Float64);
        assert_eq!(first(&["1.234,5"], None).0, DType::Float64);
        let others = (DType::Float64, "decimal comma".to_owned());
        assert_eq!(first(&["1,2", "1.234,5"], None), others);
        assert_eq!(first(&["1,234,567"], None).0, DType::Int64);
    }

    /// The first value of each is the one in question; its delimiter precedes the columns.
    #[track_caller]
    fn check_first(delimiter: char, columns: &[&[&str]], expected: &str) {
        let seen: Vec<_> = columns.iter().map(|it| evidence(it.iter())).collect();
        let (is_semicolon, is_comma) = (delimiter == ';', delimiter == ',');
        let reading = decide(&seen, Hints { is_semicolon, is_comma, ..Hints::default() }).remove(0);
        let found = format!("{} {}", reading.dtype().name(), reading.note.unwrap_or_default());
        assert_eq!(found, expected, "{columns:?}");
        assert_eq!(reading.is_ambiguous, found.contains("text: `"), "{columns:?}");
    }

    #[test]
    fn three_digits_behind_every_point_are_no_fraction_in_silence() {
        let open =
            "string text: `.` may be a decimal mark or a thousands separator; `--decimal` decides";
        let points = "int64 `.` between thousands, decimal comma; as in other columns";
        let column: &[&str] = &["1.250", "12.500", "980"];
        let certain =
            "int64 `.` between thousands, decimal comma; `--decimal .` makes it a decimal point";
        for delimiter in [';', '\t', '|'] {
            check_first(delimiter, &[column], certain);
            check_first(delimiter, &[column, &["31.12.2024"]], certain);
        }
        let alone = "float64 three digits follow each `.`";
        check_first('\t', &[&["1.250", "12.500"]], alone);
        check_first('\t', &[&["1.251", "980"]], alone);
        check_first('\t', &[&["1.251", "980"], &["1.250"]], certain);
        check_first('\t', &[&["1.250"], &["1.251", "980"]], certain);
        check_first(',', &[&["1.250", "12.500"]], "float64 ");
        check_first(';', &[&["1.250", "12.500"]], open);
        check_first(';', &[&["1.250", "12.500"], &["1.234,50-"]], points);
        check_first(';', &[column, &["3,50"]], points);
        check_first('\t', &[column, &["3,50"]], points);
        check_first(',', &[column, &["31.12.2024"]], open);
        check_first(',', &[column, &["3,50"]], open);
        check_first(';', &[&["1.250", "12.500"], &["3,50"]], open);
        // Another column says that the file has decimal points, or this one does.
        for delimiter in [';', ',', '\t'] {
            check_first(delimiter, &[column, &["0.5"]], "float64 ");
            check_first(delimiter, &[column, &["0.5"], &["31.12.2024"]], "float64 ");
            for plain in ["0.125", "1250.125", "1.2500", "1.25", "1250", "1e3"] {
                check_first(delimiter, &[&["1.250", plain], &["31.12.2024"]], "float64 ");
            }
        }
        check_first(',', &[column], "float64 ");
        check_first(',', &[column, &["2024.12.31"]], "float64 ");
    }

    #[test]
    fn commas_between_thousands_need_no_flag_in_a_file_with_commas() {
        let thousands = "int64 `,` between thousands; `--decimal ,` makes it a decimal comma";
        let open =
            "string text: `,` may be a decimal mark or a thousands separator; `--decimal` decides";
        let column: &[&str] = &["5,811", "24,559", "984"];
        check_first(',', &[column], thousands);
        check_first(',', &[&["5,811"]], thousands);
        check_first(',', &[column, &["1.250"]], thousands);
        check_first(',', &[column, &["0.5"]], "int64 `,` between thousands; as in other columns");
        check_first(',', &[column, &["3,50"]], open);
        check_first(',', &[column, &["1.234,50"]], open);
        check_first(',', &[column, &["3,5 %"]], open);
        check_first(';', &[column], open);
        check_first('\t', &[column], open);
        let mixed = "string text: numbers of different forms";
        check_first(
            ',',
            &[&["5,811", "24559"]],
            "string text: `,` separates cells, so it may \
            separate numbers as well; `--decimal ,` makes it a decimal comma",
        );
        check_first(',', &[&["5,811", "1,5", "1,234,567"]], mixed);
    }

    #[test]
    fn numbers_of_two_forms_are_text() {
        let mixed = "text: numbers of different forms";
        check_numbers(&["5,5", "5.5"], None, mixed);
        check_numbers(&["1,234,567", "1234"], None, mixed);
        check_numbers(&["1.234,5", "1,234.5"], None, mixed);
        check_numbers(&["1 234", "1'234"], None, mixed);
        check_numbers(&["5,5", "1e5"], None, mixed);
        let identifiers = "text: groups of three digits, which may be identifiers";
        check_numbers(&["555 123 456", "555 987 654"], None, identifiers);
        let long = "text: more digits than a float can hold";
        check_numbers(&["5,5", "12345678901234567"], None, long);
    }

    /// `expected` is what the column is known as, or else why it is text.
    #[track_caller]
    fn check_meaning(values: &[&str], expected: &str) {
        let reading = reading(values, Hints::default());
        assert_eq!(reading.dtype(), DType::String, "{values:?}");
        let found = reading.meaning.map(|it| it.words()).or(reading.note);
        assert_eq!(found.unwrap_or_default(), expected, "{values:?}");
    }

    #[test]
    fn amounts_stay_text_and_are_known_as_what_they_are() {
        check_meaning(&["12.5%", "5 %", "NA"], "percent");
        check_meaning(&["$1,234.50", "(5 US$)", "-$5", "USD 5", "(1,234.50)", ""], "money in USD");
        check_meaning(&["1.200,50 €"], "money in EUR");
        check_meaning(&["£5"], "money in GBP");
        check_meaning(&["100 kr"], "money in kr");
        check_meaning(&["$5", "5 €"], "text: amounts of money in several currencies");
        check_meaning(&["$5", "12%"], "text: amounts of money and percentages");
        let some = "text: amounts of money, some without a currency; `--dtype 'COLUMN=money'` makes them \
                    numbers";
        check_meaning(&["$5", "12"], some);
        let some =
            "text: percentages, some without `%`; `--dtype 'COLUMN=percent'` makes them numbers";
        check_meaning(&["5%", "12"], some);
        let brackets = "text: numbers in parentheses or with an unusual minus, which may be negative; \
                        `--dtype 'COLUMN=money'` makes them so";
        check_meaning(&["(1,234)", "5"], brackets);
        check_meaning(&["$5", "free"], "");
        check_meaning(&["$5", "2024-01-01"], "");
    }

    #[test]
    fn words_for_yes_and_no_stay_text_and_are_known_where_both_occur() {
        check_meaning(&["yes", "No", ""], "yes or no");
        check_meaning(&["Y", "n"], "yes or no");
        check_meaning(&["t", "F"], "yes or no");
        check_meaning(&["on", "OFF"], "yes or no");
        check_meaning(&["ja", "Nein", "NEIN"], "yes or no");
        for other in
            [&["yes", "yes"][..], &["yes", "n"], &["yes", "no", "maybe"], &["yes", "no", "true"]]
        {
            check_meaning(other, "");
        }
        check(&["0", "1"], DType::Int64);
        check(&["TRUE", "false", "True"], DType::Bool);
    }

    /// `expected` is the type, and what the column is known as.
    #[track_caller]
    fn check_wanted(values: &[&str], wanted: RequestedType, expected: Option<(DType, &str)>) {
        let wants = Wants::find(&[("a".to_owned(), wanted)], &["a".to_owned()]).unwrap();
        let hints = Hints { is_comma: true, ..Hints::default() };
        let reading = decide_as(&[evidence(values.iter())], &wants, hints).remove(0);
        let found =
            reading.dtype.map(|it| (it, reading.meaning.map_or(String::new(), |it| it.words())));
        assert_eq!(found, expected.map(|it| (it.0, it.1.to_owned())), "{values:?}");
    }

    #[test]
    fn what_the_user_wants_to_be_an_amount_is_one_if_every_value_is() {
        let (int, float) = (DType::Int64, DType::Float64);
        check_wanted(
            &["$1,234.50", "(5 US$)"],
            RequestedType::Money,
            Some((float, "money in USD")),
        );
        check_wanted(
            &["$1,234", "$24,559", "7"],
            RequestedType::Money,
            Some((int, "money in USD")),
        );
        check_wanted(&["$1234.50", "$5"], RequestedType::Money, Some((float, "money in USD")));
        check_wanted(
            &["1.234,50 €", "5,00 €"],
            RequestedType::Money,
            Some((float, "money in EUR")),
        );
        check_wanted(&["(1,234)", "5"], RequestedType::Money, Some((int, "money")));
        check_wanted(&["12.5%", "5 %", "7"], RequestedType::Percent, Some((float, "percent")));
        check_wanted(&["12,5 %", "5 %"], RequestedType::Percent, Some((float, "percent")));
        check_wanted(&["1", "2"], RequestedType::Decimal, Some((float, "")));
        check_wanted(&["1.5", "1,234.25"], RequestedType::Decimal, Some((float, "")));
        let text = Some((DType::String, ""));
        check_wanted(&["$5", "5 €"], RequestedType::Money, None);
        check_wanted(&["$5", "5%"], RequestedType::Money, None);
        check_wanted(&["$5", "free"], RequestedType::Money, text);
        check_wanted(&["9007199254740993"], RequestedType::Decimal, Some((int, "")));
    }

    #[test]
    fn one_column_settles_how_the_numbers_of_the_others_are_read() {
        let first = |columns: &[&str], is_semicolon| {
            let seen: Vec<_> = columns.iter().map(|it| evidence([it].into_iter())).collect();
            let hints = Hints { is_semicolon, ..Hints::default() };
            decide(&seen, hints).remove(0).note.unwrap_or_default()
        };
        assert_eq!(first(&["1,234", "5,5"], true), "decimal comma; as in other columns");
        assert_eq!(first(&["1,234", "5.5"], false), "`,` between thousands; as in other columns");
        assert!(first(&["1,234", "5.5", "5,5"], false).contains("--decimal"));
        assert!(first(&["1.234", "5,5"], true).contains("--decimal"));
        let points = "`.` between thousands, decimal comma; as in other columns";
        assert_eq!(first(&["1.234", "5,5", "1.234,5"], true), points);
        let semicolon = "day, month, year: as in files with `;` and decimal comma";
        assert_eq!(first(&["1/2/2024", "5,5"], true), semicolon);
        assert!(first(&["1/2/2024", "5,5"], false).contains("--date-order"));
    }

    #[test]
    fn one_day_over_12_settles_the_order_of_its_column() {
        let fits = "no other order fits every value";
        let dmy = format!("date, day, month, year: {fits}");
        check_days(&["01/02/2024", "31/12/2024"], None, &dmy);
        check_days(&["01/02/2024", "", "29/02/2024"], None, &dmy);
        check_days(&["1-2-2024", "12-31-2024"], None, &format!("date, month, day, year: {fits}"));
        check_days(&["2024/1/2"], None, &format!("date, year, month, day: {fits}"));
        check_days(&["2024-1-2", "2024-10-12"], None, &format!("date, year, month, day: {fits}"));
        let ymd = format!("timestamp, year, month, day: {fits}");
        check_days(&["2024-1-2", "2024-10-12 10:00"], None, &ymd);
    }

    #[test]
    fn an_order_that_nothing_settles_leaves_text() {
        let ambiguous = "text: the order of day and month is ambiguous; `--date-order` decides";
        check_days(&["01/02/2024", "03/04/2024"], None, ambiguous);
        check_days(&["01/02/24"], None, ambiguous);
        check_days(&["24-01-15", "24-02-20"], None, ambiguous);
        check_days(&["24/01/05", "24/02/15", "24/02/25"], None, ambiguous);
        let told = Some(DateOrder::Mdy);
        check_days(&["01/02/2024"], told, "date, month, day, year: as specified");
        check_days(
            &["24-01-15"],
            Some(DateOrder::Ymd),
            "date, year, month, day: as specified; years are 1969 to 2068",
        );
    }

    #[test]
    fn a_point_and_a_year_of_two_digits_come_after_the_day() {
        check_days(&["01.02.2024"], None, "date, day, month, year: the parts are separated by `.`");
        let fits = "no other order fits every value; years are 1969 to 2068";
        check_days(&["31/12/24"], None, &format!("date, day, month, year: {fits}"));
        check_days(&["12/31/24"], None, &format!("date, month, day, year: {fits}"));
        let days = ["05-01-24", "15-01-24", "25-01-24"];
        check_days(&days, None, &format!("date, day, month, year: {fits}"));
        check_days(&["99-01-31"], None, &format!("date, year, month, day: {fits}"));
    }

    #[test]
    fn what_contradicts_itself_or_the_user_is_text() {
        let none = "text: no order of day and month fits every value";
        check_days(&["31/12/2024", "12/31/2024"], None, none);
        check_days(&["2024/01/31", "31/01/2024"], None, none);
        check_days(&["31/12/2024", "31-12-2024"], None, "text: days with different separators");
        check_days(&["31/12/2024", "2024-12-31"], None, "text: days with different separators");
        check_days(&["31-12-2024", "2024-12-31"], None, none);
        check_days(&["31/12/2024", "31/12/24"], None, "text: years of two and of four digits");
        check_days(&["3-Jan-2024", "31-1-2024"], None, "text: months in letters and in digits");
        let clocks = ["31/1/2024 1:00 PM", "31/1/2024 13:00"];
        check_days(&clocks, None, "text: times with AM or PM and without");
        let told = Some(DateOrder::Dmy);
        check_days(&["12/31/2024"], told, "text: not every value is a day as day, month, year");
    }

    #[test]
    fn a_told_order_leaves_alone_what_has_one() {
        let told = Some(DateOrder::Dmy);
        check_days(&["Jan 3, 2024"], told, "date, months in letters");
        let fits = "no other order fits every value";
        check_days(&["2024/1/2"], told, &format!("date, year, month, day: {fits}"));
        let told = Some(DateOrder::Ymd);
        check_days(&["31/1/2024"], told, &format!("date, day, month, year: {fits}"));
    }

    #[test]
    fn an_impossible_day_or_another_value_makes_text() {
        check(&["31/12/2024", "30/02/2024"], DType::String);
        check(&["31/12/2024", "5"], DType::String);
        check(&["31/12/2024", "n. d."], DType::String);
        check(&["31/12/2024", "NA"], DType::Date);
        check(&["31/12/2024", "31/12/2024 9:30"], DType::Timestamp);
        check(&["31/12/2024 9:30", "2024-01-01T10:00:00Z"], DType::String);
        check(&["20240131"], DType::Int64);
    }

    #[test]
    fn one_column_settles_the_order_of_the_others() {
        let columns = |second: &str, third: &str| {
            let columns = [["01/02/2024"], [second], [third]];
            let seen: Vec<_> = columns.iter().map(|it| evidence(it.iter())).collect();
            decide(&seen, Hints::default()).remove(0)
        };
        let found = columns("31.12.2024", "x");
        assert_eq!(found.note.as_deref(), Some("day, month, year: as in other columns"));
        assert!(columns("31.12.2024", "12/31/2024").is_ambiguous);
        assert!(columns("31-Dec-2024", "2024/12/31").is_ambiguous);
    }
}
