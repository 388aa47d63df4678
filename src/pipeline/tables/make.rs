//! Rows of what the store holds, by the rules, prices and settings of this home.

use crate::config::{Config, Home};
use crate::memory::cost::prices;
use crate::memory::session_activity::Judge;
use crate::model::error::Error;
use crate::pipeline::context::RunContext;
use crate::rules::hidden_paths::without_homes;
use crate::rules::prices::Prices;
use crate::store::{MonthWithoutLog, Store, TableUnit, WholeEpisode, WholeSession};
use crate::tables::git_rows::{self, GitSource};
use crate::tables::row::Rows;
use crate::tables::schema::TABLES_VERSION;
use crate::tables::session_rows;
use crate::tables::source::{LogAccount, ProjectNames, RowContext, SessionSource, StoredEpisode};
use anyhow::Result;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use xxhash_rust::xxh3::Xxh3;

/// Makes rows.
pub struct RowMaker {
    judge: Judge,
    prices: Prices,
    masks_personal: bool,
    /// Projects whose paths are told to nobody.
    hidden: BTreeSet<String>,
    made_by: String,
}

/// A unit as it was read.
pub enum UnitSource {
    /// With a log.
    Session(Box<SessionSource>),
    /// Without.
    Month {
        /// The session's id.
        session: String,
        /// As sessions were stored with it.
        project_path: String,
        /// 16 hex digits.
        namespace: String,
        /// What happened in it.
        month: MonthWithoutLog,
    },
}

impl RowMaker {
    /// By the settings of this home.
    ///
    /// # Errors
    /// When a table of rules or prices is wrong, or the store can't be read.
    pub fn new(store: &Store, cx: &mut RunContext<'_>) -> Result<RowMaker> {
        let config = &cx.loaded.config;
        let mut maker = RowMaker {
            judge: cx.judge()?,
            prices: prices(cx.home)?,
            masks_personal: config.masks_personal,
            hidden: cx.hidden.among(store, cx.loaded)?,
            made_by: String::new(),
        };
        maker.made_by = maker.version(config, cx.home);
        Ok(maker)
    }

    /// Another one where the same store may have other rows: rules, prices, settings.
    pub fn made_by(&self) -> &str {
        &self.made_by
    }

    fn version(&self, config: &Config, home: &Home) -> String {
        let mut hash = Xxh3::new();
        let settings = format!(
            "{TABLES_VERSION} {} {:?} {:?} {:?} {:?}",
            self.masks_personal,
            self.hidden,
            self.judge.min_strength,
            self.judge.manual,
            self.prices
        );
        hash.update(settings.as_bytes());
        hash.update(self.judge.classifier.counting().as_bytes());
        let mut tables: Vec<PathBuf> = fs::read_dir(home.tables())
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        tables.sort();
        tables.push(config.scoring.tool_cache.clone());
        for table in tables {
            // one that isn't there says nothing
            hash.update(&fs::read(table).unwrap_or_default());
        }
        hash.update(env!("SESSIONMILL_RULES").as_bytes());
        format!("{}+{:016x}", env!("CARGO_PKG_VERSION"), hash.digest())
    }

    /// Reads a unit; `None`: it is no more.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn read(&self, unit: &TableUnit, store: &Store) -> Result<Option<UnitSource>, Error> {
        Ok(match &unit.month {
            None => store
                .whole_session(&unit.session)?
                .map(|whole| UnitSource::Session(Box::new(source(whole)))),
            Some(month) => Some(UnitSource::Month {
                session: unit.session.clone(),
                project_path: unit.project_path.clone(),
                namespace: unit.namespace.clone(),
                month: store.month_without_log(&unit.session, month)?,
            }),
        })
    }

    /// The rows of a unit.
    pub fn rows(&self, source: &UnitSource) -> Rows {
        match source {
            UnitSource::Session(source) => {
                let context = RowContext {
                    activity: &|tally| self.judge.activity(tally),
                    prices: &self.prices,
                    shown_path: &|path| self.shown(path),
                };
                let hides = self.hidden.contains(&source.session.project_path);
                session_rows::rows(source, hides, &context)
            }
            UnitSource::Month {
                session,
                project_path,
                namespace,
                month,
            } => {
                let hides = self.hidden.contains(project_path);
                let project = ProjectNames {
                    namespace: namespace.clone(),
                    path: (!hides).then(|| self.shown(project_path)),
                };
                let episodes = month.episodes.iter().cloned().map(stored);
                let episodes: Vec<StoredEpisode> = episodes.collect();
                let mut rows = session_rows::rows_without_log(session, &episodes, &project);
                for operation in &month.operations {
                    let source = GitSource {
                        id: operation.id,
                        git: operation.git.clone(),
                        done_by: operation.done_by,
                    };
                    git_rows::add(&source, &project, &mut rows);
                }
                rows
            }
        }
    }

    fn shown(&self, path: &str) -> String {
        match self.masks_personal {
            true => without_homes(path).into_owned(),
            false => path.to_owned(),
        }
    }
}

fn source(whole: WholeSession) -> SessionSource {
    let logs = whole.logs.into_iter();
    SessionSource {
        session: whole.row.session,
        title: whole.row.title,
        episodes: whole.episodes.into_iter().map(stored).collect(),
        logs: logs
            .map(|(log, stream, ledger)| LogAccount {
                log,
                stream,
                ledger,
            })
            .collect(),
    }
}

fn stored(whole: WholeEpisode) -> StoredEpisode {
    let mut episode = whole.found.episode;
    episode.outline = whole.outline;
    StoredEpisode {
        episode,
        agent: whole.found.agent,
        revision: whole.found.revision,
        text_bytes: whole.text_bytes,
    }
}
