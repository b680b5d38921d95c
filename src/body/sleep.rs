//! Sleep: which bodies are at rest, and what changes in a body that falls asleep or wakes.
//!
//! A sleeping body has no inverse mass and no velocity, so every stage treats it as a static one. It gets back what it had when it
//! wakes. Which bodies sleep together is found in `sleep/islands.rs`.

use super::columns::{ColumnSet, NOT_BEHIND};
use super::{Bodies, Motion};
use crate::crew::{CHUNK, Crew, SharedSlice};
use crate::isa::Level;
use crate::lane::{Lane, MAX_WIDTH, Mask, Row, lane_entry, load_rows, padded, with_lanes};
use crate::settings::Settings;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// In the column `sleep_delay`: the body never sleeps, and has no time of its own.
const NEVER: f32 = -1.0e30;

/// How a body goes to sleep: whether it may, its own threshold, and its own time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SleepLimits {
    pub may: bool,
    pub threshold: Option<f32>,
    pub time: Option<f32>,
}

impl SleepLimits {
    /// Those of a body that has none of its own.
    pub(super) const OF_WORLD: SleepLimits = SleepLimits { may: true, threshold: None, time: None };
}

/// How many bodies are at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    /// Those that are awake and that forces move.
    pub awake: u32,
    /// Those of them that have been at rest for long enough.
    pub ready: u32,
    /// Those that move by their own velocity alone.
    pub driven: u32,
}

crate::base::codec::stored!(Rest { awake, ready, driven });

impl Bodies {
    /// Returns true if contacts and forces move the body, now or when it wakes.
    pub(crate) fn is_movable(&self, slot: usize) -> bool {
        self.own_inv_mass(slot) > 0.0
    }

    /// Returns true if a body moves by its own velocity, whatever it meets.
    pub(crate) fn is_driven(&self, slot: usize) -> bool {
        let c = &self.columns;
        c.inv_mass[slot] == 0.0 && [c.vel_x[slot], c.vel_y[slot], c.omega[slot]] != [0.0; 3]
    }

    /// The inverse mass that a body has when it is awake.
    pub(crate) fn own_inv_mass(&self, slot: usize) -> f32 {
        self.columns.inv_mass[slot].max(self.columns.kept_inv_mass[slot])
    }

    /// The inverse moment of inertia that a body has when it is awake.
    pub(crate) fn own_inv_inertia(&self, slot: usize) -> f32 {
        self.columns.inv_inertia[slot].max(self.columns.kept_inv_inertia[slot])
    }

    pub(crate) fn is_asleep(&self, slot: usize) -> bool {
        self.columns.island[slot] != 0
    }

    /// The island of a sleeping body.
    pub(crate) fn island(&self, slot: usize) -> Option<u32> {
        self.columns.island[slot].checked_sub(1)
    }

    /// Returns true if a body is awake, contacts and forces move it, and it has been at rest for long enough.
    pub(crate) fn is_ready(&self, slot: usize, settings: &Settings) -> bool {
        let (c, delay) = (&self.columns, self.sleep_delay(slot, settings));
        let is_slow = c.rest[slot] > 0.0 && c.rest[slot] >= delay;
        c.inv_mass[slot] > 0.0 && delay >= 0.0 && (is_slow || self.stays(slot, settings))
    }

    /// Returns true if a body has not left a small circle for long enough, however it moves there.
    pub(crate) fn stays(&self, slot: usize, settings: &Settings) -> bool {
        self.columns.stay[slot] >= LEAST_STAY.max(STAYS * self.sleep_delay(slot, settings))
    }

    /// For how long a body has to be at rest, s. Below 0 if it never sleeps.
    fn sleep_delay(&self, slot: usize, settings: &Settings) -> f32 {
        let own = self.columns.sleep_delay[slot];
        if own == 0.0 { settings.time_to_sleep } else { own }
    }

