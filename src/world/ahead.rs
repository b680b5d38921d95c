//! The pair list of the next step, found at the end of this one.
//!
//! A new list has three parts: the order of space, the sweep, and the blocks of contacts. The end of a step knows whether the next step
//! needs a new list. If so, the bodies are put in order there and then, and so much of the sweep is done that both steps take about as long
//! ([`LastList::part_ahead`](crate::broadphase::LastList::part_ahead)). The next step would find the same bodies at the same places, so no
//! result changes: not one bit.
//!
//! The host does not see it. The bodies are put into their new order, the sweep runs over the first tiles, and they are put back
//! ([`Bodies::change_order`](crate::body::Bodies::change_order)); the new order, its bounds and its pairs wait. Any call that could change them
//! ([`World::record`]) makes them worthless, and this part is then paid for twice. So pairs are found ahead only after some steps without
//! such a call: at first one, twice as many with each list that was found in vain, and half as many with each row of
//! [`TRUSTED`] lists that were taken.

use super::World;
use super::pairs::{ListState, Search};
use crate::base::room::at_least;
use crate::broadphase::{Broadphase, looks_ahead};
use crate::crew::Crew;

/// The most steps without a call that are waited for.
const MOST_PATIENCE: u32 = 63;
/// The number of lists to be taken in a row before less is waited for.
const TRUSTED: u32 = 16;

/// What the last step found for the next list.
#[derive(Default)]
pub(super) struct Ahead {
    /// The other of two broadphases: in turns, one has the present list, and the other the next or the last one.
    pub broadphase: Broadphase,
    /// There is something. How many bodies were asleep, and the number of steps.
    found: Option<(usize, u64)>,
    /// The host has changed something since the last step.
    touched: bool,
    /// The number of steps since the host changed something.
    calm: u32,
    /// The number of such steps after which pairs are found ahead, without the first one.
    patience: u32,
    /// How many lists were taken since one was found in vain, or since `patience` changed.
    taken: u32,
    /// The extents of the bodies before the search, which turns them to the present angles.
    extents: [Vec<f32>; 2],
}

impl Ahead {
    /// Learns from a list that was found ahead, and taken or not.
    fn judge(&mut self, is_taken: bool) {
        if !is_taken {
            (self.patience, self.taken) = ((2 * self.patience + 1).min(MOST_PATIENCE), 0);
        } else if self.taken < TRUSTED {
            self.taken += 1;
        } else {
            (self.patience, self.taken) = (self.patience / 2, 0);
        }
    }
}

impl World {
    /// Notes a call that may change what was found ahead.
    #[inline]
    pub(super) fn touch(&mut self) {
        self.ahead.touched = true;
    }

    /// Returns true if the last step found the pairs that a new list has now. They can be taken once.
    pub(super) fn take_ahead(&mut self) -> bool {
        let found = self.ahead.found.take();
        let is_taken = !self.ahead.touched && found == Some((self.bodies.asleep_count, self.step_count));
        if found.is_some() {
            self.ahead.judge(is_taken);
        }
        is_taken
    }

    /// Makes room to find as much ahead as the present list has, so that the first time allocates nothing.
    pub(super) fn make_room_ahead(&mut self) {
        let World { ahead, broadphase, bodies, .. } = self;
        if looks_ahead(bodies.len) {
            ahead.broadphase.make_room_like(broadphase);
            if bodies.any_manifold {
                let [x, y] = &mut ahead.extents;
                at_least(x, bodies.columns.ext_x.capacity());
                at_least(y, bodies.columns.ext_y.capacity());
            }
        }
    }

    /// Returns true if nothing is to be found ahead.
    pub(super) fn needs_no_list(&self) -> bool {
        !looks_ahead(self.bodies.len) || self.list.holds()
    }

