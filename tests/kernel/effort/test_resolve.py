"""Whose effort is it: the nearest project, the fleet's name, the latest that is free."""

from claude_headspace.kernel.effort.model import Effort, Lifecycle
from claude_headspace.kernel.effort.resolve import is_within, resolve


def effort(name: str, root: str = "/code/app", at: int = 1, **known: object) -> Effort:
    """An effort in a project."""
    fields: dict[str, object] = {"task_id": "t", "host": "laptop", "task_dir": root, "skill": "fix", "ordinal": 1}
    return Effort(id=name, project_root=root, started_at=at, **(fields | known))  # type: ignore[arg-type]


def found(
    *efforts: Effort,
    directory: str | None = "/code/app/src",
    owner: str | None = None,
    agent: str | None = "a",
    alive: tuple[str, ...] = (),
) -> str | None:
    """The id of the effort that is meant."""
    meant = resolve(efforts, directory=directory, owner=owner, agent_id=agent, is_alive=alive.__contains__)
    return meant.id if meant else None


def test_the_latest_effort_of_the_project_is_meant() -> None:
    """Without a name of the fleet the newest one counts."""
    assert found(effort("old", at=1), effort("new", at=2)) == "new"


def test_the_nearest_project_decides() -> None:
    """An effort of an inner project hides those of the outer one, however new."""
    assert found(effort("outer", "/code", at=9), effort("inner", "/code/app", at=1)) == "inner"
    assert found(effort("outer", "/code", at=9), effort("inner", "/code/app"), directory="/code/lib") == "outer"


def test_a_directory_of_no_project_has_no_effort() -> None:
    """What cannot be resolved is nothing, and no error."""
    assert found(effort("here"), directory="/elsewhere") is None
    assert found(effort("here"), directory=None) is None
    assert found() is None


def test_a_sibling_with_the_same_beginning_is_another_directory() -> None:
    """`/code/app-two` does not lie in `/code/app`."""
    assert found(effort("here"), directory="/code/app-two") is None
    assert is_within("/code/app", "/code/app")
    assert is_within("/code", "/")


def test_in_a_fleet_the_name_decides_and_nothing_else() -> None:
    """With `AGENT_ID` the effort of that name is meant; without a match none is."""
    mine, other = effort("mine", owner="main:1", at=1), effort("other", owner="main:2", at=2)
    assert found(mine, other, owner="main:1") == "mine"
    assert found(mine, other, owner="main:3") is None
    assert found(mine, other) is None


def test_an_agent_keeps_its_effort_wherever_it_goes() -> None:
    """The effort that an agent holds is meant in every directory."""
    assert found(effort("held", holder="a"), effort("new", at=5), directory="/elsewhere") == "held"


def test_an_effort_that_another_client_works_on_is_not_taken() -> None:
    """A second client in the same project is left alone; when the first is gone the effort is free."""
    held = effort("held", holder="b")
    assert found(held, alive=("b",)) is None
    assert found(held, alive=()) == "held"


def test_a_finished_effort_is_never_meant() -> None:
    """What is over is over."""
    assert found(effort("over", lifecycle=Lifecycle.FINISHED)) is None
