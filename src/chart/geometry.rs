//! Where marks and labels are, and which touch each other.

use super::scene::Mark;
use crate::text::TextLabel;
use crate::theme::Colour;

/// Left, top, right, bottom.
pub(crate) type Bounds = (f64, f64, f64, f64);

pub(crate) fn label(mark: &Mark) -> Option<(&str, Colour, Bounds)> {
    match mark {
        Mark::Text(label) if !label.text.is_empty() => {
            Some((&label.text, label.colour, TextLabel::bounds(label)))
        }
        _ => None,
    }
}

/// Returns whether two areas overlap.
pub(crate) fn touch(a: Bounds, b: Bounds) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

/// Axes, gridlines and paper may be behind a label.
pub(crate) fn is_data(mark: &Mark) -> bool {
    match mark {
        Mark::Rect { colour, .. }
        | Mark::Line { colour, .. }
        | Mark::Area { colour, .. }
        | Mark::Dot { colour, .. } => ![Colour::PAPER, Colour::AXIS, Colour::GRID].contains(colour),
        Mark::Text(_) => false,
    }
}

/// Returns whether a mark reaches into an area.
pub(crate) fn covers(mark: &Mark, bounds: Bounds) -> bool {
    match mark {
        Mark::Rect { x, y, width, height, .. } => {
            touch((*x, *y, x + width, y + height), bounds) && 0.0 < width * height
        }
        Mark::Dot { x, y, radius, .. } => {
            touch((x - radius, y - radius, x + radius, y + radius), bounds)
        }
        Mark::Line { points, .. } => points.windows(2).any(|it| crosses(it[0], it[1], bounds)),
        Mark::Area { corners, .. } => {
            let first = corners.first().copied();
            let closed: Vec<_> = corners.iter().copied().chain(first).collect();
            closed.windows(2).any(|it| crosses(it[0], it[1], bounds))
        }
        Mark::Text(_) => false,
    }
}

/// Clips the line to the bounds, after Liang and Barsky.
pub(crate) fn crosses(from: (f64, f64), to: (f64, f64), bounds: Bounds) -> bool {
    let (left, top, right, bottom) = bounds;
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    let sides = [
        (to.0 - from.0, left - from.0, right - from.0),
        (to.1 - from.1, top - from.1, bottom - from.1),
    ];
    for (step, low, high) in sides {
        if step.abs() < 1e-9 {
            if low > 0.0 || high < 0.0 {
                return false;
            }
        } else {
            enter = enter.max((low / step).min(high / step));
            leave = leave.min((low / step).max(high / step));
        }
    }
    enter < leave
}
