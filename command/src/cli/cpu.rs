//! Checks that this processor has the instructions that the program is compiled for. It asks the processor itself:
//! `is_x86_feature_detected!` answers at compile time for every feature that the target enables.

/// Returns a sentence for the user that says what is missing, or `None` if nothing is.
#[inline(never)]
pub fn complaint() -> Option<String> {
    let missing = missing();
    if missing.is_empty() {
        return None;
    }
    Some(format!(
        "this build needs a processor and an operating system with {}: rebuild it for this machine with \
         RUSTFLAGS=\"-C target-cpu=native\" cargo build --release",
        missing.join(", ")
    ))
}

#[cfg(not(target_arch = "x86_64"))]
fn missing() -> Vec<&'static str> {
    Vec::new()
}

#[cfg(target_arch = "x86_64")]
fn missing() -> Vec<&'static str> {
    x86::missing(x86::cpuid, x86::saved_state)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{__cpuid_count, __get_cpuid_max, _xgetbv};

    #[derive(Clone, Copy)]
    enum Register {
        Ebx,
        Ecx,
        Edx,
    }
    use Register::{Ebx, Ecx, Edx};

    /// Name; whether the program is compiled for it; and the `cpuid` leaf, register and bit that say whether the
    /// processor has it.
    type Feature = (&'static str, bool, u32, Register, u32);

    const EXTENDED: u32 = 0x8000_0001;

    /// The features of x86-64-v3 and -v4 beyond the base of x86-64 ("x86-64 psABI", table 3.1).
    const FEATURES: &[Feature] = &[
        ("SSE3", cfg!(target_feature = "sse3"), 1, Ecx, 0),
        ("SSSE3", cfg!(target_feature = "ssse3"), 1, Ecx, 9),
        ("SSE4.1", cfg!(target_feature = "sse4.1"), 1, Ecx, 19),
        ("SSE4.2", cfg!(target_feature = "sse4.2"), 1, Ecx, 20),
        ("SSE2", cfg!(target_feature = "sse2"), 1, Edx, 26),
        ("POPCNT", cfg!(target_feature = "popcnt"), 1, Ecx, 23),
        ("CMPXCHG16B", cfg!(target_feature = "cmpxchg16b"), 1, Ecx, 13),
        ("MOVBE", cfg!(target_feature = "movbe"), 1, Ecx, 22),
        ("FMA", cfg!(target_feature = "fma"), 1, Ecx, 12),
        ("F16C", cfg!(target_feature = "f16c"), 1, Ecx, 29),
        ("AVX", cfg!(target_feature = "avx"), 1, Ecx, 28),
        ("BMI1", cfg!(target_feature = "bmi1"), 7, Ebx, 3),
        ("AVX2", cfg!(target_feature = "avx2"), 7, Ebx, 5),
        ("BMI2", cfg!(target_feature = "bmi2"), 7, Ebx, 8),
        ("LZCNT", cfg!(target_feature = "lzcnt"), EXTENDED, Ecx, 5),
        ("AVX512F", cfg!(target_feature = "avx512f"), 7, Ebx, 16),
        ("AVX512DQ", cfg!(target_feature = "avx512dq"), 7, Ebx, 17),
        ("AVX512CD", cfg!(target_feature = "avx512cd"), 7, Ebx, 28),
        ("AVX512BW", cfg!(target_feature = "avx512bw"), 7, Ebx, 30),
        ("AVX512VL", cfg!(target_feature = "avx512vl"), 7, Ebx, 31),
    ];

    /// Registers that the operating system must save when it switches threads: their name, whether the program uses
    /// them, and their bits in XCR0.
    const STATES: &[(&str, bool, u64)] = &[
        ("saved YMM registers", cfg!(target_feature = "avx"), 0b110),
        ("saved ZMM registers", cfg!(target_feature = "avx512f"), 0b1110_0110),
    ];

    /// EBX, ECX and EDX of a `cpuid` leaf.
    pub type Leaf = [u32; 3];

    /// Reads a leaf of this processor; returns zeros if it has no leaf of that number.
    pub fn cpuid(leaf: u32) -> Leaf {
        let (highest, _) = __get_cpuid_max(leaf & 0x8000_0000);
        if leaf > highest {
            return [0; 3];
        }
        let answer = __cpuid_count(leaf, 0);
        [answer.ebx, answer.ecx, answer.edx]
    }

    /// Reads XCR0, which says what registers the operating system saves. Allowed only if OSXSAVE is set.
    #[expect(unsafe_code, reason = "xgetbv is not in the base of x86-64")]
    pub fn saved_state() -> u64 {
        // SAFETY: `missing` calls this only after `cpuid` reported OSXSAVE, which means that `xgetbv` exists and is
        // enabled.
        unsafe { _xgetbv(0) }
    }

    pub fn missing(cpuid: impl Fn(u32) -> Leaf, saved_state: impl Fn() -> u64) -> Vec<&'static str> {
        let has = |leaf, register, bit| {
            let [ebx, ecx, edx] = cpuid(leaf);
            let word = match register {
                Ebx => ebx,
                Ecx => ecx,
                Edx => edx,
            };
            word >> bit & 1 == 1
        };
        let osxsave = has(1, Ecx, 27);
        let saved = if osxsave { saved_state() } else { 0 };
        let features =
            FEATURES.iter().filter(|&&(_, used, leaf, register, bit)| used && !has(leaf, register, bit));
        let states = STATES.iter().filter(|&&(_, used, bits)| used && saved & bits != bits);
        features.map(|feature| feature.0).chain(states.map(|state| state.0)).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// The machine that runs the tests has what they are compiled for.
        #[test]
        fn this_machine_will_do() {
            assert_eq!(missing(cpuid, saved_state), Vec::<&str>::new());
        }

        /// A processor without any of the features lacks everything that the program is compiled for.
        #[test]
        fn an_old_processor_lacks_what_is_used() {
            let lacking = missing(|_| [0; 3], || unreachable!("no OSXSAVE, no XGETBV"));
            assert_eq!(lacking.contains(&"AVX2"), cfg!(target_feature = "avx2"));
            assert_eq!(lacking.contains(&"FMA"), cfg!(target_feature = "fma"));
            assert!(lacking.contains(&"SSE2"));
        }

        /// A processor that has everything does not suffice if the system does not save its registers.
        #[test]
        fn the_system_must_save_the_registers() {
            let lacking = missing(|_| [u32::MAX; 3], || 0b011);
            let expected = if cfg!(target_feature = "avx") { Some("saved YMM registers") } else { None };
            assert_eq!(lacking.first().copied(), expected);
        }
    }
}
