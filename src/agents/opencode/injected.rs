//! What it puts into texts of role user (`injected.yaml`).

use crate::rules::injected::Injected;
use crate::rules::table;
use std::sync::LazyLock;

pub(super) static INJECTED: LazyLock<Injected> =
    LazyLock::new(|| Injected::of(table::embedded!(in "agents", "opencode/injected")));