    pub(crate) fn set_sleep_limits(&mut self, slot: usize, limits: SleepLimits) {
        let own = |value: Option<f32>| value.map_or(0.0, |value| value.max(f32::MIN_POSITIVE));
        let delay = own(limits.time);
        let c = &mut self.columns;
        c.sleep_speed[slot] = own(limits.threshold);
        c.sleep_delay[slot] = match (limits.may, delay) {
            (true, _) => delay,
            (false, 0.0) => NEVER,
            (false, _) => -delay,
        };
        self.any_sleep_limit |= limits != SleepLimits::OF_WORLD;
    }

    pub(crate) fn sleep_limits(&self, slot: usize) -> SleepLimits {
        let own = |value: f32| match value.abs() {
            0.0 => None,
            value if value == -NEVER => None,
            value => Some(if value == f32::MIN_POSITIVE { 0.0 } else { value }),
        };
        let (speed, delay) = (self.columns.sleep_speed[slot], self.columns.sleep_delay[slot]);
        SleepLimits { may: delay >= 0.0, threshold: own(speed), time: own(delay) }
    }

    /// Puts a body to sleep as a part of an island.
    pub(crate) fn fall_asleep(&mut self, slot: usize, island: u32) {
        self.set_motion(slot, Motion::Asleep);
        let c = &mut self.columns;
        c.kept_inv_mass[slot] = std::mem::take(&mut c.inv_mass[slot]);
        c.kept_inv_inertia[slot] = std::mem::take(&mut c.inv_inertia[slot]);
        (c.vel_x[slot], c.vel_y[slot], c.omega[slot]) = (0.0, 0.0, 0.0);
        c.island[slot] = island + 1;
        c.begin_rest(slot);
        c.follows[slot] = NOT_BEHIND;
        self.any_sleep = true;
        self.asleep_count += 1;
    }

    /// Wakes a sleeping body.
    pub(crate) fn wake(&mut self, slot: usize) {
        self.set_motion(slot, Motion::Dynamic);
        let c = &mut self.columns;
        c.inv_mass[slot] = std::mem::take(&mut c.kept_inv_mass[slot]);
        c.inv_inertia[slot] = std::mem::take(&mut c.kept_inv_inertia[slot]);
        c.island[slot] = 0;
        if c.kind[slot].is_particle() {
            // It followed none of gravity.
            c.follows[slot] = 0.0;
        }
        self.asleep_count -= 1;
    }

    /// Counts the time for which each body has been at rest, after a step.
    pub(crate) fn count_rest(
        &mut self,
        settings: &Settings,
        moves: &[Row],
        level: Level,
        crew: &Crew<'_>,
    ) -> Rest {
        self.any_rest = true;
        let counts = [const { AtomicU32::new(0) }; 3];
        let c = &mut self.columns;
        let mut columns =
            [&mut c.rest, &mut c.stay, &mut c.drift_x, &mut c.drift_y, &mut c.drift_turn].map(std::mem::take);
        let (len, bodies, shared) =
            (self.len, &*self, columns.each_mut().map(|column| SharedSlice::new(column)));
        crew.chunks_without(len, &bodies.still(), CHUNK, |_, range| {
            // A last vector that is not full reads padding, and leaves it as it is.
            let range = range.start..if range.end == len { padded(len) } else { range.end };
            #[allow(unsafe_code)]
            // SAFETY: `Crew::chunks` gives each slot to one task. The last task alone has the padding behind the last slot.
            let [rest, stay, drift_x, drift_y, drift_turn] =
                unsafe { shared.each_ref().map(|column| column.range(range.clone())) };
            let times = Times { rest, stay, drift: [drift_x, drift_y, drift_turn] };
            with_lanes!(level, L => count_rest::<L>((bodies, moves), range.clone(), times, settings, &counts));
        });
        let c = &mut self.columns;
        [c.rest, c.stay, c.drift_x, c.drift_y, c.drift_turn] = columns;
        let [awake, ready, driven] = counts.map(AtomicU32::into_inner);
        Rest { awake, ready, driven }
    }

    /// Returns which of the bodies from `slot` on a step's movements `[x, y, turned]` took further than `most`, m.
    #[inline(always)]
    pub(crate) fn moved<L: Lane>(&self, slot: usize, [x, y, turned]: [L; 3], most: L) -> L::Mask {
        // The movement is that of a speed at the threshold, rounded.
        const ROUNDING: f32 = 1.01;
        is_beyond([x, y, self.turned(slot, turned)], L::splat(ROUNDING) * most)
    }

