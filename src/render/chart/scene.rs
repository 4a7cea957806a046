//! What stands where on a chart: marks with coordinates, before any backend draws them.
//!
//! Units are pixels from the upper left corner. A scene is what tests look at: whether labels
//! collide or leave the picture is a question of its geometry.

use plotters_backend::BackendColor;

/// A finished drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Whole pixels.
    pub width: f64,
    /// Whole pixels.
    pub height: f64,
    /// In the order in which they cover each other.
    pub marks: Vec<Mark>,
}

/// One thing on a drawing.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
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
    /// A point, with a white rim so that points on each other can be told apart.
    Dot {
        /// Centre.
        x: f64,
        /// Centre.
        y: f64,
        /// Without the rim.
        radius: f64,
        /// Tells series apart without colour.
        shape: Shape,
        /// Its filling.
        colour: Colour,
    },
    /// A line of text.
    Text(Label),
}

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
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
pub enum Shape {
    /// Round.
    Circle,
    /// Upright.
    Square,
    /// On its base.
    Triangle,
    /// On its corner.
    Diamond,
}

impl Shape {
    /// The shapes in the order in which series take them.
    pub const ALL: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];
}

/// The weight of type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// For everything but titles.
    Regular,
    /// For titles.
    Bold,
}

/// Which end of a text is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The left one; the lower one when turned.
    Start,
    /// The centre.
    Middle,
    /// The right one; the upper one when turned.
    End,
}

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// The paper.
    pub const WHITE: Colour = Colour(0xff, 0xff, 0xff);
    /// Titles and labels.
    pub const INK: Colour = Colour(0x22, 0x22, 0x22);
    /// What is read second: axis labels, notes.
    pub const GREY: Colour = Colour(0x5c, 0x5c, 0x5c);
    /// The line that values start from.
    pub const AXIS: Colour = Colour(0x77, 0x77, 0x77);
    /// Lines to read values by.
    pub const GRID: Colour = Colour(0xe4, 0xe4, 0xe4);

    /// The colours of series: Okabe and Ito's without black and yellow, which vanish on paper and
    /// among type, and four of Paul Tol's. They stay apart for the common kinds of colour blindness.
    pub const SERIES: [Colour; 10] = [
        Colour(0x00, 0x72, 0xb2),
        Colour(0xe6, 0x9f, 0x00),
        Colour(0x00, 0x9e, 0x73),
        Colour(0xcc, 0x79, 0xa7),
        Colour(0xd5, 0x5e, 0x00),
        Colour(0x56, 0xb4, 0xe9),
        Colour(0x33, 0x22, 0x88),
        Colour(0x99, 0x99, 0x33),
        Colour(0x88, 0x22, 0x55),
        Colour(0x7f, 0x7f, 0x7f),
    ];

    /// Returns the colour as plotters has it.
    pub fn backend(self) -> BackendColor {
        BackendColor { alpha: 1.0, rgb: (self.0, self.1, self.2) }
    }
}

impl Label {
    /// Makes a label in regular ink that starts at a point.
    pub fn new(text: impl Into<String>, x: f64, y: f64, size: f64) -> Label {
        Label {
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
    pub fn anchored(mut self, anchor: Anchor) -> Label {
        self.anchor = anchor;
        self
    }

    /// Changes the colour.
    #[must_use]
    pub fn coloured(mut self, colour: Colour) -> Label {
        self.colour = colour;
        self
    }
}

#[cfg(test)]
impl Label {
    /// Returns left, top, right and bottom of the type.
    pub fn bounds(&self) -> (f64, f64, f64, f64) {
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
