"""What a link of a message opens: one question with its buttons, and nothing else. No script, no sign-in.

Rules
- Looking does nothing: previews of messages fetch links before anybody reads them. Only a button answers.
- The link is the right to answer this wait (`links`); an agent that has one is refused all the same (`caller`).
- After an answer the page tells who was first. Of a wait that is over it does not repeat what was asked.
"""

import asyncio
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.answers import Answer
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.forms import filled
from claude_headspace.kernel.wait_request import Question
from claude_headspace.ports import Clock
from claude_headspace.surfaces.api.endpoints.answers import Answering
from claude_headspace.surfaces.api.read_model import ReadModel
from claude_headspace.surfaces.auth.answer_links import PATH, Invited, Links
from claude_headspace.surfaces.auth.requester import Caller, Who
from claude_headspace.surfaces.page.answer_link_html import FIELD, NO_LINK, OVER, ask, document, over

LOOK = Path(__file__).with_name("answer_link.css")
LARGEST_BODY = 64 * 1024
SAME_ORIGIN = {"referrer-policy": "same-origin"}
"""With `no-referrer` a browser would not tell where a form comes from, and the guard would refuse it."""

Said = dict[str, list[str]]


class LinkPage:
    """Shows a wait to whoever has its link, and takes the answer."""

    def __init__(self, links: Links, answering: Answering, model: ReadModel, caller: Caller, clock: Clock) -> None:
        self.links = links
        self._answering = answering
        self._model = model
        self._caller = caller
        self._clock = clock

    def routes(self) -> list[Route]:
        """Where links lead, and how it looks there."""
        return [
            Route("/answer.css", self._style, methods=["GET"]),
            Route(f"{PATH}{{link}}", self._show, methods=["GET"]),
            Route(f"{PATH}{{link}}", self._take, methods=["POST"]),
        ]

    async def _style(self, _request: Request) -> Response:
        return Response(_style(), media_type="text/css", headers={"cache-control": "max-age=3600"})

    async def _show(self, request: Request) -> Response:
        invited = self.links.read(request.path_params["link"])
        return _page(NO_LINK, 404) if invited is None else await self._shown(invited)

    async def _take(self, request: Request) -> Response:
        invited = self.links.read(request.path_params["link"])
        if invited is None:
            return _page(NO_LINK, 404)
        await self._caller.refuse_agents(request)
        said = parse_qs((await _body(request)).decode("utf-8", "replace"), keep_blank_values=True)
        try:
            wait = await self._answering.wait(invited.wait_id)
            await self._answering.give(Who(invited.to, "link"), wait.id, answer_of(wait, said))
        except HeadspaceError as refusal:
            if refusal.status != 409:
                return await self._shown(invited, refusal)
        return RedirectResponse(request.url.path, 303, SAME_ORIGIN)

    async def _shown(self, invited: Invited, refusal: HeadspaceError | None = None) -> Response:
        try:
            wait = await self._answering.wait(invited.wait_id)
        except BadRequest:
            return _page(OVER, 404)
        if not _is_open(wait, self._clock()):
            return _page(over(wait))
        agent = await asyncio.to_thread(self._model.agent, wait.agent_id)
        problem = f"{refusal.message} {refusal.hint}" if refusal is not None else ""
        return _page(ask(agent.name, agent.project.name, wait, problem), refusal.status if refusal else 200)


def _is_open(wait: Wait, now: Micros) -> bool:
    return wait.closed_at is None and wait.answered is None and wait.held_until > now


def _page(body: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(document(body), status, SAME_ORIGIN)


@cache
def _style() -> bytes:
    return LOOK.read_bytes()


async def _body(request: Request) -> bytes:
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST_BODY:
            raise BadRequest("too_large", "The answer is too long.", f"Send at most {LARGEST_BODY} bytes.", status=413)
    return raw


# --- from a form to an answer -----------------------------------------------------------------------------------------


def answer_of(wait: Wait, said: Said) -> Answer:
    """What the form of a wait says; the button that was pressed is `do`."""
    did = _first(said, "do")
    if wait.kind == "elicitation":
        return _form_answer(wait, did, said)
    if did == "deny":
        return Answer(decision="deny", message=_first(said, "message").strip())
    if wait.kind == "question":
        return Answer(answers={each.text: _chosen(said, at, each) for at, each in enumerate(wait.questions)})
    return Answer(decision="allow", always=did == "always") if did in ("allow", "always") else Answer()


def _form_answer(wait: Wait, did: str, said: Said) -> Answer:
    if did != "accept":
        return Answer(action="cancel" if did == "cancel" else "decline")
    words = {field.name: _words(field.kind, said.get(FIELD + field.name, [])) for field in wait.form}
    return Answer(action="accept", content=filled(wait.form, words))


def _words(kind: str, given: list[str]) -> str | list[str]:
    return given if kind == "choices" else given[-1] if given else ""


def _chosen(said: Said, at: int, question: Question) -> list[str]:
    """The options that were ticked and words of one's own; where one answer is wanted, the words are meant."""
    own, ticked = _first(said, f"own{at}").strip(), said.get(f"option{at}", [])
    if not own:
        return ticked
    return [*ticked, own] if question.several else [own]


def _first(said: Said, name: str) -> str:
    return next(iter(said.get(name, ())), "")
