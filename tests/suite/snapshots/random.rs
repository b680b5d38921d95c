//! Contract: a world that is restored after every operation of a host does what one does that is not; and no snapshot, whatever somebody
//! wrote into it, makes a world that panics.
#![cfg(feature = "scene")]

use crate::fuzz_corpus::targets;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    /// Random operations, with a save, a restore, a clone and a difference after each; and the recording of it all.
    #[test]
    fn restored_worlds_do_the_same(data in prop::collection::vec(any::<u8>(), 0..700)) {
        targets::snapshots(&data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    /// Some bytes of a snapshot are others, and the checksum fits.
    #[test]
    fn made_up_snapshots_do_no_harm(data in prop::collection::vec(any::<u8>(), 20..260)) {
        targets::made_up(&data);
    }
}
