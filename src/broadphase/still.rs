//! Bodies that stand still, static and sleeping ones: if they are many, they come behind all others in the order of space, and are looked up by place.
//!
//! So what is made of them lasts (`Still` in `body/order.rs`). Before, each step filled, integrated and copied back the rows of all bodies, and each
//! list put all of them in order. 500 cars on 4,462 segments: 0.62 ms a step in the mean, and 0.33 now, also because a list lives for six steps instead
//! of one (AMD EPYC of the Zen 5 generation; `granule run cars --bodies 1500 --warmup 240 --steps 240 --substeps 4 --threads 1 --sleep off
//! --continuous off`, at commit 6ffdb42 and at the one that made this file).
//!
//! What is looked up where it was when the list was made cannot be moved or removed without a new list. So a host that edits static bodies has them in
//! bands for a while, if they are no larger than the others.

use super::Broadphase;
use super::bands::StillInBands;
use crate::body::{Bodies, Kind, Motion};
use crate::geometry::shape::ShapeKind;
use std::ops::Range;

/// For so many steps after an edit of a static body, such bodies are in bands.
const EDITED_STATICS: u32 = 60;

/// Bodies that stand still go in bands if they are less than one in so many. (A barrel of 281 boxes around 3,000 compounds, in no band: the 99th
/// percentile of a step was 4.5 ms instead of 2.9. A ring of 360 segments around 6,076 bodies: 4.6 instead of 4.1. `cd benches/peers && cargo run --release --
/// --engines granule --threads 1 --scenes compounds,spinner`, on a busy AMD EPYC of the Zen 5 generation.)
const MANY_STILL: usize = 4;

impl Broadphase {
    /// Says which of the bodies that stand still go in bands.
    pub(super) fn still_in_bands(&self, bodies: &Bodies) -> StillInBands {
        let few = MANY_STILL * (bodies.static_count + bodies.asleep_count) < bodies.len;
        StillInBands { statics: few || self.edited_statics > 0, asleep: few }
    }

    /// Notes that the host moves, changes or removes a body. Static ones that are not larger than others go to the bands, where that is cheap.
    pub(crate) fn note_edit(&mut self, bodies: &Bodies, slot: usize) {
        let c = &bodies.columns;
        let size = 2.0 * c.ext_x[slot].max(c.ext_y[slot]);
        let is_small = c.kind[slot].motion() == Motion::Static && size <= self.bands.longest;
        if is_small && (self.edited_statics > 0 || !self.may_be_loose(slot)) {
            self.edited_statics = EDITED_STATICS;
        }
    }

    /// Counts a step in which static bodies are in bands. Returns true if it was the last one: they leave the bands with a new list.
    pub(crate) fn end_step(&mut self) -> bool {
        let counts = self.edited_statics > 0;
        self.edited_statics = self.edited_statics.saturating_sub(1);
        counts && self.edited_statics == 0
    }

    /// The slots that this list has for bodies that stand still, behind all that move.
    fn still(&self, bodies: &Bodies) -> Range<usize> {
        let end = self.bands.large_end.min(bodies.len);
        self.bands.still.min(end)..end
    }

    /// The last of these, in which all bodies stand still now. (In a snapshot they may not.)
    pub(crate) fn still_now(&self, bodies: &Bodies) -> Range<usize> {
        let slots = self.still(bodies);
        let moves = |kind: &Kind| !kind.stands_still() || kind.shape() == ShapeKind::HalfSpace;
        let last = bodies.columns.kind[slots.clone()].iter().rposition(moves);
        slots.start + last.map_or(0, |last| last + 1)..slots.end
    }

    /// Orders the large bodies by place.
    pub(super) fn build_levels(&mut self, bodies: &Bodies) {
        let (bounds, bands) = (&self.bounds, &self.bands);
        let still = self.still(bodies);
        let least = bands.height as f32;
        // The height of the bands is another one in each list. Where it swung about a power of two, every second list put all that stands still in
        // order anew.
        if self.still_height > 2.0 * least || least > 2.0 * self.still_height {
            self.still_height = least;
        }
        // All that stands still is grown alike.
        let growth = bounds.large_growth + self.margins.fastest.unwrap_or(0.0);
        let columns = [&bounds.min_s[..], &bounds.max_s, &bounds.min_b, &bounds.max_b];
        let [levels, still_levels] = &mut self.levels;
        levels.build(bodies, bands.banded..still.start, columns, least);
        still_levels.build_still(bodies, still, (bands.along_x, self.still_height, growth));
    }
}

#[cfg(test)]
mod tests {
    use crate::{BodyDesc, Settings, Shape, Vec2, World};

    /// Contract: the order of what stands still outlasts lists whose bands are a little higher or lower, on either side of a power of two.
    #[test]
    fn the_order_of_what_stands_still_lasts() {
        let mut world =
            World::new(Settings { sleep: false, gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
        for place in 0..200 {
            let at = Vec2::new(2.0 * (place % 20) as f32, 8.0 * (place / 20) as f32);
            world.add_body(&BodyDesc::fixed(Shape::oriented_box(0.5, 0.5), at)).unwrap();
        }
        let mover = |place: u32| BodyDesc {
            linear_damping: 1.0,
            ..BodyDesc::dynamic(
                Shape::circle(0.4),
                Vec2::new(2.0 * (place % 20) as f32, 4.0 + 8.0 * (place / 20) as f32),
            )
        };
        let movers: Vec<_> = (0..200).map(|place| world.add_body(&mover(place)).unwrap()).collect();
        let (mut sides, mut orders) = (Vec::new(), Vec::new());
        for step in 0..400 {
            if step % 40 == 0 {
                for (place, &body) in movers.iter().enumerate() {
                    let way = if (place / 20 + step / 40) % 2 == 0 { 8.0 } else { -8.0 };
                    world.set_velocity(body, Vec2::new(way, 0.0)).unwrap();
                }
            }
            world.step();
            sides.push(world.broadphase.bands.height < 2.0);
            orders.push(world.broadphase.still_height);
        }
        sides.dedup();
        orders.dedup();
        assert!(sides.len() > 4, "the height of the bands passed 2 m {} times", sides.len() - 1);
        assert!(orders.len() <= 2, "{orders:?}");
    }
}
