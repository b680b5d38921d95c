//! Strays: what is out of the bounds that it had when the list was made, so that queries need no new list.
//!
//! A list is made anew at the beginning of a step. Before that, after a step in which bodies left their margins, or after edits, queries
//! looked at every body: 500 µs among 20,000, and not 0.7. But how far a body is out of its bounds is known. Where it is
//! not far, all boxes that are looked up are grown by that; the few that are far (struck, thrown, put elsewhere by hand) are looked at
//! one by one.

use super::Bounds;
use crate::lane::Lane;

/// Besides one in so many bodies there may be so many that are far out.
const FEW: usize = 64;
const SHARE: usize = 1024;

/// What is out of its bounds.
#[derive(Default)]
pub(crate) struct Strays {
    /// Slots that are far out, in order.
    slots: Vec<u32>,
    /// No other body is further out than this, m.
    excess: f32,
    /// Further than this is far.
    near: f32,
    /// The furthest that a body is out of them, those that are far too.
    most: f32,
    room: usize,
}

impl Strays {
    /// None, in a world of so many bodies; further than `near` is far.
    pub(crate) fn clear(&mut self, bodies: usize, near: f32) {
        self.slots.clear();
        (self.excess, self.most, self.near) = (0.0, 0.0, near);
        self.room = FEW + bodies / SHARE;
        // One more, to show that there are more.
        self.slots.reserve(self.room + 1);
    }

    /// The same before a step, whose end is looked at next.
    pub(crate) fn begin(&mut self) {
        self.slots.clear();
        (self.excess, self.most) = (0.0, 0.0);
    }

    /// A body that is so far out.
    pub(crate) fn note(&mut self, slot: usize, out: f32) {
        self.most = self.most.max(out);
        if out <= self.near {
            self.excess = self.excess.max(out);
        } else if self.slots.len() <= self.room {
            self.slots.push(slot as u32);
        }
    }

    /// After the last was noted, in any order.
    pub(crate) fn end(&mut self) {
        if self.slots.len() > self.room {
            self.slots.clear();
            self.excess = self.most;
        }
        self.slots.sort_unstable();
    }

    /// A body whose place or shape was changed by hand.
    pub(crate) fn displace(&mut self, slot: usize) {
        if let Err(place) = self.slots.binary_search(&(slot as u32)) {
            if self.slots.len() > self.room {
                // As good as looking at all.
                self.slots.clear();
                self.excess = f32::INFINITY;
            } else if self.excess.is_finite() {
                self.slots.insert(place, slot as u32);
            }
        }
    }

    pub(crate) fn excess(&self) -> f32 {
        self.excess
    }

    pub(crate) fn slots(&self) -> &[u32] {
        &self.slots
    }

    pub(crate) fn contains(&self, slot: usize) -> bool {
        !self.slots.is_empty() && self.slots.binary_search(&(slot as u32)).is_ok()
    }
}

impl Bounds {
    /// By how much a body is out of its bounds, at least 0.
    pub(crate) fn excess(&self, slot: usize, [x, y]: [f32; 2], turned: Option<[f32; 2]>) -> f32 {
        let moved_x = x - self.built_x[slot] - self.frame_x[slot] * self.age;
        let moved_y = y - self.built_y[slot] - self.frame_y[slot] * self.age;
        let used = turned.map_or(0.0, |[angle, arm]| {
            let way = (angle - self.built_angle[slot]).abs();
            arm * way.min((std::f32::consts::TAU - way).abs())
        });
        ((moved_x * moved_x + moved_y * moved_y).sqrt() + used - self.reach[slot]).max(0.0)
    }

    /// Notes which of these lanes are out of their bounds.
    #[cold]
    pub(crate) fn note_strays<L: Lane>(
        &self,
        first: usize,
        lanes: u32,
        [x, y]: [L; 2],
        turned: Option<[L; 2]>,
        strays: &std::sync::Mutex<Strays>,
    ) {
        let values = |v: L| {
            let mut values = [0.0; crate::lane::MAX_WIDTH];
            v.store(&mut values);
            values
        };
        let (x, y, turned) = (values(x), values(y), turned.map(|turned| turned.map(values)));
        let outs = (0..L::WIDTH).filter(|lane| lanes >> lane & 1 == 1).filter_map(|lane| {
            let turned = turned.map(|turned| turned.map(|values| values[lane]));
            let out = self.excess(first + lane, [x[lane], y[lane]], turned);
            (out > 0.0).then_some((first + lane, out))
        });
        let mut outs = outs.peekable();
        if outs.peek().is_some() {
            let mut strays = strays.lock().expect("no worker panicked");
            outs.for_each(|(slot, out)| strays.note(slot, out));
        }
    }
}
