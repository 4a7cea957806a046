//! Coverage: the exact share of each pixel that a shape fills.
//!
//! Each edge adds, to the pixels that it crosses, the area to its right; the sum from left to right is
//! the coverage. (Source: R. Levien, "Inside the fastest font renderer in the world", 2016.)
//! Overlapping shapes of the same orientation are one shape, so that a line is as even at its joints as
//! between them.

/// Coverage below this is rounding error.
const NOTHING: f32 = 1e-3;

/// A place in device pixels.
pub(crate) type Point = (f32, f32);

/// The edges of one shape.
pub(crate) struct Mask {
    width: usize,
    height: usize,
    /// One more per row than pixels, for the area right of the last.
    cells: Vec<f32>,
    /// The non-zero cells of each row: from, to.
    touched: Vec<(usize, usize)>,
    /// The rows with such cells: from, to.
    rows: (usize, usize),
}

impl Mask {
    /// Creates an empty mask of a picture.
    pub(crate) fn new(width: usize, height: usize) -> Mask {
        let cells = vec![0.0; (width + 2) * height];
        Mask { width, height, cells, touched: vec![(usize::MAX, 0); height], rows: (height, 0) }
    }

    /// Adds a closed polygon.
    pub(crate) fn polygon(&mut self, corners: &[Point]) {
        let Some(mut from) = corners.last().copied() else { return };
        for to in corners {
            self.edge(from, *to);
            from = *to;
        }
    }

    fn edge(&mut self, from: Point, to: Point) {
        let (sign, (x0, y0), (x1, y1)) =
            if from.1 <= to.1 { (1.0, from, to) } else { (-1.0, to, from) };
        let (top, bottom) = (y0.max(0.0), y1.min(float(self.height)));
        if bottom <= top {
            return;
        }
        let slope = (x1 - x0) / (y1 - y0);
        let (first, end) = (whole(top), whole(bottom.ceil()).min(self.height));
        for row in first..end {
            let (upper, lower) = (top.max(float(row)), bottom.min(float(row + 1)));
            let (start, stop) = (x0 + (upper - y0) * slope, x0 + (lower - y0) * slope);
            self.cross(row, sign * (lower - upper), start.min(stop), start.max(stop));
        }
        self.rows = (self.rows.0.min(first), self.rows.1.max(end));
    }

    /// Adds the part of an edge within a row: its height, and its ends from left to right.
    fn cross(&mut self, row: usize, height: f32, left: f32, right: f32) {
        let width = float(self.width);
        let (left, right) = (left.clamp(0.0, width), right.clamp(0.0, width));
        let (first, last) = (whole(left), whole(right));
        let base = row * (self.width + 2);
        let touched = &mut self.touched[row];
        *touched = (touched.0.min(first), touched.1.max(last + 2));
        if first == last {
            // Right of the edge's midpoint the pixel is filled, and every later one completely.
            let filled = height * (1.0 - (f32::midpoint(left, right) - float(first)));
            self.cells[base + first] += filled;
            self.cells[base + first + 1] += height - filled;
            return;
        }
        let per_pixel = height / (right - left);
        let mut before = 0.0;
        for pixel in first..=last {
            // The height that the edge has crossed up to the pixel's right end, less half of its
            // crossing within it.
            let (start, stop) = (left.max(float(pixel)), right.min(float(pixel + 1)));
            let risen = per_pixel * (start - left);
            let rise = per_pixel * (stop - start);
            let filled = risen + rise * (float(pixel + 1) - f32::midpoint(start, stop));
            self.cells[base + pixel] += filled - before;
            before = filled;
        }
        self.cells[base + last + 1] += height - before;
    }

    /// Passes on the coverage of each covered pixel, from 1 to 255, and empties the mask.
    pub(crate) fn drain(&mut self, mut pixel: impl FnMut(usize, usize, u8)) {
        for row in self.rows.0..self.rows.1 {
            let (first, end) = std::mem::replace(&mut self.touched[row], (usize::MAX, 0));
            let base = row * (self.width + 2);
            let Some(cells) = self.cells.get_mut(base + first..base + end) else { continue };
            let mut sum = 0.0_f32;
            for (at, cell) in cells.iter_mut().enumerate() {
                sum += std::mem::take(cell);
                if NOTHING < sum.abs() && first + at < self.width {
                    pixel(first + at, row, level(sum));
                }
            }
        }
        self.rows = (self.height, 0);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a coverage in 255ths is a byte"
)]
fn level(coverage: f32) -> u8 {
    (coverage.abs().min(1.0) * 255.0 + 0.5) as u8
}

#[expect(clippy::cast_precision_loss, reason = "pictures have far fewer than 2^24 pixels a side")]
fn float(pixels: usize) -> f32 {
    pixels as f32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers clamp to the picture"
)]
fn whole(pixels: f32) -> usize {
    pixels as usize
}

#[cfg(test)]
mod tests {
    use super::{Mask, Point};

    #[track_caller]
    fn check(polygons: &[&[Point]], rows: [[u8; 4]; 3]) {
        let mut mask = Mask::new(4, 3);
        // A second time, to see that the first left nothing.
        for _ in 0..2 {
            let mut found = [[0; 4]; 3];
            for polygon in polygons {
                mask.polygon(polygon);
            }
            mask.drain(|x, y, coverage| found[y][x] = coverage);
            assert_eq!(found, rows);
        }
    }

    #[test]
    fn a_pixel_is_covered_as_far_as_the_shape_reaches_into_it() {
        let rect = [(0.5, 0.5), (3.0, 0.5), (3.0, 2.0), (0.5, 2.0)];
        check(&[&rect], [[64, 128, 128, 0], [128, 255, 255, 0], [0; 4]]);
    }

    #[test]
    fn a_slanting_edge_covers_by_area() {
        check(
            &[&[(0.0, 0.0), (4.0, 2.0), (0.0, 2.0)]],
            [[191, 64, 0, 0], [255, 255, 191, 64], [0; 4]],
        );
    }

    #[test]
    fn shapes_that_overlap_are_one() {
        let one = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (0.0, 1.0)];
        let two = [(1.0, 0.0), (4.0, 0.0), (4.0, 1.0), (1.0, 1.0)];
        check(&[&one, &two], [[255; 4], [0; 4], [0; 4]]);
    }

    #[test]
    fn what_is_outside_the_picture_is_cut() {
        let rect = [(-5.0, -5.0), (1.5, -5.0), (1.5, 1.0), (-5.0, 1.0)];
        check(&[&rect], [[255, 128, 0, 0], [0; 4], [0; 4]]);
        let rect = [(3.0, 2.0), (9.0, 2.0), (9.0, 9.0), (3.0, 9.0)];
        check(&[&rect], [[0; 4], [0; 4], [0, 0, 0, 255]]);
    }
}
