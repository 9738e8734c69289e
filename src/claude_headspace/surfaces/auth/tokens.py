"""Scopes, and the tokens that are derived from the secret of this installation.

A derived token is `hs_<scope>_<mac>`. Any program that can read the secret file (mode 0600) can create one, and the
daemon verifies it without storing it. The secret never leaves its file; deleting the file revokes every derived token.

Tokens of a weak secret could be guessed. A secret that is empty, short, readable by others or not a file is never used:
a daemon replaces it when it starts, everything else refuses it.
"""

import getpass
import hashlib
import hmac
import os
import secrets
import stat
from enum import StrEnum
from pathlib import Path

from claude_headspace.errors import BadConfiguration


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


MIN_SECRET_BYTES = 32
MIN_DIFFERENT_BYTES = 8
"""A secret of 64 random hexadecimal digits has nearly always 12 or more."""


def read_secret(path: Path) -> bytes:
    """The secret of this installation. Created on first use, with mode 0600. A weak one is refused."""
    try:
        secret, problem = _examine(path)
    except FileNotFoundError:
        return _create_secret(path)
    if problem:
        raise BadConfiguration(
            "weak_secret",
            f"The secret {path} {problem}, so its tokens are not safe.",
            "Run `headspace down`, then `headspace up`: the daemon replaces the secret. Browsers must sign in again.",
        )
    return secret


def replace_weak_secret(path: Path) -> str:
    """Replace a secret that must not be used; what was wrong with it, or an empty text. Only for a starting daemon."""
    try:
        problem = _examine(path)[1]
    except FileNotFoundError:
        return ""
    if problem:
        path.rename(path.with_name(f"{path.name}.unusable.{secrets.token_hex(4)}"))
        _create_secret(path)
    return problem


def _examine(path: Path) -> tuple[bytes, str]:
    """The content of the secret file, and why it must not be used."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        return b"", f"cannot be read ({error.strerror})"
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return b"", "is not a regular file"
        secret = os.read(handle, 4096)
    finally:
        os.close(handle)
    if len(secret) < MIN_SECRET_BYTES:
        return secret, "is too short" if secret else "is empty"
    if len(set(secret)) < MIN_DIFFERENT_BYTES:
        return secret, "is not random"
    if found.st_uid != os.geteuid():
        return secret, "belongs to another user"
    return secret, "can be read by other users" if found.st_mode & 0o077 else ""


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
