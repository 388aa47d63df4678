//! A list to choose one thing from: a project, an agent, a day, a kind of work. Knows what is chosen, not what
//! comes of it.

use super::finder::{Choices, ListOrder};
use crate::memory::when::When;
use crate::model::activity::Dimension;
use crate::model::source::Agent;

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuSubject {
    /// A project.
    Project,
    /// An agent.
    Agent,
    /// Since when.
    Since,
    /// A kind of work.
    Work,
}

/// What is chosen, beside what is typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// A project's name.
    pub project: Option<String>,
    /// An agent.
    pub agent: Option<Agent>,
    /// Since when, and what that is called.
    pub since: Option<(&'static str, When)>,
    /// A kind of work.
    pub work: Option<Dimension>,
    /// Only what isn't completed.
    pub open: bool,
    /// The order.
    pub order: ListOrder,
}

/// An open list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu {
    /// What of.
    pub about: MenuSubject,
    /// What stands above it.
    pub title: &'static str,
    /// The first one lets everything through.
    pub items: Vec<String>,
    /// Which is chosen.
    pub at: usize,
}

/// Times that can be chosen. Others are typed: `since:2026-04-01`.
const DAYS: [(&str, &str); 6] = [
    ("today", "today"),
    ("the last 3 days", "3d"),
    ("the last 7 days", "7d"),
    ("the last 30 days", "30d"),
    ("the last 90 days", "90d"),
    ("the last year", "1y"),
];

impl Menu {
    /// With what can be chosen, at what is chosen now.
    pub fn new(about: MenuSubject, choices: &Choices, chosen: &Chosen) -> Menu {
        let (title, all) = match about {
            MenuSubject::Project => ("Project", "all projects"),
            MenuSubject::Agent => ("Agent", "all agents"),
            MenuSubject::Since => ("Since", "any time"),
            MenuSubject::Work => ("Kind of work", "all kinds of work"),
        };
        let names: Vec<String> = match about {
            MenuSubject::Project => choices.projects.clone(),
            MenuSubject::Agent => choices
                .agents
                .iter()
                .map(|agent| agent.as_str().to_owned())
                .collect(),
            MenuSubject::Since => DAYS.map(|(name, _)| name.to_owned()).into(),
            MenuSubject::Work => Dimension::ALL.map(|d| d.as_str().to_owned()).into(),
        };
        let now = match about {
            MenuSubject::Project => chosen.project.clone(),
            MenuSubject::Agent => chosen.agent.map(|agent| agent.as_str().to_owned()),
            MenuSubject::Since => chosen.since.map(|(name, _)| name.to_owned()),
            MenuSubject::Work => chosen.work.map(|work| work.as_str().to_owned()),
        };
        let at = now.and_then(|now| names.iter().position(|name| *name == now));
        Menu {
            about,
            title,
            at: at.map_or(0, |at| at + 1),
            items: [vec![all.to_owned()], names].concat(),
        }
    }

    /// Moves what is chosen; it stays inside.
    pub fn by(&mut self, step: isize) {
        let last = self.items.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(step).min(last);
    }

    /// The next one below that begins with this letter, from the top where there is none.
    pub fn to(&mut self, letter: char) {
        let fits = |name: &String| {
            let first = name.chars().next();
            first.is_some_and(|first| first.to_lowercase().eq(letter.to_lowercase()))
        };
        let below = self.items.iter().skip(self.at + 1).position(fits);
        let below = below.map(|nth| nth + self.at + 1);
        let found = below.or_else(|| self.items.iter().position(fits));
        self.at = found.unwrap_or(self.at);
    }

    /// What comes of it.
    pub fn choose(&self, choices: &Choices, chosen: &mut Chosen) {
        let nth = self.at.checked_sub(1);
        match self.about {
            MenuSubject::Project => {
                chosen.project = nth.and_then(|nth| choices.projects.get(nth).cloned());
            }
            MenuSubject::Agent => {
                chosen.agent = nth.and_then(|nth| choices.agents.get(nth).copied())
            }
            MenuSubject::Since => {
                let day = nth.and_then(|nth| DAYS.get(nth));
                chosen.since =
                    day.and_then(|(name, when)| Some((*name, when.parse::<When>().ok()?)));
            }
            MenuSubject::Work => chosen.work = nth.and_then(|nth| Dimension::ALL.get(nth).copied()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_is_a_time() {
        for (nth, (_, when)) in DAYS.iter().enumerate() {
            let mut chosen = Chosen::default();
            let mut menu = Menu::new(MenuSubject::Since, &Choices::default(), &chosen);
            menu.at = nth + 1;
            menu.choose(&Choices::default(), &mut chosen);
            assert!(chosen.since.is_some(), "{when}");
            let again = Menu::new(MenuSubject::Since, &Choices::default(), &chosen);
            assert_eq!(again.at, nth + 1);
        }
    }
}
