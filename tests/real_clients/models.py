"""Scripted models with the APIs of the other clients: OpenAI's Responses and chat completions, and Gemini's.

The script is the same as for Claude Code (`tests/real_client/model.py`): replies by prompt, with gates. A request is
reduced to its messages, with one message for everything that the model sent in one reply.
"""

import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from tests.real_client.model import Block, Handler, Reply, ScriptedModel, choose, reply, text, tool

_COUNT = itertools.count(1)

Message = dict[str, Any]
"""A message with `role` (user, assistant or other) and `content`."""

TITLE = "A scripted session"


def patch(content: str) -> Block:
    """A call of Codex's free-form tool for patches."""
    return {"type": "custom", "name": "apply_patch", "input": content}


def cell(*commands: str, **arguments: str) -> Block:
    """A call of Codex's free-form tool for scripts: shell commands that run at the same time."""
    calls = ", ".join(f"tools.exec_command({json.dumps({'cmd': each} | arguments)})" for each in commands)
    return {"type": "custom", "name": "exec", "input": f"text(JSON.stringify(await Promise.all([{calls}])));"}


def codex_agent(message: str) -> Block:
    """A call that starts a sub-agent of Codex."""
    return tool("spawn_agent", message=message) | {"namespace": "multi_agent_v1"}


def _new_id(prefix: str) -> str:
    return f"{prefix}_scripted_{next(_COUNT):06d}"


def _joined(messages: Iterator[Message]) -> list[Message]:
    """The messages, with neighbours of the assistant as one."""
    joined: list[Message] = []
    for message in messages:
        if joined and message["role"] == joined[-1]["role"] == "assistant":
            continue
        joined.append(message)
    return joined


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _pieces(chosen: Reply) -> Iterator[tuple[int, str]]:
    """The texts of a reply, piece by piece: of each text the first word, then the rest."""
    number = 0
    for block in chosen.blocks:
        if block["type"] != "text":
            continue
        first, space, rest = block["text"].partition(" ")
        for words in (first + space, rest):
            if words:
                yield number, words
                number += 1


class _OtherHandler(Handler, ABC):
    """What the handlers of the other APIs share."""

    def do_POST(self) -> None:  # noqa: N802
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body: dict[str, Any] = json.loads(raw) if raw.strip() else {}
        if (aside := self.aside(body)) is not None:
            self.send_reply(body, aside)
            return
        chosen = self.chosen(body)
        if chosen is None:
            self.send_answer({})
            return
        model = self.server.model
        model.requests.append(body)
        model.results = list(self.results(body))
        if chosen.held:
            model.hold(chosen.held)
        if chosen.status != 200:
            error = {"message": "scripted failure", "code": chosen.status, "status": "FAILED", "type": "scripted"}
            self.send_answer({"error": error}, chosen.status)
            return
        self.send_reply(body, chosen)

    def pieces(self, chosen: Reply) -> Iterator[str]:
        """The texts of a reply. The second piece waits for the gate."""
        for number, words in _pieces(chosen):
            if number and chosen.streams:
                self.server.model.hold(chosen.streams)
            yield words

    def send_data(self, data: object, kind: str = "") -> None:
        """Send one event of the stream."""
        head = f"event: {kind}\n" if kind else ""
        words = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write(f"{head}data: {words}\n\n".encode())
        self.wfile.flush()

    def scripted(self, messages: Iterator[Message]) -> Reply:
        """The scripted reply to these messages."""
        return choose(self.server.model.script, {"messages": _joined(messages)})

    @abstractmethod
    def aside(self, body: dict[str, Any]) -> Reply | None:
        """The reply to what a client asks beside the conversation, such as a title. The script does not know of it."""

    @abstractmethod
    def chosen(self, body: dict[str, Any]) -> Reply | None:
        """The reply to a request; None if it is not about a conversation."""

    @abstractmethod
    def results(self, body: dict[str, Any]) -> Iterator[str]:
        """The tool results in a request."""

    @abstractmethod
    def send_reply(self, body: dict[str, Any], chosen: Reply) -> None:
        """Send a reply."""


# --- OpenAI -----------------------------------------------------------------------------------------------------------


