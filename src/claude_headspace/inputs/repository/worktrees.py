"""The worktrees of a repository: where they are, their branches, and how far a branch is from its base. Only reads.

The base of a branch is where its work is merged into. `headspace run --worktree` stores it in the configuration of the
repository (`branch.NAME.headspacebase`). Another branch is compared with the branch of the main worktree.
"""

from pathlib import Path

import msgspec

from claude_headspace.inputs.repository.git import Git, GitError, split_texts

BASE_SETTING = "headspacebase"


class Worktree(msgspec.Struct, frozen=True, kw_only=True):
    """A worktree of a repository. The first one is the main worktree, or a bare repository."""

    path: str
    repository: str
    """The path of the main worktree, or of the bare repository."""
    branch: str | None = None
    """None if HEAD is detached."""
    commit: str | None = None
    is_bare: bool = False
    is_locked: bool = False

    @property
    def is_main(self) -> bool:
        """Whether it is the repository itself."""
        return self.path == self.repository

    @property
    def name(self) -> str:
        """The branch, or else the name of the directory."""
        return self.branch or Path(self.path).name

    @property
    def exists(self) -> bool:
        """Whether its directory exists."""
        return Path(self.path).is_dir()


class Distance(msgspec.Struct, frozen=True, kw_only=True):
    """How far a branch is from its base."""

    base: str
    ahead: int
    """Commits that the base does not have."""
    behind: int
    """Commits of the base that the branch does not have."""


class WorktreeStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a worktree: its branch, the distance to the base if that is known, and what is not committed."""

    branch: str | None
    distance: Distance | None
    uncommitted: int


def list_worktrees(directory: str) -> list[Worktree]:
    """The worktrees of the repository of a directory, the main one first."""
    output = Git(directory, has_work_tree=False).read("worktree", "list", "--porcelain")
    entries = [entry for entry in output.decode("utf-8", "surrogateescape").split("\n\n") if entry.strip()]
    parsed = [dict(line.partition(" ")[::2] for line in entry.strip("\n").split("\n")) for entry in entries]
    return [_worktree(fields, parsed[0]["worktree"]) for fields in parsed]


def _worktree(fields: dict[str, str], repository: str) -> Worktree:
    branch = fields.get("branch")
    return Worktree(
        path=fields["worktree"],
        repository=repository,
        branch=branch.removeprefix("refs/heads/") if branch else None,
        commit=fields.get("HEAD"),
        is_bare="bare" in fields,
        is_locked="locked" in fields,
    )


def find_base(directory: str, branch: str) -> str | None:
    """The base of a branch: the stored one, or the branch of the main worktree. None if there is no such branch."""
    git = Git(directory, has_work_tree=False)
    stored = git.read("config", "--get", f"branch.{branch}.{BASE_SETTING}", accept=(0, 1)).decode().strip()
    if stored:
        return stored if _is_branch(git, stored) else None
    main = list_worktrees(directory)[0].branch
    return main if main and main != branch and _is_branch(git, main) else None


def _is_branch(git: Git, name: str) -> bool:
    try:
        git.read("rev-parse", "--verify", "--quiet", f"refs/heads/{name}^{{commit}}")
    except GitError:
        return False
    return True


def read_distance(directory: str, branch: str) -> Distance | None:
    """How far a branch is from its base. None without a base, or without a common commit."""
    base = find_base(directory, branch)
    if base is None:
        return None
    git = Git(directory, has_work_tree=False)
    revisions = f"refs/heads/{base}...refs/heads/{branch}"
    behind, ahead = git.read("rev-list", "--left-right", "--count", revisions, "--").split()
    return Distance(base=base, ahead=int(ahead), behind=int(behind))


def read_status(root: str) -> WorktreeStatus:
    """The status of the worktree with this root. Files that git ignores do not count as uncommitted."""
    branch = next((each.branch for each in list_worktrees(root) if _is_same(each.path, root)), None)
    arguments = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal")
    uncommitted = len(split_texts(Git(root).read_files(*arguments)))
    distance = read_distance(root, branch) if branch else None
    return WorktreeStatus(branch=branch, distance=distance, uncommitted=uncommitted)


def _is_same(one: str, other: str) -> bool:
    return one == other or Path(one).resolve() == Path(other).resolve()
