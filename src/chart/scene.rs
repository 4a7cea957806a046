//! What stands where on a chart: marks with coordinates, before any backend draws them.
//!
//! Units are pixels from the upper left corner. A scene is what tests look at: whether labels
//! collide or leave the picture is a question of its geometry.

use csv_agent_types::limits::CHART_SERIES_MAX;

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

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextLabel {
    /// Safe to show, and valid in XML.
    pub text: String,
    /// Where the anchor is.
    pub x: f64,
    /// The baseline.
    pub y: f64,
    /// Pixels of an em.
    pub size: f64,
    /// Of the type.
    pub weight: Weight,
    /// Of the type.
    pub colour: Colour,
    /// Which end is at the point.
    pub anchor: Anchor,
    /// Whether it reads upwards.
    pub is_turned: bool,
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

/// The weight of type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// For everything but titles.
    Regular,
    /// For titles.
    Bold,
}

/// Which end of a text is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The left one; the lower one when turned.
    Start,
    /// The centre.
    Middle,
    /// The right one; the upper one when turned.
    End,
}

/// What a part of a chart is, for a theme to give it a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(u8);

impl Colour {
    /// The paper, which is white in the light theme.
    pub const PAPER: Colour = Colour(0);
    /// Titles and labels.
    pub const INK: Colour = Colour(1);
    /// What is read second: axis labels, notes.
    pub const GREY: Colour = Colour(2);
    /// The line that values start from.
    pub const AXIS: Colour = Colour(3);
    /// Lines to read values by.
    pub const GRID: Colour = Colour(4);
    /// The series, in their order.
    pub const SERIES: [Colour; CHART_SERIES_MAX] = {
        let mut all = [Colour(5); CHART_SERIES_MAX];
        let mut at = 1;
        while at < CHART_SERIES_MAX {
            all[at].0 = all[at - 1].0 + 1;
            at += 1;
        }
        all
    };
    /// Roles in all.
    pub const N_ROLES: usize = 5 + CHART_SERIES_MAX;

    /// Returns the place of the role among all.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl TextLabel {
    /// Makes a label in regular ink that starts at a point.
    pub(crate) fn new(text: impl Into<String>, x: f64, y: f64, size: f64) -> TextLabel {
        TextLabel {
            text: text.into(),
            x,
            y,
            size,
            weight: Weight::Regular,
            colour: Colour::INK,
            anchor: Anchor::Start,
            is_turned: false,
        }
    }

    /// Moves the anchor.
    #[must_use]
    pub(crate) fn anchored(mut self, anchor: Anchor) -> TextLabel {
        self.anchor = anchor;
        self
    }

    /// Changes the colour.
    #[must_use]
    pub(crate) fn coloured(mut self, colour: Colour) -> TextLabel {
        self.colour = colour;
        self
    }
}

impl TextLabel {
    /// Returns left, top, right and bottom of the type.
    pub(crate) fn bounds(&self) -> (f64, f64, f64, f64) {
        let width = super::text::width(&self.text, self.size, self.weight);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let (up, down) = (self.size * 0.75, self.size * 0.22);
        if self.is_turned {
            let top = self.y + before - width;
            (self.x - up, top, self.x + down, top + width)
        } else {
            let left = self.x - before;
            (left, self.y - up, left + width, self.y + down)
        }
    }
}
