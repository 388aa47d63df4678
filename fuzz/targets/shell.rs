//! See `src/tests/hostile`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sessionmill::hostile::run("shell", data));
