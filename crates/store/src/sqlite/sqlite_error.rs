//! SQLite errors, as messages that help.

use std::path::Path;

use interlock_core::code::Code;
use rusqlite::ffi::ErrorCode;
use rustix::fs::{Access, access};

use crate::StoreError;

pub(super) fn store_error(path: &Path, error: &rusqlite::Error) -> StoreError {
    let place = path.display();
    let said = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    };
    let fault = |code: Code, message: String, help: &str| StoreError::new(code, message).help(help);
    if said.starts_with("interlock: ") {
        let help =
            "the tables may have been edited: `interlock audit verify` says so, `interlock rebuild` puts them right";
        return fault(Code::GuardFired, format!("the database refused it: {said}"), help);
    }
    if unreadable(error) {
        let help = "nothing was changed; `interlock audit verify` says what is wrong; restore a backup";
        return fault(Code::StoreCorrupt, format!("{place} is damaged: {said}"), help);
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            let help = "nothing was changed; name another with --store, or restore a backup if this was one";
            fault(Code::StoreForeign, format!("{place} is not an Interlock store"), help)
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            let help = "nothing was changed; restore a backup, or copy what is left with `sqlite3 FILE .recover`";
            fault(Code::StoreCorrupt, format!("{place} is damaged: {said}"), help)
        }
        Some(ErrorCode::CannotOpen) if is_read_only(path) => {
            let help = "the file, its folder and the files -wal and -shm beside it must be writable for this user";
            fault(Code::StoreReadOnly, format!("{place} cannot be written: it lies where nothing may be written"), help)
        }
        Some(ErrorCode::ReadOnly) => {
            let help = "the file, its folder and the files -wal and -shm beside it must be writable for this user";
            fault(Code::StoreReadOnly, format!("{place} cannot be written: {said}"), help)
        }
        Some(ErrorCode::DiskFull) => {
            let help = "nothing was changed; make room and try again";
            fault(Code::StoreIo, format!("there is no room left to write {place}"), help)
        }
        Some(ErrorCode::CannotOpen) => {
            let help = "the file and its folder must be readable and writable for this user";
            fault(Code::StoreUnopened, format!("{place} cannot be opened: {said}"), help)
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            let help = "another program holds it in a long transaction; end that and try again";
            fault(Code::StoreBusy, format!("{place} was busy for too long"), help)
        }
        Some(ErrorCode::SystemIoFailure) => {
            let help = "nothing was changed; look at the disk and try again";
            fault(Code::StoreIo, format!("{place} cannot be read or written: {said}"), help)
        }
        _ => {
            let help = "nothing was changed; `interlock audit verify` checks the store";
            fault(Code::StoreFailed, format!("{place}: {said}"), help)
        }
    }
}

/// A store that this user may read and not write: SQLite says no more than that it cannot open its log.
fn is_read_only(path: &Path) -> bool {
    let may = |what: Access| access(path, what).is_ok();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    may(Access::READ_OK) && !(may(Access::WRITE_OK) && access(folder, Access::WRITE_OK).is_ok())
}

/// A value that is not what was ever written there.
fn unreadable(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
    )
}
