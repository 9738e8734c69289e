"""What `demo` and `up` say: what they did, where to look, and how to undo it."""

from claude_headspace.surfaces.cli.terminal import NOTHING, Line, Span, hang, line, quiet

LABEL = 10


def field(label: str, text: str, width: int) -> list[Line]:
    """A thing with its name before it."""
    return hang(line(Span(f"  {label:<{LABEL}}", "quiet")), text, width)


def programme(link: str, home: str, *, is_open: bool, width: int) -> list[Line]:
    """What a demo shows, and where."""
    note = "opened in your browser" if is_open else "works once, for five minutes; `headspace demo` makes a new one"
    return [
        line(Span("A team at work, in a home of its own.", "strong"), " Nothing of yours is touched."),
        *field("page", link, width),
        *field("", note, width),
        *field("terminal", f"HEADSPACE_HOME={home} headspace top", width),
        *field("try", "answer somebody who waits: they go on with what you say", width),
        *field("end", "Ctrl+C; nothing is left behind", width),
        NOTHING,
        quiet("headspace up   shows your own sessions"),
    ]
