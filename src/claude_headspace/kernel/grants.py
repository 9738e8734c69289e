"""Grants: permissions that a person gives an agent beyond one tool call. Pure.

The client suggests them with a permission dialog. A person selects each one by its id.
"""

from typing import Literal

import msgspec


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """One permission that the client suggests, in words."""

    id: str
    """Derived from its content, so an id never stands for another permission."""
    kind: Literal["rule", "mode", "directory"]
    words: str
    """What it permits, such as "Allow Bash(npm test:*)"."""
    destination: str
    """Where it is stored, which decides how long it lasts: "this session", "this project, for you"."""
