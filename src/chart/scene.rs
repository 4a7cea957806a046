//! The positions of marks on a chart, before any backend draws them.
//!
//! Units are pixels from the upper left corner. Tests examine scenes: whether labels collide or leave
//! the picture is a question of geometry.

use crate::text::TextLabel;
use crate::theme::Colour;

/// A finished drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    /// Whole pixels.
    pub width: f64,
    /// Whole pixels.
    pub height: f64,
    /// In drawing order, later ones on top.
    pub marks: Vec<Mark>,
    /// What a panel needs to say, which the note of all panels does.
    pub hints: Vec<String>,
    /// Points with a text that has no place yet.
    pub anchors: Vec<Anchored>,
}

/// A point with a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Anchored {
    /// The point.
    pub x: f64,
    /// The point.
    pub y: f64,
    /// What to say of it.
    pub text: String,
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
        /// Extent to the right.
        width: f64,
        /// Extent downwards.
        height: f64,
        /// Fill colour.
        colour: Colour,
    },
    /// A line through points.
    Line {
        /// At least two.
        points: Vec<(f64, f64)>,
        /// Stroke width.
        width: f64,
        /// Stroke colour.
        colour: Colour,
    },
    /// A filled shape with straight edges.
    Area {
        /// Its corners, at least three.
        corners: Vec<(f64, f64)>,
        /// Fill colour.
        colour: Colour,
    },
    /// A point. A filled one has a rim of paper, so that overlapping points can be distinguished.
    Dot {
        /// Centre.
        x: f64,
        /// Centre.
        y: f64,
        /// Radius without the rim.
        radius: f64,
        /// Distinguishes series without colour.
        shape: PointShape,
        /// Fill colour, or outline colour.
        colour: Colour,
        /// Whether it is an outline, through which points under it are visible.
        is_hollow: bool,
    },
    /// A line of text.
    Text(TextLabel),
}

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
    /// The shapes in the order in which series use them.
    pub(crate) const ALL: [PointShape; 4] =
        [PointShape::Circle, PointShape::Square, PointShape::Triangle, PointShape::Diamond];
}
