//! Narrowphase: from pairs to contacts, one batched kernel for each kind of pair.
//!
//! ```text
//! for each tile, for each kind of pair:          (a jump table: `Kind` to kernel)
//!     for each block of that kind, WIDTH contacts at a time:
//!         rows of both bodies → normal (from A to B), separation → into the block, in place
//! ```
//!
//! Departures made for speed:
//!
//! 1. The blocks are the solver's own, and live as long as the pair list: a step rewrites only the
//!    normal and the separation, and the impulses stay where they are.
//! 2. A pair that can't touch in this step gets the separation [`FAR`] and no impulse, so that the
//!    solver's arithmetic leaves both bodies alone; a block of such pairs is skipped whole.
//!
//! Contacts are *speculative*: a pair closer than 4 × slop is solved, and may close its gap but not
//! more. Against a flat static face the distance grows with the approach speed, so that nothing fast
//! falls into the floor; elsewhere it does not, since a contact with what is only near the path would
//! stop a body that passes by.
//!
//! Tried and dropped: each tile's narrowphase as a part of its first solver task. `granule run` took 1 to 2 % less for `packed` at
//! 10,000, 50,000 and 1,000,000 bodies and for `large_pyramid`, at one thread; the stage could not be timed or traced on its own.
//!
//! Pairs whose contact can turn a body about a point off its normal are *general*: they have kernels of their
//! own (`general.rs`), with up to two points.

mod aabb_aabb;
mod candidates;
mod chain;
mod circle_aabb;
mod circle_circle;
mod general;
mod half_space;
mod hull_hull;
mod hull_plane;
pub(crate) mod hulls;
mod manifold;
mod round_hull;

pub(crate) use general::{ShapeRows, separation as general_separation};

use crate::body::Kind;
use crate::contacts::{BlockInfo, Tile};
use crate::lane::{Lane, Mask, Row, RowOffset};
use crate::prefetch::{AHEAD, prefetch};
use crate::shape::ShapeKind;

/// The separation of a pair that takes no part in this step. Finite, so that no kernel makes a NaN of it.
pub(crate) const FAR: f32 = 1.0e18;

/// Normal from A to B, and separation: negative when the shapes overlap.
#[derive(Clone, Copy)]
pub(crate) struct Touch<L: Lane> {
    pub normal_x: L,
    pub normal_y: L,
    pub separation: L,
    /// Where the nearest features are flat against each other, so that the normal stays right when the
    /// bodies move along it.
    pub flat: L::Mask,
}

/// The kinds of pair, each with blocks and kernels of its own. `A` is the first shape named. From
/// `CircleCircleFixed` on B has no inverse mass: such a contact writes A only, and its colour only A's.
///
/// In the general kinds, *round* is a circle or a particle, *hull* a box, capsule, segment or polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum PairKind {
    CircleCircle = 0,
    CircleAabb = 1,
    AabbAabb = 2,
    ParticleParticle = 3,
    CircleParticle = 4,
    ParticleAabb = 5,
    RoundRound = 6,
    RoundHull = 7,
    HullHull = 8,
    CircleCircleFixed = 9,
    CircleAabbFixed = 10,
    AabbCircleFixed = 11,
    AabbAabbFixed = 12,
    CircleHalfSpace = 13,
    AabbHalfSpace = 14,
    ParticleCircleFixed = 15,
    ParticleAabbFixed = 16,
    ParticleHalfSpace = 17,
    RoundRoundFixed = 18,
    RoundHullFixed = 19,
    RoundChain = 20,
    RoundPlane = 21,
    HullRoundFixed = 22,
    HullHullFixed = 23,
    HullChain = 24,
    HullPlane = 25,
}

/// How many kinds there are.
pub(crate) const KINDS: usize = 26;

impl PairKind {
    /// All kinds, in the order in which they are solved: fixed ones last, so that they yield least.
    pub(crate) const ALL: [PairKind; KINDS] = [
        PairKind::CircleCircle,
        PairKind::CircleAabb,
        PairKind::AabbAabb,
        PairKind::ParticleParticle,
        PairKind::CircleParticle,
        PairKind::ParticleAabb,
        PairKind::RoundRound,
        PairKind::RoundHull,
        PairKind::HullHull,
        PairKind::CircleCircleFixed,
        PairKind::CircleAabbFixed,
        PairKind::AabbCircleFixed,
        PairKind::AabbAabbFixed,
        PairKind::CircleHalfSpace,
        PairKind::AabbHalfSpace,
        PairKind::ParticleCircleFixed,
        PairKind::ParticleAabbFixed,
        PairKind::ParticleHalfSpace,
        PairKind::RoundRoundFixed,
        PairKind::RoundHullFixed,
        PairKind::RoundChain,
        PairKind::RoundPlane,
        PairKind::HullRoundFixed,
        PairKind::HullHullFixed,
        PairKind::HullChain,
        PairKind::HullPlane,
    ];

