//! A world uses the instruction set that it was given, or refuses it.

use super::busy_world;
use granule::{Error, Isa, Settings, World};

/// Contract: a world uses the instruction set that it is given, or refuses it with an error that lists the processor's
/// instruction sets. `Auto` is the best of them, unless the environment names another. A change of the instruction set
/// does not change the state.
#[test]
fn levels_are_those_of_the_processor() {
    let sets: Vec<Isa> = Isa::available().collect();
    assert!(sets.starts_with(&[Isa::Scalar, Isa::Portable]), "{sets:?}");
    assert!(sets.is_sorted_by_key(|isa| isa.lanes()), "{sets:?}");
    for isa in [Isa::Scalar, Isa::Portable, Isa::Avx2, Isa::Avx512] {
        let made = World::new(Settings { isa, ..Settings::default() });
        let mut changed = World::new(Settings::default()).unwrap();
        let before = changed.isa();
        if sets.contains(&isa) {
            assert!(isa.is_available());
            assert_eq!(made.unwrap().isa(), isa);
            changed.set_isa(isa).unwrap();
            assert_eq!((changed.isa(), changed.settings().isa), (isa, isa));
        } else {
            assert!(!isa.is_available());
            let names = sets.iter().map(|isa| isa.name()).collect::<Vec<_>>().join(", ");
            let expected = Error::Isa { isa: isa.name(), available: names };
            assert_eq!(made.err(), Some(expected.clone()));
            assert_eq!(changed.set_isa(isa), Err(expected));
            assert_eq!((changed.isa(), changed.settings().isa), (before, Isa::Auto));
        }
    }
    let auto = World::new(Settings::default()).unwrap();
    assert!(auto.settings().isa == Isa::Auto && sets.contains(&auto.isa()));
    assert_eq!(auto.isa().lanes(), Isa::Auto.lanes());
    if std::env::var_os(Isa::VARIABLE).is_none() {
        assert_eq!(Some(auto.isa()), Isa::available().next_back());
    }

    let (mut reference, mut mixed) = (busy_world().0, busy_world().0);
    reference.set_isa(Isa::Scalar).unwrap();
    for (step, isa) in Isa::available().chain([Isa::Auto]).cycle().take(40).enumerate() {
        mixed.set_isa(isa).unwrap();
        assert_eq!(reference.state_hash(), mixed.state_hash(), "before step {step}, {isa}");
        reference.step();
        mixed.step();
        assert_eq!(reference.state_hash(), mixed.state_hash(), "after step {step}, {isa}");
    }
}
