"""Replies to hooks in the format of Claude Code, which other clients use, too. Pure."""

from typing import Any

import msgspec


def with_message(reply: bytes, text: str) -> bytes:
    """A reply that also shows a text to the user."""
    output: dict[str, Any] = msgspec.json.decode(reply) if reply else {}
    return msgspec.json.encode(output | {"systemMessage": "\n".join(filter(None, (output.get("systemMessage"), text)))})


def block_stop(reply: bytes, reason: str) -> bytes:
    """A reply that prevents the turn from ending, with the reason for the model."""
    output: dict[str, Any] = msgspec.json.decode(reply) if reply else {}
    return msgspec.json.encode(output | {"decision": "block", "reason": reason})
