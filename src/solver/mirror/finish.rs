//! The end of a step: the rows are copied back to the columns, and bodies that left their margins or went bad are noted.

use super::{Midpoint, Mirror, midpoint};
use crate::body::{Bodies, MAX_COORDINATE, RUNAWAY_SPEED};
use crate::broadphase::strays::Strays;
use crate::broadphase::{Bounds, Margins};
use crate::crew::{CHUNK, Crew, SharedSlice};
use crate::geometry::trig::wrap;
use crate::lane::{Lane, MAX_WIDTH, Mask, Row, Values, for_lanes, lane_entry, load_rows, values, with_lanes};
use crate::settings::Settings;
use std::ops::Range;
use std::sync::Mutex;

impl Mirror {
    /// Copies positions and velocities back to the columns, and clears the forces. Returns the slots whose result is not a
    /// number or out of range; these keep their old state. `left` gets the slots that have left their margin or are about
    /// to: at most one more than can be paired anew on their own. Both lists are in order.
    pub(crate) fn finish(
        &self,
        bodies: &mut Bodies,
        bounds: &Bounds,
        strays: &Mutex<Strays>,
        settings: &Settings,
        left: &mut Mutex<Vec<u32>>,
        crew: &Crew<'_>,
    ) -> Vec<usize> {
        // One more than are used: it shows that there are too many.
        let limit = bounds.allowance.per_step + 1;
        let margins = &Margins::new(settings);
        let left = emptied(left, limit);
        let bad = Mutex::new(Vec::new());
        let any_force = std::mem::take(&mut bodies.any_force);
        let midpoint = (bodies.particle_count > 0).then(|| midpoint(settings));
        let c = &mut bodies.columns;
        let turned = bodies.any_manifold.then_some(&c.furthest);
        let (radius, scale) = (&c.radius, &c.gravity_scale);
        let columns = [
            &mut c.pos_x,
            &mut c.pos_y,
            &mut c.angle,
            &mut c.vel_x,
            &mut c.vel_y,
            &mut c.omega,
            &mut c.follows,
        ]
        .map(|column| SharedSlice::new(column));
        let turns = SharedSlice::new(&mut c.turns);
        let forces = [&mut c.force_x, &mut c.force_y, &mut c.torque].map(|column| SharedSlice::new(column));
        crew.chunks_without(self.bodies, &self.still, CHUNK, |_, range| {
            #[allow(unsafe_code)]
            // SAFETY: `Crew::chunks` gives each slot to one task.
            let (columns, turns) = unsafe {
                (columns.each_ref().map(|column| column.range(range.clone())), turns.range(range.clone()))
            };
            let rows = (&self.pose[range.clone()], &self.vel[range.clone()]);
            let chunk = Chunk {
                range: range.clone(),
                radius,
                scale,
                midpoint,
                arm: turned,
                bounds,
                strays,
                margins,
                bad: &bad,
                left,
                limit,
            };
            let level = self.level.for_few(range.len());
            with_lanes!(level, L => finish::<L>(&chunk, rows, columns, turns));
            for force in forces.iter().filter(|_| any_force) {
                #[allow(unsafe_code)]
                // SAFETY: `Crew::chunks` gives each slot to one task.
                unsafe { force.range(range.clone()) }.fill(0.0);
            }
        });
        left.lock().expect("no worker panicked").sort_unstable();
        let mut bad = bad.into_inner().expect("no worker panicked");
        bad.sort_unstable();
        bad
    }
}

/// The list without its slots, with room for so many.
fn emptied(list: &mut Mutex<Vec<u32>>, room: usize) -> &Mutex<Vec<u32>> {
    let slots = list.get_mut().expect("no worker panicked");
    slots.clear();
    slots.reserve(room);
    list
}

/// The inputs of copying back a range of slots, besides the rows.
struct Chunk<'a> {
    range: Range<usize>,
    radius: &'a [f32],
    /// The scale of gravity.
    scale: &'a [f32],
    /// Present if there are particles.
    midpoint: Option<Midpoint>,
    /// Present if there are bodies that turn.
    arm: Option<&'a Vec<f32>>,
    bounds: &'a Bounds,
    strays: &'a Mutex<Strays>,
    margins: &'a Margins,
    bad: &'a Mutex<Vec<usize>>,
    left: &'a Mutex<Vec<u32>>,
    /// The most that `left` may hold.
    limit: usize,
}

lane_entry! {
    /// Copies the rows of a range of slots back to the columns.
    fn finish[][](
        chunk: &Chunk<'_>,
        rows: (&[Row], &[Row]),
        columns: [&mut [f32]; 7],
        turns: &mut [i32],
    ) = finish_range;
}

#[inline(always)]
fn finish_range<L: Lane>(
    chunk: &Chunk<'_>,
    rows: (&[Row], &[Row]),
    mut columns: [&mut [f32]; 7],
    turns: &mut [i32],
) {
    for_lanes!(chunk.range.len(), L, finish_lanes(chunk, rows, &mut columns, turns; i));
}

/// Where positions and velocities are numbers, and no larger than the engine takes them.
#[inline(always)]
fn in_range<L: Lane>([x, y, angle]: [L; 3], [vel_x, vel_y, omega]: [L; 3]) -> L::Mask {
    let (furthest, fastest) = (L::splat(MAX_COORDINATE), L::splat(RUNAWAY_SPEED));
    (x.abs().le(furthest))
        .and(y.abs().le(furthest))
        .and(vel_x.abs().le(fastest))
        .and(vel_y.abs().le(fastest))
        .and(omega.abs().le(fastest))
        .and(angle.abs().le(L::splat(f32::MAX)))
}

