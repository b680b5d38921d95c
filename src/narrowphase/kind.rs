//! The kinds of pair: which kernel, which role of A and B.

use crate::body::Kind;
use crate::geometry::shape::ShapeKind;

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
