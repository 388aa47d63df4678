//! What a question reaches: the project that is asked about, whose sessions the settings let through, and what
//! agents were told not to trust. The one way from what was typed to namespaces, for people and agents alike.

use super::places::Places;
use super::scopes::{Scope, ScopeRequest, scope};
use super::trusted::trusted;
use crate::config::Config;
use crate::config::trust::Trusts;
use crate::model::error::Error;
use crate::store::Store;
use std::path::Path;

/// What was asked for, and where.
pub struct ReachRequest<'a> {
    /// A project as it was typed: a path, a name, or the beginning of a namespace.
    pub project: Option<&'a str>,
    /// Projects of which one may answer.
    pub asked: &'a [String],
    /// The settings there.
    pub settings: &'a Config,
    /// Whom the agents trust; `None`: it doesn't matter.
    pub trusts: Option<&'a Trusts>,
    /// The root of the project that somebody is in, where it is known.
    pub present: Option<String>,
    /// Where paths begin.
    pub cwd: &'a Path,
}

/// What the filters and the settings let through.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Whose namespaces.
    pub scope: Scope,
    /// Neither the settings nor the filters choose projects; trust may.
    pub is_open: bool,
    /// A project was asked for.
    pub is_of_project: bool,
    /// The root of the project that it is about: the one that is asked for, or the present one.
    pub present: Option<String>,
}

impl Reach {
    /// Why nothing may be seen; `None` where something may.
    pub fn refusal(&self) -> Option<&'static str> {
        match self.scope {
            Scope::Nothing(reason) => Some(reason),
            _ => None,
        }
    }
}

/// What may be seen of what is asked for; `store`: where there is one.
///
/// # Errors
/// Nothing is stored of what is asked for, or several projects are called so. When the store can't be read.
pub fn reach(
    request: ReachRequest<'_>,
    places: &Places,
    store: Option<&Store>,
) -> Result<Reach, Error> {
    let project = request
        .project
        .map(|typed| places.meant(typed, request.cwd));
    let project = project.transpose()?;
    let present = project.clone().or(request.present);
    let settings = request.settings;
    let mut allowed = scope(
        ScopeRequest {
            asked: request.asked,
            cwd: request.cwd,
            cross_project: settings.cross_project_search,
            trusted: settings.trusted_namespaces.as_deref(),
            current: present.as_deref(),
        },
        places,
    )?;
    let is_open = allowed == Scope::All && project.is_none();
    if let (Some(root), false) = (&project, matches!(allowed, Scope::Nothing(_))) {
        let own = places.reached(root).into_iter();
        allowed = Scope::Only(own.filter(|space| allowed.allows(space)).collect());
    }
    if let (Some(trusts), Some(store)) = (request.trusts, store) {
        allowed = trusted(allowed, store, trusts)?;
    }
    Ok(Reach {
        scope: allowed,
        is_open,
        is_of_project: project.is_some(),
        present,
    })
}
