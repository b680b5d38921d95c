//! What is compared: the engine's built-in stress scenes, at the sizes and step counts of the table.
//!
//! A scene is the list of Granule's own body descriptions; each engine translates that one list, so
//! all of them start from the same bits.

use crate::engine::{Engine, Stepping};
use ::granule::{BodyDesc, BodyType, Filter, Material, Mix, Mixing, Part, Settings, Shape, Vec2};

/// One row of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What `--scenes` and the tables call it.
    pub name: &'static str,
    /// Name of the built-in scene.
    pub scene: &'static str,
    /// Moving bodies asked for; a scene may round it (a pyramid is a triangular number).
    pub bodies: usize,
    /// Steps before the measurement.
    pub warmup: usize,
    /// Measured steps.
    pub steps: usize,
    /// Ratio to the faster peer that Granule must reach.
    pub at_least: f64,
    /// Ratio to the faster peer that Granule aims at.
    pub aim: f64,
    /// Granule's substeps; the peers take 4.
    pub substeps: u32,
}

impl Case {
    /// How an engine steps the case in the comparison.
    pub fn stepping(&self, engine: Engine, threads: usize) -> Stepping {
        let common = Stepping::common(threads);
        if engine == Engine::Granule { Stepping { substeps: self.substeps, ..common } } else { common }
    }
}

const fn case(name: &'static str, scene: &'static str, bodies: usize, warmup: usize, goal: [f64; 2]) -> Case {
    Case { name, scene, bodies, warmup, steps: 60, at_least: goal[0], aim: goal[1], substeps: 4 }
}

/// Every row, in the order of the table.
pub const CASES: [Case; 12] = [
    case("packed-10k", "packed", 10_000, 120, [4.0, 8.0]),
    case("packed-50k", "packed", 50_000, 120, [8.0, 20.0]),
    SETTLED,
    case("packed-200k", "packed", 200_000, 120, [10.0, 20.0]),
    COLLAPSING,
    case("pyramid-50k", "pyramid", 50_000, 60, [8.0, 20.0]),
    case("gas-50k", "gas", 50_000, 60, [8.0, 15.0]),
    // Particles, at twice the substeps; circles to the peers.
    Case { substeps: 8, ..case("grains-100k", "grains", 100_000, 300, [8.0, 16.0]) },
    // Shapes that turn, with the dimensions of Box2D's own benchmarks.
    case("large-pyramid", "large_pyramid", 5_050, 60, [2.0, 4.0]),
    case("many-pyramids", "many_pyramids", 22_000, 60, [2.0, 4.0]),
    // Driven for ever: many steps, as the state of one moment is chance.
    Case { steps: 600, ..case("washer", "washer", 8_100, 200, [2.0, 4.0]) },
    Case { steps: 600, ..case("tumbler", "tumbler", 2_025, 200, [2.0, 4.0]) },
];

/// The settled pile, which the table of solver settings uses as well.
pub const SETTLED: Case = case("packed-50k-settled", "packed", 50_000, 600, [12.0, 25.0]);

/// The pile that falls and bounces as a whole: the same table has damping ratios on it.
pub const COLLAPSING: Case = case("collapsing-50k", "collapsing", 50_000, 240, [8.0, 15.0]);

/// The cases in which bodies still move when their state is judged.
pub const MOVING: [&str; 4] = ["collapsing-50k", "gas-50k", "washer", "tumbler"];

/// Sizes at which `--flatness` steps the packed pile.
pub const FLATNESS_SIZES: [usize; 4] = [10_000, 50_000, 200_000, 1_000_000];

const SEED: u64 = 1;

/// Bodies and the settings that all engines share.
pub struct Scene {
    /// Gravity and time step; 4 substeps, friction by geometric mean, restitution by max.
    pub settings: Settings,
    /// In the order in which every engine adds them and reports their state.
    pub bodies: Vec<BodyDesc>,
    /// Their further shapes, from the centre of the body's own shape.
    pub parts: Vec<(usize, Part)>,
}

impl Scene {
    /// The built-in scene `name` with about `bodies` moving bodies.
    ///
    /// # Errors
    ///
    /// When there is no such scene, or it has a body that the peers cannot express alike.
    pub fn build(name: &str, bodies: usize) -> Result<Scene, String> {
        let scene = ::granule::scene::builtin(name, bodies, SEED)
            .ok_or_else(|| format!("no built-in scene `{name}`"))?;
        let settings = Settings {
            time_step: 1.0 / 60.0,
            substeps: 4,
            mixing: Mixing { friction: Mix::GeometricMean, restitution: Mix::Max },
            ..scene.settings
        };
        for (index, body) in scene.bodies.iter().enumerate() {
            check_common(body).map_err(|what| format!("scene `{name}`, body {index}: {what}"))?;
        }
        for (index, (body, part)) in scene.parts.iter().enumerate() {
            check_material(part.material)
                .and_then(|()| check_filter(part.filter))
                .map_err(|what| format!("scene `{name}`, part {index} (of body {body}): {what}"))?;
        }
        Ok(Scene { settings, bodies: scene.bodies, parts: scene.parts })
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
    let part = Part { material: body.material, filter: body.filter, ..Part::new(body.shape, Vec2::ZERO) };
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

    /// Every case's scene means the same in every engine.
    #[test]
    fn every_case_is_common() {
        for case in CASES {
            let scene = Scene::build(case.scene, 500).expect(case.name);
            assert!(scene.moving() > 0, "{}", case.name);
            for (_, part) in &scene.parts {
                assert!(corners(part).is_ok(), "{}", case.name);
            }
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
