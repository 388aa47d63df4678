//! What keeps the file small, sound and clean: forgetting, masking, repair, numbers, dump.

pub(super) mod compact;
pub(super) mod compare;
pub(super) mod dump;
pub(super) mod evict_bodies;
pub(super) mod forget;
pub(super) mod health;
mod packed_columns;
pub(super) mod redact;
pub(super) mod salvage;
mod salvage_reading;
pub(super) mod stand_ins;
pub(super) mod stats;
pub(super) mod status;
pub(super) mod table_reading;
pub(super) mod table_units;
