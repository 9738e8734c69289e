"""Resolving the effort of an event: owner, holder, nearest project, latest free effort."""

from claude_headspace.kernel.effort.model import Effort, Lifecycle
from claude_headspace.kernel.effort.resolve import is_within, resolve


def effort(name: str, root: str = "/code/app", at: int = 1, **fields: object) -> Effort:
    """An effort in a project."""
    defaults: dict[str, object] = {"task_id": "t", "host": "laptop", "task_dir": root, "skill": "fix", "ordinal": 1}
    return Effort(id=name, project_root=root, started_at=at, **(defaults | fields))  # type: ignore[arg-type]


def resolved_id(
    *efforts: Effort,
    directory: str | None = "/code/app/src",
    owner: str | None = None,
    agent: str | None = "a",
    alive: tuple[str, ...] = (),
) -> str | None:
    """The id of the resolved effort."""
    match = resolve(efforts, directory=directory, owner=owner, agent_id=agent, is_alive=alive.__contains__)
    return match.id if match else None


def test_the_latest_effort_of_the_project_is_resolved() -> None:
    """This holds without an `AGENT_ID`."""
    assert resolved_id(effort("old", at=1), effort("new", at=2)) == "new"


def test_the_nearest_project_decides() -> None:
    """An effort of an inner project wins over newer efforts of the outer one."""
    assert resolved_id(effort("outer", "/code", at=9), effort("inner", "/code/app", at=1)) == "inner"
    assert resolved_id(effort("outer", "/code", at=9), effort("inner", "/code/app"), directory="/code/lib") == "outer"


def test_a_directory_outside_all_projects_has_no_effort() -> None:
    """No match is None, not an error."""
    assert resolved_id(effort("here"), directory="/elsewhere") is None
    assert resolved_id(effort("here"), directory=None) is None
    assert resolved_id() is None


def test_a_sibling_with_the_same_prefix_is_another_directory() -> None:
    """`/code/app-two` is not within `/code/app`."""
    assert resolved_id(effort("here"), directory="/code/app-two") is None
    assert is_within("/code/app", "/code/app")
    assert is_within("/code", "/")


def test_in_a_fleet_only_the_owner_counts() -> None:
    """With an `AGENT_ID`, only efforts of that owner match."""
    mine, other = effort("mine", owner="main:1", at=1), effort("other", owner="main:2", at=2)
    assert resolved_id(mine, other, owner="main:1") == "mine"
    assert resolved_id(mine, other, owner="main:3") is None


def test_without_an_agent_id_the_latest_effort_counts_owned_or_not() -> None:
    """Requirement: "Falls back to latest effort when no `AGENT_ID` is set"."""
    owned, plain = effort("owned", owner="main:1", at=2), effort("plain", at=1)
    assert resolved_id(owned, plain) == "owned"
    assert resolved_id(owned, effort("later", at=3)) == "later"
    assert resolved_id(effort("owned", owner="main:1", holder="b"), alive=("b",)) is None


def test_an_agent_keeps_its_effort_in_every_directory() -> None:
    """The holder keeps it although a newer effort exists."""
    assert resolved_id(effort("held", holder="a"), effort("new", at=5), directory="/elsewhere") == "held"


def test_an_effort_of_a_running_client_is_not_free() -> None:
    """It is free for a second client once the first is gone."""
    held = effort("held", holder="b")
    assert resolved_id(held, alive=("b",)) is None
    assert resolved_id(held, alive=()) == "held"


def test_a_finished_effort_is_never_resolved() -> None:
    """Only active efforts count."""
    assert resolved_id(effort("finished", lifecycle=Lifecycle.FINISHED)) is None
