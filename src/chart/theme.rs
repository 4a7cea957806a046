//! The colours of a chart's parts on white and on dark paper.
//!
//! A scene names roles; here they become colours. The tests verify the stated contrasts.

use csv_agent_types::limits::CHART_SERIES_MAX;

/// The paper that a chart is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// White paper.
    #[default]
    Light,
    /// Dark paper.
    Dark,
}

/// Red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// The colours of all roles, in order: paper, ink, grey, axis, grid, the series, the shades, the type on
/// each shade, muted.
///
/// Type has a contrast of at least 4.5 : 1 with the paper, marks of at least 3 : 1 (Source: WCAG 2.2,
/// criteria 1.4.3 and 1.4.11). A computer search chose the series colours for the largest distance
/// between them as seen by trichromats, protanopes, deuteranopes and tritanopes, with most weight on
/// neighbours and the first three; the first hues are fixed: blue, orange, green.
type Palette = [Rgb; Colour::N_ROLES];

const LIGHT: Palette = [
    [0xff, 0xff, 0xff],
    [0x22, 0x22, 0x22],
    [0x5c, 0x5c, 0x5c],
    [0x77, 0x77, 0x77],
    [0xe4, 0xe4, 0xe4],
    [0x32, 0x73, 0xe2],
    [0xd9, 0x79, 0x30],
    [0x11, 0x61, 0x55],
    [0x00, 0x00, 0x79],
    [0x57, 0x10, 0x1b],
    [0x97, 0x3d, 0x98],
    [0x8f, 0x90, 0x86],
    [0xa3, 0x09, 0x0c],
    [0x16, 0x9a, 0xd3],
    [0x7e, 0x70, 0x35],
    [0xdf, 0xea, 0xf6],
    [0xc3, 0xda, 0xee],
    [0xa0, 0xc4, 0xe4],
    [0x78, 0xaa, 0xd8],
    [0x57, 0x92, 0xcb],
    [0x2a, 0x65, 0xa8],
    [0x12, 0x3f, 0x7c],
    [0xf8, 0xdc, 0xc0],
    [0xe3, 0xa2, 0x62],
    [0xa4, 0x52, 0x0f],
    [0x22, 0x22, 0x22],
    [0x22, 0x22, 0x22],
    [0x22, 0x22, 0x22],
    [0x22, 0x22, 0x22],
    [0x22, 0x22, 0x22],
    [0xff, 0xff, 0xff],
    [0xff, 0xff, 0xff],
    [0x22, 0x22, 0x22],
    [0x22, 0x22, 0x22],
    [0xff, 0xff, 0xff],
    [0xa0, 0x90, 0x88],
];

const DARK: Palette = [
    [0x17, 0x1a, 0x21],
    [0xec, 0xed, 0xf0],
    [0xb0, 0xb4, 0xbd],
    [0x8a, 0x8f, 0x99],
    [0x34, 0x38, 0x42],
    [0x66, 0xa4, 0xff],
    [0xf5, 0x9b, 0x33],
    [0x6a, 0xec, 0xd0],
    [0xa6, 0x59, 0x28],
    [0x35, 0x68, 0xd2],
    [0xb1, 0xb1, 0xb1],
    [0xf8, 0xf3, 0x6a],
    [0xd6, 0x54, 0x87],
    [0xdf, 0xd3, 0x93],
    [0xa8, 0x7e, 0xc3],
    [0x20, 0x32, 0x4a],
    [0x28, 0x46, 0x6c],
    [0x33, 0x5c, 0x91],
    [0x5c, 0x8f, 0xce],
    [0x7f, 0xb0, 0xe8],
    [0xa6, 0xcb, 0xf4],
    [0xd6, 0xe7, 0xfb],
    [0x54, 0x39, 0x1a],
    [0x7d, 0x52, 0x18],
    [0xf0, 0xa9, 0x4a],
    [0xec, 0xed, 0xf0],
    [0xec, 0xed, 0xf0],
    [0xec, 0xed, 0xf0],
    [0x17, 0x1a, 0x21],
    [0x17, 0x1a, 0x21],
    [0x17, 0x1a, 0x21],
    [0x17, 0x1a, 0x21],
    [0xec, 0xed, 0xf0],
    [0xec, 0xed, 0xf0],
    [0x17, 0x1a, 0x21],
    [0x70, 0x70, 0x70],
];

