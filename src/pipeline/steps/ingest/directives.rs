//! Directives in people's prompts (D38), found where each record passes once, and named by it.
//! Knows whose words an item is; refuses to judge whether a directive may be kept.

use crate::model::exchange::{Exchange, Item, ItemKind};
use crate::model::memory::{IDS, PromptDirective};
use crate::rules::directives::directives;
use uuid::Uuid;

/// What the people of these exchanges ask to be remembered. `more`: words that count besides the usual
/// ones.
pub(super) fn said(exchanges: &[Exchange], more: &[&str]) -> Vec<PromptDirective> {
    let people = exchanges
        .iter()
        .filter(|exchange| exchange.stream.is_none());
    let items = people.flat_map(|exchange| &exchange.items);
    items
        .filter(|item| matches!(item.kind, ItemKind::Prompt | ItemKind::Aside))
        .flat_map(|item| of_item(item, more))
        .collect()
}

fn of_item(item: &Item, more: &[&str]) -> Vec<PromptDirective> {
    // what a sub-agent was told is an agent's word
    if !item.label().starts_with("User") {
        return Vec::new();
    }
    let found = directives(item.words(), more).into_iter().enumerate();
    found
        .map(|(nth, directive)| {
            let name = format!("directive {} {} {nth}", item.id, item.nth);
            PromptDirective {
                id: Uuid::new_v5(&IDS, name.as_bytes()),
                kind: directive.kind,
                scope: directive.scope,
                is_marked: directive.is_marked,
                text: directive.text,
                at: item.time,
            }
        })
        .collect()
}