    /// The general kinds.
    pub(crate) const GENERAL: [PairKind; 11] = [
        PairKind::RoundRound,
        PairKind::RoundHull,
        PairKind::HullHull,
        PairKind::RoundRoundFixed,
        PairKind::RoundHullFixed,
        PairKind::RoundChain,
        PairKind::RoundPlane,
        PairKind::HullRoundFixed,
        PairKind::HullHullFixed,
        PairKind::HullChain,
        PairKind::HullPlane,
    ];

    /// Whether its contacts may turn a body about a point off their normal, see `general.rs`.
    pub(crate) const fn is_general(self) -> bool {
        let number = self as u8;
        number >= PairKind::RoundRoundFixed as u8
            || (number >= PairKind::RoundRound as u8 && number <= PairKind::HullHull as u8)
    }

    /// Whether contacts of this general kind have two points.
    pub(crate) const fn has_two_points(self) -> bool {
        matches!(
            self,
            PairKind::HullHull | PairKind::HullHullFixed | PairKind::HullChain | PairKind::HullPlane
        )
    }

    /// Whether either body could be A.
    pub(crate) const fn is_symmetric(self) -> bool {
        matches!(self, PairKind::RoundRound | PairKind::HullHull)
    }

    /// r²/I over 1/m of the shapes in the roles of A and B: 2 for a disc that friction turns, else 0.
    pub(crate) const fn spin_factors(self) -> (f32, f32) {
        match self {
            PairKind::CircleCircle => (2.0, 2.0),
            PairKind::CircleAabb
            | PairKind::CircleCircleFixed
            | PairKind::CircleAabbFixed
            | PairKind::CircleHalfSpace
            | PairKind::CircleParticle => (2.0, 0.0),
            _ => (0.0, 0.0),
        }
    }

    /// The kind of a pair, and whether the second body takes the role of A. `a_fixed` and `b_fixed` say
    /// which of the two has no inverse mass; not both.
    pub(crate) fn of(a: Kind, a_fixed: bool, b: Kind, b_fixed: bool) -> (PairKind, bool) {
        use ShapeKind::{Aabb, Circle, HalfSpace, Particle};
        debug_assert!(!(a_fixed && b_fixed));
        if a.is_general() || b.is_general() {
            return Self::of_general(a, a_fixed, b, b_fixed);
        }
        let (a, b) = (a.shape(), b.shape());
        if !a_fixed && !b_fixed {
            return match (a, b) {
                (Circle, Circle) => (PairKind::CircleCircle, false),
                (Particle, Particle) => (PairKind::ParticleParticle, false),
                (Circle, Particle) => (PairKind::CircleParticle, false),
                (Particle, Circle) => (PairKind::CircleParticle, true),
                (Particle, _) => (PairKind::ParticleAabb, false),
                (_, Particle) => (PairKind::ParticleAabb, true),
                (Circle, _) => (PairKind::CircleAabb, false),
                (_, Circle) => (PairKind::CircleAabb, true),
                _ => (PairKind::AabbAabb, false),
            };
        }
        let (moving, fixed) = if a_fixed { (b, a) } else { (a, b) };
        let kind = match (moving, fixed) {
            (Circle, Circle | Particle) => PairKind::CircleCircleFixed,
            (Particle, Circle | Particle) => PairKind::ParticleCircleFixed,
            (Particle, HalfSpace) => PairKind::ParticleHalfSpace,
            (Particle, _) => PairKind::ParticleAabbFixed,
            (Circle, HalfSpace) => PairKind::CircleHalfSpace,
            (Circle, _) => PairKind::CircleAabbFixed,
            (_, Circle | Particle) => PairKind::AabbCircleFixed,
            (_, HalfSpace) => PairKind::AabbHalfSpace,
            (_, Aabb) => PairKind::AabbAabbFixed,
            _ => unreachable!("shapes that turn are general"),
        };
        (kind, a_fixed)
    }

