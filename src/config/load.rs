//! Reading the settings: files in their order of precedence, laid over the defaults, resolved. Refuses to
//! fall back to defaults where a file says something that it doesn't understand.

use super::document::Document;
use super::env::{Env, Home, lying};
use super::file_kind::{SETTINGS, TRACKING, described_settings, described_tracking};
use super::layers::{Layer, Layers, Setting, SettingOrigin};
use super::narrow::narrow;
use super::position::PathStep;
use super::resolved::{Config, FileTracking, UsualLogs, file_tracking, resolve};
use super::schema::keys;
use super::wire::{Mapping, WireTracking};
use crate::model::error::Error;
use crate::model::shell::word;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// Why nothing of the working directory's project is read, delivered or recalled: a file of settings in it
    /// isn't understood. A cloned repository stops no command (D70).
    pub closed: Option<String>,
    /// What `config show` should say: settings that were written and have no effect.
    pub notes: Vec<String>,
    env: Env,
    usual: UsualLogs,
    layers: Layers,
    mappings: Vec<Mapping>,
}

/// Reads the user's files and those of the working directory's project.
///
/// Precedence: defaults < `tracking-config` < `graphiti.config` < the project's file, which only
/// narrows (D08, D20). No file at all is fine.
///
/// `usual` says where agents keep their logs.
///
/// # Errors
/// A file of the user's can't be read, has a key or a value that isn't valid, or one that can't be honoured;
/// with file, line and the nearest valid key. Such a file of a project is a warning, and closes it.
pub fn load(env: &Env, usual: UsualLogs) -> Result<Loaded, Error> {
    load_with(env, usual, None)
}

/// As [`load`], with what one of the user's files is to say in place of what it says.
///
/// # Errors
/// As [`load`].
pub(super) fn load_with(
    env: &Env,
    usual: UsualLogs,
    changed: Option<&Document>,
) -> Result<Loaded, Error> {
    let home = Home::of(env);
    let document = |file: &Path| match changed {
        Some(changed) if changed.file == file => Ok(Some(changed.clone())),
        _ => Document::load(file),
    };
    let mut layers = Layers::defaults();
    let mut files = Vec::new();
    let mut notes = Vec::new();
    let mut mappings = Vec::new();
    let mut tracking = FileTracking::default();
    if let Some(document) = document(&home.tracking_config())? {
        let document = TRACKING.validated(document)?;
        mappings = known_mappings(&document, env)?;
        tracking = file_tracking(&document, env)?;
        files.push(document.file.clone());
        layers.overlay(Layer {
            document: Arc::new(document),
            base: vec![PathStep::Key("global".into())],
            project: false,
        });
    }
    if let Some(document) = document(&home.config())? {
        let (document, passed) = settings_in(document)?;
        notes.extend(passed);
        files.push(document.file.clone());
        layers.overlay(Layer {
            document: Arc::new(document),
            base: Vec::new(),
            project: false,
        });
    }
    let config = resolve(&layers, &mappings, env, usual)?;
    if config.auto_summarize && config.llm.is_none() {
        notes.push(
            "`session_tracking.auto_summarize` has no effect without `llm.endpoint`: summaries are made from facts"
                .to_owned(),
        );
    }
    let mut loaded = Loaded {
        warnings: warnings(&config, &home),
        closed: None,
        settings: layers.settings(),
        here: config.clone(),
        home,
        config,
        tracking,
        files,
        notes,
        env: env.clone(),
        usual,
        layers,
        mappings,
    };
    // last: a project's file is judged by what the user's files say, and notes speak of both
    loaded.narrow_here();
    loaded.note_templates();
    loaded.note_effects();
    Ok(loaded)
}

/// What a template may be named for, and what stands there where no model condenses with it.
const TEMPLATES: [(&str, &str); 3] = [
    ("user_messages", "kept in full"),
    ("agent_messages", "kept in full"),
    ("tool_content", "the digest alone"),
];

impl Loaded {
    /// The environment that they were read in.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The user's settings, narrowed by the files in a folder and around it up to its repository's root; with a
    /// warning for each key that would have widened. Reads only these.
    ///
    /// # Errors
    /// As [`load`], of that file.
    pub fn for_project(&self, root: &Path) -> Result<(Config, Vec<String>), Error> {
        let files = self.project_files(root);
        match files.is_empty() {
            true => Ok((self.config.clone(), Vec::new())),
            false => self.narrowed(&files).map(|(_, c, warnings)| (c, warnings)),
        }
    }

    /// The paths of the project at `root` are not to be shown: the settings here say so, or the
    /// user's, or the project's own. What can't be read hides. Reads at most the project's file.
    pub fn hides_paths_of(&self, root: &Path) -> bool {
        let own = self.for_project(root);
        let shown = own.is_ok_and(|(config, _)| config.include_project_path);
        !(self.here.include_project_path && shown)
    }

