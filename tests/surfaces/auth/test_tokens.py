"""Tokens: made from one secret of a home, good for one scope, worth nothing elsewhere."""

import threading
from pathlib import Path

import pytest

from claude_headspace.surfaces.auth.tokens import INCLUDED_SCOPES, DerivedTokens, Scope, make_token, read_secret


def test_the_secret_is_made_once_for_its_user_alone(tmp_path: Path) -> None:
    """The first who asks makes it, everybody else reads the same; nobody else can."""
    path = tmp_path / "state" / "secret"
    first = read_secret(path)
    assert read_secret(path) == first
    assert len(first) == 64
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["secret"]


def test_those_who_start_at_once_agree_on_one_secret(tmp_path: Path) -> None:
    """Sixteen at once read one and the same, and no draft is left."""
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


@pytest.mark.parametrize("scope", Scope)
def test_a_token_names_its_scope_and_is_the_same_every_time(scope: Scope) -> None:
    """It can be made again from the secret at any time."""
    token = make_token(b"secret", scope)
    assert token.startswith(f"hs_{scope.value}_")
    assert token == make_token(b"secret", scope)
    assert token != make_token(b"another secret", scope)
    assert "secret" not in token


@pytest.mark.parametrize("scope", Scope)
def test_a_token_is_good_for_what_its_scope_implies(scope: Scope) -> None:
    """Nothing more, and nothing at all in another home."""
    token = make_token(b"secret", scope).encode()
    assert DerivedTokens(b"secret").scopes(token) == INCLUDED_SCOPES[scope]
    assert DerivedTokens(b"another secret").scopes(token) == frozenset()


def test_the_scopes_are_apart() -> None:
    """Telling does not read, reading neither tells nor acts, acting reads, and only administration is everything."""
    assert INCLUDED_SCOPES[Scope.INGEST] == {Scope.INGEST}
    assert INCLUDED_SCOPES[Scope.READ] == {Scope.READ}
    assert INCLUDED_SCOPES[Scope.ACT] == {Scope.READ, Scope.ACT}
    assert INCLUDED_SCOPES[Scope.ADMIN] == set(Scope)


@pytest.mark.parametrize(
    "token", [None, b"", b"hs_admin_", b"hs_admin_" + b"0" * 40, b"\xff" * 49, make_token(b"x", Scope.ADMIN).encode()]
)
def test_what_is_no_token_of_ours_is_good_for_nothing(token: bytes | None) -> None:
    """Neither nothing nor nonsense nor another home's."""
    assert DerivedTokens(b"secret").scopes(token) == frozenset()


def test_a_token_cannot_be_turned_into_another() -> None:
    """The scope in the name is part of what is signed."""
    turned = make_token(b"secret", Scope.READ).replace("read", "admin").encode()
    assert DerivedTokens(b"secret").scopes(turned) == frozenset()
    cut = make_token(b"secret", Scope.ADMIN).encode()[:-1]
    assert DerivedTokens(b"secret").scopes(cut) == frozenset()


def test_an_empty_secret_opens_nothing_by_itself(tmp_path: Path) -> None:
    """Deleting the file revokes every token: the next secret is another one."""
    path = tmp_path / "secret"
    before = make_token(read_secret(path), Scope.ADMIN).encode()
    path.unlink()
    assert DerivedTokens(read_secret(path)).scopes(before) == frozenset()
