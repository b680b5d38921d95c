//! Updates contacts of shapes that turn: manifolds, and the arms by which impulses turn the bodies.
//!
//! ```text
//! for each kind with manifolds, for each block, WIDTH contacts at a time:
//!     placements, outlines → manifold: normal, two points
//!     same features as in the last step? → impulses stay with their points
//!     points → arms about the bodies' centres, effective masses → into the block
//! ```
//!
//! An *arm* says how much a unit impulse at a point changes a body's spin. It is r × n along the normal and
//! r × t = r · n along the tangent, divided by the length k in which that body's spin is measured (`radius` in
//! `body/columns.rs`). The spin is u = ω·k, with k² = 2·I/m. So an impulse λ changes u by 2·arm·λ/m, and the point
//! moves at arm·u. The solver needs no moments of inertia, and its rows stay four numbers.

use super::lead::{self, Led, lead};
use super::{Step, gather};
use crate::base::prefetch::{MANIFOLD_AHEAD, prefetch};
use crate::body::FAST;
use crate::contacts::{BLOCK, BlockInfo, FRESH, FrictionBlock, LANDED, ManifoldBlock, NormalBlock, Tile};
use crate::formula::{parting, parting_by_turns, point_inv_mass};
use crate::lane::{Lane, Mask, RowOffset, lane_entry, pair};
use crate::narrowphase::manifold::{Manifold, OutlineRows, Placement, Point, V};
use crate::narrowphase::shapes::{FromExtents, FromRows, NO_FEATURE, OutlineSource, Shapes, touch};
use crate::narrowphase::{NO_CONTACT, PairKind};

/// Updates all contacts with a manifold of a tile.
///
/// # Safety
///
/// The step must have every row that the tile's blocks name: `update` in `contacts/update.rs` asserts it.
#[allow(unsafe_code)]
pub(super) unsafe fn update<L: Lane>(tile: &mut Tile, step: &Step<'_>) {
    for kind in PairKind::MANIFOLD {
        for index in tile.blocks_of(kind) {
            let ahead = index + MANIFOLD_AHEAD;
            prefetch(&tile.normal, ahead);
            prefetch(&tile.friction, ahead);
            if let Some(info) = tile.info.get(ahead) {
                prefetch(&tile.manifold, info.manifold as usize);
            }
            // SAFETY: the caller guarantees that the step has every row that the blocks name.
            unsafe {
                match usize::from(tile.info[index].count) {
                    0..=1 => update_any::<f32>(tile, step, kind, index),
                    lanes if lanes <= L::Narrow::WIDTH => update_any::<L::Narrow>(tile, step, kind, index),
                    _ => update_any::<L>(tile, step, kind, index),
                }
            }
        }
    }
}

/// Updates a block by the kernel for its outlines.
///
/// # Safety
///
/// The conditions of [`update`] must hold.
#[allow(unsafe_code)]
unsafe fn update_any<L: Lane>(tile: &mut Tile, step: &Step<'_>, kind: PairKind, index: usize) {
    // SAFETY: the caller guarantees that the step has every row that the blocks name.
    unsafe {
        match tile.info[index].capacity {
            0 | 1 => update_block::<L, FromExtents, 4>(tile, step, kind, index),
            2 => update_block::<L, FromRows, 2>(tile, step, kind, index),
            3..8 => update_block::<L, FromRows, 4>(tile, step, kind, index),
            _ => update_block::<L, FromRows, 8>(tile, step, kind, index),
        }
    }
}

/// The columns of one of the two points, from the present lane on.
struct PointColumns<'a> {
    separation: &'a mut [f32],
    normal_impulse: &'a mut [f32],
    normal_mass: &'a mut [f32],
}

/// What the two bodies contribute to the effective mass, A first.
#[derive(Clone, Copy)]
pub(super) struct Weights<L: Lane> {
    pub inv_mass: [L; 2],
    /// Vectors from the bodies' centres to the centre of A's shape. `inv_spin` is one over the lengths in which the
    /// bodies' spins are measured.
    pub offset: [V<L>; 2],
    pub inv_spin: [L; 2],
}

