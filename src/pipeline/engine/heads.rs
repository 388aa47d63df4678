//! What an engine plans by: whose log each file is and which others it may share records with, by its head; and
//! which records a file has, for families that one process would read too long.

use super::line::{self, PackedIds, kind};
use crate::model::namespace::namespace;
use crate::model::time::Time;
use crate::pipeline::parsed_log::ParsedLog;
use crate::pipeline::peek::label;
use crate::pipeline::steps::ingest::account::Account;
use crate::pipeline::steps::ingest::file::FileWork;
use crate::pipeline::steps::ingest::gather::Gathered;
use crate::pipeline::steps::ingest::ids;
use crate::pipeline::steps::ingest::workers::each;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::Write;
use std::ops::ControlFlow;

/// What the head of a file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadLine {
    /// The file.
    pub file: String,
    /// Where it comes among the files of this call: who has a record first owns it.
    pub order: u64,
    /// Of files of this call that may share records: the same number.
    pub family: u64,
    /// The session that it belongs to.
    pub session: String,
    /// The sub-agent whose log it is.
    pub stream: Option<String>,
    /// The hash that names its project.
    pub namespace: String,
    /// The project's folder, or what stands for it.
    pub project: String,
    /// Files of one family have one of these in common, or a file between them has.
    pub ties: Vec<String>,
    /// Its first record's time.
    pub begun: Option<Time>,
}

/// The records of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdsLine {
    /// The file.
    pub file: String,
    /// As in [`HeadLine`].
    pub order: u64,
    /// Short ids of its records.
    pub ids: PackedIds,
}

/// Prints the heads of files, in reading order.
///
/// # Errors
/// When `out` takes nothing.
pub fn print_heads(gathered: &Gathered, out: &mut dyn Write) -> Result<()> {
    let families = (0..).zip(&gathered.families);
    let works = families.flat_map(|(nth, family)| family.works.iter().map(move |work| (nth, work)));
    let mut bytes = Vec::new();
    for (order, (family, work)) in (0..).zip(works) {
        let file = work.slice.file.key.to_string();
        let folder = work.folder.as_ref();
        let project = folder.map_or_else(|| label(&file), |folder| folder.project());
        let head = HeadLine {
            order,
            family,
            session: work.session().to_owned(),
            stream: work.stream.as_deref().map(str::to_owned),
            namespace: namespace(&project),
            project,
            ties: work.ties().map(Cow::into_owned).collect(),
            begun: work.begun,
            file,
        };
        bytes.clear();
        line::write(&mut bytes, kind::HEAD, &head)?;
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// Prints the records of files that are read from their start, in reading order.
///
/// # Errors
/// When a file can't be read, or `out` takes nothing.
pub fn print_ids(gathered: Gathered, jobs: usize, out: &mut dyn Write) -> Result<()> {
    let works = gathered
        .families
        .into_iter()
        .flat_map(|family| family.works);
    let works: Vec<(u64, Box<FileWork>)> = (0..).zip(works).collect();
    let lines = each(works, jobs, |(order, work)| -> Result<Vec<u8>> {
        let line = IdsLine {
            file: work.slice.file.key.to_string(),
            order,
            ids: PackedIds(records(&work)?),
        };
        let mut bytes = Vec::new();
        line::write(&mut bytes, kind::IDS, &line)?;
        Ok(bytes)
    })?;
    for line in lines {
        out.write_all(&line?)?;
    }
    Ok(())
}

fn records(work: &FileWork) -> Result<Vec<u64>> {
    let (mut account, mut known) = (Account::default(), ids::Ids::default());
    let mut log = ParsedLog::open(&work.slice.file)?;
    let mut all = Vec::new();
    log.for_each_batch(|_, batch| {
        account.admit(batch, &mut known);
        all.extend(account.settle(u64::MAX).ids);
        Ok(ControlFlow::<()>::Continue(()))
    })?;
    Ok(all)
}