    /// Returns how far the furthest points of the bodies from `slot` on turned, for steps that took points at their `radius` as far as this, m.
    #[inline(always)]
    fn turned<L: Lane>(&self, slot: usize, turned: L) -> L {
        let c = &self.columns;
        let (zero, radius) = (L::splat(0.0), L::load(&c.radius[slot..]));
        let turns = radius.gt(zero);
        let angle = turned / L::select(turns, radius, L::splat(1.0));
        L::select(turns, angle * L::load(&c.furthest[slot..]).max(radius), zero)
    }

    /// Returns true if a step's movement took a body further than `most`, m.
    pub(crate) fn is_moved(&self, slot: usize, &Row([x, y, turned, _]): &Row, most: f32) -> bool {
        self.moved(slot, [x, y, turned], most).bits() != 0
    }

    /// Forgets for how long bodies have been at rest.
    pub(crate) fn forget_rest(&mut self) {
        if self.any_rest {
            (0..self.len).for_each(|slot| self.columns.begin_rest(slot));
        }
    }
}

impl ColumnSet {
    /// Begins anew to count for how long a body has been at rest.
    pub(crate) fn begin_rest(&mut self, slot: usize) {
        let ColumnSet { rest, stay, drift_x, drift_y, drift_turn, .. } = self;
        [rest, stay, drift_x, drift_y, drift_turn].into_iter().for_each(|column| column[slot] = 0.0);
    }
}

/// Returns which movements, x, y, and by turning, are further than this.
#[inline(always)]
fn is_beyond<L: Lane>([x, y, turned]: [L; 3], most: L) -> L::Mask {
    (x * x + y * y).gt(most * most).or(turned.abs().gt(most))
}

/// The columns that [`Bodies::count_rest`] writes, of some slots.
struct Times<'a> {
    rest: &'a mut [f32],
    stay: &'a mut [f32],
    drift: [&'a mut [f32]; 3],
}

/// A body is at rest, too, if it is no faster than so many times the threshold, but a step moves it by less than the threshold would: where joints and
/// contacts are at odds, what stays where it is has a speed at the end of each step. (Planks of curtains that lay on a floor, jammed in each other,
/// kept speeds of 0.04 to 0.22 m/s for ever: 9 of the 24 scenes of the test `hinges_come_to_rest` came to rest, now 20. Tried and dropped: an eighth of
/// that movement. It came to as many, and swings at steps of 0.1 s and more were taken for rest nearly as often as before.)
const JAMMED: f32 = 8.0;

/// Up to so many times the threshold if it moves by less than [`UNMOVED`] of that. (Boxes that the fall of a pile had pressed 0.4 m into each other
/// stood to a tenth of a micrometre, with up to 0.72 m/s at the end of each step.)
const STUCK: f32 = 16.0;
const UNMOVED: f32 = 1.0 / 16.0;

/// A body is at rest, too, if for [`LEAST_STAY`] seconds, and [`STAYS`] times the time to sleep, it has not left a circle whose radius is so many seconds at the threshold
/// (2.5 cm), nor has its furthest point by turning, and has been no faster than [`JAMMED`] times the threshold: what swings on a hinge or rocks on a round
/// body, without friction, would do so for ever, and keep all awake that lies with it. (J. Rouwe's Jolt has a circle of 1.5 cm for half a second.)
const CIRCLE: f32 = 0.5;
const STAYS: f32 = 8.0;
const LEAST_STAY: f32 = 4.0;

lane_entry! {
    /// Counts the rest of a range of slots, which begins and ends with a whole vector.
    fn count_rest[][](
        at: (&Bodies, &[Row]),
        range: Range<usize>,
        times: Times<'_>,
        settings: &Settings,
        counts: &[AtomicU32; 3],
    ) = count_rest_range;
}

