//! Bundles: the contacts of two bodies that meet with several parts at once, or of a body with several shapes of what stands still, solved
//! as one impact and one friction.
//!
//! ```text
//! before the contacts of a pass, for each bundle of which a contact is struck that bore no load:
//!     put its contacts aside: the kernels find contacts without mass and impulse
//! after the contacts of the pass:
//!     normal impulses, one contact after the other, again and again until they agree       (Gauss and Seidel)
//!     at the end of an impact: all of them grow by one factor, which gives back e² of the energy that they took
//!     friction, again and again, with the normal velocities held
//! ```
//!
//! The laws are those of a contact with two points (`impact.rs`, `friction.rs`). Bundles come after the
//! contacts of a pass, as contacts with the ground do among these, so that they yield least.
//!
//! Solved one after the other, once each, as other contacts are, the first part that met the ground took the whole blow and turned
//! the body about itself: a dumbbell that landed flat was left spinning, and slid on a slope that should have held it. So did boxes on
//! several pieces of a chain, of which each broke loose when its own share was too large: 1,797 of the 2,688
//! landings of the law `nearly_all_hold_wherever_they_land`, of which 21 slide now.

mod kernel;
mod system;

use super::{Bounce, ManifoldKernel};
use crate::contacts::bundles::{Aside, Bundle, Bundles, MOST, Member};
use crate::contacts::{LANDED, RoughBlock, Tile};
use crate::lane::Lane;
use crate::solver::pass::Pass;
use crate::solver::rows::Rows;
use std::marker::PhantomData;
use system::{Impulses, Part, SWEEPS, State, System};

/// So many contacts have most bundles. To fill room for [`MOST`] instead took 1.3 % of the instructions of `peers --scenes terrain`.
const FEW: usize = 4;

/// Binds a kernel over the lane of a member.
macro_rules! with_member {
    ($solve:expr, $member:expr, |$kernel:ident, $bounce:ident, $rough:ident| $body:expr) => {{
        let (kind, block, i) = ($member.kind, $member.block as usize, usize::from($member.lane));
        let tile = &mut *$solve.tile;
        let place = tile.info[block].manifold as usize;
        let (normal, friction) = (&mut tile.normal[block], &mut tile.friction[block]);
        let (manifold, aside) = (&mut tile.manifold[place], tile.put_aside.get_mut(block));
        let (rows, elapsed, lanes) = ($solve.rows, $solve.elapsed, PhantomData::<f32>);
        #[allow(unused_variables, unused_mut)]
        let mut $bounce: Bounce<'_> = tile.bounce.get_mut(block);
        #[allow(unused_variables, unused_mut)]
        let mut $rough: Option<&mut RoughBlock> = tile.rough.get_mut(place);
        macro_rules! of {
            ($fixed:literal, $points:literal) => {{
                #[allow(unused_mut)]
                let mut $kernel = ManifoldKernel::<f32, $fixed, $points> {
                    normal,
                    friction,
                    manifold,
                    rows,
                    elapsed,
                    i,
                    aside,
                    lanes,
                };
                $body
            }};
        }
        match (kind.is_fixed(), kind.has_two_points()) {
            (false, false) => of!(false, 1),
            (false, true) => of!(false, 2),
            (true, false) => of!(true, 1),
            (true, true) => of!(true, 2),
        }
    }};
}

/// Before the contacts of a pass: finds the bundles that meet in this substep, and puts their contacts aside, so that the kernels leave
/// them alone.
///
/// # Safety
///
/// The same as for [`super::blocks`].
#[allow(unsafe_code)]
pub(in crate::solver) unsafe fn before(tile: &mut Tile, rows: &Rows<'_>, pass: Pass, elapsed: f32) {
    if matches!(pass, Pass::WarmStart | Pass::Project) {
        return;
    }
    let begins = tile.bundles.as_mut().is_some_and(|bundles| std::mem::take(&mut bundles.begins));
    // SAFETY: the caller gives this task these bodies alone, and guarantees that each named row exists.
    each(tile, rows, elapsed, |solve| unsafe {
        if begins {
            solve.begin();
        }
        if solve.bundle.meets {
            solve.put_aside();
        }
    });
}

