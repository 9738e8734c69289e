"""The redactor: where patterns are tried, what is replaced, and that the payload stays JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.redaction.redactor import REDACTED, Redactor
from claude_headspace.kernel.redaction.rule import RedactionRule, entropy


def rule(pattern: str, *keywords: str, **more: object) -> RedactionRule:
    """A rule."""
    return RedactionRule(id="one", pattern=pattern, keywords=keywords, **more)  # type: ignore[arg-type]


def test_only_the_group_is_replaced() -> None:
    """The rest of the match stays, and so does every other byte of the payload."""
    redact = Redactor([rule(r"pin=(?P<secret>\d+)", "pin=")])
    assert redact(b'{ "n":  1.0, "t": "a pin=42, b" }') == b'{ "n":  1.0, "t": "a pin=[redacted], b" }'


def test_a_payload_without_secrets_is_the_same_object() -> None:
    """Nothing is copied."""
    payload = b'{ "a":  "none pin" }'
    assert Redactor([rule("pin[0-9]+", "pin*")])(payload) is payload


def test_secrets_that_overlap_get_one_mark() -> None:
    """A token in a header is one secret."""
    redact = Redactor([rule("key: [a-z0-9-]+", "key:"), rule("tok-[0-9]+", "tok-")])
    assert redact.text("key: tok-12 tok-3") == f"{REDACTED} {REDACTED}"


def test_the_letter_of_an_escape_starts_no_secret() -> None:
    r"""In `\npm_…` the `n` belongs to a line end: replacing it would break the JSON."""
    redact = Redactor([rule("npm_[a-z]{3}", "npm_")])
    assert json.loads(redact(json.dumps("x\npm_abc").encode())) == "x\npm_abc"
    assert json.loads(redact(json.dumps("x\nnpm_abc").encode())) == f"x\n{REDACTED}"


@pytest.mark.parametrize(
    ("keyword", "text", "is_found"),
    [
        ("tok-", "tok-1", True),
        ("tok-", "x\ntok-1", True),
        ("tok-", "mytok-1", False),
        ("*tok-", "mygreattok-1", True),
        ("TOK*", "tok-1 tok123456", True),
        ("?tok", "xxtok-1", True),
    ],
)
def test_marks_of_keywords_say_where_they_occur(keyword: str, text: str, is_found: bool) -> None:
    """At a word, in front of letters, behind letters, or anywhere."""
    assert (REDACTED in Redactor([rule("tok[-0-9]+", keyword)]).text(text)) is is_found


def test_rules_with_the_same_keyword_are_all_tried() -> None:
    """Also if the keyword has different marks."""
    redact = Redactor([rule("tok-[0-9]+", "tok-"), rule("tok-[a-z]+", "*tok-")])
    assert redact.text("tok-1 tok-a") == f"{REDACTED} {REDACTED}"


def test_digits_entropy_and_exceptions_distinguish_secrets() -> None:
    """A match that fails one of them is ordinary text."""
    redact = Redactor([rule("k=(?P<secret>[a-z0-9]+)", "k=", digits=2, entropy=2.0, except_="abc.*")])
    assert redact.text("k=x1y2z3 k=xyzxyz1 k=1111x1 k=abc123") == f"k={REDACTED} k=xyzxyz1 k=1111x1 k=abc123"
    assert entropy("aabb") == 1.0


def test_characters_before_the_keyword_can_belong_to_the_secret() -> None:
    """For secrets whose only fixed part is in the middle."""
    assert Redactor([rule("(?<=[0-9]{3})-us1", "-us1", before=3)]).text("x 123-us1.") == f"x {REDACTED}."


def test_the_users_rules_are_applied_to_decoded_strings() -> None:
    """Numbers and names of fields stay; a broken payload is left alone."""
    redact = Redactor([], [rule(r"\d{4,}"), rule('pass="(?P<secret>[^"]*)"', "pass")])
    payload = b'{"n": 12345, "12345": "pin 98765, pass=\\"x\\"", "l": ["4444"]}'
    expected = {"n": 12345, "12345": f'pin {REDACTED}, pass="{REDACTED}"', "l": [REDACTED]}
    assert json.loads(redact(payload)) == expected
    assert redact(b"{broken 12345") == b"{broken 12345"
    untouched = b'{ "a":  "none" }'
    assert redact(untouched) is untouched


def test_a_broken_payload_is_redacted_too() -> None:
    """The built-in rules do not need JSON."""
    assert Redactor([rule("tok-[0-9]+", "tok-")])(b'{"a": "tok-12') == b'{"a": "[redacted]'


@given(st.lists(st.sampled_from(["tok-1", "tok-", "a", '"', "\\", "\n", "é", " ", "key: ", "\x1b[31m", "n"])))
def test_the_result_is_always_json(parts: list[str]) -> None:
    """Whatever stands around a secret. A text without a keyword is unchanged."""
    redact = Redactor([rule("tok-[0-9]", "tok-"), rule(r"key:[ ]?(?P<secret>[^\s\"\\]+)", "key:")])
    text = "".join(parts)
    found = json.loads(redact(json.dumps({"t": text}).encode()))["t"]
    assert found == text or REDACTED in found
    assert found == text or "tok-1" in text or "key:" in text
