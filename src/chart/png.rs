//! Pixels as PNG.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use anyhow::Context;
use png::{BitDepth, ColorType, Compression, Encoder, FilterType};

use super::Raster;
use super::theme::Rgb;

/// Maximum colours of a PNG palette.
const COLOURS_MAX: usize = 256;

/// Returns pixels as a PNG with a palette.
///
/// The smooth edges of many series have more colours than a palette; the rarest, which cover a few
/// pixels each, are replaced by the most similar others.
pub(crate) fn encode(raster: &Raster) -> anyhow::Result<Vec<u8>> {
    let (palette, indices) = indexed(&raster.rgb);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, raster.width, raster.height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette(palette.concat());
    // Bars, rules and paper are the same from row to row.
    encoder.set_filter(FilterType::Up);
    encoder.set_compression(Compression::Default);
    let mut writer = encoder.write_header().context("cannot encode the PNG")?;
    writer.write_image_data(&indices).context("cannot encode the PNG")?;
    writer.finish().context("cannot encode the PNG")?;
    Ok(bytes)
}

/// Returns at most [`COLOURS_MAX`] colours, most frequent first, and the index of each pixel's colour.
fn indexed(rgb: &[u8]) -> (Vec<Rgb>, Vec<u8>) {
    let (pixels, _) = rgb.as_chunks::<3>();
    let mut numbers: HashMap<Rgb, usize, BuildHasherDefault<ColourHasher>> = HashMap::default();
    let mut found: Vec<(Rgb, usize)> = Vec::new();
    // By runs, because most pixels equal the previous one.
    let mut runs = Vec::new();
    for run in pixels.chunk_by(|one, other| one == other) {
        let number = *numbers.entry(run[0]).or_insert_with(|| {
            found.push((run[0], 0));
            found.len() - 1
        });
        found[number].1 += run.len();
        runs.push((number, run.len()));
    }
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_unstable_by_key(|it| (Reverse(found[*it].1), found[*it].0));
    let palette: Vec<Rgb> = order.iter().take(COLOURS_MAX).map(|it| found[*it].0).collect();
    let mut places = vec![0; found.len()];
    for (place, number) in (0..=u8::MAX).zip(&order) {
        places[*number] = place;
    }
    // Colours that hardly differ are matched once.
    let mut alike: HashMap<Rgb, u8> = HashMap::new();
    for number in order.iter().skip(COLOURS_MAX) {
        let about = found[*number].0.map(|it| it & 0xf0 | 8);
        places[*number] = *alike.entry(about).or_insert_with(|| nearest(about, &palette));
    }
    let mut indices = Vec::with_capacity(pixels.len());
    for (number, length) in runs {
        indices.resize(indices.len() + length, places[number]);
    }
    (palette, indices)
}

/// Returns the index of the most similar colour.
fn nearest(colour: Rgb, palette: &[Rgb]) -> u8 {
    let distance = |it: &Rgb| -> u32 {
        it.iter().zip(colour).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
    };
    let nearest = (0..=u8::MAX).zip(palette).min_by_key(|(_, it)| distance(it));
    nearest.map_or(0, |(place, _)| place)
}

/// A hasher for three bytes. The standard library's would take more time than everything else.
#[derive(Default)]
struct ColourHasher(u64);

impl Hasher for ColourHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn finish(&self) -> u64 {
        // Knuth's multiplier spreads the low bits over the high ones, which the table uses first.
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
