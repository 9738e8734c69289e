"""Builds hook payloads and transcript lines in the format of Claude Code 2.1.325. Pure."""

from typing import Any

Json = dict[str, Any]

VERSION = "2.1.325"


def hook_payload(event: str, /, **fields: object) -> Json:
    """The payload of a hook. Fields replace and extend the defaults."""
    return {"session_id": "session-1", "cwd": "/home/dev/app", "hook_event_name": event, **fields}


def transcript_line(kind: str, /, **fields: object) -> Json:
    """A line of a transcript, without its timestamp."""
    defaults = {"version": VERSION, "isSidechain": False, "userType": "external", "entrypoint": "cli"}
    return {"type": kind, **defaults, **fields}


def status_line_payload(model: str, tokens: int, window: int, cost_usd: float) -> Json:
    """The fields of the status line: model, context and cost."""
    _claude, family, *version = model.split("-")
    used = round(100 * tokens / window)
    return {
        "model": {"id": model, "display_name": f"{family.title()} {'.'.join(version)}"},
        "version": VERSION,
        "cost": {"total_cost_usd": round(cost_usd, 4)},
        "context_window": {
            "context_window_size": window,
            "total_input_tokens": tokens,
            "used_percentage": used,
            "remaining_percentage": 100 - used,
        },
    }


def running_task(task_id: str, kind: str, description: str, **fields: str) -> Json:
    """An entry of `background_tasks` in a Stop hook."""
    return {"id": task_id, "type": kind, "status": "running", "description": description, **fields}


def task_notification(task_id: str, summary: str) -> str:
    """The prompt that Claude Code submits when background work has ended."""
    fields = f"<task-id>{task_id}</task-id>\n<status>completed</status>\n<summary>{summary}</summary>"
    return f"<task-notification>\n{fields}\n</task-notification>"
