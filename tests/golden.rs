//! The golden states: every processor must reach them, bit for bit.

use granule::Isa;

include!("golden/scenes.rs");

/// Contract: with every instruction set, the golden scenes end in the states whose hashes are in
/// `tests/golden/scenes.rs`.
///
/// A change of the physics changes the hashes. Then replace the hashes, with the results of any machine: CI shows
/// whether the other processors agree.
#[test]
fn states_are_the_same_everywhere() {
    let mut differ = Vec::new();
    for golden in &SCENES {
        for isa in [Isa::Auto].into_iter().chain(Isa::available()) {
            let hash = hash(golden, isa);
            if hash != golden.hash {
                let Golden { name, bodies, hash: expected } = golden;
                differ.push(format!("{name} of {bodies} with {isa}: {hash:#018x}, not {expected:#018x}"));
            }
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}
