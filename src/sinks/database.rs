//! What a graph database is let in with, and what it knows of Graphiti's work, for whoever hands that
//! work out.

use crate::model::delivery::{DeliveryError, DeliveryProgress, Receipt};
use crate::model::extraction::GraphCounts;
use crate::stages::upload::Sink;

/// Who logs in; both empty where nobody has to.
#[derive(Clone, Default)]
pub struct Login {
    /// `None`: the default user.
    pub user: Option<String>,
    /// Never shown.
    pub password: Option<String>,
}

/// A sink that is the database of a Graphiti server. Its nodes bear a mark until Graphiti, which
/// wipes what it doesn't know, has worked through them.
pub trait Database: Sink {
    /// How far Graphiti is with these, in order.
    ///
    /// # Errors
    /// When it can't be asked.
    fn progress(&mut self, receipts: &[Receipt]) -> Result<Vec<DeliveryProgress>, DeliveryError>;

    /// What a graph holds of what was made of its episodes.
    ///
    /// # Errors
    /// When it can't be asked.
    fn counts(&mut self, graph: &str) -> Result<GraphCounts, DeliveryError>;

    /// An episode of this name stands in this graph.
    ///
    /// # Errors
    /// When it can't be asked.
    fn has(&mut self, graph: &str, name: &str) -> Result<bool, DeliveryError>;

    /// Removes the episodes from a graph that are described in these words.
    ///
    /// # Errors
    /// When it can't be asked.
    fn remove_described(&mut self, graph: &str, description: &str) -> Result<(), DeliveryError>;

    /// Removes everything from a graph.
    ///
    /// # Errors
    /// When it can't be asked.
    fn empty(&mut self, graph: &str) -> Result<(), DeliveryError>;
}
