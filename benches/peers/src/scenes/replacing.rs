//! Bodies that are replaced while a scene runs: the oldest go, and as many rain in from above.

use super::random::unit;
use ::granule::{BodyDesc, Material, Shape, Vec2};

/// Which places of the body list are replaced before each step, and by what.
///
/// The places `first..first + count` hold circles, whose radius belongs to the place. They go through the
/// list once and again in one order that jumps about, so that what is removed is spread over the pile, and what goes is
/// always what has been there longest.
#[derive(Clone, Copy, Debug)]
pub struct Replacing {
    /// First place that is replaced.
    pub first: usize,
    /// How many places are.
    pub count: usize,
    /// How many of them before each step.
    pub per_step: usize,
    /// How far it is from one to the next, in places; has no divisor in common with `count`.
    pub stride: usize,
    /// x of the leftmost place that a circle rains from, m.
    pub left: f32,
    /// Such places, 1 m apart.
    pub columns: usize,
    /// Their height, m.
    pub top: f32,
}

/// Speed at which circles rain in: fast enough that the last are gone when the next come to the same place.
const RAIN_SPEED: f32 = 10.0;

impl Replacing {
    /// The circle of a place of the list, somewhere.
    pub fn circle(place: usize, position: Vec2) -> BodyDesc {
        let shape = Shape::circle(0.4 + 0.1 * unit(5, place));
        BodyDesc { material: Material::new(1.0, 0.5, 0.0), ..BodyDesc::dynamic(shape, position) }
    }

    /// What is replaced before step `step`, counted from 0.
    fn edits(&self, step: usize, edits: &mut Edits) {
        edits.clear();
        // Those of one step are spread over the width, and the next step's are beside them.
        let pitch = self.columns / self.per_step;
        for index in 0..self.per_step {
            let age = step * self.per_step + index;
            let place = self.first + age * self.stride % self.count;
            let column = index * pitch + step * 7 % pitch;
            let position = Vec2::new(self.left + column as f32, self.top);
            let velocity = Vec2::new(0.0, -RAIN_SPEED);
            edits.places.push(place);
            edits.bodies.push(BodyDesc { velocity, ..Self::circle(place, position) });
        }
    }
}

/// The replacements of one step: `bodies[k]` takes the place `places[k]` of the list.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    /// Places of the scene's list.
    pub places: Vec<usize>,
    /// What is there from now on.
    pub bodies: Vec<BodyDesc>,
}

impl Edits {
    fn clear(&mut self) {
        self.places.clear();
        self.bodies.clear();
    }
}

/// Counts the steps of a world and tells what is replaced before each.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    replacing: Option<Replacing>,
    step: usize,
    edits: Edits,
}

impl Schedule {
    /// From the first step on.
    pub fn new(replacing: Option<Replacing>) -> Self {
        Schedule { replacing, ..Schedule::default() }
    }

    /// What is replaced before the next step. Empty in most scenes.
    pub fn next(&mut self) -> &Edits {
        if let Some(replacing) = &self.replacing {
            replacing.edits(self.step, &mut self.edits);
            self.step += 1;
        }
        &self.edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every place is replaced once before any is replaced again, in the same order, and circles that rain in do not
    /// overlap those that came before.
    #[test]
    fn the_oldest_go() {
        let scene = crate::scenes::Scene::build("churn", 2_000, 0).expect("a scene");
        let replacing = scene.replacing.expect("it churns");
        let rounds = replacing.count / replacing.per_step;
        assert_eq!((replacing.per_step, replacing.count % replacing.per_step), (10, 0));
        let mut schedule = Schedule::new(Some(replacing));
        let mut order: Vec<usize> = Vec::new();
        let mut falling: Vec<(Vec2, usize)> = Vec::new();
        for step in 0..2 * rounds {
            let edits = schedule.next();
            order.extend(&edits.places);
            for body in &edits.bodies {
                for &(other, since) in falling.iter().rev().take(60 * replacing.per_step) {
                    let way = RAIN_SPEED * (step - since) as f32 / 60.0;
                    assert!((body.position - (other - Vec2::new(0.0, way))).length() >= 1.0);
                }
            }
            falling.extend(edits.bodies.iter().map(|body| (body.position, step)));
        }
        let (once, again) = order.split_at(replacing.count);
        assert_eq!(once, again);
        let mut sorted = once.to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(replacing.first..replacing.first + replacing.count));
    }
}
