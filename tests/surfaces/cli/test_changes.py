"""The command `diff`."""

import json

from tests.support import RunningDaemon
from tests.surfaces.cli.conftest import Headspace, run_headspace
from tests.surfaces.cli.test_output import COLOURS, on_a_terminal

LONG = "".join(f"line {number}\n" for number in range(100))


def agent_with_changes(daemon: RunningDaemon, content: str = "hi\n") -> str:
    """An agent that wrote one file in each of its two commands; its id."""
    common = {"session_id": "writes", "cwd": "/projects/writes"}
    daemon.post("session-start", {**common, "source": "startup"})
    agent_id = ""
    for number in (1, 2):
        path = f"/projects/writes/{number}.txt"
        result: dict[str, object] = {"type": "create", "content": content, "structuredPatch": [], "originalFile": None}
        call = {"tool_name": "Write", "tool_use_id": path, "tool_input": {"file_path": path, "content": content}}
        daemon.post("user-prompt-submit", {**common, "prompt": f"Write {number}"})
        daemon.post("post-tool-use", {**common, **call, "tool_response": result})
        agent_id = daemon.post("stop", {**common, "last_assistant_message": "Done."}).json()["agent_id"]
    return agent_id


def test_all_changes_and_those_of_one_command(daemon: RunningDaemon) -> None:
    """By number, as the latest, as counts and as JSON."""
    agent = agent_with_changes(daemon)
    everything = run_headspace(daemon.home, "diff", agent)
    assert (everything.returncode, everything.stderr) == (0, "")
    assert "added 1.txt  +1 −0\n@@ -0,0 +1 @@\n+hi\n" in everything.stdout
    assert everything.stdout.endswith("2 files changed, 2 lines added, 0 removed.\n")
    first = run_headspace(daemon.home, "diff", agent, "--command", "1", "--stat").stdout
    assert first == "added 1.txt  +1 −0\n1 file changed, 1 line added, 0 removed.\n"
    latest = json.loads(run_headspace(daemon.home, "diff", agent, "--command", "latest", "--json").stdout)
    assert [file["path"] for file in latest["files"]] == ["2.txt"]
    wrong = run_headspace(daemon.home, "diff", agent, "--command", "7")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "from 1 to 2" in wrong.stderr


def test_an_agent_without_changes(headspace: Headspace, names: dict[str, str]) -> None:
    """One line says so."""
    assert headspace("diff", names["asks"]).stdout == "No changes.\n"


def test_long_output_goes_through_the_pager(daemon: RunningDaemon) -> None:
    """On a terminal, with colours; a pager that does not exist is not used."""
    agent = agent_with_changes(daemon, LONG)
    paged = on_a_terminal(daemon, 80, "diff", agent, PAGER="sed s/^/paged:/")
    assert "paged:\x1b[2m    100 \x1b[0m\x1b[32m+line 99\x1b[0m\n" in paged
    plain = on_a_terminal(daemon, 80, "diff", agent, PAGER="no-such-pager", NO_COLOR="1")
    assert "\n    100 +line 99\n" in COLOURS.sub("", plain)
    short = on_a_terminal(daemon, 80, "diff", agent, "--stat", PAGER="sed s/^/paged:/")
    assert "paged:" not in short
