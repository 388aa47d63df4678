//! How patterns of cues are written. Also part of the build script.

/// With brackets that hold more than ASCII, as `[-•]`, told as `(?:[-]|•)`: an engine of bytes has no others.
pub fn text_of_bytes(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((inside, behind)) = after.split_once(']') else {
            break;
        };
        out.push_str(before);
        let (ascii, wide): (String, String) = inside.chars().partition(char::is_ascii);
        let wide: Vec<String> = wide.chars().map(String::from).collect();
        let all: Vec<String> = [format!("[{ascii}]")]
            .into_iter()
            .filter(|it| it != "[]")
            .chain(wide)
            .collect();
        match all.as_slice() {
            [class] => out.push_str(class),
            several => out.push_str(&format!("(?:{})", several.join("|"))),
        }
        rest = behind;
    }
    out + rest
}

/// What a pattern is known by (FNV-1a): to look it up must cost less than to read it.
pub fn print(pattern: &str) -> u64 {
    pattern.bytes().fold(0xcbf2_9ce4_8422_2325, |print, byte| {
        (print ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