lane_entry! {
    /// # Safety
    ///
    /// The conditions of [`update`] must hold.
    unsafe fn update_block[F: OutlineSource<N>, const N: usize][F, N](
        tile: &mut Tile,
        step: &Step<'_>,
        kind: PairKind,
        index: usize,
    ) = update_block_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn update_block_lanes<L: Lane, F: OutlineSource<N>, const N: usize>(
    tile: &mut Tile,
    step: &Step<'_>,
    kind: PairKind,
    index: usize,
) {
    let info = &mut tile.info[index];
    let mut update = Update {
        block: &mut tile.normal[index],
        friction: &mut tile.friction[index],
        manifold: &mut tile.manifold[info.manifold as usize],
        step,
        kind,
    };
    let (mut touching, mut active) = (0, 0);
    for i in BlockInfo::vectors::<L>(info.used()) {
        // SAFETY: the caller guarantees that the step has every row that the blocks name.
        let (touch, near) = unsafe { update.lanes::<L, F, N>(i) };
        touching |= touch << i;
        active |= near << i;
    }
    info.touching = touching as u16 & info.used();
    info.active = active as u16 & info.used();
}

/// Returns whether a mask is set in all lanes.
#[inline(always)]
fn all<L: Lane>(mask: L::Mask) -> bool {
    mask.bits() == ((1u64 << L::WIDTH) - 1) as u32
}

/// A block with a manifold while it is updated.
struct Update<'a> {
    block: &'a mut NormalBlock,
    friction: &'a mut FrictionBlock,
    manifold: &'a mut ManifoldBlock,
    step: &'a Step<'a>,
    kind: PairKind,
}

/// What `WIDTH` contacts need of their shapes and bodies, of A and of B.
struct Bodies<L: Lane> {
    sizes: [[L; 4]; 2],
    placements: [Placement<L>; 2],
    vel: [[L; 4]; 2],
    weights: Weights<L>,
}

/// The motions of both bodies of `WIDTH` contacts.
struct Motions<L: Lane> {
    vel_a: [L; 4],
    vel_b: [L; 4],
    weights: Weights<L>,
    /// How far both bodies lead the start of the step, see [`Led`].
    moved: [[L; 4]; 2],
    /// The speed of B against A along the normal, without spins.
    along_normal: L,
    /// How far both shapes turn against each other in this step at most, rad. Only for fixed kinds.
    turned: L,
}

/// How far bodies may turn in a step, rad, for their points to count as moving straight on. What turns faster would be stopped
/// in mid-air by a face that it turns away from; continuous collision stops it where it really meets one.
pub(crate) const STRAIGHT: f32 = 0.25;

/// Finds the lanes in which a contact would be made ahead of time with a fast body, and how far A's shape moves against B until it gets to B's face. It may get
/// past the face's end on its way. (A slower one is near that end if so. Without its contacts a cart that landed on pieces of a chain turned over.)
#[inline(always)]
fn arrival<L: Lane>(
    step: &Step<'_>,
    manifold: &Manifold<L>,
    weights: &Weights<L>,
    vel: [&[L; 4]; 2],
    thickness: L,
) -> (L::Mask, V<L>) {
    let zero = L::splat(0.0);
    let relative = weights.relative(vel).neg();
    let approach = relative.dot(manifold.normal);
    let gap = manifold.gap();
    let time_step = L::splat(step.time_step);
    let ahead =
        gap.ge(L::splat(step.speculative)).and((gap - time_step * approach).lt(zero)).and(manifold.flat);
    let time = (gap / L::select(ahead, approach, L::splat(1.0))).max(zero).min(time_step);
    let (way, least) = (relative.scaled(time), L::splat(FAST) * thickness);
    (ahead.and(way.dot(way).gt(least * least)), way)
}

/// `is`, but in the lanes of `ahead` only where `there` is true as well.
#[inline(always)]
pub(super) fn not_unless<L: Lane>(is: L::Mask, ahead: L::Mask, there: L::Mask) -> L::Mask {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let lost = L::select(ahead, L::select(there, zero, one), zero);
    is.and(lost.le(zero))
}

/// The result of updating one point of `WIDTH` contacts.
struct Updated<L: Lane> {
    tangent_arms: [L; 2],
    near: L::Mask,
    touching: L::Mask,
}

