"""This installation: settings, the doctor, and browser sign-in."""

import asyncio

from starlette.requests import Request

from claude_headspace.errors import Forbidden
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.api.settings_changes import SettingsChange, SettingsPlan, change_settings
from claude_headspace.surfaces.auth.named_tokens import is_named_token
from claude_headspace.surfaces.auth.sign_in import SignInLink
from claude_headspace.surfaces.client import doctor
from claude_headspace.surfaces.text.settings import SettingsView

endpoints = EndpointTable()


@endpoints.get("/api/settings")
async def settings(context: ApiContext, _request: Request) -> SettingsView:
    """All settings with their values and where each is set."""
    return context.installation.describe_settings()


@endpoints.post("/api/settings", SettingsChange)
async def change(context: ApiContext, request: Request) -> SettingsPlan:
    """Change settings and notification rules: the result is returned as a diff, then written with its digest."""
    requester = await context.requesters.identify(request)
    if is_named_token(request):
        raise Forbidden(
            "not_the_owner",
            "Settings are changed by the user of this installation, not with a named token.",
            "Use the dashboard on this machine (`headspace open`), or `headspace config set`.",
        )
    wanted = await read_body(request, SettingsChange)
    return await asyncio.to_thread(change_settings, context.installation.paths, wanted, requester.name)


@endpoints.post("/api/doctor")
async def examine(context: ApiContext, _request: Request) -> doctor.Report:
    """Run the checks of `headspace doctor`. They send one test event."""
    return await asyncio.to_thread(context.installation.examine)


@endpoints.post("/api/admin/signin", scope="admin")
async def sign_in_link(context: ApiContext, request: Request) -> SignInLink:
    """Create a link that signs a browser in, once. Agents get none."""
    await context.requesters.refuse_agents(request)
    return context.installation.sign_in.create_link()
