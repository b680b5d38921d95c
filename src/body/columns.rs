//! The columns of bodies, and how all of them are resized, cleared and permuted together.

use super::BodyHandle;
use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::base::prefetch::prefetch_all;
use crate::geometry::shape::ShapeKind;
use crate::lane::padded;
use std::ops::Range;

impl ColumnSet {
    /// Prefetches the columns that each step writes.
    pub(crate) fn prefetch_state(&self) {
        let ColumnSet { pos_x, pos_y, angle, vel_x, vel_y, omega, .. } = self;
        [pos_x, pos_y, angle, vel_x, vel_y, omega].into_iter().for_each(|column| prefetch_all(column));
    }

    /// Prefetches the columns that each step only reads.
    pub(crate) fn prefetch_shape(&self) {
        let ColumnSet { inv_mass, ext_x, ext_y, radius, furthest, gravity_scale, .. } = self;
        [inv_mass, ext_x, ext_y, radius, furthest, gravity_scale]
            .into_iter()
            .for_each(|column| prefetch_all(column));
        prefetch_all(&self.outline);
        prefetch_all(&self.kind);
    }
}

/// The value in the column `follows` for a body that is not a particle, or that only its own velocity moves. See
/// `solver/midpoint.rs`.
pub(super) const NOT_BEHIND: f32 = -1.0;

/// How the body in a slot moves, or that it is frozen or gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Motion {
    Static = 0,
    Kinematic = 1,
    Dynamic = 2,
    /// A dynamic body that sleeps. Until it wakes, the step treats it as a static one.
    Asleep = 3,
    /// The body went bad. It is frozen at its last good place and takes part in no contact.
    Quarantined = 4,
    /// The body was removed. The slot is free until the next rebuild of the pair list.
    Dead = 5,
    /// The host took the body out of everything, and may bring it back: see `body/own.rs`.
    Disabled = 6,
}

/// A [`Motion`], a [`ShapeKind`] and a flag in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(u8);

impl Stored for Kind {
    fn write(&self, to: &mut Writer<'_>) {
        self.0.write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.0 = from.byte()?;
        self.check()
    }

    fn blank() -> Kind {
        Kind::default()
    }
}

const MOTION_SHIFT: u8 = 4;
const SHAPE_MASK: u8 = 15;
const MANIFOLD: u8 = 1 << 7;

/// The mobility of each kind, so that a loop over bodies need not decode them.
static MOBILITY: [f32; 256] = {
    let mut table = [0.0; 256];
    let mut number = 0;
    while number < table.len() {
        table[number] = Kind(number as u8).find_mobility();
        number += 1;
    }
    table
};

impl Kind {
    pub(crate) fn new(motion: Motion, shape: ShapeKind) -> Self {
        Kind((motion as u8) << MOTION_SHIFT | shape as u8)
    }

    /// Returns this kind with the flag set: its contacts need manifolds, see [`Kind::needs_manifold`].
    pub(crate) fn manifold(self) -> Self {
        Kind(self.0 | MANIFOLD)
    }

    /// Returns true for a body that neither a step nor a contact moves: a static or sleeping one.
    pub(crate) fn stands_still(self) -> bool {
        matches!(self.motion(), Motion::Static | Motion::Asleep)
    }

    pub(crate) const fn motion(self) -> Motion {
        match self.0 >> MOTION_SHIFT & 7 {
            0 => Motion::Static,
            1 => Motion::Kinematic,
            2 => Motion::Dynamic,
            3 => Motion::Asleep,
            4 => Motion::Quarantined,
            6 => Motion::Disabled,
            _ => Motion::Dead,
        }
    }

    pub(crate) const fn shape(self) -> ShapeKind {
        ShapeKind::from_number(self.0 & SHAPE_MASK)
    }

    /// Returns true if contacts of this body need the kernels with arms. This is so if its shape turns (a contact's normal may
    /// miss its centre), if its material brakes rolling or conveys, or if it is round and must not turn.
    pub(crate) const fn needs_manifold(self) -> bool {
        self.shape().turns() || self.0 & MANIFOLD != 0
    }

    pub(crate) fn is_round(self) -> bool {
        matches!(self.shape(), ShapeKind::Circle | ShapeKind::Particle)
    }

