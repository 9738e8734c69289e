"""What goes from one program to the next: the text as far as it is known, and who it comes from."""

from collections.abc import Iterable

import msgspec


class Flow(msgspec.Struct, frozen=True):
    """What goes from one program to the next: the text as far as it is known, and who it comes from."""

    text: str = ""
    sources: tuple[str, ...] = ()


EMPTY = Flow()


def concatenate(flows: Iterable[Flow]) -> Flow:
    """What several commands print, one after the other."""
    found = list(flows)
    return Flow(
        "".join(flow.text for flow in found), tuple(dict.fromkeys(name for flow in found for name in flow.sources))
    )