#[allow(unsafe_code)]
impl Update<'_> {
    /// Gathers size and placement of the shapes at `WIDTH` rows.
    ///
    /// # Safety
    ///
    /// The conditions of [`update`] must hold.
    #[inline(always)]
    unsafe fn shape<L: Lane>(&self, at: &[RowOffset]) -> ([L; 4], Placement<L>) {
        // SAFETY: the caller guarantees that the step has every row that the blocks name.
        unsafe { (gather::<L>(self.step.shape, at), Placement::new(gather::<L>(self.step.placement, at))) }
    }

    /// Gathers what `WIDTH` contacts from lane `i` on need of their shapes and bodies.
    ///
    /// # Safety
    ///
    /// The conditions of [`update`] must hold.
    #[inline(always)]
    unsafe fn bodies<L: Lane>(&self, i: usize) -> Bodies<L> {
        let step = self.step;
        let (a, b) = (&self.block.a[i..i + L::WIDTH], &self.block.b[i..i + L::WIDTH]);
        let of_block = &*self.manifold;
        // SAFETY: the caller guarantees that the step has every row that the blocks name.
        let ((size_a, placement_a), (size_b, placement_b), vel_a, vel_b, [centre_a, centre_b]) = unsafe {
            (
                self.shape::<L>(&of_block.shape_a[i..i + L::WIDTH]),
                self.shape::<L>(&of_block.shape_b[i..i + L::WIDTH]),
                gather::<L>(step.vel, a),
                gather::<L>(step.vel, b),
                [
                    Placement::new(gather::<L>(step.placement, a)).centre,
                    Placement::new(gather::<L>(step.placement, b)).centre,
                ],
            )
        };
        let weights = Weights {
            inv_mass: [vel_a[3], vel_b[3]],
            offset: [placement_a.centre.sub(centre_a), placement_a.centre.sub(centre_b)],
            inv_spin: [L::load(&of_block.inv_spin_a[i..]), L::load(&of_block.inv_spin_b[i..])],
        };
        Bodies {
            sizes: [size_a, size_b],
            placements: [placement_a, placement_b],
            vel: [vel_a, vel_b],
            weights,
        }
    }

    /// Updates `WIDTH` contacts from lane `i` on. Returns which touch and which are near, as bits.
    ///
    /// # Safety
    ///
    /// The conditions of [`update`] must hold.
    #[inline(always)]
    unsafe fn lanes<L: Lane, F: OutlineSource<N>, const N: usize>(&mut self, i: usize) -> (u32, u32) {
        let (step, kind) = (self.step, self.kind);
        let (speculative, zero) = (L::splat(step.speculative), L::splat(0.0));
        // SAFETY: the conditions of this function.
        let Bodies {
            sizes: [size_a, size_b],
            placements: [placement_a, placement_b],
            vel: [vel_a, vel_b],
            weights,
        } = unsafe { self.bodies::<L>(i) };
        // Those that are marked as `STRUCK`, which is read once.
        let closing = L::load(&self.block.closing_speed[i..]);
        let struck = closing.lt(L::splat(FRESH)).and(closing.gt(L::splat(LANDED)));
        if struck.bits() != 0 {
            L::select(struck, zero, closing).store(&mut self.block.closing_speed[i..]);
        }
        let of_block = &*self.manifold;
        // Most pairs of a list are too far apart to touch in this step, whatever their outlines. The distance of the
        // centres tells these. (Of 150,000 pairs of a tumbling load 20,000 were near, and the manifolds of the others
        // took 3 ms.)
        let reach = L::load(&of_block.reach_sum[i..]);
        let mut margin = speculative;
        if kind.is_fixed() {
            margin = margin + L::splat(step.time_step) * weights.approach(&vel_a, &vel_b, reach);
        }
        let way = placement_b.centre.sub(placement_a.centre);
        let possible = way.dot(way).lt((reach + margin) * (reach + margin));
        if possible.bits() == 0 {
            store_far::<L>(self.block, self.friction, self.manifold, i);
            return (0, 0);
        }
        let (of_a, of_b) = (&of_block.outline_a[i..i + L::WIDTH], &of_block.outline_b[i..i + L::WIDTH]);
        // SAFETY: the caller guarantees that the step has every row that the blocks name.
        let (of_a, of_b) = unsafe {
            (OutlineRows::new_unchecked(step.outlines, of_a), OutlineRows::new_unchecked(step.outlines, of_b))
        };
        let impulses = [&self.block.normal_impulse, &of_block.second.normal_impulse];
        let [first, second] = pair!(p => L::load(&impulses[p][i..]));
        let loaded = first.max(second).gt(zero).or(struck);
        let limit = lead::limit(step, L::load(&of_block.thickness[i..]));
        let Led { moved, placements: placed, weights } =
            lead(step, (loaded, limit), &[placement_a, placement_b], [&vel_a, &vel_b], &weights);
        let mut shape_a = Shapes { size: size_a, placement: placed[0], outlines: of_a };
        let shape_b = Shapes { size: size_b, placement: placed[1], outlines: of_b };
        let mut manifold = touch::<L, F, N>(kind, &shape_a, &shape_b);
        clear_far(&mut manifold, possible);
        if kind.is_fixed() {
            let thickness = size_a[2].min(size_a[3]);
            let (ahead, way) = arrival(step, &manifold, &weights, [&vel_a, &vel_b], thickness);
            if ahead.bits() != 0 {
                shape_a.placement.centre = shape_a.placement.centre.add(way);
                let there = touch::<L, F, N>(kind, &shape_a, &shape_b);
                manifold.flat = not_unless::<L>(manifold.flat, ahead, there.gap().lt(speculative));
            }
        }
        let normal = manifold.normal;
        normal.x.store(&mut self.block.normal_x[i..]);
        normal.y.store(&mut self.block.normal_y[i..]);
        let along_normal = parting(&vel_a, &vel_b, [normal.x, normal.y]);
        keep_impulses::<L>(&manifold, self.block, &mut self.friction.tangent_impulse, self.manifold, i);
        let mut turned = zero;
        if kind.is_fixed() {
            let omega = weights.spins(&vel_a, &vel_b);
            // The turn of a round shape moves no point of its edge towards the other.
            let of_a = if kind.is_round() { zero } else { omega[0].abs() };
            turned = L::splat(step.time_step) * (of_a + omega[1].abs());
        }
        let motions = Motions { vel_a, vel_b, weights, moved, along_normal, turned };
        let nowhere = zero.gt(zero);
        let (mut near_any, mut touch_any) = (nowhere, nowhere);
        let (mut tangent_arms, mut nears) = ([[zero; 2]; 2], [nowhere; 2]);
        for p in 0..if kind.has_two_points() { 2 } else { 1 } {
            let point = self.point(p, &manifold, &motions, i);
            (tangent_arms[p], nears[p]) = (point.tangent_arms, point.near);
            near_any = near_any.or(point.near);
            touch_any = touch_any.or(point.touching);
        }
        self.store_tangent(tangent_arm(tangent_arms, nears), near_any, &motions.weights, i);
        (touch_any.bits(), near_any.bits())
    }

    /// Stores what the friction of a manifold needs. One without a near point has none.
    #[inline(always)]
    fn store_tangent<L: Lane>(&mut self, arms: [L; 2], near: L::Mask, weights: &Weights<L>, i: usize) {
        let zero = L::splat(0.0);
        arms[0].store(&mut self.manifold.arms.tangent[0][i..]);
        arms[1].store(&mut self.manifold.arms.tangent[1][i..]);
        L::select(near, weights.mass(arms), zero).store(&mut self.friction.tangent_mass[i..]);
        if !all::<L>(near) {
            let impulse = L::load(&self.friction.tangent_impulse[i..]);
            L::select(near, impulse, zero).store(&mut self.friction.tangent_impulse[i..]);
        }
    }

    /// Stores point `p` of a manifold, with its arms and its effective mass.
    #[inline(always)]
    fn point<L: Lane>(
        &mut self,
        p: usize,
        manifold: &Manifold<L>,
        motions: &Motions<L>,
        i: usize,
    ) -> Updated<L> {
        let Motions { vel_a, vel_b, weights, moved: [moved_a, moved_b], along_normal, .. } = motions;
        let (time_step, slop) = (L::splat(self.step.time_step), L::splat(self.step.slop));
        let (far, zero) = (L::splat(NO_CONTACT), L::splat(0.0));
        let Point { place, separation, feature } = manifold.points[p];
        let of_block = &mut *self.manifold;
        feature.store(&mut of_block.feature[p][i..]);
        // From where the centre of A's shape is at the start.
        let [shift_x, shift_y] = pair!(axis => moved_a[axis]);
        (place.x + shift_x).store(&mut of_block.place[p][0][i..]);
        (place.y + shift_y).store(&mut of_block.place[p][1][i..]);
        let second = &mut of_block.second;
        let kept = if p == 0 {
            PointColumns {
                separation: &mut self.block.separation[i..],
                normal_impulse: &mut self.block.normal_impulse[i..],
                normal_mass: &mut self.block.normal_mass[i..],
            }
        } else {
            PointColumns {
                separation: &mut second.separation[i..],
                normal_impulse: &mut second.normal_impulse[i..],
                normal_mass: &mut second.normal_mass[i..],
            }
        };
        let levers = weights.levers(place);
        let [arm_a, arm_b] = weights.along(&levers, manifold.normal);
        arm_a.store(&mut of_block.arms.normal[p][0][i..]);
        arm_b.store(&mut of_block.arms.normal[p][1][i..]);
        let mut tangent_arms = weights.along(&levers, manifold.normal.left());
        let back = parting(moved_a, moved_b, [manifold.normal.x, manifold.normal.y])
            + parting_by_turns(moved_a, moved_b, [arm_a, arm_b]);
        let separation = L::select(separation.lt(far), separation - back, separation);
        if self.kind.is_fixed() {
            // Friction acts on A's surface, but `place` is midway between the surfaces: while there is a gap, A's arm
            // is shorter by half of it.
            let gap = L::select(separation.lt(far), separation.max(zero), zero);
            tangent_arms[0] = tangent_arms[0] - L::splat(0.5) * gap * weights.inv_spin[0];
        }
        let spins = parting_by_turns(vel_a, vel_b, [arm_a, arm_b]);
        let predicted = separation + time_step * (*along_normal + spins);
        let mut near = separation.lt(L::splat(self.step.speculative));
        if self.kind.is_fixed() {
            let ahead = predicted.lt(zero).and(manifold.flat).and(separation.lt(far));
            near = near.or(ahead.and(motions.turned.lt(L::splat(self.step.straight))));
        }
        L::select(near, separation, far).store(kept.separation);
        // A point that is not near has no mass: with long arms, a body that spins away at 10¹⁴ rad/s would close any gap.
        L::select(near, weights.mass([arm_a, arm_b]), zero).store(kept.normal_mass);
        if !all::<L>(near) {
            L::select(near, L::load(kept.normal_impulse), zero).store(kept.normal_impulse);
        }
        let touching = separation.le(slop).or(predicted.le(zero)).and(near);
        Updated { tangent_arms, near, touching }
    }
}

