"""The settings in the API."""

from tests.support import RunningDaemon


def test_a_change_is_planned_and_written(daemon: RunningDaemon) -> None:
    """The settings then show the value after the next start."""
    body = {"settings": {"hold_seconds": 1234.0}}
    planned = daemon.send("POST", "/api/settings", body, scope="act").json()
    assert "+hold_seconds = 1234.0" in planned["files"][0]["diff"]
    written = daemon.send("POST", "/api/settings", {**body, "confirmed": planned["digest"]}, scope="act").json()
    assert written["written"]
    (setting,) = [each for each in daemon.get("/api/settings").json()["settings"] if each["name"] == "hold_seconds"]
    assert setting["editable"]
    assert setting["next_value"] == 1234.0
    assert setting["value"] != 1234.0


def test_a_named_token_changes_no_settings(daemon: RunningDaemon) -> None:
    """It may act on agents, but the settings belong to the user of the installation."""
    body = {"name": "phone", "scopes": ["act"]}
    token = daemon.send("POST", "/api/admin/tokens", body, scope="admin").json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    refused = daemon.send("POST", "/api/settings", {"notifications": False}, headers)
    assert refused.status == 403
    assert refused.error["code"] == "not_the_owner"


def test_a_setting_that_could_lock_out_is_not_changed(daemon: RunningDaemon) -> None:
    """The error names the command that can."""
    refused = daemon.send("POST", "/api/settings", {"settings": {"host": "localhost"}}, scope="act")
    assert refused.status == 400
    assert "headspace config set host" in refused.error["hint"]
