"""An MCP server with one tool, `ask`, that has the client ask its human: what came back is the tool's result."""

import json
import sys
from typing import Any

SCHEMA = {
    "type": "object",
    "required": ["board"],
    "properties": {
        "board": {"type": "integer", "minimum": 1},
        "urgent": {"type": "boolean"},
        "size": {"type": "string", "enum": ["S", "L"]},
    },
}


def send(**message: Any) -> None:
    """One line to the client."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def elicited() -> str:
    """Ask, and wait for the answer."""
    send(id="ask", method="elicitation/create", params={"message": "Which board?", "requestedSchema": SCHEMA})
    for line in sys.stdin:
        told = json.loads(line)
        if told.get("id") == "ask" and "method" not in told:
            return json.dumps(told.get("result") or told.get("error"))
    return "nothing"


def answer(told: dict[str, Any]) -> dict[str, Any]:
    """What a request gets."""
    if told["method"] == "initialize":
        version = told["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "f", "version": "1"}}
    if told["method"] == "tools/list":
        return {"tools": [{"name": "ask", "description": "Ask.", "inputSchema": {"type": "object"}}]}
    if told["method"] == "tools/call":
        return {"content": [{"type": "text", "text": elicited()}]}
    return {}


for request in sys.stdin:
    message = json.loads(request)
    if "id" in message and "method" in message:
        send(id=message["id"], result=answer(message))
