"""Who may do what: four scopes, and tokens made from one secret of this home.

A token is `hs_<scope>_<mac>`: whoever can read the 0600 secret file (the user, and nobody else) can make them, the
daemon checks them without storing any. The secret never leaves its file; deleting it revokes every token.
"""

import getpass
import hashlib
import hmac
import os
import secrets
from enum import StrEnum
from pathlib import Path


class Scope(StrEnum):
    """What a token is good for."""

    INGEST = "ingest"
    READ = "read"
    ACT = "act"
    ADMIN = "admin"


IMPLIED = {
    Scope.INGEST: {Scope.INGEST},
    Scope.READ: {Scope.READ},
    Scope.ACT: {Scope.READ, Scope.ACT},
    Scope.ADMIN: {Scope.INGEST, Scope.READ, Scope.ACT, Scope.ADMIN},
}
"""What each scope includes."""


def local_user() -> str:
    """Whose home this is; in a container nobody may have a name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "local"


def read_secret(path: Path) -> bytes:
    """The secret of this home, made on first use and readable by its user alone."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return _make_secret(path)


def _make_secret(path: Path) -> bytes:
    """Write it whole under another name first: two who start at once agree on one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_hex(32).encode())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_bytes()


def make_token(secret: bytes, scope: Scope) -> str:
    """The token of a scope."""
    mac = hmac.new(secret, f"headspace token {scope.value}".encode(), hashlib.sha256)
    return f"hs_{scope.value}_{mac.hexdigest()[:40]}"


class Tokens:
    """Checks tokens."""

    def __init__(self, secret: bytes) -> None:
        self._known = {make_token(secret, scope).encode(): scope for scope in Scope}

    def scopes(self, token: bytes | None) -> frozenset[Scope]:
        """What a token allows; nothing if it is none of ours."""
        if token is None:
            return frozenset()
        for known, scope in self._known.items():
            if hmac.compare_digest(known, token):
                return frozenset(IMPLIED[scope])
        return frozenset()
