"""Secrets: taken out before anything is kept, and nothing else is."""

import json

import pytest

from claude_headspace.kernel.redaction import REDACTED, Redactor

SECRETS = [
    "sk-ant-api03-" + "a1B2_" * 10,
    "ghp_" + "a1B2c3" * 6,
    "github_pat_" + "11ABCDEFG0_" * 4,
    "glpat-" + "abcdEFGH12345678-_xy",
    "xoxb-" + "1234567890-abcdef",
    "AKIA" + "ABCDEFGH12345678",
    "AIza" + "a" * 35,
    "npm_" + "a1" * 18,
    "hs_admin_" + "0a" * 20,
    "hs_named_" + "Ab-_" * 10,
    "eyJ" + "hbGciOiJIUzI1NiJ9" + "." + "eyJzdWIiOiIxMjM0NSJ9" + "." + "abcDEF_-123456",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc+/=\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:8])
def test_known_secrets_go_and_the_rest_stays(secret: str) -> None:
    """Only the secret is replaced, and the payload is still JSON."""
    payload = json.dumps({"tool_input": {"command": f'export TOKEN="{secret}" && run'}, "n": 1}).encode()
    out = json.loads(Redactor()(payload))
    assert out == {"tool_input": {"command": f'export TOKEN="{REDACTED}" && run'}, "n": 1}


@pytest.mark.parametrize(
    "text", ["sk-learn is a library", "task-management", "AKIA", "ghp_short", "the eyJ prefix", "hs_admin_", "xoxo"]
)
def test_similar_text_stays(text: str) -> None:
    """Words are not secrets."""
    payload = json.dumps({"prompt": text}).encode()
    assert Redactor()(payload) is payload


def test_the_users_own_patterns_are_tried_on_strings_alone() -> None:
    """Numbers and names of fields stay what they are; broken payloads are left alone."""
    redact = Redactor([r"\d{4,}", r'pass="[^"]*"'])
    payload = b'{"n": 12345, "12345": "pin 98765, pass=\\"x\\"", "l": ["4444"]}'
    assert json.loads(redact(payload)) == {"n": 12345, "12345": f"pin {REDACTED}, {REDACTED}", "l": [REDACTED]}
    assert redact(b"{broken 12345") == b"{broken 12345"
    untouched = b'{ "a":  "none" }'
    assert redact(untouched) is untouched
