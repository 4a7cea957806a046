//! A plotters backend that paints pixels with antialiased edges.
//!
//! Coordinates are 64ths of a pixel. Edges of bars and horizontal or vertical lines are on whole
//! pixels, so that they are sharp.

use std::convert::Infallible;

use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use super::coverage::{Mask, Point};

/// The result of drawing, which cannot fail here.
pub(crate) type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// Units per pixel.
pub(crate) const UNITS: i32 = 64;
/// Vertical bars thinner than this many pixels show their width by shade, so that all look the same.
const SHARP_MIN: i32 = 3;
/// The control distance at which a Bézier curve best matches a quarter circle.
const CIRCLE: f32 = 0.552_284_8;

/// A picture being drawn.
pub(crate) struct Canvas {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
    mask: Mask,
    circle: Vec<Point>,
}

impl Canvas {
    /// Creates a black picture.
    pub(crate) fn new(width: usize, height: usize) -> Canvas {
        let circle = circle(12);
        let (rgb, mask) = (vec![0; width * height * 3], Mask::new(width, height));
        Canvas { width, height, rgb, mask, circle }
    }

    /// Returns the pixels: row by row from the upper left, three bytes each.
    pub(crate) fn into_rgb(self) -> Vec<u8> {
        self.rgb
    }

    /// Paints the area that the mask covers.
    fn fill(&mut self, colour: BackendColor) {
        let Canvas { mask, rgb, width, .. } = self;
        mask.drain(|x, y, coverage| blend(rgb, y * *width + x, colour, coverage));
    }

    /// Paints whole pixels, excluding the right and lower ends.
    fn block(&mut self, from: (i32, i32), to: (i32, i32), colour: BackendColor) {
        let clip = |it: i32, end: usize| usize::try_from(it).unwrap_or(0).min(end);
        let (left, right) = (clip(from.0, self.width), clip(to.0, self.width));
        let (red, green, blue) = colour.rgb;
        for y in clip(from.1, self.height)..clip(to.1, self.height) {
            let row =
                &mut self.rgb[(y * self.width + left) * 3..(y * self.width + right.max(left)) * 3];
            row.as_chunks_mut::<3>().0.fill([red, green, blue]);
        }
    }

    /// Paints a horizontal or vertical line on whole pixels.
    fn rule(&mut self, from: (i32, i32), to: (i32, i32), width: i32, colour: BackendColor) {
        let thick = round(width).max(UNITS);
        let start = |it: i32| round(it - thick / 2);
        let (from, to) = if from.0 == to.0 {
            let x = start(from.0);
            ((x, round(from.1.min(to.1))), (x + thick, round(from.1.max(to.1))))
        } else {
            let y = start(from.1);
            ((round(from.0.min(to.0)), y), (round(from.0.max(to.0)), y + thick))
        };
        self.block((from.0 / UNITS, from.1 / UNITS), (to.0 / UNITS, to.1 / UNITS), colour);
    }

    /// Adds a line with round joints and ends to the mask. Its pieces touch and hardly overlap: where
    /// antialiased edges are counted twice, a line shows knots.
    fn stroke(&mut self, points: &[Point], radius: f32) {
        let mut points = points.to_vec();
        points.dedup();
        let mut before: Option<Point> = None;
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let ahead = scaled((to.0 - from.0, to.1 - from.1), radius);
            let side = (-ahead.1, ahead.0);
            let at = |it: Point, side: Point| (it.0 + side.0, it.1 + side.1);
            let back = |it: Point| (-it.0, -it.1);
            self.mask.polygon(&[
                at(from, side),
                at(from, back(side)),
                at(to, back(side)),
                at(to, side),
            ]);
            if let Some(last) = before {
                let last_side = (-last.1, last.0);
                // The outer side of the turn needs filling.
                let is_right = 0.0 <= last.0 * ahead.1 - last.1 * ahead.0;
                let (first, second) =
                    if is_right { (back(last_side), back(side)) } else { (side, last_side) };
                let between = (first.0 + second.0, first.1 + second.1);
                let is_about = between.0.abs() + between.1.abs() < radius / 100.0;
                self.fan(
                    from,
                    first,
                    if is_about { last } else { scaled(between, radius) },
                    second,
                );
            } else {
                self.fan(from, side, back(ahead), back(side));
            }
            before = Some(ahead);
        }
        if let (Some(ahead), Some(end)) = (before, points.last()) {
            let side = (-ahead.1, ahead.0);
            self.fan(*end, (-side.0, -side.1), ahead, side);
        }
    }

    /// Adds a sector of a disc: from one radius through another to a third.
    fn fan(&mut self, at: Point, first: Point, middle: Point, last: Point) {
        let radius = (middle.0 * middle.0 + middle.1 * middle.1).sqrt();
        let between = |one: Point, other: Point| scaled((one.0 + other.0, one.1 + other.1), radius);
        let rim = [first, between(first, middle), middle, between(middle, last), last];
        let mut corners = [at; 6];
        for (corner, it) in corners[1..].iter_mut().zip(rim) {
            *corner = (at.0 + it.0, at.1 + it.1);
        }
        self.mask.polygon(&corners);
    }

    fn disc(&mut self, at: Point, radius: f32) {
        self.mask.polygon(&self.rim(at, radius));
    }

    /// Subtracts a disc from the mask: opposite orientation subtracts.
    fn hole(&mut self, at: Point, radius: f32) {
        let mut rim = self.rim(at, radius);
        rim.reverse();
        self.mask.polygon(&rim);
    }

    fn rim(&self, (x, y): Point, radius: f32) -> Vec<Point> {
        self.circle.iter().map(|it| (x + it.0 * radius, y + it.1 * radius)).collect()
    }
}

