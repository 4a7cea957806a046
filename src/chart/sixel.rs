//! Pictures as sixels: columns of six pixels, one colour at a time.
//!
//! Source: Digital Equipment Corporation, "VT330/VT340 Programmer Reference Manual", chapter 14.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::Raster;
use super::theme::Rgb;

/// Colours that every sixel terminal supports.
const COLOURS_MAX: usize = 256;
/// Pixels in a column of a sixel.
const BAND: usize = 6;

/// Returns the sequence that shows a picture at the cursor.
pub(crate) fn encode(raster: &Raster) -> String {
    let width = usize::try_from(raster.width).unwrap_or(0).max(1);
    let pixels: Vec<Rgb> = raster.rgb.chunks_exact(3).map(|it| [it[0], it[1], it[2]]).collect();
    let (colours, indices) = indexed(&pixels);
    let mut text = format!("\x1bP0;1;0q\"1;1;{};{}", raster.width, raster.height);
    for (at, colour) in colours.iter().enumerate() {
        let [red, green, blue] = colour.map(|it| (u32::from(it) * 100 + 127) / 255);
        // Writing to a string cannot fail.
        let _ = write!(text, "#{at};2;{red};{green};{blue}");
    }
    for band in indices.chunks(width * BAND) {
        let mut used = vec![false; colours.len()];
        for index in band {
            used[*index] = true;
        }
        for colour in (0..colours.len()).filter(|it| used[*it]) {
            let _ = write!(text, "#{colour}");
            line(band, width, colour, &mut text);
            text.push('$');
        }
        text.push('-');
    }
    text + "\x1b\\"
}

/// Writes one colour of a band, with run-length encoding of equal columns.
fn line(band: &[usize], width: usize, colour: usize, text: &mut String) {
    let column = |x: usize| {
        let rows = band.iter().skip(x).step_by(width).enumerate();
        rows.fold(0_u8, |it, (y, index)| it | u8::from(*index == colour) << y)
    };
    let mut x = 0;
    while x < width {
        let bits = column(x);
        let n_same = (x..width).take_while(|it| column(*it) == bits).count();
        x += n_same;
        let char = char::from(b'?' + bits);
        match n_same {
            // Nothing follows: the rest of the line is unchanged.
            _ if bits == 0 && x == width => {}
            1..=3 => text.extend((0..n_same).map(|_| char)),
            _ => {
                let _ = write!(text, "!{n_same}{char}");
            }
        }
    }
}

/// Returns at most [`COLOURS_MAX`] colours, and the index of the nearest one for each pixel.
fn indexed(pixels: &[Rgb]) -> (Vec<Rgb>, Vec<usize>) {
    let mut counts: HashMap<Rgb, usize> = HashMap::new();
    for pixel in pixels {
        *counts.entry(*pixel).or_default() += 1;
    }
    let mut colours: Vec<_> = counts.into_iter().collect();
    colours.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    // For each colour: the nearest kept one, and its distance.
    let mut all: Vec<_> =
        colours.into_iter().map(|it| (it.0, 0, u32::MAX)).collect::<Vec<(Rgb, usize, u32)>>();
    let mut kept: Vec<Rgb> = Vec::new();
    while kept.len() < COLOURS_MAX {
        // The most frequent colours are kept; then the ones with the largest distance.
        let next = if kept.len() < COLOURS_MAX / 2 {
            all.get(kept.len()).map(|it| it.0)
        } else {
            all.iter().max_by_key(|it| it.2).filter(|it| 0 < it.2).map(|it| it.0)
        };
        let Some(next) = next else { break };
        for (colour, nearest, far) in &mut all {
            let distance = distance(*colour, next);
            if distance < *far {
                (*nearest, *far) = (kept.len(), distance);
            }
        }
        kept.push(next);
    }
    let indices: HashMap<_, _> = all.into_iter().map(|it| (it.0, it.1)).collect();
    let pixels = pixels.iter().map(|it| indices[it]).collect();
    (kept, pixels)
}

fn distance(one: Rgb, other: Rgb) -> u32 {
    one.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::{Raster, encode};

    /// Draws sixels as a terminal does. Returns the width and the pixels in percent.
    #[track_caller]
    fn shown(text: &str) -> (usize, Vec<[u8; 3]>) {
        let body = text.strip_prefix("\x1bP0;1;0q\"1;1;").unwrap().strip_suffix("\x1b\\").unwrap();
        let (width, rest) = body.split_once(';').unwrap();
        let end = rest.find('#').unwrap();
        let (width, height): (usize, usize) =
            (width.parse().unwrap(), rest[..end].parse().unwrap());
        let mut pixels = vec![[u8::MAX; 3]; width * height];
        let (mut palette, mut colour) = (Vec::new(), 0);
        let (mut x, mut y, mut n_same) = (0, 0, 1);
        let mut chars = rest[end..].chars().peekable();
        let number = |chars: &mut std::iter::Peekable<std::str::Chars>| {
            let mut digits = String::new();
            while let Some(digit) = chars.next_if(|it| it.is_ascii_digit() || *it == ';') {
                digits.push(digit);
            }
            digits.split(';').map(|it| it.parse::<usize>().unwrap()).collect::<Vec<_>>()
        };
        while let Some(char) = chars.next() {
            match char {
                '#' => match number(&mut chars).as_slice() {
                    [at] => colour = *at,
                    [at, 2, rgb @ ..] => {
                        assert_eq!(*at, palette.len());
                        palette.push([0, 1, 2].map(|it| u8::try_from(rgb[it]).unwrap()));
                    }
                    other => panic!("{other:?}"),
                },
                '!' => n_same = number(&mut chars)[0],
                '$' => x = 0,
                '-' => (x, y) = (0, y + 6),
                '?'..='~' => {
                    let bits = u32::from(char) - u32::from('?');
                    for x in x..x + n_same {
                        for row in (0..6).filter(|it| bits >> it & 1 == 1) {
                            pixels[(y + row) * width + x] = palette[colour];
                        }
                    }
                    x += std::mem::replace(&mut n_same, 1);
                }
                other => panic!("{other:?}"),
            }
        }
        (width, pixels)
    }

    fn picture(width: u32, height: u32) -> Raster {
        let byte = |it: u32| u8::try_from(it % 256).unwrap();
        let pixel = |it: u32| [byte(it / width * 20), byte(it % width), 255];
        Raster { width, height, rgb: (0..width * height).flat_map(pixel).collect() }
    }

    #[test]
    fn few_colours_come_back_as_they_are() {
        let picture = picture(11, 20);
        let (width, pixels) = shown(&encode(&picture));
        let percent = |it: &u8| u8::try_from((u32::from(*it) * 100 + 127) / 255).unwrap();
        assert_eq!(width, 11);
        assert!(pixels.iter().flatten().copied().eq(picture.rgb.iter().map(percent)));
    }

    #[test]
    fn of_many_colours_every_pixel_gets_a_near_one() {
        let picture = picture(200, 12);
        let (_, pixels) = shown(&encode(&picture));
        for (found, wanted) in pixels.iter().flatten().zip(&picture.rgb) {
            let wanted = u32::from(*wanted) * 100 / 255;
            assert!(u32::from(*found).abs_diff(wanted) < 12, "{found} {wanted}");
        }
    }
}