impl Theme {
    /// The themes.
    #[cfg(test)]
    pub const ALL: [Theme; 2] = [Theme::Light, Theme::Dark];

    /// Returns the colour of a role.
    pub(crate) fn rgb(self, colour: Colour) -> Rgb {
        let palette = match self {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        };
        palette[colour.index()]
    }
}

/// The role of a chart's part, to which a theme assigns a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colour(u8);

impl Colour {
    /// The paper, which is white in the light theme.
    pub(crate) const PAPER: Colour = Colour(0);
    /// Titles and labels.
    pub(crate) const INK: Colour = Colour(1);
    /// Secondary text: axis labels, notes.
    pub(crate) const GREY: Colour = Colour(2);
    /// The line that values start from.
    pub(crate) const AXIS: Colour = Colour(3);
    /// Gridlines.
    pub(crate) const GRID: Colour = Colour(4);
    /// The series, in their order.
    pub(crate) const SERIES: [Colour; CHART_SERIES_MAX] = Colour::roles(5);
    /// Shades of a value: from small to large, then three from slightly to far below zero.
    pub(crate) const SHADES: [Colour; 10] =
        Colour::roles(Colour::SERIES[CHART_SERIES_MAX - 1].0 + 1);
    /// How many of the shades are for values above zero.
    pub(crate) const N_RISING: usize = 7;
    const ON_SHADES: [Colour; 10] = Colour::roles(Colour::SHADES[9].0 + 1);
    /// The series and categories that are not highlighted.
    pub(crate) const MUTED: Colour = Colour(Colour::ON_SHADES[9].0 + 1);
    /// Number of roles.
    pub(crate) const N_ROLES: usize = 5 + CHART_SERIES_MAX + 21;

    const fn roles<const N: usize>(first: u8) -> [Colour; N] {
        let mut all = [Colour(first); N];
        let mut at = 1;
        while at < N {
            all[at].0 = all[at - 1].0 + 1;
            at += 1;
        }
        all
    }

    /// Returns the colour of type on a shade; `None` on other colours.
    pub(crate) fn on_shade(self) -> Option<Colour> {
        let at = Colour::SHADES.iter().position(|it| *it == self)?;
        Some(Colour::ON_SHADES[at])
    }

    /// Returns the index of the role.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour, Rgb, Theme};

    type Row = [f64; 3];

