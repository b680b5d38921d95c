//! Contract: a world that is restored after every operation of a host does what one does that is not; and no snapshot, whatever somebody
//! wrote into it, makes a world that panics. The fuzz targets of the same names go on from here.
#![cfg(feature = "scene")]

use super::saved;
use crate::fuzz_corpus::targets;
use granule::{BodyDesc, Settings, Shape, Vec2, World};

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

/// Discs that sleep, and others of all sizes that fly about and make new lists: a save, a restore and a clone before each step. (What new lists knew of
/// sleepers was their margins of some list before. A restored world and a clone found others, and took other bodies for large ones.)
#[test]
fn restored_sleepers_do_the_same() {
    for seed in 0..4u32 {
        let mut bytes = inputs(1_000, 97..98).flatten().skip(997 * seed as usize);
        let mut unit =
            || (f32::from(bytes.next().unwrap()) + f32::from(bytes.next().unwrap()) / 256.0) / 256.0;
        let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() }).unwrap();
        let mut size =
            |i: u32| if i < 190 { 0.1 * 16.0f32.powf(unit()) } else { 2.6 + 0.13 * (i - 190) as f32 };
        let sizes: Vec<f32> = (0..200).map(&mut size).collect();
        let mut at = |side: f32| side * Vec2::new(unit(), unit());
        let discs: Vec<_> = (0..200u32)
            .map(|i| {
                let disc =
                    BodyDesc::dynamic(Shape::circle(sizes[i as usize]), Vec2::new(4.0 * i as f32, -500.0));
                let flies = BodyDesc {
                    position: at(40.0),
                    velocity: at(40.0) - Vec2::splat(20.0),
                    linear_damping: 1.0,
                    ..disc
                };
                world.add_body(if i < 100 { &disc } else { &flies }).unwrap()
            })
            .collect();
        for step in 0..240 {
            if step == 3 {
                discs[..100].iter().for_each(|&disc| world.sleep_body(disc).unwrap());
            }
            let mut others = [World::from_snapshot(&saved(&world)).unwrap(), world.clone()];
            world.step();
            for other in &mut others {
                other.step();
                assert_eq!(world.state_hash(), other.state_hash(), "seed {seed}, step {step}");
            }
        }
    }
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