    fn of_general(a: Kind, a_fixed: bool, b: Kind, b_fixed: bool) -> (PairKind, bool) {
        let round = |kind: Kind| matches!(kind.shape(), ShapeKind::Circle | ShapeKind::Particle);
        if !a_fixed && !b_fixed {
            return match (round(a), round(b)) {
                (true, true) => (PairKind::RoundRound, false),
                (true, false) => (PairKind::RoundHull, false),
                (false, true) => (PairKind::RoundHull, true),
                (false, false) => (PairKind::HullHull, false),
            };
        }
        let (moving, fixed) = if a_fixed { (b, a) } else { (a, b) };
        let kind = match (round(moving), fixed.shape()) {
            (true, ShapeKind::Circle | ShapeKind::Particle) => PairKind::RoundRoundFixed,
            (true, ShapeKind::HalfSpace) => PairKind::RoundPlane,
            (true, ShapeKind::ChainSegment) => PairKind::RoundChain,
            (true, _) => PairKind::RoundHullFixed,
            (false, ShapeKind::Circle | ShapeKind::Particle) => PairKind::HullRoundFixed,
            (false, ShapeKind::HalfSpace) => PairKind::HullPlane,
            (false, ShapeKind::ChainSegment) => PairKind::HullChain,
            (false, _) => PairKind::HullHullFixed,
        };
        (kind, a_fixed)
    }

    /// Whether B has no inverse mass.
    pub(crate) const fn is_fixed(self) -> bool {
        self as u8 >= PairKind::CircleCircleFixed as u8
    }
}

/// The kernel of one kind. Rows are `[x, y, ext_x, ext_y]`, a half-space's `[normal_x, normal_y, offset, 0]`.
trait Kernel {
    const KIND: PairKind;
    fn touch<L: Lane>(a: [L; 4], b: [L; 4]) -> Touch<L>;
}

macro_rules! kernels {
    ($($name:ident => $touch:expr;)*) => {
        $(struct $name;
        impl Kernel for $name {
            const KIND: PairKind = PairKind::$name;
            #[inline(always)]
            fn touch<L: Lane>(a: [L; 4], b: [L; 4]) -> Touch<L> {
                $touch(a, b)
            }
        })*

        /// Normal and separation of one pair: the kernels at width 1.
        #[inline(always)]
        pub(crate) fn touch_one(kind: PairKind, a: [f32; 4], b: [f32; 4]) -> Touch<f32> {
            match kind {
                $(PairKind::$name => $name::touch(a, b),)*
                _ => unreachable!("a general kind"),
            }
        }

        /// Updates all contacts of a tile.
        ///
        /// # Panics
        ///
        /// When the step has fewer rows than the tile's blocks name.
        #[allow(unsafe_code)]
        pub(crate) fn update<L: Lane>(tile: &mut Tile, step: &Step<'_>) {
            let limits = &tile.limits;
            assert!(limits.bodies.fits(step.shape) && limits.bodies.fits(step.vel));
            // SAFETY: the rows are as many as the blocks' places ask for, see `contacts/places.rs`.
            unsafe {
                $(update_kind::<L, $name>(tile, step);)*
            }
            if !tile.general.is_empty() {
                let limits = &tile.limits;
                assert!(limits.bodies.fits(step.frame) && limits.outlines.fits(step.outlines));
                assert!(limits.shapes.fits(step.shape) && limits.shapes.fits(step.frame));
                // SAFETY: as above.
                unsafe { general::update::<L>(tile, step) };
            }
        }
    };
}

kernels! {
    CircleCircle => circle_circle::touch;
    CircleAabb => circle_aabb::touch;
    AabbAabb => aabb_aabb::touch;
    CircleCircleFixed => circle_circle::touch;
    CircleAabbFixed => circle_aabb::touch;
    AabbCircleFixed => circle_aabb::touch_swapped;
    AabbAabbFixed => aabb_aabb::touch;
    CircleHalfSpace => half_space::touch_circle;
    AabbHalfSpace => half_space::touch_aabb;
    ParticleParticle => circle_circle::touch;
    CircleParticle => circle_circle::touch;
    ParticleAabb => circle_aabb::touch;
    ParticleCircleFixed => circle_circle::touch;
    ParticleAabbFixed => circle_aabb::touch;
    ParticleHalfSpace => half_space::touch_circle;
}

