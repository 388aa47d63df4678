//! Raw JSON to a tree, for the few values that are decoded whole, such as calls' parameters: simd-json reads it into a
//! tape, and the tape becomes the values that everything else works with. What it reads into is used again, so that a
//! value costs only its tree.

use serde_json::{Map, Value};
use simd_json::{Buffers, INPUT_PADDING, Node, StaticNode, Tape};
use std::cell::RefCell;

/// The value that `raw` is, the same as `serde_json` gives; `None` where it isn't one value as JSON has them. Whoever
/// calls bounds its depth: trees are built by recursion.
pub(super) fn decoded(raw: &[u8]) -> Option<Value> {
    let read = SCRATCH.with_borrow_mut(|scratch| scratch.read(raw));
    match read {
        Some((value, false)) => Some(value),
        // what the two don't agree about, and what simd-json refuses as too large a number
        _ => serde_json::from_slice(raw).ok(),
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// What values are read into.
struct Scratch {
    bytes: Vec<u8>,
    buffers: Buffers,
    tape: Tape<'static>,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            bytes: Vec::new(),
            buffers: Buffers::default(),
            tape: Tape(Vec::new()),
        }
    }
}

/// A larger value's memory is given back.
const KEPT_BYTES_MAX: usize = 256 << 10;

impl Scratch {
    /// Also whether a zero may have a sign, which simd-json drops.
    fn read(&mut self, raw: &[u8]) -> Option<(Value, bool)> {
        let Scratch {
            bytes,
            buffers,
            tape,
        } = self;
        bytes.clear();
        bytes.extend_from_slice(raw);
        bytes.resize(raw.len() + INPUT_PADDING, b' ');
        let mut filled = std::mem::replace(tape, Tape(Vec::new())).reset();
        let read = simd_json::fill_tape_padded(bytes, raw.len(), buffers, &mut filled);
        let mut nodes = Nodes {
            rest: filled.0.iter(),
            zero: false,
        };
        let value = read.ok().and_then(|()| nodes.value());
        let signed = nodes.zero && memchr::memmem::find(raw, b"-0").is_some();
        *tape = filled.reset();
        if raw.len() > KEPT_BYTES_MAX {
            *self = Scratch::default();
        }
        Some((value?, signed))
    }
}

/// What is left of a tape.
struct Nodes<'t> {
    rest: std::slice::Iter<'t, Node<'t>>,
    /// A zero was among them.
    zero: bool,
}

impl Nodes<'_> {
    fn value(&mut self) -> Option<Value> {
        Some(match *self.rest.next()? {
            Node::String(text) => Value::String(text.to_owned()),
            Node::Object { len, .. } => {
                let mut map = Map::with_capacity(len);
                for _ in 0..len {
                    let Some(Node::String(key)) = self.rest.next() else {
                        return None;
                    };
                    map.insert((*key).to_owned(), self.value()?);
                }
                Value::Object(map)
            }
            Node::Array { len, .. } => {
                let values = (0..len).map(|_| self.value());
                Value::Array(values.collect::<Option<_>>()?)
            }
            Node::Static(StaticNode::Null) => Value::Null,
            Node::Static(StaticNode::Bool(is)) => Value::Bool(is),
            Node::Static(StaticNode::I64(number)) => {
                self.zero |= number == 0;
                Value::Number(number.into())
            }
            Node::Static(StaticNode::U64(number)) => Value::Number(number.into()),
            // readers round differently
            Node::Static(StaticNode::F64(_)) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_serde(raw: &str) -> Option<Value> {
        serde_json::from_str(raw).ok()
    }

    #[test]
    fn what_readers_may_disagree_about_is_as_serde_reads_it() {
        for raw in [
            "0",
            "-0",
            "[0,-0,-0.0,0.0,1e2,1E-7,-12.5e+3]",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "-9223372036854775809",
            "9007199254740993.0",
            "0.1000000000000000055511151231257827",
            "1e400",
            "01",
            "1.",
            "",
            " ",
            "{} {}",
            "[1,]",
            r#"{"a":1,"b":2,"a":3}"#,
            r#"{"":""," ":[[],{}]}"#,
            r#""\ud83d""#,
            r#""\ud83d\ude00 \u00e9 \/ \b""#,
            r#""\x""#,
            "\"a\nb\"",
            "\"\u{7f}\u{2028}\"",
            "nul",
            "true false",
        ] {
            assert_eq!(decoded(raw.as_bytes()), by_serde(raw), "{raw}");
        }
        assert_eq!(decoded(b"\"bad \xff utf-8\""), None);
        let large = format!("[{:?}]", "x".repeat(2 * KEPT_BYTES_MAX));
        assert_eq!(decoded(large.as_bytes()), by_serde(&large));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<f32>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..8)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn trees_are_those_of_serde(value in values(), pretty: bool) {
            let raw = match pretty {
                true => serde_json::to_string_pretty(&value),
                false => serde_json::to_string(&value),
            };
            let raw = raw.unwrap();
            prop_assert_eq!(decoded(raw.as_bytes()), by_serde(&raw));
        }

        #[test]
        fn what_is_broken_is_refused_alike(raw in r#"[\{\}\[\]",:\\u0-9a-e\.+\-tru null]{0,40}"#) {
            prop_assert_eq!(decoded(raw.as_bytes()), by_serde(&raw));
        }
    }
}
