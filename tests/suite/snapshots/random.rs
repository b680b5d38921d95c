//! Contract: a world that is restored after every operation of a host does what one does that is not; and no snapshot, whatever somebody
//! wrote into it, makes a world that panics. The fuzz targets of the same names go on from here.
#![cfg(feature = "scene")]

use crate::fuzz_corpus::targets;

/// Random bytes, the same in each run: the worlds of the first target are held to the laws of mechanics too, which have limits of their own.
fn inputs(count: usize, lengths: std::ops::Range<usize>) -> impl Iterator<Item = Vec<u8>> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 32
    };
    (0..count).map(move |_| {
        let len = lengths.start + next() as usize % lengths.len();
        (0..len).map(|_| next() as u8).collect()
    })
}

/// Random operations, with a save, a restore, a clone and a difference after each; and the recording of it all.
#[test]
fn restored_worlds_do_the_same() {
    inputs(250, 0..700).for_each(|data| targets::snapshots(&data));
}

/// Some bytes of a snapshot are others, and the checksum fits.
#[test]
fn made_up_snapshots_do_no_harm() {
    inputs(3_000, 24..40).for_each(|data| targets::made_up(&data));
}

/// Inputs that once broke a target.
#[test]
fn what_once_broke_a_target() {
    // A compound whose parts have rows far beyond those of the world.
    targets::made_up(&[0xED, 0x0A, 0x16, 0, 0, 0x9C, 0, 0xA0, 0x11, 0x34, 0x78]);
    // Islands that fell asleep beside each other: a contact point was in the list of one of them, and `contacts_of` looked into the other.
    targets::snapshots(include_bytes!("../../../fuzz/corpus/worlds/sleeps-beside-another-island"));
    // A part of a compound with another number in the order of space.
    targets::made_up(&[
        0x61, 0x31, 0x67, 0x65, 0x61, 0x67, 0x25, 0x62, 0x67, 0x00, 0x61, 0x67, 0x65, 0x62, 0x61, 0x72, 0x61,
        0x72,
    ]);
    // The slot of a removed body, with an outline that is none.
    targets::made_up(&[0x04, 0x27, 0x07, 0x01, 0x00, 0x30, 0xD4, 0xD4, 0xC4, 0x67, 0x00]);
}
