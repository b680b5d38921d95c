//! Colours: themes, the scale of speeds, and the palette of at most 256 colours for a GIF.

use granule::ShapeKind;

/// Red, green and blue, as on the screen (sRGB).
pub type Rgb = [u8; 3];

/// The property of a body that its colour shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Its speed.
    #[default]
    Speed,
    /// The tile that the body is in: tiles are what threads share.
    Tile,
    /// The kind of its shape.
    Shape,
    /// Whether it sleeps.
    Sleep,
    /// Its island: the bodies that touch it or are joined with it, directly or through others.
    Island,
    /// No property. Lines from the bodies' centres to their contact points show the colours in which the solver does
    /// these contacts. It does the contacts of one colour at the same time. Joints have the colours in which it does them.
    Colour,
}

/// Dark or light background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// For screens.
    #[default]
    Dark,
    /// For paper.
    Light,
}

/// The colours of a theme that are not a body's.
#[derive(Clone, Copy)]
pub(super) struct Colours {
    pub background: Rgb,
    /// Bodies that do not move.
    pub fixed: Rgb,
    /// Bodies that move as the host tells them.
    pub kinematic: Rgb,
    /// Bodies that move, if their colour shows nothing.
    pub plain: Rgb,
    /// Bodies that went bad.
    pub quarantined: Rgb,
    pub link: Rgb,
    pub joint: Rgb,
    pub contact: Rgb,
    pub impulse: Rgb,
    pub text: Rgb,
    /// The brightness of an outline, as a part of that of what it surrounds.
    edge: f32,
    /// The part of the colour scale that stands out from the background: for the slowest, and for the fastest.
    scale: [f32; 2],
}

impl Theme {
    pub(super) const fn colours(self) -> Colours {
        match self {
            Theme::Dark => Colours {
                background: [16, 18, 24],
                fixed: [74, 80, 92],
                kinematic: [126, 136, 156],
                plain: [56, 62, 76],
                quarantined: [255, 40, 120],
                link: [150, 160, 178],
                joint: [255, 186, 82],
                contact: [255, 255, 255],
                impulse: [255, 92, 70],
                text: [200, 206, 218],
                edge: 0.52,
                scale: [0.16, 1.0],
            },
            Theme::Light => Colours {
                background: [250, 250, 248],
                fixed: [190, 194, 202],
                kinematic: [140, 148, 164],
                plain: [226, 229, 234],
                quarantined: [230, 0, 90],
                link: [96, 104, 120],
                joint: [196, 96, 0],
                contact: [20, 20, 24],
                impulse: [214, 40, 30],
                text: [50, 54, 64],
                edge: 0.6,
                scale: [0.08, 0.94],
            },
        }
    }
}

/// The ten colours of Tableau 10 (M. Stone, 2016), for things without an order.
const CATEGORIES: [Rgb; 10] = [
    [78, 121, 167],
    [242, 142, 43],
    [225, 87, 89],
    [118, 183, 178],
    [89, 161, 79],
    [237, 201, 72],
    [176, 122, 161],
    [255, 157, 167],
    [156, 117, 95],
    [186, 176, 172],
];

impl Colours {
    /// The colour of a speed, given as a part of the fastest.
    pub(super) fn speed(&self, part: f32) -> Rgb {
        let [low, high] = self.scale;
        viridis(low + (high - low) * part.clamp(0.0, 1.0))
    }

    /// The colour of the outline around a fill of this colour.
    pub(super) fn edge(&self, fill: Rgb) -> Rgb {
        scaled(fill, self.edge)
    }
}

/// The colour of the n-th of some things without an order.
pub(super) fn category(n: usize) -> Rgb {
    CATEGORIES[n % CATEGORIES.len()]
}

/// The colour of a kind of shape.
pub(super) fn shape(kind: ShapeKind) -> Rgb {
    category(kind as usize)
}

/// Returns a colour that is lighter or darker by up to 7 %, by the body's index. So neighbours of the same colour can
/// be told apart if they are too small for an outline.
pub(super) fn varied(colour: Rgb, index: u32) -> Rgb {
    let high_bits = index.wrapping_mul(0x9E37_79B9) >> 24;
    scaled(colour, 0.93 + 0.14 / 255.0 * high_bits as f32)
}

fn scaled(colour: Rgb, by: f32) -> Rgb {
    // The cast saturates.
    colour.map(|channel| (by * f32::from(channel) + 0.5) as u8)
}

/// Returns the colour that is `part` of the way from one colour to another.
fn between(from: Rgb, to: Rgb, part: f32) -> Rgb {
    std::array::from_fn(|c| {
        let (from, to) = (f32::from(from[c]), f32::from(to[c]));
        (from + part * (to - from) + 0.5) as u8
    })
}

