//! A database that holds graphs: what [`super::episodic`] and [`super::saga`] need of it.

use super::cypher::Value;
use crate::model::delivery::DeliveryError;
use uuid::Uuid;

/// Ids of one query.
pub const IDS_MAX: usize = 500;

/// A database that holds graphs, each called like its group.
pub trait Graph {
    /// What our nodes are called; begins with `Episodic`.
    const LABELS: &'static str;

    /// It answers and lets us in; gives a line for people.
    ///
    /// # Errors
    /// Why it doesn't.
    fn check(&mut self) -> Result<String, DeliveryError>;

    /// There is such a graph, where asking for one that isn't there would make it.
    ///
    /// # Errors
    /// When it can't be asked.
    fn has_graph(&mut self, _graph: &str) -> Result<bool, DeliveryError> {
        Ok(true)
    }

    /// Removes a graph that has nothing in it.
    ///
    /// # Errors
    /// When it can't be asked.
    fn drop_graph(&mut self, _graph: &str) -> Result<(), DeliveryError> {
        Ok(())
    }

    /// Whatever has to be there before something is written.
    ///
    /// # Errors
    /// When it isn't and can't be made.
    fn ensure(&mut self, graph: &str) -> Result<(), DeliveryError>;

    /// Runs a query that answers nothing.
    ///
    /// # Errors
    /// Whose fault it is that it didn't. Never with words of the query.
    fn run(&mut self, graph: &str, query: &str, params: &Value) -> Result<(), DeliveryError>;

    /// What `line`, a text without line breaks, is of all that `matches`, a query without its `RETURN`,
    /// finds, in its order.
    ///
    /// # Errors
    /// As [`Graph::run`].
    fn lines(
        &mut self,
        graph: &str,
        matches: &str,
        line: &str,
        params: &Value,
    ) -> Result<Vec<String>, DeliveryError>;
}

/// `$ids` and `$group`.
pub fn these(graph: &str, ids: &[Uuid]) -> Value {
    let ids = ids.iter().map(|id| Value::text(id.to_string()));
    Value::map([
        ("ids", Value::List(ids.collect())),
        ("group", Value::text(graph)),
    ])
}
