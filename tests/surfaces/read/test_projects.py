"""Finding projects, and the hint for an unknown one."""

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Project
from claude_headspace.surfaces.read.projects import closest, matches_reference, resolve_projects
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store

SHOP = Project("id-1", "shop", "/home/dev/shop")
OTHER = Project("id-2", "shop", "/srv/shop")
API = Project("id-3", "payments-api", "/home/dev/payments-api")
NOWHERE = Project("id-4", "unknown", "")
KNOWN = (SHOP, OTHER, API, NOWHERE)


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("shop", (SHOP, OTHER)),
        ("id-2", (OTHER,)),
        ("/srv/shop", (OTHER,)),
        ("/srv/shop/", (OTHER,)),
        ("/srv/./other/../shop//", (OTHER,)),
        ("unknown", (NOWHERE,)),
        ("/srv", ()),
        ("/srv/shop/src", ()),
        ("Shop", ()),
        (".", ()),
        ("", ()),
    ],
)
def test_references_to_a_project(reference: str, meant: tuple[Project, ...]) -> None:
    """Directories are normalized. Two projects may share a name."""
    assert tuple(project for project in KNOWN if matches_reference(project, reference)) == meant


def test_closest_projects() -> None:
    """Directories for a path, otherwise names; without duplicates, and only a few."""
    assert closest("payment-api", KNOWN)[0] == "payments-api"
    assert closest("SHOPS", KNOWN) == ["shop", "payments-api", "unknown"]
    assert closest("/home/dev/shops/", KNOWN) == ["/home/dev/shop", "/home/dev/payments-api", "/srv/shop"]


def test_unknown_project() -> None:
    """The hint names similar projects, if there are any."""
    journal = TemporaryJournal()
    with pytest.raises(BadRequest, match="no project shop") as nobody:
        resolve_projects(journal, "shop")
    assert nobody.value.hint == "No agent has worked in any project yet."
    store(journal, hook("SessionStart", START, cwd="/home/dev/shop"))
    with pytest.raises(BadRequest) as unknown:
        resolve_projects(journal, "shopp")
    assert (unknown.value.code, unknown.value.status) == ("unknown_project", 404)
    assert unknown.value.hint == "Did you mean: shop?"
    assert len(resolve_projects(journal, "/home/dev/shop/")) == 1
