//! Impacts of contacts with one point: the energy that they take, and the impulses that are put aside.

use super::ImpulseKernel;
use super::Velocities;
use crate::contacts::{BLOCK, BlockInfo, BounceBlock, FrictionBlock};
use crate::lane::{Lane, Mask, pair};

/// Prepares the bounce data of a block with these impulses for a new step.
#[inline(always)]
pub(in crate::solver) fn begin_step(
    info: &mut BlockInfo,
    bounce: &mut BounceBlock,
    impulses: [&[f32; BLOCK]; 2],
) {
    bounce.shift = [[0.0; BLOCK]; 2];
    bounce.resting = impulses.map(|impulses| *impulses);
    if std::mem::take(&mut info.bounced) {
        (bounce.normal_impulse, bounce.tangent_impulse) = ([[0.0; BLOCK]; 2], [0.0; BLOCK]);
        bounce.turned[2] = [f32::NAN; BLOCK];
    }
}

/// The part of an approach at this speed that is stopped before the positions move: all but the part that closes the gap. It is 0 if the
/// gap stays open.
#[inline(always)]
pub(in crate::solver) fn stopped_at_start<L: Lane>(gap_speed: L, from: L) -> L {
    (L::splat(1.0) - gap_speed / (-from).max(L::splat(f32::MIN_POSITIVE))).max(L::splat(0.0))
}

/// The mark of a contact that bears a load and is struck, in place of the speed of its approach.
pub(in crate::solver) const LOADED: f32 = 2.0;

/// How long after the start of a substep of length `step` the mean time of an impact's impulse is.
#[inline(always)]
pub(in crate::solver) fn ahead<L: Lane>(step: f32, at_start: L, restitution: L) -> L {
    let one = L::splat(1.0);
    L::splat(step) * (one - at_start / (one + restitution))
}

