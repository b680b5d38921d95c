//! The part of a track in which things are still sought, for trees of boxes.

use super::{Track, TrackPart, meets};
use crate::broadphase::tree::{Node, Region};
use crate::lane::{Lane, MAX_WIDTH, Mask};

/// The part of a track up to a fraction of its way, in the world's axes.
pub(in crate::broadphase) struct PartOfTrack<'a> {
    track: &'a Track,
    part: TrackPart,
}

impl<'a> PartOfTrack<'a> {
    pub(in crate::broadphase) fn new(track: &'a Track, limit: f64) -> Self {
        PartOfTrack { track, part: track.segment(false, limit) }
    }

    pub(in crate::broadphase) fn end_at(&mut self, limit: f64) {
        self.part = self.track.segment(false, limit);
    }
}

impl Region for PartOfTrack<'_> {
    #[inline(always)]
    fn meets<L: Lane>(&self, node: &Node) -> u32 {
        let vectors = (0..MAX_WIDTH).step_by(L::WIDTH);
        vectors.fold(0, |found, i| found | meets(&self.part, node.load::<L>(i)).bits() << i)
    }
}
