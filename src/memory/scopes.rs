//! Whose projects an answer may come from (000-025, 000-026, 000-079..082; D07, D14, D18).

use crate::model::error::Error;
use crate::model::namespace::{NAMESPACE_DIGITS, namespace, project_root};

/// What the settings and the caller say.
#[derive(Clone, Copy, Debug)]
pub struct ScopeRequest<'a> {
    /// Namespaces that were asked for by name; they win over the settings.
    pub asked: &'a [String],
    /// `cross_project_search`.
    pub cross_project: bool,
    /// `trusted_namespaces`: an allow-list; `None`: all.
    pub trusted: Option<&'a [String]>,
    /// The current project's namespace, where it is known.
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

/// Which namespaces to search. Whatever can't be decided is decided against showing.
///
/// An error (of kind `Usage`) only for what was asked for by name; a setting that isn't a
/// namespace trusts nobody.
pub fn scope(request: ScopeRequest<'_>) -> Result<Scope, Error> {
    if !request.asked.is_empty() {
        let asked: Result<Vec<String>, Error> =
            request.asked.iter().map(|typed| prefix(typed)).collect();
        return asked.map(Scope::Only);
    }
    if !request.cross_project {
        return Ok(match request.current.map(prefix) {
            Some(Ok(current)) => Scope::Only(vec![current]),
            _ => Scope::Nothing(
                "cross_project_search is off and the current project is not known; name it with --project",
            ),
        });
    }
    Ok(match request.trusted {
        None => Scope::All,
        Some(list) => {
            let trusted: Vec<String> = list.iter().filter_map(|typed| prefix(typed).ok()).collect();
            if trusted.is_empty() {
                Scope::Nothing("trusted_namespaces trusts no project")
            } else {
                Scope::Only(trusted)
            }
        }
    })
}

/// What a person types for a project as the beginning of a namespace (D07): 6 to 64 hex digits
/// in any case, or the project's path. Anything else is an error that shows both forms.
pub fn prefix(typed: &str) -> Result<String, Error> {
    let typed = typed.trim();
    let hex = (6..=64).contains(&typed.len()) && typed.bytes().all(|b| b.is_ascii_hexdigit());
    if hex {
        let digits = typed.len().min(NAMESPACE_DIGITS);
        return Ok(typed[..digits].to_ascii_lowercase());
    }
    let path = typed.starts_with('/') || typed.get(1..2) == Some(":");
    if path {
        return Ok(namespace(&project_root(typed)));
    }
    Err(Error::usage(format!("{typed} is not a namespace"))
        .hinted("6 to 64 hex digits (a1b2c3d4), or a project's absolute path (/home/me/app)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: ScopeRequest<'static> = ScopeRequest {
        asked: &[],
        cross_project: true,
        trusted: None,
        current: None,
    };

    fn only(prefixes: &[&str]) -> Scope {
        Scope::Only(prefixes.iter().map(|p| p.to_string()).collect())
    }

    #[test]
    fn by_default_all_projects_are_searched() {
        assert_eq!(scope(OPEN), Ok(Scope::All));
        assert_eq!(Scope::All.namespaces(), None);
    }

    #[test]
    fn isolation_shows_the_current_project_or_nothing() {
        let alone = ScopeRequest {
            cross_project: false,
            ..OPEN
        };
        let here = ScopeRequest {
            current: Some("a1b2c3d4e5f60718"),
            ..alone
        };
        assert_eq!(scope(here), Ok(only(&["a1b2c3d4e5f60718"])));
        assert!(only(&["a1b2c3"]).allows("a1b2c3d4e5f60718"));
        assert!(!only(&["a1b2c3"]).allows("b1b2c3d4e5f60718"));
        let Ok(nowhere) = scope(alone) else {
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
            ..OPEN
        };
        assert_eq!(scope(request), Ok(only(&["a1b2c3d4"])));
        let nobody = list(&["proj_a"]);
        let request = ScopeRequest {
            trusted: Some(&nobody),
            ..OPEN
        };
        assert!(matches!(scope(request), Ok(Scope::Nothing(_))));
    }

    #[test]
    fn what_is_asked_for_by_name_wins() {
        let asked = ["/home/u/app/".to_string()];
        let request = ScopeRequest {
            asked: &asked,
            cross_project: false,
            ..OPEN
        };
        assert_eq!(scope(request), Ok(only(&[&namespace("/home/u/app")])));
        let wrong = ["e5f6g7h8".to_string()];
        let error = scope(ScopeRequest {
            asked: &wrong,
            ..OPEN
        });
        assert!(error.is_err_and(|e| e.hint.is_some()));
    }

    #[test]
    fn a_namespace_is_compared_by_what_is_stored() {
        let long = "A1B2C3D4E5F60718".repeat(4);
        assert_eq!(prefix(&long), Ok("a1b2c3d4e5f60718".into()));
        assert!(prefix("a1b2c").is_err());
        assert!(prefix(&"a".repeat(65)).is_err());
    }
}
