"""All errors of Headspace.

    HeadspaceError
    ├── BadRequest            the request or the command line is invalid (400, 404, 409, 413, 415)
    ├── Forbidden             the requester is not allowed to do this (401, 403)
    ├── JournalUnavailable    the database is unavailable (503)
    ├── Undelivered           the client did not receive an answer (502)
    ├── AlreadyRunning        another daemon is running in the same directories
    ├── DaemonMissing         no daemon answers
    ├── ClientMissing         the client is not installed
    ├── RegistrationRefused   the daemon refused to register the agent that `headspace run` wants to start
    └── BadConfiguration      a setting is invalid

Every error has a code for programs, a message for people, and a hint with the next step.
"""

STOPPING = "stopping"
"""The code of `JournalUnavailable` while the daemon stops, which is not an outage."""


class HeadspaceError(Exception):
    """The base class: `code` for programs, `message` for people, `hint` for the next step."""

    status = 500

    def __init__(self, code: str, message: str, hint: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status or type(self).status

    def body(self) -> dict[str, dict[str, str]]:
        """The error as JSON, in the format of the API."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


class BadRequest(HeadspaceError):
    """The request or the command line is invalid."""

    status = 400


class Forbidden(HeadspaceError):
    """The requester is not allowed to do this."""

    status = 403


class JournalUnavailable(HeadspaceError):
    """The database is unavailable."""

    status = 503


class Undelivered(HeadspaceError):
    """The client did not receive an answer."""

    status = 502


class AlreadyRunning(HeadspaceError):
    """Another daemon is running in the same directories."""


class DaemonMissing(HeadspaceError):
    """No daemon answers."""


class ClientMissing(HeadspaceError):
    """The client is not installed."""

    status = 409


class ClientUnusable(HeadspaceError):
    """The program of the client is installed, but cannot be run."""

    status = 409


class RegistrationRefused(HeadspaceError):
    """The daemon refused to register the agent that `headspace run` wants to start."""


class BadConfiguration(HeadspaceError):
    """A setting is invalid."""
