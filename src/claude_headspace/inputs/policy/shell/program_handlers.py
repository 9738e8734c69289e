"""Handlers for single programs that run text from their arguments: `git`, `tmux`, `make`, `nc`, `headspace`."""

import itertools
import re
from collections.abc import Sequence

from claude_headspace.inputs.policy.shell.applescript import find_script, record_script
from claude_headspace.inputs.policy.shell.arguments import parse_arguments
from claude_headspace.inputs.policy.shell.findings import EMPTY, Flow
from claude_headspace.inputs.policy.shell.guesses import run_guessed_command
from claude_headspace.inputs.policy.shell.interpreter import Shell
from claude_headspace.inputs.policy.shell.markers import unmark, unmark_all
from claude_headspace.inputs.policy.shell.program_settings import git_programs
from claude_headspace.inputs.policy.shell.scripts import OPAQUE_SOURCES, SHELLS, run_language, run_program, run_text
from claude_headspace.inputs.policy.shell.wrappers import Wrapper, split_wrapped_command
from claude_headspace.kernel.policy.call import Program, Trait

HEADSPACE_PROGRAMS = ("headspace", "claude-headspace", "install-hooks.sh")
"""The names under which Headspace is started."""


def run_headspace(shell: Shell, path: str, arguments: list[str], _stdin: Flow) -> Flow:
    """Add a program named after the subcommand, such as `headspace down`, so that rules can match it."""
    words = unmark_all(arguments)
    if path.rpartition("/")[2] == "install-hooks.sh":
        words = ["uninstall" if "--uninstall" in words else "install", *words]
    subcommand = next((index for index, word in enumerate(words) if not word.startswith("-")), None)
    if subcommand is not None:
        name, others = words[subcommand], words[subcommand + 1 :]
        if name == "config" and "set" in others:
            name = "config set"
        shell.findings.programs.append(Program(f"headspace {name}", tuple(others)))
    return Flow("")


# --- git --------------------------------------------------------------------------------------------------------------

_GIT_TEXT_OPTIONS = re.compile(r"--?(?:x|exec|(?:\w+-)?filter)$")
_GIT_FOREIGN = re.compile(r"(?:core\.(?:sshCommand|pager|editor|fsmonitor|hooksPath)|alias\.[\w-]+)=!?(.+)", re.DOTALL)


