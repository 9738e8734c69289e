"""A scripted model: the Messages API on loopback, one server for each client.

    ScriptedModel({"Fix the login": [reply(bash("npm test")), reply(text("It works."))]})

The newest prompt of a request that is in the script selects the reply: the first request after that prompt gets its
first reply, the next request the second, and so on. Sub-agents and nested clients have their own prompts. All other
requests (titles, summaries) get a short text.
"""

import itertools
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

PATIENCE_SECONDS = 60.0
"""The longest time that a reply waits for its gate."""

_PLAN_FILE = re.compile(r"/[^\s\"'`\\]+/plans/[^\s\"'`\\]+\.md")
_COUNT = itertools.count(1)

Block = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One reply of the model: its text and tool calls, or its error."""

    blocks: tuple[Block, ...] = ()
    held: str = ""
    """The name of a gate. Nothing is sent until the gate is open."""
    streams: str = ""
    """The name of a gate. The first word is sent at once, the others when the gate is open."""
    status: int = 200
    tokens: int = 21_200
    """The number of input tokens that the model reports."""

    @property
    def stop_reason(self) -> str:
        """The reason why the model stopped."""
        return "tool_use" if any(block["type"] == "tool_use" for block in self.blocks) else "end_turn"


def text(words: str) -> Block:
    """A text block."""
    return {"type": "text", "text": words}


def tool(name: str, **arguments: Any) -> Block:
    """A tool call."""
    return {"type": "tool_use", "name": name, "input": arguments}


def bash(command: str, **arguments: Any) -> Block:
    """A call of the Bash tool."""
    return tool("Bash", command=command, description="a step of the scenario", **arguments)


def question(words: str, *options: str) -> Block:
    """A question with options (AskUserQuestion)."""
    choices = [{"label": option, "description": f"choose {option}"} for option in options]
    return tool("AskUserQuestion", questions=[{"question": words, "header": "Choice", "options": choices}])


def several(words: str, *options: str) -> Block:
    """A question that accepts several answers."""
    asked = question(words, *options)
    asked["input"]["questions"][0]["multiSelect"] = True
    return asked


def questions(*asked: Block) -> Block:
    """Several questions in one tool call."""
    return tool("AskUserQuestion", questions=[each["input"]["questions"][0] for each in asked])


def helper(prompt: str, description: str, kind: str = "general-purpose") -> Block:
    """A call that starts a sub-agent."""
    return tool("Agent", prompt=prompt, description=description, subagent_type=kind)


def reply(*blocks: Block, held: str = "", streams: str = "", tokens: int = 21_200) -> Reply:
    """A reply of the model."""
    return Reply(blocks, held, streams, tokens=tokens)


def refusal(status: int) -> Reply:
    """An error of the model's server."""
    return Reply(status=status)


Script = Mapping[str, Sequence[Reply]]
"""For each prompt the replies of the model, in order."""


def choose(script: Script, body: dict[str, Any]) -> Reply:
    """The reply to a request; a short text after the last reply of its prompt."""
    messages = body.get("messages") or []
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].get("role") == "assistant":
            continue
        content = "\n".join(_texts(messages[at]))
        known = [(content.rfind(prompt), prompt) for prompt in script if prompt in content]
        if known:
            replies = script[max(known)[1]]
            step = sum(message.get("role") == "assistant" for message in messages[at + 1 :])
            return replies[step] if step < len(replies) else reply(text("All done."))
    return reply(text("A summary of the session so far."))


def _texts(message: dict[str, Any]) -> Iterator[str]:
    content = message.get("content") or []
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block.get("type") == "text":
            yield block.get("text", "")


def _results(body: dict[str, Any]) -> Iterator[str]:
    """The tool results in all messages of a request."""
    for message in body.get("messages") or []:
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_result":
                yield json.dumps(block.get("content"), ensure_ascii=False)


