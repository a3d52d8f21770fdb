//! Holds what is stored against what the events say.
