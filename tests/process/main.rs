//! Programs that misbehave, in real processes: nothing of them is left, and their output is known.

mod ends;
mod input;
mod killed;
mod left;
mod output;
mod scene;
