//! The built-in stress scenes, each for any number of bodies.
//!
//! `packed`, `collapsing`, `pyramid` and `gas` are exactly the scenes of the comparison with other engines. Do not
//! change them: the measured figures could not be compared any more. All scenes mix friction by geometric mean and
//! restitution by maximum, and have walls and floors 1 m thick. x = 0 is the middle of every scene, so that the largest
//! scenes keep the best precision; the floor's top is y = 0.

use super::pieces::Pieces;
use super::random::Random;
use super::{Scene, joined, linked, turning, upright};
use crate::{Assembly, Mix, Mixing, Settings};
use glam::Vec2;

/// The largest number of bodies of a built-in scene.
pub const MAX_BODIES: usize = 10_000_000;

/// The scene that the command runs when no scene is named.
pub const DEFAULT: &str = "pile";

/// The recipe of a built-in scene.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// One line that describes it.
    pub about: &'static str,
    /// The default number of moving bodies.
    pub bodies: usize,
    /// The default number of steps before the measured ones.
    pub warmup: u32,
    /// The default number of measured steps.
    pub steps: u32,
    make: fn(usize, &mut Random) -> Pieces,
}

/// The built-in scenes.
pub const BUILTIN: &[Builtin] = &[
    Builtin {
        name: "pile",
        about: "circles and boxes of mixed sizes fall into a pile between walls",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |bodies, random| upright::pile(bodies, random).into(),
    },
    Builtin {
        name: "pile_circles",
        about: "circles of mixed sizes fall into a pile between walls",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |bodies, random| upright::pile_circles(bodies, random).into(),
    },
    Builtin {
        name: "packed",
        about: "hexagonally packed circles at rest between walls",
        bodies: 50_000,
        warmup: 120,
        steps: 60,
        make: |bodies, random| upright::packed(bodies, random).into(),
    },
    Builtin {
        name: "collapsing",
        about: "a loose grid of circles collapses between walls",
        bodies: 50_000,
        warmup: 240,
        steps: 60,
        make: |bodies, random| upright::collapsing(bodies, random).into(),
    },
    Builtin {
        name: "pyramid",
        about: "a pyramid of unit boxes that cannot rotate (the full triangle: about N boxes)",
        bodies: 50_000,
        warmup: 60,
        steps: 60,
        make: |bodies, random| upright::pyramid(bodies, random).into(),
    },
    Builtin {
        name: "gas",
        about: "elastic circles at 5 m/s in random directions, no gravity, walls on all sides",
        bodies: 50_000,
        warmup: 60,
        steps: 60,
        make: |bodies, random| upright::gas(bodies, random).into(),
    },
    Builtin {
        name: "galton",
        about: "circles fall through a field of static pegs into bins",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |bodies, random| upright::galton(bodies, random).into(),
    },
    Builtin {
        name: "slope",
        about: "circles roll down an inclined half-space against another one",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |bodies, random| upright::slope(bodies, random).into(),
    },
    Builtin {
        name: "ropes",
        about: "ropes with a crate at the end swing side by side",
        bodies: 21_000,
        warmup: 60,
        steps: 600,
        make: |particles, random| linked::ropes(particles, random).into(),
    },
    Builtin {
        name: "cloth",
        about: "a net of N particles, structural, shear and bend links, hangs from its top row",
        bodies: 65_536,
        warmup: 60,
        steps: 300,
        make: |particles, random| linked::cloth(particles, random).into(),
    },
    Builtin {
        name: "ragdolls",
        about: "ragdolls of 13 particles fall down a flight of stairs",
        bodies: 6_500,
        warmup: 60,
        steps: 1200,
        make: |particles, random| soft(linked::ragdolls(particles, random)),
    },
    Builtin {
        name: "soft_boxes",
        about: "boxes of four particles and six links fall into a pile",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |particles, random| soft(linked::soft_boxes(particles, random)),
    },
    Builtin {
        name: "grains",
        about: "free particles fall in a box",
        bodies: 100_000,
        warmup: 60,
        steps: 300,
        make: |particles, random| linked::grains(particles, random).into(),
    },
    Builtin {
        name: "bridge",
        about: "a rope bridge of N particles under rigid circles",
        bodies: 500,
        warmup: 60,
        steps: 600,
        make: |particles, random| linked::bridge(particles, random).into(),
    },
    Builtin {
        name: "large_pyramid",
        about: "a pyramid of unit boxes that turn (the full triangle: about N boxes)",
        bodies: 5_050,
        warmup: 60,
        steps: 60,
        make: |bodies, random| turning::large_pyramid(bodies, random).into(),
    },
    Builtin {
        name: "many_pyramids",
        about: "rows of pyramids of 55 unit boxes on segments (a square number of pyramids)",
        bodies: 22_000,
        warmup: 60,
        steps: 60,
        make: |bodies, random| turning::many_pyramids(bodies, random).into(),
    },
    Builtin {
        name: "washer",
        about: "a drum of 36 convex plates turns with a square grid of small boxes in it",
        bodies: 8_100,
        warmup: 120,
        steps: 60,
        make: turning::washer,
    },
    Builtin {
        name: "tumbler",
        about: "a square drum turns with a square grid of small boxes in it",
        bodies: 2_025,
        warmup: 120,
        steps: 60,
        make: turning::tumbler,
    },
    Builtin {
        name: "junkyard",
        about: "shapes of all kinds, compounds among them, are pushed through a yard by a plough",
        bodies: 5_000,
        warmup: 60,
        steps: 600,
        make: turning::junkyard,
    },
    Builtin {
        name: "dominoes",
        about: "rows of dominoes fall one after the other",
        bodies: 2_000,
        warmup: 60,
        steps: 1200,
        make: |bodies, random| turning::dominoes(bodies, random).into(),
    },
    Builtin {
        name: "arch",
        about: "stone arches of 24 wedges without mortar",
        bodies: 960,
        warmup: 60,
        steps: 600,
        make: |bodies, random| turning::arch(bodies, random).into(),
    },
    Builtin {
        name: "card_house",
        about: "houses of 40 cards, five storeys high",
        bodies: 800,
        warmup: 60,
        steps: 600,
        make: |bodies, random| turning::card_house(bodies, random).into(),
    },
    Builtin {
        name: "mixed_shapes",
        about: "circles, boxes, capsules and polygons of all kinds fall into a pile between walls",
        bodies: 20_000,
        warmup: 60,
        steps: 600,
        make: |bodies, random| turning::mixed_shapes(bodies, random).into(),
    },
    Builtin {
        name: "joint_grid",
        about: "a square net of hinged circles hangs from the middle of its top row",
        bodies: 10_000,
        warmup: 60,
        steps: 500,
        make: joined::joint_grid,
    },
    Builtin {
        name: "rain",
        about: "figures of 11 limbs fall on shelves, are removed, and made anew at the top",
        bodies: 11_000,
        warmup: 60,
        steps: 1000,
        make: joined::rain,
    },
    Builtin {
        name: "ball_and_chain",
        about: "chains of 40 links swing, with a ball of 1,000 times a link's mass at the end",
        bodies: 2_050,
        warmup: 60,
        steps: 600,
        make: joined::ball_and_chain,
    },
    Builtin {
        name: "cars",
        about: "cars with suspended, driven wheels go over hills",
        bodies: 1_500,
        warmup: 60,
        steps: 600,
        make: joined::cars,
    },
    Builtin {
        name: "walkers",
        about: "two-legged figures walk by the motors in their hips and knees",
        bodies: 1_000,
        warmup: 60,
        steps: 600,
        make: joined::walkers,
    },
    Builtin {
        name: "mill",
        about: "paddles on motors stir piles of shapes of all kinds",
        bodies: 2_440,
        warmup: 60,
        steps: 600,
        make: joined::mill,
    },
    Builtin {
        name: "hinges",
        about: "curtains of hinged and welded planks break under the balls that fly into them",
        bodies: 2_200,
        warmup: 30,
        steps: 600,
        make: joined::hinges,
    },
    Builtin {
        name: "gears",
        about: "wheels coupled by gears turn and lift racks",
        bodies: 2_000,
        warmup: 60,
        steps: 600,
        make: joined::gears,
    },
    Builtin {
        name: "smash",
        about: "a heavy block flies into a wall of sleeping boxes, without gravity",
        bodies: 9_600,
        warmup: 0,
        steps: 360,
        make: turning::smash,
    },
];

