"""Changes one setting in the text of config.toml, and nothing else: comments, order and other settings stay.

A text that cannot be changed this way, for example because the value has several lines, is refused.
"""

import json
import re
from typing import Any

from claude_headspace.config import parse_settings
from claude_headspace.errors import BadConfiguration

_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def set_value(text: str, name: str, value: Any, file: str) -> str:
    """The text of the file with another value of a setting. Raises `BadConfiguration` if another part would change."""
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    table = _TABLE.search(text)
    head, rest = (text[: table.start()], text[table.start() :]) if table else (text, "")
    old = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*=.*$", re.MULTILINE)
    if old.search(head):
        head = old.sub(lambda _: line, head, count=1)
    else:
        head = f"{head.rstrip()}\n{line}\n".lstrip("\n") + ("\n" if rest else "")
    changed = head + rest
    before = parse_settings(text, file)
    try:
        after = parse_settings(changed, file)
    except BadConfiguration:
        after = {}
    if after != {**before, name: value}:
        raise BadConfiguration(
            "not_changed", f"{file} cannot be changed automatically.", f"Open it in an editor, and set `{line}`."
        )
    return changed
