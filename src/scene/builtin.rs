//! The built-in stress scenes, each at any number of bodies.
//!
//! `packed`, `collapsing`, `pyramid` and `gas` are the scenes of the comparison with other engines,
//! to the letter: change them and no figure can be compared any more. All scenes mix friction by
//! geometric mean and restitution by maximum, and have walls and floors 1 m thick. x = 0 is the middle
//! of every scene, so that the largest ones keep as many digits as they can; the floor's top is y = 0.

use super::random::Random;
use super::{Scene, linked};
use crate::{Assembly, BodyDesc, Material, Mix, Mixing, Settings, Shape};
use glam::Vec2;

/// Most bodies that a built-in scene is made with.
pub const MAX_BODIES: usize = 10_000_000;

/// The scene that the command runs when none is named.
pub const DEFAULT: &str = "pile";

/// What there is to know about a built-in scene before it is made.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// Moving bodies, when not told otherwise.
    pub bodies: usize,
    /// Steps before the measured ones, when not told otherwise.
    pub warmup: u32,
    /// Measured steps, when not told otherwise.
    pub steps: u32,
    make: fn(usize, &mut Random) -> Assembly,
}

/// The built-in scenes.
pub const BUILTIN: &[Builtin] = &[
    Builtin {
        name: "pile",
        about: "circles and boxes of mixed sizes fall into a pile between walls",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |bodies, random| pile(bodies, random).into(),
    },
    Builtin {
        name: "pile_circles",
        about: "circles of mixed sizes fall into a pile between walls",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |bodies, random| pile_circles(bodies, random).into(),
    },
    Builtin {
        name: "packed",
        about: "hexagonally packed circles at rest between walls",
        bodies: 50_000,
        warmup: 120,
        steps: 60,
        make: |bodies, random| packed(bodies, random).into(),
    },
    Builtin {
        name: "collapsing",
        about: "a loose grid of circles collapses between walls",
        bodies: 50_000,
        warmup: 240,
        steps: 60,
        make: |bodies, random| collapsing(bodies, random).into(),
    },
    Builtin {
        name: "pyramid",
        about: "a pyramid of unit boxes that cannot rotate (the full triangle: about N boxes)",
        bodies: 50_000,
        warmup: 60,
        steps: 60,
        make: |bodies, random| pyramid(bodies, random).into(),
    },
    Builtin {
        name: "gas",
        about: "elastic circles at 5 m/s in random directions, no gravity, walls on all sides",
        bodies: 50_000,
        warmup: 60,
        steps: 60,
        make: |bodies, random| gas(bodies, random).into(),
    },
    Builtin {
        name: "galton",
        about: "circles fall through a field of static pegs into bins",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |bodies, random| galton(bodies, random).into(),
    },
    Builtin {
        name: "slope",
        about: "circles roll down an inclined half-space against another one",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |bodies, random| slope(bodies, random).into(),
    },
    Builtin {
        name: "ropes",
        about: "ropes with a crate at the end swing side by side",
        bodies: 21_000,
        warmup: 60,
        steps: 600,
        make: linked::ropes,
    },
    Builtin {
        name: "cloth",
        about: "a net of N particles, structural, shear and bend links, hangs from its top row",
        bodies: 65_536,
        warmup: 60,
        steps: 300,
        make: linked::cloth,
    },
    Builtin {
        name: "ragdolls",
        about: "ragdolls of 13 particles fall down a flight of stairs",
        bodies: 6_500,
        warmup: 60,
        steps: 1200,
        make: linked::ragdolls,
    },
    Builtin {
        name: "soft_boxes",
        about: "boxes of four particles and six links fall into a pile",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: linked::soft_boxes,
    },
    Builtin {
        name: "grains",
        about: "free particles fall in a box",
        bodies: 100_000,
        warmup: 60,
        steps: 300,
        make: linked::grains,
    },
    Builtin {
        name: "bridge",
        about: "a rope bridge of N particles under rigid circles",
        bodies: 500,
        warmup: 60,
        steps: 600,
        make: linked::bridge,
    },
];