/// The first three columns of the next rows. The last rows may be fewer than lanes.
#[inline(always)]
fn load_movement<L: Lane>(rows: &[Row]) -> [L; 3] {
    if rows.len() >= L::WIDTH {
        let [x, y, turned, _] = load_rows::<L>(rows);
        return [x, y, turned];
    }
    let [mut x, mut y, mut turned] = [[0.0; MAX_WIDTH]; 3];
    for (lane, row) in rows.iter().enumerate() {
        [x[lane], y[lane], turned[lane], _] = row.0;
    }
    [L::load(&x), L::load(&y), L::load(&turned)]
}

#[inline(always)]
fn count_rest_range<L: Lane>(
    (bodies, movements): (&Bodies, &[Row]),
    range: Range<usize>,
    times: Times<'_>,
    settings: &Settings,
    counts: &[AtomicU32; 3],
) {
    let c = &bodies.columns;
    let zero = L::splat(0.0);
    let (threshold, delay, dt) =
        (L::splat(settings.sleep_threshold), L::splat(settings.time_to_sleep), L::splat(settings.time_step));
    let Times { rest, stay, drift } = times;
    let mut sums = [0u32; 3];
    for (slot, i) in range.step_by(L::WIDTH).zip((0..).step_by(L::WIDTH)) {
        macro_rules! load {
            ($column:ident) => {
                L::load(&c.$column[slot..])
            };
        }
        let (vel_x, vel_y, spin) = (load!(vel_x), load!(vel_y), load!(omega).abs());
        let own = load!(sleep_speed);
        let threshold = L::select(own.gt(zero), own, threshold);
        let turn = spin * load!(furthest).max(load!(radius));
        let moves = load!(inv_mass).gt(zero);
        let slower = |most: L| (vel_x * vel_x + vel_y * vel_y).le(most * most).and(turn.le(most));
        let slow = slower(threshold);
        let mut calm = slow.and(moves);
        let stuck = slower(threshold * L::splat(STUCK)).and(moves);
        let before = L::load(&stay[i..]);
        let mut stays = zero;
        if stuck.bits() != 0 {
            let movement = load_movement::<L>(&movements[slot..]);
            let jammed = slower(threshold * L::splat(JAMMED)).and(moves);
            let mut moved = [movement[0], movement[1], bodies.turned(slot, movement[2])];
            for axis in 0..3 {
                moved[axis] = L::load(&drift[axis][i..]) + moved[axis];
            }
            let leaves = is_beyond(moved, threshold * L::splat(CIRCLE));
            stays = L::select(jammed, L::select(leaves, dt, before + dt), zero);
            // What leaves the circle begins in another, an eighth of the way to where it is: so a swing finds one that holds all of it, if it is no wider than 1⅞
            // radii. (From where it is, and halfway, swings of more than 1 and 1½ radii left one circle after the other.)
            let part = L::select(leaves, L::splat(0.875), L::splat(1.0));
            for axis in 0..3 {
                L::select(jammed, part * moved[axis], zero).store(&mut drift[axis][i..]);
            }
            let most = threshold * dt * L::select(jammed, L::splat(1.0), L::splat(UNMOVED));
            let has_moved = bodies.moved::<L>(slot, movement, most);
            calm = calm.or(L::select(has_moved, zero, L::select(stuck, L::splat(1.0), zero)).gt(zero));
        } else if before.gt(zero).bits() != 0 {
            // What does not stay has drifted nowhere, in lanes of any number.
            (0..3).for_each(|axis| zero.store(&mut drift[axis][i..]));
        }
        let time = L::select(calm, L::load(&rest[i..]) + dt, zero);
        time.store(&mut rest[i..]);
        stays.store(&mut stay[i..]);
        let own = load!(sleep_delay);
        let never = own.lt(zero);
        let delay = L::select(own.gt(zero), own, delay);
        let stays = stays.ge((delay * L::splat(STAYS)).max(L::splat(LEAST_STAY)));
        let ready = calm.and(time.ge(delay)).or(stays).bits() & !never.bits();
        let driven = (vel_x.abs() + vel_y.abs() + spin).gt(zero).bits() & !moves.bits();
        for (sum, bits) in sums.iter_mut().zip([moves.bits(), ready, driven]) {
            *sum += bits.count_ones();
        }
    }
    for (count, sum) in counts.iter().zip(sums) {
        count.fetch_add(sum, Ordering::Relaxed);
    }
}