/// Gives lanes that are too far apart fixed values, so that they are the same at every width, whichever lanes are beside them.
#[inline(always)]
fn clear_far<L: Lane>(manifold: &mut Manifold<L>, possible: L::Mask) {
    manifold.normal = V::select(possible, manifold.normal, V::splat(1.0, 0.0));
    for point in &mut manifold.points {
        point.separation = L::select(possible, point.separation, L::splat(NO_CONTACT));
        point.feature = L::select(possible, point.feature, L::splat(NO_FEATURE));
    }
}

/// Stores contacts that cannot touch in this step.
#[inline(always)]
fn store_far<L: Lane>(
    block: &mut NormalBlock,
    friction: &mut FrictionBlock,
    of_block: &mut ManifoldBlock,
    i: usize,
) {
    let (zero, far) = (L::splat(0.0), L::splat(NO_CONTACT));
    L::splat(1.0).store(&mut block.normal_x[i..]);
    zero.store(&mut block.normal_y[i..]);
    let second = &mut of_block.second;
    for separation in [&mut block.separation, &mut second.separation] {
        far.store(&mut separation[i..]);
    }
    for value in [
        &mut block.normal_impulse,
        &mut block.normal_mass,
        &mut friction.tangent_impulse,
        &mut friction.tangent_mass,
        &mut second.normal_impulse,
        &mut second.normal_mass,
    ] {
        zero.store(&mut value[i..]);
    }
    for feature in &mut of_block.feature {
        L::splat(NO_FEATURE).store(&mut feature[i..]);
    }
}

