"""Settings that the dashboard changes, and links that share an agent."""

from playwright.sync_api import Browser, expect

from tests.support import RunningDaemon
from tests.web.conftest import Pages, Sample

HOUR = "3600"


def test_a_setting_is_written_after_its_result_was_shown(pages: Pages, daemon: RunningDaemon) -> None:
    """The diff, a warning if fewer calls are stopped, and the value after the next start."""
    page = pages.open(daemon, "/settings")
    page.get_by_label("New value of policy_preset").select_option("watch")
    dialog = page.get_by_role("dialog", name="Save this change?")
    expect(dialog).to_contain_text('policy_preset = "watch"')
    expect(dialog).to_contain_text("None is stopped")
    assert not (daemon.home / "config.toml").exists()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("watch after the next start")).to_be_visible()
    assert 'policy_preset = "watch"' in (daemon.home / "config.toml").read_text()


def test_a_cancelled_change_writes_nothing(pages: Pages, daemon: RunningDaemon) -> None:
    """The field shows the value in force again."""
    page = pages.open(daemon, "/settings")
    field = page.get_by_label("New value of policy_preset")
    field.select_option("off")
    dialog = page.get_by_role("dialog", name="Save this change?")
    expect(dialog).to_contain_text("No tool call is checked")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    expect(field).to_have_value("guard")
    assert not (daemon.home / "config.toml").exists()


def test_a_value_that_is_not_valid_says_why(pages: Pages, daemon: RunningDaemon) -> None:
    """And cannot be saved."""
    page = pages.open(daemon, "/settings")
    page.get_by_label("New value of hold_seconds").fill("-5")
    page.get_by_label("New value of hold_seconds").press("Enter")
    dialog = page.get_by_role("dialog", name="Save this change?")
    expect(dialog.get_by_role("alert")).to_contain_text("hold_seconds")
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()


def test_quiet_hours_and_channels(pages: Pages, daemon: RunningDaemon) -> None:
    """They apply at once. The address of a channel is not shown."""
    page = pages.open(daemon, "/settings")
    quiet = page.get_by_role("form", name="Quiet hours")
    quiet.get_by_label("from").fill("21:30")
    quiet.get_by_label("Sunday").uncheck()
    quiet.get_by_role("button", name="Save…").click()
    dialog = page.get_by_role("dialog", name="Save this change?")
    expect(dialog).to_contain_text('from = "21:30"')
    dialog.get_by_role("button", name="Save").click()
    expect(quiet).to_contain_text("21:30 to 08:00")

    channel = page.get_by_role("form", name="New channel")
    channel.get_by_label("name").fill("phone")
    channel.get_by_label("Apprise address").fill("json://127.0.0.1/secret-path")
    channel.get_by_role("button", name="Add…").click()
    expect(dialog).to_contain_text("json://…")
    expect(dialog).not_to_contain_text("secret-path")
    dialog.get_by_role("button", name="Save").click()
    expect(channel.get_by_role("button", name="Remove phone…")).to_be_visible()
    assert "secret-path" in (daemon.home / "notify.toml").read_text()


def test_a_link_shows_an_agent_without_signing_in(pages: Pages, sample: Sample, browser: Browser) -> None:
    """It is created, opened in another browser, and revoked."""
    page = pages.open(sample.daemon, "/agents/snug-plover")
    page.locator("summary", has_text="Share").click()
    page.get_by_label("expires after").select_option(HOUR)
    page.get_by_role("button", name="Create a link").click()
    address = page.get_by_label("Link", exact=True).input_value()
    visitor = browser.new_context(java_script_enabled=False).new_page()
    visitor.goto(address)
    expect(visitor.get_by_text("snug-plover")).to_be_visible()
    expect(visitor.get_by_text("The login page returns 500").first).to_be_visible()
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("button", name="Revoke")).to_have_count(0)
    visitor.reload()
    expect(visitor.get_by_role("heading", name="This link shows nothing")).to_be_visible()
    visitor.context.close()


def test_the_log_is_downloaded(pages: Pages, sample: Sample) -> None:
    """As a file that `headspace import` reads."""
    page = pages.open(sample.daemon, "/agents/snug-plover")
    page.locator("summary", has_text="Share").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the log").click()
    assert download.value.suggested_filename == "snug-plover.jsonl"
    assert '"headspace' in download.value.path().read_text().splitlines()[0]