/// Matplotlib's viridis (S. van der Walt and N. Smith, 2015), perceptually uniform, for t from 0 to 1: the polynomial
/// that M. Zucker fitted to it (<https://www.shadertoy.com/view/WlfXRN>, public domain).
fn viridis(t: f32) -> Rgb {
    const C: [[f32; 3]; 7] = [
        [0.277_727_33, 0.005_407_344_5, 0.334_099_8],
        [0.105_093_04, 1.404_613_5, 1.384_590_2],
        [-0.330_861_83, 0.214_847_56, 0.095_095_16],
        [-4.634_230_5, -5.799_101, -19.332_44],
        [6.228_27, 14.179_933, 56.690_55],
        [4.776_385, -13.745_145, -65.353_03],
        [-5.435_456, 4.645_852_6, 26.312_435],
    ];
    std::array::from_fn(|channel| {
        let value = C.iter().rev().fold(0.0, |value, c| value * t + c[channel]);
        (255.0 * value.clamp(0.0, 1.0) + 0.5) as u8
    })
}

/// Up to 256 colours that suffice for every picture of a look. They are made from what can be drawn, not from what was
/// drawn, so that colours do not flicker from frame to frame.
pub struct Palette {
    colours: Vec<Rgb>,
    /// The number of the nearest colour, for 6 bits of each channel, or [`UNKNOWN`].
    nearest: Vec<u16>,
}

/// In [`Palette::nearest`]: the nearest colour has not been looked for yet.
const UNKNOWN: u16 = u16::MAX;

impl Palette {
    /// Returns the palette for pictures that show this in this theme.
    pub fn new(by: By, theme: Theme) -> Palette {
        let c = theme.colours();
        let fills: Vec<Rgb> = match by {
            By::Speed => (0..36).map(|n| c.speed(n as f32 / 35.0)).collect(),
            _ => (0..30).map(|n| scaled(category(n / 3), 0.95 + 0.05 * (n % 3) as f32)).collect(),
        };
        let mut colours = vec![c.background];
        for fill in fills.into_iter().chain([c.fixed, c.kinematic, c.plain, c.quarantined]) {
            let edge = c.edge(fill);
            colours.extend([fill, edge, between(fill, edge, 0.5)]);
            colours.extend([between(fill, c.background, 0.5), between(edge, c.background, 0.5)]);
        }
        for line in [c.link, c.joint, c.contact, c.impulse, c.text] {
            colours.extend([0.0, 0.33, 0.67].map(|part| between(line, c.background, part)));
        }
        colours.dedup();
        colours.truncate(256);
        Palette { colours, nearest: vec![UNKNOWN; 1 << 18] }
    }

    /// All colours of the palette.
    pub fn colours(&self) -> &[Rgb] {
        &self.colours
    }

    /// Returns the number of each pixel's nearest colour.
    pub fn indices(&mut self, pixels: &[[u8; 4]]) -> Vec<u8> {
        pixels.iter().map(|&[red, green, blue, _]| self.index([red, green, blue])).collect()
    }

    fn index(&mut self, colour: Rgb) -> u8 {
        let key = colour.iter().fold(0, |key, channel| (key << 6) | usize::from(channel >> 2));
        if self.nearest[key] == UNKNOWN {
            // The middle of the colours that share the key, so that their order does not matter.
            let middle = colour.map(|channel| i32::from(channel & !3) + 2);
            let distance = |other: &Rgb| {
                let square = |c: usize| (middle[c] - i32::from(other[c])).pow(2);
                // About the weights of the eye: green counts most.
                2 * square(0) + 4 * square(1) + 3 * square(2)
            };
            let all = self.colours.iter().enumerate();
            let nearest = all.min_by_key(|(_, other)| distance(other)).map_or(0, |(index, _)| index);
            self.nearest[key] = nearest as u16;
        }
        self.nearest[key] as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The polynomial is viridis: its ends and its middle agree to a few levels of 255.
    #[test]
    fn viridis_is_viridis() {
        for (t, published) in [(0.0, [68, 1, 84]), (0.5, [33, 145, 140]), (1.0, [253, 231, 37])] {
            let close = viridis(t).iter().zip(published).all(|(&a, b)| i32::from(a).abs_diff(b) < 6);
            assert!(close, "{t}: {:?}", viridis(t));
        }
    }

    /// A palette fits a GIF, contains the background itself, and has something near every colour of the scale.
    #[test]
    fn palettes_fit() {
        for (by, theme) in [(By::Speed, Theme::Dark), (By::Shape, Theme::Light), (By::Colour, Theme::Dark)] {
            let mut palette = Palette::new(by, theme);
            assert!((2..=256).contains(&palette.colours().len()));
            let background = theme.colours().background;
            let drawn = palette.index(background);
            assert_eq!(palette.colours()[usize::from(drawn)], background);
            let speed = theme.colours().speed(0.4);
            if by == By::Speed {
                let drawn = palette.index(speed);
                let near = palette.colours()[usize::from(drawn)];
                assert!(near.iter().zip(speed).all(|(&a, b)| a.abs_diff(b) < 8), "{near:?} for {speed:?}");
            }
        }
    }
}