/// The built-in scene of this name with `bodies` moving bodies: exactly that many, but for `pyramid`,
/// which is the full triangle on a base of ⌊√(2·bodies)⌋ boxes (50,000 gives 50,086). In the scenes of particles
/// (from `ropes` on) the number is about that of the particles. The same name,
/// number and seed give the same scene, bit for bit.
///
/// `None` when there is no scene of that name, or `bodies` is not in `1..=`[`MAX_BODIES`].
pub fn builtin(name: &str, bodies: usize, seed: u64) -> Option<Scene> {
    let recipe = BUILTIN.iter().find(|builtin| builtin.name == name)?;
    if !(1..=MAX_BODIES).contains(&bodies) {
        return None;
    }
    let gravity = if name == "gas" { Vec2::ZERO } else { Vec2::new(0.0, -10.0) };
    let mixing = Mixing { friction: Mix::GeometricMean, restitution: Mix::Max };
    let settings = Settings { gravity, mixing, ..Settings::default() };
    let Assembly { bodies, links } = (recipe.make)(bodies, &mut Random::new(seed));
    Some(Scene { name: name.to_owned(), settings, bodies, links })
}

/// Places on a grid of `columns`, row by row from the bottom, counted from 0.
pub(super) fn grid(bodies: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bodies).map(move |i| (i % columns, i / columns))
}

/// How many columns the piles have: ⌊√(2n)⌋, twice as many as rows.
fn pile_columns(bodies: usize) -> usize {
    (2 * bodies).isqrt()
}

/// x of `column` when `columns` of them, `spacing` apart, are centred on x = 0.
pub(super) fn centred(column: usize, columns: usize, spacing: f32) -> f32 {
    (column as f32 - 0.5 * (columns - 1) as f32) * spacing
}

pub(super) fn body(shape: Shape, position: Vec2, material: Material) -> BodyDesc {
    BodyDesc { material, ..BodyDesc::dynamic(shape, position) }
}

pub(super) fn wall(half_width: f32, half_height: f32, position: Vec2, material: Material) -> BodyDesc {
    BodyDesc { material, ..BodyDesc::fixed(Shape::aabb(half_width, half_height), position) }
}

/// A floor whose top is y = 0 and two walls up to `height`, with `inner` of room between them.
pub(super) fn push_box(bodies: &mut Vec<BodyDesc>, inner: f32, height: f32, material: Material) {
    let half = 0.5 * inner;
    bodies.push(wall(half + 1.0, 0.5, Vec2::new(0.0, -0.5), material));
    for side in [-1.0, 1.0] {
        bodies.push(wall(0.5, 0.5 * height, Vec2::new(side * (half + 0.5), 0.5 * height), material));
    }
}

/// The pile of [`pile`] and [`pile_circles`]: cells of 1.1 m, the shape drawn for each, jittered by 4 cm,
/// 1 m above the floor. At most 1 m wide, no two bodies overlap at the start. Twice as wide a grid as the
/// other piles', so that the top does not fall faster than the pile can take in.
fn falling(bodies: usize, random: &mut Random, mut shape: impl FnMut(&mut Random) -> Shape) -> Vec<BodyDesc> {
    const CELL: f32 = 1.1;
    let material = Material { restitution: 0.1, ..Material::default() };
    let columns = (4 * bodies).isqrt();
    let height = bodies.div_ceil(columns) as f32 * CELL + 20.0;
    let mut scene = Vec::with_capacity(bodies + 3);
    push_box(&mut scene, columns as f32 * CELL, height, material);
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let jitter = Vec2::new(random.between(-0.04, 0.04), random.between(-0.04, 0.04));
        let place = Vec2::new(centred(column, columns, CELL), 1.6 + row as f32 * CELL);
        body(shape(random), place + jitter, material)
    }));
    scene
}

fn circle_of_the_pile(random: &mut Random) -> Shape {
    Shape::circle(random.between(0.35, 0.5))
}

fn pile(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    falling(bodies, random, |random| {
        if random.coin() {
            circle_of_the_pile(random)
        } else {
            Shape::aabb(random.between(0.3, 0.5), random.between(0.3, 0.5))
        }
    })
}

fn pile_circles(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    falling(bodies, random, circle_of_the_pile)
}

/// Odd rows are shifted by half a column; a row is √3/2 above the last. Radius 0.5·(1 − 0.02u).
fn packed(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const ROW: f32 = 0.866_025_4;
    let material = Material::new(1.0, 0.5, 0.0);
    let columns = pile_columns(bodies);
    let height = bodies.div_ceil(columns) as f32 * ROW + 10.0;
    let mut scene = Vec::with_capacity(bodies + 3);
    push_box(&mut scene, columns as f32 + 0.5, height, material);
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let shift = if row % 2 == 1 { 0.25 } else { -0.25 };
        let place = Vec2::new(centred(column, columns, 1.0) + shift, 0.5 + row as f32 * ROW);
        body(Shape::circle(0.5 * (1.0 - 0.02 * random.unit())), place, material)
    }));
    scene
}

