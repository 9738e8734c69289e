"""Notebooks: the source of one cell. Pure and total."""

import msgspec

from claude_headspace.kernel.tolerant_json import UNREADABLE


class _Cell(msgspec.Struct):
    id: str = ""
    source: str | list[str] = ""


class _Notebook(msgspec.Struct):
    cells: list[_Cell] = []


def cell_source(notebook: str, cell_id: str) -> str | None:
    """The source of a cell; None if there is no such cell. `cell-3` is the cell at index 3."""
    try:
        cells = msgspec.json.decode(notebook, type=_Notebook).cells
    except UNREADABLE:
        return None
    index = cell_id.removeprefix("cell-")
    is_index = index.isascii() and index.isdigit() and len(index) < 9 and int(index) < len(cells)
    by_index = cells[int(index)] if is_index else None
    found = next((cell for cell in cells if cell.id and cell.id == cell_id), by_index)
    if found is None:
        return None
    return found.source if isinstance(found.source, str) else "".join(found.source)