/// The unsafe methods need what those in `impulse.rs` need: this task alone has the block's bodies.
#[allow(unsafe_code)]
impl<L: Lane, const FIXED: bool, const SPIN_A: bool, const SPIN_B: bool, const TURNS: bool>
    ImpulseKernel<'_, L, FIXED, SPIN_A, SPIN_B, TURNS>
{
    /// The velocities at the start of the substep, before gravity and the warm start; and the loads of the bodies.
    #[inline(always)]
    unsafe fn velocities_before(&self) -> Velocities<L> {
        let accum = self.rows.accum.as_ptr();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { Velocities { a: L::gather(accum, self.a), b: L::gather(accum, self.b) } }
    }

    /// Notes the approach of contacts that are struck fast enough to bounce, and the energy that their impulses absorb.
    /// Returns whether there are any. There rarely are: at rest this costs one or two comparisons. `before` is the
    /// impulse before this pass, `from` the normal velocity.
    ///
    /// A contact that has borne a load since the previous step does not bounce when its bodies are pressed together
    /// from elsewhere. (When it did, it lost its impulse each time, and a struck body in a pile sank into the body
    /// below: of 20,000 bodies that fell 80 m, with a restitution of 0.1, 1,551 pairs ended more than 0.1 m inside each
    /// other, now 152, and the pile never came to rest.)
    ///
    /// Nor does one whose bodies were slow when the substep began, if they are no faster now than the loads of their other contacts may have
    /// made them: those press them together in each substep anew, as the impulse that held them was put aside. (When they bounced, 80 boxes of
    /// 1 and 20 kg in a pit, with a restitution of 0.1, moved at 4 to 9 m/s for ever, up to 0.6 m inside each other, and gained 10 % of their energy in
    /// a minute; now they sleep after 9 s. When only what was fast as the substep began bounced, whatever the loads, gases at 50 m/s lost
    /// energy wherever one body struck two at once. A rule that let bear a load what had bounced in eight steps in a row calmed `pile`, but not
    /// this one: its contacts bounce by turns.)
    #[inline(always)]
    pub(super) unsafe fn note_compression(
        &self,
        bounce: &mut BounceBlock,
        before: L,
        from: L,
        i: usize,
    ) -> bool {
        let (zero, half) = (L::splat(0.0), L::splat(0.5));
        let threshold = L::splat(-self.rows.restitution_threshold);
        let now = L::load(self.normal_impulse);
        let fast = now.gt(zero).and(from.lt(threshold));
        let approach = L::load(&bounce.approach[i..]);
        let noted = approach.lt(zero).or(approach.gt(zero));
        if fast.or(noted).bits() == 0 {
            return false;
        }
        // SAFETY: this task alone has these bodies, and each named row exists.
        let was = unsafe { self.velocities_before() };
        let came = was.along(self.normal_x, self.normal_y).min(from + was.load());
        let fast = fast.and(came.lt(threshold).or(noted));
        let rests = L::load(&bounce.resting[0][i..]).gt(zero);
        // Contacts that do not bounce are followed, too: a warm start that repeated the impulses that stopped them
        // launched bodies that were jammed between others at ever higher speeds.
        let followed = fast.or(noted);
        let change = now - before;
        let to = from + change / self.normal_mass;
        let absorbed = L::load(&bounce.absorbed[i..]);
        L::select(followed, absorbed - change * (half * (from + to)), absorbed)
            .store(&mut bounce.absorbed[i..]);
        let struck = L::select(rests, L::splat(LOADED), approach.min(from));
        L::select(fast, struck, approach).store(&mut bounce.approach[i..]);
        followed.bits() != 0
    }

    /// Returns the part of its impulse that a contact does not keep after an impact: all if it `bounces`, and what is more than a load if a
    /// body that rests was struck. The next warm start gives back what it keeps. So that may be as much beyond the load as has the energy that the
    /// blow gave up. (When it was all, a circle that came at 10 m/s to one of a 25th of its mass, which lay on the floor, left at 144 m/s: the floor
    /// threw back in one impulse what it had taken in four. When what had sunk in by 2 cm kept all, what was a hundred times as heavy rose to 73 times the
    /// height from which it fell, and not to 5 times: test `heavy_bodies_on_light_ones`.)
    #[inline(always)]
    pub(super) fn blow(&self, bounce: &BounceBlock, normal_impulse: L, bounces: L::Mask, i: usize) -> L {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        // Not by `map` of an array: with four loads it is not inlined, and the loads become calls.
        let absorbed = L::load(&bounce.absorbed[i..]);
        let resting = L::load(&bounce.resting[0][i..]);
        let approach = L::load(&bounce.approach[i..]);
        let restitution = L::load(&bounce.restitution[i..]);
        let twice = L::splat(2.0) * self.rows.given_back(self.elapsed, restitution);
        let most = resting + (twice * (absorbed.max(zero) * self.normal_mass)).sqrt();
        let beyond = one - most / normal_impulse.max(L::splat(f32::MIN_POSITIVE));
        let loaded = approach.gt(zero).and(beyond.gt(zero));
        L::select(bounces, one, L::select(loaded, beyond, zero))
    }

    /// Turns the normals of circles and particles that are about to bounce to the line of their centres at the mean time of the
    /// impulse in the substep, and changes the separation along with them. They stay so for the rest of the step. Returns which
    /// they are.
    ///
    /// An impulse along the line of centres of the step's start turns two circles, which have moved on, about each other. (A
    /// swirl of circles in a free ring lost or gained 1 % of its angular momentum in 5,000 steps, and 12 % with the projection
    /// solver, whose only substep is a step long. And when normals went back after the impact, circles that had just parted
    /// approached again: a gas at 50 m/s gained 0.7 % of its energy in 60 steps.)
    #[inline(always)]
    pub(super) unsafe fn turn_normals(
        &mut self,
        bounce: &mut BounceBlock,
        vel: &Velocities<L>,
        poses: &Option<([L; 4], [L; 4])>,
        i: usize,
    ) -> L::Mask {
        let (zero, threshold) = (L::splat(0.0), L::splat(-self.rows.restitution_threshold));
        let from = vel.along(self.normal_x, self.normal_y);
        let gap_speed = self.separation_at(poses).max(zero) * L::splat(self.rows.inv_step);
        let closes = from.lt(threshold.min(-gap_speed));
        if closes.bits() == 0 {
            return closes;
        }
        let pressed = L::load(&bounce.resting[0][i..]).max(L::load(self.normal_impulse));
        let begins = pressed.le(zero).and(L::load(&bounce.approach[i..]).ge(zero));
        let struck = closes.and(begins);
        let at_start = stopped_at_start(gap_speed, from);
        let ahead = ahead(self.rows.step, at_start, L::load(&bounce.restitution[i..]));
        let way = pair!(axis => {
            let moved = if let Some((a, b)) = poses { b[axis] - a[axis] } else { zero };
            moved + ahead * (vel.b[axis] - vel.a[axis])
        });
        let shape = self.rows.shape.as_ptr();
        // SAFETY: each named row exists.
        let (a, b) = unsafe { (L::gather(shape, self.a), L::gather(shape, self.b)) };
        let start = pair!(axis => b[axis] - a[axis]);
        let then = pair!(axis => start[axis] + way[axis]);
        let length = |of: [L; 2]| (of[0] * of[0] + of[1] * of[1]).sqrt();
        let distance = length(then);
        let normal = then.map(|axis| axis / distance);
        let separation =
            self.first_separation + ((distance - length(start)) - (normal[0] * way[0] + normal[1] * way[1]));
        // Circles that would be past each other by then are left alone.
        let ahead_of = (normal[0] * self.normal_x + normal[1] * self.normal_y).gt(L::splat(0.5));
        let approach = vel.along(normal[0], normal[1]).lt(threshold);
        let turned = struck.and(ahead_of).and(approach);
        let [x, y, apart] = &mut bounce.turned;
        for (of, now, to) in [
            (&mut self.normal_x, normal[0], x),
            (&mut self.normal_y, normal[1], y),
            (&mut self.separation, separation, apart),
        ] {
            *of = L::select(turned, now, *of);
            L::select(turned, now, L::load(&to[i..])).store(&mut to[i..]);
        }
        turned
    }

    /// Takes the normals that were turned in an earlier pass of this step.
    #[inline(always)]
    pub(super) fn take_turned(&mut self, bounce: &BounceBlock, i: usize) {
        let [x, y, separation] = &bounce.turned;
        let separation = L::load(&separation[i..]);
        let turned = separation.le(L::splat(f32::MAX));
        if turned.bits() == 0 {
            return;
        }
        self.normal_x = L::select(turned, L::load(&x[i..]), self.normal_x);
        self.normal_y = L::select(turned, L::load(&y[i..]), self.normal_y);
        self.separation = L::select(turned, separation, self.separation);
    }

    /// Moves a `part` of the impulses of the contacts that bounced from the contact into `bounce`, so that the next warm start does
    /// not repeat it.
    #[inline(always)]
    pub(super) unsafe fn retire(
        &mut self,
        vel: &Velocities<L>,
        impulses: [L; 2],
        part: L,
        bounce: &mut BounceBlock,
        friction: &mut FrictionBlock,
        i: usize,
    ) {
        let zero = L::splat(0.0);
        zero.store(&mut bounce.approach[i..]);
        zero.store(&mut bounce.absorbed[i..]);
        let bounces = part.gt(zero);
        let taken = impulses.map(|impulse| L::select(bounces, part * impulse, zero));
        let [normal, tangent] = pair!(axis => impulses[axis] - taken[axis]);
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

/// The normal impulses, but the old ones where other contacts have made an impact's impulse needless: the impact still has to give back what
/// it absorbed, if it gives any back.
#[inline(always)]
pub(super) fn keep_needless<L: Lane>(bounce: &BounceBlock, new: L, old: L, i: usize) -> L {
    let zero = L::splat(0.0);
    let gives = L::load(&bounce.restitution[i..]).gt(zero);
    let kept = L::load(&bounce.approach[i..]).lt(zero).and(new.le(zero)).and(gives);
    L::select(kept, old, new)
}
