//! Plants a difference in a world, to test that it is found.

use super::World;
use crate::body::BodyHandle;
use crate::timing::Stage;

/// A difference that the next step plants.
#[derive(Clone, Copy)]
pub(super) struct Fault {
    stage: Stage,
    body: BodyHandle,
    ulps: i32,
}

impl World {
    /// Makes the next step change a number of this body by `ulps` units in the last place, after `stage`. For tests
    /// that a difference between two worlds is found and named.
    #[doc(hidden)]
    pub fn plant_fault(&mut self, stage: Stage, body: BodyHandle, ulps: i32) {
        self.fault = Some(Fault { stage, body, ulps });
    }

    /// Plants the fault if it belongs to this stage, whose result is now complete.
    pub(super) fn plant(&mut self, stage: Stage) {
        let Some(fault) = self.fault.take_if(|fault| fault.stage == stage) else { return };
        let Ok(slot) = self.bodies.slot_of(fault.body) else { return };
        let nudge = |v: &mut f32| *v = add_ulps(*v, fault.ulps);
        let lane = self.lane_of_body(slot).map(|(tile, pair)| {
            let tile = self.contacts.all_mut().nth(tile).expect("just found");
            (tile, pair)
        });
        match (stage, lane) {
            (Stage::Bounds, _) => nudge(&mut self.broadphase.bounds.leeway[slot]),
            (Stage::Broadphase, Some((tile, index))) => nudge(&mut tile.found.pairs[index].separation),
            (Stage::Narrowphase, Some((tile, index))) => {
                if let Some((block, lane)) = tile.place(index) {
                    nudge(&mut tile.normal[block].separation[lane]);
                }
            }
            (Stage::Contacts, Some((tile, index))) => {
                if let Some((block, lane)) = tile.place(index) {
                    nudge(&mut tile.normal[block].normal_mass[lane]);
                }
            }
            (Stage::Solver, _) => nudge(&mut self.bodies.columns.vel_x[slot]),
            (Stage::Islands, _) => {
                self.bodies.any_rest = true;
                nudge(&mut self.bodies.columns.rest[slot]);
            }
            (_, None) => {}
        }
    }

    /// Returns the tile and the place of a pair of this body. Prefers a pair that is near, then one in which the body
    /// comes first.
    fn lane_of_body(&self, slot: usize) -> Option<(usize, usize)> {
        let pairs = self.contacts.all().enumerate().flat_map(|(tile_index, tile)| {
            tile.pairs().iter().enumerate().map(move |(index, pair)| (tile_index, tile, index, pair))
        });
        pairs
            .filter(|(.., pair)| pair.a as usize == slot || pair.b as usize == slot)
            .max_by_key(|(_, tile, index, pair)| {
                let active = |(block, lane): (usize, usize)| tile.info[block].active >> lane & 1;
                (tile.place(*index).map(active), pair.a as usize == slot)
            })
            .map(|(tile, _, index, _)| (tile, index))
    }
}

/// Returns the float that is `ulps` floats further; −0 and 0 count as two.
fn add_ulps(value: f32, ulps: i32) -> f32 {
    let bits = (value.to_bits() & 0x7FFF_FFFF).cast_signed();
    let ordered = if value.is_sign_negative() { -1 - bits } else { bits };
    let moved = ordered.saturating_add(ulps);
    f32::from_bits(if moved < 0 { (-1 - moved).cast_unsigned() | 1 << 31 } else { moved.cast_unsigned() })
}
