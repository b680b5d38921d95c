//! Impacts of contacts with one point: the energy that they take, and the impulses that are put aside.

use super::ImpulseKernel;
use super::Velocities;
use crate::contacts::{BLOCK, BlockInfo, BounceBlock, FrictionBlock};
use crate::lane::{Lane, Mask};

/// Prepares the bounce data of a block with these impulses for a new step.
#[inline(always)]
pub(in crate::solver) fn begin_step(
    info: &mut BlockInfo,
    bounce: &mut BounceBlock,
    impulses: [&[f32; BLOCK]; 2],
) {
    bounce.resting = impulses.map(|impulses| *impulses);
    bounce.shift = [[0.0; BLOCK]; 2];
    if std::mem::take(&mut info.bounced) {
        (bounce.normal_impulse, bounce.tangent_impulse) = ([[0.0; BLOCK]; 2], [0.0; BLOCK]);
    }
}

/// The part of an approach at this speed that is stopped before the positions move: all but the part that closes the gap. It is 0 if the
/// gap stays open.
#[inline(always)]
pub(in crate::solver) fn stopped_at_start<L: Lane>(gap_speed: L, from: L) -> L {
    (L::splat(1.0) - gap_speed / (-from).max(L::splat(f32::MIN_POSITIVE))).max(L::splat(0.0))
}

/// How long after the start of a substep of length `step` the mean time of an impact's impulse is.
#[inline(always)]
pub(in crate::solver) fn ahead<L: Lane>(step: f32, at_start: L, restitution: L) -> L {
    let one = L::splat(1.0);
    L::splat(step) * (one - at_start / (one + restitution))
}

/// The unsafe methods need what those in `impulse.rs` need: this task alone has the block's bodies.
#[allow(unsafe_code)]
impl<L: Lane, const FIXED: bool, const SPIN_A: bool, const SPIN_B: bool>
    ImpulseKernel<'_, L, FIXED, SPIN_A, SPIN_B>
{
    /// Notes the approach of contacts that are struck fast enough to bounce, and the energy that their impulses absorb.
    /// Returns whether there are any. There rarely are: at rest this costs one or two comparisons. `before` is the
    /// impulse before this pass, `from` the normal velocity.
    ///
    /// A contact that has borne a load since the previous step does not bounce when its bodies are pressed together
    /// from elsewhere. (When it did, it lost its impulse each time, and a struck body in a pile sank into the body
    /// below: of 20,000 bodies that fell 80 m, with a restitution of 0.1, 1,551 pairs ended more than 0.1 m inside each
    /// other, now 152, and the pile never came to rest.)
    #[inline(always)]
    pub(super) fn note_compression(&self, bounce: &mut BounceBlock, before: L, from: L, i: usize) -> bool {
        let (zero, half) = (L::splat(0.0), L::splat(0.5));
        let threshold = L::splat(-self.rows.restitution_threshold);
        let now = L::load(self.normal_impulse);
        let fast = now.gt(zero).and(from.lt(threshold)).and(L::load(&bounce.resting[0][i..]).le(zero));
        let approach = L::load(&bounce.approach[i..]);
        let noted = approach.lt(zero);
        if fast.or(noted).bits() == 0 {
            return false;
        }
        // Contacts that do not bounce are followed, too: a warm start that repeated the impulses that stopped them
        // launched bodies that were jammed between others at ever higher speeds.
        let followed = fast.or(noted);
        let change = now - before;
        let to = from + change / self.normal_mass;
        let absorbed = L::load(&bounce.absorbed[i..]);
        L::select(followed, absorbed - change * (half * (from + to)), absorbed)
            .store(&mut bounce.absorbed[i..]);
        L::select(fast, approach.min(from), approach).store(&mut bounce.approach[i..]);
        followed.bits() != 0
    }

    /// Moves the impulses of the contacts that bounced from the contact into `bounce`, so that the next warm start does
    /// not repeat them.
    #[inline(always)]
    pub(super) unsafe fn retire(
        &mut self,
        vel: &Velocities<L>,
        impulses: [L; 2],
        bounces: L::Mask,
        bounce: &mut BounceBlock,
        friction: &mut FrictionBlock,
        i: usize,
    ) {
        let zero = L::splat(0.0);
        zero.store(&mut bounce.approach[i..]);
        zero.store(&mut bounce.absorbed[i..]);
        let taken = impulses.map(|impulse| L::select(bounces, impulse, zero));
        let [normal, tangent] = impulses.map(|impulse| L::select(bounces, zero, impulse));
        normal.store(self.normal_impulse);
        tangent.store(&mut friction.tangent_impulse[i..]);
        for (to, taken) in [&mut bounce.normal_impulse[0], &mut bounce.tangent_impulse].into_iter().zip(taken)
        {
            (L::load(&to[i..]) + taken).store(&mut to[i..]);
        }
        let at_rest = |of: &[L; 4]| [zero, zero, zero, of[3]];
        let mut gained = Velocities { a: at_rest(&vel.a), b: at_rest(&vel.b) };
        self.apply(&mut gained, taken);
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            self.rows.keep_from_warm_start(self.a, gained.a, bounces);
            if !FIXED {
                self.rows.keep_from_warm_start(self.b, gained.b, bounces);
            }
        }
    }
}
