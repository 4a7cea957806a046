//! What stands where on a chart: marks with coordinates, before any backend draws them.
//!
//! Units are pixels from the upper left corner. A scene is what tests look at: whether labels
//! collide or leave the picture is a question of its geometry.

use crate::text::TextLabel;
use crate::theme::Colour;

/// A finished drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    /// Whole pixels.
    pub width: f64,
    /// Whole pixels.
    pub height: f64,
    /// In the order in which they cover each other.
    pub marks: Vec<Mark>,
}

/// One thing on a drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    /// A filled rectangle.
    Rect {
        /// Left edge.
        x: f64,
        /// Upper edge.
        y: f64,
        /// To the right.
        width: f64,
        /// Downwards.
        height: f64,
        /// Its filling.
        colour: Colour,
    },
    /// A line through points.
    Line {
        /// At least two.
        points: Vec<(f64, f64)>,
        /// Of the stroke.
        width: f64,
        /// Of the stroke.
        colour: Colour,
    },
    /// A point. A filled one has a rim of paper, so that points on each other can be told apart.
    Dot {
        /// Centre.
        x: f64,
        /// Centre.
        y: f64,
        /// Without the rim.
        radius: f64,
        /// Tells series apart without colour.
        shape: PointShape,
        /// Its filling, or its outline.
        colour: Colour,
        /// Whether it is an outline, through which those under it can be seen.
        is_hollow: bool,
    },
    /// A line of text.
    Text(TextLabel),
}

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointShape {
    /// Round.
    Circle,
    /// Upright.
    Square,
    /// On its base.
    Triangle,
    /// On its corner.
    Diamond,
}

impl PointShape {
    /// The shapes in the order in which series take them.
    pub(crate) const ALL: [PointShape; 4] =
        [PointShape::Circle, PointShape::Square, PointShape::Triangle, PointShape::Diamond];
}
