"""The command lines that start, resume and prompt each client."""

import pytest

from claude_headspace.clients.capabilities import find_client
from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability
from claude_headspace.clients.command_lines import (
    PROGRAMS,
    chosen_options,
    config_dir_of,
    fork_arguments,
    headless_arguments,
    resume_arguments,
    split_client,
    start_arguments,
)
from claude_headspace.errors import BadRequest

TEXT = '- say {x} "hi"\nsecond line'
"""A prompt that a program could mistake for an option or a pattern."""
NO_DAEMON = ["--no-daemon"]


def test_every_client_has_a_program() -> None:
    """Every client can be started."""
    assert list(PROGRAMS) == list(CLIENTS)


@pytest.mark.parametrize(
    ("client", "arguments"),
    [
        ("claude-code", ["--model", "m", "--", TEXT]),
        ("codex", [*NO_DAEMON, "--model", "m", "--", TEXT]),
        ("opencode", ["--model", "m", f"--prompt={TEXT}"]),
        ("copilot", ["--model", "m", f"--interactive={TEXT}"]),
        ("gemini", ["--model", "m", f"--prompt-interactive={TEXT}"]),
    ],
)
def test_start_with_a_prompt(client: str, arguments: list[str]) -> None:
    """The prompt comes last, unchanged, in the way of the client."""
    assert start_arguments(client, ["--model", "m"], TEXT) == arguments


@pytest.mark.parametrize(
    ("client", "arguments"),
    [("claude-code", []), ("codex", NO_DAEMON), ("opencode", []), ("copilot", []), ("gemini", [])],
)
def test_start_without_a_prompt(client: str, arguments: list[str]) -> None:
    """Only Codex gets an option, which keeps its hooks in the terminal of the agent."""
    assert start_arguments(client, []) == arguments


@pytest.mark.parametrize(
    "given", [["-c", "features.daemon_auto_start=true"], ["--enable", "daemon_auto_start"], ["--no-daemon"]]
)
def test_the_user_decides_about_the_shared_process_of_codex(given: list[str]) -> None:
    """Headspace adds nothing if the arguments already say whether the shared process is used."""
    assert start_arguments("codex", given) == given


@pytest.mark.parametrize(
    ("client", "arguments"),
    [
        ("claude-code", ["-p", "--model", "m", "--", TEXT]),
        ("codex", [*NO_DAEMON, "exec", "--model", "m", "--", TEXT]),
        ("opencode", ["run", "--model", "m", "--", *TEXT.split(" ")]),
        ("copilot", ["--model", "m", f"--prompt={TEXT}"]),
        ("gemini", ["--model", "m", f"--prompt={TEXT}"]),
    ],
)
def test_headless(client: str, arguments: list[str]) -> None:
    """A background mission works on its prompt without a terminal."""
    assert headless_arguments(client, ["--model", "m"], TEXT) == arguments


def test_opencode_gets_a_headless_prompt_word_by_word() -> None:
    """It joins its arguments with spaces, and puts an argument with a space in quotes: so none has one."""
    words = headless_arguments("opencode", [], "Two  spaces, 7\n\nand $(id).")[2:]
    assert not any(" " in word for word in words)
    assert " ".join(words) == "Two  spaces, 7\n\nand $(id)."


@pytest.mark.parametrize(
    ("client", "arguments"),
    [
        ("claude-code", ["--resume", "ID", "--model", "m", "--", "Go on."]),
        ("codex", [*NO_DAEMON, "resume", "ID", "--model", "m", "--", "Go on."]),
        ("copilot", ["--resume=ID", "--model", "m", "--interactive=Go on."]),
        ("gemini", ["--resume=ID", "--model", "m", "--prompt-interactive=Go on."]),
    ],
)
def test_resume(client: str, arguments: list[str]) -> None:
    """The session comes first, then the user's arguments, then the prompt."""
    assert resume_arguments(client, "ID", ["--model", "m"], "Go on.") == arguments


