"""The view *Usage*: range, grouping, chart, table, budgets, rate limits, CSV."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support import RunningDaemon, running_daemon
from tests.web.conftest import SIZES, Pages
from tests.web.sample_usage import BUDGETS, PROJECTS, Spender, spend
from tests.web.test_accessibility import axe_violations, screenshot


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon with costs of several days, and budgets."""
    home = tmp_path_factory.mktemp("usage") / "home"
    home.mkdir()
    (home / "notify.toml").write_text(BUDGETS)
    with running_daemon(home, heartbeat_seconds=2) as running:
        spend(running)
        yield running


def names(page: Page) -> list[str]:
    """The groups of the table."""
    return page.locator("tbody th .truncate").all_inner_texts()


def test_costs_by_project(pages: Pages, spent: RunningDaemon) -> None:
    """The most expensive first; the sum is that of the API, and the chart has the same groups."""
    page = pages.open(spent, "/usage")
    expect(page.locator("tbody tr")).to_have_count(PROJECTS)
    total = spent.get("/api/usage?by=project&since=6d").json()["total"]["cost_usd"]
    expect(page.locator("tfoot .cost")).to_contain_text(f"${total:,.2f}")
    expect(page.locator(".totals dd").first).to_contain_text(f"${total:,.2f}")
    shown = page.locator("figcaption li .truncate").all_inner_texts()
    assert [*shown[:5]] == names(page)[:5]
    assert shown[5:] == [f"{PROJECTS - 5} others"]


def test_a_day_is_selected_with_the_keyboard(pages: Pages, spent: RunningDaemon) -> None:
    """The labels show the values of that day."""
    page = pages.open(spent, "/usage")
    chart = page.get_by_role("img", name="Cost of each day")
    expect(page.locator("figcaption .heading")).to_contain_text("All days")
    chart.focus()
    page.keyboard.press("End")
    today = spent.get("/api/usage?by=day&since=6d").json()["rows"][-1]["cost_usd"]
    expect(page.locator("figcaption .heading")).to_contain_text(f"${today:,.2f}")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("figcaption .heading")).not_to_contain_text(f"${today:,.2f}")


def test_the_selection_is_in_the_address(pages: Pages, spent: RunningDaemon) -> None:
    """Range, grouping and measure; the address opens the same again."""
    page = pages.open(spent)
    page.keyboard.press("g")
    page.keyboard.press("u")
    expect(page.get_by_role("heading", name="Usage")).to_be_visible()
    page.get_by_role("group", name="Range").get_by_role("button", name="30 days").click()
    page.get_by_label("Group by").select_option("model")
    expect(page.locator("tbody tr")).to_have_count(4)
    page.get_by_role("group", name="Show").get_by_role("button", name="Tokens").click()
    expect(page).to_have_url(f"{spent.url}/usage?range=30d&by=model&show=tokens")
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(4)
    expect(page.get_by_role("button", name="Tokens", pressed=True)).to_be_visible()


def test_days_of_ones_own(pages: Pages, spent: RunningDaemon) -> None:
    """Without use, the page says so."""
    page = pages.open(spent, "/usage?range=own&from=2001-02-03&to=2001-02-05")
    expect(page.get_by_text("No cost and no tokens in this time")).to_be_visible()
    expect(page.get_by_label("First day")).to_have_value("2001-02-03")
    page.get_by_label("First day").fill("2001-02-01")
    page.get_by_label("First day").dispatch_event("change")
    expect(page).to_have_url(f"{spent.url}/usage?range=own&from=2001-02-01&to=2001-02-05&by=project&show=cost")
    expect(page.get_by_role("button", name="Download CSV")).to_be_disabled()


