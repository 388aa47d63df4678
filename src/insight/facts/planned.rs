//! Plans that an agent wrote and nobody carried out.

use super::line::LocatedItem;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::paths::is_throwaway;

/// The last plan, where nothing of the project was changed since. Another session may do it.
pub fn not_carried_out(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let planned = |line: &LocatedItem<'_>| {
        let mut found = line.item.findings.iter();
        found.find_map(|finding| match finding {
            Finding::PlanWritten { title } => Some(title.clone()),
            _ => None,
        })
    };
    let all = lines.iter().enumerate().rev();
    let (at, title) = all
        .into_iter()
        .find_map(|(at, line)| Some((at, planned(line)?)))?;
    let mut after = lines[at + 1..].iter().flat_map(|line| line.item.findings);
    let is_done = after.any(|finding| match finding {
        Finding::Changed { path, .. } => !is_throwaway(path),
        Finding::File { .. } | Finding::Moved { .. } | Finding::Commit { .. } => true,
        _ => false,
    });
    let title = title.strip_prefix("Plan: ").unwrap_or(&title);
    let step = format!("The plan “{title}” wasn't carried out in this session");
    (!is_done).then(|| lines[at].source(step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn a_plan_is_carried_out_once_something_changes() {
        let plan = [
            changed("/home/ada/.claude/plans/sunny-day.md"),
            Finding::PlanWritten {
                title: "Plan: Carts add up".into(),
            },
        ];
        let told = |after: &[Finding]| {
            let lines = [
                LocatedItem::sample(ItemKind::Digest, 1, "Action: Write(sunny-day.md)", &plan),
                LocatedItem::sample(ItemKind::Digest, 2, "Action: Edit(x)", after),
            ];
            not_carried_out(&lines).map(|step| step.what)
        };
        let wants = "The plan “Carts add up” wasn't carried out in this session";
        assert_eq!(told(&[]).as_deref(), Some(wants));
        assert_eq!(told(&[changed("/tmp/notes.md")]).as_deref(), Some(wants));
        assert_eq!(told(&[changed("/p/src/cart.rs")]), None);
    }

    fn changed(path: &str) -> Finding {
        Finding::Changed {
            path: path.into(),
            added: 1,
            removed: 0,
        }
    }
}
