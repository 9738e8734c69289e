"""Programs that are never clients: a person's own programs run in them, so a report that names one is wrong.

Rules
- Every process of the user can write the session registry and call the hook script, and so name any process. If the
  user's shell counted as a client, every answer from it would be refused.
- The executable decides: no other process can change it, and a client that changes its name stays a client. The name
  counts only if the executable of a process cannot be read, because it belongs to another user.
- A process that cannot be inspected at all can be a client.
"""

import re

import psutil

_REASONS = {
    "the first process, session managers and supervisors start everything": (
        "init systemd launchd openrc runit runsv s6 tini dumb docker catatonit conmon containerd supervise"
    ),
    "logins and changes of the user start the user's shell": (
        "login sshd ssh dropbear mosh et etserver telnetd su sudo doas runuser pkexec gdm sddm lightdm cron crond atd"
    ),
    "shells start every command of the user": (
        "sh bash zsh fish dash ash ksh ksh93 mksh pdksh yash tcsh csh rbash nu elvish pwsh busybox toybox rc"
    ),
    "terminal multiplexers and recorders start the user's shells": (
        "tmux screen zellij byobu dtach abduco dvtm script ttyd gotty asciinema shpool"
    ),
    "terminals start the user's shells": (
        "xterm uxterm rxvt urxvt urxvtd st foot footclient kitty alacritty wezterm ghostty konsole yakuake gnome kgx "
        "ptyxis xfce4 lxterminal qterminal mate terminology tilix cool deepin rio contour warp terminal iterm2 iterm "
        "itermserver hyper tabby extraterm"
    ),
    "editors and desktops contain terminals": (
        "vim nvim gvim emacs code codium vscodium zed idea pycharm webstorm kwin plasmashell sway i3 hyprland xorg "
        "xwayland"
    ),
    "browsers show the dashboard": (
        "firefox chrome chromium google brave msedge microsoft vivaldi opera safari epiphany librewolf zen arc"
    ),
}

NEVER_CLIENTS = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""Why a program is never a client, by the first word of its name, in lower case."""


def can_be_client(pid: int) -> bool:
    """Whether a process can be a client."""
    try:
        return pid > 1 and _first_word(_program(psutil.Process(pid))) not in NEVER_CLIENTS
    except (psutil.Error, OSError):
        return True


def _program(process: psutil.Process) -> str:
    """The file name of the executable; the name of the process if the executable cannot be read."""
    try:
        path: str = process.exe()
    except (psutil.Error, OSError):
        path = ""
    return path.rpartition("/")[2] or process.name()


def _first_word(name: str) -> str:
    """`tmux: server` → `tmux`, `sshd-session` → `sshd`, `bash-5.2` → `bash`, `.zsh-wrapped` → `zsh`."""
    return next(iter(re.findall(r"[a-z0-9_]+", name.lower())), "")
