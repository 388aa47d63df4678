//! Whose projects an answer may come from (000-025, 000-026, 000-079..082; D07, D14, D18).

use super::places::{Places, prefix};
use crate::model::error::Error;
use std::path::Path;

/// What the settings and the caller say.
#[derive(Clone, Copy, Debug)]
pub struct ScopeRequest<'a> {
    /// Projects that were asked for: beginnings of namespaces, paths or names; they win over the settings.
    pub asked: &'a [String],
    /// Where paths begin.
    pub cwd: &'a Path,
    /// `cross_project_search`.
    pub cross_project: bool,
    /// `trusted_namespaces`: an allow-list; `None`: all.
    pub trusted: Option<&'a [String]>,
    /// The current project's root, where it is known.
    pub current: Option<&'a str>,
}

/// The namespaces that are searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those that begin like one of these.
    Only(Vec<String>),
    /// None, and why.
    Nothing(&'static str),
}

impl Scope {
    /// The filter for [`crate::store::Query::namespaces`]; `Nothing` lets nothing through.
    pub fn namespaces(&self) -> Option<Vec<String>> {
        match self {
            Scope::All => None,
            Scope::Only(prefixes) => Some(prefixes.clone()),
            Scope::Nothing(_) => Some(Vec::new()),
        }
    }

    /// Whether what has this namespace may be seen.
    pub fn allows(&self, namespace: &str) -> bool {
        match self {
            Scope::All => true,
            Scope::Only(prefixes) => prefixes.iter().any(|prefix| namespace.starts_with(prefix)),
            Scope::Nothing(_) => false,
        }
    }
}

/// Which namespaces to search: of a project that is named, all that it has. Whatever can't be decided is
/// decided against showing.
///
/// # Errors
/// Only for what was asked for; a setting that isn't a namespace trusts nobody.
pub fn scope(request: ScopeRequest<'_>, places: &Places) -> Result<Scope, Error> {
    if !request.asked.is_empty() {
        let mut asked = Vec::new();
        for typed in request.asked {
            match prefix(typed) {
                Some(hex) => asked.extend(places.widened(vec![hex])),
                None => asked.extend(places.reached(&places.meant(typed.trim(), request.cwd)?)),
            }
        }
        return Ok(Scope::Only(asked));
    }
    if !request.cross_project {
        return Ok(match request.current {
            Some(root) => Scope::Only(places.namespaces(root).into_iter().collect()),
            None => Scope::Nothing(
                "cross_project_search is off and the current project is not known; name it with --project",
            ),
        });
    }
    Ok(match request.trusted {
        None => Scope::All,
        Some(list) => {
            let trusted = places.listed(list);
            if trusted.is_empty() {
                Scope::Nothing("trusted_namespaces trusts no project")
            } else {
                Scope::Only(trusted)
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::namespace::namespace;

    fn open() -> ScopeRequest<'static> {
        ScopeRequest {
            asked: &[],
            cwd: Path::new("/"),
            cross_project: true,
            trusted: None,
            current: None,
        }
    }

    fn asked(request: ScopeRequest<'_>) -> Result<Scope, Error> {
        scope(request, &Places::default())
    }

    fn only(prefixes: &[&str]) -> Scope {
        Scope::Only(prefixes.iter().map(|p| p.to_string()).collect())
    }

    #[test]
    fn by_default_all_projects_are_searched() {
        assert_eq!(asked(open()), Ok(Scope::All));
        assert_eq!(Scope::All.namespaces(), None);
    }

    #[test]
    fn isolation_shows_the_current_project_or_nothing() {
        let alone = ScopeRequest {
            cross_project: false,
            ..open()
        };
        let here = ScopeRequest {
            current: Some("/nn/app"),
            ..alone
        };
        assert_eq!(asked(here), Ok(only(&[&namespace("/nn/app")])));
        assert!(only(&["a1b2c3"]).allows("a1b2c3d4e5f60718"));
        assert!(!only(&["a1b2c3"]).allows("b1b2c3d4e5f60718"));
        let Ok(nowhere) = asked(alone) else {
            panic!("no results are not an error");
        };
        assert!(matches!(nowhere, Scope::Nothing(_)));
        assert_eq!(nowhere.namespaces(), Some(Vec::new()));
        assert!(!nowhere.allows("a1b2c3d4e5f60718"));
    }

    #[test]
    fn an_allow_list_shows_what_it_lists() {
        let list = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let trusted = list(&[" A1B2C3D4 ", "proj_a"]);
        let request = ScopeRequest {
            trusted: Some(&trusted),
            ..open()
        };
        assert_eq!(asked(request), Ok(only(&["a1b2c3d4"])));
        let nobody = list(&["proj_a"]);
        let request = ScopeRequest {
            trusted: Some(&nobody),
            ..open()
        };
        assert!(matches!(asked(request), Ok(Scope::Nothing(_))));
    }

    #[test]
    fn what_is_asked_for_by_name_wins() {
        let named = ["a1b2c3d4".to_string()];
        let request = ScopeRequest {
            asked: &named,
            cross_project: false,
            ..open()
        };
        assert_eq!(asked(request), Ok(only(&["a1b2c3d4"])));
        for unknown in ["e5f6g7h8", "/nn/app"] {
            let unknown = [unknown.to_string()];
            let error = asked(ScopeRequest {
                asked: &unknown,
                ..open()
            });
            assert!(error.is_err_and(|e| e.hint.is_some()));
        }
    }

    #[test]
    fn a_namespace_is_compared_by_what_is_stored() {
        let long = "A1B2C3D4E5F60718".repeat(4);
        assert_eq!(prefix(&long).as_deref(), Some("a1b2c3d4e5f60718"));
        assert!(prefix("a1b2c").is_none());
        assert!(prefix(&"a".repeat(65)).is_none());
    }
}
