//! The kernels of links between particles and centres: the vectors between linked bodies at the start of a step
//! ("ways"), rigid links, and soft and one-sided links.

use super::{BLOCK, RigidBlock, SoftBlock};
use crate::lane::{HalfRow, Lane, Mask, lane_entry};

/// The columns that a sweep changes, by place: [`Verlet::moved`] and [`Verlet::turned`].
#[derive(Clone, Copy)]
pub(super) struct Nodes {
    pub moved: *mut HalfRow,
    pub turned: *mut f32,
}

lane_entry! {
    /// Stores the vectors from A to B of all links, at the start of a step.
    ///
    /// # Safety
    ///
    /// The places of the blocks are below the number of bases.
    pub(super) unsafe fn note_ways[][](rigid: &mut [RigidBlock], soft: &mut [SoftBlock], base: &[HalfRow]) = note_ways_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn note_ways_lanes<L: Lane>(rigid: &mut [RigidBlock], soft: &mut [SoftBlock], base: &[HalfRow]) {
    // SAFETY: the caller guarantees that the places are below the number of bases.
    unsafe {
        for RigidBlock { a, b, way_x, way_y, .. } in rigid {
            ways::<L>(base, a, b, way_x, way_y);
        }
        for SoftBlock { a, b, way_x, way_y, .. } in soft {
            ways::<L>(base, a, b, way_x, way_y);
        }
    }
}

/// # Safety
///
/// The caller guarantees that the places are below the number of bases.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn ways<L: Lane>(
    base: &[HalfRow],
    a: &[u32; BLOCK],
    b: &[u32; BLOCK],
    x: &mut [f32; BLOCK],
    y: &mut [f32; BLOCK],
) {
    for i in (0..BLOCK).step_by(L::WIDTH) {
        debug_assert!(a.iter().chain(b).all(|&at| (at as usize) < base.len()));
        let base = base.as_ptr();
        // SAFETY: the caller guarantees that the places are below the number of bases.
        let (a, b) = unsafe { (L::gather_half_rows(base, &a[i..]), L::gather_half_rows(base, &b[i..])) };
        (b[0] - a[0]).store(&mut x[i..]);
        (b[1] - a[1]).store(&mut y[i..]);
    }
}

