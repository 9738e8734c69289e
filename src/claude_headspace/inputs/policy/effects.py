"""What a tool call would do: which programs run, which files they use. The part of the analysis that reads files.

An `Invocation` and its `Effects` can be sent to another process (`analysis_process`). Messages and rules are not part
of it.
"""

from collections.abc import Iterator

import msgspec

from claude_headspace.inputs.policy.paths import find_path_uses
from claude_headspace.inputs.policy.shell.budget import FULL, Limits
from claude_headspace.inputs.policy.shell.commands import analyse_shell
from claude_headspace.inputs.policy.shell.markers import MARKER_FOR, STAR, expand_braces, unmark, without_markers
from claude_headspace.kernel.policy.call import PathUse, Program, Trait, Use
from claude_headspace.kernel.tools import FileUse

MAX_GLOBS = 16
"""How many globs of one tool call are expanded."""


class Invocation(msgspec.Struct, frozen=True):
    """What the effects of a tool call depend on."""

    tool: str
    commands: tuple[str, ...] = ()
    """Shell texts that it runs."""
    files: tuple[FileUse, ...] = ()
    """Files that its input names."""
    directory: str = "/"
    home: str = ""
    project: str = ""


class Effects(msgspec.Struct, frozen=True):
    """What a tool call would do."""

    programs: tuple[Program, ...] = ()
    paths: tuple[PathUse, ...] = ()
    traits: tuple[Trait, ...] = ()
    depends_on_files: bool = False
    """Whether the analysis used the file system. The result may differ when a file or link changes."""


def analyse_effects(invocation: Invocation, limits: Limits = FULL) -> Effects:
    """Analyse a tool call. Raises `BudgetExceeded` if the limits are smaller than `FULL` and do not suffice."""
    programs, paths, traits = list[Program](), list[PathUse](), dict[Trait, None]()
    directory, depends_on_files = invocation.directory, bool(invocation.files)
    for text in invocation.commands:
        findings = analyse_shell(
            text, directory=directory, home=invocation.home, project=invocation.project, limits=limits
        )
        programs += findings.programs
        paths += findings.paths
        traits |= findings.traits
        depends_on_files = depends_on_files or findings.depends_on_files
    for file in invocation.files:
        paths += _find_file_uses(file, invocation)
    return Effects(tuple(programs), tuple(paths), tuple(traits), depends_on_files)


# --- files ------------------------------------------------------------------------------------------------------------

_TO_MARKERS = str.maketrans(MARKER_FOR)


def _find_file_uses(file: FileUse, invocation: Invocation) -> list[PathUse]:
    """Return the uses of a file or directory, and of the files in it that a glob names."""
    path = _expand_home(without_markers(file.path), invocation.home)
    recursive = file.recursive or file.use is Use.DELETE
    uses = find_path_uses(path, invocation.directory, file.use, used_by=invocation.tool, recursive=recursive)
    globs = list(_expand_names(file.names))
    names = tuple(unmark(glob).rpartition("/")[2].lower() for glob in globs)
    uses = [msgspec.structs.replace(use, names=names) for use in uses] if names else uses
    for glob in globs:
        argument = glob if glob.startswith("/") else f"{path.rstrip('/')}/{glob}"
        uses += find_path_uses(argument, invocation.directory, file.use, used_by=invocation.tool)
    return uses


def _expand_names(text: str) -> Iterator[str]:
    """Yield the globs in a text, such as `*.{ts,tsx} **/*.js`, for the directory itself. Characters become markers."""
    for part in without_markers(text).split()[:MAX_GLOBS]:
        if not part.startswith("!"):  # excludes files
            for glob in expand_braces(part.translate(_TO_MARKERS), MAX_GLOBS):
                yield glob.replace(f"{STAR}{STAR}/", "").replace(STAR * 2, STAR)


def _expand_home(path: str, home: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path
