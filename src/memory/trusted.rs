//! Which stored projects may be told of: not those that an agent was told not to trust (D63), whenever it
//! was told so.

use super::scopes::Scope;
use crate::config::trust::{Trust, Trusts};
use crate::model::error::Error;
use crate::store::Store;
use std::collections::BTreeSet;

/// Why nothing may be seen.
const NOBODY: &str = "you told an agent not to trust this project";

/// A scope without the projects that an agent was told not to trust. Where there is no such record, or
/// no such project is stored, it stays as it is; else it names the others one by one.
///
/// # Errors
/// When the store can't be read.
pub fn trusted(scope: Scope, store: &Store, trusts: &Trusts) -> Result<Scope, Error> {
    if matches!(scope, Scope::Nothing(_)) || !trusts.mistrusts_any() {
        return Ok(scope);
    }
    let projects = store.projects("")?;
    let (seen, hidden): (Vec<_>, Vec<_>) = projects
        .into_iter()
        .filter(|(namespace, _)| scope.allows(namespace))
        .partition(|(_, path)| trusts.of(path) != Trust::Untrusted);
    if hidden.is_empty() {
        return Ok(scope);
    }
    let hidden: BTreeSet<String> = hidden.into_iter().map(|(namespace, _)| namespace).collect();
    let seen = seen.into_iter().map(|(namespace, _)| namespace);
    let seen: BTreeSet<String> = seen
        .filter(|namespace| !hidden.contains(namespace))
        .collect();
    Ok(match seen.is_empty() {
        true => Scope::Nothing(NOBODY),
        false => Scope::Only(seen.into_iter().collect()),
    })
}
