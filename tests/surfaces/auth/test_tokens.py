"""Derived tokens: created from one secret, valid for one scope and one installation."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from claude_headspace.errors import BadConfiguration
from claude_headspace.surfaces.auth.tokens import (
    INCLUDED_SCOPES,
    DerivedTokens,
    Scope,
    make_token,
    read_secret,
    replace_weak_secret,
)


def test_the_secret_is_created_once_with_mode_0600(tmp_path: Path) -> None:
    """Later reads return the same secret."""
    path = tmp_path / "state" / "secret"
    first = read_secret(path)
    assert read_secret(path) == first
    assert len(first) == 64
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["secret"]


def test_concurrent_starts_use_the_same_secret(tmp_path: Path) -> None:
    """Sixteen threads read the same secret, and no draft is left."""
    path = tmp_path / "secret"
    together = threading.Barrier(16)
    found: list[bytes] = []

    def read() -> None:
        together.wait()
        found.append(read_secret(path))

    threads = [threading.Thread(target=read) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 16
    assert len(set(found)) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret"]


def _replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


WEAK: dict[str, Callable[[Path], object]] = {
    "is empty": lambda path: path.write_bytes(b""),
    "is too short": lambda path: path.write_bytes(b"0123456789"),
    "is not random": lambda path: path.write_bytes(b"0" * 64),
    "can be read by other users": lambda path: path.chmod(0o644),
    "is not a regular file": _replace_by_pipe,
}


@pytest.mark.parametrize(("problem", "weaken"), WEAK.items())
def test_a_weak_secret_is_refused_and_replaced(tmp_path: Path, problem: str, weaken: Callable[[Path], object]) -> None:
    """No token is derived from it. A daemon that starts replaces it and says why."""
    path = tmp_path / "secret"
    old = read_secret(path)
    assert replace_weak_secret(path) == ""
    weaken(path)
    if path.is_file() and problem != "can be read by other users":
        path.chmod(0o600)
    with pytest.raises(BadConfiguration, match=problem):
        read_secret(path)
    assert replace_weak_secret(path) == problem
    assert len(read_secret(path)) == 64
    assert read_secret(path) != old
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("scope", Scope)
def test_a_token_contains_its_scope_and_is_reproducible(scope: Scope) -> None:
    """It can be derived from the secret at any time."""
    token = make_token(b"secret", scope)
    assert token.startswith(f"hs_{scope.value}_")
    assert token == make_token(b"secret", scope)
    assert token != make_token(b"another secret", scope)
    assert "secret" not in token


@pytest.mark.parametrize("scope", Scope)
def test_a_token_allows_the_included_scopes(scope: Scope) -> None:
    """Nothing more, and nothing in another installation."""
    token = make_token(b"secret", scope).encode()
    assert DerivedTokens(b"secret").scopes(token) == INCLUDED_SCOPES[scope]
    assert DerivedTokens(b"another secret").scopes(token) == frozenset()


def test_scopes() -> None:
    """Ingest does not read, read does not act, act includes read, and only admin includes all."""
    assert INCLUDED_SCOPES[Scope.INGEST] == {Scope.INGEST}
    assert INCLUDED_SCOPES[Scope.READ] == {Scope.READ}
    assert INCLUDED_SCOPES[Scope.ACT] == {Scope.READ, Scope.ACT}
    assert INCLUDED_SCOPES[Scope.ADMIN] == set(Scope)


@pytest.mark.parametrize(
    "token", [None, b"", b"hs_admin_", b"hs_admin_" + b"0" * 40, b"\xff" * 49, make_token(b"x", Scope.ADMIN).encode()]
)
def test_unknown_tokens_allow_nothing(token: bytes | None) -> None:
    """Missing, malformed, or of another installation."""
    assert DerivedTokens(b"secret").scopes(token) == frozenset()


def test_the_scope_of_a_token_cannot_be_changed() -> None:
    """The signature covers the scope."""
    turned = make_token(b"secret", Scope.READ).replace("read", "admin").encode()
    assert DerivedTokens(b"secret").scopes(turned) == frozenset()
    cut = make_token(b"secret", Scope.ADMIN).encode()[:-1]
    assert DerivedTokens(b"secret").scopes(cut) == frozenset()


def test_a_new_secret_revokes_all_tokens(tmp_path: Path) -> None:
    """Deleting the file creates another secret."""
    path = tmp_path / "secret"
    before = make_token(read_secret(path), Scope.ADMIN).encode()
    path.unlink()
    assert DerivedTokens(read_secret(path)).scopes(before) == frozenset()
