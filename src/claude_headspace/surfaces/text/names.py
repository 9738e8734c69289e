"""The check of a name that a person gives an agent. Pure."""

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.names import VALID_NAME


def check_name(name: str) -> None:
    """Raise `BadRequest` for a name that an agent cannot have."""
    if not VALID_NAME.fullmatch(name):
        raise BadRequest(
            "bad_name",
            f"{name[:60]!r} is not a valid agent name.",
            "Use up to 40 lowercase letters, digits, dots and dashes, starting and ending with a letter or digit.",
        )