    /// What the settings say of a project's old place and not of its new one.
    pub fn named_at_old_place(&self, from: &str, to: &str) -> Vec<String> {
        let mut all = Vec::new();
        let excluded = &self.config.excluded;
        if excluded.covers(from) && !excluded.covers(to) {
            all.push(format!(
                "excluded_paths exclude {from} but not {to}: sessionmill disable --project {}",
                word(to)
            ));
        }
        if let (Some(old), None) = (self.tracking.project(from), self.tracking.project(to)) {
            let patterns = old.tracked.patterns.iter();
            let patterns: Vec<String> = patterns.map(|pattern| word(&pattern.written)).collect();
            all.push(format!(
                "files are tracked at {from}, but not at {to}: sessionmill track add {} --include {}",
                word(to),
                patterns.join(" --include ")
            ));
        }
        all
    }

    /// The files of the project that a folder is in: its repository's root first, the folder itself last.
    fn project_files(&self, folder: &Path) -> Vec<PathBuf> {
        let own = |file: &PathBuf| file.parent() == Some(self.home.dir.as_path());
        let folders = project_folders(folder).into_iter().rev();
        let files = folders.filter_map(|dir| lying(&dir, "graphiti.config"));
        files.filter(|file| !own(file)).collect()
    }

    /// Each file narrows what those before it leave.
    fn narrowed(&self, files: &[PathBuf]) -> Result<(Layers, Config, Vec<String>), Error> {
        let mut layers = self.layers.clone();
        let mut warnings = Vec::new();
        for file in files {
            let nowhere = || Error::usage(format!("{}: leads nowhere", file.display()));
            let document = Document::load(file)?.ok_or_else(nowhere)?;
            let (document, _) = settings_in(document)?;
            warnings.extend(narrow(&mut layers, document, &self.env)?);
        }
        let config = resolve(&layers, &self.mappings, &self.env, self.usual)?;
        Ok((layers, config, warnings))
    }

    fn narrow_here(&mut self) {
        let files = self.project_files(&self.env.cwd);
        if files.is_empty() {
            return;
        }
        match self.narrowed(&files) {
            Ok((layers, here, warnings)) => {
                self.settings = layers.settings();
                self.here = here;
                self.warnings.extend(warnings);
                self.files.extend(files);
            }
            Err(error) => self.close_here(&error),
        }
    }

    /// Nothing is read, given or sent here until the file is repaired.
    fn close_here(&mut self, why: &Error) {
        let closed = format!(
            "{}: this project is skipped (not read, delivered or recalled) until the file is fixed",
            why.message
        );
        self.here.enabled = false;
        self.here.include_project_path = false;
        self.here.memory.enabled = false;
        self.here.memory.auto_promotes = false;
        self.here.memory.recall.enabled = false;
        self.here.llm = None;
        self.warnings.push(closed.clone());
        self.closed = Some(closed);
    }

    /// A template that no model condenses with says so, the default's too (D61).
    fn note_templates(&mut self) {
        let has_model = self.config.llm.is_some();
        for (kind, otherwise) in TEMPLATES {
            let key = format!("session_tracking.filter.{kind}");
            let Some(setting) = self.settings.iter_mut().find(|setting| setting.key == key) else {
                continue;
            };
            let why = match &setting.origin {
                _ if !setting.value.is_string() => continue,
                SettingOrigin::File(..) if has_model => continue,
                SettingOrigin::File(..) => "no language model is configured (`llm`)",
                SettingOrigin::Project(..) => "no model: a project's file says so",
                SettingOrigin::Default => "no model",
            };
            setting.note = Some(format!("{why}: {otherwise}"));
        }
    }

    fn note_effects(&mut self) {
        let written = self
            .settings
            .iter()
            .filter(|s| s.origin != SettingOrigin::Default);
        let defaults = Layers::defaults();
        let changed = written.filter(|s| defaults.get(&s.key) != &s.value);
        let notes = changed.filter_map(|s| {
            let note = s.note.as_ref()?;
            Some(format!("{}: `{}`: {note}", s.origin, s.key))
        });
        self.notes.extend(notes);
    }
}

/// A file of settings without what is another program's, and a note about that.
fn settings_in(document: Document) -> Result<(Document, Option<String>), Error> {
    let mut document = SETTINGS.validated(document)?;
    let passed = SETTINGS.pass_over(&mut document.value);
    let note = (!passed.is_empty()).then(|| {
        let file = document.file.display();
        format!(
            "{file}: ignored because they are Graphiti's: {}",
            passed.join(", ")
        )
    });
    Ok((document, note))
}

/// The JSON Schema of `graphiti.config`, with descriptions and defaults.
pub fn schema() -> Value {
    described_settings()
}

/// Every key that the settings may have, dotted; without those below free maps and lists, whose names
/// people choose.
pub fn setting_keys() -> Vec<String> {
    let all = keys(SETTINGS.schema).into_iter().map(|(key, _)| key);
    all.filter(|key| !key.contains(['*', '['])).collect()
}

/// The JSON Schema of `tracking-config`.
pub fn tracking_schema() -> Value {
    described_tracking()
}

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
        let path = ["project_mappings", name, "project_root"].map(|k| PathStep::Key(k.into()));
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
