"""A check of `headspace doctor`: its name, its status, what was found, and what to do."""

import msgspec


class Check(msgspec.Struct, frozen=True):
    """One check: ok, warning or failed, with a hint."""

    name: str
    status: str
    detail: str
    hint: str = ""


def ok(name: str, detail: str) -> Check:
    """A check without a problem."""
    return Check(name, "ok", detail)


def warning(name: str, detail: str, hint: str) -> Check:
    """A check with a problem that does not stop events."""
    return Check(name, "warning", detail, hint)


def failed(name: str, detail: str, hint: str) -> Check:
    """A check that found a failure."""
    return Check(name, "failed", detail, hint)
