"""The built-in rules: every kind of secret disappears wherever it is written, and ordinary text is unchanged."""

import json
import random
import re
import uuid
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from re import _parser as parser
from typing import Any

import pytest

from claude_headspace.errors import BadConfiguration
from claude_headspace.inputs.redaction.rules import build_redactor, built_in_rules
from claude_headspace.kernel.redaction.redactor import REDACTED
from claude_headspace.kernel.redaction.rule import RedactionRule
from tests.inputs.redaction.samples import expand

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RULES = built_in_rules()
EXAMPLES = [(rule, example) for rule in RULES for example in rule.examples]
REDACT = build_redactor()

PLACES = {
    "alone": "{}",
    "in a line": "first line\n{}\nlast line",
    "after a tab": "name\t{}",
    "in a diff": "@@ -1 +1 @@\n-old\n+{}",
    "in colour": "\x1b[31m{}\x1b[0m",
}
NESTINGS = (lambda text: text, json.dumps, lambda text: json.dumps({"a": json.dumps({"b": text})}))
"""How often the text is encoded as JSON before it is part of a payload."""


def redacted(text: str) -> str:
    """A text as it is stored in a payload."""
    found: str = json.loads(REDACT(json.dumps({"prompt": text, "n": 1}).encode()))["prompt"]
    return found


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=[f"{rule.id}-{n}" for n, (rule, _) in enumerate(EXAMPLES)])
def test_every_example_is_redacted_at_every_place(rule: RedactionRule, example: str) -> None:
    """The secret disappears, the payload stays JSON, and the text around the secret stays."""
    chance = random.Random(example)
    for place in PLACES.values():
        for nesting in NESTINGS:
            text, secrets = expand(example, chance)
            found = redacted(nesting(place.format(text)))
            assert REDACTED in found, (rule.id, place)
            assert not [secret for secret in secrets if len(secret) > 4 and secret in found], (rule.id, place)
            before, after = nesting(place.format("SECRET")).split("SECRET")
            assert found.startswith(before)
            assert found.endswith(after)


def test_all_kinds_of_secrets_are_covered() -> None:
    """At least 74 kinds, each rule with a name, a description and examples."""
    assert len({rule.id for rule in RULES}) == len(RULES) >= 74
    assert all(rule.description and rule.keywords and rule.examples for rule in RULES)


def test_a_secret_is_found_without_its_neighbours() -> None:
    """Only the secret is replaced: the host of a URL, the name of a variable and the rest of a command stay."""
    chance = random.Random(1)
    for example, expected in {
        "postgresql://app:<alnum:9>@db.example.net/shop": "postgresql://app:[redacted]@db.example.net/shop",
        "export DB_PASSWORD='<alnum:9>' && run": "export DB_PASSWORD='[redacted]' && run",
        "curl -H 'Authorization: Bearer <alnum:30>' -v": "curl -H 'Authorization: Bearer [redacted]' -v",
        "machine a login ann password <alnum:9>\nmachine b": "machine a login ann password [redacted]\nmachine b",
    }.items():
        assert redacted(expand(example, chance)[0]) == expected


# --- ordinary text ----------------------------------------------------------------------------------------------------


def ordinary_lines() -> Iterator[str]:
    """Lines that resemble secrets, source code, documentation, and generated ids, hashes and lock files."""
    yield from (HERE / "ordinary.txt").read_text("utf-8").splitlines()
    for name in ("src/claude_headspace/config.py", "src/claude_headspace/surfaces/auth/sign_in.py", "docs/policy.md"):
        yield from (ROOT / name).read_text("utf-8").splitlines()
    chance = random.Random(2)
    for _ in range(100):
        data = chance.randbytes(64)
        yield f"commit {data[:20].hex()}"
        yield f"{uuid.UUID(bytes=data[:16])} session_id={uuid.UUID(bytes=data[16:32])}"
        yield f'"integrity": "sha512-{b64encode(data).decode()}",'
        yield f'    {{url = "https://files.example.net/{data[:32].hex()}.whl", hash = "sha256:{data[32:].hex()}"}},'
        yield f"data:image/png;base64,iVBORw0KGgo{b64encode(data * 3).decode()}"
        yield f"https://cdn.example.net/assets/index-{data[:4].hex()}.js?v={data[4:8].hex()}#L{data[9]}"
        yield f"2026-11-16T10:{data[0] % 60:02}:00Z INFO request id={data[:8].hex()} cache_key={data[:16].hex()}"


