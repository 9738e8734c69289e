"""One address for browsers: the dashboard at `localhost` is redirected to `127.0.0.1`.

A cookie and a stored key belong to one host name. With one address, a browser that is signed in at one of the names is
signed in at both.
"""

from starlette.requests import Request
from starlette.responses import RedirectResponse

ALIAS = "localhost"
ADDRESS = "127.0.0.1"


def redirect_to_address(request: Request) -> RedirectResponse | None:
    """A redirect to the same path at the address, if the request names the alias and arrived at the address.

    The browser keeps the fragment of the URL.
    """
    server = request.scope.get("server")
    if request.url.hostname != ALIAS or server is None or server[0] != ADDRESS:
        return None
    return RedirectResponse(str(request.url.replace(hostname=ADDRESS)), 307)
