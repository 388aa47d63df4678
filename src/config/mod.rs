//! Floor 1: settings. As written (`wire`) → in layers, with origins (`layers`, `narrow`) → as meant
//! (`meant`). Knows the settings' files and nothing else of the machine: the environment is handed
//! in. Refuses to fall back to defaults where a file says something that it doesn't understand.

pub mod agent_settings;
mod check;
mod document;
pub mod edit;
pub mod edit_tracking;
pub mod entries;
mod env;
mod exclude;
mod gate;
pub mod hooks;
mod layers;
mod meant;
mod memory;
mod narrow;
mod patterns;
mod position;
mod retention;
pub mod servers;
mod sinks;
mod summarizing;
#[cfg(test)]
mod tests;
mod tracking;
pub mod trust;
pub mod wire;
mod wire_llm;
mod wire_memory;
mod wire_sinks;
mod wire_tracking;

pub use env::{Env, Home};
pub use exclude::{Excluded, glob};
pub use gate::{CONSENT_TEXT, Gate, gate, graphs};
pub use layers::{Origin, Setting};
pub use meant::{Config, Embeddings, KnownProject, Llm, Root, Scoring, seconds};
pub use memory::{Memory, RecallLimits};
pub use patterns::FilePattern;
pub use retention::claude_keeps_days;
pub use sinks::{Database, DeliveryLimits, Graphiti, Protocol, Sink, SinkTo};
pub use summarizing::Summarizing;
pub use tracking::{FileLimits, FileTracking, Tracked, TrackedProject};
pub use wire::LlmShape;

use crate::model::error::Error;
use document::Document;
use layers::{CONFIG_MAJORS, Layers, Source, TRACKING_MAJORS, checked};
use position::Step;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use wire::Wire;
use wire_tracking::{Mapping, WireTracking};

/// Everything that the settings' files say.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Where everything of ours lies.
    pub home: Home,
    /// The user's settings; decide what a run does, wherever it is started.
    pub config: Config,
    /// Which projects' files and git operations are tracked.
    pub tracking: FileTracking,
    /// The same, narrowed by the file of the working directory's project; decide a search from
    /// there.
    pub here: Config,
    /// Each effective value of `here` with its origin, in the schema's order.
    pub settings: Vec<Setting>,
    /// The files that were read, weakest first.
    pub files: Vec<PathBuf>,
    /// What a person should know at every run: ignored keys of a project, missing folders.
    pub warnings: Vec<String>,
    /// What `config show` should say: settings that were written and have no effect.
    pub notes: Vec<String>,
    env: Env,
    layers: Layers,
    mappings: Vec<Mapping>,
}

/// Reads the user's files and the file of the working directory's project.
///
/// Precedence: defaults < `tracking-config` < `graphiti.config` < the project's file, which only
/// narrows (D08, D20). No file at all is fine. Errors name file, line and the nearest valid key.
pub fn load(env: &Env) -> Result<Loaded, Error> {
    let home = Home::of(env);
    let mut layers = Layers::defaults();
    let mut files = Vec::new();
    let mut notes = Vec::new();
    let mut mappings = Vec::new();
    let mut tracking = FileTracking::default();
    if let Some(document) = Document::load(&home.tracking_config())? {
        let document = checked(document, &TRACKING_SCHEMA, &TRACKING_MAJORS)?;
        mappings = known_mappings(&document, env)?;
        tracking = tracking::tracking(&document, env)?;
        files.push(document.file.clone());
        layers.overlay(Source {
            document: Arc::new(document),
            base: vec![Step::Key("global".into())],
            project: false,
        });
    }
    if let Some(document) = Document::load(&home.config())? {
        let document = checked(document, &SCHEMA, &CONFIG_MAJORS)?;
        files.push(document.file.clone());
        layers.overlay(Source {
            document: Arc::new(document),
            base: Vec::new(),
            project: false,
        });
    }
    let config = meant::meant(&layers, &mappings, env)?;
    if config.auto_summarize && config.llm.is_none() {
        notes.push(
            "`session_tracking.auto_summarize` asks nobody without `llm.endpoint`: summaries are made of facts"
                .to_owned(),
        );
    }
    let mut loaded = Loaded {
        warnings: warnings(&config, &home),
        settings: layers.settings(),
        here: config.clone(),
        home,
        config,
        tracking,
        files,
        notes,
        env: env.clone(),
        layers,
        mappings,
    };
    loaded.narrow_here()?;
    loaded.note_effects();
    Ok(loaded)
}