/// Appends the candidates of a tile that have come near, kind by kind, and strikes them off.
///
/// # Panics
///
/// When the step has fewer rows than the candidates name.
#[allow(unsafe_code)]
pub(crate) fn find_near<L: Lane>(tile: &mut Tile, step: &Step<'_>, born: &mut Vec<u32>) {
    assert!(tile.limits.shapes.fits(step.shape));
    // SAFETY: the rows are as many as the candidates' places ask for.
    unsafe {
        candidates::near_kind::<L, CircleCircle>(tile, step, born);
        candidates::near_kind::<L, CircleAabb>(tile, step, born);
        candidates::near_kind::<L, AabbAabb>(tile, step, born);
        candidates::near_kind::<L, ParticleParticle>(tile, step, born);
        candidates::near_kind::<L, CircleParticle>(tile, step, born);
        candidates::near_kind::<L, ParticleAabb>(tile, step, born);
    }
    if !step.frame.is_empty() {
        assert!(tile.limits.shapes.fits(step.frame));
        // SAFETY: as above.
        unsafe { candidates::near_general::<L>(tile, step, born) };
    }
}

/// What the kernels read besides the blocks.
pub(crate) struct Step<'a> {
    /// Shape row of each slot, see [`Kernel`].
    pub shape: &'a [Row],
    /// Velocity row of each slot: `[vel_x, vel_y, _, _]`.
    pub vel: &'a [Row],
    /// `[x, y, cos, sin]` of each slot and each part, where there are general contacts.
    pub frame: &'a [Row],
    /// See `outline.rs`.
    pub outlines: &'a [Row],
    pub time_step: f32,
    pub slop: f32,
    pub speculative: f32,
}

/// # Safety
///
/// The step has the rows that the tile's blocks name.
#[allow(unsafe_code)]
unsafe fn update_kind<L: Lane, K: Kernel>(tile: &mut Tile, step: &Step<'_>) {
    let time_step = L::splat(step.time_step);
    let slop = L::splat(step.slop);
    let speculative = L::splat(step.speculative);
    let (far, zero) = (L::splat(FAR), L::splat(0.0));
    for index in tile.blocks_of(K::KIND) {
        prefetch(&tile.normal, index + AHEAD);
        let block = &mut tile.normal[index];
        let friction = &mut tile.friction[index];
        let info = &mut tile.info[index];
        let (mut touching, mut active) = (0, 0);
        for i in BlockInfo::vectors::<L>(info.used()) {
            let (a, b) = (&block.a[i..i + L::WIDTH], &block.b[i..i + L::WIDTH]);
            // SAFETY: passed on.
            let [shape_a, shape_b, vel_a, vel_b] = unsafe {
                [
                    gather::<L>(step.shape, a),
                    gather::<L>(step.shape, b),
                    gather::<L>(step.vel, a),
                    gather::<L>(step.vel, b),
                ]
            };
            let touch = K::touch(shape_a, shape_b);
            let Touch { normal_x, normal_y, separation, flat } = touch;
            let normal_velocity = (vel_b[0] - vel_a[0]) * normal_x + (vel_b[1] - vel_a[1]) * normal_y;
            // Where the approach would end if nothing stopped it.
            let predicted = separation + time_step * normal_velocity;
            let mut near = separation.lt(speculative);
            if K::KIND.is_fixed() {
                near = near.or(predicted.lt(zero).and(flat));
            }
            normal_x.store(&mut block.normal_x[i..]);
            normal_y.store(&mut block.normal_y[i..]);
            L::select(near, separation, far).store(&mut block.separation[i..]);
            // Mostly all are near, and the friction blocks stay out of the cache.
            if near.bits() != ((1u64 << L::WIDTH) - 1) as u32 {
                let impulse = L::load(&block.normal_impulse[i..]);
                L::select(near, impulse, zero).store(&mut block.normal_impulse[i..]);
                let impulse = L::load(&friction.tangent_impulse[i..]);
                L::select(near, impulse, zero).store(&mut friction.tangent_impulse[i..]);
            }
            let touch = separation.le(slop).or(predicted.le(zero)).and(near);
            touching |= touch.bits() << i;
            active |= near.bits() << i;
        }
        info.touching = touching as u16 & info.used();
        info.active = active as u16 & info.used();
    }
}

/// The rows at the first `WIDTH` offsets.
///
/// # Safety
///
/// Each offset is that of one of these rows.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn gather<L: Lane>(rows: &[Row], at: &[RowOffset]) -> [L; 4] {
    debug_assert!(at.iter().all(|at| at.row() < rows.len()));
    // SAFETY: passed on. The rows are borrowed, so nobody writes them.
    unsafe { L::gather(rows.as_ptr(), at) }
}
