//! A call that is over, as findings are drawn from it.

use super::call::DigestCall;
use super::output::ToolOutput;
use crate::model::entry::{CallStatus, ToolResult};
use crate::rules::test_runners::TestOutput;

/// A call with its result.
pub struct Ended<'a> {
    pub call: &'a DigestCall<'a>,
    /// What its command is recognised by.
    pub key: u32,
    pub result: &'a ToolResult,
    pub status: CallStatus,
    pub output: &'a ToolOutput<'a>,
    /// What it printed of tests.
    pub tests: TestOutput,
}
