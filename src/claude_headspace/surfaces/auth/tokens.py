"""Scopes, and the tokens that are derived from the secret of this installation.

A derived token is `hs_<scope>_<mac>`. Any program that can read the secret file (mode 0600) can create one, and the
daemon verifies it without storing it. The secret never leaves its file; deleting the file revokes every derived token.
"""

import getpass
import hashlib
import hmac
import os
import secrets
from enum import StrEnum
from pathlib import Path


class Scope(StrEnum):
    """What a token allows."""

    INGEST = "ingest"
    READ = "read"
    ACT = "act"
    ADMIN = "admin"


INCLUDED_SCOPES = {
    Scope.INGEST: {Scope.INGEST},
    Scope.READ: {Scope.READ},
    Scope.ACT: {Scope.READ, Scope.ACT},
    Scope.ADMIN: {Scope.INGEST, Scope.READ, Scope.ACT, Scope.ADMIN},
}
"""The scopes that each scope includes."""


def local_user() -> str:
    """The name of the user; `local` in a container without user names."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "local"


def read_secret(path: Path) -> bytes:
    """The secret of this installation. Created on first use, with mode 0600."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return _create_secret(path)


def _create_secret(path: Path) -> bytes:
    """Write a draft and link it into place, so that two processes that start together use the same secret."""
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
    """The derived token of a scope."""
    mac = hmac.new(secret, f"headspace token {scope.value}".encode(), hashlib.sha256)
    return f"hs_{scope.value}_{mac.hexdigest()[:40]}"


class DerivedTokens:
    """Verifies derived tokens."""

    def __init__(self, secret: bytes) -> None:
        self._tokens = {make_token(secret, scope).encode(): scope for scope in Scope}

    def scopes(self, token: bytes | None) -> frozenset[Scope]:
        """The scopes of a token; empty if it is not one of ours."""
        if token is None:
            return frozenset()
        for expected, scope in self._tokens.items():
            if hmac.compare_digest(expected, token):
                return frozenset(INCLUDED_SCOPES[scope])
        return frozenset()
