//! The blocks of contacts: sixteen of one kind and colour, in columns; what is known of each block; and which blocks are of which kind.

use super::places::Places;
use super::{BLOCK, SERIAL};
use crate::lane::Lane;
use crate::narrowphase::KINDS;
use std::ops::Range;

/// The part of sixteen contacts that the solver needs for the normal impulse.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct NormalBlock {
    /// Slots of the bodies; a lane that is not in use has the tile's padding row.
    pub a: Places,
    pub b: Places,
    /// From A to B.
    pub normal_x: [f32; BLOCK],
    pub normal_y: [f32; BLOCK],
    /// At the start of the step; negative when overlapping.
    pub separation: [f32; BLOCK],
    /// Per substep, accumulated; never negative.
    pub normal_impulse: [f32; BLOCK],
    /// 1 / (sum of inverse masses).
    pub normal_mass: [f32; BLOCK],
    /// Speed at which the gap may close, if there is one, as of the start of the substep. If a point of a contact with
    /// a manifold bears an impulse, the speed is 0, or one of the marks [`FRESH`](super::FRESH) and [`LANDED`](super::LANDED).
    pub closing_speed: [f32; BLOCK],
}

/// The part of sixteen contacts that the solver needs for friction.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct FrictionBlock {
    pub tangent_impulse: [f32; BLOCK],
    pub tangent_mass: [f32; BLOCK],
    pub static_friction: [f32; BLOCK],
    pub dynamic_friction: [f32; BLOCK],
}

/// The part of sixteen contacts that the solver needs for restitution. Present only in worlds where something bounces.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct BounceBlock {
    pub restitution: [f32; BLOCK],
    /// Normal impulse of each point at the start of the step, from the step before. A point that bears a load rests,
    /// and does not bounce.
    pub resting: [[f32; BLOCK]; 2],
    /// Normal velocity before the first impulse of this impact, if fast enough to bounce: less than 0. It is 0 without
    /// an impact. More than 0 marks a jammed contact that was struck.
    pub approach: [f32; BLOCK],
    /// Kinetic energy that the normal impulses of this impact have taken, J; the sum over all points of the contact.
    pub absorbed: [f32; BLOCK],
    /// The impulses of the contacts that bounced in this step: along the normal at each point, and along the tangent.
    /// They are kept here, and the contact's own impulses are set to zero: a warm start with them would make other
    /// contacts of the same body see an approach that does not exist, in the next step (an elastic gas gained 4 % of
    /// its energy in 1,000 steps).
    pub normal_impulse: [[f32; BLOCK]; 2],
    pub tangent_impulse: [f32; BLOCK],
    /// How far the arms of a contact with a manifold were shifted in this step, along the tangent and the normal,
    /// m: see `solver/manifold/impact.rs`.
    pub shift: [[f32; BLOCK]; 2],
    /// The normals of circles that met in this step, turned to where they met, and the separation along them; that is no number
    /// where nothing was turned. See `solver/impulse/impact.rs`. Nothing between steps.
    pub turned: [[f32; BLOCK]; 3],
}

impl BounceBlock {
    /// A block in which nothing bounces.
    pub(crate) const NONE: BounceBlock = BounceBlock {
        restitution: [0.0; BLOCK],
        resting: [[0.0; BLOCK]; 2],
        approach: [0.0; BLOCK],
        absorbed: [0.0; BLOCK],
        normal_impulse: [[0.0; BLOCK]; 2],
        tangent_impulse: [0.0; BLOCK],
        shift: [[0.0; BLOCK]; 2],
        turned: [[0.0; BLOCK], [0.0; BLOCK], [f32::NAN; BLOCK]],
    };

    /// Copies a lane of another block.
    pub(super) fn copy_lane(&mut self, from: &BounceBlock, lane: usize) {
        self.restitution[lane] = from.restitution[lane];
        self.approach[lane] = from.approach[lane];
        self.absorbed[lane] = from.absorbed[lane];
        self.tangent_impulse[lane] = from.tangent_impulse[lane];
        for point in 0..2 {
            self.resting[point][lane] = from.resting[point][lane];
            self.normal_impulse[point][lane] = from.normal_impulse[point][lane];
            self.shift[point][lane] = from.shift[point][lane];
        }
        for (to, from) in self.turned.iter_mut().zip(&from.turned) {
            to[lane] = from[lane];
        }
    }
}

/// How much unit impulses at a point change the spins of A and B, and how fast the point moves as they spin: see
/// `contacts/update/manifold.rs`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Arms {
    /// Along the normal: for each point, the arms of A and B.
    pub normal: [[[f32; BLOCK]; 2]; 2],
    /// Along the tangent: the arms of A and B, in the middle of the points that are near.
    pub tangent: [[f32; BLOCK]; 2],
}

/// The second point of a contact with a manifold: the same columns as `NormalBlock` has for the first. Both points
/// share one friction.
#[derive(Clone, Copy)]
pub(crate) struct SecondPoint {
    pub separation: [f32; BLOCK],
    pub normal_impulse: [f32; BLOCK],
    pub normal_mass: [f32; BLOCK],
    pub closing_speed: [f32; BLOCK],
}

