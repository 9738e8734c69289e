"""Files that are named on the command line: an output file must be new, an input file must exist."""

from pathlib import Path

from claude_headspace.errors import BadRequest


def require_new_file(path: Path) -> Path:
    """The path of a file to write. Never overwrites a file."""
    if path.exists():
        raise BadRequest("exists", f"{path} already exists.", "Choose another name, or remove the file.")
    if not path.absolute().parent.is_dir():
        raise BadRequest(
            "no_directory",
            f"The directory {path.parent} does not exist.",
            f"Create it with `mkdir -p {path.parent}`, or choose another.",
        )
    return path


def read_file(path: Path) -> bytes:
    """The content of a file."""
    if not path.is_file():
        raise BadRequest("no_file", f"The file {path} does not exist.", "Check the name and the current directory.")
    return path.read_bytes()
