"""Hints for errors of the database."""

import pytest

from claude_headspace.journal.dialects import DEFAULT_HINT, hint_for

AT = 'connection failed: connection to server at "127.0.0.1", port 5432 failed: '


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        (AT + 'FATAL:  password authentication failed for user "hs"', "~/.pgpass"),
        (AT + "fe_sendauth: no password supplied", "~/.pgpass"),
        (AT + 'FATAL:  database "hs" does not exist', "`createdb -E UTF8 hs`"),
        (AT + 'FATAL:  role "hs" does not exist', "`createuser hs`"),
        (AT + 'FATAL:  no pg_hba.conf entry for host "10.0.0.9", user "hs"', "pg_hba.conf"),
        (AT + "Connection refused\n\tIs the server running on that host?", "Check that the server"),
        (
            "failed to resolve host 'db.example': [Errno -2] Name or service not known",
            "Check that the server",
        ),
        ("connection timeout expired", "Check that the server"),
        (AT + "FATAL:  the database system is starting up", "Check that the server"),
        (AT + "FATAL:  Passwort-Authentifizierung für Benutzer »hs« fehlgeschlagen", "the user and the password"),
        (AT + "FATAL:  sorry, too many clients already", "max_connections"),
        ("cannot execute INSERT in a read-only transaction", "is read-only"),
        ("permission denied for schema public", "createdb -E UTF8 -O"),
        ("database or disk is full", DEFAULT_HINT),
        ("attempt to write a readonly database", DEFAULT_HINT),
    ],
)
def test_the_hint_fits_the_cause(message: str, hint: str) -> None:
    """An unreachable server, a wrong password, a missing database, a full disk: each has its own hint."""
    assert hint in hint_for(message)
