//! The kinds of pair: the kernel of each, and which shape has the role of A.

use crate::body::Kind;
use crate::geometry::shape::ShapeKind;

/// The kinds of pair. Each has blocks and kernels of its own. `A` is the first shape in the name. From
/// `CircleCircleFixed` on, B has no inverse mass: such a contact writes A only, and its colour has to be unique for A only.
///
/// In the kinds with manifolds, *round* is a circle or a particle. *Convex* is a box, capsule, segment or polygon, or an `Aabb` in
/// a pair that needs a manifold.
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
    RoundConvex = 7,
    ConvexConvex = 8,
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
    RoundConvexFixed = 19,
    RoundChain = 20,
    RoundPlane = 21,
    ConvexRoundFixed = 22,
    ConvexConvexFixed = 23,
    ConvexChain = 24,
    ConvexPlane = 25,
}

/// The number of kinds.
pub(crate) const KINDS: usize = 26;

impl PairKind {
    /// All kinds, in the order in which they are solved. Fixed ones come last, so that they yield least.
    pub(crate) const ALL: [PairKind; KINDS] = [
        PairKind::CircleCircle,
        PairKind::CircleAabb,
        PairKind::AabbAabb,
        PairKind::ParticleParticle,
        PairKind::CircleParticle,
        PairKind::ParticleAabb,
        PairKind::RoundRound,
        PairKind::RoundConvex,
        PairKind::ConvexConvex,
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
        PairKind::RoundConvexFixed,
        PairKind::RoundChain,
        PairKind::RoundPlane,
        PairKind::ConvexRoundFixed,
        PairKind::ConvexConvexFixed,
        PairKind::ConvexChain,
        PairKind::ConvexPlane,
    ];

    /// The kinds with manifolds.
    pub(crate) const MANIFOLD: [PairKind; 11] = [
        PairKind::RoundRound,
        PairKind::RoundConvex,
        PairKind::ConvexConvex,
        PairKind::RoundRoundFixed,
        PairKind::RoundConvexFixed,
        PairKind::RoundChain,
        PairKind::RoundPlane,
        PairKind::ConvexRoundFixed,
        PairKind::ConvexConvexFixed,
        PairKind::ConvexChain,
        PairKind::ConvexPlane,
    ];

    /// Returns true if contacts of this kind may turn a body about a point off their normal. See `manifold.rs`.
    pub(crate) const fn needs_manifold(self) -> bool {
        let number = self as u8;
        number >= PairKind::RoundRoundFixed as u8
            || (number >= PairKind::RoundRound as u8 && number <= PairKind::ConvexConvex as u8)
    }

    /// Returns true for the kinds without manifolds that lead the start of the step: see `contacts/update/lead.rs`. The normals of the others do not
    /// turn when the bodies move past each other, or they are of particles.
    pub(crate) const fn leads(self) -> bool {
        matches!(
            self,
            PairKind::CircleCircle
                | PairKind::CircleAabb
                | PairKind::CircleCircleFixed
                | PairKind::CircleAabbFixed
                | PairKind::AabbCircleFixed
        )
    }

    /// Returns true if manifolds of this kind have two points.
    pub(crate) const fn has_two_points(self) -> bool {
        matches!(
            self,
            PairKind::ConvexConvex
                | PairKind::ConvexConvexFixed
                | PairKind::ConvexChain
                | PairKind::ConvexPlane
        )
    }

    /// Returns true if A, in a kind with manifolds, is a circle or a particle.
    pub(crate) const fn is_round(self) -> bool {
        matches!(
            self,
            PairKind::RoundRound
                | PairKind::RoundConvex
                | PairKind::RoundRoundFixed
                | PairKind::RoundConvexFixed
                | PairKind::RoundChain
                | PairKind::RoundPlane
        )
    }

    /// Returns true if the kind needs a manifold and either shape could be A.
    pub(crate) const fn is_symmetric(self) -> bool {
        matches!(self, PairKind::RoundRound | PairKind::ConvexConvex)
    }

    /// The ratio of r²/I to 1/m, of the shapes in the roles of A and B: 2 for a disc that friction turns, else 0.
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

