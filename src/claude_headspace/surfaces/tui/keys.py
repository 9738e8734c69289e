"""The keys of `headspace top`: one table for the bindings, the footer, the help and the documentation."""

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Key(NamedTuple):
    """A key: its names in Textual, its label, the action, and a description."""

    names: str
    label: str
    action: str
    description: str
    hint: str = ""
    """The text in the footer. Empty: the key is only in the help."""

    @property
    def id(self) -> str:
        """The name of the action, for `keys.toml`."""
        return NAMES.get(self.action, self.action.removeprefix("lifecycle('").removesuffix("')"))


NAMES = {
    "move(-1)": "previous",
    "move(1)": "next",
    "edge(-1)": "first",
    "edge(1)": "last",
    "page(-1)": "page_up",
    "page(1)": "page_down",
    "scroll(1)": "scroll_down",
    "scroll(-1)": "scroll_up",
    "toggle_why": "why",
    "toggle_preview": "preview",
    "toggle_ended": "ended",
    "toggle_bell": "bell",
    "next_theme": "theme",
    "next_sort": "sort",
    "next_group": "group",
    "suspend_process": "suspend",
}
"""The names of actions that differ from the method."""


KEYS = (
    Key("enter", "enter", "jump", "jump to the agent's tmux pane", "jump"),
    Key("s", "s", "send", "send a prompt to the agent, now or when it is idle", "send"),
    Key("m", "m", "mark", "mark the agent; a prompt goes to all marked agents"),
    Key("Q", "Q", "queue", "show and cancel prompts that wait until an agent is idle"),
    Key("a", "a", "answer", "answer the agent's question, plan or permission request", "answer"),
    Key("x", "x", "interrupt", "interrupt the agent (Esc); press twice, half a second apart"),
    Key("r", "r", "resume", "resume an ended agent", "resume"),
    Key("N", "N", "lifecycle('new')", "start a new agent"),
    Key("F", "F", "lifecycle('fork')", "continue the agent's conversation as another agent"),
    Key("X", "X", "lifecycle('stop')", "stop the agent: end its client"),
    Key("R", "R", "lifecycle('rename')", "rename the agent"),
    Key("M", "M", "lifecycle('note')", "write a note on the agent"),
    Key("A", "A", "lifecycle('archive')", "take an ended agent off the board"),
    Key("W", "W", "lifecycle('worktree')", "merge, rebase or remove the agent's git worktree"),
    Key("slash", "/", "filter", "filter by name, project, state, client or text", "filter"),
    Key("f", "f", "search", "search the texts of all agents, and jump to or resume one", "search"),
    Key("w", "w", "toggle_why", "show why the agent is in this state", "why"),
    Key("c", "c", "changes", "show what the agent changed", "changes"),
    Key("p", "p", "toggle_preview", "show the agent's screen, live; without tmux its last message", "preview"),
    Key("e", "e", "toggle_ended", "show or hide ended agents", "ended"),
    Key("o", "o", "next_sort", "next order: urgency, name, project, activity, start, cost …"),
    Key("v", "v", "next_group", "group by project, state or client, or not"),
    Key("space", "space", "fold", "fold or unfold the group"),
    Key("P", "P", "pin", "pin the agent to the top, or unpin it"),
    Key("up,k", "↑ k", "move(-1)", "previous agent"),
    Key("down,j", "↓ j", "move(1)", "next agent"),
    Key("home,g", "home g", "edge(-1)", "first agent"),
    Key("end,G", "end G", "edge(1)", "last agent"),
    Key("pageup", "pgup", "page(-1)", "page up"),
    Key("pagedown", "pgdn", "page(1)", "page down"),
    Key("1,2,3,4,5,6,7,8,9", "1 – 9", "jump_to", "jump to the agent with this number"),
    Key("n", "n", "next_attention", "next agent that needs you"),
    Key("tab", "tab", "next_layout", "details beside the list, full screen, or hidden"),
    Key("right_square_bracket,J", "] J", "scroll(1)", "scroll the details down"),
    Key("left_square_bracket,K", "[ K", "scroll(-1)", "scroll the details up"),
    Key("b", "b", "toggle_bell", "turn the bell on or off"),
    Key("t", "t", "next_theme", "next theme: dark, light, colours of the terminal"),
    Key("escape", "esc", "clear", "close the dialog, evidence or preview, or clear the filter"),
    Key("question_mark", "?", "help", "show this help", "help"),
    Key("ctrl+z", "ctrl+z", "suspend_process", "suspend `top`; `fg` continues it"),
    Key("q,ctrl+c", "q", "leave", "quit", "quit"),
)

PANEL_KEYS = (
    ("y", "allow the tool call once, approve the plan, accept the form"),
    ("d", "deny it, with a reason; keep planning; decline the form"),
    ("a", "allow, and mark what else to grant; after an answer: answer the next wait"),
    ("1 – 9", "choose this option"),
    ("space", "mark an option, if several can be chosen"),
    ("o", "write your own answer"),
    ("enter", "choose the option at the cursor, or send what is marked or written"),
    ("↑ ↓", "move the cursor"),
    ("pgup pgdn", "scroll the request; allow and approve need its end to have been on the screen"),
    ("home end", "the beginning and the end of the request"),
    ("f", "show all of a long request; allow and approve need it"),
    ("esc", "close without an answer, like a key with alt or ctrl"),
)
"""The keys of the panel that answers, for the help and the documentation."""


def footer_hints(keys: Sequence[Key], useless: Collection[str] = ()) -> tuple[tuple[str, str], ...]:
    """Keys and words of the footer, most important first, without the actions that could do nothing now."""
    shown = [key for key in keys if key.hint and key.action not in ("leave", *useless)]
    return tuple((key.label, key.hint) for key in shown)
