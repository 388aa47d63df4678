//! Which machine this is. Knows the host's name, asked from the kernel; starts no process.

/// The machine's name as it calls itself (`uname`'s node name); `localhost` when it has none.
///
/// Asked once per run and handed down: sessions keep the host of their first ingest (D62).
pub fn hostname() -> String {
    let names = rustix::system::uname();
    match names.nodename().to_string_lossy().trim() {
        "" => "localhost".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_machine_has_a_name() {
        let name = super::hostname();
        assert!(!name.is_empty() && !name.contains(char::is_whitespace));
    }
}
