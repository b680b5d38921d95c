//! A double pendulum without friction: an engine that is right keeps its energy.

use crate::engine::{Engine, State};
use crate::joints::Joint;
use crate::scenes::Scene;
use ::granule::{BodyDesc, JointDesc, Settings, Shape, Vec2};

/// Substeps with which it swings.
pub const SUBSTEPS: [u32; 3] = [4, 8, 16];
/// The time, s.
pub const SECONDS: usize = 60;
/// Half the length and half the breadth of a plank, m.
const HALF: [f32; 2] = [0.5, 0.05];
/// The mass of a plank, kg.
const MASS: f32 = 1.0;

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

/// Two planks that hang on a post, released from the horizontal.
fn scene() -> (Scene, Vec<Joint>) {
    let plank = |place: usize| {
        let at = Vec2::new(HALF[0] * (2 * place + 1) as f32, 0.0);
        BodyDesc { mass: Some(MASS), ..BodyDesc::dynamic(Shape::oriented_box(HALF[0], HALF[1]), at) }
    };
    let post = BodyDesc::fixed(Shape::circle(0.1), Vec2::ZERO);
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

/// Lets it swing.
///
/// # Errors
///
/// What the engine says when it refuses something.
pub fn swing(engine: Engine, substeps: u32, seconds: usize) -> Result<Drift, String> {
    let (mut scene, joints) = scene();
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
        let (scene, _) = scene();
        let start: Vec<State> = scene.bodies.iter().map(State::of).collect();
        assert_eq!(energy(&scene, &start), 0.0);
        for engine in [Engine::Granule, Engine::Box2d, Engine::Rapier] {
            let drift = swing(engine, 16, 1).expect("a pendulum");
            assert!(drift.end.abs() < 0.1 && drift.most < 0.1, "{}: {drift:?}", engine.name());
            assert!(drift.least < 0.0, "{}: nothing happened", engine.name());
        }
    }
}