/// Columns and rows 1.05 apart, radius 0.3 + 0.2u, x jittered by ±0.02.
fn collapsing(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const CELL: f32 = 1.05;
    let material = Material::new(1.0, 0.5, 0.0);
    let columns = pile_columns(bodies);
    let height = bodies.div_ceil(columns) as f32 * CELL + 10.0;
    let mut scene = Vec::with_capacity(bodies + 3);
    push_box(&mut scene, columns as f32 * CELL, height, material);
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let jitter = random.between(-0.02, 0.02);
        let place = Vec2::new(centred(column, columns, CELL) + jitter, (row as f32 + 0.5) * CELL);
        body(Shape::circle(random.between(0.3, 0.5)), place, material)
    }));
    scene
}

/// Unit boxes that touch, row upon row, each row one box shorter, on a static box.
fn pyramid(bodies: usize, _: &mut Random) -> Vec<BodyDesc> {
    let material = Material::new(1.0, 0.6, 0.0);
    let base = pile_columns(bodies);
    let mut scene = Vec::with_capacity(base * (base + 1) / 2 + 1);
    scene.push(wall(0.5 * base as f32 + 10.0, 0.5, Vec2::new(0.0, -0.5), material));
    for row in 0..base {
        let boxes = base - row;
        scene.extend((0..boxes).map(|column| {
            let place = Vec2::new(centred(column, boxes, 1.0), row as f32 + 0.5);
            body(Shape::aabb(0.5, 0.5), place, material)
        }));
    }
    scene
}

/// ⌊√n⌋ columns, rows and columns 3 apart, radius 0.5, elastic and without friction. The restitution
/// threshold is the settings' default, as in the engines this is compared with: set it to zero for a gas
/// that keeps its energy.
fn gas(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const CELL: f32 = 3.0;
    let material = Material::new(1.0, 0.0, 1.0);
    let columns = bodies.isqrt();
    let (inner, height) = (columns as f32 * CELL, bodies.div_ceil(columns) as f32 * CELL);
    let mut scene = Vec::with_capacity(bodies + 4);
    push_box(&mut scene, inner, height, material);
    scene.push(wall(0.5 * inner + 1.0, 0.5, Vec2::new(0.0, height + 0.5), material));
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let place = Vec2::new(centred(column, columns, CELL), (row as f32 + 0.5) * CELL);
        let velocity = 5.0 * random.direction();
        BodyDesc { velocity, ..body(Shape::circle(0.5), place, material) }
    }));
    scene
}

/// A block of circles of radius 0.2 to 0.25 above a board three times as wide, with staggered rows of
/// pegs and, below, bins with room for twice the circles.
fn galton(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const CELL: f32 = 0.6;
    const PEG: f32 = 1.5;
    const PEG_ROW: f32 = 1.3;
    let material = Material { restitution: 0.3, ..Material::new(1.0, 0.2, 0.3) };
    let columns = bodies.isqrt();
    let rows = bodies.div_ceil(columns);
    let bins = (3.0 * columns as f32 * CELL / PEG).ceil() as usize + 2;
    let peg_rows = 8 + columns / 8;
    let board = bins as f32 * PEG;
    let bin_height = 3.0 + 2.0 * bodies as f32 * 0.25 / board;
    let field_top = bin_height + (peg_rows + 1) as f32 * PEG_ROW;

    let mut scene = Vec::new();
    push_box(&mut scene, board, field_top + rows as f32 * CELL + 10.0, material);
    // Bins first: one partition between every two, under a peg of the lowest row.
    scene.extend((0..bins - 1).map(|i| {
        let place = Vec2::new(centred(i, bins - 1, PEG), 0.5 * bin_height);
        wall(0.15, 0.5 * bin_height, place, material)
    }));
    for row in 0..peg_rows {
        let pegs = bins - 1 + row % 2;
        scene.extend((0..pegs).map(|i| {
            let place = Vec2::new(centred(i, pegs, PEG), bin_height + (row + 1) as f32 * PEG_ROW);
            BodyDesc { material, ..BodyDesc::fixed(Shape::circle(0.2), place) }
        }));
    }
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let place = Vec2::new(centred(column, columns, CELL), field_top + row as f32 * CELL);
        let jitter = Vec2::new(random.between(-0.04, 0.04), 0.0);
        body(Shape::circle(random.between(0.2, 0.25)), place + jitter, material)
    }));
    scene
}

