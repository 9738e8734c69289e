"""The data that passes between programs: standard input and output, as far as the analysis knows them."""

from collections.abc import Iterable

import msgspec


class Flow(msgspec.Struct, frozen=True):
    """A text that a program reads or prints, and the programs that it comes from."""

    text: str = ""
    sources: tuple[str, ...] = ()


EMPTY = Flow()


def concatenate(flows: Iterable[Flow]) -> Flow:
    """Join the output of several commands."""
    parts = list(flows)
    sources = dict.fromkeys(name for flow in parts for name in flow.sources)
    return Flow("".join(flow.text for flow in parts), tuple(sources))
