//! Whether a file system can hold a store: SQLite's log needs memory that all its users share.

use std::path::Path;

use interlock_core::code::Code;

use crate::StoreError;
use crate::StoreResult;

/// File systems on other machines, by the numbers of `statfs`.
const NETWORK: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB 2"),
    (0x0102_1997, "9P"),
    (0x0bd0_0bd0, "Lustre"),
    (0x00c3_6400, "Ceph"),
    (0x7461_636f, "OCFS 2"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x0116_1970, "GFS 2"),
    (0x19830326, "BeeGFS"),
];

/// The name of a network file system by its number.
fn network(kind: u64) -> Option<&'static str> {
    NETWORK.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

/// Refuses a place where two processes could both believe to be alone.
pub(super) fn check(path: &Path) -> StoreResult<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(found) = rustix::fs::statfs(folder) else { return Ok(()) };
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "the type differs between systems")]
    let kind = found.f_type as u64 & 0xffff_ffff;
    refuse(path, kind)
}

fn refuse(path: &Path, kind: u64) -> StoreResult<()> {
    let Some(name) = network(kind) else { return Ok(()) };
    let message = format!("{} lies on a network file system ({name}), where SQLite cannot lock safely", path.display());
    Err(StoreError::new(Code::StoreNetwork, message)
        .help("put the store on a local disk of the machine that runs Interlock, with --store or INTERLOCK_STORE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_refused_and_local_ones_are_not() {
        let refused = refuse(Path::new("/mnt/team/interlock.db"), 0x6969).unwrap_err();
        assert_eq!(refused.code, Code::StoreNetwork);
        assert!(refused.message.contains("NFS"), "{refused}");
        for local in [0xef53_u64, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630] {
            assert_eq!(refuse(Path::new("interlock.db"), local), Ok(()));
        }
    }
}
