//! Pictures as PNG and as GIF.

use super::{Image, Palette};
use std::io::{self, Write};

impl Image {
    /// Encodes the picture as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let rgb: Vec<u8> = self.pixels.iter().flat_map(|&[red, green, blue, _]| [red, green, blue]).collect();
        self.png_of(&rgb, |encoder| {
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_compression(png::Compression::Fast);
        })
    }

    /// Encodes the picture as a PNG file in the colours of a palette: several times smaller than [`Image::png`].
    pub fn indexed_png(&self, palette: &mut Palette) -> Vec<u8> {
        let indices = palette.indices(&self.pixels);
        let colours = palette.colours().as_flattened().to_vec();
        self.png_of(&indices, |encoder| {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_palette(colours);
            encoder.set_compression(png::Compression::High);
            // Neighbouring indices are not neighbouring colours, so filters have nothing to predict.
            encoder.set_filter(png::Filter::NoFilter);
        })
    }

    fn png_of(&self, data: &[u8], describe: impl FnOnce(&mut png::Encoder<'_, &mut Vec<u8>>)) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_depth(png::BitDepth::Eight);
        describe(&mut encoder);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(data)?;
            writer.finish()
        });
        written.expect("a vector takes all that is written, and the sizes agree");
        file
    }
}

/// A GIF that is written frame by frame. All frames have one palette.
pub struct Gif<W: Write> {
    encoder: gif::Encoder<W>,
    palette: Palette,
}

impl<W: Write> Gif<W> {
    /// Begins a GIF of this size that repeats forever.
    ///
    /// # Errors
    ///
    /// The errors of the writer.
    pub fn new(out: W, width: usize, height: usize, palette: Palette) -> io::Result<Gif<W>> {
        let side = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
        let colours = palette.colours().as_flattened();
        let mut encoder =
            gif::Encoder::new(out, side(width), side(height), colours).map_err(io::Error::other)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
        Ok(Gif { encoder, palette })
    }

    /// Adds a frame that is shown for `delay` hundredths of a second.
    ///
    /// # Errors
    ///
    /// The errors of the writer.
    pub fn frame(&mut self, image: &Image, delay: u16) -> io::Result<()> {
        let frame = gif::Frame {
            width: image.width as u16,
            height: image.height as u16,
            delay,
            buffer: self.palette.indices(&image.pixels).into(),
            ..gif::Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(io::Error::other)
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// The errors of the writer.
    pub fn finish(self) -> io::Result<()> {
        self.encoder.into_inner().map_err(io::Error::other)?.flush()
    }
}

/// Returns how long each frame is shown, in hundredths of a second, so that a clip with frames `seconds` apart runs as
/// fast as the world. The rounding error of a frame is made up for in the next one. A delay is at least 2, because
/// viewers show shorter ones for a tenth of a second.
pub fn delays(seconds: f64) -> impl Iterator<Item = u16> {
    let end = move |frame: u32| (100.0 * seconds * f64::from(frame)).round();
    (0..).map(move |frame| (end(frame + 1) - end(frame)).clamp(2.0, f64::from(u16::MAX)) as u16)
}