def test_ordinary_lines_are_unchanged() -> None:
    """More than 1,000 lines, each as a text and inside of JSON."""
    lines = list(ordinary_lines())
    assert len(lines) >= 1_000
    assert [line for line in lines if redacted(line) != line] == []
    assert [line for line in lines if redacted(json.dumps({"x": line})) != json.dumps({"x": line})] == []


def test_the_recorded_sessions_are_unchanged() -> None:
    """They contain no secret, so every change would be wrong."""
    files = [*ROOT.glob("tests/replay/**/*.json"), *ROOT.glob("tests/replay/**/*.jsonl")]
    lines = [line for file in files for line in file.read_bytes().splitlines()]
    assert len(lines) > 3_000
    assert [line for line in lines if REDACT(line) != line] == []


# --- cost -------------------------------------------------------------------------------------------------------------


def repetitions(parsed: Any) -> Iterator[tuple[str, Any]]:
    """All unlimited repetitions of a parsed expression that can be tried again with fewer characters."""
    for operation, argument in parsed:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT") and argument[1] is parser.MAXREPEAT:
            yield name, argument
        for part in argument if isinstance(argument, tuple | list) else ():
            for inner in part if isinstance(part, list) else (part,):
                if isinstance(inner, parser.SubPattern):
                    yield from repetitions(inner)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_pattern_backtracks_without_limit(rule: RedactionRule) -> None:
    """Unlimited repetitions are possessive, so no input makes a pattern slow."""
    assert not list(repetitions(parser.parse(rule.json_pattern.pattern)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_long_hostile_inputs_end(rule: RedactionRule) -> None:
    """Long repetitions of a keyword with characters that begin a match."""
    keyword = rule.keywords[0].strip("*?")
    for filler in ("-", "=1"):
        text = (keyword + filler) * (100_000 // (len(keyword) + len(filler)))
        json.loads(REDACT(json.dumps(text).encode()))


# --- the user's file --------------------------------------------------------------------------------------------------


def test_a_user_adds_and_disables_rules(tmp_path: Path) -> None:
    """A file with rules in the same format is used beside the built-in ones."""
    file = tmp_path / "redact.toml"
    file.write_text(
        'disabled = ["npm-token"]\n[[rule]]\nid = "acme"\nkeywords = ["ACME-"]\n'
        "pattern = '''ACME-(?P<secret>[0-9]{6})'''\nexcept = '''0+'''\n"
    )
    redact = build_redactor(file)
    text = "ACME-123456 ACME-000000 npm_" + "a1" * 18
    assert redact.text(text) == text.replace("123456", REDACTED)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[[rule]]\nid = 'a'\npattern = '('", "missing"),
        ("[[rule]]\nid = 'a'", "pattern"),
        ("[[rule]]\nid = 'a'\npattern = 'x'\ncolour = 1", "colour"),
        ("disabled = ['nothing']", "there is no rule `nothing`"),
        ("rule = ", "Invalid value"),
    ],
)
def test_an_invalid_file_is_refused_with_the_problem(tmp_path: Path, content: str, problem: str) -> None:
    """Nothing of it is used silently."""
    file = tmp_path / "redact.toml"
    file.write_text(content)
    with pytest.raises(BadConfiguration, match=re.escape(problem)):
        build_redactor(file)
