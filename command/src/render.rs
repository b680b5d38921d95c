//! Pictures of a world: frames for a clip or a page, drawn without a display.
//!
//! ```text
//! Survey    what a clip's frames span: bounds, fastest body, largest impulse     render/camera.rs
//!   │ view     one camera and one scale for all of them
//!   ▼
//! draw      bodies, links, joints, contacts → stamps                             render/gather.rs
//!   │ paint    stamps → pixels, a band of rows a task                            render/raster.rs
//!   ▼
//! Image     PNG, GIF, raw RGBA                                                   render/encode.rs
//! ```
//!
//! Everything that is drawn is a *stamp*: a disc, box, capsule or convex polygon in a frame of its own. Its coverage of
//! a pixel follows from the signed distance of the pixel's centre. That makes 50,000 bodies cheap: a body of six pixels
//! costs some sixty distances, and no path, no edge list, no allocation. The outline costs nothing more: it is where
//! the distance is between −border and 0.
//!
//! Measured with 50,000 bodies at 1920 × 1080 on two threads: `packed` 24 ms a frame, `pyramid` 14, `mixed_shapes` 21;
//! on one thread 39, 21 and 30. One thread makes the stamps, as the engine hands out the shapes. (When all threads did, from the order of
//! storage, two took 22, 12 and 17 ms; from a list of the shapes that were handed out 41, 25 and 28: each is long.)
//! `granule render packed --bodies 50000 --size 1920x1080 --frames 15 --every 1 --out - >/dev/null` repeats the
//! measurement. tiny-skia 0.12 takes some 200 ms on the same machine for 50,000 paths of circles of six pixels, without
//! outlines.
//!
//! A picture depends on the state alone. Stamps are in the order of storage, a band draws its stamps in that order, and
//! the height of the picture decides where bands are cut. So threads cannot change a byte.
//!
//! ```
//! use granule_command::render::{Image, Look, Survey, draw};
//! use granule::scene;
//!
//! let mut world = scene::builtin("pile", 50, 1).expect("a built-in scene").build()?;
//! world.step();
//! let mut survey = Survey::default();
//! survey.add(&world);
//! let mut image = Image::new(320, 180);
//! draw(&world, &survey.view(320, 180), &Look::default(), &mut image);
//! assert!(image.png().starts_with(b"\x89PNG"));
//! # Ok::<(), granule::Error>(())
//! ```

mod camera;
mod colour;
mod encode;
mod gather;
mod raster;
mod text;

pub use camera::{Camera, Survey, View};
pub use colour::{By, Palette, Rgb, Theme};
pub use encode::{Gif, delays};
pub use text::{GLYPH_HEIGHT, GLYPH_WIDTH, caption, caption_height};

use granule::World;

/// What a picture shows, and in which colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// What the colour of a body says.
    pub by: By,
    /// Dark or light colours.
    pub theme: Theme,
    /// True if contact points are drawn, with the normal impulses there.
    pub contacts: bool,
}

impl Default for Look {
    fn default() -> Self {
        Look { by: By::Speed, theme: Theme::Dark, contacts: false }
    }
}

/// A picture: rows of opaque pixels, top row first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    /// Red, green, blue and 255.
    pixels: Vec<[u8; 4]>,
}

impl Image {
    /// The largest width and height of a picture, in pixels.
    pub const MAX_SIDE: usize = 16_384;

    /// A black picture. Each side is clamped to 1..=[`Image::MAX_SIDE`] pixels.
    pub fn new(width: usize, height: usize) -> Image {
        let (width, height) = (width.clamp(1, Self::MAX_SIDE), height.clamp(1, Self::MAX_SIDE));
        Image { width, height, pixels: vec![[0, 0, 0, 255]; width * height] }
    }

    /// The width in pixels.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The height in pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The pixels, row after row: element y·width + x is pixel x from the left and y from the top.
    pub fn pixels(&self) -> &[[u8; 4]] {
        &self.pixels
    }

    /// The pixels as bytes, four a pixel, as `ffmpeg -f rawvideo -pix_fmt rgba` reads them.
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// Fills the whole picture with one colour.
    pub fn fill(&mut self, colour: Rgb) {
        self.pixels.fill(opaque(colour));
    }

    /// Copies a picture into this one, with its top left corner at (x, y). Pixels that do not fit are cut off.
    pub fn paste(&mut self, other: &Image, x: usize, y: usize) {
        let width = other.width.min(self.width.saturating_sub(x));
        for (row, source) in other.pixels.chunks_exact(other.width).enumerate() {
            let start = (y + row) * self.width + x;
            if y + row < self.height && width > 0 {
                self.pixels[start..start + width].copy_from_slice(&source[..width]);
            }
        }
    }
}

fn opaque([red, green, blue]: Rgb) -> [u8; 4] {
    [red, green, blue, 255]
}

impl Look {
    /// The colour of the background.
    pub fn background(&self) -> Rgb {
        self.theme.colours().background
    }

    /// The colour of captions.
    pub fn text(&self) -> Rgb {
        self.theme.colours().text
    }

    /// The colours that suffice for all pictures of this look.
    pub fn palette(&self) -> Palette {
        Palette::new(self.by, self.theme)
    }
}

/// Draws the world over the whole picture.
///
/// The threads of the rayon pool in which you call it share the work, as in [`World::step`](granule::World::step). The
/// picture does not depend on the number of threads.
pub fn draw(world: &World, view: &View, look: &Look, image: &mut Image) {
    image.fill(look.theme.colours().background);
    let stamps = gather::stamps(world, view, look);
    raster::paint(&stamps, image);
}