def run_git(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the commands that git runs: of `bisect run`, `submodule foreach`, filters, `rebase --exec` and aliases."""
    words = unmark_all(arguments)
    shell.findings.programs.extend(git_programs(words))
    for text in _git_texts(words):
        shell.create_subshell().run(text)
    if words[:2] == ["bisect", "run"]:
        shell.create_subshell().execute(arguments[2:], EMPTY)
    return run_program(shell, path, arguments, stdin)


def _git_texts(words: Sequence[str]) -> list[str]:
    runs_options = bool({"rebase", "filter-branch"} & set(words[:4]))
    pairs = list(itertools.pairwise(words))
    texts = [word for option, word in pairs if runs_options and _is_git_text(option)]
    texts += [word.partition("=")[2] for word in words if runs_options and word.startswith("--") and "=" in word]
    settings = (_GIT_FOREIGN.fullmatch(word) for option, word in pairs if option == "-c")
    texts += [match[1] for match in settings if match is not None]
    if words[:2] == ["submodule", "foreach"]:
        texts.append(" ".join(word for word in words[2:] if not word.startswith("-")))
    if words[:1] == ["config"]:
        texts += [word[1:] for word in words if word.startswith("!")]
    return texts


def _is_git_text(option: str) -> bool:
    return _GIT_TEXT_OPTIONS.match(option) is not None


# --- terminals and networks -------------------------------------------------------------------------------------------

_TMUX_VALUED = tuple("t n c s x y F e f".split())
_TMUX_RUNS = (
    "run run-shell new neww new-window new-session splitw split-window respawn-pane respawn-window if-shell pipe-pane "
)
_TMUX_COMMANDS = frozenset((_TMUX_RUNS + "send send-keys display-popup popup").split())
_TMUX_KEYS = ("Enter", "C-m", "KPEnter", "Space")


def run_tmux(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the shell text of a tmux command."""
    words = unmark_all(arguments)
    start = next((index for index, word in enumerate(words) if word in _TMUX_COMMANDS), None)
    if start is not None:
        rest = parse_arguments(arguments[start + 1 :], _TMUX_VALUED).operands
        text = " ".join(word for word in unmark_all(rest) if word not in _TMUX_KEYS)
        shell.create_subshell().run(text)
    return run_program(shell, path, [], stdin)


def run_netcat(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """`nc -e PROGRAM` and `nc -c PROGRAM` connect a program to the network."""
    if parse_arguments(arguments).has_flag("e", "c", "exec", "sh-exec", "lua-exec"):
        shell.findings.add_trait(Trait.UNREADABLE_SCRIPT)
    return run_program(shell, path, arguments, stdin)


def run_make(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the recipes of `make -f -`. Other makefiles are not read."""
    files = [unmark(value) for value in parse_arguments(arguments, ("f", "file", "C", "j")).get_values("f", "file")]
    if {"-", "/dev/stdin"} & set(files):
        recipes = "\n".join(line[1:] for line in stdin.text.splitlines() if line.startswith("\t"))
        run_text(shell.create_subshell(), recipes or stdin.text, stdin.sources)
    return run_program(shell, path, [], EMPTY)


def run_container(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """`docker exec CONTAINER sh` runs its input. What it does inside the container is not analysed."""
    runs_shell = any(unmark(word).rpartition("/")[2] in SHELLS for word in arguments)
    if runs_shell and OPAQUE_SOURCES & set(stdin.sources):
        shell.findings.add_trait(Trait.UNREADABLE_SCRIPT)
    if any(re.match(r"(?:-v|--volume=?|--mount=?)?/:/", unmark(word)) for word in arguments):
        shell.findings.add_trait(Trait.UNREADABLE_SCRIPT)
    return run_program(shell, path, [], EMPTY)


# --- package managers -------------------------------------------------------------------------------------------------

PACKAGE_RUNNERS: dict[str, tuple[str, ...]] = {
    "npm": ("exec", "x"),
    "pnpm": ("exec", "dlx"),
    "yarn": ("exec", "dlx"),
    "bundle": ("exec",),
    "op": ("run",),
    "cargo": ("-s", "--shell", "-x"),
    "just": ("--command", "-c"),
    "pipx": ("run",),
    "direnv": ("exec",),
}
"""Programs that run another program, with the words that precede it."""


def run_package_tool(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the program of `pnpm exec PROGRAM`, `op run -- PROGRAM` and the like. Scripts of a package are not read."""
    words = PACKAGE_RUNNERS[path.rpartition("/")[2]]
    start = next((index for index, word in enumerate(arguments[:4]) if unmark(word) in words), None)
    if start is not None:
        rest, _ = split_wrapped_command(arguments[start + 1 :], Wrapper())
        run_guessed_command(shell, path, rest)
        if rest and unmark(rest[0]) in HEADSPACE_PROGRAMS:
            shell.execute(rest, EMPTY)
    return run_program(shell, path, arguments, stdin)


def run_kill(shell: Shell, _path: str, arguments: list[str], _stdin: Flow) -> Flow:
    """`kill -9 -1` ends all processes of the user."""
    if len(arguments) > 1 and unmark(arguments[-1]) == "-1":
        shell.findings.programs.append(Program("kill everything"))
    return Flow("")


def run_editor(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """`ed` runs the lines of its input that start with `!`."""
    for line in stdin.text.splitlines():
        if line.startswith("!"):
            shell.create_subshell().run(line[1:])
    return run_program(shell, path, arguments, stdin)


def run_osascript(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `osascript` like any language, and record its script: it may send a message."""
    record_script(shell.findings, find_script(shell, arguments, stdin))
    return run_language(shell, path, arguments, stdin)


def run_hash(shell: Shell, _path: str, arguments: list[str], _stdin: Flow) -> Flow:
    """`hash -p PATH NAME` makes a name run another program."""
    words = unmark_all(arguments)
    if words[:1] == ["-p"] and len(words) == 3:
        shell.aliases[words[2]] = words[1]
    return EMPTY
