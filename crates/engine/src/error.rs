//! Why an order was not carried out.

use std::fmt;

use interlock_core::code::Code;
use interlock_core::rejection::Rejection;

use interlock_store::StoreError;

#[derive(Clone, Debug)]
pub enum Error {
    /// The rules do not allow it.
    Refused(Box<Rejection>),
    /// The store could not do it.
    Fault(StoreError),
}

impl Error {
    /// Whoever was to carry it out is gone.
    pub fn lost() -> Self {
        Error::Fault(StoreError::new(Code::Bug, "an order came back without a result"))
    }

    pub fn code(&self) -> Code {
        match self {
            Error::Refused(rejection) => rejection.code,
            Error::Fault(fault) => fault.code,
        }
    }
}

impl From<Box<Rejection>> for Error {
    fn from(rejection: Box<Rejection>) -> Self {
        Error::Refused(rejection)
    }
}

impl From<StoreError> for Error {
    fn from(fault: StoreError) -> Self {
        Error::Fault(fault)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(rejection) => write!(f, "{}: {}", rejection.code, rejection.message),
            Error::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
