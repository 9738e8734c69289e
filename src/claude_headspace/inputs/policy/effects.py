"""What a tool call would do: which programs run, which files they use. The part of the analysis that reads files.

An `Invocation` and its `Effects` can be sent to another process (`analysis_process`). Messages and rules are not part
of it.
"""

import msgspec

from claude_headspace.inputs.policy.paths import find_path_uses
from claude_headspace.inputs.policy.shell.budget import FULL, Limits
from claude_headspace.inputs.policy.shell.commands import analyse_shell
from claude_headspace.inputs.policy.shell.markers import without_markers
from claude_headspace.kernel.policy.call import PathUse, Program, Trait, Use
from claude_headspace.kernel.tools import FileUse


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
        path, recursive = without_markers(file.path), file.use is Use.DELETE
        paths += find_path_uses(path, directory, file.use, used_by=invocation.tool, recursive=recursive)
    return Effects(tuple(programs), tuple(paths), tuple(traits), depends_on_files)