/// The part that only contacts with a manifold have.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct ManifoldBlock {
    pub arms: Arms,
    pub second: SecondPoint,
    /// Which vertices each point comes from: by this a point is recognised in the next step.
    pub feature: [[f32; BLOCK]; 2],
    /// One over the lengths in which the bodies' spins are measured; 0 for a body that does not turn.
    pub inv_spin_a: [f32; BLOCK],
    pub inv_spin_b: [f32; BLOCK],
    /// Sum of both shapes' distances from their centres to their furthest points.
    pub reach_sum: [f32; BLOCK],
    /// The distance from the centre to the nearest edge, of the thinner shape: see [`ShapeRef::thickness`].
    pub thickness: [f32; BLOCK],
    /// Rows of the shapes: those of their bodies, or those of parts.
    pub shape_a: Places,
    pub shape_b: Places,
    /// The first rows of their outlines; a shape without an outline has those of outline 0.
    pub outline_a: Places,
    pub outline_b: Places,
    /// x and y of both points, from the centre of A's shape.
    pub place: [[[f32; BLOCK]; 2]; 2],
}

/// The part for rolling resistance and belts. Present only in worlds that have these.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct RoughBlock {
    /// Largest torque per normal force, m.
    pub rolling: [f32; BLOCK],
    pub rolling_impulse: [f32; BLOCK],
    /// The sum of both surfaces' belt speeds, which adds to the sliding velocity, m/s.
    pub tangent_speed: [f32; BLOCK],
}

/// [`BlockInfo::manifold`] of a block that has no [`ManifoldBlock`].
pub(crate) const NO_MANIFOLD: u32 = u32::MAX;

/// The state of a block. Lanes are bits, lane 0 is the lowest.
#[derive(Clone, Copy)]
pub(crate) struct BlockInfo {
    /// How many lanes were ever in use. These are the first ones.
    pub count: u8,
    /// The lanes among them whose bodies were removed.
    pub dropped: u16,
    /// The lanes that are solved in this step.
    pub active: u16,
    /// The lanes that touch in this step.
    pub touching: u16,
    /// The lanes that touched in the step before.
    pub touched: u16,
    /// Some lane was struck in this step, fast enough to bounce or while it was jammed.
    pub bounced: bool,
    /// The colour of all its lanes; [`SERIAL`] where they may share bodies.
    pub colour: u8,
    /// What the kernel of a block with manifolds has to read, as bits: 1 for boxes; 2, 4 or 8 for outlines of up to so
    /// many vertices.
    pub capacity: u8,
    /// The place of the block's [`ManifoldBlock`] among those of the tile, or [`NO_MANIFOLD`].
    pub manifold: u32,
}

impl Default for BlockInfo {
    fn default() -> Self {
        BlockInfo {
            count: 0,
            dropped: 0,
            active: 0,
            touching: 0,
            touched: 0,
            bounced: false,
            colour: SERIAL as u8,
            capacity: 0,
            manifold: NO_MANIFOLD,
        }
    }
}

impl BlockInfo {
    /// The lanes in use, as bits.
    pub(crate) fn used(&self) -> u16 {
        ((1u32 << self.count) - 1) as u16 & !self.dropped
    }

    /// Returns the first lanes of the vectors that have at least one of these lanes. (The last block of each colour is
    /// half empty, so 2 to 5 % of the vectors of 8 are skipped. The solver's manifold kernels do all vectors: `granule
    /// run many_pyramids --threads 1` took 3 % more time with the choice.)
    #[inline(always)]
    pub(crate) fn vectors<L: Lane>(lanes: u16) -> impl Iterator<Item = usize> {
        let all = ((1u32 << L::WIDTH) - 1) as u16;
        (0..BLOCK / L::WIDTH)
            .map(|vector| (vector * L::WIDTH) & (BLOCK - L::WIDTH))
            .filter(move |first| lanes >> first & all != 0)
    }
}

/// Blocks of one kind of pair in a tile: coloured ones, then those that are solved lane after lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Run {
    pub start: u32,
    /// The first block whose lanes may share a body.
    pub serial: u32,
    pub end: u32,
}

impl Run {
    pub(crate) fn coloured(&self) -> Range<usize> {
        self.start as usize..self.serial as usize
    }

    pub(crate) fn serial(&self) -> Range<usize> {
        self.serial as usize..self.end as usize
    }
}

/// For each kind, the run of the pairs that were near when the list was made, then the run of the others. Where both
/// bodies move, the others are candidates (except in the overflow tile): their run has blocks in reserve for candidates
/// that come near while the list lives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Runs([Run; 2 * KINDS]);

impl Default for Runs {
    fn default() -> Self {
        Runs([Run::default(); 2 * KINDS])
    }
}

impl std::ops::Deref for Runs {
    type Target = [Run; 2 * KINDS];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl std::ops::DerefMut for Runs {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
