"""Sanitizing payloads: no secrets, bounded text, and the same result for hooks and transcripts."""

import json

from claude_headspace.inputs.receive.sanitize import Sanitizer
from claude_headspace.kernel.redaction import REDACTED, Redactor
from claude_headspace.kernel.size_limits import Bounds

SECRET = "sk-ant-" + "a" * 40


def test_secrets_are_redacted_before_text_is_truncated() -> None:
    """No part of a secret is stored."""
    sanitizer = Sanitizer(Bounds(speech=1_024, result=1_024))
    text = ("x " * 300 + SECRET + " y") * 30
    assert SECRET[:20].encode() not in sanitizer.hook(json.dumps({"prompt": text}).encode())


def test_hook_and_transcript_store_the_same_text() -> None:
    """A prompt that both report is one turn, so both must be sanitized alike."""
    sanitizer = Sanitizer(Bounds(speech=2_000, result=1_024), Redactor(["pin"]))
    prompt = f"pin {SECRET} " + "wörd " * 1_000
    hook = json.loads(sanitizer.hook(json.dumps({"prompt": prompt}).encode()))
    line = json.loads(sanitizer.line(json.dumps({"message": {"role": "user", "content": prompt}}).encode() + b"\n"))
    assert hook["prompt"] == line["message"]["content"]
    assert hook["prompt"].startswith(f"{REDACTED} {REDACTED} wörd")