class _OpenAIHandler(_OtherHandler):
    """Responses for Codex, chat completions for opencode and Copilot."""

    def do_GET(self) -> None:  # noqa: N802
        self.send_answer({"object": "list", "data": [], "models": []})

    def aside(self, body: dict[str, Any]) -> Reply | None:
        """Codex wants its title in JSON. The others ask for it without tools."""
        if self.path.endswith("/responses"):
            has_format = "format" in (body.get("text") or {})
            return reply(text(json.dumps({"title": TITLE}))) if has_format else None
        is_chat = self.path.endswith("/chat/completions")
        return reply(text(TITLE)) if is_chat and not body.get("tools") else None

    def chosen(self, body: dict[str, Any]) -> Reply | None:
        if self.path.endswith("/responses"):
            return self.scripted(_response_messages(body))
        return self.scripted(_chat_messages(body)) if self.path.endswith("/chat/completions") else None

    def results(self, body: dict[str, Any]) -> Iterator[str]:
        for item in body.get("input") or []:
            if str(item.get("type", "")).endswith("_output"):
                yield json.dumps(item.get("output"), ensure_ascii=False)
        for message in body.get("messages") or []:
            if message.get("role") == "tool":
                yield _text_of(message.get("content"))

    def send_reply(self, body: dict[str, Any], chosen: Reply) -> None:
        if self.path.endswith("/responses"):
            self._send_response(chosen)
        else:
            self._send_chat(body, chosen)

    def _send_response(self, chosen: Reply) -> None:
        self.start_stream()
        response, output = _new_id("resp"), list[dict[str, Any]]()

        def send(kind: str, **data: Any) -> None:
            self.send_data({"type": kind, **data}, kind)

        send("response.created", response={"id": response})
        if any(block["type"] == "text" for block in chosen.blocks):
            message = {"type": "message", "id": _new_id("msg"), "role": "assistant", "content": []}
            send("response.output_item.added", output_index=0, item=message)
            words = ""
            for piece in self.pieces(chosen):
                words += piece
                where = {"item_id": message["id"], "output_index": 0, "content_index": 0}
                send("response.output_text.delta", delta=piece, **where)
            output.append(message | {"content": [{"type": "output_text", "text": words, "annotations": []}]})
            send("response.output_item.done", output_index=0, item=output[0])
        for item in filter(None, map(_response_call, chosen.blocks)):
            send("response.output_item.added", output_index=len(output), item=item)
            send("response.output_item.done", output_index=len(output), item=item)
            output.append(item)
        usage = {
            "input_tokens": chosen.tokens,
            "input_tokens_details": {"cached_tokens": chosen.tokens - 1200},
            "output_tokens": 42,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": chosen.tokens + 42,
        }
        send("response.completed", response={"id": response, "output": output, "usage": usage})

    def _send_chat(self, body: dict[str, Any], chosen: Reply) -> None:
        calls = [
            {
                "index": index,
                "id": _new_id("call"),
                "type": "function",
                "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
            }
            for index, block in enumerate(block for block in chosen.blocks if block["type"] == "tool_use")
        ]
        usage = {"prompt_tokens": chosen.tokens, "completion_tokens": 42, "total_tokens": chosen.tokens + 42}
        finish, whole = "tool_calls" if calls else "stop", {"id": _new_id("chat"), "model": body.get("model")}
        if not body.get("stream"):
            words = "".join(piece for _, piece in _pieces(chosen))
            message = {"role": "assistant", "content": words, "tool_calls": calls or None}
            choices = [{"index": 0, "message": message, "finish_reason": finish}]
            self.send_answer(whole | {"object": "chat.completion", "usage": usage, "choices": choices})
            return
        self.start_stream()

        def send(delta: dict[str, Any], finish: str | None = None, **more: Any) -> None:
            choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
            self.send_data(whole | {"object": "chat.completion.chunk", "choices": choices, **more})

        send({"role": "assistant", "content": ""})
        for piece in self.pieces(chosen):
            send({"content": piece})
        for call in calls:
            send({"tool_calls": [call]})
        send({}, finish, usage=usage)
        self.send_data("[DONE]")


