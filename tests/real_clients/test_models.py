"""The scripted models: what clients ask beside a conversation is answered without the script."""

import json
import urllib.request
from typing import Any

import pytest

from tests.real_client.model import refusal
from tests.real_clients.models import TITLE, GeminiModel, OpenAIModel

ASKED = [{"role": "user", "content": "Make a title for: Clean up"}]
TITLE_FORMAT = {"format": {"type": "json_schema", "schema": {"properties": {"title": {"type": "string"}}}}}


@pytest.mark.parametrize(
    ("make_model", "path", "body"),
    [
        (OpenAIModel, "/v1/responses", {"input": ASKED, "text": TITLE_FORMAT}),
        (OpenAIModel, "/v1/chat/completions", {"messages": ASKED}),
        (GeminiModel, "/v1beta/models/flash:generateContent", {"contents": ASKED}),
    ],
    ids=["codex", "chat", "gemini"],
)
def test_a_title_is_no_part_of_the_script(make_model: type[OpenAIModel], path: str, body: dict[str, Any]) -> None:
    """It is not the scripted error, and neither the requests nor the results of the conversation change."""
    with make_model({"Clean up": [refusal(400)]}) as model:
        model.results = ["a result"]
        request = urllib.request.Request(f"{model.url}{path}", json.dumps(body).encode(), method="POST")  # noqa: S310  # loopback
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            assert TITLE in answer.read().decode()
        assert (model.requests, model.results) == ([], ["a result"])
