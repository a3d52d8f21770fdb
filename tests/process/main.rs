//! Programs that misbehave, in real processes: whatever they do, nothing of them is left, and what they print is known.

mod ends;
mod input;
mod killed;
mod left;
mod output;
mod scene;
