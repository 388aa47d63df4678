//! Words for a POSIX shell.

/// One word, quoted where it has to be.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Words for a command that takes no options behind them: behind `--` where one would be read as an option.
pub fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(word).collect();
    let is_option = quoted.iter().any(|word| word.starts_with('-'));
    let before = if is_option { "-- " } else { "" };
    format!("{before}{}", quoted.join(" "))
}