class ScriptedModel:
    """The server, in its own threads."""

    handler: "type[Handler]"

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        """The requests, in order."""
        self.pauses: list[float] = []
        """The seconds from each reply to the next request: the client's own time, including tools and hooks."""
        self.results: list[str] = []
        """The tool results in the last request."""
        self._answered = 0.0
        self._gates: dict[str, threading.Event] = {}
        self._reached: dict[str, threading.Event] = {}
        self._server = _Server(self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for gate in self._gates.values():
            gate.set()
        self._server.shutdown()
        self._server.server_close()

    def asked(self, body: dict[str, Any]) -> None:
        """Record a request."""
        self.results = list(_results(body))
        if self._answered:
            self.pauses.append(time.perf_counter() - self._answered)

    def answered(self) -> None:
        """Record the time of a reply."""
        self._answered = time.perf_counter()

    def gate(self, name: str) -> threading.Event:
        """The gate of this name. It is open when the event is set."""
        return self._gates.setdefault(name, threading.Event())

    def reached(self, name: str) -> threading.Event:
        """Set when a reply has reached this gate."""
        return self._reached.setdefault(name, threading.Event())

    def hold(self, name: str) -> None:
        """Wait until the gate is opened."""
        self.reached(name).set()
        self.gate(name).wait(PATIENCE_SECONDS)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), model.handler)
        self.model = model

    def handle_error(self, request: object, client_address: object) -> None:
        """A closed connection is not an error: Esc closes it."""


@dataclass
class _Message:
    """A reply in the format of the API."""

    reply: Reply
    model: str
    content: list[Block] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.content = [
            block | {"id": f"toolu_scripted_{next(_COUNT):06d}"} if block["type"] == "tool_use" else block
            for block in self.reply.blocks
        ]

    def whole(self) -> dict[str, Any]:
        return {
            "id": f"msg_scripted_{next(_COUNT):06d}",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": self.content,
            "stop_reason": self.reply.stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 1200,
                "cache_read_input_tokens": self.reply.tokens - 1200,
                "output_tokens": 42,
            },
        }


class Handler(BaseHTTPRequestHandler):
    """The Messages API. Subclasses speak other APIs."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        self.send_answer({})

    def do_HEAD(self) -> None:
        self.send_answer({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "count_tokens" in self.path:
            self.send_answer({"input_tokens": 1000})
        elif "/v1/messages" in self.path:
            self._reply(json.loads(raw))
        else:
            self.send_answer({})

    def _reply(self, body: dict[str, Any]) -> None:
        model = self.server.model
        model.requests.append(body)
        chosen = choose(model.script, body)
        model.asked(body)
        if chosen.held:
            model.hold(chosen.held)
        if chosen.status != 200:
            error = {"type": "api_error", "message": "scripted failure"}
            self.send_answer({"type": "error", "error": error}, chosen.status)
            return
        message = _Message(_with_plan_file(chosen, body), str(body.get("model")))
        if body.get("stream"):
            self._stream(message)
        else:
            self.send_answer(message.whole())
        model.answered()

    def send_answer(self, body: dict[str, Any], status: int = 200) -> None:
        """Send JSON."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def start_stream(self) -> None:
        """Begin a reply of server-sent events."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def _stream(self, message: _Message) -> None:
        self.start_stream()
        whole = message.whole()
        self._event("message_start", message=whole | {"content": [], "stop_reason": None})
        for index, block in enumerate(message.content):
            self._block(index, block, message.reply.streams)
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        self._event("message_delta", delta=delta, usage=whole["usage"])
        self._event("message_stop")

    def _block(self, index: int, block: Block, gate: str) -> None:
        if block["type"] == "tool_use":
            start = block | {"input": {}}
            pieces = [("input_json_delta", "partial_json", json.dumps(block["input"]))]
        else:
            first, space, rest = block["text"].partition(" ")
            start = text("")
            pieces = [("text_delta", "text", words) for words in (first + space, rest) if words]
        self._event("content_block_start", index=index, content_block=start)
        for number, (kind, name, piece) in enumerate(pieces):
            if number and gate:
                self.server.model.hold(gate)
            self._event("content_block_delta", index=index, delta={"type": kind, name: piece})
        self._event("content_block_stop", index=index)

    def _event(self, kind: str, **data: Any) -> None:
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode())
        self.wfile.flush()


ScriptedModel.handler = Handler

PLAN_FILE = "$PLAN_FILE"
"""In the arguments of a tool call: replaced by the plan file that the client requires."""


def _with_plan_file(chosen: Reply, body: dict[str, Any]) -> Reply:
    if PLAN_FILE not in json.dumps(chosen.blocks):
        return chosen
    named = _PLAN_FILE.findall(json.dumps(body))
    blocks = json.loads(json.dumps(chosen.blocks).replace(PLAN_FILE, named[-1] if named else PLAN_FILE))
    return Reply(tuple(blocks), chosen.held, chosen.streams, chosen.status)
