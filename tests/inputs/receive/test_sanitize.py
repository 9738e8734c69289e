"""What is kept: no secrets, nothing without end, and the same words whoever tells them."""

import json

from claude_headspace.inputs.receive.sanitize import Sanitizer
from claude_headspace.kernel.redaction import REDACTED, Redactor
from claude_headspace.kernel.size_limits import Bounds

SECRET = "sk-ant-" + "a" * 40


def test_a_secret_at_the_cut_is_gone_before_it_is_cut() -> None:
    """Half of one is never kept."""
    keep = Sanitizer(Bounds(speech=1_024, result=1_024))
    text = ("x " * 300 + SECRET + " y") * 30
    assert SECRET[:20].encode() not in keep.hook(json.dumps({"prompt": text}).encode())


def test_hook_and_transcript_keep_the_same_words() -> None:
    """A prompt told by both is one turn, so both must be cut and cleaned alike."""
    keep = Sanitizer(Bounds(speech=2_000, result=1_024), Redactor(["pin"]))
    prompt = f"pin {SECRET} " + "wörd " * 1_000
    hook = json.loads(keep.hook(json.dumps({"prompt": prompt}).encode()))
    line = json.loads(keep.line(json.dumps({"message": {"role": "user", "content": prompt}}).encode() + b"\n"))
    assert hook["prompt"] == line["message"]["content"]
    assert hook["prompt"].startswith(f"{REDACTED} {REDACTED} wörd")
