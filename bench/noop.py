"""The endpoint that `ingest` is compared with: the same HTTP server without any work.

`python -m bench.noop PORT` replies to `POST /hook/{event}` with a constant JSON of the same size as the daemon's, after
reading the body. It is Starlette on uvicorn with uvloop and httptools, without middleware: the cost of HTTP alone.
"""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ANSWER = (
    b'{"status":"ok","agent_id":"01JZ0000000000000000000000","state":"working","session_id":'
    b'"00000000-0000-4000-8000-000000000000","correlation":"memory","dialects":{"headspace":"PROCESSING",'
    b'"plate":"running","fleet":"working","claude_os":"tool_active"}}'
)


async def hook(request: Request) -> Response:
    """Read the body and return the constant."""
    await request.body()
    return Response(ANSWER, media_type="application/json")


async def health(_request: Request) -> Response:
    """Report that the server is ready."""
    return Response(b"{}", media_type="application/json")


app = Starlette(routes=[Route("/hook/{event}", hook, methods=["POST"]), Route("/health", health)])


if __name__ == "__main__":
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="warning",
    )
