"""Reads the rules for secrets: the built-in ones (`rules.toml`), and the user's `redact.toml`.

Rules
- The user can add rules, and disable built-in rules by their id.
- An invalid file raises `BadConfiguration` with the problem.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from claude_headspace.errors import BadConfiguration
from claude_headspace.kernel.redaction.redactor import Redactor
from claude_headspace.kernel.redaction.rule import RedactionRule


class RedactionFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a file."""

    rule: tuple[RedactionRule, ...] = ()
    disabled: tuple[str, ...] = ()


@cache
def built_in_rules() -> tuple[RedactionRule, ...]:
    """The built-in rules."""
    text = (files("claude_headspace.inputs.redaction") / "rules.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), RedactionFile).rule


def build_redactor(file: Path | None = None, patterns: Sequence[str] = ()) -> Redactor:
    """The redactor with the built-in rules, those of a file, and the patterns of the setting `redact`."""
    user_file = read_rules(file) if file is not None else RedactionFile()
    setting = [RedactionRule(id=f"redact {number}", pattern=text) for number, text in enumerate(patterns, 1)]
    rules = [rule for rule in built_in_rules() if rule.id not in user_file.disabled]
    return Redactor(rules, [*user_file.rule, *setting])


def read_rules(path: Path) -> RedactionFile:
    """The rules of the user. A file that does not exist has none."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), RedactionFile)
        for rule in found.rule:
            rule.compile()
    except FileNotFoundError:
        return RedactionFile()
    except (OSError, ValueError, re.error) as error:
        raise _invalid(path, str(error)) from error
    known = {rule.id for rule in built_in_rules()}
    if unknown := sorted({*found.disabled} - known):
        raise _invalid(path, f"there is no rule `{unknown[0]}`")
    return found


def _invalid(path: Path, problem: str) -> BadConfiguration:
    return BadConfiguration(
        "bad_redaction", f"{path} cannot be used: {problem}", "Correct the file. docs/redaction.md describes it."
    )
