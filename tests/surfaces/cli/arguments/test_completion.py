"""Shell completion: what is offered, and the scripts with real shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from claude_headspace.main import HEADSPACE
from claude_headspace.surfaces.cli.arguments.completion import SHELLS, complete
from tests.support import environment


def offered(line: str) -> list[str]:
    """The completions of the last word."""
    *words, incomplete = line.split(" ")
    return [each.value for each in complete(HEADSPACE, words, incomplete)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("li", ["list"]),
        ("mission s", ["start", "show"]),
        ("list --state w", ["waiting", "working"]),
        ("list --st", ["--state"]),
        ("token --scope ", ["ingest", "read", "act", "admin"]),
        ("--vers", ["--version"]),
        ("run --headl", []),
        ("list --json --client x --al", ["--all"]),
    ],
)
def test_what_is_offered(line: str, expected: list[str]) -> None:
    """Commands, options and choices. Hidden options are not offered."""
    assert offered(line) == expected


def ask(shell: str, home: Path, **variables: str) -> str:
    """What the program answers to a shell."""
    done = subprocess.run(
        [sys.executable, "-m", "claude_headspace"],
        env={**environment(home), "_HEADSPACE_COMPLETE": f"complete_{shell}", **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


def test_scripts_of_older_versions_still_work(tmp_path: Path) -> None:
    """They send the words in another variable."""
    assert ask("bash", tmp_path, COMP_WORDS="headspace li", COMP_CWORD="1") == "list"
    assert ask("zsh", tmp_path, _TYPER_COMPLETE_ARGS="headspace li").startswith("_arguments '*: :((list\\:\"List ")
    assert ask("fish", tmp_path, _TYPER_COMPLETE_ARGS="headspace li").startswith("list\tList agents")


def test_bash_completes(tmp_path: Path) -> None:
    """The script, in a real bash, with `headspace` in the path."""
    program = tmp_path / "bin" / "headspace"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m claude_headspace "$@"\n')
    program.chmod(0o755)
    script = (
        f"{SHELLS['bash'].script}\nCOMP_WORDS=(headspace list --sta); COMP_CWORD=2\n_headspace_completion headspace\n"
    )
    done = subprocess.run(
        ["bash", "-c", script + 'echo "${COMPREPLY[@]}"'],
        env={**environment(tmp_path), "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "--state\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_are_valid(shell: str, tmp_path: Path) -> None:
    """The shell accepts its script."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "script"
    file.write_text(SHELLS[shell].script)
    subprocess.run([shell, "--no-execute" if shell == "fish" else "-n", str(file)], timeout=60, check=True)


def test_installing_twice_adds_one_line(tmp_path: Path) -> None:
    """The script is written, and the shell loads it."""
    for _ in range(2):
        subprocess.run(
            ["bash", "-c", f"{sys.executable} -m claude_headspace --install-completion; true"],
            env={**environment(tmp_path), "HOME": str(tmp_path), "SHELL": "/bin/bash"},
            timeout=60,
            check=True,
        )
    script = tmp_path / ".bash_completions" / "headspace.sh"
    assert script.read_text() == SHELLS["bash"].script
    assert (tmp_path / ".bashrc").read_text() == f"source '{script}'\n"
