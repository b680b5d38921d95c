//! Contract: nothing that moves passes through a static or kinematic shape, and a bullet not through a moving one either, whatever its
//! speed, spin and shape; being stopped costs and gives no speed.

mod bullets;
mod hulls;
mod random;
mod walls;

use crate::common::{state, steps, weightless, world};
use granule::{
    BodyDesc, BodyHandle, BodyType, Filter, Material, Part, Polygon, Settings, Shape, Vec2, World,
};

/// Shapes of all kinds that move, some 0.2 m across.
fn small_shape(number: usize) -> Shape {
    match number % 8 {
        0 => Shape::circle(0.1),
        1 => Shape::aabb(0.1, 0.08),
        2 => Shape::oriented_box(0.12, 0.07),
        3 => Shape::capsule(0.1, 0.05),
        4 => Shape::Polygon(Polygon::regular(3, 0.12).unwrap()),
        5 => Shape::Polygon(Polygon::regular(8, 0.12).unwrap()),
        6 => Shape::segment(0.12),
        _ => Shape::particle(0.05),
    }
}

/// A body of such a shape, with a mass whatever its area.
fn small(number: usize, position: Vec2) -> BodyDesc {
    BodyDesc { mass: Some(0.1), ..BodyDesc::dynamic(small_shape(number), position) }
}

/// Numbers in 0..1, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn direction(&mut self) -> Vec2 {
        Vec2::from_angle(std::f32::consts::TAU * self.next())
    }
}

fn energy(world: &World, body: BodyHandle) -> f32 {
    0.5 * world.mass(body).unwrap() * state(world, body).velocity.length_squared()
}
