"""The words that sessions are told, in Claude OS's format: `[CLAUDE OS SYS: INFO]: …`. The prefix is the user's.

They state what is the case and what could be done; models distrust what poses as a command of the system.
"""

INFO, WARNING = "INFO", "WARNING"

ON_PROMPT = {
    60: (INFO, "Context at {percent}% - Consider writing reset notes soon"),
    80: (WARNING, "Context at {percent}% - Write reset notes and prepare to transition"),
    90: (WARNING, "Context at {percent}% - URGENT - Stop the task and write down its minimal state"),
    95: (WARNING, "Context at {percent}% - CRITICAL - Reset now, with what the next session needs written down"),
}
"""What goes along with a prompt, by the level that was reached."""

ON_STOP = {
    60: (
        INFO,
        "Memory check ({percent}% context used)\n"
        "What should outlast this context window can be written down now, if it is not yet.",
    ),
    80: (
        WARNING,
        "Context at {percent}%\nTime for the reset protocol: write reset notes, then the user can clear the context.",
    ),
    90: (
        WARNING,
        "Context at {percent}% - URGENT\nLeave the task as it is and write down its minimal state: done, and next.",
    ),
    95: (
        WARNING,
        "Context at {percent}% - CRITICAL\nEmergency reset: write down in a few lines what the next session needs.",
    ),
}
"""Why a turn is not let end yet, once for each level."""

LEVELS = tuple(ON_PROMPT)

NOTE = 'Consider setting a session status with: headspace note "what you\'re working on"'

LOADED = "Session context loaded"


def line(prefix: str, grade: str, words: str) -> str:
    """One message: `[CLAUDE OS SYS: INFO]: …`."""
    return f"[{prefix}: {grade}]: {words}"


def context_at(prefix: str, level: int, percent: float, *, stops: bool) -> str:
    """How full the context is, and what that means."""
    grade, words = (ON_STOP if stops else ON_PROMPT)[level]
    return line(prefix, grade, words.format(percent=int(percent)))
