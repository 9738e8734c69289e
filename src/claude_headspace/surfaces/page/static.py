"""The dashboard: static files that the build writes to `built/`. The page reads its data from the API.

Assets have a hash in their name and are cached without limit; the page itself is revalidated on each load. The build
compresses the files. Without a build, every path of the page explains how to get one; the rest of the daemon works.
A browser that opens an unknown path gets the page, too, with status 404: the page says that there is no such view.
"""

import html
import mimetypes
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.auth.canonical_address import redirect_to_address

FOLDER = Path(__file__).with_name("built")
BUILD_NOTE = "build.txt"
"""Written by the build: `built`, or why the build failed."""

PATHS = (
    "/",
    "/new",
    "/agents/{agent}",
    "/waits",
    "/waits/{wait}",
    "/missions",
    "/missions/{mission}",
    "/efforts",
    "/efforts/{effort}",
    "/search",
    "/activity",
    "/usage",
    "/timeline",
    "/replay",
    "/replay/{agent}",
    "/logging",
    "/settings",
)
"""The paths of the page. The browser decides what each one shows."""

OTHER_PATHS = ("/api/", "/hook/", "/assets/", "/icons/")
"""The page is not shown below these paths."""

REVALIDATED = ("theme.js", "manifest.webmanifest", "service-worker.js")
"""Other files at the root. A service worker controls the paths below its own, so it has to be there."""
MEDIA_TYPES = {".webmanifest": "application/manifest+json"}

ErrorHandler = Callable[[Request, Exception], Awaitable[Response]]

ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
CACHE_WITHOUT_LIMIT = "public, max-age=31536000, immutable"

UNBUILT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Headspace</title></head>
<body>
<h1>Headspace is running, but the dashboard was not built</h1>
<p>{reason}</p>
<p>Everything else works: try <code>headspace list</code>. To build the dashboard, make sure that this machine can reach
its package registries, run <code>{command}</code>, and reload this page.</p>
</body>
</html>
"""


class Page:
    """Serves the built files."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    def routes(self) -> list[Route]:
        """The page and its files."""
        return [
            *(Route(path, self._page) for path in PATHS),
            Route("/assets/{name}", partial(self._file, CACHE_WITHOUT_LIMIT)),
            Route("/icons/{name}", partial(self._file, "max-age=3600")),
            *(Route(f"/{name}", partial(self._file, "no-cache")) for name in REVALIDATED),
        ]

    def or_page(self, otherwise: ErrorHandler) -> ErrorHandler:
        """A handler of routing errors: the page for a browser that opens an unknown path, else another response."""

        async def respond(request: Request, error: Exception) -> Response:
            is_unknown = isinstance(error, HTTPException) and error.status_code == 404
            if is_unknown and _is_opened_in_browser(request):
                return await self._page(request, 404)
            return await otherwise(request, error)

        return respond

    async def _page(self, request: Request, status: int = 200) -> Response:
        if (redirect := redirect_to_address(request)) is not None:
            return redirect
        if not (self._folder / "index.html").is_file():
            return HTMLResponse(self._explanation(), 503)
        return self._response(request, "index.html", "no-cache", status)

    async def _file(self, caching: str, request: Request) -> Response:
        return self._response(request, request.scope["path"].removeprefix("/"), caching)

    def _response(self, request: Request, name: str, caching: str, status: int = 200) -> Response:
        path = self._folder / name
        if not _is_file(path):
            raise BadRequest("no_such_file", f"The dashboard has no file {name[:80]}.", "Reload the page.", status=404)
        headers = {"cache-control": caching, "vary": "accept-encoding"}
        kind = MEDIA_TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        accepted = {word.split(";")[0].strip() for word in request.headers.get("accept-encoding", "").split(",")}
        for encoding, suffix in ENCODINGS:
            compressed = path.with_name(path.name + suffix)
            if encoding in accepted and compressed.is_file():
                path, headers = compressed, headers | {"content-encoding": encoding}
                break
        return FileResponse(path, status, headers=headers, media_type=kind)

    def _explanation(self) -> str:
        try:
            reason = (self._folder / BUILD_NOTE).read_text(encoding="utf-8")
        except OSError:
            reason = "No build was attempted yet."
        return UNBUILT.format(reason=html.escape(reason), command=html.escape(rebuild_command()))


def _is_opened_in_browser(request: Request) -> bool:
    wants_html = "text/html" in request.headers.get("accept", "")
    return request.method in ("GET", "HEAD") and wants_html and not request.scope["path"].startswith(OTHER_PATHS)


def _is_file(path: Path) -> bool:
    """Whether a file exists. A name that no file can have is an error of the system."""
    try:
        return path.is_file()
    except OSError:
        return False


def rebuild_command() -> str:
    """The command that builds the page: `bin/page` in a checkout, otherwise a reinstallation."""
    program = FOLDER.parents[3] / "bin" / "page"
    return str(program) if program.is_file() else "pip install --force-reinstall claude-headspace"
