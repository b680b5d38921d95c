//! The order of the slots. There are two: the present one, and the one before or after it.

use super::Bodies;
use super::columns::ColumnSet;
use crate::base::ranges::without;
use crate::lane::padded;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The slots of bodies that stand still, static and sleeping ones, behind all that move. They cost nothing in a step as long as nobody changes them:
/// what a step, or a list, makes of them is there from the one before. Memory, not state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Still {
    slots: Range<usize>,
    /// Another number after each change of these slots, or of a body in them. No two worlds have the same. 0 until the next step if something
    /// has changed.
    epoch: u64,
}

/// The last epoch of any world.
static LAST_EPOCH: AtomicU64 = AtomicU64::new(0);

/// The same bodies in another order.
#[derive(Default)]
pub(super) struct OtherOrder {
    columns: ColumnSet,
    slot: Vec<u32>,
    len: usize,
    still: Still,
    /// Columns that no body uses may hold anything: forces have come and gone, or the bodies are those of a snapshot.
    pub(super) stale: bool,
}

impl Still {
    fn known_from(&self, known: Option<&Still>) -> Range<usize> {
        if self.epoch > 0 && known == Some(self) { self.slots.clone() } else { 0..0 }
    }
}

impl Bodies {
    /// Puts the slots into this order, drops those that it does not name, and updates the handle table. The new slots `still` are
    /// those of bodies that stand still.
    ///
    /// The former order stays: [`Bodies::change_order`] goes back to it.
    pub(crate) fn permute(&mut self, order: &[u32], still: Range<usize>) {
        // Columns that no body uses need no permutation. They are a quarter of the columns in most worlds, and 2 % of the time of a
        // step that makes a list of circles.
        let features: [(bool, &[&str]); 7] = [
            (self.any_force, &["force_x", "force_y", "torque"]),
            (self.any_damping, &["linear_damping", "angular_damping"]),
            (self.any_filter, &["group"]),
            (self.any_manifold, &["furthest", "thickness"]),
            (self.any_sleep, &["kept_inv_mass", "kept_inv_inertia", "island"]),
            (self.any_rest, &["rest", "stay", "drift_x", "drift_y", "drift_turn"]),
            (self.any_sleep_limit, &["sleep_speed", "sleep_delay"]),
        ];
        let mut unused = [""; 18];
        let names = features.iter().filter(|(any, _)| !any).flat_map(|(_, names)| *names);
        names.zip(&mut unused).for_each(|(name, place)| *place = name);
        self.change_order();
        let stale = std::mem::replace(&mut self.other.stale, self.any_force);
        let last = &self.other.still;
        let stay = last.slots == still
            && order[still.clone()].iter().zip(still.clone()).all(|(&old, new)| old as usize == new);
        // Two lists ago, the same bodies had the same slots, and were as they are.
        let kept = if stay { last.known_from(Some(&self.still)) } else { 0..0 };
        self.columns.permute(&self.other.columns, order, padded(order.len()), &unused, stale, kept);
        self.len = order.len();
        self.slot.clone_from(&self.other.slot);
        for slots in without(0..self.len, &if stay { still.clone() } else { 0..0 }) {
            for (slot, handle) in (slots.start..).zip(&self.columns.handle[slots]) {
                self.slot[handle.index as usize] = slot as u32;
            }
        }
        if stay {
            self.still = self.other.still.clone();
        } else {
            self.set_still(still);
        }
    }

    /// Notes that the bodies in these slots stand still, and that nothing is known of them from the step before.
    pub(crate) fn set_still(&mut self, slots: Range<usize>) {
        self.still.slots = slots;
        self.change_still();
    }

    /// Notes that a body that stands still may have changed.
    #[inline]
    pub(crate) fn change_still(&mut self) {
        self.still.epoch = 0;
    }

    /// Begins a new epoch, if a body that stands still has changed.
    pub(crate) fn renew_still(&mut self) {
        if self.still.epoch == 0 {
            self.still.epoch = 1 + LAST_EPOCH.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The slots of bodies that stand still, behind all that move. Others may stand still elsewhere.
    pub(crate) fn still(&self) -> Range<usize> {
        self.still.slots.clone()
    }

    /// What to keep with what was made of the bodies that stand still; `None` if they have changed since the last step.
    pub(crate) fn known_still(&self) -> Option<Still> {
        (self.still.epoch > 0).then(|| self.still.clone())
    }

    /// Returns the slots of the bodies that stand still and are as they were, with the same slots, when `known` was.
    pub(crate) fn still_since(&self, known: Option<&Still>) -> Range<usize> {
        self.still.known_from(known)
    }

    /// Goes over to the order before the last permutation, and back.
    pub(crate) fn change_order(&mut self) {
        let OtherOrder { columns, slot, len, still, stale: _ } = &mut self.other;
        std::mem::swap(&mut self.columns, columns);
        std::mem::swap(&mut self.slot, slot);
        std::mem::swap(&mut self.len, len);
        std::mem::swap(&mut self.still, still);
    }

    /// Takes from the other order, of which this one is `order`, what calls may change that leave the pairs as they are: forces, and for how
    /// long bodies have been at rest. Slots that are new have nothing.
    pub(crate) fn take_pushes(&mut self, order: &[u32]) {
        self.other.stale |= self.any_force;
        let (c, other) = (&mut self.columns, &self.other.columns);
        let columns = [
            (self.any_force, &mut c.force_x, &other.force_x),
            (self.any_force, &mut c.force_y, &other.force_y),
            (self.any_force, &mut c.torque, &other.torque),
            (self.any_rest, &mut c.rest, &other.rest),
            (self.any_rest, &mut c.stay, &other.stay),
            (self.any_rest, &mut c.drift_x, &other.drift_x),
            (self.any_rest, &mut c.drift_y, &other.drift_y),
            (self.any_rest, &mut c.drift_turn, &other.drift_turn),
        ];
        for (_, column, other) in columns.into_iter().filter(|(any, ..)| *any) {
            for (value, &old) in column.iter_mut().zip(order) {
                *value = other.get(old as usize).copied().unwrap_or(0.0);
            }
        }
    }
}
