//! What holds for every agent.

use super::{claude, codex, registry};
use crate::host::read::{Block, Shape};
use crate::model::entry::What;
use crate::stages::parse::{ParseState, parse};

#[test]
fn a_field_of_another_type_is_named_and_its_line_is_accounted_for() {
    let tables = [
        (claude::CLAUDE, claude::dialect::fields()),
        (codex::CODEX, codex::dialect::fields()),
    ];
    let rows = tables.map(|(agent, table)| table.all().map(move |field| (agent, field)));
    for (agent, field) in rows.into_iter().flatten() {
        let mut bytes = format!("{}\n", field.sample).into_bytes();
        let block = Block {
            offset: 0,
            line: 0,
            bytes: &mut bytes,
            shape: Shape::Lines,
        };
        let batch = parse(registry::dialect(agent), &mut ParseState::default(), block);
        let named = batch.items.iter().any(|entry| match &entry.what {
            What::Unknown(name) => name.contains(&format!("{}: ", field.name)),
            _ => false,
        });
        assert!(named, "{}: {:?}", field.sample, batch.items);
        assert!(batch.rejects.is_empty(), "{}", field.sample);
    }
}