def test_opencode_is_resumed_without_a_prompt() -> None:
    """It ignores the prompt, so Headspace refuses it."""
    assert resume_arguments("opencode", "ID", ["--model", "m"]) == ["-s", "ID", "--model", "m"]
    with pytest.raises(BadRequest, match="opencode ignores a first prompt"):
        resume_arguments("opencode", "ID", [], "Go on.")


@pytest.mark.parametrize(
    ("client", "transcript", "config_dir"),
    [
        ("claude-code", "/h/.claude/projects/-work/a.jsonl", "/h/.claude"),
        ("codex", "/h/.codex/sessions/2026/11/16/rollout-a.jsonl", "/h/.codex"),
        ("copilot", "/h/.copilot/session-state/a/events.jsonl", "/h/.copilot"),
        ("gemini", "/h/.gemini/tmp/work/chats/session-a.jsonl", "/h/.gemini"),
        ("opencode", "/h/.local/share/opencode/opencode.db", None),
        ("claude-code", "", None),
    ],
)
def test_the_config_dir_of_a_transcript(client: str, transcript: str, config_dir: str | None) -> None:
    """A session is resumed with the config dir that its transcript is in."""
    assert config_dir_of(client, transcript) == config_dir


@pytest.mark.parametrize(
    ("given", "client", "rest"),
    [
        ([], "claude-code", []),
        (["Fix it"], "claude-code", ["Fix it"]),
        (["--model", "codex"], "claude-code", ["--model", "codex"]),
        (["claude", "codex"], "claude-code", ["codex"]),
        (["codex", "--model", "m"], "codex", ["--model", "m"]),
        (["gemini", "gemini"], "gemini", ["gemini"]),
    ],
)
def test_the_first_argument_can_name_a_client(given: list[str], client: str, rest: list[str]) -> None:
    """By its name or its program; all other arguments are the client's. Without a name it is Claude Code."""
    found, arguments = split_client(given)
    assert (found.name, arguments) == (client, rest)


def test_an_unknown_client_is_refused() -> None:
    """The message lists the known ones."""
    with pytest.raises(BadRequest, match="does not know the client 'aider'") as refusal:
        find_client("aider")
    assert "opencode" in str(refusal.value.hint)


@pytest.mark.parametrize(
    ("client", "arguments"),
    [
        ("claude-code", ["--resume", "id", "--fork-session", "--model", "m", "--", TEXT]),
        ("codex", [*NO_DAEMON, "fork", "id", "--model", "m", "--", TEXT]),
    ],
)
def test_fork_with_a_prompt(client: str, arguments: list[str]) -> None:
    """The session is continued as a new one."""
    assert fork_arguments(client, "id", ["--model", "m"], TEXT) == arguments


def test_opencode_forks_without_a_prompt() -> None:
    """It would ignore the prompt, so that is refused."""
    assert fork_arguments("opencode", "id", []) == ["-s", "id", "--fork"]
    with pytest.raises(BadRequest, match="ignores a first prompt"):
        fork_arguments("opencode", "id", [], TEXT)


def test_clients_that_cannot_fork_say_so() -> None:
    """A client either has arguments for it, or a limit."""
    assert {name for name, program in PROGRAMS.items() if not program.fork} == {
        name for name, client in CLIENTS.items() if not client.can(Capability.FORK)
    }


def test_model_and_permission_mode_are_those_of_the_client() -> None:
    """A mode of another client is refused with the list; an option is no model."""
    assert chosen_options("claude-code", "opus", "plan") == ["--model", "opus", "--permission-mode", "plan"]
    assert chosen_options("codex", "", "never") == ["--ask-for-approval", "never"]
    assert chosen_options("copilot", "", "plan") == ["--mode", "plan"]
    assert chosen_options("gemini", "flash", "auto_edit") == ["--model", "flash", "--approval-mode", "auto_edit"]
    assert chosen_options("opencode") == []
    with pytest.raises(BadRequest, match="no permission mode 'plan'") as refused:
        chosen_options("codex", "", "plan")
    assert refused.value.hint == "Use one of: on-request, never."
    with pytest.raises(BadRequest, match="not the name of a model"):
        chosen_options("claude-code", "--dangerously-skip-permissions")
