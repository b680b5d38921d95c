//! A double pendulum without friction: an engine that is right keeps its energy. It is chaotic, so what counts is the mean over many
//! that are released from different angles.

use crate::engine::{Engine, State};
use crate::joints::Joint;
use crate::scenes::Scene;
use ::granule::{BodyDesc, Filter, JointDesc, Settings, Shape, Vec2};
use std::f32::consts::FRAC_PI_4;

/// Substeps with which it swings.
pub const SUBSTEPS: [u32; 3] = [4, 8, 16];
/// The time, s.
pub const SECONDS: usize = 60;
/// Half the length and half the breadth of a plank, m.
const HALF: [f32; 2] = [0.5, 0.05];
/// The mass of a plank, kg.
const MASS: f32 = 1.0;
/// So many are released.
pub const RELEASES: usize = 24;

/// Energies as parts of that between the pendulum's highest and lowest place, counted from the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// At the end.
    pub end: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// Two planks in a line that hang on a post and touch nothing, up to 45° above the horizontal.
fn scene(release: usize) -> (Scene, Vec<Joint>) {
    let angle = FRAC_PI_4 * release as f32 / RELEASES as f32;
    let filter = Filter { group: 1, ..Filter::default() };
    let plank = |place: usize| {
        let at = Vec2::from_angle(angle) * (HALF[0] * (2 * place + 1) as f32);
        let shape = Shape::oriented_box(HALF[0], HALF[1]);
        BodyDesc { mass: Some(MASS), angle, filter, ..BodyDesc::dynamic(shape, at) }
    };
    let post = BodyDesc { filter, ..BodyDesc::fixed(Shape::circle(0.1), Vec2::ZERO) };
    let bodies = vec![post, plank(0), plank(1)];
    let right = Vec2::new(HALF[0], 0.0);
    let joints =
        vec![JointDesc::revolute(0, 1, Vec2::ZERO, -right), JointDesc::revolute(1, 2, right, -right)];
    let settings = Settings { sleep: false, continuous: false, ..Settings::default() };
    (Scene { settings, bodies, parts: Vec::new(), replacing: None }, joints)
}

/// Kinetic and potential energy, J.
fn energy(scene: &Scene, states: &[State]) -> f64 {
    let [mass, gravity] = [MASS, -scene.settings.gravity.y].map(f64::from);
    let [half_length, half_breadth] = HALF.map(f64::from);
    let inertia = mass * (half_length * half_length + half_breadth * half_breadth) / 3.0;
    let one = |state: &State| {
        let [x, y] = state.velocity.map(f64::from);
        let spin = f64::from(state.angular_velocity);
        0.5 * mass * (x * x + y * y)
            + 0.5 * inertia * spin * spin
            + mass * gravity * f64::from(state.position[1])
    };
    states[1..].iter().map(one).sum()
}

/// Lets all swing. Returns the mean of what they have at the end, the least and the most.
///
/// # Errors
///
/// What the engine says when it refuses something.
pub fn swing_all(engine: Engine, substeps: u32, seconds: usize) -> Result<Drift, String> {
    let mut all = Drift { end: 0.0, least: 0.0, most: 0.0 };
    for release in 0..RELEASES {
        let one = swing(engine, substeps, seconds, release)?;
        all = Drift {
            end: all.end + one.end / RELEASES as f64,
            least: all.least.min(one.least),
            most: all.most.max(one.most),
        };
    }
    Ok(all)
}

/// Lets one swing.
///
/// # Errors
///
/// What the engine says when it refuses something.
fn swing(engine: Engine, substeps: u32, seconds: usize, release: usize) -> Result<Drift, String> {
    let (mut scene, joints) = scene(release);
    scene.settings.substeps = substeps;
    let mut world = super::build(engine, &scene, &joints, super::stepping(&scene, 1))?;
    let start = energy(&scene, &world.states());
    // From the horizontal to hanging straight down: the centres fall by a half and by three halves of a plank.
    let range = f64::from(MASS) * f64::from(-scene.settings.gravity.y) * f64::from(4.0 * HALF[0]);
    let mut drift = Drift { end: 0.0, least: 0.0, most: 0.0 };
    let mut times = Vec::new();
    for _ in 0..60 * seconds {
        world.run(1, &mut times);
        let now = (energy(&scene, &world.states()) - start) / range;
        drift = Drift { end: now, least: drift.least.min(now), most: drift.most.max(now) };
    }
    Ok(drift)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In every engine the pendulum swings, and keeps nearly all of its energy for a second at 16 substeps.
    #[test]
    fn it_swings() {
        let (scene, _) = scene(0);
        let start: Vec<State> = scene.bodies.iter().map(State::of).collect();
        assert_eq!(energy(&scene, &start), 0.0);
        for engine in [Engine::Granule, Engine::Box2d, Engine::Rapier] {
            let drift = swing(engine, 16, 1, 0).expect("a pendulum");
            assert!(drift.end.abs() < 0.1 && drift.most < 0.1, "{}: {drift:?}", engine.name());
            assert!(drift.least < 0.0, "{}: nothing happened", engine.name());
        }
    }
}
