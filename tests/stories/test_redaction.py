"""Secrets: whichever way a text reaches Headspace, no file of it and no reply contains them."""

import random
import subprocess
from pathlib import Path

import pytest

from tests.inputs.redaction.samples import expand
from tests.support import RunningDaemon, running_daemon, wait_until
from tests.support_rpc import call

SESSION = {"session_id": "one", "cwd": "/tmp"}
ENV = {"CLAUDE_CODE_SESSION_ID": "one"}


def make_secret(number: int) -> str:
    """A token of its own for every text."""
    return expand("ghp_<alnum:36>", random.Random(number))[0]


def use_everything(daemon: RunningDaemon, repository: Path, secrets: list[str]) -> str:
    """Send a secret in every kind of text. Returns the id of the agent."""
    prompt, command, result, message, note, renamed, subject, typed = secrets
    call_one = {**SESSION, "tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": f"sudo login {command}"}}
    event = {**SESSION, "cwd": str(repository)}
    daemon.post("session-start", event)
    daemon.post("user-prompt-submit", {**event, "prompt": f"use {prompt}\n{prompt}"})
    daemon.post("pre-tool-use", {**call_one, **event}, {"X-Headspace-Reply": "hook"})
    daemon.post("post-tool-use", {**call_one, **event, "tool_response": {"stdout": f"\x1b[31m{result}\x1b[0m"}})
    call(daemon, "agent.note", {"text": f"with {note}"}, ENV)
    daemon.post("stop", {**event, "last_assistant_message": f"Should I use {message}?"})
    (repository / "file").write_text(f"key = {renamed}\n")
    commit = ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", f"Use {subject}")
    for arguments in (("add", "file"), commit):
        subprocess.run(["git", "-C", str(repository), *arguments], check=True)
    (repository / "other").write_text(f"key = {typed}\n")
    return str(wait_until(daemon.agents, "the agent")[0]["id"])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository."""
    folder = tmp_path / "work"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def test_no_file_and_no_reply_contains_a_secret(tmp_path: Path, repository: Path) -> None:
    """Prompts, commands, results, questions, notes, verdicts, diffs and commits, in the journal and over the API."""
    secrets = [make_secret(number) for number in range(8)]
    with running_daemon(tmp_path / "home") as daemon:
        agent = use_everything(daemon, repository, secrets)
        paths = ["", "/events", "/turns", "/commands", "/tools", "/waits", "/changes"]
        replies = [daemon.get(f"/api/agents/{agent}{path}") for path in paths]
        found = [daemon.get(f"/api/search?q={secret}") for secret in secrets]
        texts = [reply.body for reply in (*replies, *found)]
        assert b"[redacted]" in b"".join(texts)
    files = [path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert [secret for secret in secrets for text in files if secret.encode() in text] == []
    assert [secret for secret in secrets for reply in replies if secret.encode() in reply.body] == []
