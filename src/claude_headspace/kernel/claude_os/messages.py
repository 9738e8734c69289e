"""Session notices in the format of Claude OS: `[CLAUDE OS SYS: INFO]: …`. The prefix is configurable.

The texts state facts and suggest what to do. Models distrust texts that pose as commands of the system.
"""

INFO, WARNING = "INFO", "WARNING"

WITH_PROMPT = {
    60: (INFO, "Context at {percent}% - Consider writing reset notes soon"),
    80: (WARNING, "Context at {percent}% - Write reset notes and prepare to reset"),
    90: (WARNING, "Context at {percent}% - URGENT - Stop the task and write down its minimal state"),
    95: (WARNING, "Context at {percent}% - CRITICAL - Reset now, with what the next session needs written down"),
}
"""Notices that are added to a prompt, by context level."""

AT_TURN_END = {
    60: (
        INFO,
        "Memory check ({percent}% context used)\nWrite down anything that the next session needs.",
    ),
    80: (
        WARNING,
        "Context at {percent}%\nPrepare to reset: write reset notes, then the user can clear the context.",
    ),
    90: (
        WARNING,
        "Context at {percent}% - URGENT\nStop the task and write down its minimal state: what is done, what is next.",
    ),
    95: (
        WARNING,
        "Context at {percent}% - CRITICAL\nEmergency reset: write down in a few lines what the next session needs.",
    ),
}
"""Reasons for blocking the end of a turn, once per context level."""

LEVELS = tuple(WITH_PROMPT)

NOTE_REQUEST = 'Consider setting a session status with: headspace note "what you\'re working on"'

CONTEXT_LOADED = "Session context loaded"


def format_message(prefix: str, grade: str, words: str) -> str:
    """One message: `[CLAUDE OS SYS: INFO]: …`."""
    return f"[{prefix}: {grade}]: {words}"


def context_message(prefix: str, level: int, percent: float, *, stops: bool) -> str:
    """The notice about context usage."""
    grade, words = (AT_TURN_END if stops else WITH_PROMPT)[level]
    return format_message(prefix, grade, words.format(percent=int(percent)))