def _response_messages(body: dict[str, Any]) -> Iterator[Message]:
    for item in body.get("input") or []:
        kind = item.get("type", "message")
        if kind == "message":
            yield {"role": item.get("role", "other"), "content": _text_of(item.get("content"))}
        else:
            yield {"role": "other" if kind.endswith("_output") else "assistant", "content": ""}


def _chat_messages(body: dict[str, Any]) -> Iterator[Message]:
    for message in body.get("messages") or []:
        role, content = message.get("role"), _text_of(message.get("content"))
        yield {"role": role if role in ("user", "assistant") else "other", "content": content if role == "user" else ""}


def _response_call(block: Block) -> dict[str, Any] | None:
    named = {"call_id": _new_id("call"), "name": block.get("name")}
    if block["type"] == "tool_use":
        space = {"namespace": block["namespace"]} if "namespace" in block else {}
        return {"type": "function_call", "id": _new_id("fc"), **named, "arguments": json.dumps(block["input"]), **space}
    if block["type"] == "custom":
        return {"type": "custom_tool_call", "id": _new_id("ctc"), **named, "input": block["input"]}
    return None


class OpenAIModel(ScriptedModel):
    """A model with OpenAI's APIs."""

    handler = _OpenAIHandler


# --- Gemini -----------------------------------------------------------------------------------------------------------

GEMINI_HELPERS = {
    "next_speaker": '{"reasoning": "done", "next_speaker": "user"}',
    "model_choice": '{"reasoning": "simple", "model_choice": "flash"}',
    "complexity_score": '{"complexity_reasoning": "simple", "complexity_score": 10}',
    "state_snapshot": "<state_snapshot>The user tested.</state_snapshot>",
}
"""What Gemini CLI asks beside the conversation, by a word in the request, and the answer that it understands.

The summary is last, because it is part of all later requests.
"""


class _GeminiHandler(_OtherHandler):
    """`generateContent` and `streamGenerateContent`."""

    def aside(self, body: dict[str, Any]) -> Reply | None:
        """Requests without tools."""
        if "enerateContent" not in self.path or body.get("tools"):
            return None
        asked = json.dumps(body)
        return reply(text(next((words for name, words in GEMINI_HELPERS.items() if name in asked), TITLE)))

    def chosen(self, body: dict[str, Any]) -> Reply | None:
        return self.scripted(_gemini_messages(body)) if "enerateContent" in self.path else None

    def results(self, body: dict[str, Any]) -> Iterator[str]:
        for content in body.get("contents") or []:
            for part in content.get("parts") or []:
                if "functionResponse" in part:
                    yield json.dumps(part["functionResponse"], ensure_ascii=False)

    def send_reply(self, body: dict[str, Any], chosen: Reply) -> None:
        calls: list[dict[str, Any]] = [
            {"functionCall": {"name": block["name"], "args": block["input"]}}
            for block in chosen.blocks
            if block["type"] == "tool_use"
        ]
        usage = {
            "promptTokenCount": chosen.tokens,
            "cachedContentTokenCount": chosen.tokens - 1200,
            "candidatesTokenCount": 42,
            "totalTokenCount": chosen.tokens + 42,
        }

        def part(parts: list[dict[str, Any]], finish: str = "") -> dict[str, Any]:
            candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
            ended = {"finishReason": finish} if finish else {}
            return {"candidates": [candidate | ended], "usageMetadata": usage, "modelVersion": "scripted"}

        if "streamGenerateContent" not in self.path:
            words = "".join(piece for _, piece in _pieces(chosen))
            self.send_answer(part([{"text": words}, *calls], "STOP"))
            return
        self.start_stream()
        for piece in self.pieces(chosen):
            self.send_data(part([{"text": piece}]))
        self.send_data(part(calls or [{"text": ""}], "STOP"))


def _gemini_messages(body: dict[str, Any]) -> Iterator[Message]:
    """One message for each text of the user: the client puts context before and after the prompt."""
    for content in body.get("contents") or []:
        parts = content.get("parts") or []
        if content.get("role") == "model":
            yield {"role": "assistant", "content": ""}
            continue
        for part in parts:
            yield {"role": "user" if "text" in part else "other", "content": part.get("text", "")}


class GeminiModel(ScriptedModel):
    """A model with the Gemini API."""

    handler = _GeminiHandler
