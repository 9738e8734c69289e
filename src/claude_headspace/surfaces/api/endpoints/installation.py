"""What the page asks about this Headspace itself: its settings, whether it is healthy, a link to sign in with."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request

from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.config import Paths, Settings, claude_config_dirs
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.auth.sign_in import Invitation, SignIns
from claude_headspace.surfaces.client import doctor
from claude_headspace.surfaces.text.settings import SettingsView, settings_view

if TYPE_CHECKING:
    from claude_headspace.surfaces.api.services import Serving


class Household:
    """What the daemon was started with."""

    def __init__(self, settings: Settings, origins: Mapping[str, str], places: Paths, sign_ins: SignIns) -> None:
        self._settings = settings
        self._origins = origins
        self._places = places
        self.sign_ins = sign_ins

    def settings(self) -> SettingsView:
        """Every setting in force, explained."""
        return settings_view(self._settings, self._origins, self._places)

    def examine(self) -> doctor.Report:
        """The whole way of an event, looked at."""
        return doctor.run_checks(
            [ConfigDir(path) for path in claude_config_dirs(self._settings, self._places)], self._places
        )


async def settings(api: "Serving", _request: Request) -> SettingsView:
    """The settings in force."""
    return api.services.household.settings()


async def examine(api: "Serving", _request: Request) -> doctor.Report:
    """What the doctor finds."""
    return await asyncio.to_thread(api.services.household.examine)


async def invite(api: "Serving", _request: Request) -> Invitation:
    """A link to sign in with."""
    return api.services.household.sign_ins.invite()


ENDPOINTS = (
    Endpoint("GET", "/api/settings", "The settings in force, and where each comes from.", settings, SettingsView),
    Endpoint(
        "POST",
        "/api/doctor",
        "Look at the whole way of an event, as `headspace doctor` does; it sends one through.",
        examine,
        doctor.Report,
        scope="act",
    ),
    Endpoint(
        "POST",
        "/api/admin/signin",
        "A link that signs a browser in, once.",
        invite,
        Invitation,
        scope="admin",
    ),
)
