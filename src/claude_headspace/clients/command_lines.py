"""The command lines of all clients: how each program is started, resumed and interrupted. Pure."""

from collections.abc import Sequence

from claude_headspace.clients.capabilities import named_client
from claude_headspace.clients.catalog import CLIENTS, DEFAULT, title_of
from claude_headspace.clients.claude_code.program import PROGRAM as CLAUDE_CODE
from claude_headspace.clients.client import Client
from claude_headspace.clients.codex.program import PROGRAM as CODEX
from claude_headspace.clients.copilot.program import PROGRAM as COPILOT
from claude_headspace.clients.gemini.program import PROGRAM as GEMINI
from claude_headspace.clients.opencode.program import PROGRAM as OPENCODE
from claude_headspace.clients.program import VALUE, Program
from claude_headspace.errors import BadRequest

PROGRAMS: dict[str, Program] = {
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "opencode": OPENCODE,
    "copilot": COPILOT,
    "gemini": GEMINI,
}
"""The program of each client."""


def program_of(client: str) -> Program:
    """The program of a client. An unknown client is controlled like Claude Code."""
    return PROGRAMS.get(client, PROGRAMS[DEFAULT])


def split_client(arguments: Sequence[str]) -> tuple[Client, list[str]]:
    """The client that the first argument names, and the other arguments. Without a name: Claude Code."""
    named = named_client(arguments[0]) if arguments else None
    return (CLIENTS[DEFAULT], list(arguments)) if named is None else (named, list(arguments[1:]))


def start_arguments(client: str, given: Sequence[str], prompt: str = "") -> list[str]:
    """The arguments that start an interactive session, perhaps with a first prompt."""
    program = program_of(client)
    return [*_own_options(program, given), *given, *(_fill(program.prompt, prompt) if prompt else ())]


def headless_arguments(client: str, given: Sequence[str], prompt: str) -> list[str]:
    """The arguments that work on a prompt without a terminal, and exit."""
    program = program_of(client)
    *before, last = _fill(program.headless_prompt, prompt)
    words = last.split(" ") if program.splits_headless_prompt else [last]
    return [*_own_options(program, given), *program.headless, *given, *before, *words]


def resume_arguments(client: str, session_id: str, given: Sequence[str], prompt: str = "") -> list[str]:
    """The arguments that resume a session, perhaps with the next prompt."""
    check_resumed_prompt(client, prompt)
    return start_arguments(client, [*_fill(program_of(client).resume, session_id), *given], prompt)


def fork_arguments(client: str, session_id: str, given: Sequence[str], prompt: str = "") -> list[str]:
    """The arguments that continue a session as a new one, perhaps with its next prompt."""
    check_resumed_prompt(client, prompt)
    return start_arguments(client, [*_fill(program_of(client).fork, session_id), *given], prompt)


def check_resumed_prompt(client: str, prompt: str) -> None:
    """Raise `BadRequest` for the first prompt of a resumed or forked session if the client ignores it."""
    if prompt and not program_of(client).prompts_resumed:
        message = f"{title_of(client)} ignores a first prompt when it resumes a session."
        raise BadRequest("not_supported", message, "Resume without --prompt, and type it there.")


def chosen_options(client: str, model: str = "", permission_mode: str = "") -> list[str]:
    """The arguments for a model and a permission mode, in the client's own words."""
    program = program_of(client)
    modes = program.permission_modes
    if permission_mode and permission_mode not in modes:
        message = f"{title_of(client)} has no permission mode {permission_mode[:60]!r}."
        raise BadRequest("bad_permission_mode", message, f"Use one of: {', '.join(modes)}.")
    if model.startswith("-"):
        raise BadRequest("bad_model", f"{model[:60]!r} is not the name of a model.", "An option cannot be one.")
    return [*(_fill(program.model, model) if model else ()), *modes.get(permission_mode, ())]


def shared_session_hint(client: str, session_id: str) -> str:
    """What to do with a session that runs in a process shared between terminals, if its terminal was closed."""
    return program_of(client).shared_session.replace(VALUE, session_id)


def config_dir_of(client: str, transcript: str) -> str | None:
    """The config dir that a transcript is in; None if its path does not show it."""
    folder = program_of(client).transcript_dir
    return transcript.rpartition(f"/{folder}/")[0] or None if folder else None


def _own_options(program: Program, given: Sequence[str]) -> tuple[str, ...]:
    is_decided = bool(program.own_setting) and any(program.own_setting in each for each in given)
    return () if is_decided else program.own_options


def _fill(arguments: Sequence[str], value: str) -> list[str]:
    return [each.replace(VALUE, value) for each in arguments]
