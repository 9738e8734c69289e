"""Finds the process at the other end of a local TCP connection: on Linux in /proc, elsewhere with psutil.

psutil reads every open file of every process, which would dominate the time of a request. On Linux the inode of the
socket is read from /proc/net/tcp, and the search for its owner starts with the newest process and stops at the first
match.

Rules
- The kernel names the user of a socket. A process of our user that cannot be found (it is not dumpable, or has already
  exited) is `is_hidden`: it may belong to an agent.
- A process that was just forked has the sockets of its parent until it starts its program. `holders_of` finds all
  processes that have a socket.
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
    """The process at the other end, if it can be found, and whether the connection is already closed."""

    pid: int | None
    is_gone: bool = False
    is_hidden: bool = False
    """The other end belongs to our user, and its process cannot be found."""


class _End(NamedTuple):
    """One end of a connection, as the kernel lists it."""

    local: int
    remote: int
    is_open: bool
    inode: str
    uid: int


def peer_of(their_port: int, our_port: int) -> Peer:
    """The other end of a connection, by the ports of both ends."""
    return _by_table(their_port, our_port) if TABLES[0].exists() else _by_psutil(their_port, our_port)


def holders_of(their_port: int, our_port: int) -> list[int]:
    """All processes that have the other end of a connection open, the newest first."""
    if not TABLES[0].exists():
        pid = _by_psutil(their_port, our_port).pid
        return [] if pid is None else [pid]
    ends = [end for table in TABLES for end in _ends(table) if (end.local, end.remote) == (their_port, our_port)]
    return [pid for end in ends for pid in _owners(end.inode)]


def _by_table(their_port: int, our_port: int) -> Peer:
    ends = [end for table in TABLES for end in _ends(table)]
    ours = [end for end in ends if (end.local, end.remote) == (our_port, their_port)]
    theirs = [end for end in ends if (end.local, end.remote) == (their_port, our_port)]
    pid = next((pid for end in theirs for pid in _owners(end.inode)), None)
    is_gone = not any(end.is_open for end in ours)
    is_hidden = pid is None and not is_gone and any(end.uid == os.getuid() for end in theirs)
    return Peer(pid, is_gone, is_hidden)


def _ends(table: Path) -> Iterator[_End]:
    with contextlib.suppress(OSError):
        for line in table.read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            local, remote = (int(address.rpartition(":")[2], 16) for address in fields[1:3])
            yield _End(local, remote, fields[3] == ESTABLISHED, fields[9], int(fields[7]))


def _owners(inode: str) -> Iterator[int]:
    """The processes that have a socket open, the newest first; none if it is closed or belongs to another user."""
    if inode != "0":
        wanted = f"socket:[{inode}]"
        yield from (pid for pid in sorted(psutil.pids(), reverse=True) if wanted in _files(pid))


def _files(pid: int) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as files:
        for file in files:
            with contextlib.suppress(OSError):
                yield os.readlink(file.path)  # noqa: PTH115  # thousands of files: no Path object for each


def _by_psutil(their_port: int, our_port: int) -> Peer:
    try:
        found = psutil.net_connections("tcp")
    except (psutil.Error, OSError):
        return Peer(None)  # not permitted on this system
    ends = [(one.laddr[1], one.raddr[1], one) for one in found if one.laddr and one.raddr]
    theirs = [one.pid for local, remote, one in ends if (local, remote) == (their_port, our_port)]
    ours = [one.status for local, remote, one in ends if (local, remote) == (our_port, their_port)]
    return Peer(next((pid for pid in theirs if pid), None), psutil.CONN_ESTABLISHED not in ours)
