//! What is compared: the engine's built-in stress scenes, and scenes of this comparison.
//!
//! A scene is the list of Granule's own body descriptions; each engine translates that one list, so
//! all of them start from the same bits. While it runs, bodies of the list may be replaced ([`replacing`]).

mod borrowed;
mod piles;
mod random;
pub mod replacing;

use ::granule::{BodyDesc, BodyType, Filter, Material, Mix, Mixing, Part, Settings, Shape, Vec2};
use replacing::Replacing;

const SEED: u64 = 1;

/// Bodies and the settings that all engines share.
pub struct Scene {
    /// Gravity and time step; 4 substeps, friction by geometric mean, restitution by max.
    pub settings: Settings,
    /// In the order in which every engine adds them and reports their state.
    pub bodies: Vec<BodyDesc>,
    /// Their further shapes, from the centre of the body's own shape.
    pub parts: Vec<(usize, Part)>,
    /// What is replaced before each step.
    pub replacing: Option<Replacing>,
}

impl Scene {
    /// The scene `name` with about `bodies` moving bodies, for the `world`-th of several worlds.
    ///
    /// # Errors
    ///
    /// When there is no such scene, or it has a body that the peers cannot express alike.
    pub fn build(name: &str, bodies: usize, world: usize) -> Result<Scene, String> {
        let scene = Self::unchecked(name, bodies, world).ok_or_else(|| format!("no scene `{name}`"))?;
        for (index, body) in scene.bodies.iter().enumerate() {
            check_common(body).map_err(|what| format!("scene `{name}`, body {index}: {what}"))?;
        }
        for (index, (body, part)) in scene.parts.iter().enumerate() {
            check_material(part.material)
                .and_then(|()| check_filter(part.filter))
                .map_err(|what| format!("scene `{name}`, part {index} (of body {body}): {what}"))?;
        }
        Ok(scene)
    }

    /// Only scenes with many worlds differ between them.
    fn unchecked(name: &str, bodies: usize, world: usize) -> Option<Scene> {
        let mut gravity = Vec2::new(0.0, -10.0);
        let (mut parts, mut replacing) = (Vec::new(), None);
        let bodies = match name {
            "rubble" => piles::rubble(bodies),
            "sizes" => piles::sizes(bodies),
            "churn" | "churn_one" => {
                let (bodies, what) = piles::churn(bodies, name == "churn_one");
                replacing = Some(what);
                bodies
            }
            "terrain" => piles::terrain(bodies),
            "plough" => piles::plough(bodies),
            "small" => piles::small(bodies, world),
            "spinner" => borrowed::spinner(bodies),
            "compounds" => {
                let (bodies, more) = borrowed::compounds(bodies);
                parts = more;
                bodies
            }
            "smash" => {
                gravity = Vec2::ZERO;
                borrowed::smash(bodies)
            }
            _ => {
                let own = if name == "gas_fast" { "gas" } else { name };
                let mut scene = ::granule::scene::builtin(own, bodies, SEED)?;
                if name == "gas_fast" {
                    // 50 m/s.
                    scene.bodies.iter_mut().for_each(|body| body.velocity *= 10.0);
                }
                gravity = scene.settings.gravity;
                parts = scene.parts;
                scene.bodies
            }
        };
        let settings = Settings {
            gravity,
            time_step: 1.0 / 60.0,
            substeps: 4,
            mixing: Mixing { friction: Mix::GeometricMean, restitution: Mix::Max },
            // Stepping says whether the engines sleep; many worlds, side by side, do not.
            sleep: false,
            continuous: false,
            ..Settings::default()
        };
        Some(Scene { settings, bodies, parts, replacing })
    }

    /// The RMS speed of the moving bodies at the start, m/s, if nothing may change it: no gravity, no friction, all collisions
    /// elastic, nothing in motion that has no mass.
    pub fn conserved_rms_speed(&self) -> Option<f64> {
        let lossless = |body: &BodyDesc| {
            let Material { static_friction, dynamic_friction, restitution, .. } = body.material;
            let still = body.velocity == Vec2::ZERO && body.angular_velocity == 0.0;
            (static_friction, dynamic_friction, restitution) == (0.0, 0.0, 1.0)
                && (body.body_type == BodyType::Dynamic || still)
        };
        let conserved = self.settings.gravity == Vec2::ZERO && self.bodies.iter().all(lossless);
        let moving = self.bodies.iter().filter(|body| body.body_type == BodyType::Dynamic);
        let square: f64 = moving.map(|body| f64::from(body.velocity.length_squared())).sum();
        conserved.then(|| (square / self.moving() as f64).sqrt())
    }

    /// Bodies that the engines move by forces.
    pub fn moving(&self) -> usize {
        self.bodies.iter().filter(|body| body.body_type == BodyType::Dynamic).count()
    }
}

/// The own shape of a body as a part of it. `None` for one that touches nothing: it holds the centre of a body whose
/// other shapes turn about it, and a peer needs no such thing.
pub fn own_shape(body: &BodyDesc) -> Option<Part> {
    let mut part = Part { material: body.material, filter: body.filter, ..Part::new(body.shape, Vec2::ZERO) };
    if let Some(mass) = body.mass {
        part.material.density = mass / body.shape.area();
    }
    (body.filter.mask != 0).then_some(part)
}

