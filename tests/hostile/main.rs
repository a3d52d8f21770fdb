//! Agents that mean harm, or are broken as if they did: real processes, and the real program that drives them.

mod commits;
mod ends;
mod files;
mod gates;
mod git;
mod output;
mod people;
mod scene;
mod vault;
mod words;
