//! What the built-in scenes are made of: grids, walls, piles, and the parts of a scene.

use super::Script;
use super::random::Random;
use crate::{Assembly, BodyDesc, JointDesc, LinkDesc, Material, Part, Shape};
use glam::Vec2;

/// The parts of a built-in scene, as in [`Scene`](super::Scene).
#[derive(Default)]
pub(super) struct Pieces {
    pub bodies: Vec<BodyDesc>,
    pub parts: Vec<(usize, Part)>,
    pub links: Vec<LinkDesc<usize>>,
    pub hulls: Vec<Vec<usize>>,
    pub joints: Vec<JointDesc<usize, usize>>,
    pub script: Option<Script>,
    /// The substeps that the scene needs, if the default is not enough.
    pub substeps: Option<u32>,
    /// Bodies may sleep. Most scenes measure bodies at rest.
    pub sleep: bool,
}

impl Pieces {
    /// Appends the bodies and joints of an assembly without links and hulls. Returns the place of its first body.
    pub fn append(&mut self, assembly: Assembly) -> usize {
        let (first, joints) = (self.bodies.len(), self.joints.len());
        self.bodies.extend(assembly.bodies);
        let named = |joint: JointDesc<usize, usize>| joint.map(|place| place + first, |place| place + joints);
        self.joints.extend(assembly.joints.into_iter().map(named));
        first
    }
}

impl From<Vec<BodyDesc>> for Pieces {
    fn from(bodies: Vec<BodyDesc>) -> Self {
        Pieces { bodies, ..Pieces::default() }
    }
}

impl From<Assembly> for Pieces {
    fn from(Assembly { bodies, links, hulls, joints }: Assembly) -> Self {
        Pieces { bodies, links, hulls, joints, ..Pieces::default() }
    }
}

/// The places of a grid of `columns`, row by row from the bottom, counted from 0.
pub(super) fn grid(bodies: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bodies).map(move |i| (i % columns, i / columns))
}

/// The number of columns of the piles: ⌊√(2n)⌋, twice as many as rows.
pub(super) fn pile_columns(bodies: usize) -> usize {
    (2 * bodies).isqrt()
}

/// The x coordinate of `column`, for `columns` columns that are `spacing` apart and centred on x = 0.
pub(super) fn centred(column: usize, columns: usize, spacing: f32) -> f32 {
    (column as f32 - 0.5 * (columns - 1) as f32) * spacing
}

pub(super) fn body(shape: Shape, position: Vec2, material: Material) -> BodyDesc {
    BodyDesc { material, ..BodyDesc::dynamic(shape, position) }
}

pub(super) fn wall(half_width: f32, half_height: f32, position: Vec2, material: Material) -> BodyDesc {
    BodyDesc { material, ..BodyDesc::fixed(Shape::aabb(half_width, half_height), position) }
}

/// Adds a floor whose top is y = 0 and two walls up to `height`, with `inner` of room between them.
pub(super) fn push_box(bodies: &mut Vec<BodyDesc>, inner: f32, height: f32, material: Material) {
    let half = 0.5 * inner;
    bodies.push(wall(half + 1.0, 0.5, Vec2::new(0.0, -0.5), material));
    for side in [-1.0, 1.0] {
        bodies.push(wall(0.5, 0.5 * height, Vec2::new(side * (half + 0.5), 0.5 * height), material));
    }
}

/// The pile of `pile`, `pile_circles` and `mixed_shapes`: a random shape in each cell of 1.1 m, jittered by 4 cm,
/// 1 m above the floor. Shapes at most 1 m wide do not overlap at the start. The grid has four times as many columns as
/// rows (the other piles have twice as many), so that the top does not fall faster than the pile can absorb.
pub(super) fn falling(
    bodies: usize,
    random: &mut Random,
    material: Material,
    mut shape: impl FnMut(&mut Random) -> Shape,
) -> Vec<BodyDesc> {
    const CELL: f32 = 1.1;
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
