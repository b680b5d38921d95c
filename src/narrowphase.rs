//! Narrowphase: normal, separation and points of two shapes, one batched kernel for each kind of pair.
//!
//! A kernel takes the rows of as many pairs as its lanes are wide. `contacts/update.rs` chooses the pairs and stores the
//! results.
//!
//! Pairs whose contact can turn a body about a point off its normal need a *manifold* of up to two points. They have kernels of
//! their own (`shapes.rs`).

mod aabb_aabb;
mod chain;
mod circle_aabb;
mod circle_circle;
mod convex_convex;
mod convex_plane;
pub(crate) mod half_space;
pub(crate) mod hulls;
mod kind;
pub(crate) mod manifold;
mod round_convex;
pub(crate) mod shapes;

pub(crate) use kind::{KINDS, PairKind, Role};
pub(crate) use shapes::{ShapeRows, separation as shapes_separation};

use crate::lane::Lane;

/// The separation of a pair that takes no part in this step, m. No speed closes it, not even that of a body which goes bad in this step: only
/// wide kernels visit such pairs, beside others. It is finite, so that no kernel turns it into NaN.
pub(crate) const NO_CONTACT: f32 = 1.0e30;

/// The normal from A to B, and the separation, which is negative when the shapes overlap.
#[derive(Clone, Copy)]
pub(crate) struct Touch<L: Lane> {
    pub normal_x: L,
    pub normal_y: L,
    pub separation: L,
    /// True in lanes whose nearest features are flat against each other, so that the normal stays right while the
    /// bodies approach along it.
    pub flat: L::Mask,
}

/// The kernel of one kind. A row is `[x, y, ext_x, ext_y]`, or `[normal_x, normal_y, offset, 0]` for a half-space.
pub(crate) trait Kernel {
    const KIND: PairKind;
    fn touch<L: Lane>(a: [L; 4], b: [L; 4]) -> Touch<L>;
}

/// A visitor of the kernels of all kinds that need no manifold.
pub(crate) trait EachKernel {
    fn kernel<K: Kernel>(&mut self);
}

macro_rules! kernels {
    ($($name:ident => $touch:expr;)*) => {
        $(pub(crate) struct $name;
        impl Kernel for $name {
            const KIND: PairKind = PairKind::$name;
            #[inline(always)]
            fn touch<L: Lane>(a: [L; 4], b: [L; 4]) -> Touch<L> {
                $touch(a, b)
            }
        })*

        /// Normal and separation of one pair, by the kernels at width 1.
        #[inline(always)]
        pub(crate) fn touch_one(kind: PairKind, a: [f32; 4], b: [f32; 4]) -> Touch<f32> {
            match kind {
                $(PairKind::$name => $name::touch(a, b),)*
                _ => unreachable!("a kind with manifolds"),
            }
        }

        /// Visits all kernels in the order of the list below.
        #[inline(always)]
        pub(crate) fn each_kernel(visit: &mut impl EachKernel) {
            $(visit.kernel::<$name>();)*
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