def test_the_table_is_sorted_with_the_keyboard(pages: Pages, spent: RunningDaemon) -> None:
    """A second press reverses the order; the header says how it is sorted."""
    page = pages.open(spent, "/usage?by=agent")
    header = page.locator("thead th.name")
    header.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(header).to_have_attribute("aria-sort", "ascending")
    ascending = names(page)
    assert ascending == sorted(ascending)
    page.keyboard.press("Enter")
    expect(header).to_have_attribute("aria-sort", "descending")
    assert names(page) == ascending[::-1]
    page.locator("tbody a").first.click()
    expect(page.locator("h1")).to_have_text(ascending[-1])


def test_budgets_and_rate_limits(pages: Pages, spent: RunningDaemon) -> None:
    """How much of each is used, as a bar and in words."""
    page = pages.open(spent, "/usage")
    budgets = page.get_by_role("region", name="Budgets")
    for text in ("Today, all agents", "This month, shop", "of $60", "of $25"):
        expect(budgets).to_contain_text(text)
    budgets.get_by_role("button", name="Show all").click()
    expect(budgets.locator("li")).to_have_count(3 + PROJECTS)
    limits = page.get_by_role("region", name="Rate limits")
    expect(limits.locator("li")).to_have_count(2)
    expect(limits.locator("li").first).to_contain_text("Claude Code, 5 hours")
    expect(limits.locator("li").first).to_contain_text("84 %")
    expect(limits.locator("li").first).to_contain_text("resets in")


def test_unknown_prices(pages: Pages, spent: RunningDaemon) -> None:
    """Their sessions are counted, sums with them are a minimum, and sums of nothing else are unknown."""
    page = pages.open(spent, "/usage?by=model")
    expect(page.get_by_text("1 session has no known price for")).to_be_visible()
    expect(page.locator("tfoot .cost")).to_contain_text("at least $")
    expect(page.locator("tbody tr", has_text="local-model").locator(".cost")).to_have_text("unknown")


def test_csv(pages: Pages, spent: RunningDaemon) -> None:
    """The file is the CSV of the API."""
    page = pages.open(spent, "/usage?by=model")
    with page.expect_download() as started:
        page.get_by_role("button", name="Download CSV").click()
    rows = list(csv.reader(Path(started.value.path()).read_text().splitlines()))
    assert rows[0][:3] == ["day", "model", "cost_usd"]
    assert {row[1] for row in rows[1:]} == {"claude-opus-4-7", "claude-sonnet-5", "claude-haiku-4-5", "local-model"}
    assert started.value.suggested_filename.startswith("headspace-usage-")


def test_unknown_is_not_zero(pages: Pages, daemon: RunningDaemon) -> None:
    """Without budgets, limits and reports, the page says so; an agent without a report is counted."""
    page = pages.open(daemon, "/usage")
    expect(page.get_by_text("No cost and no tokens in this time")).to_be_visible()
    expect(page.get_by_role("region", name="Budgets")).to_contain_text("No budget is set")
    expect(page.get_by_role("region", name="Rate limits")).to_contain_text("No client has reported its limits")
    daemon.post("user-prompt-submit", {"session_id": "silent", "cwd": "/home/sam/silent", "prompt": "Hi"})
    expect(page.get_by_text("1 agent of Claude Code reported neither cost nor tokens")).to_be_visible(timeout=30_000)
    Spender(daemon).session("shop", "claude-opus-4-7", {0: 2.5})
    expect(page.locator("tfoot .cost")).to_have_text("$2.50", timeout=30_000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_size_is_accessible(pages: Pages, spent: RunningDaemon, axe: str, scheme: str) -> None:
    """axe finds nothing serious, and nothing is wider than the window."""
    for size, viewport in SIZES.items():
        page = pages.open(spent, "/usage", viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
        expect(page.locator("tbody tr")).to_have_count(PROJECTS)
        expect(page.get_by_role("region", name="Rate limits")).to_be_visible()
        screenshot(page, f"usage {size} {scheme}")
        assert axe_violations(page, axe, scheme) == []
        assert page.evaluate("document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth")
