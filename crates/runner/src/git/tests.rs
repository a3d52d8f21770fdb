//! A project, the repository of a session and its workspaces, on the disk and with git.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::{CommitAuthor, CommitMessage, Git, GitHash, ProjectRepo, RegisterKey, SessionRepo, TrialMerge, Workspace};

struct RepoFixture {
    root: PathBuf,
    project: ProjectRepo,
    vault: SessionRepo,
}

impl RepoFixture {
    fn new(test: &str) -> Self {
        let root = std::env::temp_dir().join(format!("interlock-git-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let folder = root.join("project");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("same"), "first\n").expect("a file");
        let git = Git::within(&folder);
        git.run_git(&["init", "-q", "."]).expect("a repository");
        git.run_git(&["add", "-A"]).expect("files");
        git.run_git(&["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "First"])
            .expect("a commit");
        let project = ProjectRepo::of(&folder).expect("a project");
        let vault =
            SessionRepo::open(&root.join("repository.git"), &project, RegisterKey::new([1; 32])).expect("a vault");
        Self { root, project, vault }
    }

    fn workspace(&self, name: &str) -> Workspace {
        let workspace = Workspace::open(&self.root, name, &self.vault).expect("a workspace");
        workspace.show(&self.vault.integration().expect("a commit"), &self.project).expect("files");
        workspace
    }

    /// The commit of an agent that writes this text into the file.
    fn left(&self, workspace: &Workspace, text: &str) -> GitHash {
        let base = self.vault.integration().expect("a commit");
        fs::write(workspace.folder.join("same"), text).expect("a file");
        let tree = workspace.changes(&base).expect("changes").tree;
        self.vault
            .commit(&tree, &[&base], &CommitAuthor { role: "r", session: "s" }, &CommitMessage::new("Work"))
            .expect("a commit")
    }
}

impl Drop for RepoFixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Work outside of groups is tried against what was merged while it was done.
#[test]
fn work_that_others_have_overtaken_conflicts_with_theirs() {
    let yard = RepoFixture::new("overtaken");
    let [mine, theirs] = ["+session", "g"].map(|name| yard.workspace(name));
    let onto = yard.vault.integration().expect("a commit");
    let (mine, theirs) = (yard.left(&mine, "mine\n"), yard.left(&theirs, "theirs\n"));
    let tried = yard.vault.try_merge("+session", &mine).expect("tried");
    assert!(matches!(tried, TrialMerge::Clean { .. }), "{tried:?}");
    yard.vault.publish("g", &theirs, &onto, None).expect("published");
    let tried = yard.vault.try_merge("+session", &mine).expect("tried");
    assert!(
        matches!(&tried, TrialMerge::Conflict { onto, conflicts } if *onto == theirs && conflicts.len() == 1),
        "{tried:?}"
    );
    assert!(yard.vault.publish("+session", &mine, &onto, None).is_err(), "it is not what it was tried with any more");
}

/// The repository of the agent is kept while it is untouched, and made again after a change.
#[test]
fn the_agents_own_repository_is_made_anew_only_if_it_was_touched() {
    let yard = RepoFixture::new("own");
    let workspace = yard.workspace("g");
    let own = workspace.folder.join(".git");
    let git = |words: &[&str]| Git::within(&workspace.folder).run_git(words).expect("git works there");
    let number = |name: &str| fs::symlink_metadata(own.join(name)).expect("it is there").ino();
    let made = number("config");
    let again = || {
        workspace.show(&yard.vault.integration().expect("a commit"), &yard.project).expect("files");
        assert_eq!(git(&["status", "--porcelain"]), "");
        assert_eq!(git(&["rev-parse", "--abbrev-ref", "HEAD"]).trim(), "work");
    };
    git(&["status"]);
    let is_noted = || yard.vault.is_index_noted(&yard.root.join("repository.git/index-g"));
    assert!(is_noted(), "it is not made again for nothing");
    let onto = yard.vault.integration().expect("a commit");
    let next = yard.left(&workspace, "second\n");
    assert!(is_noted(), "nor after its files were taken in");
    yard.vault.publish("g", &next, &onto, None).expect("published");
    again();
    assert_eq!(number("config"), made, "nobody has touched it");
    assert_eq!(git(&["rev-parse", "HEAD"]).trim(), next.as_str(), "and it is on the new commit");
    let outside = yard.root.join("outside");
    type Harm<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let harm: Vec<Harm<'_>> = vec![
        ("a hook", Box::new(|| fs::create_dir(own.join("hooks")).expect("a folder"))),
        ("another setting", Box::new(|| drop(git(&["config", "core.pager", "evil"])))),
        (
            "a commit",
            Box::new(|| drop(git(&["-c", "user.name=x", "-c", "user.email=x", "commit", "--allow-empty", "-qm", "x"]))),
        ),
        (
            "an index that is a link",
            Box::new(|| {
                fs::remove_file(own.join("index")).expect("it goes");
                std::os::unix::fs::symlink(&outside, own.join("index")).expect("a link");
            }),
        ),
        (
            "a branch that has another name as well",
            Box::new(|| {
                fs::remove_file(own.join("packed-refs")).expect("it goes");
                fs::hard_link(&outside, own.join("packed-refs")).expect("a name");
            }),
        ),
        ("nothing left", Box::new(|| fs::remove_dir_all(&own).expect("it goes"))),
    ];
    for (what, harm) in harm {
        fs::write(&outside, "kept\n").expect("a file");
        harm();
        again();
        assert_eq!(fs::read_to_string(&outside).expect("it is there"), "kept\n", "{what}");
        assert!(
            !own.join("hooks").exists() && !fs::read_to_string(own.join("config")).expect("it").contains("evil"),
            "{what}"
        );
    }
}
