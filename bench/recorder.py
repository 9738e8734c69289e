"""Records the calls into one package, in all threads, and the JSON that is decoded.

Rules
- Install it before the package is imported and before any thread starts: `sys.setprofile` works per thread, and a
  module that has already bound `msgspec.json.decode` does not use the counting version.
- A call is a call of a function whose source file is below the package's directory. A resumed generator or coroutine is
  not a new call. Comprehensions and generator expressions belong to the function around them. A lambda is a call, but
  not a function: it counts as the function around it.
- The caller is the nearest frame below that belongs to the package, and not to a comprehension.
- Functions without a source file (methods that `dataclass` or `msgspec` generate) are never counted.
"""

import dis
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import msgspec

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_LAMBDA = "<lambda>"


@dataclass(eq=False)
class Call:
    """One call. It is not counted if it began before the recording and was only resumed during it."""

    file: str
    function: str
    caller: "Call | None"
    is_counted: bool
    thread: str
    decoded: list[bytes] = field(default_factory=list)

    @property
    def package(self) -> str:
        """The first part of the file's path; a module directly in the root is its own package."""
        return self.file.split("/", 1)[0].removesuffix(".py")

    @property
    def crosses(self) -> bool:
        """Whether the caller is in another package."""
        return self.is_counted and self.caller is not None and self.caller.package != self.package


class Recorder:
    """Collects calls while `is_recording`."""

    def __init__(self, package: Path) -> None:
        self._root = f"{package}/"
        self._calls: dict[FrameType, Call] = {}  # references keep the frames alive, so no id is reused
        self.is_recording = False
        self.changes = 0
        """The number of calls and resumptions in the package so far: while it is constant, nothing runs."""

    def install(self) -> None:
        """Observe this thread and all threads that start after it, and every JSON decoder made from now on."""
        _count_decodes(self._decode)
        threading.setprofile(self._observe)
        sys.setprofile(self._observe)

    def begin(self) -> None:
        """Start a new recording."""
        self._calls = {}
        self.is_recording = True

    def end(self) -> list[Call]:
        """The calls in the order in which they began."""
        self.is_recording = False
        calls = list(self._calls.values())
        self._calls = {}
        return calls

    def _observe(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and self._belongs(frame):
            self.changes += 1
            if self.is_recording:
                self._call_of(frame)

    def _belongs(self, frame: FrameType) -> bool:
        code = frame.f_code
        return code.co_filename.startswith(self._root) and code.co_name not in _COMPREHENSIONS

    def _call_of(self, frame: FrameType) -> Call:
        """The call of a frame. One that began before the recording is added, but not counted."""
        if (known := self._calls.get(frame)) is not None:
            return known
        caller = self._nearest(frame.f_back)
        code = frame.f_code
        call = Call(
            code.co_filename.removeprefix(self._root),
            _name(code),
            self._call_of(caller) if caller is not None else None,
            frame.f_lasti <= _first_instruction(code),
            threading.current_thread().name,
        )
        self._calls[frame] = call
        return call

    def _nearest(self, frame: FrameType | None) -> FrameType | None:
        while frame is not None and not self._belongs(frame):
            frame = frame.f_back
        return frame

    def _decode(self, text: object) -> None:
        if self.is_recording and (frame := self._nearest(sys._getframe(1))) is not None:  # the package's own frame
            self._call_of(frame).decoded.append(text.encode() if isinstance(text, str) else bytes(text))  # type: ignore[call-overload]  # a buffer


def _name(code: CodeType) -> str:
    """The qualified name, without the marks of nested functions."""
    return code.co_qualname.replace(".<locals>", "")


def merged(function: str) -> str:
    """The function that a lambda belongs to."""
    while function.endswith(_LAMBDA):
        function = function.removesuffix(_LAMBDA).removesuffix(".")
    return function


@cache
def _first_instruction(code: CodeType) -> int:
    """The offset at which a new call is reported, the first `RESUME`. A resumed frame has a larger one."""
    return next((each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"), 0)


def _count_decodes(seen: Callable[[object], None]) -> None:
    """Replace the JSON decoders with versions that report what they are given."""
    original, decode, loads = msgspec.json.Decoder, msgspec.json.decode, json.loads

    class CountingDecoder:
        """A decoder that reports its input."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            self._decoder: Any = original(*arguments, **options)

        def __class_getitem__(cls, _item: object) -> type:
            return cls

        def __getattr__(self, name: str) -> Any:
            return getattr(self._decoder, name)

        def decode(self, text: Any) -> Any:
            seen(text)
            return self._decoder.decode(text)

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def count(text: Any, *arguments: Any, **options: Any) -> Any:
            seen(text)
            return function(text, *arguments, **options)

        return count

    msgspec.json.Decoder = CountingDecoder  # type: ignore[misc,assignment]
    msgspec.json.decode = counting(decode)
    json.loads = counting(loads)
