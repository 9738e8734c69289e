"""Saved prompts: texts that are sent often, one file each in the directory `prompts` of the configuration.

The file `review.md` is the prompt `review`. People may write and edit these files themselves.
"""

import re
from pathlib import Path

from claude_headspace.config import Paths, write_private_file
from claude_headspace.errors import BadRequest
from claude_headspace.outputs.pane_input import validate_text

SUFFIX = ".md"
VALID_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,38}[a-z0-9])?")


class SavedPrompts:
    """The saved prompts of this installation."""

    def __init__(self, paths: Paths) -> None:
        self._folder = paths.prompts_dir

    def names(self) -> list[str]:
        """The names of all saved prompts, in alphabetical order."""
        found = self._folder.glob(f"*{SUFFIX}") if self._folder.is_dir() else ()
        return sorted(path.stem for path in found if path.is_file() and VALID_NAME.fullmatch(path.stem))

    def read(self, name: str) -> str:
        """The text of a saved prompt."""
        try:
            return validate_text(self._file(name).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            known = ", ".join(self.names()) or "none"
            hint = f"Saved prompts: {known}. `headspace prompt save {name} TEXT` saves one."
            raise BadRequest("unknown_prompt", f"There is no saved prompt {name!r}.", hint) from error
        except (OSError, UnicodeDecodeError) as error:
            hint = f"Correct the file {self._file(name)}, or remove it."
            raise BadRequest("bad_prompt", f"The saved prompt {name!r} cannot be read: {error}.", hint) from error

    def save(self, name: str, text: str) -> bool:
        """Save a prompt. Returns whether it replaced another one."""
        file, content = self._file(name), validate_text(text)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        existed = file.exists()
        write_private_file(file, f"{content}\n".encode())
        return existed

    def remove(self, name: str) -> None:
        """Remove a saved prompt."""
        self.read(name)
        self._file(name).unlink()

    def _file(self, name: str) -> Path:
        if not VALID_NAME.fullmatch(name):
            raise BadRequest(
                "bad_name",
                f"{name[:60]!r} is not a valid name of a prompt.",
                "Use up to 40 lowercase letters, digits, dots, dashes and underscores.",
            )
        return self._folder / f"{name}{SUFFIX}"
