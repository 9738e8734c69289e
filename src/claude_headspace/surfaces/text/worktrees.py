"""Texts about worktrees: how far a branch is from its base, in words and in marks."""

from claude_headspace.kernel.text import count
from claude_headspace.surfaces.text.formatting import Json


def distance_text(base: str | None, ahead: int, behind: int, uncommitted: int, *, with_base: bool = True) -> str:
    """How far a branch is from its base, and what is not committed: "2 commits ahead of main, 1 behind"."""
    parts = [] if base is not None else ["base unknown"]
    if ahead:
        parts.append(f"{count(ahead, 'commit')} ahead" + (f" of {base}" if with_base else ""))
    if behind:
        parts.append(f"{behind:,} behind" + (f" {base}" if with_base and not ahead else ""))
    if base is not None and not parts:
        parts.append(f"no commits since {base}" if with_base else "no commits")
    if uncommitted:
        parts.append(f"{count(uncommitted, 'file')} not committed")
    return ", ".join(parts)


def distance_marks(worktree: Json | None) -> list[str]:
    """The distance of a worktree in marks: ↑ commits ahead, ↓ behind, ± files not committed."""
    if not worktree:
        return []
    if worktree["removed"]:
        return ["removed"]
    marks = {"↑": worktree["ahead"], "↓": worktree["behind"], "±": worktree["uncommitted"]}
    return [f"{mark}{number}" for mark, number in marks.items() if number]


def worktree_text(worktree: Json | None) -> str:
    """The worktree of an agent: its distance to the base in words, and its directory."""
    if not worktree:
        return ""
    if worktree["removed"]:
        return f"removed: {worktree['root']}"
    words = distance_text(worktree["base"], worktree["ahead"], worktree["behind"], worktree["uncommitted"])
    return f"{words}  {worktree['root']}"
