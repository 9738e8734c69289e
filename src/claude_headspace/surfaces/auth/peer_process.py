"""Who has the other end of a connection on this machine: by Linux's own tables, elsewhere by psutil.

psutil looks at every open file of every process, which takes as long as all the rest of an answer. Linux's table names
the socket; its owner is looked for among the newest processes first, and the search ends with it.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
ESTABLISHED = "01"


class Peer(NamedTuple):
    """Who has the other end: a process if it can be told, and whether nobody has it any more."""

    pid: int | None
    is_gone: bool = False


class _End(NamedTuple):
    """One end of a connection."""

    local: int
    remote: int
    is_open: bool
    inode: str


def peer_of(their_port: int, our_port: int) -> Peer:
    """Look at a connection by the ports of its ends."""
    return _by_table(their_port, our_port) if TABLES[0].exists() else _by_psutil(their_port, our_port)


def _by_table(their_port: int, our_port: int) -> Peer:
    ends = [end for table in TABLES for end in _ends(table)]
    ours = [end for end in ends if (end.local, end.remote) == (our_port, their_port)]
    theirs = [end for end in ends if (end.local, end.remote) == (their_port, our_port)]
    pid = next((pid for end in theirs if (pid := _owner(end.inode)) is not None), None)
    return Peer(pid, not any(end.is_open for end in ours))


def _ends(table: Path) -> Iterator[_End]:
    with contextlib.suppress(OSError):
        for line in table.read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            local, remote = (int(address.rpartition(":")[2], 16) for address in fields[1:3])
            yield _End(local, remote, fields[3] == ESTABLISHED, fields[9])


def _owner(inode: str) -> int | None:
    """The process that has a socket open, the newest first; none if it is closed or another user's."""
    if inode == "0":
        return None
    wanted = f"socket:[{inode}]"
    return next((pid for pid in sorted(psutil.pids(), reverse=True) if wanted in _files(pid)), None)


def _files(pid: int) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as files:
        for file in files:
            with contextlib.suppress(OSError):
                yield os.readlink(file.path)  # noqa: PTH115  # there are thousands: no object for each


def _by_psutil(their_port: int, our_port: int) -> Peer:
    try:
        found = psutil.net_connections("tcp")
    except (psutil.Error, OSError):
        return Peer(None)  # this system does not say
    ends = [(one.laddr[1], one.raddr[1], one) for one in found if one.laddr and one.raddr]
    theirs = [one.pid for local, remote, one in ends if (local, remote) == (their_port, our_port)]
    ours = [one.status for local, remote, one in ends if (local, remote) == (our_port, their_port)]
    return Peer(next((pid for pid in theirs if pid), None), psutil.CONN_ESTABLISHED not in ours)
