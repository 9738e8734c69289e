"""What the demo cannot do: its agents are simulated."""

from claude_headspace.config import Paths
from claude_headspace.errors import BadRequest


def refuse_in_demo(paths: Paths) -> None:
    """Raise `BadRequest` if the agents are those of the demo."""
    if paths.demo_file.exists():
        hint = "Answer one that waits instead. `headspace up` monitors your own sessions."
        raise BadRequest("demo", "The agents of the demo are simulated: they have no terminal.", hint)
