//! What projects of one list are called: by their folder, and where two have the same by as much of the way
//! to it as tells them apart.

/// Names of projects with these namespaces and folders; those without a folder go by their namespace.
pub fn distinct(projects: &[(&str, Option<&str>)]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = projects
        .iter()
        .map(|(_, path)| parts(path.unwrap_or_default()))
        .collect();
    let named = projects.iter().zip(&parts).enumerate();
    named
        .map(|(nth, ((namespace, _), own))| {
            let mut others = parts.iter().enumerate().filter(|(other, _)| *other != nth);
            let is_taken = |length: usize| {
                let end = tail(own, length);
                others.clone().any(|(_, other)| tail(other, length) == end)
            };
            let first = speaking(own);
            let length = (first..own.len()).find(|length| !is_taken(*length));
            let name = tail(own, length.unwrap_or(own.len())).join("/");
            match (name.is_empty(), others.any(|(_, other)| other == own)) {
                (true, _) => (*namespace).to_owned(),
                (false, true) => format!("{name} ({namespace})"),
                (false, false) => name,
            }
        })
        .collect()
}

fn parts(path: &str) -> Vec<&str> {
    let parts = path.split(['/', '\\']);
    parts.filter(|part| !part.is_empty()).collect()
}

fn tail<'p, 's>(parts: &'p [&'s str], length: usize) -> &'p [&'s str] {
    &parts[parts.len().saturating_sub(length)..]
}

/// How many parts it takes until the first of them is a name: a number, and a hidden folder, is none.
fn speaking(parts: &[&str]) -> usize {
    let is_name = |part: &&&str| !part.starts_with('.') && part.contains(char::is_alphabetic);
    let mut from_end = parts.iter().rev();
    from_end
        .position(|part| is_name(&part))
        .map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_one_name_are_told_apart_by_what_differs() {
        let names = |paths: &[&str]| {
            let all = paths.iter().map(|path| ("n1", Some(*path)));
            distinct(&all.collect::<Vec<_>>())
        };
        assert_eq!(names(&["/w/ada/shop", "/w/ada/blog"]), ["shop", "blog"]);
        assert_eq!(
            names(&["/w/ada/new/shop", "/w/ada/old/shop", "d:/blog"]),
            ["new/shop", "old/shop", "blog"]
        );
        assert_eq!(
            names(&["/w/ada/src/shop", "/w/bob/src/shop"]),
            ["ada/src/shop", "bob/src/shop"]
        );
        assert_eq!(names(&["/src/shop/.worktrees/3"]), ["shop/.worktrees/3"]);
        assert_eq!(names(&["/shop", "/old/shop"]), ["shop", "old/shop"]);
    }

    #[test]
    fn a_project_without_a_folder_to_show_goes_by_its_namespace() {
        let all = [
            ("a1", None),
            ("b2", Some("/x/shop")),
            ("c3", Some("/x/shop")),
        ];
        assert_eq!(distinct(&all), ["a1", "x/shop (b2)", "x/shop (c3)"]);
    }
}
