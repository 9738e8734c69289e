"""An MCP server with one tool, `ask`. The tool asks the user through the client and returns the reply as its result."""

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
    """Write one line to the client."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def elicited() -> str:
    """Ask, and wait for the answer."""
    send(id="ask", method="elicitation/create", params={"message": "Which board?", "requestedSchema": SCHEMA})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "ask" and "method" not in message:
            return json.dumps(message.get("result") or message.get("error"))
    return "nothing"


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "f", "version": "1"}}
    if message["method"] == "tools/list":
        return {"tools": [{"name": "ask", "description": "Ask.", "inputSchema": {"type": "object"}}]}
    if message["method"] == "tools/call":
        return {"content": [{"type": "text", "text": elicited()}]}
    return {}


for request in sys.stdin:
    message = json.loads(request)
    if "id" in message and "method" in message:
        send(id=message["id"], result=answer(message))