    pub(crate) fn is_particle(self) -> bool {
        self.shape() == ShapeKind::Particle
    }

    /// Returns true if the body takes part in contacts.
    pub(crate) const fn is_collidable(self) -> bool {
        self.0 >> MOTION_SHIFT & 7 < Motion::Quarantined as u8
    }

    /// Returns how the body counts in the order of space, as a number that lanes can compare: 0 for a half-space, and for what takes
    /// part in no contact; 2 for what needs manifolds and 1 for the rest, negative if contacts cannot move the body and it does not
    /// move by itself (static and sleeping ones).
    #[inline(always)]
    pub(crate) fn mobility(self) -> f32 {
        MOBILITY[usize::from(self.0)]
    }

    const fn find_mobility(self) -> f32 {
        let is_plane = matches!(self.shape(), ShapeKind::HalfSpace);
        if is_plane || !self.is_collidable() {
            return 0.0;
        }
        let size = if self.needs_manifold() { 2.0 } else { 1.0 };
        if matches!(self.motion(), Motion::Static | Motion::Asleep) { -size } else { size }
    }

    /// Refuses a byte that stands for no kind.
    fn check(self) -> Read {
        let (motion, shape) = (self.0 >> MOTION_SHIFT & 7, self.0 & SHAPE_MASK);
        require!(
            motion <= Motion::Disabled as u8 && shape <= ShapeKind::Compound as u8,
            "{} is no kind of body",
            self.0
        );
        Ok(())
    }

    pub(super) fn with_motion(self, motion: Motion) -> Self {
        Kind(self.0 & (SHAPE_MASK | MANIFOLD) | (motion as u8) << MOTION_SHIFT)
    }

    pub(super) fn with_manifold(self, manifold: bool) -> Self {
        Kind(self.0 & !MANIFOLD | if manifold { MANIFOLD } else { 0 })
    }

    pub(super) fn with_shape(self, shape: ShapeKind) -> Self {
        Kind(self.0 & !SHAPE_MASK | shape as u8)
    }
}

