"""Changes of any size, as `GET /api/agents/{agent}/changes` returns them, for tests and benchmarks of the page."""

from typing import Any

WORDS = ("order", "customer", "invoice", "payment", "session", "basket", "address", "discount")
HUNK_LINES = 20


def generated_changes(files: int, lines: int) -> dict[str, Any]:
    """That many files with that many lines of diff in all."""
    return changes(*[generated_file(number, lines // files) for number in range(files)])


def changes(*files: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The reply for these files."""
    return {
        "agent_id": "a",
        "command_id": None,
        "since_commit": None,
        "head_commit": None,
        "commits": [],
        "files": list(files),
        "added": sum(each["added"] for each in files),
        "removed": sum(each["removed"] for each in files),
        "complete": all(each["complete"] for each in files),
        "left_out": sum(each["left_out"] for each in files),
        "git_problem": None,
        **fields,
    }


def changed_file(path: str, diff: str, **fields: Any) -> dict[str, Any]:
    """One file of the reply."""
    lines = [line for line in diff.splitlines() if not line.startswith(("+++", "---"))]
    return {
        "path": path,
        "status": "modified",
        "added": sum(line.startswith("+") for line in lines),
        "removed": sum(line.startswith("-") for line in lines),
        "diff": diff,
        "source": "tool",
        "command_ids": [],
        "complete": True,
        "left_out": 0,
        "old_path": None,
        **fields,
    }


def generated_file(number: int, lines: int) -> dict[str, Any]:
    """A Python file with hunks of twenty lines."""
    path = f"src/shop/{WORDS[number % len(WORDS)]}/module_{number:03}.py"
    hunks = "".join(_hunk(start, number) for start in range(0, lines, HUNK_LINES))
    return changed_file(path, f"--- a/{path}\n+++ b/{path}\n{hunks}")


def _hunk(start: int, number: int) -> str:
    """Four changed lines, twelve unchanged ones, and a header."""
    at = start * 3 + 1
    body = []
    for line in range(HUNK_LINES - 1):
        word = WORDS[(start + line + number) % len(WORDS)]
        code = f'    {word}_{line} = compute("{word}", {line}, previous={word})  # {word} of line {at + line}\n'
        body.append(("-" if line in (5, 6) else "+" if line in (7, 8, 9) else " ") + code)
    return (
        f"@@ -{at},{HUNK_LINES - 4} +{at},{HUNK_LINES - 3} @@ def {WORDS[number % len(WORDS)]}(previous):\n"
        + "".join(body)
    )
