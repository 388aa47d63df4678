//! Each fuzz target over its seeds and over mutations of them: the same ones every time.

use super::TARGETS;
use std::path::{Path, PathBuf};

/// Mutations of each seed. More is what `make fuzz` is for.
const MUTATIONS: u64 = 60;
/// Seeds stay small enough to be read.
const SEED_BYTES_MAX: usize = 4 << 10;
/// Of one target.
const SEEDS_MAX: usize = 30;

#[test]
fn nothing_hostile_breaks_a_target() {
    for (name, target) in TARGETS {
        for (path, seed) in seeds(name) {
            eprintln!("{}", path.display());
            target(&seed);
            for n in 0..MUTATIONS {
                let mutant = mutated(&seed, n);
                let caught = std::panic::catch_unwind(|| target(&mutant));
                assert!(
                    caught.is_ok(),
                    "{name}: {:?}",
                    String::from_utf8_lossy(&mutant)
                );
            }
        }
    }
}

#[test]
fn seeds_are_few_and_small() {
    for (name, _) in TARGETS {
        let seeds = seeds(name);
        assert!(
            (1..=SEEDS_MAX).contains(&seeds.len()),
            "{name}: {} seeds",
            seeds.len()
        );
        for (path, seed) in seeds {
            assert!(seed.len() <= SEED_BYTES_MAX, "{}", path.display());
        }
    }
}

#[test]
fn every_target_is_a_fuzz_target() {
    let fuzz = root().join("fuzz");
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).expect("the fuzz crate");
    for (name, _) in TARGETS {
        let main = fuzz.join(format!("targets/{name}.rs"));
        let main = std::fs::read_to_string(main).expect("a target's file");
        assert!(main.contains(&format!("run(\"{name}\"")), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn seeds(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = root().join("fuzz/seeds").join(name);
    let files = walkdir::WalkDir::new(folder).sort_by_file_name();
    let files = files.into_iter().filter_map(Result::ok);
    files
        .filter(|file| file.file_type().is_file())
        .map(|file| {
            (
                file.path().to_owned(),
                std::fs::read(file.path()).expect("a seed"),
            )
        })
        .collect()
}

/// A few bytes changed, dropped, repeated or put in, by a linear congruential generator.
fn mutated(seed: &[u8], n: u64) -> Vec<u8> {
    const BYTES: [u8; 16] = *b"\"\\{}[],:\n\0\xff\xe9u-9 ";
    let mut state = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.len() as u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let mut bytes = seed.to_vec();
    for _ in 0..1 + next(4) {
        let from = next(bytes.len());
        let to = (from + 1 + next(40)).min(bytes.len());
        match next(5) {
            0 => drop(bytes.drain(from..to)),
            1 => {
                let again = bytes[from..to].to_vec();
                let at = next(bytes.len());
                bytes.splice(at..at, again);
            }
            2 => bytes.truncate(from),
            3 => bytes.insert(from, BYTES[next(BYTES.len())]),
            _ if !bytes.is_empty() => bytes[from] = BYTES[next(BYTES.len())],
            _ => {}
        }
    }
    bytes
}
