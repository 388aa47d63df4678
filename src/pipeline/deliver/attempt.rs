//! What a step towards a sink gives.

use crate::model::delivery::DeliveryError;

/// Two kinds of failure: the outer one is ours (the store) and ends the run, the inner one is the sink's,
/// which is left for this time.
pub(super) type Attempt<T = ()> = anyhow::Result<Result<T, DeliveryError>>;
