"""Shell completion for bash, zsh and fish: the scripts, and the completions of a command line.

A script calls `headspace` with the variable `_HEADSPACE_COMPLETE` (`complete_bash`, …) and the words typed so far.
`source_bash` prints the script. Scripts that older versions installed send the words in `_TYPER_COMPLETE_ARGS`.
"""

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.cli.arguments.echo import echo
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option, Parameter
from claude_headspace.surfaces.cli.arguments.parse import Parsed
from claude_headspace.surfaces.cli.arguments.tree import Command, Group, Loaded

VARIABLE = "_HEADSPACE_COMPLETE"
WORDS = ("_HEADSPACE_WORDS", "_TYPER_COMPLETE_ARGS")
IS_CONDITION = ("_HEADSPACE_CONDITION", "_TYPER_COMPLETE_FISH_ACTION")
"""The older script of fish asks first whether there is anything to complete."""


class Completion(NamedTuple):
    """A word that fits, and what it means."""

    value: str
    about: str = ""


class Shell(NamedTuple):
    """A shell: its script, where the script is installed, a line that loads it, and how completions are printed."""

    script: str
    file: str
    loaded_by: tuple[str, str] | None
    """A file of the user and the line that it needs, if the shell does not find the script by itself."""
    format: Callable[[Sequence[Completion]], str]


# --- scripts ----------------------------------------------------------------------------------------------------------

BASH = """\
_headspace_completion() {
    local IFS=$'\\n'
    COMPREPLY=($(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD _HEADSPACE_COMPLETE=complete_bash "$1"))
}
complete -o default -F _headspace_completion headspace
"""
ZSH = """\
#compdef headspace
_headspace_completion() {
    eval "$(_HEADSPACE_WORDS="${words[1,$CURRENT]}" _HEADSPACE_COMPLETE=complete_zsh headspace)"
}
compdef _headspace_completion headspace
"""
FISH = """\
complete --command headspace --no-files --arguments \\
    "(env _HEADSPACE_COMPLETE=complete_fish _HEADSPACE_WORDS=(commandline -cp) headspace)"
"""


def _lines(found: Sequence[Completion]) -> str:
    return "\n".join(each.value for each in found)


def _zsh_call(found: Sequence[Completion]) -> str:
    """A call of zsh's own function for completions. Without any it offers files."""
    words = " ".join(_zsh_word(each) for each in found)
    return f"_arguments '*: :(({words}))'" if words else "_files"


def _zsh_word(each: Completion) -> str:
    value, about = (
        "".join(f"\\{letter}" if letter in ':\\"`$()' else letter for letter in text.replace("'", "’")) for text in each
    )
    return f'{value}\\:"{about}"' if about else value


def _tabbed(found: Sequence[Completion]) -> str:
    return "\n".join(f"{each.value}\t{each.about}" if each.about else each.value for each in found)


SHELLS = {
    "bash": Shell(BASH, ".bash_completions/headspace.sh", (".bashrc", "source '{file}'"), _lines),
    "zsh": Shell(ZSH, ".zfunc/_headspace", (".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"), _zsh_call),
    "fish": Shell(FISH, ".config/fish/completions/headspace.fish", None, _tabbed),
}


def show_script() -> None:
    """Print the script for the current shell."""
    echo(SHELLS[_current_shell()].script.rstrip())


def install_script() -> None:
    """Write the script for the current shell, and load it in new shells."""
    name = _current_shell()
    shell, home = SHELLS[name], Path.home()
    file = home / shell.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(shell.script, encoding="utf-8")
    if shell.loaded_by is not None:
        _add_line(home / shell.loaded_by[0], shell.loaded_by[1].format(file=file))
    echo(f"Completion for {name} is installed in {file}.\nIt works in new terminals.")


def _add_line(file: Path, line: str) -> None:
    known = file.read_text(encoding="utf-8") if file.exists() else ""
    if line not in known.splitlines():
        separator = "\n" if known and not known.endswith("\n") else ""
        file.write_text(f"{known}{separator}{line}\n", encoding="utf-8")


def _current_shell() -> str:
    """The shell that started this program, or the login shell."""
    try:
        parent = Path(f"/proc/{os.getppid()}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        parent = ""
    for name in (parent, Path(os.environ.get("SHELL", "")).name):
        if name in SHELLS:
            return name
    raise BadRequest("no_shell", "Your shell is not known.", f"Use one of {', '.join(SHELLS)}, or set SHELL.")


# --- completions ------------------------------------------------------------------------------------------------------


def answer_shell(root: Group, environment: Mapping[str, str]) -> bool:
    """Answer a shell that asks for completions or for its script. False if none asks."""
    action, _, name = environment.get(VARIABLE, "").partition("_")
    if name not in SHELLS:
        return False
    if action == "source":
        echo(SHELLS[name].script.rstrip())
        return True
    *words, incomplete = _typed_words(name, environment)
    found = complete(root, words, incomplete)
    if any(environment.get(each) == "is-args" for each in IS_CONDITION):
        sys.exit(0 if found else 1)
    echo(SHELLS[name].format(found))
    return True


def _typed_words(shell: str, environment: Mapping[str, str]) -> list[str]:
    """The words after the program. The last one is incomplete, maybe empty."""
    if shell == "bash":
        words = environment.get("COMP_WORDS", "").split("\n" if "\n" in environment.get("COMP_WORDS", "") else None)
        at = int(environment.get("COMP_CWORD") or 0)
        return [*words[1:at], words[at] if at < len(words) else ""]
    line = next((environment[each] for each in WORDS if each in environment), "")
    words = _split(line)[1:]
    return [*words, ""] if not words or line.endswith(" ") else words


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # an open quote
        return line.split()


def complete(entry: Command | Group, words: Sequence[str], incomplete: str) -> list[Completion]:
    """The completions of a word after some complete words."""
    loaded = entry.load()
    options = Parsed(loaded.parameters).options
    arguments = 0
    for at, word in enumerate(words):
        option = options.get(words[at - 1]) if at else None
        if word.startswith("-") or (option is not None and not option.is_flag):
            continue
        command = loaded.group.find(word) if loaded.group else None
        if command is not None:
            return complete(command, words[at + 1 :], incomplete)
        arguments += 1
    option = options.get(words[-1]) if words else None
    if option is not None and not option.is_flag:
        return _values(option, incomplete)
    if incomplete.startswith("-"):
        return _options(loaded, incomplete)
    return [*_commands(loaded, incomplete), *_arguments(loaded, arguments, incomplete)]


def _options(loaded: Loaded, incomplete: str) -> list[Completion]:
    return [
        Completion(name, each.described.help)
        for each in loaded.parameters
        if isinstance(each.described, Option) and not each.described.hidden
        for name in each.described.names
        if name.startswith(incomplete)
    ]


def _commands(loaded: Loaded, incomplete: str) -> list[Completion]:
    return [Completion(each.name, each.summary) for each in loaded.commands if each.name.startswith(incomplete)]


def _arguments(loaded: Loaded, number: int, incomplete: str) -> list[Completion]:
    known = [each for each in loaded.parameters if isinstance(each.described, Argument)]
    return _values(known[min(number, len(known) - 1)], incomplete) if known else []


def _values(parameter: Parameter, incomplete: str) -> list[Completion]:
    if parameter.described.complete is not None:
        return [Completion(value) for value in parameter.described.complete(incomplete)]
    return [Completion(value) for value in parameter.choices if value.startswith(incomplete)]
