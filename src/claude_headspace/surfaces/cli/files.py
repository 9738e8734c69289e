"""Files that a person names: one that is to be written must be new, one that is to be read must be there."""

from pathlib import Path

from claude_headspace.errors import BadRequest


def require_new_file(path: Path) -> Path:
    """A place for a new file; nothing is written over."""
    if path.exists():
        raise BadRequest("exists", f"{path} is there already.", "Choose another name, or remove it.")
    if not path.absolute().parent.is_dir():
        raise BadRequest(
            "no_directory",
            f"There is no directory {path.parent}.",
            f"Make it (mkdir -p {path.parent}), or choose another.",
        )
    return path


def read_file(path: Path) -> bytes:
    """What is in a file."""
    if not path.is_file():
        raise BadRequest("no_file", f"There is no file {path}.", "Check its name, and the directory that you are in.")
    return path.read_bytes()
