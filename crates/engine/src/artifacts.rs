//! Where the artifacts are that a report claims.

use std::path::{Component, Path, PathBuf};

use interlock_core::event::EventCause;
use interlock_core::observed::FileChange;
use serde_json::Value as Json;

use interlock_prompt::{ArtifactPlace, ClaimedArtifact, LoggedRecord, claimed_artifacts};

/// How agents write the folder that their prompt calls `OUTPUT_DIRECTORY`.
const OUTPUT_NAMES: &[&str] = &["$OUTPUT_DIRECTORY/", "${OUTPUT_DIRECTORY}/", "OUTPUT_DIRECTORY/"];
/// Entries that mark the top of a project.
const PROJECT_MARKS: &[&str] = &[".git", ".interlock", "interlock.yaml"];

/// Every claimed artifact with its place. A file of the output directory stands for a claim only if the claimed path leads
/// to it: other files may have the same name.
pub(super) fn locate_artifacts(logged: &LoggedRecord, outputs: &str, place: &str) -> Vec<ClaimedArtifact> {
    let Some(handoff) = &logged.handoff else { return Vec::new() };
    let observed = match &logged.event.cause {
        EventCause::Reported { observed, .. } => observed.as_deref(),
        _ => None,
    };
    let kept = observed.into_iter().flat_map(|observed| &observed.files);
    let kept: Vec<&str> =
        kept.filter(|file| file.change != FileChange::Deleted).map(|file| file.path.as_str()).collect();
    let omitted = observed.is_some_and(|observed| observed.omitted > 0);
    let feature = handoff.get("feature_directory").and_then(Json::as_str).unwrap_or_default();
    let folders = ArtifactFolders { outputs: Path::new(outputs), place, feature: feature.trim_end_matches('/') };
    let project = project_folders();
    let locate = |path: &str| {
        let bare = path.split_once('#').map_or(path, |(path, _)| path).trim_start_matches("./");
        if let Some(file) = logged.output_files.iter().find(|file| folders.lead_to(bare, folders.within(file))) {
            return match bare.starts_with('/') || !project.iter().any(|folder| folder.join(bare).exists()) {
                true => ArtifactPlace::Output(file.clone()),
                // The project has a file of this path too.
                false => ArtifactPlace::Elsewhere,
            };
        }
        let in_diff = kept.iter().any(|file| bare == *file || bare.starts_with('/') && ends_with(bare, file));
        let is_there = || project.iter().chain(&folders.of_session()).any(|folder| folder.join(bare).exists());
        match omitted || in_diff || is_there() {
            true => ArtifactPlace::Elsewhere,
            false => ArtifactPlace::Nowhere { same_name: nearest_names(bare, &logged.output_files) },
        }
    };
    let claimed = claimed_artifacts(handoff).into_iter();
    claimed.map(|path| ClaimedArtifact { found: locate(&path), path }).collect()
}

/// The folders of a session that a reporter may mean by a path.
struct ArtifactFolders<'a> {
    outputs: &'a Path,
    /// The output directory of the attempt, within the folder of the session.
    place: &'a str,
    /// The feature directory that the handoff names.
    feature: &'a str,
}

impl ArtifactFolders<'_> {
    fn of_session(&self) -> [PathBuf; 2] {
        [self.outputs.join(self.place), self.outputs.to_owned()]
    }

    /// The path of a listed document within its output directory. The reader may see it in another place.
    fn within<'f>(&self, file: &'f str) -> &'f str {
        let mark = format!("/{}/", self.place);
        file.split_once(&mark).map_or(file, |(_, within)| within)
    }

    /// Whether a claim means the document of this path within the output directory.
    fn lead_to(&self, claim: &str, within: &str) -> bool {
        let claim = OUTPUT_NAMES.iter().find_map(|name| claim.strip_prefix(name)).unwrap_or(claim);
        let under_feature = || claim.strip_prefix(self.feature)?.strip_prefix('/');
        let own = self.outputs.join(self.place).join(within);
        claim == within
            || claim.strip_prefix(self.place).and_then(|rest| rest.strip_prefix('/')) == Some(within)
            || !self.feature.is_empty() && under_feature() == Some(within)
            || own.ends_with(claim) && Path::new(claim).components().count() > Path::new(within).components().count()
    }
}

/// The folder that the program was called in, and those above it up to the top of the project.
fn project_folders() -> Vec<PathBuf> {
    let current = std::env::current_dir().unwrap_or_default();
    let is_top = |folder: &&Path| PROJECT_MARKS.iter().any(|mark| folder.join(mark).exists());
    let above = current.ancestors().position(|folder| is_top(&folder)).unwrap_or(0);
    current.ancestors().take(above.saturating_add(1)).map(Path::to_owned).collect()
}

/// Whether a path ends with these components.
fn ends_with(path: &str, end: &str) -> bool {
    Path::new(path).ends_with(end)
}

/// Documents with the name of a claim that was not found: those that share most of its path.
fn nearest_names(claim: &str, output_files: &[String]) -> Vec<String> {
    let shared = |file: &str| {
        let parts = |path: &str| -> Vec<String> {
            let components = Path::new(path).components().rev();
            components
                .filter_map(|part| match part {
                    Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                    _ => None,
                })
                .collect()
        };
        parts(claim).iter().zip(&parts(file)).take_while(|(one, other)| one == other).count()
    };
    let most = output_files.iter().map(|file| shared(file)).max().unwrap_or(0);
    output_files.iter().filter(|file| most > 0 && shared(file) == most).cloned().collect()
}
