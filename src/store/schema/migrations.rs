//! The tables, version by version. Each file of `migrations/` is one version, and none is changed once
//! it was released.

/// `smll` in the file's header: a file with another number is another program's.
pub const APPLICATION_ID: i32 = 0x736d_6c6c;

/// The schema that this program writes, as `user_version` in the file's header: the number of
/// the last migration. A newer file is refused, an older one is migrated by the next run.
pub const SCHEMA_VERSION: i32 = MIGRATIONS.len() as i32;

/// In order; each runs in a transaction of its own.
pub(crate) const MIGRATIONS: [&str; 20] = [
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
    include_str!("migrations/0009.sql"),
    include_str!("migrations/0010.sql"),
    include_str!("migrations/0011.sql"),
    include_str!("migrations/0012.sql"),
    include_str!("migrations/0013.sql"),
    include_str!("migrations/0014.sql"),
    include_str!("migrations/0015.sql"),
    include_str!("migrations/0016.sql"),
    include_str!("migrations/0017.sql"),
    include_str!("migrations/0018.sql"),
    include_str!("migrations/0019.sql"),
    include_str!("migrations/0020.sql"),
];
