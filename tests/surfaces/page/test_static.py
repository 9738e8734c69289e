"""The files of the dashboard: compressed by the build, cached by name, with an explanation if there is no build."""

import asyncio
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Scope

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.page.static import PATHS, Page


async def refuse(_request: Request, _error: Exception) -> Response:
    """The response of the API for an unknown path."""
    return Response("JSON", 404)


def get(folder: Path, path: str, accepted: str = "", wanted: str = "*/*") -> tuple[int, dict[str, str], bytes]:
    """The response for a path of a built page."""
    sent: list[Message] = []
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "root_path": "",
        "query_string": b"",
        "headers": [(b"accept-encoding", accepted.encode()), (b"accept", wanted.encode())],
    }

    async def receive() -> Message:
        await asyncio.Event().wait()  # the client says nothing more, and does not go away
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(dict(message))

    page = Page(folder)
    app = Starlette(routes=page.routes(), exception_handlers={HTTPException: page.or_page(refuse)})
    asyncio.run(app(scope, receive, send))
    start = sent[0]
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A page as the build leaves it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "icons").mkdir()
    for name in ("index.html", "theme.js", "assets/index-abc.js", "icons/0.svg"):
        (tmp_path / name).write_text(f"plain {name}")
        (tmp_path / f"{name}.br").write_text(f"brotli {name}")
        (tmp_path / f"{name}.gz").write_text(f"gzip {name}")
    return tmp_path


def test_every_path_serves_the_page(built: Path) -> None:
    """Links can be opened anywhere. The page is revalidated on each load."""
    for path in PATHS:
        status, headers, body = get(built, path.replace("{agent}", "calm-otter"))
        assert (status, body) == (200, b"plain index.html"), path
        assert headers["cache-control"] == "no-cache"
        assert headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("path", ["/nonsense", "/agents", "/agents/calm-otter/more"])
def test_an_unknown_path_is_the_page_for_a_browser(built: Path, path: str) -> None:
    """The page says that there is no such view. Programs get the response of the API."""
    status, headers, body = get(built, path, wanted="text/html,*/*;q=0.8")
    assert (status, body) == (404, b"plain index.html")
    assert headers["content-type"].startswith("text/html")
    assert get(built, path)[2] == b"JSON"


def test_an_unknown_endpoint_is_not_the_page(built: Path) -> None:
    """The API answers in its own format, whoever asks."""
    assert get(built, "/api/nonsense", wanted="text/html")[2] == b"JSON"


def test_assets_are_cached_without_limit(built: Path) -> None:
    """Their names contain a hash of the content."""
    status, headers, _ = get(built, "/assets/index-abc.js")
    assert status == 200
    assert "immutable" in headers["cache-control"]
    assert headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    ("accepted", "encoding"), [("gzip, deflate, br", "br"), ("gzip;q=1.0", "gzip"), ("", None), ("identity", None)]
)
def test_compressed_files(built: Path, accepted: str, encoding: str | None) -> None:
    """The best encoding that the browser accepts; compressed by the build."""
    _, headers, body = get(built, "/assets/index-abc.js", accepted)
    assert headers.get("content-encoding") == encoding
    assert body.split()[0].decode() == {"br": "brotli", "gzip": "gzip", None: "plain"}[encoding]
    assert headers["vary"] == "accept-encoding"


@pytest.mark.parametrize("path", ["/assets/nothing.js", "/assets/..", "/icons/..%2fsecret"])
def test_other_files_are_not_served(built: Path, path: str) -> None:
    """Only files of the build."""
    (built.parent / "secret").write_text("secret")
    with pytest.raises(HeadspaceError) as refusal:
        get(built, path)
    assert refusal.value.status == 404


def test_without_a_build(tmp_path: Path) -> None:
    """The page shows the reason and the command."""
    (tmp_path / "build.txt").write_text("Building it failed: <npm> ended with 1.")
    status, _, body = get(tmp_path, "/")
    assert status == 503
    assert b"&lt;npm&gt; ended with 1" in body
    assert b"bin/page" in body or b"pip install" in body


def test_the_paths_are_those_of_the_route_table() -> None:
    """The server serves the page at every path that `web/src/routes.ts` has a view for, and at no other."""
    table = (Path(__file__).parents[3] / "web/src/routes.ts").read_text(encoding="utf-8")
    rows = re.findall(r'\{\s*path: "([^"]+)",(.*?)\},\n', table, re.DOTALL)
    views = {path for path, fields in rows if "view:" in fields}
    details = {f"{path}/{{}}" for path, fields in rows if "detail:" in fields}
    assert {re.sub(r"\{\w+\}", "{}", path) for path in PATHS} == views | details
