"""What a tool call would do: which programs run, which files they use. The part of the analysis that reads files.

A `Request` and its `Effects` can be sent to another process (`worker`). Messages and rules are not part of it.
"""

import msgspec

from claude_headspace.inputs.policy.paths import find_path_uses
from claude_headspace.inputs.policy.shell.budget import FULL, Limits
from claude_headspace.inputs.policy.shell.commands import analyse_shell
from claude_headspace.inputs.policy.shell.markers import without_markers
from claude_headspace.kernel.policy.call import PathUse, Program, Trait, Use
from claude_headspace.kernel.tools import FileUse

MAX_ARGUMENT_CHARS = 1_000
"""Of a longer argument, rules see the beginning and the end."""


class Request(msgspec.Struct, frozen=True):
    """A tool call to inspect."""

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


def inspect(request: Request, limits: Limits = FULL) -> Effects:
    """Inspect a tool call. Raises `BudgetExceeded` if the limits are smaller than `FULL` and do not suffice."""
    programs, paths, traits = list[Program](), list[PathUse](), dict[Trait, None]()
    for text in request.commands:
        findings = analyse_shell(
            text, directory=request.directory, home=request.home, project=request.project, limits=limits
        )
        programs += map(_shorten, findings.programs)
        paths += findings.paths
        traits |= findings.traits
    for file in request.files:
        paths += find_path_uses(
            without_markers(file.path),
            request.directory,
            file.use,
            used_by=request.tool,
            recursive=file.use is Use.DELETE,
        )
    return Effects(tuple(programs), tuple(paths), tuple(traits))


def _shorten(program: Program) -> Program:
    """Limit the length of the arguments, so that matching them with rules is fast."""
    if all(len(argument) <= MAX_ARGUMENT_CHARS for argument in program.arguments):
        return program
    half = MAX_ARGUMENT_CHARS // 2
    arguments = (text if len(text) <= MAX_ARGUMENT_CHARS else text[:half] + text[-half:] for text in program.arguments)
    return msgspec.structs.replace(program, arguments=tuple(arguments))
