"""Prompts that can be counted, sent while the database is in trouble, and how the daemon is."""

from tests.support import Reply, RunningDaemon, wait_until


def prompt(daemon: RunningDaemon, number: int, text: str = "") -> Reply:
    """Send a prompt that can be recognised."""
    payload = {
        "session_id": "one",
        "cwd": "/projects/one",
        "prompt": f"Number {number}. {text}".strip(),
        "mark": number,
    }
    return daemon.post("user-prompt-submit", payload)


def health(daemon: RunningDaemon) -> str:
    """How the daemon says it is."""
    return str(daemon.get("/health", scope=None).json()["status"])


def all_taken(daemon: RunningDaemon) -> bool:
    """Whether nothing waits in the spool and the daemon is well."""
    return daemon.status["spool"]["depth"] == 0 and health(daemon) == "ok"


def begin(daemon: RunningDaemon) -> None:
    """Send the first prompt, and wait until it is stored: on a slow machine that may take longer than a hook waits."""
    assert prompt(daemon, 0).status == 200
    wait_until(lambda: all_taken(daemon) and daemon.status["events_total"] == 1, "the first prompt to be stored")


def marks(daemon: RunningDaemon) -> list[int]:
    """Which prompts are stored, in the order of the log."""
    return [event["payload"]["mark"] for event in daemon.events()]
