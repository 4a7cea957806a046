//! Scenes as SVG and PNG: converts a scene from pixels to the units of a plotters backend.

use std::convert::Infallible;

use anyhow::Context;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, DrawingBackend};

use super::Raster;
use super::raster::{self, Canvas, Drawn};
use super::scene::{Mark, PointShape, Scene};
use super::svg::{self, SvgDocument};
use super::text::{TextStyle, to_pixel};
use super::theme::Theme;
use crate::theme::Colour;

/// The stroke width of a hollow point.
const RING: f64 = 1.4;

/// A backend and its settings for a scene.
struct Painter<B> {
    backend: B,
    theme: Theme,
    /// Backend units per pixel of the scene.
    units: f64,
}

#[derive(Clone, Copy)]
struct Stroke {
    colour: BackendColor,
    width: u32,
}

impl BackendStyle for Stroke {
    fn color(&self) -> BackendColor {
        self.colour
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

/// Returns the scene as an SVG document with the given accessible name and description.
pub(crate) fn svg(
    scene: &Scene,
    theme: Theme,
    title: &str,
    description: &str,
) -> anyhow::Result<String> {
    let (width, height) = size(scene, 1.0)?;
    let backend = SvgDocument::new(width, height, backend_colour(theme, Colour::INK));
    let mut painter = Painter { backend, theme, units: svg::UNITS };
    painter.scene(scene).context("cannot draw the SVG")?;
    Ok(painter.backend.finish(title, description))
}

/// Returns the scene as pixels, `scale` of them per pixel of the scene.
pub(crate) fn raster(scene: &Scene, theme: Theme, scale: f64) -> anyhow::Result<Raster> {
    let (width, height) = size(scene, scale)?;
    let backend = Canvas::new(usize::try_from(width)?, usize::try_from(height)?);
    let mut painter = Painter { backend, theme, units: f64::from(raster::UNITS) * scale };
    painter.scene(scene).context("cannot draw the PNG")?;
    Ok(Raster { width, height, rgb: painter.backend.into_rgb() })
}

/// Returns the width and the height of a scene in whole pixels. Fails when it has no size.
pub(crate) fn size(scene: &Scene, scale: f64) -> anyhow::Result<(u32, u32)> {
    let pixels = |it: f64| u32::try_from(to_pixel(it * scale)).context("the chart has no size");
    Ok((pixels(scene.width)?, pixels(scene.height)?))
}

fn backend_colour(theme: Theme, colour: Colour) -> BackendColor {
    let [red, green, blue] = theme.rgb(colour);
    BackendColor { alpha: 1.0, rgb: (red, green, blue) }
}

impl<B: DrawingBackend<ErrorType = Infallible>> Painter<B> {
    fn scene(&mut self, scene: &Scene) -> Drawn {
        self.rect((0.0, 0.0), (scene.width, scene.height), Colour::PAPER)?;
        for mark in &scene.marks {
            match mark {
                Mark::Rect { x, y, width, height, colour } => {
                    self.rect((*x, *y), (x + width, y + height), *colour)?;
                }
                Mark::Line { points, width, colour } => {
                    let path: Vec<_> = points.iter().map(|it| self.at(*it)).collect();
                    let width = self.length(*width).max(1);
                    let stroke = Stroke { colour: self.colour(*colour), width };
                    self.backend.draw_path(path, &stroke)?;
                }
                Mark::Area { corners, colour } => {
                    let corners: Vec<_> = corners.iter().map(|it| self.at(*it)).collect();
                    let fill = self.colour(*colour);
                    self.backend.fill_polygon(corners, &fill)?;
                }
                Mark::Dot { x, y, radius, shape, colour, is_hollow: true } => {
                    self.ring((*x, *y), *radius, *shape, *colour)?;
                }
                Mark::Dot { x, y, radius, shape, colour, is_hollow: false } => {
                    self.dot((*x, *y), radius + 1.0, *shape, Colour::PAPER)?;
                    self.dot((*x, *y), *radius, *shape, *colour)?;
                }
                Mark::Text(label) => {
                    let at = self.at((label.x, label.y));
                    let colour = self.colour(label.colour);
                    let style = TextStyle { label, colour, units: self.units };
                    self.backend.draw_text(&label.text, &style, at)?;
                }
            }
        }
        self.backend.present()
    }

    fn colour(&self, colour: Colour) -> BackendColor {
        backend_colour(self.theme, colour)
    }

    fn at(&self, (x, y): (f64, f64)) -> BackendCoord {
        (to_pixel(x * self.units), to_pixel(y * self.units))
    }

    fn length(&self, length: f64) -> u32 {
        u32::try_from(to_pixel(length * self.units)).unwrap_or(0)
    }

    fn rect(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) -> Drawn {
        let (from, to) = (self.at(from), self.at(to));
        self.backend.draw_rect(from, to, &self.colour(colour), true)
    }

    fn dot(&mut self, at: (f64, f64), radius: f64, shape: PointShape, colour: Colour) -> Drawn {
        let fill = self.colour(colour);
        let Some(corners) = self.corners(at, radius, shape) else {
            let radius = self.length(radius);
            return self.backend.draw_circle(self.at(at), radius, &fill, true);
        };
        self.backend.fill_polygon(corners, &fill)
    }

    fn ring(&mut self, at: (f64, f64), radius: f64, shape: PointShape, colour: Colour) -> Drawn {
        let stroke = Stroke { colour: self.colour(colour), width: self.length(RING) };
        let radius = radius - RING / 2.0;
        let Some(mut corners) = self.corners(at, radius, shape) else {
            let radius = self.length(radius);
            return self.backend.draw_circle(self.at(at), radius, &stroke, false);
        };
        corners.extend_from_within(..2);
        self.backend.draw_path(corners, &stroke)
    }

    /// Returns the corners of a point, if its shape has corners.
    fn corners(
        &self,
        (x, y): (f64, f64),
        radius: f64,
        shape: PointShape,
    ) -> Option<Vec<BackendCoord>> {
        let corners: &[(f64, f64)] = match shape {
            PointShape::Circle => return None,
            PointShape::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            PointShape::Triangle => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            PointShape::Diamond => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
        };
        let corner = |it: &(f64, f64)| self.at((x + it.0 * radius, y + it.1 * radius));
        Some(corners.iter().map(corner).collect())
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::{Raster, Theme, raster, svg};
    use crate::glyphs::Weight;
    use crate::png;
    use crate::scene::{Mark, PointShape, Scene};
    use crate::text::{Anchor, TextLabel};
    use crate::theme::Colour;

    /// A scene of everything that can be on one, at positions between whole pixels.
    fn scene() -> Scene {
        let mut marks = vec![
            Mark::Rect { x: 10.3, y: 20.6, width: 31.7, height: 50.1, colour: Colour::SERIES[0] },
            Mark::Rect { x: 45.2, y: 20.6, width: 1.7, height: 50.1, colour: Colour::SERIES[1] },
            Mark::Line {
                points: vec![(10.0, 80.5), (150.0, 80.5)],
                width: 1.0,
                colour: Colour::GRID,
            },
            Mark::Line {
                points: vec![
                    (60.0, 70.0),
                    (80.3, 20.1),
                    (100.7, 60.9),
                    (80.3, 20.1),
                    (140.0, 30.0),
                ],
                width: 2.2,
                colour: Colour::SERIES[2],
            },
        ];
        marks.push(Mark::Area {
            corners: vec![
                (110.2, 70.0),
                (125.0, 45.5),
                (145.9, 60.3),
                (145.9, 75.7),
                (110.2, 75.7),
            ],
            colour: Colour::SHADES[2],
        });
        for (at, shape) in (1_u8..).zip(PointShape::ALL) {
            let x = 150.0 + 10.3 * f64::from(at);
            let colour = Colour::SERIES[3];
            for (y, is_hollow) in [(40.2, false), (56.7, true)] {
                marks.push(Mark::Dot { x, y, radius: 4.0, shape, colour, is_hollow });
            }
        }
        let mut title = TextLabel::new("Größe & <b> \u{5d0}\u{5d1} (1)", 100.0, 15.0, 20.0);
        title.weight = Weight::Bold;
        let mut turned = TextLabel::new("東京 \u{628}\u{62a}", 190.5, 70.0, 13.0);
        turned.is_turned = true;
        marks.push(Mark::Text(title.anchored(Anchor::Middle)));
        marks.push(Mark::Text(turned.coloured(Colour::GREY)));
        Scene { width: 200.0, height: 90.0, marks, hints: Vec::new(), anchors: Vec::new() }
    }

    /// What people see must not depend on the machine: any other hash is another picture.
    #[test]
    fn pictures_are_the_same_on_every_machine() {
        let hash = |bytes: &[u8]| format!("{:x}", Sha256::digest(bytes))[..16].to_owned();
        let mut hashes = Vec::new();
        for theme in Theme::ALL {
            hashes.push(hash(svg(&scene(), theme, "t", "d").unwrap().as_bytes()));
            for scale in [1.0, 2.0, 0.73] {
                let raster = raster(&scene(), theme, scale).unwrap();
                hashes.push(hash(&raster.rgb));
            }
        }
        insta::assert_snapshot!(hashes.join(" "), @"3783380ac1e2fa74 8d9af78707c5439c 34c2dfc9d6b32ef8 b68f0bf8165a9671 9ddef814ffe275d5 bf685de60dcc2d8c b091a90f7c743510 2c803f7babea2c7b");
    }

    #[test]
    fn a_png_is_the_picture() {
        let raster = raster(&scene(), Theme::Dark, 1.0).unwrap();
        assert_eq!((raster.width, raster.height), (200, 90));
        let bytes = png::encode(&raster).unwrap();
        let found = decoded(&bytes);
        let differences = found.rgb.iter().zip(&raster.rgb).map(|(it, other)| it.abs_diff(*other));
        assert_eq!(differences.max(), Some(0));
        assert_eq!((found.width, found.height), (raster.width, raster.height));
    }

    fn decoded(bytes: &[u8]) -> Raster {
        let mut decoder = ::png::Decoder::new(bytes);
        decoder.set_transformations(::png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut rgb).unwrap();
        Raster { width: info.width, height: info.height, rgb }
    }

    #[test]
    fn a_document_stands_alone_and_beside_others() {
        let one = svg(&scene(), Theme::Light, "a < b", "says \"c\"").unwrap();
        let other = svg(&scene(), Theme::Light, "another", "says \"c\"").unwrap();
        let id = |it: &str| it.split("<title id=\"").nth(1).unwrap()[..10].to_owned();
        assert_ne!(id(&one), id(&other));
        assert!(one.contains(&format!("aria-labelledby=\"{} {}d\"", id(&one), &id(&one)[..9])));
        assert!(one.contains(">a &lt; b</title>"));
        for reference in ["href", "url(", "<style", "<script", "@import"] {
            assert!(!one.contains(reference), "{reference}");
        }
        assert_eq!(one.matches("font-family").count(), 1);
        // One element a line: no text begins or ends with white space that a viewer could show.
        assert!(one.lines().all(|it| it.starts_with('<') && it.ends_with('>')));
        let size = "width=\"200\" height=\"90\" viewBox=\"0 0 2000 900\"";
        assert!(one.contains(size), "{one}");
        let paper = "<rect x=\"0\" y=\"0\" width=\"2000\" height=\"900\" fill=\"#fff\" ";
        assert!(one.contains(paper));
    }

    #[test]
    fn a_text_that_runs_to_the_left_stays_within_itself() {
        let mut scene = scene();
        scene.marks.push(Mark::Text(TextLabel::new("\u{5d0} <\u{13a0}>", 10.0, 15.0, 13.0)));
        let document = svg(&scene, Theme::Light, "t", "d").unwrap();
        assert!(document.contains(" direction=\"ltr\" "));
        // Text that the embedded fonts have is shapes.
        assert_eq!(document.matches("<text").count(), 1);
        let text = "\u{2068}\u{5d0} &lt;\u{13a0}&gt;\u{2069}</text>";
        assert!(document.contains(text), "{document}");
    }
}
