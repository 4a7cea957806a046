//! Aggregates of frames by combining parts, in linear time.

use super::frames::Frame;

/// Computes a value for each frame from the `included` positions in it: `at` is the value of one position,
/// `join` that of two neighbouring parts, left and right, and must be associative. Returns `None` for a
/// frame without such a position.
///
/// Nothing is ever taken away from a value, so floats keep their precision, and an infinity leaves with its
/// row. The current frame is kept as two parts: for the left one, the value from each position to its end,
/// so that the frame can shrink; for the right one, the whole value, so that it can grow.
pub(super) fn slide<T: Copy>(
    frames: &[Frame],
    included: &[bool],
    at: impl Fn(usize) -> T,
    join: impl Fn(T, T) -> T,
) -> Vec<Option<T>> {
    let both = |left: Option<T>, right: Option<T>| match (left, right) {
        (Some(left), Some(right)) => Some(join(left, right)),
        (left, right) => left.or(right),
    };
    let value = |position: usize| included[position].then(|| at(position));
    let mut current = 0..0;
    // Of the left part, the last position first.
    let mut left: Vec<Option<T>> = Vec::new();
    let mut right = None;
    let mut values = Vec::with_capacity(frames.len());
    for frame in frames {
        if current.end <= frame.start {
            left.clear();
            right = None;
            current = frame.start..frame.start;
        }
        for position in current.end..frame.end {
            right = both(right, value(position));
        }
        current.end = current.end.max(frame.end);
        while current.start < frame.start {
            if left.is_empty() {
                let mut part = None;
                for position in current.clone().rev() {
                    part = both(value(position), part);
                    left.push(part);
                }
                right = None;
            }
            left.pop();
            current.start += 1;
        }
        values.push(both(left.last().copied().flatten(), right));
    }
    values
}
