//! Why a request was not executed.

use std::fmt;

use interlock_core::code::Code;
use interlock_core::rejection::Rejection;

use interlock_store::StoreError;

#[derive(Clone, Debug)]
pub enum EngineError {
    /// The rules do not allow it.
    Refused(Box<Rejection>),
    /// The store could not do it.
    Fault(StoreError),
}

impl EngineError {
    /// The worker that executes requests has ended.
    pub fn internal_error() -> Self {
        EngineError::Fault(StoreError::new(Code::Bug, "an order came back without a result"))
    }

    pub fn code(&self) -> Code {
        match self {
            EngineError::Refused(rejection) => rejection.code,
            EngineError::Fault(fault) => fault.code,
        }
    }
}

impl From<Box<Rejection>> for EngineError {
    fn from(rejection: Box<Rejection>) -> Self {
        EngineError::Refused(rejection)
    }
}

impl From<StoreError> for EngineError {
    fn from(fault: StoreError) -> Self {
        EngineError::Fault(fault)
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Refused(rejection) => write!(f, "{}: {}", rejection.code, rejection.message),
            EngineError::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for EngineError {}