impl<L: Lane> Weights<L> {
    /// Returns an upper bound of the speed at which any point of one shape approaches the other.
    #[inline(always)]
    fn approach(&self, vel_a: &[L; 4], vel_b: &[L; 4], reach: L) -> L {
        let omega = self.spins(vel_a, vel_b);
        let relative = self.relative([vel_a, vel_b]);
        relative.x.abs() + relative.y.abs() + reach * (omega[0].abs() + omega[1].abs())
    }

    /// Returns the velocity of B against A at the centre of A's shape.
    #[inline(always)]
    fn relative(&self, vel: [&[L; 4]; 2]) -> V<L> {
        let omega = self.spins(vel[0], vel[1]);
        let [of_a, of_b] = pair!(body => {
            V::new(vel[body][0], vel[body][1]).add(self.offset[body].left().scaled(omega[body]))
        });
        of_b.sub(of_a)
    }

    /// Returns both bodies' angular velocities.
    #[inline(always)]
    fn spins(&self, vel_a: &[L; 4], vel_b: &[L; 4]) -> [L; 2] {
        [vel_a[2] * self.inv_spin[0], vel_b[2] * self.inv_spin[1]]
    }

    /// Returns the vectors from both bodies' centres to a point. `place` counts from the centre of A's shape.
    #[inline(always)]
    fn levers(&self, place: V<L>) -> [V<L>; 2] {
        pair!(body => place.add(self.offset[body]))
    }

