"""Guesses about programs that are not in any table: which files they read, and whether they run another program.

Rules
- An argument that looks like a path counts as read. Only rules about reading depend on it.
- An argument that is the name of a dangerous program, or a text that starts with one, counts as a command: wrapper
  programs are too many to list. Programs that only print, search or store their arguments are excluded.
"""

import re
from collections.abc import Sequence

from claude_headspace.inputs.policy.shell.findings import EMPTY
from claude_headspace.inputs.policy.shell.interpreter import Shell
from claude_headspace.inputs.policy.shell.markers import has_glob, unmark_all
from claude_headspace.kernel.policy.call import UNKNOWN, Use

MAX_MENTIONED = 20

FILTERS = frozenset(
    "echo printf grep egrep fgrep rg ag ack git gh glab man info tldr which whereis type whatis apropos ls exa eza "
    "tree stat file wc cut sort uniq diff cmp comm test [ [[ true false : cat less more head tail bat jq yq sed tr tee "
    "apt apt-get brew dnf yum pacman apk pip pip3 npm pnpm yarn cargo go gem mail mailx sendmail docker podman kubectl "
    "curl wget http https xh mkdir touch rm rmdir mv cp ln chmod chown chgrp cd pushd export set unset alias read "
    "dirname basename realpath readlink sleep date kill pkill notify-send logger say open xdg-open code "
    "headspace".split()
)
"""Programs whose arguments are never commands: their file uses are in the tables, or do not matter."""

ARCHIVERS = frozenset("zip 7z 7za borg restic rclone ditto pax duplicity rar".split())
"""Programs that read everything below a directory."""

DANGEROUS = frozenset(
    "rm rmdir shred unlink sudo doas su dd mkfs chmod chown mv bash sh zsh dash fish eval kill pkill killall "
    "python python3 perl ruby node headspace".split()
)

_QUOTED_COMMAND = re.compile(
    r"(?:^|[\s;&|=:(!'\"])((?:/[\w./-]*/)?(?:rm|shred|dd|mkfs[.\w]*|chmod|chown|headspace)\s+[^\s=].{0,2000})",
    re.DOTALL,
)


def record_mentioned_files(shell: Shell, program: str, arguments: Sequence[str]) -> None:
    """Record that a program reads the files that its arguments name: `x`, `--file=x`, `@x`, `f=@x`."""
    moved = shell.directory != shell.project
    mentioned = list[str]()
    for argument in arguments:
        name = re.split(r"[=@]+", argument, maxsplit=2)[-1] if "=" in argument or "@" in argument else argument
        is_path = "/" in name or (moved and not name.startswith("-"))
        if name and is_path and "://" not in name and UNKNOWN not in name and len(name) < 300 and not has_glob(name):
            mentioned.append(f"{shell.home}{name[1:]}" if name.startswith("~/") else name)
    for name in dict.fromkeys(mentioned[:MAX_MENTIONED]):
        shell.record_use(name, Use.READ, program, recursive=program in ARCHIVERS)


def run_guessed_command(shell: Shell, program: str, arguments: Sequence[str]) -> None:
    """Run the command in the arguments of an unknown program, if there is one."""
    words = unmark_all(arguments)
    for index, word in enumerate(words):
        if word.rpartition("/")[2] in DANGEROUS and index + 1 < len(words):
            shell.create_subshell().execute(list(arguments[index:]), EMPTY)
            return
        if " " in word and (found := _QUOTED_COMMAND.search(word)):
            shell.create_subshell().run(found[1].rstrip("'\" )"))
