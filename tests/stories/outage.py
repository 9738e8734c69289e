"""Numbered prompts that are sent during a database outage, and the health of the daemon."""

from tests.support import Reply, RunningDaemon, wait_until


def prompt(daemon: RunningDaemon, number: int, text: str = "") -> Reply:
    """Send a numbered prompt."""
    payload = {
        "session_id": "one",
        "cwd": "/projects/one",
        "prompt": f"Number {number}. {text}".strip(),
        "mark": number,
    }
    return daemon.post("user-prompt-submit", payload)


def health(daemon: RunningDaemon) -> str:
    """The health that the daemon reports."""
    return str(daemon.get("/health", scope=None).json()["status"])


def all_stored(daemon: RunningDaemon) -> bool:
    """Whether the spool is empty and the daemon is healthy."""
    return daemon.status["spool"]["depth"] == 0 and health(daemon) == "ok"


def store_first_prompt(daemon: RunningDaemon) -> None:
    """Send the first prompt and wait until it is stored, which may take longer than a hook waits."""
    assert prompt(daemon, 0).status == 200
    wait_until(lambda: all_stored(daemon) and daemon.status["events_total"] == 1, "the first prompt to be stored")


def marks(daemon: RunningDaemon) -> list[int]:
    """The numbers of the stored prompts, in the order of the log."""
    return [event["payload"]["mark"] for event in daemon.events()]
