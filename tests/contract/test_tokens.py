"""Every database: named tokens are stored, found by digest, updated and removed."""

from claude_headspace.ports import Journal, NamedToken
from claude_headspace.testing import START


def token(name: str, **more: object) -> NamedToken:
    """A named token."""
    return NamedToken(name=name, scopes=("ingest", "read"), owner="Ann", created_at=START, **more)  # type: ignore[arg-type]


def test_tokens(any_journal: Journal) -> None:
    """Every field is stored; a name is unique; a removed token is not found."""
    journal = any_journal
    assert journal.tokens() == []
    assert journal.add_token(token("b", expires_at=START + 5), "digest-b")
    assert journal.add_token(token("a"), "digest-a")
    assert not journal.add_token(token("a", expires_at=START), "digest-c")
    assert journal.tokens() == [token("a"), token("b", expires_at=START + 5)]
    assert journal.token("digest-a") == token("a")
    assert journal.token("digest-c") is None
    journal.record_token_use("a", START + 9)
    journal.record_token_use("nobody", START + 9)
    assert journal.token("digest-a") == token("a", last_used_at=START + 9)
    assert journal.remove_token("a")
    assert not journal.remove_token("a")
    assert journal.token("digest-a") is None
    journal.rebuild()
    assert journal.tokens() == [token("b", expires_at=START + 5)]