    /// What a dichromat sees of linear light. Source: Machado, Oliveira, Fernandes 2009, severity 1.
    const VIEWS: [(&str, [Row; 3]); 4] = [
        ("trichromats", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopes",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopes",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopes",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];
    /// To the cone responses of Oklab and on to its axes. Source: Ottosson 2020.
    const CONES: [Row; 3] = [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
    ];
    const AXES: [Row; 3] = [
        [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
    ];
    /// Neighbours in the order of the series, and any two of the first three. For comparison, in the
    /// palette of Okabe and Ito blue and green are 0.086 apart for tritanopes.
    const NEIGHBOURS_MIN: f64 = 0.14;
    /// Any two of all ten, which a legend and the order of parts and lines also distinguish.
    const ANY_TWO_MIN: f64 = 0.07;

    fn times(matrix: &[Row; 3], it: Row) -> Row {
        matrix.map(|row| row[0] * it[0] + row[1] * it[1] + row[2] * it[2])
    }

    fn linear(rgb: Rgb) -> Row {
        rgb.map(|it| {
            let it = f64::from(it) / 255.0;
            if it <= 0.040_45 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn contrast(one: Rgb, other: Rgb) -> f64 {
        let luminance = |it| {
            let [red, green, blue] = linear(it);
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (one, other): (f64, f64) = (luminance(one), luminance(other));
        one.max(other) / one.min(other)
    }

    fn distance(one: Rgb, other: Rgb, view: &[Row; 3]) -> f64 {
        let seen = |it| {
            let light = times(view, linear(it)).map(|it| it.clamp(0.0, 1.0));
            times(&AXES, times(&CONES, light).map(f64::cbrt))
        };
        let (one, other) = (seen(one), seen(other));
        (0..3).map(|it| (one[it] - other[it]).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn type_and_marks_stand_out_from_the_paper() {
        for theme in Theme::ALL {
            let paper = theme.rgb(Colour::PAPER);
            for (role, min) in [(Colour::INK, 12.0), (Colour::GREY, 4.5), (Colour::AXIS, 3.0)] {
                let contrast = contrast(paper, theme.rgb(role));
                assert!(min <= contrast, "{theme:?} {role:?}: {contrast:.2}");
            }
            for role in Colour::SERIES.into_iter().chain([Colour::MUTED]) {
                let contrast = contrast(paper, theme.rgb(role));
                assert!(3.0 <= contrast, "{theme:?} {role:?}: {contrast:.2}");
            }
            // Lines to read by are seen, and stay behind.
            let grid = contrast(paper, theme.rgb(Colour::GRID));
            assert!((1.2..1.7).contains(&grid), "{theme:?}: {grid:.2}");
        }
    }

    #[test]
    fn shades_become_stronger_for_everyone_and_type_on_them_is_read() {
        for theme in Theme::ALL {
            for shade in Colour::SHADES {
                let type_on = theme.rgb(shade.on_shade().unwrap());
                let contrast = contrast(theme.rgb(shade), type_on);
                assert!(4.5 <= contrast, "{theme:?} {shade:?}: {contrast:.2}");
            }
            let paper = theme.rgb(Colour::PAPER);
            let (rising, falling) = Colour::SHADES.split_at(Colour::N_RISING);
            for shades in [rising, falling] {
                let strengths: Vec<_> =
                    shades.iter().map(|it| contrast(paper, theme.rgb(*it))).collect();
                assert!(1.2 < strengths[0] && strengths.windows(2).all(|it| it[0] * 1.15 < it[1]));
            }
            for (people, view) in &VIEWS {
                for pair in rising.windows(2).chain(falling.windows(2)) {
                    let apart = distance(theme.rgb(pair[0]), theme.rgb(pair[1]), view);
                    assert!(0.04 <= apart, "{theme:?}, {people}: {pair:?} {apart:.3}");
                }
                // The same distance above and below zero.
                for (one, other) in [(1, 0), (3, 1), (5, 2)] {
                    let (one, other) = (theme.rgb(rising[one]), theme.rgb(falling[other]));
                    let apart = distance(one, other, view);
                    assert!(0.06 <= apart, "{theme:?}, {people}: {one:?} {other:?} {apart:.3}");
                }
            }
        }
    }

    #[test]
    fn what_is_highlighted_stands_out_for_everyone() {
        for theme in Theme::ALL {
            for (people, view) in &VIEWS {
                let (strong, muted) = (theme.rgb(Colour::SERIES[0]), theme.rgb(Colour::MUTED));
                let distance = distance(strong, muted, view);
                assert!(NEIGHBOURS_MIN <= distance, "{theme:?}, {people}: {distance:.3}");
            }
        }
    }

    #[test]
    fn series_are_told_apart_however_colours_are_seen() {
        for theme in Theme::ALL {
            for (people, view) in &VIEWS {
                for (one, first) in Colour::SERIES.iter().enumerate() {
                    for (other, second) in Colour::SERIES.iter().enumerate().skip(one + 1) {
                        let distance = distance(theme.rgb(*first), theme.rgb(*second), view);
                        let is_close = other == one + 1 || other < 3;
                        let min = if is_close { NEIGHBOURS_MIN } else { ANY_TWO_MIN };
                        assert!(
                            min <= distance,
                            "{theme:?}, {people}: {one} and {other} are {distance:.3} apart"
                        );
                    }
                }
            }
        }
    }
}