lane_entry! {
    /// Solves blocks of rigid links, in order or in the opposite order.
    ///
    /// # Safety
    ///
    /// The same as for [`rigid`].
    pub(super) unsafe fn sweep_rigid[const BACKWARD: bool][BACKWARD](blocks: &[RigidBlock], nodes: Nodes) = sweep_rigid_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn sweep_rigid_lanes<L: Lane, const BACKWARD: bool>(blocks: &[RigidBlock], nodes: Nodes) {
    for i in 0..blocks.len() {
        let block = &blocks[if BACKWARD { blocks.len() - 1 - i } else { i }];
        // SAFETY: the caller keeps the contract of `rigid`.
        unsafe { rigid::<L>(block, nodes, BACKWARD) };
    }
}

lane_entry! {
    /// Solves blocks of soft links, in order or in the opposite order.
    ///
    /// # Safety
    ///
    /// The same as for [`soft`].
    pub(super) unsafe fn sweep_soft[const BACKWARD: bool][BACKWARD](blocks: &mut [SoftBlock], nodes: Nodes, per_h2: f32) = sweep_soft_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn sweep_soft_lanes<L: Lane, const BACKWARD: bool>(
    blocks: &mut [SoftBlock],
    nodes: Nodes,
    per_h2: f32,
) {
    let len = blocks.len();
    for i in 0..len {
        let block = &mut blocks[if BACKWARD { len - 1 - i } else { i }];
        // SAFETY: the caller keeps the contract of `soft`.
        unsafe { soft::<L>(block, nodes, per_h2, BACKWARD) };
    }
}

/// Solves rigid links: x_A += by_a·s·d, x_B −= by_b·s·d with d from A to B and s = 1 − length/|d|.
///
/// # Safety
///
/// The same as for [`LinkTile::solve`]. The lanes share no body, unless `L` is one lane wide.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn rigid<L: Lane>(block: &RigidBlock, nodes: Nodes, backward: bool) {
    for first in (0..BLOCK).step_by(L::WIDTH) {
        let i = if backward { BLOCK - L::WIDTH - first } else { first };
        let (a_at, b_at) = (&block.a[i..i + L::WIDTH], &block.b[i..i + L::WIDTH]);
        // SAFETY: the caller has these nodes to itself, and each named node exists.
        let (mut a, mut b) =
            unsafe { (L::gather_half_rows(nodes.moved, a_at), L::gather_half_rows(nodes.moved, b_at)) };
        let dx = L::load(&block.way_x[i..]) + (b[0] - a[0]);
        let dy = L::load(&block.way_y[i..]) + (b[1] - a[1]);
        // Two points in one place have no direction: they stay there with any finite s.
        let distance = (dx * dx + dy * dy).max(L::splat(f32::MIN_POSITIVE)).sqrt();
        let s = L::splat(1.0) - L::load(&block.length[i..]) / distance;
        let (by_a, by_b) = (s * L::load(&block.by_a[i..]), s * L::load(&block.by_b[i..]));
        a[0] = a[0] + dx * by_a;
        a[1] = a[1] + dy * by_a;
        b[0] = b[0] - dx * by_b;
        b[1] = b[1] - dy * by_b;
        // SAFETY: the caller has these nodes to itself, and each named node exists.
        unsafe {
            L::scatter_half_rows(nodes.moved, a_at, a);
            L::scatter_half_rows(nodes.moved, b_at, b);
        }
    }
}

/// Solves soft and one-sided links: λ' = clamp(λ − stiffness·(C + α̃·λ)/(w + α̃)); x_A −= w_A·Δλ·n, x_B += w_B·Δλ·n.
///
/// # Safety
///
/// The same as for [`rigid`].
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn soft<L: Lane>(block: &mut SoftBlock, nodes: Nodes, per_h2: f32, backward: bool) {
    for first in (0..BLOCK).step_by(L::WIDTH) {
        let i = if backward { BLOCK - L::WIDTH - first } else { first };
        let (a_at, b_at) = (&block.a[i..i + L::WIDTH], &block.b[i..i + L::WIDTH]);
        // SAFETY: the caller has these nodes to itself, and each named node exists.
        let (mut a, mut b) =
            unsafe { (L::gather_half_rows(nodes.moved, a_at), L::gather_half_rows(nodes.moved, b_at)) };
        let dx = L::load(&block.way_x[i..]) + (b[0] - a[0]);
        let dy = L::load(&block.way_y[i..]) + (b[1] - a[1]);
        let distance = (dx * dx + dy * dy).sqrt();
        let zero = L::splat(0.0);
        let error = distance - L::load(&block.length[i..]);
        let compliance = L::load(&block.compliance[i..]) * L::splat(per_h2);
        let old = L::load(&block.lambda[i..]);
        let (inv_mass_a, inv_mass_b) = (L::load(&block.inv_mass_a[i..]), L::load(&block.inv_mass_b[i..]));
        let denominator = inv_mass_a + inv_mass_b + compliance;
        let wanted = L::load(&block.stiffness[i..]) * ((error + compliance * old) / denominator);
        let new = (old - wanted).max(L::load(&block.lowest[i..])).min(L::load(&block.highest[i..]));
        // The link acts if one end can move and the link has a direction.
        let moves = denominator.gt(zero).and(distance.gt(zero));
        let new = L::select(moves, new, old);
        new.store(&mut block.lambda[i..]);
        let s = L::select(moves, (new - old) / distance, zero);
        let (by_a, by_b) = (s * inv_mass_a, s * inv_mass_b);
        a[0] = a[0] - dx * by_a;
        a[1] = a[1] - dy * by_a;
        b[0] = b[0] + dx * by_b;
        b[1] = b[1] + dy * by_b;
        // SAFETY: the caller has these nodes to itself, and each named node exists.
        unsafe {
            L::scatter_half_rows(nodes.moved, a_at, a);
            L::scatter_half_rows(nodes.moved, b_at, b);
        }
    }
}
