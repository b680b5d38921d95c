//! The order of the slots. There are two: the present one, and the one before or after it.

use super::Bodies;
use super::columns::ColumnSet;
use crate::lane::padded;

/// The same bodies in another order.
#[derive(Default)]
pub(super) struct OtherOrder {
    columns: ColumnSet,
    slot: Vec<u32>,
    len: usize,
    /// Columns that no body uses may hold anything: forces have come and gone, or the bodies are those of a snapshot.
    pub(super) stale: bool,
}

impl Bodies {
    /// Puts the slots into this order, drops those that it does not name, and updates the handle table.
    ///
    /// The former order stays: [`Bodies::change_order`] goes back to it.
    pub(crate) fn permute(&mut self, order: &[u32]) {
        // Columns that no body uses need no permutation. They are a quarter of the columns in most worlds, and 2 % of the time of a
        // step that makes a list of circles.
        let features: [(bool, &[&str]); 7] = [
            (self.any_force, &["force_x", "force_y", "torque"]),
            (self.any_damping, &["linear_damping", "angular_damping"]),
            (self.any_filter, &["group"]),
            (self.any_manifold, &["furthest", "thickness"]),
            (self.any_sleep, &["kept_inv_mass", "kept_inv_inertia", "island"]),
            (self.any_rest, &["rest"]),
            (self.any_sleep_limit, &["sleep_speed", "sleep_delay"]),
        ];
        let mut unused = [""; 14];
        let names = features.iter().filter(|(any, _)| !any).flat_map(|(_, names)| *names);
        names.zip(&mut unused).for_each(|(name, place)| *place = name);
        self.change_order();
        let stale = std::mem::replace(&mut self.other.stale, self.any_force);
        self.columns.permute(&self.other.columns, order, padded(order.len()), &unused, stale);
        self.len = order.len();
        self.slot.clone_from(&self.other.slot);
        for (slot, handle) in self.columns.handle[..self.len].iter().enumerate() {
            self.slot[handle.index as usize] = slot as u32;
        }
    }

    /// Goes over to the order before the last permutation, and back.
    pub(crate) fn change_order(&mut self) {
        let OtherOrder { columns, slot, len, stale: _ } = &mut self.other;
        std::mem::swap(&mut self.columns, columns);
        std::mem::swap(&mut self.slot, slot);
        std::mem::swap(&mut self.len, len);
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
        ];
        for (_, column, other) in columns.into_iter().filter(|(any, ..)| *any) {
            for (value, &old) in column.iter_mut().zip(order) {
                *value = other.get(old as usize).copied().unwrap_or(0.0);
            }
        }
    }
}
