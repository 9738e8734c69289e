"""Realistic Claude Code sessions as hook payloads, prepared so that the hot loop only joins bytes.

A `Script` is one session: its start, then turns of a prompt, some tool calls and a stop. Each payload is encoded once
and split at its `prompt_id` and `tool_use_id` (a `Template`). Ids have a fixed width, so the HTTP head with its
Content-Length is also created once. `walk` yields the payloads in order, endlessly, each with new ids. The same number
gives the same session, so two servers can get exactly the same work.
"""

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import msgspec

_PROMPT_MARK = b"@prompt@"
_TOOL_MARK = b"@tool@"
_PROMPT_WIDTH = 36
_TOOL_WIDTH = 30
_SENTENCE = 11
"""Words per sentence: the daemon parses messages by sentence, so they need some."""

_WORDS = (
    "the parser reads each line before cache tests fail when index is empty because result of join was sorted "
    "twice and handler returns early so retry loop never ends fix by moving check into builder then run suite"
).split()


@dataclass(frozen=True)
class Template:
    """A payload split at its ids."""

    event: str
    pieces: tuple[bytes, ...]

    def filled(self, prompt_id: bytes = b"", tool_use_id: bytes = b"") -> bytes:
        """The payload with these ids."""
        match self.pieces:
            case (before, between, after):
                return b"".join((before, prompt_id, between, tool_use_id, after))
            case (before, after):
                return before + prompt_id + after
            case _:
                return self.pieces[0]

    def as_request(self, port: int) -> "Template":
        """The same with an HTTP head: a complete request for `POST /hook/{event}`."""
        ids = (0, _PROMPT_WIDTH, _PROMPT_WIDTH + _TOOL_WIDTH)[len(self.pieces) - 1]
        length = sum(map(len, self.pieces)) + ids
        head = (
            f"POST /hook/{self.event} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        )
        return Template(self.event, (head.encode() + self.pieces[0], *self.pieces[1:]))


@dataclass(frozen=True)
class Script:
    """One session: its start, and the events of every turn."""

    number: int
    start: Template
    prompt: Template
    calls: tuple[tuple[Template, Template], ...]
    stop: Template

    def as_requests(self, port: int) -> "Script":
        """The same session as HTTP requests to a port."""
        return Script(
            self.number,
            self.start.as_request(port),
            self.prompt.as_request(port),
            tuple((pre.as_request(port), post.as_request(port)) for pre, post in self.calls),
            self.stop.as_request(port),
        )


def walk(script: Script) -> Iterator[bytes]:
    """The payloads of the session from its start, turn after turn, endlessly."""
    yield script.start.filled()
    for turn in count():
        prompt_id = prompt_id_of(script.number, turn)
        yield script.prompt.filled(prompt_id)
        for step, (pre, post) in enumerate(script.calls):
            tool_use_id = tool_use_id_of(script.number, turn, step)
            yield pre.filled(prompt_id, tool_use_id)
            yield post.filled(prompt_id, tool_use_id)
        yield script.stop.filled(prompt_id)


def tool_hooks(script: Script, turn: int = 0) -> Iterator[bytes]:
    """The tool calls of one turn, endlessly. Each ends before the next starts."""
    prompt_id = prompt_id_of(script.number, turn)
    for step in count():
        tool_use_id = tool_use_id_of(script.number, turn, step)
        for template in script.calls[step % len(script.calls)]:
            yield template.filled(prompt_id, tool_use_id)


def prompt_id_of(session: int, turn: int) -> bytes:
    """An id in the client's format, unique for the turn."""
    return b"%08x-0000-4000-8000-%012x" % (session, turn)


def tool_use_id_of(session: int, turn: int, step: int) -> bytes:
    """An id in the client's format, unique for the call."""
    return b"toolu_01%06d%08d%08d" % (session, turn, step)


def script(number: int, cwd: Path, config_dir: Path, calls: int = 5) -> Script:
    """Session `number`, in its own directory. The same number and paths give the same payloads."""
    chance = random.Random(number)
    session_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    folder = str(cwd).replace("/", "-")
    common: dict[str, object] = {
        "session_id": session_id,
        "transcript_path": f"{config_dir}/projects/{folder}/{session_id}.jsonl",
        "cwd": str(cwd),
    }
    turn = common | {"prompt_id": _PROMPT_MARK.decode(), "permission_mode": "default"}
    return Script(
        number,
        start=_template("SessionStart", common | {"source": "startup", "model": "claude-opus-5-5"}),
        prompt=_template("UserPromptSubmit", turn | {"prompt": _text(chance, 80)}),
        calls=tuple(_call(chance, kind, turn, cwd) for kind in range(calls)),
        stop=_template("Stop", _in_turn(turn) | _stop(chance, asks=number % 8 == 0)),
    )


def _call(chance: random.Random, kind: int, turn: dict[str, object], cwd: Path) -> tuple[Template, Template]:
    """The two hooks of one tool call."""
    name, given, answered = _TOOLS[kind % len(_TOOLS)](chance, cwd)
    before = _in_turn(turn) | {"tool_name": name, "tool_input": given, "tool_use_id": _TOOL_MARK.decode()}
    after = before | {"tool_response": answered, "duration_ms": chance.randint(5, 4000)}
    return _template("PreToolUse", before), _template("PostToolUse", after)


def _in_turn(turn: dict[str, object]) -> dict[str, object]:
    return turn | {"effort": {"level": "medium"}}


def _stop(chance: random.Random, asks: bool) -> dict[str, object]:
    message = _text(chance, 90) + "\n\n```python\nassert total == 42\n```\n\n" + _text(chance, 12)
    return {
        "stop_hook_active": False,
        "last_assistant_message": message + (". Shall I go on?" if asks else ". All tests pass now."),
        "background_tasks": [],
        "session_crons": [],
    }


def _bash(chance: random.Random, _cwd: Path) -> tuple[str, object, object]:
    given = {"command": f"pytest -q tests/test_{chance.choice(_WORDS)}.py 2>&1 | tail -20", "description": "Run tests"}
    output = _text(chance, chance.randint(60, 220))
    return "Bash", given, {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}


def _read(chance: random.Random, cwd: Path) -> tuple[str, object, object]:
    path = f"{cwd}/src/{chance.choice(_WORDS)}.py"
    text = _text(chance, chance.randint(80, 200))
    file = {"filePath": path, "content": text, "numLines": 40, "startLine": 1, "totalLines": 40}
    return "Read", {"file_path": path}, {"type": "text", "file": file}


def _edit(chance: random.Random, cwd: Path) -> tuple[str, object, object]:
    path, old, new = f"{cwd}/src/{chance.choice(_WORDS)}.py", _text(chance, 25), _text(chance, 30)
    given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
    hunk = {"oldStart": 10, "oldLines": 3, "newStart": 10, "newLines": 4, "lines": [f"-{old}", f"+{new}"]}
    return "Edit", given, {"filePath": path, "structuredPatch": [hunk], "userModified": False}


def _write(chance: random.Random, cwd: Path) -> tuple[str, object, object]:
    path, text = f"{cwd}/src/{chance.choice(_WORDS)}.py", _text(chance, 70)
    whole = {"filePath": path, "content": text, "originalFile": None, "userModified": False}
    return "Write", {"file_path": path, "content": text}, {"type": "create", **whole}


_TOOLS = (_bash, _read, _edit, _write)


def _text(chance: random.Random, words: int) -> str:
    """A text of this many words, in sentences."""
    chosen = chance.choices(_WORDS, k=words)
    sentences = [" ".join(chosen[at : at + _SENTENCE]).capitalize() for at in range(0, words, _SENTENCE)]
    return ". ".join(sentences)


def _template(name: str, payload: dict[str, object]) -> Template:
    body = msgspec.json.encode(payload | {"hook_event_name": name})
    pieces = body.replace(_TOOL_MARK, _PROMPT_MARK).split(_PROMPT_MARK)
    return Template(_kebab(name), tuple(pieces))


def _kebab(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")