/// A block of circles, eight times as long as it is high, on a slope of 5 in 12 (the sides of a
/// right-angled triangle 5, 12, 13: an exact unit normal without a sine), which ends 50 m further down at
/// a half-space across it.
fn slope(bodies: usize, random: &mut Random) -> Vec<BodyDesc> {
    const CELL: f32 = 1.05;
    let up = Vec2::new(5.0 / 13.0, 12.0 / 13.0);
    let down_hill = Vec2::new(up.y, -up.x);
    let material = Material::new(1.0, 0.5, 0.0);
    let columns = (8 * bodies).isqrt();
    let end = 0.5 * columns as f32 * CELL + 50.0;

    let half_space = |normal, offset| BodyDesc {
        material,
        ..BodyDesc::fixed(Shape::half_space(normal, offset), Vec2::ZERO)
    };
    let mut scene = Vec::with_capacity(bodies + 2);
    scene.push(half_space(up, 0.0));
    scene.push(half_space(-down_hill, -end));
    scene.extend(grid(bodies, columns).map(|(column, row)| {
        let along = centred(column, columns, CELL) + random.between(-0.02, 0.02);
        let above = 0.55 + row as f32 * CELL;
        body(Shape::circle(random.between(0.35, 0.5)), along * down_hill + above * up, material)
    }));
    scene
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every scene has exactly as many moving bodies as asked for; the pyramid is a full triangle, and particles
    /// come in whole ropes, boxes and figures.
    #[test]
    fn body_counts() {
        for builtin in BUILTIN {
            for bodies in [1, 2, 3, 7, 100, 2_000, 12_345] {
                let scene = super::builtin(builtin.name, bodies, 1).expect("a built-in scene");
                let base = (2 * bodies).isqrt();
                let expected = if builtin.name == "pyramid" { base * (base + 1) / 2 } else { bodies };
                if scene.particles() == 0 {
                    assert_eq!(scene.moving(), expected, "{} of {bodies}", builtin.name);
                } else {
                    let least = (bodies / 2).max(1);
                    assert!((least..=bodies.max(21)).contains(&scene.particles()), "{}", builtin.name);
                }
            }
        }
        assert_eq!(super::builtin("pyramid", 50_000, 1).expect("pyramid").moving(), 50_086);
    }

    /// Every scene builds, and every body passes validation.
    #[test]
    fn every_scene_builds() {
        for builtin in BUILTIN {
            for bodies in [1, 500] {
                let scene = super::builtin(builtin.name, bodies, 3).expect("a built-in scene");
                let world = scene.build().unwrap_or_else(|error| panic!("{}: {error}", builtin.name));
                assert_eq!(world.body_count(), scene.moving());
            }
        }
    }

    /// A scene is a function of its name, number and seed; random ones differ by seed.
    #[test]
    fn seeds() {
        for builtin in BUILTIN {
            let make = |seed| super::builtin(builtin.name, 300, seed).expect("a built-in scene");
            assert_eq!(make(5), make(5), "{}", builtin.name);
            let same = ["pyramid", "cloth"].contains(&builtin.name);
            assert_eq!(make(5) == make(6), same, "{}", builtin.name);
        }
    }

    /// Unknown names and absurd numbers are refused.
    #[test]
    fn refusals() {
        assert!(super::builtin("nope", 10, 1).is_none());
        assert!(super::builtin("pile", 0, 1).is_none());
        assert!(super::builtin("pile", MAX_BODIES + 1, 1).is_none());
    }

    /// No two circles of a scene overlap at the start (a row of neighbours each way suffices).
    #[test]
    fn nothing_overlaps_at_the_start() {
        for builtin in BUILTIN.iter().filter(|builtin| builtin.name != "packed") {
            let scene = super::builtin(builtin.name, 400, 9).expect("a built-in scene");
            for (i, a) in scene.bodies.iter().enumerate() {
                for b in &scene.bodies[..i] {
                    if let (Shape::Circle { radius: ra }, Shape::Circle { radius: rb }) = (a.shape, b.shape) {
                        let distance = a.position.distance(b.position);
                        assert!(distance > ra + rb - 1e-4, "{}: {a:?} {b:?}", builtin.name);
                    }
                }
            }
        }
    }
}