/// A part's corners in the axes of its body, counter-clockwise, without the rounding: a circle has one, a capsule
/// and a segment two.
///
/// # Errors
///
/// For a shape that is not compared.
pub fn corners(part: &Part) -> Result<(Vec<[f64; 2]>, f64), String> {
    let wide = |corner: &Vec2| corner.to_array().map(f64::from);
    let (corners, radius) = match &part.shape {
        Shape::Circle { radius } | Shape::Particle { radius } => (vec![[0.0; 2]], *radius),
        Shape::Aabb { half_extents } | Shape::Box { half_extents } => {
            let [x, y] = wide(half_extents);
            (vec![[-x, -y], [x, -y], [x, y], [-x, y]], 0.0)
        }
        Shape::Capsule { half_length, radius } => {
            let x = f64::from(*half_length);
            (vec![[-x, 0.0], [x, 0.0]], *radius)
        }
        Shape::Segment { half_length } => {
            let x = f64::from(*half_length);
            (vec![[-x, 0.0], [x, 0.0]], 0.0)
        }
        Shape::Polygon(polygon) => (polygon.vertices().iter().map(wide).collect(), polygon.radius()),
        Shape::HalfSpace { .. } => return Err("half-spaces are not compared".to_owned()),
        Shape::ChainSegment { .. } => return Err("chains are not compared".to_owned()),
    };
    let middle = wide(&part.position);
    let placed = corners.into_iter().map(|corner| turned(corner, f64::from(part.angle), middle));
    Ok((placed.collect(), f64::from(radius)))
}

/// A point turned about the origin by `angle` and then moved.
pub fn turned([x, y]: [f64; 2], angle: f64, [by_x, by_y]: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = angle.sin_cos();
    [cos * x - sin * y + by_x, sin * x + cos * y + by_y]
}

/// Only what means the same in every engine may be in a scene.
fn check_common(body: &BodyDesc) -> Result<(), &'static str> {
    // What only holds the centre of a kinematic body is left out for the peers.
    let inert = body.body_type == BodyType::Kinematic && body.filter.mask == 0;
    if body.body_type == BodyType::Kinematic && matches!(body.shape, Shape::Aabb { .. }) {
        Err("a kinematic box turns")
    } else if matches!(body.shape, Shape::HalfSpace { .. }) {
        Err("half-spaces are not compared")
    } else if matches!(body.shape, Shape::ChainSegment { .. }) {
        Err("chains are not compared")
    } else if matches!(body.shape, Shape::Aabb { .. }) && body.angle != 0.0 {
        Err("a box must be aligned with the axes")
    } else if body.mass.is_some() {
        Err("masses come from the density")
    } else if body.fixed_rotation {
        Err("fixed rotations are not compared")
    } else {
        check_material(body.material)?;
        if inert { Ok(()) } else { check_filter(body.filter) }
    }
}

fn check_material(material: Material) -> Result<(), &'static str> {
    if material.static_friction != material.dynamic_friction {
        Err("the peers have one friction coefficient")
    } else if material.rolling_resistance != 0.0 || material.tangent_speed != 0.0 {
        Err("rolling resistance and conveyors are not compared")
    } else {
        Ok(())
    }
}

fn check_filter(filter: Filter) -> Result<(), &'static str> {
    if filter == Filter::default() { Ok(()) } else { Err("collision filters are not compared") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;
    use crate::engine::State;

    /// Every case's scene means the same in every engine and has as many moving bodies as asked for, but for those that
    /// round it.
    #[test]
    fn every_case_is_common() {
        for case in CASES {
            let scene = Scene::build(case.scene, 500, 0).expect(case.name);
            let moving = scene.moving();
            let rounds = ["pyramid", "grains", "large_pyramid", "many_pyramids", "washer", "tumbler"];
            assert!(moving == 500 || rounds.contains(&case.scene) && moving > 0, "{}: {moving}", case.name);
            for (_, part) in &scene.parts {
                assert!(corners(part).is_ok(), "{}", case.name);
            }
        }
    }

    /// What falls starts without an overlap: the engines are to solve what they have done themselves.
    #[test]
    fn nothing_overlaps_at_first() {
        for name in ["rubble", "sizes", "churn", "terrain", "plough", "small", "compounds", "smash"] {
            let scene = Scene::build(name, 1_000, 0).expect(name);
            let states: Vec<State> = scene.bodies.iter().map(State::of).collect();
            let found = crate::measure::quality(&scene, &states);
            // Places are rounded to f32.
            assert!(found.max_penetration < 1.0e-5, "{name}: {found:?}");
        }
    }

    /// A part's corners are those of its shape, turned and then moved.
    #[test]
    fn corners_of_a_part() {
        let quarter = std::f32::consts::FRAC_PI_2;
        let part = Part { angle: quarter, ..Part::new(Shape::capsule(2.0, 0.5), Vec2::new(10.0, 0.0)) };
        let (corners, radius) = corners(&part).expect("a capsule");
        for (corner, expected) in corners.iter().zip([[10.0, -2.0], [10.0, 2.0]]) {
            assert!((corner[0] - expected[0]).abs() + (corner[1] - expected[1]).abs() < 1e-6, "{corner:?}");
        }
        assert_eq!((corners.len(), radius), (2, 0.5));
    }
}
