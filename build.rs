//! Turns the tables of `src/rules`, written as YAML for people, into JSON without samples for the
//! program: parsing YAML took a third of a run that reads one new line.

use serde_yaml::Value;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=src/rules");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    for (name, path) in tables(Path::new("src/rules")) {
        let text = fs::read_to_string(&path).expect("a table can be read");
        let mut table: Value = serde_yaml::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        forget_samples(&mut table);
        let json = serde_json::to_string(&table).expect("tables have plain keys");
        fs::write(out.join(format!("{name}.json")), json).expect("OUT_DIR can be written to");
    }
}

/// Names and paths of the YAML files below a folder.
fn tables(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).expect("the folder of tables");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => tables(&path),
            Some(extension) if extension == "yaml" => {
                let name = path.file_stem().expect("a name").to_string_lossy();
                vec![(name.into_owned(), path.clone())]
            }
            _ => Vec::new(),
        })
        .collect()
}

/// Samples are for tests.
fn forget_samples(value: &mut Value) {
    match value {
        Value::Mapping(map) => {
            map.remove("samples");
            map.values_mut().for_each(forget_samples);
        }
        Value::Sequence(list) => list.iter_mut().for_each(forget_samples),
        _ => {}
    }
}
