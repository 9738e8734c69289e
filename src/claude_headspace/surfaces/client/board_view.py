"""Stores how a person wants to see the board, for `list` and `top`: order, groups, pins."""

import msgspec

from claude_headspace.config import Paths, write_private_file
from claude_headspace.surfaces.text.board_order import BoardView


def load_view(paths: Paths) -> BoardView:
    """The stored view; the default one if there is none, or if it cannot be read."""
    try:
        return msgspec.json.decode(paths.board_view_file.read_bytes(), type=BoardView)
    except (OSError, ValueError):
        return BoardView()


def save_view(paths: Paths, view: BoardView) -> None:
    """Store a view."""
    paths.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private_file(paths.board_view_file, msgspec.json.encode(view))