impl Default for Kind {
    fn default() -> Self {
        Kind::new(Motion::Dead, ShapeKind::Circle)
    }
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// The columns. All have the same padded length.
        #[derive(Default)]
        pub(crate) struct ColumnSet {
            $($(#[$doc])* pub(crate) $name: Vec<$type>,)*
        }

        impl ColumnSet {
            pub(super) fn resize(&mut self, len: usize) {
                $(if self.$name.is_empty() {
                    // The system's zeros: nothing is written yet.
                    let room = self.$name.capacity().max(len);
                    self.$name = vec![Default::default(); room];
                    self.$name.truncate(len);
                } else {
                    self.$name.resize(len, Default::default());
                })*
            }

            pub(super) fn reserve(&mut self, more: usize) {
                $(self.$name.reserve(more);)*
            }

            /// Fills the columns with slot `order[i]` of other columns at slot `i`, for all `i`, and pads to `len`. Columns named in
            /// `unused` hold only defaults there, and here unless they are `stale`. The slots `kept` are the same in both.
            pub(super) fn permute(
                &mut self,
                from: &ColumnSet,
                order: &[u32],
                len: usize,
                unused: &[&str],
                stale: bool,
                kept: Range<usize>,
            ) {
                // Checked here once for all columns.
                let slots = from.kind.len();
                assert!(order.iter().fold(true, |all, &slot| all & ((slot as usize) < slots)), "an order of slots");
                $(if unused.contains(&stringify!($name)) {
                    debug_assert!(from.$name.iter().all(|value| *value == <$type>::default()));
                    if stale {
                        self.$name.clear();
                    }
                    debug_assert!(self.$name.iter().all(|value| *value == <$type>::default()));
                    let room = from.$name.capacity().max(len);
                    self.$name.reserve_exact(room.saturating_sub(self.$name.len()));
                    self.$name.resize(len, Default::default());
                } else {
                    assert_eq!(from.$name.len(), slots);
                    let (new, old) = (self.$name.get(kept.clone()), from.$name.get(kept.clone()));
                    debug_assert!(new == old, "{} of bodies that stand still has changed unseen", stringify!($name));
                    #[allow(unsafe_code)]
                    // SAFETY: the order names slots below the length of the column, see above.
                    unsafe { permute(&mut self.$name, &from.$name, order, len, &kept) };
                })*
            }

            /// Puts defaults into a slot.
            pub(super) fn clear_slot(&mut self, slot: usize) {
                $(self.$name[slot] = Default::default();)*
            }

            /// Moves a slot's values to another slot and leaves defaults.
            pub(super) fn move_slot(&mut self, from: usize, to: usize) {
                $(self.$name[to] = std::mem::take(&mut self.$name[from]);)*
            }

            /// Writes the first values of all columns, each in a part of its own.
            pub(super) fn write(&self, len: usize, to: &mut Writer<'_>) {
                $(to.mark();
                Column::write(&self.$name[..len], self.reference(stringify!($name)), to);)*
            }

            /// Reads the first values of all columns. The others are defaults.
            pub(super) fn read(&mut self, len: usize, from: &mut Reader<'_>) -> Read {
                $(from.mark()?;
                // The reference is a column that was read before, and no column is its own.
                let reference = std::mem::take(&mut self.ext_x);
                let of_name = if has_reference(stringify!($name)) { &reference[..] } else { &[] };
                let mut column = std::mem::take(&mut self.$name);
                Column::read(&mut column, len, of_name, from)?;
                self.ext_x = reference;
                self.$name = column;)*
                $(self.$name.resize(padded(len), Default::default());)*
                Ok(())
            }

            /// Visits each column with its name, its length, and true if all values from `len` on are defaults.
            pub(super) fn each_column(
                &self,
                len: usize,
                mut visit: impl FnMut(&str, usize, bool) -> Result<(), String>,
            ) -> Result<(), String> {
                $({
                    let default = <$type>::default();
                    let inert = self.$name.iter().skip(len).all(|value| *value == default);
                    visit(stringify!($name), self.$name.len(), inert)?;
                })*
                Ok(())
            }
        }
    };
}

columns! {
    pos_x: f32,
    pos_y: f32,
    /// Radians, counter-clockwise, in [−π, π]. One number for this and the whole turns would lose its digits: after 200 s at
    /// 1,000 rad/s, a spin of 0.4 rad/s turned the body no more.
    angle: f32,
    /// Whole turns in addition to `angle`.
    turns: i32,
    vel_x: f32,
    vel_y: f32,
    omega: f32,
    /// Force and torque for the next step.
    force_x: f32,
    force_y: f32,
    torque: f32,
    /// 0 for static and kinematic bodies, bodies of infinite mass, and padding.
    inv_mass: f32,
    inv_inertia: f32,
    /// Those that a sleeping body has when it is awake; its `inv_mass` and `inv_inertia` are 0. 0 for all others.
    kept_inv_mass: f32,
    kept_inv_inertia: f32,
    /// The island that a sleeping body belongs to, plus 1. 0 for all others.
    island: u32,
    /// For how long the body has been slower than its threshold, s. 0 where nothing may sleep.
    rest: f32,
    /// For how long the body has not left a small circle, s, and how far it has moved there: x, y, and the way of its furthest point by turning, m. See
    /// `sleep.rs`. 0 where nothing may sleep.
    stay: f32,
    drift_x: f32,
    drift_y: f32,
    drift_turn: f32,
    /// The speed below which the body is at rest, m/s. 0 stands for that of the settings, a negative number for a body that never
    /// sleeps.
    sleep_speed: f32,
    /// For how long it has to be at rest before it sleeps, s. 0 stands for that of the settings.
    sleep_delay: f32,
    /// The radius twice, the half extents, or the unit normal: see `shape.rs`.
    ext_x: f32,
    ext_y: f32,
    /// A half-space's offset along its normal, from the world's origin. 0 for other shapes.
    ext_z: f32,
    /// The length in which the solver measures spin as ω·radius: √(2·I/m), which is a circle's radius. 0 for bodies that do
    /// not turn. 1 for shapes that turn by their own velocity only.
    radius: f32,
    /// Distance from the centre to the furthest point of a shape that turns. 0 for other shapes.
    furthest: f32,
    /// Distance from the centre to the nearest point of the edge of a shape that turns, of the thinnest part of a compound. 0 for
    /// other shapes.
    thickness: f32,
    /// The number of the shape in the world's outlines, or of the compound. Only for shapes that turn, and for axis-aligned
    /// boxes that may meet such shapes.
    outline: u32,
    gravity_scale: f32,
    /// The part of gravity that a particle followed in the last step. See `solver/midpoint.rs`.
    follows: f32,
    linear_damping: f32,
    angular_damping: f32,
    /// The number of the material in the table of distinct materials.
    material: u32,
    category: u32,
    mask: u32,
    group: u32,
    /// The name of the body, as hosts know it.
    handle: BodyHandle,
    kind: Kind,
}

/// Returns true for columns that often equal `ext_x`: those of circles do.
fn has_reference(name: &str) -> bool {
    matches!(name, "ext_y" | "radius")
}

impl ColumnSet {
    fn reference(&self, name: &str) -> &[f32] {
        if has_reference(name) { &self.ext_x } else { &[] }
    }
}

/// A value of a column, as snapshots hold it.
trait Column: Copy {
    /// Writes a column. `reference` is empty, or as long at least, and likely the same.
    fn write(column: &[Self], reference: &[f32], to: &mut Writer<'_>);
    fn read(column: &mut Vec<Self>, len: usize, reference: &[f32], from: &mut Reader<'_>) -> Read;
}

macro_rules! word_columns {
    ($($type:ty)*) => {
        $(impl Column for $type {
            fn write(column: &[Self], reference: &[f32], to: &mut Writer<'_>) {
                let words = bytemuck::cast_slice(column);
                if reference.is_empty() {
                    to.column(words);
                } else {
                    let reference = &reference[..words.len()];
                    to.column_like(words, |index| reference[index].to_bits());
                }
            }

            fn read(column: &mut Vec<Self>, len: usize, reference: &[f32], from: &mut Reader<'_>) -> Read {
                if reference.len() < len {
                    return from.column(column, len);
                }
                let reference = &reference[..len];
                from.column_like(column, len, |index| reference[index].to_bits())
            }
        })*
    };
}
word_columns!(f32 i32 u32);

impl Column for BodyHandle {
    fn write(column: &[Self], _: &[f32], to: &mut Writer<'_>) {
        // Plus 1, so that the handle of no body is small, too.
        to.small_column(column.iter().map(|handle| handle.index.wrapping_add(1)));
        to.small_column(column.iter().map(|handle| handle.generation.wrapping_add(1)));
    }

    fn read(column: &mut Vec<Self>, len: usize, _: &[f32], from: &mut Reader<'_>) -> Read {
        let (mut index, mut generation) = (Vec::new(), Vec::new());
        from.column::<u32>(&mut index, len)?;
        from.column::<u32>(&mut generation, len)?;
        column.clear();
        column.extend(index.into_iter().zip(generation).map(|(index, generation)| BodyHandle {
            index: index.wrapping_sub(1),
            generation: generation.wrapping_sub(1),
        }));
        Ok(())
    }
}

impl Column for Kind {
    fn write(column: &[Self], _: &[f32], to: &mut Writer<'_>) {
        to.small_column(column.iter().map(|kind| u32::from(kind.0)));
    }

    fn read(column: &mut Vec<Self>, len: usize, _: &[f32], from: &mut Reader<'_>) -> Read {
        let mut kinds = Vec::new();
        from.column::<u32>(&mut kinds, len)?;
        column.clear();
        column.extend(kinds.into_iter().map(|kind| Kind(kind as u8)));
        column.iter().try_for_each(|kind| kind.check())
    }
}

/// # Safety
///
/// Each place in `order` is below the length of `from`. (A check of each place took as many instructions as the rest.)
#[allow(unsafe_code)]
unsafe fn permute<T: Copy + Default>(
    column: &mut Vec<T>,
    from: &Vec<T>,
    order: &[u32],
    len: usize,
    kept: &Range<usize>,
) {
    let at = |&old: &u32| {
        debug_assert!((old as usize) < from.len());
        // SAFETY: the caller guarantees that each place is below the column's length.
        unsafe { *from.get_unchecked(old as usize) }
    };
    column.truncate(kept.end);
    // No more than the other order has: each would grow by the other's reserve.
    column.reserve_exact(from.capacity().saturating_sub(column.len()));
    for (value, old) in column[..kept.start].iter_mut().zip(order) {
        *value = at(old);
    }
    column.extend(order[kept.end..].iter().map(at));
    column.resize(len, T::default());
}