/// Heaps of soft bodies. With the default of 4 substeps, five of twelve piles of 500 soft boxes do not come to rest within a minute, and overlap by up to 0.1 m; with 8
/// all do within 15 s, and no overlap is deeper than the slop (test `piles_of_soft_boxes_fall_asleep`). Twice the link iterations bring less: eight of eight within
/// 26 s, with overlaps of up to 22 mm.
fn soft(assembly: Assembly) -> Pieces {
    Pieces { substeps: Some(8), ..assembly.into() }
}

/// Makes the built-in scene of this name with exactly `bodies` moving bodies. The exceptions are:
///
/// - `pyramid` and `large_pyramid`, each the full triangle on a base of ⌊√(2·bodies)⌋ boxes (50,000 gives 50,086);
/// - the scenes of particles (`ropes` to `bridge`), where `bodies` is about the number of particles;
/// - `many_pyramids`, `washer` and `tumbler`, whose pyramids and boxes are a square number;
/// - `arch` and `card_house`, which are made of whole arches and houses, at least one;
/// - the scenes of joints (`joint_grid` to `gears`), which are made of a square number of circles, or of whole figures, vehicles, chains
///   and meshes, at least one;
/// - the drums and the plough: kinematic bodies that are added to the number.
///
/// The same name, number and seed give the same scene, bit for bit.
///
/// Returns `None` if there is no scene of that name, or `bodies` is not in `1..=`[`MAX_BODIES`].
pub fn builtin(name: &str, bodies: usize, seed: u64) -> Option<Scene> {
    let recipe = BUILTIN.iter().find(|builtin| builtin.name == name)?;
    if !(1..=MAX_BODIES).contains(&bodies) {
        return None;
    }
    let gravity = if ["gas", "smash"].contains(&name) { Vec2::ZERO } else { Vec2::new(0.0, -10.0) };
    let mixing = Mixing { friction: Mix::GeometricMean, restitution: Mix::Max };
    let pieces = (recipe.make)(bodies, &mut Random::new(seed));
    let Pieces { bodies, parts, links, hulls, joints, script, substeps, sleep } = pieces;
    let base = Settings::default();
    let substeps = substeps.unwrap_or(base.substeps);
    let settings = Settings { gravity, mixing, substeps, sleep, ..base };
    let (name, pair_materials) = (name.to_owned(), Vec::new());
    Some(Scene { name, settings, pair_materials, bodies, parts, links, hulls, joints, script })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::outline::Outline;
    use crate::{BodyDesc, BodyType, Filter, JointDesc, JointEnds, Part, Shape};
    use glam::DVec2;
    use std::collections::HashSet;

    /// The number of dynamic bodies of a scene of shapes that is made with `bodies`.
    fn expected(name: &str, bodies: usize) -> usize {
        let whole = |size: usize| size * (bodies / size).max(1);
        match name {
            "pyramid" | "large_pyramid" => {
                let base = (2 * bodies).isqrt();
                base * (base + 1) / 2
            }
            "many_pyramids" => 55 * ((bodies as f64 / 55.0).sqrt().round() as usize).max(1).pow(2),
            "washer" | "tumbler" => bodies.isqrt().pow(2),
            "arch" => 24 * ((bodies + 12) / 24).max(1),
            "card_house" => 40 * ((bodies + 20) / 40).max(1),
            "joint_grid" => {
                let side = bodies.isqrt().max(2);
                side * side - side.min(7)
            }
            "rain" => whole(11),
            "ball_and_chain" => whole(41),
            "cars" => whole(3),
            "walkers" => whole(5),
            "mill" => whole(61),
            "hinges" => whole(11),
            "gears" => whole(20),
            _ => bodies,
        }
    }

    /// Every scene has the requested number of dynamic bodies, as far as its form allows it. Particles come in whole
    /// ropes, boxes and figures.
    #[test]
    fn body_counts() {
        for builtin in BUILTIN {
            for bodies in [1, 2, 3, 7, 100, 2_000, 12_345] {
                let scene = super::builtin(builtin.name, bodies, 1).expect("a built-in scene");
                if scene.particles() == 0 {
                    let dynamic = |body: &&BodyDesc| body.body_type == BodyType::Dynamic;
                    let count = scene.bodies.iter().filter(dynamic).count();
                    assert_eq!(count, expected(builtin.name, bodies), "{} of {bodies}", builtin.name);
                    let tools = ["washer", "tumbler", "junkyard"].contains(&builtin.name);
                    assert_eq!(scene.moving() - count, usize::from(tools), "{}", builtin.name);
                } else {
                    let least = (bodies / 2).max(1);
                    assert!((least..=bodies.max(21)).contains(&scene.particles()), "{}", builtin.name);
                }
            }
            let scene = super::builtin(builtin.name, builtin.bodies, 1).expect("a built-in scene");
            let exact = scene.particles() == 0 && !["pyramid", "joint_grid"].contains(&builtin.name);
            let dynamic = scene.moving() - usize::from(scene.moving() > builtin.bodies);
            assert!(!exact || dynamic == builtin.bodies, "{}: {dynamic}", builtin.name);
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

    /// A scene is a function of its name, number and seed. Random scenes differ by seed.
    #[test]
    fn seeds() {
        for builtin in BUILTIN {
            let make = |seed| super::builtin(builtin.name, 300, seed).expect("a built-in scene");
            assert_eq!(make(5), make(5), "{}", builtin.name);
            const SAME: [&str; 13] = [
                "pyramid",
                "joint_grid",
                "rain",
                "ball_and_chain",
                "cloth",
                "large_pyramid",
                "many_pyramids",
                "washer",
                "tumbler",
                "dominoes",
                "arch",
                "card_house",
                "smash",
            ];
            let same = SAME.contains(&builtin.name);
            assert_eq!(make(5) == make(6), same, "{}", builtin.name);
        }
    }

    /// Unknown names and numbers out of range are refused.
    #[test]
    fn refusals() {
        assert!(super::builtin("nope", 10, 1).is_none());
        assert!(super::builtin("pile", 0, 1).is_none());
        assert!(super::builtin("pile", MAX_BODIES + 1, 1).is_none());
    }

    /// A shape of a body, in world coordinates.
    struct Placed {
        body: usize,
        corners: Vec<DVec2>,
        radius: f64,
        middle: DVec2,
        reach: f64,
        filter: Filter,
    }

    /// All shapes that touch others, except half-spaces and particles.
    fn shapes(scene: &Scene) -> Vec<Placed> {
        let own =
            scene.bodies.iter().enumerate().map(|(body, desc)| {
                (body, Part { filter: desc.filter, ..Part::new(desc.shape, Vec2::ZERO) })
            });
        let parts = own.chain(scene.parts.iter().copied());
        let solid =
            parts.filter(|(_, part)| part.filter.mask != 0 && !matches!(part.shape, Shape::Particle { .. }));
        let placed = |(body, part): (usize, Part)| {
            let outline = Outline::of(&part.shape)?;
            let desc = &scene.bodies[body];
            let axes = |angle: f32| DVec2::from_angle(f64::from(angle));
            let middle = desc.position.as_dvec2() + axes(desc.angle).rotate(part.position.as_dvec2());
            let turn = axes(desc.angle).rotate(axes(part.angle));
            let corners = outline.vertices().iter().map(|v| middle + turn.rotate(v.as_dvec2())).collect();
            Some(Placed {
                body,
                corners,
                radius: f64::from(outline.radius),
                middle,
                reach: f64::from(outline.reach()),
                filter: part.filter,
            })
        };
        solid.filter_map(placed).collect()
    }

    /// The distance of two convex shapes, negative where they overlap: the largest over all axes on which it can be
    /// found, which are the normals of the edges and the lines between corners.
    fn separation(a: &Placed, b: &Placed) -> f64 {
        let along = |axis: DVec2| {
            let most = a.corners.iter().map(|v| axis.dot(*v)).fold(f64::NEG_INFINITY, f64::max);
            let least = b.corners.iter().map(|v| axis.dot(*v)).fold(f64::INFINITY, f64::min);
            least - most
        };
        let edges = |of: &Placed| {
            let n = of.corners.len();
            (0..n).map(|i| of.corners[(i + 1) % n] - of.corners[i]).collect::<Vec<_>>()
        };
        let normals = edges(a).into_iter().chain(edges(b)).map(DVec2::perp);
        let lines = a.corners.iter().flat_map(|v| b.corners.iter().map(move |w| *w - *v));
        let axes = normals.chain(lines).filter_map(DVec2::try_normalize);
        axes.flat_map(|axis| [along(axis), along(-axis)]).fold(f64::NEG_INFINITY, f64::max)
            - a.radius
            - b.radius
    }

    /// No two shapes of a scene that may touch overlap at the start, except for packed circles and for crates that hang from ropes.
    #[test]
    fn nothing_overlaps_at_the_start() {
        for builtin in BUILTIN.iter().filter(|builtin| !["packed", "ropes"].contains(&builtin.name)) {
            let scene = super::builtin(builtin.name, 400, 9).expect("a built-in scene");
            let shapes = shapes(&scene);
            let bodies = |joint: &JointDesc<usize, usize>| match joint.ends {
                JointEnds::Bodies(a, b) => Some((a.min(b), a.max(b))),
                _ => None,
            };
            let joined: HashSet<(usize, usize)> = scene.joints.iter().filter_map(bodies).collect();
            let moves = |shape: &Placed| scene.bodies[shape.body].body_type == BodyType::Dynamic;
            for (i, a) in shapes.iter().enumerate() {
                for b in shapes[..i].iter().filter(|b| b.body != a.body && (moves(a) || moves(b))) {
                    if !a.filter.touches(&b.filter)
                        || joined.contains(&(a.body.min(b.body), a.body.max(b.body)))
                    {
                        continue;
                    }
                    if a.middle.distance(b.middle) < a.reach + b.reach {
                        let apart = separation(a, b);
                        let (a, b) = (scene.bodies[a.body], scene.bodies[b.body]);
                        assert!(apart > -1e-4, "{}: {apart} {a:?} {b:?}", builtin.name);
                    }
                }
            }
        }
    }
}
