//! The program as people and scripts meet it: the real binary, its output and its exit code.

mod check;
mod explain;
mod harness;
mod help;
mod pages;
mod readme;
mod route;
mod streams;
mod usage;
mod workflow;
