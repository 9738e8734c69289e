"""Guards that are off are visible on every view, until they are on again."""

import json
from pathlib import Path

from playwright.sync_api import expect

from tests.support import running_daemon
from tests.support_hooks import Hooks
from tests.web.conftest import Pages


def test_guards_that_are_off_are_shown_at_once(pages: Pages, tmp_path: Path) -> None:
    """With the time, the duration, the reason and what to do. The notice disappears when the settings are corrected."""
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        page = pages.open(daemon)
        settings = hooks.config_dir / "settings.json"
        before = settings.read_text()
        expect(page.get_by_role("main")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
        settings.write_text(json.dumps({**json.loads(before), "disableAllHooks": True}))
        notice = page.get_by_role("alert")
        expect(notice).to_contain_text("Guards are off in Claude Code.", timeout=30_000)
        expect(notice).to_contain_text("disableAllHooks")
        expect(notice).to_contain_text("Remove it from")
        expect(notice).to_contain_text("Since ")
        settings.write_text(before)
        expect(page.get_by_role("alert")).to_have_count(0, timeout=30_000)