    /// Reads the state of the list, and the bodies. If the next step needs a new list, puts its order and the pairs of its first
    /// tiles aside.
    pub(super) fn look_ahead(&mut self, crew: &Crew<'_>) {
        self.ahead.found = None;
        let calm =
            if std::mem::take(&mut self.ahead.touched) { 0 } else { self.ahead.calm.saturating_add(1) };
        self.ahead.calm = calm;
        if calm <= self.ahead.patience || !looks_ahead(self.bodies.len) || !self.is_list_over() {
            return;
        }
        let turning = self.bodies.any_manifold;
        let c = &mut self.bodies.columns;
        if turning {
            let [x, y] = &mut self.ahead.extents;
            x.clone_from(&c.ext_x);
            y.clone_from(&c.ext_y);
        }
        let search = Search::of(self);
        let World { ahead: Ahead { broadphase: next, .. }, broadphase, bodies, contacts, .. } = self;
        next.follow(broadphase);
        next.exchange_memory(broadphase);
        search.order(next, bodies, crew);
        contacts.search(next, bodies, 0..next.tiles_ahead, self.level, crew);
        next.exchange_memory(broadphase);
        bodies.change_order();
        // What grew here grows in the present list, too: otherwise another step would allocate for it.
        self.broadphase.make_room_like(&self.ahead.broadphase);
        self.contacts.make_room_ahead(self.ahead.broadphase.tiles_ahead, &self.bodies);
        if turning {
            let c = &mut self.bodies.columns;
            let [x, y] = &mut self.ahead.extents;
            std::mem::swap(x, &mut c.ext_x);
            std::mem::swap(y, &mut c.ext_y);
        }
        // As of the next step.
        self.ahead.found = Some((self.bodies.asleep_count, self.step_count + 1));
    }

    /// Returns true if the next step makes a new list whatever happens until then.
    fn is_list_over(&mut self) -> bool {
        let left = self.left.get_mut().expect("no worker panicked");
        match self.list {
            ListState::Void | ListState::Expired => true,
            ListState::Left => !self.broadphase.can_loosen(left, 0),
            ListState::Found | ListState::New | ListState::Holds => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{BodyDesc, Settings, Shape, Vec2, World};

    /// Contract: a world that is only stepped takes the pairs of nearly all lists from the step before. One whose host calls it
    /// before each step, or each few steps, finds next to nothing in vain, nor does one of few bodies.
    #[test]
    fn lists_are_found_ahead() {
        let none = || 0.0..=0.0;
        let some = || 0.0..=1.0;
        let cases = [
            (10, 0, 0.9..=1.0),
            (10, 1, none()),
            (10, 2, some()),
            (10, 3, some()),
            (10, 5, some()),
            (7, 0, none()),
        ];
        for (side, every, expected) in cases {
            let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
            for (x, y) in (0..side * side).map(|i| (i / side, i % side)) {
                let velocity = Vec2::new(3.0 * (y - 5) as f32, 2.0 * (5 - x) as f32);
                let circle = BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(x as f32, y as f32));
                world.add_body(&BodyDesc { velocity, ..circle }).unwrap();
            }
            let body = world.handles().next().unwrap();
            let (mut lists, mut taken, mut in_vain) = (0, 0, 0);
            for step in 0..300 {
                let calls = every > 0 && step % every == 0;
                if calls {
                    world.set_gravity_scale(body, 1.0).unwrap();
                }
                let found = world.ahead.found.is_some();
                world.step();
                let made = step > 1 && world.broadphase.bounds.steps == 1;
                lists += usize::from(made);
                taken += usize::from(made && found && !calls);
                in_vain += usize::from(found && calls);
            }
            assert!(lists >= 10, "{lists} lists");
            let part = taken as f64 / lists as f64;
            assert!(
                expected.contains(&part),
                "{taken} of {lists} lists, side {side}, a call each {every} steps"
            );
            assert!(in_vain <= 5, "{in_vain} lists found in vain, a call each {every} steps");
        }
    }
}