impl Loaded {
    /// The environment that they were read in.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The user's settings, narrowed by the file in a project's root, if there is one; with a
    /// warning for each key that would have widened. Reads at most that one file.
    pub fn for_project(&self, root: &Path) -> Result<(Config, Vec<String>), Error> {
        match self.project_file(root) {
            None => Ok((self.config.clone(), Vec::new())),
            Some(file) => self.narrowed(&file).map(|(_, c, warnings)| (c, warnings)),
        }
    }

    /// The paths of the project at `root` are not to be shown: the settings here say so, or the
    /// user's, or the project's own. What can't be read hides. Reads at most the project's file.
    pub fn hides_paths_of(&self, root: &Path) -> bool {
        let own = self.for_project(root);
        let shown = own.is_ok_and(|(config, _)| config.include_project_path);
        !(self.here.include_project_path && shown)
    }

    fn project_file(&self, root: &Path) -> Option<PathBuf> {
        let own = |file: &PathBuf| file.parent() == Some(self.home.dir.as_path());
        env::present(root, "graphiti.config").filter(|file| !own(file))
    }

    fn narrowed(&self, file: &Path) -> Result<(Layers, Config, Vec<String>), Error> {
        let mut layers = self.layers.clone();
        let mut warnings = Vec::new();
        if let Some(document) = Document::load(file)? {
            let document = checked(document, &SCHEMA, &CONFIG_MAJORS)?;
            warnings = narrow::narrow(&mut layers, document, &self.env)?;
        }
        let config = meant::meant(&layers, &self.mappings, &self.env)?;
        Ok((layers, config, warnings))
    }

    fn narrow_here(&mut self) -> Result<(), Error> {
        let folders = project_folders(&self.env.cwd);
        let Some(file) = folders.iter().find_map(|dir| self.project_file(dir)) else {
            return Ok(());
        };
        let (layers, here, warnings) = self.narrowed(&file)?;
        self.settings = layers.settings();
        self.here = here;
        self.warnings.extend(warnings);
        self.files.push(file);
        Ok(())
    }

    fn note_effects(&mut self) {
        let written = self.settings.iter().filter(|s| s.origin != Origin::Default);
        let defaults = Layers::defaults();
        let changed = written.filter(|s| defaults.get(&s.key) != &s.value);
        let notes = changed.filter_map(|s| {
            let note = s.note.as_ref()?;
            Some(format!("{}: `{}`: {note}", s.origin, s.key))
        });
        self.notes.extend(notes);
    }
}

/// The JSON Schema of `graphiti.config`, with descriptions and defaults.
pub fn schema() -> Value {
    SCHEMA.clone()
}

/// The JSON Schema of `tracking-config`.
pub fn tracking_schema() -> Value {
    TRACKING_SCHEMA.clone()
}

static SCHEMA: LazyLock<Value> = LazyLock::new(check::schema_of::<Wire>);
static TRACKING_SCHEMA: LazyLock<Value> = LazyLock::new(check::schema_of::<WireTracking>);

/// From the working directory up to its repository's root; only itself outside of one.
fn project_folders(cwd: &Path) -> Vec<PathBuf> {
    let all: Vec<PathBuf> = cwd.ancestors().map(Path::to_path_buf).collect();
    let root = all.iter().position(|dir| dir.join(".git").exists());
    all[..root.map_or(1, |i| i + 1).min(all.len())].to_vec()
}

/// What is written and counts for nothing.
fn warnings(config: &Config, home: &Home) -> Vec<String> {
    let named = config.roots.iter().filter(|r| r.named && !r.path.is_dir());
    let missing = named.map(|r| format!("no such folder: {}", r.path.display()));
    let unread = home.unread().into_iter();
    let unread =
        unread.map(|(file, read)| format!("{} is not read: {} is", file.display(), read.display()));
    missing.chain(unread).collect()
}

fn known_mappings(document: &Document, env: &Env) -> Result<Vec<Mapping>, Error> {
    let wire: WireTracking = serde_json::from_value(document.value.clone())
        .map_err(|e| document.error(&[], &e.to_string()))?;
    for (name, mapping) in &wire.project_mappings {
        let path = ["project_mappings", name, "project_root"].map(|k| Step::Key(k.into()));
        let root = env
            .expand(&mapping.project_root)
            .map_err(|e| document.error(&path, &e.message))?;
        let rooted = crate::model::namespace::project_root(&root);
        if !rooted.starts_with('/') && !rooted.contains(":/") {
            return Err(document.error(&path, "must be absolute"));
        }
    }
    Ok(wire.project_mappings.into_values().collect())
}
