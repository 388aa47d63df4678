//! What a dialect remembers from record to record, opaque to all but the agent whose it is.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// One agent's state. It is shared by neighbouring entries, so that a copy costs little. Its members are stored
/// with a checkpoint, beside those of a context.
pub trait Remembered: Serialize + PartialEq + Any + Debug + Send + Sync {
    /// The same with what logs said masked; `None`: there is nothing to mask.
    fn masked(&self, _mask: &dyn Fn(&mut String)) -> Option<DialectState> {
        None
    }
}

/// A [`Remembered`] of whatever type.
trait Held: Any + Debug + Send + Sync {
    fn to_json(&self) -> Map<String, Value>;

    /// Whether the other is of this type, and equal.
    fn equals(&self, other: &dyn Any) -> bool;

    fn masked(&self, mask: &dyn Fn(&mut String)) -> Option<DialectState>;
}

impl<T: Remembered> Held for T {
    fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        }
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn masked(&self, mask: &dyn Fn(&mut String)) -> Option<DialectState> {
        Remembered::masked(self, mask)
    }
}

/// Nothing, or one agent's [`Remembered`].
#[derive(Clone, Debug, Default)]
pub struct DialectState(Option<Arc<dyn Held>>);

impl DialectState {
    /// The state, where there is one of this type.
    pub fn get<T: Remembered>(&self) -> Option<&T> {
        (self.0.as_deref()? as &dyn Any).downcast_ref()
    }

    /// The state to change: a copy, where others share it; made anew, where there is none.
    pub fn make_mut<T: Remembered + Clone + Default>(&mut self) -> &mut T {
        let own = self.0.as_mut().and_then(Arc::get_mut);
        if !own.is_some_and(|own| (own as &dyn Any).is::<T>()) {
            *self = DialectState::from(self.get::<T>().cloned().unwrap_or_default());
        }
        let own = self.0.as_mut().and_then(Arc::get_mut);
        let own = own.and_then(|own| (own as &mut dyn Any).downcast_mut());
        own.expect("a state of this type that nobody shares")
    }

    /// Makes what was read from a store the agent's own type; what that can't be is forgotten.
    pub fn restore<T: Remembered + DeserializeOwned>(&mut self) {
        if let Some(Stored(members)) = self.get() {
            let state = serde_json::from_value::<T>(Value::Object(members.clone()));
            *self = state.map(DialectState::from).unwrap_or_default();
        }
    }

    /// Masks what logs said.
    pub fn mask(&mut self, mask: &dyn Fn(&mut String)) {
        if let Some(masked) = self.0.as_ref().and_then(|state| state.masked(mask)) {
            *self = masked;
        }
    }

    fn to_json(&self) -> Map<String, Value> {
        match &self.0 {
            Some(state) => state.to_json(),
            None => nothing(),
        }
    }
}

impl<T: Remembered> From<T> for DialectState {
    fn from(state: T) -> DialectState {
        DialectState(Some(Arc::new(state)))
    }
}

impl PartialEq for DialectState {
    fn eq(&self, other: &DialectState) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                let (a_any, b_any): (&dyn Any, &dyn Any) = (&**a, &**b);
                match a_any.type_id() == b_any.type_id() {
                    true => Arc::ptr_eq(a, b) || a.equals(b_any),
                    false => a.to_json() == b.to_json(), // one was read from a store
                }
            }
            _ => false,
        }
    }
}

impl Eq for DialectState {}

/// As stores have it where nothing is remembered: both members, since their first version.
fn nothing() -> Map<String, Value> {
    let members = [("telling", Value::from("none")), ("codex", Value::Null)];
    members
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

impl Serialize for DialectState {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(to)
    }
}

impl<'de> Deserialize<'de> for DialectState {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DialectState, D::Error> {
        let members = Map::deserialize(from)?;
        Ok(match members.is_empty() || members == nothing() {
            true => DialectState::default(),
            false => Stored(members).into(),
        })
    }
}

/// A state that was read from a store and that no dialect has taken up yet. It was masked before.
#[derive(Debug, PartialEq, Serialize)]
struct Stored(Map<String, Value>);

impl Remembered for Stored {}