#[inline(always)]
fn finish_lanes<L: Lane>(
    chunk: &Chunk<'_>,
    (pose, vel): (&[Row], &[Row]),
    columns: &mut [&mut [f32]; 7],
    turns: &mut [i32],
    i: usize,
) {
    let slot = chunk.range.start + i;
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let [moved_x, moved_y, turned, _] = load_rows::<L>(&pose[i..]);
    let [vel_x, vel_y, spin, _] = load_rows::<L>(&vel[i..]);
    let [old_x, old_y, old_angle] =
        [L::load(&columns[0][i..]), L::load(&columns[1][i..]), L::load(&columns[2][i..])];
    let [old_vel_x, old_vel_y, old_omega] =
        [L::load(&columns[3][i..]), L::load(&columns[4][i..]), L::load(&columns[5][i..])];
    let radius = L::load(&chunk.radius[slot..]);
    let round = radius.gt(zero);
    let divisor = L::select(round, radius, one);
    let (x, y) = (old_x + moved_x, old_y + moved_y);
    let turned = turned / divisor;
    let angle = old_angle + turned;
    // Only what was gained, so that a free body keeps its spin to the last bit.
    let omega = old_omega + (spin - old_omega * radius) / divisor;

    let good = in_range([x, y, angle], [vel_x, vel_y, omega]);
    let (mut end_x, mut end_y) = (vel_x, vel_y);
    if let Some(midpoint) = &chunk.midpoint {
        let (follows, scale) = (L::load(&columns[6][i..]), L::load(&chunk.scale[slot..]));
        let (follows, behind) = midpoint.end([vel_x, vel_y], [old_vel_x, old_vel_y], (follows, scale), good);
        (end_x, end_y) = (vel_x + behind[0], vel_y + behind[1]);
        follows.store(&mut columns[6][i..]);
    }
    let turning = good.and(round);
    // A zero's sign depends on which contacts were skipped; adding +0 makes it positive.
    let new = [
        L::select(good, x + zero, old_x),
        L::select(good, y + zero, old_y),
        L::select(turning, angle + zero, old_angle),
        L::select(good, end_x + zero, old_vel_x),
        L::select(good, end_y + zero, old_vel_y),
        L::select(turning, omega + zero, old_omega),
    ];
    for (column, new) in columns.iter_mut().zip(new) {
        new.store(&mut column[i..]);
    }
    let wound = new[2].abs().gt(L::splat(std::f32::consts::PI)).bits();
    if wound != 0 {
        wind([values(old_angle), values(turned)], wound, &mut columns[2][i..], &mut turns[i..]);
    }
    let all = ((1u64 << L::WIDTH) - 1) as u32;
    if good.bits() != all {
        note_bad(chunk, slot, good.bits() ^ all);
    }
    let angle = L::load(&columns[2][i..]);
    watch_margin(chunk, slot, [new[0], new[1]], [new[3], new[4]], [angle, new[5]]);
}

/// Notes the lanes that have left their margin, or are about to.
#[inline(always)]
fn watch_margin<L: Lane>(chunk: &Chunk<'_>, slot: usize, place: [L; 2], vel: [L; 2], [angle, omega]: [L; 2]) {
    let mut turned = None;
    if let Some(arm) = chunk.arm {
        turned = Some([angle, omega, L::load(&arm[slot..])]);
    }
    let left = chunk.bounds.left::<L>(slot, place, vel, turned, chunk.margins);
    if left.bits() != 0 {
        let out = chunk.bounds.excess::<L>(slot, place, turned);
        note_left(chunk, slot, left.bits(), &values(L::select(left, out, L::splat(0.0))));
    }
}

/// The slots of these lanes, of which lane 0 is slot `first`.
fn slots_of(first: usize, lanes: u32) -> impl Iterator<Item = usize> {
    (0..MAX_WIDTH).filter(move |lane| lanes >> lane & 1 == 1).map(move |lane| first + lane)
}

/// Notes lanes that went bad.
#[cold]
fn note_bad(chunk: &Chunk<'_>, first: usize, lanes: u32) {
    chunk.bad.lock().expect("no worker panicked").extend(slots_of(first, lanes));
}

/// Notes lanes that left their margin, and how far they are out of it.
#[inline(never)]
fn note_left(chunk: &Chunk<'_>, first: usize, lanes: u32, outs: &Values) {
    chunk.strays.lock().expect("no worker panicked").note_all(first, outs);
    let mut slots = chunk.left.lock().expect("no worker panicked");
    let room = chunk.limit.saturating_sub(slots.len());
    slots.extend(slots_of(first, lanes).map(|slot| slot as u32).take(room));
}

/// Takes whole turns off the angles of these lanes, one by one: few bodies pass half a turn in a step. Computes in f64, so that
/// the turn of a step is rounded once.
#[cold]
fn wind([olds, ways]: [Values; 2], lanes: u32, angles: &mut [f32], turns: &mut [i32]) {
    for lane in slots_of(0, lanes) {
        let (angle, more) = wrap(f64::from(olds[lane]) + f64::from(ways[lane]));
        angles[lane] = angle;
        turns[lane] = turns[lane].wrapping_add(more);
    }
}