    /// Both shapes are circles or particles, and move.
    pub(crate) const fn are_round_and_move(self) -> bool {
        matches!(self, PairKind::CircleCircle | PairKind::ParticleParticle | PairKind::CircleParticle)
    }

    /// Returns the kind of a pair, and true if the second shape takes the role of A. `a_fixed` and `b_fixed` say
    /// which of the two has no inverse mass. At most one of them is true.
    pub(crate) fn of(a: Kind, a_fixed: bool, b: Kind, b_fixed: bool) -> (PairKind, bool) {
        use ShapeKind::{Aabb, Circle, HalfSpace, Particle};
        debug_assert!(!(a_fixed && b_fixed));
        if a.needs_manifold() || b.needs_manifold() {
            return Self::of_manifold(a, a_fixed, b, b_fixed);
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
            _ => unreachable!("shapes that turn are manifold"),
        };
        (kind, a_fixed)
    }

    /// As [`PairKind::of`], for a pair that needs a manifold.
    #[inline]
    pub(crate) fn of_manifold(a: Kind, a_fixed: bool, b: Kind, b_fixed: bool) -> (PairKind, bool) {
        let (a, b) = (Role::of(a, a_fixed), Role::of(b, b_fixed));
        if a_fixed { (Self::of_roles(b, a).0, true) } else { Self::of_roles(a, b) }
    }

    /// As [`PairKind::of`], for a pair that needs a manifold, of a body that moves and any other.
    #[inline(always)]
    pub(crate) fn of_roles(a: Role, b: Role) -> (PairKind, bool) {
        const OF_ROUND: [(PairKind, bool); 8] = [
            (PairKind::RoundRound, false),
            (PairKind::RoundConvex, false),
            (PairKind::RoundRoundFixed, false),
            (PairKind::RoundConvexFixed, false),
            (PairKind::RoundChain, false),
            (PairKind::RoundPlane, false),
            NONE,
            NONE,
        ];
        const OF_CONVEX: [(PairKind, bool); 8] = [
            (PairKind::RoundConvex, true),
            (PairKind::ConvexConvex, false),
            (PairKind::ConvexRoundFixed, false),
            (PairKind::ConvexConvexFixed, false),
            (PairKind::ConvexChain, false),
            (PairKind::ConvexPlane, false),
            NONE,
            NONE,
        ];
        /// In the places without a role.
        const NONE: (PairKind, bool) = (PairKind::ConvexConvex, false);
        debug_assert!(a.moves() && b != Role::Compound);
        let of_a = if a == Role::Round { &OF_ROUND } else { &OF_CONVEX };
        of_a[b as usize & 7]
    }

    /// Returns true if B has no inverse mass.
    pub(crate) const fn is_fixed(self) -> bool {
        self as u8 >= PairKind::CircleCircleFixed as u8
    }
}

/// What a body is to a pair with a manifold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Role {
    #[default]
    Round = 0,
    Convex = 1,
    FixedRound = 2,
    FixedConvex = 3,
    FixedChain = 4,
    FixedPlane = 5,
    /// Each of its parts has a role of its own.
    Compound = 6,
}

impl Role {
    /// All roles, in the order of their numbers.
    pub(crate) const ALL: [Role; 7] = [
        Role::Round,
        Role::Convex,
        Role::FixedRound,
        Role::FixedConvex,
        Role::FixedChain,
        Role::FixedPlane,
        Role::Compound,
    ];

    #[inline]
    pub(crate) fn of(kind: Kind, fixed: bool) -> Role {
        match (kind.shape(), fixed) {
            (ShapeKind::Compound, _) => Role::Compound,
            (ShapeKind::Circle | ShapeKind::Particle, false) => Role::Round,
            (ShapeKind::Circle | ShapeKind::Particle, true) => Role::FixedRound,
            (_, false) => Role::Convex,
            (ShapeKind::ChainSegment, true) => Role::FixedChain,
            (ShapeKind::HalfSpace, true) => Role::FixedPlane,
            (_, true) => Role::FixedConvex,
        }
    }

    /// Returns true if it is a single shape of a body that has an inverse mass.
    pub(crate) fn moves(self) -> bool {
        matches!(self, Role::Round | Role::Convex)
    }
}
