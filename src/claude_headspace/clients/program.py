"""How the program of a client is started: the arguments for a prompt, a session, and a run without a terminal. Pure.

Each package in `clients/` has a module `program` with one `Program`. `clients/command_lines.py` lists them.
"""

import msgspec

VALUE = "{}"
"""Stands for the prompt or the session id in the arguments of a `Program`."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a client's program."""

    prompt: tuple[str, ...]
    """The first prompt of an interactive session. It comes after all other arguments."""
    headless: tuple[str, ...] = ()
    """Runs one prompt without a terminal and exits. It comes before the user's arguments."""
    headless_prompt: tuple[str, ...]
    """The prompt of such a run, after all other arguments."""
    splits_headless_prompt: bool = False
    """Whether each word of it is an argument: the client puts an argument with a space in quotes."""
    resume: tuple[str, ...]
    """Resumes a session, before the user's arguments."""
    prompts_resumed: bool = True
    """Whether a resumed session takes a first prompt from the command line."""
    fork: tuple[str, ...] = ()
    """Continues a session as a new one, before the user's arguments. Empty: the client cannot."""
    session_options: tuple[str, ...]
    """Arguments that continue a session."""

    model: tuple[str, ...] = ("--model", VALUE)
    """Chooses the model."""
    permission_modes: dict[str, tuple[str, ...]]
    """The client's permission modes by their names, and the arguments that choose them."""

    own_options: tuple[str, ...] = ()
    """What `headspace run` and `headspace resume` add."""
    own_setting: str = ""
    """The setting that `own_options` change. They are not added if the user's arguments name it."""

    transcript_dir: str = ""
    """The directory of transcripts below the config dir; empty if a transcript does not show the config dir."""
    reports_at_start: bool = True
    """Whether the client reports its session when it starts. Otherwise it does so with the first prompt."""
    reports_resume: bool = True
    """Whether a client that resumes a session reports it at once. Otherwise `headspace resume` does."""
    shared_session: str = ""
    """What to do with a session that runs in a process shared between terminals, if its terminal was closed."""
    pastes_prompts: bool = False
    """Whether a prompt is always pasted: a typed first character such as `?` would be a key of the client."""
    interrupt_keys: tuple[str, ...] = ("Escape",)
    """The keys that interrupt a turn."""
    exit_command: str = "/exit"
    """The command of the client that ends it."""
    dialog_keys: tuple[str, ...] = ("Escape",)
    """The keys that dismiss a dialog, and end the turn with it."""
