//! A case's `given`: text with markers to the bytes that lie on disk.

use super::database;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Path below HOME → lines.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Given(BTreeMap<String, String>);

/// One file of a case.
#[derive(Debug)]
pub struct GivenFile {
    /// Below HOME.
    pub path: String,
    /// Before compression.
    pub content: Vec<u8>,
}

impl Given {
    /// All files, markers replaced.
    pub fn files(&self) -> Result<Vec<GivenFile>> {
        let file = |(path, text): (&String, &String)| {
            let content = decode(text).with_context(|| format!("in {path}"))?;
            Ok(GivenFile {
                path: path.clone(),
                content,
            })
        };
        self.0.iter().map(file).collect()
    }
}

impl GivenFile {
    /// Lines on disk: newlines, and what stands behind the last one.
    pub fn lines(&self) -> u64 {
        let newlines = self.content.iter().filter(|b| **b == b'\n').count() as u64;
        newlines + u64::from(!self.content.ends_with(b"\n") && !self.content.is_empty())
    }

    /// Writes the first `bytes` bytes of the content where they belong.
    pub fn write(&self, home: &Path, bytes: usize) -> Result<()> {
        let path = home.join(&self.path);
        let content = &self.content[..bytes];
        if let Some((folder, log)) = self.path.split_once(".db/") {
            return database::write(&home.join(format!("{folder}.db")), log, content);
        }
        std::fs::create_dir_all(path.parent().context("a path below HOME")?)?;
        if self.path.ends_with(".zst") {
            std::fs::write(path, zstd::encode_all(content, 3)?)?;
        } else {
            std::fs::write(path, content)?;
        }
        Ok(())
    }
}

/// `⟦ff 00⟧`: those bytes; `⟦64 × 00⟧`: 64 of them; `⟦no newline⟧` at the end: none there.
fn decode(text: &str) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, marked)) = rest.split_once('⟦') {
        let (marker, after) = marked.split_once('⟧').context("a marker without an end")?;
        out.extend_from_slice(before.as_bytes());
        if marker == "no newline" {
            if !matches!(after, "" | "\n") {
                bail!("`no newline` before the end");
            }
            return Ok(out);
        }
        let (times, bytes) = marker.split_once(" × ").unwrap_or(("1", marker));
        let bytes: Result<Vec<u8>, _> = bytes
            .split(' ')
            .map(|byte| u8::from_str_radix(byte, 16))
            .collect();
        out.extend(bytes?.repeat(times.parse()?));
        rest = after;
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

#[test]
fn markers_become_bytes() {
    let decode = |text| decode(text).unwrap();
    assert_eq!(decode("a⟦ff 00⟧b\n"), b"a\xff\0b\n");
    assert_eq!(decode("⟦3 × 5b⟧\n"), b"[[[\n");
    assert_eq!(decode("a\nb⟦no newline⟧\n"), b"a\nb");
}