impl DrawingBackend for Canvas {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let size = |it| u32::try_from(it).unwrap_or(u32::MAX);
        (size(self.width), size(self.height))
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    /// Unlike shapes, this takes whole pixels: type is drawn here.
    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> Drawn {
        if let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y))
            && x < self.width
            && y < self.height
        {
            blend(&mut self.rgb, y * self.width + x, colour, level(colour.alpha));
        }
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        _: bool,
    ) -> Drawn {
        let (left, right) = sharp(from.0, to.0);
        // Parts of a stack touch without a gap, however thin they are.
        let (top, bottom) = (round(from.1), round(to.1));
        if [left, right, top, bottom].iter().all(|it| it % UNITS == 0) {
            let pixel = |x: i32, y: i32| (x / UNITS, y / UNITS);
            self.block(pixel(left, top), pixel(right, bottom), style.color());
            return Ok(());
        }
        self.fill_polygon([(left, top), (right, top), (right, bottom), (left, bottom)], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let path: Vec<_> = path.into_iter().collect();
        let width = i32::try_from(style.stroke_width()).unwrap_or(UNITS);
        if let [from, to] = *path.as_slice()
            && (from.0 == to.0 || from.1 == to.1)
        {
            self.rule(from, to, width, style.color());
            return Ok(());
        }
        let points: Vec<_> = path.iter().map(|it| (pixels(it.0), pixels(it.1))).collect();
        self.stroke(&points, pixels(width) / 2.0);
        self.fill(style.color());
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        is_filled: bool,
    ) -> Drawn {
        let center = (pixels(center.0), pixels(center.1));
        let radius = pixels(i32::try_from(radius).unwrap_or(0));
        if is_filled {
            self.disc(center, radius);
        } else {
            let half = pixels(i32::try_from(style.stroke_width()).unwrap_or(UNITS)) / 2.0;
            self.disc(center, radius + half);
            self.hole(center, (radius - half).max(0.0));
        }
        self.fill(style.color());
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        let corners: Vec<_> = corners.into_iter().map(|it| (pixels(it.0), pixels(it.1))).collect();
        self.mask.polygon(&corners);
        self.fill(style.color());
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> Drawn {
        let drawn = style.draw(text, at, |x, y, colour| self.draw_pixel((x, y), colour));
        drawn.map_err(|error| DrawingErrorKind::FontError(Box::new(error)))?
    }
}

fn blend(rgb: &mut [u8], pixel: usize, colour: BackendColor, coverage: u8) {
    let (red, green, blue) = colour.rgb;
    // In sixteenths, indistinguishable to the eye, so that most pictures need no more than a palette.
    let coverage = (u32::from(coverage) + 8) / 17 * 17;
    for (old, new) in rgb[pixel * 3..pixel * 3 + 3].iter_mut().zip([red, green, blue]) {
        let mixed = u32::from(*old) * (255 - coverage) + u32::from(new) * coverage;
        *old = u8::try_from((mixed + 127) / 255).unwrap_or(u8::MAX);
    }
}

/// Returns the ends of a bar on whole pixels, unless it is thin.
fn sharp(from: i32, to: i32) -> (i32, i32) {
    if (to - from).abs() < SHARP_MIN * UNITS { (from, to) } else { (round(from), round(to)) }
}

fn round(units: i32) -> i32 {
    (units + UNITS / 2).div_euclid(UNITS) * UNITS
}

/// Returns a vector of a given length in the direction of another, non-zero one.
fn scaled((x, y): Point, length: f32) -> Point {
    let factor = length / (x * x + y * y).sqrt().max(f32::MIN_POSITIVE);
    (x * factor, y * factor)
}

#[expect(clippy::cast_precision_loss, reason = "pictures have far fewer than 2^24 units a side")]
fn pixels(units: i32) -> f32 {
    units as f32 / UNITS as f32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an alpha in 255ths is a byte"
)]
fn level(alpha: f64) -> u8 {
    (alpha.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// Returns a circle of radius 1 as a polygon of `4n` corners, with the orientation of strokes.
fn circle(n: u8) -> Vec<Point> {
    let mut quarter = Vec::new();
    for step in 0..n {
        let done = f32::from(step) / f32::from(n);
        let left = 1.0 - done;
        let (start, end) = (left * left * left, done * done * done);
        let (second, third) = (3.0 * left * left * done, 3.0 * left * done * done);
        quarter.push((start + second + third * CIRCLE, second * CIRCLE + third + end));
    }
    let turned = |turn: fn(Point) -> Point| quarter.iter().copied().map(turn);
    let mut circle: Vec<_> = turned(|it| it).collect();
    circle.extend(turned(|(x, y)| (-y, x)));
    circle.extend(turned(|(x, y)| (-x, -y)));
    circle.extend(turned(|(x, y)| (y, -x)));
    circle
}
