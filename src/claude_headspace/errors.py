"""What can go wrong, and what to do next.

    HeadspaceError
    ├── BadRequest            the sender must change something (400, 404, 409, 413, 415)
    ├── Forbidden             the caller may not do this (401, 403)
    ├── JournalUnavailable    the database cannot be written or read now (503)
    ├── AlreadyRunning        another daemon serves this home
    ├── DaemonMissing         nobody answers at the address where the daemon should be
    ├── ClientMissing         there is no Claude Code to start
    ├── RegistrationRefused   the daemon does not take the agent that is about to be started
    └── BadConfiguration      a setting cannot be used

Every error has a code for machines, a message for people, and a hint that says what to do next.
"""

STOPPING = "stopping"
"""The code of the one trouble with the journal that is none."""


class HeadspaceError(Exception):
    """The base: `code` for machines, the message for people, `hint` for what to do next."""

    status = 500

    def __init__(self, code: str, message: str, hint: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status or type(self).status

    def body(self) -> dict[str, dict[str, str]]:
        """The one JSON shape of errors."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


class BadRequest(HeadspaceError):
    """The sender must change something."""

    status = 400


class Forbidden(HeadspaceError):
    """The caller may not do this."""

    status = 403


class JournalUnavailable(HeadspaceError):
    """The database cannot be written or read now."""

    status = 503


class AlreadyRunning(HeadspaceError):
    """Another daemon serves this home."""


class DaemonMissing(HeadspaceError):
    """Nobody answers at the address where the daemon should be."""


class ClientMissing(HeadspaceError):
    """There is no Claude Code to start."""


class RegistrationRefused(HeadspaceError):
    """The daemon does not take the agent that is about to be started."""


class BadConfiguration(HeadspaceError):
    """A setting cannot be used."""
