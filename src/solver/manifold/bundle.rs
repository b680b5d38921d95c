//! Bundles: the contacts of two bodies that meet with several parts at once, solved as one impact and one friction.
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
//! the body about itself: a dumbbell that landed flat was left spinning, and slid on a slope that should have held it.

mod kernel;

use super::{Bounce, ManifoldKernel};
use crate::contacts::bundles::{Aside, Bundle, Bundles, MOST, Member};
use crate::contacts::{LANDED, RoughBlock, Tile};
use crate::formula::{limited, rebound};
use crate::lane::pair;
use crate::solver::impulse::Velocities;
use crate::solver::pass::Pass;
use crate::solver::rows::Rows;
use std::marker::PhantomData;

/// How many times at most the contacts of a bundle are solved in turn.
const SWEEPS: usize = 40;
/// The change of a speed, as a part of the fastest approach, below which they agree.
const AGREED: f32 = 1.0e-4;
/// How many times as large friction may make the normal impulses.
const WEDGED: f32 = 4.0;
/// The part of the points' own inverse masses that is left where normal impulses act against each other.
const OPPOSED: f32 = 1.0e-3;
/// The cosine of the angle between normals up to which contacts share one friction.
const PARALLEL: f32 = 0.999;

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

/// After the contacts of a pass: finds the bundles, in the first pass, and solves those that meet in the others. `last` is the last pass
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
    if pass == Pass::WarmStart {
        // It has dropped the impulses of what landed in the last step.
        tile.find_bundles();
    }
    let Some(bundles) = &mut tile.bundles else { return };
    bundles.begins |= last;
    match pass {
        Pass::WarmStart | Pass::Project => {}
        Pass::Solve | Pass::Meet | Pass::Relax | Pass::Bounce => {
            // SAFETY: the caller gives this task these bodies alone, and guarantees that each named row exists.
            each(tile, rows, elapsed, |solve| unsafe {
                if !solve.bundle.meets {
                    return;
                }
                solve.take_back();
                if matches!(pass, Pass::Solve | Pass::Meet) {
                    solve.meet();
                } else {
                    solve.part(pass == Pass::Bounce);
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
        visit(&mut Solve { tile, rows, elapsed, bundle, members, floor: [[0.0; 2]; MOST] });
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
    /// The least speed at which each point of each member is to separate.
    floor: [[f32; 2]; MOST],
}

/// What is known of a point or of a contact before it is solved.
#[derive(Clone, Copy, Default)]
struct Approach {
    /// The normal impulses of all points.
    load: f32,
    /// The fastest approach of a point that bears no load and closes its gap, as a speed below 0.
    struck: f32,
    /// The same for a point that bore no load at the start of the step, and may rebound.
    bouncing: f32,
    /// The contact took a blow in the substep before.
    had_landed: bool,
}

#[allow(unsafe_code)]
impl Solve<'_> {
    /// Finds out whether the bodies meet in this substep.
    unsafe fn begin(&mut self) {
        let had_landed = std::mem::take(&mut self.bundle.landed);
        // SAFETY: the caller has these bodies to itself.
        let all = unsafe { self.approach() };
        for member in &mut *self.members {
            member.pressed = with_member!(self, member, |kernel, bounce, rough| kernel.normal_impulses());
        }
        (self.bundle.struck, self.bundle.bouncing) = (all.struck, all.bouncing);
        let blow = all.struck < -self.rows.landing_speed;
        self.bundle.meets = blow || all.load <= 0.0 && all.struck < 0.0;
        // What comes as fast once more bears what lies on it.
        self.bundle.landed = blow && all.load <= 0.0 && !(had_landed || all.had_landed);
        self.bundle.impact = all.bouncing < -self.rows.restitution_threshold && !self.tile.bounce.is_empty();
    }

    /// How all points approach.
    unsafe fn approach(&mut self) -> Approach {
        let mut all = Approach::default();
        for (member, floor) in self.members.iter().zip(&mut self.floor) {
            // SAFETY: the caller has these bodies to itself.
            let of = with_member!(self, member, |kernel, bounce, rough| {
                // SAFETY: the caller has these bodies to itself.
                unsafe { kernel.approach(bounce, floor, self.bundle.impact) }
            });
            all.load += of.load;
            all.struck = all.struck.min(of.struck);
            all.bouncing = all.bouncing.min(of.bouncing);
            all.had_landed |= of.had_landed;
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

    /// The pass before the positions move: stops what would close a gap.
    unsafe fn meet(&mut self) {
        // SAFETY: the caller has these bodies to itself.
        unsafe {
            if self.bundle.impact {
                self.shift_arms();
            }
            self.approach();
            let pushed = self.floor;
            self.floor.iter_mut().flatten().for_each(|floor| *floor = floor.min(0.0));
            self.press(SWEEPS);
            // Overlaps are pushed apart once, as in other contacts: until they agree, opposed contacts would turn the bodies ever faster.
            self.floor = pushed;
            self.press(1);
            self.rub(self.rows.is_soft);
        }
        for member in &*self.members {
            let (block, lane) = (member.block as usize, usize::from(member.lane));
            with_member!(self, member, |kernel, bounce, rough| kernel.close(0.0));
            if self.bundle.impact {
                let bounce = &mut self.tile.bounce[block];
                bounce.approach[lane] = bounce.approach[lane].min(self.bundle.bouncing);
                self.tile.info[block].bounced = true;
            }
        }
    }

    /// The pass after the positions have moved: stops the approach, gives back what restitution gives, and holds by friction.
    unsafe fn part(&mut self, last: bool) {
        for (member, floor) in self.members.iter().zip(&mut self.floor) {
            *floor = with_member!(self, member, |kernel, bounce, rough| {
                pair!(p => -kernel.closing_speed(p).max(0.0))
            });
        }
        // SAFETY: the caller has these bodies to itself.
        unsafe {
            let kept = self.bundle.impact.then(|| self.keep());
            self.press(SWEEPS);
            if let Some(kept) = kept
                && self.load() <= 0.0
            {
                // Other contacts have made the impulses of this impact needless. It still gives back what it took.
                self.restore(&kept);
            }
            if last && self.bundle.impact {
                self.rebound();
            }
            self.rub(false);
            self.brake_rolling();
            let is_last = self.rows.is_last(self.elapsed);
            if last && self.bundle.impact || self.bundle.landed && !is_last {
                self.retire();
            } else if self.bundle.landed {
                for member in &*self.members {
                    with_member!(self, member, |kernel, bounce, rough| kernel.close(LANDED));
                }
            }
        }
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

    /// Solves the normal impulses of all contacts in turn, until they agree or so many times.
    unsafe fn press(&mut self, sweeps: usize) {
        let agreed = AGREED * self.bundle.struck.abs();
        let impact = self.bundle.impact;
        for _ in 0..sweeps {
            let mut change = 0.0f32;
            for (member, floor) in self.members.iter_mut().zip(&self.floor) {
                let pressed = &mut member.pressed;
                change = change.max(with_member!(self, member, |kernel, bounce, rough| {
                    // SAFETY: the caller has these bodies to itself.
                    unsafe { kernel.press(*floor, bounce.filter(|_| impact), pressed) }
                }));
            }
            if change <= agreed {
                break;
            }
        }
    }

    /// Gives back e² of the energy that the normal impulses have taken: all of them grow by one factor, as in a contact with two points.
    unsafe fn rebound(&mut self) {
        let (mut sum, mut absorbed) = (0.0, 0.0);
        for member in &*self.members {
            sum += member.pressed[0] + member.pressed[1];
            absorbed += self.tile.bounce[member.block as usize].absorbed[usize::from(member.lane)];
        }
        if sum <= 0.0 {
            return;
        }
        let mut restitution = 0.0;
        for member in &mut *self.members {
            member.pressed = pair!(p => member.pressed[p] / sum);
            let of = self.tile.bounce[member.block as usize].restitution[usize::from(member.lane)];
            restitution += of * (member.pressed[0] + member.pressed[1]);
        }
        // SAFETY: the caller has these bodies to itself.
        unsafe {
            let before = self.speed();
            self.push(sum);
            let inv_mass = (self.speed() - before) / sum;
            // Impulses that act against each other move nothing: the bodies are jammed.
            let jammed = inv_mass <= OPPOSED * self.own_inv_mass();
            let impulse = if jammed { 0.0 } else { rebound(absorbed, restitution, before, inv_mass) };
            self.push(impulse.max(-sum) - sum);
        }
    }

    /// The sum of the points' inverse masses, each with the square of its part in the impact.
    fn own_inv_mass(&mut self) -> f32 {
        self.members.iter().fold(0.0, |sum, member| {
            let masses = with_member!(self, member, |kernel, bounce, rough| kernel.normal_masses());
            let of = pair!(p => if masses[p] > 0.0 { member.pressed[p] * member.pressed[p] / masses[p] } else { 0.0 });
            sum + of[0] + of[1]
        })
    }

    /// The speed at which the points separate, by their parts in the impact.
    unsafe fn speed(&mut self) -> f32 {
        let mut speed = 0.0;
        for member in &*self.members {
            // SAFETY: the caller has these bodies to itself.
            let of = with_member!(self, member, |kernel, bounce, rough| {
                // SAFETY: the caller has these bodies to itself.
                unsafe { kernel.normal_velocities(&kernel.velocities()) }
            });
            speed += member.pressed[0] * of[0] + member.pressed[1] * of[1];
        }
        speed
    }

    /// Adds an impulse, of which each point takes its part.
    unsafe fn push(&mut self, impulse: f32) {
        for member in &*self.members {
            // SAFETY: the caller has these bodies to itself.
            with_member!(self, member, |kernel, bounce, rough| {
                // SAFETY: the caller has these bodies to itself.
                unsafe {
                    kernel.push_points(pair!(p => member.pressed[p] * impulse));
                }
            });
        }
    }

    /// Solves friction of all contacts, with the speeds held at which their points separate. `before` the positions move nothing slides
    /// yet.
    unsafe fn rub(&mut self, before: bool) {
        // SAFETY: the caller has these bodies to itself.
        unsafe {
            let mut slip = 0.0f32;
            for (member, floor) in self.members.iter().zip(&mut self.floor) {
                let of =
                    with_member!(self, member, |kernel, bounce, rough| kernel.hold(floor, rough.as_deref()));
                slip = slip.max(of);
            }
            if slip <= self.rows.creep_speed && !before {
                return;
            }
            let kept = self.keep();
            let mut slides = [false; MOST];
            let mut work = self.rub_until_agreed(slip, &slides, true, true);
            if !before {
                for (member, slides) in self.members.iter().zip(&mut slides) {
                    let of = with_member!(self, member, |kernel, bounce, rough| kernel
                        .sliding(&kernel.velocities(), rough.as_deref()));
                    *slides = of.abs() > self.rows.creep_speed;
                }
                if slides.contains(&true) {
                    work += self.rub_until_agreed(slip, &slides, true, true);
                }
            }
            // Normal impulses on points that part, as after a bounce, may do work: never more than friction takes. Where friction and
            // normal impulses raise each other without end, the bodies are wedged.
            let grown = self.load() > WEDGED * kept.load();
            if grown || work.is_nan() || work > 0.0 {
                self.restore(&kept);
                work = self.rub_until_agreed(slip, &slides, false, true);
                // Parts that share one friction at arms of very different lengths may turn the bodies ever faster (a polygon that was
                // 9 m deep in a capsule reached 10¹¹ rad/s). Each on its own they only ever take energy.
                if work.is_nan() || work > 0.0 {
                    self.restore(&kept);
                    self.rub_until_agreed(slip, &slides, false, false);
                }
            }
        }
    }

    /// Solves friction in turn, and with `held` the normal impulses too. If it may be `shared`, contacts that slide along one line bear the
    /// same part of their limits. Returns the work that all this does.
    unsafe fn rub_until_agreed(&mut self, slip: f32, slides: &[bool; MOST], held: bool, shared: bool) -> f32 {
        let (mut work, parallel) = (0.0, shared && self.is_parallel());
        for _ in 0..SWEEPS {
            let mut change = 0.0f32;
            // SAFETY: the caller has these bodies to itself.
            let shared = if parallel { unsafe { self.shared_friction(slides) } } else { None };
            for ((member, floor), slides) in self.members.iter().zip(&self.floor).zip(slides) {
                let floor = held.then_some(*floor);
                // SAFETY: the caller has these bodies to itself.
                let done = with_member!(self, member, |kernel, bounce, rough| {
                    // SAFETY: the caller has these bodies to itself.
                    unsafe { kernel.rub(floor, *slides, shared, rough.as_deref()) }
                });
                change = change.max(done[0]);
                work += done[1];
            }
            if change <= AGREED * slip {
                break;
            }
        }
        work
    }

    /// Whether all contacts push the same way, and so slide along one line.
    fn is_parallel(&self) -> bool {
        // A normal goes from the contact's first body to its second, and the kinds of shapes decide which of the bodies is the first.
        let normal = |member: &Member| {
            let (of, lane) = (&self.tile.normal[member.block as usize], usize::from(member.lane));
            ([of.normal_x[lane], of.normal_y[lane]], of.a[lane].row())
        };
        let ([x, y], first) = normal(&self.members[0]);
        self.members.iter().map(normal).all(|(other, of)| {
            let along = x * other[0] + y * other[1];
            (if of == first { along } else { -along }) > PARALLEL
        })
    }

    /// The part of its limit that each contact bears if all bear the same part: friction is one for the bundle.
    unsafe fn shared_friction(&mut self, slides: &[bool; MOST]) -> Option<f32> {
        let (mut most, mut borne, mut speed, mut mass) = (0.0, 0.0, 0.0, 0.0f32);
        for (member, slides) in self.members.iter().zip(slides) {
            with_member!(self, member, |kernel, bounce, rough| {
                let limit = kernel.most_friction(*slides);
                most += limit;
                borne += kernel.friction.tangent_impulse[kernel.i];
                mass = mass.max(kernel.friction.tangent_mass[kernel.i]);
                // SAFETY: the caller has these bodies to itself.
                let vel = unsafe { kernel.velocities() };
                speed += limit * kernel.sliding(&vel, rough.as_deref());
            });
        }
        (most > 0.0).then(|| limited(borne - mass * (speed / most), most) / most)
    }

    /// The velocities of both bodies, and the impulses of all contacts.
    unsafe fn keep(&mut self) -> Kept {
        let first = self.members[0];
        // SAFETY: the caller has these bodies to itself.
        let vel = with_member!(self, first, |kernel, bounce, rough| {
            // SAFETY: the caller has these bodies to itself.
            unsafe { kernel.velocities() }
        });
        let mut kept = Kept { vel, impulses: [Impulses::default(); MOST] };
        for (member, to) in self.members.iter().zip(&mut kept.impulses) {
            with_member!(self, member, |kernel, bounce, rough| {
                let i = kernel.i;
                *to = Impulses {
                    normal: kernel.normal_impulses(),
                    tangent: kernel.friction.tangent_impulse[i],
                    pressed: member.pressed,
                    absorbed: bounce.as_deref().map_or(0.0, |bounce| bounce.absorbed[i]),
                };
            });
        }
        kept
    }

    unsafe fn restore(&mut self, kept: &Kept) {
        for (member, of) in self.members.iter_mut().zip(&kept.impulses) {
            with_member!(self, member, |kernel, bounce, rough| {
                let i = kernel.i;
                kernel.set_normal_impulses(of.normal);
                kernel.friction.tangent_impulse[i] = of.tangent;
                if let Some(bounce) = bounce {
                    bounce.absorbed[i] = of.absorbed;
                }
            });
            member.pressed = of.pressed;
        }
        let first = self.members[0];
        // SAFETY: the caller has these bodies to itself.
        with_member!(self, first, |kernel, bounce, rough| {
            // SAFETY: the caller has these bodies to itself.
            unsafe { kernel.store(kept.vel) }
        });
    }

    /// The sum of all normal impulses.
    fn load(&mut self) -> f32 {
        self.members.iter().fold(0.0, |sum, member| {
            let of = with_member!(self, member, |kernel, bounce, rough| kernel.normal_impulses());
            sum + of[0] + of[1]
        })
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
                unsafe { kernel.retire(&kernel.velocities(), true, bounce) };
            });
        }
    }
}

/// What a bundle is restored from.
struct Kept {
    vel: Velocities<f32>,
    impulses: [Impulses; MOST],
}

impl Kept {
    /// The sum of all normal impulses.
    fn load(&self) -> f32 {
        self.impulses.iter().fold(0.0, |sum, of| sum + of.normal[0] + of.normal[1])
    }
}

/// What is kept of a contact.
#[derive(Clone, Copy, Default)]
struct Impulses {
    normal: [f32; 2],
    tangent: f32,
    pressed: [f32; 2],
    absorbed: f32,
}