/// After the warm start, which has dropped the impulses of what landed in the last step: finds the bundles.
///
/// # Safety
///
/// The same as for [`super::blocks`].
#[allow(unsafe_code)]
pub(in crate::solver) unsafe fn find<L: Lane>(tile: &mut Tile, rows: &Rows<'_>) {
    // SAFETY: no other task writes a body that the tile's contacts read.
    tile.find_bundles::<L>(|slot| unsafe { rows.vel.read(slot) });
}

/// After the contacts of a pass: solves the bundles that meet. `last` is the last pass
/// of a substep.
///
/// # Safety
///
/// The same as for [`super::blocks`].
#[allow(unsafe_code)]
pub(in crate::solver) unsafe fn after(
    tile: &mut Tile,
    rows: &Rows<'_>,
    pass: Pass,
    elapsed: f32,
    last: bool,
) {
    let Some(bundles) = &mut tile.bundles else { return };
    bundles.begins |= last;
    match pass {
        Pass::WarmStart | Pass::Project => {}
        Pass::Solve | Pass::Meet | Pass::Relax | Pass::Bounce => {
            if !bundles.bundles.iter().any(|bundle| bundle.meets) {
                return;
            }
            // SAFETY: the caller gives this task these bodies alone, and guarantees that each named row exists.
            each(tile, rows, elapsed, |solve| unsafe {
                match solve.members.len() {
                    _ if !solve.bundle.meets => {}
                    ..=FEW => solve.pass::<FEW>(pass),
                    _ => solve.pass::<MOST>(pass),
                }
            });
        }
    }
}

fn each(tile: &mut Tile, rows: &Rows<'_>, elapsed: f32, mut visit: impl FnMut(&mut Solve<'_>)) {
    let Some(mut found) = tile.bundles.take() else { return };
    let Bundles { bundles, members, .. } = &mut *found;
    for bundle in bundles {
        let members = &mut members[bundle.first as usize..bundle.end as usize];
        visit(&mut Solve { tile, rows, elapsed, bundle, members });
    }
    tile.bundles = Some(found);
}

/// A bundle while it is solved. Its unsafe methods need what [`before`] needs.
struct Solve<'a> {
    tile: &'a mut Tile,
    rows: &'a Rows<'a>,
    elapsed: f32,
    bundle: &'a mut Bundle,
    members: &'a mut [Member],
}

/// What is known of a contact before it is solved.
#[derive(Clone, Copy, Default)]
struct Approach {
    /// The least speeds at which its points may separate.
    floor: [f32; 2],
    /// Their normal impulses.
    borne: [f32; 2],
    /// The fastest approach of a point that bears no load and closes its gap, as a speed below 0.
    struck: f32,
    /// The same for a point that bore no load at the start of the step, and may rebound.
    bouncing: f32,
    /// A point is struck that did not bear a blow when it was last pressed.
    is_new: bool,
}

