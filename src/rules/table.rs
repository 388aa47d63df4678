//! How embedded tables are read. Knows that rows carry samples; refuses to know what rows mean.

use std::borrow::Cow;

/// A table as it is to be parsed: with its samples in tests only.
pub fn rows(table: &'static str) -> Cow<'static, str> {
    match cfg!(test) {
        true => Cow::Borrowed(table),
        false => Cow::Owned(without_samples(table)),
    }
}

/// A table without the `samples:` of its rows: they are for tests, and parsing them would cost every
/// run several milliseconds. Cheap: one pass over the lines.
fn without_samples(table: &str) -> String {
    let mut kept = String::with_capacity(table.len());
    let mut samples_at: Option<usize> = None;
    for line in table.split_inclusive('\n') {
        let content = line.trim_start();
        let at = line.len() - content.len();
        if samples_at.is_some_and(|samples| content.is_empty() || at > samples) {
            continue;
        }
        samples_at = (content.trim_end() == "samples:").then_some(at);
        if samples_at.is_none() && !content.starts_with('#') {
            kept.push_str(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_yaml::Value;

    #[test]
    fn rows_stay_as_they_are_but_for_their_samples() {
        for table in [
            include_str!("tools.yaml"),
            include_str!("errors.yaml"),
            include_str!("test_runners.yaml"),
        ] {
            let mut whole: Value = serde_yaml::from_str(table).expect("a table");
            forget_samples(&mut whole);
            let kept: Value = serde_yaml::from_str(&without_samples(table)).expect("a table");
            assert_eq!(kept, whole);
        }
    }

    fn forget_samples(value: &mut Value) {
        match value {
            Value::Mapping(map) => {
                map.remove("samples");
                map.values_mut().for_each(forget_samples);
            }
            Value::Sequence(list) => list.iter_mut().for_each(forget_samples),
            _ => {}
        }
    }
}