    /// Returns the arms of an impulse along `direction`, a unit vector.
    #[inline(always)]
    fn along(&self, levers: &[V<L>; 2], direction: V<L>) -> [L; 2] {
        pair!(body => {
            (levers[body].x * direction.y - levers[body].y * direction.x) * self.inv_spin[body]
        })
    }

    /// Returns the effective mass of an impulse with these arms.
    #[inline(always)]
    fn mass(&self, arms: [L; 2]) -> L {
        let weights = pair!(body => point_inv_mass(self.inv_mass[body], arms[body]));
        L::splat(1.0) / (weights[0] + weights[1])
    }
}

/// Returns the arms of friction: the mean of both points' arms, or those of the only point that is near.
#[inline(always)]
fn tangent_arm<L: Lane>(arms: [[L; 2]; 2], near: [L::Mask; 2]) -> [L; 2] {
    let half = L::splat(0.5);
    pair!(body => {
        let (first, second) = (arms[0][body], arms[1][body]);
        let with_second = L::select(near[0], half * (first + second), second);
        L::select(near[1], with_second, first)
    })
}

/// Moves each point's impulse to where the point is now. Points are recognised by their features.
#[inline(always)]
fn keep_impulses<L: Lane>(
    manifold: &Manifold<L>,
    block: &mut NormalBlock,
    tangent_impulse: &mut [f32; BLOCK],
    of_block: &mut ManifoldBlock,
    i: usize,
) {
    let zero = L::splat(0.0);
    let old = pair!(p => L::load(&of_block.feature[p][i..]));
    let new = pair!(p => manifold.points[p].feature);
    let same = equal(old[0], new[0]).and(equal(old[1], new[1]));
    if same.bits() == ((1u64 << L::WIDTH) - 1) as u32 {
        return;
    }
    let second = &mut of_block.second;
    let impulses = [L::load(&block.normal_impulse[i..]), L::load(&second.normal_impulse[i..])];
    for (p, to) in [&mut block.normal_impulse, &mut second.normal_impulse].into_iter().enumerate() {
        let crossed = L::select(equal(old[1 - p], new[p]), impulses[1 - p], zero);
        L::select(equal(old[p], new[p]), impulses[p], crossed).store(&mut to[i..]);
    }
    // A point that does not exist has `NO_FEATURE`, which is negative, and keeps no friction.
    let stays = pair!(p => new[p].ge(zero).and(equal(old[0], new[p]).or(equal(old[1], new[p]))));
    let tangent = L::load(&tangent_impulse[i..]);
    L::select(stays[0].or(stays[1]), tangent, zero).store(&mut tangent_impulse[i..]);
}

#[inline(always)]
fn equal<L: Lane>(a: L, b: L) -> L::Mask {
    a.le(b).and(a.ge(b))
}
