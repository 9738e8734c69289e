"""The keys of `headspace top`: one table for the bindings, the foot, the help and the documentation."""

from typing import NamedTuple


class Key(NamedTuple):
    """A key: what Textual calls it, how people do, what it does, and the action that does it."""

    names: str
    label: str
    action: str
    meaning: str
    hint: str = ""
    """How the foot says it; empty: only the help does."""


KEYS = (
    Key("enter", "enter", "jump", "jump to the agent's tmux pane", "jump"),
    Key("s", "s", "send", "type a prompt to the agent", "send"),
    Key("a", "a", "answer", "answer what the agent waits for", "answer"),
    Key("x", "x", "interrupt", "stop what the agent does: Esc in its terminal; twice"),
    Key("r", "r", "resume", "bring an ended agent back (`claude --resume`)", "resume"),
    Key("slash", "/", "filter", "filter by name, project, state or words", "filter"),
    Key("w", "w", "why", "why is this state believed", "why"),
    Key("e", "e", "ended", "show or hide those that ended", "ended"),
    Key("up,k", "↑ k", "move(-1)", "the agent before"),
    Key("down,j", "↓ j", "move(1)", "the next agent"),
    Key("home,g", "home g", "edge(-1)", "the first agent"),
    Key("end,G", "end G", "edge(1)", "the last agent"),
    Key("pageup", "pgup", "page(-1)", "a page up"),
    Key("pagedown", "pgdn", "page(1)", "a page down"),
    Key("1,2,3,4,5,6,7,8,9", "1 – 9", "nth", "jump to the agent of that number"),
    Key("n", "n", "next_attention", "the next agent that needs you"),
    Key("tab", "tab", "pane", "details beside the list, alone, or away"),
    Key("right_square_bracket,J", "] J", "scroll(1)", "details further down"),
    Key("left_square_bracket,K", "[ K", "scroll(-1)", "details further up"),
    Key("b", "b", "calling", "call by bell when an agent needs you, or be silent"),
    Key("t", "t", "theme", "another theme: dark, light, the terminal's own"),
    Key("escape", "esc", "clear", "clear the filter, close what is open"),
    Key("question_mark", "?", "help", "this help", "help"),
    Key("q,ctrl+c", "q", "leave", "quit", "quit"),
)

HINTS = tuple((key.label, key.hint) for key in KEYS if key.hint and key.action != "leave")
