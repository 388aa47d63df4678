//! What is known of a session beside its items: title, project, branch.

use crate::rules::requests::is_place;

/// What is known of a session beside its items.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionContext<'a> {
    /// As somebody named it, or the agent; its first prompt where nobody did.
    pub title: Option<&'a str>,
    /// What the project is called.
    pub project: Option<&'a str>,
    /// The git branch.
    pub branch: Option<&'a str>,
    /// Without what was decided, checked and mended on the way, which takes as long as the rest.
    pub is_brief: bool,
}

impl<'a> SessionContext<'a> {
    /// `project_path`: its root; not told where paths are hidden.
    pub fn new(
        title: Option<&'a str>,
        project_path: &'a str,
        branch: Option<&'a str>,
        hides_paths: bool,
    ) -> SessionContext<'a> {
        const NAME_BYTES_MIN: usize = 3;
        let parts = project_path.rsplit(['/', '\\']);
        let name = parts
            .into_iter()
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        let is_root = project_path.contains(['/', '\\']) && !hides_paths;
        let is_name = name.len() >= NAME_BYTES_MIN
            && name.starts_with(char::is_alphabetic)
            && !name.contains([':', '[', ' '])
            && !is_place(name);
        SessionContext {
            title,
            project: (is_root && is_name).then_some(name),
            branch: branch.filter(|branch| !branch.is_empty()),
            is_brief: false,
        }
    }

    /// The same for who wants to know what it was for and how it ended.
    pub fn brief(self) -> SessionContext<'a> {
        SessionContext {
            is_brief: true,
            ..self
        }
    }
}