#[allow(unsafe_code)]
impl Solve<'_> {
    /// Finds out whether the bodies meet in this substep.
    unsafe fn begin(&mut self) {
        let was_impact = self.bundle.impact;
        // SAFETY: the caller has these bodies to itself.
        let all = unsafe { self.approach() };
        let mut load = 0.0;
        for member in &mut *self.members {
            member.pressed = member.borne;
            load += member.borne[0] + member.borne[1];
        }
        (self.bundle.struck, self.bundle.bouncing) = (all.struck, all.bouncing);
        let blow = all.struck < -self.rows.landing_speed;
        self.bundle.meets = blow || load <= 0.0 && all.struck < 0.0;
        // What comes as fast once more bears what lies on it.
        self.bundle.landed = blow && load <= 0.0 && all.is_new;
        self.bundle.impact = all.bouncing < -self.rows.restitution_threshold && !self.tile.bounce.is_empty();
        if self.bundle.meets && was_impact && !self.bundle.impact {
            // In an impact the least speeds are others.
            // SAFETY: the caller has these bodies to itself.
            unsafe { self.approach() };
        }
    }

    /// Finds out how all points approach, what they bear, and the least speeds at which they may separate.
    unsafe fn approach(&mut self) -> Approach {
        let mut all = Approach::default();
        for member in &mut *self.members {
            // SAFETY: the caller has these bodies to itself.
            let of = with_member!(self, member, |kernel, bounce, rough| unsafe {
                kernel.approach(bounce, self.bundle.impact)
            });
            (member.floor, member.borne) = (of.floor, of.borne);
            all.struck = all.struck.min(of.struck);
            all.bouncing = all.bouncing.min(of.bouncing);
            all.is_new |= of.is_new;
        }
        all
    }

    /// Leaves nothing in the blocks for the kernels to solve.
    fn put_aside(&mut self) {
        for member in &mut *self.members {
            member.aside = Aside::INERT;
            self.tile.exchange(member);
        }
    }

    fn take_back(&mut self) {
        self.members.iter_mut().for_each(|member| self.tile.exchange(member));
    }

    /// Does a pass over at most `N` contacts.
    unsafe fn pass<const N: usize>(&mut self, pass: Pass) {
        let mut parts = [Part::default(); N];
        self.take_back();
        // SAFETY: the caller has these bodies to itself.
        unsafe {
            if matches!(pass, Pass::Solve | Pass::Meet) {
                self.meet(&mut parts);
            } else {
                self.part(&mut parts, pass == Pass::Bounce);
            }
        }
    }

    /// The pass before the positions move: stops what would close a gap.
    unsafe fn meet<const N: usize>(&mut self, parts: &mut [Part; N]) {
        // SAFETY: the caller has these bodies to itself.
        unsafe {
            if self.bundle.impact {
                self.shift_arms();
                self.approach();
            }
            let mut system = self.read(parts, false);
            let pushed = system.floor;
            system.floor = pushed.map(|floor| floor.map(|speed| speed.min(0.0)));
            system.press(SWEEPS);
            // Overlaps are pushed apart once, as in other contacts: until they agree, opposed contacts would turn the bodies ever faster.
            system.floor = pushed;
            system.press(1);
            // Without this, a wall that turns at 400 m/s loses two of 6,400 bodies (`continuous::walls`).
            system.rub(self.rows.is_soft, self.rows.creep_speed);
            let solved = system.now;
            self.write(&solved, Some(0.0));
        }
        if self.bundle.impact {
            for member in &*self.members {
                let (block, lane) = (member.block as usize, usize::from(member.lane));
                let bounce = &mut self.tile.bounce[block];
                bounce.approach[lane] = bounce.approach[lane].min(self.bundle.bouncing);
                self.tile.info[block].bounced = true;
            }
        }
    }

    /// The pass after the positions have moved: stops the approach, gives back what restitution gives, and holds by friction.
    unsafe fn part<const N: usize>(&mut self, parts: &mut [Part; N], last: bool) {
        // SAFETY: the caller has these bodies to itself.
        unsafe {
            let mut system = self.read(parts, true);
            let kept = system.now;
            system.press(SWEEPS);
            if system.impact && system.load() <= 0.0 {
                // Other contacts have made the impulses of this impact needless. It still gives back what it took.
                system.now = kept;
            }
            if last && system.impact {
                system.rebound();
            }
            system.rub(false, self.rows.creep_speed);
            let is_last = self.rows.is_last(self.elapsed);
            let landed = self.bundle.landed && (last || self.tile.bounce.is_empty());
            let rebounds = last && self.bundle.impact;
            let retires = rebounds || landed && !is_last;
            let solved = system.now;
            self.write(&solved, (landed && !rebounds).then_some(LANDED));
            self.brake_rolling();
            if retires {
                self.retire();
            }
        }
    }

    /// Reads the contacts from their blocks, when the bodies `moved` in this substep, or before.
    unsafe fn read<'p, const N: usize>(&mut self, parts: &'p mut [Part; N], moved: bool) -> System<'p, N> {
        let first = self.members[0];
        // SAFETY: the caller has these bodies to itself.
        let vel = with_member!(self, first, |kernel, bounce, rough| unsafe { kernel.velocities() });
        let [inv_a, inv_b] = [vel.a[3], vel.b[3]];
        let weight = [inv_a + inv_b, inv_a + inv_b, 2.0 * inv_a, 2.0 * inv_b];
        let of_first = self.a_of(&first);
        let impact = self.bundle.impact;
        let (mut of, mut floor) = ([Impulses::default(); N], [[0.0; 2]; N]);
        for (i, (member, part)) in self.members.iter().zip(&mut *parts).enumerate() {
            let flipped = self.a_of(member) != of_first;
            let (of, floor) = (&mut of[i], &mut floor[i]);
            // SAFETY: the caller has these bodies to itself.
            let (contact, impulses) = with_member!(self, member, |kernel, bounce, rough| {
                // SAFETY: the caller has these bodies to itself.
                *floor = if moved { unsafe { kernel.least_speeds() } } else { member.floor };
                kernel.read(bounce.filter(|_| impact), rough.as_deref())
            });
            *part = Part::new(&contact, weight, flipped);
            *of = Impulses { pressed: member.pressed, ..impulses };
        }
        let motion = [vel.b[0] - vel.a[0], vel.b[1] - vel.a[1], vel.a[2], vel.b[2]];
        System {
            parts: &parts[..self.members.len()],
            now: State { motion, of },
            floor,
            struck: self.bundle.struck,
            impact,
        }
    }

    /// The row of the contact's A.
    fn a_of(&self, member: &Member) -> usize {
        self.tile.normal[member.block as usize].a[usize::from(member.lane)].row()
    }

    /// Writes impulses and velocities back, and gives points that are pressed the closing speed `close`.
    unsafe fn write<const N: usize>(&mut self, solved: &State<N>, close: Option<f32>) {
        let impact = self.bundle.impact;
        for (member, of) in self.members.iter_mut().zip(&solved.of) {
            member.pressed = of.pressed;
            with_member!(self, member, |kernel, bounce, rough| {
                kernel.write(of, bounce.filter(|_| impact));
                if let Some(speed) = close {
                    kernel.close(speed);
                }
            });
        }
        let (first, motion) = (self.members[0], &solved.motion);
        // SAFETY: the caller has these bodies to itself.
        with_member!(self, first, |kernel, bounce, rough| unsafe {
            let mut vel = kernel.velocities();
            let inv_mass = vel.a[3] + vel.b[3];
            for axis in 0..2 {
                let impulse = (motion[axis] - (vel.b[axis] - vel.a[axis])) / inv_mass;
                vel.a[axis] -= impulse * vel.a[3];
                vel.b[axis] += impulse * vel.b[3];
            }
            (vel.a[2], vel.b[2]) = (motion[2], motion[3]);
            kernel.store(vel);
        });
    }

    unsafe fn shift_arms(&mut self) {
        for member in &*self.members {
            with_member!(self, member, |kernel, bounce, rough| {
                if let Some(bounce) = bounce {
                    // SAFETY: the caller has these bodies to itself.
                    unsafe { kernel.shift_own_arms(bounce) };
                }
            });
        }
    }

    unsafe fn brake_rolling(&mut self) {
        if self.tile.rough.is_empty() {
            return;
        }
        for member in &*self.members {
            // SAFETY: the caller has these bodies to itself.
            with_member!(self, member, |kernel, bounce, rough| {
                // SAFETY: the caller has these bodies to itself.
                unsafe {
                    let mut vel = kernel.velocities();
                    let [first, second] = kernel.normal_impulses();
                    if let Some(rough) = rough.as_deref_mut() {
                        kernel.brake_rolling(&mut vel, rough, first + second);
                        kernel.store(vel);
                    }
                }
            });
        }
    }

    /// Puts the impulses aside: see [`ManifoldKernel::retire`].
    unsafe fn retire(&mut self) {
        for member in &*self.members {
            with_member!(self, member, |kernel, bounce, rough| {
                let i = kernel.i;
                if let Some(bounce) = bounce.as_deref_mut() {
                    (bounce.approach[i], bounce.absorbed[i]) = (0.0, 0.0);
                }
                // SAFETY: the caller has these bodies to itself.
                unsafe { kernel.retire(&kernel.velocities(), 1.0, bounce, rough) };
            });
        }
    }
}
