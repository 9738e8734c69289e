"""The page behind an answer link: one wait with its buttons. It needs no script and no sign-in.

Rules
- GET changes nothing, because link previews send it. Only a button (POST) answers.
- The link is the permission to answer this wait (`auth/answer_links.py`). Agents are refused nevertheless.
- The page shows the complete request. Nothing is allowed before all of it was shown: `all` in the address.
- Only what is selected is granted beyond the request.
- After an answer the page shows who answered. It does not show the question of a closed wait.
"""

import asyncio
from pathlib import Path
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.wait.answers import Answer, mismatch
from claude_headspace.kernel.wait.forms import convert_values
from claude_headspace.kernel.wait.request import Question
from claude_headspace.ports import Clock
from claude_headspace.surfaces.api.answers import Answers
from claude_headspace.surfaces.api.parameters import read_bytes, read_flag
from claude_headspace.surfaces.auth.answer_links import PATH, AnswerGrant, AnswerLinks
from claude_headspace.surfaces.auth.requester import Requester, RequesterLookup
from claude_headspace.surfaces.page.answer_link_html import (
    CLOSED,
    FIELD_PREFIX,
    INVALID_LINK,
    NOT_SHOWN,
    closed_wait,
    document,
    wait_form,
)
from claude_headspace.surfaces.page.request_html import SHOW_ALL
from claude_headspace.surfaces.read.agents import AgentQueries
from claude_headspace.surfaces.text.clients import message_limit

STYLE_SHEET = Path(__file__).with_name("answer_link.css")
SAME_ORIGIN = {"referrer-policy": "same-origin"}
"""With `no-referrer` a browser sends the form with `Origin: null`, which the middleware refuses."""

Form = dict[str, list[str]]


class AnswerPage:
    """Shows the wait of a link, and accepts the answer."""

    def __init__(
        self, links: AnswerLinks, answers: Answers, agents: AgentQueries, requesters: RequesterLookup, clock: Clock
    ) -> None:
        self._links = links
        self._answers = answers
        self._agents = agents
        self._requesters = requesters
        self._clock = clock

    def routes(self) -> list[Route]:
        """The page and its style sheet."""
        return [
            Route("/answer.css", self._style, methods=["GET"]),
            Route(f"{PATH}{{link}}", self._show, methods=["GET"]),
            Route(f"{PATH}{{link}}", self._answer, methods=["POST"]),
        ]

    async def _style(self, _request: Request) -> Response:
        return FileResponse(STYLE_SHEET, media_type="text/css", headers={"cache-control": "max-age=3600"})

    async def _show(self, request: Request) -> Response:
        grant = self._links.verify(request.path_params["link"])
        return _page(INVALID_LINK, 404) if grant is None else await self._wait_page(request, grant)

    async def _answer(self, request: Request) -> Response:
        grant = self._links.verify(request.path_params["link"])
        if grant is None:
            return _page(INVALID_LINK, 404)
        await self._requesters.refuse_agents(request)
        form = parse_qs((await read_bytes(request)).decode("utf-8", "replace"), keep_blank_values=True)
        try:
            wait = await self._answers.wait(grant.wait_id)
            answer = answer_of(wait, form)
            if (problem := mismatch(wait, answer)) is not None:
                raise BadRequest("answer_does_not_fit", problem, "Nothing was sent.")
            await self._refuse_unshown(request, wait, answer)
            await self._answers.give(Requester(grant.recipient, "link"), wait.id, answer)
        except HeadspaceError as refusal:
            if refusal.status != 409:
                return await self._wait_page(request, grant, refusal)
        return RedirectResponse(request.url.path, 303, SAME_ORIGIN)

    async def _refuse_unshown(self, request: Request, wait: Wait, answer: Answer) -> None:
        """A form is sent to the address of its page, which says whether everything was shown."""
        if not answer.allows or read_flag(request, SHOW_ALL):
            return
        if not (await self._answers.details.view(wait.id)).request.complete:
            raise BadRequest("request_not_shown", "Nothing was sent.", NOT_SHOWN)

    async def _wait_page(self, request: Request, grant: AnswerGrant, refusal: HeadspaceError | None = None) -> Response:
        try:
            wait = await self._answers.wait(grant.wait_id)
        except BadRequest:
            return _page(CLOSED, 404)
        if wait.closed_at is not None or wait.answered is not None or wait.held_until <= self._clock():
            return _page(closed_wait(wait))
        agent = await asyncio.to_thread(self._agents.find, wait.agent_id)
        problem = f"{refusal.message} {refusal.hint}" if refusal is not None else ""
        is_all = read_flag(request, SHOW_ALL)
        details = await self._answers.details.view(wait.id, everything=is_all)
        no_message = message_limit(agent.client, wait.kind)
        form = wait_form(agent.name, agent.project.name, details, problem, is_all=is_all, no_message=no_message)
        return _page(form, refusal.status if refusal else 200)


def _page(body: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(document(body), status, SAME_ORIGIN)


# --- from a form to an answer -----------------------------------------------------------------------------------------


def answer_of(wait: Wait, form: Form) -> Answer:
    """The answer in a submitted form. `do` is the button that was pressed."""
    button = _first(form, "do")
    if not button:
        raise BadRequest("no_button", "Nothing was sent.", "Enter is not an answer: press a button.")
    if wait.kind == "elicitation":
        return _elicitation_answer(wait, button, form)
    if button == "deny":
        return Answer(decision="deny", message=_first(form, "message").strip())
    if wait.kind == "question":
        return Answer(answers={each.text: _chosen(form, at, each) for at, each in enumerate(wait.questions)})
    if button != "allow":
        return Answer()
    return Answer(decision="allow", grant=tuple(form.get("grant", ())) if wait.kind == "permission" else ())


def _elicitation_answer(wait: Wait, button: str, form: Form) -> Answer:
    if button != "accept":
        return Answer(action="cancel" if button == "cancel" else "decline")
    values = {field.name: _value(field.kind, form.get(FIELD_PREFIX + field.name, [])) for field in wait.form}
    return Answer(action="accept", content=convert_values(wait.form, values))


def _value(kind: str, submitted: list[str]) -> str | list[str]:
    return submitted if kind == "choices" else submitted[-1] if submitted else ""


def _chosen(form: Form, at: int, question: Question) -> list[str]:
    """The selected options and the free text. If only one answer is possible, the free text wins."""
    text, options = _first(form, f"own{at}").strip(), form.get(f"option{at}", [])
    if not text:
        return options
    return [*options, text] if question.several else [text]


def _first(form: Form, name: str) -> str:
    return next(iter(form.get(name, ())), "")
