//! The nearest of many vectors: packed or not, the same.

use super::*;
use crate::memory::query_terms::parse;
use crate::model::embedding::{Meaning, PassageVectors, Vector};
use crate::model::tombstone::Selection;
use crate::store::search::vector_packs::each_vector;
use crate::store::{Nearest, Query};

const MADE_BY: &str = "m, 500 characters";

/// As models give them: all of them lean one way.
fn vector(seed: u64) -> Vector {
    let mut dice = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut throw = |n: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let lean = if n.is_multiple_of(7) { 1.5 } else { 0.1 };
        lean + (dice >> 40) as f64 / f64::from(1 << 24) - 0.5
    };
    let numbers: Vec<f64> = (0..768).map(&mut throw).collect();
    Vector::new(&numbers).unwrap()
}

impl World {
    /// Two projects with so many texts each.
    fn with_texts(count: u32) -> World {
        let mut world = World::new();
        for project in ["/home/u/app", "/home/u/shop"] {
            let texts: Vec<String> = (0..count).map(|n| format!("text {n} of it")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            world.commit(&[log(&project.replace('/', "-"), project, &texts)]);
        }
        world
    }

    /// Gives each text that has none its vectors; as many as it has passages.
    fn embed(&mut self) {
        let waiting = self.store.unembedded(MADE_BY, Time(2_000)).unwrap();
        let texts = self.store.to_embed(MADE_BY, &waiting).unwrap();
        for text in &texts {
            let seed = text.name.bytes().chain(text.text.bytes());
            let seed = seed.fold(7, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte));
            let passages: Vec<Vector> = (0..1 + seed % 5).map(|n| vector(seed ^ n)).collect();
            let vectors = PassageVectors::new(&passages).unwrap();
            self.store.put_vectors(MADE_BY, &[(text, vectors)]).unwrap();
        }
    }

    fn packs(&self) -> u32 {
        let count = "SELECT count(*) FROM vector_pack";
        self.store
            .db
            .query_row(count, [], |row| row.get(0))
            .unwrap()
    }

    fn near(&self, query: &Query) -> Nearest {
        let meaning = Meaning {
            made_by: MADE_BY.into(),
            vector: vector(42),
        };
        self.store.nearest(query, &meaning, None, &[]).unwrap()
    }

    /// What is nearest is what is nearest without packs, and what they leave out is read.
    fn assert_all_are_seen(&self, what: &str) {
        let everywhere = parse("text", 20);
        let app = Query {
            namespaces: Some(vec![namespace("/home/u/app")]),
            ..parse("text", 20)
        };
        let queries = [everywhere, app];
        let packed = queries.each_ref().map(|query| self.near(query));
        self.store
            .tamper("SAVEPOINT whole; DELETE FROM vector_pack");
        let alone = queries.each_ref().map(|query| self.near(query));
        self.store.tamper("ROLLBACK TO whole; RELEASE whole");
        assert!(packed == alone, "{what}");
        assert_eq!(packed[0].all.len(), 20, "{what}");
        assert!(packed[1].compared < packed[0].compared, "{what}");
    }
}

#[test]
fn packed_vectors_answer_as_rows_do() {
    let mut world = World::with_texts(150);
    world.embed();
    let before = world.dump();
    world.store.pack_vectors(MADE_BY).unwrap();
    assert!(world.packs() >= 2, "{}", world.packs());
    world.assert_all_are_seen("packed");
    assert_eq!(world.dump(), before, "they are copies");
    let packs = world.packs();
    let changes = world.store.db.total_changes();
    world.store.pack_vectors(MADE_BY).unwrap();
    assert_eq!(world.store.db.total_changes(), changes, "nothing is new");

    // a text changes: its pack is out until the next packing
    world
        .store
        .tamper("UPDATE body SET text = text WHERE episode = 40");
    assert_eq!(world.packs(), packs - 1);
    world.assert_all_are_seen("changed");
    world.embed();
    world.assert_all_are_seen("embedded again");
    world.store.pack_vectors(MADE_BY).unwrap();
    assert_eq!(world.packs(), packs);
    world.assert_all_are_seen("packed again");

    // those of another model are of no use
    world.store.pack_vectors("n").unwrap();
    assert_eq!(world.packs(), 0);
    world.assert_all_are_seen("without packs");
}

#[test]
fn the_file_is_mapped_only_while_vectors_are_read() {
    let mut world = World::with_texts(150);
    world.embed();
    world.store.pack_vectors(MADE_BY).unwrap();
    let db = &world.store.db;
    let mapped = || -> i64 {
        db.query_row("PRAGMA mmap_size", [], |row| row.get(0))
            .unwrap()
    };
    let mut while_read = 0;
    each_vector(db, MADE_BY, None, |_, _| while_read = mapped()).unwrap();
    assert!(while_read > 0);
    assert_eq!(mapped(), 0);
}

#[test]
fn what_is_forgotten_is_in_no_pack() {
    let mut world = World::with_texts(150);
    world.embed();
    world.store.pack_vectors(MADE_BY).unwrap();
    let selection = Selection {
        sessions: vec!["-home-u-app".into()],
        ..Selection::default()
    };
    world.store.forget(&selection, Time(3_000), false).unwrap();
    let count = |sql: &str| -> u32 { world.store.db.query_row(sql, [], |row| row.get(0)).unwrap() };
    let of_them = "SELECT count(*) FROM vector_pack WHERE first <= 150";
    assert_eq!(count(of_them), 0);
    assert_eq!(count("SELECT count(*) FROM embedding"), 150);
    assert_eq!(world.near(&parse("text", 20)).all.len(), 20);
}

#[test]
fn a_pack_that_is_cut_short_is_read_on_in_its_rows() {
    let mut world = World::with_texts(150);
    world.embed();
    world.store.pack_vectors(MADE_BY).unwrap();
    for damage in ["substr(vectors, 1, 100000)", "x''", "'text'"] {
        world.store.tamper("SAVEPOINT whole");
        world
            .store
            .tamper(&format!("UPDATE vector_pack SET vectors = {damage}"));
        world.assert_all_are_seen(damage);
        world.store.tamper("ROLLBACK TO whole; RELEASE whole");
    }
}

#[test]
fn few_vectors_are_not_packed() {
    let mut world = World::with_texts(5);
    world.embed();
    world.store.pack_vectors(MADE_BY).unwrap();
    assert_eq!(world.packs(), 0);
}
