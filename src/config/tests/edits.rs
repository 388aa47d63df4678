//! Changing one key and nothing else.

use super::super::edit::{Edited, set_enabled, set_excluded};
use super::World;
use std::fs;

/// File, before, after.
const IN_PLACE: &[(&str, &str, &str)] = &[
    (
        "a.json",
        "{\"session_tracking\":{\"enabled\":false}}",
        "{\"session_tracking\":{\"enabled\":true}}",
    ),
    (
        "b.json",
        "{\n  \"version\": \"2.0.0\",\n  \"session_tracking\": {\n    \"keep_length_days\":   3\n  }\n}\n",
        "{\n  \"version\": \"2.0.0\",\n  \"session_tracking\": {\n    \"enabled\": true,\n    \"keep_length_days\":   3\n  }\n}\n",
    ),
    (
        "c.json",
        "{\r\n\t\"version\" : \"2.0.0\"\r\n}",
        "{\r\n\t\"session_tracking\": {\r\n\t\t\"enabled\": true\r\n\t},\r\n\t\"version\" : \"2.0.0\"\r\n}",
    ),
    (
        "d.json",
        "{}",
        "{\"session_tracking\": {\n  \"enabled\": true\n}}",
    ),
    (
        "e.json",
        "{\"chunk\":{}}",
        "{\"session_tracking\": {\"enabled\":true},\"chunk\":{}}",
    ),
    (
        "f.yaml",
        "# mine\nsession_tracking: # all of it\n  enabled:   false  # not yet\nchunk: {}\n",
        "# mine\nsession_tracking: # all of it\n  enabled:   true  # not yet\nchunk: {}\n",
    ),
    (
        "g.yaml",
        "# mine\nsession_tracking:\n    # days\n    keep_length_days: ~\n",
        "# mine\nsession_tracking:\n    # days\n    enabled: true\n    keep_length_days: ~\n",
    ),
    (
        "h.yml",
        "# mine\nchunk:\n  max_exchanges: 3",
        "# mine\nchunk:\n  max_exchanges: 3\nsession_tracking:\n  enabled: true\n",
    ),
    (
        "i.yaml",
        "session_tracking: {enabled: false, subagents: true}\n",
        "session_tracking: {enabled: true, subagents: true}\n",
    ),
    (
        "j.yaml",
        "session_tracking: {subagents: true}\r\n",
        "session_tracking: {\"enabled\": true,subagents: true}\r\n",
    ),
    (
        "k.yaml",
        "{chunk: {}}\n...\n",
        "{\"session_tracking\": {\"enabled\":true},chunk: {}}\n...\n",
    ),
    (
        "l.yaml",
        "chunk: {}\n...\n",
        "session_tracking:\n  enabled: true\nchunk: {}\n...\n",
    ),
];

#[test]
fn one_key_changes_and_every_other_byte_stays() {
    for (name, before, after) in IN_PLACE {
        let world = World::new();
        let file = world.put(name, before).config(name);
        assert_eq!(set_enabled(&file, true), Ok(Edited::Changed), "{name}");
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text, *after, "{name}");
        assert_eq!(set_enabled(&file, true), Ok(Edited::Same), "{name}");
    }
}

#[test]
fn folders_are_excluded_and_let_in_again() {
    for (name, before, after) in [
        ("a.json", "{\n  \"chunk\": {}\n}\n", None),
        (
            "b.json",
            "{\"session_tracking\": {\"excluded_paths\": [\"/x\"]}}",
            None,
        ),
        (
            "c.yaml",
            "session_tracking:\n  excluded_paths:\n    # never\n    - /x\nchunk: {}\n",
            Some(
                "session_tracking:\n  excluded_paths:\n    # never\n    - \"/p/a b\"\n    - /x\nchunk: {}\n",
            ),
        ),
        (
            "d.yaml",
            "session_tracking:\n  excluded_paths: ['/x']\n",
            Some("session_tracking:\n  excluded_paths: [\"/p/a b\", '/x']\n"),
        ),
        (
            "e.yaml",
            "session_tracking:\n  enabled: true\n",
            Some("session_tracking:\n  excluded_paths: [\"/p/a b\"]\n  enabled: true\n"),
        ),
    ] {
        let world = World::new();
        let file = world.put(name, before).config(name);
        let read = || fs::read_to_string(&file).unwrap();
        assert_eq!(
            set_excluded(&file, "/p/a b", true),
            Ok(Edited::Changed),
            "{name}"
        );
        assert!(after.is_none_or(|a| a == read()), "{name}: {}", read());
        assert_eq!(
            set_excluded(&file, "/p/a b", true),
            Ok(Edited::Same),
            "{name}"
        );
        match set_excluded(&file, "/p/a b", false) {
            Ok(edited) => assert_eq!(edited, Edited::Changed, "{name}"),
            Err(e) => assert!(e.hint.unwrap().contains("by hand"), "{name}"),
        }
        assert!(
            !name.ends_with("json") || !read().contains("/p/a b"),
            "{name}"
        );
    }
}

#[test]
fn a_missing_file_is_created_for_its_owner_only() {
    let world = World::new();
    for (name, wants) in [
        (
            "deep/er/graphiti.config.json",
            "{\n  \"version\": \"2.0.0\",\n  \"session_tracking\": {\n    \"enabled\": true\n  }\n}\n",
        ),
        (
            "other/graphiti.config.yaml",
            "version: \"2.0.0\"\nsession_tracking:\n  enabled: true\n",
        ),
    ] {
        let file = world.config(name);
        assert_eq!(set_enabled(&file, true), Ok(Edited::Created));
        assert_eq!(fs::read_to_string(&file).unwrap(), wants);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |p: &std::path::Path| fs::metadata(p).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        }
        let left = fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "a temporary file was left");
    }
}

#[test]
fn what_is_not_understood_is_not_touched() {
    for text in [
        "{\"session_tracking\": {\"enabeld\": true}}",
        "{",
        "",
        "{\"version\": \"3\"}",
    ] {
        let world = World::new();
        let file = world
            .put("graphiti.config.json", text)
            .config("graphiti.config.json");
        assert!(set_enabled(&file, true).is_err(), "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_modes_stay() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let (link, target) = (
        world.config("graphiti.config.json"),
        world.dir.path().join("dotfile.json"),
    );
    fs::write(&target, "{}").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert_eq!(set_enabled(&link, true), Ok(Edited::Changed));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("enabled"));
    assert_eq!(
        fs::metadata(&target).unwrap().permissions().mode() & 0o777,
        0o640
    );
}
